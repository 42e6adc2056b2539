//! Distinguishes a full disk from other failures: the user can fix it at once.

use std::io::{Error, ErrorKind};

/// Whether a write failed for lack of space: on the device, in a quota, or below the limit of a file's size.
pub fn is_full(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}
