//! Reads the JSON of `xcresulttool get test-results tests`.
//!
//! Devices, configurations and arguments of a test are told apart; its repetitions are attempts. A suite that failed by itself is a
//! case.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::loose::{JsonNumber, List, Text};
use super::{InputPart, json_report, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;

/// Its row in the table.
pub(super) static FORMAT: FormatRow = FormatRow {
    name: "xcresult JSON",
    signs: &[FormatSign::Keys(&["testNodes", "testPlanConfigurations|devices|testNodes.nodeType"])],
    is_json: true,
    read,
};

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct XcodeReport {
    devices: List<XcodeDevice>,
    test_nodes: List<XcodeNode>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct XcodeDevice {
    device_name: Text,
    os_version: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct XcodeNode {
    name: Text,
    node_type: Text,
    result: Text,
    duration: Text,
    duration_in_seconds: JsonNumber,
    details: Text,
    tags: List<Text>,
    children: List<Self>,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    json_report::read(input, |report: XcodeReport, builder| {
        for device in &*report.devices {
            builder.set("device", format!("{} {}", &*device.device_name, &*device.os_version).trim());
        }
        for node in &*report.test_nodes {
            read_node(node, "", builder);
        }
    })
}

/// Reads a plan, bundle or suite and those in it. Returns whether a failure was read; the depth of both is that of the JSON.
fn read_node(node: &XcodeNode, outer: &str, builder: &mut LaunchBuilder) -> bool {
    if &*node.node_type == "Test Case" {
        return read_test(node, outer, node.name.trim(), builder);
    }
    let name = node.name.trim();
    let is_plan = &*node.node_type == "Test Plan";
    if is_plan && builder.launch().name.is_empty() {
        name.clone_into(&mut builder.launch().name);
    }
    let path = if is_plan || outer.is_empty() && name.is_empty() {
        String::new()
    } else if outer.is_empty() {
        name.to_owned()
    } else {
        format!("{outer} > {name}")
    };
    let mut has_failed = false;
    for child in &*node.children {
        if is_container(child) {
            has_failed |= read_node(child, &path, builder);
        }
    }
    let error = messages(node);
    if !has_failed && (&*node.result == "Failed" || !error.is_empty()) {
        let mut record = TestRecord::fixture(outer, name);
        record.set("fixture", node.node_type.to_lowercase().as_str());
        record.error = if error.is_empty() { "the suite failed, but none of its tests".to_owned() } else { error };
        builder.add(record);
        return true;
    }
    has_failed
}

fn is_container(node: &XcodeNode) -> bool {
    matches!(
        &*node.node_type,
        "Test Plan" | "Unit test bundle" | "UI test bundle" | "Test Suite" | "Test Case" | "Test Plan Configuration"
    )
}

/// Reads a test, or one of its runs. Returns whether it failed.
fn read_test(node: &XcodeNode, suite: &str, name: &str, builder: &mut LaunchBuilder) -> bool {
    let of = |types: &[&str]| node.children.iter().filter(|child| types.contains(&&*child.node_type)).collect::<Vec<_>>();
    let places = of(&["Device", "Test Plan Configuration"]);
    let arguments = of(&["Arguments"]);
    let repetitions = of(&["Repetition", "Test Case Run"]);
    // One device needs no mention.
    let is_told = places.len() != 1;
    let parts = if places.is_empty() { arguments } else { places };
    if !parts.is_empty() {
        let mut has_failed = false;
        for part in parts {
            let own = if is_told { format!("{name} [{}]", part.name.trim()) } else { name.to_owned() };
            has_failed |= read_test(part, suite, &own, builder);
        }
        return has_failed;
    }
    let mut has_failed = false;
    for run in if repetitions.is_empty() { vec![node] } else { repetitions } {
        let outcome = match &*run.result {
            "Passed" | "Expected Failure" => TestOutcome::Passed,
            "Failed" => TestOutcome::Failed,
            "Skipped" => TestOutcome::Skipped,
            "" => {
                builder.no_outcome(name);
                continue;
            }
            _ => TestOutcome::Error,
        };
        let mut record = TestRecord::new(suite, name, outcome);
        record.duration_s = run.duration_in_seconds.seconds().or_else(|| times::seconds(&run.duration));
        for tag in &*node.tags {
            record.set("tag", tag.some());
        }
        if outcome.is_failure() {
            record.error = messages(run);
            if let Some((file, line)) = record.error.lines().next().and_then(place) {
                record.locate(&file, line);
            }
            if record.error.is_empty() {
                run.details.some().unwrap_or("the test failed without a message").clone_into(&mut record.error);
            }
        }
        has_failed |= outcome.is_failure();
        builder.attempt(record);
    }
    has_failed
}

/// The messages of a run, with those below them.
fn messages(node: &XcodeNode) -> String {
    let mut all = Vec::new();
    for child in &*node.children {
        if matches!(&*child.node_type, "Failure Message" | "Source Code Reference" | "Expression" | "Test Value") {
            let text = [child.name.trim(), child.details.trim()].join(" ");
            all.push(text.trim().to_owned());
            all.extend(Some(messages(child)).filter(|inner| !inner.is_empty()));
        }
    }
    all.join("\n")
}

/// File and line at the start of a message: `Cart.swift:12: XCTAssertEqual failed`.
fn place(line: &str) -> Option<(String, u64)> {
    let mut parts = line.splitn(3, ':');
    let (file, number) = (parts.next()?, parts.next()?);
    Some((file.to_owned(), number.trim().parse().ok()?)).filter(|(file, _)| file.contains('.') && !file.contains(' '))
}
