//! A launch with its failed items and what they logged, in the form that files of launches have.

use super::call::{Portal, Trouble, escaped};
use crate::diag::Diagnostic;
use serde_json::{Map, Value, json};

/// Items of a page.
const PAGE: usize = 200;
/// The most failed items of a launch.
const ITEMS: usize = 20_000;
/// Log entries of an item: the first so many errors.
const ENTRIES: usize = 50;
/// The most bytes of an entry.
const ENTRY: usize = 64 << 10;
/// The most bytes of all entries together.
const LOGS: usize = 256 << 20;

/// What a launch takes over from what the API says of it.
const HEAD: &[&str] =
    &["name", "number", "status", "startTime", "endTime", "statistics", "attributes", "description", "uuid", "owner"];

/// A launch as its server tells it.
#[derive(Debug)]
pub struct Fetched {
    /// Where it was read, as the name of the text.
    pub name: String,
    /// The launch as JSON: `run_id`, `name`, `failure_list`.
    pub text: String,
    /// What was left out.
    pub notes: Vec<String>,
}

impl Portal<'_> {
    /// Fetches a launch by its number or uuid. `look` is told how many items of how many have been read with what they logged.
    pub fn fetch(&self, launch: &str, mut look: impl FnMut(usize, usize)) -> Result<Fetched, Trouble> {
        let head = self.launch(launch)?;
        let id = head["id"].as_i64().map(|id| id.to_string()).or_else(|| head["id"].as_str().map(str::to_owned));
        let Some(id) = id else {
            let message = format!("what ReportPortal says of the launch `{launch}` has no `id`");
            return Err(Trouble::Text(Diagnostic::error("reportportal/launch", message)));
        };
        let mut notes = Vec::new();
        if head["status"].as_str().is_some_and(|status| status.eq_ignore_ascii_case("in_progress")) {
            notes.push("the launch is still running: what fails from now on is not in it".to_owned());
        }
        let query = [
            ("filter.eq.launchId", id.as_str()),
            ("filter.in.status", "FAILED,INTERRUPTED"),
            ("isLatest", "false"),
            ("launchesLimit", "0"),
            ("page.sort", "id,ASC"),
        ];
        let list = self.list("item", &query, PAGE, ITEMS)?;
        if list.total > list.items.len() {
            notes.push(format!("of {} failed items the first {} were read", list.total, list.items.len()));
        }
        let mut items = list.items;
        let count = items.len();
        let mut logs = Logs::default();
        for (at, item) in items.iter_mut().enumerate() {
            look(at, count);
            if !item["hasChildren"].as_bool().unwrap_or(false) {
                self.add_log(item, &mut logs)?;
            }
        }
        notes.extend(logs.notes());
        let mut text = Map::new();
        for key in HEAD {
            if let Some(value) = head.get(*key) {
                text.insert((*key).to_owned(), value.clone());
            }
        }
        text.insert("run_id".into(), json!(id));
        text.insert("failure_list".into(), Value::Array(items));
        let name = format!("{}/{}/launch/{id}", self.place().url, self.place().project);
        Ok(Fetched { name, text: Value::Object(text).to_string(), notes })
    }

    /// What it says of a launch.
    pub(super) fn launch(&self, launch: &str) -> Result<Value, Trouble> {
        let id = escaped(launch.trim());
        let found = match self.get(&format!("launch/{id}"), &[]) {
            // Older versions have another address for uuids.
            Err(Trouble::Refused(400 | 404, _)) if !launch.trim().bytes().all(|byte| byte.is_ascii_digit()) => {
                self.get(&format!("launch/uuid/{id}"), &[])
            }
            found => found,
        };
        found.map_err(|trouble| match trouble {
            Trouble::Refused(404, said) => {
                let place = self.place();
                let message = format!("there is no launch `{launch}` in the project `{}` of {}", place.project, place.url);
                let help = format!(
                    "the id is the last number in the address that the browser shows for the launch: .../ui/#{}/launches/all/ID\n{}",
                    place.project, said.message
                );
                Trouble::Asked(Diagnostic::error("reportportal/no-launch", message).help(help))
            }
            other => other,
        })
    }

    /// Gives an item the errors that it logged.
    fn add_log(&self, item: &mut Value, logs: &mut Logs) -> Result<(), Trouble> {
        let Some(id) = item["id"].as_i64().map(|id| id.to_string()) else { return Ok(()) };
        if logs.bytes >= LOGS {
            logs.unread += 1;
            return Ok(());
        }
        let query = [("filter.eq.item", id.as_str()), ("filter.gte.level", "ERROR"), ("page.sort", "logTime,ASC")];
        let list = match self.list("log", &query, ENTRIES, ENTRIES) {
            Err(Trouble::TooLong(_)) => match self.list("log", &query, 1, 1) {
                Err(Trouble::TooLong(_)) => {
                    logs.unread += 1;
                    return Ok(());
                }
                one => one?,
            },
            list => list?,
        };
        logs.cut += list.total.saturating_sub(list.items.len());
        let content: Vec<Value> = list.items.into_iter().map(|entry| self::entry(entry, logs)).collect();
        if !content.is_empty() {
            item["logs"] = json!({ "content": content });
        }
        Ok(())
    }
}

/// An entry of bounded size, without what nobody reads.
fn entry(mut entry: Value, logs: &mut Logs) -> Value {
    let Some(Value::String(mut message)) = entry.get_mut("message").map(Value::take) else { return entry };
    if message.len() > ENTRY {
        message.truncate((0..=ENTRY).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0));
        logs.shortened += 1;
    }
    logs.bytes += message.len();
    json!({ "message": message, "level": entry["level"], "time": entry["time"], "logTime": entry["logTime"] })
}

/// What was read of logs.
#[derive(Debug, Default)]
struct Logs {
    bytes: usize,
    /// Entries left out because there are too many of an item.
    cut: usize,
    /// Entries too long to be kept whole.
    shortened: usize,
    /// Items whose log was not read.
    unread: usize,
}

impl Logs {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (count, what) in [
            (self.cut, "error entries of logs left out: of each item the first 50 are read"),
            (self.shortened, "error entries of logs were longer than 64 KiB, and are cut there"),
            (self.unread, "items whose log was not read: it is too large"),
        ] {
            if count > 0 {
                notes.push(format!("{count} {what}"));
            }
        }
        notes
    }
}
