//! File identity, to detect that a file at a path was removed or replaced.

use std::path::Path;

/// Device and inode of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity(u64, u64);

impl FileIdentity {
    /// Identity of the file at a path; `None` if it does not exist or the system does not support file identity.
    pub fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let meta = std::fs::metadata(path).ok()?;
            Some(Self(meta.dev(), meta.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            None
        }
    }
}
