//! The RCA pipeline over failures of every kind: `tests/fixtures/failures/*.json`, one failure a file with what a person
//! would say of it. Everything is real but the store, whose answers the fixtures hold.

#![allow(clippy::unwrap_used)]

mod common;

use asterisk::agent::Scripts;
use asterisk::clock::{FixedClock, Timestamp};
use asterisk::model::{Case, Launch};
use asterisk::walk::{About, Answer, Commit, End, Journal, JournalError, Needs, Refusal, Reply, Request, WalkState, Walker};
use common::{files, project, root};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// The scripted responders, each of whose questions must also make a good prompt.
struct Prompted;

impl Answer for Prompted {
    fn name(&self) -> &'static str {
        "script"
    }

    fn answer(&self, request: &Request<'_>) -> Result<Reply, Refusal> {
        let node = request.node_name();
        let prompt = request.prompt().unwrap_or_else(|| panic!("`{node}` has no template"));
        let prompt = prompt.unwrap_or_else(|diagnostic| panic!("{diagnostic} ({:?})", diagnostic.place()));
        assert!(prompt.contains("## What to answer") && prompt.contains(&request.case.name), "{node}: {prompt}");
        Scripts.answer(request)
    }
}

/// The reads of a fixture.
struct Given(Value);

impl Needs for Given {
    fn query(&self, name: &str, about: &About<'_>) -> Result<Value, String> {
        assert!(!about.case.id.is_empty());
        let given = match name {
            "siblings" => &self.0["siblings"],
            _ => &self.0["needs"][name.replace('.', "_")],
        };
        Ok(if given.is_array() { given.clone() } else { json!([]) })
    }
}

/// Keeps the commits of a walk.
#[derive(Default)]
struct Kept(Mutex<Vec<Commit>>);

impl Journal for Kept {
    fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        self.0.lock().unwrap().push(commit);
        Ok(())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn launch(fixture: &Value) -> Launch {
    let mut launch: Value = fixture["launch"].clone();
    launch["run_id"] = json!("1");
    launch["cases"] = json!([]);
    serde_json::from_value(launch).unwrap()
}

fn case(fixture: &Value) -> Case {
    let mut case = fixture["case"].clone();
    case["recall_key"] = json!("");
    serde_json::from_value(case).unwrap()
}

/// What a walk of a fixture came to.
struct Outcome {
    nodes: Vec<String>,
    prior: Value,
    effects: Vec<Value>,
}

fn walk(fixture: &Value) -> Outcome {
    let project = project(&fixture["workspace"]);
    let (launch, case) = (launch(fixture), case(fixture));
    let (journal, clock, stop) = (Kept::default(), FixedClock::new(Timestamp::from_millis(0), 1), AtomicBool::new(false));
    let walker = Walker {
        plan: &project.plan,
        answer: &Prompted,
        needs: &Given(fixture.clone()),
        journal: &journal,
        clock: &clock,
        run: "run",
        seed: 0,
        launch: &launch,
        stop: &stop,
        watch: None,
    };
    let mut state = WalkState::default();
    match walker.walk(&case, &mut state).unwrap() {
        End::Done => {}
        end => panic!("the walk ended as {end:?}"),
    }
    let prior = state.prior.iter().map(|(node, artifact)| (node.to_string(), artifact.view().unwrap().json())).collect();
    let commits = journal.0.into_inner().unwrap();
    let effects = commits.iter().flat_map(|commit| &commit.effects).map(|effect| serde_json::to_value(effect).unwrap());
    let nodes = state.history.iter().map(|visit| visit.node.to_string()).collect();
    Outcome { nodes, prior: Value::Object(prior), effects: effects.collect() }
}

/// Everything that is not as the fixture expects.
fn complaints(fixture: &Value, outcome: &Outcome) -> Vec<String> {
    let (expect, report, triage) = (&fixture["expect"], &outcome.prior["report"], &outcome.prior["triage"]);
    let mut wrong = Vec::new();
    let nodes = json!(outcome.nodes);
    for (what, got) in [
        ("category", &triage["symptom_category"]),
        ("skip", &triage["skip_investigation"]),
        ("cascade", &triage["cascade_suspected"]),
        ("clock_skew", &triage["clock_skew_suspected"]),
        ("defect_type", &report["defect_type"]),
        ("component", &report["component"]),
        ("nodes", &nodes),
    ] {
        if !expect[what].is_null() && expect[what] != *got {
            wrong.push(format!("{what} is {got}, not {}", expect[what]));
        }
    }
    if let Some(range) = expect["confidence"].as_array() {
        let got = report["confidence"].as_f64().unwrap_or(-1.0);
        if got < range[0].as_f64().unwrap() || got > range[1].as_f64().unwrap() {
            wrong.push(format!("confidence {got} is not within {}", expect["confidence"]));
        }
    }
    let evidence: Vec<String> = report["evidence"].as_array().into_iter().flatten().map(text).collect();
    for part in expect["evidence_contains"].as_array().into_iter().flatten().map(text) {
        if !evidence.iter().any(|item| item.contains(&part)) {
            wrong.push(format!("no evidence says `{part}`: {evidence:#?}"));
        }
    }
    for (what, all) in [("steps", &report["next_steps"]), ("summary", &json!([report["summary"]]))] {
        let said: Vec<String> = all.as_array().into_iter().flatten().map(text).collect();
        for part in expect[format!("{what}_contain")].as_array().into_iter().flatten().map(text) {
            if !said.iter().any(|item| item.contains(&part)) {
                wrong.push(format!("the {what} do not say `{part}`: {said:#?}"));
            }
        }
        for part in expect[format!("{what}_lack")].as_array().into_iter().flatten().map(text) {
            if said.iter().any(|item| item.contains(&part)) {
                wrong.push(format!("the {what} say `{part}`: {said:#?}"));
            }
        }
    }
    for part in expect["summary_contains"].as_array().into_iter().flatten().map(text) {
        if !text(&report["summary"]).contains(&part) {
            wrong.push(format!("the summary does not say `{part}`: {}", report["summary"]));
        }
    }
    wrong
}

#[test]
fn every_failure_is_read_as_a_person_would() {
    let mut said = String::new();
    let all = files(&root().join("tests/fixtures/failures"), "json");
    assert!(all.len() >= 40, "only {} fixtures", all.len());
    for path in all {
        let fixture: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        for complaint in complaints(&fixture, &walk(&fixture)) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            writeln!(said, "{name} ({}): {complaint}", text(&fixture["about"])).unwrap();
        }
    }
    assert!(said.is_empty(), "\n{said}");
}

fn fixture(name: &str) -> Value {
    let path = root().join("tests/fixtures/failures").join(name).with_extension("json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn effects(name: &str) -> Vec<String> {
    walk(&fixture(name)).effects.iter().map(|effect| text(&effect["effect"])).collect()
}

#[test]
fn each_step_leaves_its_records() {
    let triaged = ["create_triage", "upsert_symptom", "set_case_status"];
    let investigated = ["create_rca", "set_case_status", "link_symptom_rca"];
    let with = |more: &[&str]| [&triaged, &investigated, more].concat().into_iter().map(String::from).collect::<Vec<_>>();
    assert_eq!(effects("go-data-race"), with(&["set_case_status"]));
    assert_eq!(effects("duplicate-of-known"), with(&["link_rca", "link_symptom_rca"]));
    assert_eq!(effects("recall-known"), ["link_symptom", "mark_seen", "link_rca", "set_case_status"]);
    assert_eq!(effects("disk-full"), [&triaged[..], &["set_case_status"]].concat());
    let last = walk(&fixture("disk-full")).effects.pop().unwrap();
    assert_eq!(last["status"], "auto_reviewed");
}
