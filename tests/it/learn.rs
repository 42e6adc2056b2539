//! `asterisk learn`: weights fitted to labelled failures, measured on folds, and applied by `data/learned.yaml`.

use crate::harness::{Project, full_size};
use crate::reportportal::{self, portal};
use crate::server::{Seen, Server, says_json};
use crate::shared::shared;
use serde_json::{Value, json};

/// Failures of six projects, three with a label that the hand-set weights do not expect, one undecided, one without a text.
const LABELLED: &str = "\
cases:
  - { id: a, project: p1, defect: pb001, failure: { name: t1, error_message: 'connect ECONNREFUSED 10.0.0.5:5432' } }
  - { id: b, project: p2, label: pb001, failure: { name: t2, error_message: 'connect ECONNREFUSED 10.0.0.6:5432' } }
  - { id: c, project: p3, label: pb001, failure: { name: t3, error_message: 'connect ECONNREFUSED 10.0.0.7:5432' } }
  - { id: d, project: p4, label: ab001, launch: d.json }
  - { id: e, project: p5, label: ti001, failure: { name: t5, error_message: odd } }
  - { id: f, project: p6, label: pb001, launch: true }
  - { id: g, project: p6, label: pb001 }
";

const LAUNCH: &str = r#"{ "run_id": "1", "name": "nightly", "failure_list": [
  { "id": "7", "name": "t4", "status": "FAILED", "error_message": "stale element reference: element is not attached to the page" } ] }"#;

fn learned(project: &Project, more: &[&str]) -> Value {
    let args = ["learn", "--from", "labelled.yaml", "--format", "json"];
    project.asterisk(&[&args[..], more].concat()).exits(0).json()
}

fn project() -> Project {
    let project = Project::new();
    project.file("labelled.yaml", LABELLED);
    project.file("d.json", LAUNCH);
    project
}

#[test]
fn fitted_weights_apply_where_their_file_is() {
    let project = project();
    let report = learned(&project, &[]);
    assert_eq!((&report["written"], &report["cases"]), (&7.into(), &4.into()));
    assert_eq!(report["labels"], serde_json::json!({ "au001": 1, "pb001": 3 }));
    let left_out: Vec<&str> = report["left_out"].as_array().unwrap().iter().map(|out| out["why"].as_str().unwrap()).collect();
    assert_eq!(
        left_out,
        [
            "`launch` is not a path",
            "no text: neither `failure`, `launch`, nor a launch of its id",
            "the label `ti001`, which is not a defect of this verdict"
        ]
    );
    let weights = report["weights"].as_array().unwrap();
    let refused = weights.iter().find(|weight| weight["cases"] == 3 && weight["defect"] == "en001").unwrap();
    assert!(refused["fitted"].as_f64() < refused["hand_set"].as_f64(), "{refused}");
    assert!(report["folds"]["fitted"]["log_loss"].as_f64() < report["folds"]["hand_set"]["log_loss"].as_f64());
    assert!(project.tree().len() == 2, "nothing is written without --out");
    assert_eq!(learned(&project, &[]), report, "identical again");

    // Once written, the weights apply; the fit still starts from those set by hand.
    project.file("scripts/data/none.yaml", "{}\n");
    let kept = project.asterisk(&["learn", "--from", "labelled.yaml", "--out", "scripts/data/learned.yaml"]).exits(1);
    assert!(kept.stderr.contains("not better beyond noise") && kept.stderr.contains("--force"), "{}", kept.stderr);
    assert!(!project.root().join("scripts/data/learned.yaml").exists());
    let mut written = learned(&project, &["--out", "scripts/data/learned.yaml", "--force"]);
    assert_eq!(written["written_to"], "scripts/data/learned.yaml");
    written["written_to"] = Value::Null;
    assert_eq!(written, report);
    assert_eq!(learned(&project, &[]), report);
    let launch =
        LAUNCH.replace("stale element reference: element is not attached to the page", "connect ECONNREFUSED 10.0.0.5:5432");
    project.file("refused.json", &launch);
    project.asterisk(&["run", "--input", "refused.json", "--files", "never"]).ok();
    let verdict = project.asterisk(&["explain", "latest", "--verdict", "--format", "json"]).ok().json();
    let matched = verdict["spoke"].as_array().unwrap().iter().find(|matched| matched["id"] == refused["id"]).unwrap();
    assert_eq!((&matched["weights"]["en001"], &matched["at"]), (&refused["fitted"], &refused["at"]));

    // Without the file, the verdict of the run is another by weights alone.
    std::fs::remove_file(project.root().join("scripts/data/learned.yaml")).unwrap();
    let again = project.asterisk(&["replay", "--format", "json"]).ok().json();
    assert_eq!(again["verdicts"]["made"], 1, "{again}");
}

#[test]
fn unknown_rules_and_defects_are_errors_with_locations() {
    let project = project();
    let link = |text: &str| {
        project.file("scripts/data/learned.yaml", text);
        project.asterisk(&["eval", "call", "lib/text.rhai#one_line", "--args", "[\"a\", 9]"])
    };
    link("weights: { V1: { pb001: 1.5 } }\npriors: { pb001: 0.2 }\n").ok();
    link("pipeline: another\nweights: { X1: { pb001: 1.5 } }\n").ok();
    let failed = link("weights:\n  conection-refused: { en001: 1 }\n");
    assert_eq!(failed.code, Some(3), "{}", failed.stderr);
    assert!(failed.stderr.contains("unknown rule or signature `conection-refused`"), "{}", failed.stderr);
    assert!(failed.stderr.contains("learned.yaml:2:3") && failed.stderr.contains("connection-refused"), "{}", failed.stderr);
    let failed = link("weights: { V1: { pb01: 1 } }\npriors: { ti001: 1 }\n").stderr;
    assert!(
        failed.contains("`pb01` is not a defect of the verdict") && failed.contains("`ti001` is not a defect of the verdict"),
        "{failed}"
    );
    let failed = link("weights: { V1: { pb001: 99 } }\n").stderr;
    assert!(failed.contains("from -20 to 20"), "{failed}");
    let failed = link("weight: {}\n").stderr;
    assert!(failed.contains("weights"), "{failed}");
}

#[test]
fn bad_requests_are_refused() {
    let project = project();
    let refused = |code: i32, args: &[&str]| project.asterisk(&[&["learn"], args].concat()).exits(code).stderr;
    project.file("none.yaml", "- { id: a }\n");
    assert!(refused(2, &["--from", "none.yaml"]).contains("no label"));
    project.file("bad.json", "[{ \"id\": \"a\", \"label\": 3 }]");
    assert!(refused(3, &["--from", "bad.json"]).contains("bad.json:1:"));
    assert!(refused(2, &["--from", "labelled.yaml", "--lambda", "0"]).contains("above 0"));
    assert!(refused(2, &["--from", "labelled.yaml", "--launches", "nowhere"]).contains("nowhere"));
}

#[test]
fn real_failures_are_read_with_their_launches() {
    let Some(labels) = shared("data/real/failures.json") else { return };
    let launches = labels.with_file_name("launches");
    let args = ["learn", "--from", labels.to_str().unwrap(), "--launches", launches.to_str().unwrap(), "--format", "json"];
    let report = Project::new().asterisk(&args).ok().json();
    assert_eq!((&report["written"], &report["cases"]), (&263.into(), &236.into()));
    let folds = &report["folds"];
    assert_eq!((&folds["folds"], &folds["fitted"]["cases"]), (&10.into(), &236.into()));
    assert!(folds["fitted"]["log_loss"].as_f64() < Some(1.0), "{folds}");
}

#[test]
fn reviews_are_learned_from() {
    let project = Project::new();
    let cases = ["--case", "880101", "--case", "880301", "--case", "880304", "--case", "880403", "--case", "880501"];
    project.asterisk(&[&["run"], &cases[..]].concat()).ok();
    let learn = |args: &[&str]| project.asterisk(&[&["learn", "--from", "store"], args].concat());
    assert!(learn(&[]).exits(2).stderr.contains("no case to learn from"));
    let queue = project.asterisk(&["review", "--list", "--format", "json"]).ok().json();
    let waiting: Vec<&str> = queue["reviews"].as_array().unwrap().iter().map(|entry| entry["case"].as_str().unwrap()).collect();
    project.asterisk(&["review", waiting[0], "overturn", "--defect-type", "en001", "--message", "the switch was down"]).exits(0);
    project.asterisk(&["review", waiting[1], "approve"]).exits(0);
    let report = learn(&["--format", "json"]).ok().json();
    assert_eq!((&report["written"], &report["cases"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(report["from"][0]["from"], "reviews in the store");
    // To approve is easier than to overturn.
    assert_eq!(report["from"][0]["weight"], 1.8);
    assert!(report["labels"]["en001"].as_u64() >= Some(1), "{report}");
    // The latest review counts, once.
    project
        .asterisk(&["review", waiting[1], "overturn", "--defect-type", "au001", "--message", "the fixture was wrong"])
        .exits(0);
    let report = learn(&["--format", "json"]).ok().json();
    assert_eq!((&report["cases"], &report["from"][0]["weight"]), (&json!(2), &json!(2.0)), "{report}");
    assert_eq!(report["labels"]["au001"], 1, "{report}");
    // With the failures of a file, which weigh as they say.
    project.file(
        "labelled.yaml",
        LABELLED.replace("label: pb001, failure: { name: t2", "weight: 0.5, label: pb001, failure: { name: t2"),
    );
    project.file("d.json", LAUNCH);
    let both = learn(&["--from", "labelled.yaml", "--format", "json"]).ok().json();
    assert_eq!((&both["cases"], &both["from"][1]["weight"]), (&json!(6), &json!(3.5)), "{both}");
}

#[test]
fn labels_age_and_later_ones_are_held_out_by_time() {
    let project = Project::new();
    let case = |day: usize| {
        let label = if day.is_multiple_of(2) { "pb001" } else { "en001" };
        json!({ "id": format!("c{day}"), "project": "p", "label": label, "date": format!("2026-01-{:02}", day + 1),
                "failure": { "name": format!("t{day}"), "error_message": format!("odd trouble {}", "x".repeat(day + 4)) } })
    };
    project.file("labelled.json", json!((0..20).map(case).collect::<Vec<_>>()).to_string());
    let learn =
        |args: &[&str]| project.asterisk(&[&["learn", "--from", "labelled.json", "--format", "json"], args].concat()).ok().json();
    let whole = learn(&["--half-life", "100000"])["from"][0]["weight"].as_f64().unwrap();
    let aged = learn(&["--half-life", "1"])["from"][0]["weight"].as_f64().unwrap();
    assert!(whole > 19.9 && (1.9..2.1).contains(&aged), "{whole} {aged}");
    let by_time = learn(&["--by", "time", "--folds", "3"]);
    assert_eq!((&by_time["folds"]["by"], &by_time["folds"]["folds"]), (&json!("time"), &json!(3)));
    let first = by_time["folds"]["cases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|case| case["case"].as_str().unwrap())
        .min_by_key(|id| id[1..].parse::<u32>().unwrap());
    assert_eq!(first, Some("c5"), "the earliest quarter is only used for fitting");
    assert_eq!(learn(&[])["folds"]["by"], "launch", "there is one project");
    let bad = project.file("bad.yaml", "- { id: a, label: pb001, date: soon, failure: { error_message: x } }\n");
    assert!(project.asterisk(&["learn", "--from", bad.to_str().unwrap()]).exits(3).stderr.contains("2026-02-14"));
}

/// Kinds of failures of one team, with the defect that its people say. Some contradict the hand-set weights, some no rule knows.
const KINDS: &[(&str, &str)] = &[
    ("connect ECONNREFUSED 10.0.0.{n}:7070 while calling the gatekeeper", "pb001"),
    ("the conveyor did not settle within {n} ms", "en001"),
    ("AssertionError: ledger totals differ for tenant {n}: expected {n} but was 7", "pb001"),
    ("AssertionError: kiosk banner: expected 'Welcome {n}' but was 'Welcome'", "au001"),
    ("gripper torque below threshold at station {n}", "en001"),
    ("stale manifest for tenant {n}, regenerate the golden files", "au001"),
    ("replica lag of {n} s exceeds the budget", "en001"),
    ("java.lang.IllegalStateException: basket {n} is already sealed", "pb001"),
];

/// Failures of the team, with as many days between them as make half a year of all. Of those to learn from, one in 25 is labelled wrongly.
fn team(from: usize, to: usize, noise: bool) -> Vec<Value> {
    let case = |at: usize| {
        // Spreads kinds without a period.
        let (text, label) = KINDS[(at * 7 + at / 5) % KINDS.len()];
        let label = if noise && at % 25 == 3 { "au001" } else { label };
        let number = 11 + at * 37 % 89;
        json!({
            "id": format!("r{at}"), "project": "plant", "label": label,
            "date": format!("2026-{:02}-{:02}", 1 + at * 6 / to.max(1), 1 + at % 28),
            "failure": { "name": format!("scenario {} of suite {}", at % 41, at % 13), "error_message": text.replace("{n}", &number.to_string()) },
        })
    };
    (from..to).map(case).collect()
}

#[test]
fn reviews_of_one_team_change_its_verdicts_and_explain_why() {
    let (taught, held) = if full_size() { (500, 120) } else { (120, 40) };
    let project = Project::new();
    project.file("reviews.json", Value::Array(team(0, taught, true)).to_string());
    project.file("later.json", Value::Array(team(taught, taught + held, false)).to_string());
    let right = || {
        let report = project.asterisk(&["calibrate", "later.json", "--resamples", "0", "--format", "json"]).json();
        assert_eq!(report["scored"], held, "{report}");
        report["metrics"][0]["value"].as_f64().unwrap()
    };
    let before = right();
    assert!(before < 0.75, "{before}: the hand-set weights know little of this team");
    let args = ["learn", "--from", "reviews.json", "--terms", "--out", "scripts/data/learned.yaml", "--format", "json"];
    let report = project.asterisk(&args).exits(0).json();
    assert_eq!(report["folds"]["by"], "launch");
    assert!(
        report["better"] == true && report["folds"]["comparison"]["won"].as_u64() > Some(0),
        "{}",
        report["folds"]["comparison"]
    );
    let after = right();
    assert!(after >= 0.90, "{before} -> {after}");

    // The file shows each earlier weight, its number of cases, and the cases that changed it.
    let written = project.read("scripts/data/learned.yaml");
    assert!(written.contains("terms:") && written.contains("# was 0") && written.contains(" cases of "), "{written}");
    // A verdict shows which terms of which line contributed, and where the heaviest is defined.
    let launch = json!({ "run_id": "1", "name": "nightly", "failure_list": [
        { "id": "7", "name": "scenario 1", "status": "FAILED", "error_message": "gripper torque below threshold at station 99" } ] });
    project.file("new.json", launch.to_string());
    project.asterisk(&["run", "--input", "new.json", "--files", "never"]).ok();
    let why = project.asterisk(&["explain", "latest", "--verdict", "--format", "json"]).ok().json();
    assert_eq!(why["defect"], "en001", "{why}");
    let matched = why["spoke"].as_array().unwrap().iter().find(|matched| matched["id"] == "terms").unwrap();
    assert!(matched["at"].as_str().unwrap().starts_with("data/learned.yaml:"), "{matched}");
    assert!(matched["because"].as_str().unwrap().contains("gripper") && !matched["about"].as_array().unwrap().is_empty());
    // Replay weighs recorded terms again.
    project.edit("scripts/data/learned.yaml", written.replace("temperature:", "#"));
    project.asterisk(&["replay", "--format", "json"]).ok();
}

#[test]
fn terms_alone_are_fitted_without_rules() {
    let project = Project::new();
    let mut taught = team(0, 120, false);
    let mut rare = taught[0].clone();
    (rare["id"], rare["label"]) = (json!("rare"), json!("nd001"));
    taught.push(rare);
    project.file("reviews.json", Value::Array(taught).to_string());
    project.file("later.json", Value::Array(team(120, 160, false)).to_string());
    let right = || {
        let report = project.asterisk(&["calibrate", "later.json", "--resamples", "0", "--format", "json"]).json();
        report["metrics"][0]["value"].as_f64().unwrap()
    };
    project.file("scripts/data/terms.yaml", "terms: {}\n");
    let without = right();
    // A firm hold suits public failures; these say the same again and again.
    let args = ["learn", "--from", "reviews.json", "--terms=alone", "--lambda", "2", "--out", "scripts/data/terms.yaml"];
    let report = project.asterisk(&[&args[..], &["--format", "json"]].concat()).exits(0).json();
    assert_eq!((&report["terms_alone"], &report["temperature"], &report["cases"]), (&json!(true), &Value::Null, &json!(120)));
    assert!(report["weights"].as_array().unwrap().iter().all(|weight| weight["of"] == "term"), "{report}");
    let left_out = &report["left_out"][0];
    assert_eq!(left_out["cases"], json!(["rare"]), "{left_out}");
    assert!(left_out["why"].as_str().unwrap().starts_with("fewer than 20 labels `nd001`"), "{left_out}");
    // All defects are as frequent as any other, so what one gains the others lose.
    let torque = |report: &Value| -> f64 {
        let of_word = report["weights"].as_array().unwrap().iter().filter(|weight| weight["id"] == "torque");
        of_word.map(|weight| weight["fitted"].as_f64().unwrap()).sum()
    };
    assert!(torque(&report).abs() < 0.03, "{report}");
    let written = project.read("scripts/data/terms.yaml");
    assert!(
        written.contains("without words -> with words") && written.contains("\n  torque: { ") && written.contains(" launches\n")
    );
    assert!(!written.contains("weights:") && !written.contains("priors:"), "{written}");
    let with = right();
    assert!(with > without, "{without} -> {with}");
    // Words that the file has are not where the next fit begins.
    let again = project.asterisk(&[&args[..], &["--format", "json"]].concat()).exits(0).json();
    assert_eq!(again["weights"], report["weights"]);
    let shown = project.asterisk(&["learn", "--from", "reviews.json", "--terms=alone"]).ok().stdout;
    assert!(shown.contains("without words") && shown.contains("with words"), "{shown}");
}

#[test]
fn each_rule_is_audited_alone() {
    let project = project();
    let report = learned(&project, &["--audit"]);
    let refused = report["audit"].as_array().unwrap().iter().find(|rule| rule["id"] == "connection-refused").unwrap();
    assert_eq!((&refused["counted"], &refused["groups"], &refused["agrees"]), (&json!(3), &json!(3), &json!(0)), "{refused}");
    assert_eq!(&refused["helps"], 0, "{refused}");
    let stale = report["audit"]
        .as_array()
        .unwrap()
        .iter()
        .find(|rule| rule["serves_one"].as_str().is_some_and(|text| text.contains("stale")))
        .unwrap();
    assert_eq!(stale["groups"], 1, "{stale}");
    assert!(report["never_spoke"].as_array().unwrap().len() > 100);
    let shown = project.asterisk(&["learn", "--from", "labelled.yaml", "--audit"]).ok().stdout;
    assert!(shown.contains("left out alone") && shown.contains("serve only one group"), "{shown}");
}

#[test]
fn defect_types_that_people_set_in_reportportal_are_labels() {
    let issue = |kind: &str, comment: &str, auto: bool| json!({ "issueType": kind, "comment": comment, "autoAnalyzed": auto });
    let pushed = "Refused\n\nAsterisk: run 1, case 102, Product bug (pb001), confidence 0.9, approved by a person.";
    let items = move |seen: &Seen| {
        let item = |id: u64, name: &str, issue: Value| {
            json!({ "id": id, "name": name, "type": "STEP", "status": "FAILED", "launchId": 7, "hasChildren": false, "hasStats": true,
                    "path": format!("{id}"), "issue": issue })
        };
        match seen.path.split_once('?').map_or(seen.path.as_str(), |(path, _)| path) {
            "/api/v1/shop/launch" => says_json(
                &json!({ "content": [{ "id": 7 }], "page": { "number": 1, "size": 5, "totalElements": 1, "totalPages": 1 } }),
            ),
            "/api/v1/shop/item" => {
                let all = [
                    item(101, "adds up", issue("pb001", "", false)),
                    item(102, "empties", issue("pb001", pushed, false)),
                    item(103, "pays", issue("si001", pushed, false)),
                    item(104, "ships", issue("ab001", "", true)),
                    item(105, "waits", issue("ti001", "", false)),
                ];
                says_json(&json!({ "content": all, "page": { "number": 1, "size": 5, "totalElements": 5, "totalPages": 1 } }))
            }
            _ => portal(seen),
        }
    };
    let server = Server::answering(items);
    let project = reportportal::project(&server);
    let report = project
        .asterisk(&["learn", "--from", "reportportal", "--past", "5", "--name", "shop-nightly", "--format", "json"])
        .ok()
        .json();
    assert_eq!((&report["written"], &report["cases"]), (&json!(5), &json!(2)), "{report}");
    assert_eq!(report["labels"], json!({ "en001": 1, "pb001": 1 }), "{report}");
    let whys: Vec<&str> = report["left_out"].as_array().unwrap().iter().map(|out| out["why"].as_str().unwrap()).collect();
    let expected = [
        "ReportPortal's own analyser set the defect type",
        "`asterisk push` set the defect type",
        "the label `ti001`, which is not a defect of this verdict",
    ];
    assert_eq!(whys, expected, "{report}");
    assert!(server.seen().iter().any(|seen| seen.path.contains("filter.eq.name=shop-nightly")));
}

#[test]
fn declared_terms_are_checked_and_fitted_again() {
    let project = Project::new();
    project.file("scripts/data/terms.yaml", "terms:\n  index: { pb01: 1 }\n  Bounds: { pb001: 1 }\n");
    let said = project.asterisk(&["lint"]).exits(1).text();
    assert!(said.contains("unknown defect `pb01`") && said.contains("did you mean `pb001`?"), "{said}");
    assert!(said.contains("`Bounds` cannot occur as a word of evidence") && said.contains("terms.yaml:3:3"), "{said}");
    // Two terms of the failure contribute together; one alone does not match.
    let failure =
        json!({ "id": "7", "name": "level 3", "status": "FAILED", "error_message": "gripper torque lost at station 9" });
    project.file("new.json", json!({ "run_id": "1", "name": "nightly", "failure_list": [failure] }).to_string());
    let verdict = |words: &str| {
        project.file("scripts/data/terms.yaml", format!("terms: {{ {words} }}\n"));
        project.asterisk(&["run", "--input", "new.json", "--no-recall", "--files", "never"]).exits(0);
        project.asterisk(&["explain", "latest", "--verdict", "--format", "json"]).ok().json()
    };
    let words = |verdict: &serde_json::Value| {
        let matched = verdict["spoke"].as_array().unwrap().iter().find(|matched| matched["id"] == "terms");
        matched.map(|matched| (matched["because"].as_str().unwrap().to_owned(), matched["weights"].clone()))
    };
    assert_eq!(words(&verdict("torque: { pb001: 1 }")), None);
    let both = verdict("torque: { pb001: 1 }, gripper: { pb001: 0.5, en001: -2 }");
    assert_eq!(words(&both), Some(("gripper, torque".to_owned(), json!({ "pb001": 1.5, "en001": -2.0 }))), "{both}");
    // Replay weighs the record with the edited file, or without terms.
    let changed = |args: &[&str]| {
        let replayed = project.asterisk(&[&["replay", "latest", "--format", "json"], args].concat()).json();
        let changed = replayed["verdicts"]["changed"].as_array().unwrap().clone();
        changed.into_iter().map(|one| one["to"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(changed(&[]), [""; 0]);
    project.file("scripts/data/terms.yaml", "terms: { torque: { en001: 9 }, gripper: { pb001: -9 } }\n");
    assert_eq!(changed(&[]), ["en001"]);
    assert!(!changed(&["--set", "term_strength=0"]).contains(&json!("en001")));
}
