//! The result of tests.

use super::Coverage;
use asterisk_diag::{Diagnostic, Source, Span};

/// The result of all tests.
#[derive(Debug)]
pub struct TestResults {
    /// The tests, file by file, in the order of the text.
    pub tests: Vec<TestResult>,
    /// What of the scripts they went through, if that was asked for.
    pub coverage: Option<Coverage>,
    /// How long all of it took, in seconds; 0 under a clock that stands still.
    pub seconds: f64,
}

/// The result of a test.
#[derive(Debug)]
pub struct TestResult {
    /// The file it is in.
    pub file: String,
    /// Its name.
    pub name: String,
    /// Its name where it is defined.
    pub place: Option<(Source, Span)>,
    /// How many rows its tables have.
    pub rows: usize,
    /// Why it failed: once for each row that did, once at most for the rest of it. Empty if it passed.
    pub failures: Vec<TestFailure>,
    /// How long it took, in seconds; 0 under a clock that stands still.
    pub seconds: f64,
}

/// Why a test, or a row of one of its tables, failed.
#[derive(Debug)]
pub struct TestFailure {
    /// The row: which table of the test, its index there, and its values.
    pub row: Option<(usize, usize, String)>,
    /// Why.
    pub diagnostic: Diagnostic,
}

impl TestResults {
    /// How many tests passed.
    pub fn passed(&self) -> usize {
        self.tests.iter().filter(|test| test.passed()).count()
    }

    /// How many tests failed.
    pub fn failed(&self) -> usize {
        self.tests.len() - self.passed()
    }
}

impl TestResult {
    /// Whether it passed.
    pub fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// `file#name`, as functions are named.
    pub fn id(&self) -> String {
        format!("{}#{}", self.file, self.name)
    }

    /// How many of its rows failed.
    pub fn failed_rows(&self) -> usize {
        self.failures.iter().filter(|failed| failed.row.is_some()).count()
    }
}
