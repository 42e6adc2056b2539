//! A launch made test by test: counts outcomes, folds attempts of a test, gives out ids, and tells what was cut or lost.

use super::attempts::{self, TestAttempts};
use super::damage::DamageLog;
use super::junit_case::TestOutcome;
use super::room::TextRoom;
use super::texts::{self, Markup, TextBudget};
use super::unique::{Ids, name_hash};
use super::xml::Cost;
use super::{InputPart, attributes, junit_case};
use crate::clock::Timestamp;
use crate::model::{Attributes, Case, Launch};
use std::collections::HashMap;

/// How many names are told in a note.
const MAX_NAMES: usize = 10;

/// The attribute of a launch that names the format it was read from.
const FORMAT: &str = "report_format";

/// One test, or one attempt of it, as a format tells it.
#[derive(Debug)]
pub(super) struct TestRecord {
    /// The name without its suite; a blank one becomes `(unnamed)`.
    pub(super) name: String,
    /// What the test stands in: class, package, suite.
    pub(super) suite: String,
    pub(super) outcome: TestOutcome,
    pub(super) file: Option<String>,
    pub(super) started_at: Option<Timestamp>,
    /// In seconds.
    pub(super) duration_s: Option<f64>,
    pub(super) attributes: Attributes,
    /// Message and stack.
    pub(super) error: String,
    /// What the test printed.
    pub(super) log: String,
    /// Attempts beside this one that the format tells with it.
    pub(super) attempts: TestAttempts,
}

impl TestRecord {
    /// A test of a suite, with nothing else known of it.
    pub(super) fn new(suite: &str, name: &str, outcome: TestOutcome) -> Self {
        let name = texts::one_line(name);
        Self {
            name: if name.is_empty() { junit_case::UNNAMED.to_owned() } else { name },
            suite: texts::one_line(suite),
            outcome,
            file: None,
            started_at: None,
            duration_s: None,
            attributes: Attributes::default(),
            error: String::new(),
            log: String::new(),
            attempts: TestAttempts::default(),
        }
    }

    /// `suite::name`, which is the id of its case unless another one has it.
    pub(super) fn full_name(&self) -> String {
        full_name(&self.suite, &self.name)
    }

    /// Adds an attribute, if there is a value.
    pub(super) fn set<'v>(&mut self, name: &str, value: impl Into<Option<&'v str>>) {
        if let Some(value) = value.into() {
            attributes::add(&mut self.attributes, name, value);
        }
    }
}

/// `suite::name`.
pub(super) fn full_name(suite: &str, name: &str) -> String {
    if suite.is_empty() { name.to_owned() } else { format!("{suite}::{name}") }
}

/// Message and stack as one text; the message only once.
pub(super) fn error_text(message: &str, stack: &str) -> String {
    let (message, body) = (message.trim(), stack.trim_end().trim_start_matches('\n'));
    let told = body.find(message).is_some_and(|at| !body[..at].contains('\n'));
    match (message, body.trim()) {
        (message, "") => message.to_owned(),
        ("", _) => body.to_owned(),
        _ if told => body.to_owned(),
        (message, _) => format!("{message}\n{body}"),
    }
}

/// What is known of a test that may be tried again.
#[derive(Clone, Copy, Debug)]
struct TriedTest {
    outcome: TestOutcome,
    case: Option<usize>,
    attempts: usize,
}

/// Builds the launch of one input.
pub(super) struct LaunchBuilder {
    pub(super) part: InputPart,
    texts: TextBudget,
    tried: HashMap<u64, TriedTest>,
    flaky: Vec<String>,
    flaky_count: usize,
    /// Failures that the input says it has, and those it had.
    declared: u64,
    failing: u64,
    pub(super) damage: DamageLog,
    /// The end of the input is missing.
    is_cut: bool,
}

impl LaunchBuilder {
    /// A launch without tests; `format` is what the report calls its format.
    pub(super) fn new(room: &TextRoom, format: &str) -> Self {
        let mut part = InputPart::default();
        attributes::add(&mut part.launch.attributes, FORMAT, format);
        Self {
            part,
            texts: TextBudget::new(room),
            tried: HashMap::new(),
            flaky: Vec::new(),
            flaky_count: 0,
            declared: 0,
            failing: 0,
            damage: DamageLog::default(),
            is_cut: false,
        }
    }

    /// The launch as far as it is read.
    pub(super) fn launch(&mut self) -> &mut Launch {
        &mut self.part.launch
    }

    /// Adds an attribute of the launch, if there is a value.
    pub(super) fn set<'v>(&mut self, name: &str, value: impl Into<Option<&'v str>>) {
        if let Some(value) = value.into() {
            attributes::add(&mut self.part.launch.attributes, name, value);
        }
    }

    /// The input counts so many failures.
    pub(super) fn declare(&mut self, failures: u64) {
        self.declared = self.declared.saturating_add(failures);
    }

    /// One of the failures that the input counts failed only because others did, or is told by them.
    pub(super) fn told_by_others(&mut self) {
        self.failing += 1;
    }

    /// The launch spans this time too.
    pub(super) fn span(&mut self, from: Option<Timestamp>, to: Option<Timestamp>) {
        let launch = &mut self.part.launch;
        launch.started_at = [launch.started_at, from].into_iter().flatten().min();
        launch.ended_at = [launch.ended_at, to].into_iter().flatten().max();
    }

    /// Takes a test that occurs once. Returns the number of its case if it failed.
    pub(super) fn add(&mut self, test: TestRecord) -> Option<usize> {
        let full_name = test.full_name();
        self.count("total", 1);
        match test.outcome {
            TestOutcome::Passed => self.pass(&full_name),
            TestOutcome::Skipped => self.count("skipped", 1),
            TestOutcome::Flaky => {
                self.pass(&full_name);
                self.is_flaky(full_name);
            }
            TestOutcome::Failed | TestOutcome::Error => {
                self.count("failed", 1);
                return Some(self.case(test, full_name));
            }
        }
        None
    }

    /// Takes one attempt of a test; attempts come in their order. A test that passes in the end did not fail.
    pub(super) fn attempt(&mut self, test: TestRecord) -> Option<usize> {
        let full_name = test.full_name();
        let key = name_hash(&full_name);
        let outcome = test.outcome;
        let Some(known) = self.tried.get(&key).copied() else {
            let case = self.add(test);
            self.tried.insert(key, TriedTest { outcome, case, attempts: 1 });
            return case;
        };
        let (outcome, case) = match (known.outcome, outcome) {
            (_, TestOutcome::Skipped) => return known.case,
            (TestOutcome::Failed | TestOutcome::Error, TestOutcome::Passed | TestOutcome::Flaky) => {
                self.part.dropped.extend(known.case);
                self.count("failed", -1);
                self.pass(&full_name);
                self.is_flaky(full_name);
                (TestOutcome::Flaky, None)
            }
            (_, TestOutcome::Passed | TestOutcome::Flaky) => return None,
            (TestOutcome::Failed | TestOutcome::Error, _) => {
                self.failing += 1;
                if let Some(index) = known.case {
                    self.failed_again(index, &test.error, known.attempts + 1);
                }
                (outcome, known.case)
            }
            (before, _) => {
                self.count(if before == TestOutcome::Skipped { "skipped" } else { "passed" }, -1);
                self.count("failed", 1);
                if before == TestOutcome::Flaky {
                    self.flaky_count -= 1;
                    self.flaky.retain(|name| *name != full_name);
                }
                let index = self.case(test, full_name);
                attempts::set(&mut self.part.launch.cases[index], known.attempts + 1);
                (outcome, Some(index))
            }
        };
        self.tried.insert(key, TriedTest { outcome, case, attempts: known.attempts + 1 });
        case
    }

    /// Whether an attempt of the test was taken.
    pub(super) fn is_tried(&self, test: &TestRecord) -> bool {
        self.tried.contains_key(&name_hash(&test.full_name()))
    }

    fn failed_again(&mut self, index: usize, said: &str, count: usize) {
        let mut more = TestAttempts::default();
        more.add(said);
        let case = &mut self.part.launch.cases[index];
        let error = std::mem::take(&mut case.error_message);
        let told = more.mark(case, &error).replacen("attempt 2", &format!("attempt {count}"), 1);
        case.error_message = error;
        attempts::set(case, count);
        self.texts.prepend_log(case, &told);
    }

    fn case(&mut self, test: TestRecord, full_name: String) -> usize {
        self.failing += 1;
        let mut case = Case {
            id: full_name,
            name: test.name,
            status: if test.outcome == TestOutcome::Error { "ERROR" } else { "FAILED" }.to_owned(),
            suite: test.suite,
            file: test.file.map(|file| texts::one_line(&file)).filter(|file| !file.is_empty()),
            started_at: test.started_at,
            duration_s: test.duration_s,
            attributes: test.attributes,
            ..Case::default()
        };
        let told = test.attempts.mark(&mut case, &test.error);
        self.texts.fill(&mut case, &test.error, &format!("{told}{}", test.log), Markup::None);
        self.part.launch.cases.push(case);
        self.part.launch.cases.len() - 1
    }

    fn count(&mut self, outcome: &str, by: i64) {
        let total = self.part.launch.totals.entry(outcome.to_owned()).or_default();
        *total = total.saturating_add_signed(by);
    }

    fn pass(&mut self, full_name: &str) {
        self.count("passed", 1);
        self.part.passed(full_name);
    }

    fn is_flaky(&mut self, name: String) {
        self.flaky_count += 1;
        if self.flaky.len() < MAX_NAMES {
            self.flaky.push(name);
        }
    }

    /// Notes that the end of the input is missing, and with it failures perhaps.
    pub(super) fn cut_off(&mut self, note: String) {
        self.is_cut = true;
        self.part.launch.gap(note);
    }

    /// The launch of an XML document, with notes on what reading it cost.
    pub(super) fn finish_document(mut self, input: &str, cost: Cost) -> InputPart {
        self.is_cut |= cost.note(input, &mut self.part.launch);
        self.finish(input)
    }

    /// The launch; without a name of its own it has that of its file.
    pub(super) fn finish(mut self, input: &str) -> InputPart {
        self.part.drop_marked();
        let launch = &mut self.part.launch;
        let mut ids = Ids::default();
        for case in &mut launch.cases {
            case.id = ids.take(&case.id);
        }
        launch.name = texts::one_line(&launch.name);
        if launch.name.is_empty() {
            let file = input.rsplit(['/', '\\']).next().unwrap_or_default();
            file.rsplit_once('.').map_or(file, |(stem, _)| stem).clone_into(&mut launch.name);
        }
        launch.status = match (launch.cases.is_empty(), self.is_cut) {
            (false, _) => Some("FAILED".to_owned()),
            (true, false) => Some("PASSED".to_owned()),
            (true, true) => None,
        };
        launch.ended_at = launch.ended_at.filter(|end| Some(*end) > launch.started_at);
        self.damage.note(input, launch);
        if self.flaky_count > 0 {
            let verb = if self.flaky_count == 1 { "test" } else { "tests" };
            let mut shown: Vec<String> = self.flaky.iter().map(|name| format!("`{name}`")).collect();
            if self.flaky_count > shown.len() {
                shown.push(format!("{} more", self.flaky_count - shown.len()));
            }
            launch.notes.push(format!("{} flaky {verb} passed when tried again: {}", self.flaky_count, shown.join(", ")));
            launch.totals.insert("flaky".to_owned(), self.flaky_count as u64);
        }
        if self.declared > self.failing {
            launch.gap(format!("the file counts {} failures, but has {}", self.declared, self.failing));
        }
        launch.notes.extend(self.texts.notes());
        if launch.cases.is_empty() {
            let total = launch.totals.get("total").copied().unwrap_or(0);
            launch.notes.push(format!("no failed test among {total}"));
        }
        self.part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempt(builder: &mut LaunchBuilder, outcome: TestOutcome, error: &str) {
        let mut test = TestRecord::new("s", "t", outcome);
        error.clone_into(&mut test.error);
        builder.attempt(test);
    }

    #[test]
    fn attempts_of_a_test_are_one_case_or_none() {
        let mut builder = LaunchBuilder::new(&TextRoom::default(), "x");
        for error in ["refused", "no such host", "refused"] {
            attempt(&mut builder, TestOutcome::Failed, error);
        }
        let launch = builder.finish("x").launch;
        let [case] = &launch.cases[..] else { panic!("one case") };
        assert_eq!((case.id.as_str(), case.error_message.as_str(), &case.attributes["attempts"]), ("s::t", "refused", "3"));
        assert_eq!(case.log_snippet.told(), "attempt 2 failed otherwise: no such host");
        let mut builder = LaunchBuilder::new(&TextRoom::default(), "x");
        attempt(&mut builder, TestOutcome::Failed, "refused");
        attempt(&mut builder, TestOutcome::Passed, "");
        let launch = builder.finish("dir/report.log").launch;
        assert_eq!((launch.cases.len(), launch.name.as_str()), (0, "report"));
        assert_eq!(["total", "passed", "failed", "flaky"].map(|outcome| launch.totals[outcome]), [1, 1, 0, 1]);
    }

    #[test]
    fn a_message_stands_once_in_an_error() {
        for (message, stack, text) in [
            ("boom", "  at a\n", "boom\n  at a"),
            ("boom", "E: boom\n at a", "E: boom\n at a"),
            ("", " at a", " at a"),
            ("boom", " ", "boom"),
            ("boom", "x\nboom", "boom\nx\nboom"),
        ] {
            assert_eq!(error_text(message, stack), text);
        }
    }
}
