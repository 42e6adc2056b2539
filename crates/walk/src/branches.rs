//! Steps that fork or join branches: `foreach` nodes, parallel edges, nodes with dependencies.

use super::answer::NodeAnswer;
use super::attempt::FailedNode;
use super::branch::{Branch, BranchKind};
use super::budget;
use super::error::{Failure, FailureKind};
use super::event::EventBody;
use super::foreach::joined;
use super::foreach_plan::ForeachPlan;
use super::name::Name;
use super::plan::Plan;
use super::state::WalkState;
use super::step::{StepResult, StepStart, Stepper};
use super::step_log::StepLog;
use asterisk_diag::Diagnostic;
use asterisk_script::View;
use serde_json::Value;

impl Stepper<'_> {
    /// Begins a node that may be taken for each item of a list.
    pub(super) fn split(&self, foreach: &ForeachPlan) -> StepResult {
        self.attempt(|log, step| {
            let plan = self.walker.plan;
            let params = self.params(step, &[], &|queries| self.needs(queries).unwrap_or_default());
            match foreach.branches(self.name(), &params.view, plan.vars())? {
                None if foreach.allows_no_item(plan.node(self.node)) => Ok(StepStart::Answer),
                Some(branches) if !branches.is_empty() => {
                    log.push(EventBody::Fork { by: BranchKind::Items, node: Some(self.name().clone()), branches });
                    Ok(StepStart::Merged)
                }
                _ => Ok(StepStart::Known(NodeAnswer::walked(foreach.merged(plan, self.node, &[])?))),
            }
        })
    }

    /// Finishes a `foreach` node after its branches: merges their artifacts.
    pub(super) fn merge(&self, foreach: &ForeachPlan) -> StepResult {
        self.close(|| foreach.merged(self.walker.plan, self.node, &self.state.inner))
    }

    /// Forks a branch for each node whose dependencies are done.
    pub(super) fn wave(&self) -> StepResult {
        let log = StepLog::new(self.stamp(self.walker.clock.now()));
        self.end(log, |log, _| {
            let branch = |node: Name| Branch { node, ..Branch::default() };
            let branches = ready(self.walker.plan, self.state).into_iter().map(branch).collect();
            log.push(EventBody::Fork { by: BranchKind::Waves, node: None, branches });
            Ok(())
        })
    }

    /// Joins branches.
    pub(super) fn join(&self) -> StepResult {
        let log = StepLog::new(self.stamp(self.walker.clock.now()));
        self.end(log, |log, _| {
            let plan = self.walker.plan;
            let to = joined(&self.state.inner)?;
            if let Some(to) = to {
                let over = to == plan.done;
                log.push(EventBody::Join { to: Some(to) });
                if over {
                    log.push(EventBody::WalkComplete { node: self.last() });
                }
                return Ok(());
            }
            log.push(EventBody::Join { to: None });
            let mut after = self.state.clone();
            after.join(None);
            for (node, because) in skipped(plan, &mut after) {
                log.push(EventBody::StepSkipped { node, because });
            }
            budget::check(plan, &after, self.walker.clock.now())?;
            let skipped = after.failed.keys().filter(|name| !after.path.contains(name)).count();
            if after.path.len() + skipped < plan.nodes.len() {
                return Ok(());
            }
            match failed(plan, &after) {
                Some(failure) => Err(failure),
                None => {
                    log.push(EventBody::WalkComplete { node: self.last() });
                    Ok(())
                }
            }
        })
    }

    fn last(&self) -> Name {
        self.state.inner.last().and_then(|branch| branch.path.last()).cloned().unwrap_or_default()
    }
}

/// Marks the nodes that wait for one that failed, and returns them with that.
fn skipped(plan: &Plan, state: &mut WalkState) -> Vec<(Name, Name)> {
    let mut found = Vec::new();
    loop {
        let is_failed = |at: usize| state.failed.contains_key(&plan.nodes[at].name);
        let next = (0..plan.nodes.len()).find_map(|at| {
            let because = plan.pipeline.nodes[at].after.iter().find(|node| is_failed(node.0))?;
            (!is_failed(at)).then(|| (plan.nodes[at].name.clone(), plan.nodes[because.0].name.clone()))
        });
        let Some((node, because)) = next else { return found };
        state.failed.insert(node.clone(), FailedNode::skipped(&because));
        found.push((node, because));
    }
}

/// The failure of a walk that continued past failed nodes: that of the first.
fn failed(plan: &Plan, state: &WalkState) -> Option<Failure> {
    let own = |node: &&FailedNode| !node.kind.is_empty();
    let names = plan.nodes.iter().map(|node| &node.name).filter(|name| state.failed.contains_key(*name));
    let (name, first) = names.clone().find_map(|name| Some((name, state.failed.get(name).filter(own)?)))?;
    let (failed, skipped): (Vec<&Name>, Vec<&Name>) =
        names.partition(|name| state.failed.get(*name).is_some_and(|node| own(&node)));
    let list = |names: &[&Name]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let mut message = first.message.clone();
    if failed.len() > 1 {
        message = format!("{message}; {} failed: {}", failed.len(), list(&failed));
    }
    if !skipped.is_empty() {
        message = format!("{message}; skipped: {}", list(&skipped));
    }
    let kind = serde_json::from_value(Value::String(first.kind.to_string())).unwrap_or(FailureKind::AgentError);
    let mut diagnostic = Diagnostic::error("walk/stages", message);
    let gate = plan.pipeline.node(name).and_then(|node| plan.node(node).policy.as_ref()?.gate.as_ref());
    let review = first.review.as_ref().and_then(|review| review.view());
    if let (Some(gate), Some(review)) = (gate, review) {
        let (source, span) = &gate.place;
        diagnostic = diagnostic.label(source, *span, "reviewed here");
        let lists = ["critical_issues", "suggestions"].into_iter().filter_map(|list| review.present(list));
        let advice: Vec<&str> = lists.flat_map(View::items).filter_map(View::as_str).collect();
        if !advice.is_empty() {
            diagnostic = diagnostic.help(format!("what to change:\n  {}", advice.join("\n  ")));
        }
    } else if let Some(node) = plan.pipeline.node(name) {
        diagnostic = diagnostic.label(&plan.pipeline.source, plan.pipeline.at(node).name.span, "failed");
    }
    Some(Failure::new(kind, diagnostic))
}

/// The nodes, in file order, whose dependencies are done.
fn ready(plan: &Plan, state: &WalkState) -> Vec<Name> {
    let taken = |at: usize| state.path.contains(&plan.nodes[at].name) || state.failed.contains_key(&plan.nodes[at].name);
    let ready = |at: &usize| !taken(*at) && plan.pipeline.nodes[*at].after.iter().all(|node| taken(node.0));
    (0..plan.nodes.len()).filter(ready).map(|at| plan.nodes[at].name.clone()).collect()
}

/// Turns a failure below `branch` into a `branch_error`, which does not fail the case.
pub(super) fn collected(taken: &mut StepResult, branch: &Name) {
    let complaints = taken.failure.as_ref().filter(|failure| failure.kind == FailureKind::Schema);
    let complaints = complaints.and_then(|failure| failure.diagnostic.help.clone());
    for event in &mut taken.events {
        if let EventBody::WalkError { node, kind, message } = &event.what {
            let (node, kind, mut message) = (node.clone(), kind.clone(), message.clone());
            if let Some(complaints) = &complaints {
                message = format!("{message}: {}", complaints.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            event.what = EventBody::BranchError { branch: branch.clone(), node, kind, message };
        }
    }
    let _collected: Option<Failure> = taken.failure.take();
}
