//! Routes requests to chains of answerers with fallbacks, as configured for the run, the node or the walker.

use super::retry::Retry;
use asterisk_diag::Diagnostic;
use asterisk_walk::{AfterRefusal, Agent, Answerer, Name, NodeAnswer, Refusal, Request};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An answerer of a chain.
pub(super) enum RoutedAnswerer<'a> {
    /// Within the process.
    Own(Box<dyn Answerer + 'a>),
    /// External, with retries.
    Outside(Retry<'a>),
}

/// Routes requests along the chain of the run, the node or the walker.
pub struct AnswerRouter<'a> {
    pub(super) default_chain: Vec<Name>,
    /// Chains that the run configures for single nodes.
    pub(super) nodes: BTreeMap<String, Vec<Name>>,
    pub(super) answerers: BTreeMap<Name, RoutedAnswerer<'a>>,
    /// Answerers to notify when their answers are recorded.
    pub(super) listeners: BTreeMap<Name, Arc<dyn Answerer + 'a>>,
}

impl Answerer for AnswerRouter<'_> {
    fn name(&self) -> &str {
        self.default_chain.first().map_or("", |name| name)
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let named = self.nodes.get(request.name().as_str()).map(Vec::as_slice);
        let chain = named.unwrap_or(if request.via.is_empty() { &self.default_chain } else { request.via });
        // After a resume the chain continues with the answerer of the last request.
        let start = request.last_answerer().and_then(|last| chain.iter().position(|name| *name == last)).unwrap_or(0);
        if let Some(late) = request.overdue() {
            return Err(late);
        }
        let mut failed: Vec<(&Name, Refusal)> = Vec::new();
        for (index, name) in chain.iter().enumerate().skip(start) {
            let last = index + 1 == chain.len();
            let reply = match self.answerers.get(name) {
                None => Err(unknown_answerer(name)),
                Some(RoutedAnswerer::Own(own)) => own.answer(request),
                Some(RoutedAnswerer::Outside(outside)) => outside.answer(request, last),
            };
            match reply {
                Err(refusal) if refusal.next == AfterRefusal::Wait || request.is_overdue() => return Err(refusal),
                Err(refusal) => failed.push((name, refusal)),
                reply => return reply,
            }
        }
        let Some((_, mut refusal)) = failed.pop() else { return Err(unknown_answerer("")) };
        for (name, earlier) in failed {
            let message = format!("`{name}` was tried before: {}", earlier.diagnostic.message);
            let help = refusal.diagnostic.help.take().map_or_else(|| message.clone(), |help| format!("{help}\n{message}"));
            refusal.diagnostic.help = Some(help);
        }
        Err(refusal)
    }

    fn recorded(&self, case: &str, agent: &Agent) {
        if let Some(answerer) = self.listeners.get(&agent.via) {
            answerer.recorded(case, agent);
        }
    }
}

fn unknown_answerer(name: &str) -> Refusal {
    let error = Diagnostic::error("agent/unknown", format!("unknown answerer `{name}`"));
    Refusal::failed(error.help("configure it under `agents:` in asterisk.yaml (`asterisk config` lists them)"))
}
