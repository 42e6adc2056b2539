//! One ReportPortal item, as the API answers it or an envelope holds it.

use super::fields::{Fields, Node, scalar};
use super::texts::{Markup, cleaned};
use super::{attributes, cut, times};
use crate::clock::Timestamp;
use std::collections::BTreeMap;

/// What every item needs, as a help line.
const RULE: &str = "every item needs `id`, `name` and `status`";

/// The most bytes of a description or comment that are kept.
const MAX_REMARK: usize = 1000;

/// ReportPortal's number for the level of an error.
const ERROR_LEVEL: u64 = 40_000;

/// An item, read but not yet judged.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) status: String,
    /// `1.2`: the ids from the outermost container to the item itself.
    pub(super) path: Option<String>,
    pub(super) parent: Option<String>,
    /// It says of itself that it has children, by `hasChildren` or by counting more than one test.
    pub(super) has_children: bool,
    /// How many failed tests it counts, where it counts any at all.
    pub(super) failed: Option<u64>,
    /// The names of what it stands in, outermost first, where it tells them.
    pub(super) names_above: Vec<String>,
    pub(super) attributes: BTreeMap<String, String>,
    pub(super) started_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
    pub(super) error: String,
    pub(super) log: String,
    pub(super) defect: Option<String>,
    /// Of the launch it belongs to: id, name, number.
    pub(super) launch: (Option<String>, Option<String>, Option<i64>),
}

/// Reads an item; nothing if it lacks what it must have, which `fields` has then noted.
pub(super) fn read(fields: &mut Fields<'_>, node: &Node<'_>) -> Option<Item> {
    if !fields.expect_object(node) {
        return None;
    }
    let id = fields.required_id(node, "id", RULE);
    let name = fields.required_text(node, "name", RULE);
    let status = fields.required_text(node, "status", RULE);
    let mut item = Item {
        path: fields.text(node, "path"),
        parent: parent(node),
        started_at: fields.time(node, "startTime"),
        ended_at: fields.time(node, "endTime"),
        ..Item::default()
    };
    texts(fields, node, &mut item);
    statistics(node, &mut item);
    launch(node, &mut item);
    let mut found = BTreeMap::new();
    read_attributes(fields, node, &mut found);
    extras(node, &mut found);
    item.defect = defect(node, &mut found);
    item.attributes = found;
    item.id = id?;
    item.name = one_line(&name?);
    if item.name.is_empty() {
        item.name.clone_from(&item.id);
    }
    item.status = one_line(&status?);
    Some(item)
}

fn one_line(text: &str) -> String {
    cleaned(text, Markup::None).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The parent's id: a number, a text, or an object with one.
fn parent(node: &Node<'_>) -> Option<String> {
    let field = node.get("parent")?;
    scalar(field.value).or_else(|| field.value.get("id").and_then(scalar))
}

/// The error and log: `error_message` and `log_snippet` are the documented fields; `message`, `error` and `logs` are what
/// other exporters call them.
fn texts(fields: &mut Fields<'_>, node: &Node<'_>, item: &mut Item) {
    item.error = fields.text(node, "error_message").unwrap_or_default();
    item.log = match node.get("log_snippet") {
        Some(lines) if lines.value.is_array() => {
            lines.elements().filter_map(|line| scalar(line.value)).collect::<Vec<_>>().join("\n")
        }
        _ => fields.text(node, "log_snippet").unwrap_or_default(),
    };
    if item.error.trim().is_empty() {
        let other = ["message", "error"].iter().find_map(|key| node.get(key)?.value.as_str().map(str::to_owned));
        item.error = other.unwrap_or_default();
    }
    if let Some(logs) = node.get("logs") {
        let content = logs.get("content");
        let entries: Vec<Node<'_>> = content.as_ref().unwrap_or(&logs).elements().collect();
        if item.error.trim().is_empty() {
            item.error = entries.iter().find(|entry| is_error(entry)).and_then(message).unwrap_or_default();
        }
        if item.log.trim().is_empty() {
            item.log = entries.iter().filter_map(line).collect::<Vec<_>>().join("\n");
        }
    }
}

/// True if a log entry's level is error or worse.
fn is_error(entry: &Node<'_>) -> bool {
    entry.get("level").is_some_and(|level| match level.value.as_str() {
        Some(name) => ["error", "fatal"].iter().any(|bad| name.eq_ignore_ascii_case(bad)),
        None => level.value.as_u64().is_some_and(|level| level >= ERROR_LEVEL),
    })
}

fn message(entry: &Node<'_>) -> Option<String> {
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
fn line(entry: &Node<'_>) -> Option<String> {
    let time = ["time", "logTime"].iter().find_map(|key| {
        let time = entry.get(key)?;
        time.value.as_i64().and_then(times::from_millis).map(|time| time.to_string()).or_else(|| scalar(time.value))
    });
    let level = entry.get("level").and_then(|level| scalar(level.value)).map(|level| level_name(&level));
    let parts: Vec<String> = [time, level, message(entry)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" "))
}

fn statistics(node: &Node<'_>, item: &mut Item) {
    let executions = node.value.pointer("/statistics/executions");
    let total = executions.and_then(|counts| counts.get("total")?.as_u64());
    item.failed = executions.map(|counts| counts.get("failed").and_then(serde_json::Value::as_u64).unwrap_or(0));
    let says_so = node.value.get("hasChildren").and_then(serde_json::Value::as_bool);
    item.has_children = says_so.unwrap_or_else(|| total.is_some_and(|total| total > 1));
}

/// What the item knows of its launch and of what it stands in.
fn launch(node: &Node<'_>, item: &mut Item) {
    let at = |pointer: &str| node.value.pointer(pointer);
    item.launch = (
        at("/launchId").and_then(scalar),
        at("/pathNames/launchPathName/name").and_then(scalar),
        at("/pathNames/launchPathName/number").and_then(serde_json::Value::as_i64),
    );
    let above = at("/pathNames/itemPaths").and_then(serde_json::Value::as_array);
    item.names_above =
        above.into_iter().flatten().filter_map(|item| item.get("name").and_then(scalar)).map(|name| one_line(&name)).collect();
}

/// The attributes of an item or a launch: an object, or a list of `{key, value}` where the key may be absent.
pub(super) fn read_attributes(fields: &mut Fields<'_>, node: &Node<'_>, into: &mut BTreeMap<String, String>) {
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

fn add_json(into: &mut BTreeMap<String, String>, key: &str, value: &serde_json::Value) {
    match value {
        serde_json::Value::Null => {}
        value => attributes::add(into, key, &scalar(value).unwrap_or_else(|| value.to_string())),
    }
}

/// Fields of the API that rules and people can use, as attributes.
fn extras(node: &Node<'_>, into: &mut BTreeMap<String, String>) {
    for (field, name) in [("type", "item_type"), ("testCaseId", "test_case_id"), ("codeRef", "code_ref")] {
        if let Some(value) = node.get(field) {
            add_json(into, name, value.value);
        }
    }
    if let Some(description) = node.get("description").and_then(|text| scalar(text.value)) {
        attributes::add(into, "description", &remark(&description));
    }
    if let Some(retries) =
        node.get("retries").and_then(|retries| retries.value.as_array().map(Vec::len)).filter(|count| *count > 0)
    {
        attributes::add(into, "retries", &retries.to_string());
    }
    for pattern in node.get("patternTemplates").iter().flat_map(Node::elements) {
        add_json(into, "pattern", pattern.value);
    }
    for parameter in node.get("parameters").iter().flat_map(Node::elements) {
        let part = |key| parameter.value.get(key).and_then(scalar).unwrap_or_default();
        attributes::add(into, "parameters", &format!("{}={}", part("key"), part("value")));
    }
}

/// The defect code that the item carries, and its tickets and comment as attributes.
fn defect(node: &Node<'_>, into: &mut BTreeMap<String, String>) -> Option<String> {
    let issue = node.get("issue")?;
    for ticket in issue.get("externalSystemIssues").iter().flat_map(Node::elements) {
        if let Some(id) = ticket.value.get("ticketId").and_then(scalar) {
            attributes::add(into, "tickets", &id);
        }
    }
    if let Some(comment) = issue.get("comment").and_then(|comment| scalar(comment.value)) {
        attributes::add(into, "issue_comment", &remark(&comment));
    }
    let code = issue.value.get("issueType").unwrap_or(issue.value);
    scalar(code).map(|code| code.trim().to_owned()).filter(|code| !code.is_empty())
}

fn remark(text: &str) -> String {
    cut::cut(cleaned(text, Markup::Html), MAX_REMARK).0
}
