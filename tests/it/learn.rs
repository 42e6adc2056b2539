//! `asterisk learn`: weights fitted to labelled failures, measured on folds, and put in force by `data/learned.yaml`.

use crate::harness::Project;
use crate::shared::shared;
use serde_json::Value;

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
fn fitted_weights_are_in_force_where_their_file_is() {
    let project = project();
    let report = learned(&project, &[]);
    assert_eq!((&report["written"], &report["cases"]), (&7.into(), &4.into()));
    assert_eq!(report["labels"], serde_json::json!({ "au001": 1, "pb001": 3 }));
    let left_out: Vec<&str> = report["left_out"].as_array().unwrap().iter().map(|out| out["why"].as_str().unwrap()).collect();
    assert_eq!(
        left_out,
        [
            "`launch` is no path",
            "no text: neither `failure`, `launch`, nor a launch of its id",
            "the label `ti001`, which is not decided about"
        ]
    );
    let weights = report["weights"].as_array().unwrap();
    let refused = weights.iter().find(|weight| weight["cases"] == 3 && weight["defect"] == "en001").unwrap();
    assert!(refused["fitted"].as_f64() < refused["hand_set"].as_f64(), "{refused}");
    assert!(report["folds"]["fitted"]["log_loss"].as_f64() < report["folds"]["hand_set"]["log_loss"].as_f64());
    assert!(project.tree().len() == 2, "nothing is written without --out");
    assert_eq!(learned(&project, &[]), report, "the same again");

    // Written, the weights are in force; the fit still begins at those set by hand.
    project.file("scripts/data/none.yaml", "{}\n");
    assert_eq!(learned(&project, &["--out", "scripts/data/learned.yaml"]), report);
    assert_eq!(learned(&project, &[]), report);
    let launch =
        LAUNCH.replace("stale element reference: element is not attached to the page", "connect ECONNREFUSED 10.0.0.5:5432");
    project.file("refused.json", &launch);
    project.asterisk(&["run", "--input", "refused.json", "--files", "never"]).ok();
    let verdict = project.asterisk(&["explain", "latest", "--verdict", "--format", "json"]).ok().json();
    let spoke = verdict["spoke"].as_array().unwrap().iter().find(|spoke| spoke["id"] == refused["id"]).unwrap();
    assert_eq!((&spoke["weights"]["en001"], &spoke["at"]), (&refused["fitted"], &refused["at"]));

    // Without the file, the verdict of the run is another by weights alone.
    std::fs::remove_file(project.root().join("scripts/data/learned.yaml")).unwrap();
    let again = project.asterisk(&["replay", "--format", "json"]).ok().json();
    assert_eq!(again["verdicts"]["made"], 1, "{again}");
}

#[test]
fn unknown_rules_and_defects_are_errors_with_their_place() {
    let project = project();
    let link = |text: &str| {
        project.file("scripts/data/learned.yaml", text);
        project.asterisk(&["call", "lib/text.rhai#one_line", "--args", "[\"a\", 9]"])
    };
    link("weights: { V1: { pb001: 1.5 } }\npriors: { pb001: 0.2 }\n").ok();
    link("pipeline: another\nweights: { X1: { pb001: 1.5 } }\n").ok();
    let failed = link("weights:\n  conection-refused: { en001: 1 }\n");
    assert_eq!(failed.code, Some(3), "{}", failed.stderr);
    assert!(failed.stderr.contains("neither a rule nor a signature `conection-refused`"), "{}", failed.stderr);
    assert!(failed.stderr.contains("learned.yaml:2:3") && failed.stderr.contains("connection-refused"), "{}", failed.stderr);
    let failed = link("weights: { V1: { pb01: 1 } }\npriors: { ti001: 1 }\n").stderr;
    assert!(failed.contains("does not decide about `pb01`") && failed.contains("does not decide about `ti001`"), "{failed}");
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
