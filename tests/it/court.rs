//! The defect court: a table of its edges and guards, and the decisions and walks of external vectors.

use crate::harness::Project;
use crate::server::{Server, private, says_json};
use crate::shared::shared_json;
use serde_json::{Map, Value, json};
use std::fmt::Write;

/// Whether the result has every key of the decision.
fn agrees(found: &Value, decided: &Value) -> bool {
    decided.as_object().unwrap().iter().all(|(key, value)| found.get(key) == Some(value))
}

/// Decisions, each as `edge -> target` or the kind of its error, in the order of the requests.
fn routed(asked: &[Value]) -> Vec<(String, Value)> {
    let batch: Vec<String> = asked.iter().map(Value::to_string).collect();
    let project = Project::with(&[("batch.jsonl", &batch.join("\n"))]);
    let ran = project.asterisk(&["eval", "route", "defect-court", "--batch", "batch.jsonl", "--format", "json"]);
    assert!(ran.stderr.is_empty(), "{}", ran.text());
    let found = ran.json_lines();
    assert_eq!(found.len(), asked.len());
    let way = |line: &Value| match line["error"].as_str() {
        Some(kind) => kind.to_owned(),
        None => format!("{} -> {}", line["edge"].as_str().unwrap(), line["to"].as_str().unwrap()),
    };
    found.into_iter().map(|line| (way(&line), line)).collect()
}

#[test]
fn the_table_of_edges() {
    let none = json!({});
    let remanded = |times: i64| json!({"loops": {"remand": times}});
    let late = json!({"elapsed_s": 601});
    let handed = json!({"handoffs": 13});
    let heard = json!({"context": {"hearing_rounds": [{"round": 1}]}});
    let remand = json!({"decision": "remand"});
    let rows = [
        ("indict", json!({"confidence": 0.95}), &none, "HD1 -> defend"),
        ("indict", json!({"confidence": 0.949_999}), &none, "indict-discover -> discover"),
        ("indict", json!(null), &none, "indict-discover -> discover"),
        ("indict", json!({"confidence": 0.95}), &late, "HD10 -> _done"),
        ("indict", json!({"confidence": 0.1}), &handed, "HD11 -> _done"),
        ("discover", json!(null), &none, "discover-defend -> defend"),
        ("discover", json!({"anything": [1]}), &none, "discover-defend -> defend"),
        ("discover", json!(null), &handed, "HD11 -> _done"),
        ("defend", json!({"plea_deal": true, "alternative_hypothesis": "x"}), &none, "HD2 -> verdict"),
        ("defend", json!({"challenges": [{}]}), &none, "HD3 -> hearing"),
        ("defend", json!({"challenges": [{}], "alternative_hypothesis": "x"}), &none, "HD4 -> hearing"),
        ("defend", json!({"alternative_hypothesis": "x"}), &none, "HD4 -> hearing"),
        ("defend", json!({"challenges": []}), &none, "defend-hearing -> hearing"),
        ("defend", json!(null), &none, "defend-hearing -> hearing"),
        ("defend", json!({"plea_deal": true}), &late, "HD10 -> _done"),
        ("hearing", json!({"converged": true, "max_rounds": 9}), &none, "HD5 -> verdict"),
        ("hearing", json!({"max_rounds": 1, "rounds": [{}]}), &none, "HD5 -> verdict"),
        ("hearing", json!({"max_rounds": 2, "rounds": [{}]}), &none, "hearing-continue -> hearing"),
        ("hearing", json!({"max_rounds": 2, "rounds": [{}]}), &heard, "HD5 -> verdict"),
        ("hearing", json!({"rounds": [{}]}), &none, "hearing-continue -> hearing"),
        ("hearing", json!({"rounds": [{}, {}, {}]}), &none, "HD5 -> verdict"),
        ("hearing", json!(null), &none, "HD5 -> verdict"),
        ("hearing", json!({"max_rounds": 2, "rounds": [{}]}), &late, "HD10 -> _done"),
        ("verdict", json!({"decision": "affirm"}), &none, "HD6 -> _done"),
        ("verdict", json!({"decision": "affirm"}), &late, "HD6 -> _done"),
        ("verdict", json!({"decision": "amend"}), &none, "HD7 -> _done"),
        ("verdict", remand.clone(), &none, "HD8 -> _done"),
        ("verdict", remand.clone(), &remanded(1), "HD8 -> _done"),
        ("verdict", remand.clone(), &remanded(2), "remand-exhausted -> _done"),
        ("verdict", remand, &handed, "HD8 -> _done"),
        ("verdict", json!({"decision": "acquit"}), &none, "HD9 -> _done"),
        ("verdict", json!({"decision": "mistrial"}), &none, "HD12 -> _done"),
        ("verdict", json!({"decision": "hung_jury"}), &none, "no_edge"),
        ("verdict", json!({"decision": "hung_jury"}), &late, "HD10 -> _done"),
        ("verdict", json!({"decision": "hung_jury"}), &handed, "HD11 -> _done"),
        ("verdict", json!({}), &none, "no_edge"),
        ("verdict", json!(null), &none, "no_edge"),
    ];
    let asked = rows.iter().enumerate().map(
        |(id, (node, artifact, state, _))| json!({"id": id.to_string(), "node": node, "artifact": artifact, "state": state}),
    );
    let found = routed(&asked.collect::<Vec<_>>());
    for ((node, artifact, state, expected), (way, _)) in rows.iter().zip(found) {
        assert_eq!(way, *expected, "{node} {artifact} {state}");
    }
}

#[test]
fn every_published_decision_is_the_decided_one() {
    let Some(file) = shared_json("vectors/court_routes.json") else { return };
    let vectors = file["routes"].as_array().unwrap();
    assert!(vectors.len() >= 21, "the file lost vectors");
    let part = |vector: &Value| {
        let keys = ["id", "node", "artifact", "state", "vars"];
        json!(keys.map(|key| (key.to_owned(), vector[key].clone())).into_iter().collect::<Map<_, _>>())
    };
    let found = routed(&vectors.iter().map(part).collect::<Vec<_>>());
    for (vector, (_, found)) in vectors.iter().zip(found) {
        assert!(agrees(&found, &vector["decided"]), "{}: decided {}, found {found}", vector["id"], vector["decided"]);
    }
}

/// The answers of a walk, each given to the node that is next by the rules of the court's own order.
fn stub(walk: &Value) -> Value {
    let mut answers: Map<String, Value> = Map::new();
    let path = walk["decided"]["node_path"].as_array().unwrap();
    for (node, artifact) in path.iter().zip(walk["artifacts"].as_array().unwrap()) {
        let list = answers.entry(node.as_str().unwrap()).or_insert_with(|| json!([]));
        list.as_array_mut().unwrap().push(artifact.clone());
    }
    json!({ "*": answers })
}

#[test]
fn every_published_walk_takes_the_decided_path() {
    let Some(file) = shared_json("vectors/walks.json") else { return };
    let walks = file["court"].as_array().unwrap();
    let walks: Vec<&Value> = walks.iter().filter(|walk| walk["decided"]["activated"] == true).collect();
    assert!(walks.len() >= 5, "the file lost walks");
    let project = Project::new();
    for walk in walks {
        project.file("stub.json", stub(walk).to_string());
        let words = "run defect-court --input none --stub stub.json --format json --files never";
        let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
        for name in ["max_remands", "max_handoffs"] {
            args.extend(["--set".to_owned(), format!("{name}={}", walk["vars"][name])]);
        }
        let case = project.asterisk(&args).exits(0).json()["cases"][0].clone();
        let court = &case["context"]["court"];
        let found = json!({
            "node_path": case["nodes"], "activated": true, "verdict": court["decision"],
            "final_defect": court["final_classification"], "flipped": court["flipped"],
        });
        assert!(agrees(&found, &walk["decided"]), "{}: decided {}, found {found}", walk["id"], walk["decided"]);
    }
}

#[test]
fn a_hearing_continues_up_to_its_last_round() {
    let project = Project::new();
    let answers = |rounds: &[Value], converged: usize, most: i64| {
        let visit =
            |(at, round): (usize, &Value)| json!({"rounds": [round], "max_rounds": most, "converged": at + 1 == converged});
        let hearing: Vec<Value> = rounds.iter().enumerate().map(visit).collect();
        json!({"*": {
            "indict": [{"charged_defect_type": "pb001", "confidence": 0.97}], "defend": [{"confidence": 0.5}],
            "hearing": hearing, "verdict": [{"decision": "affirm", "confidence": 0.8}]}})
    };
    let rounds: Vec<Value> = (1..=5).map(|round| json!({ "round": round })).collect();
    for (converged, most, visits) in [(2, 5, 2), (100, 3, 3), (3, 5, 3), (1, 1, 1)] {
        project.file("stub.json", answers(&rounds, converged, most).to_string());
        let args = ["run", "defect-court", "--input", "none", "--stub", "stub.json", "--format", "json", "--files", "never"];
        let case = project.asterisk(&args).exits(0).json()["cases"][0].clone();
        let heard = case["nodes"].as_array().unwrap().iter().filter(|node| *node == "hearing").count();
        assert_eq!(heard, visits, "converged at {converged}, at most {most}: {case}");
    }
}

/// The court's pipeline with three nodes of the enclosing walk, so that the sides have its conclusion.
fn trial() -> String {
    let text = |path: &str| std::fs::read_to_string(crate::bundled::root().join(path)).unwrap();
    let (rca, court) = (text("pipelines/rca.yaml"), text("pipelines/defect-court.yaml"));
    let node = |name: &str| {
        let rest = &rca[rca.find(&format!("  - name: {name}\n")).unwrap()..];
        let end = rest[1..].find("\n\n").unwrap();
        let kept = |line: &&str| !["prompt:", "fallback:", "effect:"].iter().any(|key| line.trim_start().starts_with(key));
        rest[..=end].lines().filter(kept).fold(String::new(), |all, line| all + line + "\n")
    };
    let nodes: String = ["triage", "resolve", "investigate"].map(node).concat();
    let edges = "edges:\n  - { id: a, from: triage, to: resolve }\n  - { id: b, from: resolve, to: investigate }\n  - { id: c, from: investigate, to: indict }\n";
    let own = "vars:\n  category_floor: 0.30\n";
    let court = court.replacen("pipeline: defect-court", "pipeline: trial", 1).replacen("vars:\n", own, 1);
    let court = court.replacen("nodes:\n  - name: indict", &format!("nodes:\n{nodes}\n  - name: indict"), 1);
    court.replacen("edges:\n", edges, 1).replacen("start: indict", "start: triage", 1)
}

fn with_trial() -> Project {
    let tests = std::fs::read(crate::harness::fixture("court/trial_test.rhai")).unwrap();
    let project =
        Project::with(&[("asterisk.yaml", "scripts: mine\npipelines: pipelines\n"), ("pipelines/trial.yaml", &trial())]);
    project.file("mine/trial_test.rhai", tests);
    project
}

#[test]
fn both_sides_receive_the_conclusion() {
    let ran = with_trial().asterisk(&["test", "trial_test.rhai"]);
    assert!(ran.code == Some(0), "{}", ran.text());
}

/// A crash of the product, and a line of the log that only a second look reads.
const DOUBTFUL: &str = r#"{"run_id": "7", "name": "nightly", "failure_list": [{"id": "a", "name": "prices add up", "status": "FAILED",
    "error_message": "panicked at src/pay.rs:42:5:\nindex out of bounds: the len is 1 but the index is 2",
    "log_snippet": "2026-02-03T11:00:01Z INFO ledger: write /var/lib/ledger: no space left on device"}]}"#;

#[test]
fn a_remanded_case_is_investigated_again() {
    let project = Project::with(&[("launch.json", DOUBTFUL)]);
    let args = ["run", "--input", "launch.json", "--set", "court=true", "--set", "term_strength=0", "--format", "json"];
    let run = project.asterisk(&args).ok().json();
    let case = &run["cases"][0];
    let edges: Vec<&str> = case["edges"].as_array().unwrap().iter().map(|edge| edge.as_str().unwrap()).collect();
    let way = [
        "H2",
        "H6",
        "H8",
        "H9",
        "court-convened",
        "court-remand",
        "H8",
        "H9",
        "court-convened",
        "court-settled",
        "review-defer",
        "H16",
    ];
    assert_eq!((edges.as_slice(), &case["loops"]), (way.as_slice(), &json!({"remand": 1})));
    let feedback = &case["context"]["remand_feedback"];
    assert_eq!((&feedback["original_classification"], &feedback["alternative_hypothesis"]), (&json!("pb001"), &json!("en001")));
    let prompt = project.asterisk(&["explain", "--case", "a", "--prompt", "--step", "investigate"]).exits(0);
    for said in ["Sent back by the court", "`pb001`", "`en001`", "1. The log also says"] {
        assert!(prompt.stdout.contains(said), "{said}: {}", prompt.stdout);
    }
    let first = project.asterisk(&["explain", "--case", "a", "--prompt", "--step", "4"]).exits(0);
    assert!(!first.stdout.contains("Sent back by the court"));
}

/// The shadow side has its own court, and may overcome there.
#[test]
fn the_court_is_walked_by_its_own_team() {
    let project = Project::new();
    let launch = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/court/launch.json");
    let asked = ["run", "--court", "--set", "court_floor=0.4", "--input", launch, "--case", "890101"];
    let args = [&asked[..], &["--observe", "narration", "--files", "always"]].concat();
    let ran = project.asterisk(&args).exits(0);
    let reported: Vec<&str> =
        ran.stderr.lines().filter(|line| line.contains("walks case") || line.contains("hands over")).collect();
    let explained = project.asterisk(&["explain", "latest", "--case", "890101"]).exits(0).text();
    let said: Vec<&str> = explained.lines().map(str::trim).filter(|line| line.starts_with("walker:")).collect();
    insta::assert_snapshot!("team", format!("{}\n{}", reported.join("\n"), said.join("\n")));
    // Nothing flips on replay, and the prompts contain the description of each walker.
    project.asterisk(&["replay", "--max-flips", "0"]).exits(0);
    let prompts = crate::signals::find(&project.root().join(".asterisk/investigations"), "court/prompt-defend.md");
    let prompt = std::fs::read_to_string(&prompts[0]).unwrap();
    assert!(prompt.contains("You are the Specter"), "{prompt}");
}

/// A sequence of numbers from a seed.
struct Dice(u64);

impl Dice {
    /// A number below `sides`.
    fn throw(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn pick(&mut self, values: &[Value]) -> Value {
        values[self.throw(values.len())].clone()
    }
}

/// An answer to a node of the court or to the report: terse, complete, or not legal at all.
fn any_answer(node: &str, dice: &mut Dice) -> String {
    let code = [json!("pb001"), json!("en001"), json!("ab001"), json!("zz999"), json!(""), json!(7), json!(null)];
    let sure = [json!(0.2), json!(0.6), json!(0.97), json!(1.0), json!(3), json!("high")];
    let decision = ["affirm", "Affirm", " AMEND", "amend", "acquit", "remand", "mistrial", "banana", ""].map(Value::from);
    let mut answer = json!({});
    let fields: &[(&str, &[Value])] = match node {
        "indict" => &[("charged_defect_type", &code), ("confidence", &sure)],
        "discover" => &[("questions", &[json!([]), json!(["why?"]), json!("why?")])],
        "defend" => &[
            ("confidence", &sure),
            ("alternative_hypothesis", &code),
            ("plea_deal", &[json!(true), json!(false)]),
            ("challenges", &[json!([]), json!([{"evidence_index": 9, "severity": "fatal"}]), json!([{}])]),
        ],
        "hearing" => &[("rounds", &[json!([]), json!([{}]), json!([{"round": 1}, {"round": 2}])]), ("converged", &[json!(true)])],
        "verdict" => &[
            ("decision", &decision),
            ("confidence", &sure),
            ("final_classification", &code),
            ("charge", &code),
            ("reasoning", &[json!("it was weighed")]),
            ("advisory", &[json!(true), json!(false)]),
            ("remand_feedback", &[json!({}), json!({"target": "triage"}), json!({"target": "nowhere"})]),
        ],
        _ => &[
            ("title", &[json!("It broke"), json!("")]),
            ("labels", &[json!(["a"])]),
            ("defect_type", &code),
            ("category", &code),
            ("confidence", &sure),
            ("evidence", &[json!([1, "x"]), json!("x"), json!({"a": 1})]),
            ("next_steps", &[json!(7), json!([])]),
        ],
    };
    for (name, values) in fields {
        // Required fields are missing at times, too.
        if dice.throw(5) > 0 {
            answer[*name] = dice.pick(values);
        }
    }
    if dice.throw(20) == 0 { "I cannot say.".to_owned() } else { answer.to_string() }
}

/// Whatever agents answer in the court and in the report, legal or not, a case keeps a classification: in the report, in JSON, in the
/// store.
#[test]
fn no_answer_of_an_agent_loses_a_classification() {
    let mut dice = Dice(45);
    let server = Server::answering(move |seen| {
        let asked = seen.body["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_str());
        let asked = asked.collect::<Vec<_>>().join("\n");
        let titles = [("D0 ", "indict"), ("D1 ", "discover"), ("D2 ", "defend"), ("D3 ", "hearing"), ("D4 ", "verdict")];
        let node = titles.iter().find(|(title, _)| asked.contains(&format!("# {title}"))).map_or("report", |(_, node)| node);
        says_json(&json!({
            "choices": [{ "message": { "role": "assistant", "content": any_answer(node, &mut dice) } }],
            "usage": { "prompt_tokens": 10, "completion_tokens": 10 },
        }))
    });
    let project = Project::new();
    let settings = "agents:\n  model: { kind: http, url: 'URL/v1', model: tiny, secret: { file: key }, retry: { wait: 1ms } }\n";
    project.file("asterisk.yaml", settings.replace("URL", &server.url));
    private(&project.file("key", "sk-very-secret-42\n"), 0o600);
    let errors = [
        "panicked at src/pay.rs:42:5: index out of bounds: the len is 1 but the index is 2",
        "AssertionError: expected 3, got 4",
        "connection refused: 10.0.0.7:5432",
        "TimeoutError: element #buy not found",
    ];
    let failure = |at: usize| {
        let error = format!("{} (part {at})", errors[at % errors.len()]);
        json!({"id": format!("c{at}"), "name": format!("test number {at}"), "status": "FAILED", "error_message": error})
    };
    let cases = 170;
    let launch = json!({"run_id": "7", "name": "nightly", "failure_list": (0..cases).map(failure).collect::<Vec<_>>()});
    project.file("launch.json", launch.to_string());
    let words = "run --input launch.json --court --set court_floor=0 --set court_ceiling=1 --set recall_hit=1 --set correlate_dup=1 --parallel 1";
    let mut args: Vec<String> = words.split(' ').map(str::to_owned).collect();
    for node in ["indict", "discover", "defend", "hearing", "verdict", "report"] {
        args.extend(["--via".to_owned(), format!("{node}=model")]);
    }
    let run = project.asterisk(&args);
    assert!(server.seen().len() >= 1000, "only {} answers: {}", server.seen().len(), run.text());
    let path = crate::signals::find(&project.root().join(".asterisk/investigations"), "rca.json");
    let report: Value = serde_json::from_slice(&std::fs::read(&path[0]).unwrap()).unwrap();
    let codes = ["pb001", "au001", "en001", "nd001", "fw001", "ti001"];
    let reported = report["cases"].as_array().unwrap();
    assert_eq!(reported.len(), cases);
    for case in reported {
        let finding = &case["finding"];
        let code = finding["defect_type"].as_str().unwrap();
        assert!(codes.contains(&code) && finding["category"] != "" && finding["confidence"].is_number(), "{case:#}");
        // In the court nothing is fatal; a report that is three times not a JSON object fails its case, which keeps its finding.
        let error = &case["error"];
        assert!(error.is_null() || error["node"] == "report", "{case:#}");
    }
    let stored = project.asterisk(&["rca", "list", "--format", "json"]).exits(0).json();
    for rca in stored["rcas"].as_array().unwrap() {
        assert!(codes.contains(&rca["defect_type"].as_str().unwrap()), "{rca:#}");
    }
    let table = project.asterisk(&["status", "latest"]).exits(0);
    assert!(!table.stdout.contains("no cause"), "{}", table.stdout);
}

/// The result of a case through the pipeline with the court: whether the classification is right, and how many answers the court took.
struct Tried {
    right: bool,
    answers: usize,
}

/// Walks a case whose cause is `pb001`: the first analyst says `first`, the defence `second`; if they differ, the judge sides with `judge`.
fn stubbed(first: &str, second: &str, judge: &str) -> Value {
    let verdict = if judge == first {
        json!({"decision": "affirm", "confidence": 0.8})
    } else {
        json!({"decision": "amend", "final_classification": judge, "confidence": 0.8})
    };
    let other = if second == first { "" } else { second };
    json!({
        "recall": [{"match": false, "confidence": 0}], "triage": [{"symptom_category": "assertion"}], "resolve": [{"selected_repos": []}],
        "investigate": [{"rca_message": "a cause", "defect_type": first, "convergence_score": 0.7, "evidence_refs": ["log: x"]}],
        "correlate": [{"is_duplicate": false, "confidence": 0}],
        "indict": [{"charged_defect_type": first, "confidence": 0.7}], "discover": [{}],
        "defend": [{"confidence": 0.6, "alternative_hypothesis": other, "plea_deal": second == first}],
        "hearing": [{"rounds": [{"round": 1}], "converged": true}], "verdict": [verdict],
        "review": [{"decision": "approve", "by": "agent"}], "report": [{"title": "t"}],
    })
}

/// From which accuracy on a court of agents pays, and what it costs: every course of a trial is walked once and weighed with its
/// probability. The truth is one of three defects; a wrong answer is either of the others. The table is the one in docs/court.md.
#[test]
fn the_table_of_what_a_court_of_agents_is_worth() {
    let project = Project::new();
    let choices = ["pb001", "au001", "en001"];
    let courses: Vec<(&'static str, &'static str, bool)> = choices
        .iter()
        .flat_map(|first| choices.iter().flat_map(move |second| [true, false].map(|sound| (*first, *second, sound))))
        .collect();
    let sides_with = |(first, second, sound): (&'static str, &'static str, bool)| -> &'static str {
        // A sound judge recognises the truth if a side names it.
        if (second == "pb001") == sound { second } else { first }
    };
    let id = |(first, second, sound): (&str, &str, bool)| format!("{first}-{second}-{sound}");
    let stub: Map<String, Value> =
        courses.iter().map(|course| (id(*course), stubbed(course.0, course.1, sides_with(*course)))).collect();
    project.file("stub.json", Value::from(stub).to_string());
    let failures: Vec<Value> = courses
        .iter()
        .map(|course| json!({"id": id(*course), "name": id(*course), "status": "FAILED", "error_message": id(*course)}))
        .collect();
    project.file("launch.json", json!({"run_id": "7", "name": "n", "failure_list": failures}).to_string());
    let words = "run --input launch.json --court --stub stub.json --format json";
    let run = project.asterisk(&words.split(' ').collect::<Vec<_>>()).json();
    let path = crate::signals::find(&project.root().join(".asterisk/investigations"), "rca.json");
    let report: Value = serde_json::from_slice(&std::fs::read(&path[0]).unwrap()).unwrap();
    let tried = |course: (&str, &str, bool)| {
        let of = |list: &Value| list["cases"].as_array().unwrap().iter().find(|case| case["case"] == id(course)).unwrap().clone();
        let explained = project.asterisk(&["explain", "latest", "--case", &id(course)]).exits(0).text();
        let answers = explained.lines().filter(|line| line.contains("/court/") && line.contains(" -> ")).count();
        assert!(of(&run)["edges"].as_array().unwrap().contains(&json!("court-settled")), "{}", of(&run));
        Tried { right: of(&report)["finding"]["defect_type"] == "pb001", answers }
    };
    let tried: Vec<Tried> = courses.iter().map(|course| tried(*course)).collect();
    let share = |right: bool, accuracy: f64| if right { accuracy } else { (1.0 - accuracy) / 2.0 };
    let expected = |first: f64, court: f64| {
        let mut sums = (0.0, 0.0);
        for ((one, other, sound), tried) in courses.iter().zip(&tried) {
            let judge = if *sound { court } else { 1.0 - court };
            let probability = share(*one == "pb001", first) * share(*other == "pb001", court) * judge;
            sums.0 += if tried.right { probability } else { 0.0 };
            sums.1 += probability * f64::from(u32::try_from(tried.answers).unwrap());
        }
        sums
    };
    let courts = [0.5, 0.6, 0.7, 0.8, 0.9];
    let mut table = String::from(
        "| first analyst | court 0.5 | 0.6 | 0.7 | 0.8 | 0.9 | pays from | more answers a case |\n|---|---|---|---|---|---|---|---|\n",
    );
    for first in [0.6, 0.7, 0.8] {
        let cells: Vec<String> = courts.iter().map(|court| format!("{:.2}", expected(first, *court).0)).collect();
        let pays = (0..=100).map(|percent| f64::from(percent) / 100.0).find(|court| expected(first, *court).0 > first + 1e-9);
        let answers = expected(first, pays.unwrap()).1;
        writeln!(table, "| {first} | {} | {:.2} | {answers:.1} |", cells.join(" | "), pays.unwrap()).unwrap();
    }
    let page = std::fs::read_to_string(crate::bundled::root().join("docs/court.md")).unwrap();
    assert!(page.contains(&table), "docs/court.md should have this table:\n{table}");
}
