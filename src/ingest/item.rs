//! One ReportPortal item, as the API answers it or an envelope holds it.

use super::attempts::TestAttempts;
use super::fields::{FieldNode, FieldReader, scalar};
use super::texts::{Markup, TextBudget, cleaned, one_line};
use super::{attributes, cut, times};
use crate::model::{Attributes, Case};

/// What every item needs, as a help line.
const RULE: &str = "every item needs `id`, `name` and `status`";

/// The most bytes of a description or comment that are kept.
const MAX_REMARK: usize = 1000;

/// ReportPortal's number for the level of an error.
const ERROR_LEVEL: u64 = 40_000;

/// An item, read but not yet judged.
#[derive(Debug, Default)]
pub(super) struct Item {
    /// The case that it makes if it is a failed test. Items that did not fail have no texts in it.
    pub(super) case: Case,
    /// `1.2`: the ids from the outermost container to the item itself.
    pub(super) path: Option<Box<str>>,
    pub(super) parent: Option<Box<str>>,
    /// It says of itself that it has children, by `hasChildren` or by counting more than one test.
    pub(super) has_children: bool,
    /// It is a step within a test (`hasStats` is false): no test of its own.
    pub(super) is_step: bool,
    /// How many failed tests it counts, where it counts any at all.
    pub(super) failed: Option<u64>,
    /// The names of what it stands in, outermost first, where it tells them, and how many.
    pub(super) above: (Box<str>, usize),
    /// It is an attempt of this item, that was tried again.
    pub(super) retry_of: Option<Box<str>>,
}

impl Item {
    /// True if it failed. What is not known to be something else did: a failure list means what it says.
    pub(super) fn is_failure(&self) -> bool {
        is_failure(&self.case.status)
    }
}

/// Statuses that are no failure.
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

/// Of the launch an item belongs to, as far as it tells: id, name, number.
pub(super) type LaunchIdentity = (Option<String>, Option<String>, Option<i64>);

/// Reads an item; nothing if it lacks what it must have, which `fields` has then noted.
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
        above: names_above(node),
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
        let told = retries(node).mark(case, &error);
        kept.fill(case, &error, &format!("{told}{log}"), Markup::Html);
    }
    Some(item)
}

/// The attempts before the one that is the item.
fn retries(node: &FieldNode<'_>) -> TestAttempts {
    let mut attempts = TestAttempts::default();
    for retry in node.get("retries").iter().flat_map(FieldNode::elements) {
        let said = ["error_message", "message", "error"].iter().find_map(|key| retry.value.get(key)?.as_str());
        attempts.add(&cleaned(said.unwrap_or_default(), Markup::Html));
    }
    attempts
}

/// The parent's id: a number, a text, or an object with one.
fn parent(node: &FieldNode<'_>) -> Option<String> {
    let field = node.get("parent")?;
    scalar(field.value).or_else(|| field.value.get("id").and_then(scalar))
}

/// The error and log: `error_message` and `log_snippet` are the documented fields; `message`, `error` and `logs` are what
/// other exporters call them.
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

/// True if a log entry's level is error or worse.
pub(super) fn is_error(entry: &FieldNode<'_>) -> bool {
    entry.get("level").is_some_and(|level| match level.value.as_str() {
        Some(name) => ["error", "fatal"].iter().any(|bad| name.eq_ignore_ascii_case(bad)),
        None => level.value.as_u64().is_some_and(|level| level >= ERROR_LEVEL),
    })
}

/// What a log entry says.
pub(super) fn message(entry: &FieldNode<'_>) -> Option<String> {
    entry.get("message").and_then(|message| scalar(message.value)).or_else(|| scalar(entry.value))
}

/// The name of a level; ReportPortal also has numbers for them.
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
    let says_so = node.value.get("hasChildren").and_then(serde_json::Value::as_bool);
    item.has_children = says_so.unwrap_or_else(|| total.is_some_and(|total| total > 1));
}

/// What an item knows of its launch.
pub(super) fn belongs(value: &serde_json::Value) -> LaunchIdentity {
    let at = |pointer: &str| value.pointer(pointer);
    (
        at("/launchId").and_then(scalar),
        at("/pathNames/launchPathName/name").and_then(scalar),
        at("/pathNames/launchPathName/number").and_then(serde_json::Value::as_i64),
    )
}

/// What it stands in, and how many names that are.
fn names_above(node: &FieldNode<'_>) -> (Box<str>, usize) {
    let above = node.value.pointer("/pathNames/itemPaths").and_then(serde_json::Value::as_array);
    let names: Vec<String> =
        above.into_iter().flatten().filter_map(|item| item.get("name").and_then(scalar)).map(|name| one_line(&name)).collect();
    (names.join(" > ").into_boxed_str(), names.len())
}

/// The attributes of an item or a launch: an object, or a list of `{key, value}` where the key may be absent.
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

/// Fields of the API that rules and people can use, as attributes.
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

/// The defect code that the item carries, and its tickets and comment as attributes.
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
    // A person's word counts for more than the analyser's.
    if issue.get("autoAnalyzed").is_some_and(|auto| auto.value == &serde_json::Value::Bool(true)) {
        attributes::add(into, "auto_analyzed", "true");
    }
    let code = issue.value.get("issueType").unwrap_or(issue.value);
    scalar(code).map(|code| code.trim().to_owned()).filter(|code| !code.is_empty())
}

fn remark(text: &str) -> String {
    cut::cut(cleaned(text, Markup::Html), MAX_REMARK).0
}
