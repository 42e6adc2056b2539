//! Exit codes: the one place that maps what happened to a number (`design.md` §6).

use crate::files::FileError;
use crate::session::SessionError;
use crate::store::StoreError;
use crate::walk::JournalError;
use std::process::ExitCode;

/// What is wrong with the command line rather than with a text, though only linking finds it.
const ASKED: &[&str] = &["project/unknown-var", "project/var-type"];

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok = 0,
    /// Something was found wrong.
    Findings = 1,
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
    /// All of them.
    const ALL: [Self; 8] =
        [Self::Ok, Self::Findings, Self::Usage, Self::Texts, Self::Cases, Self::Stopped, Self::Busy, Self::Interrupted];

    /// The one with that number.
    pub fn of(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|exit| *exit as u8 == number)
    }

    /// The number.
    pub fn code(self) -> ExitCode {
        ExitCode::from(self as u8)
    }
}

impl From<&SessionError> for Exit {
    fn from(error: &SessionError) -> Self {
        match error {
            SessionError::Texts(found) if !found.iter().all(|one| ASKED.contains(&one.code.as_ref())) => Self::Texts,
            SessionError::File(FileError::NotText { .. } | FileError::TooLarge { .. } | FileError::Link { .. }) => Self::Texts,
            SessionError::Texts(_)
            | SessionError::File(_)
            | SessionError::Asked(_)
            | SessionError::Write { .. }
            | SessionError::Watch(_) => Self::Usage,
            SessionError::Outside(_) => Self::Cases,
            SessionError::Store(error) => error.into(),
            SessionError::Journal(JournalError::Busy(_)) => Self::Busy,
            SessionError::Journal(JournalError::Failed(_) | JournalError::Refused(_)) => Self::Stopped,
        }
    }
}

impl From<&StoreError> for Exit {
    fn from(error: &StoreError) -> Self {
        match error {
            StoreError::Busy(_) => Self::Busy,
            StoreError::UnknownRun(_) | StoreError::CleanedRun(_) => Self::Usage,
            _ => Self::Texts,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostic, Diagnostics};

    #[test]
    fn each_kind_of_trouble_has_its_number() {
        let texts = |codes: &[&'static str]| {
            SessionError::Texts(codes.iter().map(|code| Diagnostic::error(*code, "m")).collect::<Diagnostics>())
        };
        for (error, exit) in [
            (texts(&["pipeline/unknown-key"]), Exit::Texts),
            (texts(&["project/unknown-var"]), Exit::Usage),
            (texts(&["project/unknown-var", "script/syntax"]), Exit::Texts),
            (SessionError::Asked(Box::new(Diagnostic::error("input/no-node", "m"))), Exit::Usage),
            (SessionError::Outside(Box::new(Diagnostic::error("reportportal/server", "m"))), Exit::Cases),
            (SessionError::File(FileError::NoDirectory { path: "x".into() }), Exit::Usage),
            (SessionError::File(FileError::NotText { path: "x".into(), what: String::new() }), Exit::Texts),
            (SessionError::Store(StoreError::Busy("x".into())), Exit::Busy),
            (SessionError::Store(StoreError::UnknownRun("x".into())), Exit::Usage),
            (SessionError::Journal(JournalError::Busy("x".into())), Exit::Busy),
        ] {
            assert_eq!(Exit::from(&error), exit, "{error}");
        }
        assert_eq!(Exit::Interrupted as u8, 130);
    }
}
