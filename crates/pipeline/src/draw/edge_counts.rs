//! Annotates a picture with the number of visits and transitions.

use super::{ArrowKind, Picture, ShapeRole};
use std::collections::BTreeMap;

/// The number of visits per node and of transitions per edge. A `place` is the subpipeline that a walk is in: empty for the
/// case's own walk, `court` for the one walked as node `court`, `court/hearing` for one nested in that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    nodes: BTreeMap<(String, String), (u64, u64)>,
    transitions: BTreeMap<(String, String, String), Vec<(String, u64)>>,
}

impl EdgeCounts {
    /// Counts a visit to a node.
    pub fn visit(&mut self, place: &str, node: &str) {
        self.nodes.entry((place.into(), node.into())).or_default().0 += 1;
    }

    /// Counts a failure at a node.
    pub fn failure(&mut self, place: &str, node: &str) {
        self.nodes.entry((place.into(), node.into())).or_default().1 += 1;
    }

    /// Counts a transition by an edge to a node or to the end. An advisory that fired leads to its own node.
    pub fn transition(&mut self, place: &str, from: &str, edge: &str, to: &str) {
        let targets = self.transitions.entry((place.into(), from.into(), edge.into())).or_default();
        match targets.iter_mut().find(|(target, _)| target == to) {
            Some((_, count)) => *count += 1,
            None => targets.push((to.into(), 1)),
        }
    }
}

impl Picture {
    /// Annotates every node and arrow, including those of nested pictures; what was never visited or taken shows 0.
    pub fn show(&mut self, counts: &EdgeCounts) {
        self.show_at(counts, "");
    }

    fn show_at(&mut self, counts: &EdgeCounts, place: &str) {
        for shape in self.shapes.iter_mut().filter(|shape| shape.role == ShapeRole::Node) {
            let (visits, failures) = counts.nodes.get(&(place.to_owned(), shape.name.clone())).copied().unwrap_or_default();
            (shape.count, shape.failures) = (Some(visits), failures);
        }
        let names: Vec<String> = self.shapes.iter().map(|shape| shape.name.clone()).collect();
        for arrow in &mut self.arrows {
            let (from, to) = (&names[arrow.from], &names[arrow.to]);
            let own = counts.transitions.iter().filter(|((at, left, edge), _)| {
                at == place && *edge == arrow.id && (left == from || arrow.kind == ArrowKind::Guard)
            });
            let entered = |target: &str| target == to || arrow.kind == ArrowKind::Advisory;
            let count = |targets: &Vec<(String, u64)>| -> u64 {
                targets.iter().filter(|(target, _)| entered(target)).map(|(_, count)| count).sum()
            };
            arrow.count = (arrow.kind != ArrowKind::Start).then(|| own.map(|(_, targets)| count(targets)).sum());
        }
        for nested in &mut self.nested {
            let node = &self.shapes[nested.shape].name;
            let place = if place.is_empty() { node.clone() } else { format!("{place}/{node}") };
            nested.picture.show_at(counts, &place);
        }
    }
}
