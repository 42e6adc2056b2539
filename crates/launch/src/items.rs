//! Reads the items of a ReportPortal list, and makes cases of them.
//!
//! Containers (a suite, or a test with tests in it) fail because of their contents and make no case; a step within a test
//! (`hasStats` is false) gives the reason why the test failed and makes none either. The rest are cases, including hooks
//! (`BEFORE_CLASS` and similar): the tests they prevented are skipped, and skipped items are counted but not analysed. An attempt
//! that was retried makes no case; its final outcome does.

use super::fields::{FieldNode, FieldReader};
use super::foreign;
use super::item::{self, Item, LaunchIdentity};
use super::json_span::JsonStep;
use super::json_stream::Elements;
use super::logs::{self, ItemLogs};
use super::room::TextRoom;
use super::texts::TextBudget;
use super::tree::Tree;
use super::unique::Ids;
use asterisk_base::model::{Case, Launch, TestIdentity, TestOutcome};
use asterisk_diag::Source;
use asterisk_diag::counted;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The maximum number of notes on single items.
const MAX_REMARKS: usize = 5;

/// Collects the items of a list.
pub(super) struct ItemReader<'s> {
    /// Reads their fields and collects the errors.
    pub(super) fields: FieldReader<'s>,
    /// The list whose items are used.
    pub(super) list: Option<&'static str>,
    /// The type of the first element.
    pub(super) first: Option<FirstElement>,
    /// Log entries, if the list has these in place of items.
    pub(super) logs: ItemLogs,
    /// The launch they belong to, as far as any of them names it.
    pub(super) launch: LaunchIdentity,
    /// The ids of all launches named by items.
    launches: HashSet<String>,
    items: Vec<Item>,
    seen: HashSet<u64>,
    repeated: usize,
    texts: TextBudget,
}

/// The type of a list's first element.
pub(super) enum FirstElement {
    /// A test item.
    Item,
    /// A log entry.
    Log,
    /// Anything else; its format, if recognised.
    Other(Option<foreign::UnsupportedFormat>),
}

/// Whether the value has the required fields of an item.
fn is_item(value: &Value) -> bool {
    ["id", "name", "status"].iter().all(|key| value.get(key).is_some()) && value.get("mode").is_none()
}

impl Elements for ItemReader<'_> {
    fn begin(&mut self, list: Option<&'static str>) {
        if self.list == Some("failure_list") && list != self.list {
            return;
        }
        (self.list, self.first) = (list, None);
        (self.logs, self.items) = (ItemLogs::default(), Vec::new());
        self.seen.clear();
    }

    fn element(&mut self, list: Option<&'static str>, index: usize, value: &Value) {
        if list != self.list {
            return;
        }
        if index == 0 {
            self.first = Some(match value {
                item if is_item(item) => FirstElement::Item,
                entry if list != Some("failure_list") && logs::is_entry(entry) => FirstElement::Log,
                other => FirstElement::Other(foreign::element(other)),
            });
        }
        if matches!(self.first, Some(FirstElement::Log)) {
            self.logs.add(value);
            return;
        }
        // Lists other than `failure_list` are only read if they hold items.
        if list != Some("failure_list") && matches!(self.first, Some(FirstElement::Other(_))) {
            return;
        }
        let (path, from) = ([JsonStep::Key(list.unwrap_or_default()), JsonStep::Index(index)], usize::from(list.is_none()));
        let node = FieldNode::at(value, &path[from..]);
        let Some(item) = item::read(&mut self.fields, &node, &mut self.texts) else { return };
        // Pages fetched while a launch grows overlap; two different items with the same id are both kept, under two ids.
        if !self.seen.insert(hash(value)) {
            self.repeated += 1;
            return;
        }
        let (id, name, number) = item::launch_identity(value);
        if let Some(id) = id {
            if !self.launches.contains(&id) {
                self.launches.insert(id.clone());
            }
            self.launch.0.get_or_insert(id);
        }
        if let Some(name) = name {
            self.launch.1.get_or_insert(name);
        }
        if self.items.is_empty() {
            self.launch.2 = number;
        }
        self.items.push(item);
    }
}

/// A hash that identifies an element.
fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl<'s> ItemReader<'s> {
    pub(super) fn new(source: &'s Source, room: &TextRoom) -> Self {
        Self {
            fields: FieldReader::new(source),
            list: None,
            first: None,
            logs: ItemLogs::default(),
            launch: (None, None, None),
            launches: HashSet::new(),
            items: Vec::new(),
            seen: HashSet::new(),
            repeated: 0,
            texts: TextBudget::new(room),
        }
    }

    /// Makes cases of the items that are failed tests, and notes which items are not. Returns the reader with its errors.
    pub(super) fn fill(self, launch: &mut Launch) -> FieldReader<'s> {
        let Self { mut fields, launches, mut items, repeated, texts, seen, .. } = self;
        if launches.len() > 1 {
            launch.notes.push(format!("the items belong to {} launches; they were merged", launches.len()));
        }
        drop((launches, seen));
        if repeated > 0 {
            fields.notes.push(format!("{} listed twice left out", counted(repeated, "item", "items")));
        }
        let tree = Tree::new(&items);
        let remarks = container_notes(&tree, &items);
        let steps = fold_steps(&tree, &mut items);
        let mut ids = Ids::default();
        let mut is_case = vec![false; items.len()];
        let mut others: BTreeMap<String, usize> = BTreeMap::new();
        let (mut containers, mut attempts) = (0_usize, 0_usize);
        mark_retried(&mut items);
        for index in 0..items.len() {
            let item = &items[index];
            if steps.contains(&index) {
            } else if item.retry_of.is_some() {
                attempts += 1;
            } else if tree.is_container(&items, index) {
                containers += 1;
            } else if item.is_failure() {
                is_case[index] = true;
                complete(&tree, index, &mut items, &mut ids);
                launch.outcomes.add(items[index].case.identity(), TestOutcome::Failed);
            } else {
                if let Some(outcome) = item.outcome() {
                    let suite = tree.suite(&items, index);
                    launch.outcomes.add(TestIdentity::new(&suite, &item.case.name), outcome);
                    if outcome == TestOutcome::Flaky {
                        launch.outcomes.name(&suite, &item.case.name);
                    }
                }
                *others.entry(item.case.status.to_lowercase()).or_default() += 1;
            }
        }
        drop((tree, ids));
        // Collected in place: there is not enough memory for both lists of a large launch.
        let cases = items.into_iter().zip(is_case).filter_map(|(item, is_case)| is_case.then_some(item.case));
        launch.cases = cases.collect();
        for (count, one, many) in [
            (containers, "container item", "container items"),
            (steps.len(), "step within a test", "steps within a test"),
            (attempts, "attempt that was tried again", "attempts that were tried again"),
        ] {
            if count > 0 {
                launch.notes.push(format!("{} left out", counted(count, one, many)));
            }
        }
        launch.notes.extend(remarks);
        if !others.is_empty() {
            let count: usize = others.values().sum();
            let words: Vec<String> = others.iter().map(|(status, count)| format!("{count} {status}")).collect();
            launch.notes.push(format!("{} that did not fail left out ({})", counted(count, "item", "items"), words.join(", ")));
        }
        launch.notes.extend(texts.notes());
        fields
    }
}

/// Marks the items of which others are attempts.
fn mark_retried(items: &mut [Item]) {
    let retried: HashSet<Box<str>> = items.iter().filter_map(|item| item.retry_of.clone()).collect();
    if !retried.is_empty() {
        for item in items {
            item.is_retried |= retried.contains(item.case.id.as_str());
        }
    }
}

/// Gives tests without texts those of their failed steps. Returns the indexes of all steps that belong to a test.
fn fold_steps(tree: &Tree, items: &mut [Item]) -> HashSet<usize> {
    let mut folded = HashSet::new();
    for index in 0..items.len() {
        let Some(test) = Some(index).filter(|index| items[*index].is_step).and_then(|index| tree.test_of(items, index)) else {
            continue;
        };
        folded.insert(index);
        if !items[index].is_failure() || !items[test].is_failure() {
            continue;
        }
        let step = std::mem::take(&mut items[index].case);
        let case = &mut items[test].case;
        if case.error_message.is_empty() && !step.error_message.is_empty() {
            case.error_message = step.error_message;
            TextBudget::set_key(case);
        }
        if case.log_snippet.is_empty() {
            (case.log_snippet, case.log_cut) = (step.log_snippet, step.log_cut);
        }
        super::attributes::add(&mut case.attributes, "failed_step", &step.name);
    }
    folded
}

/// Notes on containers that failed although no listed item explains it.
fn container_notes(tree: &Tree, items: &[Item]) -> Vec<String> {
    let explained = tree.with_failures(items);
    // A test whose steps are listed does not stand for other items.
    let steps = (0..items.len()).filter(|index| items[*index].is_step);
    let with_steps: HashSet<usize> = steps.filter_map(|index| tree.test_of(items, index)).collect();
    let mut notes = Vec::new();
    let mut more = 0_usize;
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.is_failure()) {
        let remark = match (tree.is_container(items, index), item.has_children) {
            (true, _) if !explained.contains(&index) => "but no failed test in it is listed",
            (false, true) if !with_steps.contains(&index) => "and stands for failed tests in it that are not listed",
            _ => continue,
        };
        if notes.len() == MAX_REMARKS {
            more += 1;
        } else {
            let Case { id, name, status, .. } = &item.case;
            notes.push(format!("container item `{name}` ({id}) is {status}, {remark}"));
        }
    }
    if more > 0 {
        notes.push(format!("the same of {}", counted(more, "more container item", "more container items")));
    }
    notes
}

/// Completes the case of an item. Its containers are left unchanged: they make no case.
fn complete(tree: &Tree, index: usize, items: &mut [Item], ids: &mut Ids) {
    let suite = tree.suite(items, index);
    let mut attributes = std::mem::take(&mut items[index].case.attributes);
    tree.inherit(items, index, &mut attributes);
    let case = &mut items[index].case;
    (case.suite, case.attributes, case.id) = (suite, attributes, ids.take(&case.id));
}
