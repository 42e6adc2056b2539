//! Prints errors of commands, with advice.

use super::Ui;
use crate::diag::Diagnostic;
use crate::files::FileError;
use crate::session::SessionError;
use crate::store::StoreError;

/// Advice for a full disk.
const MAKE_ROOM: &str = "make room (`asterisk clean` removes what old runs left), or name another place (--store, --out); a run that has begun \
                         then goes on with";

impl Ui {
    /// Prints why a command failed on stderr. `resume` is the command that resumes what it began.
    pub fn failure(&self, error: &SessionError, resume: &str) {
        match error {
            SessionError::Texts(diagnostics) => self.diagnostics(diagnostics),
            SessionError::BadRequest(diagnostic) | SessionError::Outside(diagnostic) => self.diagnostic(diagnostic),
            SessionError::File(error @ FileError::NoDirectory { .. }) => {
                let help = "make it, or name another (`asterisk config --origin` shows who names it)";
                self.diagnostic(&Diagnostic::error("input/directory", error.to_string()).help(help));
            }
            SessionError::File(error @ FileError::NotText { .. }) => {
                self.diagnostic(&Diagnostic::error("input/encoding", error.to_string()).help("save it as UTF-8"));
            }
            SessionError::File(error) => {
                let help = "look at the path; `-` stands for standard input where a file is read";
                self.diagnostic(&Diagnostic::error("input/file", error.to_string()).help(help));
            }
            SessionError::Watch(error) => {
                let help = "raise what the system lets one watch (on Linux fs.inotify.max_user_watches), or leave --watch out";
                self.diagnostic(&Diagnostic::error("input/watch", error.to_string()).help(help));
            }
            error if error.is_full() => {
                let code = if matches!(error, SessionError::Write { .. }) { "output/full" } else { "store/full" };
                self.diagnostic(
                    &Diagnostic::error(code, error.to_string()).help(format!("{MAKE_ROOM}: asterisk {resume} --resume latest")),
                );
            }
            SessionError::Store(error) if error.is_damage() => {
                let help =
                    "`asterisk doctor --deep` lists all that is damaged; --store names another store, such as a copy from before";
                self.diagnostic(&Diagnostic::error("store/damaged", error.to_string()).help(help));
            }
            SessionError::Write { .. } => {
                let help =
                    "see that the place can be written to and has room; reports go below `--out`, all else where it was asked to";
                self.diagnostic(&Diagnostic::error("output/file", error.to_string()).help(help));
            }
            SessionError::Store(error @ StoreError::Missing(_)) => {
                let help = "`asterisk run` makes one; --store names another";
                self.diagnostic(&Diagnostic::error("store/missing", error.to_string()).help(help));
            }
            SessionError::Store(error @ StoreError::Lost(_)) => {
                let help = "run again, and leave the store alone meanwhile (--store names another)";
                self.diagnostic(&Diagnostic::error("store/lost", error.to_string()).help(help));
            }
            SessionError::Store(error) => {
                self.diagnostic(&Diagnostic::error("store/failed", error.to_string()).help("--store names another store"));
            }
            SessionError::Journal(_) => {
                let help = format!("what is recorded is safe; go on with: asterisk {resume} --resume latest");
                self.diagnostic(&Diagnostic::error("asterisk/failed", error.to_string()).help(help));
            }
        }
    }
}
