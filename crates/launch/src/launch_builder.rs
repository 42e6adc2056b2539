//! Builds a launch test by test: counts outcomes, folds attempts of a test, assigns ids, and notes what was cut or lost.

use super::attempts::{self, TestAttempts};
use super::damage::DamageLog;
use super::outcome_counts::OutcomeCounts;
use super::room::TextRoom;
use super::texts::{self, Markup, TextBudget};
use super::unique::{Ids, name_hash};
use super::xml::XmlProblems;
use super::{InputPart, attributes, junit_case};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Attributes, Case, Launch, TestIdentity, TestOutcome};
use std::collections::HashMap;

/// The launch attribute that names the format it was read from.
const FORMAT: &str = "report_format";

/// One test, or one attempt of it.
#[derive(Debug)]
pub(super) struct TestRecord {
    /// The name without the suite; a blank one becomes `(unnamed)`.
    pub(super) name: String,
    /// The container of the test: class, package, suite.
    pub(super) suite: String,
    pub(super) outcome: TestOutcome,
    pub(super) file: Option<String>,
    pub(super) started_at: Option<Timestamp>,
    /// The duration in seconds.
    pub(super) duration_s: Option<f64>,
    pub(super) attributes: Attributes,
    /// Message and stack.
    pub(super) error: String,
    /// The output of the test.
    pub(super) log: String,
    /// Other attempts, if the format lists them with this one.
    pub(super) attempts: TestAttempts,
    /// Whether it is a test, which is listed if it passes too.
    pub(super) is_test: bool,
}

impl TestRecord {
    /// A test without further data.
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
            is_test: true,
        }
    }

    /// A failure of anything but a test: a set-up, a build. The format omits successful ones, so it lacks a history.
    pub(super) fn fixture(suite: &str, name: &str) -> Self {
        Self { is_test: false, ..Self::new(suite, name, TestOutcome::Error) }
    }

    /// Sets file and line; an empty file and line 0 are not known.
    pub(super) fn locate(&mut self, file: &str, line: u64) {
        self.file = Some(file.trim()).filter(|file| !file.is_empty()).map(str::to_owned);
        if line > 0 {
            self.set("line", &*line.to_string());
        }
    }

    /// The identity of the test.
    pub(super) fn identity(&self) -> TestIdentity {
        TestIdentity::new(&self.suite, &self.name)
    }

    /// `suite::name`: the id of its case, unless another case has it.
    pub(super) fn full_name(&self) -> String {
        full_name(&self.suite, &self.name)
    }

    /// Adds an attribute, if it has a value.
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

/// Joins message and stack trace, without repeating the message.
pub(super) fn error_text(message: &str, stack: &str) -> String {
    let (message, body) = (message.trim(), stack.trim_end().trim_start_matches('\n'));
    let is_repeated = body.find(message).is_some_and(|at| !body[..at].contains('\n'));
    match (message, body.trim()) {
        (message, "") => message.to_owned(),
        ("", _) => body.to_owned(),
        _ if is_repeated => body.to_owned(),
        (message, _) => format!("{message}\n{body}"),
    }
}

/// The state of a test that may be retried.
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
    counts: OutcomeCounts,
    pub(super) damage: DamageLog,
    /// Whether the end of the input is missing.
    is_cut: bool,
}

impl LaunchBuilder {
    /// An empty launch; `format` is the format's name in reports.
    pub(super) fn new(room: &TextRoom, format: &str) -> Self {
        let mut part = InputPart::default();
        attributes::add(&mut part.launch.attributes, FORMAT, format);
        Self {
            part,
            texts: TextBudget::new(room),
            tried: HashMap::new(),
            counts: OutcomeCounts::default(),
            damage: DamageLog::default(),
            is_cut: false,
        }
    }

    /// The launch as read so far.
    pub(super) fn launch(&mut self) -> &mut Launch {
        &mut self.part.launch
    }

    /// Adds an attribute of the launch, if it has a value.
    pub(super) fn set<'v>(&mut self, name: &str, value: impl Into<Option<&'v str>>) {
        if let Some(value) = value.into() {
            attributes::add(&mut self.part.launch.attributes, name, value);
        }
    }

    /// Adds to the number of failures declared by the input.
    pub(super) fn declare(&mut self, failures: u64) {
        self.counts.declared = self.counts.declared.saturating_add(failures);
    }

    /// Adds to the number of tests declared by the input.
    pub(super) fn declare_tests(&mut self, tests: u64) {
        self.counts.declared_tests = self.counts.declared_tests.saturating_add(tests);
    }

    /// Notes that the input says that the run failed: without a failure, something is missing.
    pub(super) fn declare_failed(&mut self, has_failed: bool) {
        self.counts.says_failed |= has_failed;
    }

    /// Notes a test of a JSON report that has no outcome: its end is missing, or damaged.
    pub(super) fn no_outcome(&mut self, name: &str) {
        self.is_cut = true;
        self.damage.add(0, format!("test `{}` has no outcome", texts::one_line(name)));
    }

    /// Whether nothing was added.
    pub(super) fn is_empty(&self) -> bool {
        self.part.launch.totals.is_empty()
    }

    /// Counts a declared failure that makes no case: it failed only because of others, or is covered by them.
    pub(super) fn count_without_case(&mut self) {
        self.counts.failing += 1;
    }

    /// Extends the time span of the launch.
    pub(super) fn span(&mut self, from: Option<Timestamp>, to: Option<Timestamp>) {
        let launch = &mut self.part.launch;
        launch.started_at = [launch.started_at, from].into_iter().flatten().min();
        launch.ended_at = [launch.ended_at, to].into_iter().flatten().max();
    }

    /// Adds a test that occurs once. Returns the index of its case if it failed.
    pub(super) fn add(&mut self, test: TestRecord) -> Option<usize> {
        let full_name = test.full_name();
        if test.is_test {
            self.counts.tests += 1;
            self.part.launch.outcomes.add(test.identity(), test.outcome);
            if test.outcome == TestOutcome::Flaky {
                self.part.launch.outcomes.name(&test.suite, &test.name);
            }
        }
        self.counts.first(&mut self.part, test.outcome, &full_name);
        test.outcome.is_failure().then(|| self.case(test, full_name))
    }

    /// Adds an attempt of a test; attempts come in order. A test that passes in the end did not fail. Returns the index of its
    /// case, if it has one.
    pub(super) fn attempt(&mut self, test: TestRecord) -> Option<usize> {
        let full_name = test.full_name();
        let key = name_hash(&full_name);
        let outcome = test.outcome;
        let Some(known) = self.tried.get(&key).copied() else {
            let case = self.add(test);
            self.tried.insert(key, TriedTest { outcome, case, attempts: 1 });
            return case;
        };
        if test.is_test {
            self.part.launch.outcomes.add_attempt(test.identity(), outcome);
            self.part.launch.outcomes.name(&test.suite, &test.name);
        }
        let (outcome, case) = match (known.outcome, outcome) {
            (_, TestOutcome::Skipped) => return known.case,
            (TestOutcome::Failed | TestOutcome::Error, TestOutcome::Passed | TestOutcome::Flaky) => {
                self.counts.failure_passed(&mut self.part, known.case, &full_name);
                (TestOutcome::Flaky, None)
            }
            (_, TestOutcome::Passed | TestOutcome::Flaky) => return None,
            (TestOutcome::Failed | TestOutcome::Error, _) => {
                self.counts.failing += 1;
                if let Some(index) = known.case {
                    self.failed_again(index, &test.error, known.attempts + 1);
                }
                (outcome, known.case)
            }
            (before, _) => {
                self.counts.became_failure(&mut self.part, before, &full_name);
                let index = self.case(test, full_name);
                attempts::set_attributes(&mut self.part.launch.cases[index], known.attempts + 1);
                (outcome, Some(index))
            }
        };
        self.tried.insert(key, TriedTest { outcome, case, attempts: known.attempts + 1 });
        case
    }

    /// Whether an attempt of the test was added.
    pub(super) fn is_tried(&self, test: &TestRecord) -> bool {
        self.tried.contains_key(&name_hash(&test.full_name()))
    }

    fn failed_again(&mut self, index: usize, new_error: &str, count: usize) {
        let case = &mut self.part.launch.cases[index];
        let lines = attempts::annotate_again(case, new_error, count);
        self.texts.prepend_log(case, &lines);
    }

    fn case(&mut self, test: TestRecord, full_name: String) -> usize {
        self.counts.failing += 1;
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
        let earlier = test.attempts.annotate(&mut case, &test.error);
        self.texts.fill(&mut case, &test.error, &format!("{earlier}{}", test.log), Markup::None);
        self.part.launch.cases.push(case);
        self.part.launch.cases.len() - 1
    }

    /// Notes that the end of the input is missing, perhaps with failures.
    pub(super) fn cut_off(&mut self, note: String) {
        self.is_cut = true;
        self.part.launch.gap(note);
    }

    /// Finishes the launch of an XML document, with notes on problems of reading it.
    pub(super) fn finish_document(mut self, input: &str, problems: XmlProblems) -> InputPart {
        self.is_cut |= problems.note(input, &mut self.part.launch);
        self.finish(input)
    }

    /// Finishes the launch; the default name is that of its file.
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
        launch.ended_at = launch.ended_at.filter(|end| Some(*end) > launch.started_at);
        self.damage.note(input, launch);
        self.counts.finish(launch, &self.texts, self.is_cut);
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
        assert_eq!(case.log_snippet.text_or_error(), "attempt 2 failed otherwise: no such host");
        let mut builder = LaunchBuilder::new(&TextRoom::default(), "x");
        attempt(&mut builder, TestOutcome::Failed, "refused");
        attempt(&mut builder, TestOutcome::Passed, "");
        let launch = builder.finish("dir/report.log").launch;
        assert_eq!((launch.cases.len(), launch.name.as_str()), (0, "report"));
        assert_eq!(["total", "passed", "failed", "flaky"].map(|outcome| launch.totals[outcome]), [1, 1, 0, 1]);
        let mut outcomes = launch.outcomes;
        outcomes.settle();
        assert_eq!(outcomes.get(TestIdentity::new("s", "t")), Some(TestOutcome::Flaky));
    }

    #[test]
    fn a_message_is_not_repeated_in_an_error() {
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
