//! Exit codes: the one place that maps what happened to a number.

use asterisk_diag::{Code, Diagnostic};
use asterisk_files::FileError;
use asterisk_session::SessionError;
use asterisk_store::StoreError;
use asterisk_walk::JournalError;
use std::io::ErrorKind;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success.
    Ok = 0,
    /// There are findings.
    Findings = 1,
    /// The command line is invalid, or refers to something that does not exist.
    Usage = 2,
    /// A pipeline, script, template or input does not compile or parse.
    Texts = 3,
    /// A case or agent failed, no edge fired in `eval route`, or the result cannot be written.
    Cases = 4,
    /// Stopped, and resumable.
    Stopped = 5,
    /// The store is busy.
    Busy = 6,
    /// Interrupted.
    Interrupted = 130,
}

impl Exit {
    /// All of them.
    const ALL: [Self; 8] =
        [Self::Ok, Self::Findings, Self::Usage, Self::Texts, Self::Cases, Self::Stopped, Self::Busy, Self::Interrupted];

    /// The one with that number.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| *exit as u8 == number)
    }
}

impl From<&SessionError> for Exit {
    fn from(error: &SessionError) -> Self {
        if error.is_full() {
            return Self::Cases;
        }
        match error {
            SessionError::Texts(found) if !found.iter().all(is_of_the_command) => Self::Texts,
            SessionError::File(FileError::NotText { .. } | FileError::TooLarge { .. } | FileError::Link { .. }) => Self::Texts,
            // Not the place is wrong but the system in trouble: what is recorded is there, and its files can be written again.
            SessionError::Write { source, .. } if !is_of_the_place(source.kind()) => Self::Stopped,
            SessionError::Texts(_)
            | SessionError::File(_)
            | SessionError::BadRequest(_)
            | SessionError::Write { .. }
            | SessionError::Watch(_) => Self::Usage,
            SessionError::Outside(_) => Self::Cases,
            SessionError::Store(error) => error.into(),
            SessionError::Journal(JournalError::Busy(_)) => Self::Busy,
            SessionError::Journal(
                JournalError::Failed(_) | JournalError::Refused(_) | JournalError::Full(_) | JournalError::Audit(_),
            ) => Self::Stopped,
        }
    }
}

impl From<&StoreError> for Exit {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Busy(_) | StoreError::TakenOver(_) => Self::Busy,
            StoreError::UnknownRun(_)
            | StoreError::CleanedRun(_)
            | StoreError::Missing(_)
            | StoreError::Refused(_)
            | StoreError::NoServers
            | StoreError::Denied(_) => Self::Usage,
            StoreError::Full(_) | StoreError::Lost(_) => Self::Cases,
            StoreError::Unreachable(_) => Self::Stopped,
            _ => Self::Texts,
        }
    }
}

/// Whether the command line is wrong rather than a source, although only linking detects it.
fn is_of_the_command(found: &Diagnostic) -> bool {
    matches!(found.known(), Some(Code::ProjectUnknownVar | Code::ProjectVarType))
}

/// Whether a file cannot be written because of where it was to be written.
fn is_of_the_place(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::NotFound
            | ErrorKind::PermissionDenied
            | ErrorKind::AlreadyExists
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidFilename
            | ErrorKind::Other
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_diag::Diagnostics;

    #[test]
    fn each_kind_of_trouble_has_its_number() {
        let texts = |codes: &[&'static str]| {
            SessionError::Texts(codes.iter().map(|code| Diagnostic::error(*code, "m")).collect::<Diagnostics>())
        };
        for (error, exit) in [
            (texts(&["pipeline/unknown-key"]), Exit::Texts),
            (texts(&["project/unknown-var"]), Exit::Usage),
            (texts(&["project/unknown-var", "script/syntax"]), Exit::Texts),
            (SessionError::BadRequest(Box::new(Diagnostic::error("input/no-node", "m"))), Exit::Usage),
            (SessionError::Outside(Box::new(Diagnostic::error("reportportal/server", "m"))), Exit::Cases),
            (SessionError::File(FileError::NoDirectory { path: "x".into() }), Exit::Usage),
            (SessionError::File(FileError::NotText { path: "x".into(), what: String::new() }), Exit::Texts),
            (SessionError::Store(StoreError::Busy("x".into())), Exit::Busy),
            (SessionError::Store(StoreError::UnknownRun("x".into())), Exit::Usage),
            (SessionError::Journal(JournalError::Busy("x".into())), Exit::Busy),
            (SessionError::Journal(JournalError::Failed("x".into())), Exit::Stopped),
            (SessionError::Store(StoreError::Missing("x".into())), Exit::Usage),
            (SessionError::Store(StoreError::Lost("x".into())), Exit::Cases),
            (SessionError::Store(StoreError::Denied("x".into())), Exit::Usage),
            (SessionError::Store(StoreError::TakenOver("x".into())), Exit::Busy),
            (SessionError::Store(StoreError::Unreachable("x".into())), Exit::Stopped),
            (SessionError::Store(StoreError::Full("x".into())), Exit::Cases),
            (SessionError::Journal(StoreError::Full("x".into()).into()), Exit::Cases),
            (SessionError::Write { path: "x".into(), source: ErrorKind::StorageFull.into() }, Exit::Cases),
            (SessionError::Write { path: "x".into(), source: ErrorKind::PermissionDenied.into() }, Exit::Usage),
            (SessionError::Write { path: "x".into(), source: std::io::Error::from_raw_os_error(5) }, Exit::Stopped),
        ] {
            assert_eq!(Exit::from(&error), exit, "{error}");
        }
        assert_eq!(Exit::Interrupted as u8, 130);
    }
}
