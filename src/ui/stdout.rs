//! Records failures to write to standard output, which is global to the process.

use std::io;
use std::sync::{Mutex, PoisonError};

/// The first failure to write to standard output.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// Records a failure. A reader that closed the pipe (`| head -1`) is none.
pub(super) fn record(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        FAILURE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Takes the first failure to write data, for the exit code: lost data is no success.
pub fn take_failure() -> Option<io::Error> {
    FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take()
}
