//! Fetches a launch with its failed items and their logs, in the format of launch files.

use super::call::{Portal, PortalError, escaped};
use super::page::ListPage;
use asterisk_diag::Diagnostic;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Items per page.
const PAGE: usize = 200;
/// Maximum number of failed items of a launch.
const ITEMS: usize = 20_000;
/// Maximum number of log entries of an item: its first errors.
const ENTRIES: usize = 50;
/// Number of items whose logs are requested together: their ids fit into any address.
const TOGETHER: usize = 20;
/// Log entries per page of such a request.
const LOG_PAGE: usize = 300;
/// Maximum size of a log entry, in bytes.
const ENTRY: usize = 64 << 10;
/// Maximum size of all log entries, in bytes.
const LOGS: usize = 256 << 20;

/// Fields of the API's launch that are kept.
const HEAD: &[&str] =
    &["name", "number", "status", "startTime", "endTime", "statistics", "attributes", "description", "uuid", "owner"];

/// Which launches of the past.
#[derive(Clone, Debug, Default)]
pub struct LaunchFilter {
    /// These, by number or uuid; without any, the latest.
    pub ids: Vec<String>,
    /// Of the latest, those of this name.
    pub name: Option<String>,
    /// The most of the latest.
    pub most: usize,
}

/// A fetched launch.
#[derive(Debug)]
pub struct Fetched {
    /// Its address, as the name of the text.
    pub name: String,
    /// The launch as JSON: `run_id`, `name`, `failure_list`.
    pub text: String,
    /// Notes about omitted content.
    pub notes: Vec<String>,
}

impl Portal<'_> {
    /// Fetches a launch by its number or uuid. `look` receives the progress: the number of items whose logs are read, and their total.
    pub fn fetch(&self, launch: &str, mut look: impl FnMut(usize, usize)) -> Result<Fetched, PortalError> {
        let head = self.launch(launch)?;
        let id = head["id"].as_i64().map(|id| id.to_string()).or_else(|| head["id"].as_str().map(str::to_owned));
        let Some(id) = id else {
            let message = format!("the response of ReportPortal for the launch `{launch}` has no `id`");
            return Err(PortalError::Text(Diagnostic::error("reportportal/launch", message)));
        };
        let mut notes = Vec::new();
        if head["status"].as_str().is_some_and(|status| status.eq_ignore_ascii_case("in_progress")) {
            notes.push("the launch is still running: later failures are not included".to_owned());
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
        let mut logs = FetchedLogs::default();
        let mut done = 0;
        for some in items.chunks_mut(TOGETHER) {
            look(done, count);
            done += some.len();
            self.add_logs(some, &mut logs)?;
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

    /// The ids of the latest launches, the latest first.
    pub fn past_launches(&self, filter: &LaunchFilter) -> Result<Vec<String>, PortalError> {
        let mut query = vec![("page.sort", "startTime,DESC")];
        query.extend(filter.name.as_deref().map(|name| ("filter.eq.name", name)));
        let list = self.list("launch", &query, filter.most.clamp(1, PAGE), filter.most)?;
        Ok(list.items.iter().filter_map(|launch| launch["id"].as_i64().map(|id| id.to_string())).collect())
    }

    /// The API's description of a launch.
    pub(super) fn launch(&self, launch: &str) -> Result<Value, PortalError> {
        let id = escaped(launch.trim());
        let found = match self.get(&format!("launch/{id}"), &[]) {
            // Older versions have another address for uuids.
            Err(PortalError::Refused(400 | 404, _)) if !launch.trim().bytes().all(|byte| byte.is_ascii_digit()) => {
                self.get(&format!("launch/uuid/{id}"), &[])
            }
            found => found,
        };
        found.map_err(|trouble| match trouble {
            PortalError::Refused(404, said) => {
                let place = self.place();
                let message = format!("unknown launch `{launch}` in the project `{}` of {}", place.project, place.url);
                let help = format!(
                    "the id is the last number in the address that the browser shows for the launch: .../ui/#{}/launches/all/ID\n{}",
                    place.project, said.message
                );
                PortalError::BadRequest(Diagnostic::error("reportportal/no-launch", message).help(help))
            }
            other => other,
        })
    }

    /// Adds logged errors to the items: requested together, and individually for items whose log is incomplete.
    fn add_logs(&self, items: &mut [Value], logs: &mut FetchedLogs) -> Result<(), PortalError> {
        let leaf = |item: &&mut Value| !item["hasChildren"].as_bool().unwrap_or(false);
        let mut wanted: Vec<(i64, &mut Value)> =
            items.iter_mut().filter(leaf).filter_map(|item| Some((item["id"].as_i64()?, item))).collect();
        if logs.bytes >= LOGS {
            logs.unread += wanted.len();
            return Ok(());
        }
        let ids: Vec<i64> = wanted.iter().map(|(id, _)| *id).collect();
        let (mut by_item, whole) =
            if ids.len() > 1 && !logs.apart { self.together(&ids, logs)? } else { (HashMap::new(), false) };
        for (id, item) in &mut wanted {
            let mut found = by_item.remove(id).unwrap_or_default();
            if !whole && found.len() < ENTRIES {
                let Some(list) = self.log(*id, logs)? else { continue };
                logs.cut += list.total.saturating_sub(list.items.len());
                found = list.items;
            }
            logs.cut += found.len().saturating_sub(ENTRIES);
            let content: Vec<Value> = found.into_iter().take(ENTRIES).map(|entry| self::entry(entry, logs)).collect();
            if !content.is_empty() {
                item["logs"] = json!({ "content": content });
            }
        }
        Ok(())
    }

    /// The logs of several items, and whether they are complete; empty if the server does not support the request.
    fn together(&self, ids: &[i64], logs: &mut FetchedLogs) -> Result<(HashMap<i64, Vec<Value>>, bool), PortalError> {
        let all = ids.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
        let query = [("filter.in.item", all.as_str()), ("filter.gte.level", "ERROR"), ("page.sort", "logTime,ASC")];
        let list = match self.list("log", &query, LOG_PAGE, ids.len() * ENTRIES) {
            Err(PortalError::TooLong(_)) => return Ok((HashMap::new(), false)),
            Err(PortalError::Refused(..)) => {
                logs.apart = true;
                return Ok((HashMap::new(), false));
            }
            list => list?,
        };
        let whole = list.total <= list.items.len();
        let mut by_item: HashMap<i64, Vec<Value>> = HashMap::new();
        for entry in list.items {
            match entry["itemId"].as_i64().filter(|id| ids.contains(id)) {
                Some(id) => by_item.entry(id).or_default().push(entry),
                // The entries do not name their items.
                None => {
                    logs.apart = true;
                    return Ok((HashMap::new(), false));
                }
            }
        }
        Ok((by_item, whole))
    }

    /// The log of an item; `None` if it is too long.
    fn log(&self, id: i64, logs: &mut FetchedLogs) -> Result<Option<ListPage>, PortalError> {
        let id = id.to_string();
        let query = [("filter.eq.item", id.as_str()), ("filter.gte.level", "ERROR"), ("page.sort", "logTime,ASC")];
        for many in [ENTRIES, 1] {
            match self.list("log", &query, many, many) {
                Err(PortalError::TooLong(_)) => {}
                list => return list.map(Some),
            }
        }
        logs.unread += 1;
        Ok(None)
    }
}

/// A log entry of bounded size, without unused fields.
fn entry(mut entry: Value, logs: &mut FetchedLogs) -> Value {
    let Some(Value::String(mut message)) = entry.get_mut("message").map(Value::take) else { return entry };
    if message.len() > ENTRY {
        message.truncate((0..=ENTRY).rev().find(|at| message.is_char_boundary(*at)).unwrap_or(0));
        logs.shortened += 1;
    }
    logs.bytes += message.len();
    json!({ "message": message, "level": entry["level"], "time": entry["time"], "logTime": entry["logTime"] })
}

/// Statistics of the fetched logs.
#[derive(Debug, Default)]
struct FetchedLogs {
    bytes: usize,
    /// Entries omitted because an item has too many.
    cut: usize,
    /// Truncated entries.
    shortened: usize,
    /// Items whose log was not read.
    unread: usize,
    /// Whether logs are requested for each item separately.
    apart: bool,
}

impl FetchedLogs {
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
