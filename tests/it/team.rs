//! Teams: the walker of each step, its record, and custom schedulers and masks.

use crate::harness::{Project, repository, strings};
use crate::server::{Server, private, says_json};
use crate::shared::shared_json;
use serde_json::{Value, json};
use std::path::PathBuf;

/// The events of the only run of a project, in order.
fn events(project: &Project) -> Vec<Value> {
    let runs = std::fs::read_dir(project.root().join(".asterisk/investigations")).unwrap();
    let dirs: Vec<PathBuf> = runs.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(dirs.len(), 1, "{dirs:?}");
    let text = std::fs::read_to_string(dirs[0].join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).filter(|word| *word != "barrier").collect()
}

/// Walks a pipeline with an empty answer to every node.
fn walked(pipeline: &Value, args: &[&str]) -> (Project, crate::harness::Ran) {
    let project = Project::with(&[("t.yaml", &pipeline.to_string())]);
    let nodes = pipeline["nodes"].as_array().unwrap();
    let answers: serde_json::Map<String, Value> =
        nodes.iter().map(|node| (node["name"].as_str().unwrap().to_owned(), json!(vec![json!({}); 70]))).collect();
    project.file("stub.json", json!({ "*": answers }).to_string());
    let words = ["run", "t.yaml", "--input", "none", "--stub", "stub.json", "--format", "json"];
    let ran = project.asterisk(&[&words, args].concat());
    (project, ran)
}

fn pipeline(vector: &Value) -> Value {
    let edge = |edge: &Value| json!({ "id": edge["id"], "from": edge["from"], "to": edge["to"] });
    let walker = |walker: &Value| {
        let mut own = json!({ "name": walker["persona"] });
        if let Some(element) = walker["element"].as_str() {
            own["element"] = json!(element);
        }
        if !walker["affinity"].is_null() {
            own["affinities"] = walker["affinity"].clone();
        }
        own
    };
    let list = |key: &str| vector[key].as_array().unwrap().iter();
    let edges: Vec<Value> = list("edges").map(edge).collect();
    let start = vector["start"].as_str().or_else(|| vector["nodes"][0]["name"].as_str());
    let mut made = json!({ "pipeline": "t", "nodes": vector["nodes"], "edges": edges, "start": start, "done": "_done" });
    if !vector["scheduler"].is_null() || vector["walkers"].as_array().unwrap().is_empty() {
        let scheduler = format!("schedulers/{}.rhai", vector["scheduler"].as_str().unwrap_or("affinity"));
        made["team"] = json!({ "walkers": list("walkers").map(walker).collect::<Vec<_>>(), "scheduler": scheduler });
    }
    made
}

#[test]
fn teams_walk_as_decided() {
    let Some(file) = shared_json("vectors/walks.json") else { return };
    let vectors = file["team"].as_array().unwrap();
    assert!(vectors.len() >= 5, "the file lost vectors");
    for vector in vectors {
        let id = vector["id"].as_str().unwrap();
        let (project, ran) = walked(&pipeline(vector), &["--files", "always"]);
        let expect = &vector["expect"];
        if let Some(error) = expect["error"].as_str() {
            let word = if error == "no_walkers" { "pipeline/no-walkers" } else { "pipeline/" };
            assert!(ran.code == Some(3) && ran.stderr.contains(word), "{id}: {}", ran.text());
            continue;
        }
        assert_eq!(ran.code, Some(0), "{id}: {}", ran.text());
        let events = events(&project);
        let types = types(&events);
        let count = |word: &str| types.iter().filter(|found| **found == word).count();
        for (key, word) in [
            ("walker_switch_events", "walker_switch"),
            ("node_enter_events", "node_enter"),
            ("walk_complete_events", "walk_complete"),
        ] {
            if let Some(wanted) = expect[key].as_u64() {
                assert_eq!(count(word) as u64, wanted, "{id}: {types:?}");
            }
        }
        if !expect["assignments"].is_null() {
            let taken: Vec<&str> =
                events.iter().filter(|event| event["type"] == "walker_switch").filter_map(|event| event["to"].as_str()).collect();
            assert_eq!(taken, strings(&expect["assignments"]), "{id}");
        }
        if !expect["event_sequence"].is_null() {
            assert_eq!(types, strings(&expect["event_sequence"]), "{id}");
        }
    }
}

/// Two nodes in turn, until the cap.
fn endless(team: &Value) -> Value {
    json!({
        "pipeline": "t", "nodes": [{ "name": "a" }, { "name": "b" }], "start": "a", "done": "_done", "team": team,
        "edges": [{ "id": "E1", "from": "a", "to": "b" }, { "id": "E2", "from": "b", "to": "a", "loop": true }],
    })
}

#[test]
fn a_team_walks_64_steps_by_default() {
    let team = json!({ "walkers": ["Herald"], "scheduler": "schedulers/single.rhai" });
    for (team, steps) in
        [(team.clone(), 64), (json!({ "walkers": ["Herald"], "scheduler": "schedulers/single.rhai", "max_steps": 5 }), 5)]
    {
        let (_, ran) = walked(&endless(&team), &[]);
        let case = &ran.json()["cases"][0];
        assert_eq!(case["nodes"].as_array().unwrap().len(), steps);
        assert_eq!(case["error"]["kind"], "max_steps");
    }
}

const TWO: &str = "\
pipeline: t
nodes:
  - { name: a, element: fire, schema: { n?: int } }
  - { name: b }
edges:
  - { id: E1, from: a, to: b, condition: 'state.walker.name == \"Herald\" && state.walker.traits.evidence_depth == 2' }
  - { id: E2, from: b, to: _done, condition: 'state.handoffs == 1 && state.walker.name == \"Scout\"' }
start: a
done: _done
team:
  walkers: [Herald, { name: Scout, element: air, home: Paint, stickiness: 1, affinities: { b: 0.5 }, preamble: Look around. }]
  scheduler: schedulers/affinity.rhai
";

fn two() -> Project {
    Project::with(&[("t.yaml", TWO), ("stub.json", "{\"*\": {\"a\": [{}], \"b\": [{}]}}")])
}

const RUN: [&str; 6] = ["run", "t.yaml", "--input", "none", "--stub", "stub.json"];

#[test]
fn rules_see_the_walker_and_explain_shows_why() {
    let project = two();
    project.asterisk(&RUN).exits(0);
    insta::assert_snapshot!(
        "explained",
        project.asterisk(&["explain", "latest", "--case", "case-1"]).ok().text().replace(&run_id(&project), "RUN")
    );
    let reported = project.asterisk(&["explain", "latest", "--case", "case-1", "--format", "json"]).ok().json();
    assert_eq!(reported["steps"][1]["walker"], json!({ "name": "Scout", "because": "affinity 0.5 for b" }));
}

fn run_id(project: &Project) -> String {
    project.asterisk(&["status", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn replay_with_another_scheduler_flips_decisions() {
    let project = two();
    project.asterisk(&RUN).exits(0);
    let same = project.asterisk(&["replay", "--format", "json"]).exits(0).json();
    assert_eq!(same["flips"], json!([]));
    // Herald takes both steps: no handoff, and no edge of b fires.
    project.file("new/schedulers/affinity.rhai", "/// One.\nfn select(ctx) { ctx.walkers[0].name }\n");
    let other = project.asterisk(&["replay", "--scripts", "new", "--format", "json"]).json();
    assert_eq!(other["flips"][0]["node"], "b", "{other}");
}

#[test]
fn invalid_teams_are_reported_with_their_location() {
    let broken = |from: &str, to: &str| {
        let project = Project::with(&[("t.yaml", &TWO.replace(from, to)), ("stub.json", "{}")]);
        project.asterisk(&RUN).exits(3).text()
    };
    let all = [
        broken("[Herald,", "[Herold,"),
        broken("element: air", "element: ayr"),
        broken("stickiness: 1", "stickiness: 7"),
        broken("name: Scout", "name: Herald"),
        broken("affinity.rhai", "affinty.rhai"),
        broken("scheduler: ", "schedule: "),
        {
            let project = two();
            let script = "/// One.\nfn select(ctx) { ctx.walkers[0].name }\nconst NEEDS = [\"accuracy\", \"siblings\"];\n";
            project.file("scripts/schedulers/affinity.rhai", script);
            project.asterisk(&[&RUN[..], &["--scripts", "scripts"]].concat()).exits(3).text()
        },
    ];
    insta::assert_snapshot!("wrong", all.join("\n"));
}

#[test]
fn a_failing_scheduler_stops_the_walk() {
    let chooses = |body: &str| {
        let project = two();
        project.file("scripts/schedulers/affinity.rhai", format!("/// One.\nfn select(ctx) {{ {body} }}\n"));
        project.asterisk(&[&RUN[..], &["--scripts", "scripts", "--dry-run"]].concat()).exits(4).text()
    };
    let all = ["\"Herold\"", "()", "ctx.walkers[9].name", "throw \"no\""].map(chooses).join("\n");
    insta::assert_snapshot!("scheduler", all);
}

/// A pipeline of one node with these masks; the edge shows the resulting `a`.
fn masked(masks: &str) -> String {
    format!(
        "pipeline: m\nnodes:\n  - {{ name: a, schema: {{ n: int, seen?: string }}, masks: [{masks}] }}\nedges:\n  - {{ id: E1, from: a, to: _done }}\nstart: a\ndone: _done\n"
    )
}

fn mask(letter: &str) -> String {
    format!(
        "/// Before.\nconst NODES = [\"a\"];\nfn pre(ctx) {{ let told = ctx.to_map(); told.meta = ctx.meta.to_map(); let seen = ctx.meta.seen; told.meta.seen = \
         (if seen == () {{ \"\" }} else {{ seen }}) + \"{letter}\"; told }}\nfn post(ctx, artifact) {{ let made = artifact.to_map(); made.seen += \"{letter}\"; made }}\n"
    )
    .replace("/// Before.\n", "// A mask.\n")
}

const RESPONDER: &str = "/// What was seen.\nfn a(params, vars) { #{ n: 1, seen: params.meta.seen + \"|\" } }\n";
const MASKED: [&str; 6] = ["run", "m.yaml", "--input", "none", "--scripts", "scripts"];

fn with_masks(masks: &str) -> Project {
    let (a, b) = (mask("A"), mask("B"));
    Project::with(&[
        ("m.yaml", &masked(masks)),
        ("scripts/agents/a.rhai", RESPONDER),
        ("scripts/masks/a.rhai", &a),
        ("scripts/masks/b.rhai", &b),
    ])
}

/// What the node's artifact says was seen.
fn seen(project: &Project, args: &[&str]) -> String {
    project.asterisk(&[&MASKED, args].concat()).exits(0);
    let runs = std::fs::read_dir(project.root().join(".asterisk/investigations")).unwrap();
    let dir = runs.map(|entry| entry.unwrap().path()).max().unwrap();
    let text = walkdir(&dir).into_iter().find(|path| path.ends_with("a.json")).map(|path| std::fs::read_to_string(path).unwrap());
    let artifact: Value = serde_json::from_str(&text.unwrap()).unwrap();
    artifact["seen"].as_str().unwrap().to_owned()
}

fn walkdir(dir: &std::path::Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walkdir(&path) } else { vec![path] }).collect()
}

#[test]
fn masks_are_nested() {
    assert_eq!(seen(&with_masks("masks/a.rhai, masks/b.rhai"), &[]), "AB|BA");
    assert_eq!(seen(&with_masks("masks/b.rhai"), &["--mask", "scripts/masks/a.rhai"]), "BA|AB");
    assert_eq!(seen(&with_masks("masks/a.rhai"), &["--mask", "masks/a.rhai"]), "A|A");
}

#[test]
fn changes_by_masks_are_recorded() {
    let project = with_masks("masks/a.rhai");
    seen(&project, &[]);
    let events = events(&project);
    let masked = events.iter().find(|event| event["type"] == "masked").unwrap();
    assert_eq!(masked["masks"], json!(["masks/a.rhai"]));
    assert!(masked["answer"].is_string());
    let reported = project.asterisk(&["explain", "latest", "--case", "case-1", "--format", "json"]).ok().json();
    assert_eq!(reported["steps"][0]["masks"], json!(["masks/a.rhai"]));
    assert_eq!(project.asterisk(&["replay", "--format", "json"]).exits(0).json()["flips"], json!([]));
}

#[test]
fn masks_are_valid_on_the_nodes_they_name() {
    let Some(file) = shared_json("vectors/elements.json") else { return };
    let script = |name: &str| {
        let file = match name {
            "mask-of-the-forge" => "forge",
            other => other.strip_prefix("mask-of-").unwrap(),
        };
        format!("masks/{file}.rhai")
    };
    let shown = Project::new().asterisk(&["show", "masks", "--format", "json"]).ok().json();
    for expected in file["masks"].as_array().unwrap() {
        let path = script(expected["name"].as_str().unwrap());
        let found = shown["masks"].as_array().unwrap().iter().find(|mask| mask["path"] == json!(path)).unwrap();
        assert_eq!(found["nodes"], expected["valid_nodes"]);
        let project = Project::with(&[("batch.json", "[[{\"meta\": {}}]]")]);
        let reported = project.asterisk(&["eval", "call", &format!("{path}#pre"), "--batch", "batch.json"]).ok().json_lines();
        assert_eq!(reported[0]["meta"][expected["meta_key"].as_str().unwrap()], expected["meta_value"]);
    }
    for vector in file["mask_cases"].as_array().unwrap() {
        let (Some(mask), Some(node)) = (vector["mask"].as_str(), vector["node"].as_str()) else { continue };
        let text = format!(
            "pipeline: m\nnodes:\n  - {{ name: {node}, prompt: none.md, masks: [{}] }}\nedges:\n  - {{ id: E1, from: {node}, to: _done }}\nstart: {node}\ndone: _done\n",
            script(mask)
        );
        let project =
            Project::with(&[("m.yaml", &text), ("templates/none.md", "-"), ("asterisk.yaml", "templates: templates\n")]);
        project.file("stub.json", json!({ "*": { node: [{}] } }).to_string());
        let ran = project.asterisk(&["run", "m.yaml", "--input", "none", "--stub", "stub.json", "--dry-run"]);
        let good = if vector["expect_ok"] == true {
            ran.code == Some(0)
        } else {
            ran.code == Some(3) && ran.stderr.contains("mask-node")
        };
        assert!(good, "{}: {}", vector["id"], ran.text());
    }
}

#[test]
fn invalid_masks_are_reported_with_their_location() {
    let broken = |masks: &str, script: &str| {
        let project = with_masks(masks);
        project.file("scripts/masks/c.rhai", script);
        project.asterisk(&MASKED).text()
    };
    let all = [
        broken("masks/d.rhai", ""),
        broken("masks/c.rhai", "const NODES = [\"b\"];\n/// X.\nfn pre(ctx) { ctx }\n"),
        broken("masks/c.rhai", "/// X.\nfn pre(ctx) { ctx }\n"),
        broken("masks/c.rhai", "const NODES = [\"a\"];\n/// X.\nfn before(ctx) { ctx }\n"),
        broken("masks/c.rhai", "const NODES = [\"a\"];\nconst NEEDS = [\"sibling\"];\n/// X.\nfn pre(ctx) { ctx }\n"),
        broken("masks/a.rhai, masks/c.rhai", "const NODES = [\"a\"];\n/// X.\nfn pre(ctx) { () }\n"),
        broken("masks/a.rhai, masks/c.rhai", "const NODES = [\"a\"];\n/// X.\nfn post(ctx, artifact) { #{ n: \"x\" } }\n"),
    ];
    insta::assert_snapshot!("mask", all.join("\n"));
}

#[test]
fn walkers_with_good_records_are_preferred() {
    let project = two();
    project.file(
        "t.yaml",
        TWO.replace("affinity.rhai", "calibrated.rhai").replace("  - { name: b }", "  - { name: b, effect: 'effects/t.rhai#b' }"),
    );
    let effect = "/// Reviewed.\nfn b(artifact, params) { [#{ effect: \"set_case_status\", status: \"reviewed\" }] }\n";
    project.file("scripts/effects/t.rhai", effect);
    let run = [&RUN[..], &["--scripts", "scripts"]].concat();
    let because = || {
        project.asterisk(&run).exits(0);
        let reported = project.asterisk(&["explain", "latest", "--case", "case-1", "--format", "json"]).ok().json();
        reported["steps"][1]["walker"]["because"].as_str().unwrap().to_owned()
    };
    assert_eq!(because(), "no reviewed case of Scout at b, affinity 0.5");
    assert_eq!(because(), "1 of 1 reviewed case stood, affinity 0.5");
    assert_eq!(project.asterisk(&["replay", "--format", "json", "--scripts", "scripts"]).exits(0).json()["unknown"], json!([]));
    let shown = project.asterisk(&["show", "personas", "Herald"]).ok().stdout;
    assert!(shown.contains("confirmed") && shown.contains("a: 2 of 2"), "{shown}");
    assert!(shown.ends_with("    affinities: { a: 1.00 }\n    accuracy: 1.00\n"), "{shown}");
    let json = project.asterisk(&["show", "personas", "Herald", "--format", "json"]).ok().json();
    let measured = json!([{ "walker": "Herald", "node": "a", "reviewed": 2, "stood": 2, "share": 1.0 }]);
    assert_eq!(json["personas"][0]["measured"], measured);
}

#[test]
fn the_traits_of_iron_follow_from_its_accuracy() {
    let goes = |accuracy: &str, loops: i64, bar: f64| {
        let project = two();
        let is = format!("state.walker.traits.max_loops == {loops} && state.walker.traits.convergence_threshold == {bar:?}");
        let text = TWO
            .replace("[Herald,", &format!("[{{ name: Herald, element: iron{accuracy} }},"))
            .replace("state.walker.traits.evidence_depth == 2", &is);
        project.file("t.yaml", text);
        project.asterisk(&RUN).exits(0);
    };
    goes("", 1, 0.8);
    goes(", accuracy: 0.5", 0, 0.75);
    goes(", accuracy: 1", 0, 0.7);
}

#[test]
fn the_element_of_the_walker_may_govern() {
    let team = "team: { walkers: [Herald, Seeker, Sentinel, Weaver], scheduler: schedulers/affinity.rhai }\n";
    let text = std::fs::read_to_string(repository().join("pipelines/rca.yaml")).unwrap();
    let crew = text.replace("pipeline: rca-investigation", "pipeline: crew") + team;
    let unsure =
        json!({ "rca_message": "Perhaps.", "defect_type": "pb001", "convergence_score": 0.75, "evidence_refs": ["log: x"] });
    let stub = json!({ "*": {
        "recall": [{ "match": false, "confidence": 0.0 }],
        "triage": [{ "symptom_category": "product" }],
        "resolve": vec![json!({ "selected_repos": [{ "name": "shop" }] }); 4],
        "investigate": vec![unsure; 4],
        "correlate": [{ "is_duplicate": false, "confidence": 0.0 }],
        "review": [{ "decision": "approve" }],
        "report": [{}],
    } });
    let project = Project::with(&[("crew.yaml", &crew), ("stub.json", &stub.to_string())]);
    let walked = |pipeline: &str, more: &[&str]| {
        let words = ["run", pipeline, "--input", "none", "--stub", "stub.json", "--files", "never", "--format", "json"];
        let ran = project.asterisk(&[&words, more].concat()).ok().json();
        ran["cases"][0]["edges"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| edge.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let plain = "H2 H6 H8 H9 H15b H12 H16";
    assert_eq!(walked("crew.yaml", &[]), plain);
    assert_eq!(walked("rca", &["--set", "govern=elements"]), plain, "walker without element");
    let deep = "H2 H6 H8 H10 H8 H10 H8 H10 H8 H11 H12 H16";
    assert_eq!(walked("crew.yaml", &["--set", "govern=elements"]), deep, "Seeker is of water: 0.85, three loops");
    let reported = project.asterisk(&["explain", "latest", "--step", "4"]).ok().text();
    assert!(reported.contains("< convergence_threshold of water 0.85; look again (1 of 3)"), "{reported}");
    project.asterisk(&["run", "crew.yaml", "--input", "none", "--stub", "stub.json", "--set", "govern=element"]).exits(2);
}

/// A team from outside walks the bundled pipeline, governs it, and is in the record: it survives a stop, a resume and a replay.
#[test]
fn prompts_show_the_thoroughness_of_a_governing_element() {
    let prompt = |args: &[&str]| {
        let project = Project::new();
        project.asterisk(&[&["run", "--team", "light"], args].concat()).exits(0);
        project.asterisk(&["explain", "--case", "880101", "--prompt", "--step", "investigate"]).exits(0).stdout
    };
    let governed = prompt(&["--set", "govern=elements"]);
    // Seeker, whose home zone it is, is of water.
    assert!(governed.contains("the 8 strongest pieces of evidence"), "{governed}");
    assert!(
        governed.contains("`convergence_score` of 0.85 or more suffices") && governed.contains("at most 3 times"),
        "{governed}"
    );
    assert!(!prompt(&[]).contains("Threshold"), "the vars govern");
}

#[test]
fn graphs_show_walkers_and_answerers() {
    let project = Project::with(&[(
        "crew.yaml",
        "pipeline: crew\nnodes: [{ name: look, via: [claude, script] }]\nedges: [{ id: E, from: look, to: _done }]\n\
         team: { walkers: [Seeker, { name: Scout, via: [gemini] }], scheduler: schedulers/affinity.rhai }\nstart: look\ndone: _done\n",
    )]);
    let team = "team: Seeker, Scout via gemini; chosen by schedulers/affinity.rhai";
    for format in ["mermaid", "dot", "svg"] {
        let text = project.asterisk(&["graph", "crew.yaml", "--format", format]).ok().stdout;
        let plain = text.replace("#58;", ":").replace("#59;", ";").replace('\n', " ");
        assert!(plain.contains(team) && plain.contains("via claude or script"), "{format}: {text}");
    }
    let json = project.asterisk(&["graph", "crew.yaml", "--format", "json"]).ok().json();
    assert_eq!(json["team"]["walkers"][1], json!({ "name": "Scout", "via": ["gemini"] }));
    // The persona's own are those of its data.
    project.file(
        "scripts/data/personas.yaml",
        "personas:\n  - { name: Seeker, element: water, via: [claude] }\n  - { name: Herald, element: fire }\n",
    );
    let text = project.asterisk(&["graph", "crew.yaml"]).ok().stdout;
    assert!(text.contains("Seeker via claude, Scout via gemini"), "{text}");
}

#[test]
fn a_team_is_given_on_the_command_line() {
    let alone = Project::new();
    let run = |project: &Project, more: &[&str]| {
        project.asterisk(&[&["run", "--parallel", "1", "--format", "json"], more].concat()).json()["run"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let given = ["--team", "light", "--set", "govern=elements", "--files", "always"];
    run(&alone, &given);
    let switches = |project: &Project| -> Vec<Value> {
        events(project).into_iter().filter(|event| event["type"] == "walker_switch").collect()
    };
    let expected = switches(&alone);
    assert!(expected.iter().any(|event| event["to"] == "Seeker"), "{expected:?}");
    let explained = alone.asterisk(&["explain", "latest", "--case", "880304"]).exits(0).text();
    assert!(explained.contains("walker: Seeker, affinity 0.9 for investigate"), "{explained}");
    assert!(explained.contains("convergence 0.67 < convergence_threshold of water 0.85"), "{explained}");
    let again = alone.asterisk(&["replay", "--format", "json"]).exits(0).json();
    assert_eq!((&again["flips"], &again["unknown"]), (&json!([]), &json!([])), "{again}");
    // Interrupted, and resumed.
    let project = Project::new();
    let words: Vec<&str> = ["run", "--parallel", "1", "--format", "json"].iter().chain(&given).copied().collect();
    assert!(crate::boundaries::fails(&project, &words, 40));
    project.asterisk(&["run", "--resume", "latest", "--parallel", "1"]).exits(0);
    assert_eq!(switches(&project), expected);
}

#[test]
fn an_invalid_team_of_the_command_line_is_reported_with_its_location() {
    let project = two();
    let asked = |project: &Project, name: &str| {
        project.asterisk(&[&RUN[..], &["--dry-run", "--scripts", "scripts", "--team", name]].concat())
    };
    project.file("scripts/rules/none.rhai", "/// Nothing.\nfn none(artifact, state, vars) { false }\n");
    let unknown = asked(&project, "lihgt").exits(3).text();
    let teams = "teams:\n  two: { walkers: [Herald, Wever], scheduler: schedulers/affinty.rhai }\n  ours: { walkers: [{ name: Scout, affinities: { b: 0.5 } }, Herald], scheduler: schedulers/affinity.rhai, max_steps: 1 }\n";
    project.file("scripts/data/teams.yaml", teams);
    let wrong = asked(&project, "two").exits(3).text();
    // One that has its own takes the given one's place, cap and all.
    let capped = asked(&project, "ours").exits(4).text();
    // The linter checks every team, whatever uses it, and their schedulers.
    let named = "/// The scout, who is not in every team.\nfn select(ctx) { if ctx.walkers.len() > 1 { \"Scot\" } else { ctx.walkers[0].name } }\n";
    project.file("scripts/schedulers/ours.rhai", named);
    project
        .file("scripts/data/teams.yaml", teams.replace("scheduler: schedulers/affinity.rhai", "scheduler: schedulers/ours.rhai"));
    let linted = project.asterisk(&["lint", "scripts/data", "scripts/schedulers"]).exits(1).text();
    insta::assert_snapshot!("given", [unknown, wrong, capped, linted].join("\n"));
}

/// Without one of the bundled masks, cases end otherwise (`workspace.rs` has the one that brings the checkouts).
#[test]
fn each_bundled_mask_changes_the_outcome_of_cases() {
    let nights = |unmasked: &str| {
        let project = Project::with(&[
            ("asterisk.yaml", "pipelines: pipelines\n"),
            ("pipelines/rca.yaml", &format!("extends: rca\nnodes:\n  - {{ name: {unmasked}, masks: [] }}\n")),
        ]);
        let run = || project.asterisk(&["run", "--format", "json"]).ok().json()["cases"].as_array().unwrap().clone();
        let first = run();
        // What the judgment looks up.
        project.asterisk(&["review", "880501", "approve"]).exits(0);
        (first, run())
    };
    let count = |cases: &[Value], edge: &str| cases.iter().filter(|case| strings(&case["edges"]).contains(&edge)).count();
    // A node without masks in any case.
    let (first, second) = nights("triage");
    assert!(count(&first, "H15") > 2 && count(&second, "H1") > 10 && count(&second, "H12") > 5);
    assert_eq!(count(&nights("correlate").0, "H15"), 0, "no duplicate is found");
    assert_eq!(count(&nights("recall").1, "H1"), 0, "no cause is recalled");
    assert_eq!(count(&nights("review").1, "H12"), 0, "nothing is approved");
}

/// A walker that has used up its budget for a case leaves the other steps to the others; alone, it goes on.
#[test]
fn a_walkers_budget_hands_the_case_on() {
    let server = Server::answering(|_| {
        says_json(&json!({
            "choices": [{ "message": { "role": "assistant", "content": "{}" } }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 10 },
        }))
    });
    let settings = "agents:\n  model: { kind: http, url: 'URL/v1', model: tiny, secret: { file: key } }\n";
    let walked = |walkers: &Value| {
        let node = |name: &str| json!({ "name": name, "family": "echo" });
        let pipeline = json!({
            "pipeline": "three", "start": "a", "done": "_done", "nodes": [node("a"), node("b"), node("c")],
            "edges": [
                { "id": "E1", "from": "a", "to": "b" }, { "id": "E2", "from": "b", "to": "c" }, { "id": "E3", "from": "c", "to": "_done" },
            ],
            "team": { "walkers": walkers, "scheduler": "schedulers/single.rhai" },
        });
        let project =
            Project::with(&[("asterisk.yaml", &settings.replace("URL", &server.url)), ("t.yaml", &pipeline.to_string())]);
        private(&project.file("key", "sk-very-secret-42\n"), 0o600);
        project.asterisk(&["run", "t.yaml", "--input", "none"]).exits(0);
        let events = events(&project);
        let entered = events.iter().filter(|event| event["type"] == "node_enter");
        let walkers: Vec<String> = entered.map(|event| event["walker"].as_str().unwrap().to_owned()).collect();
        let switch = events.iter().rfind(|event| event["type"] == "walker_switch").unwrap();
        (walkers, switch["because"].as_str().unwrap().to_owned())
    };
    let cheap = json!({ "name": "Cheap", "via": ["model"], "budget": 40 });
    let good = json!({ "name": "Good", "via": ["model"] });
    let (walkers, because) = walked(&json!([cheap, good]));
    assert_eq!(walkers, ["Cheap", "Cheap", "Good"]);
    assert!(because.ends_with(", Cheap has used up its 40 tokens"), "{because}");
    assert_eq!(walked(&json!([cheap])).0, ["Cheap", "Cheap", "Cheap"]);
}
