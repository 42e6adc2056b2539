//! ReportPortal: a launch with its failures, a page of items as the API answers it, or a bare list of items.

use super::Limits;
use super::fields::{Fields, Node};
use super::item::{self, Item};
use super::texts::{Markup, Texts};
use super::tree::Tree;
use super::unique::Ids;
use crate::diag::{Diagnostics, Source};
use crate::model::{Case, Git, Hash, Launch};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// What a launch needs, as a help line.
const RULE: &str = "a launch needs `run_id`, `name` and `failure_list`";

/// Statuses that are no failure. What is not among them is one: a failure list means what it says.
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

/// The most remarks on single items.
const MAX_REMARKS: usize = 5;

/// Reads a launch: `run_id`, `name` and `failure_list` are needed, the rest is optional.
pub(super) fn launch(source: &Source, value: &Value, limits: Limits) -> Result<Launch, Diagnostics> {
    let mut fields = Fields::new(source);
    let root = Node::root(value);
    let run_id = fields.required_id(&root, "run_id", RULE);
    let name = fields.required_text(&root, "name", RULE);
    let list = root.get("failure_list");
    if list.is_none() {
        fields.missing(&root, "failure_list", RULE);
    }
    let list = fields.list(&root, "failure_list");
    let items = list.map(|list| read_items(&mut fields, &list));
    let mut launch = Launch {
        number: fields.integer(&root, "number"),
        status: fields.text(&root, "status").filter(|status| !status.trim().is_empty()),
        started_at: fields.time(&root, "startTime"),
        ended_at: fields.time(&root, "endTime"),
        git: git(&mut fields, &root),
        totals: totals(&mut fields, &root),
        ..Launch::default()
    };
    item::read_attributes(&mut fields, &root, &mut launch.attributes);
    let launch = run_id.zip(name).zip(items).map(|((run_id, name), items)| {
        (launch.run_id, launch.name) = (run_id, name);
        fill(&mut launch, &items, limits);
        let failed = launch.totals.get("failed").copied().unwrap_or(0);
        let listed = launch.cases.len() as u64;
        if failed > listed {
            launch.notes.push(format!("the launch counts {failed} failed tests, but its list has {listed}"));
        }
        launch.notes.extend(fields.take_notes());
        launch
    });
    fields.finish(launch)
}

/// Reads a page of items as the API answers it: `{content: [...], page: {...}}`.
pub(super) fn page(source: &Source, value: &Value, limits: Limits) -> Result<Launch, Diagnostics> {
    let mut fields = Fields::new(source);
    let root = Node::root(value);
    if root.get("content").is_none() {
        fields.missing(&root, "content", "a page of items needs `content`");
    }
    let list = fields.list(&root, "content");
    let items = list.map(|list| read_items(&mut fields, &list));
    let launch = items.map(|items| {
        let mut launch = of_items(source, &items, limits);
        let count = |key| root.value.pointer(key).and_then(Value::as_u64);
        if let (Some(number), Some(pages)) = (count("/page/number"), count("/page/totalPages"))
            && pages > 1
        {
            launch.notes.push(format!("this is page {number} of {pages}: give all of them to see every failure"));
        }
        launch.notes.extend(fields.take_notes());
        launch
    });
    fields.finish(launch)
}

/// Reads a bare list of items.
pub(super) fn items(source: &Source, value: &Value, limits: Limits) -> Result<Launch, Diagnostics> {
    let mut fields = Fields::new(source);
    let items = read_items(&mut fields, &Node::root(value));
    let mut launch = of_items(source, &items, limits);
    launch.notes.extend(fields.take_notes());
    fields.finish(Some(launch))
}

fn read_items(fields: &mut Fields<'_>, list: &Node<'_>) -> Vec<Item> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut repeated = 0_usize;
    let mut items = Vec::new();
    for node in list.elements() {
        let Some(item) = item::read(fields, &node) else { continue };
        // Pages fetched while a launch grows overlap; two different items of one id are both kept, under two ids.
        if seen.insert(node.value.to_string()) {
            items.push(item);
        } else {
            repeated += 1;
        }
    }
    if repeated > 0 {
        fields.notes.push(format!("{} listed twice left out", counted(repeated, "item")));
    }
    items
}

/// A launch of which only the items are known; they tell its id, name and number.
fn of_items(source: &Source, items: &[Item], limits: Limits) -> Launch {
    let first = items.first();
    let told = |pick: fn(&Item) -> Option<String>| items.iter().find_map(pick);
    let mut launch = Launch {
        run_id: told(|item| item.launch.0.clone()).unwrap_or_else(|| Hash::of(source.text().as_bytes()).short()),
        name: told(|item| item.launch.1.clone()).unwrap_or_else(|| source.name().to_owned()),
        number: first.and_then(|item| item.launch.2),
        ..Launch::default()
    };
    let launches: HashSet<&str> = items.iter().filter_map(|item| item.launch.0.as_deref()).collect();
    if launches.len() > 1 {
        launch.notes.push(format!("the items are of {} launches; they are taken as one", launches.len()));
    }
    fill(&mut launch, items, limits);
    launch
}

/// Makes cases of the items that are failed tests, and notes which items are not.
fn fill(launch: &mut Launch, items: &[Item], limits: Limits) {
    let tree = Tree::new(items);
    let mut texts = Texts::new(limits);
    let mut ids = Ids::default();
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    let mut containers = 0_usize;
    for (index, item) in items.iter().enumerate() {
        if tree.is_container(index) {
            containers += 1;
        } else if is_failure(item) {
            launch.cases.push(case(&tree, index, item, &mut ids, &mut texts));
        } else {
            *others.entry(item.status.to_lowercase()).or_default() += 1;
        }
    }
    if containers > 0 {
        launch.notes.push(format!("{} left out", counted(containers, "container item")));
    }
    launch.notes.extend(odd_containers(&tree, items));
    if !others.is_empty() {
        let count: usize = others.values().sum();
        let words: Vec<String> = others.iter().map(|(status, count)| format!("{count} {status}")).collect();
        launch.notes.push(format!("{} that did not fail left out ({})", counted(count, "item"), words.join(", ")));
    }
    launch.notes.extend(texts.notes());
    if launch.cases.is_empty() {
        launch.notes.push("no failed test in this launch".to_owned());
    }
}

/// Remarks on containers that failed while nothing in the list tells why.
fn odd_containers(tree: &Tree<'_>, items: &[Item]) -> Vec<String> {
    let explained = tree.holding(is_failure);
    let mut notes = Vec::new();
    let mut more = 0_usize;
    for (index, item) in items.iter().enumerate().filter(|(_, item)| is_failure(item)) {
        let remark = match (tree.is_container(index), item.has_children) {
            (true, _) if !explained.contains(&index) => "but no failed test in it is listed",
            (false, true) => "and stands for failed tests in it that are not listed",
            _ => continue,
        };
        if notes.len() == MAX_REMARKS {
            more += 1;
        } else {
            notes.push(format!("container item `{}` ({}) is {}, {remark}", item.name, item.id, item.status));
        }
    }
    if more > 0 {
        notes.push(format!("the same of {}", counted(more, "more container item")));
    }
    notes
}

fn case(tree: &Tree<'_>, index: usize, item: &Item, ids: &mut Ids, texts: &mut Texts) -> Case {
    let duration = item.started_at.zip(item.ended_at).map(|(from, to)| to.seconds_since(from));
    let mut case = Case {
        id: ids.take(&item.id),
        name: item.name.clone(),
        status: item.status.clone(),
        suite: tree.suite(index),
        started_at: item.started_at,
        duration_s: duration.filter(|seconds| *seconds >= 0.0),
        attributes: tree.attributes(index),
        source_defect: item.defect.clone(),
        ..Case::default()
    };
    texts.fill(&mut case, &item.error, &item.log, Markup::Html);
    case
}

fn is_failure(item: &Item) -> bool {
    !NOT_FAILED.iter().any(|status| item.status.eq_ignore_ascii_case(status))
}

/// The counts of `statistics.executions`.
fn totals(fields: &mut Fields<'_>, root: &Node<'_>) -> BTreeMap<String, u64> {
    let mut totals = BTreeMap::new();
    let Some(statistics) = fields.object(root, "statistics") else { return totals };
    let Some(executions) = fields.object(&statistics, "executions") else { return totals };
    for (outcome, count) in executions.value.as_object().into_iter().flatten() {
        if let Some(count) = count.as_u64() {
            totals.insert(outcome.clone(), count);
        }
    }
    totals
}

fn git(fields: &mut Fields<'_>, root: &Node<'_>) -> Git {
    let Some(git) = fields.object(root, "git") else { return Git::default() };
    let mut text = |key| fields.text(&git, key).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    Git { branch: text("branch"), commit: text("commit"), remote: text("remote") }
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
