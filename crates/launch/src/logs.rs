//! Pages of ReportPortal's log entries: no launch by themselves, but the texts of one whose items are given as well.

use super::attributes;
use super::cut;
use super::fields::FieldNode;
use super::item;
use super::room::TextRoom;
use super::texts::{Markup, TextBudget};
use asterisk_base::model::Launch;
use serde_json::Value;
use std::collections::BTreeMap;

/// The maximum bytes of entries kept per item; beyond this, the beginning and the end are kept.
const MAX_TEXT: usize = 256 << 10;

/// The log entries of one item.
#[derive(Debug, Default)]
struct Entries {
    /// The message of the first entry of level error.
    error: String,
    text: String,
    count: usize,
}

/// Log entries by the ids of their items.
#[derive(Debug, Default)]
pub(super) struct ItemLogs(BTreeMap<String, Entries>);

/// Whether a list element is a log entry: it has a message, a level and an item.
pub(super) fn is_entry(value: &Value) -> bool {
    ["message", "level"].iter().all(|key| value.get(key).is_some()) && owner(value).is_some() && value.get("status").is_none()
}

/// The id of the item that an entry belongs to.
fn owner(entry: &Value) -> Option<String> {
    let id = entry.get("itemId").or_else(|| entry.pointer("/testItem")).or_else(|| entry.pointer("/item/id"))?;
    id.as_str().map(str::to_owned).or_else(|| id.as_i64().map(|id| id.to_string()))
}

impl ItemLogs {
    /// Adds an entry.
    pub(super) fn add(&mut self, entry: &Value) {
        let Some(owner) = owner(entry) else { return };
        let entries = self.0.entry(owner).or_default();
        let node = FieldNode::root(entry);
        entries.count += 1;
        if entries.error.is_empty() && item::is_error(&node) {
            entries.error = item::message(&node).unwrap_or_default();
        }
        if let Some(line) = item::line(&node) {
            entries.text.push_str(&line);
            entries.text.push('\n');
        }
        if entries.text.len() > MAX_TEXT {
            let (text, _) = cut::cut(std::mem::take(&mut entries.text), MAX_TEXT / 2);
            entries.text = text;
        }
    }

    /// Adds the entries of another page.
    pub(super) fn extend(&mut self, more: Self) {
        for (owner, more) in more.0 {
            let entries = self.0.entry(owner).or_default();
            entries.count += more.count;
            entries.text.push_str(&more.text);
            if entries.error.is_empty() {
                entries.error = more.error;
            }
        }
    }

    /// Sets error and log of cases without texts from the entries of their items; notes entries that belong to no case.
    pub(super) fn apply(mut self, launch: &mut Launch, room: &TextRoom) {
        if self.0.is_empty() {
            return;
        }
        let mut texts = TextBudget::new(room);
        for case in &mut launch.cases {
            let Some(entries) = self.0.remove(&case.id) else { continue };
            attributes::add(&mut case.attributes, "log_entries", &entries.count.to_string());
            let error = if case.error_message.is_empty() { &entries.error } else { "" };
            texts.supply(case, error, &entries.text, Markup::Html);
        }
        launch.notes.extend(texts.notes());
        if !self.0.is_empty() {
            let count: usize = self.0.values().map(|entries| entries.count).sum();
            launch.notes.push(format!("{count} log entries of {} items that are not failed tests left out", self.0.len()));
        }
    }
}
