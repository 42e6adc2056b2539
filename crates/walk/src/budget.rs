//! The budget of a policy, compared after each wave of nodes.

use super::error::{Failure, FailureKind};
use super::name::Name;
use super::plan::Plan;
use super::sourced::Sourced;
use super::state::WalkState;
use asterisk_base::clock::Timestamp;
use asterisk_diag::Diagnostic;
use asterisk_script::View;
use std::fmt::Display;

/// Fails if a walk took more than the budget allows: nodes, bytes of artifacts, time, tokens, cost.
pub(super) fn check(plan: &Plan, state: &WalkState, now: Timestamp) -> Result<(), Failure> {
    let Some(budget) = plan.policy.as_ref().map(|policy| &policy.budget) else { return Ok(()) };
    let stages = state.passed.len() as u64;
    exceeded("max_stages", "nodes", stages, budget.max_stages.as_ref())?;
    if budget.max_artifacts_bytes.is_some() {
        let bytes = state.passed.keys().map(|node| artifact_bytes(state, node)).sum();
        exceeded("max_artifacts_bytes", "bytes of artifacts", bytes, budget.max_artifacts_bytes.as_ref())?;
    }
    let seconds = state.started_at.map_or(0.0, |start| now.seconds_since(start));
    exceeded("max_runtime_sec", "seconds", seconds, budget.max_runtime_sec.as_ref())?;
    exceeded("max_tokens", "tokens", state.tokens.prompt + state.tokens.answer, budget.max_tokens.as_ref())?;
    exceeded("max_cost", "dollars", state.tokens.cost, budget.max_cost.as_ref())
}

/// The bytes of the artifacts of a node, with their names.
fn artifact_bytes(state: &WalkState, node: &Name) -> u64 {
    let artifact = state.prior.get(node).and_then(|artifact| artifact.view());
    let list = artifact.and_then(|artifact| artifact.present("artifacts").cloned());
    let bytes = |artifact: &View| {
        let text = |field: &str| artifact.present(field).and_then(View::as_str).map_or(0, |text| text.len() as u64);
        let known = artifact.present("bytes").and_then(View::as_i64).and_then(|bytes| u64::try_from(bytes).ok());
        text("name") + known.unwrap_or_else(|| text("content"))
    };
    list.iter().flat_map(View::items).map(bytes).sum()
}

fn exceeded<T: Copy + PartialOrd + Display>(name: &str, what: &str, is: T, most: Option<&Sourced<T>>) -> Result<(), Failure> {
    let Some(most) = most.filter(|most| is > most.value) else { return Ok(()) };
    let message = format!("the budget is exceeded: {is} {what}, and `{name}` is {} ({})", most.value, most.from);
    let help = format!("raise it: `budget: {{ {name}: ... }}` of the policy, or --set policy.budget.{name}=...");
    Err(Failure::new(FailureKind::Limit, Diagnostic::error("walk/budget", message).help(help)))
}
