//! Answers by responder scripts under `agents/`, and reviews by scripts of advisors, without an LLM.

use asterisk_diag::{Code, Diagnostic};
use asterisk_script as script;
use asterisk_walk::{Answerer, NodeAnswer, Refusal, Request};
use std::sync::Arc;

/// Runs the responder of the node's family, or its own `script:`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ScriptAnswerer;

impl Answerer for ScriptAnswerer {
    fn name(&self) -> &'static str {
        "script"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        if let Some(review) = &request.review {
            let review = review.scripted().map_err(Refusal::failed)?;
            let review = serde_json::to_value(review).unwrap_or_default();
            return Ok(NodeAnswer::own(Arc::new(review), "script", false));
        }
        let Some(responder) = &request.plan.node(request.node).responder else {
            let message = format!("no responder answers `{}`", request.node_name());
            return Err(Refusal::failed(Diagnostic::error("agent/no-responder", message)));
        };
        // The parameters are not part of its time.
        let (params, vars) = (request.params(), request.plan.vars());
        let answer = script::within(request.time_of_script(), || responder.respond(params, vars));
        let artifact = answer.map_err(|mut diagnostic| {
            if let Some(late) = request.overdue().filter(|_| diagnostic.is(Code::ScriptDeadline)) {
                let own = diagnostic.help.take().unwrap_or_default();
                diagnostic.help = Some(format!("{}\n{own}", diagnostic.message));
                diagnostic.message.clone_from(&late.diagnostic.message);
            }
            Refusal::failed(diagnostic)
        })?;
        Ok(NodeAnswer::own(Arc::new(artifact), "script", true))
    }
}
