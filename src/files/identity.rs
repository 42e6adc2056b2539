//! Which file a path names, so that one that was removed or replaced meanwhile is noticed.

use std::path::Path;

/// A file as the system knows it, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity(u64, u64);

impl FileIdentity {
    /// Of the file at a path; nothing if there is none, or if the system does not tell files apart.
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
