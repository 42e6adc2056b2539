//! Nodes that are taken once for each item of a list (`foreach:`).

use super::Spanned;
use super::computed::ComputedValue;
use crate::diag::Span;

/// How many branches are taken at once where the pipeline does not say.
pub const CONCURRENCY: usize = 4;

/// A node that is taken once for each item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreach {
    /// What makes the list.
    pub items: ComputedValue,
    /// What makes one artifact of those of the branches.
    pub merge: Merge,
    /// Whether a branch that fails is left out, and does not fail the case.
    pub collect: bool,
    /// How many branches are taken at once, at least 1.
    pub concurrency: usize,
    /// Where it stands.
    pub span: Span,
}

/// What makes one artifact of those of the branches.
#[derive(Clone, Debug, PartialEq)]
pub enum Merge {
    /// A list of all, in the order of the items.
    Append,
    /// The first one.
    First,
    /// The last one.
    Latest,
    /// The first of those with the most confidence.
    Best,
    /// What a function makes of them (`rules/rca.rhai#united`), given `(branches, vars)`.
    Function(Spanned<String>),
}
