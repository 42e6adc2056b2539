//! Re-evaluates gates on the recorded reviews, with the current thresholds and councils. Calls no agent or advisor.

use super::replay_report::{Flip, UnknownOutcome};
use asterisk_session::{Record, SessionError};
use asterisk_walk::{Content, Event, EventBody, GateDecision, GatePlan, Name, Plan};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The re-evaluated gates of a run.
#[derive(Default)]
pub(super) struct ReplayedGates {
    pub(super) decisions: usize,
    pub(super) flips: Vec<Flip>,
    /// The gates with an advisor without a recorded review.
    pub(super) unknown: Vec<UnknownOutcome>,
}

/// Re-evaluates the gates of a run. Of the attempts at a step, the first that flips counts.
pub(super) fn gates(record: &Record, run: &str, plan: &Arc<Plan>) -> Result<ReplayedGates, SessionError> {
    let mut done = ReplayedGates::default();
    if plan.policy.is_none() {
        return Ok(done);
    }
    for case in record.store().cases(run)? {
        let mut over: BTreeSet<(Name, Name)> = BTreeSet::new();
        for (_, event) in record.store().events(run, &case.case.id)? {
            let Some((node, review)) = reviewed(&event) else { continue };
            let step = (event.path.clone(), node.clone());
            if over.contains(&step) {
                continue;
            }
            let text = record.store().blob(&review.hash())?.unwrap_or_default();
            let Ok(before) = serde_json::from_str::<GateDecision>(&text) else { continue };
            let gate = plan.of_path(&event.path).and_then(|plan| {
                let policy = plan.node(plan.pipeline.node(node)?).policy.clone()?;
                policy.gate.clone()
            });
            let Some(now) = gate.and_then(|gate| reevaluate(&gate, &before)) else {
                over.insert(step);
                let (run, case) = (run.to_owned(), case.case.id.clone());
                done.unknown.push(UnknownOutcome { run, case, path: event.path.to_string(), node: node.to_string() });
                continue;
            };
            done.decisions += 1;
            if now.passed == before.passed {
                continue;
            }
            over.insert(step);
            let word = |decision: &GateDecision| if decision.passed { "passed" } else { "rejected" }.to_owned();
            done.flips.push(Flip {
                run: run.to_owned(),
                case: case.case.id.clone(),
                path: event.path.to_string(),
                node: node.to_string(),
                from: word(&before),
                to: word(&now),
                from_node: None,
                to_node: None,
                then: Vec::new(),
                because: now.reasons(),
                miss: (!now.passed).then(|| format!("score {} < threshold {}", now.score, now.threshold)),
            });
        }
    }
    Ok(done)
}

/// Returns the node and the gate decision of an event.
fn reviewed(event: &Event) -> Option<(&Name, &Content)> {
    match &event.what {
        EventBody::StepRetry { node, review: Some(review), .. }
        | EventBody::StepComplete { node, review: Some(review), .. }
        | EventBody::StepError { node, review: Some(review), .. } => Some((node, review)),
        _ => None,
    }
}

/// Re-evaluates a gate on the recorded reviews, or returns `None` if the review of one of its advisors was not recorded.
fn reevaluate(gate: &GatePlan, before: &GateDecision) -> Option<GateDecision> {
    let review = |name: &Name| before.reviews.iter().find(|review| review.advisor == *name).cloned();
    let reviews: Option<Vec<_>> = gate.advisors.iter().map(|advisor| review(&advisor.name)).collect();
    gate.decide(reviews?).ok()
}
