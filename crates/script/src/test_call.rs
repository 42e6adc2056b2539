//! Runs a test: a function of a `*_test.rhai` file, on a [`TestHost`].

use super::ScriptFunction;
use super::guard::EvaluationStop;
use super::invoke::Parameters;
use super::probe::Evaluation;
use super::running_test::{self, TableRowResult, TestHost};
use super::view::View;
use asterisk_diag::Diagnostic;
use std::rc::Rc;

/// The result of a test.
#[derive(Debug)]
pub struct TestCallResult {
    /// The failure, if it failed.
    pub failure: Option<Box<Diagnostic>>,
    /// The rows of its tables, in order of evaluation.
    pub rows: Vec<TableRow>,
}

/// A row of a test's table.
#[derive(Debug)]
pub struct TableRow {
    /// The table, counted from 0.
    pub table: usize,
    /// The row's index in it, from 0.
    pub index: usize,
    /// Its values, in script notation.
    pub values: String,
    /// The failure, if it failed.
    pub failure: Option<Box<Diagnostic>>,
    /// The evaluation that failed, if it was observed.
    pub evaluation: Option<Evaluation>,
}

impl ScriptFunction {
    /// Runs it as a test. No other test may be running on this thread.
    pub fn run_test(&self, host: Rc<dyn TestHost>) -> TestCallResult {
        let (outcome, rows) = running_test::run(host, || self.evaluate(&[] as &[View], Parameters::ReadOnly));
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
