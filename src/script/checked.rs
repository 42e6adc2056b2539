//! Checking the functions of a library: the static checks, given its units.

use super::check::{self, Analysis, Code, Input};
use super::{Function, Library, Unit};
use crate::diag::{Source, Span};
use rhai::{AST, Position};

impl Library {
    /// Checks a function of this library for the inputs it will be given: what it reads of them, and where it cannot mean
    /// what it says.
    pub fn check(&self, function: &Function, inputs: &[Input<'_>]) -> Analysis {
        let unit = function.unit();
        let modules = |path: &str| self.file(path).map(|file| file.unit() as &dyn Code);
        check::function(unit, function.name(), inputs, &modules)
    }
}

impl Code for Unit {
    fn ast(&self) -> &AST {
        Self::ast(self)
    }

    fn source(&self) -> &Source {
        self.text().home()
    }

    fn span(&self, at: Position) -> Span {
        self.token(at).map_or_else(Span::default, |(_, span)| span)
    }
}
