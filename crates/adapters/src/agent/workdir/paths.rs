//! Files below a working directory, opened part by part: no path leads out, and no link is followed.

use rustix::fs::{Mode, OFlags, mkdirat, openat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

/// A file that is read is cut after this many bytes.
pub(super) const MAX_READ: u64 = 4 << 20;

/// What belongs to this program is out of reach: the store and what lies next to it.
const HIDDEN: &str = ".asterisk";

/// What a working directory may hold that is off limits: the project's texts, which are read and not written, and what is hidden
/// altogether. The paths are absolute and canonical.
#[derive(Clone, Debug, Default)]
pub(super) struct Guarded {
    pub(super) readable: Vec<PathBuf>,
    pub(super) hidden: Vec<PathBuf>,
}

impl Guarded {
    /// The same paths, and those that stand for them in a directory that stands in for another one.
    pub(super) fn in_place_of(mut self, origin: &Path, dir: &Path) -> Self {
        for list in [&mut self.readable, &mut self.hidden] {
            let stands_for = |guarded: &PathBuf| match guarded.strip_prefix(origin) {
                Ok(below) => Some(dir.join(below).components().collect()),
                Err(_) => origin.starts_with(guarded).then(|| dir.to_owned()),
            };
            let more: Vec<PathBuf> = list.iter().filter_map(stands_for).collect();
            list.extend(more);
        }
        self
    }

    /// Whether a path may not be changed.
    pub(super) fn covers(&self, path: &Path) -> bool {
        self.hides(path) || self.readable.iter().any(|guarded| path.starts_with(guarded))
    }

    /// Whether a path may not be read.
    pub(super) fn hides(&self, path: &Path) -> bool {
        self.hidden.iter().any(|guarded| path.starts_with(guarded))
    }

    /// Whether a directory holds guarded paths, or lies in one.
    pub(super) fn touches(&self, path: &Path) -> bool {
        self.covers(path) || self.is_within(path)
    }

    /// Whether a directory holds guarded paths.
    pub(super) fn is_within(&self, path: &Path) -> bool {
        self.readable.iter().chain(&self.hidden).any(|guarded| guarded.starts_with(path))
    }
}

/// A working directory.
pub(super) struct WorkRoot {
    pub(super) path: PathBuf,
    pub(super) guarded: Guarded,
}

/// Why a file cannot be used.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PathError {
    /// The path leads out of the working directory, or over a link.
    Outside(String),
    /// There is a file already.
    Exists(String),
    /// The system says no.
    System(String),
}

impl PathError {
    pub(super) fn text(&self) -> &str {
        let (Self::Outside(text) | Self::Exists(text) | Self::System(text)) = self;
        text
    }
}

impl WorkRoot {
    /// The parts of a path below the working directory.
    pub(super) fn parts<'p>(&self, path: &'p str) -> Result<Vec<&'p str>, PathError> {
        let below = Path::new(path);
        let below = if below.is_absolute() {
            below.strip_prefix(&self.path).map_err(|_| outside(path, "it leads out of the working directory"))?
        } else {
            below
        };
        let mut parts = Vec::new();
        for part in below.components() {
            match part {
                Component::Normal(part) if part == HIDDEN => return Err(outside(path, "it is off limits")),
                Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
                Component::CurDir => {}
                _ => return Err(outside(path, "it leads out of the working directory")),
            }
        }
        if self.guarded.hides(&self.place(&parts)) {
            return Err(outside(path, "it is off limits"));
        }
        Ok(parts)
    }

    fn place(&self, parts: &[&str]) -> PathBuf {
        parts.iter().fold(self.path.clone(), |place, part| place.join(part))
    }

    /// Whether a new file may be written at a path, as far as the project's own texts are concerned.
    pub(super) fn is_writable(&self, path: &str) -> bool {
        self.parts(path).is_ok_and(|parts| !self.guarded.covers(&self.place(&parts)))
    }

    /// Whether a path stays below the working directory, over no link as far as it is there.
    pub(super) fn is_inside(&self, path: &str) -> bool {
        let Ok(parts) = self.parts(path) else { return false };
        let mut place = self.path.clone();
        parts.iter().all(|part| {
            place.push(part);
            !place.is_symlink()
        })
    }

    /// Opens the directory that holds a path, and returns it with the last part. With `make`, directories on the way are made.
    fn parent<'p>(&self, path: &'p str, make: bool) -> Result<(OwnedFd, &'p str), PathError> {
        let mut parts = self.parts(path)?;
        let last = parts.pop().ok_or_else(|| PathError::System(format!("`{path}` is the working directory")))?;
        let mut dir = OwnedFd::from(File::open(&self.path).map_err(|error| PathError::System(error.to_string()))?);
        for part in parts {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            if make {
                match mkdirat(&dir, part, Mode::from_raw_mode(0o755)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(system(path, error)),
                }
            }
            dir = openat(&dir, part, flags, Mode::empty()).map_err(|error| system(path, error))?;
        }
        Ok((dir, last))
    }

    /// The text of a file; the second says whether it was cut.
    pub(super) fn read(&self, path: &str) -> Result<(String, bool), PathError> {
        let (dir, name) = self.parent(path, false)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = File::from(openat(&dir, name, flags, Mode::empty()).map_err(|error| system(path, error))?);
        let kind = file.metadata().map_err(|error| PathError::System(format!("`{path}`: {error}")))?;
        if !kind.is_file() {
            return Err(PathError::System(format!("`{path}` is not a file")));
        }
        let mut bytes = Vec::new();
        file.take(MAX_READ).read_to_end(&mut bytes).map_err(|error| PathError::System(format!("`{path}`: {error}")))?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), kind.len() > MAX_READ))
    }

    /// Writes a new file. One that is there stays as it is, unless it has this very text: then it was written before.
    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), PathError> {
        use std::io::Write as _;
        if !self.is_writable(path) {
            return Err(outside(path, "it belongs to the project, which is read-only here"));
        }
        let (dir, name) = self.parent(path, true)?;
        // Under another name first, so that a killed program leaves no half of it under this one; and under one of its own, since calls
        // are made in parallel.
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| PathError::System(error.to_string()))?;
        let draft = format!(".asterisk-draft-{:016x}", u64::from_le_bytes(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&dir, draft.as_str(), flags, Mode::from_raw_mode(0o644)).map_err(|error| system(path, error))?;
        let mut file = File::from(file);
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        let linked = written.map(|()| rustix::fs::linkat(&dir, draft.as_str(), &dir, name, rustix::fs::AtFlags::empty()));
        let _draft_may_stay = rustix::fs::unlinkat(&dir, draft.as_str(), rustix::fs::AtFlags::empty());
        match linked.map_err(|error| PathError::System(error.to_string()))? {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) if self.read(path).is_ok_and(|(found, cut)| !cut && found == text) => Ok(()),
            Err(Errno::EXIST) => Err(PathError::Exists(format!("`{path}` already exists, and is not overwritten"))),
            Err(error) => Err(system(path, error)),
        }
    }
}

fn outside(path: &str, why: &str) -> PathError {
    PathError::Outside(format!("`{path}`: {why}"))
}

fn system(path: &str, error: Errno) -> PathError {
    match error {
        // A link where a file or directory is expected.
        Errno::LOOP => outside(path, "links are not followed"),
        Errno::NOENT => PathError::System(format!("`{path}`: no such file or directory")),
        Errno::ACCESS => PathError::System(format!("`{path}`: permission denied")),
        Errno::NOTDIR => PathError::System(format!("`{path}`: not a directory, or over a link")),
        error => PathError::System(format!("`{path}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn nothing_leads_out_and_nothing_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, out) = (dir.path().join("in"), dir.path().join("secret"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(&out, "secret").unwrap();
        std::os::unix::fs::symlink(&out, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(dir.path(), inside.join("up")).unwrap();
        let root = WorkRoot { path: inside.clone(), guarded: Guarded::default() };
        for path in ["../secret", "/etc/passwd", "link", "up/secret", "a/../../secret", ""] {
            assert!(root.read(path).is_err(), "{path}");
            assert!(root.write(path, "x").is_err(), "{path}");
        }
        assert_eq!(std::fs::read_to_string(&out).unwrap(), "secret");
        assert_eq!(root.write("a/b.txt", "one"), Ok(()));
        assert_eq!(root.write("a/b.txt", "one"), Ok(()));
        assert!(matches!(root.write("a/b.txt", "two"), Err(PathError::Exists(_))));
        assert_eq!(root.read("a/b.txt"), Ok(("one".into(), false)));
        assert_eq!(root.read(inside.join("a/b.txt").to_str().unwrap()), Ok(("one".into(), false)));
        std::fs::create_dir(inside.join("scripts")).unwrap();
        let guarded = Guarded { readable: vec![inside.join("scripts")], hidden: vec![inside.join("a")] };
        let kept = WorkRoot { path: inside.clone(), guarded };
        assert!(kept.write("scripts/x", "x").is_err() && kept.write("scripts/y/x", "x").is_err());
        assert!(kept.read("a/b.txt").is_err() && !kept.is_inside("a/b.txt") && kept.write("b", "x").is_ok());
        // Calls that are made at once do not disturb each other.
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert_eq!(root.write("c/d.txt", "same"), Ok(())));
            }
        });
        assert_eq!(std::fs::read_dir(inside.join("c")).unwrap().count(), 1);
        let left: Vec<_> = std::fs::read_dir(inside.join("a")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["b.txt"]);
    }
}
