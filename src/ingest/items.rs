//! The items of a ReportPortal list, taken as they are read, and the cases that they make.
//!
//! Which level carries a failure: a container (a suite, or a test with tests in it) failed because of what stands in it and
//! makes no case; a step within a test (`hasStats` is false) tells what the test failed of and makes none either. What is
//! left is a case, hooks (`BEFORE_CLASS` and their like) among them: what they kept from running is skipped, and skipped
//! items are counted and not analysed. An attempt that was tried again makes no case; what came of it does.

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
use crate::diag::Source;
use crate::model::{Case, Launch, counted};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The most remarks on single items.
const MAX_REMARKS: usize = 5;

/// Takes items.
pub(super) struct ItemReader<'s> {
    /// What is wrong with them.
    pub(super) fields: FieldReader<'s>,
    /// The list that counts.
    pub(super) list: Option<&'static str>,
    /// What the first one looks like: an item, or something known that is none.
    pub(super) first: Option<FirstElement>,
    /// Log entries that stand in the list in place of items.
    pub(super) logs: ItemLogs,
    /// Of the launch they belong to, what any of them tells.
    pub(super) launch: LaunchIdentity,
    /// The launches they belong to.
    launches: HashSet<String>,
    taken: Vec<Item>,
    seen: HashSet<u64>,
    repeated: usize,
    texts: TextBudget,
}

/// What the first element of a list is.
pub(super) enum FirstElement {
    /// A test item.
    Item,
    /// An entry of a log.
    Log,
    /// No item, perhaps a known something else.
    Other(Option<foreign::UnsupportedFormat>),
}

/// True if the value has what every item must have.
fn is_item(value: &Value) -> bool {
    ["id", "name", "status"].iter().all(|key| value.get(key).is_some()) && value.get("mode").is_none()
}

impl Elements for ItemReader<'_> {
    fn begin(&mut self, list: Option<&'static str>) {
        if self.list == Some("failure_list") && list != self.list {
            return;
        }
        (self.list, self.first) = (list, None);
        (self.logs, self.taken) = (ItemLogs::default(), Vec::new());
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
        // Of lists that are no failure list, only those of items are read.
        if list != Some("failure_list") && matches!(self.first, Some(FirstElement::Other(_))) {
            return;
        }
        let (path, from) = ([JsonStep::Key(list.unwrap_or_default()), JsonStep::Index(index)], usize::from(list.is_none()));
        let node = FieldNode::at(value, &path[from..]);
        let Some(item) = item::read(&mut self.fields, &node, &mut self.texts) else { return };
        // Pages fetched while a launch grows overlap; two different items of one id are both kept, under two ids.
        if !self.seen.insert(hash(value)) {
            self.repeated += 1;
            return;
        }
        let (id, name, number) = item::belongs(value);
        if let Some(id) = id {
            if !self.launches.contains(&id) {
                self.launches.insert(id.clone());
            }
            self.launch.0.get_or_insert(id);
        }
        if let Some(name) = name {
            self.launch.1.get_or_insert(name);
        }
        if self.taken.is_empty() {
            self.launch.2 = number;
        }
        self.taken.push(item);
    }
}

/// Tells an element from others.
fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

impl<'s> ItemReader<'s> {
    /// Nothing taken yet.
    pub(super) fn new(source: &'s Source, room: &TextRoom) -> Self {
        Self {
            fields: FieldReader::new(source),
            list: None,
            first: None,
            logs: ItemLogs::default(),
            launch: (None, None, None),
            launches: HashSet::new(),
            taken: Vec::new(),
            seen: HashSet::new(),
            repeated: 0,
            texts: TextBudget::new(room),
        }
    }

    /// Makes the cases of a launch of the items that are failed tests, and notes which items are not; what was wrong is left.
    pub(super) fn fill(self, launch: &mut Launch) -> FieldReader<'s> {
        let Self { mut fields, launches, taken: mut items, repeated, texts, seen, .. } = self;
        if launches.len() > 1 {
            launch.notes.push(format!("the items are of {} launches; they are taken as one", launches.len()));
        }
        drop((launches, seen));
        if repeated > 0 {
            fields.notes.push(format!("{} listed twice left out", counted(repeated, "item", "items")));
        }
        let tree = Tree::new(&items);
        let remarks = odd_containers(&tree, &items);
        let steps = fold_steps(&tree, &mut items);
        let mut ids = Ids::default();
        let mut is_case = vec![false; items.len()];
        let mut others: BTreeMap<String, usize> = BTreeMap::new();
        let (mut containers, mut attempts) = (0_usize, 0_usize);
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
            } else {
                *others.entry(item.case.status.to_lowercase()).or_default() += 1;
            }
        }
        drop((tree, ids));
        // Collected where the items stood: a large launch has no room for both.
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
        if launch.cases.is_empty() {
            launch.notes.push("no failed test in this launch".to_owned());
        }
        fields
    }
}

/// Gives tests what their failed steps say, where they say nothing themselves; the steps that are told of so, or that did
/// not fail.
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

/// Remarks on containers that failed while nothing in the list tells why.
fn odd_containers(tree: &Tree, items: &[Item]) -> Vec<String> {
    let explained = tree.holding_failures(items);
    // What a test's own steps are listed of stands for nothing else.
    let steps = (0..items.len()).filter(|index| items[*index].is_step);
    let stepped: HashSet<usize> = steps.filter_map(|index| tree.test_of(items, index)).collect();
    let mut notes = Vec::new();
    let mut more = 0_usize;
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.is_failure()) {
        let remark = match (tree.is_container(items, index), item.has_children) {
            (true, _) if !explained.contains(&index) => "but no failed test in it is listed",
            (false, true) if !stepped.contains(&index) => "and stands for failed tests in it that are not listed",
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

/// Makes the case of an item whole. Its containers stay as they are: they make none.
fn complete(tree: &Tree, index: usize, items: &mut [Item], ids: &mut Ids) {
    let suite = tree.suite(items, index);
    let mut attributes = std::mem::take(&mut items[index].case.attributes);
    tree.inherit(items, index, &mut attributes);
    let case = &mut items[index].case;
    (case.suite, case.attributes, case.id) = (suite, attributes, ids.take(&case.id));
}
