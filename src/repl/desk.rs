//! What each command and each expression does.

use super::command::{self, CODE, COMMANDS, Command, Verb};
use super::interrupt::Interrupt;
use super::place::{Place, no_run};
use super::{diff, flip, graph, show, why};
use crate::diag::{Diagnostic, Diagnostics, Source, Span, did_you_mean};
use crate::exit::Exit;
use crate::files::read_input;
use crate::pipeline::draw::Picture;
use crate::project::Answers;
use crate::session::{RouteState, SessionError};
use crate::store::Status;
use crate::ui::{Functions, Ui, plain};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a walk that goes on is looked at.
const EVERY: Duration = Duration::from_millis(100);
/// How long an expression is measured.
const MEASURED: Duration = Duration::from_millis(50);
/// The most cases that are listed.
const LISTED: usize = 100;

/// A session at work.
pub(super) struct Desk {
    pub(super) ui: Ui,
    pub(super) place: Place,
    pub(super) interrupt: Interrupt,
}

/// Whether the session goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goes {
    On,
    /// It ends, with that code if one was given.
    Quit(Option<Exit>),
    /// What was waited for was interrupted.
    Interrupted,
}

type Done = Result<Goes, SessionError>;

impl Desk {
    /// Does what a typed text says.
    pub(super) fn take(&mut self, text: &Source) -> Done {
        let asked = |diagnostic| SessionError::Asked(diagnostic);
        match command::parse(text).map_err(asked)? {
            Some((command, argument, at)) => self.command(text, command, argument, at),
            None => self.expression(text, text.text(), 0, false),
        }
    }

    fn command(&mut self, text: &Source, command: &'static Command, argument: &str, at: usize) -> Done {
        let given = !argument.is_empty();
        match command.verb {
            Verb::Cases => self.cases(argument),
            Verb::Case if given => {
                self.place.case(text, argument, at)?;
                self.arrived()
            }
            Verb::Steps => self.steps(),
            Verb::At if given => {
                self.place.go(text, argument, at)?;
                self.arrived()
            }
            Verb::At => self.arrived(),
            Verb::Next | Verb::Back => self.one_on(text, command.verb == Verb::Next),
            Verb::Why if given => {
                let here = self.place.here()?;
                let edge = here.edge(text, argument, at)?;
                self.lines(&why::edge(&here, edge))
            }
            Verb::Why => {
                let (lines, failure) = why::decision(&self.place.here()?)?;
                self.lines(&lines)?;
                match failure {
                    Some(failure) => Err(SessionError::Texts(Diagnostics::from(*failure.diagnostic))),
                    None => Ok(Goes::On),
                }
            }
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
                self.place.artifact = Some(data(text, argument, at, "an artifact")?);
                self.decided()
            }
            Verb::State if given => {
                self.place.state = Some(data::<RouteState>(text, argument, at, "a state")?);
                self.decided()
            }
            Verb::Reload => self.reload(text, argument, at),
            Verb::Follow => self.follow(),
            Verb::Graph => self.graph(text, argument, at),
            Verb::Doc if given => self.doc(text, argument, at),
            Verb::Time if given => self.time(text, argument, at),
            Verb::Full if given => self.expression(text, argument, at, true),
            Verb::SaveAsTest if given => Err(SessionError::asked(CODE, "tests cannot be saved yet", None)),
            Verb::Help => self.help(text, argument, at),
            Verb::Quit => quit(text, argument, at),
            _ => {
                let diagnostic = Diagnostic::error(CODE, format!("`:{}` lacks its {}", command.name, command.usage));
                let end = text.text().trim_end().len();
                let diagnostic = diagnostic.label(text, Span::new(end - command.name.len() - 1, end), "");
                Err(SessionError::Asked(Box::new(diagnostic.help(command::usage(command)))))
            }
        }
    }

    fn expression(&self, text: &Source, part: &str, at: usize, full: bool) -> Done {
        let here = self.place.here()?;
        let function = here.compile(text, at, part)?;
        self.say(&show::value(&here.evaluate(&function)?, full))
    }

    fn cases(&self, wanted: &str) -> Done {
        let walked = self.place.walked.as_ref().ok_or_else(no_run)?;
        let cases = walked.decisions.record().store().cases(&walked.run)?;
        let mut table = self.ui.table(&["", "case", "name", "status", "path"]);
        let (mut listed, mut more) = (0, 0);
        for found in cases {
            if listed == LISTED {
                more += 1;
                continue;
            }
            let steps = walked.decisions.steps(&walked.run, &found.case.id)?;
            let path: Vec<&str> = steps.iter().map(|step| &*step.node).collect();
            let path = path.join(" ");
            if ![&found.case.id, &found.case.name, &path].iter().any(|text| text.contains(wanted)) {
                continue;
            }
            listed += 1;
            let mark = if found.case.id == walked.case { ">" } else { "" };
            table.row([mark, &found.case.id, &found.case.name, found.status.name(), &path]);
        }
        self.ui.out(&table.text());
        if more > 0 {
            self.say(&format!("and {more} more; :cases TEXT lists those whose id, name or path has TEXT"))?;
        }
        Ok(Goes::On)
    }

    fn steps(&mut self) -> Done {
        self.place.refresh()?;
        let walked = self.place.walked.as_ref().ok_or_else(no_run)?;
        let lines: Vec<String> = (0..walked.steps.len()).map(|number| self.line(number)).collect();
        match lines.as_slice() {
            [] => self.say("the case has no steps yet"),
            lines => self.lines(lines),
        }
    }

    /// A line about a step: whether the session is there, its number, what came of it.
    fn line(&self, number: usize) -> String {
        let Some(walked) = &self.place.walked else { return String::new() };
        let mark = if number == walked.at { '>' } else { ' ' };
        let path = &walked.steps[number].path;
        let number = number + 1;
        let path = if **path == *number.to_string() { String::new() } else { format!(" [{path}]") };
        format!("{mark} {number}{path}  {}", show::went(&walked.steps[number - 1]))
    }

    fn one_on(&mut self, text: &Source, on: bool) -> Done {
        self.place.refresh()?;
        let walked = self.place.walked.as_mut().ok_or_else(no_run)?;
        let there = if on { walked.at.checked_add(1) } else { walked.at.checked_sub(1) };
        match there.filter(|there| *there < walked.steps.len()) {
            Some(there) => self.place.go(text, &(there + 1).to_string(), 0)?,
            None => {
                let message = if on { "this is the last step of the case" } else { "this is the first step of the case" };
                let help = if on { ":follow waits for more, if the case is not done" } else { ":cases lists the other cases" };
                return Err(SessionError::asked("repl/step", message, Some(help.to_owned())));
            }
        }
        self.arrived()
    }

    /// Says where the session is.
    fn arrived(&self) -> Done {
        match (&self.place.walked, self.place.step()) {
            (Some(walked), Some(step)) => {
                let (case, number, of) = (&walked.case, walked.at + 1, walked.steps.len());
                self.say(&format!("{case}, step {number} of {of}: {}", show::went(step)))?;
                if self.place.here()?.changed { self.now() } else { Ok(Goes::On) }
            }
            (Some(walked), None) => self.say(&format!("{}: no steps yet", walked.case)),
            (None, _) => {
                let here = self.place.here()?;
                let node = if here.node.is_some() { here.node_name() } else { "no node" };
                self.say(&format!("{node} of {}", here.plan.pipeline.name.value))
            }
        }
    }

    /// Says what is decided here now, if a node is.
    fn decided(&self) -> Done {
        if self.place.here()?.node.is_some() { self.now() } else { Ok(Goes::On) }
    }

    fn now(&self) -> Done {
        let here = self.place.here()?;
        match here.decide()? {
            Ok(decision) => {
                self.say(&format!("now: {}", show::choice(&here.plan, here.node_name(), decision.choice.as_ref())))
            }
            Err((_, failure)) => Err(SessionError::Texts(Diagnostics::from(*failure.diagnostic))),
        }
    }

    fn diff(&self, text: &Source, argument: &str, at: usize) -> Done {
        let walked = self.place.walked.as_ref().ok_or_else(no_run)?;
        let other = match (argument, walked.at) {
            ("", 0) => {
                let help = ":diff STEP compares with that one".to_owned();
                return Err(SessionError::asked("repl/step", "there is no step before the first", Some(help)));
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
            [] => self.say("nothing differs"),
            lines => self.lines(lines),
        }
    }

    fn set(&mut self, text: &Source, argument: &str, at: usize) -> Done {
        let Some((name, value)) = argument.split_once('=').filter(|(name, _)| !name.trim().is_empty()) else {
            let diagnostic = Diagnostic::error(CODE, format!("`{argument}` is not NAME=VALUE"));
            let diagnostic = diagnostic.label(text, Span::new(at, at + argument.len()), "");
            return Err(SessionError::Asked(Box::new(diagnostic.help("write for example :set recall_hit=0.9"))));
        };
        let value = serde_json::from_str(value.trim()).unwrap_or_else(|_| Value::String(value.trim().to_owned()));
        let before = self.place.set.insert(name.trim().to_owned(), value);
        if let Err(error) = self.place.here() {
            // What does not fit is not set.
            match before {
                Some(before) => drop(self.place.set.insert(name.trim().to_owned(), before)),
                None => drop(self.place.set.remove(name.trim())),
            }
            return Err(error);
        }
        self.decided()
    }

    fn unset(&mut self, text: &Source, argument: &str, at: usize) -> Done {
        if argument.is_empty() {
            self.place.set.clear();
        } else if self.place.set.remove(argument).is_none() {
            let diagnostic = Diagnostic::error(CODE, format!("`{argument}` is not set here"));
            let hint = did_you_mean(argument, self.place.set.keys().map(String::as_str));
            let diagnostic = diagnostic.label(text, Span::new(at, at + argument.len()), "").maybe_help(hint);
            return Err(SessionError::Asked(Box::new(diagnostic)));
        }
        self.decided()
    }

    fn reload(&mut self, text: &Source, argument: &str, at: usize) -> Done {
        match argument {
            "recorded" if self.place.walked.is_some() => {
                self.place.now = None;
                self.say("by the recorded texts")?;
            }
            "" => {
                let before = self.place.now.clone();
                let session = &self.place.session;
                let project = session.project_after(self.place.pipeline.as_deref(), Answers::Others, before.as_deref())?;
                self.place.now = Some(Arc::new(project));
                if let Err(error) = self.place.here() {
                    self.place.now = before;
                    return Err(error);
                }
                self.say("by the texts of now")?;
            }
            _ => return Err(wrong_word(text, argument, at, "`:reload` or, with a run, `:reload recorded`")),
        }
        self.decided()
    }

    /// Shows steps as another process makes them.
    fn follow(&mut self) -> Done {
        self.place.walked.as_ref().ok_or_else(no_run)?;
        let mut told = self.place.walked.as_ref().map_or(0, |walked| walked.steps.len());
        let interrupt = self.interrupt.clone();
        let mut status = Status::Running;
        let whole = interrupt.wait(EVERY, || -> Result<bool, SessionError> {
            // The status first: a case that is done has all its steps.
            if let Some(walked) = &self.place.walked {
                status = status_of(walked)?;
            }
            self.place.refresh()?;
            let count = self.place.walked.as_ref().map_or(0, |walked| walked.steps.len());
            let open = self.place.walked.as_ref().and_then(|walked| walked.steps.last());
            // A step that is under way is told when it is through.
            let through = match open {
                Some(step) if step.went == crate::trace::Went::Open => count - 1,
                _ => count,
            };
            for number in told.min(through)..through {
                if let Some(walked) = &mut self.place.walked {
                    walked.at = number;
                }
                self.say(&self.line(number))?;
            }
            told = told.max(through);
            Ok(matches!(status, Status::Waiting | Status::Running))
        })?;
        if !whole {
            return Ok(Goes::Interrupted);
        }
        self.place.artifact = None;
        self.place.state = None;
        self.say(&format!("the case is {status}"))
    }

    fn graph(&self, text: &Source, argument: &str, at: usize) -> Done {
        let here = self.place.here()?;
        let picture = || -> Result<Picture, SessionError> {
            Ok(Picture::new(&here.plan.pipeline, &self.place.session.element_colours()?))
        };
        match argument {
            "" => {
                let steps = self.place.walked.iter().flat_map(|walked| walked.steps.iter().take(walked.at));
                let been: BTreeSet<String> = steps.map(|step| step.node.to_string()).collect();
                self.say(&graph::outline(&here, &been))
            }
            "mermaid" => self.say(&picture()?.mermaid()),
            "dot" => self.say(&picture()?.dot()),
            _ => Err(wrong_word(text, argument, at, "`:graph`, `:graph mermaid` or `:graph dot`")),
        }
    }

    fn doc(&self, text: &Source, argument: &str, at: usize) -> Done {
        let here = self.place.here()?;
        if let Ok(edge) = here.edge(text, argument, at) {
            return self.lines(&why::edge(&here, edge));
        }
        let labelled = |diagnostic: Diagnostic| {
            SessionError::Asked(Box::new(diagnostic.label(text, Span::new(at, at + argument.len()), "")))
        };
        let functions = Functions::named(&here.project.library, Some(argument)).map_err(labelled)?;
        self.say(functions.text().trim())
    }

    fn time(&self, text: &Source, argument: &str, at: usize) -> Done {
        let here = self.place.here()?;
        let function = here.compile(text, at, argument)?;
        let clock = &self.place.session.setup().clock;
        let (began, start, mut count) = (clock.now(), Instant::now(), 0_u32);
        while count == 0 || start.elapsed() < MEASURED {
            here.evaluate(&function)?;
            count += 1;
        }
        let each = start.elapsed() / count;
        // A clock that stands still is there for sessions that are the same each time.
        if clock.now() == began {
            return self.say("not measured: the clock stands still");
        }
        self.say(&format!("{each:.1?} each, of {count} evaluations"))
    }

    fn help(&self, text: &Source, argument: &str, at: usize) -> Done {
        let name = argument.trim_start_matches(':');
        if name.is_empty() {
            return self.say(&command::help());
        }
        match COMMANDS.iter().find(|command| command.name == name) {
            Some(command) => self.say(&command::usage(command)),
            None => Err(wrong_word(text, argument, at, ":help lists the commands")),
        }
    }

    fn lines(&self, lines: &[String]) -> Done {
        self.say(&lines.join("\n"))
    }

    #[allow(clippy::unnecessary_wraps, reason = "the last thing that most commands do")]
    fn say(&self, text: &str) -> Done {
        self.ui.out(&plain(text));
        Ok(Goes::On)
    }
}

fn status_of(walked: &super::place::Walked) -> Result<Status, SessionError> {
    let store = walked.decisions.record().store();
    let found = store.cases(&walked.run)?.into_iter().find(|case| case.case.id == walked.case);
    let of_case = found.map_or(Status::Error, |case| case.status);
    // Of a run that was left, no case goes on.
    let of_run = store.run(&walked.run)?.status;
    let goes_on = matches!(of_case, Status::Waiting | Status::Running);
    Ok(if goes_on && of_run != Status::Running { of_run } else { of_case })
}

fn wrong_word(text: &Source, word: &str, at: usize, help: &str) -> SessionError {
    let diagnostic = Diagnostic::error(CODE, format!("`{word}` makes no sense here"));
    SessionError::Asked(Box::new(diagnostic.label(text, Span::new(at, at + word.len()), "").help(help)))
}

fn quit(text: &Source, argument: &str, at: usize) -> Done {
    if argument.is_empty() {
        return Ok(Goes::Quit(None));
    }
    match argument.parse().ok().and_then(Exit::of) {
        Some(exit) => Ok(Goes::Quit(Some(exit))),
        None => {
            let diagnostic = Diagnostic::error(CODE, format!("`{argument}` is no exit code of asterisk"));
            let diagnostic = diagnostic.label(text, Span::new(at, at + argument.len()), "");
            Err(SessionError::Asked(Box::new(diagnostic.help("0 to 6 and 130 are; `asterisk help` and the README say what they mean"))))
        }
    }
}

/// JSON that was typed, or that a file has.
fn data<T: DeserializeOwned>(text: &Source, argument: &str, at: usize, what: &str) -> Result<T, SessionError> {
    let typed = argument.starts_with(['{', '[', '"']) || serde_json::from_str::<Value>(argument).is_ok();
    let file;
    let (source, part, start) = if typed {
        (text, argument, at)
    } else {
        file = read_input(Path::new(argument))?;
        (&file, file.text(), 0)
    };
    serde_json::from_str(part).map_err(|error| {
        let there = Source::new("", part).offset(error.line(), error.column()).min(part.len().saturating_sub(1));
        let said = error.to_string();
        let said = said.split(" at line ").next().unwrap_or(&said);
        let diagnostic = Diagnostic::error("input/json", format!("this is not {what}: {said}"));
        SessionError::Texts(diagnostic.label(source, Span::new(start + there, start + there + 1), "here").into())
    })
}
