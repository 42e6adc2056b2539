//! Rules about verdict rules.

mod lone_group;
mod never_speaks;
mod no_example;
mod no_group;
mod only_against;
mod twin_rules;

use crate::context::LintedPipeline;
use crate::rule::LintRule;
use asterisk_pipeline::VerdictRule;
use asterisk_project::FunctionUse;
use asterisk_script::Unit;
use asterisk_script::tree::Function;

pub(super) const RULES: &[LintRule] =
    &[lone_group::RULE, never_speaks::RULE, no_example::RULE, no_group::RULE, only_against::RULE, twin_rules::RULE];

/// A verdict rule with its function.
struct LinkedVerdictRule<'a> {
    rule: &'a VerdictRule,
    unit: &'a Unit,
    function: &'a Function,
}

/// The rules of a pipeline's verdict whose functions exist, in file order.
fn linked<'a>(pipe: &LintedPipeline<'a>) -> Vec<LinkedVerdictRule<'a>> {
    let rules = pipe.pipeline.verdict.iter().flat_map(|verdict| &verdict.rules).enumerate();
    let link = |(at, rule): (usize, &'a VerdictRule)| {
        let examined = pipe.examined.iter().find(|one| one.place == FunctionUse::VerdictRule(at))?;
        let function = examined.unit.tree().named().find(|function| function.name() == examined.name)?;
        Some(LinkedVerdictRule { rule, unit: examined.unit, function })
    };
    rules.filter_map(link).collect()
}
