//! Writes bundled files to disk for customisation.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Result of unpacking: paths relative to the directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unpacked {
    /// Files written.
    pub written: Vec<String>,
    /// Files that existed with the same text.
    pub same: Vec<String>,
}

/// Error of unpacking.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// Files exist with another text; nothing was written.
    #[error("{} would be overwritten", several(.0))]
    Exists(Vec<String>),
    /// A symbolic link or a directory is in the place of a file, or a link is on the way; nothing was written.
    #[error("`{}` is neither a regular file nor a directory, and is not replaced", .0.display())]
    NotAFile(PathBuf),
    /// The operating system reports an error.
    #[error("cannot write `{}`: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Writes files (path below `dir`, text) and creates directories as needed. All targets are checked before anything is written: without
/// `force` nothing is overwritten, and symbolic links below `dir` are never followed.
pub fn unpack(dir: &Path, files: &[(String, String)], force: bool) -> Result<Unpacked, UnpackError> {
    let mut done = Unpacked::default();
    let mut changed = Vec::new();
    for (name, text) in files {
        let path = dir.join(name);
        let between = path.ancestors().skip(1).take_while(|above| *above != dir);
        if let Some(link) = between.filter(|above| above.is_symlink()).last() {
            return Err(UnpackError::NotAFile(link.to_owned()));
        }
        match path.symlink_metadata() {
            Err(_) => done.written.push(name.clone()),
            Ok(meta) if !meta.is_file() => return Err(UnpackError::NotAFile(path)),
            Ok(_) if fs::read(&path).is_ok_and(|there| there == text.as_bytes()) => done.same.push(name.clone()),
            Ok(_) => changed.push(name.clone()),
        }
    }
    if !force && !changed.is_empty() {
        return Err(UnpackError::Exists(changed));
    }
    done.written.extend(changed);
    for (name, text) in files.iter().filter(|(name, _)| done.written.contains(name)) {
        let path = dir.join(name);
        let wrong = |source| UnpackError::Io { path: path.clone(), source };
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(wrong)?;
        }
        fs::write(&path, text).map_err(wrong)?;
    }
    done.written.sort();
    Ok(done)
}

fn several(names: &[String]) -> String {
    let shown = names.iter().take(4).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if names.len() > 4 { format!("{shown} and {} more", names.len() - 4) } else { shown }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn nothing_is_overwritten_unless_it_is_forced() {
        let dir = tempfile::tempdir().unwrap();
        let files = [("a/x.rhai".to_owned(), "1".to_owned()), ("y".to_owned(), "2".to_owned())];
        let first = unpack(dir.path(), &files, false).unwrap();
        assert_eq!((first.written, first.same), (vec!["a/x.rhai".to_owned(), "y".to_owned()], vec![]));
        assert_eq!(unpack(dir.path(), &files, false).unwrap().same.len(), 2);
        fs::write(dir.path().join("y"), "mine").unwrap();
        fs::remove_file(dir.path().join("a/x.rhai")).unwrap();
        let error = unpack(dir.path(), &files, false).unwrap_err();
        assert_eq!(error.to_string(), "`y` would be overwritten");
        assert!(!dir.path().join("a/x.rhai").exists(), "nothing is written when anything is refused");
        assert_eq!(unpack(dir.path(), &files, true).unwrap().written.len(), 2);
        assert_eq!(fs::read_to_string(dir.path().join("y")).unwrap(), "2");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_written_through() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/nowhere", dir.path().join("y")).unwrap();
        let error = unpack(dir.path(), &[("y".to_owned(), String::new())], true).unwrap_err();
        assert!(matches!(error, UnpackError::NotAFile(_)));
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("a")).unwrap();
        let error = unpack(dir.path(), &[("a/b/x".to_owned(), String::new())], true).unwrap_err();
        assert!(matches!(&error, UnpackError::NotAFile(path) if *path == dir.path().join("a")), "{error}");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
