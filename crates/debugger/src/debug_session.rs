//! A case that is being debugged: the moment it stands at, what it stops at, and what it reports on the way.

use crate::break_condition::MessagePart;
use crate::breakpoints::{Breakpoints, SetBreakpoint};
use crate::case::{DebuggedCase, WalkStep};
use crate::expressions::Expressions;
use crate::fault::DebugFault;
use crate::frames::DebugFrame;
use crate::text_book::TextPlace;
use crate::timeline::{Motion, WalkMoment};
use crate::unit::{UnitKind, WalkUnit};
use crate::variables::VariableReferences;
use asterisk_decisions::StepEnd;
use asterisk_diag::Diagnostic;
use asterisk_script::probe::InspectedValue;
use std::cell::RefCell;
use tempfile::TempDir;

/// A case that is being debugged.
pub(crate) struct DebugSession {
    pub(crate) case: DebuggedCase,
    pub(crate) now: WalkMoment,
    /// The last moment that was reported about.
    reported: Option<WalkMoment>,
    pub(crate) references: VariableReferences,
    frames: Option<Vec<DebugFrame>>,
    expressions: Expressions,
    /// The failure that it stopped at.
    pub(crate) failure: Option<DebugFailure>,
    stop_at_end: bool,
    pub(crate) is_over: bool,
    /// The directory of the store, if it is removed with the session.
    _dir: Option<TempDir>,
}

/// A failure: of a rule, or of the walk.
#[derive(Clone, Debug)]
pub(crate) struct DebugFailure {
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) diagnostic: Option<Box<Diagnostic>>,
}

/// A line for the client's console.
#[derive(Clone, Debug)]
pub(crate) struct ConsoleLine {
    pub(crate) category: &'static str,
    pub(crate) text: String,
    pub(crate) place: Option<TextPlace>,
}

/// Where a motion ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    Stopped {
        reason: &'static str,
        breakpoints: Vec<i64>,
    },
    /// The case is over.
    Over,
}

impl DebugSession {
    pub(crate) fn new(case: DebuggedCase, dir: Option<TempDir>, stop_at_end: bool) -> Self {
        Self {
            case,
            now: WalkMoment::default(),
            reported: None,
            references: VariableReferences::default(),
            frames: None,
            expressions: Expressions::default(),
            failure: None,
            stop_at_end,
            is_over: false,
            _dir: dir,
        }
    }

    /// Begins at the first moment: stops there, or goes on to the first breakpoint.
    pub(crate) fn begin(
        &mut self,
        breakpoints: &Breakpoints,
        stop_on_entry: bool,
        console: &mut Vec<ConsoleLine>,
    ) -> Result<Halt, DebugFault> {
        self.moved(WalkMoment::default());
        let step = self.case.step(0)?;
        self.report(&step, console);
        if stop_on_entry {
            return Ok(Halt::Stopped { reason: "entry", breakpoints: Vec::new() });
        }
        match self.check(breakpoints, &step, false, console)? {
            Some(halt) => Ok(halt),
            None => self.go(Motion::Continue, breakpoints, console),
        }
    }

    /// Moves until there is a reason to stop.
    pub(crate) fn go(
        &mut self,
        motion: Motion,
        breakpoints: &Breakpoints,
        console: &mut Vec<ConsoleLine>,
    ) -> Result<Halt, DebugFault> {
        let from = (self.now, self.case.depth(self.now)?);
        loop {
            let next = if motion.is_back() { self.case.before(self.now)? } else { self.case.after(self.now)? };
            let Some(next) = next else {
                self.moved(self.now);
                if motion.is_back() {
                    return Ok(Halt::Stopped { reason: "entry", breakpoints: Vec::new() });
                }
                self.is_over = true;
                return Ok(Halt::Over);
            };
            self.moved(next);
            let step = self.case.step(next.step)?;
            if !motion.is_back() {
                self.report(&step, console);
            }
            if let Some(halt) = self.check(breakpoints, &step, motion.is_back(), console)? {
                return Ok(halt);
            }
            if self.case.ends(motion, from, next)? {
                return Ok(Halt::Stopped { reason: "step", breakpoints: Vec::new() });
            }
            let is_end = step.units.get(next.unit).is_some_and(|unit| unit.kind == UnitKind::End);
            if is_end && self.stop_at_end && !motion.is_back() {
                return Ok(Halt::Stopped { reason: "end of the case", breakpoints: Vec::new() });
            }
        }
    }

    /// The stack at the current moment.
    pub(crate) fn frames(&mut self) -> Result<&[DebugFrame], DebugFault> {
        if self.frames.is_none() {
            self.frames = Some(self.case.stack(self.now)?);
        }
        Ok(self.frames.as_deref().unwrap_or_default())
    }

    /// Evaluates an expression at a frame; at the innermost one without.
    pub(crate) fn evaluate(&mut self, frame: Option<usize>, text: &str) -> Result<InspectedValue, DebugFault> {
        let at = frame.unwrap_or_default();
        let found = self.frames()?.get(at).cloned();
        let frame = found.ok_or_else(|| crate::fault::fault("unknown frameId"))?;
        self.evaluate_at(self.now, &frame, text)
    }

    fn evaluate_at(&self, moment: WalkMoment, frame: &DebugFrame, text: &str) -> Result<InspectedValue, DebugFault> {
        let names = self.case.names(moment, frame, text)?;
        let step = self.case.step(moment.step)?;
        self.expressions.evaluate((&step.project, &step.plan), &names, text)
    }

    fn moved(&mut self, to: WalkMoment) {
        self.now = to;
        self.frames = None;
        self.failure = None;
        self.references.clear();
    }

    /// Whether there is a reason to stop at the current moment, besides the end of a motion.
    fn check(
        &mut self,
        breakpoints: &Breakpoints,
        step: &WalkStep,
        is_back: bool,
        console: &mut Vec<ConsoleLine>,
    ) -> Result<Option<Halt>, DebugFault> {
        let moment = self.now;
        let stopped = |reason: &'static str| Ok(Some(Halt::Stopped { reason, breakpoints: Vec::new() }));
        if let Some(unit) = step.units.get(moment.unit) {
            if breakpoints.failed_rules && unit.failure() == Some(moment.at) {
                self.failure = unit.end.error.as_ref().map(|error| DebugFailure::of(error));
                return stopped("exception");
            }
            if breakpoints.failed_walks && unit.kind == UnitKind::End {
                self.failure = self.walk_failure();
                if self.failure.is_some() {
                    return stopped("exception");
                }
            }
        }
        let mut hit: Vec<i64> = Vec::new();
        let mut is_named = true;
        for set in breakpoints.at(&self.case, step, moment) {
            if set.log.is_some() && is_back {
                continue;
            }
            let problems = RefCell::new(Vec::new());
            let stops = set.stops(&self.case, moment, &mut |set, moment| self.holds(set, moment, &problems))?;
            console.append(&mut problems.borrow_mut());
            match &set.log {
                Some(parts) if stops => console.push(self.logged(parts)),
                None if stops => {
                    hit.push(set.id);
                    is_named &= set.is_named();
                }
                _ => {}
            }
        }
        if hit.is_empty() {
            return Ok(None);
        }
        let reason = if is_named { "function breakpoint" } else { "breakpoint" };
        Ok(Some(Halt::Stopped { reason, breakpoints: hit }))
    }

    /// Whether the condition of a breakpoint holds at a moment. An error is reported once.
    fn holds(&self, set: &SetBreakpoint, moment: WalkMoment, problems: &RefCell<Vec<ConsoleLine>>) -> bool {
        let Some(condition) = &set.condition else { return true };
        let value = self.case.stack(moment).and_then(|frames| match frames.first() {
            Some(frame) => self.evaluate_at(moment, frame, condition),
            None => Err(crate::fault::fault("there is no frame")),
        });
        let wrong = match value {
            Ok(value) => match value.truth() {
                Some(truth) => return truth,
                None => format!("it is a {}, not `true` or `false`", value.kind()),
            },
            Err(error) => error.message,
        };
        if !set.reported.replace(true) {
            let text = format!("the condition `{condition}` of a breakpoint cannot be evaluated: {wrong}");
            problems.borrow_mut().push(ConsoleLine { category: "important", text, place: None });
        }
        false
    }

    fn logged(&mut self, parts: &[MessagePart]) -> ConsoleLine {
        let mut text = String::new();
        for part in parts {
            match part {
                MessagePart::Text(own) => text.push_str(own),
                MessagePart::Expression(expression) => match self.evaluate(None, expression) {
                    Ok(value) => text.push_str(&value.string().unwrap_or_else(|| value.text())),
                    Err(error) => text.extend(["{", expression, ": ", &error.message, "}"]),
                },
            }
        }
        let place = self.frames().ok().and_then(|frames| frames.first()).and_then(|frame| frame.place);
        ConsoleLine { category: "stdout", text, place }
    }

    /// Reports what is decided at the current moment, when it is reached for the first time.
    fn report(&mut self, step: &WalkStep, console: &mut Vec<ConsoleLine>) {
        let moment = self.now;
        if self.reported.is_some_and(|reported| reported >= moment) {
            return;
        }
        self.reported = Some(moment);
        let Some(unit) = step.units.get(moment.unit).filter(|unit| unit.is_end(moment.at)) else { return };
        let mut say = |text: String| console.push(ConsoleLine { category: "console", text, place: unit.place });
        match (&unit.kind, self.case.steps.get(moment.step)) {
            (UnitKind::Node, Some(own)) => {
                let by = own.by.as_ref().map_or_else(String::new, |by| format!(", answered by {by}"));
                say(format!("{} {}{by}", own.path, own.node));
                if let Some(differs) = &step.differs {
                    let note = if self.case.is_current() { "; the following steps are those that were recorded" } else { "" };
                    say(format!("{} {}: {differs}{note}", own.path, own.node));
                }
            }
            (UnitKind::End, _) => {
                let because = if unit.end.because.is_empty() { String::new() } else { format!(": {}", unit.end.because) };
                say(format!("{}: {}{because}", self.case.name, unit.end.word));
            }
            (_, Some(own)) if is_told(unit) => say(format!("{} {}: {}", own.path, own.node, sentence(unit))),
            _ => {}
        }
    }

    /// The failure of the walk, if it failed.
    pub(crate) fn walk_failure(&self) -> Option<DebugFailure> {
        match &self.case.steps.last()?.end {
            StepEnd::Failed { kind, message } => {
                Some(DebugFailure { code: kind.clone(), message: message.clone(), diagnostic: None })
            }
            _ => None,
        }
    }
}

impl DebugFailure {
    fn of(error: &Diagnostic) -> Self {
        let (code, message) = (error.code.to_string(), error.message.clone());
        Self { code, message, diagnostic: Some(Box::new(error.clone())) }
    }
}

/// Whether the result of a unit is reported. Most rules of a verdict are silent.
fn is_told(unit: &WalkUnit) -> bool {
    match unit.kind {
        UnitKind::VerdictRule | UnitKind::RootRule => unit.end.holds || unit.end.error.is_some(),
        _ => true,
    }
}

/// The result of a unit.
fn sentence(unit: &WalkUnit) -> String {
    let (id, end) = (&unit.id, &unit.end);
    let because = if end.because.is_empty() { String::new() } else { format!(": {}", end.because) };
    match unit.kind {
        UnitKind::Signature => format!("signature {id} {}{because}", end.word),
        UnitKind::VerdictRule => format!("verdict rule {id} {}{because}", end.word),
        UnitKind::RootRule => format!("root rule {id} {}{because}", end.word),
        UnitKind::Answer => format!("{} {}{because}", unit.alias, end.word),
        UnitKind::Edge => {
            let to = end.fields.iter().find(|(name, _)| name == "to").filter(|_| end.holds).and_then(|(_, to)| to.string());
            let to = to.map_or_else(String::new, |to| format!(" -> {to}"));
            format!("{id} {}{to}{because}", end.word)
        }
        _ => format!("{id} {}{because}", end.word),
    }
}
