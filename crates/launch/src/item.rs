//! Reads one ReportPortal item, from a response of the API or from an envelope.

use super::attempts::TestAttempts;
use super::fields::{FieldNode, FieldReader, scalar};
use super::texts::{Markup, TextBudget, cleaned, one_line};
use super::{attributes, cut, times};
use asterisk_base::model::{Attributes, Case, TestOutcome};

/// The required fields of an item, as a help line.
const RULE: &str = "every item needs `id`, `name` and `status`";

/// The maximum bytes of a description or comment.
const MAX_REMARK: usize = 1000;

/// ReportPortal's number for the level `error`.
const ERROR_LEVEL: u64 = 40_000;

/// An item that may become a case.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// Its case, should it be a failed test. Items that did not fail have no texts here.
    pub(super) case: Case,
    /// The ids from the outermost container to the item: `1.2`.
    pub(super) path: Option<Box<str>>,
    pub(super) parent: Option<Box<str>>,
    /// Whether it declares children, by `hasChildren` or by counting more than one test.
    pub(super) has_children: bool,
    /// Whether it is a step within a test (`hasStats` is false), not a test of its own.
    pub(super) is_step: bool,
    /// The number of failed tests it counts, if it counts any at all.
    pub(super) failed: Option<u64>,
    /// The names of its containers, outermost first, joined, and their number.
    pub(super) containers: (Box<str>, usize),
    /// The item of which it is an attempt that was retried.
    pub(super) retry_of: Option<Box<str>>,
    /// Whether attempts before it are listed in it.
    pub(super) is_retried: bool,
}

impl Item {
    /// Whether it failed. An unknown status is a failure: a failure list is taken at its word.
    pub(super) fn is_failure(&self) -> bool {
        is_failure(&self.case.status)
    }

    /// Its outcome; `None` if it did not run to an end.
    pub(super) fn outcome(&self) -> Option<TestOutcome> {
        match self.case.status.to_ascii_lowercase().as_str() {
            "in_progress" | "cancelled" => None,
            "skipped" | "skip" | "ignored" | "pending" | "to_do" => Some(TestOutcome::Skipped),
            _ if self.is_failure() => Some(TestOutcome::Failed),
            _ if self.is_retried => Some(TestOutcome::Flaky),
            _ => Some(TestOutcome::Passed),
        }
    }
}

/// Statuses that are not failures.
const NOT_FAILED: [&str; 14] = [
    "passed",
    "pass",
    "ok",
    "success",
    "successful",
    "skipped",
    "skip",
    "ignored",
    "pending",
    "info",
    "warn",
    "in_progress",
    "cancelled",
    "to_do",
];

fn is_failure(status: &str) -> bool {
    !NOT_FAILED.iter().any(|known| status.eq_ignore_ascii_case(known))
}

/// The launch that an item belongs to, as far as the item names it: id, name, number.
pub(super) type LaunchIdentity = (Option<String>, Option<String>, Option<i64>);

/// Reads an item; `None` if a required field is missing, which is an error in `fields`.
pub(super) fn read(fields: &mut FieldReader<'_>, node: &FieldNode<'_>, kept: &mut TextBudget) -> Option<Item> {
    if !fields.expect_object(node) {
        return None;
    }
    let id = fields.required_id(node, "id", RULE);
    let name = fields.required_text(node, "name", RULE);
    let status = fields.required_text(node, "status", RULE);
    let started_at = fields.time(node, "startTime");
    let duration = started_at.zip(fields.time(node, "endTime")).map(|(from, to)| to.seconds_since(from));
    let mut item = Item {
        path: fields.text(node, "path").map(String::into_boxed_str),
        parent: parent(node).map(String::into_boxed_str),
        is_step: node.get("hasStats").is_some_and(|stats| stats.value == &serde_json::Value::Bool(false)),
        retry_of: node.get("retryOf").and_then(|of| scalar(of.value)).map(String::into_boxed_str),
        containers: container_names(node),
        is_retried: node.get("retries").is_some_and(|retries| retries.elements().next().is_some()),
        ..Item::default()
    };
    let (error, log) = texts(fields, node);
    statistics(node, &mut item);
    let case = &mut item.case;
    (case.started_at, case.duration_s) = (started_at, duration.filter(|seconds| *seconds >= 0.0));
    read_attributes(fields, node, &mut case.attributes);
    extras(node, &mut case.attributes);
    case.source_defect = defect(node, &mut case.attributes);
    case.id = id?;
    case.name = one_line(&name?);
    if case.name.is_empty() {
        case.name.clone_from(&case.id);
    }
    case.status = one_line(&status?);
    if is_failure(&case.status) {
        let earlier = retries(node).annotate(case, &error);
        kept.fill(case, &error, &format!("{earlier}{log}"), Markup::Html);
    }
    Some(item)
}

/// The attempts before the item itself.
fn retries(node: &FieldNode<'_>) -> TestAttempts {
    let mut attempts = TestAttempts::default();
    for retry in node.get("retries").iter().flat_map(FieldNode::elements) {
        let error = ["error_message", "message", "error"].iter().find_map(|key| retry.value.get(key)?.as_str());
        attempts.add(&cleaned(error.unwrap_or_default(), Markup::Html));
    }
    attempts
}

/// Reads the parent's id: a number, a text, or an object with an id.
fn parent(node: &FieldNode<'_>) -> Option<String> {
    let field = node.get("parent")?;
    scalar(field.value).or_else(|| field.value.get("id").and_then(scalar))
}

/// Reads error and log: `error_message` and `log_snippet` are the documented fields; other exporters use `message`, `error` and
/// `logs`.
fn texts(fields: &mut FieldReader<'_>, node: &FieldNode<'_>) -> (String, String) {
    let mut error = fields.text(node, "error_message").unwrap_or_default();
    let mut log = match node.get("log_snippet") {
        Some(lines) if lines.value.is_array() => {
            lines.elements().filter_map(|line| scalar(line.value)).collect::<Vec<_>>().join("\n")
        }
        _ => fields.text(node, "log_snippet").unwrap_or_default(),
    };
    if error.trim().is_empty() {
        let other = ["message", "error"].iter().find_map(|key| node.get(key)?.value.as_str().map(str::to_owned));
        error = other.unwrap_or_default();
    }
    if let Some(logs) = node.get("logs") {
        let content = logs.get("content");
        let entries: Vec<FieldNode<'_>> = content.as_ref().unwrap_or(&logs).elements().collect();
        if error.trim().is_empty() {
            error = entries.iter().find(|entry| is_error(entry)).and_then(message).unwrap_or_default();
        }
        if log.trim().is_empty() {
            log = entries.iter().filter_map(line).collect::<Vec<_>>().join("\n");
        }
    }
    (error, log)
}

/// Whether the level of a log entry is error or worse.
pub(super) fn is_error(entry: &FieldNode<'_>) -> bool {
    entry.get("level").is_some_and(|level| match level.value.as_str() {
        Some(name) => ["error", "fatal"].iter().any(|bad| name.eq_ignore_ascii_case(bad)),
        None => level.value.as_u64().is_some_and(|level| level >= ERROR_LEVEL),
    })
}

/// The message of a log entry.
pub(super) fn message(entry: &FieldNode<'_>) -> Option<String> {
    entry.get("message").and_then(|message| scalar(message.value)).or_else(|| scalar(entry.value))
}

/// The name of a level, which may be given as a number.
fn level_name(level: &str) -> String {
    let name = match level {
        "50000" => "FATAL",
        "40000" => "ERROR",
        "30000" => "WARN",
        "20000" => "INFO",
        "10000" => "DEBUG",
        "5000" => "TRACE",
        other => return other.to_uppercase(),
    };
    name.to_owned()
}

/// A log entry as a line: time, level, message.
pub(super) fn line(entry: &FieldNode<'_>) -> Option<String> {
    let time = ["time", "logTime"].iter().find_map(|key| {
        let time = entry.get(key)?;
        time.value.as_i64().and_then(times::from_millis).map(|time| time.to_string()).or_else(|| scalar(time.value))
    });
    let level = entry.get("level").and_then(|level| scalar(level.value)).map(|level| level_name(&level));
    let parts: Vec<String> = [time, level, message(entry)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn statistics(node: &FieldNode<'_>, item: &mut Item) {
    let executions = node.value.pointer("/statistics/executions");
    let total = executions.and_then(|counts| counts.get("total")?.as_u64());
    item.failed = executions.map(|counts| counts.get("failed").and_then(serde_json::Value::as_u64).unwrap_or(0));
    let declared = node.value.get("hasChildren").and_then(serde_json::Value::as_bool);
    item.has_children = declared.unwrap_or_else(|| total.is_some_and(|total| total > 1));
}

/// Reads the launch that an item belongs to.
pub(super) fn launch_identity(value: &serde_json::Value) -> LaunchIdentity {
    let at = |pointer: &str| value.pointer(pointer);
    (
        at("/launchId").and_then(scalar),
        at("/pathNames/launchPathName/name").and_then(scalar),
        at("/pathNames/launchPathName/number").and_then(serde_json::Value::as_i64),
    )
}

/// The names of the item's containers, joined, and their number.
fn container_names(node: &FieldNode<'_>) -> (Box<str>, usize) {
    let containers = node.value.pointer("/pathNames/itemPaths").and_then(serde_json::Value::as_array);
    let names: Vec<String> = containers
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("name").and_then(scalar))
        .map(|name| one_line(&name))
        .collect();
    (names.join(" > ").into_boxed_str(), names.len())
}

/// Reads the attributes of an item or a launch: an object, or a list of `{key, value}` where the key may be absent.
pub(super) fn read_attributes(fields: &mut FieldReader<'_>, node: &FieldNode<'_>, into: &mut Attributes) {
    let Some(field) = node.get("attributes") else { return };
    if let Some(map) = field.value.as_object() {
        for (key, value) in map {
            add_json(into, key, value);
        }
    } else if field.value.is_array() {
        for element in field.elements() {
            match element.value {
                serde_json::Value::Object(pair) => {
                    let key = pair.get("key").and_then(scalar).unwrap_or_else(|| "tag".to_owned());
                    add_json(into, &key, pair.get("value").unwrap_or(&serde_json::Value::Null));
                }
                other => add_json(into, "tag", other),
            }
        }
    } else {
        fields.wrong_type(&field, "an object or a list of `{key, value}`");
    }
}

fn add_json(into: &mut Attributes, key: &str, value: &serde_json::Value) {
    match value {
        serde_json::Value::Null => {}
        value => attributes::add(into, key, &scalar(value).unwrap_or_else(|| value.to_string())),
    }
}

/// Adds fields of the API that are useful to rules and people as attributes.
fn extras(node: &FieldNode<'_>, into: &mut Attributes) {
    for (field, name) in [("type", "item_type"), ("testCaseId", "test_case_id"), ("codeRef", "code_ref")] {
        if let Some(value) = node.get(field) {
            add_json(into, name, value.value);
        }
    }
    if let Some(description) = node.get("description").and_then(|text| scalar(text.value)) {
        attributes::add(into, "description", &remark(&description));
    }
    for pattern in node.get("patternTemplates").iter().flat_map(FieldNode::elements) {
        add_json(into, "pattern", pattern.value);
    }
    for parameter in node.get("parameters").iter().flat_map(FieldNode::elements) {
        let part = |key| parameter.value.get(key).and_then(scalar).unwrap_or_default();
        attributes::add(into, "parameters", &format!("{}={}", part("key"), part("value")));
    }
}

/// Reads the defect code of the item, and adds its tickets and comment as attributes.
fn defect(node: &FieldNode<'_>, into: &mut Attributes) -> Option<String> {
    let issue = node.get("issue")?;
    for ticket in issue.get("externalSystemIssues").iter().flat_map(FieldNode::elements) {
        if let Some(id) = ticket.value.get("ticketId").and_then(scalar) {
            attributes::add(into, "tickets", &id);
        }
    }
    if let Some(comment) = issue.get("comment").and_then(|comment| scalar(comment.value)) {
        attributes::add(into, "issue_comment", &remark(&comment));
    }
    // A person's classification carries more weight than the analyser's.
    if issue.get("autoAnalyzed").is_some_and(|auto| auto.value == &serde_json::Value::Bool(true)) {
        attributes::add(into, "auto_analyzed", "true");
    }
    let code = issue.value.get("issueType").unwrap_or(issue.value);
    scalar(code).map(|code| code.trim().to_owned()).filter(|code| !code.is_empty())
}

fn remark(text: &str) -> String {
    cut::cut(cleaned(text, Markup::Html), MAX_REMARK).0
}
