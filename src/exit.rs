//! Exit codes: the one place that maps what happened to a number (`design.md` §6).

use crate::session::SessionError;
use crate::store::StoreError;
use crate::walk::JournalError;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok = 0,
    /// The command line, or what it names, makes no sense.
    Usage = 2,
    /// A pipeline, script, template or input does not compile or parse.
    Texts = 3,
    /// Some case or agent failed, or `route` found no way.
    Cases = 4,
    /// Stopped, and resumable.
    Stopped = 5,
    /// The store is busy.
    Busy = 6,
    /// Interrupted.
    Interrupted = 130,
}

impl Exit {
    /// The number.
    pub fn code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

impl From<&SessionError> for Exit {
    fn from(error: &SessionError) -> Self {
        match error {
            SessionError::Texts(_) | SessionError::File(_) => Self::Texts,
            SessionError::Asked(_) => Self::Usage,
            SessionError::Store(error) => error.into(),
            SessionError::Journal(JournalError::Busy(_)) => Self::Busy,
            SessionError::Journal(JournalError::Failed(_)) | SessionError::Write { .. } => Self::Stopped,
        }
    }
}

impl From<&StoreError> for Exit {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Busy(_) => Self::Busy,
            StoreError::UnknownRun(_) => Self::Usage,
            _ => Self::Texts,
        }
    }
}
