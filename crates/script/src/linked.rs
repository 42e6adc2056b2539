//! The result of linking: scripts, parsed and evaluated when they are needed, and callable functions.

use super::condition::Condition;
use super::environment::{CapturedEnvironment, FunctionEnvironment, with_probe};
use super::eval_trace::Tracer;
use super::guard;
use super::limits::ScriptLimits;
use super::outline::ScriptOutline;
use super::parse::{Parsed, Public, parse_bundled};
use super::probe::Probes;
use super::resolver::ScriptResolver;
use super::rhai_internals::node::RewrittenExpr;
use super::unit::Unit;
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Source, Span};
use rhai::{Engine, ImmutableString, Module, Scope, Shared};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    /// The scripts that a pipeline refers to: only they, and what they import, are linked. All are if `None`.
    pub reached: Option<BTreeSet<String>>,
    /// Whether bundled scripts that import only bundled ones are taken as checked: each waits for its first call to be parsed.
    pub trusted: bool,
}

pub(crate) struct LinkedLibrary {
    pub(crate) engine: Engine,
    pub(crate) limits: ScriptLimits,
    pub(crate) probes: Probes,
    pub(crate) files: BTreeMap<String, Arc<LinkedScript>>,
    /// All texts, those that are not linked included.
    pub(crate) texts: BTreeMap<String, Source>,
    pub(crate) conditions: BTreeMap<String, LinkedCondition>,
    pub(crate) modules: ScriptResolver,
}

/// A script of a library.
pub struct LinkedScript {
    source: Source,
    probes: Probes,
    /// Whether it was taken as checked.
    pub(crate) trusted: bool,
    hash: Hash,
    pub(crate) deep: Hash,
    /// The scripts it imports, by path.
    imports: Vec<String>,
    /// Its functions, in source order, without closures.
    pub(crate) callees: Vec<Arc<Callee>>,
    parsed: OnceLock<Arc<Parsed>>,
    evaluated: OnceLock<EvaluatedScript>,
    /// Held by the thread that evaluates it.
    evaluating: Mutex<()>,
}

/// The head of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature<'s> {
    pub name: &'s str,
    /// The names of its parameters.
    pub params: &'s [String],
    pub private: bool,
}

/// A script whose constants are evaluated.
pub(crate) struct EvaluatedScript {
    pub(crate) module: Shared<Module>,
    environment: Arc<FunctionEnvironment>,
}

/// An inline condition.
#[derive(Clone)]
pub(crate) struct LinkedCondition {
    pub(crate) parsed: Arc<Parsed>,
    pub(crate) callee: Arc<Callee>,
}

/// A callable function.
pub(crate) struct Callee {
    pub(crate) name: String,
    pub(crate) params: Vec<String>,
    pub(crate) names: Vec<ImmutableString>,
    pub(crate) private: bool,
    /// Its index among the functions of its text, without closures.
    index: usize,
    body: OnceLock<CalleeBody>,
}

/// What a call evaluates.
pub(crate) struct CalleeBody {
    pub(crate) block: Arc<RewrittenExpr>,
    pub(crate) environment: Arc<FunctionEnvironment>,
}

impl Callee {
    fn new(index: usize, name: &str, params: Vec<String>, private: bool) -> Self {
        let names = params.iter().map(|param| param.as_str().into()).collect();
        Self { name: name.to_owned(), params, names, private, index, body: OnceLock::new() }
    }

    /// The functions of a parsed text.
    fn all_of(parsed: &Parsed) -> Vec<Arc<Self>> {
        let functions = parsed.unit.tree().named().enumerate();
        let callee = |(index, function): (usize, &super::rhai_internals::tree::Function)| {
            let params = function.params.iter().map(ToString::to_string).collect();
            Arc::new(Self::new(index, function.name(), params, function.private))
        };
        functions.map(callee).collect()
    }

    /// What to evaluate, if it was called before.
    pub(crate) fn body(&self) -> Option<&CalleeBody> {
        self.body.get()
    }

    fn bind(&self, parsed: &Parsed, environment: &Arc<FunctionEnvironment>) -> &CalleeBody {
        let named = || parsed.unit.tree().functions.iter().zip(&parsed.rewritten.bodies).filter(|(of, _)| !of.head.is_closure());
        let block = || named().nth(self.index).map(|(_, block)| block.clone()).unwrap_or_default();
        self.body.get_or_init(|| CalleeBody { block: block(), environment: environment.clone() })
    }

    /// The span of its name in the definition. Searched on demand, since it is needed for errors only.
    pub(crate) fn definition(&self, parsed: &Parsed) -> Option<(Source, Span)> {
        parsed.unit.definition(&parsed.unit.tree().named().nth(self.index)?.head)
    }
}

impl LinkedCondition {
    pub(crate) fn new(parsed: Arc<Parsed>) -> Self {
        let environment = Arc::new(CapturedEnvironment::default().environment(parsed.unit.name(), &parsed.rewritten.ast));
        let callees = Callee::all_of(&parsed);
        let empty = || Arc::new(Callee::new(usize::MAX, "", Vec::new(), false));
        let callee = callees.into_iter().find(|callee| callee.name == super::condition::NAME).unwrap_or_else(empty);
        callee.bind(&parsed, &environment);
        Self { parsed, callee }
    }
}

/// The hash of a text and of everything it imports.
fn deep_hash(hash: Hash, imports: &[String], files: &BTreeMap<String, Arc<LinkedScript>>) -> Hash {
    let mut parts: Vec<(&str, Hash)> =
        imports.iter().filter_map(|import| Some((import.as_str(), files.get(import)?.deep))).collect();
    if parts.is_empty() {
        return hash;
    }
    parts.sort_unstable();
    let mut bytes = hash.bytes().to_vec();
    for (path, deep) in parts {
        bytes.extend(path.as_bytes());
        bytes.extend(deep.bytes());
    }
    Hash::of(&bytes)
}

impl LinkedScript {
    /// A parsed and checked script. `files` are those it imports, among others.
    pub(crate) fn of_parsed(parsed: &Arc<Parsed>, probes: Probes, files: &BTreeMap<String, Arc<Self>>) -> Self {
        let imports: Vec<String> = parsed.imports.iter().map(|import| import.script.clone()).collect();
        Self {
            source: parsed.source.clone(),
            probes,
            trusted: false,
            hash: parsed.hash,
            deep: deep_hash(parsed.hash, &imports, files),
            imports,
            callees: Callee::all_of(parsed),
            parsed: OnceLock::from(parsed.clone()),
            evaluated: OnceLock::new(),
            evaluating: Mutex::new(()),
        }
    }

    /// A bundled script that waits for its first call. Those of a process are shared by all its libraries: they depend on nothing
    /// but their texts.
    pub(crate) fn waiting(
        source: &Source,
        outline: &ScriptOutline<'_>,
        probes: Probes,
        files: &BTreeMap<String, Arc<Self>>,
    ) -> Arc<Self> {
        static SHARED: Mutex<BTreeMap<(Probes, String, Hash), Arc<LinkedScript>>> = Mutex::new(BTreeMap::new());
        let hash = Hash::of(source.text().as_bytes());
        let deep = deep_hash(hash, &outline.imports, files);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let known = shared.entry((probes, source.name().to_owned(), deep)).or_insert_with(|| {
            let callee = |(index, function): (usize, &super::outline::OutlinedFunction<'_>)| {
                let params = function.params.iter().map(|param| (*param).to_owned()).collect();
                Arc::new(Callee::new(index, function.name, params, function.private))
            };
            Arc::new(Self {
                source: source.clone(),
                probes,
                trusted: true,
                hash,
                deep,
                imports: outline.imports.clone(),
                callees: outline.functions.iter().enumerate().map(callee).collect(),
                parsed: OnceLock::new(),
                evaluated: OnceLock::new(),
                evaluating: Mutex::new(()),
            })
        });
        known.clone()
    }

    /// The parsed text.
    pub(crate) fn parsed(&self) -> &Arc<Parsed> {
        self.parsed.get_or_init(|| guard::apart(|| Arc::new(parse_bundled(&self.source, self.probes))))
    }

    /// The parsed text of a script that was parsed already.
    pub(crate) fn parsed_before(&self) -> Option<&Arc<Parsed>> {
        self.parsed.get()
    }

    /// The module of a script whose constants were evaluated.
    #[cfg(test)]
    pub(crate) fn evaluated(&self) -> Option<&EvaluatedScript> {
        self.evaluated.get()
    }

    /// The path below the script root.
    pub fn path(&self) -> &str {
        self.source.name()
    }

    /// The source text.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The hash of its text.
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// The hash of its text and of everything it imports.
    pub fn deep_hash(&self) -> Hash {
        self.deep
    }

    /// The paths of its direct imports.
    pub fn imports(&self) -> impl Iterator<Item = &str> {
        self.imports.iter().map(String::as_str)
    }

    /// The signatures of its functions, private ones included, in source order.
    pub fn signatures(&self) -> impl Iterator<Item = Signature<'_>> {
        self.callees.iter().map(|callee| Signature { name: &callee.name, params: &callee.params, private: callee.private })
    }

    /// The parsed script, for static checks.
    pub fn unit(&self) -> &Unit {
        &self.parsed().unit
    }

    /// Its public functions, in source order.
    pub fn functions(&self) -> impl Iterator<Item = &Public> {
        self.parsed().publics.iter()
    }
}

impl LinkedLibrary {
    /// Evaluates the constants of a script, if that has not been done, and those of the scripts it imports.
    pub(crate) fn evaluate<'s>(&self, script: &'s LinkedScript) -> Result<&'s EvaluatedScript, Diagnostic> {
        if let Some(evaluated) = script.evaluated.get() {
            return Ok(evaluated);
        }
        // Its own time and memory, not those of the call that came here.
        guard::aside(|| {
            let _alone = script.evaluating.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(evaluated) = script.evaluated.get() {
                return Ok(evaluated);
            }
            for import in script.imports.iter().filter_map(|import| self.files.get(import)) {
                let evaluated = self.evaluate(import)?;
                self.modules.insert(import.path(), evaluated.module.clone());
            }
            let evaluated = self.evaluate_alone(script.parsed())?;
            Ok(script.evaluated.get_or_init(|| evaluated))
        })
    }

    fn evaluate_alone(&self, parsed: &Arc<Parsed>) -> Result<EvaluatedScript, Diagnostic> {
        let seen = CapturedEnvironment::default();
        let ast = with_probe(&parsed.rewritten.ast, &seen);
        let mut module =
            guard::run(&self.limits, || Module::eval_ast_as_new(Scope::new(), &ast, &self.engine)).map_err(|stop| {
                let unit = |path: &str| self.files.get(path).map(|file| file.unit());
                Tracer { engine: &self.engine, entry: &parsed.unit, fallback: None, unit: &unit }.explain(stop)
            })?;
        forget_imports(&mut module);
        let environment = Arc::new(seen.environment(parsed.unit.name(), &parsed.rewritten.ast));
        Ok(EvaluatedScript { module: Shared::new(module), environment })
    }

    /// What a call of a function evaluates.
    pub(crate) fn body<'c>(&self, script: &LinkedScript, callee: &'c Callee) -> Result<&'c CalleeBody, Diagnostic> {
        if let Some(body) = callee.body.get() {
            return Ok(body);
        }
        let evaluated = self.evaluate(script)?;
        Ok(callee.bind(script.parsed(), &evaluated.environment))
    }

    /// The value of a constant of a script (`const NODES = [..]`), if it exists and is plain data.
    pub(crate) fn constant(&self, script: &LinkedScript, name: &str) -> Option<serde_json::Value> {
        let environment = &self.evaluate(script).ok()?.environment;
        let value = environment.scope.constants.as_ref()?.read().ok()?.get(name).cloned()?;
        super::json::from_dynamic(&value).ok()
    }
}

/// Clears the modules nested in a module. Its functions carry their imports with them; only a path such as `a::b::f()` would use
/// these, and [`imports_of`](super::imports::imports_of) refuses it. Rhai indexes a module with everything nested in it, however
/// often it occurs: the index would double with each script that imports another twice.
fn forget_imports(module: &mut Module) {
    let names: Vec<String> = module.iter_sub_modules().map(|(name, _)| name.to_owned()).collect();
    let nothing = Shared::new(Module::new());
    for name in names {
        module.set_sub_module(name, nothing.clone());
    }
    module.build_index();
}
