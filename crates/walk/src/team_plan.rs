//! The team of a pipeline, linked.

use super::content::Content;
use super::mask::Mask;
use super::name::Name;
use super::queries::Query;
use asterisk_script::{ScriptFunction, View};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct TeamPlan {
    /// Its walkers, in file order; at least one.
    pub members: Vec<TeamMember>,
    /// The walkers as the scheduler sees them.
    pub walkers: View,
    /// Chooses the walker: `fn select(ctx)`.
    pub select: ScriptFunction,
    /// Returns the reason: `fn because(ctx, name)`.
    pub because: Option<ScriptFunction>,
    /// The queries that the scheduler declares.
    pub needs: Vec<&'static Query>,
    /// The scheduler's view of each node, and of its zone.
    pub places: Vec<(View, View)>,
}

/// A walker.
#[derive(Clone, Debug)]
pub struct TeamMember {
    /// Empty for the walker of a pipeline without a team.
    pub name: Name,
    /// The walker as schedulers see it.
    pub scheduler_view: View,
    /// The walker as rules see it: `state.walker`.
    pub view: View,
    /// The walker as prompts see it: the parameter group `persona`.
    pub persona: Content,
    /// The masks it adds to nodes that they apply to.
    pub masks: Vec<Arc<Mask>>,
    /// Its answerers, in the order to be tried; empty if it names none.
    pub via: Vec<Name>,
    /// The time it has for an answer, in seconds.
    pub timeout: Option<f64>,
    /// The name that its answerers know its model by, if any.
    pub model: Option<Name>,
    /// The tokens that it may use for a case.
    pub budget: Option<u64>,
}

impl TeamPlan {
    pub fn member(&self, name: &str) -> Option<&TeamMember> {
        self.members.iter().find(|member| member.name == name)
    }
}
