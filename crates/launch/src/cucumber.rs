//! Reads Cucumber's JSON, as its implementations, behave and others write it.
//!
//! A scenario with a step that failed, is undefined, ambiguous or pending has failed. The rows of an outline are told apart by their
//! order; a scenario that occurs again at its line is another attempt.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "Cucumber JSON",
    signs: &[FormatSign::Element(&["keyword|uri", "elements|elements.steps"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct CucumberFeature {
    name: Text,
    uri: Text,
    elements: List<CucumberElement>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CucumberElement {
    #[serde(rename = "type")]
    kind: Text,
    keyword: Text,
    name: Text,
    line: JsonNumber,
    /// Of behave, instead of the line: `features/loans.feature:3`.
    location: Text,
    start_timestamp: Text,
    tags: List<CucumberTag>,
    before: List<CucumberStep>,
    steps: List<CucumberStep>,
    after: List<CucumberStep>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CucumberTag {
    name: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CucumberStep {
    keyword: Text,
    name: Text,
    before: List<Self>,
    after: List<Self>,
    #[serde(rename = "match")]
    place: Loose<CucumberPlace>,
    result: Loose<CucumberResult>,
    output: List<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CucumberPlace {
    location: Text,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CucumberResult {
    status: Text,
    duration: JsonNumber,
    error_message: Text,
}

/// The steps of a scenario as they are read.
#[derive(Default)]
pub(super) struct ScenarioLog {
    /// The worst status so far.
    worst: Option<TestOutcome>,
    error: String,
    log: String,
}

impl ScenarioLog {
    /// Adds a step with its status in lower case.
    pub(super) fn step(&mut self, name: &str, status: &str, message: &str, output: &str) {
        self.step_at(name, status, message, output, "");
    }

    /// Adds a step whose definition is at a place, such as `features/steps/loan_steps.py:20`.
    pub(super) fn step_at(&mut self, name: &str, status: &str, message: &str, output: &str, place: &str) {
        // Writing to a string cannot fail.
        writeln!(self.log, "{} [{status}]", name.trim()).unwrap_or_default();
        if !output.trim().is_empty() {
            writeln!(self.log, "{}", output.trim_end()).unwrap_or_default();
        }
        let outcome = match status {
            "passed" => TestOutcome::Passed,
            "failed" => TestOutcome::Failed,
            // `error` and the others: behave 1.3, for steps and hooks that raised.
            "undefined" | "ambiguous" | "pending" | "error" | "hook_error" | "cleanup_error" => TestOutcome::Error,
            _ => TestOutcome::Skipped,
        };
        if outcome.is_failure() {
            let message = if message.trim().is_empty() { format!("the step is {status}") } else { message.trim().to_owned() };
            let between = if self.error.is_empty() { "" } else { "\n\n" };
            write!(self.error, "{between}{}\n{message}", name.trim()).unwrap_or_default();
            let is_line = place.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u32>().is_ok());
            if is_line && !message.contains(place) {
                write!(self.error, "\nLocation: {place}").unwrap_or_default();
            }
        }
        let rank = |outcome: TestOutcome| match outcome {
            TestOutcome::Failed => 3,
            TestOutcome::Error => 2,
            TestOutcome::Skipped => 1,
            _ => 0,
        };
        self.worst = Some(self.worst.map_or(outcome, |worst| if rank(outcome) > rank(worst) { outcome } else { worst }));
    }

    /// The outcome of the scenario; one without steps passed.
    pub(super) fn outcome(&self) -> TestOutcome {
        self.worst.unwrap_or(TestOutcome::Passed)
    }

    /// Sets error and log of a failure.
    pub(super) fn fill(self, record: &mut TestRecord) {
        if record.outcome.is_failure() {
            (record.error, record.log) = (self.error, self.log);
        }
    }
}

/// Names that tell apart the scenarios of a feature that have one name: those at a second line get a number.
#[derive(Default)]
pub(super) struct ScenarioNames(BTreeMap<String, Vec<u64>>);

impl ScenarioNames {
    pub(super) fn name(&mut self, name: &str, line: u64) -> String {
        let lines = self.0.entry(name.to_owned()).or_default();
        let index = lines.iter().position(|known| *known == line).unwrap_or_else(|| {
            lines.push(line);
            lines.len() - 1
        });
        if index == 0 { name.to_owned() } else { format!("{name} #{}", index + 1) }
    }
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: List<CucumberFeature>, builder| {
        for feature in report {
            let mut names = ScenarioNames::default();
            let mut background = None;
            for element in &*feature.elements {
                // In some versions, a background stands before each of its scenarios.
                if &*element.kind == "background" || &*element.keyword == "Background" {
                    background = Some(element);
                } else {
                    let name = names.name(element.name.trim(), element.line.count());
                    scenario(&feature, &name, element, background.take(), builder);
                }
            }
        }
    })
}

fn scenario(
    feature: &CucumberFeature,
    name: &str,
    element: &CucumberElement,
    background: Option<&CucumberElement>,
    builder: &mut LaunchBuilder,
) {
    let mut log = ScenarioLog::default();
    let mut nanos = 0.0;
    let before = element.before.iter().map(|hook| ("before", hook));
    let steps = background.iter().flat_map(|background| &*background.steps).chain(&*element.steps);
    let steps = steps.flat_map(|step| {
        let before = step.before.iter().map(|hook| ("before the step", hook));
        let after = step.after.iter().map(|hook| ("after the step", hook));
        before.chain([("", step)]).chain(after)
    });
    let after = element.after.iter().map(|hook| ("after", hook));
    let (mut lacks, mut count) = (false, 0);
    for (kind, step) in before.chain(steps).chain(after) {
        let name = match step.name.trim() {
            "" if kind.is_empty() => step.keyword.trim().to_owned(),
            "" => format!("{kind} {}", step.place.location.trim()),
            name => format!("{} {name}", step.keyword.trim()),
        };
        let result = &step.result;
        lacks |= result.status.is_empty();
        count += 1;
        nanos += result.duration.nanos().unwrap_or(0.0);
        let output = step.output.joined("\n");
        log.step_at(&name, &result.status.to_lowercase(), &result.error_message, &output, step.place.location.trim());
    }
    if !log.outcome().is_failure() && (lacks || count == 0) {
        builder.no_outcome(name);
        return;
    }
    let mut record = TestRecord::new(&feature.name, name, log.outcome());
    match element.location.trim().rsplit_once(':') {
        Some((file, line)) if feature.uri.is_empty() => record.locate(file, line.parse().unwrap_or(0)),
        _ => record.locate(&feature.uri, element.line.count()),
    }
    record.started_at = element.start_timestamp.time();
    record.duration_s = Some(nanos);
    for tag in &*element.tags {
        record.set("tag", tag.name.trim_start_matches('@'));
    }
    log.fill(&mut record);
    builder.attempt(record);
}
