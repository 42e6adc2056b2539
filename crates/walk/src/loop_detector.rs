//! Describes the loop that a walk at the step cap is caught in (`docs/decisions/0008-routing-and-step-cap.md`).

use super::state::WalkState;
use super::visit::Visit;
use std::fmt::Write as _;

/// The shortest sequence of visits that is repeated at the end of the history, oldest first.
pub(super) fn find(history: &[Visit]) -> Option<&[Visit]> {
    let same = |a: &Visit, b: &Visit| a.node == b.node && a.edge == b.edge;
    let n = history.len();
    (1..=n / 2)
        .find(|period| (n - period..n).all(|at| same(&history[at], &history[at - period])))
        .map(|period| &history[n - period..])
}

/// Describes the loop: its nodes, the edges that fired, and the counters.
pub(super) fn describe(state: &WalkState) -> String {
    let mut out = String::new();
    match find(&state.history) {
        Some(visits) => {
            let nodes: Vec<&str> = visits.iter().map(|visit| &*visit.node).collect();
            let edges: Vec<&str> = visits.iter().map(|visit| &*visit.edge).collect();
            let _ = write!(out, "the walk loops over {} by {}", nodes.join(" -> "), edges.join(", "));
        }
        None => {
            let last: Vec<&str> = state.history.iter().rev().take(8).rev().map(|visit| &*visit.node).collect();
            let _ = write!(out, "the last nodes were {}", last.join(" -> "));
        }
    }
    if state.loops.is_empty() {
        out.push_str(
            "; no counter was incremented: mark the edge that goes back `loop: true` and let its rule read `state.loops`",
        );
    } else {
        let counts: Vec<String> = state.loops.iter().map(|(name, count)| format!("{name} = {count}")).collect();
        let _ = write!(out, "; counters: {}", counts.join(", "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::clock::Timestamp;

    fn visits(text: &str) -> Vec<Visit> {
        let visit = |ch: char| Visit {
            node: ch.to_string().into(),
            edge: format!("E{ch}").into(),
            because: "".into(),
            advisories: Vec::new(),
            at: Timestamp::default(),
        };
        text.chars().map(visit).collect()
    }

    fn nodes(history: &[Visit]) -> Option<String> {
        find(history).map(|found| found.iter().map(|visit| &*visit.node).collect())
    }

    #[test]
    fn the_shortest_repeated_tail_is_found() {
        assert_eq!(nodes(&visits("abcdcdcd")).as_deref(), Some("cd"));
        assert_eq!(nodes(&visits("aaaa")).as_deref(), Some("a"));
        assert_eq!(nodes(&visits("abc")), None);
        assert_eq!(nodes(&visits("")), None);
    }
}
