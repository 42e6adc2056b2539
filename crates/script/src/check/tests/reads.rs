//! Tests of the recorded input fields.

use super::{analyse, analyse_with, reads};
use crate::check::no_modules;
use asterisk_base::model::Kind;

#[test]
fn reads_are_listed_once_in_order_of_first_access() {
    let body = "artifact.confidence >= vars.recall_hit && artifact.confidence < 1 && state.loops.investigate < vars.max_loops";
    assert_eq!(reads(body), ["artifact.confidence", "vars.recall_hit", "state.loops.investigate", "vars.max_loops"]);
    let analysis = analyse(body);
    let first = &analysis.reads[0];
    assert_eq!(first.source.slice(first.span), "confidence");
    assert_eq!(first.source.line_column(first.span.start), (1, 40));
}

#[test]
fn reads_are_followed_through_names_loops_closures_and_helpers() {
    for (body, expected) in [
        ("let a = artifact; a[\"label\"]", "artifact.label"),
        ("artifact.candidate_repos.any(|r| r.score > vars.recall_hit)", {
            "artifact.candidate_repos artifact.candidate_repos[].score vars.recall_hit"
        }),
        ("for r in artifact.candidate_repos { r.name }", "artifact.candidate_repos artifact.candidate_repos[].name"),
        ("artifact.candidate_repos[0].name", "artifact.candidate_repos[].name"),
        ("artifact.best.tags.len() > 0", "artifact.best.tags"),
        ("artifact.refs.len > 0", "artifact.refs"),
        ("let r = (); for c in artifact.candidate_repos { if r != () { r.name } r = c; }", {
            "artifact.candidate_repos artifact.candidate_repos[].name"
        }),
        (
            "let x = if artifact.hit { artifact.best } else { state }; x.name",
            "artifact.hit artifact.best artifact.best.name state.name",
        ),
        ("\"x\" in artifact && artifact.anything.contains(\"y\")", "artifact.x artifact.anything"),
        ("get_or(artifact, \"label\", 1)", "artifact.label"),
        ("max_by(artifact.candidate_repos, \"score\").name", {
            "artifact.candidate_repos artifact.candidate_repos[].score artifact.candidate_repos[].name"
        }),
        ("mystery(artifact, state.node)", "artifact state.node"),
        ("#{ to: \"x\", seen: artifact }", "artifact"),
        ("artifact", "artifact"),
        ("return artifact;", "artifact"),
        ("artifact == ()", "artifact"),
        ("let f = || artifact.label; mystery(f)", "artifact.label"),
        ("let f = |a| a.label; f.call(artifact)", "artifact.label"),
        ("[|a| artifact.label]", "artifact.label"),
        ("throw artifact.label", "artifact.label"),
        ("let i = state.steps; artifact[`x${i}`]", "state.steps artifact[]"),
        ("artifact.labl; artifact.label", "artifact.label"),
        ("true", ""),
    ] {
        assert_eq!(reads(body).join(" "), expected, "{body}");
    }
}

#[test]
fn without_a_shape_reads_are_recorded_and_nothing_is_reported() {
    let kinds = [Kind::Any, Kind::Any, Kind::Any];
    let text =
        "fn f(artifact, state, vars) { artifact.repos.any(|r| r.score > vars.t) && artifact.x.y == \"a\" && artifact[0] == 1 }";
    let analysis = analyse_with(text, &kinds, &no_modules);
    assert!(analysis.diagnostics.is_empty(), "{}", analysis.diagnostics);
    let reads: Vec<_> = analysis.reads.iter().map(|read| read.path.as_str()).collect();
    assert_eq!(reads, ["artifact.repos", "artifact.repos[].score", "vars.t", "artifact.x.y", "artifact[]"]);
}
