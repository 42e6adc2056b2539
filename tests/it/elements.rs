//! Elements, cycles, personas and identity, compared with external vectors, and their display by `show`.

use crate::harness::{Project, Ran};
use crate::shared::shared_json;
use serde_json::{Value, json};

/// Calls a script function once for each list of arguments.
fn call(project: &Project, function: &str, lists: &[Value]) -> Vec<Value> {
    project.file("batch.json", json!(lists).to_string());
    project.asterisk(&["eval", "call", function, "--batch", "batch.json"]).ok().json_lines()
}

/// The elements with cycles and derived ones, as scripts see them.
fn elements(project: &Project) -> Value {
    let shown = |what: &str| project.asterisk(&["show", what, "--format", "json"]).ok().json();
    let (elements, cycles) = (shown("elements"), shown("cycles"));
    json!({ "elements": elements["elements"], "derived": elements["derived"], "cycles": cycles["cycles"] })
}

/// Whether the result has every expected key with its value; numbers are compared as such.
#[track_caller]
fn agree(found: &Value, expected: &Value, keys: &[(&str, &str)]) {
    for (theirs, ours) in keys {
        let (want, got) = (&expected[*theirs], &found[*ours]);
        let same = match (want.as_f64(), got.as_f64()) {
            (Some(want), Some(got)) => (want - got).abs() < 1e-9,
            _ => want == got,
        };
        assert!(same, "{theirs}: expected {want}, found {got} in {found}");
    }
}

const TRAITS: [(&str, &str); 5] = [
    ("speed", "speed"),
    ("max_loops", "max_loops"),
    ("convergence_threshold", "convergence_threshold"),
    ("shortcut_affinity", "shortcut_affinity"),
    ("evidence_depth", "evidence_depth"),
];

#[test]
fn traits_and_iron_are_the_decided_ones() {
    let Some(file) = shared_json("vectors/elements.json") else { return };
    let project = Project::new();
    let known = elements(&project);
    let traits = file["traits"].as_array().unwrap();
    assert_eq!(traits.len(), known["elements"].as_object().unwrap().len());
    for expected in traits {
        agree(&known["elements"][expected["element"].as_str().unwrap()], expected, &TRAITS);
    }
    // Iron, by the accuracy of a walker. The form takes shares only.
    let shares = file["iron"].as_array().unwrap().iter().filter(|one| (0.0..=1.0).contains(&one["accuracy"].as_f64().unwrap()));
    for one in shares {
        let (accuracy, expected) = (&one["accuracy"], &one["expect"]);
        let (loops, bar) = (&expected["max_loops"], expected["convergence_threshold"].as_f64().unwrap());
        let traits = "state.walker.traits";
        project.file(
            "iron.yaml",
            format!(
                "pipeline: iron\nnodes: [{{ name: a }}]\nedges:\n  - {{ id: E1, from: a, to: _done, condition: '{traits}.max_loops == {loops} && \
                 {traits}.convergence_threshold > {} && {traits}.convergence_threshold < {}' }}\n\
                 team: {{ walkers: [{{ name: W, element: iron, accuracy: {accuracy} }}], scheduler: schedulers/single.rhai }}\n\
                 start: a\ndone: _done\n",
                bar - 1e-9,
                bar + 1e-9,
            ),
        );
        project.file("iron.json", r#"{"*": {"a": [{}]}}"#);
        let ran = project.asterisk(&["run", "iron.yaml", "--input", "none", "--stub", "iron.json"]).ok();
        assert!(ran.text().contains("E1"), "{one}: {}", ran.text());
    }
}

#[test]
fn cycles_are_the_decided_ones() {
    let Some(file) = shared_json("vectors/elements.json") else { return };
    let project = Project::new();
    let known = elements(&project);
    for cycle in ["generative", "destructive"] {
        let pairs = |list: &Value| -> Vec<(Value, Value)> {
            list.as_array().unwrap().iter().map(|step| (step["from"].clone(), step["to"].clone())).collect()
        };
        assert_eq!(pairs(&known["cycles"][cycle]), pairs(&file["cycles"][cycle]), "{cycle}");
    }
    for (vectors, function) in [("next_generative", "strengthens"), ("challenges", "challenges")] {
        let vectors = file["cycles"][vectors].as_array().unwrap();
        let asked: Vec<Value> = vectors.iter().map(|one| json!([known, one["element"]])).collect();
        let found = call(&project, &format!("lib/elements.rhai#{function}"), &asked);
        for (one, found) in vectors.iter().zip(found) {
            assert_eq!(one["expect"], found, "{function}({})", one["element"]);
        }
    }
}

#[test]
fn personas_are_the_decided_ones() {
    let Some(file) = shared_json("vectors/elements.json") else { return };
    let project = Project::new();
    let keys = [
        ("name", "name"),
        ("color", "colour"),
        ("hex", "hex"),
        ("element", "element"),
        ("position", "position"),
        ("alignment", "side"),
        ("home_zone", "home"),
        ("stickiness", "stickiness"),
        ("tags", "tags"),
    ];
    let list = project.asterisk(&["show", "personas", "--format", "json"]).ok().json();
    assert_eq!(list["schema_version"], 1);
    let list = list["personas"].as_array().unwrap();
    assert_eq!(list.len(), 8);
    for expected in file["personas"].as_array().unwrap() {
        let found = list.iter().find(|one| one["name"] == expected["name"]).unwrap();
        agree(found, expected, &keys);
        assert_eq!(found["affinities"], expected["step_affinity"]);
    }
    for one in file["persona_lookup"].as_array().unwrap() {
        let query = one["query"].as_str().unwrap();
        let shown = project.asterisk(&["show", "personas", query]);
        assert_eq!(shown.code, Some(if one["expect"].is_null() { 2 } else { 0 }), "{}", shown.text());
        assert!(one["expect"].as_str().is_none_or(|name| shown.text().contains(name)), "{query}: {}", shown.text());
    }
    let positions = file["meta"]["positions"].as_object().unwrap();
    let shown = project.asterisk(&["show", "personas", "--format", "json"]).ok().json();
    assert_eq!(Some(positions), shown["positions"].as_object());
    for persona in list {
        assert_eq!(positions[persona["position"].as_str().unwrap()], persona["home"], "{persona}");
    }
}

#[test]
fn the_scheduler_decides_as_decided() {
    let Some(file) = shared_json("vectors/elements.json") else { return };
    let project = Project::new();
    let shown = project.asterisk(&["show", "personas", "--format", "json"]).ok().json();
    let personas = shown["personas"].as_array().unwrap();
    let walkers = |words: &str| -> Value {
        let side = words.split(' ').next().unwrap();
        personas.iter().filter(|persona| side == "all" || persona["side"] == side).cloned().collect()
    };
    let vectors = file["scheduler"].as_array().unwrap();
    assert!(vectors.len() >= 30, "the file lost vectors");
    for vector in vectors {
        let team: Value = match vector["walkers"].as_str() {
            Some(words) => walkers(words),
            None => vector["walkers"].as_array().unwrap().iter().map(own).collect(),
        };
        let ctx = json!({
            "node": { "name": vector["node"], "element": vector["node_element"] }, "walkers": team,
        });
        let scheduler = vector["scheduler"].as_str().unwrap_or("affinity");
        let found = call(&project, &format!("schedulers/{scheduler}.rhai#select"), &[json!([ctx])]);
        assert_eq!(found, [vector["expect"].clone()], "{}", vector["id"]);
    }
}

/// A walker of a vector as a scheduler is given it.
fn own(walker: &Value) -> Value {
    let element = walker["element"].as_str().unwrap_or("");
    json!({ "name": walker["persona"], "element": element, "affinities": walker["affinity"] })
}

#[test]
fn walkers_are_named_in_any_case_and_are_at_home_by_their_position() {
    let project = Project::new();
    project.file(
        "crew.yaml",
        "pipeline: crew\nnodes: [{ name: a }]\nzones: { paint: { nodes: [a], stickiness: 3 } }\nedges:\n  - { id: E1, from: a, to: _done }\n\
         team: { walkers: [herald, { name: Closer, position: SG }], scheduler: schedulers/zone.rhai }\nstart: a\ndone: _done\n",
    );
    project.file("crew.json", r#"{"*": {"a": [{}]}}"#);
    project.asterisk(&["run", "crew.yaml", "--input", "none", "--stub", "crew.json"]).ok();
    let why = project.asterisk(&["explain", "latest", "--case", "case-1"]).ok().text();
    assert!(why.contains("walker: Closer, at home in paint"), "{why}");
}

#[test]
fn a_walker_has_the_time_and_the_model_of_its_speed() {
    let project = Project::new();
    project.file(
        "asterisk.yaml",
        "agents:\n  slow: { kind: exec, command: [sh, -c, 'cat > /dev/null; echo \"{\\\"model\\\": \\\"$ASTERISK_MODEL\\\"}\"'], models: { small: tiny } }\n  never: { kind: exec, command: [sleep, '20'] }\n",
    );
    let crew = |via: &str, more: &str| {
        format!(
            "pipeline: crew\nnodes: [{{ name: a, family: echo, schema: {{ model: string }} }}]\nedges:\n  - {{ id: E1, from: a, to: _done, condition: model == \"tiny\" }}\n\
             team: {{ walkers: [{{ name: W, element: fire, via: [{via}]{more} }}], scheduler: schedulers/single.rhai }}\nstart: a\ndone: _done\n"
        )
    };
    project.file("crew.yaml", crew("slow", ""));
    let ran = project.asterisk(&["run", "crew.yaml", "--input", "none"]).exits(0);
    assert!(ran.text().contains("E1"), "{}", ran.text());
    project.file("late.yaml", crew("never", ", timeout: 0.2"));
    let ran = project.asterisk(&["run", "late.yaml", "--input", "none"]);
    assert!(ran.text().contains("W did not answer `a` within 0.2 s"), "{}", ran.text());
}

#[test]
fn elements_and_personas_are_listed() {
    let project = Project::new();
    let show = |args: &[&str]| project.asterisk(&[&["show"], args].concat()).ok().text();
    let all = ["elements", "cycles", "personas"].map(|what| show(&[what])).join("\n");
    insta::assert_snapshot!("shown", format!("{all}\n{}\n{}", show(&["personas", "herald"]), show(&["elements", "IRON"])));
    let refused = |args: &[&str]| -> Ran { project.asterisk(&[&["show"], args].concat()).exits(2) };
    let wrong = [refused(&["personas", "Herold"]), refused(&["elements", "wood"])].map(|ran| ran.text()).join("\n");
    insta::assert_snapshot!("unknown", wrong);
}

#[test]
fn colours_are_those_of_the_data() {
    let project = Project::new();
    let ran = project.call(&["show", "personas", "--color", "always"]).env_remove("NO_COLOR").ran().ok();
    assert!(ran.stdout.contains("\u{1b}[38;2;220;20;60m"), "crimson: {}", ran.text());
}

#[test]
fn project_personas_replace_the_bundled_ones() {
    let project = Project::with(&[(
        "scripts/data/personas.yaml",
        "personas:\n  - name: Scout\n    element: lightning\n    affinities: { recall: 1.0 }\n",
    )]);
    let shown = project.asterisk(&["show", "personas", "--format", "json", "--scripts", "scripts"]).ok().json();
    assert_eq!(shown["personas"].as_array().unwrap().len(), 1);
    assert_eq!(shown["personas"][0]["stickiness"], 0);
    let broken = "personas:\n  - name: Scout\n    element: lightening\n    stickiness: 4\n    affinitys: {}\n  - name: Scout\n";
    project.file("scripts/data/personas.yaml", broken);
    insta::assert_snapshot!("broken", project.asterisk(&["show", "personas", "--scripts", "scripts"]).exits(3).text());
}
