//! Workers that pull steps from the MCP server: the walk blocks until one submits the answer.

use super::artifact::set_author;
use super::concurrency::stopped;
use super::context::ExternalContext;
use super::queue::{Dispatch, Offer, StepEvent, StepQueue, Task};
use super::run_dir::RunDir;
use super::settings::AgentSettings;
use super::tokens::taken;
use asterisk_diag::{Code, Diagnostic};
use asterisk_walk::{Agent, Answerer, Name, NodeAnswer, PromptRequest, Refusal, Request, TokenUsage};
use std::sync::Arc;

/// Name of the answerer.
pub const MCP: &str = "mcp";

/// Dispatches requests to the workers of the queue.
pub(super) struct QueueAgent {
    name: Name,
    settings: AgentSettings,
    queue: Option<Arc<StepQueue>>,
    /// Numbers the requests; `None` if the run writes no files.
    run_dir: Option<Arc<dyn RunDir>>,
}

impl QueueAgent {
    pub(super) fn new(name: &str, settings: &AgentSettings, outside: &ExternalContext<'_>) -> Self {
        let queue = outside.queue.clone();
        let run_dir = queue.as_ref().and_then(|_| (outside.run_dir)(None));
        Self { name: name.into(), settings: settings.clone(), queue, run_dir }
    }

    /// The sequence number of a request: of the run, or without files, of this server.
    fn dispatch_id(&self, queue: &StepQueue, request: i64) -> Result<i64, Refusal> {
        let Some(run_dir) = &self.run_dir else { return Ok(queue.next_dispatch()) };
        run_dir.dispatch_id(request).map_err(|error| {
            let message = format!("the request to `{}` cannot be numbered: {error}", self.name);
            Refusal::failed(Diagnostic::error("agent/mcp", message))
        })
    }

    fn task(request: &Request<'_>, dispatch: Dispatch) -> Task {
        Task {
            dispatch_id: dispatch.id,
            request: dispatch.request,
            ticket: String::new(),
            case_id: request.case.id.clone(),
            step: request.step_name(),
            node: request.name().to_string(),
            path: request.path.to_owned(),
            prompt: dispatch.prompt,
        }
    }

    /// Waits for an accepted answer, for as many attempts as the settings allow.
    fn wait(&self, request: &Request<'_>, queue: &StepQueue) -> Result<NodeAnswer, Refusal> {
        let mut prompt_request = request.dispatch(&self.name)?;
        let numbered = |prompt_request: &PromptRequest| {
            let id = self.dispatch_id(queue, prompt_request.id)?;
            Ok::<_, Refusal>(Dispatch { id, request: prompt_request.id, prompt: prompt_request.prompt.clone() })
        };
        let mut offer: Offer<'_> = queue.offer(Self::task(request, numbered(&prompt_request)?), &self.settings);
        let mut lost = TokenUsage::default();
        let mut late = 0;
        loop {
            let submitted = match offer.wait(request.timeout.map(|timeout| timeout.deadline)) {
                StepEvent::Submitted(submitted) => submitted,
                StepEvent::Closed(_) => return Err(stopped()),
                StepEvent::Overdue => return Err(request.overdue().unwrap_or_else(stopped)),
                StepEvent::LeaseExpired(worker) => {
                    late += 1;
                    let time = self.settings.bounds.timeout.as_secs_f64();
                    let message = format!("the worker `{worker}` did not answer `{}` within {time} s", request.name());
                    request.unanswered(&self.name, &message)?;
                    if late + request.rejections(&self.name) >= self.settings.bounds.retry.attempts {
                        return Err(Refusal::failed(Diagnostic::error(Code::AgentLate, message)));
                    }
                    offer.requeue();
                    continue;
                }
            };
            let mut artifact = submitted.artifact;
            set_author(&mut artifact, "agent");
            let answer_text = serde_json::to_string(&artifact).unwrap_or_default();
            let mut tokens = taken(&prompt_request.prompt, &answer_text, submitted.tokens, self.settings.price);
            let complaints = request.validate(&artifact);
            if let Some(run_dir) = &self.run_dir {
                run_dir.mark_answered(prompt_request.id);
            }
            if complaints.is_empty() {
                offer.accept();
                tokens.add(&lost);
                let agent = Agent::new(self.name.clone(), prompt_request.id, Some(tokens));
                return Ok(NodeAnswer { artifact: Arc::new(artifact), by: "agent", checked: true, agent: Some(Box::new(agent)) });
            }
            lost.add(&tokens);
            request.reject(&self.name, complaints.clone())?;
            if late + request.rejections(&self.name) >= self.settings.bounds.retry.attempts {
                let schema_violation = request.schema_violation(&self.name, &complaints);
                offer.refuse(complaints, None);
                return Err(Refusal::failed(schema_violation));
            }
            prompt_request = request.dispatch(&self.name)?;
            offer = match offer.refuse(complaints, Some(numbered(&prompt_request)?)) {
                Some(offer) => offer,
                None => return Err(stopped()),
            };
        }
    }
}

impl Answerer for QueueAgent {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        match &self.queue {
            Some(queue) => self.wait(request, queue),
            None => {
                let message = format!("`{}` is answered by MCP workers, but no server runs here", self.name);
                Err(Refusal::failed(Diagnostic::error("agent/mcp", message).help("start one: asterisk serve --mcp stdio")))
            }
        }
    }
}
