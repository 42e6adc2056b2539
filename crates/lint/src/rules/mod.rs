//! The rules by category: one file each, except for those in `elsewhere`.

pub(super) mod correctness;
mod docs;
mod elsewhere;
mod overfit;
mod performance;
mod pipelines;
mod purity;
mod robustness;
mod routing;
mod teams;
mod templates;
mod verdicts;

use super::rule::LintRule;
use std::sync::LazyLock;

/// The rules with findings that `--fix` fixes.
pub const FIXABLE: &[&str] = &["allows/unused", "robustness/bool-comparison", "robustness/unused-import"];

/// The categories, in listing order.
const CATEGORIES: &[&[LintRule]] = &[
    correctness::RULES,
    routing::RULES,
    purity::RULES,
    robustness::RULES,
    performance::RULES,
    overfit::RULES,
    verdicts::RULES,
    docs::RULES,
    templates::RULES,
    pipelines::RULES,
    teams::RULES,
    elsewhere::ALLOWS,
];

/// All rules by category, and by name within it.
pub(super) static RULES: LazyLock<Vec<&LintRule>> = LazyLock::new(|| {
    let rank = |rule: &LintRule| CATEGORIES.iter().position(|rules| rules[0].category() == rule.category());
    let mut all: Vec<&LintRule> = CATEGORIES.iter().copied().flatten().chain(elsewhere::LINKED).collect();
    all.sort_by_key(|rule| (rank(rule), rule.id));
    all
});
