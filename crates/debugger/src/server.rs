//! The requests of the protocol.

use crate::breakpoints::Breakpoints;
use crate::case::DebuggedCase;
use crate::debug_session::{ConsoleLine, DebugSession, Halt};
use crate::fault::{DebugFault, explained, fault};
use crate::frames::FrameScope;
use crate::live::{self, LiveRun};
use crate::protocol::{
    BreakpointLocationsArguments, Capabilities, DapBreakpoint, DapRequest, DapScope, DapSource, DapStackFrame, EvaluateArguments,
    ExceptionFilter, InitializeArguments, LaunchArguments, RestartArguments, ScopesArguments, SetBreakpointsArguments,
    SetExceptionBreakpointsArguments, SetFunctionBreakpointsArguments, SourceArguments, SourceBreakpoint, StackTraceArguments,
    StepArguments, TextChoice, VariablesArguments,
};
use crate::text_book::TextPlace;
use crate::timeline::Motion;
use crate::wire::{self, Incoming};
use asterisk_session::{Session, SessionError};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};

/// The id of the only thread: the case.
const THREAD: i64 = 1;
/// The filters of failures.
const FAILED_RULES: &str = "failedRules";
const FAILED_WALKS: &str = "failedWalks";

/// What a client wants to debug: of what project, with what store and scripts, if not those of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectChoice {
    /// The directory of the project.
    pub project: Option<String>,
    /// The store.
    pub store: Option<String>,
    /// The directory of scripts.
    pub scripts: Option<String>,
}

/// Opens a session for a client.
pub type OpenProject<'o> = dyn Fn(&ProjectChoice) -> Result<Session, SessionError> + 'o;

/// An event: its name and its body.
type DapEvent = (&'static str, Value);

/// A server for one client.
pub struct DebugServer<'o> {
    open: &'o OpenProject<'o>,
    /// The number of the last message.
    seq: i64,
    /// What is subtracted from the lines and columns of this program, which count from 1.
    first_line: i64,
    first_column: i64,
    breakpoints: Breakpoints,
    launched: Option<LaunchArguments>,
    session: Option<DebugSession>,
    is_configured: bool,
    /// The messages that are to be sent after the response.
    events: Vec<DapEvent>,
    is_done: bool,
}

/// Serves a client until it disconnects.
pub fn serve(input: &mut dyn BufRead, output: &mut dyn Write, open: &OpenProject<'_>) -> io::Result<()> {
    let mut server = DebugServer::new(open);
    while !server.is_done {
        let replies = match wire::read(input)? {
            Incoming::End => return Ok(()),
            Incoming::Message(message) => server.handle(&message),
            Incoming::Malformed(what) => vec![server.complaint(&what)],
        };
        for reply in replies {
            wire::write(output, &reply)?;
        }
    }
    Ok(())
}

impl<'o> DebugServer<'o> {
    /// A server that opens projects with this function.
    pub fn new(open: &'o OpenProject<'o>) -> Self {
        Self {
            open,
            seq: 0,
            first_line: 0,
            first_column: 0,
            breakpoints: Breakpoints::default(),
            launched: None,
            session: None,
            is_configured: false,
            events: Vec::new(),
            is_done: false,
        }
    }

    /// The messages in reply to one: a response, and events.
    pub fn handle(&mut self, message: &Value) -> Vec<Value> {
        let request: DapRequest = match DapRequest::deserialize_value(message) {
            Ok(Some(request)) => request,
            // Responses to requests that this server never makes.
            Ok(None) => return Vec::new(),
            Err(what) => return vec![self.complaint(&what)],
        };
        let result = self.answer(&request);
        let mut response = json!({ "type": "response", "request_seq": request.seq, "command": request.command });
        match result {
            Ok(body) => {
                response["success"] = true.into();
                if !body.is_null() {
                    response["body"] = body;
                }
            }
            Err(DebugFault { message }) => {
                response["success"] = false.into();
                response["body"] = json!({ "error": { "id": 1, "format": message, "showUser": shows(&request.command) } });
                response["message"] = message.into();
            }
        }
        let mut replies = vec![self.numbered(response)];
        for (event, body) in std::mem::take(&mut self.events) {
            let event = json!({ "type": "event", "event": event, "body": body });
            replies.push(self.numbered(event));
        }
        replies
    }

    fn numbered(&mut self, mut message: Value) -> Value {
        self.seq += 1;
        message["seq"] = self.seq.into();
        message
    }

    /// An event that reports input that is not a request.
    fn complaint(&mut self, what: &str) -> Value {
        self.numbered(
            json!({ "type": "event", "event": "output", "body": { "category": "stderr", "output": format!("{what}\n") } }),
        )
    }

    fn answer(&mut self, request: &DapRequest) -> Result<Value, DebugFault> {
        match request.command.as_str() {
            "initialize" => self.initialize(&arguments(request)?),
            "launch" | "attach" => self.launch(arguments(request)?),
            "setBreakpoints" => self.set_breakpoints(arguments(request)?),
            "setFunctionBreakpoints" => self.set_function_breakpoints(&arguments(request)?),
            "setExceptionBreakpoints" => Ok(self.set_exception_breakpoints(&arguments(request)?)),
            "breakpointLocations" => self.breakpoint_locations(&arguments(request)?),
            "configurationDone" => self.configuration_done(),
            "threads" => Ok(self.threads()),
            "stackTrace" => self.stack_trace(&arguments(request)?),
            "scopes" => self.scopes(&arguments(request)?),
            "variables" => self.variables(&arguments(request)?),
            "evaluate" => self.evaluate(&arguments(request)?),
            "continue" => {
                self.go(Motion::Continue)?;
                Ok(json!({ "allThreadsContinued": true }))
            }
            "reverseContinue" => self.go(Motion::ReverseContinue),
            "stepIn" => self.go(Motion::StepIn),
            "stepOut" => self.go(Motion::StepOut),
            "next" | "stepBack" => {
                let StepArguments { granularity } = arguments(request)?;
                let is_finest = granularity.as_deref() == Some("instruction");
                self.go(match (request.command.as_str(), is_finest) {
                    ("next", false) => Motion::Next,
                    ("next", true) => Motion::StepIn,
                    (_, false) => Motion::StepBack,
                    (_, true) => Motion::BackIn,
                })
            }
            "pause" => {
                self.stopped_session()?;
                self.events.push(("stopped", json!({ "reason": "pause", "threadId": THREAD, "allThreadsStopped": true })));
                Ok(Value::Null)
            }
            "source" => self.source(&arguments(request)?),
            "loadedSources" => self.loaded_sources(),
            "exceptionInfo" => self.exception_info(),
            "restart" => self.restart(arguments(request)?),
            "terminate" => {
                self.ended();
                Ok(Value::Null)
            }
            "disconnect" => {
                self.session = None;
                self.is_done = true;
                Ok(Value::Null)
            }
            "cancel" => Ok(Value::Null),
            other => Err(fault(format!("the request `{other}` is not supported"))),
        }
    }

    fn initialize(&mut self, client: &InitializeArguments) -> Result<Value, DebugFault> {
        self.first_line = i64::from(!client.lines_start_at_1);
        self.first_column = i64::from(!client.columns_start_at_1);
        let filters = vec![
            ExceptionFilter {
                filter: FAILED_RULES,
                label: "Failed rules",
                description: "Stops where a rule or responder fails.",
                default: true,
            },
            ExceptionFilter {
                filter: FAILED_WALKS,
                label: "Failed walks",
                description: "Stops at the end of a case whose walk failed.",
                default: false,
            },
        ];
        to_value(&Capabilities {
            supports_configuration_done_request: true,
            supports_function_breakpoints: true,
            supports_conditional_breakpoints: true,
            supports_hit_conditional_breakpoints: true,
            supports_log_points: true,
            supports_evaluate_for_hovers: true,
            supports_clipboard_context: true,
            supports_step_back: true,
            supports_stepping_granularity: true,
            supports_restart_request: true,
            supports_terminate_request: true,
            supports_exception_info_request: true,
            supports_breakpoint_locations_request: true,
            supports_loaded_sources_request: true,
            supports_delayed_stack_trace_loading: true,
            supports_goto_targets_request: false,
            supports_set_variable: false,
            exception_breakpoint_filters: filters,
        })
    }

    fn launch(&mut self, launched: LaunchArguments) -> Result<Value, DebugFault> {
        self.session = None;
        let session = self.opened(&launched)?;
        self.events.extend(session.1);
        self.session = Some(session.0);
        self.launched = Some(launched);
        self.events.push(("initialized", json!({})));
        if self.is_configured {
            self.begin()?;
        }
        Ok(Value::Null)
    }

    /// Opens a case, and finds the places of the breakpoints in it.
    fn opened(&mut self, launched: &LaunchArguments) -> Result<(DebugSession, Vec<DapEvent>), DebugFault> {
        let choice =
            ProjectChoice { project: launched.project.clone(), store: launched.store.clone(), scripts: launched.scripts.clone() };
        let opened = (self.open)(&choice)?;
        let live = launched.input.as_ref().map(|input| live::walk(&opened, launched, input.all())).transpose()?;
        let (run, opened, dir) = match live {
            Some(LiveRun { session, run, dir }) => (Some(run), session, Some(dir)),
            None => (launched.run.clone(), opened, None),
        };
        let case = launched.case.as_ref().map(ToString::to_string);
        let is_current = launched.texts == TextChoice::Current;
        let case = DebuggedCase::open(&opened, run.as_deref(), case.as_deref(), is_current)?;
        case.list_texts()?;
        let mut events = Vec::new();
        for breakpoint in self.breakpoints.resolve(&case)? {
            events.push(("breakpoint", json!({ "reason": "changed", "breakpoint": self.shown(breakpoint) })));
        }
        Ok((DebugSession::new(case, dir, launched.stop_at_end), events))
    }

    fn configuration_done(&mut self) -> Result<Value, DebugFault> {
        self.is_configured = true;
        if self.session.is_some() {
            self.begin()?;
        }
        Ok(Value::Null)
    }

    fn begin(&mut self) -> Result<(), DebugFault> {
        let stops = self.launched.as_ref().is_none_or(|launched| launched.stop_on_entry && !launched.no_debug);
        let Some(session) = &mut self.session else { return Ok(()) };
        let case = &session.case;
        let texts = if case.is_current() { "the current texts" } else { "the recorded texts" };
        let line = format!("run {}, case {} ({}): {} steps, by {texts}", case.run, case.name, case.case, case.steps.len());
        let mut console = vec![ConsoleLine { category: "console", text: line, place: None }];
        let no_breakpoints = Breakpoints::default();
        let ignores = self.launched.as_ref().is_some_and(|launched| launched.no_debug);
        let breakpoints = if ignores { &no_breakpoints } else { &self.breakpoints };
        let halt = session.begin(breakpoints, stops, &mut console);
        self.halted(halt, console).map(drop)
    }

    fn go(&mut self, motion: Motion) -> Result<Value, DebugFault> {
        let session = self.session.as_mut().filter(|session| !session.is_over).ok_or_else(nothing)?;
        let mut console = Vec::new();
        let halt = session.go(motion, &self.breakpoints, &mut console);
        self.halted(halt, console)
    }

    /// Sends the outcome of a movement.
    fn halted(&mut self, halt: Result<Halt, DebugFault>, console: Vec<ConsoleLine>) -> Result<Value, DebugFault> {
        for line in console {
            let mut body = json!({ "category": line.category, "output": format!("{}\n", line.text) });
            if let (Some(session), Some(place)) = (&self.session, line.place) {
                body["source"] = to_value(&session.case.book.shown(place.text))?;
                body["line"] = self.line_of(place.line).into();
                body["column"] = self.column_of(place.column).into();
            }
            self.events.push(("output", body));
        }
        match halt? {
            Halt::Over => self.ended(),
            Halt::Stopped { reason, breakpoints } => {
                let mut body = json!({ "reason": reason, "threadId": THREAD, "allThreadsStopped": true });
                if !breakpoints.is_empty() {
                    body["hitBreakpointIds"] = breakpoints.into();
                }
                if let Some(failure) = self.session.as_ref().and_then(|session| session.failure.as_ref()) {
                    body["description"] = "failed".into();
                    body["text"] = failure.message.clone().into();
                }
                self.events.push(("stopped", body));
            }
        }
        Ok(Value::Null)
    }

    fn ended(&mut self) {
        let failed = self.session.as_ref().is_some_and(|session| session.walk_failure().is_some());
        if let Some(session) = &mut self.session {
            session.is_over = true;
        }
        self.events.push(("exited", json!({ "exitCode": i64::from(failed) })));
        self.events.push(("terminated", json!({})));
    }

    fn restart(&mut self, asked: RestartArguments) -> Result<Value, DebugFault> {
        let launched = match asked.arguments {
            Some(arguments) => parse(Value::Object(arguments))?,
            None => self.launched.clone().ok_or_else(nothing)?,
        };
        let (session, events) = self.opened(&launched)?;
        self.events.extend(events);
        self.session = Some(session);
        self.launched = Some(launched);
        self.begin()?;
        Ok(Value::Null)
    }

    fn set_breakpoints(&mut self, asked: SetBreakpointsArguments) -> Result<Value, DebugFault> {
        let SetBreakpointsArguments { source, mut breakpoints, lines } = asked;
        if breakpoints.is_empty() {
            breakpoints = lines.into_iter().map(|line| SourceBreakpoint { line, ..SourceBreakpoint::default() }).collect();
        }
        for breakpoint in &mut breakpoints {
            breakpoint.line = breakpoint.line.saturating_add(self.first_line);
        }
        let case = self.session.as_ref().map(|session| &session.case);
        let set = self.breakpoints.set_lines(case, &source, &breakpoints)?;
        let set: Vec<Value> = set.into_iter().map(|breakpoint| self.shown(breakpoint)).collect();
        Ok(json!({ "breakpoints": set }))
    }

    fn set_function_breakpoints(&mut self, asked: &SetFunctionBreakpointsArguments) -> Result<Value, DebugFault> {
        let case = self.session.as_ref().map(|session| &session.case);
        let set = self.breakpoints.set_functions(case, &asked.breakpoints)?;
        let set: Vec<Value> = set.into_iter().map(|breakpoint| self.shown(breakpoint)).collect();
        Ok(json!({ "breakpoints": set }))
    }

    fn set_exception_breakpoints(&mut self, asked: &SetExceptionBreakpointsArguments) -> Value {
        let has = |name: &str| asked.filters.iter().any(|filter| filter == name);
        (self.breakpoints.failed_rules, self.breakpoints.failed_walks) = (has(FAILED_RULES), has(FAILED_WALKS));
        let known = |filter: &String| {
            let verified = [FAILED_RULES, FAILED_WALKS].contains(&filter.as_str());
            json!({ "verified": verified })
        };
        json!({ "breakpoints": asked.filters.iter().map(known).collect::<Vec<_>>() })
    }

    fn breakpoint_locations(&self, asked: &BreakpointLocationsArguments) -> Result<Value, DebugFault> {
        let Some(session) = &self.session else { return Ok(json!({ "breakpoints": [] })) };
        let case = &session.case;
        let text = case.book.meant(&asked.source).first().and_then(|number| case.book.text(*number));
        let Some(text) = text else { return Ok(json!({ "breakpoints": [] })) };
        let line = |line: i64| usize::try_from(line.saturating_add(self.first_line)).unwrap_or_default();
        let (first, last) = (line(asked.line), line(asked.end_line.unwrap_or(asked.line)));
        let lines = case.breakable(&text)?;
        let within = lines.keys().filter(|line| (first..=last.max(first)).contains(*line));
        let locations: Vec<Value> = within.map(|line| json!({ "line": self.line_of(*line) })).collect();
        Ok(json!({ "breakpoints": locations }))
    }

    fn threads(&self) -> Value {
        let session = self.session.as_ref().filter(|session| !session.is_over);
        let threads: Vec<Value> = session
            .map(|session| json!({ "id": THREAD, "name": format!("{} ({})", session.case.name, session.case.case) }))
            .into_iter()
            .collect();
        json!({ "threads": threads })
    }

    fn stack_trace(&mut self, asked: &StackTraceArguments) -> Result<Value, DebugFault> {
        let frames = self.stopped_session()?.frames()?.to_vec();
        let number = |number: Option<i64>| number.and_then(|number| usize::try_from(number).ok());
        let (start, levels) = (number(asked.start_frame).unwrap_or_default(), number(asked.levels).filter(|levels| *levels > 0));
        let session = self.stopped_session()?;
        let mut shown = Vec::new();
        for (at, frame) in frames.iter().enumerate().skip(start).take(levels.unwrap_or(usize::MAX)) {
            let id = i64::try_from(at + 1).unwrap_or(i64::MAX);
            let source = frame.place.map(|place| session.case.book.shown(place.text));
            shown.push((id, frame, source));
        }
        let total = frames.len();
        let shown: Vec<DapStackFrame> = shown
            .into_iter()
            .map(|(id, frame, source)| {
                let place = frame.place.unwrap_or(TextPlace { text: 0, line: 0, column: 0, end_line: 0, end_column: 0 });
                DapStackFrame {
                    id,
                    name: frame.name.clone(),
                    line: if source.is_some() { self.line_of(place.line) } else { 0 },
                    column: if source.is_some() { self.column_of(place.column) } else { 0 },
                    end_line: source.is_some().then(|| self.line_of(place.end_line)),
                    end_column: source.is_some().then(|| self.column_of(place.end_column)),
                    source,
                }
            })
            .collect();
        Ok(json!({ "stackFrames": to_value(&shown)?, "totalFrames": total }))
    }

    fn scopes(&mut self, asked: &ScopesArguments) -> Result<Value, DebugFault> {
        let session = self.stopped_session()?;
        let at = frame_index(asked.frame_id)?;
        let frame = session.frames()?.get(at).cloned().ok_or_else(|| fault("unknown frameId"))?;
        let moment = session.now;
        let scopes = session.case.scopes(moment, &frame)?;
        let mut shown = Vec::new();
        for FrameScope { name, hint, content } in scopes {
            let reference = session.references.scope(moment.step, content);
            shown.push(DapScope { name, presentation_hint: hint, variables_reference: reference, expensive: false });
        }
        Ok(json!({ "scopes": to_value(&shown)? }))
    }

    fn variables(&mut self, asked: &VariablesArguments) -> Result<Value, DebugFault> {
        let session = self.stopped_session()?;
        let DebugSession { references, case, .. } = session;
        Ok(json!({ "variables": to_value(&references.list(case, asked)?)? }))
    }

    fn evaluate(&mut self, asked: &EvaluateArguments) -> Result<Value, DebugFault> {
        let session = self.stopped_session()?;
        let frame = asked.frame_id.map(frame_index).transpose()?;
        let value = session.evaluate(frame, &asked.expression)?;
        let whole = match asked.context.as_deref() {
            Some("clipboard") => {
                value.string().or_else(|| value.json().and_then(|json| serde_json::to_string_pretty(&json).ok()))
            }
            Some("repl") => value.string().map(|text| format!("{text:?}")),
            _ => None,
        };
        let path = asked.expression.trim().to_owned();
        let variable = session.references.variable(String::new(), value, Some(path));
        let mut shown = to_value(&variable)?;
        if let Some(fields) = shown.as_object_mut() {
            let text = fields.remove("value").unwrap_or_default();
            fields.remove("name");
            fields.remove("evaluateName");
            fields.insert("result".to_owned(), whole.map_or(text, Value::from));
        }
        Ok(shown)
    }

    fn source(&self, asked: &SourceArguments) -> Result<Value, DebugFault> {
        let session = self.session.as_ref().ok_or_else(nothing)?;
        let of_source = asked.source.as_ref().and_then(|source| source.source_reference).filter(|reference| *reference > 0);
        let reference = of_source.unwrap_or(asked.source_reference);
        let meant = DapSource {
            source_reference: Some(reference).filter(|reference| *reference > 0),
            ..asked.source.clone().unwrap_or_default()
        };
        let number = session.case.book.meant(&meant).first().copied().ok_or_else(|| fault("unknown sourceReference"))?;
        let text = session.case.book.text(number).ok_or_else(|| fault("unknown sourceReference"))?;
        Ok(json!({ "content": text.source.text() }))
    }

    fn loaded_sources(&self) -> Result<Value, DebugFault> {
        let session = self.session.as_ref().ok_or_else(nothing)?;
        let sources: Vec<DapSource> = session.case.book.numbers().map(|number| session.case.book.shown(number)).collect();
        Ok(json!({ "sources": to_value(&sources)? }))
    }

    fn exception_info(&mut self) -> Result<Value, DebugFault> {
        let session = self.stopped_session()?;
        let failure = session.failure.clone().ok_or_else(|| fault("nothing has failed here"))?;
        let description = failure.diagnostic.as_ref().map_or_else(|| failure.message.clone(), |error| explained(error));
        let trace = failure.diagnostic.iter().flat_map(|error| &error.labels).map(|label| {
            let (line, column) = label.source.line_column(label.span.start);
            format!("{}:{line}:{column} {}", label.source.name(), label.text)
        });
        let trace = trace.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n");
        Ok(json!({
            "exceptionId": failure.code,
            "description": description,
            "breakMode": "always",
            "details": { "message": failure.message, "typeName": failure.code, "stackTrace": trace },
        }))
    }

    fn stopped_session(&mut self) -> Result<&mut DebugSession, DebugFault> {
        self.session.as_mut().filter(|session| !session.is_over).ok_or_else(nothing)
    }

    fn shown(&self, breakpoint: DapBreakpoint) -> Value {
        let line = breakpoint.line.map(|line| line.saturating_sub(self.first_line));
        to_value(&DapBreakpoint { line, ..breakpoint }).unwrap_or_default()
    }

    fn line_of(&self, line: usize) -> i64 {
        i64::try_from(line).unwrap_or(i64::MAX).saturating_sub(self.first_line)
    }

    fn column_of(&self, column: usize) -> i64 {
        i64::try_from(column).unwrap_or(i64::MAX).saturating_sub(self.first_column)
    }
}

impl DapRequest {
    /// The request in a message; `None` if it is another kind of message, an error if it is none.
    fn deserialize_value(message: &Value) -> Result<Option<Self>, String> {
        match message["type"].as_str() {
            Some("request") => {
                parse(message.clone()).map(Some).map_err(|DebugFault { message }| format!("a request is malformed: {message}"))
            }
            Some("response" | "event") => Ok(None),
            _ => Err("a message is neither a request, nor a response, nor an event".to_owned()),
        }
    }
}

/// The arguments of a request; absent ones are an empty object.
fn arguments<T: DeserializeOwned>(request: &DapRequest) -> Result<T, DebugFault> {
    let given = if request.arguments.is_null() { Value::Object(Map::new()) } else { request.arguments.clone() };
    parse(given)
        .map_err(|DebugFault { message }| fault(format!("the arguments of `{}` are malformed: {message}", request.command)))
}

fn parse<T: DeserializeOwned>(value: Value) -> Result<T, DebugFault> {
    T::deserialize(value).map_err(|error| fault(error.to_string()))
}

fn to_value(value: &impl serde::Serialize) -> Result<Value, DebugFault> {
    serde_json::to_value(value).map_err(|error| fault(error.to_string()))
}

fn frame_index(id: i64) -> Result<usize, DebugFault> {
    usize::try_from(id.saturating_sub(1)).map_err(|_| fault("unknown frameId"))
}

fn nothing() -> DebugFault {
    fault("no case is being debugged")
}

/// Whether a person is shown the error of a request.
fn shows(command: &str) -> bool {
    matches!(command, "launch" | "attach" | "restart")
}
