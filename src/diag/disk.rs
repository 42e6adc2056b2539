//! Telling a disk that is full from other failures: it is the one that whoever runs the program can mend at once.

use std::io::{Error, ErrorKind};

/// Whether a write failed because there is no room left: on the device, in a quota, or below the limit of a file's size.
pub fn is_full(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
