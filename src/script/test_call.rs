//! Running a test: a function of a `*_test.rhai` file, on a [`TestHost`] that answers what only tests may ask.

use super::ScriptFunction;
use super::guard::EvaluationStop;
use super::invoke::Parameters;
use super::probe::{Evaluation, ObservedValue, last_failed};
use super::view::View;
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

/// What came of a test.
#[derive(Debug)]
pub struct TestCallResult {
    /// Why it failed, if it did.
    pub failure: Option<Box<Diagnostic>>,
    /// The rows of its tables, in the order they were tried.
    pub rows: Vec<TableRow>,
}

/// A row of a test's table.
#[derive(Debug)]
pub struct TableRow {
    /// Which of the test's tables, from 0.
    pub table: usize,
    /// Its index there.
    pub index: usize,
    /// Its values, as a script would write them.
    pub values: String,
    /// Why it failed, if it did.
    pub failure: Option<Box<Diagnostic>>,
    /// The evaluation that failed, if it was watched.
    pub evaluation: Option<Evaluation>,
}

/// A row of the test that is running.
struct TableRowResult {
    table: usize,
    index: usize,
    values: String,
    error: Option<Box<EvalAltResult>>,
    evaluation: Option<Evaluation>,
}

struct RunningTest {
    stage: Rc<dyn TestHost>,
    tables: usize,
    rows: Vec<TableRowResult>,
}

thread_local! {
    static RUNNING: RefCell<Option<RunningTest>> = const { RefCell::new(None) };
}

impl ScriptFunction {
    /// Runs it as a test. Nothing may be running on this thread yet.
    pub fn trial(&self, stage: Rc<dyn TestHost>) -> TestCallResult {
        RUNNING.set(Some(RunningTest { stage, tables: 0, rows: Vec::new() }));
        let outcome = self.evaluate(&[] as &[View], Parameters::ReadOnly);
        let rows = RUNNING.take().map(|running| running.rows).unwrap_or_default();
        let row = |tried: TableRowResult| TableRow {
            table: tried.table,
            index: tried.index,
            values: tried.values,
            failure: tried.error.map(|error| Box::new(self.explain(EvaluationStop::Error(error)))),
            evaluation: tried.evaluation,
        };
        TestCallResult { failure: outcome.err(), rows: rows.into_iter().map(row).collect() }
    }
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
