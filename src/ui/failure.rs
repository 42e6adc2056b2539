//! Prints errors of commands, with advice.

use super::Ui;
use asterisk_diag::Diagnostic;
use asterisk_files::FileError;
use asterisk_session::SessionError;
use asterisk_store::StoreError;

/// Advice for a full disk.
const MAKE_ROOM: &str = "free disk space (`asterisk clean` removes data of old runs), or use another location (--store, --out); a run that has begun \
                         can be resumed with";

impl Ui {
    /// Prints why a command failed on stderr. `resume` is the command that resumes what it began.
    pub fn failure(&self, error: &SessionError, resume: &str) {
        match error {
            SessionError::Texts(diagnostics) => self.diagnostics(diagnostics),
            SessionError::BadRequest(diagnostic) | SessionError::Outside(diagnostic) => self.diagnostic(diagnostic),
            SessionError::File(error @ FileError::NoDirectory { .. }) => {
                let help = "create it, or name another one (`asterisk config --origin` shows the setting that names it)";
                self.diagnostic(&Diagnostic::error("input/directory", error.to_string()).help(help));
            }
            SessionError::File(error @ FileError::NotText { .. }) => {
                self.diagnostic(&Diagnostic::error("input/encoding", error.to_string()).help("save it as UTF-8"));
            }
            SessionError::File(error) => {
                let help = "check the path; `-` reads standard input";
                self.diagnostic(&Diagnostic::error("input/file", error.to_string()).help(help));
            }
            SessionError::Watch(error) => {
                let help = "raise the system's limit on watches (fs.inotify.max_user_watches on Linux), or omit --watch";
                self.diagnostic(&Diagnostic::error("input/watch", error.to_string()).help(help));
            }
            error if error.is_full() => {
                let code = if matches!(error, SessionError::Write { .. }) { "output/full" } else { "store/full" };
                self.diagnostic(
                    &Diagnostic::error(code, error.to_string()).help(format!("{MAKE_ROOM}: asterisk {resume} --resume latest")),
                );
            }
            SessionError::Store(error) if error.is_damage() => {
                let help = "`asterisk doctor --deep` lists all damage; --store names another store, such as a backup";
                self.diagnostic(&Diagnostic::error("store/damaged", error.to_string()).help(help));
            }
            SessionError::Write { .. } => {
                let help = "check that the location is writable and has free space; reports are written below `--out`";
                self.diagnostic(&Diagnostic::error("output/file", error.to_string()).help(help));
            }
            SessionError::Store(error @ StoreError::Missing(_)) => {
                let help = "`asterisk run` creates one; --store names another one";
                self.diagnostic(&Diagnostic::error("store/missing", error.to_string()).help(help));
            }
            SessionError::Store(error @ StoreError::Lost(_)) => {
                let help = "run again, and do not touch the store during the run (--store names another one)";
                self.diagnostic(&Diagnostic::error("store/lost", error.to_string()).help(help));
            }
            SessionError::Store(error) => {
                self.diagnostic(&Diagnostic::error("store/failed", error.to_string()).help("--store names another store"));
            }
            SessionError::Journal(_) => {
                let help = format!("what is recorded is safe; resume with: asterisk {resume} --resume latest");
                self.diagnostic(&Diagnostic::error("asterisk/failed", error.to_string()).help(help));
            }
        }
    }
}
