//! Files and directories that only their owner may read (`docs/decisions/0014-private-run-directories.md`).

use super::error::StoreError;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;

/// Creates the missing directories above a file.
pub(super) fn make_parents(path: &Path) -> Result<(), StoreError> {
    let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else { return Ok(()) };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(parent).map_err(|source| StoreError::io(parent, source))
}

/// Creates an empty file unless it exists. An existing file is not opened: closing it again would drop the locks that `SQLite` holds on it
/// in this process.
pub(super) fn make_file(path: &Path) -> Result<(), StoreError> {
    match options().create_new(true).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// Opens a file for writing, creating it if missing.
pub(super) fn open_file(path: &Path) -> Result<File, StoreError> {
    options().create(true).truncate(false).open(path).map_err(|source| StoreError::io(path, source))
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn what_is_made_is_private_and_what_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/file");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        make_parents(&path).unwrap();
        make_file(&path).unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o700, 0o600));
        std::fs::write(&path, "kept").unwrap();
        make_file(&path).unwrap();
        drop(open_file(&path).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "kept");
        assert!(matches!(make_file(&path.join("below")), Err(StoreError::Io { .. })));
    }
}
