//! The inputs of the rules at a node, made alike from live artifacts, recorded decisions and ad-hoc values.

use super::because::input;
use super::error::Failure;
use super::event::ConsideredEdge;
use super::plan::Plan;
use super::route::{AskRule, Decision, decide, decide_with};
use super::views::recorded_state;
use asterisk_pipeline::NodeIx;
use asterisk_script::View;
use serde_json::Value;
use std::sync::Arc;

/// The inputs of a decision, evaluated by the evaluator of live walks.
#[derive(Clone, Debug)]
pub struct RuleInputs {
    /// The plan, with the vars that rules see.
    pub plan: Arc<Plan>,
    pub node: NodeIx,
    /// The artifact, in the shape of the node's schema.
    pub artifact: View,
    pub state: View,
}

impl Plan {
    /// The artifact of a node as rules see it.
    pub fn artifact(&self, node: NodeIx, artifact: &Value) -> View {
        View::of(artifact, &self.node(node).kind, "artifact")
    }
}

impl RuleInputs {
    /// The inputs of a recorded decision.
    pub fn recorded(plan: Arc<Plan>, node: NodeIx, artifact: &Value, state: &Value) -> Self {
        let (artifact, state) = (plan.artifact(node, artifact), recorded_state(state));
        Self { plan, node, artifact, state }
    }

    /// Evaluates the decision. Returns the edges considered even on failure.
    pub fn decide(&self) -> Result<Decision, (Vec<ConsideredEdge>, Failure)> {
        decide(&self.plan, self.node, &self.artifact, &self.state)
    }

    /// [`RuleInputs::decide`], with rules evaluated by `ask`.
    pub fn decide_with(&self, ask: &mut AskRule<'_>) -> Result<Decision, (Vec<ConsideredEdge>, Failure)> {
        decide_with(&self.plan, self.node, &self.artifact, &self.state, ask)
    }

    /// The value of an input that a rule reads, with its path; see [`input`].
    pub fn input<'r>(&self, read: &'r str) -> Option<(&'r str, View)> {
        input(read, &self.artifact, &self.state, self.plan.vars())
    }
}
