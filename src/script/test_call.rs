//! Running a test: a function of a `*_test.rhai` file, on a [`TestHost`].

use super::ScriptFunction;
use super::guard::EvaluationStop;
use super::invoke::Parameters;
use super::probe::Evaluation;
use super::running_test::{self, TableRowResult, TestHost};
use super::view::View;
use crate::diag::Diagnostic;
use std::rc::Rc;

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

impl ScriptFunction {
    /// Runs it as a test. Nothing may be running on this thread yet.
    pub fn trial(&self, stage: Rc<dyn TestHost>) -> TestCallResult {
        let (outcome, rows) = running_test::run(stage, || self.evaluate(&[] as &[View], Parameters::ReadOnly));
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
