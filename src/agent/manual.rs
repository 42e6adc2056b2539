//! Somebody who takes the prompt and brings the answer: until then the case waits.

use crate::diag::Diagnostic;
use crate::walk::{Agent, Answerer, Name, NodeAnswer, Refusal, Request};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What it is called.
pub const MANUAL: &str = "manual";

/// An answer that was brought.
#[derive(Clone, Debug)]
pub struct SubmittedAnswer {
    /// The case.
    pub case: String,
    /// The node.
    pub node: Name,
    /// Who was asked.
    pub via: Name,
    /// The request that it answers; nothing if nobody was asked, and somebody says it all the same.
    pub request: Option<i64>,
    /// The artifact.
    pub artifact: Arc<Value>,
    /// Who decided: `human`, `agent`.
    pub by: &'static str,
}

/// Gives an answer that was brought, and has others give all others.
pub struct SubmittedAnswers<'a> {
    inner: Box<dyn Answerer + 'a>,
    given: Mutex<Option<SubmittedAnswer>>,
}

impl<'a> SubmittedAnswers<'a> {
    /// With that answer.
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
        let mine = held.take_if(|given| given.case == request.case.id && given.node == request.node_name());
        drop(held);
        let Some(given) = mine else { return self.inner.answer(request) };
        let asking = request.dispatch(&given.via)?;
        if given.request.is_some_and(|id| id != asking.id) {
            return self.inner.answer(request);
        }
        let agent = Agent::new(given.via, asking.id, None);
        Ok(NodeAnswer { artifact: given.artifact, by: given.by, checked: true, agent: Some(Box::new(agent)) })
    }

    fn recorded(&self, case: &str, agent: &Agent) {
        self.inner.recorded(case, agent);
    }
}

/// Waits for answers to be brought.
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
        Err(Refusal::wait(Diagnostic::error("agent/manual", format!("`{}` waits for its answer", request.node_name()))))
    }
}
