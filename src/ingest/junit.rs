//! JUnit XML: nextest's and pytest's dialects, and what is near enough to them.

use super::junit_case::{self, Outcome};
use super::texts::Texts;
use super::unique::Ids;
use super::xml::{self, Element};
use super::{Limits, attributes, times};
use crate::clock::Timestamp;
use crate::diag::{Diagnostic, Diagnostics, Source};
use crate::model::{Hash, Launch};
use std::collections::BTreeMap;

/// Reads the suites of a file as one launch.
pub(super) fn launch(source: &Source, limits: Limits) -> Result<Launch, Diagnostics> {
    let root = xml::parse(source)?;
    let mut reader = Reader {
        source,
        texts: Texts::new(limits),
        ids: Ids::default(),
        flaky: Vec::new(),
        found: Diagnostics::new(),
        launch: Launch::default(),
    };
    reader.suite(&root, &Outer::default());
    let Reader { mut launch, texts, flaky, found, .. } = reader;
    launch.run_id = root.attribute("uuid").map_or_else(|| Hash::of(source.text().as_bytes()).short(), str::to_owned);
    launch.name = name(&root, source);
    launch.status = Some(if launch.cases.is_empty() { "PASSED" } else { "FAILED" }.to_owned());
    times_of(&root, &mut launch);
    if !flaky.is_empty() {
        let verb = if flaky.len() == 1 { "test" } else { "tests" };
        launch.notes.push(format!("{} flaky {verb} passed when tried again: {}", flaky.len(), list(&flaky)));
    }
    launch.notes.extend(texts.notes());
    if launch.cases.is_empty() {
        let total = launch.totals.get("total").copied().unwrap_or(0);
        launch.notes.push(format!("no failed test among {total}"));
    }
    found.into_result(launch)
}

/// The names, shortened when there are many.
fn list(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(10).map(|name| format!("`{name}`")).collect();
    if names.len() > shown.len() {
        shown.push(format!("{} more", names.len() - shown.len()));
    }
    shown.join(", ")
}

/// What the file calls itself: the root's name, or its first suite's, or the file's own.
fn name(root: &Element, source: &Source) -> String {
    let named = root.attribute("name").or_else(|| root.children("testsuite").find_map(|suite| suite.attribute("name")));
    let file = source.name().rsplit(['/', '\\']).next().unwrap_or_default();
    named.unwrap_or_else(|| file.strip_suffix(".xml").unwrap_or(file)).to_owned()
}

/// When the run began and ended: by the root, or by the first and last of its suites.
fn times_of(root: &Element, launch: &mut Launch) {
    let span = |element: &Element| {
        let start = element.attribute("timestamp").and_then(times::parse)?;
        let end = element.attribute("time").and_then(times::seconds).map_or(start, |seconds| times::later(start, seconds));
        Some((start, end))
    };
    let spans: Vec<(Timestamp, Timestamp)> = match span(root) {
        Some(whole) => vec![whole],
        None => root.children("testsuite").filter_map(span).collect(),
    };
    launch.started_at = spans.iter().map(|(start, _)| *start).min();
    launch.ended_at = spans.iter().map(|(_, end)| *end).max().filter(|end| Some(*end) > launch.started_at);
}

/// What the suites around a test pass on to it.
#[derive(Default)]
struct Outer<'a> {
    names: Vec<&'a str>,
    /// What the suite printed as a whole, for tests that have no output of their own.
    output: String,
    file: Option<&'a str>,
}

struct Reader<'s> {
    source: &'s Source,
    texts: Texts,
    ids: Ids,
    flaky: Vec<String>,
    found: Diagnostics,
    launch: Launch,
}

impl Reader<'_> {
    /// Reads a suite and what stands in it. The depth of the document is bounded, so this may recurse.
    fn suite(&mut self, suite: &Element, outer: &Outer<'_>) {
        properties(suite, &mut self.launch.attributes);
        for name in ["hostname", "package"] {
            if let Some(value) = suite.attribute(name) {
                attributes::add(&mut self.launch.attributes, name, value);
            }
        }
        let output = junit_case::output(suite);
        let mut names = outer.names.clone();
        // The root's name is the launch's.
        names.extend(suite.attribute("name").filter(|name| suite.name == "testsuite" && names.last() != Some(name)));
        let inner = Outer {
            names,
            output: if output.is_empty() { outer.output.clone() } else { output },
            file: suite.attribute("file").or(suite.attribute("filepath")).or(outer.file),
        };
        for child in &suite.children {
            match child.name.as_str() {
                "testsuite" | "testsuites" => self.suite(child, &inner),
                "testcase" => self.case(child, &inner),
                _ => {}
            }
        }
    }

    fn case(&mut self, element: &Element, outer: &Outer<'_>) {
        let outcome = junit_case::outcome(element);
        let counter = match outcome {
            Outcome::Failed | Outcome::Error => "failed",
            Outcome::Skipped => "skipped",
            Outcome::Passed | Outcome::Flaky => "passed",
        };
        for name in ["total", counter] {
            *self.launch.totals.entry(name.to_owned()).or_default() += 1;
        }
        let suite = outer.names.join(" > ");
        match outcome {
            Outcome::Passed | Outcome::Skipped => {}
            Outcome::Flaky => self.flaky.push(junit_case::full_name(element, &suite)),
            Outcome::Failed | Outcome::Error => {
                if element.attribute("name").is_none() && element.attribute("classname").is_none() {
                    self.nameless(element);
                    return;
                }
                let id = self.ids.take(&junit_case::full_name(element, &suite));
                let mut case = junit_case::case(element, outcome, id, &suite, outer.file);
                properties(element, &mut case.attributes);
                let error = junit_case::error(element);
                let own = junit_case::output(element);
                let log = if own.is_empty() { &outer.output } else { &own };
                self.texts.fill(&mut case, &error, log, super::texts::Markup::None);
                self.launch.cases.push(case);
            }
        }
    }

    fn nameless(&mut self, element: &Element) {
        if self.found.len() < 20 {
            self.found.push(
                Diagnostic::error("ingest/missing", "a failed `testcase` has neither `name` nor `classname`")
                    .label(self.source, element.span, "no `name` in here")
                    .help("every `testcase` needs a `name`: write the report again with a recent version of the tool"),
            );
        }
    }
}

/// The `<property>` elements of a suite or test, as attributes.
fn properties(element: &Element, into: &mut BTreeMap<String, String>) {
    for property in element.children("properties").flat_map(|list| list.children("property")) {
        let value = property.attribute("value").unwrap_or(property.text.trim());
        attributes::add(into, property.attribute("name").unwrap_or_default(), value);
    }
}
