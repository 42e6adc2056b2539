//! Reads `TestCafe`'s JSON (`--reporter json`).

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report, texts};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "TestCafe JSON", signs: &[FormatSign::Keys(&["userAgents", "fixtures"])], is_json: true, read };

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CafeReport {
    start_time: Text,
    end_time: Text,
    user_agents: List<Text>,
    passed: JsonNumber,
    total: JsonNumber,
    skipped: JsonNumber,
    fixtures: List<CafeFixture>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CafeFixture {
    name: Text,
    path: Text,
    tests: List<CafeTest>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CafeTest {
    name: Text,
    errs: Option<List<Text>>,
    duration_ms: JsonNumber,
    unstable: Loose<bool>,
    skipped: Loose<bool>,
    screenshot_path: Text,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: CafeReport, builder| {
        builder.span(report.start_time.time(), report.end_time.time());
        let others = report.passed.count().saturating_add(report.skipped.count());
        builder.declare(report.total.count().saturating_sub(others));
        builder.declare_tests(report.total.count());
        for browser in &*report.user_agents {
            builder.set("browser", browser.some());
        }
        for fixture in &*report.fixtures {
            for test in &*fixture.tests {
                read_test(test, fixture, builder);
            }
        }
    })
}

fn read_test(test: &CafeTest, fixture: &CafeFixture, builder: &mut LaunchBuilder) {
    let outcome = match &test.errs {
        Some(errors) if !errors.is_empty() => TestOutcome::Failed,
        _ if test.skipped.0 => TestOutcome::Skipped,
        Some(_) if test.unstable.0 => TestOutcome::Flaky,
        Some(_) => TestOutcome::Passed,
        None => {
            builder.no_outcome(&test.name);
            return;
        }
    };
    let mut record = TestRecord::new(&fixture.name, &test.name, outcome);
    record.locate(&fixture.path, 0);
    record.duration_s = test.duration_ms.millis();
    if outcome.is_failure() {
        record.error = test.errs.as_ref().map_or(String::new(), |errors| errors.joined("\n\n"));
        record.set("unstable", test.unstable.0.then_some("true"));
        record.set("attachments", test.screenshot_path.some().map(texts::file_name));
    }
    builder.add(record);
}
