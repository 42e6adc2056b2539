//! A mask: a script around the steps of some nodes.

use super::name::Name;
use super::queries::Query;
use asterisk_script::ScriptFunction;

/// A mask, linked: rewrites the parameters before a step and the artifact after it.
#[derive(Clone, Debug)]
pub struct Mask {
    /// The path of its script.
    pub path: Name,
    /// `fn pre(ctx)`: rewrites the parameters.
    pub pre: Option<ScriptFunction>,
    /// `fn post(ctx, artifact)`: rewrites the artifact.
    pub post: Option<ScriptFunction>,
    /// The names of the nodes it applies to.
    pub nodes: Vec<String>,
    /// The queries it declares.
    pub needs: Vec<&'static Query>,
}

impl Mask {
    /// Whether it applies to a node.
    pub fn fits(&self, node: &str) -> bool {
        self.nodes.iter().any(|name| name == node)
    }
}
