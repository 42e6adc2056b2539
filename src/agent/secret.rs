//! Secrets: where they are, never what they are.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where a secret is. It is read whenever it is needed, and kept nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// In the environment variable of this name.
    Env(String),
    /// In this file, which nobody but its owner may read.
    File(PathBuf),
}

impl Secret {
    /// Reads it. Relative files are below `root`. An error says why not, and what to do.
    pub(super) fn read(&self, root: &Path) -> Result<String, (String, String)> {
        let text = match self {
            Self::Env(name) => std::env::var(name)
                .map_err(|_| (format!("the environment has no `{name}`"), format!("set it: export {name}=...")))?,
            Self::File(path) => {
                let path = root.join(path);
                let shown = path.display().to_string();
                private(&path).map_err(|why| (format!("`{shown}` {why}"), format!("chmod 600 {shown}")))?;
                std::fs::read_to_string(&path).map_err(|error| {
                    (format!("`{shown}` cannot be read: {error}"), "see `secret:` in asterisk.yaml".to_owned())
                })?
            }
        };
        let text = text.trim().to_owned();
        if text.is_empty() || text.contains(['\n', '\r']) {
            return Err(("the secret is empty, or more than one line".to_owned(), "see `secret:` in asterisk.yaml".to_owned()));
        }
        Ok(text)
    }
}

/// Whether a file is its owner's alone. One that is not there is for whoever reads it to complain about.
fn private(path: &Path) -> Result<(), &'static str> {
    #[cfg(unix)]
    if let Ok(meta) = std::fs::metadata(path)
        && std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o077 != 0
    {
        return Err("can be read by others than its owner");
    }
    Ok(())
}
