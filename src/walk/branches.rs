//! Steps that fork or join branches: `foreach` nodes, parallel edges, nodes with dependencies.

use super::answer::NodeAnswer;
use super::branch::{Branch, BranchKind};
use super::error::Failure;
use super::event::EventBody;
use super::foreach::joined;
use super::foreach_plan::ForeachPlan;
use super::name::Name;
use super::plan::Plan;
use super::state::WalkState;
use super::step::{StepResult, StepStart, Stepper};
use super::step_log::StepLog;

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
            let over = match &to {
                Some(to) => *to == plan.done,
                None => self.state.path.len() + self.state.inner.len() == plan.nodes.len(),
            };
            log.push(EventBody::Join { to });
            if over {
                log.push(EventBody::WalkComplete { node: self.last() });
            }
            Ok(())
        })
    }

    fn last(&self) -> Name {
        self.state.inner.last().and_then(|branch| branch.path.last()).cloned().unwrap_or_default()
    }
}

/// The nodes, in file order, whose dependencies are done.
fn ready(plan: &Plan, state: &WalkState) -> Vec<Name> {
    let taken = |at: usize| state.path.contains(&plan.nodes[at].name);
    let ready = |at: &usize| !taken(*at) && plan.pipeline.nodes[*at].after.iter().all(|node| taken(node.0));
    (0..plan.nodes.len()).filter(ready).map(|at| plan.nodes[at].name.clone()).collect()
}

/// Turns a failure below `branch` into a `branch_error`, which does not fail the case.
pub(super) fn collected(taken: &mut StepResult, branch: &Name) {
    for event in &mut taken.events {
        if let EventBody::WalkError { node, kind, message } = &event.what {
            let (node, kind, message) = (node.clone(), kind.clone(), message.clone());
            event.what = EventBody::BranchError { branch: branch.clone(), node, kind, message };
        }
    }
    let _collected: Option<Failure> = taken.failure.take();
}
