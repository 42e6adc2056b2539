//! A value that a pipeline has computed: by a function of a script, or by an expression in its place.

use super::Spanned;
use crate::diag::MappedText;

/// What makes a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ComputedValue {
    /// A function (`rules/rca.rhai#repositories`), given `(params, vars)`.
    Function(Spanned<String>),
    /// An expression over the groups of `params`, by name as in templates, `state` and `vars`.
    Expression(MappedText),
}
