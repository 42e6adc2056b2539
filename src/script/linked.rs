//! The result of linking: scripts with their modules, and callable functions.

use super::condition::Condition;
use super::environment::FunctionEnvironment;
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

/// The input of linking.
#[derive(Clone, Debug, Default)]
pub struct LibraryInputs {
    /// The scripts; the name of a source is its path below the script root.
    pub scripts: Vec<Source>,
    /// The inline expressions of pipelines.
    pub conditions: Vec<Condition>,
    /// The names of fields declared by schemas.
    pub fields: BTreeSet<String>,
    /// The limits of calls.
    pub limits: ScriptLimits,
    /// Whether evaluations can be observed.
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

/// A callable function.
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) params: Vec<String>,
    pub(crate) names: Vec<ImmutableString>,
    pub(crate) doc: String,
    pub(crate) private: bool,
    pub(crate) definition: Option<FunctionHead>,
    pub(crate) block: Arc<RewrittenExpr>,
    pub(crate) environment: Arc<FunctionEnvironment>,
    pub(crate) parsed: Arc<Parsed>,
    pub(crate) deep: Hash,
}

impl Callee {
    /// A function that returns nothing.
    pub(crate) fn empty(parsed: Arc<Parsed>, environment: Arc<FunctionEnvironment>) -> Self {
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

    /// The span of its name in the definition. Searched on demand, since it is needed for errors only.
    pub(crate) fn definition(&self) -> Option<(Source, Span)> {
        self.parsed.unit.definition(self.definition.as_ref()?)
    }
}

impl LinkedScript {
    /// The path below the script root.
    pub fn path(&self) -> &str {
        self.parsed.unit.name()
    }

    /// The source text.
    pub fn source(&self) -> &Source {
        &self.parsed.source
    }

    /// The hash of its text.
    pub fn hash(&self) -> Hash {
        self.parsed.hash
    }

    /// The hash of its text and of everything it imports.
    pub fn deep_hash(&self) -> Hash {
        self.deep
    }

    /// The paths of its direct imports.
    pub fn imports(&self) -> impl Iterator<Item = &str> {
        self.parsed.imports.iter().map(|import| import.script.as_str())
    }

    /// The parsed script, for static checks.
    pub fn unit(&self) -> &Unit {
        &self.parsed.unit
    }

    /// Its public functions, in source order.
    pub fn functions(&self) -> impl Iterator<Item = &Public> {
        self.parsed.publics.iter()
    }

    /// The value of a constant of the file (`const NODES = [..]`), if it exists and is plain data.
    pub fn constant(&self, name: &str) -> Option<serde_json::Value> {
        let constants = self.callees.first()?.environment.scope.constants.as_ref()?;
        let value = constants.read().ok()?.get(name).cloned()?;
        super::json::from_dynamic(&value).ok()
    }
}
