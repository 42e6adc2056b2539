//! Answers by the zero-LLM responders: scripts under `agents/`.

use crate::diag::Diagnostic;
use crate::walk::{Answer, Refusal, Reply, Request};
use std::sync::Arc;

/// Asks the responder of the node's family (or its own `script:`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Scripts;

impl Answer for Scripts {
    fn name(&self) -> &'static str {
        "script"
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Refusal> {
        let Some(responder) = &request.plan.node(request.node).responder else {
            let message = format!("no responder answers `{}`", request.node_name());
            return Err(Refusal::failed(Diagnostic::error("agent/no-responder", message)));
        };
        let artifact = responder.respond(request.params(), request.plan.vars()).map_err(Refusal::failed)?;
        Ok(Reply::own(Arc::new(artifact), "script", true))
    }
}
