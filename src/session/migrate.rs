//! Whether a run that is under way can go on by another graph: what its cases have been through must be in it.

use super::SessionError;
use super::work::{Reads, Work};
use crate::diag::{Diagnostic, Diagnostics, did_you_mean};
use crate::pipeline::Origin;
use crate::project::Project;
use crate::walk::{By, FALLBACK, Plan, Status, WalkState};
use std::collections::BTreeMap;

/// Refuses a project whose graph lacks what cases that are not over have been through.
pub(super) fn fits(project: &Project, work: &[Work], reads: &Reads<'_>) -> Result<(), SessionError> {
    let (plan, pipeline) = (&*project.plan, &project.plan.pipeline);
    // By what is missing, the cases that need it.
    let mut missing: BTreeMap<(String, Option<String>), Vec<&str>> = BTreeMap::new();
    for case in work.iter().filter(|case| !matches!(case.status, Status::Done | Status::Error)) {
        let folded;
        let state = match case.whole.as_deref() {
            Some((_, state)) => state,
            None => {
                folded = reads.folded(&case.id)?;
                &folded
            }
        };
        for lack in lacks(plan, state) {
            missing.entry(lack).or_default().push(&case.id);
        }
    }
    let mut found = Diagnostics::new();
    for ((what, hint), cases) in missing {
        let some = cases.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = if cases.len() > 3 { format!(" and {} more", cases.len() - 3) } else { String::new() };
        let message = format!("the run cannot go on by this graph: {what} (case {some}{more})");
        let hint = hint.map_or(String::new(), |hint| format!("{hint} Otherwise "));
        let help = format!("{hint}resume without --migrate, by the texts it went by, or begin a new run");
        let error = Diagnostic::error("run/graph", message);
        found.push(error.label(&pipeline.source, pipeline.name.span, "this pipeline").help(help));
    }
    if found.has_errors() { Err(found.into()) } else { Ok(()) }
}

/// What a case has been through, or stands at, that the graph does not have, each with the nearest name there is.
fn lacks(plan: &Plan, state: &WalkState) -> Vec<(String, Option<String>)> {
    let pipeline = &plan.pipeline;
    let nodes = || pipeline.nodes.iter().map(|node| node.name.as_str());
    let mut found = Vec::new();
    for node in state.path.iter().chain(&state.node).filter(|node| pipeline.node(node).is_none()) {
        found.push((format!("it has no node `{node}`"), did_you_mean(node, nodes())));
    }
    for visit in state.history.iter().filter(|visit| visit.edge != FALLBACK) {
        let from = pipeline.node(&visit.node);
        match pipeline.edge(&visit.edge).map(|edge| pipeline.edge_at(edge).from) {
            Some(Origin::Any) => {}
            Some(Origin::Node(node)) if from.is_none() || from == Some(node) => {}
            Some(_) => found.push((format!("its edge `{}` does not start at `{}`", visit.edge, visit.node), None)),
            None => {
                let known = pipeline.edges.iter().map(|edge| edge.id.as_str());
                found.push((format!("it has no edge `{}` from `{}`", visit.edge, visit.node), did_you_mean(&visit.edge, known)));
            }
        }
    }
    // What is walked in the place of a node has to be there as well.
    for inner in &state.inner {
        if let Some(lone) = &inner.lone {
            // A branch is of the same graph.
            found.extend(lacks(plan, inner));
            let at = inner.node.as_ref().and_then(|at| pipeline.node(at)).map(|node| plan.node(node));
            if let Some(node) = at.filter(|node| lone.by == By::Items && node.fan.is_none()) {
                found.push((format!("its node `{}` is not taken for each item of a list", node.name), None));
            }
        } else if let Some(at) = &state.node
            && let Some(node) = pipeline.node(at)
        {
            match &plan.node(node).part {
                Some(part) => found.extend(lacks(part, inner)),
                None => found.push((format!("its node `{at}` is no walk of its own"), None)),
            }
        }
    }
    found.sort();
    found.dedup();
    found
}
