//! The tools of a working directory: `shell`, `read_file`, `write_file`, `glob`, `grep`, `http_get`, and those of MCP servers. A call is
//! judged by the script that the node names before it is made; the result of it, also a refusal, is the node's artifact.
//!
//! A call that changes something is made once at most: if the program was killed while it ran, it is not made again, and its outcome says
//! that its progress is unknown.

mod confine;
mod links;
mod paths;
mod plain;
mod search;

pub use confine::{SandboxGaps, become_confined};

use self::confine::{Bounds, Job};
use self::paths::{Guarded, PathError, WorkRoot};
use super::context::{Approve, ExternalContext, Investigate};
use super::process::{self, CommandEnd};
use super::tools::ToolAnswerer;
use crate::net::HttpClient;
use asterisk_base::environment::Variables;
use asterisk_base::model::{SimpleCommand, read_command_line};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_walk::{Agent, Answerer, Name, NodeAnswer, Refusal, Request, TOOL, ToolPlan, WORKDIR, WORKDIR_OF};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The attribute of a case that names its working directory.
const ATTRIBUTE: &str = "workdir";
/// The tools, without those of servers.
const TOOLS: &[&str] = &["shell", "read_file", "write_file", "glob", "grep", "http_get", "investigate"];
/// The arguments that they take.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("shell", &["command"]),
    ("read_file", &["path", "from", "lines"]),
    ("write_file", &["path", "text"]),
    ("glob", &["pattern"]),
    ("grep", &["pattern", "path", "glob"]),
    ("http_get", &["url"]),
    ("investigate", &["launch", "cases", "depth"]),
];
/// The most bytes of output that are read from a command, whatever is kept of them.
const MAX_OUTPUT: usize = 1 << 20;

/// Makes calls in the working directory of a case.
pub(super) struct WorkdirAnswerer<'a> {
    name: Name,
    root: PathBuf,
    guarded: Guarded,
    /// Whether the run is recorded.
    recorded: bool,
    variables: Variables,
    program: PathBuf,
    approve: Option<Approve>,
    /// Whether commands are run that the system cannot confine.
    unconfined: bool,
    gaps: OnceLock<SandboxGaps>,
    investigate: Option<Investigate<'a>>,
    servers: BTreeMap<String, ToolAnswerer<'a>>,
}

/// A call as the arguments of a node describe it.
struct WorkdirCall {
    tool: String,
    args: Map<String, Value>,
    limits: CallLimits,
    hosts: Vec<String>,
    /// The vars of an investigation.
    vars: Map<String, Value>,
    /// Further input of the judge.
    context: Map<String, Value>,
}

/// Limits of a call, as the pipeline sets them.
struct CallLimits {
    /// Characters of output that are kept.
    output: usize,
    time: Duration,
    processes: u64,
    /// In bytes.
    memory: u64,
}

/// How a call ended: its output, or what went wrong, with further fields of its outcome.
struct CallResult {
    said: Result<String, String>,
    more: Map<String, Value>,
}

impl CallResult {
    fn failed(why: impl Into<String>) -> Self {
        Self { said: Err(why.into()), more: Map::new() }
    }

    fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }
}

impl From<Result<String, PathError>> for CallResult {
    fn from(said: Result<String, PathError>) -> Self {
        Self { said: said.map_err(|error| error.text().to_owned()), more: Map::new() }
    }
}

impl WorkdirCall {
    /// Reads the arguments of a node.
    fn of(arguments: &Map<String, Value>) -> Result<Self, String> {
        let whole: Value = arguments.clone().into();
        let tool = whole["tool"].as_str().ok_or("`tool` of the arguments is not a string")?.to_owned();
        let args = whole["args"].as_object().cloned().ok_or("`args` of the arguments is not a map")?;
        let limit = |name: &str| {
            whole["limits"][name].as_u64().ok_or_else(|| format!("`limits.{name}` of the arguments is not a number"))
        };
        let limits = CallLimits {
            output: usize::try_from(limit("output")?).unwrap_or(MAX_OUTPUT),
            time: Duration::from_secs(limit("seconds")?),
            processes: limit("processes")?,
            memory: limit("memory")?.saturating_mul(1 << 20),
        };
        let hosts = whole["hosts"].as_array().into_iter().flatten().filter_map(|host| Some(host.as_str()?.to_owned())).collect();
        let context = whole["context"].as_object().cloned().unwrap_or_default();
        let vars = whole["vars"].as_object().cloned().unwrap_or_default();
        Ok(Self { tool, args, limits, hosts, vars, context })
    }

    /// The same, no longer than the request may take.
    fn within(mut self, request: &Request<'_>) -> Self {
        self.limits.time = request.time(self.limits.time);
        self
    }

    fn text(&self, name: &str) -> Result<&str, PathError> {
        let text = self.args.get(name).and_then(Value::as_str);
        text.ok_or_else(|| PathError::System(format!("`{}` requires a string `{name}`", self.tool)))
    }

    fn optional(&self, name: &str) -> Option<&str> {
        self.args.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Why its arguments cannot be those of the tool.
    fn misfit(&self) -> Option<String> {
        let (_, known) = ARGUMENTS.iter().find(|(tool, _)| *tool == self.tool)?;
        let unknown = self.args.keys().find(|key| !known.contains(&key.as_str()))?;
        let known = known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        Some(format!("`{}` takes no argument `{}`; it takes {known}", self.tool, shown(unknown)))
    }

    /// How many characters of its output are kept. What an investigation found is data and would be none if it were cut; it is bounded by its
    /// cases.
    fn kept(&self) -> usize {
        if self.tool == "investigate" { MAX_OUTPUT } else { self.limits.output }
    }

    /// Whether making it twice is the same as making it once.
    fn is_repeatable(&self) -> bool {
        matches!(self.tool.as_str(), "read_file" | "write_file" | "glob" | "grep" | "investigate")
    }
}

impl<'a> WorkdirAnswerer<'a> {
    pub(super) fn new(outside: &ExternalContext<'a>) -> Self {
        let server = |(name, settings): (&String, _)| (name.clone(), ToolAnswerer::new(name, settings, outside));
        Self {
            name: ToolPlan::via(WORKDIR),
            root: outside.root.to_owned(),
            guarded: Guarded { readable: real(&outside.texts), hidden: real(&outside.private) },
            recorded: outside.recorded,
            variables: outside.variables(None),
            program: outside.program.to_owned(),
            approve: outside.approve.clone(),
            unconfined: outside.unconfined,
            gaps: OnceLock::new(),
            investigate: outside.investigate.clone(),
            servers: outside.servers.iter().map(server).collect(),
        }
    }

    /// The input of a judge for a call: where it is made, what exists there, and what the shell would run.
    fn context(call: &WorkdirCall, root: &WorkRoot) -> Value {
        let mut context = call.context.clone();
        let is_there = |path: &str| root.path.join(path).symlink_metadata().is_ok();
        if let Some(path) = call.optional("path").or(call.optional("launch")) {
            context.insert("exists".into(), is_there(path).into());
            let inside = root.is_inside(path) && (call.tool != "write_file" || root.is_writable(path));
            context.insert("inside".into(), inside.into());
        }
        if call.tool == "shell" {
            let text = call.optional("command").unwrap_or_default();
            let named = text.split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | ';' | '|' | '&' | '<' | '>'));
            let existing: BTreeSet<&str> = named.filter(|path| !path.is_empty() && is_there(path)).collect();
            context.insert("existing".into(), json!(existing));
            let commands = read_command_line(text).unwrap_or_default();
            match plain::placed(root, &commands) {
                Ok(placed) => {
                    let seen = links::of(root, &placed);
                    context.insert("outside".into(), json!(seen.outside));
                    context.insert("odd_names".into(), seen.odd_names.into());
                }
                Err(why) => drop(context.insert("unplaced".into(), why.into())),
            }
            context.insert("git".into(), git_of(root));
        }
        context.insert("workdir".into(), json!(root.path));
        context.insert("approved".into(), false.into());
        context.insert("allow_hosts".into(), json!(call.hosts));
        context.into()
    }

    /// Makes a call that may be made.
    /// `plain`: what the judge lets run without a shell and without approval.
    fn make(&self, call: &WorkdirCall, root: &WorkRoot, request: &Request<'_>, id: i64, plain: Option<PlainJob>) -> CallResult {
        let until = Instant::now() + call.limits.time;
        match call.tool.as_str() {
            "read_file" => Self::read_file(call, root).into(),
            "write_file" => {
                let written = call.text("path").and_then(|path| Ok((path, call.text("text")?)));
                let written =
                    written.and_then(|(path, text)| root.write(path, text).map(|()| format!("wrote {} bytes", text.len())));
                written.into()
            }
            "glob" => call.text("pattern").and_then(|pattern| search::glob(root, pattern, until)).into(),
            "grep" => {
                let found = call
                    .text("pattern")
                    .and_then(|pattern| search::grep(root, pattern, call.optional("path"), call.optional("glob"), until));
                found.into()
            }
            "http_get" => http_get(call),
            "shell" => self.shell(call, root, plain, until),
            "investigate" => self.investigate(call, root),
            tool => match tool.split_once('/').and_then(|(server, tool)| Some((self.servers.get(server)?, tool))) {
                Some((server, tool)) => match server.invoke(request, tool, call.args.clone(), id, call.limits.time) {
                    Ok(value) => CallResult { said: Ok(text_of(&value)), more: Map::new() },
                    Err(refusal) => CallResult::failed(refusal.diagnostic.message),
                },
                None => {
                    let servers = self.servers.keys().map(|server| format!("{server}/TOOL"));
                    let known: Vec<String> = TOOLS.iter().map(|tool| (*tool).to_owned()).chain(servers).collect();
                    let hint = did_you_mean(tool, TOOLS.iter().copied()).map_or(String::new(), |hint| format!("; {hint}"));
                    CallResult::failed(format!("unknown tool `{tool}`{hint}; there are {}", known.join(", ")))
                }
            },
        }
    }

    fn read_file(call: &WorkdirCall, root: &WorkRoot) -> Result<String, PathError> {
        let (text, cut) = root.read(call.text("path")?)?;
        let number = |name: &str| call.args.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        if number("from").is_none() && number("lines").is_none() {
            return Ok(if cut { format!("{text}\n[the rest of the file is left out]") } else { text });
        }
        let lines = text.lines().skip(number("from").unwrap_or(1).saturating_sub(1)).take(number("lines").unwrap_or(usize::MAX));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Has the failures of a launch below the working directory investigated.
    fn investigate(&self, call: &WorkdirCall, root: &WorkRoot) -> CallResult {
        let path = match call.text("launch").and_then(|path| root.parts(path)) {
            Ok(parts) => parts.iter().fold(root.path.clone(), |path, part| path.join(part)),
            Err(error) => return CallResult::failed(error.text()),
        };
        if !call.text("launch").is_ok_and(|path| root.is_inside(path)) {
            return CallResult::failed("links are not followed");
        }
        let Some(investigate) = &self.investigate else { return CallResult::failed("launches cannot be investigated here") };
        let cases = call.args.get("cases").and_then(Value::as_array).into_iter().flatten();
        let cases: Vec<String> = cases.filter_map(|case| Some(case.as_str()?.to_owned())).collect();
        CallResult { said: investigate(&path, &cases, &call.vars, call.limits.time), more: Map::new() }
    }

    fn shell(&self, call: &WorkdirCall, root: &WorkRoot, plain: Option<PlainJob>, until: Instant) -> CallResult {
        let text = match call.text("command") {
            Ok(text) => text,
            Err(error) => return CallResult::failed(error.text()),
        };
        let approved = plain.is_none();
        let job = match plain {
            None => Job::Shell(text),
            Some(job) => match plain::resolved(root, &job.run, until) {
                Ok(commands) => Job::Plain(commands, job.env),
                Err(why) => return CallResult::failed(why),
            },
        };
        let run = || -> std::io::Result<CallResult> {
            let temporary = tempfile::tempdir()?;
            let bounds = Bounds {
                workdir: &root.path,
                temporary: temporary.path(),
                processes: call.limits.processes,
                memory: call.limits.memory,
                guarded: &root.guarded,
                namespaces: !self.gaps().namespaces,
                strict: !self.unconfined && (!approved || root.guarded.touches(&root.path)),
            };
            let (words, report) = confine::words(&self.program, &bounds, job)?;
            let Some(command) = process::command(&words, &self.root, &self.variables) else {
                return Ok(CallResult::failed("no command"));
            };
            let output = process::run(command, b"", until.saturating_duration_since(Instant::now()), MAX_OUTPUT)?;
            let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
            if !output.stderr.trim().is_empty() {
                if !said.is_empty() && !said.ends_with('\n') {
                    said.push('\n');
                }
                said.push_str(&output.stderr);
            }
            let confined = match report.was_confined() {
                Ok(confined) => confined,
                Err(why) => return Ok(CallResult::failed(why)),
            };
            let why = match output.ended {
                CommandEnd::Success => None,
                CommandEnd::TimedOut => Some(format!("it took longer than {} s", call.limits.time.as_secs())),
                CommandEnd::OutputLimit => Some(format!("it wrote more than {MAX_OUTPUT} bytes")),
                CommandEnd::Failure(how) => Some(how),
            };
            let result = match why {
                None => CallResult { said: Ok(said), more: Map::new() },
                Some(why) => CallResult::failed(why).with("output", trimmed(&said, call.limits.output)),
            };
            Ok(result.with("confined", confined))
        };
        run().unwrap_or_else(|error| CallResult::failed(format!("it cannot be started: {error}")))
    }

    /// What this system cannot enforce on commands, probed once.
    fn gaps(&self) -> SandboxGaps {
        *self.gaps.get_or_init(|| SandboxGaps::find(&self.program))
    }

    /// Judges and makes a call. `interrupted`: it was requested before, by a process that did not live to record the result of
    /// it.
    fn outcome(&self, call: &WorkdirCall, request: &Request<'_>, id: i64, interrupted: bool) -> Result<Value, Box<Diagnostic>> {
        let described = json!({ "tool": call.tool, "args": call.args });
        let mut outcome = Map::new();
        outcome.insert("tool".into(), call.tool.clone().into());
        outcome.insert("args".into(), call.args.clone().into());
        let workdir = request.case.attributes.get(ATTRIBUTE).filter(|workdir| !workdir.is_empty());
        let result = match workdir {
            _ if !self.recorded => CallResult::failed("calls are only made in a run that is recorded").with("refused", true),
            None => CallResult::failed("the working directory does not exist"),
            Some(workdir) => {
                let (path, guarded) = (PathBuf::from(workdir), self.guarded.clone());
                // Changes applied from there must not affect the project's sources either.
                let guarded = match request.case.attributes.get(WORKDIR_OF) {
                    Some(origin) => guarded.in_place_of(Path::new(origin), &path),
                    None => guarded,
                };
                let root = WorkRoot { path, guarded };
                let context = Self::context(call, &root);
                self.judged(call, &root, request, &described, &context, (id, interrupted))?
            }
        };
        let (output, error) = match result.said {
            Ok(output) => (output, String::new()),
            Err(error) => (String::new(), error),
        };
        outcome.insert("ok".into(), error.is_empty().into());
        outcome.insert("truncated".into(), (output.chars().count() > call.kept()).into());
        outcome.insert("output".into(), trimmed(&output, call.kept()).into());
        outcome.insert("error".into(), trimmed(&error, call.limits.output).into());
        for (key, value) in [("refused", json!(false)), ("law", json!(""))] {
            outcome.insert(key.into(), value);
        }
        outcome.extend(result.more);
        Ok(outcome.into())
    }

    fn judged(
        &self,
        call: &WorkdirCall,
        root: &WorkRoot,
        request: &Request<'_>,
        judged: &Value,
        context: &Value,
        (id, interrupted): (i64, bool),
    ) -> Result<CallResult, Box<Diagnostic>> {
        if let Some(misfit) = call.misfit() {
            return Ok(CallResult::failed(misfit).with("refused", true));
        }
        let judgement = request.plan.node(request.node).tool.as_ref().and_then(|tool| tool.judgement(judged, context));
        let judgement = judgement.transpose()?.unwrap_or_default();
        let because = judgement["because"].as_str().unwrap_or_default();
        let law = judgement["law"].as_str().unwrap_or_default();
        let refuse = |why: String| CallResult::failed(why).with("refused", true).with("law", law);
        let confines = || call.tool != "shell" || self.unconfined || !self.gaps().landlock;
        let approved = match judgement["verdict"].as_str().unwrap_or_default() {
            "allow" if !confines() => {
                return Ok(refuse(format!("{}; `--unconfined` runs them nevertheless", self.gaps().sentences().join("; "))));
            }
            "allow" => false,
            "approve" => match &self.approve {
                // An interrupted call is not repeated, so no approval is requested.
                _ if interrupted && !call.is_repeatable() => true,
                Some(approve) if approve(&self.asked(call, because)) => true,
                Some(_) => return Ok(refuse(format!("a person denied it: {because}"))),
                None => return Ok(refuse(format!("a person has to approve it (`--approve`): {because}"))),
            },
            _ if law.is_empty() => return Ok(refuse(because.to_owned())),
            _ => return Ok(refuse(format!("[{law}] {because}"))),
        };
        let result = if interrupted && !call.is_repeatable() {
            CallResult::failed("asterisk was interrupted during the call: its progress is unknown, and it is not repeated")
                .with("interrupted", true)
        } else {
            let plain = if approved || call.tool != "shell" { None } else { Some(PlainJob::of(&judgement)) };
            match plain.transpose() {
                Ok(plain) => self.make(call, root, request, id, plain),
                Err(why) => CallResult::failed(format!("the judge allows the command without saying what to run: {why}")),
            }
        };
        Ok(if approved { result.with("approved", true) } else { result })
    }
}

impl WorkdirAnswerer<'_> {
    /// What a person is asked.
    fn asked(&self, call: &WorkdirCall, because: &str) -> String {
        let mut asked = format!("{}: {}", question(call), shown(because));
        if call.tool == "shell" {
            asked.extend(self.gaps().sentences().iter().flat_map(|sentence| ["\n(", sentence, ")"]));
        }
        asked
    }
}

/// Commands that the judge lets run, and their variables.
struct PlainJob {
    run: Vec<SimpleCommand>,
    env: BTreeMap<String, String>,
}

impl PlainJob {
    fn of(judgement: &Value) -> Result<Self, serde_json::Error> {
        let run = serde_json::from_value(judgement["run"].clone())?;
        let env = judgement.get("env").cloned().map(serde_json::from_value).transpose()?;
        Ok(Self { run, env: env.unwrap_or_default() })
    }
}

/// The settings of the repository in the working directory, which may name programs, or why they are unknown, for the judge.
fn git_of(root: &WorkRoot) -> Value {
    let place = |name: &str| root.path.join(".git").join(name);
    let kind = root.path.join(".git").symlink_metadata();
    let doubt = match kind {
        Ok(kind) if !kind.is_dir() => "the repository of this directory is elsewhere",
        Err(_) if root.path.join("HEAD").exists() => "the directory itself may be a repository",
        _ if ["commondir", "config.worktree"].iter().any(|name| place(name).symlink_metadata().is_ok()) => {
            "the repository includes settings from elsewhere"
        }
        _ => "",
    };
    match root.read(".git/config") {
        Ok((config, false)) => json!({ "config": config, "doubt": doubt }),
        Ok((_, true)) => json!({ "config": "", "doubt": "the settings of the repository are too long" }),
        Err(_) if place("config").symlink_metadata().is_ok() => {
            json!({ "config": "", "doubt": "the settings of the repository cannot be read" })
        }
        Err(_) => json!({ "config": "", "doubt": doubt }),
    }
}

impl Answerer for WorkdirAnswerer<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let described = request.call().transpose().map_err(Refusal::failed)?;
        let call = described.map_or_else(|| Err("the node has no `tool`".to_owned()), |call| WorkdirCall::of(&call.arguments));
        let call = call.map(|call| call.within(request)).map_err(|why| {
            let message = format!("`{}` cannot make the call of `{}`: {why}", self.name, request.node_name());
            let help =
                "its `arguments` give `#{ tool, args, limits: #{ output, seconds, processes, memory }, hosts, vars, context }`";
            Refusal::failed(Diagnostic::error("agent/workdir", message).help(help))
        })?;
        let interrupted = request.last_answerer().as_ref() == Some(&self.name);
        let prompt_request = request.dispatch(&self.name)?;
        let outcome = self.outcome(&call, request, prompt_request.id, interrupted).map_err(Refusal::failed)?;
        let agent = Agent::new(self.name.clone(), prompt_request.id, None);
        Ok(NodeAnswer { artifact: Arc::new(outcome), by: TOOL, checked: true, agent: Some(Box::new(agent)) })
    }
}

/// Gets a page of a server that the call may use.
fn http_get(call: &WorkdirCall) -> CallResult {
    let url = match call.text("url") {
        Ok(url) => url,
        Err(error) => return CallResult::failed(error.text()),
    };
    let Ok(uri) = url.parse::<ureq::http::Uri>() else { return CallResult::failed(format!("`{url}` is not a URL")) };
    let host = uri.host().unwrap_or_default();
    if !matches!(uri.scheme_str(), Some("http" | "https")) || !call.hosts.iter().any(|allowed| allowed == host) {
        return CallResult::failed(format!("`{host}` is not on the list of servers (`--allow-host`)")).with("refused", true);
    }
    let got = ureq::http::Request::get(uri).body(()).map_err(ureq::Error::from);
    match got.and_then(|get| HttpClient::new(call.limits.time, MAX_OUTPUT).send(get, None)) {
        Ok(response) if (200..300).contains(&response.status) => CallResult { said: Ok(response.body), more: Map::new() },
        Ok(response) => CallResult::failed(format!("it returned {}", response.status))
            .with("output", trimmed(&response.body, call.limits.output)),
        Err(error) => CallResult::failed(error.to_string()),
    }
}

/// A call as a person is asked about it: in one line, with the arguments as JSON.
fn question(call: &WorkdirCall) -> String {
    format!("{} {}", shown(&call.tool), shown(&Value::from(call.args.clone()).to_string()))
}

/// A text without what could change how a line of it looks: control and format characters are escaped.
fn shown(text: &str) -> String {
    let plain = |c: char| c == ' ' || c.is_ascii_graphic() || !c.is_ascii() && c.is_alphanumeric();
    text.chars().map(|c| if plain(c) { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

/// Paths as the system resolves them. What is not there yet is resolved as far as it is.
fn real(paths: &[PathBuf]) -> Vec<PathBuf> {
    let resolved = |path: &PathBuf| {
        path.ancestors()
            .find_map(|there| Some(there.canonicalize().ok()?.join(path.strip_prefix(there).ok()?)))
            .unwrap_or_else(|| path.clone())
    };
    // A joined empty path would end with a separator, which `Path` does not compare.
    paths.iter().map(resolved).collect()
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The first third and the last two thirds of what may be kept of a text.
fn trimmed(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let first: String = text.chars().take(most / 3).collect();
    let last: String = text.chars().skip(count - (most - most / 3)).collect();
    format!("{first}\n[{} characters left out]\n{last}", count - most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_keeps_its_beginning_and_its_end() {
        assert_eq!(trimmed("abc", 3), "abc");
        assert_eq!(trimmed("abcdefghij", 6), "ab\n[4 characters left out]\nghij");
    }

    #[test]
    fn a_question_is_one_plain_line() {
        let args = json!({ "command": "ls\n[y/N] \u{202e}x", "b": "\u{1b}[2J\u{a0}ä" });
        let limits = json!({ "output": 1, "seconds": 1, "processes": 1, "memory": 64 });
        let whole = json!({ "tool": "shell", "args": args, "limits": limits });
        let call = WorkdirCall::of(whole.as_object().expect("a map")).expect("a call");
        assert_eq!(question(&call), r#"shell {"b":"\u001b[2J\u{a0}ä","command":"ls\n[y/N] \u{202e}x"}"#);
        assert_eq!(call.misfit().as_deref(), Some("`shell` takes no argument `b`; it takes `command`"));
    }

    #[test]
    fn a_call_is_described_wholly() {
        let read =
            |value: Value| WorkdirCall::of(value.as_object().expect("a map")).map(|call| call.tool).map_err(|why| why.len() > 10);
        let limits = json!({ "output": 1, "seconds": 1, "processes": 1, "memory": 64 });
        assert_eq!(read(json!({ "tool": "glob", "args": {}, "limits": limits })), Ok("glob".to_owned()));
        for bad in [json!({}), json!({ "tool": "glob" }), json!({ "tool": "glob", "args": {}, "limits": {} })] {
            assert_eq!(read(bad), Err(true));
        }
    }
}
