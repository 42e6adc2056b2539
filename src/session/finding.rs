//! Asking a pipeline's summary script what came of a case.

use super::work::DAMAGED;
use crate::clock::Timestamp;
use crate::diag::Diagnostic;
use crate::model::{Case, Launch};
use crate::pipeline::NodeIx;
use crate::walk::{CaseParams, Plan, StepPlace, WalkState};
use serde_json::Value;

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
    let now = state.history.last().map_or_else(Timestamp::default, |visit| visit.at);
    let member = plan.member(state.walker.as_deref(), None);
    let view = state.view(&plan.node(last).view, None, now, 0.0, &member.view);
    let place = StepPlace { run, case: &case.id, path: "", now };
    let params = CaseParams::new(launch, case).for_step(case, plan, last, state, &view, &place, (member, &[]));
    match summary.respond(&params.view, plan.vars()) {
        Ok(value) => (Some(value), None),
        Err(diagnostic) => (None, Some(diagnostic)),
    }
}
