//! Tools of MCP servers as answerers: a node with a tool is answered by a call. The call and its arguments are recorded before it is made;
//! retries, circuit breaker and limits are those of any external answerer.

mod connection;
mod pipes;
mod result;
mod server_output;
mod settings;
mod web;

pub use settings::{ServerSettings, Servers, Variable};

use self::connection::{ToolConnection, ToolError};
use self::result::{ToolResult, given};
use super::concurrency::stopped;
use super::context::ExternalContext;
use crate::net::SecretReader;
use asterisk_base::environment::Variables;
use asterisk_diag::{Code, Diagnostic, did_you_mean};
use asterisk_walk::{Agent, Answerer, Name, NodeAnswer, Refusal, Request, TOOL, ToolPlan};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Interval at which a pending call checks whether the run stops.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The tools of a server.
pub(super) struct ToolAnswerer<'a> {
    name: Name,
    server: String,
    settings: ServerSettings,
    root: PathBuf,
    /// This program's file, which guards a server's command.
    program: PathBuf,
    secret: SecretReader,
    variables: Variables,
    stop: &'a AtomicBool,
    talk: Mutex<Option<Arc<ToolConversation>>>,
}

/// State created by the first call.
struct ToolConversation {
    connection: ToolConnection,
    runtime: Option<Runtime>,
}

impl Drop for ToolConversation {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // An abandoned call over HTTP ends by its own timeout.
            runtime.shutdown_background();
        }
    }
}

impl<'a> ToolAnswerer<'a> {
    pub(super) fn new(server: &str, settings: &ServerSettings, outside: &ExternalContext<'a>) -> Self {
        let ExternalContext { root, stop, .. } = *outside;
        let (name, server, settings) = (ToolPlan::via(server), server.to_owned(), settings.clone());
        let (secret, variables) = (outside.secret.clone(), outside.variables(None));
        let (root, program) = (root.to_owned(), outside.program.to_owned());
        Self { name, server, settings, root, program, secret, variables, stop, talk: Mutex::new(None) }
    }

    fn talk(&self, request: &Request<'_>) -> Result<Arc<ToolConversation>, Refusal> {
        let mut talk = self.talk.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(talk) = talk.as_ref() {
            return Ok(Arc::clone(talk));
        }
        let secrets = self.settings.secrets(&self.root, &self.secret);
        let secrets = secrets.map_err(|(why, help)| Refusal::failed(self.failed(request, &why).help(help)))?;
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("tools").enable_all().build();
        let runtime = runtime.map_err(|error| Refusal::again(self.failed(request, &error.to_string())))?;
        let connection = ToolConnection::new(self.settings.clone(), secrets, self.variables.clone(), self.program.clone());
        let new = Arc::new(ToolConversation { connection, runtime: Some(runtime) });
        *talk = Some(Arc::clone(&new));
        Ok(new)
    }

    /// Calls a tool, for a request with this id; the call takes no longer than `most`, and what the server's settings say.
    pub(super) fn invoke(
        &self,
        request: &Request<'_>,
        tool: &str,
        arguments: JsonObject,
        id: i64,
        most: Duration,
    ) -> Result<Value, Refusal> {
        let talk = self.talk(request)?;
        // The same for every attempt of a call.
        let id = format!("{}-{id}", request.run);
        let timeout = request.time(self.settings.bounds.timeout.min(most));
        let result = match self.wait(&talk, tool, arguments, (&id, timeout)) {
            Ok(result) => result,
            Err(CallEnd::Stopped) => return Err(stopped()),
            Err(CallEnd::Late) => {
                let why = format!("it took longer than {} s", timeout.as_secs_f64());
                let mut refusal = self.refusal(request, &talk, tool, ToolError::Talk(why));
                talk.connection.give_up();
                refusal.diagnostic.code = Code::AgentLate.into();
                return Err(refusal);
            }
            Err(CallEnd::Trouble(trouble)) => return Err(self.refusal(request, &talk, tool, trouble)),
        };
        match given(&result, self.settings.bounds.max_bytes, &|text| talk.connection.secrets.hide(text)) {
            ToolResult::Artifact(artifact) => Ok(artifact),
            ToolResult::Failed(text) => {
                Err(Refusal::again(self.failed(request, &format!("it reported an error: {}", crate::net::shown(&text)))))
            }
            ToolResult::Refused(why) => {
                Err(Refusal::failed(self.failed(request, &format!("its result was not accepted: {why}"))))
            }
        }
    }

    /// Waits for a call until it completes, times out, or the run stops.
    fn wait(
        &self,
        talk: &ToolConversation,
        tool: &str,
        arguments: JsonObject,
        (id, timeout): (&str, Duration),
    ) -> Result<CallToolResult, CallEnd> {
        let Some(runtime) = &talk.runtime else { return Err(CallEnd::Stopped) };
        runtime.block_on(async {
            let call = tokio::time::timeout(timeout, talk.connection.call(&self.root, tool, arguments, id));
            tokio::pin!(call);
            loop {
                tokio::select! {
                    called = &mut call => return called.map_err(|_| CallEnd::Late)?.map_err(CallEnd::Trouble),
                    () = tokio::time::sleep(POLL_INTERVAL) => {
                        if self.stop.load(Ordering::Relaxed) {
                            return Err(CallEnd::Stopped);
                        }
                    }
                }
            }
        })
    }

    fn failed(&self, request: &Request<'_>, why: &str) -> Diagnostic {
        let tool = request.plan.node(request.node).tool.as_ref().map_or("", |tool| &tool.name);
        let message = format!("`{}/{tool}` did not answer `{}`: {why}", self.server, request.node_name());
        let error = Diagnostic::error("agent/tool", message);
        match request.plan.node(request.node).tool.as_ref() {
            Some(ToolPlan { place: (source, span), .. }) => error.label(source, *span, "called here"),
            None => error,
        }
    }

    /// The refusal for a failed call, with a hint.
    fn refusal(&self, request: &Request<'_>, talk: &ToolConversation, tool: &str, trouble: ToolError) -> Refusal {
        let hide = |text: &str| talk.connection.secrets.hide(text);
        let output = talk.connection.output().now();
        let settings_hint = format!("see `{}` of `mcp_servers:` in asterisk.yaml ({})", self.server, self.settings.place());
        match trouble {
            ToolError::Start(why, again) => {
                let error = self.failed(request, &format!("it cannot be started: {}", hide(&why))).help(settings_hint);
                if again { Refusal::again(error) } else { Refusal::failed(error) }
            }
            ToolError::Talk(why) => {
                let error = self.failed(request, &hide(output.why.as_deref().unwrap_or(&why)));
                let garbage = output
                    .garbage
                    .as_ref()
                    .map(|garbage| format!("\nit sent an invalid message: {}", crate::net::shown(&hide(garbage))));
                let stderr = output.stderr(&hide);
                let stderr = (!stderr.is_empty()).then(|| format!("\nthe end of its standard error:\n{stderr}"));
                let error = error.help([Some(settings_hint), garbage, stderr].into_iter().flatten().collect::<String>());
                if output.for_good { Refusal::failed(error) } else { Refusal::again(error) }
            }
            ToolError::NoTool(tools) => {
                let hint = did_you_mean(tool, tools.iter().map(String::as_str));
                let list = if tools.is_empty() {
                    "the server does not offer tools".to_owned()
                } else {
                    format!("its tools: {}", tools.join(", "))
                };
                let help = hint.map_or_else(|| list.clone(), |hint| format!("{hint}\n{list}"));
                Refusal::failed(self.failed(request, &format!("no tool `{tool}` on the server")).help(help))
            }
            ToolError::Refused(text, again) => {
                let error = self.failed(request, &format!("it refused the call: {}", hide(&text)));
                if again { Refusal::again(error) } else { Refusal::failed(error.help("see the `arguments:` of the node")) }
            }
        }
    }
}

/// Why a call ended without a result.
enum CallEnd {
    Late,
    Stopped,
    Trouble(ToolError),
}

impl Answerer for ToolAnswerer<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let Some(call) = request.call() else {
            let message = format!("`{}` answers nodes that call its tools, and `{}` calls none", self.name, request.node_name());
            let help = format!("`tool: {}/TOOL` of a node calls one", self.server);
            return Err(Refusal::failed(Diagnostic::error("agent/tool", message).help(help)));
        };
        let call = call.map_err(Refusal::failed)?;
        // Nothing is requested of a server that cannot be set up.
        self.talk(request)?;
        let prompt_request = request.dispatch(&self.name)?;
        let artifact = self.invoke(request, &call.tool, call.arguments, prompt_request.id, Duration::MAX)?;
        // A tool cannot be given validation errors for another attempt.
        let complaints = request.validate(&artifact);
        if !complaints.is_empty() {
            return Err(Refusal::failed(request.schema_violation(&self.name, &complaints)));
        }
        let agent = Agent::new(self.name.clone(), prompt_request.id, None);
        Ok(NodeAnswer { artifact: Arc::new(artifact), by: TOOL, checked: true, agent: Some(Box::new(agent)) })
    }
}
