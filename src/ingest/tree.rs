//! Which items are containers of others, and what a test stands in.

use super::item::Item;
use crate::model::Attributes;
use std::collections::{BTreeSet, HashMap};

/// A chain of parents longer than this is taken to end there (it may be a ring).
const MAX_DEPTH: usize = 64;

/// Who stands in whom among the items of a launch.
pub(super) struct Tree {
    /// For each item, those of the list it stands in, outermost first.
    ancestors: Vec<Box<[u32]>>,
    /// Items that tests of the list stand in, or others that hold tests.
    holders: BTreeSet<usize>,
}

impl Tree {
    /// Works out the tree by `path`, or where there is none by `parent`.
    pub(super) fn new(items: &[Item]) -> Self {
        let by_id: HashMap<&str, usize> = items.iter().enumerate().map(|(index, item)| (item.case.id.as_str(), index)).collect();
        let by_path: HashMap<&str, usize> =
            items.iter().enumerate().filter_map(|(index, item)| Some((item.path.as_deref()?, index))).collect();
        let mut ancestors = Vec::with_capacity(items.len());
        let mut holders = BTreeSet::new();
        for (index, item) in items.iter().enumerate() {
            let mut above = item.path.as_deref().map_or_else(Vec::new, |path| above_by_path(path, &by_path));
            if above.is_empty() {
                above = above_by_parent(items, index, &by_id);
            }
            above.retain(|&other| other != index);
            // A step within a test does not make the test a container.
            if !item.is_step {
                holders.extend(above.iter().copied());
            }
            ancestors.push(above.into_iter().filter_map(|above| u32::try_from(above).ok()).collect());
        }
        Self { ancestors, holders }
    }

    /// True for an item that only groups tests: others of the list stand in it, or it says that it has children and counts
    /// no failed one. (One that counts failures which are not in the list stands for them.)
    pub(super) fn is_container(&self, items: &[Item], index: usize) -> bool {
        self.holders.contains(&index) || (items[index].has_children && items[index].failed == Some(0))
    }

    /// The containers in which a failed item stands.
    pub(super) fn holding_failures(&self, items: &[Item]) -> BTreeSet<usize> {
        let failed = (0..items.len()).filter(|index| items[*index].is_failure());
        failed.flat_map(|index| self.above(index)).collect()
    }

    /// The test that a step stands in, if it is in the list.
    pub(super) fn test_of(&self, items: &[Item], index: usize) -> Option<usize> {
        let mut above: Vec<usize> = self.above(index).collect();
        above.reverse();
        above.into_iter().find(|above| !items[*above].is_step)
    }

    fn above(&self, index: usize) -> impl Iterator<Item = usize> {
        self.ancestors[index].iter().map(|above| *above as usize)
    }

    /// What the item stands in: the names of its containers, outermost first.
    pub(super) fn suite(&self, items: &[Item], index: usize) -> String {
        let (told, count) = &items[index].above;
        // The item itself may know more of what is above it than the list has.
        if *count > self.ancestors[index].len() {
            return told.to_string();
        }
        let listed: Vec<&str> = self.above(index).map(|above| items[above].case.name.as_str()).collect();
        listed.join(" > ")
    }

    /// Gives an item those attributes of its containers that it does not have itself; the nearest counts.
    pub(super) fn inherit(&self, items: &[Item], index: usize, into: &mut Attributes) {
        for &above in self.ancestors[index].iter().rev() {
            for (name, value) in items[above as usize].case.attributes.iter() {
                if !OWN.contains(&name) && !into.contains_key(name) {
                    into.insert(name, value);
                }
            }
        }
    }
}

/// Attributes that describe an item itself and are not passed on to what stands in it.
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

fn above_by_path(path: &str, by_path: &HashMap<&str, usize>) -> Vec<usize> {
    path.match_indices('.').take(MAX_DEPTH).filter_map(|(end, _)| by_path.get(&path[..end]).copied()).collect()
}

fn above_by_parent(items: &[Item], index: usize, by_id: &HashMap<&str, usize>) -> Vec<usize> {
    let mut above = Vec::new();
    let mut at = index;
    while let Some(&parent) = items[at].parent.as_deref().and_then(|id| by_id.get(id)) {
        if parent == index || above.contains(&parent) || above.len() == MAX_DEPTH {
            break;
        }
        above.push(parent);
        at = parent;
    }
    above.reverse();
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Case;

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
            assert_eq!(tree.holding_failures(&items), BTreeSet::from([0, 1]));
        }
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let items = [item("1", "", "2"), item("2", "", "3"), item("3", "", "2")];
        let tree = Tree::new(&items);
        assert_eq!(tree.suite(&items, 0), "n3 > n2");
    }

    #[test]
    fn an_item_that_counts_no_failure_is_a_container_and_one_that_does_stands_for_it() {
        let mut items = [item("1", "", ""), item("2", "", ""), item("3", "", "")];
        for (item, failed) in items.iter_mut().zip([Some(0), Some(2), None]) {
            (item.has_children, item.failed) = (true, failed);
        }
        let tree = Tree::new(&items);
        assert_eq!([0, 1, 2].map(|index| tree.is_container(&items, index)), [true, false, false]);
    }

    #[test]
    fn attributes_come_down_from_the_nearest_container() {
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
