//! What linking makes: scripts with their modules, and functions as they are called.

use super::condition::Condition;
use super::environment::Environment;
use super::limits::ScriptLimits;
use super::parse::{Parsed, Public};
use super::probe::Probes;
use super::rhai_internals::node::RewrittenExpr;
use super::rhai_internals::tree::FunctionHead;
use super::unit::Unit;
use crate::diag::{Source, Span};
use crate::model::Hash;
use rhai::{Engine, ImmutableString, Module, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a library is linked from.
#[derive(Clone, Debug, Default)]
pub struct LibraryInputs {
    /// The scripts; a source's name is its path below the script root.
    pub scripts: Vec<Source>,
    /// The expressions written in pipelines.
    pub conditions: Vec<Condition>,
    /// The names of fields that schemas declare.
    pub fields: BTreeSet<String>,
    /// What a call may use.
    pub limits: ScriptLimits,
    /// Whether evaluations can be watched.
    pub probes: Probes,
}

pub(crate) struct LinkedLibrary {
    pub(crate) engine: Engine,
    pub(crate) limits: ScriptLimits,
    pub(crate) probes: Probes,
    pub(crate) files: BTreeMap<String, LinkedScript>,
    pub(crate) conditions: BTreeMap<String, Arc<Callee>>,
}

/// A script of a library.
pub struct LinkedScript {
    pub(crate) parsed: Arc<Parsed>,
    pub(crate) module: Shared<Module>,
    pub(crate) callees: Vec<Arc<Callee>>,
    pub(crate) deep: Hash,
}

/// A function as it is called.
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) params: Vec<String>,
    pub(crate) names: Vec<ImmutableString>,
    pub(crate) doc: String,
    pub(crate) private: bool,
    pub(crate) definition: Option<FunctionHead>,
    pub(crate) block: Arc<RewrittenExpr>,
    pub(crate) environment: Arc<Environment>,
    pub(crate) parsed: Arc<Parsed>,
    pub(crate) deep: Hash,
}

impl Callee {
    /// A function that answers nothing.
    pub(crate) fn empty(parsed: Arc<Parsed>, environment: Arc<Environment>) -> Self {
        Self {
            name: String::new(),
            params: Vec::new(),
            names: Vec::new(),
            doc: String::new(),
            private: false,
            definition: None,
            block: Arc::new(RewrittenExpr::default()),
            environment,
            deep: parsed.hash,
            parsed,
        }
    }

    /// Its name where it is defined. Looked for in the text when it is asked for, which is when something is wrong.
    pub(crate) fn definition(&self) -> Option<(Source, Span)> {
        self.parsed.unit.definition(self.definition.as_ref()?)
    }
}

impl LinkedScript {
    /// Its path below the script root.
    pub fn path(&self) -> &str {
        self.parsed.unit.name()
    }

    /// Its text.
    pub fn source(&self) -> &Source {
        &self.parsed.source
    }

    /// The address of its text.
    pub fn hash(&self) -> Hash {
        self.parsed.hash
    }

    /// The address of its text and of all it imports.
    pub fn deep_hash(&self) -> Hash {
        self.deep
    }

    /// The paths of the scripts it imports itself.
    pub fn imports(&self) -> impl Iterator<Item = &str> {
        self.parsed.imports.iter().map(|import| import.script.as_str())
    }

    /// The parsed script, for static checks.
    pub fn unit(&self) -> &Unit {
        &self.parsed.unit
    }

    /// Its functions that others may call, in the order of the text.
    pub fn functions(&self) -> impl Iterator<Item = &Public> {
        self.parsed.publics.iter()
    }

    /// The value of a constant of the file (`const NODES = [..]`), if there is one and it is plain data.
    pub fn constant(&self, name: &str) -> Option<serde_json::Value> {
        let constants = self.callees.first()?.environment.scope.constants.as_ref()?;
        let value = constants.read().ok()?.get(name).cloned()?;
        super::json::from_dynamic(&value).ok()
    }
}
