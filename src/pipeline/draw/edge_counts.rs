//! The ways that cases took, laid over a picture.

use super::{ArrowKind, Picture, ShapeRole};
use std::collections::BTreeMap;

/// How often what was visited and taken. A place is where a walk goes on: nothing for a case's own, `court` for the one that is
/// walked as the node `court`, `court/hearing` for one within that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeCounts {
    nodes: BTreeMap<(String, String), (u64, u64)>,
    turns: BTreeMap<(String, String, String), Vec<(String, u64)>>,
}

impl EdgeCounts {
    /// A walk came to a node.
    pub fn visit(&mut self, place: &str, node: &str) {
        self.nodes.entry((place.into(), node.into())).or_default().0 += 1;
    }

    /// A walk failed at a node.
    pub fn failure(&mut self, place: &str, node: &str) {
        self.nodes.entry((place.into(), node.into())).or_default().1 += 1;
    }

    /// A walk went from a node by an edge to another, or to the end. An advisory that spoke goes to its own node.
    pub fn turn(&mut self, place: &str, from: &str, edge: &str, to: &str) {
        let targets = self.turns.entry((place.into(), from.into(), edge.into())).or_default();
        match targets.iter_mut().find(|(target, _)| target == to) {
            Some((_, count)) => *count += 1,
            None => targets.push((to.into(), 1)),
        }
    }
}

impl Picture {
    /// Counts on every node and arrow, and those of the walks within; what was never visited or taken has 0.
    pub fn show(&mut self, ways: &EdgeCounts) {
        self.show_at(ways, "");
    }

    fn show_at(&mut self, ways: &EdgeCounts, place: &str) {
        for shape in self.shapes.iter_mut().filter(|shape| shape.role == ShapeRole::Node) {
            let (visits, failures) = ways.nodes.get(&(place.to_owned(), shape.name.clone())).copied().unwrap_or_default();
            (shape.count, shape.failures) = (Some(visits), failures);
        }
        let names: Vec<String> = self.shapes.iter().map(|shape| shape.name.clone()).collect();
        for arrow in &mut self.arrows {
            let (from, to) = (&names[arrow.from], &names[arrow.to]);
            let of = ways.turns.iter().filter(|((at, left, edge), _)| {
                at == place && *edge == arrow.id && (left == from || arrow.kind == ArrowKind::Guard)
            });
            let entered = |target: &str| target == to || arrow.kind == ArrowKind::Advisory;
            let count = |targets: &Vec<(String, u64)>| -> u64 {
                targets.iter().filter(|(target, _)| entered(target)).map(|(_, count)| count).sum()
            };
            arrow.count = (arrow.kind != ArrowKind::Start).then(|| of.map(|(_, targets)| count(targets)).sum());
        }
        for part in &mut self.parts {
            let node = &self.shapes[part.shape].name;
            let place = if place.is_empty() { node.clone() } else { format!("{place}/{node}") };
            part.picture.show_at(ways, &place);
        }
    }
}
