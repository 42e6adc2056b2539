//! Reads secrets from files.

use super::FileError;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// Maximum size of a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 << 10;

/// Reads the secret in a file; an error if others may read or write it.
pub fn read_secret(path: &Path) -> Result<String, FileError> {
    let io = |source| FileError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        if file.metadata().map_err(io)?.permissions().mode() & 0o077 != 0 {
            return Err(FileError::Exposed { path: path.to_owned() });
        }
    }
    let mut text = String::new();
    file.take(MAX_SECRET_BYTES)
        .read_to_string(&mut text)
        .map_err(|_| FileError::NotText { path: path.to_owned(), what: "a secret has to be".to_owned() })?;
    Ok(text)
}
