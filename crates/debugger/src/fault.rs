//! Errors of requests.

use asterisk_diag::Diagnostic;
use asterisk_session::SessionError;

/// Why a request failed.
#[derive(Debug)]
pub(crate) struct DebugFault {
    pub(crate) message: String,
}

/// A fault with this message.
pub(crate) fn fault(message: impl Into<String>) -> DebugFault {
    DebugFault { message: message.into() }
}

impl From<SessionError> for DebugFault {
    fn from(error: SessionError) -> Self {
        Self { message: error.to_string() }
    }
}

impl From<Box<Diagnostic>> for DebugFault {
    fn from(error: Box<Diagnostic>) -> Self {
        Self { message: explained(&error) }
    }
}

/// The message of a diagnostic with its help, in one line.
pub(crate) fn explained(error: &Diagnostic) -> String {
    match &error.help {
        Some(help) => format!("{}; {}", error.message, help.replace('\n', "; ")),
        None => error.message.clone(),
    }
}
