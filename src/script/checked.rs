//! Checking the functions of a library: the static checks, given its units.

use super::check::{self, Analysis, CheckedParameter};
use super::{Library, ScriptFunction};

impl Library {
    /// Checks a function of this library for the inputs it will be given: what it reads of them, and where it cannot mean
    /// what it says.
    pub fn check<'a>(&'a self, function: &'a ScriptFunction, inputs: &[CheckedParameter<'a>]) -> Analysis {
        let modules = |path: &str| self.file(path).map(super::LinkedScript::unit);
        check::function(function.unit(), function.name(), inputs, &modules)
    }
}
