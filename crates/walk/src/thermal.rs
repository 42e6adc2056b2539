//! The time budget of a case (`thermal:`): a warning, and a limit, on the recorded duration of its answers.

use super::error::{Failure, FailureKind};
use super::event::{Event, EventBody};
use super::plan::Plan;
use super::state::WalkState;
use asterisk_diag::Diagnostic;

/// The failure of a case that has exceeded the limit of its own pipeline, sub-pipelines included.
pub(super) fn stop(plan: &Plan, state: &WalkState) -> Option<Failure> {
    let thermal = plan.pipeline.thermal?;
    // One answer is allowed whatever the limit.
    if !thermal.stops(state.spent_ms) || state.answers == 0 {
        return None;
    }
    let (spent, ceiling) = (state.spent_ms, thermal.ceiling_ms.unwrap_or(0));
    let message = format!("the answers of this case took {spent} ms, and `{}` allows {ceiling}", *plan.pipeline.name);
    let help = "raise `ceiling_ms` of `thermal` if that is right (without it, there is no ceiling), or find the slow step: \
                asterisk run --observe trace=FILE";
    Some(Failure::new(FailureKind::Limit, Diagnostic::error("walk/thermal", message).help(help)))
}

/// Adds a warning to the events of the step that exceeds the threshold; `before_ms` is the total before it.
pub(super) fn warn(plan: &Plan, before_ms: u64, events: &mut Vec<Event>) {
    let Some(thermal) = plan.pipeline.thermal else { return };
    let took = |event: &Event| if let EventBody::NodeExit { took_ms, .. } = event.what { Some(took_ms) } else { None };
    let Some((at, took)) = events.iter().enumerate().find_map(|(at, event)| Some((at, took(event)?))) else { return };
    let spent_ms = before_ms + took;
    if thermal.warns(before_ms, spent_ms) {
        let what = EventBody::ThermalWarning { spent_ms, warning_ms: thermal.warning_ms, ceiling_ms: thermal.ceiling_ms };
        let warning = Event { what, ..events[at].clone() };
        events.insert(at + 1, warning);
    }
}
