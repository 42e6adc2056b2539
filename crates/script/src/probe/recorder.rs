//! Records observed evaluations.

use super::ProbeTable;
use super::profile;
use super::seen::ObservedValue;
use super::trace;
use crate::guard;
use crate::limits::ScriptLimits;
use crate::rhai_internals::node::{RewrittenExpr, is_block};
use crate::strict::misplaced;
use rhai::{Dynamic, Engine, EvalAltResult, EvalContext, Expression, Position};
use std::cell::RefCell;

const PROBE: &str = "\u{2039}probe\u{203a}";

/// Maximum number of evaluations kept; beyond it, the oldest complete ones are dropped.
const MOST: usize = 20_000;

/// What a recorder keeps besides the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingScope {
    /// Nothing.
    Counts,
    /// Every evaluation with its value, as a tree.
    Values,
}

/// The number of times a node had each kind of value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// It was true.
    pub yes: u32,
    /// It was false.
    pub no: u32,
    /// It had another value.
    pub other: u32,
    /// It had none: it raised an error, or `return` left the function inside it.
    pub none: u32,
}

impl Hits {
    /// The number of evaluations.
    pub fn total(self) -> u32 {
        self.yes + self.no + self.other + self.none
    }

    /// Adds the counts of another recorder.
    pub fn add(&mut self, more: Self) {
        self.yes += more.yes;
        self.no += more.no;
        self.other += more.other;
        self.none += more.none;
    }
}

/// One evaluation of a node, with nested evaluations in order of execution.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The id of the node's table.
    pub table: u32,
    /// The number of the node.
    pub node: u32,
    /// The value; `None` after an error.
    pub value: Option<ObservedValue>,
    /// Nested evaluations, including those of called functions.
    pub inside: Vec<Self>,
    /// Whether nested evaluations were dropped because there were too many.
    pub cut: bool,
}

/// Observes evaluations of libraries with probes.
#[derive(Debug)]
pub struct Recorder {
    keep: RecordingScope,
    /// By table, then by node.
    hits: Vec<Vec<Hits>>,
    /// The open evaluations, outermost first; the first is a root that holds the complete ones.
    open: Vec<Evaluation>,
    kept: usize,
}

thread_local! {
    static WATCHING: RefCell<Option<Recorder>> = const { RefCell::new(None) };
}

impl Recorder {
    /// An empty recorder.
    pub fn new(keep: RecordingScope) -> Self {
        Self { keep, hits: Vec::new(), open: vec![Evaluation::new(u32::MAX, u32::MAX)], kept: 0 }
    }

    /// Observes everything evaluated by `evaluate` on this thread. An enclosing recorder does not see it.
    pub fn watch<T>(&mut self, evaluate: impl FnOnce() -> T) -> T {
        let mine = std::mem::replace(self, Self::new(self.keep));
        let other = WATCHING.replace(Some(mine));
        let value = evaluate();
        if let Some(mine) = WATCHING.replace(other) {
            *self = mine;
        }
        // A panic caught by the caller of the script leaves evaluations open.
        self.close_open();
        value
    }

    /// The counts of a node.
    pub fn hits(&self, table: &ProbeTable, node: u32) -> Hits {
        let hits = index(table.id()).and_then(|table| self.hits.get(table)?.get(index(node)?));
        hits.copied().unwrap_or_default()
    }

    /// Whether anything of a table was evaluated.
    pub fn has_hits(&self, table: &ProbeTable) -> bool {
        index(table.id()).and_then(|table| self.hits.get(table)).is_some_and(|hits| !hits.is_empty())
    }

    /// The outermost evaluations, in order of execution.
    pub fn evaluations(&self) -> &[Evaluation] {
        self.open.first().map_or(&[], |root| &root.inside)
    }

    /// Adds the counts of another recorder.
    pub fn add(&mut self, more: &Self) {
        for (table, hits) in more.hits.iter().enumerate() {
            for (node, hits) in hits.iter().enumerate() {
                self.counter(table, node).add(*hits);
            }
        }
    }

    fn close_open(&mut self) {
        while self.open.len() > 1 {
            self.leave_with(None);
        }
    }

    fn counter(&mut self, table: usize, node: usize) -> &mut Hits {
        if table >= self.hits.len() {
            self.hits.resize_with(table + 1, Vec::new);
        }
        let hits = &mut self.hits[table];
        if node >= hits.len() {
            hits.resize(node + 1, Hits::default());
        }
        &mut hits[node]
    }

    fn enter(&mut self, table: u32, node: u32) {
        if self.keep == RecordingScope::Values {
            self.open.push(Evaluation::new(table, node));
        }
    }

    fn leave(&mut self, table: u32, node: u32, value: Option<&Dynamic>) {
        let (Some(at), Some(number)) = (index(table), index(node)) else { return };
        let hits = self.counter(at, number);
        match value.map(|value| if value.is_shared() { None } else { value.as_bool().ok() }) {
            Some(Some(true)) => hits.yes += 1,
            Some(Some(false)) => hits.no += 1,
            Some(None) => hits.other += 1,
            None => hits.none += 1,
        }
        if self.keep == RecordingScope::Values {
            self.leave_with(value.map(ObservedValue::of));
        }
    }

    fn leave_with(&mut self, value: Option<ObservedValue>) {
        let Some(mut done) = self.open.pop() else { return };
        done.value = value;
        if let Some(parent) = self.open.last_mut() {
            parent.inside.push(done);
            self.kept += 1;
        }
        if self.kept > MOST {
            let inner = self.open.len().saturating_sub(1);
            for evaluation in &mut self.open[..inner] {
                evaluation.cut |= !evaluation.inside.is_empty();
                evaluation.inside.clear();
            }
            self.kept = self.open.last().map_or(0, |last| last.inside.len());
            // One loop may fill it alone.
            if self.kept > MOST / 2
                && let Some(last) = self.open.last_mut()
            {
                last.cut = true;
                last.inside.clear();
                self.kept = 0;
            }
        }
    }
}

impl Evaluation {
    fn new(table: u32, node: u32) -> Self {
        Self { table, node, value: None, inside: Vec::new(), cut: false }
    }

    /// Visits this and all nested evaluations in pre-order.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        visit(self);
        self.inside.iter().for_each(|evaluation| evaluation.walk(visit));
    }
}

fn index(number: u32) -> Option<usize> {
    usize::try_from(number).ok()
}

/// The last evaluation nested in the current one, if it failed.
pub(crate) fn last_failed() -> Option<Evaluation> {
    WATCHING.with_borrow(|recorder| {
        let last = recorder.as_ref()?.open.last()?.inside.last()?;
        last.value.is_none().then(|| last.clone())
    })
}

/// The position of a probe, which determines how it affects the operation count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeState {
    /// In front of an expression.
    Value,
    /// In front of a call that is a statement.
    Statement,
    /// In front of the body of a function.
    Body,
    /// In front of a block, behind another host node.
    Block,
}

/// A node that observes the value behind it.
pub(super) fn probe(value: RewrittenExpr, position: Position, probe_state: ProbeState, table: u32, number: u32) -> RewrittenExpr {
    let state = (probe_state as i64) << 61 | i64::from(table & 0x1fff_ffff) << 32 | i64::from(number);
    RewrittenExpr::host(PROBE, [value], state.into(), position)
}

/// Marks a probe that is behind another host node.
pub(super) fn behind(value: &mut RewrittenExpr) {
    if let Some(own) = value.state_before_block(PROBE)
        && let Ok(state) = own.as_int()
    {
        *own = (state | (ProbeState::Block as i64) << 61).into();
    }
}

/// Registers the evaluation of probes with an engine.
pub(crate) fn register(engine: &mut Engine, limits: &ScriptLimits) {
    // The probes' own operations are refunded by the guard, which counts all of them; Rhai's own count only grows.
    engine.set_max_operations(limits.operations.saturating_mul(8));
    let registered = engine.register_custom_syntax_handler(PROBE, false, evaluate);
    debug_assert!(registered.is_ok());
}

fn evaluate(context: &mut EvalContext, inputs: &[Expression], state: &Dynamic) -> Result<Dynamic, Box<EvalAltResult>> {
    let [value] = inputs else { return misplaced().fail() };
    let state = state.as_int().map_err(|_| misplaced())?;
    let part = |bits: i64| u32::try_from(bits & 0xffff_ffff).unwrap_or(0);
    let (probe_state, table, number) = (state >> 61, part(state >> 32) & 0x1fff_ffff, part(state));
    let body = probe_state == ProbeState::Body as i64;
    // One operation was counted for this node. Behind it a block is evaluated without counting one for the block itself, which
    // compensates for it, unless none is counted for it without a probe either. A call that is a statement counts once.
    if body || probe_state == ProbeState::Block as i64 || !is_block(value) {
        guard::refund(if probe_state == ProbeState::Statement as i64 { 2 } else { 1 });
    }
    let watching = WATCHING
        .with_borrow_mut(|recorder| recorder.as_mut().map(|recorder| guard::apart(|| recorder.enter(table, number))).is_some());
    let open = profile::enter(table, number, body);
    let traced = trace::enter(context, table, number, body);
    let result = context.eval_expression_tree(value);
    if let Some(call) = traced {
        trace::leave(call, &result);
    }
    if let Some(depth) = open {
        profile::leave(depth);
    }
    if watching {
        let returned = match &result {
            Ok(value) => Some(value),
            Err(error) => match &**error {
                EvalAltResult::Return(value, _) if body => Some(value),
                _ => None,
            },
        };
        WATCHING.with_borrow_mut(|recorder| {
            if let Some(recorder) = recorder {
                guard::apart(|| recorder.leave(table, number, returned));
            }
        });
    }
    result
}
