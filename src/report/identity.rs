//! Which symptoms and root causes of the store are one cause: those that a failure has together, and what follows from that.

use crate::store::{History, PastCase};
use std::collections::BTreeMap;

/// A root cause or a symptom of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    Rca(i64),
    Symptom(i64),
}

/// Groups of nodes that are one cause; a group goes by a number.
#[derive(Debug)]
pub(super) struct Groups {
    places: BTreeMap<Node, usize>,
    /// The node that each node follows; a group's first follows itself.
    above: Vec<usize>,
}

/// Where a group was seen.
#[derive(Debug, Default)]
pub(super) struct Sight {
    /// Its nodes.
    pub(super) nodes: Vec<Node>,
    /// How many failures, by launch.
    pub(super) failures: BTreeMap<usize, usize>,
}

impl Groups {
    pub(super) fn of(history: &History) -> Self {
        let mut groups = Self { places: BTreeMap::new(), above: Vec::new() };
        for case in &history.cases {
            let nodes: Vec<Node> = Self::nodes(case).collect();
            groups.join(&nodes);
        }
        groups
    }

    /// The nodes of a failure.
    pub(super) fn nodes(case: &PastCase) -> impl Iterator<Item = Node> + '_ {
        case.rcas.iter().map(|id| Node::Rca(*id)).chain(case.symptoms.iter().map(|id| Node::Symptom(*id)))
    }

    /// Root causes and symptoms of these nodes, each once and in order.
    pub(super) fn ids(nodes: &[Node]) -> (Vec<i64>, Vec<i64>) {
        let (mut rcas, mut symptoms) = (Vec::new(), Vec::new());
        for node in nodes {
            let (list, id) = match node {
                Node::Rca(id) => (&mut rcas, id),
                Node::Symptom(id) => (&mut symptoms, id),
            };
            list.push(*id);
        }
        for list in [&mut rcas, &mut symptoms] {
            list.sort_unstable();
            list.dedup();
        }
        (rcas, symptoms)
    }

    /// Makes nodes one group.
    pub(super) fn join(&mut self, nodes: &[Node]) {
        let mut first = None;
        for node in nodes {
            let place = *self.places.entry(*node).or_insert_with(|| {
                self.above.push(self.above.len());
                self.above.len() - 1
            });
            let top = self.top(place);
            match first {
                None => first = Some(top),
                Some(first) => self.above[top] = first,
            }
        }
    }

    /// The group of a node.
    pub(super) fn find(&mut self, node: Node) -> Option<usize> {
        let place = *self.places.get(&node)?;
        Some(self.top(place))
    }

    fn top(&mut self, mut place: usize) -> usize {
        while self.above[place] != place {
            self.above[place] = self.above[self.above[place]];
            place = self.above[place];
        }
        place
    }

    /// Where each group was seen.
    pub(super) fn sights(&mut self, history: &History) -> BTreeMap<usize, Sight> {
        let mut sights: BTreeMap<usize, Sight> = BTreeMap::new();
        for (node, place) in self.places.clone() {
            sights.entry(self.top(place)).or_default().nodes.push(node);
        }
        for case in &history.cases {
            let Some(group) = Self::nodes(case).next().and_then(|node| self.find(node)) else { continue };
            *sights.entry(group).or_default().failures.entry(case.launch).or_default() += 1;
        }
        sights
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
        let history = History { cases, ..History::default() };
        let mut groups = Groups::of(&history);
        let (nine, eight, two) = (groups.find(Node::Rca(9)), groups.find(Node::Rca(8)), groups.find(Node::Symptom(2)));
        assert!(nine.is_some() && nine == eight && nine == groups.find(Node::Symptom(1)) && nine != two);
        let sights = groups.sights(&history);
        assert_eq!(sights[&nine.expect("a group")].failures, BTreeMap::from([(0, 1), (1, 1), (2, 1)]));
        assert_eq!(Groups::ids(&sights[&nine.expect("a group")].nodes), (vec![8, 9], vec![1, 3]));
        groups.join(&[Node::Symptom(2), Node::Rca(8)]);
        assert_eq!(groups.sights(&history).len(), 1);
        assert_eq!(groups.find(Node::Rca(7)), None);
    }
}
