//! Attempts at a step with a policy: whether an answer passes, whether another attempt follows, and the events of it all.

use super::agent::Agent;
use super::answer::{AfterRefusal, NodeAnswer};
use super::attempt::ReviewedStep;
use super::content::Content;
use super::error::{Failure, FailureKind};
use super::event::EventBody;
use super::gate::{AdvisorPlan, GateDecision, ReviewInquiry};
use super::name::Name;
use super::plan::PlanNode;
use super::policy::StepPolicy;
use super::request::Request;
use super::review::AdvisorReview;
use super::walker::Walker;
use asterisk_base::clock::Timestamp;
use asterisk_diag::{Code, CodeArea, Diagnostic};
use asterisk_pipeline::RetryReason;
use asterisk_script::View;
use serde_json::Value;
use std::sync::Arc;

/// The `by` of an answer from the cache.
pub const CACHE: &str = "cache";

/// An attempt that did not pass.
pub(super) struct AttemptFailure {
    /// Why, if it is a reason to try again.
    pub(super) reason: Option<RetryReason>,
    pub(super) failure: Failure,
    pub(super) output: Option<Content>,
    pub(super) decision: Option<GateDecision>,
    /// The external answerer of the output.
    pub(super) agent: Option<Box<Agent>>,
}

/// An answer to be reviewed.
pub(super) struct ReviewedAnswer<'a> {
    pub(super) reply: &'a NodeAnswer,
    /// The artifact before masks.
    pub(super) unmasked: &'a Arc<Value>,
    /// The duration of the answer, in milliseconds.
    pub(super) took_ms: u64,
    /// The artifact.
    pub(super) artifact: &'a View,
    /// The record of the answer with the reviews so far, if an interrupted step continues with them.
    pub(super) answered: Option<&'a ReviewedStep>,
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
    /// A failure that no further attempt fixes.
    fn from(failure: Failure) -> Self {
        Self::new(AttemptFailure { reason: None, failure, output: None, decision: None, agent: None })
    }
}

impl AttemptFailure {
    /// A failure of the answerer: a late answer, one that is none, or a failure that no further attempt fixes.
    pub(super) fn of(failure: Failure) -> Self {
        let reason = match failure.diagnostic.known() {
            Some(Code::ScriptDeadline | Code::AgentLate | Code::AgentDeadline) => Some(RetryReason::Timeout),
            Some(Code::AgentAnswer | Code::AgentArtifact) => Some(RetryReason::InvalidOutput),
            _ if failure.kind == FailureKind::Schema => Some(RetryReason::InvalidOutput),
            // A script that throws gave no answer.
            _ => (failure.diagnostic.area() == Some(CodeArea::Scripts)).then_some(RetryReason::InvalidOutput),
        };
        Self { reason, failure, output: None, decision: None, agent: None }
    }

    /// What is wrong, in a sentence: with each error of the form of an answer.
    fn message(&self) -> String {
        let Diagnostic { message, help, .. } = &*self.failure.diagnostic;
        match help {
            Some(errors) if matches!(self.failure.diagnostic.known(), Some(Code::WalkSchema | Code::WalkReview)) => {
                let errors: Vec<&str> = errors.lines().map(str::trim).collect();
                format!("{message}: {}", errors.join("; "))
            }
            _ => message.clone(),
        }
    }
}

impl ReviewedStep {
    /// The answer as it was given.
    pub(super) fn reply(&self) -> NodeAnswer {
        let artifact = self.artifact.view().map(View::json).unwrap_or_default();
        NodeAnswer { agent: self.agent.clone(), ..NodeAnswer::own(Arc::new(artifact), kind(&self.by), false) }
    }
}

/// The kind of answerer of a record.
fn kind(by: &str) -> &'static str {
    ["script", "stub", "agent", "human", "cache", "tool"].into_iter().find(|kind| *kind == by).unwrap_or("agent")
}

impl PolicyAttempts<'_> {
    fn name(&self) -> Name {
        self.node.name.clone()
    }

    /// Begins an attempt, the first of the step with its start. One that was answered has been recorded.
    pub(super) fn begin(&mut self, attempts: usize, is_answered: bool) {
        let (policy, node) = (self.policy, self.name());
        self.attempt = attempts as u64 + 1;
        self.advisor_ms = 0;
        let max_retries = policy.max_retries.value;
        if is_answered {
            return;
        }
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
        request: &Request<'_>,
        answer: &ReviewedAnswer<'_>,
    ) -> Result<Option<GateDecision>, Box<AttemptFailure>> {
        let ReviewedAnswer { reply, took_ms, artifact, answered: earlier, .. } = *answer;
        if reply.by == CACHE && earlier.is_none() {
            self.pending.push(EventBody::CacheHit { node: self.name(), agent: self.policy.agent.clone() });
        }
        #[expect(clippy::cast_precision_loss, reason = "a duration")]
        let seconds = took_ms as f64 / 1000.0;
        let timeout = &self.policy.timeout;
        let failed = |reason, failure, decision| {
            let output = Some(Content::new(artifact.clone()));
            let agent = reply.agent.clone();
            Err(Box::new(AttemptFailure { reason: Some(reason), failure, output, decision, agent }))
        };
        if seconds > timeout.value {
            let message =
                format!("`{}` took {seconds} s, more than its timeout of {} s ({})", self.name(), timeout.value, timeout.from);
            let diagnostic =
                Diagnostic::error("walk/timeout", message).help("increase the timeout: `timeout:`, or `timeouts:` of the policy");
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
        let context = request.params();
        let task = context.get("task").unwrap_or_else(View::null);
        let mut reviews = Vec::with_capacity(gate.advisors.len());
        if earlier.is_none() && gate.advisors.iter().any(AdvisorPlan::is_answered) {
            self.pending.push(EventBody::Answered {
                node: self.name(),
                artifact: Content::new(View::of(answer.unmasked, &asterisk_base::model::Kind::Any, "artifact")),
                by: reply.by.into(),
                took_ms,
                agent: reply.agent.clone(),
            });
            self.record(walker, request)?;
        }
        for advisor in &gate.advisors {
            let inquiry = ReviewInquiry { advisor, output: artifact, task: &task, context };
            let known = earlier.and_then(|earlier| earlier.reviews.iter().find(|review| review.advisor == advisor.name));
            reviews.push(match known {
                Some(known) => known.clone(),
                None => self
                    .ask(walker, request, inquiry)
                    .map_err(|failed| Box::new(AttemptFailure { agent: reply.agent.clone(), ..*failed }))?,
            });
        }
        let decision = gate.decide(reviews).map_err(Failure::script)?;
        self.advisor_ms = millis(begun, walker.clock.now());
        if decision.passed {
            return Ok(Some(decision));
        }
        let tried = asterisk_diag::counted(self.attempt, "attempt", "attempts");
        let message = format!("`{}` did not pass its gate after {tried}: {}", self.name(), decision.reasons());
        let (source, span) = &gate.place;
        let advice = decision.advice();
        let mut diagnostic = Diagnostic::error("walk/rejected", message).label(source, *span, "reviewed here");
        if !advice.is_empty() {
            diagnostic = diagnostic.help(format!("what to change:\n  {}", advice.join("\n  ")));
        }
        failed(RetryReason::Rejection, Failure::new(FailureKind::Rejected, diagnostic), Some(decision))
    }

    /// Asks an advisor. A review from outside is recorded at once.
    fn ask(
        &mut self,
        walker: &Walker<'_>,
        request: &Request<'_>,
        inquiry: ReviewInquiry<'_>,
    ) -> Result<AdvisorReview, Box<AttemptFailure>> {
        let of = |review: &AdvisorReview, agent| EventBody::AdvisorReview {
            node: self.node.name.clone(),
            attempt: self.attempt,
            advisor: review.advisor.clone(),
            score: review.score,
            approved: review.approved,
            review: inquiry.advisor.is_answered().then(|| Box::new(review.clone())),
            agent,
        };
        if !inquiry.advisor.is_answered() {
            let review = inquiry.scripted().map_err(Failure::script)?;
            let event = of(&review, None);
            self.pending.push(event);
            return Ok(review);
        }
        let request = request.for_review(inquiry);
        let reply = walker.answer.answer(&request).map_err(|refusal| {
            if refusal.next == AfterRefusal::Wait {
                request.log.wait();
            }
            Failure::answer(refusal.diagnostic)
        })?;
        let errors = if reply.checked { request.validate(&reply.artifact) } else { Vec::new() };
        if !errors.is_empty() {
            let via = reply.agent.as_ref().map_or(reply.by, |agent| &agent.via);
            return Err(Failure::new(FailureKind::Schema, request.schema_violation(via, &errors)).into());
        }
        let review = inquiry.answered(reply.by, &reply.artifact).map_err(Failure::script)?;
        let event = of(&review, reply.agent);
        self.pending.push(event);
        self.record(walker, &request)?;
        Ok(review)
    }

    /// Records the events so far at once, so that they are not repeated after a resume.
    fn record(&mut self, walker: &Walker<'_>, request: &Request<'_>) -> Result<(), Box<AttemptFailure>> {
        let events = std::mem::take(&mut self.pending);
        let agents: Vec<Agent> = events.iter().filter_map(|event| event.agent().cloned()).collect();
        request.log.record_all(events).map_err(|refusal| {
            request.log.wait();
            Failure::answer(refusal.diagnostic)
        })?;
        for agent in &agents {
            walker.answer.recorded(&request.case.id, agent);
        }
        Ok(())
    }

    /// The event of an attempt that another follows.
    pub(super) fn retry(&self, failed: &AttemptFailure) -> EventBody {
        let decision = failed.decision.as_ref();
        EventBody::StepRetry {
            node: self.name(),
            attempt: self.attempt,
            reason: failed.reason.map_or("", event_word).into(),
            message: decision.map_or_else(|| failed.message(), GateDecision::reasons),
            score: decision.map(|decision| decision.score),
            threshold: decision.map(|decision| decision.threshold),
            output: failed.output.clone(),
            review: decision.map(content),
            agent: failed.agent.clone(),
        }
    }

    /// The event of a step that failed.
    pub(super) fn error(&self, failed: &AttemptFailure) -> EventBody {
        let reason = match failed.reason {
            Some(RetryReason::Rejection) if self.policy.on.contains(&RetryReason::Rejection) => "exhausted_retries",
            Some(reason) => event_word(reason),
            None => failed.failure.kind.word(),
        };
        EventBody::StepError {
            node: self.name(),
            reason: reason.into(),
            kind: failed.failure.kind.word().into(),
            attempts: self.attempt,
            message: failed.message(),
            review: failed.decision.as_ref().map(content),
            agent: failed.agent.clone(),
        }
    }

    /// The event of an answer that passed.
    pub(super) fn complete(&self, decision: Option<&GateDecision>, key: Option<asterisk_base::model::Hash>) -> EventBody {
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

/// Why an attempt did not pass, in events.
fn event_word(reason: RetryReason) -> &'static str {
    match reason {
        RetryReason::Rejection => "advisor_reject",
        reason => reason.word(),
    }
}

/// Milliseconds between two times.
pub(super) fn millis(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.millis() - from.millis()).unwrap_or(0)
}

fn content(decision: &GateDecision) -> Content {
    let value = serde_json::to_value(decision).unwrap_or_default();
    Content::new(View::of(&value, &asterisk_base::model::Kind::Any, "params.review"))
}

/// Checks that an answer has content or an artifact, and that each artifact has a name and a known type.
fn answered(answer: &Value) -> Result<(), String> {
    let content = match &answer["content"] {
        Value::Null => "",
        Value::String(text) => text,
        other => return Err(format!("has the content {}, which is not a string", short(other))),
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
