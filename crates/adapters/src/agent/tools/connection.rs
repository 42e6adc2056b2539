//! The connection to an MCP server: established by the first call, and again by the next one after it broke.

use super::super::guard::guarded;
use super::super::settings::AgentBounds;
use super::pipes::{self, ServerProcess};
use super::server_output::SharedServerOutput;
use super::settings::{Secrets, ServerSettings};
use super::web::HttpTransport;
use asterisk_base::environment::Variables;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ErrorCode, ErrorData, Implementation, JsonObject,
    MetaObject, RequestMetaObject,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Mutex;

/// Metadata key of the call's id, for servers that detect repeated calls.
const REQUEST: &str = "asterisk/request";

/// A server and the session with it.
pub(super) struct ToolConnection {
    pub(super) settings: ServerSettings,
    pub(super) secrets: Secrets,
    /// The variables of a command, without secrets; the server's own are among `secrets`.
    variables: Variables,
    /// This program's file, which guards a command.
    program: PathBuf,
    /// Output of the current session.
    output: std::sync::Mutex<SharedServerOutput>,
    open: Mutex<Option<ToolSession>>,
    /// Number of calls in progress.
    busy: AtomicUsize,
}

/// A session. Its process is terminated with it.
struct ToolSession {
    service: RunningService<RoleClient, ClientConfig>,
    tools: Vec<String>,
    _process: Option<ServerProcess>,
}

/// Why a call failed.
#[derive(Debug)]
pub(super) enum ToolError {
    /// The server cannot be started: the reason, and whether a retry may help.
    Start(String, bool),
    /// Communication failed.
    Talk(String),
    /// The server does not have this tool; the names of its tools.
    NoTool(Vec<String>),
    /// The server refused the call: the reason, and whether a retry may help.
    Refused(String, bool),
}

impl ToolConnection {
    pub(super) fn new(settings: ServerSettings, secrets: Secrets, variables: Variables, program: PathBuf) -> Self {
        Self {
            settings,
            secrets,
            variables,
            program,
            output: std::sync::Mutex::default(),
            open: Mutex::new(None),
            busy: AtomicUsize::new(0),
        }
    }

    /// Output of the current session.
    pub(super) fn output(&self) -> SharedServerOutput {
        self.output.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Closes the session after a timeout, unless other calls use it: the server may never answer.
    pub(super) fn give_up(&self) {
        if self.busy.load(Ordering::SeqCst) == 0
            && let Ok(mut open) = self.open.try_lock()
        {
            *open = None;
        }
    }

    /// Calls a tool. `id` identifies the call across retries.
    pub(super) async fn call(
        &self,
        root: &Path,
        tool: &str,
        arguments: JsonObject,
        id: &str,
    ) -> Result<CallToolResult, ToolError> {
        self.busy.fetch_add(1, Ordering::SeqCst);
        let _busy = CallGuard(&self.busy);
        let peer = {
            let mut open = self.open.lock().await;
            if open.as_ref().is_none_or(|open| open.service.is_transport_closed()) {
                *open = None;
                *open = Some(self.begin(root).await?);
            }
            let Some(open) = open.as_ref() else { return Err(ToolError::Talk("the connection is closed".into())) };
            if !open.tools.iter().any(|known| known == tool) {
                return Err(ToolError::NoTool(open.tools.clone()));
            }
            open.service.peer().clone()
        };
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let meta: JsonObject = [(REQUEST.to_owned(), json!(id))].into_iter().collect();
        params.meta = Some(RequestMetaObject(MetaObject(meta)));
        let called = peer.call_tool(params).await;
        called.map_err(|error| match error {
            ServiceError::McpError(error) => refused(&error),
            error => ToolError::Talk(error.to_string()),
        })
    }

    /// Establishes a session and lists the tools.
    async fn begin(&self, root: &Path) -> Result<ToolSession, ToolError> {
        *self.output.lock().unwrap_or_else(PoisonError::into_inner) = SharedServerOutput::default();
        // The lifecycle that most servers support; those that require a newer one report that.
        let lifecycle = ClientLifecycleMode::Initialize;
        let (service, process) = match self.talk(root, lifecycle).await {
            Err(ToolError::Refused(..)) => {
                let preferred_versions = rmcp::model::ProtocolVersion::KNOWN_VERSIONS.iter().rev().cloned().collect();
                self.talk(root, ClientLifecycleMode::Discover { preferred_versions }).await
            }
            begun => begun,
        }?;
        let tools = service.peer().list_all_tools().await.map_err(|error| ToolError::Talk(error.to_string()))?;
        let tools = tools.into_iter().map(|tool| tool.name.into_owned()).collect();
        Ok(ToolSession { service, tools, _process: process })
    }

    async fn talk(
        &self,
        root: &Path,
        lifecycle: ClientLifecycleMode,
    ) -> Result<(RunningService<RoleClient, ClientConfig>, Option<ServerProcess>), ToolError> {
        let own = ClientConfig::new(ClientCapabilities::default(), Implementation::new("asterisk", env!("CARGO_PKG_VERSION")));
        let AgentBounds { timeout, max_bytes, .. } = self.settings.bounds;
        let (begun, process) = match &self.settings.url {
            Some(url) => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.auth_header.clone_from(&self.secrets.token);
                let web = HttpTransport::new(timeout, max_bytes, &self.output());
                let transport = StreamableHttpClientTransport::with_client(web, config);
                (own.serve_with_lifecycle(transport, lifecycle).await, None)
            }
            None => {
                let command = self.command(root).ok_or_else(|| ToolError::Start("it lacks a command".into(), false))?;
                let command = guarded(&self.program, &command);
                let started = command.and_then(|command| pipes::start(command, max_bytes, &self.output()));
                let (pipes, process) = started.map_err(|error| {
                    // Retrying does not help if the program does not exist.
                    ToolError::Start(error.to_string(), error.kind() != std::io::ErrorKind::NotFound)
                })?;
                (own.serve_with_lifecycle(pipes, lifecycle).await, Some(process))
            }
        };
        match begun {
            Ok(service) => Ok((service, process)),
            Err(ClientInitializeError::JsonRpcError(error)) => Err(refused(&error)),
            Err(error) => Err(ToolError::Talk(error.to_string())),
        }
    }

    fn command(&self, root: &Path) -> Option<Command> {
        let mut command = super::super::process::command(&self.settings.command, root, &self.variables)?;
        command.envs(self.secrets.env.iter().map(|(name, value)| (name, value)));
        Some(command)
    }
}

/// Counts a call in progress until dropped.
struct CallGuard<'a>(&'a AtomicUsize);

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn refused(error: &ErrorData) -> ToolError {
    ToolError::Refused(error.message.to_string(), error.code == ErrorCode::INTERNAL_ERROR)
}
