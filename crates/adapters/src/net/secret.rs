//! Sources of secrets. Values are never stored.

use asterisk_base::environment::Variables;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Environment variables with this program's own secrets; they are not passed to child processes.
pub const OWN: [&str; 4] =
    ["ASTERISK_TOKEN", "ASTERISK_REPORTPORTAL_TOKEN", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"];

/// Source of a secret. It is read on each use and kept nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SecretSource {
    /// The environment variable of this name.
    Env(String),
    /// A file readable by its owner only.
    File(PathBuf),
}

/// Reads secrets.
#[derive(Clone, Debug)]
pub struct SecretReader {
    /// The environment variables.
    pub variables: Variables,
    /// Reads the secret in a file, or says why it cannot be used, for example because others may read it.
    pub file: fn(&Path) -> Result<String, String>,
}

impl SecretSource {
    /// Reads the secret. Relative files are below `root`; `key` names the setting in errors. An error is a
    /// message and a hint.
    pub fn read(&self, root: &Path, reader: &SecretReader, key: &str) -> Result<String, (String, String)> {
        let see = || format!("see `{key}:` in asterisk.yaml");
        let text = match self {
            Self::Env(name) => reader
                .variables
                .text(name)
                .ok_or_else(|| (format!("the environment variable `{name}` is not set"), format!("set it: export {name}=...")))?,
            Self::File(path) => {
                let path = root.join(path);
                (reader.file)(&path).map_err(|why| (why, see()))?
            }
        };
        let text = text.trim().to_owned();
        if text.is_empty() || text.contains(['\n', '\r']) {
            return Err(("the secret is empty, or more than one line".to_owned(), see()));
        }
        Ok(text)
    }
}
