//! Reads Karate's JSON of a feature (`*.karate-json.txt`).

use super::cucumber::{ScenarioLog, ScenarioNames};
use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Karate JSON",
    signs: &[FormatSign::Keys(&["scenarioResults", "relativePath|prefixedPath|packageQualifiedName|failedCount"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KarateFeature {
    name: Text,
    relative_path: Text,
    prefixed_path: Text,
    passed_count: JsonNumber,
    failed_count: JsonNumber,
    scenario_results: List<KarateScenario>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KarateScenario {
    name: Text,
    ref_id: Text,
    line: JsonNumber,
    start_time: JsonNumber,
    end_time: JsonNumber,
    duration_millis: JsonNumber,
    failed: Option<Loose<bool>>,
    error: Text,
    tags: List<Text>,
    step_results: List<KarateStepResult>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KarateStepResult {
    step: Loose<KarateStep>,
    result: Loose<KarateResult>,
    step_log: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KarateStep {
    prefix: Text,
    text: Text,
    line: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct KarateResult {
    status: Text,
    error_message: Text,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: KarateFeature, builder| {
        builder.declare(report.failed_count.count());
        builder.declare_tests(report.failed_count.count().saturating_add(report.passed_count.count()));
        let mut names = ScenarioNames::default();
        for scenario in &*report.scenario_results {
            read_scenario(scenario, &report, &mut names, builder);
        }
    })
}

fn read_scenario(scenario: &KarateScenario, feature: &KarateFeature, names: &mut ScenarioNames, builder: &mut LaunchBuilder) {
    let title = scenario.name.some().unwrap_or(&scenario.ref_id);
    let Some(Loose(failed)) = scenario.failed else {
        builder.no_outcome(title);
        return;
    };
    let file = feature.relative_path.some().or(feature.prefixed_path.some()).unwrap_or_default();
    let suite = feature.name.some().unwrap_or(file);
    let outcome = if failed { TestOutcome::Failed } else { TestOutcome::Passed };
    let mut record = TestRecord::new(suite, &names.name(title, scenario.line.count()), outcome);
    let broken = scenario.step_results.iter().find(|step| &*step.result.status == "failed");
    let line = broken.map_or(0, |step| step.step.line.count());
    record.locate(file.trim_start_matches("classpath:"), if line > 0 { line } else { scenario.line.count() });
    record.started_at = scenario.start_time.time();
    record.duration_s = scenario.duration_millis.millis();
    builder.span(scenario.start_time.time(), scenario.end_time.time());
    record.set("ref", scenario.ref_id.some());
    for tag in &*scenario.tags {
        record.set("tag", tag.some());
    }
    if failed {
        let mut log = ScenarioLog::default();
        for step in &*scenario.step_results {
            let name = format!("{} {}", step.step.prefix.trim(), step.step.text.trim());
            log.step(&name, &step.result.status, &step.result.error_message, &step.step_log);
        }
        log.fill(&mut record);
        if record.error.is_empty() {
            scenario.error.clone_into(&mut record.error);
        }
    }
    builder.add(record);
}
