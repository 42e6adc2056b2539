//! The ways that the cases of a run took, to be laid over a picture of its graph.

use crate::diag::did_you_mean;
use crate::pipeline::draw::EdgeCounts;
use crate::script::probe::Probes;
use crate::session::{Session, SessionError};
use crate::walk::{self, BRANCH, BranchKind, EdgeOutcome, Event, EventBody, Name, Plan, place_of};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a run went by, and the ways it took.
pub struct EdgesTaken {
    /// The run.
    pub run: String,
    /// Its graph, as it went by it last.
    pub plan: Arc<Plan>,
    /// How many cases are counted.
    pub cases: usize,
    /// The counts.
    pub ways: EdgeCounts,
}

/// Counts the ways of a run, or of one of its cases. `latest` is the run that began last.
pub fn ways(session: &Session, run: &str, case: Option<&str>) -> Result<EdgesTaken, SessionError> {
    let record = session.record()?;
    let run = record.run(run)?;
    let texts = record.texts(&run)?;
    let last = texts.last().ok_or_else(|| super::steps::damaged(format!("{run} has no texts")))?;
    let plan = Arc::clone(&record.project(&last.manifest, Probes::None)?.plan);
    let mut ways = EdgeCounts::default();
    let mut split = ForeachSteps::new();
    let cases = match case {
        Some(case) => {
            let names = record.store().case_names(&run)?;
            if !names.iter().any(|(name, _)| name == case) {
                let near = did_you_mean(case, names.iter().map(|(name, _)| name.as_str()));
                return Err(SessionError::asked("input/no-case", format!("the run {run} has no case `{case}`"), near));
            }
            record.store().events(&run, case)?.iter().for_each(|(_, event)| add(&mut ways, &mut split, event));
            1
        }
        None => {
            record.store().each_event(&run, |_, event| {
                add(&mut ways, &mut split, &event);
                ControlFlow::Continue(())
            })?;
            record.store().case_names(&run)?.len()
        }
    };
    Ok(EdgesTaken { run, plan, cases, ways })
}

/// The steps, by case and path, that were taken for each item of a list.
type ForeachSteps = HashSet<(Name, Name)>;

fn add(ways: &mut EdgeCounts, split: &mut ForeachSteps, event: &Event) {
    // Of `3/court/1`, what is not a number.
    let place = walk::nodes_of(&event.path).collect::<Vec<_>>().join("/");
    match &event.what {
        EventBody::Fork { by: BranchKind::Items, .. } => drop(split.insert((event.case.clone(), event.path.clone()))),
        EventBody::Fork { by: BranchKind::Edges, node: Some(from), branches } => {
            for (edge, to) in branches.iter().filter_map(|branch| Some((branch.edge.as_ref()?, &branch.node))) {
                ways.turn(&place, from, edge, to);
            }
        }
        // A branch takes the node that the walk has entered.
        EventBody::NodeEnter { .. } if split.contains(&(event.case.clone(), around(&event.path).into())) => {}
        EventBody::NodeEnter { node } => ways.visit(&place, node),
        EventBody::WalkError { node, .. } => ways.failure(&place, node),
        EventBody::EdgeEvaluate { node, considered, .. } => {
            let spoke = considered.iter().filter(|entry| entry.outcome == EdgeOutcome::Advisory);
            spoke.for_each(|entry| ways.turn(&place, node, &entry.edge, node));
        }
        EventBody::Transition { from, to, edge, .. } => ways.turn(&place, from, edge, to),
        _ => {}
    }
}

/// Of the path of a branch's own step, `2/branch[1]/1`, that of the step that it is a branch of; of any other nothing.
fn around(path: &str) -> &str {
    let place = place_of(path).trim_end_matches('/');
    place.rsplit_once('/').filter(|(_, name)| name.starts_with(BRANCH)).map_or("", |(path, _)| path)
}
