//! What a session is told by its front end.

use crate::clock::Clock;
use crate::project::Answers;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What [`Setup::keep`] is if nobody says otherwise.
pub const KEEP: usize = 2000;

/// Where things are, and the settings that hold for everything a session does.
#[derive(Clone)]
pub struct Setup {
    /// The project's directory; relative paths of its repositories are relative to it.
    pub root: PathBuf,
    /// The store.
    pub store: PathBuf,
    /// The root of all that runs write.
    pub out: PathBuf,
    /// A directory laid over the bundled scripts.
    pub scripts: Option<PathBuf>,
    /// A directory laid over the bundled pipelines.
    pub pipelines: Option<PathBuf>,
    /// A directory laid over the bundled templates.
    pub templates: Option<PathBuf>,
    /// Vars set for this command; the pipeline must have them.
    pub vars: Map<String, Value>,
    /// Vars of the project file, for the pipelines that have them.
    pub project_vars: Map<String, Value>,
    /// The repositories of the project file: `{ "repositories": [{name, path, purpose, branch}] }`.
    pub workspace: Value,
    /// The vocabulary, by name; the default one if none is named.
    pub domain: Option<String>,
    /// Masks for all nodes that they are for, by path (`masks/recall.rhai`).
    pub masks: Vec<String>,
    /// The real time that one call of a script may take; the default if none.
    pub script_time: Option<Duration>,
    /// The most cases of a run that stay in memory while it goes on; of a larger run, each is read again from the journal
    /// whenever it is needed.
    pub keep: usize,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Who answers the nodes of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// The zero-LLM responders.
    #[default]
    Script,
    /// A file of canned answers.
    Stub,
}

impl Via {
    /// What linking must know of it.
    pub fn answers(self) -> Answers {
        if self == Self::Script { Answers::Scripts } else { Answers::Others }
    }
}

/// Whether a run writes its files (case directories; the reports are always written).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Files {
    /// For up to 1 000 cases (`decisions.md` 53).
    #[default]
    Auto,
    /// However many cases there are.
    Always,
    /// Never.
    Never,
}

impl Files {
    /// Whether a run of that many cases writes case directories.
    pub fn writes(self, cases: usize) -> bool {
        match self {
            Self::Auto => cases <= 1000,
            Self::Always => true,
            Self::Never => false,
        }
    }
}
