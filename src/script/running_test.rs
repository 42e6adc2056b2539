//! The test that is running on this thread: the [`TestHost`] that answers what only tests may ask, and the rows it has tried.

use super::probe::{Evaluation, ObservedValue, last_failed};
use crate::diag::Diagnostic;
use rhai::{Dynamic, EvalAltResult};
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;

/// What a test asks the host to do as the engine does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestQuestion {
    /// Ask a rule.
    Verdict,
    /// Make the routing decision of a node.
    Decide,
    /// Ask a responder, or another function of parameters and vars.
    Respond,
    /// Ask for the effects of an artifact.
    Effects,
    /// Read a file of data beside the test.
    Fixture,
}

/// Answers what tests ask; `name` is the function, node or file, `inputs` what the test gives.
pub trait TestHost {
    /// The answer, or why there is none, with the places in the scripts that were asked.
    fn answer(&self, question: TestQuestion, name: &str, inputs: &Value) -> Result<Value, Box<Diagnostic>>;
}

/// A row of the test that is running.
pub(super) struct TableRowResult {
    pub(super) table: usize,
    pub(super) index: usize,
    pub(super) values: String,
    pub(super) error: Option<Box<EvalAltResult>>,
    pub(super) evaluation: Option<Evaluation>,
}

struct RunningTest {
    stage: Rc<dyn TestHost>,
    tables: usize,
    rows: Vec<TableRowResult>,
}

thread_local! {
    static RUNNING: RefCell<Option<RunningTest>> = const { RefCell::new(None) };
}

/// Evaluates a test, and gives the rows it tried beside what it answered. Nothing may be running on this thread yet.
pub(super) fn run<T>(stage: Rc<dyn TestHost>, evaluate: impl FnOnce() -> T) -> (T, Vec<TableRowResult>) {
    RUNNING.set(Some(RunningTest { stage, tables: 0, rows: Vec::new() }));
    let outcome = evaluate();
    (outcome, RUNNING.take().map(|running| running.rows).unwrap_or_default())
}

/// Puts a stage up, or takes it down, for examples outside of tests.
#[cfg(test)]
pub(super) fn set_stage(stage: Option<Rc<dyn TestHost>>) {
    RUNNING.set(stage.map(|stage| RunningTest { stage, tables: 0, rows: Vec::new() }));
}

/// The stage of the test that is running on this thread.
pub(super) fn stage() -> Option<Rc<dyn TestHost>> {
    RUNNING.with_borrow(|running| running.as_ref().map(|running| running.stage.clone()))
}

/// Begins a table of the running test.
pub(super) fn begin_table() -> usize {
    RUNNING.with_borrow_mut(|running| {
        running.as_mut().map_or(0, |running| {
            running.tables += 1;
            running.tables - 1
        })
    })
}

/// Notes what came of a row.
pub(super) fn note_row(table: usize, index: usize, values: &Dynamic, error: Option<Box<EvalAltResult>>) {
    let evaluation = if error.is_some() { last_failed() } else { None };
    let tried = TableRowResult { table, index, values: ObservedValue::of(values).to_string(), error, evaluation };
    RUNNING.with_borrow_mut(|running| {
        if let Some(running) = running {
            running.rows.push(tried);
        }
    });
}
