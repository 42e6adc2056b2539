//! Whole runs, from launch to report: the bundled launch and real ones of other projects.

use crate::harness::{CLOCK, Project, Ran, fixture, repository, strings};
use crate::shared::shared;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

const EXAMPLE: &str = "examples/launches/checkout-nightly.json";

/// The ids of a ReportPortal launch's failures, containers left out.
fn ids(launch: &Path) -> Vec<String> {
    let launch: Value = serde_json::from_str(&std::fs::read_to_string(launch).unwrap()).unwrap();
    let id = |case: &Value| case["id"].as_str().map_or_else(|| case["id"].to_string(), str::to_owned);
    let is_leaf = |case: &&Value| !["SUITE", "TEST"].iter().any(|kind| case["type"] == *kind);
    launch["failure_list"].as_array().unwrap().iter().filter(is_leaf).map(id).collect()
}

fn run_of(ran: &Ran) -> String {
    ran.json()["run"].as_str().unwrap().to_owned()
}

/// `rca.json` of a run.
fn rca(project: &Project, run: &str) -> Value {
    serde_json::from_str(&project.read(&format!(".asterisk/investigations/{run}/rca.json"))).unwrap()
}

/// The directory of the report that a run names.
fn report_dir(ran: &Ran) -> String {
    let line = ran.stdout.lines().find_map(|line| line.strip_prefix("report: [DIR]/")?.strip_suffix("/report.html"));
    line.unwrap_or_else(|| panic!("no path of a report:\n{}", ran.text())).to_owned()
}

#[test]
fn the_bundled_launch_becomes_a_report() {
    let project = Project::new();
    let ran = project.asterisk(&["run", "--cases"]).ok();
    let listed = ids(&repository().join(EXAMPLE));
    for id in &listed {
        assert!(ran.stdout.lines().any(|line| line.starts_with(&format!("{id} "))), "{id} is not listed:\n{}", ran.text());
    }
    assert!(ran.stdout.starts_with("This is the bundled example."), "{}", ran.text());
    let dir = report_dir(&ran);
    let text = project.read(&format!("{dir}/report.md"));
    assert!(text.starts_with("# Root causes of checkout-nightly #418\n"), "{text}");
    for id in &listed {
        assert!(text.contains(&format!("`{id}`")), "{id} is not in the report");
    }
    let data: Value = serde_json::from_str(&project.read(&format!("{dir}/rca.json"))).unwrap();
    assert_eq!((&data["schema_version"], &data["status"], &data["totals"]["cases"]), (&json!(1), &json!("done"), &json!(16)));
    let cases = data["cases"].as_array().unwrap();
    assert_eq!(cases.iter().map(|case| case["case"].as_str().unwrap()).collect::<Vec<_>>(), listed);
    let taxonomy = project.asterisk(&["show", "data", "domain", "--format", "json"]).ok().json();
    for case in cases {
        let finding = &case["finding"];
        assert!(taxonomy["domain"]["defects"].get(finding["defect_type"].as_str().unwrap()).is_some(), "{case}");
        assert!(taxonomy["domain"]["categories"].get(finding["category"].as_str().unwrap()).is_some(), "{case}");
        assert!(!finding["next_steps"].as_array().unwrap().is_empty(), "{case}");
        // A script's approvals are not reviewed, its deferred cases need review, and a duplicate of another case is neither.
        let duplicate = case["turns"].as_array().unwrap().iter().any(|turn| turn["edge"] == "H15");
        assert_eq!(duplicate, ["880201", "880602", "880603", "880604"].contains(&case["case"].as_str().unwrap()));
        let sure = finding["confidence"].as_f64().unwrap() >= 0.8;
        let status = if duplicate {
            "investigated"
        } else if sure {
            "auto_reviewed"
        } else {
            "needs_review"
        };
        assert_eq!(case["case_status"], status, "{case}");
        assert_eq!(finding["needs_review"].is_string(), status == "needs_review", "{case}");
        let turns = case["turns"].as_array().unwrap();
        assert_eq!(turns.len(), case["path"].as_array().unwrap().len());
        assert!(turns.iter().all(|turn| !turn["because"].as_str().unwrap().is_empty()));
    }
    // Of two that the triage found alike, the second cites the first, which was investigated ahead.
    let cites = |id: &str| {
        let case = cases.iter().find(|case| case["case"] == id).unwrap();
        case["finding"].to_string().contains("880101, investigated first, has the same cause")
    };
    assert!(cites("880201") && !cites("880101") && !cites("880304"));
    // The failures of one regression are grouped under one cause.
    let together = |ids: &[&str]| data["causes"].as_array().unwrap().iter().any(|cause| strings(&cause["cases"]) == ids);
    assert!(together(&["880101", "880201"]) && together(&["880301", "880302", "880303"]), "{}", data["causes"]);
}

#[test]
fn a_run_leaves_its_files() {
    let project = Project::new();
    let ran = project.asterisk(&["run", "--format", "json"]).ok();
    let (run, result) = (run_of(&ran), ran.json());
    let dir = format!(".asterisk/investigations/{run}");
    let events: Vec<Value> =
        project.read(&format!("{dir}/events.jsonl")).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (event, next) in events.iter().zip(&events[1..]) {
        assert!(event["seq"].as_i64().unwrap() < next["seq"].as_i64().unwrap());
    }
    for case in result["cases"].as_array().unwrap() {
        let id = case["case"].as_str().unwrap();
        let of = |what: &str| events.iter().filter(|event| event["case"] == id && event["type"] == what).collect::<Vec<_>>();
        let names = |events: &[&Value], key: &str| json!(events.iter().map(|event| event[key].clone()).collect::<Vec<_>>());
        assert_eq!(names(&of("node_enter"), "node"), case["nodes"]);
        assert_eq!(names(&of("transition"), "edge"), case["edges"]);
        assert_eq!((of("node_exit").len(), of("walk_complete").len()), (strings(&case["nodes"]).len(), 1));
        assert!(events.iter().all(|event| event["run"] == json!(run) && event["at"] == CLOCK));
        let state: Value = serde_json::from_str(&project.read(&format!("{dir}/{id}/state.json"))).unwrap();
        assert_eq!((&state["case_id"], &state["suite_id"]), (&json!(id), &json!(run)));
        assert_eq!((&state["current_step"], &state["status"]), (&json!("DONE"), &json!("done")));
        assert_eq!(state["loop_counts"], case["loops"]);
        let history = state["history"].as_array().unwrap();
        assert_eq!(json!(history.iter().map(|visit| &visit["heuristic_id"]).collect::<Vec<_>>()), case["edges"]);
        assert_eq!(history[0]["step"], "F0_RECALL");
        // An artifact of each node, and a prompt of each visit.
        let all = ["recall-result", "triage-result", "review-decision", "jira-draft"];
        let files = if strings(&case["edges"]).contains(&"H15") { &all[..2] } else { &all[..] };
        for name in files {
            let artifact = project.read(&format!("{dir}/{id}/{name}.json"));
            assert!(serde_json::from_str::<Value>(&artifact).unwrap().is_object());
        }
        let prompts = project.tree().into_iter().filter(|(path, _)| path.starts_with(&format!("{dir}/{id}/prompt-")));
        assert_eq!(prompts.count(), strings(&case["nodes"]).len());
    }
}

#[cfg(unix)]
#[test]
fn everything_a_run_writes_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.asterisk(&["run"]).ok();
    let all = project.tree();
    assert!(all.len() > 100);
    for (path, _) in all {
        let mode = project.root().join(&path).metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.ends_with('/') { 0o700 } else { 0o600 }, "{path}: {mode:o}");
    }
}

#[test]
fn the_result_is_the_same_at_any_parallelism() {
    let run = |parallel: &str, input: &[&str]| {
        let project = Project::new();
        let ran = project.asterisk(&[&["run", "--parallel", parallel, "--format", "json"], input].concat()).ok();
        let run = run_of(&ran);
        let read = |name: &str| project.read(&format!(".asterisk/investigations/{run}/{name}"));
        (ran.stdout, read("rca.json"), read("report.md"))
    };
    let both = [repository().join("examples/launches/pytest.xml"), repository().join("examples/launches/nextest.xml")];
    let both = ["--input", both[0].to_str().unwrap(), "--input", both[1].to_str().unwrap()];
    for input in [&[][..], &both[..]] {
        let alone = run("1", input);
        for parallel in ["2", "8"] {
            assert_eq!(run(parallel, input), alone, "--parallel {parallel}");
        }
    }
}

/// One file of the user's, the rest bundled.
#[test]
fn a_project_script_changes_the_path() {
    let bundled = std::fs::read_to_string(repository().join("scripts/rules/rca.rhai")).unwrap();
    let rule = "fn triage_infra(artifact, state, vars) {\n    if artifact.symptom_category != \"infra\" || !walkers::takes_shortcut(state, vars) { return false; }";
    assert!(bundled.contains(rule));
    let mine = bundled.replace(rule, "fn triage_infra(artifact, state, vars) {\n    if true { return false; }");
    let project = Project::with(&[("mine/rules/rca.rhai", &mine)]);
    let edges = |more: &[&str]| {
        let args = [&["run", "--dry-run", "--case", "880301", "--format", "json"], more].concat();
        project.asterisk(&args).ok().json()["cases"][0]["edges"].clone()
    };
    assert_eq!(strings(&edges(&[]))[1], "H4");
    assert_ne!(strings(&edges(&["--scripts", "mine"]))[1], "H4");
    // By the project file too, and a var by the same ways.
    project.file("asterisk.yaml", "scripts: mine\n");
    assert_ne!(strings(&edges(&[]))[1], "H4");
    project.file("asterisk.yaml", "vars: { max_investigate_loops: 0, convergence_sufficient: 1 }\n");
    let looped = |more: &[&str]| {
        let args = [&["run", "--dry-run", "--case", "880101", "--format", "json"], more].concat();
        project.asterisk(&args).ok().json()["cases"][0]["edges"].to_string()
    };
    assert!(looped(&[]).contains("H11") && !looped(&[]).contains("H10\""), "{}", looped(&[]));
    assert!(looped(&["--set", "max_investigate_loops=1"]).contains("H10\""), "flags win over the file");
}

#[test]
fn resuming_a_finished_run_prints_its_result_again() {
    let project = Project::new();
    let ran = project.asterisk(&["run", "--format", "json"]).ok();
    let run = run_of(&ran);
    let before = project.tree();
    assert_eq!(project.asterisk(&["run", "--resume", &run, "--format", "json"]).ok(), ran);
    assert_eq!(project.asterisk(&["status", &run, "--format", "json"]).ok(), ran);
    let files =
        |tree: Vec<(String, Vec<u8>)>| tree.into_iter().filter(|(path, _)| !path.contains("asterisk.db")).collect::<Vec<_>>();
    assert_eq!(files(project.tree()), files(before));
    let pretty = project.asterisk(&["run", "--resume", &run, "--cases"]).ok();
    assert_eq!(project.asterisk(&["status", &run]).ok(), pretty);
    // Whatever the scripts say by now.
    project.file("scripts/rules/rca.rhai", "fn recall_hit(");
    assert_eq!(project.asterisk(&["run", "--resume", &run, "--format", "json"]).ok(), ran);
    std::fs::remove_file(project.root().join("scripts/rules/rca.rhai")).unwrap();
    // A failed run as well, with the same exit code.
    let failed = project.asterisk(&["run", "--input", "none", "--stub", "asterisk.yaml"]);
    assert_eq!(failed.code, Some(3));
    project.file("stub.json", r#"{"*": {"recall": [{}]}}"#);
    let failed = project.asterisk(&["run", "--input", "none", "--stub", "stub.json", "--format", "json"]).exits(4);
    let again = project.asterisk(&["run", "--resume", &run_of(&failed), "--format", "json"]).exits(4);
    assert_eq!(again.stdout, failed.stdout);
}

/// The files can be made again.
#[test]
fn missing_files_can_be_rebuilt() {
    let project = Project::new();
    let ran = project.asterisk(&["run", "--format", "json"]).ok();
    let dir = project.root().join(".asterisk/investigations");
    let before: Vec<_> = project.tree().into_iter().filter(|(path, _)| path.contains("investigations")).collect();
    std::fs::remove_dir_all(&dir).unwrap();
    project.asterisk(&["run", "--resume", &run_of(&ran), "--format", "json"]).ok();
    let after: Vec<_> = project.tree().into_iter().filter(|(path, _)| path.contains("investigations")).collect();
    assert_eq!(before, after);
}

#[test]
fn a_dry_run_touches_nothing() {
    let project = Project::new();
    let before = project.tree();
    let dry = project.asterisk(&["run", "--dry-run", "--format", "json"]).ok().json();
    assert_eq!(project.tree(), before);
    assert_eq!(dry["report"], Value::Null);
    let wet = project.asterisk(&["run", "--format", "json"]).ok().json();
    for (dry, wet) in dry["cases"].as_array().unwrap().iter().zip(wet["cases"].as_array().unwrap()) {
        assert_eq!((&dry["case"], &dry["edges"]), (&wet["case"], &wet["edges"]));
    }
}

#[test]
fn findings_of_a_run_are_recalled_by_the_next() {
    let project = Project::new();
    let first = project.asterisk(&["run", "--format", "json"]).ok();
    let second = project.asterisk(&["run", "--format", "json"]).ok();
    assert_ne!(run_of(&first), run_of(&second));
    let edges = |ran: &Ran| {
        let cases = ran.json()["cases"].as_array().unwrap().clone();
        cases.iter().map(|case| case["edges"][0].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(edges(&first).iter().all(|edge| edge == "H2"), "an empty store is without knowledge");
    // Confident findings are recalled; the rest are only remembered as seen.
    let taken = |id: &str| edges(&second).iter().filter(|edge| *edge == id).count();
    assert!(taken("H1") >= 4 && taken("H2") == 0, "{:?}", edges(&second));
    let defects = |run: &str| {
        let cases = rca(&project, run)["cases"].as_array().unwrap().clone();
        cases.iter().map(|case| case["finding"]["defect_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(defects(&run_of(&second)), defects(&run_of(&first)), "recalled findings equal the recorded ones");
    let runs = project.asterisk(&["status", "--format", "json"]).ok().json();
    let names: Vec<&str> = runs["runs"].as_array().unwrap().iter().map(|run| run["run"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 2);
    assert_eq!(names.into_iter().collect::<BTreeSet<_>>(), [run_of(&first).as_str(), run_of(&second).as_str()].into());
}

/// A real launch: its envelope, its items, and both.
#[test]
fn a_real_launch_is_reported_from_envelope_items_or_both() {
    let (Some(envelope), Some(items)) = (shared("data/envelope_33195_4.21.json"), shared("data/items_33195_failed.json")) else {
        return;
    };
    let (envelope_text, items_text) = (envelope.to_str().unwrap(), items.to_str().unwrap());
    let listed = ids(&envelope);
    assert_eq!(listed.len(), 8);
    for (inputs, title) in [
        (vec![envelope_text], "# Root causes of telco-ft-ran-ptp-4.21 #13\n"),
        (vec![items_text], "# Root causes of telco-ft-ran-ptp-4.21"),
        (vec![envelope_text, items_text], "# Root causes of telco-ft-ran-ptp-4.21 #13\n"),
        (vec![items_text, envelope_text], "# Root causes of telco-ft-ran-ptp-4.21 #13\n"),
    ] {
        let project = Project::new();
        let args = inputs.iter().flat_map(|input| ["--input", input]);
        let ran = project.asterisk(&["run", "--format", "json"].into_iter().chain(args).collect::<Vec<_>>()).ok();
        let run = run_of(&ran);
        let mut found: Vec<String> =
            ran.json()["cases"].as_array().unwrap().iter().map(|case| case["case"].as_str().unwrap().to_owned()).collect();
        found.sort();
        assert_eq!(found, listed, "{inputs:?}");
        let report = project.read(&format!(".asterisk/investigations/{run}/report.md"));
        assert!(report.starts_with(title), "{report}");
        // Only names are available: it says so, with low confidence.
        for case in rca(&project, &run)["cases"].as_array().unwrap() {
            assert!(case["finding"]["confidence"].as_f64().unwrap() <= 0.5, "{case}");
            assert!(!case["finding"]["next_steps"].as_array().unwrap().is_empty(), "{case}");
        }
    }
}

/// Other files are rejected by name.
#[test]
fn other_formats_are_rejected_by_name() {
    let Some(scenario) = shared("data/ptp-mock.json") else { return };
    let refused = Project::new().asterisk(&["run", "--input", scenario.to_str().unwrap()]).exits(3);
    assert!(refused.stderr.contains("calibration scenario") && refused.stdout.is_empty(), "{}", refused.text());
}

/// JUnit files as other projects' test runners write them.
#[test]
fn junit_files_of_other_projects_give_reports() {
    let files = ["examples/launches/nextest.xml", "examples/launches/pytest.xml"].map(|path| repository().join(path));
    for (path, cases) in files.into_iter().chain([fixture("launches/surefire.xml")]).zip([5, 6, 3]) {
        let project = Project::new();
        let ran = project.asterisk(&["run", "--input", path.to_str().unwrap(), "--format", "json"]).ok();
        let data = rca(&project, &run_of(&ran));
        assert_eq!(data["totals"]["cases"], cases, "{path:?}");
        let decided = data["cases"].as_array().unwrap().iter().filter(|case| case["finding"]["defect_type"] != "ti001").count();
        assert!(decided * 2 >= cases, "{path:?}: {decided} of {cases} decided");
        for case in data["cases"].as_array().unwrap() {
            assert_eq!(
                (&case["status"], &case["finding"]["next_steps"].as_array().unwrap().is_empty()),
                (&json!("done"), &false)
            );
        }
    }
}
