//! The team of a pipeline, and its walkers.

use super::content::Content;
use super::mask::Mask;
use super::name::Name;
use super::queries::Query;
use crate::script::{ScriptFunction, View};
use std::sync::Arc;

/// The team of a pipeline.
#[derive(Clone, Debug)]
pub struct TeamPlan {
    /// Its walkers, in the order written; at least one.
    pub members: Vec<TeamMember>,
    /// All of them as the scheduler sees them.
    pub walkers: View,
    /// What chooses: `fn select(ctx)`.
    pub select: ScriptFunction,
    /// What says why: `fn because(ctx, name)`.
    pub because: Option<ScriptFunction>,
    /// The reads that the scheduler declares.
    pub needs: Vec<&'static Query>,
    /// What the scheduler sees of each node, and of the zone it is in.
    pub places: Vec<(View, View)>,
}

/// Who walks.
#[derive(Clone, Debug)]
pub struct TeamMember {
    /// The name; empty of the walker of a walk without a team.
    pub name: Name,
    /// It as schedulers see it.
    pub told: View,
    /// It as rules see it: `state.walker`.
    pub view: View,
    /// What prompts are told of it: the parameter group `persona`.
    pub persona: Content,
    /// The masks it brings to the nodes they are for.
    pub masks: Vec<Arc<Mask>>,
    /// Who answers what it is to answer, in the order to be tried; empty if it does not say.
    pub via: Vec<Name>,
}

impl TeamPlan {
    /// Its member of that name.
    pub fn member(&self, name: &str) -> Option<&TeamMember> {
        self.members.iter().find(|member| member.name == name)
    }
}
