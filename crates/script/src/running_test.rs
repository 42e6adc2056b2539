//! The test running on this thread: its [`TestHost`], and the table rows evaluated so far.

use super::probe::{Evaluation, ObservedValue, last_failed};
use asterisk_diag::Diagnostic;
use rhai::{Dynamic, EvalAltResult};
use serde_json::Value;
use std::cell::RefCell;
use std::rc::Rc;

/// An operation of the engine requested by a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestQuestion {
    /// Evaluate a rule.
    Verdict,
    /// Make the verdict of a failure.
    Judge,
    /// Find the root of a failure.
    Root,
    /// Make the routing decision of a node.
    Decide,
    /// Call a responder, or another function of parameters and vars.
    Respond,
    /// Call a function that returns the effects of an artifact.
    Effects,
    /// Read a fixture file next to the test.
    Fixture,
}

/// Executes the operations requested by tests; `name` is the function, node or file, `inputs` are the arguments.
pub trait TestHost {
    /// Executes an operation. An error is labelled in the scripts involved.
    fn answer(&self, question: TestQuestion, name: &str, inputs: &Value) -> Result<Value, Box<Diagnostic>>;
}

/// A row of the running test.
pub(super) struct TableRowResult {
    pub(super) table: usize,
    pub(super) index: usize,
    pub(super) values: String,
    pub(super) error: Option<Box<EvalAltResult>>,
    pub(super) evaluation: Option<Evaluation>,
}

struct RunningTest {
    host: Rc<dyn TestHost>,
    tables: usize,
    rows: Vec<TableRowResult>,
}

thread_local! {
    static RUNNING: RefCell<Option<RunningTest>> = const { RefCell::new(None) };
}

/// Runs a test. Returns its result and the rows it evaluated. No other test may be running on this thread.
pub(super) fn run<T>(host: Rc<dyn TestHost>, evaluate: impl FnOnce() -> T) -> (T, Vec<TableRowResult>) {
    RUNNING.set(Some(RunningTest { host, tables: 0, rows: Vec::new() }));
    let outcome = evaluate();
    (outcome, RUNNING.take().map(|running| running.rows).unwrap_or_default())
}

/// Sets or clears the test host, for examples outside tests.
#[cfg(test)]
pub(super) fn set_host(host: Option<Rc<dyn TestHost>>) {
    RUNNING.set(host.map(|host| RunningTest { host, tables: 0, rows: Vec::new() }));
}

/// The host of the test running on this thread.
pub(super) fn host() -> Option<Rc<dyn TestHost>> {
    RUNNING.with_borrow(|running| running.as_ref().map(|running| running.host.clone()))
}

/// Starts a table of the running test.
pub(super) fn begin_table() -> usize {
    RUNNING.with_borrow_mut(|running| {
        running.as_mut().map_or(0, |running| {
            running.tables += 1;
            running.tables - 1
        })
    })
}

/// Records the result of a row.
pub(super) fn note_row(table: usize, index: usize, values: &Dynamic, error: Option<Box<EvalAltResult>>) {
    let evaluation = if error.is_some() { last_failed() } else { None };
    let tried = TableRowResult { table, index, values: ObservedValue::of(values).to_string(), error, evaluation };
    RUNNING.with_borrow_mut(|running| {
        if let Some(running) = running {
            running.rows.push(tried);
        }
    });
}
