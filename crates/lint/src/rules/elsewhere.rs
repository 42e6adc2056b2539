//! Rules without code of their own: linking checks most of them (`codes`), and `allow` those about allow comments.

use crate::rule::{LintLevel, LintRule};

/// A rule without options that is checked elsewhere.
macro_rules! rule {
    ($id:literal, $level:ident, $summary:literal) => {
        LintRule {
            id: $id,
            level: LintLevel::$level,
            summary: $summary,
            manual: include_str!(concat!("../manual/", $id, ".md")),
            options: &[],
            check: None,
        }
    };
}

/// Checked by linking.
pub(super) const LINKED: &[LintRule] = &[
    rule!("correctness/absent-field", Error, "a read of a field that may be absent"),
    rule!("correctness/compare-types", Error, "a comparison of values of different types"),
    rule!("correctness/dropped-value", Warning, "a block whose last value is discarded"),
    rule!("correctness/enum-value", Error, "a field compared with a value that is not in its enum"),
    rule!("correctness/no-verdict", Error, "a rule whose return value is not an outcome"),
    rule!("correctness/pipeline-form", Error, "an invalid pipeline"),
    rule!("correctness/plain-interpolation", Warning, "`${..}` in a plain string, which is not interpolated"),
    rule!("correctness/syntax", Error, "a script, pipeline, template or data file that cannot be parsed"),
    rule!("correctness/unknown-counter", Warning, "a loop counter that no edge increments"),
    rule!("correctness/unknown-field", Error, "a field that the node's schema does not declare"),
    rule!("correctness/unknown-function", Error, "an unknown function, variable, module or constant"),
    rule!("correctness/unknown-var", Error, "a var that the pipeline does not declare"),
    rule!("correctness/writes-input", Error, "a write to an input"),
    rule!("correctness/wrong-signature", Error, "a function with the wrong parameters for its role"),
    rule!("purity/forbidden-call", Error, "a call with side effects or external input: time, printing, evaluation"),
    rule!("templates/undeclared-parameter", Error, "an unknown parameter, or one that the node does not declare"),
    rule!("verdicts/no-reason", Warning, "a returned map without a reason"),
];

/// Checked after all other rules, by `allow`.
pub(super) const ALLOWS: &[LintRule] = &[
    rule!("allows/unknown-rule", Warning, "an allow comment for an unknown rule"),
    rule!("allows/unused", Warning, "an allow comment that suppresses nothing"),
    rule!("allows/without-reason", Warning, "an allow comment without a reason"),
];
