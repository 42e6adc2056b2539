//! Reads Visual Studio test results (TRX), as written by `dotnet test --logger trx`, vstest and `MSTest`.
//!
//! Results come first, their classes later in the definitions: cases get their suites at the end. A data-driven test contains its
//! rows, which are tests of their own. Errors of the run itself are a case, unless they repeat a failed test.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord, error_text, full_name};
use super::unique::name_hash;
use super::xml::{self, Element, Visitor};
use super::{InputPart, attributes, texts, times};
use asterisk_base::model::{TestIdentity, TestOutcome};
use asterisk_diag::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow { name: "TRX", signs: &[FormatSign::Root("TestRun", &[])], is_json: false, read };

/// Reads a results file.
fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let builder = input.builder();
    let mut reader = TrxReader { builder, results: BTreeMap::new(), run_errors: Vec::new() };
    let problems = xml::read(input.stream, input.source, &mut reader)?;
    Ok(reader.finish().finish_document(input.source.name(), problems))
}

/// The results of a test, until its definition gives its class.
#[derive(Default)]
struct TrxResults {
    cases: Vec<usize>,
    /// Names and outcomes.
    tests: Vec<(String, TestOutcome)>,
}

struct TrxReader {
    builder: LaunchBuilder,
    /// Results by the hash of the test's id.
    results: BTreeMap<u64, TrxResults>,
    /// Errors of the run itself.
    run_errors: Vec<String>,
}

/// The elements that are results.
const RESULTS: [&str; 7] = [
    "UnitTestResult",
    "TestResult",
    "GenericTestResult",
    "ManualTestResult",
    "CodedWebTestResult",
    "WebTestResult",
    "TestResultAggregation",
];

impl Visitor for TrxReader {
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic> {
        let launch = self.builder.launch();
        root.attribute("id").unwrap_or_default().clone_into(&mut launch.run_id);
        root.attribute("name").unwrap_or_default().clone_into(&mut launch.name);
        Ok(())
    }

    fn is_suite(&self, name: &str) -> bool {
        matches!(name, "TestRun" | "Results" | "TestDefinitions" | "UnitTest" | "ResultSummary")
    }

    fn is_test(&self, name: &str) -> bool {
        RESULTS.contains(&name)
    }

    fn has_failed(&self, test: &Element) -> bool {
        outcome(test).is_failure()
    }

    fn filter(&self, element: Element) -> Option<Element> {
        let dropped = ["TestEntry", "TestList", "TestSettings", "CollectorDataEntries"];
        (!dropped.contains(&element.name.as_str())).then_some(element)
    }

    fn test(&mut self, test: &Element, _: &Element) {
        self.result(test, 0);
    }

    fn close(&mut self, suite: &Element) {
        match suite.name.as_str() {
            "UnitTest" => self.definition(suite),
            "ResultSummary" => self.summary(suite),
            "TestRun" => {
                if let Some(times) = suite.child("Times") {
                    let time = |name| times.attribute(name).and_then(times::parse);
                    self.builder.span(time("start"), time("finish"));
                }
            }
            _ => {}
        }
    }
}

/// The outcome of a test. One still in progress ended with its host.
fn outcome(result: &Element) -> TestOutcome {
    match result.attribute("outcome").unwrap_or_default() {
        "Passed" | "PassedButRunAborted" | "Completed" | "Warning" => TestOutcome::Passed,
        "Failed" => TestOutcome::Failed,
        "Error" | "Timeout" | "Aborted" | "Disconnected" | "InProgress" => TestOutcome::Error,
        "" if error_info(result).is_some() => TestOutcome::Error,
        _ => TestOutcome::Skipped,
    }
}

fn error_info(result: &Element) -> Option<&Element> {
    result.child("Output")?.child("ErrorInfo")
}

impl TrxReader {
    /// Adds a result, or those of its rows instead. Returns whether any failed.
    fn result(&mut self, result: &Element, depth: usize) -> bool {
        let rows: Vec<&Element> = result
            .children("InnerResults")
            .flat_map(|inner| inner.children.iter())
            .filter(|inner| self.is_test(&inner.name))
            .collect();
        let outcome = outcome(result);
        let mut failed = false;
        for row in rows.iter().filter(|_| depth < 8) {
            failed |= self.result(row, depth + 1);
        }
        if !rows.is_empty() && (failed || !outcome.is_failure()) {
            if outcome.is_failure() {
                self.builder.count_without_case();
            }
            return failed;
        }
        let mut test = TestRecord::new("", result.attribute("testName").unwrap_or_default(), outcome);
        let time = |name| result.attribute(name).and_then(times::parse);
        (test.started_at, test.duration_s) = (time("startTime"), result.attribute("duration").and_then(times::clock));
        test.set("computer", result.attribute("computerName"));
        if let Some(reported) = result.attribute("outcome").filter(|reported| outcome.is_failure() && *reported != "Failed") {
            test.set("outcome", reported);
        }
        let output = result.child("Output");
        let info = error_info(result);
        test.error =
            info.map_or_else(String::new, |info| error_text(&raw(Some(info), "Message"), &raw(Some(info), "StackTrace")));
        let mut log: Vec<String> = ["StdOut", "StdErr", "DebugTrace"].map(|name| raw(output, name)).into();
        let messages = output.and_then(|output| output.child("TextMessages"));
        log.extend(messages.into_iter().flat_map(|all| all.children("Message")).map(|message| message.text.clone()));
        log.retain(|text| !text.trim().is_empty());
        test.log = log.join("\n");
        let files = result.children("ResultFiles").flat_map(|files| files.children("ResultFile"));
        for path in files.filter_map(|file| file.attribute("path")) {
            test.set("attachments", path.rsplit(['/', '\\']).next());
        }
        let key = name_hash(result.attribute("testId").unwrap_or_default());
        self.results.entry(key).or_default().tests.push((test.name.clone(), outcome));
        // Its identity is only known with its definition.
        test.is_test = false;
        let case = self.builder.add(test);
        if outcome == TestOutcome::Passed {
            // Its full name is only known with its definition.
            self.builder.part.passed.pop();
        }
        if let Some(case) = case {
            self.results.entry(key).or_default().cases.push(case);
        }
        outcome.is_failure()
    }

    /// Applies the definition of a test: class, categories, assembly.
    fn definition(&mut self, definition: &Element) {
        let Some(results) = self.results.remove(&name_hash(definition.attribute("id").unwrap_or_default())) else { return };
        let method = definition.child("TestMethod");
        // The class may include its assembly: `Shop.Tests.CartTest, Shop.Tests, Version=1.0.0.0`.
        let class = method.and_then(|method| method.attribute("className")).unwrap_or_default();
        let class = texts::one_line(class.split(',').next().unwrap_or_default());
        let storage = definition.attribute("storage").or(method.and_then(|method| method.attribute("codeBase")));
        for (name, outcome) in results.tests {
            self.record_outcome(&class, own_name(&class, &name), outcome);
        }
        for index in results.cases {
            let case = &mut self.builder.launch().cases[index];
            case.name = own_name(&class, &case.name).to_owned();
            case.id = full_name(&class, &case.name);
            case.suite.clone_from(&class);
            texts::TextBudget::set_key(case);
            if let Some(storage) = storage {
                attributes::add(&mut case.attributes, "assembly", storage.rsplit(['/', '\\']).next().unwrap_or_default());
            }
            let categories = definition.children("TestCategory").flat_map(|list| list.children("TestCategoryItem"));
            for category in categories.filter_map(|item| item.attribute("TestCategory")) {
                attributes::add(&mut case.attributes, "category", category);
            }
            for property in definition.children("Properties").flat_map(|list| list.children("Property")) {
                attributes::add(&mut case.attributes, property.text_of("Key"), property.text_of("Value"));
            }
            for owner in definition.children("Owners").flat_map(|list| list.children("Owner")) {
                attributes::add(&mut case.attributes, "owner", owner.attribute("name").unwrap_or_default());
            }
        }
    }

    /// Records the outcome of a test.
    fn record_outcome(&mut self, class: &str, name: &str, outcome: TestOutcome) {
        if outcome == TestOutcome::Passed {
            self.builder.part.passed(&full_name(class, name));
        }
        let outcomes = &mut self.builder.launch().outcomes;
        outcomes.add(TestIdentity::new(class, name), outcome);
        if outcome == TestOutcome::Flaky {
            outcomes.name(class, name);
        }
    }

    fn summary(&mut self, summary: &Element) {
        if let Some(counters) = summary.child("Counters") {
            let count = |name| counters.attribute(name).and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
            self.builder.declare(count("failed").saturating_add(count("error")));
        }
        let infos = summary.children("RunInfos").flat_map(|infos| infos.children("RunInfo"));
        for info in infos.filter(|info| matches!(info.attribute("outcome"), Some("Error" | "Failed" | "Aborted" | "Timeout"))) {
            let text = info.text_of("Text");
            // xunit's runner reports each failed test again.
            if !text.is_empty() && !text.ends_with("[FAIL]") && !text.starts_with("[xUnit.net") {
                self.run_errors.push(text.to_owned());
            }
        }
    }

    /// Results without a definition keep their own names; errors of the run become a case.
    fn finish(mut self) -> LaunchBuilder {
        for results in std::mem::take(&mut self.results).into_values() {
            for (name, outcome) in results.tests {
                self.record_outcome("", &name, outcome);
            }
        }
        if !self.run_errors.is_empty() {
            let mut run = TestRecord::fixture("", "test run");
            run.error = self.run_errors.join("\n");
            self.builder.add(run);
        }
        self.builder
    }
}

/// Removes the class from the start of a name.
fn own_name<'n>(class: &str, name: &'n str) -> &'n str {
    name.strip_prefix(class).and_then(|rest| rest.strip_prefix('.')).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// The text of a child, verbatim.
fn raw(element: Option<&Element>, name: &str) -> String {
    element.and_then(|element| element.child(name)).map_or_else(String::new, |child| child.text.clone())
}
