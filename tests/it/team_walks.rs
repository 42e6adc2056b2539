//! Walkers and masks in subpipelines and branches, and that nothing is lost: enclosing teams and own teams, masks
//! of a walker, edits and kills while branches are under way.

use crate::boundaries::fails;
use crate::harness::{Project, Ran, until};
use crate::kill::{halted_at, kill};
use crate::signals::{Agent, artifact, find, put, signal, wrapped};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The events of the latest run, without their numbers.
fn events(project: &Project) -> Vec<Value> {
    let run = project.asterisk(&["status", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned();
    project.asterisk(&["report", &run, "--files", "always"]);
    let strip = |line: &str| {
        let mut event: Value = serde_json::from_str(line).unwrap();
        event.as_object_mut().unwrap().remove("seq");
        event
    };
    project.read(&format!(".asterisk/investigations/{run}/events.jsonl")).lines().map(strip).collect()
}

/// Events of one kind as lines: the path and these fields.
fn summary(events: &[Value], kind: &str, fields: &[&str]) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let line = |event: &Value| {
        let fields: Vec<String> = fields.iter().map(|field| text(&event[*field])).collect();
        format!("{} {}", event["path"].as_str().unwrap(), fields.join(", "))
    };
    events.iter().filter(|event| event["type"] == kind).map(line).collect::<Vec<_>>().join("\n")
}

const WHOLE: &str = "\
pipeline: whole
nodes:
  - { name: look, prompt: who.md, effect: \"effects/none.rhai#none\" }
  - { name: own, pipeline: inner }
  - { name: free, pipeline: plain }
  - { name: say, prompt: who.md, effect: \"effects/none.rhai#none\" }
edges:
  - { id: W1, from: look, to: own, rule: \"rules/who.rhai#walks\" }
  - { id: W2, from: own, to: free, rule: \"rules/who.rhai#walks\" }
  - { id: W3, from: free, to: say, rule: \"rules/who.rhai#walks\" }
  - { id: W4, from: say, to: _done, rule: \"rules/who.rhai#walks\" }
team:
  walkers: [{ name: Anna, element: fire, preamble: Be quick., affinities: { look: 1, free: 1 } }, { name: Bert, affinities: { own: 1, say: 1 } }]
  scheduler: schedulers/affinity.rhai
start: look
done: _done
";

const INNER: &str = "\
pipeline: inner
nodes:
  - { name: ask, prompt: who.md, effect: \"effects/none.rhai#none\" }
  - { name: judge, prompt: who.md, effect: \"effects/none.rhai#none\" }
edges:
  - { id: I1, from: ask, to: judge, rule: \"rules/who.rhai#walks\" }
  - { id: I2, from: judge, to: _done, rule: \"rules/who.rhai#walks\" }
team:
  walkers: [{ name: Carl, preamble: Be slow., affinities: { ask: 1 } }, { name: Dora, affinities: { judge: 1 } }]
  scheduler: schedulers/affinity.rhai
start: ask
done: _done
";

const PLAIN: &str = "\
pipeline: plain
nodes:
  - { name: hear, prompt: who.md, effect: \"effects/none.rhai#none\" }
edges:
  - { id: P1, from: hear, to: _done, rule: \"rules/who.rhai#walks\" }
start: hear
done: _done
";

const WHO: &str = "\
/// Always, with who walks.
fn walks(artifact, state, vars) { #{ because: `${state.walker.name} walks, ${state.handoffs} handoffs` } }
";

pub(crate) const RUN: [&str; 9] = ["run", "whole", "--input", "none", "--stub", "stub.json", "--parallel", "1", "--files=always"];

pub(crate) fn walked() -> Project {
    let once = json!([{}]);
    let stub = json!({ "*": { "look": once, "ask": once, "judge": once, "hear": once, "say": once } });
    Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\ntemplates: templates\n"),
        ("pipelines/whole.yaml", WHOLE),
        ("pipelines/inner.yaml", INNER),
        ("pipelines/plain.yaml", PLAIN),
        ("scripts/rules/who.rhai", WHO),
        // Whose parameters the steps are recorded with.
        ("scripts/effects/none.rhai", "/// Nothing.\nfn none(artifact, params) { [] }\n"),
        ("templates/who.md", "{{ persona.name }}: {{ persona.preamble }}\n"),
        ("stub.json", &stub.to_string()),
    ])
}

/// A subpipeline is walked by its own team, or by the walker of the enclosing step; each counts its own handoffs.
#[test]
fn each_subpipeline_is_walked_by_its_own_team() {
    let project = walked();
    project.asterisk(&RUN).exits(0);
    let all = events(&project);
    let prompt = |path: &str| {
        let file = find(&project.root().join(".asterisk/investigations"), path);
        std::fs::read_to_string(&file[0]).unwrap()
    };
    let prompts =
        [prompt("prompt-look.md"), prompt("own/prompt-ask.md"), prompt("own/prompt-judge.md"), prompt("free/prompt-hear.md")];
    let switches = summary(&all, "walker_switch", &["from", "to"]);
    insta::assert_snapshot!(
        "walked",
        format!("{switches}\n\n{}\n\n{}", summary(&all, "transition", &["from", "because"]), prompts.concat())
    );
    let replay = project.asterisk(&["replay", "--format", "json"]).exits(0).json();
    assert_eq!(replay["flips"], json!([]));
    // With another enclosing team, only subpipelines without a team change.
    project.file("scripts/data/teams.yaml", "teams: { ours: { walkers: [Herald], scheduler: schedulers/single.rhai } }\n");
    project.asterisk(&[&RUN[..], &["--team", "ours"]].concat()).exits(0);
    insta::assert_snapshot!("given", summary(&events(&project), "transition", &["from", "because"]));
}

/// A mask that leaves its letter before and after.
fn mask(letter: &str) -> String {
    format!(
        "const NODES = [\"a\", \"b\"];\nfn pre(ctx) {{ let told = ctx.to_map(); let seen = if \"seen\" in ctx.meta {{ ctx.meta.seen }} else {{ \"\" }}; \
         told.meta = ctx.meta.to_map(); told.meta.seen = seen + \"{letter}\"; told }}\nfn post(ctx, artifact) {{ let made = artifact.to_map(); made.seen += \"{letter}\"; made }}\n"
    )
}

pub(crate) const MASKED: [&str; 9] =
    ["run", "m", "--input", "none", "--parallel", "1", "--files=always", "--mask", "masks/z.rhai"];

/// Two nodes with a mask each, two walkers with a mask each (the second also has that of its node), and one from the command line.
pub(crate) fn masked() -> Project {
    let pipeline = "\
pipeline: m
nodes:
  - { name: a, schema: { seen: string }, masks: [masks/n.rhai] }
  - { name: b, schema: { seen: string }, masks: [masks/n.rhai] }
edges:
  - { id: E1, from: a, to: b }
  - { id: E2, from: b, to: _done }
team:
  walkers: [{ name: Anna, affinities: { a: 1 }, masks: [masks/p.rhai] }, { name: Bert, affinities: { b: 1 }, masks: [masks/q.rhai, masks/n.rhai] }]
  scheduler: schedulers/affinity.rhai
start: a
done: _done
";
    let masks = ["N", "P", "Q", "Z"].map(mask);
    let answers = ["a", "b"]
        .map(|name| format!("/// What was seen.\nfn {name}(params, vars) {{ #{{ seen: params.meta.seen + \"|\" }} }}\n"));
    Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("pipelines/m.yaml", pipeline),
        ("scripts/masks/n.rhai", &masks[0]),
        ("scripts/masks/p.rhai", &masks[1]),
        ("scripts/masks/q.rhai", &masks[2]),
        ("scripts/masks/z.rhai", &masks[3]),
        ("scripts/agents/a.rhai", &answers[0]),
        ("scripts/agents/b.rhai", &answers[1]),
    ])
}

/// The node's outermost, then that of the command line, then those of the walker; each once.
#[test]
fn masks_of_a_walker_are_innermost() {
    let project = masked();
    project.asterisk(&MASKED).exits(0);
    let seen = |name: &str| {
        let path = &find(&project.root().join(".asterisk/investigations"), name)[0];
        serde_json::from_str::<Value>(&std::fs::read_to_string(path).unwrap()).unwrap()["seen"].as_str().unwrap().to_owned()
    };
    assert_eq!((seen("a.json").as_str(), seen("b.json").as_str()), ("NZP|PZN", "NZQ|QZN"));
    let all = events(&project);
    assert_eq!(summary(&all, "walker_switch", &["to"]), "1 Anna\n2 Bert");
    let masks =
        |path: &str| all.iter().find(|event| event["type"] == "masked" && event["path"] == path).unwrap()["masks"].clone();
    assert_eq!(masks("1"), json!(["masks/n.rhai", "masks/z.rhai", "masks/p.rhai"]));
    assert_eq!(masks("2"), json!(["masks/n.rhai", "masks/z.rhai", "masks/q.rhai"]));
    assert_eq!(project.asterisk(&["replay", "--format", "json"]).exits(0).json()["flips"], json!([]));
}

const BRANCHED: &str = "\
pipeline: tour
vars: { bar: 5 }
nodes:
  - { name: start }
  - { name: east, pipeline: leg }
  - { name: west, pipeline: leg }
  - { name: home }
edges:
  - { id: SE, from: start, to: east, parallel: true }
  - { id: SW, from: start, to: west, parallel: true }
  - { id: EH, from: east, to: home }
  - { id: WH, from: west, to: home }
  - { id: HD, from: home, to: _done }
start: start
done: _done
";

const LEG: &str = "\
pipeline: leg
vars: { bar: 5 }
nodes:
  - { name: go, schema: { n: int } }
  - { name: on, schema: { n: int } }
  - { name: rest, schema: { n: int } }
edges:
  - { id: GO, from: go, to: on, rule: \"rules/leg.rhai#far\" }
  - { id: OR, from: on, to: rest, rule: \"rules/leg.rhai#far\" }
  - { id: RD, from: rest, to: _done, rule: \"rules/leg.rhai#far\" }
start: go
done: _done
";

fn far(word: &str) -> String {
    format!("/// How far.\nfn far(artifact, state, vars) {{ #{{ because: `{word}: ${{artifact.n}} of ${{vars.bar}}` }} }}\n")
}

const TOUR: [&str; 8] = ["run", "tour", "--input", "none", "--stub", "stub.json", "--parallel", "1"];

fn branched() -> Project {
    let far_away = json!([{ "n": 7 }, { "n": 8 }]);
    let stub = json!({ "*": { "start": [{}], "go": far_away, "on": far_away, "rest": far_away, "home": [{}] } });
    Project::with(&[
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("pipelines/tour.yaml", BRANCHED),
        ("pipelines/leg.yaml", LEG),
        ("scripts/rules/leg.rhai", &far("first")),
        ("stub.json", &stub.to_string()),
    ])
}

/// The branches have begun, and each has taken one step.
fn within(events: &[Value]) -> bool {
    let went =
        |of: &str| events.iter().any(|event| event["type"] == "transition" && event["path"].as_str().unwrap().starts_with(of));
    went("2/branch[1]/1/east/") && went("2/branch[2]/1/west/") && !events.iter().any(|event| event["type"] == "join")
}

/// A run that stopped with each branch in the middle of its subpipeline.
fn stopped() -> Project {
    for at in (10..60).step_by(3) {
        let project = branched();
        assert!(fails(&project, &TOUR, at), "it was never in both");
        if within(&events(&project)) {
            return project;
        }
    }
    panic!("it was never in both");
}

fn decided(project: &Project) -> String {
    let all = events(project);
    let adopts = summary(&all, "adopt", &["generation"]);
    format!("{adopts}\n\n{}", summary(&all, "transition", &["edge", "because"]))
}

#[test]
fn a_run_is_migrated_while_cases_are_in_branches() {
    let project = stopped();
    project.file("scripts/rules/leg.rhai", far("second"));
    let ran = project.asterisk(&["run", "--resume", "latest", "--migrate", "--set", "bar=9", "--parallel", "1"]).exits(0);
    insta::assert_snapshot!("migrated", format!("{}\n{}", ran.stderr, decided(&project)));
    // Every decision is blamed on the text that made it.
    let blamed = |path: &str| project.asterisk(&["explain", "latest", "--step", path, "--blame"]).exits(0).text();
    let (before, after) = (blamed("2/branch[1]/1/east/1"), blamed("2/branch[2]/1/west/3"));
    assert!(before.contains("first") && !before.contains("second"), "{before}");
    assert!(after.contains("second") && !after.contains("first"), "{after}");
}

/// A graph that lacks what a branch went through does not fit.
#[test]
fn a_graph_without_the_recorded_steps_of_branches_is_refused() {
    let project = stopped();
    project.file("pipelines/leg.yaml", LEG.replace("GO", "GX"));
    insta::assert_snapshot!("refused", project.asterisk(&["run", "--resume", "latest", "--migrate"]).exits(3).text());
    project.asterisk(&["run", "--resume", "latest"]).exits(0);
}

/// Each branch takes an edit at its own next step.
#[test]
fn an_edit_applies_while_cases_are_in_branches() {
    for at in (10..60).step_by(3) {
        let project = branched();
        let mut child = halted_at(&project, &[&TOUR[..], &["--watch", "--format", "json"]].concat(), &at.to_string()).unwrap();
        if !within(&events(&project)) {
            kill(child);
            continue;
        }
        project.file("scripts/rules/leg.rhai", far("second"));
        // It is read and linked meanwhile.
        let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("reload: ") {
            line.clear();
            assert!(std::io::BufRead::read_line(&mut said, &mut line).unwrap() > 0, "the edit was never reported");
        }
        std::fs::remove_file(project.root().join("halted")).unwrap();
        let ran: Ran = project.ran(&child.wait_with_output().unwrap()).exits(0);
        assert_eq!(ran.json()["status"], "done");
        insta::assert_snapshot!("reloaded", decided(&project));
        return;
    }
    panic!("it was never in both");
}

/// An answerer of several concurrent branches is asked once for each, however often the host is killed, and no answer is lost.
#[test]
fn a_host_may_be_killed_while_branches_wait() {
    let tour = "\
pipeline: ask
nodes:
  - { name: find, schema: { places: any } }
  - { name: look, foreach: prior.find.places, merge: append, schema: { found: int } }
  - { name: say }
edges:
  - { id: T1, from: find, to: look }
  - { id: T2, from: look, to: say }
  - { id: T3, from: say, to: _done }
start: find
done: _done
";
    let stub = |signal: &Value, at: usize| {
        let data = match signal["step"].as_str().unwrap() {
            "FIND" => json!({ "places": [1, 2, 3, 4] }),
            _ => json!({ "found": at }),
        };
        wrapped(signal, &data)
    };
    let project = Project::with(&[
        ("pipelines/ask.yaml", tour),
        ("asterisk.yaml", "pipelines: pipelines\nagents: { file: { poll: 20ms, timeout: 60s } }\n"),
    ]);
    let waiting = |project: &Project| -> BTreeMap<String, Value> {
        let signals = find(&project.root().join(".asterisk"), "signal.json").into_iter().filter_map(|path| signal(&path));
        let waiting = signals.filter(|signal| signal["status"] == "waiting" && signal["step"] == "LOOK");
        waiting.map(|signal| (artifact(&signal).to_str().unwrap().to_owned(), signal)).collect()
    };
    let start = ["run", "ask", "--input", "none", "--via", "file", "--files", "always"];
    let resume = ["run", "--resume", "latest"];
    let mut ids: BTreeSet<String> = BTreeSet::new();
    // Four branches wait at once. Killed; no answers; started again: the same four.
    let finder = Agent::of(project.root(), move |_, signal, at| {
        if signal["step"] == "FIND" {
            put(&artifact(signal), stub(signal, at));
        }
    });
    for args in [&start[..], &resume, &resume] {
        let child = project.start(args);
        until(|| waiting(&project).len() == 4);
        kill(child);
        ids.extend(waiting(&project).values().map(|signal| signal["dispatch_id"].to_string()));
        assert_eq!(ids.len(), 4, "{ids:?}");
    }
    drop(finder);
    // One is answered between two runs, one during a run that is killed right after.
    let open: Vec<Value> = waiting(&project).into_values().collect();
    put(&artifact(&open[2]), stub(&open[2], 2));
    let child = project.start(&resume);
    until(|| waiting(&project).len() == 3);
    put(&artifact(&open[0]), stub(&open[0], 0));
    until(|| waiting(&project).len() == 2);
    kill(child);
    let rest = Agent::of(project.root(), move |path, signal, _| {
        let place = path.to_str().unwrap().find("branch[").map_or(9, |at| path.to_str().unwrap()[at + 7..].find(']').unwrap());
        assert!(signal["step"] != "LOOK" || place == 1);
        put(&artifact(signal), stub(signal, 1));
    });
    let ran = project.asterisk(&[&resume[..], &["--format", "json"]].concat()).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["T1", "T2", "T3"]));
    drop(rest);
    let all = events(&project);
    let count = |kind: &str, path: &str| {
        all.iter().filter(|event| event["type"] == kind && event["path"].as_str().unwrap().starts_with(path)).count()
    };
    assert_eq!(
        (count("asked", "2/branch["), count("node_exit", "2/branch["), count("asked", ""), count("complained", "")),
        (4, 4, 6, 0)
    );
    // Each answer is recorded at its request.
    let found = find(&project.root().join(".asterisk/investigations"), "look.json");
    let merged =
        found.iter().map(|path| std::fs::read_to_string(path).unwrap()).find(|text| text.contains('[')).unwrap_or_default();
    let merged: Value = serde_json::from_str(&merged).unwrap();
    insta::assert_snapshot!("waited", merged.to_string());
}
