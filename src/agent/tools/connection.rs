//! A conversation with a server: begun with the first call, and anew with the next one after it broke off.

use super::super::settings::AgentBounds;
use super::pipes::{self, ServerProcess};
use super::server_output::SharedServerOutput;
use super::settings::{Secrets, ServerSettings};
use super::web::HttpTransport;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ErrorCode, ErrorData, Implementation, JsonObject,
    MetaObject, RequestMetaObject,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Mutex;

/// What a call is known by, for servers that see whether they were asked the same before.
const REQUEST: &str = "asterisk/request";

/// A server, and the conversation with it.
pub(super) struct Connection {
    pub(super) settings: ServerSettings,
    pub(super) secrets: Secrets,
    /// The variables of all secrets: its own are among `secrets`.
    withheld: BTreeSet<String>,
    /// What is heard in the conversation.
    heard: std::sync::Mutex<SharedServerOutput>,
    open: Mutex<Option<ToolSession>>,
    /// How many calls are under way.
    busy: AtomicUsize,
}

/// A conversation. Its process ends after it.
struct ToolSession {
    service: RunningService<RoleClient, ClientConfig>,
    tools: Vec<String>,
    _process: Option<ServerProcess>,
}

/// Why a call came to nothing.
#[derive(Debug)]
pub(super) enum ToolError {
    /// The server cannot be started: why, and whether trying again may help.
    Start(String, bool),
    /// It cannot be talked to: why.
    Talk(String),
    /// It has no such tool, but these.
    NoTool(Vec<String>),
    /// It refused the call: how, and whether making it again may help.
    Refused(String, bool),
}

impl Connection {
    pub(super) fn new(settings: ServerSettings, secrets: Secrets, withheld: BTreeSet<String>) -> Self {
        Self {
            settings,
            secrets,
            withheld,
            heard: std::sync::Mutex::default(),
            open: Mutex::new(None),
            busy: AtomicUsize::new(0),
        }
    }

    /// What is heard in the conversation.
    pub(super) fn heard(&self) -> SharedServerOutput {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends the conversation with one that took too long, unless it is at work for others: it may never come back.
    pub(super) fn give_up(&self) {
        if self.busy.load(Ordering::SeqCst) == 0
            && let Ok(mut open) = self.open.try_lock()
        {
            *open = None;
        }
    }

    /// Calls a tool. `id` is what the call is known by.
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
            let Some(open) = open.as_ref() else { return Err(ToolError::Talk("it is gone".into())) };
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

    /// Begins a conversation, and asks which tools there are.
    async fn begin(&self, root: &Path) -> Result<ToolSession, ToolError> {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner) = SharedServerOutput::default();
        // As most servers know it; those that know only what came after it say so.
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
                let web = HttpTransport::new(timeout, max_bytes, &self.heard());
                let transport = StreamableHttpClientTransport::with_client(web, config);
                (own.serve_with_lifecycle(transport, lifecycle).await, None)
            }
            None => {
                let command = self.command(root).ok_or_else(|| ToolError::Start("it has no command".into(), false))?;
                let started = pipes::start(command, max_bytes, &self.heard());
                let (pipes, process) = started.map_err(|error| {
                    // A program that is not there does not come by waiting.
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
        let mut command = super::super::process::command(&self.settings.command, root, &self.withheld)?;
        command.envs(self.secrets.env.iter().map(|(name, value)| (name, value)));
        Some(command)
    }
}

/// A call under way, however it ends.
struct CallGuard<'a>(&'a AtomicUsize);

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn refused(error: &ErrorData) -> ToolError {
    ToolError::Refused(error.message.to_string(), error.code == ErrorCode::INTERNAL_ERROR)
}
