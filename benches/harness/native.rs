//! The floor of a walk: the same decisions as native closures over structs, with a record of each decision.

use super::bundled;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "the fields of seven artifacts in one struct")]
pub(crate) struct Artifact {
    r#match: bool,
    confidence: f64,
    symptom_category: String,
    skip_investigation: bool,
    clock_skew_suspected: bool,
    candidate_repos: Vec<String>,
    convergence_score: f64,
    is_duplicate: bool,
    decision: String,
}

/// A considered edge.
pub(crate) struct Considered {
    _edge: &'static str,
    _fired: bool,
}

struct Vars {
    hit: f64,
    uncertain: f64,
    sufficient: f64,
}

type Rule = fn(&Artifact, &Vars) -> bool;
type Edge = (&'static str, Rule, bool, usize);

const NODES: [&[Edge]; 7] = [
    &[
        ("H1", |a, v| a.r#match && a.confidence >= v.hit, true, 5),
        ("H3", |a, v| a.r#match && a.confidence >= v.uncertain, true, 1),
        ("H2", |a, v| !a.r#match || a.confidence < v.uncertain, true, 1),
    ],
    &[
        ("H17", |a, _| a.clock_skew_suspected, false, 0),
        ("H4", |a, _| a.symptom_category == "infra", true, 5),
        ("H5", |a, _| a.symptom_category == "flake", true, 5),
        ("H18", |a, _| a.skip_investigation, true, 5),
        ("H7", |a, _| a.candidate_repos.len() == 1, true, 3),
        ("H6", |a, _| !a.skip_investigation, true, 2),
    ],
    &[("H8", |_, _| true, true, 3)],
    &[("H9", |a, v| a.convergence_score >= v.sufficient, true, 4)],
    &[("H15", |a, v| a.is_duplicate && a.confidence >= v.hit, true, 7), ("H15b", |_, _| true, true, 5)],
    &[("H12", |a, _| a.decision == "approve", true, 6)],
    &[("H16", |_, _| true, true, 7)],
];

/// The canned answers as structs.
pub(crate) fn artifacts() -> Vec<Artifact> {
    let parse = |(_, value)| serde_json::from_value(value).expect("a struct for each artifact");
    bundled::artifacts(1).into_iter().map(parse).collect()
}

/// Returns the edges taken, and the number considered.
pub(crate) fn walk(artifacts: &[Artifact]) -> (Vec<&'static str>, usize) {
    let vars = Vars { hit: 0.8, uncertain: 0.4, sufficient: 0.7 };
    let (mut node, mut considered, mut taken) = (0, Vec::new(), Vec::new());
    while let Some(edges) = NODES.get(node) {
        for (edge, rule, routes, to) in *edges {
            let fired = rule(&artifacts[node], &vars);
            considered.push(Considered { _edge: edge, _fired: fired });
            if fired && *routes {
                taken.push(*edge);
                node = *to;
                break;
            }
        }
    }
    (taken, considered.len())
}
