//! Answers by responder scripts under `agents/`, without an LLM.

use crate::diag::Diagnostic;
use crate::walk::{Answerer, NodeAnswer, Refusal, Request};
use std::sync::Arc;

/// Runs the responder of the node's family, or its own `script:`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptAnswerer;

impl Answerer for ScriptAnswerer {
    fn name(&self) -> &'static str {
        "script"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let Some(responder) = &request.plan.node(request.node).responder else {
            let message = format!("no responder answers `{}`", request.node_name());
            return Err(Refusal::failed(Diagnostic::error("agent/no-responder", message)));
        };
        let artifact = responder.respond(request.params(), request.plan.vars()).map_err(Refusal::failed)?;
        Ok(NodeAnswer::own(Arc::new(artifact), "script", true))
    }
}
