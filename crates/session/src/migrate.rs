//! Whether a run in progress can migrate to another graph, which must contain what its cases have been through.

use super::SessionError;
use super::work::{CaseReader, CaseWork};
use asterisk_diag::{Diagnostic, Diagnostics, did_you_mean};
use asterisk_pipeline::{EdgeOrigin, Pipeline};
use asterisk_project::Project;
use asterisk_walk::{BranchKind, FALLBACK, Plan, WalkState, WalkStatus};
use std::collections::BTreeMap;

/// Refuses a project whose graph lacks elements that unfinished cases have been through.
pub(super) fn fits(project: &Project, work: &[CaseWork], reads: &CaseReader<'_>) -> Result<(), SessionError> {
    // By missing element and its pipeline, the cases that need it.
    let mut missing = MissingElements::new();
    for case in work.iter().filter(|case| !matches!(case.status, WalkStatus::Done | WalkStatus::Error)) {
        let folded;
        let state = match case.whole.as_deref() {
            Some((_, state)) => state,
            None => {
                folded = reads.folded(&case.id)?;
                &folded
            }
        };
        let mut found = lacks(&project.plan, state);
        found.sort_by(|left, right| left.key().cmp(&right.key()));
        found.dedup_by(|left, right| left.key() == right.key());
        for MissingElement { what, hint, of } in found {
            missing.entry((what, hint, &of.name.value)).or_insert_with(|| (of, Vec::new())).1.push(&case.id);
        }
    }
    let mut found = Diagnostics::new();
    for ((what, hint, _), (pipeline, cases)) in missing {
        let some = cases.iter().take(3).copied().collect::<Vec<_>>().join(", ");
        let more = if cases.len() > 3 { format!(" and {} more", cases.len() - 3) } else { String::new() };
        let message = format!("the run cannot continue with this graph: {what} (case {some}{more})");
        let hint = hint.map_or(String::new(), |hint| format!("{hint} Otherwise "));
        let help = format!("{hint}resume without --migrate to use the recorded sources, or start a new run");
        let error = Diagnostic::error("run/graph", message);
        found.push(error.label(&pipeline.source, pipeline.name.span, "this pipeline").help(help));
    }
    if found.has_errors() { Err(found.into()) } else { Ok(()) }
}

/// By missing element, nearest name and pipeline's name: the pipeline, and the cases that need it.
type MissingElements<'p> = BTreeMap<(String, Option<String>, &'p str), (&'p Pipeline, Vec<&'p str>)>;

/// An element that a graph lacks.
struct MissingElement<'p> {
    what: String,
    /// The nearest name there is.
    hint: Option<String>,
    /// The pipeline that should have it.
    of: &'p Pipeline,
}

impl MissingElement<'_> {
    fn key(&self) -> (&str, &str) {
        (&self.what, &self.of.name)
    }
}

/// The elements that a case has been through, or is at, and the graph lacks.
fn lacks<'p>(plan: &'p Plan, state: &WalkState) -> Vec<MissingElement<'p>> {
    let pipeline = &*plan.pipeline;
    let lack = |what: String, hint: Option<String>| MissingElement { what, hint, of: pipeline };
    let nodes = || pipeline.nodes.iter().map(|node| node.name.as_str());
    let mut found = Vec::new();
    for node in state.path.iter().chain(&state.node).filter(|node| pipeline.node(node).is_none()) {
        found.push(lack(format!("it has no node `{node}`"), did_you_mean(node, nodes())));
    }
    for visit in state.history.iter().filter(|visit| visit.edge != FALLBACK) {
        let from = pipeline.node(&visit.node);
        match pipeline.edge(&visit.edge).map(|edge| pipeline.edge_at(edge).from) {
            Some(EdgeOrigin::Any) => {}
            Some(EdgeOrigin::Node(node)) if from.is_none() || from == Some(node) => {}
            Some(_) => found.push(lack(format!("its edge `{}` does not start at `{}`", visit.edge, visit.node), None)),
            None => {
                let known = pipeline.edges.iter().map(|edge| edge.id.as_str());
                found.push(lack(
                    format!("it has no edge `{}` from `{}`", visit.edge, visit.node),
                    did_you_mean(&visit.edge, known),
                ));
            }
        }
    }
    // Sub-pipelines are checked as well.
    for inner in &state.inner {
        if let Some(origin) = &inner.origin {
            // A branch uses the same graph.
            found.extend(lacks(plan, inner));
            let at = inner.node.as_ref().and_then(|at| pipeline.node(at)).map(|node| plan.node(node));
            if let Some(node) = at.filter(|node| origin.by == BranchKind::Items && node.foreach.is_none()) {
                found.push(lack(format!("its node `{}` has no `foreach`", node.name), None));
            }
        } else if let Some(at) = &state.node
            && let Some(node) = pipeline.node(at)
        {
            match &plan.node(node).subpipeline {
                Some(subpipeline) => found.extend(lacks(subpipeline, inner)),
                None => found.push(lack(format!("its node `{at}` is not a subpipeline"), None)),
            }
        }
    }
    found
}
