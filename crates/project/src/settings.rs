//! The inputs of linking besides the texts.

use asterisk_diag::{Source, Span};
use asterisk_script::ScriptLimits;
use asterisk_script::probe::Probes;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A var set in a settings file, for all pipelines that have it.
#[derive(Clone, Debug)]
pub struct ProjectVar {
    pub value: Value,
    /// The location where it is set.
    pub place: (Source, Span),
    /// Whether it is set in the project's own file; the user's file applies to other projects as well.
    pub own: bool,
    /// Whether another pipeline of the project has it.
    pub elsewhere: bool,
}

/// The locations where vars are set, by name.
pub type VarPlaces = BTreeMap<String, (Source, Span)>;

/// Vars of settings files, by name.
pub type ProjectVars = BTreeMap<String, ProjectVar>;

/// The name of scripts as an answerer.
pub const SCRIPT: &str = "script";

/// The answerers of nodes, as far as linking depends on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswererNames {
    /// Scripts: every node needs a responder.
    Scripts,
    /// Other answerers.
    Others,
}

/// Which texts are linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkScope {
    /// All, and all are checked: for the linter.
    #[default]
    Checked,
    /// All. Bundled texts are taken as checked, and read when they are needed.
    Project,
    /// What the pipeline reaches: what it refers to, and what that imports. Bundled texts are taken as checked.
    Reached,
}

/// The inputs of linking besides the texts.
#[derive(Clone, Debug)]
pub struct LinkSettings {
    /// Which texts are linked.
    pub scope: LinkScope,
    /// Scripts that are called by their names, besides those that the pipeline refers to.
    pub called: Vec<String>,
    /// Vars set for this pipeline, which must have them.
    pub vars: Map<String, Value>,
    /// Vars of settings files, overridden by those set for this pipeline, which need not have them.
    pub project_vars: ProjectVars,
    /// The locations where vars are set for this pipeline, if known.
    pub set_places: VarPlaces,
    /// The answerers.
    pub answers: AnswererNames,
    /// The repositories of the project file.
    pub workspace: Value,
    /// The domain, by name; by default [`domain::DEFAULT_DOMAIN`](super::domain::DEFAULT_DOMAIN).
    pub domain: Option<String>,
    /// Additional masks for every node they are for, by path.
    pub masks: Vec<String>,
    /// The team, by name, that replaces that of the pipeline; sub-pipelines keep their own.
    pub team: Option<String>,
    /// The valid names for `via:`; `None` accepts any.
    pub agents: Option<Vec<String>>,
    /// The names of the configured tool servers; `None` accepts any.
    pub servers: Option<Vec<String>>,
    /// The limits of the script engine.
    pub limits: ScriptLimits,
    /// Whether evaluations of scripts can be probed.
    pub probes: Probes,
}

impl Default for LinkSettings {
    fn default() -> Self {
        let workspace = serde_json::json!({ "repositories": [] });
        Self {
            scope: LinkScope::default(),
            called: Vec::new(),
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
