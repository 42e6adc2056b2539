//! Nodes that run once per item of a list (`foreach:`).

use super::Spanned;
use super::computed::ComputedValue;
use asterisk_diag::Span;

/// The default number of concurrent branches.
pub const CONCURRENCY: usize = 4;

/// The `foreach` settings of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreach {
    /// Computes the list.
    pub items: ComputedValue,
    /// Merges the artifacts of the branches into one.
    pub merge: Merge,
    /// Whether a failed branch is left out instead of failing the case.
    pub collect: bool,
    /// The maximum number of concurrent branches, at least 1.
    pub concurrency: usize,
    pub span: Span,
}

/// How the artifacts of the branches become one.
#[derive(Clone, Debug, PartialEq)]
pub enum Merge {
    /// A list of all, in the order of the items.
    Append,
    /// The first one.
    First,
    /// The last one.
    Latest,
    /// The one with the highest confidence; the first of equals.
    Best,
    /// The result of a function (`rules/rca.rhai#united`), called with `(branches, vars)`.
    Function(Spanned<String>),
}
