//! JUnit XML in the dialects of its writers: nextest, pytest, surefire, gotestsum, jest-junit, `CTest`, Playwright,
//! googletest, bazel, `PHPUnit` and what is near enough to them.
//!
//! There is no standard; what the readers of this file go by is what these tools write. A suite's output goes to the failed
//! tests in it that printed nothing themselves; suites may stand in suites; a suite may fail by itself.

use super::attempts::{self, TestAttempts};
use super::junit_case::{self, TestOutcome};
use super::junit_repeat::{self, RepeatEntry, Repeats};
use super::junit_retry;
use super::room::TextRoom;
use super::texts::{self, TextBudget};
use super::unique::Ids;
use super::xml::{self, Element, Visitor};
use super::{InputPart, attributes, foreign, times};
use crate::clock::Timestamp;
use crate::diag::{Diagnostic, Diagnostics, Source};
use crate::model::Attributes;
use std::io::BufRead;

/// Reads the suites of a file as one launch; `source` is its text where that is at hand. The `run_id` is empty where the
/// file has none.
pub(super) fn read(input: impl BufRead, source: &Source, room: &TextRoom) -> Result<InputPart, Diagnostics> {
    let mut reader = JunitReader {
        source,
        texts: TextBudget::new(room),
        ids: Ids::default(),
        flaky: Vec::new(),
        flaky_count: 0,
        open: Vec::new(),
        declared: None,
        failing: 0,
        spans: Vec::new(),
        whole: None,
        root_named: false,
        quiet: Vec::new(),
        nameless: Vec::new(),
        part: InputPart::default(),
    };
    let cost = xml::read(input, source, &mut reader)?;
    reader.part.drop_marked();
    let JunitReader { mut part, texts, flaky, flaky_count, nameless, spans, whole, declared, failing, .. } = reader;
    let launch = &mut part.launch;
    if let Some(line) = nameless.first() {
        let count = nameless.len();
        let (what, verb) = if count == 1 { ("1 failed test", "has") } else { (&*format!("{count} failed tests"), "have") };
        let first = if count == 1 { "" } else { "first " };
        let unnamed = junit_case::UNNAMED;
        let note = format!("{what} {verb} neither `name` nor `classname` ({first}at line {line}): `{unnamed}` stands for it");
        launch.notes.push(note);
    }
    let is_cut = cost.note(source.name(), launch);
    if launch.name.is_empty() {
        let file = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
        file.strip_suffix(".xml").unwrap_or(file).clone_into(&mut launch.name);
    }
    // Whether a launch passed whose end is missing is not known.
    launch.status = match (launch.cases.is_empty(), is_cut) {
        (false, _) => Some("FAILED".to_owned()),
        (true, false) => Some("PASSED".to_owned()),
        (true, true) => None,
    };
    let spans = whole.map_or(spans, |whole| vec![whole]);
    launch.started_at = spans.iter().map(|(start, _)| *start).min();
    launch.ended_at = spans.iter().map(|(_, end)| *end).max().filter(|end| Some(*end) > launch.started_at);
    if flaky_count > 0 {
        let verb = if flaky_count == 1 { "test" } else { "tests" };
        launch.notes.push(format!("{flaky_count} flaky {verb} passed when tried again: {}", list(&flaky, flaky_count)));
        launch.totals.insert("flaky".to_owned(), flaky_count as u64);
    }
    if let Some(declared) = declared.filter(|declared| *declared > failing) {
        launch.gap(format!("the file counts {declared} failures, but has {failing}"));
    }
    launch.notes.extend(texts.notes());
    if launch.cases.is_empty() {
        let total = launch.totals.get("total").copied().unwrap_or(0);
        launch.notes.push(format!("no failed test among {total}"));
    }
    Ok(part)
}

/// How many names of flaky tests are told.
const MAX_NAMES: usize = 10;

/// The names, shortened when there are many.
fn list(names: &[String], count: usize) -> String {
    let mut shown: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if count > shown.len() {
        shown.push(format!("{} more", count - shown.len()));
    }
    shown.join(", ")
}

/// When an element says that it began and ended.
fn span_of(element: &Element) -> Option<(Timestamp, Timestamp)> {
    let start = element.attribute("timestamp").and_then(times::parse)?;
    let end = element.attribute("time").and_then(times::seconds).map_or(start, |seconds| times::later(start, seconds));
    Some((start, end))
}

/// How many failures an element says that it has.
fn declared(element: &Element) -> Option<u64> {
    let count = |name| element.attribute(name).and_then(|count| count.parse::<u64>().ok());
    match (count("failures"), count("errors")) {
        (None, None) => None,
        (failures, errors) => Some(failures.unwrap_or(0).saturating_add(errors.unwrap_or(0))),
    }
}

/// A suite that is being read.
struct OpenSuite {
    /// The names from the outermost suite to this one, the launch's own left out.
    path: String,
    /// Its file, or that of the suite around it.
    file: Option<String>,
    /// Where the cases of the suite begin.
    first_case: usize,
    /// Tests that occur more than once in it.
    repeats: Repeats,
}

struct JunitReader<'s> {
    source: &'s Source,
    texts: TextBudget,
    ids: Ids,
    flaky: Vec<String>,
    flaky_count: usize,
    open: Vec<OpenSuite>,
    /// How many failures the file says that it has, and how many were read.
    declared: Option<u64>,
    failing: u64,
    /// When the outermost suites began and ended, and the root.
    spans: Vec<(Timestamp, Timestamp)>,
    whole: Option<(Timestamp, Timestamp)>,
    root_named: bool,
    /// Cases that printed nothing themselves.
    quiet: Vec<usize>,
    /// The lines of failed tests that have no name.
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
        self.whole = span_of(root);
        self.declared = declared(root);
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
        // The root's name is the launch's.
        if !name.is_empty() && path.rsplit(" > ").next() != Some(name) {
            path = if path.is_empty() { name.to_owned() } else { format!("{path} > {name}") };
        }
        let file = suite.attribute("file").or(suite.attribute("filepath")).map(str::to_owned);
        let file = file.or_else(|| outer.and_then(|outer| outer.file.clone()));
        if self.open.len() == 1 {
            self.spans.extend(span_of(suite));
            if !self.root_named && self.part.launch.name.is_empty() {
                name.clone_into(&mut self.part.launch.name);
            }
        }
        self.open.push(OpenSuite { path, file, first_case: self.part.launch.cases.len(), repeats: Repeats::default() });
    }

    fn test(&mut self, test: &Element, suite: &Element) {
        let outcome = junit_case::outcome(test);
        let Some(place) = self.open.last() else { return };
        let full_name = junit_case::full_name(test, &place.path);
        self.failing += u64::from(outcome.is_failure());
        // Two tests without names are two tests.
        let open = self.open.last_mut().filter(|_| !junit_case::is_nameless(test));
        let repeated = open.and_then(|open| open.repeats.seen(suite, &full_name));
        match repeated {
            None => self.first(test, outcome, &full_name),
            Some(entry) => self.again(test, outcome, &full_name, entry),
        }
    }

    fn close(&mut self, suite: &Element) {
        properties(suite, &mut self.part.launch.attributes);
        for name in ["hostname", "package"] {
            if let Some(value) = suite.attribute(name) {
                attributes::add(&mut self.part.launch.attributes, name, value);
            }
        }
        if suite.children.iter().any(|child| matches!(child.name.as_str(), "failure" | "error")) {
            self.suite_itself(suite);
        }
        let Some(open) = self.open.pop() else { return };
        let output = junit_case::output(suite);
        if !output.is_empty() {
            while let Some(index) = self.quiet.pop_if(|index| *index >= open.first_case) {
                self.texts.append_log(&mut self.part.launch.cases[index], &output);
            }
        }
        self.finish(&open);
    }
}

impl JunitReader<'_> {
    fn count(&mut self, name: &str, by: i64) {
        let total = self.part.launch.totals.entry(name.to_owned()).or_default();
        *total = total.saturating_add_signed(by);
    }

    /// A test that was not seen before.
    fn first(&mut self, test: &Element, outcome: TestOutcome, full_name: &str) {
        self.count("total", 1);
        self.count(
            match outcome {
                TestOutcome::Failed | TestOutcome::Error => "failed",
                TestOutcome::Skipped => "skipped",
                TestOutcome::Passed | TestOutcome::Flaky => "passed",
            },
            1,
        );
        let mut index = None;
        match outcome {
            TestOutcome::Skipped => {}
            TestOutcome::Passed => self.part.passed(full_name),
            TestOutcome::Flaky => {
                self.part.passed(full_name);
                self.flaky(full_name);
            }
            TestOutcome::Failed | TestOutcome::Error => index = self.failed(test, outcome, full_name),
        }
        if let Some(open) = self.open.last_mut().filter(|_| !junit_case::is_nameless(test)) {
            open.repeats.first(full_name, outcome, index);
        }
    }

    /// Makes a case; its number among the cases.
    fn failed(&mut self, test: &Element, outcome: TestOutcome, full_name: &str) -> Option<usize> {
        self.nameless.extend(junit_case::is_nameless(test).then_some(test.line));
        let open = self.open.last()?;
        let id = self.ids.take(full_name);
        let mut case = junit_case::case(test, outcome, id, &open.path, open.file.as_deref());
        properties(test, &mut case.attributes);
        let error = junit_case::error(test);
        let told = junit_retry::attempts(test).mark(&mut case, &error);
        let own = junit_case::output(test);
        self.texts.fill(&mut case, &error, &format!("{told}{own}"), texts::Markup::None);
        let index = self.part.launch.cases.len();
        if own.is_empty() {
            self.quiet.push(index);
        }
        self.part.launch.cases.push(case);
        Some(index)
    }

    /// A test that its suite had already: the same one, tried again.
    fn again(&mut self, test: &Element, outcome: TestOutcome, full_name: &str, entry: RepeatEntry) {
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

    /// It failed, or its attempts are all that tells that it did, and passed in the end.
    fn passed_again(&mut self, full_name: &str, entry: RepeatEntry) {
        if entry.outcome == TestOutcome::Flaky {
            return;
        }
        if entry.outcome.is_failure() {
            self.part.dropped.extend(entry.case);
            self.count("failed", -1);
            self.count("passed", 1);
            self.part.passed(full_name);
        }
        self.flaky(full_name);
    }

    /// It failed in the end. Its number among the cases.
    fn failed_again(&mut self, test: &Element, outcome: TestOutcome, full_name: &str, entry: RepeatEntry) -> Option<usize> {
        let index = if let Some(index) = entry.case {
            let mut more = TestAttempts::default();
            more.add(&junit_case::error(test));
            let case = &mut self.part.launch.cases[index];
            let error = std::mem::take(&mut case.error_message);
            let told = more.mark(case, &error);
            case.error_message = error;
            self.texts.prepend_log(case, &told);
            Some(index)
        } else {
            if !entry.outcome.is_failure() {
                self.count(if entry.outcome == TestOutcome::Skipped { "skipped" } else { "passed" }, -1);
                self.count("failed", 1);
            }
            if entry.outcome == TestOutcome::Flaky {
                self.flaky_count = self.flaky_count.saturating_sub(1);
                self.flaky.retain(|name| name != full_name);
            }
            self.failed(test, outcome, full_name)
        };
        if let Some(case) = index.and_then(|index| self.part.launch.cases.get_mut(index)) {
            attempts::set(case, entry.attempts + 1);
        }
        index
    }

    fn flaky(&mut self, name: &str) {
        self.flaky_count += 1;
        if self.flaky.len() < MAX_NAMES {
            self.flaky.push(name.to_owned());
        }
    }

    /// A suite that failed by itself: it did not compile, or its setup failed.
    fn suite_itself(&mut self, suite: &Element) {
        let outcome = if suite.children("failure").next().is_some() { TestOutcome::Failed } else { TestOutcome::Error };
        self.failing += 1;
        let name = self.open.last().map_or_else(String::new, |open| open.path.clone());
        let name = if name.is_empty() { self.part.launch.name.clone() } else { name };
        self.count("total", 1);
        self.count("failed", 1);
        self.failed(suite, outcome, &name);
    }

    /// What can only be told of a suite at its end.
    fn finish(&mut self, open: &OpenSuite) {
        let parents = open.repeats.parents(&self.part.launch.cases, open.first_case, &self.part.dropped);
        if !parents.is_empty() {
            self.part.parents += parents.len();
            for _ in &parents {
                self.count("total", -1);
                self.count("failed", -1);
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
