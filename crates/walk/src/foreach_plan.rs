//! `foreach:` of a node, linked: the script that lists the items, and how artifacts are merged.

use asterisk_base::model::Kind;
use asterisk_diag::{Source, Span};
use asterisk_script::ScriptFunction;

#[derive(Clone, Debug)]
pub struct ForeachPlan {
    /// Lists the items: a function of `(params, vars)`, or an expression over `(params, state, vars)`.
    pub items: ScriptFunction,
    /// How artifacts are merged.
    pub merge: MergePlan,
    /// Whether a failed branch is left out instead of failing the case.
    pub collect: bool,
    /// The shape of a branch's artifact.
    pub kind: Kind,
    /// The most branches walked concurrently.
    pub concurrency: usize,
    /// Where it is declared.
    pub place: (Source, Span),
}

/// How the artifacts of branches are merged. Failed branches have none.
#[derive(Clone, Debug)]
pub enum MergePlan {
    /// A list of all.
    Append,
    First,
    Latest,
    /// The one with the highest confidence, the first of equals.
    Best,
    /// The result of a script given `(branches, vars)`.
    Script(ScriptFunction),
}

impl MergePlan {
    /// The script that merges, if one does.
    pub fn script(&self) -> Option<&ScriptFunction> {
        match self {
            Self::Script(function) => Some(function),
            _ => None,
        }
    }
}
