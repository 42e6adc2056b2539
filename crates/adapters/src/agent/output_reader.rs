//! Turns the output of an external agent into an answer or validation errors.

use super::artifact::checked;
use super::find_json;
use super::settings::AgentSettings;
use super::tokens::{MeasuredTokens, taken};
use crate::net::shown;
use asterisk_diag::{Code, Diagnostic};
use asterisk_walk::{Agent, Name, NodeAnswer, PromptRequest, Refusal, Request};
use serde_json::Value;
use std::sync::Arc;

/// Reads the output of an agent according to its settings.
pub(super) struct OutputReader<'a> {
    pub(super) name: &'a Name,
    pub(super) settings: &'a AgentSettings,
}

impl OutputReader<'_> {
    /// The answer in an output, or a refusal with validation errors for the next attempt.
    pub(super) fn reply(
        &self,
        request: &Request<'_>,
        prompt_request: &PromptRequest,
        output: &str,
    ) -> Result<NodeAnswer, Refusal> {
        let (artifact, measured) = self.found(output).map_err(|why| self.complain(request, why))?;
        let tokens = Some(taken(&prompt_request.prompt, output, measured, self.settings.price));
        let agent = Agent::new(self.name.clone(), prompt_request.id, tokens);
        Ok(NodeAnswer { artifact: Arc::new(artifact), by: "agent", checked: true, agent: Some(Box::new(agent)) })
    }

    /// Refusal with a validation error, which the next attempt is given.
    pub(super) fn complain(&self, request: &Request<'_>, why: String) -> Refusal {
        let message = format!("the answer of `{}` to `{}` was not accepted: {why}", self.name, request.name());
        let refusal = Refusal::again(Diagnostic::error(Code::AgentAnswer, message));
        request.reject(self.name, vec![why]).err().unwrap_or(refusal)
    }

    /// Extracts the artifact and the reported token counts.
    fn found(&self, output: &str) -> Result<(Value, MeasuredTokens), String> {
        let none = || format!("it contains no JSON object: {}", shown(output));
        let whole = find_json::object(output)?;
        let number = |path: &str| whole.as_ref().and_then(|whole| find_json::value_at(whole, path)?.as_u64());
        let tokens = self.settings.tokens.as_ref().map_or((None, None), |(prompt, answer)| (number(prompt), number(answer)));
        let Some(path) = &self.settings.answer else { return Ok((checked(whole.ok_or_else(none)?)?, tokens)) };
        let whole = whole.as_ref().ok_or_else(none)?;
        let artifact = match find_json::value_at(whole, path) {
            Some(Value::String(text)) => {
                find_json::object(text)?.ok_or_else(|| format!("its `{path}` contains no JSON object: {}", shown(text)))?
            }
            Some(value) => value.clone(),
            None => return Err(format!("it has no `{path}`, where the answer belongs: {}", shown(output))),
        };
        Ok((checked(artifact)?, tokens))
    }
}
