//! What linking takes from outside the texts.

use crate::diag::{Source, Span};
use crate::script::ScriptLimits;
use crate::script::probe::Probes;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A var that a file of settings sets for all pipelines that have it.
#[derive(Clone, Debug)]
pub struct ProjectVar {
    /// Its value.
    pub value: Value,
    /// Where it is set.
    pub place: (Source, Span),
    /// Whether the project's own file sets it. The user's is for other projects as well.
    pub own: bool,
    /// Whether another pipeline of the project has it.
    pub elsewhere: bool,
}

/// Where vars are set, by name.
pub type VarPlaces = BTreeMap<String, (Source, Span)>;

/// Such vars by name.
pub type ProjectVars = BTreeMap<String, ProjectVar>;

/// Who answers the nodes, as far as linking must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswererNames {
    /// The scripts: every node needs a responder (`decisions.md` 51).
    Scripts,
    /// Someone else.
    Others,
}

/// What linking takes from outside the texts.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// Vars set for this pipeline; it must have them.
    pub vars: Map<String, Value>,
    /// Vars of the project, which those set for this pipeline override; the pipeline need not have them.
    pub project_vars: ProjectVars,
    /// Where vars are set for this pipeline, of those of which it is known.
    pub set_places: VarPlaces,
    /// Who answers.
    pub answers: AnswererNames,
    /// The repositories of the project file.
    pub workspace: Value,
    /// The vocabulary, by name; [`domain::DEFAULT_DOMAIN`](super::domain::DEFAULT_DOMAIN) if none is named.
    pub domain: Option<String>,
    /// Masks for every node that they are for, beside those that the pipeline lists, by path.
    pub masks: Vec<String>,
    /// The team, by name, in the place of that of the pipeline; its parts keep their own.
    pub team: Option<String>,
    /// The names that `via:` may have; any, if there are none to compare with.
    pub agents: Option<Vec<String>>,
    /// The names of the servers whose tools nodes may call; any, if there are none to compare with.
    pub servers: Option<Vec<String>>,
    /// The limits of the script engine.
    pub limits: ScriptLimits,
    /// Whether evaluations of its scripts can be watched.
    pub probes: Probes,
}

impl Default for LinkSettings {
    fn default() -> Self {
        let workspace = serde_json::json!({ "repositories": [] });
        Self {
            vars: Map::new(),
            project_vars: ProjectVars::new(),
            set_places: VarPlaces::new(),
            answers: AnswererNames::Others,
            workspace,
            domain: None,
            masks: Vec::new(),
            team: None,
            agents: None,
            servers: None,
            limits: ScriptLimits::default(),
            probes: Probes::None,
        }
    }
}
