//! Explains the decision of a step, or one of its edges.

use super::place::ReplPosition;
use super::scope::EvalScope;
use super::show::{decided, outcome_line};
use asterisk_decisions::{PageLine, StepExplanation, Tone, edge_page, look, step_page};
use asterisk_pipeline::EdgeIx;
use asterisk_session::SessionError;

/// The decision of a step, after the recorded one if inputs are overridden.
pub(super) fn decision(place: &ReplPosition, width: usize) -> Result<Vec<PageLine>, SessionError> {
    let here = place.here()?;
    let now = decided(&here, &here.decide()?);
    let mut lines = Vec::new();
    if let Some(step) = here.step.as_ref().filter(|_| here.changed) {
        let recorded = outcome_line(step);
        let same = if recorded == now { "recorded, and the same now: " } else { "recorded: " };
        lines.push(PageLine { tone: Tone::Quiet, text: format!("{same}{recorded}") });
    }
    lines.extend(step_page(&explanation(place, &here)?, width));
    Ok(lines)
}

/// One edge: its inputs, its outcome, and the evaluated parts.
pub(super) fn edge(place: &ReplPosition, edge: EdgeIx, width: usize) -> Result<Vec<PageLine>, SessionError> {
    let here = place.here()?;
    Ok(edge_page(&explanation(place, &here)?, &here.plan.edge_names[edge.0], width))
}

fn explanation(place: &ReplPosition, here: &EvalScope) -> Result<StepExplanation, SessionError> {
    let node = here.at_node()?;
    let (project, inputs) = place.with_probes(here, node)?;
    Ok(look(&inputs, &project, here.step.as_ref()))
}
