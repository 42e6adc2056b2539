//! A value that a pipeline has computed: by a function of a script, or by an expression in its place.

use super::Spanned;
use super::yaml::{Reader, Yaml};
use crate::diag::Mapped;

/// What makes a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Computed {
    /// A function (`rules/rca.rhai#repositories`), given `(params, vars)`.
    Function(Spanned<String>),
    /// An expression over the groups of `params`, by name as in templates, `state` and `vars`.
    Expression(Mapped),
}

/// Reads one; what is wrong goes to the reader.
pub(super) fn read(reader: &mut Reader<'_>, yaml: &Yaml, what: &str) -> Option<Computed> {
    Some(match yaml.as_text() {
        Some(text) if text.contains(".rhai#") => Computed::Function(reader.text(yaml, what)?),
        _ => Computed::Expression(reader.expression(yaml, what)?),
    })
}
