//! The tree of ReportPortal items: containers and what they contain.

use super::item::Item;
use super::texts;
use asterisk_base::model::Attributes;
use std::collections::{BTreeSet, HashMap};

/// The maximum length of a chain of parents, which may be cyclic.
const MAX_DEPTH: usize = 64;

/// The containment of the items of a launch.
pub(super) struct Tree {
    /// The listed ancestors of each item, outermost first.
    ancestors: Vec<Box<[u32]>>,
    /// Items with other items of the list in them, except steps.
    containers: BTreeSet<usize>,
}

impl Tree {
    /// Builds the tree by `path`, or by `parent` for items without a path.
    pub(super) fn new(items: &[Item]) -> Self {
        let by_id: HashMap<&str, usize> = items.iter().enumerate().map(|(index, item)| (item.case.id.as_str(), index)).collect();
        let by_path: HashMap<&str, usize> =
            items.iter().enumerate().filter_map(|(index, item)| Some((item.path.as_deref()?, index))).collect();
        let mut ancestors = Vec::with_capacity(items.len());
        let mut containers = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let mut found = item.path.as_deref().map_or_else(Vec::new, |path| ancestors_by_path(path, &by_path));
            if found.is_empty() {
                found = ancestors_by_parent(items, index, &by_id);
            }
            found.retain(|&other| other != index);
            // A step within a test does not make the test a container.
            if !item.is_step {
                containers.extend(found.iter().copied());
            }
            ancestors.push(found.into_iter().filter_map(|found| u32::try_from(found).ok()).collect());
        }
        Self { ancestors, containers }
    }

    /// Whether an item only groups tests: the list has items in it, or it declares children and counts no failures. (One that
    /// counts failures which are not in the list stands for them.)
    pub(super) fn is_container(&self, items: &[Item], index: usize) -> bool {
        self.containers.contains(&index) || (items[index].has_children && items[index].failed == Some(0))
    }

    /// The containers with a failed item in them.
    pub(super) fn with_failures(&self, items: &[Item]) -> BTreeSet<usize> {
        let failed = (0..items.len()).filter(|index| items[*index].is_failure());
        failed.flat_map(|index| self.ancestors_of(index)).collect()
    }

    /// The test that a step belongs to, if it is in the list.
    pub(super) fn test_of(&self, items: &[Item], index: usize) -> Option<usize> {
        let mut found: Vec<usize> = self.ancestors_of(index).collect();
        found.reverse();
        found.into_iter().find(|found| !items[*found].is_step)
    }

    fn ancestors_of(&self, index: usize) -> impl Iterator<Item = usize> {
        self.ancestors[index].iter().map(|found| *found as usize)
    }

    /// The names of an item's containers, outermost first.
    pub(super) fn suite(&self, items: &[Item], index: usize) -> String {
        let (named, count) = &items[index].containers;
        // The item itself may name more containers than the list has.
        if *count > self.ancestors[index].len() {
            return texts::bounded(named.to_string());
        }
        let listed: Vec<&str> = self.ancestors_of(index).map(|found| items[found].case.name.as_str()).collect();
        texts::bounded(listed.join(" > "))
    }

    /// Adds the attributes of an item's containers that it does not have itself; the nearest takes precedence.
    pub(super) fn inherit(&self, items: &[Item], index: usize, into: &mut Attributes) {
        for &found in self.ancestors[index].iter().rev() {
            for (name, value) in items[found as usize].case.attributes.iter() {
                if !OWN.contains(&name) && !into.contains_key(name) {
                    into.insert(name, value);
                }
            }
        }
    }
}

/// Attributes of an item itself that are not inherited.
const OWN: [&str; 10] = [
    "item_type",
    "test_case_id",
    "code_ref",
    "description",
    "retries",
    "attempts",
    "pattern",
    "tickets",
    "issue_comment",
    "auto_analyzed",
];

fn ancestors_by_path(path: &str, by_path: &HashMap<&str, usize>) -> Vec<usize> {
    path.match_indices('.').take(MAX_DEPTH).filter_map(|(end, _)| by_path.get(&path[..end]).copied()).collect()
}

fn ancestors_by_parent(items: &[Item], index: usize, by_id: &HashMap<&str, usize>) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = index;
    while let Some(&parent) = items[at].parent.as_deref().and_then(|id| by_id.get(id)) {
        if parent == index || found.contains(&parent) || found.len() == MAX_DEPTH {
            break;
        }
        found.push(parent);
        at = parent;
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::Case;

    fn item(id: &str, path: &str, parent: &str) -> Item {
        let some = |text: &str| (!text.is_empty()).then(|| Box::from(text));
        let case = Case { id: id.to_owned(), name: format!("n{id}"), status: "FAILED".to_owned(), ..Case::default() };
        Item { case, path: some(path), parent: some(parent), ..Item::default() }
    }

    #[test]
    fn containers_are_found_by_path_and_by_parent() {
        for items in [
            [item("1", "1", ""), item("2", "1.2", ""), item("3", "1.2.3", ""), item("4", "4", ""), item("12", "12", "")],
            [item("1", "", ""), item("2", "", "1"), item("3", "", "2"), item("4", "", "99"), item("12", "", "12")],
        ] {
            let tree = Tree::new(&items);
            let containers: Vec<bool> = (0..items.len()).map(|index| tree.is_container(&items, index)).collect();
            assert_eq!(containers, [true, true, false, false, false]);
            assert_eq!(tree.suite(&items, 2), "n1 > n2");
            assert_eq!(tree.suite(&items, 3), "");
            assert_eq!(tree.with_failures(&items), BTreeSet::from([0, 1]));
        }
    }

    #[test]
    fn a_cycle_of_parents_ends() {
        let items = [item("1", "", "2"), item("2", "", "3"), item("3", "", "2")];
        let tree = Tree::new(&items);
        assert_eq!(tree.suite(&items, 0), "n3 > n2");
    }

    #[test]
    fn an_item_with_children_and_no_failures_is_a_container() {
        let mut items = [item("1", "", ""), item("2", "", ""), item("3", "", "")];
        for (item, failed) in items.iter_mut().zip([Some(0), Some(2), None]) {
            (item.has_children, item.failed) = (true, failed);
        }
        let tree = Tree::new(&items);
        assert_eq!([0, 1, 2].map(|index| tree.is_container(&items, index)), [true, false, false]);
    }

    #[test]
    fn attributes_are_inherited_from_the_nearest_container() {
        let mut items = [item("1", "1", ""), item("2", "1.2", ""), item("3", "1.2.3", "")];
        for (item, (name, value)) in items.iter_mut().zip([("lane", "outer"), ("lane", "inner"), ("id", "x")]) {
            item.case.attributes.insert(name, value);
        }
        items[0].case.attributes.insert("item_type", "SUITE");
        let mut attributes = items[2].case.attributes.clone();
        Tree::new(&items).inherit(&items, 2, &mut attributes);
        assert_eq!(attributes, Attributes::from([("id", "x"), ("lane", "inner")]));
    }

    #[test]
    fn a_step_belongs_to_its_test() {
        let mut items = [item("1", "1", ""), item("2", "1.2", ""), item("3", "1.2.3", ""), item("4", "1.2.3.4", "")];
        (items[2].is_step, items[3].is_step) = (true, true);
        let tree = Tree::new(&items);
        assert_eq!([0, 1, 2].map(|index| tree.is_container(&items, index)), [true, false, false]);
        assert_eq!(tree.test_of(&items, 3), Some(1));
    }
}
