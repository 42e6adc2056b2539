//! What a case may spend (`thermal:`): told once, and ended, by what the journal says that its answers took.

use super::error::{Failure, FailureKind};
use super::event::{Event, EventBody};
use super::plan::Plan;
use super::state::WalkState;
use crate::diag::Diagnostic;

/// Why a case takes no further step, if its answers took too long. The budget is that of the case's own pipeline, whatever it walks
/// within.
pub(super) fn stop(plan: &Plan, state: &WalkState) -> Option<Failure> {
    let thermal = plan.pipeline.thermal?;
    // Whatever the ceiling, one answer may be waited for.
    if !thermal.stops(state.spent_ms) || state.answers == 0 {
        return None;
    }
    let (spent, ceiling) = (state.spent_ms, thermal.ceiling_ms.unwrap_or(0));
    let message = format!("the answers of this case took {spent} ms, and `{}` allows {ceiling}", *plan.pipeline.name);
    let help = "raise `ceiling_ms` of `thermal` if that is right (without it there is no ceiling), or find out which step takes so long: \
                asterisk run --observe trace=FILE";
    Some(Failure::new(FailureKind::Limit, Diagnostic::error("walk/thermal", message).help(help)))
}

/// Adds to the events of a step, before which they took `before_ms`, that it is the one with which the answers of the case took as long as is to be told.
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
