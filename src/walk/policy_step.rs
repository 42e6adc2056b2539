//! Attempts at a step with a policy: whether an answer passes, whether another attempt follows, and the events of it all.

use super::answer::NodeAnswer;
use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::EventBody;
use super::gate::{GateDecision, GatePlan};
use super::name::Name;
use super::plan::PlanNode;
use super::policy::StepPolicy;
use super::walker::Walker;
use crate::clock::Timestamp;
use crate::diag::Diagnostic;
use crate::pipeline::RetryReason;
use crate::script::View;
use serde_json::Value;

/// The `by` of an answer from the cache.
pub const CACHE: &str = "cache";

/// The codes of failures that mean that an answer took too long.
const LATE: [&str; 2] = ["script/deadline", "agent/late"];

/// An attempt that did not pass.
pub(super) struct AttemptFailure {
    /// Why, if it is a reason to try again.
    pub(super) reason: Option<RetryReason>,
    pub(super) failure: Failure,
    pub(super) output: Option<Content>,
    pub(super) decision: Option<GateDecision>,
}

/// The attempts at a step, with the events that wait to be recorded.
pub(super) struct PolicyAttempts<'a> {
    pub(super) policy: &'a StepPolicy,
    pub(super) node: &'a PlanNode,
    /// The number of the attempt, from 1.
    pub(super) attempt: u64,
    pub(super) pending: Vec<EventBody>,
    /// The duration of its reviews, in milliseconds.
    pub(super) advisor_ms: u64,
}

impl From<Failure> for Box<AttemptFailure> {
    /// A failure that no further attempt mends.
    fn from(failure: Failure) -> Self {
        Self::new(AttemptFailure { reason: None, failure, output: None, decision: None })
    }
}

impl AttemptFailure {
    /// A failure of the answerer: a late answer, one that is none, or a failure that no further attempt mends.
    pub(super) fn of(failure: Failure) -> Self {
        let code = failure.diagnostic.code.as_ref();
        let reason = match failure.kind {
            _ if LATE.contains(&code) => Some(RetryReason::Timeout),
            FailureKind::Schema => Some(RetryReason::InvalidOutput),
            // A script that throws gave no answer.
            _ if ["script/", "rule/", "responder/"].iter().any(|area| code.starts_with(area)) => Some(RetryReason::InvalidOutput),
            _ if code == "agent/answer" || code == "agent/artifact" => Some(RetryReason::InvalidOutput),
            _ => None,
        };
        Self { reason, failure, output: None, decision: None }
    }
}

impl PolicyAttempts<'_> {
    fn name(&self) -> Name {
        self.node.name.clone()
    }

    /// Begins an attempt, the first of the step with its start.
    pub(super) fn begin(&mut self, attempts: usize) {
        let (policy, node) = (self.policy, self.name());
        self.attempt = attempts as u64 + 1;
        self.advisor_ms = 0;
        let max_retries = policy.max_retries.value;
        if attempts == 0 {
            let advisors = policy.gate.iter().flat_map(|gate| &gate.advisors).map(|advisor| advisor.name.clone());
            self.pending.push(EventBody::StepStart {
                node: node.clone(),
                agent: policy.agent.clone(),
                category: policy.category.clone(),
                advisors: advisors.collect(),
                max_retries,
            });
        }
        self.pending.push(EventBody::StepAttempt { node, attempt: self.attempt, max_retries });
    }

    /// Checks an answer and asks the gate. Returns the gate's decision, if there is one, or why the attempt did not pass.
    pub(super) fn review(
        &mut self,
        walker: &Walker<'_>,
        (reply, took_ms): (&NodeAnswer, u64),
        artifact: &View,
        params: &View,
    ) -> Result<Option<GateDecision>, Box<AttemptFailure>> {
        if reply.by == CACHE {
            self.pending.push(EventBody::CacheHit { node: self.name(), agent: self.policy.agent.clone() });
        }
        #[expect(clippy::cast_precision_loss, reason = "a duration")]
        let seconds = took_ms as f64 / 1000.0;
        let timeout = &self.policy.timeout;
        let failed = |reason, failure, decision| {
            let output = Some(Content::new(artifact.clone()));
            Err(Box::new(AttemptFailure { reason: Some(reason), failure, output, decision }))
        };
        if seconds > timeout.value {
            let message =
                format!("`{}` took {seconds} s, more than its timeout of {} s ({})", self.name(), timeout.value, timeout.from);
            let diagnostic =
                Diagnostic::error("walk/timeout", message).help("give it more time: `timeout:`, or `timeouts:` of the policy");
            return failed(RetryReason::Timeout, Failure::new(FailureKind::AgentError, diagnostic), None);
        }
        if let Err(what) = answered(&reply.artifact) {
            let message = format!("the answer of `{}` {what}", self.name());
            let help = "an answer is #{ content: \"text\", artifacts: [#{ name: \"a.md\", type: \"text\", content: \"text\" }], metadata: #{} }";
            let diagnostic = Diagnostic::error("walk/invalid-output", message).help(help);
            return failed(RetryReason::InvalidOutput, Failure::new(FailureKind::Schema, diagnostic), None);
        }
        let Some(gate) = &self.policy.gate else { return Ok(None) };
        let begun = walker.clock.now();
        let task = params.get("task").unwrap_or_else(View::null);
        let mut reviews = Vec::with_capacity(gate.advisors.len());
        for advisor in &gate.advisors {
            let review = GatePlan::ask(advisor, artifact, &task, params).map_err(Failure::script)?;
            self.pending.push(EventBody::AdvisorReview {
                node: self.name(),
                attempt: self.attempt,
                advisor: review.advisor.clone(),
                score: review.score,
                approved: review.approved,
            });
            reviews.push(review);
        }
        let decision = gate.decide(reviews).map_err(Failure::script)?;
        self.advisor_ms = millis(begun, walker.clock.now());
        if decision.passed {
            return Ok(Some(decision));
        }
        let tried = crate::model::counted(self.attempt, "attempt", "attempts");
        let message = format!("`{}` did not pass its gate after {tried}: {}", self.name(), decision.reasons());
        let (source, span) = &gate.place;
        let advice = decision.advice();
        let mut diagnostic = Diagnostic::error("walk/rejected", message).label(source, *span, "reviewed here");
        if !advice.is_empty() {
            diagnostic = diagnostic.help(format!("what to change:\n  {}", advice.join("\n  ")));
        }
        failed(RetryReason::Rejection, Failure::new(FailureKind::Rejected, diagnostic), Some(decision))
    }

    /// The event of an attempt that another follows.
    pub(super) fn retry(&self, failed: &AttemptFailure) -> EventBody {
        let decision = failed.decision.as_ref();
        EventBody::StepRetry {
            node: self.name(),
            attempt: self.attempt,
            reason: failed.reason.map_or("", RetryReason::word).into(),
            message: decision.map_or_else(|| failed.failure.diagnostic.message.clone(), GateDecision::reasons),
            score: decision.map(|decision| decision.score),
            threshold: decision.map(|decision| decision.threshold),
            output: failed.output.clone(),
            review: decision.map(content),
        }
    }

    /// The event of a step that came to nothing.
    pub(super) fn error(&self, failed: &AttemptFailure) -> EventBody {
        let reason = match failed.reason {
            Some(RetryReason::Rejection) if self.policy.on.contains(&RetryReason::Rejection) => "exhausted_retries",
            Some(RetryReason::Rejection) => "advisor_reject",
            Some(reason) => reason.word(),
            None => failed.failure.kind.word(),
        };
        EventBody::StepError {
            node: self.name(),
            reason: reason.into(),
            kind: failed.failure.kind.word().into(),
            attempts: self.attempt,
            message: failed.failure.diagnostic.message.clone(),
            review: failed.decision.as_ref().map(content),
        }
    }

    /// The event of an answer that passed.
    pub(super) fn complete(&self, decision: Option<&GateDecision>, key: Option<crate::model::Hash>) -> EventBody {
        EventBody::StepComplete {
            node: self.name(),
            attempts: self.attempt,
            approved: decision.is_none_or(|decision| decision.approved),
            score: decision.map(|decision| decision.score),
            threshold: decision.map(|decision| decision.threshold),
            review: decision.map(content),
            advisor_ms: self.advisor_ms,
            key,
        }
    }
}

/// Milliseconds between two times.
pub(super) fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.millis() - from.millis()).unwrap_or(0)
}

fn content(decision: &GateDecision) -> Content {
    let value = serde_json::to_value(decision).unwrap_or_default();
    Content::new(View::of(&value, &crate::model::Kind::Any, "params.review"))
}

/// Checks that an answer has content or an artifact, and that each artifact has a name and a known type.
fn answered(answer: &Value) -> Result<(), String> {
    let content = match &answer["content"] {
        Value::Null => "",
        Value::String(text) => text,
        other => return Err(format!("has the content {}, which is not a text", short(other))),
    };
    let none = Vec::new();
    let artifacts = match &answer["artifacts"] {
        Value::Null => &none,
        Value::Array(artifacts) => artifacts,
        other => return Err(format!("has the artifacts {}, which are not a list", short(other))),
    };
    for artifact in artifacts {
        if artifact["name"].as_str().is_none_or(|name| name.trim().is_empty()) {
            return Err(format!("has an artifact without a name: {}", short(artifact)));
        }
        match &artifact["type"] {
            Value::Null => {}
            Value::String(kind) if ["text", "binary", "image", "zip"].contains(&kind.as_str()) => {}
            other => return Err(format!("has an artifact of the type {other}; types are text, binary, image and zip")),
        }
    }
    if content.trim().is_empty() && artifacts.is_empty() {
        return Err("has neither content nor artifacts".to_owned());
    }
    Ok(())
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    let cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() { cut + "..." } else { cut }
}
