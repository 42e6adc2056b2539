//! Rules about teams and masks.

mod blind_scheduler;
mod idle_mask;
mod ignored_answer;
mod unknown_walker;

use crate::context::LintContext;
use crate::rule::LintRule;
use asterisk_script::Unit;

pub(super) const RULES: &[LintRule] = &[blind_scheduler::RULE, idle_mask::RULE, ignored_answer::RULE, unknown_walker::RULE];

/// The masks that link, recognised by path: `masks/NAME.rhai`.
fn masks<'a>(cx: &LintContext<'a>) -> impl Iterator<Item = &'a Unit> {
    let library = cx.library;
    library.files().map(asterisk_script::LinkedScript::unit).filter(|unit| unit.name().starts_with("masks/"))
}
