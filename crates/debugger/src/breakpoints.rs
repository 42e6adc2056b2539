//! The breakpoints of a client, and which of them a moment hits.

use crate::break_condition::{HitCondition, MessagePart, message_parts};
use crate::breakable::{BreakTarget, is_name};
use crate::case::{DebuggedCase, WalkStep};
use crate::fault::DebugFault;
use crate::protocol::{DapBreakpoint, DapSource, FunctionBreakpoint, SourceBreakpoint};
use crate::timeline::WalkMoment;
use crate::unit::{UnitKind, WalkUnit};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// All breakpoints.
#[derive(Default)]
pub(crate) struct Breakpoints {
    last_id: i64,
    /// By text, with those requested for it.
    lines: Vec<(DapSource, Vec<SetBreakpoint>)>,
    functions: Vec<SetBreakpoint>,
    /// Whether to stop at a rule that fails.
    pub(crate) failed_rules: bool,
    /// Whether to stop at the end of a walk that failed.
    pub(crate) failed_walks: bool,
}

/// A breakpoint that was requested.
pub(crate) struct SetBreakpoint {
    pub(crate) id: i64,
    line: usize,
    name: String,
    target: BreakTarget,
    pub(crate) condition: Option<String>,
    hit_condition: Option<HitCondition>,
    /// The parts of its message, if it is a log point.
    pub(crate) log: Option<Vec<MessagePart>>,
    /// What is wrong with it.
    wrong: Option<String>,
    /// Whether its condition held, by moment.
    held: RefCell<BTreeMap<WalkMoment, bool>>,
    /// The number of hits up to a moment.
    counted: RefCell<Option<(WalkMoment, u64)>>,
    /// Whether an error of its condition was reported.
    pub(crate) reported: RefCell<bool>,
}

impl Breakpoints {
    /// Replaces the breakpoints of a text.
    pub(crate) fn set_lines(
        &mut self,
        case: Option<&DebuggedCase>,
        source: &DapSource,
        asked: &[SourceBreakpoint],
    ) -> Result<Vec<DapBreakpoint>, DebugFault> {
        self.lines.retain(|(known, _)| !is_same(known, source));
        let mut set: Vec<SetBreakpoint> = asked.iter().map(|asked| self.line(asked)).collect();
        let shown = resolve_lines(case, source, &mut set)?;
        self.lines.push((source.clone(), set));
        Ok(shown)
    }

    /// Replaces the breakpoints by name.
    pub(crate) fn set_functions(
        &mut self,
        case: Option<&DebuggedCase>,
        asked: &[FunctionBreakpoint],
    ) -> Result<Vec<DapBreakpoint>, DebugFault> {
        let mut set = Vec::new();
        for asked in asked {
            let FunctionBreakpoint { name, condition, hit_condition } = asked.clone();
            let line = SourceBreakpoint { condition, hit_condition, ..SourceBreakpoint::default() };
            set.push(SetBreakpoint { name, ..self.line(&line) });
        }
        let shown = resolve_names(case, &mut set)?;
        self.functions = set;
        Ok(shown)
    }

    /// Finds the places of all breakpoints in a case; those set before it was opened had none.
    pub(crate) fn resolve(&mut self, case: &DebuggedCase) -> Result<Vec<DapBreakpoint>, DebugFault> {
        let mut shown = resolve_names(Some(case), &mut self.functions)?;
        for (source, set) in &mut self.lines {
            shown.extend(resolve_lines(Some(case), source, set)?);
        }
        Ok(shown)
    }

    fn line(&mut self, asked: &SourceBreakpoint) -> SetBreakpoint {
        self.last_id += 1;
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let (hit_condition, wrong) = match given(&asked.hit_condition).map(|text| HitCondition::parse(&text)) {
            Some(Ok(condition)) => (Some(condition), None),
            Some(Err(wrong)) => (None, Some(wrong)),
            None => (None, None),
        };
        SetBreakpoint {
            id: self.last_id,
            line: usize::try_from(asked.line).unwrap_or_default(),
            name: String::new(),
            target: BreakTarget::Nowhere,
            condition: given(&asked.condition),
            hit_condition,
            log: given(&asked.log_message).map(|message| message_parts(&message)),
            wrong,
            held: RefCell::default(),
            counted: RefCell::default(),
            reported: RefCell::default(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &SetBreakpoint> {
        self.lines.iter().flat_map(|(_, set)| set).chain(&self.functions)
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.all().next().is_none()
    }

    /// The breakpoints at a moment, whatever their conditions.
    pub(crate) fn at<'s>(&'s self, case: &DebuggedCase, step: &WalkStep, moment: WalkMoment) -> Vec<&'s SetBreakpoint> {
        if self.is_empty() {
            return Vec::new();
        }
        let Some(unit) = step.units.get(moment.unit) else { return Vec::new() };
        let here = MomentTargets::of(case, step, unit, moment.at);
        let hits = |set: &&SetBreakpoint| here.hits(&set.target) && !continues_line(case, step, unit, (moment.at, &set.target));
        self.all().filter(|set| set.wrong.is_none()).filter(hits).collect()
    }
}

impl SetBreakpoint {
    /// Whether it was set by name.
    pub(crate) fn is_named(&self) -> bool {
        !self.name.is_empty()
    }

    /// Whether it stops at a moment, one of its, given whether its condition holds at one.
    pub(crate) fn stops(
        &self,
        case: &DebuggedCase,
        moment: WalkMoment,
        holds: &mut dyn FnMut(&Self, WalkMoment) -> bool,
    ) -> Result<bool, DebugFault> {
        if !self.holds(moment, holds) {
            return Ok(false);
        }
        let Some(condition) = self.hit_condition else { return Ok(true) };
        Ok(condition.holds(self.hits_up_to(case, moment, holds)?))
    }

    /// The number of hits from the beginning of the case up to a moment. Counted in the walk's order, it is the same whichever way
    /// the moment was reached.
    fn hits_up_to(
        &self,
        case: &DebuggedCase,
        moment: WalkMoment,
        holds: &mut dyn FnMut(&Self, WalkMoment) -> bool,
    ) -> Result<u64, DebugFault> {
        let counted = self.counted.borrow().filter(|(up_to, _)| *up_to <= moment);
        let (mut at, mut count) = match counted {
            Some((up_to, count)) => (case.after(up_to)?, count),
            None => (Some(WalkMoment::default()), 0),
        };
        while let Some(here) = at.filter(|here| *here <= moment) {
            let step = case.step(here.step)?;
            if self.is_at(case, &step, here) && self.holds(here, holds) {
                count += 1;
            }
            at = case.after(here)?;
        }
        self.counted.replace(Some((moment, count)));
        Ok(count)
    }

    fn holds(&self, moment: WalkMoment, holds: &mut dyn FnMut(&Self, WalkMoment) -> bool) -> bool {
        if self.condition.is_none() {
            return true;
        }
        if let Some(known) = self.held.borrow().get(&moment) {
            return *known;
        }
        let held = holds(self, moment);
        self.held.borrow_mut().insert(moment, held);
        held
    }

    fn forget(&self) {
        self.held.borrow_mut().clear();
        self.counted.replace(None);
    }

    /// Whether a moment is one of its.
    fn is_at(&self, case: &DebuggedCase, step: &WalkStep, moment: WalkMoment) -> bool {
        step.units.get(moment.unit).is_some_and(|unit| {
            MomentTargets::of(case, step, unit, moment.at).hits(&self.target)
                && !continues_line(case, step, unit, (moment.at, &self.target))
        })
    }
}

/// What a breakpoint could be set at to stop at a moment.
struct MomentTargets {
    /// The text and the line of a statement.
    statement: Option<(crate::text_book::TextArea, String, usize)>,
    entered: Option<String>,
    fired: Option<String>,
    matched: Option<String>,
    names: Vec<String>,
}

impl MomentTargets {
    fn of(case: &DebuggedCase, step: &WalkStep, unit: &WalkUnit, at: usize) -> Self {
        let mut targets = Self { statement: None, entered: None, fired: None, matched: None, names: Vec::new() };
        if let Some(number) = unit.statement(at) {
            let Some(statement) = usize::try_from(number).ok().and_then(|at| unit.trace.statements().get(at)) else {
                return targets;
            };
            let place = step.place(&case.book, statement.table, statement.node);
            targets.statement = place.and_then(|place| {
                let text = case.book.text(place.text)?;
                Some((text.area, text.source.name().to_owned(), place.line))
            });
            let call = usize::try_from(statement.call).ok().and_then(|call| unit.trace.calls().get(call));
            if let Some(call) = call.filter(|call| call.start == number) {
                targets.names.push(step.function(call.table, call.node));
                targets.names.push(step.reference(call.table, call.node));
            }
            return targets;
        }
        let is_end = unit.is_end(at);
        let own = || Some(unit.id.clone());
        match unit.kind {
            UnitKind::Node => targets.entered = own(),
            UnitKind::Edge if is_end && unit.end.holds => targets.fired = own(),
            UnitKind::VerdictRule | UnitKind::RootRule if is_end && unit.end.holds => targets.matched = own(),
            _ => {}
        }
        if at == 0 && unit.kind != UnitKind::Answer {
            targets.names.push(unit.id.clone());
            if unit.kind == UnitKind::Node {
                targets.names.push(unit.alias.clone());
            }
        }
        targets
    }

    fn hits(&self, target: &BreakTarget) -> bool {
        match target {
            BreakTarget::Statement { area, name, line } => {
                self.statement.as_ref().is_some_and(|own| own.0 == *area && own.1 == *name && own.2 == *line)
            }
            BreakTarget::Node(name) => self.entered.as_ref() == Some(name),
            BreakTarget::EdgeFires(id) => self.fired.as_ref() == Some(id),
            BreakTarget::RuleMatches(id) => self.matched.as_ref() == Some(id),
            BreakTarget::Named(name) => self.names.contains(name),
            BreakTarget::Nowhere => false,
        }
    }
}

/// Whether the call has already stopped in this line: of several statements on a line, a breakpoint stops at the first.
fn continues_line(case: &DebuggedCase, step: &WalkStep, unit: &WalkUnit, (at, target): (usize, &BreakTarget)) -> bool {
    if !matches!(target, BreakTarget::Statement { .. }) {
        return false;
    }
    let statements = unit.trace.statements();
    let Some(number) = unit.statement(at).and_then(|number| usize::try_from(number).ok()) else { return false };
    let Some(own) = statements.get(number) else { return false };
    let before = statements[..number].iter().rev().find(|other| other.call == own.call);
    let place = |of: &asterisk_script::probe::TracedStatement| step.place(&case.book, of.table, of.node);
    let (Some(before), Some(own)) = (before.and_then(place), place(own)) else { return false };
    (before.text, before.line) == (own.text, own.line) && before.column < own.column
}

fn is_same(one: &DapSource, other: &DapSource) -> bool {
    match (one.source_reference.unwrap_or_default(), other.source_reference.unwrap_or_default()) {
        (0, 0) => one.path == other.path,
        (one, other) => one == other,
    }
}

fn resolve_lines(
    case: Option<&DebuggedCase>,
    source: &DapSource,
    set: &mut [SetBreakpoint],
) -> Result<Vec<DapBreakpoint>, DebugFault> {
    let texts = case.map_or_else(Vec::new, |case| case.book.meant(source));
    let first = match (case, texts.first()) {
        (Some(case), Some(number)) => {
            let text = case.book.text(*number);
            text.map(|text| case.breakable(&text)).transpose()?.map(|lines| (case, *number, lines))
        }
        _ => None,
    };
    let shown = set.iter_mut().map(|set| {
        set.forget();
        let mut shown = DapBreakpoint {
            id: Some(set.id),
            verified: false,
            message: set.wrong.clone(),
            source: Some(source.clone()),
            line: None,
        };
        shown.line = i64::try_from(set.line).ok();
        set.target = BreakTarget::Nowhere;
        if set.wrong.is_some() {
            return shown;
        }
        let Some((case, number, lines)) = &first else {
            let message = if case.is_some() { "the case does not use this file" } else { "no case is open yet" };
            shown.message = Some(message.to_owned());
            return shown;
        };
        match lines.range(set.line..).next() {
            Some((line, target)) => {
                (set.target, shown.verified) = (target.clone(), true);
                shown.line = i64::try_from(*line).ok();
                let known = case.book.shown(*number);
                if known.source_reference.is_some()
                    && source.source_reference.unwrap_or_default() == 0
                    && known.origin.as_deref() != Some("not on disk")
                {
                    shown.message = Some("the case used another version of this file".to_owned());
                }
            }
            None => shown.message = Some("nothing is evaluated in this line or below it".to_owned()),
        }
        shown
    });
    Ok(shown.collect())
}

fn resolve_names(case: Option<&DebuggedCase>, set: &mut [SetBreakpoint]) -> Result<Vec<DapBreakpoint>, DebugFault> {
    let mut all = Vec::new();
    for set in set {
        set.forget();
        let known = case.map(|case| is_name(case, &set.name)).transpose()?;
        set.target = BreakTarget::Named(set.name.clone());
        let message = match known {
            _ if set.wrong.is_some() => set.wrong.clone(),
            Some(true) => None,
            Some(false) => Some(format!("no function, node, edge, rule or signature `{}`", set.name)),
            None => Some("no case is open yet".to_owned()),
        };
        all.push(DapBreakpoint { id: Some(set.id), verified: message.is_none(), message, source: None, line: None });
    }
    Ok(all)
}
