//! Why a step goes where it goes, and what one edge saw.

use super::place::ReplPosition;
use super::scope::EvalScope;
use super::show::{decided, went};
use crate::decisions::{PageLine, StepExplanation, Tone, edge_page, look, step_page};
use crate::pipeline::EdgeIx;
use crate::session::SessionError;

/// The decision of a step; before it what was recorded, if other things are tried out.
pub(super) fn decision(place: &ReplPosition, width: usize) -> Result<Vec<PageLine>, SessionError> {
    let here = place.here()?;
    let now = decided(&here, &here.decide()?);
    let mut lines = Vec::new();
    if let Some(step) = here.step.as_ref().filter(|_| here.changed) {
        let recorded = went(step);
        let same = if recorded == now { "recorded, and the same now: " } else { "recorded: " };
        lines.push(PageLine { tone: Tone::Quiet, text: format!("{same}{recorded}") });
    }
    lines.extend(step_page(&told(place, &here)?, width));
    Ok(lines)
}

/// One edge: what it goes by, what came of it, and what was evaluated.
pub(super) fn edge(place: &ReplPosition, edge: EdgeIx, width: usize) -> Result<Vec<PageLine>, SessionError> {
    let here = place.here()?;
    Ok(edge_page(&told(place, &here)?, &here.plan.edge_names[edge.0], width))
}

fn told(place: &ReplPosition, here: &EvalScope) -> Result<StepExplanation, SessionError> {
    let node = here.at_node()?;
    let (project, again) = place.watched(here, node)?;
    Ok(look(&again, &project, here.step.as_ref()))
}
