//! Somebody who takes the prompt and brings the answer: until then the case waits.

use crate::diag::Diagnostic;
use crate::walk::{Agent, Answer, Name, Refusal, Reply, Request};
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// What it is called.
pub const MANUAL: &str = "manual";

/// An answer that was brought.
#[derive(Clone, Debug)]
pub struct Given {
    /// The case.
    pub case: String,
    /// The request that it answers, if that was said.
    pub request: Option<i64>,
    /// The artifact.
    pub artifact: Arc<Value>,
    /// Who decided: `human`, `agent`.
    pub by: &'static str,
}

/// Waits for answers to be brought.
#[derive(Debug, Default)]
pub struct Manual {
    name: Name,
    given: Arc<Mutex<Option<Given>>>,
}

impl Manual {
    /// One of that name, for whom this was brought.
    pub fn new(name: &str, given: Arc<Mutex<Option<Given>>>) -> Self {
        Self { name: name.into(), given }
    }
}

impl Answer for Manual {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Refusal> {
        let mut held = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = held.take_if(|given| given.case == request.case.id);
        drop(held);
        let asking = request.ask(&self.name)?;
        match mine {
            Some(given) if given.request.is_none_or(|id| id == asking.id) => {
                let agent = Agent { via: self.name.clone(), request: asking.id, tokens: None };
                Ok(Reply { artifact: given.artifact, by: given.by, checked: true, agent: Some(Box::new(agent)) })
            }
            _ => Err(Refusal::wait(Diagnostic::error("agent/manual", format!("`{}` waits for its answer", request.node_name())))),
        }
    }
}
