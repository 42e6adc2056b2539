//! `graph --run`: the paths of the cases of a run, on its graph.

use crate::observe::{RUN, project};
use serde_json::{Value, json};

#[test]
fn a_graph_counts_visits_and_transitions() {
    let project = project();
    project.asterisk(&RUN).exits(4);
    let graph = |args: &[&str]| project.asterisk(&[&["graph", "--run", "latest"], args].concat()).ok();
    insta::assert_snapshot!("mermaid", graph(&[]).stdout);
    insta::assert_snapshot!("dot", graph(&["--format", "dot"]).stdout);
    let whole = graph(&["ride", "--format", "json"]).json();
    let counts = |graph: &Value, list: &str, name: &str, count: &str| -> Value {
        let of = graph[list].as_array().unwrap().iter().filter(|one| !one[count].is_null());
        of.map(|one| (one[name].as_str().unwrap().to_owned(), one[count].clone())).collect::<serde_json::Map<_, _>>().into()
    };
    assert_eq!(counts(&whole, "nodes", "name", "visits"), json!({ "look_up": 5, "court": 2, "tell": 3 }));
    assert_eq!(counts(&whole, "edges", "id", "taken"), json!({ "R1": 1, "R2": 2, "R3": 2, "R4": 1, "R5": 3 }));
    let court = &whole["parts"][0]["graph"];
    assert_eq!((&whole["parts"][0]["node"], &court["pipeline"]), (&json!("n1"), &json!("small-court")));
    assert_eq!(counts(court, "nodes", "name", "visits"), json!({ "hearing": 2, "verdict": 2 }));
    assert_eq!(counts(court, "nodes", "name", "failures"), json!({ "hearing": 0, "verdict": 1 }));
    assert_eq!(counts(court, "edges", "id", "taken"), json!({ "C1": 2, "C2": 1 }));
    let plain = graph(&["--case", "plain", "--format", "json"]).json();
    assert_eq!(counts(&plain, "edges", "id", "taken"), json!({ "R1": 0, "R2": 0, "R3": 1, "R4": 0, "R5": 1 }));
    let svg = graph(&["--format", "svg"]).stdout;
    assert!(
        svg.contains("R1 court is walked as small-court") && svg.contains("walk small-court · ×2") && svg.contains("1 failed")
    );
    assert!(svg.contains("<tspan class=\"times\">×2</tspan>"));
}

#[test]
fn the_graph_is_that_of_the_run() {
    let project = project();
    project.asterisk(&RUN).exits(4);
    project.file("pipelines/ride.yaml", "what: ever");
    assert!(project.asterisk(&["graph", "--run", "latest"]).ok().stdout.contains("R2 doubtful"));
    let refused = |args: &[&str]| project.asterisk(&[&["graph"], args].concat()).exits(2).stderr;
    let reported =
        [&["small-court", "--run", "latest"][..], &["--run", "none"], &["--run", "latest", "--case", "x"]].map(refused);
    insta::assert_snapshot!("refused", reported.join("\n"));
}

#[test]
fn a_pipeline_is_drawn_with_its_subpipelines() {
    let project = project();
    let graph = project.asterisk(&["graph", "ride", "--format", "json"]).ok().json();
    assert_eq!(graph["nodes"][2]["badges"], json!(["walk small-court"]));
    assert_eq!(graph["parts"][0]["graph"]["nodes"][1]["name"], "hearing");
    assert!(graph["nodes"][1].get("visits").is_none());
    // One within itself does not link, and can be looked at.
    project.file(
        "pipelines/own.yaml",
        "pipeline: own\nnodes: [{ name: a, pipeline: own }]\nedges: [{ id: E, from: a, to: _done }]\nstart: a\ndone: _done\n",
    );
    let own = project.asterisk(&["graph", "own", "--format", "json"]).ok().json();
    assert!(own.get("parts").is_none(), "{own}");
}
