//! Implements the server side of the MCP protocol.

use super::fault::ToolFault;
use super::registry::SessionRegistry;
use super::{resources, tools};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, GetPromptRequestParams, GetPromptResponse, GetPromptResult,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptArgument, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    Role, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use std::sync::Arc;

/// Instructions for workers.
const WORKER: &str = include_str!("worker.md");

const INSTRUCTIONS: &str = "asterisk investigates failed CI launches. start_run begins a run; workers then call get_next_step and submit_artifact \
                    until `done`; get_report returns the report. The prompt `worker` contains the instructions for workers.";

/// Handler of one connection, or of one request of a connection.
#[derive(Clone)]
pub(super) struct Handler {
    registry: Arc<SessionRegistry>,
}

impl Handler {
    pub(super) fn new(registry: Arc<SessionRegistry>) -> Self {
        Self { registry }
    }
}

fn missing(what: &str) -> ErrorData {
    ErrorData::invalid_params(format!("unknown {what}"), None)
}

fn failed(fault: &ToolFault) -> ErrorData {
    ErrorData::invalid_params(fault.message().to_owned(), Some(fault.0.clone()))
}

/// Runs blocking work on a thread of its own.
async fn run_blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, ToolFault> + Send + 'static) -> Result<T, ErrorData> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| ErrorData::internal_error(error.to_string(), None))?.map_err(|fault| failed(&fault))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let able = ServerCapabilities::builder().enable_tools().enable_resources().enable_prompts().build();
        let own = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        ServerConfig::new(able).with_server_info(own).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::all().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !tools::is_known(&request.name) {
            return Err(missing(&format!("tool `{}`", request.name)));
        }
        let done = tokio::select! {
            done = tools::call(&self.registry, &request.name, request.arguments) => done,
            () = context.ct.cancelled() => Err(ToolFault::new("cancelled", "the request was cancelled")),
        };
        Ok(match done {
            Ok(value) => CallToolResult::structured(value),
            Err(fault) => CallToolResult::structured_error(fault.0),
        }
        .into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let registry = Arc::clone(&self.registry);
        run_blocking(move || Ok(ListResourcesResult::with_all_items(resources::list(&registry.session)?))).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let (registry, uri) = (Arc::clone(&self.registry), request.uri.clone());
        let Some((text, kind)) = run_blocking(move || resources::read(&registry.session, &uri)).await? else {
            return Err(ErrorData::resource_not_found(format!("unknown resource `{}`", request.uri), None));
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri).with_mime_type(kind)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let session = PromptArgument::new("session_id").with_description("the session to work on").with_required(false);
        let worker =
            Prompt::new("worker", Some("Instructions for a worker that answers the steps of a run"), Some(vec![session]));
        Ok(ListPromptsResult::with_all_items(vec![worker]))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != "worker" {
            return Err(missing(&format!("prompt `{}`", request.name)));
        }
        let named = request.arguments.as_ref().and_then(|args| args.get("session_id")?.as_str());
        let plain: Option<String> = named.map(|id| id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect());
        let session = plain.map_or_else(String::new, |id| format!(" and `session_id` \"{id}\""));
        let text = WORKER.replace("{session}", &session);
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }
}
