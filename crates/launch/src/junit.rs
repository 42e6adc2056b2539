//! Reads JUnit XML in the dialects of its writers: nextest, pytest, surefire, gotestsum, jest-junit, `CTest`, Playwright,
//! googletest, bazel, `PHPUnit` and similar ones.
//!
//! There is no standard; this follows what these tools write. The output of a suite is attached to the failed tests in it that
//! printed nothing themselves; suites may be nested; a suite may fail by itself.

use super::attempts;
use super::formats::{FormatRow, FormatSign, ReportInput};
use super::junit_case;
use super::junit_repeat::{self, RepeatEntry, Repeats};
use super::junit_retry;
use super::outcome_counts::OutcomeCounts;
use super::texts::{self, TextBudget};
use super::unique::Ids;
use super::xml::{self, Element, Visitor};
use super::{InputPart, attributes, foreign, times};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Attributes, TestIdentity, TestOutcome};
use asterisk_diag::{Diagnostic, Diagnostics, Source};

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "JUnit XML",
    signs: &[FormatSign::Root("testsuites", &[]), FormatSign::Root("testsuite", &[])],
    is_json: false,
    read,
};

/// Reads the suites of a file as one launch; `source` is its text if in memory. The `run_id` is empty if the file has none.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let ReportInput { stream, source, room, .. } = input;
    let mut reader = JunitReader {
        source,
        texts: TextBudget::new(room),
        ids: Ids::default(),
        counts: OutcomeCounts::default(),
        open: Vec::new(),
        spans: Vec::new(),
        root_span: None,
        root_named: false,
        root_counts: false,
        without_output: Vec::new(),
        nameless: Vec::new(),
        part: InputPart::default(),
    };
    let problems = xml::read(stream, source, &mut reader)?;
    reader.part.drop_marked();
    let JunitReader { mut part, texts, counts, nameless, spans, root_span, .. } = reader;
    let launch = &mut part.launch;
    if let Some(line) = nameless.first() {
        let count = nameless.len();
        let (what, verb) = if count == 1 { ("1 failed test", "has") } else { (&*format!("{count} failed tests"), "have") };
        let first = if count == 1 { "" } else { "first " };
        let unnamed = junit_case::UNNAMED;
        let note = format!("{what} {verb} neither `name` nor `classname` ({first}at line {line}): it is called `{unnamed}`");
        launch.notes.push(note);
    }
    let is_cut = problems.note(source.name(), launch);
    if launch.name.is_empty() {
        let file = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
        file.strip_suffix(".xml").unwrap_or(file).clone_into(&mut launch.name);
    }
    let spans = root_span.map_or(spans, |root_span| vec![root_span]);
    launch.started_at = spans.iter().map(|(start, _)| *start).min();
    launch.ended_at = spans.iter().map(|(_, end)| *end).max().filter(|end| Some(*end) > launch.started_at);
    counts.finish(launch, &texts, is_cut);
    Ok(part)
}

/// The start and end of an element, if it has a timestamp.
fn span_of(element: &Element) -> Option<(Timestamp, Timestamp)> {
    let start = element.attribute("timestamp").and_then(times::parse)?;
    let end = element.attribute("time").and_then(times::seconds).map_or(start, |seconds| times::later(start, seconds));
    Some((start, end))
}

/// The number of failures and errors that an element declares.
fn declared(element: &Element) -> u64 {
    let count = |name| element.attribute(name).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
    count("failures").saturating_add(count("errors"))
}

/// The number of tests that an element declares.
fn declared_tests(element: &Element) -> u64 {
    element.attribute("tests").and_then(|count| count.parse().ok()).unwrap_or(0)
}

/// An open suite.
struct OpenSuite {
    /// The names from the outermost suite to this one, without the launch's own.
    path: String,
    /// Its file, or that of the enclosing suite.
    file: Option<String>,
    /// The index of its first case.
    first_case: usize,
    /// Its tests that may occur more than once.
    repeats: Repeats,
    /// Whether it has no tests and no suites.
    is_empty: bool,
    /// The number of failures before it.
    failing: u64,
}

struct JunitReader<'s> {
    source: &'s Source,
    texts: TextBudget,
    ids: Ids,
    counts: OutcomeCounts,
    open: Vec<OpenSuite>,
    /// Start and end of the outermost suites, and of the root.
    spans: Vec<(Timestamp, Timestamp)>,
    root_span: Option<(Timestamp, Timestamp)>,
    root_named: bool,
    /// Whether the root counts tests or failures; if not, its suites do.
    root_counts: bool,
    /// Cases without output of their own.
    without_output: Vec<usize>,
    /// The lines of failed tests without a name.
    nameless: Vec<usize>,
    part: InputPart,
}

impl Visitor for JunitReader<'_> {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        if !matches!(root.name.as_str(), "testsuites" | "testsuite") {
            let (what, help) = match foreign::root(&root.name) {
                Some(known) => (known.what.to_owned(), known.help),
                None => (format!("XML with the root element `{}`", root.name), super::detect::WANTED),
            };
            return Err(super::detect::refuse(self.source, root.span, &what, help));
        }
        let launch = &mut self.part.launch;
        root.attribute("uuid").unwrap_or_default().clone_into(&mut launch.run_id);
        root.attribute("name").unwrap_or_default().clone_into(&mut launch.name);
        self.root_named = !launch.name.is_empty();
        self.root_span = span_of(root);
        (self.counts.declared, self.counts.declared_tests) = (declared(root), declared_tests(root));
        self.root_counts = root.attribute("tests").or(root.attribute("failures")).is_some();
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "testsuites" | "testsuite")
    }

    fn is_test(&self, name: &str) -> bool {
        name == "testcase"
    }

    fn has_failed(&self, test: &Element) -> bool {
        junit_case::outcome(test).is_failure()
    }

    fn open(&mut self, suite: &Element) {
        let outer = self.open.last();
        let name = suite.attribute("name").filter(|_| suite.name == "testsuite").unwrap_or_default();
        let mut path = outer.map(|outer| outer.path.clone()).unwrap_or_default();
        // The name of the root is that of the launch.
        if !name.is_empty() && path.rsplit(" > ").next() != Some(name) {
            path = if path.is_empty() { name.to_owned() } else { format!("{path} > {name}") };
        }
        let file = suite.attribute("file").or(suite.attribute("filepath")).map(str::to_owned);
        let file = file.or_else(|| outer.and_then(|outer| outer.file.clone()));
        if let Some(outer) = self.open.last_mut() {
            outer.is_empty = false;
        }
        if self.open.len() == 1 && !self.root_counts {
            self.counts.declared = self.counts.declared.saturating_add(declared(suite));
            self.counts.declared_tests = self.counts.declared_tests.saturating_add(declared_tests(suite));
        }
        if self.open.len() == 1 {
            self.spans.extend(span_of(suite));
            if !self.root_named && self.part.launch.name.is_empty() {
                name.clone_into(&mut self.part.launch.name);
            }
        }
        let first_case = self.part.launch.cases.len();
        let failing = self.counts.failing;
        self.open.push(OpenSuite { path, file, first_case, repeats: Repeats::default(), is_empty: true, failing });
    }

    fn test(&mut self, test: &Element, suite: &Element) {
        let outcome = junit_case::outcome(test);
        let Some(place) = self.open.last_mut() else { return };
        place.is_empty = false;
        self.counts.tests += 1;
        let full_name = junit_case::full_name(test, &place.path);
        let (suite_name, name) = junit_case::names(test, &place.path);
        let identity = TestIdentity::new(&suite_name, &name);
        if outcome.is_failure() {
            // Some tools count each failure of a test.
            let failures = test.children.iter().filter(|child| matches!(child.name.as_str(), "failure" | "error")).count();
            self.counts.failing += failures.max(1) as u64;
        }
        // Tests without names are never repeats of each other.
        let open = self.open.last_mut().filter(|_| !junit_case::is_nameless(test));
        let repeated = open.and_then(|open| open.repeats.seen(suite, &full_name));
        let outcomes = &mut self.part.launch.outcomes;
        if repeated.is_some() || outcome == TestOutcome::Flaky {
            outcomes.name(&suite_name, &name);
        }
        match repeated {
            None => {
                outcomes.add(identity, outcome);
                self.first_attempt(test, outcome, &full_name);
            }
            Some(entry) => {
                outcomes.add_attempt(identity, outcome);
                self.later_attempt(test, outcome, &full_name, entry);
            }
        }
    }

    fn close(&mut self, suite: &Element) {
        properties(suite, &mut self.part.launch.attributes);
        for name in ["hostname", "package"] {
            if let Some(value) = suite.attribute(name) {
                attributes::add(&mut self.part.launch.attributes, name, value);
            }
        }
        let is_empty = self.open.last().is_some_and(|open| open.is_empty);
        if suite.children.iter().any(|child| matches!(child.name.as_str(), "failure" | "error"))
            || is_empty && declared(suite) > 0
        {
            self.failed_suite(suite);
        }
        let Some(open) = self.open.pop() else { return };
        let output = junit_case::output(suite);
        if !output.is_empty() {
            while let Some(index) = self.without_output.pop_if(|index| *index >= open.first_case) {
                self.texts.append_log(&mut self.part.launch.cases[index], &output);
            }
        }
        self.drop_parents(&open);
    }
}

impl JunitReader<'_> {
    /// Adds the first occurrence of a test.
    fn first_attempt(&mut self, test: &Element, outcome: TestOutcome, full_name: &str) {
        self.counts.first(&mut self.part, outcome, full_name);
        let index = if outcome.is_failure() { self.failed(test, outcome, full_name) } else { None };
        if let Some(open) = self.open.last_mut().filter(|_| !junit_case::is_nameless(test)) {
            open.repeats.first(full_name, outcome, index);
        }
    }

    /// Adds a case for a failed test; returns its index.
    fn failed(&mut self, test: &Element, outcome: TestOutcome, full_name: &str) -> Option<usize> {
        self.nameless.extend(junit_case::is_nameless(test).then_some(test.line));
        let open = self.open.last()?;
        let id = self.ids.take(full_name);
        let mut case = junit_case::case(test, outcome, id, &open.path, open.file.as_deref());
        properties(test, &mut case.attributes);
        let error = junit_case::error(test);
        let earlier = junit_retry::attempts(test).annotate(&mut case, &error);
        let own = junit_case::output(test);
        self.texts.fill(&mut case, &error, &format!("{earlier}{own}"), texts::Markup::None);
        let index = self.part.launch.cases.len();
        if own.is_empty() {
            self.without_output.push(index);
        }
        self.part.launch.cases.push(case);
        Some(index)
    }

    /// Folds another attempt of a test into the first: flaky if one of them passed, otherwise a single failure.
    fn later_attempt(&mut self, test: &Element, outcome: TestOutcome, full_name: &str, entry: RepeatEntry) {
        let (outcome, case) = match outcome {
            TestOutcome::Skipped => return,
            TestOutcome::Error if entry.outcome.is_failure() && junit_repeat::is_teardown(test) => {
                // The teardown of the same attempt.
                if let Some(index) = entry.case {
                    self.texts.append_error(&mut self.part.launch.cases[index], &junit_case::error(test));
                }
                return;
            }
            TestOutcome::Passed | TestOutcome::Flaky => {
                self.passed_again(full_name, entry);
                (TestOutcome::Flaky, None)
            }
            TestOutcome::Failed | TestOutcome::Error => (outcome, self.failed_again(test, outcome, full_name, entry)),
        };
        if let Some(open) = self.open.last_mut() {
            open.repeats.again(full_name, outcome, case);
        }
    }

    /// Marks a test as flaky: an earlier attempt failed, and the last one passed.
    fn passed_again(&mut self, full_name: &str, entry: RepeatEntry) {
        match entry.outcome {
            TestOutcome::Flaky => {}
            TestOutcome::Failed | TestOutcome::Error => self.counts.failure_passed(&mut self.part, entry.case, full_name),
            TestOutcome::Passed | TestOutcome::Skipped => self.counts.add_flaky(full_name),
        }
    }

    /// Records another failed attempt; returns the index of its case.
    fn failed_again(&mut self, test: &Element, outcome: TestOutcome, full_name: &str, entry: RepeatEntry) -> Option<usize> {
        let number = entry.attempts + 1;
        if let Some(index) = entry.case {
            let case = &mut self.part.launch.cases[index];
            let line = attempts::annotate_again(case, &junit_case::error(test), number);
            self.texts.prepend_log(case, &line);
            return Some(index);
        }
        if !entry.outcome.is_failure() {
            self.counts.became_failure(&mut self.part, entry.outcome, full_name);
        }
        let index = self.failed(test, outcome, full_name)?;
        attempts::set_attributes(&mut self.part.launch.cases[index], number);
        Some(index)
    }

    /// Adds a suite that failed by itself: it did not compile, or its setup failed. It may say no more than that.
    fn failed_suite(&mut self, suite: &Element) {
        let outcome = if suite.children("failure").next().is_some() { TestOutcome::Failed } else { TestOutcome::Error };
        // It stands for all that the suite counts beyond its tests.
        let before = self.open.last().map_or(0, |open| open.failing);
        self.counts.failing = self.counts.failing.saturating_add(1).max(before.saturating_add(declared(suite)));
        let name = self.open.last().map_or_else(String::new, |open| open.path.clone());
        let name = if name.is_empty() { self.part.launch.name.clone() } else { name };
        let name = if name.is_empty() { junit_case::UNNAMED.to_owned() } else { name };
        self.counts.first(&mut self.part, outcome, &name);
        self.failed(suite, outcome, &name);
    }

    /// Drops the cases of a closed suite that failed only because of their subtests.
    fn drop_parents(&mut self, open: &OpenSuite) {
        let parents = open.repeats.parents(&self.part.launch.cases, open.first_case, &self.part.dropped);
        if !parents.is_empty() {
            self.part.parents += parents.len();
            for _ in &parents {
                self.part.count("total", -1);
                self.part.count("failed", -1);
            }
            self.part.dropped.extend(parents);
        }
    }
}

/// The `<property>` elements of a suite or test, as attributes.
fn properties(element: &Element, into: &mut Attributes) {
    for property in element.children("properties").flat_map(|list| list.children("property")) {
        let value = property.attribute("value").unwrap_or(property.text.trim());
        attributes::add(into, property.attribute("name").unwrap_or_default(), value);
    }
}
