//! Manual answers: a person or agent takes the prompt and submits the answer; the case is pending until then.

use asterisk_diag::Diagnostic;
use asterisk_walk::{Agent, Answerer, Name, NodeAnswer, Refusal, Request};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// Name of the answerer.
pub const MANUAL: &str = "manual";

/// A submitted answer.
#[derive(Clone, Debug)]
pub struct SubmittedAnswer {
    /// Id of the case.
    pub case: String,
    /// Name of the node.
    pub node: Name,
    /// Name of the answerer the step was dispatched to.
    pub via: Name,
    /// The request it answers; `None` if it was submitted without a request.
    pub request: Option<i64>,
    /// The artifact.
    pub artifact: Arc<Value>,
    /// Who decided: `human`, `agent`.
    pub by: &'static str,
}

/// Returns a submitted answer for its step and delegates all other requests.
pub struct SubmittedAnswers<'a> {
    inner: Box<dyn Answerer + 'a>,
    given: Mutex<Option<SubmittedAnswer>>,
}

impl<'a> SubmittedAnswers<'a> {
    /// Wraps an answerer with a submitted answer.
    pub fn new(inner: Box<dyn Answerer + 'a>, given: SubmittedAnswer) -> Self {
        Self { inner, given: Mutex::new(Some(given)) }
    }
}

impl Answerer for SubmittedAnswers<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let mut held = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = held.take_if(|given| given.case == request.case.id && given.node == request.name());
        drop(held);
        let Some(given) = mine else { return self.inner.answer(request) };
        let prompt_request = request.dispatch(&given.via)?;
        if given.request.is_some_and(|id| id != prompt_request.id) {
            return self.inner.answer(request);
        }
        let agent = Agent::new(given.via, prompt_request.id, None);
        Ok(NodeAnswer { artifact: given.artifact, by: given.by, checked: true, agent: Some(Box::new(agent)) })
    }

    fn recorded(&self, case: &str, agent: &Agent) {
        self.inner.recorded(case, agent);
    }
}

/// Leaves requests pending until answers are submitted.
#[derive(Debug, Default)]
pub(super) struct ManualAgent {
    name: Name,
}

impl ManualAgent {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.into() }
    }
}

impl Answerer for ManualAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        request.dispatch(&self.name)?;
        Err(Refusal::wait(Diagnostic::error("agent/manual", format!("`{}` waits for its answer", request.name()))))
    }
}
