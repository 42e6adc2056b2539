//! Static checks of scripts: the inputs that a function reads, and code that cannot work as intended.
//!
//! A forward pass over the syntax tree follows inputs through variables, loops, closures and calls of other script functions.
//! Only what is certain is reported: a value whose type depends on the path taken is treated as untyped.

mod builtins;
mod calls;
mod expressions;
mod facts;
mod findings;
mod flow;
mod reads;
mod record_facts;
mod returned;
mod rule_outcome;
mod script;
mod suspicious_code;
mod switch;
#[cfg(test)]
mod tests;
mod types;
mod value;

pub use facts::{ComparisonFact, FunctionFacts, IndexFact, Operand};
pub use reads::FieldReadSite;
pub use returned::ReturnedValue;

use super::Unit;
use super::condition;
use asterisk_base::model::Kind;
use asterisk_diag::Diagnostics;
use flow::{FlowFrame, TypeEnv, TypeFlow, declare};
use script::CheckedFunction;
use std::rc::Rc;
use value::TypedValue;

/// A parameter of a function, with the type of its argument.
#[derive(Clone, Copy, Debug)]
pub struct CheckedParameter<'a> {
    /// The name in [`FieldReadSite::path`]s and diagnostics (`artifact`, `state`, `vars`), independent of the name in the
    /// function.
    pub name: &'a str,
    pub kind: &'a Kind,
}

/// The results of checking a function.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// Errors: `rule/compare-types`, `rule/enum-value`, `rule/unknown-field`, `rule/absent-field`, `rule/unknown-var`,
    /// `rule/writes-input`; and by what it is used as, `rule/return`, `verdict/return`, `root/return`, `script/returned-field`.
    pub diagnostics: Diagnostics,
    /// Every input field it may read, in order of first access.
    pub reads: Vec<FieldReadSite>,
    /// Facts for the linter, if they are recorded.
    pub facts: FunctionFacts,
}

/// Finds a script by its path below the script root (`lib/base.rhai`); calls into scripts that are not found are not followed.
pub type ModuleLookup<'a> = dyn Fn(&str) -> Option<&'a Unit> + 'a;

/// Checks the functions of one script. Indexing the script is done once, so reuse it for all functions of a script.
pub struct Checker<'a> {
    script: Rc<script::Script<'a>>,
    modules: &'a ModuleLookup<'a>,
    facts: bool,
}

impl<'a> Checker<'a> {
    /// A checker for a script or condition.
    pub fn new(unit: &'a Unit, modules: &'a ModuleLookup<'a>) -> Self {
        Self { script: Rc::new(script::Script::new(unit)), modules, facts: false }
    }

    /// Enables recording of [`FunctionFacts`] for the linter.
    #[must_use]
    pub fn with_facts(self) -> Self {
        Self { facts: true, ..self }
    }

    /// Checks the function with this name and as many parameters as there are inputs. If there is none, the result is empty.
    pub fn function(&self, name: &str, inputs: &[CheckedParameter<'a>]) -> Analysis {
        let returned = if rule_outcome::is_rule(inputs) { ReturnedValue::Outcome } else { ReturnedValue::Any };
        self.returning(name, inputs, returned)
    }

    /// The same, with checks of what it returns.
    pub fn returning(&self, name: &str, inputs: &[CheckedParameter<'a>], returned: ReturnedValue<'_>) -> Analysis {
        match self.script.function(name, inputs.len()) {
            Some(function) => self.follow(function, inputs, returned),
            None => Analysis::default(),
        }
    }

    fn follow(
        &self,
        function: &Rc<CheckedFunction<'a>>,
        inputs: &[CheckedParameter<'a>],
        returned: ReturnedValue<'_>,
    ) -> Analysis {
        let mut flow = TypeFlow::new(self.script.clone(), self.modules, self.facts);
        let mut env = TypeEnv::new();
        for (param, input) in function.of.params.iter().zip(inputs) {
            declare(&mut env, function, param, TypedValue::input(input.name, input.kind));
        }
        let script = self.script.clone();
        flow.frames.push(FlowFrame { script, function: function.clone(), call: None, inner: false, returns: Vec::new() });
        let result = flow.block(&function.of.body, &mut env);
        flow.used(&result);
        let returns = flow.frames.pop().map(|frame| frame.returns).unwrap_or_default();
        if matches!(returned, ReturnedValue::Outcome) {
            flow.rule_outcome(function.of, &result, &returns);
        }
        flow.returned(returned, function.of, &result, &returns);
        flow.into_analysis()
    }

    /// Checks an inline condition; its inputs are `artifact`, `state` and `vars`.
    pub fn condition(&self, inputs: &[CheckedParameter<'a>; 3]) -> Analysis {
        self.function(condition::NAME, inputs)
    }
}

/// Checks one function of a script; see [`Checker::function`].
pub fn function<'a>(unit: &'a Unit, name: &str, inputs: &[CheckedParameter<'a>], modules: &'a ModuleLookup<'a>) -> Analysis {
    Checker::new(unit, modules).function(name, inputs)
}

/// A lookup that finds no scripts, for standalone scripts.
pub fn no_modules<'a>(_: &str) -> Option<&'a Unit> {
    None
}
