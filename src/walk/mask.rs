//! A mask: a script around the steps of some nodes (`design.md` §5).

use super::name::Name;
use super::queries::Query;
use crate::script::ScriptFunction;

/// A mask: what it is given before a step and makes of its artifact after.
#[derive(Clone, Debug)]
pub struct Mask {
    /// The path of its script.
    pub path: Name,
    /// `fn pre(ctx)`: what a step is told.
    pub pre: Option<ScriptFunction>,
    /// `fn post(ctx, artifact)`: what comes of it.
    pub post: Option<ScriptFunction>,
    /// The names of the nodes it is for.
    pub nodes: Vec<String>,
    /// The reads it brings.
    pub needs: Vec<&'static Query>,
}

impl Mask {
    /// Whether it is for a node of that name.
    pub fn fits(&self, node: &str) -> bool {
        self.nodes.iter().any(|name| name == node)
    }
}
