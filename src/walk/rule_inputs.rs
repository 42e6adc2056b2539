//! What the rules at a node are given: made one way of live artifacts, of recorded decisions, and of what somebody tries out.

use super::because::input;
use super::error::Failure;
use super::event::ConsideredEdge;
use super::plan::Plan;
use super::route::{AskRule, Decision, decide, decide_asking};
use super::views::recorded_state;
use crate::pipeline::NodeIx;
use crate::script::View;
use serde_json::Value;
use std::sync::Arc;

/// A decision that can be made, or made again, by the evaluator of live walks.
#[derive(Clone, Debug)]
pub struct RuleInputs {
    /// The plan, with the vars that rules see.
    pub plan: Arc<Plan>,
    /// The node in that plan.
    pub node: NodeIx,
    /// The artifact, in the form that the node's schema gives it.
    pub artifact: View,
    /// The state.
    pub state: View,
}

impl Plan {
    /// The artifact of a node as rules see it.
    pub fn artifact(&self, node: NodeIx, artifact: &Value) -> View {
        View::of(artifact, &self.node(node).kind, "artifact")
    }
}

impl RuleInputs {
    /// Those of a recorded artifact and a recorded state.
    pub fn recorded(plan: Arc<Plan>, node: NodeIx, artifact: &Value, state: &Value) -> Self {
        let (artifact, state) = (plan.artifact(node, artifact), recorded_state(state));
        Self { plan, node, artifact, state }
    }

    /// Makes the decision. The considered edges come back even when it fails.
    pub fn decide(&self) -> Result<Decision, (Vec<ConsideredEdge>, Failure)> {
        decide(&self.plan, self.node, &self.artifact, &self.state)
    }

    /// The same, where `ask` evaluates each rule.
    pub fn decide_asking(&self, ask: &mut AskRule<'_>) -> Result<Decision, (Vec<ConsideredEdge>, Failure)> {
        decide_asking(&self.plan, self.node, &self.artifact, &self.state, ask)
    }

    /// The value of an input that a rule reads, with its path; see [`input`].
    pub fn input<'r>(&self, read: &'r str) -> Option<(&'r str, View)> {
        input(read, &self.artifact, &self.state, self.plan.vars())
    }
}
