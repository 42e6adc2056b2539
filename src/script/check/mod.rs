//! Static checks of scripts: what a function reads of its inputs, and where it cannot mean what it says.
//!
//! A forward pass over the plain syntax tree follows inputs through variables, loops, closures and calls of other script
//! functions. Only what is certain is reported: a value whose type depends on the way taken has no type here.

mod calls;
pub(crate) mod chain;
mod expressions;
mod findings;
mod flow;
mod reads;
mod script;
mod stock;
#[cfg(test)]
mod tests;
mod types;

pub use reads::Read;

use crate::diag::{Diagnostics, Source, Span};
use crate::model::Kind;
use rhai::{AST, Position};
use std::rc::Rc;

/// A compiled script, as the checks need it.
pub trait Code {
    /// Its plain syntax tree: neither optimised nor rewritten.
    fn ast(&self) -> &AST;

    /// The text that people wrote, which labels point into.
    fn source(&self) -> &Source;

    /// The token in [`Code::source`] that begins at a position of the syntax tree.
    fn span(&self, at: Position) -> Span;
}

/// A parameter of a function, with what it is given.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What it is called in [`Read::path`]s and diagnostics (`artifact`, `state`, `vars`), whatever the function calls it.
    pub name: &'a str,
    /// Its type.
    pub kind: &'a Kind,
}

/// What was found out about a function.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// What is wrong: `rule/compare-types`, `rule/enum-value`, `rule/unknown-field`, `rule/unknown-var`, `rule/writes-input`.
    pub diagnostics: Diagnostics,
    /// Every input field it may read, in the order of first reading.
    pub reads: Vec<Read>,
}

/// Finds the script that an `import` path names; `None` leaves calls into it unanalysed.
pub type Modules<'a> = dyn Fn(&str) -> Option<&'a dyn Code> + 'a;

/// Checks the functions of one script. Looking through the script is done once, so keep it for all functions of a script.
pub struct Checker<'a> {
    script: Rc<script::Script<'a>>,
    modules: &'a Modules<'a>,
}

impl<'a> Checker<'a> {
    /// A checker of a script.
    pub fn new(code: &'a dyn Code, modules: &'a Modules<'a>) -> Self {
        Self { script: Rc::new(script::Script::new(code)), modules }
    }

    /// Checks the function of that name that takes as many parameters as there are inputs; where there is none, nothing is
    /// found.
    pub fn function(&self, name: &str, inputs: &[Input<'a>]) -> Analysis {
        match self.script.function(name, inputs.len()) {
            Some(function) => flow::Flow::new(self.script.clone(), self.modules).run(function, inputs),
            None => Analysis::default(),
        }
    }
}

/// Checks one function of a script; see [`Checker::function`].
pub fn function<'a>(code: &'a dyn Code, name: &str, inputs: &[Input<'a>], modules: &'a Modules<'a>) -> Analysis {
    Checker::new(code, modules).function(name, inputs)
}

/// No module is known: for scripts on their own.
pub fn no_modules<'a>(_: &str) -> Option<&'a dyn Code> {
    None
}
