//! The RCA pipeline over failures of every kind: `tests/fixtures/failures/*.json`, one failure per file with the expected
//! result. Everything is real except the store, whose answers are in the fixtures.

use crate::bundled::{files, project, project_with, root};
use asterisk_adapters::agent::ScriptAnswerer;
use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_base::model::{Case, Launch};
use asterisk_evidence::{FailureTexts, PeerIndexBuilder};
use asterisk_walk::{
    Answerer, CaseParams, Commit, Journal, JournalError, NodeAnswer, NullQueries, Plan, Queries, QuerySubject, Refusal, Request,
    StepContext, SubjectEvidence, WalkEnd, WalkState, Walker,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// The scripted responders, each of whose questions must also make a good prompt.
struct Prompted;

impl Answerer for Prompted {
    fn name(&self) -> &'static str {
        "script"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        let node = request.node_name();
        let prompt = request.prompt().unwrap_or_else(|| panic!("`{node}` lacks a template"));
        let prompt = prompt.unwrap_or_else(|diagnostic| panic!("{diagnostic} ({:?})", diagnostic.place()));
        let template = request.plan.node(request.node).template.as_ref().unwrap();
        assert_eq!(template.render(&request.params().json()).unwrap(), prompt, "a record gives the same prompt");
        assert!(prompt.contains("## What to answer") && prompt.contains(&request.case.name), "{node}: {prompt}");
        ScriptAnswerer.answer(request)
    }
}

/// The reads of a fixture.
struct Given(Value);

impl Queries for Given {
    fn query(&self, name: &str, about: &QuerySubject<'_>) -> Result<Value, String> {
        assert!(!about.case.id.is_empty());
        let given = match name {
            "siblings" => &self.0["siblings"],
            "peers" => return Ok(self.peers(about)),
            // Nothing is known of earlier launches.
            "tests.history" | "workspace.code" => return NullQueries.query(name, about),
            _ => &self.0["needs"][name.replace('.', "_")],
        };
        Ok(if given.is_array() { given.clone() } else { json!([]) })
    }
}

impl Given {
    /// What the case has in common with its siblings.
    fn peers(&self, about: &QuerySubject<'_>) -> Value {
        let SubjectEvidence { reader, keys } = about.evidence.unwrap();
        let siblings = self.0["siblings"].as_array().into_iter().flatten().map(|sibling| Case {
            id: text(&sibling["id"]),
            name: text(&sibling["name"]),
            suite: text(&sibling["suite"]),
            error_message: text(&sibling["error_message"]),
            ..Case::default()
        });
        let mut index = PeerIndexBuilder::default();
        index.add(&about.case.id, keys);
        for case in siblings {
            index.add(&case.id, &reader.peer_keys(&case, &reader.read(FailureTexts::of(&case, ""))));
        }
        json!(index.finish().peers(&about.case.id, keys))
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
    /// What the report says of it.
    finding: Value,
}

fn walk(fixture: &Value) -> Outcome {
    // JSON is YAML, so a fixture may contain a domain.
    let own = fixture["vocabulary"].is_object().then(|| fixture["vocabulary"].to_string());
    let domain = if own.is_some() { Some("own") } else { fixture["domain"].as_str() };
    let project = project_with(&fixture["workspace"], domain, own);
    let (launch, case) = (launch(fixture), case(fixture));
    let (journal, clock, stop) = (Kept::default(), FixedClock::new(Timestamp::from_millis(0), 1), AtomicBool::new(false));
    let walker = Walker {
        plan: &project.plan,
        plans: None,
        shadow: None,
        answer: &Prompted,
        needs: &Given(fixture.clone()),
        journal: &journal,
        clock: &clock,
        since: asterisk_base::clock::Timestamp::default(),
        run: "run",
        seed: 0,
        launch: &launch,
        stop: &stop,
        inherited: None,
        until: usize::MAX,
        parallel: 4,
        watch: None,
    };
    let mut state = WalkState::default();
    match walker.walk(&case, &mut state).unwrap() {
        WalkEnd::Done => {}
        end => panic!("the walk ended as {end:?}"),
    }
    let prior = state.prior.iter().map(|(node, artifact)| (node.to_string(), artifact.view().unwrap().json())).collect();
    let commits = journal.0.into_inner().unwrap();
    let effects = commits.iter().flat_map(|commit| &commit.effects).map(|effect| serde_json::to_value(effect).unwrap());
    let nodes = state.history.iter().map(|visit| visit.node.to_string()).collect();
    Outcome {
        nodes,
        prior: Value::Object(prior),
        effects: effects.collect(),
        finding: finding(&project.plan, &launch, &case, &state),
    }
}

fn finding(plan: &Plan, launch: &Launch, case: &Case, state: &WalkState) -> Value {
    let last = plan.pipeline.node(state.path.last().unwrap()).unwrap();
    let step = StepContext::between(plan, last, state);
    let params = CaseParams::new("run", launch, case).for_step(case, &step, &step.state(None), &[], &|_| Vec::new());
    plan.summary.as_ref().unwrap().respond(&params.view, plan.vars()).unwrap()
}

/// Everything that is not as the fixture expects.
fn complaints(fixture: &Value, outcome: &Outcome) -> Vec<String> {
    let (expect, report, triage) = (&fixture["expect"], &outcome.prior["report"], &outcome.prior["triage"]);
    let mut wrong = Vec::new();
    let nodes = json!(outcome.nodes);
    let category = if triage.is_null() { &report["category"] } else { &triage["symptom_category"] };
    for (what, got) in [
        ("category", category),
        ("skip", &triage["skip_investigation"]),
        ("cascade", &triage["cascade_suspected"]),
        ("clock_skew", &triage["clock_skew_suspected"]),
        ("defect_type", &report["defect_type"]),
        ("component", &report["component"]),
        ("nodes", &nodes),
        ("title", &report["title"]),
    ] {
        if !expect[what].is_null() && expect[what] != *got {
            wrong.push(format!("{what} is {got}, not {}", expect[what]));
        }
    }
    for (node, fields) in expect["artifacts"].as_object().into_iter().flatten() {
        for (field, wanted) in fields.as_object().into_iter().flatten() {
            let got = &outcome.prior[node][field];
            let fits = match wanted.as_str() {
                Some(part) => got.as_str().is_some_and(|got| got.contains(part)),
                None => got == wanted,
            };
            if !fits {
                wrong.push(format!("{node}.{field} is {got}, not {wanted}"));
            }
        }
    }
    if let Some(range) = expect["confidence"].as_array() {
        let got = report["confidence"].as_f64().unwrap_or(-1.0);
        if got < range[0].as_f64().unwrap() || got > range[1].as_f64().unwrap() {
            wrong.push(format!("confidence {got} is not within {}", expect["confidence"]));
        }
    }
    let repos: Value =
        outcome.prior["resolve"]["selected_repos"].as_array().into_iter().flatten().map(|repo| repo["name"].clone()).collect();
    for (what, all) in [
        ("steps", &report["next_steps"]),
        ("summary", &json!([report["summary"]])),
        ("evidence", &report["evidence"]),
        ("candidates", &triage["candidate_repos"]),
        ("repos", &repos),
        ("triage", &json!([triage["reasoning"]])),
    ] {
        let said: Vec<String> = all.as_array().into_iter().flatten().map(text).collect();
        for (key, wanted) in [("contains", true), ("lack", false)] {
            for part in expect[format!("{what}_{key}")].as_array().into_iter().flatten().map(text) {
                if said.iter().any(|item| item.contains(&part)) != wanted {
                    wrong.push(format!("`{part}` in the {what} is {}: {said:#?}", !wanted));
                }
            }
        }
    }
    wrong
}

#[test]
fn every_failure_fixture_is_read_as_expected() {
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
fn every_step_has_its_effects() {
    let triaged = ["create_triage", "upsert_symptom", "set_case_status"];
    let investigated = ["create_rca", "set_case_status", "link_symptom_rca"];
    let with = |more: &[&str]| [&triaged, &investigated, more].concat().into_iter().map(String::from).collect::<Vec<_>>();
    assert_eq!(effects("go-data-race"), with(&["set_case_status"]));
    assert_eq!(effects("duplicate-of-known"), with(&["update_rca", "link_rca", "link_symptom_rca"]));
    assert_eq!(effects("recall-known"), ["link_symptom", "mark_seen", "link_rca", "set_case_status"]);
    // Without an investigation, the triage stores the cause.
    assert_eq!(effects("disk-full"), [&triaged[..], &["create_rca", "link_symptom_rca", "set_case_status"]].concat());
    let last = walk(&fixture("disk-full")).effects.pop().unwrap();
    assert_eq!(last["status"], "auto_reviewed");
}

/// The key of a case's cause, if its error or log were another.
fn cause(name: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut fixture = fixture(name);
    change(&mut fixture);
    text(&walk(&fixture).finding["cause"])
}

#[test]
fn causes_are_distinguished() {
    let refused = |host: &str| {
        cause("dns", |fixture| fixture["case"]["error_message"] = json!(format!("dial tcp {host}: connection refused")))
    };
    assert_eq!(refused("10.1.0.7:8443"), refused("10.1.0.7:8443"));
    assert_ne!(refused("10.1.0.7:8443"), refused("10.1.0.8:8443"), "another machine");
    assert_ne!(refused("10.1.0.7:8443"), refused("10.1.0.7:8444"), "another service");
    assert_eq!(refused("127.0.0.1:40001"), refused("127.0.0.1:40002"), "a random port");
    let silent = |name: &str, suite: &str| {
        cause("names-only", |fixture| {
            fixture["case"]["name"] = json!(name);
            fixture["case"]["suite"] = json!(suite);
        })
    };
    assert_ne!(silent("one", ""), silent("two", ""), "no root is known");
    assert_ne!(silent("one", "[A] tests"), silent("two", "[A] tests"), "a common suite is not a common cause");
}

#[test]
fn a_known_failure_is_grouped_like_a_new_one() {
    let new = |fixture: &mut Value| fixture["needs"] = json!({});
    for name in ["recall-beside-its-own-evidence", "duplicate-of-known"] {
        assert_eq!(cause(name, |_| ()), cause(name, new), "{name}");
    }
    let closed = walk(&fixture("duplicate-of-known")).finding;
    assert!(!closed["title"].as_str().unwrap().is_empty() && closed["evidence"][0].is_string(), "{closed:#}");
    assert!(closed["next_steps"].to_string().contains("Known as root cause"), "{closed:#}");
}

#[test]
fn words_near_a_signature_occur_wherever_it_matches() {
    let data = project(&Value::Null).plan.data.view().unwrap().json();
    let all = files(&root().join("tests/fixtures/failures"), "json");
    let texts: Vec<String> = all
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap())
        .map(|fixture| {
            let fixture: Value = serde_json::from_str(&fixture).unwrap();
            format!("{}\n{}", text(&fixture["case"]["error_message"]), text(&fixture["case"]["log_snippet"]))
        })
        .collect();
    for signature in data["domain"]["signatures"].as_array().unwrap() {
        let Some(near) = signature["near"].as_array().filter(|near| !near.is_empty()) else { continue };
        let near: Vec<String> = near.iter().map(text).collect();
        let id = &signature["id"];
        assert!(near.iter().all(|word| *word == word.to_lowercase()), "{id}: {near:?}");
        for pattern in signature["patterns"].as_array().unwrap().iter().map(text) {
            let regex = regex::Regex::new(&format!("(?im){pattern}")).unwrap();
            for found in texts.iter().filter_map(|text| regex.find(text)) {
                let found = found.as_str().to_lowercase();
                assert!(near.iter().any(|word| found.contains(word)), "{id}: `{found}` has none of {near:?}");
            }
        }
    }
}
