//! A value computed by the pipeline: by a script function or by an inline expression.

use super::Spanned;
use asterisk_diag::MappedText;

/// The source of a computed value.
#[derive(Clone, Debug, PartialEq)]
pub enum ComputedValue {
    /// A function (`rules/rca.rhai#repositories`), called with `(params, vars)`.
    Function(Spanned<String>),
    /// An expression over the groups of `params`, named as in templates, and `state` and `vars`.
    Expression(MappedText),
}
