//! Identity of causes: symptoms and root causes of the store that occur together in a failure belong to one cause (union-find).

use asterisk_store::{KnownHistory, PastCase};
use std::collections::BTreeMap;

/// A root cause or a symptom of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum IdentityNode {
    Rca(i64),
    Symptom(i64),
}

/// Disjoint sets of nodes; a set is identified by a number.
#[derive(Debug)]
pub(super) struct Groups {
    /// All nodes, sorted. A large run has some hundred thousand: a map would take three times the memory.
    nodes: Vec<IdentityNode>,
    /// Parent of each node; the root of a set is its own parent.
    parent: Vec<u32>,
}

/// Occurrences of a set.
#[derive(Debug, Default)]
pub(super) struct GroupOccurrence {
    /// Index in the history of the first failure with any of its nodes.
    pub(super) first: usize,
    /// Its nodes, if the current launch has none of them.
    pub(super) nodes: Vec<IdentityNode>,
    /// Number of failures by launch.
    pub(super) failures: BTreeMap<usize, usize>,
}

impl Groups {
    pub(super) fn of(history: &KnownHistory) -> Self {
        let mut nodes = Vec::with_capacity(history.cases.iter().map(|case| case.rcas.len() + case.symptoms.len()).sum());
        nodes.extend(history.cases.iter().flat_map(Self::nodes));
        nodes.sort_unstable();
        nodes.dedup();
        nodes.shrink_to_fit();
        let parent = (0..).take(nodes.len()).collect();
        let mut groups = Self { nodes, parent };
        history.cases.iter().for_each(|case| groups.join(Self::nodes(case)));
        groups
    }

    /// The nodes of a failure.
    pub(super) fn nodes(case: &PastCase) -> impl Iterator<Item = IdentityNode> + '_ {
        case.rcas.iter().map(|id| IdentityNode::Rca(*id)).chain(case.symptoms.iter().map(|id| IdentityNode::Symptom(*id)))
    }

    /// Root causes and symptoms among the nodes, sorted and without duplicates.
    pub(super) fn ids(nodes: &[IdentityNode]) -> (Vec<i64>, Vec<i64>) {
        let (mut rcas, mut symptoms) = (Vec::new(), Vec::new());
        for node in nodes {
            let (list, id) = match node {
                IdentityNode::Rca(id) => (&mut rcas, id),
                IdentityNode::Symptom(id) => (&mut symptoms, id),
            };
            list.push(*id);
        }
        for list in [&mut rcas, &mut symptoms] {
            list.sort_unstable();
            list.dedup();
        }
        (rcas, symptoms)
    }

    /// Merges the sets of some nodes.
    pub(super) fn join(&mut self, nodes: impl IntoIterator<Item = IdentityNode>) {
        let mut first = None;
        for node in nodes {
            let Some(root) = self.find(node) else { continue };
            match first {
                None => first = Some(root),
                Some(first) => self.parent[root as usize] = first,
            }
        }
    }

    /// The set of a node.
    pub(super) fn find(&mut self, node: IdentityNode) -> Option<u32> {
        let place = self.nodes.binary_search(&node).ok()?;
        u32::try_from(place).ok().map(|place| self.root(place))
    }

    fn root(&mut self, mut place: u32) -> u32 {
        while self.parent[place as usize] != place {
            let parent = self.parent[self.parent[place as usize] as usize];
            self.parent[place as usize] = parent;
            place = parent;
        }
        place
    }

    /// The occurrences of each set.
    pub(super) fn occurrences(&mut self, history: &KnownHistory) -> BTreeMap<u32, GroupOccurrence> {
        let mut occurrences: BTreeMap<u32, GroupOccurrence> = BTreeMap::new();
        for (first, case) in history.cases.iter().enumerate() {
            let Some(group) = Self::nodes(case).next().and_then(|node| self.find(node)) else { continue };
            let occurrence = occurrences.entry(group).or_insert_with(|| GroupOccurrence { first, ..GroupOccurrence::default() });
            *occurrence.failures.entry(case.launch).or_default() += 1;
        }
        for place in (0..).take(self.nodes.len()) {
            let occurrence = occurrences.entry(self.root(place)).or_default();
            if !occurrence.failures.contains_key(&history.current) {
                occurrence.nodes.push(self.nodes[place as usize]);
            }
        }
        occurrences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failures_have_together_is_one() {
        let case = |launch, rcas: &[i64], symptoms: &[i64]| PastCase {
            launch,
            rcas: rcas.into(),
            symptoms: symptoms.into(),
            ..PastCase::default()
        };
        let cases = vec![case(0, &[9], &[1]), case(0, &[], &[2]), case(1, &[9], &[3]), case(2, &[8], &[3]), case(2, &[], &[])];
        let history = KnownHistory { cases, current: 9, ..KnownHistory::default() };
        let mut groups = Groups::of(&history);
        let (nine, eight, two) =
            (groups.find(IdentityNode::Rca(9)), groups.find(IdentityNode::Rca(8)), groups.find(IdentityNode::Symptom(2)));
        assert!(nine.is_some() && nine == eight && nine == groups.find(IdentityNode::Symptom(1)) && nine != two);
        let occurrences = groups.occurrences(&history);
        assert_eq!(occurrences[&nine.expect("a group")].failures, BTreeMap::from([(0, 1), (1, 1), (2, 1)]));
        assert_eq!((occurrences[&nine.expect("a group")].first, occurrences[&two.expect("a group")].first), (0, 1));
        assert_eq!(Groups::ids(&occurrences[&nine.expect("a group")].nodes), (vec![8, 9], vec![1, 3]));
        groups.join([IdentityNode::Symptom(2), IdentityNode::Rca(8)]);
        assert_eq!(groups.occurrences(&history).len(), 1);
        assert_eq!(groups.find(IdentityNode::Rca(7)), None);
    }
}
