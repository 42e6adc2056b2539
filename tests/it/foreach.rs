//! Branches: a node that is taken for each item of a list, edges that are taken in parallel, nodes that wait for others.

use crate::harness::Project;
use crate::shared;
use serde_json::{Value, json};

/// Two repositories are searched in parallel, the third after them; the merge takes the most confident.
const EACH: &str = "\
pipeline: each
description: a node for each item of a list
vars: { sure: 0.5 }
nodes:
  - { name: find }
  - name: look
    foreach: prior.find.places
    merge: best
    confidence: sure
    schema: { place: string, sure: number }
    concurrency: 2
  - { name: say }
edges:
  - { id: A1, from: find, to: look }
  - { id: A2, from: look, to: say, condition: \"sure > vars.sure\" }
  - { id: A3, from: look, to: _done }
  - { id: A4, from: say, to: _done }
start: find
done: _done
";

const AGENTS: &str = "\
/// Three places.
fn find(params, vars) {
    #{ places: [#{ name: \"a\", sequence: 2 }, #{ name: \"bb\", sequence: 1 }, #{ name: \"ccc\", sequence: 2 }] }
}

/// How sure one can be of a place: its name says.
fn look(params, vars) {
    let item = params.state.context.item;
    if item == () { return #{ place: \"nowhere\", sure: 0.0 }; }
    #{ place: item.name, sure: item.name.len() / 4.0 }
}

/// What was found.
fn say(params, vars) {
    #{ said: params.prior.look.place }
}
";

fn project(files: &[(&str, &str)]) -> Project {
    let of = |name: &str| {
        format!("import \"lib/all\" as all;\n/// As the library says.\nfn {name}(params, vars) {{ all::{name}(params, vars) }}\n")
    };
    let (find, look, say) = (of("find"), of("look"), of("say"));
    let mut all = vec![
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("pipelines/each.yaml", EACH),
        ("scripts/lib/all.rhai", AGENTS),
        ("scripts/agents/find.rhai", &find),
        ("scripts/agents/look.rhai", &look),
        ("scripts/agents/say.rhai", &say),
    ];
    all.extend_from_slice(files);
    Project::with(&all)
}

pub(crate) const RUN: [&str; 8] = ["run", "each", "--input", "none", "--parallel", "1", "--files", "always"];

fn json(project: &Project, args: &[&str]) -> Value {
    project.asterisk(&[args, &["--format", "json"]].concat()).ok().json()
}

/// The events of a run, without their numbers and times.
fn events(project: &Project, run: &Value) -> Vec<Value> {
    let run = run["run"].as_str().unwrap();
    let strip = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event.as_object_mut().unwrap().remove("seq");
        event
    };
    project.read(&format!(".asterisk/investigations/{run}/events.jsonl")).lines().map(strip).collect()
}

fn summary(events: &[Value]) -> String {
    let what = |event: &Value| {
        let kind = event["type"].as_str().unwrap();
        let more = ["node", "to", "kind"].iter().find_map(|key| event[*key].as_str()).unwrap_or_default();
        format!("{} {kind} {more}", event["path"].as_str().unwrap()).trim_end().to_owned()
    };
    let worth = |event: &&Value| !["barrier", "edge_evaluate", "adopt"].contains(&event["type"].as_str().unwrap());
    events.iter().filter(worth).map(what).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_foreach_node_merges_its_artifacts() {
    let project = project(&[]);
    let ran = json(&project, &RUN);
    let case = &ran["cases"][0];
    assert_eq!(case["nodes"], json!(["find", "look", "say"]), "{case}");
    assert_eq!(case["edges"], json!(["A1", "A2", "A4"]));
    assert_eq!(case["context"], json!({}), "the item is that of its branch");
    insta::assert_snapshot!("fan_events", summary(&events(&project, &ran)));
    let run = ran["run"].as_str().unwrap();
    let below = |name: &str| -> Value {
        serde_json::from_str(&project.read(&format!(".asterisk/investigations/{run}/case-1/{name}"))).unwrap()
    };
    assert_eq!(below("2/branch[1]/look.json")["place"], "a");
    assert_eq!(below("look.json")["place"], "ccc");
    assert_eq!(below("say.json")["said"], "ccc");
    insta::assert_snapshot!("fan_explained", project.asterisk(&["explain", "latest"]).ok().text());
}

#[test]
fn the_merge_decides_how_artifacts_are_combined() {
    let project = project(&[(
        "scripts/lib/merge.rhai",
        "/// All that is known of the branches.\nfn united(branches, vars) {\n    #{ place: branches.map(|b| `${b.branch}${b.item.name}${b.artifact.place}`).join(\" \"), sure: 1.0 }\n}\n",
    )]);
    let merged = |merge: &str| {
        let text = EACH.replace("merge: best", &format!("merge: {merge}"));
        let text = if merge == "append" { text.replace("sure > vars.sure", "artifact.len() > 9") } else { text };
        project.file("pipelines/each.yaml", text);
        let ran = json(&project, &RUN);
        let run = ran["run"].as_str().unwrap();
        let text = project.read(&format!(".asterisk/investigations/{run}/case-1/look.json"));
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let vectors = shared::shared_json("vectors/walks.json").map(|walks| walks["fan_out"].clone());
    if let Some(vectors) = vectors {
        let strategies = vectors.as_array().unwrap().iter().find(|vector| vector["id"] == "fan-merge-strategies").unwrap();
        assert_eq!(strategies["expect"]["append"], "list artifact of non-null branch artifacts in edge order");
    }
    let list = merged("append");
    let places: Vec<&str> = list.as_array().unwrap().iter().map(|artifact| artifact["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["a", "bb", "ccc"]);
    assert_eq!(merged("first")["place"], "a");
    assert_eq!(merged("latest")["place"], "ccc");
    assert_eq!(merged("best")["place"], "ccc");
    assert_eq!(merged("lib/merge.rhai#united")["place"], "1aa 2bbbb 3cccccc");
}

#[test]
fn the_run_does_not_depend_on_branch_concurrency() {
    let at = |most: usize, seed: &str| {
        let project = project(&[]);
        project.file("pipelines/each.yaml", EACH.replace("concurrency: 2", &format!("concurrency: {most}")));
        let ran = json(&project, &[&RUN[..], &["--seed", seed]].concat());
        events(&project, &ran)
    };
    for seed in ["1", "2"] {
        let one = at(1, seed);
        for most in [2, 3, 64] {
            assert_eq!(at(most, seed), one, "{most} at once");
        }
    }
}

#[test]
fn a_branch_that_fails_fails_the_case_or_is_left_out() {
    let project = project(&[]);
    let broken =
        AGENTS.replace("#{ place: item.name,", "if item.name == \"bb\" { throw \"no such place\"; }\n    #{ place: item.name,");
    project.file("scripts/lib/all.rhai", &broken);
    let failed = project.asterisk(&[&RUN[..], &["--format", "json"]].concat()).exits(4);
    let error = failed.json()["cases"][0]["error"].clone();
    assert_eq!((&error["kind"], &error["node"]), (&json!("agent_error"), &json!("look")), "{error}");
    insta::assert_snapshot!("fan_cancelled", summary(&events(&project, &failed.json())));
    project.file("pipelines/each.yaml", EACH.replace("merge: best", "on_error: collect\n    merge: best"));
    let ran = json(&project, &RUN);
    assert_eq!(ran["cases"][0]["nodes"], json!(["find", "look", "say"]));
    insta::assert_snapshot!("fan_collected", summary(&events(&project, &ran)));
    insta::assert_snapshot!("fan_collected_explained", project.asterisk(&["explain", "latest"]).ok().text());
    project.file("scripts/lib/all.rhai", broken.replace("item.name == \"bb\"", "true"));
    let failed = project.asterisk(&[&RUN[..], &["--format", "json"]].concat()).exits(4);
    insta::assert_snapshot!("fan_all_failed", failed.stderr);
}

#[test]
fn a_list_may_be_empty_or_none_at_all() {
    let project = project(&[]);
    let ran = |places: &str, merge: &str| {
        project.file("scripts/lib/all.rhai", AGENTS.replace("#{ places: [", &format!("#{{ places: {places}, old: [")));
        project.file("pipelines/each.yaml", EACH.replace("merge: best", merge).replace("sure > vars.sure", "true"));
        let asked = project.asterisk(&[&RUN[..], &["--format", "json"]].concat());
        let ran = asked.json();
        (summary(&events(&project, &ran)).contains("fork"), ran["cases"][0]["error"]["message"].clone())
    };
    assert_eq!(ran("()", "merge: best"), (false, Value::Null), "taken once, without an item");
    assert!(!ran("[]", "merge: append").0);
    let (_, message) = ran("7", "merge: best");
    assert_eq!(message, "`foreach` of `look` gave 7, not a list");
}

/// The subpipeline for each item.
const INNER: &str = "\
pipeline: inner
description: what is walked for each item
nodes:
  - { name: try, schema: { n: int } }
  - { name: judge, confidence: sure, schema: { place: string, sure: number } }
edges:
  - { id: I1, from: try, to: try, loop: true, counter: tries, condition: \"state.loops.tries < n\", context: { tried: true } }
  - { id: I2, from: try, to: judge }
  - { id: I3, from: judge, to: _done }
start: try
done: _done
";

const INNER_AGENTS: [(&str, &str); 3] = [
    ("pipelines/inner.yaml", INNER),
    (
        "scripts/agents/try.rhai",
        "/// One less than its name is long.\nfn try(params, vars) { #{ n: params.state.context.item.name.len() - 1 } }\n",
    ),
    (
        "scripts/agents/judge.rhai",
        "/// The more tries the surer.\nfn judge(params, vars) { #{ place: params.state.context.item.name, sure: params.state.loops.tries / 3.0 } }\n",
    ),
];

pub(crate) fn walked() -> Project {
    let project = project(&[]);
    // `try` is reserved in Rhai.
    for (file, text) in INNER_AGENTS {
        project.file(
            &file.replace("try", "attempt"),
            text.replace("fn try", "fn attempt").replace("name: try", "name: attempt").replace(": try", ": attempt"),
        );
    }
    project.file("pipelines/each.yaml", EACH.replace("merge: best", "do: inner\n    merge: best"));
    project
}

#[test]
fn a_pipeline_is_walked_for_each_item() {
    let project = walked();
    let ran = json(&project, &RUN);
    assert_eq!(ran["cases"][0]["nodes"], json!(["find", "look", "say"]), "{ran}");
    insta::assert_snapshot!("fan_walked", summary(&events(&project, &ran)));
    insta::assert_snapshot!("fan_walked_explained", project.asterisk(&["explain", "latest"]).ok().text());
    insta::assert_snapshot!(
        "fan_walked_step",
        project.asterisk(&["explain", "latest", "--step", "2/branch[3]/1/look/1"]).ok().text()
    );
    let coverage = project.asterisk(&["coverage", "latest"]).ok();
    insta::assert_snapshot!("fan_walked_coverage", coverage.text());
    let saved = project.asterisk(&["explain", "latest", "--step", "2/branch[3]/1/look/1", "--save-as-test", "kept_test.rhai"]);
    assert!(saved.exits(0).stdout.contains("pipeline: \"inner\""));
    project.asterisk(&["test", "kept_test.rhai"]).ok();
    let lines = ":steps\n:at 2/branch[3]/1/look/1\n:why\nartifact.n\n:next\n";
    insta::assert_snapshot!("fan_walked_repl", project.asterisk_reading(&["repl", "--run", "latest"], lines).text());
    insta::assert_snapshot!("fan_graph", project.asterisk(&["graph", "each", "--run", "latest"]).ok().text());
    project.asterisk(&["lint"]).exits(0);
}

#[test]
fn branches_are_walked_the_same_at_any_concurrency() {
    let undisturbed = walked();
    let args = [&RUN[..], &["--format", "json"]].concat();
    let expected = undisturbed.asterisk(&args).ok().json();
    let wanted = events(&undisturbed, &expected);
    for most in [1, 3] {
        let project = walked();
        let text = project.read("pipelines/each.yaml").replace("concurrency: 2", &format!("concurrency: {most}"));
        project.file("pipelines/each.yaml", text);
        assert_eq!(events(&project, &project.asterisk(&args).ok().json()), wanted, "{most} at once");
    }
}

/// A pipeline of these edges, whose nodes are answered from a file.
fn of_edges(nodes: &[&str], edges: &str) -> Project {
    let nodes = nodes.iter().map(|name| format!("  - {{ name: {name} }}\n")).collect::<Vec<_>>().concat();
    let text = format!("pipeline: p\ndescription: d\nnodes:\n{nodes}edges:\n{edges}start: start\ndone: _done\n");
    Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("pipelines/p.yaml", &text),
        ("scripts/rules/x.rhai", "fn x(artifact, state, vars) { true }\n"),
    ])
}

pub(crate) const PLAIN: [&str; 10] =
    ["run", "p", "--input", "none", "--parallel", "1", "--files", "always", "--stub", "stub.json"];

#[test]
fn edges_that_fire_together_are_taken_in_parallel_and_join() {
    let vectors = shared::shared_json("vectors/walks.json").map(|walks| walks["fan_out"].as_array().unwrap().clone());
    for vector in vectors.unwrap_or_default() {
        let Some(edges) = vector["edges"].as_array() else { continue };
        let mut nodes = vec!["start"];
        let mut lines = String::new();
        for edge in edges {
            let text = |key: &str| edge[key].as_str().unwrap();
            for node in [text("from"), text("to")].into_iter().filter(|name| *name != "_done") {
                if !nodes.contains(&node) {
                    nodes.push(node);
                }
            }
            let parallel = if edge["parallel"] == true { ", parallel: true" } else { "" };
            lines = format!("{lines}  - {{ id: {}, from: {}, to: {}{parallel} }}\n", text("id"), text("from"), text("to"));
        }
        let project = of_edges(&nodes, &lines);
        let answers: serde_json::Map<String, Value> = nodes.iter().map(|node| ((*node).to_owned(), json!([{}]))).collect();
        project.file("stub.json", json!({ "*": answers }).to_string());
        let ran = project.asterisk(&[&PLAIN[..], &["--format", "json"]].concat()).json();
        let (case, expect, id) = (&ran["cases"][0], &vector["expect"], &vector["id"]);
        assert_eq!(case["status"], expect["status"], "{id}: {case}");
        if let Some(kind) = expect.get("error") {
            assert_eq!(case["error"]["kind"], *kind, "{id}: {case}");
        }
        if let Some(path) = expect.get("node_path") {
            assert_eq!(case["nodes"], *path, "{id}: {case}");
        }
        if let Some(branches) = expect["branches"].as_array() {
            let entered: Vec<Value> = events(&project, &ran)
                .into_iter()
                .filter(|event| event["type"] == "node_enter" && event["path"].as_str().unwrap().contains("branch["))
                .map(|event| event["node"].clone())
                .collect();
            assert_eq!(entered, *branches, "{id}");
            let merges = case["nodes"].as_array().unwrap().iter().filter(|node| **node == expect["merge"]).count();
            assert_eq!(merges, 1, "{id}: {case}");
        }
    }
}

#[test]
fn counters_and_additions_of_branches_keep_their_order() {
    let project = of_edges(
        &["start", "a", "b", "merge"],
        "  - { id: P1, from: start, to: a, parallel: true, condition: \"true\", context: { first: a, both: a } }\n  \
         - { id: N, from: start, to: merge, condition: \"false\" }\n  \
         - { id: P2, from: start, to: b, parallel: true, loop: true, counter: b, context: { both: b } }\n  \
         - { id: P3, from: start, to: merge, parallel: true, condition: \"false\" }\n  \
         - { id: AM, from: a, to: merge, context: { late: a } }\n  - { id: BM, from: b, to: merge, context: { late: b } }\n  \
         - { id: M, from: merge, to: start, loop: true, condition: \"state.loops.M < 1\" }\n  - { id: E, from: merge, to: _done }\n",
    );
    let twice = json!([{ "n": 1 }, { "n": 2 }]);
    project.file("stub.json", json!({ "*": { "start": twice, "a": twice, "b": twice, "merge": twice } }).to_string());
    let ran = json(&project, &PLAIN);
    let case = &ran["cases"][0];
    assert_eq!(case["nodes"], json!(["start", "a", "b", "merge", "start", "a", "b", "merge"]), "{case}");
    assert_eq!(case["edges"], json!(["P1", "AM", "P2", "BM", "M", "P1", "AM", "P2", "BM", "E"]));
    assert_eq!(case["loops"], json!({ "M": 1, "b": 2 }));
    assert_eq!(case["context"], json!({ "first": "a", "both": "b", "late": "b" }));
    insta::assert_snapshot!("fan_edges", summary(&events(&project, &ran)));
    insta::assert_snapshot!("fan_edges_explained", project.asterisk(&["explain", "latest"]).ok().text());
    insta::assert_snapshot!("fan_edges_graph", project.asterisk(&["graph", "p", "--run", "latest"]).ok().text());
    project.asterisk(&["coverage", "latest"]).ok();
    let narrated = project.asterisk(&[&PLAIN[..], &["--observe", "narration=narration.txt"]].concat()).ok();
    assert_eq!(narrated.code, Some(0));
    insta::assert_snapshot!("fan_edges_narrated", project.read("narration.txt"));
}

/// A graph of what waits for what.
pub(crate) fn waiting() -> Project {
    let text = "\
pipeline: p
description: a graph of what waits for what
nodes:
  - { name: build }
  - { name: lint }
  - { name: test, after: [build] }
  - { name: pack, after: [build, lint] }
  - { name: ship, after: [test, pack] }
done: _done
";
    let project = Project::with(&[("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"), ("pipelines/p.yaml", text)]);
    project.file("scripts/rules/x.rhai", "fn x(artifact, state, vars) { true }\n");
    let answers: serde_json::Map<String, Value> = WAITING.iter().map(|node| ((*node).to_owned(), json!([{}]))).collect();
    project.file("stub.json", json!({ "*": answers }).to_string());
    project
}

const WAITING: [&str; 5] = ["build", "lint", "test", "pack", "ship"];

#[test]
fn ready_nodes_are_taken_in_parallel() {
    let project = waiting();
    let ran = json(&project, &PLAIN);
    assert_eq!(ran["cases"][0]["nodes"], json!(WAITING), "{ran}");
    assert_eq!((&ran["status"], &ran["cases"][0]["status"]), (&json!("done"), &json!("done")));
    insta::assert_snapshot!("fan_waves", summary(&events(&project, &ran)));
    insta::assert_snapshot!("fan_waves_explained", project.asterisk(&["explain", "latest"]).ok().text());
    insta::assert_snapshot!("fan_waves_graph", project.asterisk(&["graph", "p"]).ok().text());
}

#[test]
fn replay_covers_branches() {
    let project = walked();
    json(&project, &RUN);
    let replay = |set: &str| format!("--- {set}\n{}", project.asterisk(&["replay", "latest", "--set", set]).exits(0).text());
    let kept: String = ["sure=0.6", "sure=0.9"].map(replay).concat();
    let text = project.read("pipelines/inner.yaml");
    project.file("pipelines/inner.yaml", text.replace("state.loops.tries < n", "state.loops.tries < 1"));
    let edited = project.asterisk(&["replay", "latest"]).exits(0).text();
    insta::assert_snapshot!("fan_replayed", format!("{kept}--- edited\n{edited}"));
    let project = of_edges(
        &["start", "a", "b", "merge", "other"],
        "  - { id: P1, from: start, to: a, parallel: true }\n  - { id: P2, from: start, to: b, parallel: true, condition: \"n < vars.most\" }\n  \
         - { id: AO, from: a, to: other, condition: \"n > vars.most\" }\n  - { id: AM, from: a, to: merge }\n  - { id: BM, from: b, to: merge }\n  \
         - { id: ME, from: merge, to: _done, condition: \"n < vars.most\" }\n  - { id: MO, from: merge, to: other }\n  - { id: OE, from: other, to: _done }\n",
    );
    let text = project.read("pipelines/p.yaml").replace("description: d", "description: d\nvars: { most: 5 }");
    project.file("pipelines/p.yaml", text);
    let of = |n: i64| json!([{ "n": n }]);
    project.file("stub.json", json!({ "*": { "start": of(2), "a": of(3), "b": of(1), "merge": of(4) } }).to_string());
    json(&project, &PLAIN);
    let replay = |set: &str| format!("--- {set}\n{}", project.asterisk(&["replay", "latest", "--set", set]).exits(0).text());
    insta::assert_snapshot!("fan_edges_replayed", ["most=6", "most=4", "most=1", "most=2.5"].map(replay).concat());
}
