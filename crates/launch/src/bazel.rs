//! Reads Bazel's build events (`--build_event_json_file`), one per line.
//!
//! Runs and shards of a test are told apart, its attempts are attempts. A target that did not build is a case.

use super::formats::{FormatRow, FormatSign, ReportInput};
use super::launch_builder::{LaunchBuilder, TestRecord};
use super::lines::push_bounded;
use super::loose::{JsonNumber, List, Loose, Text};
use super::{InputPart, json_events, texts, times};
use asterisk_base::model::TestOutcome;
use asterisk_diag::Diagnostics;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Its row in the table.
pub(super) static FORMAT: FormatRow =
    FormatRow { name: "Bazel build events", signs: &[FormatSign::Event(is_event)], is_json: true, read };

/// The maximum bytes of what the build printed.
const MAX_OUTPUT: usize = 64 << 10;

/// Whether a line is an event of a build: its id is an object with one key.
fn is_event(line: &Value) -> bool {
    let kinds = ["started", "progress", "buildFinished", "testResult", "targetCompleted", "pattern", "configuration"];
    line.get("id").is_some_and(|id| id.is_object() && kinds.iter().any(|kind| id.get(kind).is_some()))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BuildEvent {
    id: Loose<EventId>,
    progress: Option<Loose<BuildProgress>>,
    test_result: Option<Loose<BuildTestResult>>,
    action: Option<Loose<Action>>,
    completed: Option<Loose<Completed>>,
    aborted: Option<Loose<Aborted>>,
    started: Option<Loose<Started>>,
    finished: Option<Loose<Finished>>,
    last_message: Loose<bool>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct EventId {
    test_result: Loose<Target>,
    test_summary: Loose<Target>,
    action_completed: Loose<Target>,
    target_completed: Loose<Target>,
    target_configured: Loose<Target>,
    pattern: Loose<BuildPattern>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Target {
    label: Text,
    run: JsonNumber,
    shard: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BuildPattern {
    pattern: List<Text>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BuildProgress {
    stderr: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct BuildTestResult {
    status: Text,
    status_details: Text,
    test_attempt_start: Text,
    test_attempt_start_millis_epoch: JsonNumber,
    test_attempt_duration: Text,
    test_attempt_duration_millis: JsonNumber,
    test_action_output: List<BazelOutput>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BazelOutput {
    name: Text,
    uri: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Action {
    success: Loose<bool>,
    #[serde(rename = "type")]
    kind: Text,
    exit_code: Text,
    failure_detail: Loose<BuildFailure>,
    stderr: Loose<BazelOutput>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BuildFailure {
    message: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Completed {
    success: Loose<bool>,
    failure_detail: Loose<BuildFailure>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Aborted {
    reason: Text,
    description: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Started {
    uuid: Text,
    start_time: Text,
    start_time_millis: JsonNumber,
    command: Text,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Finished {
    exit_code: Loose<ExitCode>,
    finish_time: Text,
    finish_time_millis: JsonNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExitCode {
    name: Text,
    code: JsonNumber,
}

#[derive(Default)]
struct BuildReader {
    /// What the build printed: the errors of compilers.
    printed: String,
    /// Targets with a failed action.
    failed: BTreeSet<String>,
    /// Targets that did not build, with the reason.
    unbuilt: BTreeMap<String, String>,
    has_ended: bool,
}

fn read(input: ReportInput<'_>) -> Result<InputPart, Diagnostics> {
    let mut builder = input.builder();
    let mut reader = BuildReader::default();
    let cut = json_events::read(input.stream, &mut builder, |event, builder| reader.event(event, builder))?;
    for (label, reason) in std::mem::take(&mut reader.unbuilt) {
        if !reader.failed.contains(&label) {
            let mut record = fixture(&label, "build");
            record.error = if reason.is_empty() { "the target was not built".to_owned() } else { reason };
            builder.add(record);
        }
    }
    if cut.is_some() || !reader.has_ended {
        builder.cut_off("the file is cut off before the build ends".to_owned());
    }
    Ok(builder.finish(input.source.name()))
}

/// Package and name of a target: `//shop/cart:cart_test`.
fn names(label: &str) -> (&str, &str) {
    label.rsplit_once(':').unwrap_or(("", label))
}

fn fixture(label: &str, kind: &str) -> TestRecord {
    let (package, name) = names(label);
    let mut record = TestRecord::fixture(package, if name.is_empty() { kind } else { name });
    record.set("fixture", kind);
    record
}

impl BuildReader {
    fn event(&mut self, event: BuildEvent, builder: &mut LaunchBuilder) {
        self.has_ended |= event.last_message.0;
        let id = event.id.0;
        if let Some(Loose(progress)) = event.progress {
            push_bounded(&mut self.printed, &progress.stderr, MAX_OUTPUT);
        } else if let Some(Loose(result)) = event.test_result {
            builder.attempt(test(&id.test_result, &result));
        } else if let Some(Loose(action)) = event.action {
            self.action(&id.action_completed.label, &action, builder);
        } else if let Some(Loose(completed)) = event.completed {
            if !completed.success.0 {
                self.unbuilt.insert(id.target_completed.label.to_string(), completed.failure_detail.message.to_string());
            }
        } else if let Some(Loose(aborted)) = event.aborted {
            if !matches!(&*aborted.reason, "NO_ANALYZE" | "NO_BUILD" | "SKIPPED") {
                let targets = [&id.target_completed, &id.target_configured, &id.test_summary, &id.test_result];
                let label = targets.iter().find_map(|target| target.label.some()).map(str::to_owned);
                let label = label.unwrap_or_else(|| id.pattern.pattern.joined(" "));
                self.unbuilt.insert(label, format!("{}: {}", &*aborted.reason, aborted.description.trim()));
            }
        } else if let Some(Loose(started)) = event.started {
            started.uuid.clone_into(&mut builder.launch().run_id);
            builder.set("command", started.command.some());
            builder.span(started.start_time.time().or_else(|| started.start_time_millis.time()), None);
        } else if let Some(Loose(finished)) = event.finished {
            // Code 4: the build passed, and there were no tests.
            let code = finished.exit_code.code.count();
            builder.declare_failed(code != 0 && code != 4);
            builder.set("exit_code", finished.exit_code.name.some());
            builder.span(None, finished.finish_time.time().or_else(|| finished.finish_time_millis.time()));
        }
    }

    fn action(&mut self, label: &str, action: &Action, builder: &mut LaunchBuilder) {
        if action.success.0 {
            return;
        }
        self.failed.insert(label.to_owned());
        let mut record = fixture(label, "build");
        record.set("action", action.kind.some());
        record.set("exit_code", action.exit_code.some());
        record.set("output", action.stderr.uri.some());
        let message = action.failure_detail.message.trim();
        record.error = if message.is_empty() { format!("the action {} failed", &*action.kind) } else { message.to_owned() };
        record.log.clone_from(&self.printed);
        builder.add(record);
    }
}

fn test(target: &Target, result: &BuildTestResult) -> TestRecord {
    let outcome = match &*result.status {
        "PASSED" => TestOutcome::Passed,
        "FLAKY" => TestOutcome::Flaky,
        "FAILED" | "TIMEOUT" => TestOutcome::Failed,
        _ => TestOutcome::Error,
    };
    let (package, name) = names(&target.label);
    let mut name = name.to_owned();
    for (what, number) in [("shard", target.shard.count()), ("run", target.run.count())] {
        if number > 1 {
            name = format!("{name} [{what} {number}]");
        }
    }
    let mut record = TestRecord::new(package, &name, outcome);
    record.started_at = result.test_attempt_start.time().or_else(|| result.test_attempt_start_millis_epoch.time());
    let took = times::seconds(&result.test_attempt_duration);
    record.duration_s = took.or_else(|| result.test_attempt_duration_millis.millis());
    if outcome.is_failure() {
        let status = result.status.some().unwrap_or("NO_STATUS");
        let error = format!("the test ended as {status}\n{}", result.status_details.trim());
        error.trim_end().clone_into(&mut record.error);
        for output in &*result.test_action_output {
            record.set("attachments", output.uri.some().map(texts::file_name).or(output.name.some()));
            record.set("output", output.uri.some().filter(|_| &*output.name == "test.log"));
        }
    }
    record
}
