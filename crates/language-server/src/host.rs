//! What the program around the server provides: settings of projects, and the schemas of their files.

use asterisk_files::UnsavedTexts;
use asterisk_lint::Config;
use asterisk_session::{Session, SessionError};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project, with its settings.
pub struct OpenedProject {
    /// A session that sees the unsaved texts.
    pub session: Session,
    /// How its scripts are linted.
    pub lint: Config,
    /// The directory that holds `asterisk.yaml`, or would.
    pub root: PathBuf,
}

/// The program around the server.
pub trait ServerHost: Send + Sync {
    /// Reads the settings of the project that holds a directory.
    ///
    /// # Errors
    /// If the settings cannot be read.
    fn open(&self, dir: &Path, unsaved: Arc<UnsavedTexts>) -> Result<OpenedProject, SessionError>;

    /// The JSON Schema of a YAML file, by its path below the project's directories (`scripts/data/roots.yaml`).
    fn schema(&self, path: &str) -> Option<Value>;

    /// A directory in which bundled files can be written for editors to open; `None` if there is none.
    fn cache(&self) -> Option<PathBuf>;
}
