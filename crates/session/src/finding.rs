//! The finding of a case, by the pipeline's summary script.

use asterisk_base::model::{Case, Launch};
use asterisk_diag::Diagnostic;
use asterisk_pipeline::NodeIx;
use asterisk_walk::{CaseParams, Plan, StepContext, WalkState};
use serde_json::Value;

/// The error kind of a case whose record is damaged.
pub(super) const DAMAGED: &str = "damaged";

/// Runs the pipeline's `report:` script on the parameters of the case's last step. `None` without a script, and for a case whose
/// record is damaged and hence incomplete. `kept`: its result, if the store has it. `params`: the parameters of the case, if they were kept.
pub(super) fn of(
    plan: &Plan,
    launch: &Launch,
    case: &Case,
    state: &WalkState,
    run: &str,
    kept: Option<Value>,
    params: Option<&CaseParams>,
) -> (Option<Value>, Option<Box<Diagnostic>>) {
    let damaged = state.error.as_ref().is_some_and(|(kind, _)| kind == DAMAGED);
    let Some(summary) = plan.summary.as_ref().filter(|_| !damaged) else { return (None, None) };
    if kept.is_some() {
        return (kept, None);
    }
    let last = state.path.last().and_then(|name| plan.pipeline.node(name)).unwrap_or(NodeIx(0));
    let step = StepContext::between(plan, last, state);
    let params = params.map_or_else(|| CaseParams::new(run, launch, case), CaseParams::anew).for_step(
        case,
        &step,
        &step.state(None),
        &[],
        &|_| Vec::new(),
    );
    match summary.respond(&params.view, plan.vars()) {
        Ok(value) => (Some(value), None),
        Err(diagnostic) => (None, Some(diagnostic)),
    }
}
