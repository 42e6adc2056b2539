//! The loop of the server: messages of the client, and results of the threads that analyse.

use super::analysis::{self, AnalysisJob, ProjectAnalysis};
use super::commands;
use super::diagnostics;
use super::host::ServerHost;
use super::location::path_of;
use super::position::ColumnUnit;
use super::recorded::{self, ChosenCase, RecordJob, RecordJobs, RecordedUse};
use super::workspace::EditedProject;
use super::{actions, completion, formatting, hover, inlay, lenses, navigation, rename, semantic, signature, structure};
use crossbeam_channel::{Receiver, Sender, select};
use gen_lsp_types::{
    CodeActionParams, CodeLensParams, DefinitionParams, DidChangeTextDocumentParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DocumentFormattingParams, DocumentHighlightParams, DocumentRangeFormattingParams,
    DocumentSymbolParams, ExecuteCommandParams, FoldingRangeParams, HoverParams, InitializeParams, InlayHintParams,
    InlineValueParams, MessageType, PrepareRenameParams, ReferenceParams, RenameParams, SemanticTokensParams,
    SemanticTokensRangeParams, ShowMessageParams, SignatureHelpParams, Uri, WorkspaceSymbolParams,
};
use lsp_server::{Connection, ErrorCode, Message, Notification as WireNotification, Request as WireRequest, RequestId, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeSet, VecDeque};
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// The diagnostics of all files, once what was sent before is analysed.
const STATE: &str = "asterisk/state";

/// Why the server ended other than by the protocol.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The client broke the protocol, or its end of the connection is gone.
    #[error("the language client broke off: {0}")]
    Protocol(String),
}

/// The server, between `initialize` and `exit`.
pub(super) struct Server {
    pub(super) workspace: EditedProject,
    out: Sender<Message>,
    jobs: Sender<AnalysisJob>,
    records: RecordJobs,
    /// A directory of the project.
    dir: PathBuf,
    /// Counts the changes.
    revision: u64,
    /// Messages that wait, in their order: all of them for the first analysis.
    backlog: VecDeque<Message>,
    settling: Settling,
    /// The files with diagnostics at the client.
    published: BTreeSet<PathBuf>,
    client: ClientAbilities,
    /// The next id of a request to the client.
    next: i32,
    shut_down: bool,
}

/// What the next message waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Settling {
    No,
    /// The analysis of everything before it.
    Analysis,
    /// That, and what the store says of it.
    Record,
}

/// What the client can do.
#[derive(Clone, Debug, Default)]
pub(super) struct ClientAbilities {
    refreshes: Vec<&'static str>,
    /// Commands that it implements itself.
    pub(super) commands: BTreeSet<String>,
    pub(super) snippets: bool,
    watches: bool,
    /// Whether it writes all of its messages at once, and wants every answer although it shuts the server down.
    batch: bool,
}

/// Serves a client over streams until it exits. The thread that reads ends with the input.
///
/// # Errors
/// If the client breaks the protocol.
pub fn serve_streams<R, W>(
    input: impl FnOnce() -> R + Send + 'static,
    mut output: W,
    host: Arc<dyn ServerHost>,
) -> Result<(), ServerError>
where
    R: BufRead,
    W: Write,
{
    let (to_server, receiver) = crossbeam_channel::unbounded();
    let (sender, from_server) = crossbeam_channel::unbounded::<Message>();
    let (report, malformed) = crossbeam_channel::bounded::<std::io::Error>(1);
    let read = move || {
        let mut input = input();
        loop {
            let message = match Message::read(&mut input) {
                Ok(Some(message)) => message,
                Ok(None) => return,
                Err(error) => return drop(report.send(error)),
            };
            let last = matches!(&message, Message::Notification(notification) if notification.method == "exit");
            if to_server.send(message).is_err() || last {
                return;
            }
        }
    };
    let broken = |error: std::io::Error| ServerError::Protocol(error.to_string());
    std::thread::Builder::new().name("client".into()).spawn(read).map_err(broken)?;
    std::thread::scope(|scope| {
        let connection = Connection { sender, receiver };
        let server = std::thread::Builder::new().name("server".into()).stack_size(STACK);
        let served = server.spawn_scoped(scope, move || serve(&connection, &host)).map_err(broken)?;
        for message in from_server {
            // The client is gone; its input ends too.
            if message.write(&mut output).is_err() {
                break;
            }
        }
        let ended = served.join().unwrap_or_else(|_| Err(ServerError::Protocol("the server failed".into())));
        // The session ended because the input could not be read any further.
        malformed.try_recv().map_or(ended, |error| Err(broken(error)))
    })
}

/// The stack of the thread that answers: trees are read recursively.
const STACK: usize = 16 << 20;

/// Serves a client until it exits.
///
/// # Errors
/// If the client breaks the protocol.
pub fn serve(connection: &Connection, host: &Arc<dyn ServerHost>) -> Result<(), ServerError> {
    let broken = |error: lsp_server::ProtocolError| ServerError::Protocol(error.to_string());
    let (id, params) = match connection.initialize_start() {
        Ok(started) => started,
        // The input ended before the first message.
        Err(error) if error.channel_is_disconnected() => return Ok(()),
        Err(error) => return Err(broken(error)),
    };
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| ServerError::Protocol(error.to_string()))?;
    let mut workspace = EditedProject::new(host.clone());
    let capabilities = json(&params.capabilities);
    let encodings = capabilities.pointer("/general/positionEncodings").and_then(Value::as_array);
    if encodings.is_some_and(|known| known.iter().any(|one| one == "utf-8")) {
        workspace.documents.unit = ColumnUnit::Utf8;
    }
    let client = ClientAbilities::of(&capabilities, params.initialization_options.as_ref());
    let answer = json!({
        "capabilities": super::capabilities::capabilities(workspace.documents.unit, &client),
        "serverInfo": { "name": "asterisk", "version": env!("CARGO_PKG_VERSION") },
    });
    connection.initialize_finish(id, answer).map_err(broken)?;
    let (jobs, analyses) = analysis::start(host.clone());
    let (records, recorded) = recorded::start();
    let mut server = Server {
        dir: directory(&params).unwrap_or_else(|| PathBuf::from(".")),
        workspace,
        out: connection.sender.clone(),
        jobs,
        records,
        revision: 0,
        backlog: VecDeque::new(),
        settling: Settling::No,
        published: BTreeSet::new(),
        client,
        next: 0,
        shut_down: false,
    };
    server.watch();
    server.analyse(true);
    server.run(&connection.receiver, &analyses, &recorded)
}

/// The directory that the client works in.
#[expect(deprecated, reason = "older clients send these")]
fn directory(params: &InitializeParams) -> Option<PathBuf> {
    let folders = json(&params.workspace_folders_initialize_params);
    let folders = folders["workspaceFolders"].as_array().cloned().unwrap_or_default();
    let dirs: Vec<PathBuf> = folders.iter().filter_map(|one| path_of(&Uri(one["uri"].as_str()?.to_owned()))).collect();
    let with_project = dirs.iter().find(|dir| dir.join("asterisk.yaml").is_file());
    let root = params.root_uri.as_ref().and_then(path_of);
    let path = json(&params.root_path).as_str().map(PathBuf::from);
    with_project.or(dirs.first()).cloned().or(root).or(path)
}

/// Whether a message ends the session.
fn is_end(message: &Message) -> bool {
    match message {
        Message::Request(request) => request.method == "shutdown",
        Message::Notification(notification) => notification.method == "exit",
        Message::Response(_) => false,
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

impl ClientAbilities {
    fn of(capabilities: &Value, options: Option<&Value>) -> Self {
        let has = |path: &str| capabilities.pointer(path).and_then(Value::as_bool).unwrap_or_default();
        let refreshes = [
            ("/workspace/codeLens/refreshSupport", "workspace/codeLens/refresh"),
            ("/workspace/inlayHint/refreshSupport", "workspace/inlayHint/refresh"),
            ("/workspace/inlineValue/refreshSupport", "workspace/inlineValue/refresh"),
            ("/workspace/semanticTokens/refreshSupport", "workspace/semanticTokens/refresh"),
        ];
        let commands = options.and_then(|options| options["commands"].as_array().cloned()).unwrap_or_default();
        Self {
            refreshes: refreshes.iter().filter(|(path, _)| has(path)).map(|(_, method)| *method).collect(),
            commands: commands.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
            snippets: has("/textDocument/completion/completionItem/snippetSupport"),
            watches: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
            batch: options.is_some_and(|options| options["batch"] == true),
        }
    }
}

impl Server {
    fn run(
        &mut self,
        messages: &Receiver<Message>,
        analyses: &Receiver<Arc<ProjectAnalysis>>,
        recorded: &Receiver<Arc<RecordedUse>>,
    ) -> Result<(), ServerError> {
        let (mut messages, mut recorded) = (messages.clone(), recorded.clone());
        let mut open = true;
        loop {
            if self.is_ready()
                && let Some(message) = self.backlog.pop_front()
            {
                if let Some(end) = self.take(message) {
                    return end;
                }
                continue;
            }
            if !open && self.backlog.is_empty() {
                return Err(ServerError::Protocol("its end of the connection is closed".into()));
            }
            select! {
                recv(messages) -> message => match message {
                    Ok(message) if !self.client.batch && is_end(&message) => {
                        self.cancel_backlog();
                        if let Some(end) = self.take(message) {
                            return end;
                        }
                    }
                    Ok(message) => self.backlog.push_back(message),
                    Err(_) => (open, messages) = (false, crossbeam_channel::never()),
                },
                recv(analyses) -> analysis => match analysis {
                    Ok(analysis) => self.adopt(&analysis),
                    // The thread ended by an error of ours.
                    Err(_) => return Err(ServerError::Protocol("the analysis failed".into())),
                },
                recv(recorded) -> new => match new {
                    Ok(new) => {
                        self.workspace.recorded = new;
                        self.refresh();
                    }
                    Err(_) => recorded = crossbeam_channel::never(),
                },
            }
        }
    }

    /// Refuses what waits: the client asks for no more answers.
    fn cancel_backlog(&mut self) {
        for message in std::mem::take(&mut self.backlog) {
            if let Message::Request(request) = message {
                let error = Response::new_err(request.id, ErrorCode::ServerCancelled as i32, "the server is shut down".into());
                drop(self.out.send(Message::Response(error)));
            }
        }
    }

    /// Whether messages can be taken: what they refer to is analysed, and the store is read if that is waited for.
    fn is_ready(&self) -> bool {
        let Some(analysis) = &self.workspace.analysis else { return false };
        let is_analysed = analysis.revision >= self.revision;
        match self.settling {
            Settling::No => true,
            Settling::Analysis => is_analysed,
            Settling::Record => is_analysed && self.workspace.recorded.jobs >= self.records.sent(),
        }
    }

    /// Takes a message; returns how the session ended, if it did.
    fn take(&mut self, message: Message) -> Option<Result<(), ServerError>> {
        match message {
            Message::Request(request) if request.method == STATE && self.settling == Settling::No => {
                self.settling = if request.params["recorded"] == true { Settling::Record } else { Settling::Analysis };
                self.backlog.push_front(Message::Request(request));
            }
            Message::Request(request) => {
                self.settling = Settling::No;
                self.request(request);
            }
            Message::Notification(notification) if notification.method == "exit" => {
                return Some(if self.shut_down { Ok(()) } else { Err(ServerError::Protocol("exit without shutdown".into())) });
            }
            Message::Notification(notification) => self.notification(notification),
            Message::Response(_) => {}
        }
        None
    }

    /// Queues an analysis of the current texts; `cases` is set if the store may have changed.
    fn analyse(&mut self, cases: bool) {
        self.revision += 1;
        let unsaved = Arc::new(self.workspace.documents.unsaved());
        drop(self.jobs.send(AnalysisJob { dir: self.dir.clone(), unsaved, revision: self.revision, cases }));
    }

    fn adopt(&mut self, analysis: &Arc<ProjectAnalysis>) {
        self.workspace.adopt(analysis.clone());
        for params in diagnostics::of(&self.workspace, analysis, &mut self.published) {
            self.notify("textDocument/publishDiagnostics", &params);
        }
        if let Some(session) = &analysis.session {
            self.records.send(RecordJob::Project(Box::new(session.setup().clone())));
        }
    }

    /// Chooses the case whose values are shown.
    pub(super) fn select(&mut self, chosen: ChosenCase) {
        self.records.send(RecordJob::Case(chosen));
    }

    fn refresh(&mut self) {
        for method in self.client.refreshes.clone() {
            self.ask_client(method, Value::Null);
        }
    }

    /// Asks the client to report changes of files on disk.
    fn watch(&mut self) {
        if self.client.watches {
            let pattern = "**/{asterisk.yaml,*.rhai,*.yaml,*.yml,*.md}";
            let registration = json!({ "registrations": [{
                "id": "files", "method": "workspace/didChangeWatchedFiles",
                "registerOptions": { "watchers": [{ "globPattern": pattern }] },
            }] });
            self.ask_client("client/registerCapability", registration);
        }
    }

    pub(super) fn ask_client(&mut self, method: &str, params: Value) {
        self.next += 1;
        drop(self.out.send(Message::Request(WireRequest { id: RequestId::from(self.next), method: method.into(), params })));
    }

    fn notify(&self, method: &str, params: &impl Serialize) {
        drop(self.out.send(Message::Notification(WireNotification { method: method.into(), params: json(params) })));
    }

    /// Shows a message to the person.
    pub(super) fn show(&self, kind: MessageType, message: impl Into<String>) {
        self.notify("window/showMessage", &ShowMessageParams { kind, message: message.into() });
    }

    fn request(&mut self, request: WireRequest) {
        if self.shut_down {
            let error = Response::new_err(request.id, ErrorCode::InvalidRequest as i32, "the server is shut down".into());
            drop(self.out.send(Message::Response(error)));
            return;
        }
        if request.method == "shutdown" {
            self.shut_down = true;
            drop(self.out.send(Message::Response(Response::new_ok(request.id, Value::Null))));
            return;
        }
        let WireRequest { id, method, params } = request;
        // A request that is answered wrongly is an error of ours; the server goes on.
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.answer(&method, params)));
        let answer = answer.unwrap_or_else(|_| Err(RequestRefusal::internal(&method)));
        let response = match answer {
            Ok(result) => Response::new_ok(id, result),
            Err(refusal) => Response::new_err(id, refusal.code, refusal.message),
        };
        drop(self.out.send(Message::Response(response)));
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<Value, RequestRefusal> {
        let w = &self.workspace;
        match method {
            "textDocument/completion" => ask(params, |p| completion::completion(w, &p, self.client.snippets)),
            "textDocument/hover" => ask(params, |p: HoverParams| hover::hover(w, &p.text_document_position_params)),
            "textDocument/signatureHelp" => {
                ask(params, |p: SignatureHelpParams| signature::help(w, &p.text_document_position_params))
            }
            "textDocument/definition" => {
                ask(params, |p: DefinitionParams| navigation::definition(w, &p.text_document_position_params))
            }
            "textDocument/references" => ask(params, |p: ReferenceParams| navigation::references(w, &p)),
            "textDocument/documentHighlight" => {
                ask(params, |p: DocumentHighlightParams| navigation::highlights(w, &p.text_document_position_params))
            }
            "textDocument/prepareRename" => {
                try_ask(params, |p: PrepareRenameParams| rename::prepare(w, &p.text_document_position_params))
            }
            "textDocument/rename" => try_ask(params, |p: RenameParams| rename::rename(w, &p)),
            "textDocument/codeAction" => ask(params, |p: CodeActionParams| actions::actions(w, &p)),
            "textDocument/documentSymbol" => ask(params, |p: DocumentSymbolParams| structure::symbols(w, &p.text_document.uri)),
            "workspace/symbol" => ask(params, |p: WorkspaceSymbolParams| structure::project_symbols(w, &p.query)),
            "textDocument/foldingRange" => ask(params, |p: FoldingRangeParams| structure::folding(w, &p.text_document.uri)),
            "textDocument/semanticTokens/full" => {
                ask(params, |p: SemanticTokensParams| semantic::tokens(w, &p.text_document.uri, None))
            }
            "textDocument/semanticTokens/range" => {
                ask(params, |p: SemanticTokensRangeParams| semantic::tokens(w, &p.text_document.uri, Some(p.range)))
            }
            "textDocument/formatting" => {
                try_ask(params, |p: DocumentFormattingParams| formatting::format(w, &p.text_document.uri, None))
            }
            "textDocument/rangeFormatting" => {
                try_ask(params, |p: DocumentRangeFormattingParams| formatting::format(w, &p.text_document.uri, Some(p.range)))
            }
            "textDocument/inlayHint" => ask(params, |p: InlayHintParams| inlay::hints(w, &p)),
            "textDocument/inlineValue" => ask(params, |p: InlineValueParams| inlay::values(w, &p)),
            "textDocument/codeLens" => ask(params, |p: CodeLensParams| lenses::lenses(w, &p.text_document.uri)),
            "workspace/executeCommand" => {
                let params: ExecuteCommandParams = read(params)?;
                commands::execute(self, &params)
            }
            "asterisk/cases" => commands::cases(w),
            "asterisk/selectCase" => {
                self.select(read(params)?);
                Ok(Value::Null)
            }
            STATE => Ok(diagnostics::state(w)),
            _ => Err(RequestRefusal { code: ErrorCode::MethodNotFound as i32, message: format!("unknown method `{method}`") }),
        }
    }

    fn notification(&mut self, notification: WireNotification) {
        let WireNotification { method, params, .. } = notification;
        let changed = match method.as_str() {
            "textDocument/didOpen" => read::<DidOpenTextDocumentParams>(params).ok().and_then(|p| {
                let document = p.text_document;
                self.workspace.documents.open(document.uri, document.version, document.text)
            }),
            "textDocument/didChange" => read::<DidChangeTextDocumentParams>(params).ok().and_then(|p| {
                let document = &p.text_document;
                self.workspace.documents.change(&document.text_document_identifier.uri, document.version, p.content_changes)
            }),
            "textDocument/didClose" => {
                read::<DidCloseTextDocumentParams>(params).ok().and_then(|p| self.workspace.documents.close(&p.text_document.uri))
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" | "workspace/didChangeConfiguration" => {
                self.analyse(true);
                None
            }
            _ => None,
        };
        if let Some(path) = changed {
            self.workspace.follow(&path);
            if let Some(params) = diagnostics::of_syntax(&self.workspace, &path) {
                self.notify("textDocument/publishDiagnostics", &params);
            }
            self.analyse(false);
        }
    }
}

/// Why a request is not answered.
#[derive(Clone, Debug)]
pub(super) struct RequestRefusal {
    code: i32,
    message: String,
}

impl RequestRefusal {
    /// What the request asks for cannot be done.
    pub(super) fn because(message: impl Into<String>) -> Self {
        // Clients show the messages of failed requests.
        Self { code: ErrorCode::RequestFailed as i32, message: message.into() }
    }

    fn internal(method: &str) -> Self {
        Self { code: ErrorCode::InternalError as i32, message: format!("an internal error in `{method}`: please report it") }
    }
}

fn read<P: DeserializeOwned>(params: Value) -> Result<P, RequestRefusal> {
    serde_json::from_value(params)
        .map_err(|error| RequestRefusal { code: ErrorCode::InvalidParams as i32, message: error.to_string() })
}

fn ask<P: DeserializeOwned, R: Serialize>(params: Value, answer: impl FnOnce(P) -> R) -> Result<Value, RequestRefusal> {
    Ok(json(&answer(read(params)?)))
}

fn try_ask<P: DeserializeOwned, R: Serialize>(
    params: Value,
    answer: impl FnOnce(P) -> Result<R, RequestRefusal>,
) -> Result<Value, RequestRefusal> {
    Ok(json(&answer(read(params)?)?))
}
