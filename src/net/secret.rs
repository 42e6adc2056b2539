//! Secrets: where they are, never what they are.

use serde::Serialize;
use std::path::{Path, PathBuf};

/// The variables of this program's own secrets: nobody whom it starts is given them.
pub const OWN: [&str; 4] =
    ["ASTERISK_TOKEN", "ASTERISK_REPORTPORTAL_TOKEN", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

/// Where a secret is. It is read whenever it is needed, and kept nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// In the environment variable of this name.
    Env(String),
    /// In this file, which nobody but its owner may read.
    File(PathBuf),
}

/// Reads the secret in a file, unless others may read it too, or says why not.
pub type ReadSecret = fn(&Path) -> Result<String, String>;

impl SecretSource {
    /// Reads it. Relative files are below `root`; `file` reads one that is private. `key` is what the setting is
    /// called. An error says why not, and what to do.
    pub fn read(&self, root: &Path, file: ReadSecret, key: &str) -> Result<String, (String, String)> {
        let see = || format!("see `{key}:` in asterisk.yaml");
        let text = match self {
            Self::Env(name) => std::env::var(name)
                .map_err(|_| (format!("the environment has no `{name}`"), format!("set it: export {name}=...")))?,
            Self::File(path) => {
                let path = root.join(path);
                file(&path).map_err(|why| (why, see()))?
            }
        };
        let text = text.trim().to_owned();
        if text.is_empty() || text.contains(['\n', '\r']) {
            return Err(("the secret is empty, or more than one line".to_owned(), see()));
        }
        Ok(text)
    }
}
