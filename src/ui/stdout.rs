//! Whether what was printed arrived. Standard output belongs to the process, and so does the record of its failure.

use std::io;
use std::sync::{Mutex, PoisonError};

/// The first failure to write to standard output.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// Remembers a failure. A reader that went away (`| head -1`) is none.
pub(super) fn keep(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Takes the first failure to print data, for the end of the program: data that is lost is no success.
pub fn take_failure() -> Option<io::Error> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}
