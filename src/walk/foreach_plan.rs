//! `foreach:` of a node, linked: what makes the list of items, and what makes one artifact of those of the branches.

use crate::diag::{Source, Span};
use crate::model::Kind;
use crate::script::ScriptFunction;

/// For which items a node is taken.
#[derive(Clone, Debug)]
pub struct ForeachPlan {
    /// What makes the list: a function given `(params, vars)`, or an expression given `(params, state, vars)`.
    pub items: ScriptFunction,
    /// What makes one artifact.
    pub merge: MergePlan,
    /// Whether a branch that fails is left out, and does not fail the case.
    pub collect: bool,
    /// The form of the artifact of a branch.
    pub kind: Kind,
    /// How many branches are taken at once.
    pub concurrency: usize,
    /// Where it stands.
    pub place: (Source, Span),
}

/// What makes one artifact of those of the branches. Branches that failed have none.
#[derive(Clone, Debug)]
pub enum MergePlan {
    /// A list of all.
    Append,
    /// The first one.
    First,
    /// The last one.
    Latest,
    /// The first of those with the most confidence.
    Best,
    /// What a script makes of them, given `(branches, vars)`.
    Script(ScriptFunction),
}
