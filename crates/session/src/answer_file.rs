//! Submitted answer files: bounded in size, and below a run directory never read through a symbolic link, since other processes
//! write there too.

use super::{Session, SessionError};
use asterisk_adapters::agent::{MAX_BYTES, too_long};
use asterisk_diag::{Diagnostic, Source};
use asterisk_files::{OutDir, read_answer};
use std::io;
use std::path::{Path, PathBuf};

/// The hint for an answer that is rejected.
pub(super) const MEND: &str = "fix it and save it again; the case still waits";

/// The error of an answer that is rejected as a whole.
pub(super) fn not_accepted(why: &str) -> SessionError {
    let diagnostic = Diagnostic::error("answer/form", format!("the answer was not accepted: {why}"));
    SessionError::Texts(diagnostic.help(MEND).into())
}

impl Session {
    /// Reads an answer from a file, or from standard input for `-`.
    pub fn answer_in(&self, path: &Path) -> Result<Source, SessionError> {
        let read = match self.below(path) {
            Some((root, name)) => {
                OutDir::open(&root).read(&name, MAX_BYTES).and_then(|text| text.ok_or_else(|| io::ErrorKind::NotFound.into()))
            }
            None => read_answer(path, self.setup.environment.input(), MAX_BYTES),
        };
        let text = match read {
            Ok(text) => String::from_utf8(text).map_err(|_| not_accepted("it is not UTF-8 text"))?,
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => return Err(not_accepted(&too_long(MAX_BYTES))),
            Err(error) => {
                let message = format!("the answer in `{}` cannot be read: {error}", path.display());
                let help = "pass its file, or `-` for standard input".to_owned();
                return Err(SessionError::bad_request("answer/file", message, Some(help)));
            }
        };
        let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
        // Some editors write a byte order mark.
        Ok(Source::new(name, text.strip_prefix('\u{feff}').unwrap_or(&text)))
    }

    /// The run directory that contains a file, by its given or its canonical path, and the file's name there.
    fn below(&self, path: &Path) -> Option<(PathBuf, String)> {
        let whole = std::path::absolute(path).ok()?;
        let real = whole.parent()?.canonicalize().ok().and_then(|dir| Some(dir.join(whole.file_name()?)));
        self.roots().into_iter().find_map(|root| {
            let root = std::path::absolute(root).ok()?;
            let under = |path: &Path, root: &Path| path.strip_prefix(root).ok()?.to_str().map(str::to_owned);
            let by_path = under(&whole, &root).map(|name| (root.clone(), name));
            by_path.or_else(|| {
                let root = root.canonicalize().ok()?;
                under(real.as_deref()?, &root).map(|name| (root, name))
            })
        })
    }
}
