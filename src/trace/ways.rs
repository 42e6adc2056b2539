//! The ways that the cases of a run took, to be laid over a picture of its graph.

use crate::diag::did_you_mean;
use crate::pipeline::draw::Ways;
use crate::script::probe::Probes;
use crate::session::{Session, SessionError};
use crate::walk::{self, BRANCH, By, Event, Name, Outcome, Plan, What, place_of};
use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// What a run went by, and the ways it took.
pub struct WaysTaken {
    /// The run.
    pub run: String,
    /// Its graph, as it went by it last.
    pub plan: Arc<Plan>,
    /// How many cases are counted.
    pub cases: usize,
    /// The counts.
    pub ways: Ways,
}

/// Counts the ways of a run, or of one of its cases. `latest` is the run that began last.
pub fn ways(session: &Session, run: &str, case: Option<&str>) -> Result<WaysTaken, SessionError> {
    let record = session.record()?;
    let run = record.run(run)?;
    let texts = record.texts(&run)?;
    let last = texts.last().ok_or_else(|| super::steps::damaged(format!("{run} has no texts")))?;
    let plan = Arc::clone(&record.project(&last.manifest, Probes::None)?.plan);
    let mut ways = Ways::default();
    let mut split = Split::new();
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
    Ok(WaysTaken { run, plan, cases, ways })
}

/// The steps, by case and path, that were taken for each item of a list.
type Split = HashSet<(Name, Name)>;

fn add(ways: &mut Ways, split: &mut Split, event: &Event) {
    // Of `3/court/1`, what is not a number.
    let place = walk::nodes_of(&event.path).collect::<Vec<_>>().join("/");
    match &event.what {
        What::Fork { by: By::Items, .. } => drop(split.insert((event.case.clone(), event.path.clone()))),
        What::Fork { by: By::Edges, node: Some(from), branches } => {
            for (edge, to) in branches.iter().filter_map(|branch| Some((branch.edge.as_ref()?, &branch.node))) {
                ways.turn(&place, from, edge, to);
            }
        }
        // A branch takes the node that the walk has entered.
        What::NodeEnter { .. } if split.contains(&(event.case.clone(), around(&event.path).into())) => {}
        What::NodeEnter { node } => ways.visit(&place, node),
        What::WalkError { node, .. } => ways.failure(&place, node),
        What::EdgeEvaluate { node, considered, .. } => {
            let spoke = considered.iter().filter(|entry| entry.outcome == Outcome::Advisory);
            spoke.for_each(|entry| ways.turn(&place, node, &entry.edge, node));
        }
        What::Transition { from, to, edge, .. } => ways.turn(&place, from, edge, to),
        _ => {}
    }
}

/// Of the path of a branch's own step, `2/branch[1]/1`, that of the step that it is a branch of; of any other nothing.
fn around(path: &str) -> &str {
    let place = place_of(path).trim_end_matches('/');
    place.rsplit_once('/').filter(|(_, name)| name.starts_with(BRANCH)).map_or("", |(path, _)| path)
}
