//! Who takes a step: one of a team, whom its scheduler chooses, or the one walker of a walk without a team.

use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::{EventBody, Name};
use super::masks::Mask;
use super::plan::Plan;
use super::ports::Query;
use super::state::WalkState;
use crate::clock::Timestamp;
use crate::diag::{Diagnostic, did_you_mean};
use crate::pipeline::NodeIx;
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

/// When a walker is chosen: the time and the number in [0, 1) of the step.
pub type ChoiceMoment = (Timestamp, f64);

impl TeamPlan {
    /// Its member of that name.
    pub fn member(&self, name: &str) -> Option<&TeamMember> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Lets the scheduler choose who takes the step at a node. With the event to record if it is not who took the step before.
    /// `needs` are the results of its reads.
    pub fn choose(
        &self,
        plan: &Plan,
        node: NodeIx,
        walk: &WalkState,
        (now, chance): ChoiceMoment,
        needs: &[(String, View)],
    ) -> Result<(&TeamMember, Option<EventBody>), Failure> {
        let before = walk.walker.as_deref().and_then(|name| self.member(name));
        let state = walk.view(&plan.node(node).view, None, now, chance, before.map_or(&plan.walker.view, |member| &member.view));
        let (place, zone) = &self.places[node.0];
        let found = View::object("ctx.needs", needs.iter().map(|(name, view)| (name.as_str(), view.clone())));
        let ctx = View::object(
            "ctx",
            [
                ("data", plan.data.view().cloned().unwrap_or_else(View::null)),
                ("needs", found.clone()),
                ("node", place.clone()),
                ("prior", before.map_or_else(View::null, |member| member.told.clone())),
                ("state", state),
                ("walkers", self.walkers.clone()),
                ("zone", zone.clone()),
            ],
        );
        let name = self.select.select(&ctx).map_err(Failure::script)?;
        let member = self.member(&name).ok_or_else(|| self.stranger(&name))?;
        if walk.walker.as_deref() == Some(&*member.name) {
            return Ok((member, None));
        }
        let because = match &self.because {
            Some(because) => because.because(&ctx, &View::from(&*name)).map_err(Failure::script)?,
            None => {
                let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
                format!("{} chose among {}", self.select.key(), names.join(", "))
            }
        };
        let needs = (!needs.is_empty()).then(|| Content::new(found));
        let switch =
            EventBody::WalkerSwitch { from: walk.walker.clone(), to: member.name.clone(), because: because.into(), needs };
        Ok((member, Some(switch)))
    }

    fn stranger(&self, name: &str) -> Failure {
        let message = format!("`{}` chose `{name}`, who is not of the team", self.select.key());
        let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
        let known = format!("the team is {}", names.join(", "));
        let mut diagnostic = Diagnostic::error("rule/walker", message).help(did_you_mean(name, names).unwrap_or(known));
        if let Some((source, span)) = self.select.definition() {
            diagnostic = diagnostic.label(&source, span, "chosen here");
        }
        Failure::new(FailureKind::RuleError, diagnostic)
    }
}

impl Plan {
    /// Who walks, given who took the last step: of the team, or `inherited` from the walk around this one, or the walker without a
    /// name.
    pub fn member<'a>(&'a self, name: Option<&str>, inherited: Option<&'a TeamMember>) -> &'a TeamMember {
        match &self.team {
            Some(team) => name.and_then(|name| team.member(name)).unwrap_or(&self.walker),
            None => inherited.unwrap_or(&self.walker),
        }
    }
}
