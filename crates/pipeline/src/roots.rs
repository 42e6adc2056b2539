//! `roots:`: what one fix would fix, decided from the evidence of a case.

use super::Spanned;
use asterisk_diag::Span;

/// A rule of a root. Rules are tried in file order; the first that gives a key decides, and cases with equal keys are one cause.
#[derive(Clone, Debug, PartialEq)]
pub struct RootRule {
    /// The id, unique in the pipeline.
    pub id: Spanned<String>,
    /// The displayed name; empty if not given.
    pub name: String,
    /// The function, called with `(evidence, context, vars)`.
    pub rule: Spanned<String>,
    /// How often failures with equal keys of this rule are one cause, in [0, 1].
    pub confidence: f64,
    /// Whether equal keys mean one cause in one launch only, and nothing from one launch to the next.
    pub in_launch: bool,
    /// Whether such a failure only follows from another one.
    pub consequence: bool,
    /// The whole rule.
    pub span: Span,
}
