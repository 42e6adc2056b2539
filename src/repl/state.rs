//! Executes commands and expressions.

use super::bind::{self, Bound};
use super::command::{self, CODE, COMMANDS, ReplCommand, Verb};
use super::interrupt::Interrupt;
use super::place::{ReplPosition, no_run};
use super::{data, diff, flip, graph, show, signatures, why};
use crate::exit::Exit;
use crate::ui::{Fields, FunctionDocs, Ui, plain};
use asterisk_decisions::{DecisionMade, PageLine, evidence_page, root_page, verdict_page};
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_pipeline::draw::Picture;
use asterisk_session::{RouteState, SessionError};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// The minimum time of a measurement.
const MEASURE_TIME: Duration = Duration::from_millis(50);
/// The maximum number of cases listed.
const MAX_LISTED: usize = 100;

/// Names that cannot be bound.
const RESERVED: &[&str] = &["artifact", "state", "vars", bind::LAST, bind::PARAMS];

/// A running session.
pub(super) struct ReplState {
    pub(super) ui: Ui,
    pub(super) place: ReplPosition,
    pub(super) interrupt: Interrupt,
}

/// Whether the session continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplFlow {
    Continue,
    /// The session ends, with an exit code if one was given.
    Quit(Option<Exit>),
    /// A wait was interrupted.
    Interrupted,
}

pub(super) type CommandDone = Result<ReplFlow, SessionError>;

impl ReplState {
    /// Executes a command or expression.
    pub(super) fn execute(&mut self, text: &Source) -> CommandDone {
        let bad_request = |diagnostic| SessionError::BadRequest(diagnostic);
        match command::parse(text).map_err(bad_request)? {
            Some((command, argument, at)) => self.command(text, command, argument, at),
            None => self.expression(text, text.text(), 0, false),
        }
    }

    fn command(&mut self, text: &Source, command: &'static ReplCommand, argument: &str, at: usize) -> CommandDone {
        let given = !argument.is_empty();
        match command.verb {
            Verb::Cases => self.cases(argument),
            Verb::Case if given => {
                self.place.case(text, argument, at)?;
                self.print_position()
            }
            Verb::Steps => self.steps(),
            Verb::Evidence => self.page(&evidence_page(&self.place.evidence()?, self.ui.width())),
            Verb::Verdict => {
                let verdict = self.place.verdict(Some(argument).filter(|_| given))?;
                self.page(&verdict_page(&verdict, self.ui.width()))
            }
            Verb::Root => {
                let root = self.place.root(Some(argument).filter(|_| given))?;
                self.page(&root_page(&root, self.ui.width()))
            }
            Verb::Try if given => self.lines(&signatures::matches(&self.place.here()?.plan.evidence, argument)),
            Verb::At if given => {
                self.place.go(text, argument, at)?;
                self.print_position()
            }
            Verb::At => self.print_position(),
            Verb::Next | Verb::Back => self.step_by_one(text, command.verb == Verb::Next),
            Verb::Why if given => {
                let edge = self.place.here()?.edge(text, argument, at)?;
                self.page(&why::edge(&self.place, edge, self.ui.width())?)
            }
            Verb::Why => self.page(&why::decision(&self.place, self.ui.width())?),
            Verb::Flip if given => {
                let here = self.place.here()?;
                let edge = here.edge(text, argument, at)?;
                self.lines(&flip::flip(&here, edge))
            }
            Verb::Diff => self.diff(text, argument, at),
            Verb::Set if given => self.set(text, argument, at),
            Verb::Set => {
                let vars = &self.place.here()?.plan.vars;
                let mark = |name: &str| if self.place.set.contains_key(name) { " (set)" } else { "" };
                self.lines(&vars.iter().map(|(name, value)| format!("{name} = {value}{}", mark(name))).collect::<Vec<_>>())
            }
            Verb::Unset => self.unset(text, argument, at),
            Verb::Load if given => {
                self.place.artifact = Some(data::read(text, argument, at, "an artifact", self.ui.environment().input())?);
                self.print_decision()
            }
            Verb::State if given => {
                self.place.state = Some(data::read::<RouteState>(text, argument, at, "a state", self.ui.environment().input())?);
                self.print_decision()
            }
            Verb::Reload => self.reload(text, argument, at),
            Verb::Follow => self.follow(),
            Verb::Graph => self.graph(text, argument, at),
            Verb::Doc if given => self.doc(text, argument, at),
            Verb::Time if given => self.time(text, argument, at),
            Verb::Full if given => self.expression(text, argument, at, true),
            Verb::SaveAsTest => self.save(argument),
            Verb::Help => self.help(text, argument, at),
            Verb::Quit => quit(text, argument, at),
            _ => {
                let diagnostic = Diagnostic::error(CODE, format!("`:{}` lacks its {}", command.name, command.usage));
                let end = text.text().trim_end().len();
                let diagnostic = diagnostic.label(text, Span::new(end - command.name.len() - 1, end), "");
                Err(SessionError::BadRequest(Box::new(diagnostic.help(command::usage(command)))))
            }
        }
    }

    fn expression(&mut self, text: &Source, part: &str, at: usize, full: bool) -> CommandDone {
        let here = self.place.here_for(part)?;
        let Some(Bound { names, end, valued }) = bind::bound(part, |name| self.place.bound.contains_key(name)) else {
            return self.result(here.evaluate(&here.compile(text, at, part, "")?)?, full);
        };
        if let Some(reserved) = names.iter().find(|name| RESERVED.contains(&name.as_str())) {
            let message = format!("`{reserved}` is defined by the session");
            return Err(SessionError::bad_request("repl/bind", message, Some("use another name".into())));
        }
        let value = if valued { Some(here.evaluate(&here.compile(text, at, part, "")?)?) } else { None };
        let statements = part[..end].trim_end().trim_end_matches(';');
        let values = here.evaluate(&here.compile(text, at, statements, &format!("\n;[{}]", names.join(", ")))?)?;
        let values = values.as_array().cloned().unwrap_or_default();
        let mut lines = Vec::with_capacity(names.len());
        for (name, value) in names.into_iter().zip(values) {
            lines.push(format!("{name} = {}", show::short(&value)));
            self.place.bound.insert(name, value);
        }
        match value {
            Some(value) => self.result(value, full),
            None => self.lines(&lines),
        }
    }

    /// Prints the result of an expression, and keeps it for `_`.
    fn result(&mut self, value: Value, full: bool) -> CommandDone {
        let text = show::value(&value, full);
        self.place.last = Some(value);
        self.print(&text)
    }

    fn cases(&self, wanted: &str) -> CommandDone {
        let walked = self.place.walked.as_ref().ok_or_else(no_run)?;
        let cases = walked.decisions.record().store().cases(&walked.run)?;
        let mut table = self.ui.table(&["", "case", "name", "status", "path"]);
        let (mut listed, mut more) = (0, 0);
        for found in cases {
            if listed == MAX_LISTED && wanted.is_empty() {
                more += 1;
                continue;
            }
            let steps = walked.decisions.steps(&walked.run, &found.case.id)?;
            let path: Vec<&str> = steps.iter().map(|step| &*step.node).collect();
            let path = path.join(" ");
            if ![&found.case.id, &found.case.name, &path].iter().any(|text| text.contains(wanted)) {
                continue;
            }
            if listed == MAX_LISTED {
                more += 1;
                continue;
            }
            listed += 1;
            let mark = if found.case.id == walked.case { ">" } else { "" };
            table.row([mark, &found.case.id, &found.case.name, found.status.name(), &path]);
        }
        self.ui.out(&table.text());
        if more > 0 {
            self.print(&format!("and {more} more; :cases TEXT filters them by id, name or path"))?;
        }
        Ok(ReplFlow::Continue)
    }

    fn steps(&mut self) -> CommandDone {
        self.place.refresh()?;
        let walked = self.place.walked.as_ref().ok_or_else(no_run)?;
        let lines: Vec<String> = (0..walked.steps.len()).map(|number| self.line(number)).collect();
        match lines.as_slice() {
            [] => self.print("no steps of the case are recorded yet"),
            lines => self.lines(lines),
        }
    }

    /// A line about a step: whether it is the current one, its number, its outcome.
    pub(super) fn line(&self, number: usize) -> String {
        let Some(walked) = &self.place.walked else { return String::new() };
        let mark = if number == walked.at { '>' } else { ' ' };
        let path = &walked.steps[number].path;
        let number = number + 1;
        let path = if **path == *number.to_string() { String::new() } else { format!(" [{path}]") };
        format!("{mark} {number}{path}  {}", show::outcome_line(&walked.steps[number - 1]))
    }

    fn step_by_one(&mut self, text: &Source, forward: bool) -> CommandDone {
        self.place.refresh()?;
        let walked = self.place.walked.as_mut().ok_or_else(no_run)?;
        let target = if forward { walked.at.checked_add(1) } else { walked.at.checked_sub(1) };
        match target.filter(|target| *target < walked.steps.len()) {
            Some(target) => self.place.go(text, &(target + 1).to_string(), 0)?,
            None => {
                let message = if forward { "this is the last step of the case" } else { "this is the first step of the case" };
                let help =
                    if forward { ":follow waits for more if the case is not done" } else { ":cases lists the other cases" };
                return Err(SessionError::bad_request("repl/step", message, Some(help.to_owned())));
            }
        }
        self.print_position()
    }

    /// Prints the current position.
    fn print_position(&self) -> CommandDone {
        match (&self.place.walked, self.place.step()) {
            (Some(walked), Some(step)) => {
                let (case, number, of) = (&walked.case, walked.at + 1, walked.steps.len());
                self.print(&format!("{case}, step {number} of {of}: {}", show::outcome_line(step)))?;
                if self.place.here()?.changed { self.print_now() } else { Ok(ReplFlow::Continue) }
            }
            (Some(walked), None) => self.print(&format!("{}: no steps yet", walked.case)),
            (None, _) => {
                let here = self.place.here()?;
                let node = if here.node.is_some() { here.node_name() } else { "no node" };
                self.print(&format!("{node} of {}", here.plan.pipeline.name.value))
            }
        }
    }

    /// Prints the decision here, if there is a node.
    pub(super) fn print_decision(&self) -> CommandDone {
        if self.place.here()?.node.is_some() { self.print_now() } else { Ok(ReplFlow::Continue) }
    }

    fn print_now(&self) -> CommandDone {
        let here = self.place.here()?;
        self.print(&format!("now: {}", show::decided(&here, &here.decide()?)))
    }

    fn diff(&self, text: &Source, argument: &str, at: usize) -> CommandDone {
        let walked = self.place.walked.as_ref().ok_or_else(no_run)?;
        let other = match (argument, walked.at) {
            ("", 0) => {
                let help = ":diff STEP compares with another step".to_owned();
                return Err(SessionError::bad_request("repl/step", "this is the first step", Some(help)));
            }
            ("", at) => at - 1,
            _ => self.place.find(text, argument, at)?,
        };
        let (before, after) = (self.place.here_at(other)?, self.place.here()?);
        let mut lines = Vec::new();
        for ((name, before), (_, after)) in before.inputs().iter().zip(after.inputs().iter()) {
            lines.extend(diff::differences(name, &before.json(), &after.json()));
        }
        match lines.as_slice() {
            [] => self.print("no differences"),
            lines => self.lines(lines),
        }
    }

    fn graph(&self, text: &Source, argument: &str, at: usize) -> CommandDone {
        let here = self.place.here()?;
        let picture =
            || -> Result<Picture, SessionError> { Ok(Picture::new(&here.plan.pipeline, &self.place.session.element_colours()?)) };
        match argument {
            "" => {
                let steps = self.place.walked.iter().flat_map(|walked| walked.steps.iter().take(walked.at));
                let visited: BTreeSet<String> = steps.map(|step| step.node.to_string()).collect();
                self.print(&graph::outline(&here, &visited))
            }
            "mermaid" => self.print(&picture()?.mermaid()),
            "dot" => self.print(&picture()?.dot()),
            _ => Err(wrong_word(text, argument, at, "`:graph`, `:graph mermaid` or `:graph dot`")),
        }
    }

    fn doc(&self, text: &Source, argument: &str, at: usize) -> CommandDone {
        let here = self.place.here()?;
        if let Ok(edge) = here.edge(text, argument, at) {
            return self.page(&why::edge(&self.place, edge, self.ui.width())?);
        }
        if let Some(given) = Fields::named(argument, || vec![here.plan.pipeline.as_ref().clone()]) {
            return self.print(&Fields::text(&given));
        }
        let labelled = |diagnostic: Diagnostic| {
            SessionError::BadRequest(Box::new(diagnostic.label(text, Span::new(at, at + argument.len()), "")))
        };
        let functions = FunctionDocs::named(&here.project.library, Some(argument)).map_err(labelled)?;
        self.print(functions.text().trim())
    }

    fn time(&self, text: &Source, argument: &str, at: usize) -> CommandDone {
        let here = self.place.here_for(argument)?;
        let function = here.compile(text, at, argument, "")?;
        let clock = &self.place.session.setup().clock;
        let (began, start, mut count) = (clock.now(), Instant::now(), 0_u32);
        while count == 0 || start.elapsed() < MEASURE_TIME {
            here.evaluate(&function)?;
            count += 1;
        }
        let each = start.elapsed() / count;
        // Some tests stop the clock for reproducible sessions.
        if clock.now() == began {
            return self.print("not measured: the clock stands still");
        }
        self.print(&format!("{each:.1?} each, of {count} evaluations"))
    }

    fn help(&self, text: &Source, argument: &str, at: usize) -> CommandDone {
        let name = argument.trim_start_matches(':');
        if name.is_empty() {
            return self.print(&command::help());
        }
        match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => self.print(&command::usage(command)),
            None => Err(wrong_word(text, argument, at, ":help lists the commands")),
        }
    }

    /// Saves the decision here, with its overrides, as a test.
    fn save(&self, file: &str) -> CommandDone {
        let here = self.place.here()?;
        let considered = match here.decide()? {
            Ok(decision) => decision.considered,
            Err((considered, _)) => considered,
        };
        let origin = self.place.walked.as_ref().map(|walked| self.place.session.origin(&walked.run)).transpose()?;
        let (session, pipeline) = match &origin {
            Some(origin) => (&origin.session, Some(&origin.pipeline)),
            None => (&self.place.session, self.place.pipeline.as_ref()),
        };
        let [artifact, state, vars] = here.inputs().map(|(_, view)| view.json());
        let part = here.project.of_part(here.step.as_ref().map_or("", |step| &*step.path));
        let pipeline = pipeline.filter(|_| part.is_none());
        let (project, node) = (part.as_ref().unwrap_or(&here.project), here.node_name());
        let made = DecisionMade {
            project,
            pipeline: pipeline.map(String::as_str),
            node,
            artifact,
            state,
            vars,
            considered: &considered,
            changed: here.changed,
        };
        let saved = made.save(session, Some(file).filter(|file| !file.is_empty()).map(Path::new))?;
        self.lines(&[saved.text.trim_end().to_owned(), saved.location()])
    }

    #[allow(clippy::unnecessary_wraps, reason = "the last thing that some commands do")]
    fn page(&self, lines: &[PageLine]) -> CommandDone {
        self.ui.page(lines);
        Ok(ReplFlow::Continue)
    }

    pub(super) fn lines(&self, lines: &[String]) -> CommandDone {
        self.print(&lines.join("\n"))
    }

    #[allow(clippy::unnecessary_wraps, reason = "the last thing that most commands do")]
    pub(super) fn print(&self, text: &str) -> CommandDone {
        self.ui.out(&plain(text));
        Ok(ReplFlow::Continue)
    }
}

pub(super) fn wrong_word(text: &Source, word: &str, at: usize, help: &str) -> SessionError {
    let diagnostic = Diagnostic::error(CODE, format!("`{word}` is not valid here"));
    SessionError::BadRequest(Box::new(diagnostic.label(text, Span::new(at, at + word.len()), "").help(help)))
}

fn quit(text: &Source, argument: &str, at: usize) -> CommandDone {
    if argument.is_empty() {
        return Ok(ReplFlow::Quit(None));
    }
    match argument.parse().ok().and_then(Exit::of) {
        Some(exit) => Ok(ReplFlow::Quit(Some(exit))),
        None => {
            let diagnostic = Diagnostic::error(CODE, format!("`{argument}` is not an exit code of asterisk"));
            let diagnostic = diagnostic.label(text, Span::new(at, at + argument.len()), "");
            Err(SessionError::BadRequest(Box::new(diagnostic.help("0 exit codes are 0 to 6 and 130 (see `asterisk help`)"))))
        }
    }
}
