//! The context of a step: the one source of the state and the parameters given to scripts and templates.

use super::plan::Plan;
use super::state::WalkState;
use super::team_plan::TeamMember;
use asterisk_base::clock::Timestamp;
use asterisk_pipeline::NodeIx;
use asterisk_script::View;

/// The time and the random number of a step.
#[derive(Clone, Copy, Debug)]
pub struct StepMoment {
    /// When the step began.
    pub now: Timestamp,
    /// In `[0, 1)`; derived from the run's seed, the case and the step's path.
    pub chance: f64,
}

/// A step of a walk: where, when and by whom it is taken.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    pub plan: &'a Plan,
    pub node: NodeIx,
    /// The state before the step.
    pub walk: &'a WalkState,
    /// The step's path; empty between two steps.
    pub path: &'a str,
    pub moment: StepMoment,
    /// The walker that takes the step.
    pub member: &'a TeamMember,
    /// The handoffs so far, including one to this walker.
    pub handoffs: i64,
}

impl<'a> StepContext<'a> {
    /// A walk between two steps, for scripts that read a whole case: at its last transition, with its last walker.
    pub fn between(plan: &'a Plan, node: NodeIx, walk: &'a WalkState) -> Self {
        let now = walk.history.last().map_or_else(Timestamp::default, |visit| visit.at);
        let member = plan.member(walk.walker.as_deref(), None);
        let moment = StepMoment { now, chance: 0.0 };
        Self { plan, node, walk, path: "", moment, member, handoffs: walk.handoffs }
    }

    /// The state as rules see it; `confidence` is that of the current artifact, if it has one.
    pub fn state(&self, confidence: Option<f64>) -> View {
        self.walk.view(&self.plan.node(self.node).view, confidence, self.moment, &self.member.view, self.handoffs)
    }

    /// The artifact's confidence, if the node names the field that holds it.
    pub fn confidence(&self, artifact: &View) -> Option<f64> {
        let field = self.plan.pipeline.at(self.node).confidence.as_ref()?;
        artifact.get(field)?.as_f64()
    }
}

impl WalkState {
    /// The state as rules see it at a node. `handoffs` includes one at the beginning of the step.
    pub fn view(&self, node: &View, confidence: Option<f64>, moment: StepMoment, walker: &View, handoffs: i64) -> View {
        let elapsed = self.started_at.map_or(0.0, |start| moment.now.seconds_since(start));
        View::object(
            "state",
            [
                ("chance", View::from(moment.chance)),
                ("confidence", View::from(confidence.or(self.confidence).unwrap_or(0.0))),
                ("context", self.views.context.clone()),
                ("elapsed_s", View::from(elapsed)),
                ("handoffs", View::from(handoffs)),
                ("history", self.views.history.clone()),
                ("loops", self.views.loops.clone()),
                ("node", node.clone()),
                ("steps", View::from(i64::try_from(self.steps).unwrap_or(i64::MAX))),
                ("walker", walker.clone()),
            ],
        )
    }
}
