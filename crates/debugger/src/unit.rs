//! A part of a step that is looked at on its own: the entry of a node, the evaluation of a rule, an edge.

use asterisk_diag::Diagnostic;
use asterisk_script::probe::{EvaluationTrace, InspectedValue, ScopeVariable};
use asterisk_script::{RootKey, RuleOutcome, RuleStrength, ScriptFunction, View};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::text_book::TextPlace;

/// What a unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// The walk enters a node.
    Node,
    /// A rule of the verdict.
    VerdictRule,
    /// A signature that matched.
    Signature,
    /// The verdict, made from both.
    Verdict,
    /// A rule of roots.
    RootRule,
    /// The answer of a responder.
    Answer,
    /// An edge, or the fallback.
    Edge,
    /// The end of the case.
    End,
}

/// A part of a step.
pub(crate) struct WalkUnit {
    pub(crate) kind: UnitKind,
    /// The id of the rule or edge, the name of the node.
    pub(crate) id: String,
    /// A second name: the code of a node, the name of an edge or rule.
    pub(crate) alias: String,
    /// Where it is written.
    pub(crate) place: Option<TextPlace>,
    /// The function, if there is one.
    pub(crate) call: Option<RuleCall>,
    pub(crate) trace: EvaluationTrace,
    pub(crate) end: UnitEnd,
    scopes: RefCell<BTreeMap<u32, Rc<[ScopeVariable]>>>,
}

/// The result of a unit.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitEnd {
    /// Whether the edge fired, the rule matched.
    pub(crate) holds: bool,
    /// In a word: `fired`, `false`, `matches`.
    pub(crate) word: String,
    /// Why.
    pub(crate) because: String,
    /// Its details.
    pub(crate) fields: Vec<(String, InspectedValue)>,
    /// The error of the function.
    pub(crate) error: Option<Box<Diagnostic>>,
}

/// The role of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleRole {
    Edge,
    Verdict,
    Root,
    Responder,
}

/// The call of a function with its inputs, which can be repeated: functions are pure.
pub(crate) struct RuleCall {
    pub(crate) role: RuleRole,
    pub(crate) function: ScriptFunction,
    /// By parameter.
    pub(crate) args: Vec<View>,
}

/// The number of scopes kept at once for one place, ahead of where they are needed.
const AHEAD: usize = 256;

impl WalkUnit {
    /// A unit without a function.
    pub(crate) fn plain(kind: UnitKind, id: impl Into<String>, alias: impl Into<String>, place: Option<TextPlace>) -> Self {
        Self {
            kind,
            id: id.into(),
            alias: alias.into(),
            place,
            call: None,
            trace: EvaluationTrace::default(),
            end: UnitEnd::default(),
            scopes: RefCell::default(),
        }
    }

    /// The evaluation of a function.
    pub(crate) fn evaluated(self, call: RuleCall) -> Self {
        let (trace, end) = EvaluationTrace::watch(|| call.evaluate());
        self.traced(call, trace, end)
    }

    /// An evaluation that was traced.
    pub(crate) fn traced(self, call: RuleCall, trace: EvaluationTrace, end: UnitEnd) -> Self {
        Self { call: Some(call), trace, end, ..self }
    }

    /// The number of its moments: its start and, for a function, its statements and its end.
    pub(crate) fn moments(&self) -> usize {
        if self.call.is_some() { self.trace.statements().len() + 2 } else { 1 }
    }

    /// The statement of a moment.
    pub(crate) fn statement(&self, moment: usize) -> Option<u32> {
        let at = moment.checked_sub(1).filter(|at| *at < self.trace.statements().len())?;
        u32::try_from(at).ok()
    }

    /// Whether a moment is the last one, at which the result is known.
    pub(crate) fn is_end(&self, moment: usize) -> bool {
        moment + 1 == self.moments()
    }

    /// The moment at which its function failed: the last statement that was reached.
    pub(crate) fn failure(&self) -> Option<usize> {
        self.end.error.as_ref()?;
        Some(self.moments().saturating_sub(2))
    }

    /// The variables in scope at a statement.
    pub(crate) fn scope(&self, statement: u32) -> Rc<[ScopeVariable]> {
        if let Some(known) = self.scopes.borrow().get(&statement) {
            return Rc::clone(known);
        }
        let Some(call) = &self.call else { return Rc::default() };
        // Those of the callers are needed with it, and those of the same statement are likely to be needed next.
        let mut wanted: Vec<u32> = self.trace.stack(statement).into_iter().map(|(_, at)| at).collect();
        let statements = self.trace.statements();
        let first = usize::try_from(statement).unwrap_or(usize::MAX);
        if let Some(here) = statements.get(first) {
            let same =
                (statement..).zip(&statements[first..]).filter(|(_, other)| (other.table, other.node) == (here.table, here.node));
            wanted.extend(same.map(|(at, _)| at).take(AHEAD));
        }
        let (trace, _) = EvaluationTrace::watch_scopes(wanted.clone(), || call.evaluate());
        let mut scopes = self.scopes.borrow_mut();
        if scopes.len() > AHEAD * 4 {
            scopes.clear();
        }
        for at in wanted {
            scopes.insert(at, trace.scope(at).unwrap_or_default().into());
        }
        scopes.get(&statement).cloned().unwrap_or_default()
    }
}

impl RuleCall {
    /// The inputs, by name.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = (&str, &View)> {
        self.function.params().iter().map(String::as_str).zip(&self.args)
    }

    /// Calls the function again.
    pub(crate) fn evaluate(&self) -> UnitEnd {
        let args: Vec<&View> = self.args.iter().collect();
        match (self.role, args.as_slice()) {
            (RuleRole::Edge, [artifact, state, vars]) => UnitEnd::of_edge(self.function.decide(artifact, state, vars)),
            (RuleRole::Verdict, args) => UnitEnd::of_verdict(self.function.weigh(args)),
            (RuleRole::Root, args) => UnitEnd::of_root(self.function.root(args)),
            (RuleRole::Responder, [params, vars]) => UnitEnd::of_answer(self.function.respond(params, vars)),
            _ => UnitEnd::default(),
        }
    }
}

impl UnitEnd {
    fn failed(error: Box<Diagnostic>) -> Self {
        Self { word: "failed".into(), because: error.message.clone(), error: Some(error), ..Self::default() }
    }

    fn silent(word: &str) -> Self {
        Self { word: word.into(), ..Self::default() }
    }

    /// The result of an edge's rule.
    pub(crate) fn of_edge(outcome: Result<RuleOutcome, Box<Diagnostic>>) -> Self {
        match outcome {
            Ok(RuleOutcome::No) => Self::silent("false"),
            Ok(RuleOutcome::Yes { to, because, context }) => {
                let mut fields = Vec::new();
                fields.extend(to.map(|to| ("to".to_owned(), text(&to))));
                if !context.is_empty() {
                    fields.push(("context".to_owned(), json(&Value::Object(context))));
                }
                Self { holds: true, word: "fired".into(), because: because.unwrap_or_default(), fields, error: None }
            }
            Err(error) => Self::failed(error),
        }
    }

    fn of_verdict(outcome: Result<Option<RuleStrength>, Box<Diagnostic>>) -> Self {
        match outcome {
            Ok(None) => Self::silent("silent"),
            Ok(Some(said)) => {
                let mut fields = vec![("strength".to_owned(), number(said.strength))];
                if !said.about.is_empty() {
                    fields.push(("about".to_owned(), json(&said.about.into())));
                }
                Self { holds: true, word: "matches".into(), because: said.because.unwrap_or_default(), fields, error: None }
            }
            Err(error) => Self::failed(error),
        }
    }

    fn of_root(outcome: Result<Option<RootKey>, Box<Diagnostic>>) -> Self {
        match outcome {
            Ok(None) => Self::silent("silent"),
            Ok(Some(found)) => {
                let fields = vec![("key".to_owned(), json(&found.key))];
                Self { holds: true, word: "decides".into(), because: found.because.unwrap_or_default(), fields, error: None }
            }
            Err(error) => Self::failed(error),
        }
    }

    fn of_answer(answer: Result<Value, Box<Diagnostic>>) -> Self {
        match answer {
            Ok(artifact) => {
                let fields = vec![("artifact".to_owned(), json(&artifact))];
                Self { holds: true, word: "answered".into(), fields, ..Self::default() }
            }
            Err(error) => Self::failed(error),
        }
    }
}

/// A text as a value.
pub(crate) fn text(text: &str) -> InspectedValue {
    InspectedValue::of_view(&View::from(text))
}

/// A number as a value.
pub(crate) fn number(number: f64) -> InspectedValue {
    InspectedValue::of_view(&View::from(number))
}

/// JSON as a value.
pub(crate) fn json(value: &Value) -> InspectedValue {
    InspectedValue::of_view(&View::plain(value, "value"))
}
