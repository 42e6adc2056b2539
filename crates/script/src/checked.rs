//! Runs the static checks on the functions of a library.

use super::check::{self, Analysis, CheckedParameter, Checker, ReturnedValue};
use super::{Library, ScriptFunction};

impl Library {
    /// Checks a function of this library against the types of its inputs. Returns the fields it reads and the errors found.
    pub fn check<'a>(&'a self, function: &'a ScriptFunction, inputs: &[CheckedParameter<'a>]) -> Analysis {
        let modules = |path: &str| self.file(path).map(super::LinkedScript::unit);
        check::function(function.unit(), function.name(), inputs, &modules)
    }

    /// The same, with checks of what the function returns.
    pub fn check_returning<'a>(
        &'a self,
        function: &'a ScriptFunction,
        inputs: &[CheckedParameter<'a>],
        returned: ReturnedValue<'_>,
    ) -> Analysis {
        let modules = |path: &str| self.file(path).map(super::LinkedScript::unit);
        Checker::new(function.unit(), &modules).returning(function.name(), inputs, returned)
    }
}
