//! Choosing the walker of a step: a member of the team by its scheduler, or the one walker of a walk without a team.

use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::EventBody;
use super::plan::Plan;
use super::state::WalkState;
use super::step_context::StepMoment;
use super::team_plan::{TeamMember, TeamPlan};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_pipeline::NodeIx;
use asterisk_script::View;

impl TeamPlan {
    /// Runs the scheduler for the step at a node. Returns the event to record if the walker changes. `needs` are the results of
    /// the scheduler's queries.
    pub fn choose(
        &self,
        plan: &Plan,
        node: NodeIx,
        walk: &WalkState,
        moment: StepMoment,
        needs: &[(String, View)],
    ) -> Result<(&TeamMember, Option<EventBody>), Failure> {
        let before = walk.walker.as_deref().and_then(|name| self.member(name));
        let walker = before.map_or(&plan.walker.view, |member| &member.view);
        let state = walk.view(&plan.node(node).view, None, moment, walker, walk.handoffs);
        let (place, zone) = &self.places[node.0];
        let found = View::object("ctx.needs", needs.iter().map(|(name, view)| (name.as_str(), view.clone())));
        let ctx = View::object(
            "ctx",
            [
                ("data", plan.data.view().cloned().unwrap_or_else(View::null)),
                ("needs", found.clone()),
                ("node", place.clone()),
                ("prior", before.map_or_else(View::null, |member| member.scheduler_view.clone())),
                ("state", state),
                ("walkers", self.affordable(walk)),
                ("zone", zone.clone()),
            ],
        );
        let name = self.select.select(&ctx).map_err(Failure::script)?;
        let member = self.member(&name).ok_or_else(|| self.stranger(&name))?;
        if walk.walker.as_deref() == Some(&*member.name) {
            return Ok((member, None));
        }
        let mut because = match &self.because {
            Some(because) => because.because(&ctx, &View::from(&*name)).map_err(Failure::script)?,
            None => {
                let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
                format!("{} chose among {}", self.select.key(), names.join(", "))
            }
        };
        if let Some(spent) = before.filter(|member| member.is_spent(walk)) {
            because = format!("{because}, {} has used up its {} tokens", spent.name, spent.budget.unwrap_or_default());
        }
        let needs = (!needs.is_empty()).then(|| Content::new(found));
        let switch = EventBody::WalkerSwitch {
            node: plan.node(node).name.clone(),
            from: walk.walker.clone(),
            to: member.name.clone(),
            because: because.into(),
            needs,
        };
        Ok((member, Some(switch)))
    }

    /// The walkers that a scheduler may choose: those with some of their budget left, or all if there are none.
    fn affordable(&self, walk: &WalkState) -> View {
        let left: Vec<&TeamMember> = self.members.iter().filter(|member| !member.is_spent(walk)).collect();
        if left.is_empty() || left.len() == self.members.len() {
            return self.walkers.clone();
        }
        View::list("ctx.walkers", left.into_iter().map(|member| member.scheduler_view.clone()))
    }

    fn stranger(&self, name: &str) -> Failure {
        let message = format!("`{}` chose `{name}`, which is not in the team", self.select.key());
        let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
        let known = format!("the team is {}", names.join(", "));
        let mut diagnostic = Diagnostic::error("rule/walker", message).help(did_you_mean(name, names).unwrap_or(known));
        if let Some((source, span)) = self.select.definition() {
            diagnostic = diagnostic.label(&source, span, "chosen here");
        }
        Failure::new(FailureKind::RuleError, diagnostic)
    }
}

impl TeamMember {
    /// Whether it has used up its budget for the case.
    fn is_spent(&self, walk: &WalkState) -> bool {
        self.budget.is_some_and(|budget| walk.spent.get(&self.name).is_some_and(|spent| *spent >= budget))
    }
}
