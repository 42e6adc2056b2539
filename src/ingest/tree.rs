//! Which items are containers of others, and what a test stands in.

use super::item::Item;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A chain of parents longer than this is taken to end there (it may be a ring).
const MAX_DEPTH: usize = 64;

/// The items of a launch with who stands in whom.
pub(super) struct Tree<'a> {
    items: &'a [Item],
    /// For each item, those of the list it stands in, outermost first.
    ancestors: Vec<Vec<usize>>,
    /// Items that others of the list stand in.
    holders: BTreeSet<usize>,
}

impl<'a> Tree<'a> {
    /// Works out the tree by `path`, or where there is none by `parent`.
    pub(super) fn new(items: &'a [Item]) -> Self {
        let by_id: HashMap<&str, usize> = items.iter().enumerate().map(|(index, item)| (item.id.as_str(), index)).collect();
        let by_path: HashMap<&str, usize> =
            items.iter().enumerate().filter_map(|(index, item)| Some((item.path.as_deref()?, index))).collect();
        let mut ancestors = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let mut above = item.path.as_deref().map_or_else(Vec::new, |path| above_by_path(path, &by_path));
            if above.is_empty() {
                above = above_by_parent(items, index, &by_id);
            }
            above.retain(|&other| other != index);
            ancestors.push(above);
        }
        let holders = ancestors.iter().flatten().copied().collect();
        Self { items, ancestors, holders }
    }

    /// True for an item that only groups tests: others of the list stand in it, or it says that it has children and counts
    /// no failed one. (One that counts failures which are not in the list stands for them.)
    pub(super) fn is_container(&self, index: usize) -> bool {
        let item = &self.items[index];
        self.holders.contains(&index) || (item.has_children && item.failed == Some(0))
    }

    /// The containers in which an item that satisfies `wanted` stands.
    pub(super) fn holding(&self, wanted: impl Fn(&Item) -> bool) -> BTreeSet<usize> {
        self.ancestors.iter().zip(self.items).filter(|(_, item)| wanted(item)).flat_map(|(above, _)| above).copied().collect()
    }

    /// What the item stands in: the names of its containers, outermost first.
    pub(super) fn suite(&self, index: usize) -> String {
        let listed: Vec<&str> = self.ancestors[index].iter().map(|&above| self.items[above].name.as_str()).collect();
        let told: Vec<&str> = self.items[index].names_above.iter().map(String::as_str).collect();
        // The item itself may know more of what is above it than the list has.
        if told.len() > listed.len() { told.join(" > ") } else { listed.join(" > ") }
    }

    /// The item's attributes, and those of its containers that it does not have itself; the nearest counts.
    pub(super) fn attributes(&self, index: usize) -> BTreeMap<String, String> {
        let mut all = self.items[index].attributes.clone();
        for &above in self.ancestors[index].iter().rev() {
            for (name, value) in &self.items[above].attributes {
                if !OWN.contains(&name.as_str()) {
                    all.entry(name.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        all
    }
}

/// Attributes that describe an item itself and are not passed on to what stands in it.
const OWN: [&str; 8] = ["item_type", "test_case_id", "code_ref", "description", "retries", "pattern", "tickets", "issue_comment"];

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

    fn item(id: &str, path: &str, parent: &str) -> Item {
        let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        Item { id: id.to_owned(), name: format!("n{id}"), path: some(path), parent: some(parent), ..Item::default() }
    }

    #[test]
    fn containers_are_found_by_path_and_by_parent() {
        for items in [
            [item("1", "1", ""), item("2", "1.2", ""), item("3", "1.2.3", ""), item("4", "4", ""), item("12", "12", "")],
            [item("1", "", ""), item("2", "", "1"), item("3", "", "2"), item("4", "", "99"), item("12", "", "12")],
        ] {
            let tree = Tree::new(&items);
            let containers: Vec<bool> = (0..items.len()).map(|index| tree.is_container(index)).collect();
            assert_eq!(containers, [true, true, false, false, false]);
            assert_eq!(tree.suite(2), "n1 > n2");
            assert_eq!(tree.suite(3), "");
            assert_eq!(tree.holding(|item| item.id == "3"), BTreeSet::from([0, 1]));
        }
    }

    #[test]
    fn a_ring_of_parents_ends() {
        let items = [item("1", "", "2"), item("2", "", "3"), item("3", "", "2")];
        let tree = Tree::new(&items);
        assert_eq!(tree.suite(0), "n3 > n2");
    }

    #[test]
    fn an_item_that_counts_no_failure_is_a_container_and_one_that_does_stands_for_it() {
        let mut items = [item("1", "", ""), item("2", "", ""), item("3", "", "")];
        for (item, failed) in items.iter_mut().zip([Some(0), Some(2), None]) {
            (item.has_children, item.failed) = (true, failed);
        }
        let tree = Tree::new(&items);
        assert_eq!([0, 1, 2].map(|index| tree.is_container(index)), [true, false, false]);
    }

    #[test]
    fn attributes_come_down_from_the_nearest_container() {
        let mut items = [item("1", "1", ""), item("2", "1.2", ""), item("3", "1.2.3", "")];
        for (item, (name, value)) in items.iter_mut().zip([("lane", "outer"), ("lane", "inner"), ("id", "x")]) {
            item.attributes.insert(name.to_owned(), value.to_owned());
        }
        items[0].attributes.insert("item_type".to_owned(), "SUITE".to_owned());
        let expected = [("id", "x"), ("lane", "inner")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(Tree::new(&items).attributes(2), BTreeMap::from(expected));
    }
}
