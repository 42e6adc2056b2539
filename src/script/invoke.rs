//! Calls a function of a library.
//!
//! The function's rewritten block is evaluated directly, with its parameters in scope. Rhai's own call would look up the
//! function, hash the types of its arguments and wrap its errors each time.

use super::eval_cache::CachedEvalState;
pub(crate) use super::eval_cache::Parameters;
use super::eval_trace::Tracer;
use super::guard;
use super::json;
use super::linked::{Callee, LinkedLibrary};
use super::view::View;
use super::words::parameters;
use crate::diag::{Diagnostic, Source, Span};
use crate::model::Hash;
use rhai::{Dynamic, EvalAltResult};
use serde_json::Value;
use std::borrow::Borrow;
use std::sync::Arc;

/// A function of a library, callable from any thread. Cloning costs two reference counts.
#[derive(Clone)]
pub struct ScriptFunction {
    linked: Arc<LinkedLibrary>,
    callee: Arc<Callee>,
}

impl ScriptFunction {
    pub(crate) fn new(linked: Arc<LinkedLibrary>, callee: Arc<Callee>) -> Self {
        Self { linked, callee }
    }

    /// The name; that of a condition is `condition`.
    pub fn name(&self) -> &str {
        &self.callee.name
    }

    /// The path of its script; `None` for a condition.
    pub fn file(&self) -> Option<&str> {
        (!self.is_condition()).then(|| self.callee.parsed.unit.name())
    }

    /// The unique key: `path#name`, or a condition's key.
    pub fn key(&self) -> String {
        let unit = self.callee.parsed.unit.name();
        if self.is_condition() { unit.to_owned() } else { format!("{unit}#{}", self.callee.name) }
    }

    /// The names of its parameters.
    pub fn params(&self) -> &[String] {
        &self.callee.params
    }

    /// Its `///` comment, without the slashes.
    pub fn doc(&self) -> &str {
        &self.callee.doc
    }

    /// The span of its name in the definition; the whole of a condition.
    pub fn definition(&self) -> Option<(Source, Span)> {
        self.callee.definition()
    }

    /// The hash of its script's text and of everything that script imports.
    pub fn hash(&self) -> Hash {
        self.callee.deep
    }

    /// Whether it is an inline condition.
    pub fn is_condition(&self) -> bool {
        self.callee.parsed.unit.is_condition()
    }

    /// The hashes of the imports of its script.
    pub(crate) fn imported(&self) -> impl Iterator<Item = Hash> {
        let imports = self.callee.parsed.imports.iter();
        imports.filter_map(|import| self.linked.files.get(&import.script)).map(|file| file.deep)
    }

    /// The script that contains it.
    pub(crate) fn unit(&self) -> &super::Unit {
        &self.callee.parsed.unit
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
    pub(crate) fn data(&self, value: &Dynamic, code: &'static str) -> Result<Value, Box<Diagnostic>> {
        json::from_dynamic(value).map_err(|failure| {
            let path = if failure.path == "$" { " there".into() } else { format!(" at `{}`", failure.path) };
            let message = format!("`{}` cannot return this: what stands{path} {}", self.name(), failure.what);
            Box::new(self.blame(
                Diagnostic::error(code, message).help("return numbers, strings, `true`, `false`, `()`, lists and maps of them"),
            ))
        })
    }

    /// Labels a diagnostic with the function's definition.
    pub(crate) fn blame(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.callee.definition() {
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
        guard::run(&self.linked.limits, || self.run(args, mode)).map_err(|stop| Box::new(self.explain(stop)))
    }

    fn run(&self, args: &[impl Borrow<View>], parameters: Parameters) -> Result<Dynamic, Box<EvalAltResult>> {
        let mut warm = guard::apart(|| {
            let mut warm = CachedEvalState::take(&self.linked, &self.callee.environment);
            warm.bind(&self.callee.names, args, parameters);
            warm
        });
        // Flattened while the guard still holds captured variables.
        let value = match warm.state.evaluate(&self.linked.engine, &self.callee.block) {
            Ok(value) => value.flatten(),
            Err(error) => match *error {
                EvalAltResult::Return(value, _) => value.flatten(),
                other => return Err(Box::new(other)),
            },
        };
        warm.keep(&self.callee.environment);
        Ok(value)
    }

    #[cold]
    pub(super) fn explain(&self, stop: guard::EvaluationStop) -> Diagnostic {
        let unit = |path: &str| self.linked.files.get(path).map(|file| &file.parsed.unit);
        let tracer = Tracer {
            engine: &self.linked.engine,
            entry: &self.callee.parsed.unit,
            fallback: self.callee.definition(),
            unit: &unit,
        };
        tracer.explain(stop)
    }
}

impl std::fmt::Debug for ScriptFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Function({})", self.key())
    }
}
