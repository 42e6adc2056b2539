//! Counts of the edges taken by the cases of a run, for overlaying a picture of its graph.

use asterisk_pipeline::draw::EdgeCounts;
use asterisk_script::probe::Probes;
use asterisk_session::{Session, SessionError};
use asterisk_walk::{self as walk, BRANCH, BranchKind, EdgeOutcome, Event, EventBody, Name, Plan, place_of};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The graph of a run with the counts of edges taken.
pub struct EdgesTaken {
    pub run: String,
    /// The graph that the run used last.
    pub plan: Arc<Plan>,
    /// The number of cases counted.
    pub cases: usize,
    pub counts: EdgeCounts,
}

/// Counts the edges taken by a run, or by one of its cases. `latest` is the run that began last.
pub fn counts(session: &Session, run: &str, case: Option<&str>) -> Result<EdgesTaken, SessionError> {
    let record = session.record()?;
    let run = record.run(run)?;
    let texts = record.texts(&run)?;
    let last = texts.last().ok_or_else(|| super::steps::damaged(format!("{run} has no recorded sources")))?;
    let plan = Arc::clone(&record.project(&last.manifest, Probes::None)?.plan);
    let mut counts = EdgeCounts::default();
    let mut foreach_steps = ForeachSteps::new();
    let cases = match case {
        Some(case) => {
            let case = &record.case(&run, case)?;
            record.store().events(&run, case)?.iter().for_each(|(_, event)| add(&mut counts, &mut foreach_steps, event));
            1
        }
        None => {
            record.store().each_event(&run, |_, event| {
                add(&mut counts, &mut foreach_steps, &event);
                ControlFlow::Continue(())
            })?;
            record.store().case_names(&run)?.len()
        }
    };
    Ok(EdgesTaken { run, plan, cases, counts })
}

/// The `foreach` steps, by case and path.
type ForeachSteps = HashSet<(Name, Name)>;

fn add(counts: &mut EdgeCounts, foreach_steps: &mut ForeachSteps, event: &Event) {
    // The names in a path: `court` of `3/court/1`.
    let place = walk::nodes_of(&event.path).collect::<Vec<_>>().join("/");
    match &event.what {
        EventBody::Fork { by: BranchKind::Items, .. } => drop(foreach_steps.insert((event.case.clone(), event.path.clone()))),
        EventBody::Fork { by: BranchKind::Edges, node: Some(from), branches } => {
            for (edge, to) in branches.iter().filter_map(|branch| Some((branch.edge.as_ref()?, &branch.node))) {
                counts.transition(&place, from, edge, to);
            }
        }
        // A branch takes the node that the walk has entered.
        EventBody::NodeEnter { .. } if foreach_steps.contains(&(event.case.clone(), enclosing_step(&event.path).into())) => {}
        EventBody::NodeEnter { node } => counts.visit(&place, node),
        EventBody::WalkError { node, .. } => counts.failure(&place, node),
        EventBody::EdgeEvaluate { node, considered, .. } => {
            let advisories = considered.iter().filter(|entry| entry.outcome == EdgeOutcome::Advisory);
            advisories.for_each(|entry| counts.transition(&place, node, &entry.edge, node));
        }
        EventBody::Transition { from, to, edge, .. } => counts.transition(&place, from, edge, to),
        _ => {}
    }
}

/// The path of the step that a branch's own step belongs to: `2` of `2/branch[1]/1`; empty for any other path.
fn enclosing_step(path: &str) -> &str {
    let place = place_of(path).trim_end_matches('/');
    place.rsplit_once('/').filter(|(_, name)| name.starts_with(BRANCH)).map_or("", |(path, _)| path)
}
