//! The stack at a moment, and what is in scope at each of its frames.

use crate::case::{DebuggedCase, WalkStep};
use crate::expressions::NamedValues;
use crate::fault::{DebugFault, fault};
use crate::text_book::TextPlace;
use crate::timeline::WalkMoment;
use crate::unit::{self, UnitKind, WalkUnit};
use asterisk_decisions::StepEnd;
use asterisk_script::View;
use asterisk_script::probe::InspectedValue;
use serde_json::{Value, json};

/// A frame of the stack.
#[derive(Clone, Debug)]
pub(crate) struct DebugFrame {
    pub(crate) name: String,
    pub(crate) place: Option<TextPlace>,
    level: FrameLevel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameLevel {
    /// A function of a script, at a statement; whether it is the one that the host called.
    Function { statement: u32, is_outermost: bool },
    /// The rule or edge.
    Rule,
    /// The step.
    Step,
}

/// A scope of a frame.
pub(crate) struct FrameScope {
    pub(crate) name: &'static str,
    pub(crate) hint: Option<&'static str>,
    pub(crate) content: ScopeContent,
}

/// What a scope shows.
pub(crate) enum ScopeContent {
    /// These values; whether they can be named in expressions.
    Values(NamedValues, bool),
    /// The parts of an input with that name.
    Input(String, InspectedValue),
    /// The recorded parameters, or that part of them, read when they are looked at.
    Params(Option<&'static str>),
}

impl DebuggedCase {
    /// The stack at a moment, innermost frame first.
    pub(crate) fn stack(&self, moment: WalkMoment) -> Result<Vec<DebugFrame>, DebugFault> {
        let (step, at) = self.unit(moment)?;
        let unit = step.units.get(at).ok_or_else(|| fault("there is nothing at this moment"))?;
        let mut frames = Vec::new();
        if let Some(statement) = unit.statement(moment.at) {
            let stack = unit.trace.stack(statement);
            let count = stack.len();
            for (level, (call, statement)) in stack.into_iter().enumerate() {
                let traced = index(statement).and_then(|at| unit.trace.statements().get(at));
                let call = index(call).and_then(|call| unit.trace.calls().get(call));
                let (Some(traced), Some(call)) = (traced, call) else { continue };
                frames.push(DebugFrame {
                    name: step.function(call.table, call.node),
                    place: step.place(&self.book, traced.table, traced.node),
                    level: FrameLevel::Function { statement, is_outermost: level + 1 == count },
                });
            }
        }
        if !matches!(unit.kind, UnitKind::Node | UnitKind::End) {
            frames.push(DebugFrame { name: title(unit), place: unit.place, level: FrameLevel::Rule });
        }
        let entry = step.units.first();
        let name = match self.steps.get(moment.step) {
            Some(step) => format!("step {} {}", step.path, step.node),
            None => format!("end: {}", unit.end.word),
        };
        frames.push(DebugFrame { name, place: entry.and_then(|entry| entry.place), level: FrameLevel::Step });
        Ok(frames)
    }

    /// The scopes of a frame at a moment.
    pub(crate) fn scopes(&self, moment: WalkMoment, frame: &DebugFrame) -> Result<Vec<FrameScope>, DebugFault> {
        let (step, at) = self.unit(moment)?;
        let unit = step.units.get(at).ok_or_else(|| fault("there is nothing at this moment"))?;
        let mut scopes = Vec::new();
        match frame.level {
            FrameLevel::Function { .. } => {
                let locals = locals(unit, frame);
                // Clients expand the first scope: an empty one would hide the inputs.
                if !locals.is_empty() {
                    scopes.push(FrameScope { name: "Locals", hint: Some("locals"), content: ScopeContent::Values(locals, true) });
                }
            }
            FrameLevel::Rule => {
                if unit.is_end(moment.at) {
                    scopes.push(FrameScope {
                        name: "Outcome",
                        hint: Some("returnValue"),
                        content: ScopeContent::Values(outcome(unit), false),
                    });
                }
            }
            FrameLevel::Step => scopes.push(FrameScope {
                name: "Step",
                hint: None,
                content: ScopeContent::Values(self.summary(&step, moment), false),
            }),
        }
        for (name, view) in inputs(&step, unit) {
            let (title, value) = (scope_title(&name), InspectedValue::of_view(&view));
            scopes.push(FrameScope { name: title, hint: Some("arguments"), content: ScopeContent::Input(name, value) });
        }
        for (title, part) in [("Params", None), ("Evidence", Some("evidence"))] {
            if self.has_params(moment.step) && !scopes.iter().any(|scope| scope.name == title) {
                scopes.push(FrameScope { name: title, hint: None, content: ScopeContent::Params(part) });
            }
        }
        Ok(scopes)
    }

    /// All values that an expression may name at a frame. The recorded parameters are read only if it names them.
    pub(crate) fn names(&self, moment: WalkMoment, frame: &DebugFrame, expression: &str) -> Result<NamedValues, DebugFault> {
        let (step, at) = self.unit(moment)?;
        let unit = step.units.get(at).ok_or_else(|| fault("there is nothing at this moment"))?;
        let mut names = NamedValues::new();
        if (expression.contains("params") || expression.contains("evidence"))
            && let Some(params) = self.params(moment.step)
        {
            names.extend(params.present("evidence").map(|view| ("evidence".to_owned(), InspectedValue::of_view(view))));
            names.push(("params".to_owned(), InspectedValue::of_view(&params)));
        }
        let value = |(name, view): (String, View)| (name, InspectedValue::of_view(&view));
        names.extend(inputs(&step, unit).into_iter().map(value));
        names.extend(locals(unit, frame));
        Ok(names)
    }

    /// The description of a step.
    fn summary(&self, walked: &WalkStep, moment: WalkMoment) -> NamedValues {
        let Some(step) = self.steps.get(moment.step) else {
            let end = walked.units.first().map(outcome).unwrap_or_default();
            return end;
        };
        let mut summary = vec![
            ("case".to_owned(), unit::text(&self.case)),
            ("path".to_owned(), unit::text(&step.path)),
            ("node".to_owned(), unit::text(&step.node)),
        ];
        let mut add = |name: &str, value: InspectedValue| summary.push((name.to_owned(), value));
        if let Some(by) = &step.by {
            add("answered by", unit::text(by));
        }
        if let Some(walker) = &step.walker {
            add("walker", unit::text(&walker.name));
        }
        if !step.masks.is_empty() {
            add("masks", unit::json(&json!(step.masks)));
        }
        if let StepEnd::Failed { kind, message } = &step.end {
            add("failure", unit::text(&format!("{kind}: {message}")));
        }
        let considered = walked.considered.iter().map(|entry| {
            let mut shown = json!({ "edge": entry.edge.as_str(), "outcome": entry.outcome.word() });
            if let Some(because) = &entry.because {
                shown["because"] = Value::from(&**because);
            }
            if let Some(error) = &entry.error {
                shown["error"] = Value::from(error.as_str());
            }
            shown
        });
        add("edges", unit::json(&considered.collect::<Vec<_>>().into()));
        summary
    }
}

/// The variables of a function's frame. Inputs of the host are scopes of their own.
fn locals(unit: &WalkUnit, frame: &DebugFrame) -> NamedValues {
    let FrameLevel::Function { statement, is_outermost } = frame.level else { return Vec::new() };
    let inputs: Vec<&str> = unit.call.iter().flat_map(|call| call.inputs().map(|(name, _)| name)).collect();
    let mut locals: NamedValues = Vec::new();
    for variable in unit.scope(statement).iter() {
        if is_outermost && inputs.contains(&variable.name.as_str()) {
            continue;
        }
        // A name that is declared again hides the earlier one.
        locals.retain(|(name, _)| *name != variable.name);
        locals.push((variable.name.clone(), variable.value.clone()));
    }
    locals
}

/// The result of a unit.
fn outcome(unit: &WalkUnit) -> NamedValues {
    let end = &unit.end;
    let mut shown = vec![("outcome".to_owned(), unit::text(&end.word))];
    if !end.because.is_empty() {
        shown.push(("because".to_owned(), unit::text(&end.because)));
    }
    shown.extend(end.fields.iter().cloned());
    if let Some(error) = &end.error {
        shown.push(("error".to_owned(), unit::text(&error.to_string())));
    }
    shown
}

/// The inputs of a unit, by name: those of its function, else those of the step.
fn inputs(step: &WalkStep, unit: &WalkUnit) -> Vec<(String, View)> {
    match &unit.call {
        Some(call) if !call.function.is_condition() => {
            call.inputs().map(|(name, view)| (name.to_owned(), view.clone())).collect()
        }
        _ => step.inputs.iter().map(|(name, view)| ((*name).to_owned(), view.clone())).collect(),
    }
}

fn scope_title(name: &str) -> &'static str {
    match name {
        "artifact" => "Artifact",
        "state" => "State",
        "vars" => "Vars",
        "evidence" => "Evidence",
        "context" => "Context",
        "params" => "Params",
        _ => "Inputs",
    }
}

fn title(unit: &WalkUnit) -> String {
    let kind = match unit.kind {
        UnitKind::VerdictRule => "verdict rule",
        UnitKind::Signature => "signature",
        UnitKind::Verdict => return "verdict".to_owned(),
        UnitKind::RootRule => "root rule",
        UnitKind::Answer => "answer of",
        UnitKind::Edge => "edge",
        UnitKind::Node | UnitKind::End => "step",
    };
    let alias = if unit.alias.is_empty() || unit.kind == UnitKind::Answer { String::new() } else { format!(" {}", unit.alias) };
    format!("{kind} {}{alias}", unit.id)
}

fn index(number: u32) -> Option<usize> {
    usize::try_from(number).ok()
}
