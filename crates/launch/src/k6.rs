//! Reads the end-of-test summary of k6 (`--summary-export`, `handleSummary`): each check and each threshold is a test.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_report};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "k6 summary",
    signs: &[FormatSign::Keys(&["root_group", "metrics"]), FormatSign::Keys(&["root_group.checks", "root_group.groups"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct LoadReport {
    root_group: Loose<LoadGroup>,
    metrics: Loose<BTreeMap<String, Loose<LoadMetric>>>,
    state: Loose<LoadState>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LoadState {
    test_run_duration_ms: JsonNumber,
}

/// A group of checks; in some versions, both are objects by name.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LoadGroup {
    name: Text,
    groups: List<Self>,
    checks: List<LoadCheck>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LoadCheck {
    name: Text,
    passes: Option<JsonNumber>,
    fails: Option<JsonNumber>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct LoadMetric {
    thresholds: Loose<BTreeMap<String, Threshold>>,
    values: Loose<BTreeMap<String, JsonNumber>>,
    #[serde(flatten)]
    others: BTreeMap<String, JsonNumber>,
}

/// Whether a threshold holds: `{"ok": true}`, or whether it was crossed.
#[derive(Deserialize)]
#[serde(untagged)]
enum Threshold {
    Crossed(bool),
    Object { ok: bool },
    Other(serde::de::IgnoredAny),
}

impl Default for Threshold {
    fn default() -> Self {
        Self::Other(serde::de::IgnoredAny)
    }
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: LoadReport, builder| {
        if let Some(took) = report.state.test_run_duration_ms.millis() {
            builder.set("duration", format!("{took} s").as_str());
        }
        read_group(&report.root_group, "", builder);
        for (name, metric) in &report.metrics.0 {
            for (threshold, state) in &metric.thresholds.0 {
                read_threshold(name, threshold, state, metric, builder);
            }
        }
    })
}

/// Reads a group and those in it; the depth of both is that of the JSON.
fn read_group(group: &LoadGroup, outer: &str, builder: &mut LaunchBuilder) {
    let name = group.name.trim();
    let path = if outer.is_empty() { name.to_owned() } else { format!("{outer} > {name}") };
    for check in &*group.checks {
        let (Some(passes), Some(fails)) = (check.passes, check.fails) else {
            builder.no_outcome(&check.name);
            continue;
        };
        let (passes, fails) = (passes.count(), fails.count());
        let outcome = if fails > 0 { TestOutcome::Failed } else { TestOutcome::Passed };
        let mut record = TestRecord::new(if path.is_empty() { "checks" } else { &path }, &check.name, outcome);
        if fails > 0 {
            record.error = format!("the check failed {fails} of {} times", fails.saturating_add(passes));
        }
        builder.add(record);
    }
    for inner in &*group.groups {
        read_group(inner, &path, builder);
    }
}

fn read_threshold(name: &str, threshold: &str, state: &Threshold, metric: &LoadMetric, builder: &mut LaunchBuilder) {
    let outcome = match state {
        Threshold::Crossed(false) | Threshold::Object { ok: true } => TestOutcome::Passed,
        Threshold::Crossed(true) | Threshold::Object { ok: false } => TestOutcome::Failed,
        Threshold::Other(_) => {
            builder.no_outcome(&format!("{name} {threshold}"));
            return;
        }
    };
    let mut record = TestRecord::new("thresholds", &format!("{name} {threshold}"), outcome);
    if outcome.is_failure() {
        let values = metric.values.iter().chain(&metric.others);
        let shown: Vec<String> = values.filter_map(|(key, value)| Some(format!("{key}={}", value.seconds()?))).collect();
        record.error = format!("the threshold `{threshold}` of {name} was crossed\n{}", shown.join(" "));
    }
    builder.add(record);
}
