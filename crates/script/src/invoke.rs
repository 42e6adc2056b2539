//! Calls a function of a library.
//!
//! The function's rewritten block is evaluated directly, with its parameters in scope. Rhai's own call would look up the
//! function, hash the types of its arguments and wrap its errors each time.

use super::eval_cache::CachedEvalState;
pub(crate) use super::eval_cache::Parameters;
use super::eval_trace::Tracer;
use super::guard;
use super::json;
use super::linked::{Callee, CalleeBody, LinkedLibrary, LinkedScript};
use super::parse::Parsed;
use super::view::View;
use super::words::parameters;
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Source, Span};
use rhai::{Dynamic, EvalAltResult};
use serde_json::Value;
use std::borrow::Borrow;
use std::sync::Arc;
use tracing::trace_span;

/// A function of a library, callable from any thread. Cloning costs three reference counts.
#[derive(Clone)]
pub struct ScriptFunction {
    linked: Arc<LinkedLibrary>,
    text: FunctionText,
    callee: Arc<Callee>,
}

/// The text that defines a function.
#[derive(Clone)]
pub(crate) enum FunctionText {
    Script(Arc<LinkedScript>),
    Condition(Arc<Parsed>),
}

impl ScriptFunction {
    pub(crate) fn new(linked: Arc<LinkedLibrary>, text: FunctionText, callee: Arc<Callee>) -> Self {
        Self { linked, text, callee }
    }

    fn parsed(&self) -> &Parsed {
        match &self.text {
            FunctionText::Script(script) => script.parsed(),
            FunctionText::Condition(parsed) => parsed,
        }
    }

    /// Whether its script was taken as checked when it was linked: it is bundled, and imports only bundled ones.
    pub fn is_trusted(&self) -> bool {
        matches!(&self.text, FunctionText::Script(script) if script.trusted)
    }

    /// The name; that of a condition is `condition`.
    pub fn name(&self) -> &str {
        &self.callee.name
    }

    /// The path of its script; `None` for a condition.
    pub fn file(&self) -> Option<&str> {
        match &self.text {
            FunctionText::Script(script) => Some(script.path()),
            FunctionText::Condition(_) => None,
        }
    }

    /// The unique key: `path#name`, or a condition's key.
    pub fn key(&self) -> String {
        match &self.text {
            FunctionText::Script(script) => format!("{}#{}", script.path(), self.callee.name),
            FunctionText::Condition(parsed) => parsed.unit.name().to_owned(),
        }
    }

    /// The names of its parameters.
    pub fn params(&self) -> &[String] {
        &self.callee.params
    }

    /// Its `///` comment, without the slashes.
    pub fn doc(&self) -> &str {
        let Callee { name, params, .. } = &*self.callee;
        let public = self.parsed().publics.iter().find(|public| public.name == *name && public.params.len() == params.len());
        public.map_or("", |public| &public.doc)
    }

    /// The span of its name in the definition; the whole of a condition.
    pub fn definition(&self) -> Option<(Source, Span)> {
        self.callee.definition(self.parsed())
    }

    /// The hash of its script's text and of everything that script imports.
    pub fn hash(&self) -> Hash {
        match &self.text {
            FunctionText::Script(script) => script.deep,
            FunctionText::Condition(parsed) => parsed.hash,
        }
    }

    /// Whether it is an inline condition.
    pub fn is_condition(&self) -> bool {
        matches!(self.text, FunctionText::Condition(_))
    }

    /// The hashes of the imports of its script.
    pub(crate) fn imported(&self) -> impl Iterator<Item = Hash> {
        let script = if let FunctionText::Script(script) = &self.text { Some(script) } else { None };
        let imports = script.into_iter().flat_map(|script| script.imports());
        imports.filter_map(|import| self.linked.files.get(import)).map(|file| file.deep)
    }

    /// The script that contains it.
    pub(crate) fn unit(&self) -> &super::Unit {
        &self.parsed().unit
    }

    /// Calls it. The result is a Rhai value; [`ScriptFunction::call_json`] returns JSON.
    pub fn call(&self, args: &[View]) -> Result<Dynamic, Box<Diagnostic>> {
        self.evaluate(args, Parameters::Variables)
    }

    /// Calls it with JSON arguments, for interactive use.
    pub fn call_json(&self, args: &[Value]) -> Result<Value, Box<Diagnostic>> {
        let names = self.callee.params.iter().map(String::as_str).chain(std::iter::repeat("argument"));
        let views: Vec<View> = args.iter().zip(names).map(|(arg, name)| View::plain(arg, name)).collect();
        let value = self.call(&views)?;
        self.data(&value, "script/return")
    }

    /// Converts a returned value to JSON.
    pub fn data(&self, value: &Dynamic, code: &'static str) -> Result<Value, Box<Diagnostic>> {
        json::from_dynamic(value).map_err(|failure| {
            let path = if failure.path == "$" { String::new() } else { format!(" at `{}`", failure.path) };
            let message = format!("`{}` cannot return this: the value{path} {}", self.name(), failure.what);
            Box::new(self.blame(
                Diagnostic::error(code, message).help("return numbers, strings, `true`, `false`, `()`, lists and maps of them"),
            ))
        })
    }

    /// Labels a diagnostic with the function's definition.
    pub(crate) fn blame(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.definition() {
            Some((source, span)) => diagnostic.label(&source, span, ""),
            None => diagnostic,
        }
    }

    pub(crate) fn evaluate(&self, args: &[impl Borrow<View>], mode: Parameters) -> Result<Dynamic, Box<Diagnostic>> {
        if args.len() != self.callee.params.len() {
            let takes = parameters(self.callee.params.len());
            let message = format!("`{}` takes {takes}, but is called with {}", self.key(), args.len());
            return Err(Box::new(self.blame(Diagnostic::error("script/arity", message))));
        }
        let body = match (self.callee.body(), &self.text) {
            (None, FunctionText::Script(script)) => self.linked.body(script, &self.callee).map_err(Box::new)?,
            (None, FunctionText::Condition(_)) => return Ok(Dynamic::UNIT),
            (Some(body), _) => body,
        };
        let _span = trace_span!("script", function = %self.key()).entered();
        guard::run(&self.linked.limits, || self.run(body, args, mode)).map_err(|stop| Box::new(self.explain(stop)))
    }

    fn run(&self, body: &CalleeBody, args: &[impl Borrow<View>], parameters: Parameters) -> Result<Dynamic, Box<EvalAltResult>> {
        let CalleeBody { block, environment } = body;
        let mut warm = guard::apart(|| {
            let mut warm = CachedEvalState::take(&self.linked, environment);
            warm.bind(&self.callee.names, args, parameters);
            warm
        });
        // Flattened while the guard still holds captured variables.
        let value = match warm.state.evaluate(&self.linked.engine, block) {
            Ok(value) => value.flatten(),
            Err(error) => match *error {
                EvalAltResult::Return(value, _) => value.flatten(),
                other => return Err(Box::new(other)),
            },
        };
        warm.keep(environment);
        Ok(value)
    }

    #[cold]
    pub(super) fn explain(&self, stop: guard::EvaluationStop) -> Diagnostic {
        let unit = |path: &str| self.linked.files.get(path).map(|file| file.unit());
        let tracer = Tracer { engine: &self.linked.engine, entry: self.unit(), fallback: self.definition(), unit: &unit };
        tracer.explain(stop)
    }
}

impl std::fmt::Debug for ScriptFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Function({})", self.key())
    }
}
