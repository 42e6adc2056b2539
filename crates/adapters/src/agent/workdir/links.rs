//! Which words of a command lead out of the working directory over a link, for the judge of a call.

use super::paths::WorkRoot;
use asterisk_base::model::SimpleCommand;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// More entries are not looked at.
const MAX_ENTRIES: usize = 20_000;
/// The characters of a pattern.
const PATTERN: &[char] = &['*', '?', '['];

/// What a judge cannot see of the words of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The words, and parts of words, that lead out of the working directory or into what is hidden.
    pub(super) outside: BTreeSet<String>,
    /// Whether a pattern may stand for a file whose name begins with `-` or `@`.
    pub(super) odd_names: bool,
}

/// Looks up the words of commands, each in the directory that it runs in.
pub(super) fn of(root: &WorkRoot, commands: &[(PathBuf, &SimpleCommand)]) -> Seen {
    let mut seen = Seen::default();
    let mut entries = None;
    for (dir, command) in commands {
        let args = command.words.iter().skip(1).map(|word| word.text.as_str()).chain(command.input.as_deref());
        for part in args.flat_map(parts) {
            let out = if part.contains(PATTERN) {
                let entries = entries.get_or_insert_with(|| LinkEntries::below(root));
                seen.odd_names |= entries.odd_names;
                entries.may_lead_out(dir, part)
            } else {
                leads_out(root, dir, part)
            };
            if out {
                seen.outside.insert(part.to_owned());
            }
        }
    }
    seen
}

/// What of a word may be a path: all of it, the value of an option, what is attached to one.
fn parts(word: &str) -> Vec<&str> {
    let value = word.split_once('=').map(|(_, value)| value);
    let attached = [2, 3].into_iter().filter(|_| word.starts_with('-')).filter_map(|at| word.get(at..));
    let all = [Some(word), value].into_iter().flatten().chain(attached);
    all.filter(|part| !part.is_empty()).collect()
}

/// Whether a path leads out of the working directory, over links. Those that do so by themselves are for the judge.
fn leads_out(root: &WorkRoot, base: &Path, path: &str) -> bool {
    if Path::new(path).is_absolute() && !Path::new(path).starts_with(&root.path) {
        return false;
    }
    let mut place = PathBuf::new();
    for part in base.join(path).components() {
        place.push(part);
        if place.is_symlink() {
            match place.canonicalize() {
                Ok(real) => place = real,
                Err(_) => return true,
            }
        }
        // Above the working directory on the way down to it.
        if !place.starts_with(&root.path) && !root.path.starts_with(&place) {
            return true;
        }
    }
    root.guarded.hides(&place)
}

/// The links below a working directory that lead out, and whether there are names that look like options.
struct LinkEntries {
    out: Vec<PathBuf>,
    odd_names: bool,
}

impl LinkEntries {
    fn below(root: &WorkRoot) -> Self {
        let mut found = Self { out: Vec::new(), odd_names: false };
        let (mut dirs, mut count) = (vec![root.path.clone()], 0);
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
                count += 1;
                if count > MAX_ENTRIES {
                    found.odd_names = true;
                    return found;
                }
                found.odd_names |= entry.file_name().to_string_lossy().starts_with(['-', '@']);
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_symlink() && path.to_str().is_some_and(|text| leads_out(root, &dir, text)) {
                    found.out.push(path);
                } else if kind.is_dir() {
                    dirs.push(path);
                }
            }
        }
        found
    }

    /// Whether a pattern may stand for a path over such a link: one that is as deep, below what is not a pattern.
    fn may_lead_out(&self, base: &Path, pattern: &str) -> bool {
        let fixed = pattern.split('/').take_while(|part| !part.contains(PATTERN)).collect::<Vec<_>>().join("/");
        let below = base.join(if pattern.starts_with('/') { format!("{fixed}/") } else { fixed });
        let depth = base.join(pattern).components().count();
        self.out.iter().any(|link| link.starts_with(&below) && link.components().count() <= depth)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::paths::Guarded;
    use super::super::plain::placed;
    use super::*;
    use asterisk_base::model::read_command_line;

    #[test]
    fn words_that_lead_out_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        let (inside, out) = (path.join("in"), path.join("out"));
        std::fs::create_dir_all(inside.join("d/e")).unwrap();
        std::fs::create_dir_all(inside.join("db")).unwrap();
        std::fs::create_dir(&out).unwrap();
        std::fs::write(inside.join("f"), "x").unwrap();
        std::os::unix::fs::symlink(&out, inside.join("up")).unwrap();
        std::os::unix::fs::symlink(out.join("none"), inside.join("d/gone")).unwrap();
        std::os::unix::fs::symlink("../f", inside.join("d/same")).unwrap();
        let root = WorkRoot { path: inside, guarded: Guarded { readable: vec![], hidden: vec![path.join("in/db")] } };
        let seen = |command: &str| of(&root, &placed(&root, &read_command_line(command).unwrap()).unwrap());
        for (command, wanted) in [
            ("cat up", vec!["up"]),
            ("cat f d/same d/none /etc/passwd TODO", vec![]),
            ("cat < up/x", vec!["up/x"]),
            ("grep -fup --file=up/y x", vec!["up", "up/y"]),
            ("cd d; cat gone", vec!["gone"]),
            ("cd .; cd .; cd .; cd .; cd d; cat gone", vec!["gone"]),
            ("cat u*", vec!["u*"]),
            ("cat d/s*", vec!["d/s*"]),
            ("ls d/e/*", vec![]),
            ("cat db/x", vec!["db/x"]),
        ] {
            assert_eq!(seen(command).outside.into_iter().collect::<Vec<_>>(), wanted, "{command}");
        }
        assert!(!seen("wc *").odd_names);
        std::fs::write(root.path.join("-o"), "x").unwrap();
        assert!(seen("wc *").odd_names);
        assert!(!seen("wc f").odd_names);
    }
}
