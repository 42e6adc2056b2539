//! Asking a pipeline's summary script what came of a case.

use crate::diag::Diagnostic;
use crate::model::{Case, Launch};
use crate::pipeline::NodeIx;
use crate::walk::{CaseParams, Plan, StepContext, WalkState};
use serde_json::Value;

/// The kind of error that a case has if what is stored of it is damaged.
pub(super) const DAMAGED: &str = "damaged";

/// What the pipeline's `report:` script says of a case, given the parameters of its last step; nothing without a script, or of a case
/// that is damaged in the store, whose artifacts are not all there.
pub(super) fn of(
    plan: &Plan,
    launch: &Launch,
    case: &Case,
    state: &WalkState,
    run: &str,
) -> (Option<Value>, Option<Box<Diagnostic>>) {
    let damaged = state.error.as_ref().is_some_and(|(kind, _)| kind == DAMAGED);
    let Some(summary) = plan.summary.as_ref().filter(|_| !damaged) else { return (None, None) };
    let last = state.path.last().and_then(|name| plan.pipeline.node(name)).unwrap_or(NodeIx(0));
    let step = StepContext::between(plan, last, state);
    let params = CaseParams::new(run, launch, case).for_step(case, &step, &step.state(None), &[]);
    match summary.respond(&params.view, plan.vars()) {
        Ok(value) => (Some(value), None),
        Err(diagnostic) => (None, Some(diagnostic)),
    }
}
