//! The rules, one file each, by category.

mod allows;
pub(super) mod correctness;
mod docs;
mod overfit;
mod pipelines;
mod purity;
mod robustness;
mod routing;
mod teams;
mod templates;
mod verdicts;

use super::rule::LintRule;

/// The rules with findings that `--fix` fixes.
pub const FIXABLE: &[&str] = &["allows/unused", "robustness/bool-comparison", "robustness/unused-import"];

/// The rules by category, in listing order.
pub(super) const RULES: &[&[LintRule]] = &[
    correctness::RULES,
    routing::RULES,
    purity::RULES,
    robustness::RULES,
    overfit::RULES,
    verdicts::RULES,
    docs::RULES,
    templates::RULES,
    pipelines::RULES,
    teams::RULES,
    allows::RULES,
];
