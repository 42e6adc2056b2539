//! Draws the path of a walk: the pipeline's nodes in a row, and the transitions between them.

use crate::build::NodeReport;
use crate::case::CaseReport;
use crate::text::short;
use asterisk_diag::counted;
use asterisk_walk::WalkStatus;
use serde::Serialize;
use std::collections::BTreeMap;

/// Distance between the centres of adjacent nodes, in pixels.
const STEP: i32 = 112;
/// Width of a node, in pixels.
const WIDTH: i32 = 84;
/// Height of a node, in pixels.
const HEIGHT: i32 = 40;
/// Height of the lowest arc above the nodes, and the increment for each node it skips.
const RISE: i32 = 30;
const MORE: i32 = 15;
/// Margin of the picture, in pixels.
const MARGIN: i32 = 8;
/// Maximum length of an edge's label in characters; the full name is in the picture's description.
const LABEL: usize = 14;

/// Layout of a path. Lengths are in pixels; the centres of the nodes are at height 0.
#[derive(Debug, Default, Serialize)]
pub(super) struct Graph {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) nodes: Vec<PathNode>,
    pub(super) turns: Vec<PathLine>,
    /// The path as text, for screen readers.
    pub(super) words: String,
}

/// A node, or the end of the walk.
#[derive(Debug, Serialize)]
pub(super) struct PathNode {
    pub(super) x: i32,
    pub(super) code: String,
    pub(super) name: String,
    /// Number of visits.
    pub(super) visits: usize,
    /// `seen`, `idle`, `stop` (the walk failed or is pending there), `end` or `wait`.
    pub(super) kind: &'static str,
}

/// A transition that was taken.
#[derive(Debug, Serialize)]
pub(super) struct PathLine {
    /// SVG path data.
    pub(super) d: String,
    pub(super) label: String,
    pub(super) x: i32,
    pub(super) y: i32,
    /// Whether it leads backwards.
    pub(super) back: bool,
}

/// Lays out the path of a case; `None` without a step.
pub(super) fn graph(nodes: &[NodeReport], case: &CaseReport) -> Option<Graph> {
    if case.turns.is_empty() && case.path.is_empty() {
        return None;
    }
    let names: BTreeMap<&str, usize> = nodes.iter().enumerate().map(|(index, node)| (node.name.as_str(), index)).collect();
    let end = nodes.len();
    let mut visits = vec![0_usize; nodes.len()];
    for code in &case.path {
        if let Some(index) = nodes.iter().position(|node| node.code == *code) {
            visits[index] += 1;
        }
    }
    // A repeated transition is drawn once.
    let mut taken: Vec<((usize, usize, &str), usize)> = Vec::new();
    for turn in &case.turns {
        let Some(from) = names.get(turn.node.as_str()) else { continue };
        let to = turn.to.as_deref().map_or(Some(&end), |to| names.get(to));
        let Some(to) = to else { continue };
        let key = (*from, *to, turn.edge.as_str());
        match taken.iter_mut().find(|(known, _)| *known == key) {
            Some((_, times)) => *times += 1,
            None => taken.push((key, 1)),
        }
    }
    let over = case.status == WalkStatus::Done;
    let stop = if over { None } else { case.path.last() };
    let node = |(index, node): (usize, &NodeReport)| PathNode {
        x: at(index),
        code: short(&node.code, 10),
        name: if node.code == node.name { String::new() } else { short(&node.name, 13) },
        visits: visits[index],
        kind: match visits[index] {
            _ if stop == Some(&node.code) => "stop",
            0 => "idle",
            _ => "seen",
        },
    };
    let mut drawn: Vec<PathNode> = nodes.iter().enumerate().map(node).collect();
    if over {
        drawn.push(PathNode { x: at(end), code: "done".into(), name: String::new(), visits: 1, kind: "end" });
    }
    let mut turns = Vec::new();
    let (mut above, mut below) = (HEIGHT / 2 + 16, HEIGHT / 2);
    for ((from, to, edge), times) in &taken {
        let again = if *times > 1 { format!(" ×{times}") } else { String::new() };
        let line = line(*from, *to, format!("{}{again}", short(edge, LABEL)));
        above = above.max(-line.y + 12);
        below = below.max(line.y + 8);
        turns.push(line);
    }
    let count = i32::try_from(drawn.len()).unwrap_or(1).max(1);
    Some(Graph {
        left: -WIDTH / 2 - MARGIN,
        top: -above - MARGIN,
        width: (count - 1) * STEP + WIDTH + 2 * MARGIN,
        height: above + below + 2 * MARGIN,
        nodes: drawn,
        turns,
        words: words(case),
    })
}

/// Centre of the n-th node.
fn at(index: usize) -> i32 {
    i32::try_from(index).unwrap_or(0) * STEP
}

/// A transition: straight to the next node, in an arc above skipped nodes, or below when it leads backwards.
fn line(from: usize, to: usize, label: String) -> PathLine {
    let (x, y) = (at(from), at(to));
    let (half, edge) = (WIDTH / 2, HEIGHT / 2);
    let middle = i32::midpoint(x, y);
    let skipped = i32::try_from(from.abs_diff(to)).unwrap_or(0);
    if to == from + 1 {
        let d = format!("M{} 0H{}", x + half, y - half - 7);
        return PathLine { d, label, x: middle, y: -edge - 5, back: false };
    }
    let rise = RISE + MORE * skipped;
    if to > from {
        let d = format!("M{x} {}C{x} {} {y} {} {y} {}", -edge, -edge - rise, -edge - rise, -edge - 7);
        return PathLine { d, label, x: middle, y: -edge - rise * 3 / 4 - 5, back: false };
    }
    let rise = rise - MORE;
    // A transition to the same node leaves and enters it at different points.
    let (x, y) = if from == to { (x - 14, y + 14) } else { (x, y) };
    let d = format!("M{x} {edge}C{x} {} {y} {} {y} {}", edge + rise, edge + rise, edge + 7);
    PathLine { d, label, x: middle, y: edge + rise * 3 / 4 + 12, back: true }
}

fn words(case: &CaseReport) -> String {
    let turns: Vec<String> = case
        .turns
        .iter()
        .enumerate()
        .map(|(index, turn)| {
            let here = case.path.get(index).map_or(turn.node.as_str(), String::as_str);
            let next = case.path.get(index + 1).map_or("the end", String::as_str);
            format!("{here} to {next} by {}", turn.edge)
        })
        .collect();
    let stopped = match (case.status, case.path.last()) {
        (WalkStatus::Done, _) | (_, None) => String::new(),
        (WalkStatus::Error, Some(last)) => format!("; failed at {last}"),
        (_, Some(last)) => format!("; waits at {last}"),
    };
    format!("{} taken: {}{stopped}", counted(turns.len(), "turn", "turns"), turns.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::ReportTransition;

    fn nodes() -> Vec<NodeReport> {
        ["a", "b", "c"].map(|name| NodeReport { name: name.into(), code: name.to_uppercase() }).into()
    }

    fn turn(node: &str, edge: &str, to: Option<&str>) -> ReportTransition {
        ReportTransition { node: node.into(), edge: edge.into(), to: to.map(Into::into), ..ReportTransition::default() }
    }

    #[test]
    fn turns_go_straight_over_and_back() {
        let turns = vec![
            turn("a", "E1", Some("c")),
            turn("c", "E2", Some("b")),
            turn("b", "E3", Some("c")),
            turn("c", "E2", Some("b")),
            turn("b", "E4", None),
        ];
        let path = ["A", "C", "B", "C", "B"].map(Into::into).to_vec();
        let case = CaseReport { turns, path, status: WalkStatus::Done, ..CaseReport::default() };
        let graph = graph(&nodes(), &case).expect("a picture");
        let lines: Vec<_> = graph.turns.iter().map(|line| (line.label.as_str(), line.back, line.y < -20)).collect();
        assert_eq!(lines, [("E1", false, true), ("E2 ×2", true, false), ("E3", false, true), ("E4", false, true)]);
        let kinds: Vec<_> = graph.nodes.iter().map(|node| (node.kind, node.visits)).collect();
        assert_eq!(kinds, [("seen", 1), ("seen", 2), ("seen", 2), ("end", 1)]);
        assert_eq!(graph.words, "5 turns taken: A to C by E1, C to B by E2, B to C by E3, C to B by E2, B to the end by E4");
        for line in &graph.turns {
            assert!(line.y > graph.top && line.y < graph.top + graph.height, "{line:?}");
        }
    }

    #[test]
    fn a_walk_that_stopped_shows_where() {
        let case = CaseReport {
            turns: vec![turn("a", "E1", Some("b"))],
            path: vec!["A".into(), "B".into()],
            status: WalkStatus::Error,
            ..CaseReport::default()
        };
        let graph = graph(&nodes(), &case).expect("a picture");
        assert_eq!(graph.nodes.iter().map(|node| node.kind).collect::<Vec<_>>(), ["seen", "stop", "idle"]);
        assert!(graph.words.ends_with("; failed at B"), "{}", graph.words);
        assert!(super::graph(&nodes(), &CaseReport::default()).is_none());
    }
}
