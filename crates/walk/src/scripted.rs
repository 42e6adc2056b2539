//! Answers of responder scripts outside of a live walk, made as a live step makes them: for replay, and for candidates next to a
//! run.

use super::answer::NodeAnswer;
use super::branch::Branch;
use super::error::{Failure, FailureKind};
use super::masks::Masks;
use super::params::Params;
use super::queries::Query;
use super::request::{accepted, schema_violation};
use super::step_context::StepContext;
use asterisk_diag::Diagnostic;
use serde_json::Value;
use std::sync::Arc;

/// Who answers a node whose responder script does.
pub(super) const SCRIPT: &str = "script";

/// A step whose node's responder is run.
pub struct ScriptedStep<'a> {
    pub step: StepContext<'a>,
    /// Makes the parameters of the step, before its masks.
    pub make: &'a dyn Fn() -> Params,
}

impl ScriptedStep<'_> {
    /// The queries whose results the responder reads: those of the node and of its masks.
    pub fn queries(step: &StepContext<'_>) -> Vec<&'static Query> {
        Masks::on(step.plan, step.node, step.member, false).needs()
    }

    /// The artifact: the responder's answer with the masks applied, validated by the node's schema.
    pub fn artifact(&self) -> Result<Arc<Value>, Failure> {
        let StepContext { plan, node, member, .. } = self.step;
        let masks = Masks::on(plan, node, member, false);
        let masked = masks.apply_pre(self.make)?;
        let made = masked.is_none().then(self.make);
        let Some(params) = masked.as_ref().or(made.as_ref()) else { return Ok(Arc::default()) };
        let Some(responder) = &plan.node(node).responder else {
            let message = format!("no responder answers `{}`", plan.node(node).name);
            return Err(Failure::answer(Box::new(Diagnostic::error("agent/no-responder", message))));
        };
        let artifact = responder.respond(&params.view, plan.vars()).map_err(Failure::answer)?;
        let normalised = accepted(plan, node, &artifact)
            .map_err(|errors| Failure::new(FailureKind::Schema, schema_violation(plan, node, SCRIPT, &errors)))?;
        let artifact = normalised.unwrap_or(artifact);
        let mut reply = NodeAnswer::own(Arc::new(artifact), SCRIPT, true);
        masks.finish(masked.as_ref(), &mut reply)?;
        Ok(reply.artifact)
    }

    /// The branches of a `foreach` node. `None` if the node is taken once, without an item.
    pub fn branches(&self) -> Result<Option<Vec<Branch>>, Failure> {
        let StepContext { plan, node, .. } = self.step;
        let Some(foreach) = &plan.node(node).foreach else { return Ok(None) };
        foreach.branches(&plan.node(node).name, &(self.make)().view, plan.vars())
    }
}
