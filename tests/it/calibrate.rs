//! `asterisk calibrate`: cases with a known cause, walked and scored.

use crate::batches::Crowd;
use crate::harness::{Project, repository};
use crate::shared::shared;
use crate::signals::{artifact, find, put, wrapped};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Three failures: one that is investigated, its like, which is known by then, and one that is skipped.
pub(crate) const SCENARIO: &str = "\
name: small
rcas:
  - { id: late, defect_type: pb001, category: product, component: clock, title: The clock is late, description: The clock is late by a second., required_keywords: [clock, late], relevant_repos: [engine] }
  - { id: net, defect_type: en001, category: infra, component: switch, title: The switch is down }
cases:
  - id: first
    test_name: keeps the time
    error_message: 'expected 10 but was 11'
    rca_id: late
    expected_path: [F0, F1, F3, F4, F5, F6]
    expected_triage: { symptom_category: product, candidate_repos: [engine] }
    expected_resolve: { selected_repos: [{ name: engine }] }
    expected_invest: { evidence_refs: ['engine:src/clock.c'] }
  - id: again
    test_name: keeps the time
    error_message: 'expected 10 but was 11'
    rca_id: late
    expect_recall_hit: true
    expected_recall: { match: true, confidence: 0.9 }
    expected_path: [F0, F5, F6]
  - id: net
    test_name: reaches the peer
    error_message: 'connect ECONNREFUSED 10.0.0.5:80'
    rca_id: net
    hold_out: true
    expect_skip: true
    expected_triage: { symptom_category: infra }
    expected_path: [F0, F1, F5, F6]
workspace: { repos: [{ name: engine, purpose: the clock }, { name: decoy, is_red_herring: true }] }
";

fn metric<'a>(report: &'a Value, id: &str) -> &'a Value {
    report["metrics"].as_array().unwrap().iter().find(|metric| metric["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

fn project() -> Project {
    Project::with(&[("small.yaml", SCENARIO)])
}

#[test]
fn canned_answers_take_the_expected_path_and_pass_every_metric() {
    let project = project();
    let args = ["calibrate", "small.yaml", "--via", "stub", "--resamples", "20", "--format", "json"];
    let report = project.asterisk(&args).exits(0).json();
    assert_eq!((&report["schema_version"], &report["scored"], &report["held_out"]), (&json!(1), &json!(3), &json!(1)));
    for metric in report["metrics"].as_array().unwrap() {
        assert_ne!(metric["pass"], false, "{metric}");
    }
    assert_eq!(metric(&report, "M19")["value"], 1.0);
    assert_eq!(metric(&report, "M16")["value"], 1.0);
    assert_eq!(metric(&report, "M16")["held_out"], 1.0);
    assert_eq!(metric(&report, "M5")["value"], 1.0, "the second case is linked to the root cause of the first");
    assert_eq!(metric(&report, "M7")["value"], Value::Null, "no case is a cascade: not applicable");
    let cases = report["cases"].as_array().unwrap();
    let again = cases.iter().find(|case| case["case_id"] == "again").unwrap();
    assert_eq!(again["actual_path"], json!(["F0", "F5", "F6"]));
    assert_eq!(again["right"], true);

    // The file of results is scored again without a walk, and says the same.
    let results = ".asterisk/calibrate/small/results.jsonl";
    let scored =
        project.asterisk(&["calibrate", "score", "small.yaml", results, "--resamples", "20", "--format", "json"]).exits(0).json();
    assert_eq!(scored["metrics"], report["metrics"]);
    // A list serves as well as lines.
    project.file("list.json", serde_json::to_string_pretty(&report["cases"]).unwrap());
    let listed = project
        .asterisk(&["calibrate", "score", "small.yaml", "list.json", "--resamples", "20", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!((&listed["metrics"], &listed["cases"]), (&report["metrics"], &scored["cases"]));

    // Any number of runs at any parallelism comes to the same, and a run leaves the store that explains it.
    let more = [&args[..], &["--runs", "2", "--parallel", "3"]].concat();
    let twice = project.asterisk(&more).exits(0).json();
    assert_eq!(twice["metrics"], report["metrics"]);
    let run = again["run"].as_str().unwrap();
    let store = ".asterisk/calibrate/small/store.db";
    project.asterisk(&["explain", run, "--case", "again", "--store", store]).exits(0);
}

#[test]
fn memory_does_not_reveal_the_cause_of_the_case_itself() {
    let project = Project::with(&[("small.yaml", &SCENARIO.replace("    expect_recall_hit: true\n", ""))]);
    let memory = |report: &Value| -> Vec<String> {
        report["cases"].as_array().unwrap().iter().map(|case| case["memory"].as_str().unwrap().to_owned()).collect()
    };
    let args = ["calibrate", "small.yaml", "--resamples", "0", "--format", "json"];
    let report = project.asterisk(&args).json();
    assert_eq!(memory(&report), ["seen", "left aside", "seen"]);
    let note = "memory was ignored for 1 case, because it could have revealed their cause";
    assert_eq!(report["notes"], json!([note]));
    // A case that should be recognised sees it.
    project.file("small.yaml", SCENARIO);
    assert_eq!(memory(&project.asterisk(&args).json()), ["seen", "seen", "seen"]);
}

#[test]
fn labelled_failures_of_a_launch_are_walked_together() {
    let launch = |name: &str, error: &str| {
        format!("<testcase classname=\"s\" name=\"{name}\"><failure message=\"{error}\">{error}</failure></testcase>")
    };
    let cases = [
        launch("opens", "connect ECONNREFUSED 10.0.0.5:5432"),
        launch("closes", "connect ECONNREFUSED 10.0.0.5:5432"),
        launch("adds", "panic: index out of range"),
    ];
    let labels = json!([
        { "id": "a", "project": "p", "label": "si001", "launch": "nightly", "test": "opens", "group": "net" },
        { "id": "b", "project": "p", "label": "en001", "launch": "nightly", "test": "closes", "group": "net" },
        { "id": "c", "project": "p", "label": "pb001", "launch": "nightly", "test": "adds", "group": "index" },
        { "id": "d", "project": "q", "label": "pb001" },
    ]);
    let project = Project::with(&[
        ("labels.json", &labels.to_string()),
        ("launches/nightly.xml", &format!("<testsuite name=\"n\">{}</testsuite>", cases.join(""))),
    ]);
    let args = ["calibrate", "labels.json", "--launches", "launches", "--resamples", "0", "--format", "json"];
    let report = project.asterisk(&args).json();
    assert_eq!(report["scored"], 3);
    assert_eq!(report["left_out"][0]["case"], "d");
    assert_eq!(report["cases"][0]["expected_defect_type"], "en001", "an alias is its code");
    assert!(metric(&report, "pair_f1")["value"].is_number(), "{}", metric(&report, "pair_f1"));
    assert_eq!(report["cases"][0]["run"], report["cases"][2]["run"], "one launch, one run");
    assert_eq!(report["cases"][0]["memory"], "left aside", "its cause may be that of any other");
}

#[test]
fn two_packs_of_scripts_are_compared_case_by_case() {
    let project = project();
    project.file("same/data/recall.yaml", std::fs::read_to_string(repository().join("scripts/data/recall.yaml")).unwrap());
    project.file("other/data/learned.yaml", "priors: { au001: 12 }\n");
    let compare = |dir: &str| {
        let args = ["calibrate", "small.yaml", "--compare", dir, "--resamples", "40", "--format", "json"];
        project.asterisk(&args).json()["comparison"].clone()
    };
    let same = compare("same");
    assert!(same["metrics"].as_array().unwrap().iter().all(|metric| metric["baseline"] == metric["candidate"]), "{same}");
    assert_eq!((&same["won"], &same["lost"]), (&json!([]), &json!([])));
    let other = compare("other");
    let accuracy = &other["metrics"].as_array().unwrap()[0];
    assert_eq!(accuracy["id"], "M1");
    assert!(accuracy["difference"].as_f64() < Some(0.0), "{other}");
    assert!(!other["lost"].as_array().unwrap().is_empty(), "{other}");
}

#[test]
fn a_metric_below_its_threshold_is_a_finding() {
    let wrong = SCENARIO.replace("defect_type: en001", "defect_type: fw001").replace("defect_type: pb001", "defect_type: fw001");
    let project = Project::with(&[("small.yaml", &wrong)]);
    let args = ["calibrate", "small.yaml", "--resamples", "20"];
    let ran = project.asterisk(&args).exits(1);
    assert!(ran.stdout.contains("MISSED") && ran.stdout.contains("below the threshold: M1"), "{}", ran.stdout);
    let junit = project.asterisk(&[&args[..], &["--format", "junit"]].concat()).exits(1).stdout;
    assert!(junit.contains("<failure message=\"defect_type_accuracy is 0.000, not &gt;= 0.8\""), "{junit}");
    let page = project.asterisk(&[&args[..], &["--format", "markdown"]].concat()).exits(1).stdout;
    assert!(page.contains("| M1 | defect_type_accuracy | 0.000 |") && page.contains("## Wrong cases"), "{page}");
    let html = project.asterisk(&[&args[..], &["--format", "html"]].concat()).exits(1).stdout;
    for part in
        ["<h2>Metrics</h2>", "True defect by reported defect", "<svg class=\"curve\"", "Contributing rules", "reaches the peer"]
    {
        assert!(html.contains(part), "{part}\n{html}");
    }
    assert!(!html.contains("<script") && !html.contains("http://"), "it needs neither scripts nor a network");
}

#[test]
fn an_invalid_scenario_is_rejected_with_its_location() {
    let refused = |text: &str| {
        let project = Project::with(&[("wrong.yaml", text)]);
        project.asterisk(&["calibrate", "wrong.yaml"]).exits(3).stderr
    };
    let unknown = refused("name: a\nrcas: [{ id: late, defect_type: pb001 }]\ncases: [{ id: a, rca_id: lat }]\n");
    assert!(unknown.contains("unknown root cause `lat`") && unknown.contains("did you mean `late`"), "{unknown}");
    let key = refused("name: a\ncases: [{ id: a, test_nam: x }]\n");
    assert!(key.contains("`test_nam` is not a key of case `a`") && key.contains("wrong.yaml:2:"), "{key}");
    let twice = refused("name: a\ncases: [{ id: a }, { id: a }]\n");
    assert!(twice.contains("duplicate case `a`"), "{twice}");
    let nothing = refused("name: a\ncases: []\n");
    assert!(nothing.contains("the scenario has no cases"), "{nothing}");
    let launch = refused("name: a\ncases: [{ id: a, launch: gone.xml }]\n");
    assert!(launch.contains("the file `gone.xml` does not exist"), "{launch}");
    // JSON comes from other programs, which have additional keys.
    let json =
        r#"{ "name": "a", "made_by": "x", "cases": [{ "id": "a", "test_name": "t", "error_message": "boom", "score": 3 }] }"#;
    let project = Project::with(&[("other.json", json)]);
    let report = project.asterisk(&["calibrate", "other.json", "--resamples", "0", "--format", "json"]).exits(0).json();
    assert_eq!(report["scored"], 1);
    let missing = project.asterisk(&["calibrate", "score", "other.json", "other.json"]).exits(3).stderr;
    assert!(missing.contains("is missing `case_id`"), "{missing}");
}

#[test]
fn an_invalid_scorecard_is_rejected_with_its_location() {
    let bundled = std::fs::read_to_string(repository().join("scripts/data/scorecards/rca.yaml")).unwrap();
    let refused = |from: &str, to: &str| {
        let project = project();
        project.file("scripts/data/scorecards/rca.yaml", bundled.replacen(from, to, 1));
        project.asterisk(&["calibrate", "score", "small.yaml", "none.jsonl"]).exits(3).stderr
    };
    let gone = refused("lib/metrics.rhai#component\"", "lib/metrics.rhai#compnent\"");
    assert!(gone.contains("compnent") && gone.contains("named here"), "{gone}");
    let primary = refused("primary: M1", "primary: M1x");
    assert!(primary.contains("`primary` names an unknown metric"), "{primary}");
    let bar = refused("direction: higher, threshold: 0.80, ", "direction: higher, ");
    assert!(bar.contains("a metric with a direction needs a `threshold`"), "{bar}");
}

#[test]
fn the_ground_truth_of_the_field_passes_with_canned_answers() {
    let Some(scenario) = shared("data/ptp-mock.json") else { return };
    let project = Project::new();
    let scenario = scenario.to_str().unwrap();
    let report =
        project.asterisk(&["calibrate", scenario, "--via", "stub", "--resamples", "0", "--format", "json"]).exits(0).json();
    assert_eq!(metric(&report, "M19")["value"], 1.0);
    assert_eq!(metric(&report, "M16")["value"], 1.0);
    assert!(report["cases"].as_array().unwrap().iter().all(|case| case["status"] == "done"), "{report}");
}

#[test]
fn the_bundled_scenario_covers_many_ecosystems() {
    let project = Project::new();
    let scenario = repository().join("examples/scenarios/ecosystems.yaml");
    let args = ["calibrate", scenario.to_str().unwrap(), "--resamples", "0", "--format", "json"];
    let report = project.asterisk(&args).json();
    assert!(report["scored"].as_u64() >= Some(40) && report["held_out"].as_u64() >= Some(12), "{report}");
    assert_eq!(report["left_out"], json!([]));
    let value = |id: &str| metric(&report, id)["value"].as_f64().unwrap();
    assert!(value("M1") > value("majority") + 0.2, "better than always choosing the most frequent defect");
    let text = std::fs::read_to_string(&scenario).unwrap();
    let ecosystems: std::collections::BTreeSet<&str> =
        text.lines().filter_map(|line| line.trim().strip_prefix("ecosystem: ")).collect();
    assert!(ecosystems.len() >= 12, "{ecosystems:?}");
}

#[test]
fn a_setting_is_tuned_on_a_scenario_without_held_out_cases() {
    let project = project();
    let sweep = |args: &[&str]| project.asterisk(&[&["replay", "--scenario", "small.yaml", "--format", "json"], args].concat());
    let curve = sweep(&["--sweep", "priors.au001=0,12", "--metric", "M1"]).ok().json();
    assert_eq!((&curve["metric"], &curve["cases"], &curve["held_out"]), (&json!("M1"), &json!(3), &json!(1)));
    let points = curve["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[0]["current"], &points[0]["settings"]), (3, &json!(true), &json!({})));
    assert_eq!(points[2]["settings"], json!({ "priors.au001": 12 }));
    assert!(points[2]["value"].as_f64() < points[1]["value"].as_f64() && points[2]["held_out"] == 0.0, "{curve}");
    assert_eq!(curve["best"], 0, "as now");
    // Vars of the pipeline, several at once, one after the other.
    let found = sweep(&["--sweep", "decide_floor=0.2,0.9", "--sweep", "priors.au001=0,12", "--search"]).ok().json();
    let best = &found["points"][usize::try_from(found["best"].as_u64().unwrap()).unwrap()];
    assert!(best["value"].as_f64() >= found["points"][0]["value"].as_f64(), "{found}");
    assert!(found["points"].as_array().unwrap().len() <= 7, "{found}");
    let shown = project.asterisk(&["replay", "--scenario", "small.yaml", "--sweep", "priors.au001=0,12"]).ok().stdout;
    assert!(shown.contains("held out") && shown.contains("as now") && shown.contains("<- best"), "{shown}");
    let refused = |args: &[&str]| sweep(args).exits(2).stderr;
    assert!(refused(&["--sweep", "V1.pb01=1"]).contains("`pb01` is not a defect of the verdict"));
    assert!(refused(&["--sweep", "decide_flor=1"]).contains("decide_floor"));
    assert!(refused(&["--sweep", "decide_floor=0.5", "--metric", "M99"]).contains("no metric `M99`"));
    assert!(refused(&["--sweep", "decide_floor=0.5", "--metric", "brier", "--search"]).contains("has no direction"));
    let several = project.asterisk(&["replay", "--sweep", "a=1", "--sweep", "b=1"]).exits(2).stderr;
    assert!(several.contains("need a scenario of labelled failures"), "{several}");
}

#[test]
fn the_result_shows_the_first_wrong_step_and_what_memory_has_seen() {
    let wrong = SCENARIO.replace("defect_type: en001", "defect_type: fw001");
    let project = Project::with(&[("small.yaml", &wrong)]);
    let args = ["calibrate", "small.yaml", "--resamples", "0", "--format", "json"];
    let report = project.asterisk(&args).json();
    let steps = report["tables"].as_array().unwrap().iter().find(|table| table["id"] == "steps").unwrap();
    let rows = steps["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["step"] == "defect" && row["wrong"].as_u64() >= Some(1)), "{steps}");
    assert!(rows.is_sorted_by(|a, b| a["wrong_first"].as_u64() >= b["wrong_first"].as_u64()), "{steps}");
    let knows = |report: &Value| report["notes"].to_string().contains("is a failure known to the project's store (net)");
    assert!(!knows(&report), "{}", report["notes"]);
    // The project itself analyses one of its failures.
    let launch = json!({ "run_id": "1", "name": "nightly", "failure_list": [
        { "id": "7", "name": "reaches the peer", "status": "FAILED", "error_message": "connect ECONNREFUSED 10.0.0.9:80" } ] });
    project.file("launch.json", launch.to_string());
    project.asterisk(&["run", "--input", "launch.json", "--files", "never"]).ok();
    let report = project.asterisk(&args).json();
    assert!(knows(&report), "{}", report["notes"]);
}

#[test]
fn ground_truth_grows_from_reviews() {
    let project = project();
    let gt = |args: &[&str]| project.asterisk(&[&["calibrate", "truth"], args].concat());
    assert!(gt(&["list"]).ok().stdout.contains("contains no causes yet"));
    project.asterisk(&["run", "--case", "880403", "--case", "880501", "--files", "never"]).ok();
    assert!(gt(&["promote"]).ok().stdout.contains("no case has been reviewed yet"));
    assert!(gt(&["promote", "880501"]).exits(2).stderr.contains("no person reviewed a case `880501`"));
    project
        .asterisk(&["review", "880403", "overturn", "--defect-type", "en001", "--message", "the switch of rack 7 was down"])
        .exits(0);
    let dry = gt(&["promote", "--dry-run", "--format", "json"]).ok().json();
    assert_eq!((&dry["promoted"][0]["case"], &dry["promoted"][0]["status"]), (&json!("880403"), &json!("verified")), "{dry}");
    assert!(!project.root().join("ground-truth.yaml").exists());
    gt(&["promote"]).exits(0);
    assert_eq!(gt(&["promote", "--format", "json"]).ok().json()["promoted"][0]["status"], "known", "once is enough");
    let listed = gt(&["list", "--format", "json"]).ok().json();
    let cause = &listed["causes"][0];
    assert_eq!(
        (&cause["defect_type"], &cause["cases"], &cause["verified"]),
        (&json!("en001"), &json!(1), &json!(true)),
        "{listed}"
    );
    assert!(cause["required_keywords"].to_string().contains("switch"), "{cause}");
    let output = gt(&["show", cause["id"].as_str().unwrap()]).ok().stdout;
    assert!(output.contains("a person confirmed it") && output.contains("880403"), "{output}");

    // It has a scenario; another one is imported without the known cases.
    let report = project.asterisk(&["calibrate", "ground-truth.yaml", "--resamples", "0", "--format", "json"]).json();
    assert_eq!((&report["scored"], &report["cases"][0]["expected_defect_type"]), (&json!(1), &json!("en001")));
    assert!(gt(&["import", "small.yaml"]).exits(0).stderr.contains("2 causes and 3 cases"));
    assert!(gt(&["import", "small.yaml"]).exits(0).stderr.contains("0 causes and 0 cases"));
    let all = gt(&["export"]).ok().json();
    assert_eq!((all["rcas"].as_array().unwrap().len(), all["cases"].as_array().unwrap().len()), (3, 4));
    assert_eq!(gt(&["export", "--verified"]).ok().json()["cases"].as_array().unwrap().len(), 1);
    let health = gt(&["health", "--format", "json"]).exits(1).json();
    assert!(health["remarks"].to_string().contains("causes that no person confirmed"), "{health}");
    project.file("bad.yaml", "name: x\ncases: [{ id: a, colour: red }]\n");
    assert!(gt(&["import", "bad.yaml"]).exits(3).stderr.contains("colour"));
    assert!(gt(&["show", "nothing"]).exits(2).stderr.contains("neither a cause nor a case"));
}

/// Cases that are answered in batches are walked together, and their signals are where the protocol has them.
#[test]
fn cases_are_answered_in_batches() {
    let case =
        |n: usize| format!("  - {{ id: c{n}, test_name: test {n}, error_message: 'error of its own {n}', rca_id: r{n} }}\n");
    let cause = |n: usize| format!("  - {{ id: r{n}, defect_type: pb001, category: product, component: clock, title: t }}\n");
    let list = |one: &dyn Fn(usize) -> String| (0..4).map(one).collect::<String>();
    let scenario = format!("name: four\nrcas:\n{}cases:\n{}", list(&cause), list(&case));
    let settings = "agents: { batch-file: { poll: 40ms, timeout: 60s } }\n";
    let project = Project::with(&[("four.yaml", &scenario), ("asterisk.yaml", settings)]);
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let (all, root) = (Arc::clone(&seen), project.root().to_owned());
    let crowd = Crowd::of(4, project.root(), move |path, signal| {
        let data = match signal["step"].as_str().unwrap() {
            "F0_RECALL" => json!({ "match": false, "confidence": 0.0 }),
            "F1_TRIAGE" => json!({ "symptom_category": "product", "defect_type_hypothesis": "pb001" }),
            "F2_RESOLVE" => json!({ "selected_repos": [{ "name": "engine", "reason": "r" }] }),
            "F3_INVESTIGATE" => {
                json!({ "rca_message": "m", "defect_type": "pb001", "convergence_score": 0.9, "evidence_refs": ["e"] })
            }
            "F4_CORRELATE" => json!({ "is_duplicate": false, "confidence": 0.1 }),
            "F5_REVIEW" => json!({ "decision": "approve" }),
            _ => json!({}),
        };
        all.lock().unwrap().push(path.strip_prefix(&root).unwrap().display().to_string());
        put(&artifact(signal), wrapped(signal, &data));
    });
    let args = ["calibrate", "four.yaml", "--via", "batch-file", "--parallel", "4", "--resamples", "0", "--format", "json"];
    let report = project.asterisk(&args).json();
    drop(crowd.taken());
    assert_eq!(report["scored"], 4, "{report}");
    assert!(report["notes"].to_string().contains("walked together, as 1 launch"), "{}", report["notes"]);
    let manifest = find(&project.root().join(".asterisk/calibrate"), "batch-manifest.json");
    assert_eq!(manifest.len(), 1, "one suite: {manifest:?}");
    let seen = seen.lock().unwrap();
    // .asterisk/calibrate/SUITE/CASE/signal.json
    assert!(seen.iter().any(|path| path.starts_with(".asterisk/calibrate/") && path.matches('/').count() == 4), "{seen:?}");
}
