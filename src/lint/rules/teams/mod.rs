//! Who takes a step, and what is put around it.

mod blind_scheduler;
mod idle_mask;
mod ignored_answer;
mod unknown_walker;

use crate::lint::context::LintContext;
use crate::lint::rule::LintRule;
use crate::script::Unit;
use rhai::ScriptFuncDef;

/// All of them.
pub(super) const RULES: &[LintRule] = &[blind_scheduler::RULE, idle_mask::RULE, ignored_answer::RULE, unknown_walker::RULE];

/// The masks that link, by their form: `masks/NAME.rhai`.
fn masks<'a>(cx: &LintContext<'a>) -> impl Iterator<Item = &'a Unit> {
    let library = cx.library;
    library.files().map(crate::script::LinkedScript::unit).filter(|unit| unit.name().starts_with("masks/"))
}

/// The function of a script by that name and number of parameters.
fn function<'u>(unit: &'u Unit, name: &str, arity: usize) -> Option<&'u ScriptFuncDef> {
    crate::lint::syntax::functions(unit).into_iter().find(|function| function.name == name && function.params.len() == arity)
}
