//! Decides whether files under edit are complete, by comparing their attributes over time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Continuously changing files are accepted after this multiple of the debounce time if they are unchanged since the last look.
const MAX_BUSY: u32 = 20;
/// A file that looks truncated is accepted after resting for this multiple of the debounce time, and a file that never rests after the same
/// multiple: the state may be intended.
const MAX_RESTING: u32 = 100;
/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 32;

/// Attributes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    size: u64,
    modified: Option<SystemTime>,
    /// Whether the last byte ends a line.
    ends_line: bool,
}

/// Attributes of all files at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FileSnapshot(BTreeMap<PathBuf, FileState>);

/// Progress of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EditState {
    /// No sign that it is incomplete.
    Whole,
    /// The size or time of a file has changed since the last look.
    Written,
    /// A file that ended with a line break, or had any text, no longer does: an editor has truncated it, or has written a part.
    Cut,
}

/// Whether an edit is accepted. `rested` is the time since the last write, `whole` since the first.
pub(super) fn due(state: EditState, rested: Duration, whole: Duration, debounce: Duration) -> bool {
    match state {
        EditState::Whole => rested >= debounce || whole >= debounce * MAX_BUSY,
        EditState::Written => whole >= debounce * MAX_RESTING,
        EditState::Cut => rested >= debounce * MAX_RESTING,
    }
}

impl FileSnapshot {
    /// Records the attributes of files, and of everything not hidden below directories. Files that are unchanged since `before` are not
    /// opened.
    pub(super) fn at(paths: &[PathBuf], before: Option<&Self>) -> Self {
        let mut snapshot = Self::default();
        for path in paths {
            snapshot.add(path, before, MAX_DEPTH);
        }
        snapshot
    }

    fn add(&mut self, path: &Path, before: Option<&Self>, depth: usize) {
        // A file that disappears meanwhile counts as absent.
        let Ok(meta) = fs::metadata(path) else { return };
        if meta.is_file() {
            let (size, modified) = (meta.len(), meta.modified().ok());
            let same = before.and_then(|before| before.0.get(path)).filter(|seen| (seen.size, seen.modified) == (size, modified));
            let ends_line = same.map_or_else(|| ends_line(path), |seen| seen.ends_line);
            self.0.insert(path.to_owned(), FileState { size, modified, ends_line });
        } else if meta.is_dir() && depth > 0 {
            let hidden = |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
            for entry in fs::read_dir(path).into_iter().flatten().flatten().filter(|entry| !hidden(entry)) {
                self.add(&entry.path(), before, depth - 1);
            }
        }
    }

    /// Progress of an edit, given the files as last accepted (`taken`) and as last seen (`before`).
    pub(super) fn state(&self, taken: &Self, before: &Self) -> EditState {
        let of = |(path, now): (&PathBuf, &FileState)| state(taken.0.get(path), before.0.get(path), now);
        let state = self.0.iter().map(of).max().unwrap_or(EditState::Whole);
        let gone = before.0.keys().any(|path| !self.0.contains_key(path));
        if gone { state.max(EditState::Written) } else { state }
    }
}

/// Progress of the edit of one file.
fn state(taken: Option<&FileState>, before: Option<&FileState>, now: &FileState) -> EditState {
    let cut = taken.is_some_and(|taken| (taken.ends_line && !now.ends_line) || (taken.size > 0 && now.size == 0));
    if cut {
        EditState::Cut
    } else if before == Some(now) {
        EditState::Whole
    } else {
        EditState::Written
    }
}

/// Whether the last byte of a file ends a line.
fn ends_line(path: &Path) -> bool {
    let last = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        std::io::Result::Ok(byte[0])
    };
    last().is_ok_and(|byte| byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBOUNCE: Duration = Duration::from_millis(50);

    /// A file by its size, the second of its modification time, and its last character.
    fn seen(size: u64, second: u64, last: char) -> FileState {
        let modified = Some(SystemTime::UNIX_EPOCH + Duration::from_secs(second));
        FileState { size, modified, ends_line: last == '\n' }
    }

    #[test]
    fn incomplete_edits_are_detected() {
        let old = seen(100, 1, '\n');
        for (taken, before, now, expected) in [
            // Unchanged since the last look, whether it grew, shrank, or is new.
            (Some(old), Some(old), old, EditState::Whole),
            (Some(old), Some(seen(120, 2, '\n')), seen(120, 2, '\n'), EditState::Whole),
            (Some(old), Some(seen(80, 2, '\n')), seen(80, 2, '\n'), EditState::Whole),
            (None, Some(seen(80, 2, 'x')), seen(80, 2, 'x'), EditState::Whole),
            // Its author does not end files with a line break.
            (Some(seen(100, 1, '}')), Some(seen(60, 2, '}')), seen(60, 2, '}'), EditState::Whole),
            // Size, modification time or existence changed within the debounce time.
            (Some(old), Some(seen(110, 2, '\n')), seen(120, 2, '\n'), EditState::Written),
            (Some(old), Some(seen(120, 2, '\n')), seen(120, 3, '\n'), EditState::Written),
            (None, None, seen(10, 2, '\n'), EditState::Written),
            // Truncated, or cut within a line, also while it grows.
            (Some(old), Some(seen(0, 2, ' ')), seen(0, 2, ' '), EditState::Cut),
            (Some(seen(100, 1, '}')), Some(seen(0, 2, ' ')), seen(0, 2, ' '), EditState::Cut),
            (Some(old), Some(seen(40, 2, 'x')), seen(40, 2, 'x'), EditState::Cut),
            (Some(old), Some(seen(400, 2, 'x')), seen(400, 2, 'x'), EditState::Cut),
            (Some(old), Some(seen(40, 2, 'x')), seen(60, 3, 'x'), EditState::Cut),
        ] {
            assert_eq!(state(taken.as_ref(), before.as_ref(), &now), expected, "{taken:?} {before:?} {now:?}");
        }
    }

    #[test]
    fn one_file_that_is_not_whole_holds_up_all() {
        let snapshot =
            |files: &[(&str, FileState)]| FileSnapshot(files.iter().map(|(path, seen)| (PathBuf::from(path), *seen)).collect());
        let (whole, cut) = (seen(100, 1, '\n'), seen(50, 2, 'x'));
        let taken = snapshot(&[("a", whole), ("b", whole)]);
        let now = snapshot(&[("a", whole), ("b", cut)]);
        assert_eq!(now.state(&taken, &now), EditState::Cut);
        assert_eq!(taken.state(&taken, &taken), EditState::Whole);
        // A removed file may be about to reappear: editors write by rename.
        let gone = snapshot(&[("a", whole)]);
        assert_eq!((gone.state(&taken, &taken), gone.state(&taken, &gone)), (EditState::Written, EditState::Whole));
    }

    #[test]
    fn every_edit_is_accepted_eventually() {
        let due = |state, rested: u32, whole: u32| due(state, DEBOUNCE * rested, DEBOUNCE * whole, DEBOUNCE);
        assert!(due(EditState::Whole, 1, 1) && !due(EditState::Whole, 0, 19) && due(EditState::Whole, 0, 20));
        assert!(!due(EditState::Written, 0, 99) && due(EditState::Written, 0, 100));
        assert!(!due(EditState::Cut, 99, 1000) && due(EditState::Cut, 100, 100));
    }

    #[test]
    fn a_snapshot_records_line_ends_and_no_hidden_files() {
        let dir = tempfile::tempdir().expect("a directory");
        let below = dir.path().join("rules");
        fs::create_dir(&below).expect("made");
        for (name, text) in [("a.rhai", "1\n"), ("b.rhai", "1"), ("c.rhai", ""), (".d.rhai.swp", "1")] {
            fs::write(below.join(name), text).expect("written");
        }
        let snapshot = FileSnapshot::at(&[dir.path().to_owned()], None);
        let ends: Vec<(u64, bool)> = snapshot.0.values().map(|seen| (seen.size, seen.ends_line)).collect();
        assert_eq!(ends, [(2, true), (1, false), (0, false)]);
        assert_eq!(FileSnapshot::at(&[dir.path().to_owned()], Some(&snapshot)), snapshot);
    }
}
