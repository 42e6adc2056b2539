//! The effect of a ruling on a case: the doubtful example launch, and variants with other wording.

use crate::harness::{Project, repository, without_versions};
use serde_json::{Value, json};

/// A court whose word counts, and that tries guesses, too.
const COURT: &[&str] = &["--court", "--set", "court_floor=0.4", "--set", "court_may_amend=true"];

/// The results of the cases of a launch, each with its `finding`, and the report.
fn walked(project: &Project, args: &[&str]) -> (Vec<Value>, String) {
    let run = project.asterisk(&[&["run", "--format", "json"], args].concat()).ok().json();
    let file = |name: &str| project.read(&format!(".asterisk/investigations/{}/{name}", run["run"].as_str().unwrap()));
    let reported: Value = serde_json::from_str(&file("rca.json")).unwrap();
    let mut cases = run["cases"].as_array().unwrap().clone();
    for (case, reported) in cases.iter_mut().zip(reported["cases"].as_array().unwrap()) {
        assert_eq!(case["case"], reported["case"]);
        case["finding"] = reported["finding"].clone();
    }
    (cases, file("report.md"))
}

fn judged(project: &Project, launch: &str) -> (Vec<Value>, String) {
    walked(project, &[COURT, &["--input", launch]].concat())
}

/// Of a case: what the court decided in the end, the defect type, how often it was sent back, and whether it ends with a brief.
fn outcome(case: &Value) -> (String, String, i64, bool) {
    let finding = &case["finding"];
    (
        case["context"]["court"]["decision"].as_str().unwrap_or("none").to_owned(),
        finding["defect_type"].as_str().unwrap().to_owned(),
        case["loops"]["remand"].as_i64().unwrap_or_default(),
        finding["gaps"].as_array().unwrap().iter().any(|gap| gap.as_str().unwrap().contains("): ")),
    )
}

fn wanted(decision: &str, defect: &str, remands: i64, gaps: bool) -> (String, String, i64, bool) {
    (decision.into(), defect.into(), remands, gaps)
}

/// The doubtful launch, with the project it was judged in.
fn example() -> (Project, Vec<Value>, String) {
    let project = Project::new();
    let (cases, report) = judged(&project, repository().join("examples/court/launch.json").to_str().unwrap());
    (project, cases, report)
}

#[test]
fn the_example_shows_what_a_court_decides() {
    let (_, cases, report) = example();
    let expected = [
        ("890101", wanted("amend", "en001", 0, false)),
        ("890102", wanted("amend", "au001", 0, false)),
        ("890201", wanted("none", "pb001", 0, false)),
        ("890202", wanted("affirm", "pb001", 0, false)),
        ("890301", wanted("affirm", "pb001", 0, false)),
    ];
    let found: Vec<(&str, _)> = cases.iter().map(|case| (case["case"].as_str().unwrap(), outcome(case))).collect();
    assert_eq!(found, expected);
    let (_, reported) = report.split_once("## Root causes").unwrap();
    insta::assert_snapshot!("doubtful_report", without_versions(reported));
}

#[test]
fn each_outcome_is_explained() {
    let (project, ..) = example();
    let mut reported = String::new();
    for case in ["890101", "890102", "890201", "890202", "890301"] {
        let explained = project.asterisk(&["explain", "latest", "--case", case]).ok().stdout;
        // The way, without the edges of each step.
        let way = explained.split("\n\n").map(|step| {
            let edges = step.find("  fired").and_then(|at| step[..at].rfind('\n'));
            let first = step.find("  false").and_then(|at| step[..at].rfind('\n'));
            &step[..edges.into_iter().chain(first).min().unwrap_or(step.len())]
        });
        reported += &way.map(|step| format!("{step}\n")).collect::<Vec<_>>().concat();
        reported.push('\n');
    }
    insta::assert_snapshot!("doubtful_ways", reported);
}

#[test]
fn without_the_court_no_trial_is_reported() {
    let project = Project::new();
    let launch = repository().join("examples/court/launch.json");
    let (cases, _) = walked(&project, &["--input", launch.to_str().unwrap()]);
    for case in cases {
        let (decision, defect, remands, _) = outcome(&case);
        assert_eq!((decision.as_str(), defect.as_str(), remands), ("none", "pb001", 0), "{case}");
        assert!(case["finding"].get("sections").is_none(), "{case}");
    }
}

/// Cases in other words and languages, with what should become of each.
#[test]
fn the_outcome_depends_on_the_evidence_not_on_the_wording() {
    let cases = [
        // The error is a consequence; what caused it is among the routine lines of the log, which the rules hardly count.
        (
            "orders_test.go:31: create order 9: rpc error: code = Unknown desc = order not kept",
            "2026-03-02T01:00:00Z INFO orders: ledger: x509: certificate has expired",
            wanted("amend", "en001", 0, false),
        ),
        (
            "the profile page gave HTTP status 500 (internal server error)",
            "2026-03-02T01:00:00Z DEBUG cache: bind: address already in use",
            wanted("affirm", "en001", 0, true),
        ),
        // A missing rejection, and no evidence of anything else.
        (
            "tests/test_tax.py:12: in test_tax\n    with pytest.raises(TaxUnknown):\nE   Failed: DID NOT RAISE <class 'TaxUnknown'>",
            "",
            wanted("affirm", "pb001", 0, false),
        ),
        (
            "AssertionError: expected [Function] to throw an error\n    at Context.<anonymous> (test/total.spec.js:18:20)",
            "2026-03-02T01:00:00Z INFO totals: 3 rows",
            wanted("affirm", "pb001", 0, false),
        ),
        // Two values that differ: neither side is clearly ahead, and the guess waits for a person.
        ("tests/test_tax.py:12: in test_tax\nE   assert 6 == 7", "", wanted("mistrial", "pb001", 0, true)),
        // A crash in the product is too certain to be tried.
        (
            "panic: runtime error: index out of range [5] with length 5\n\ngoroutine 7 [running]:\n\
             acme.test/mixer.(*Mixer).Level(...)\n\t/work/mixer/mixer.go:44\n\
             acme.test/mixer.TestLevel(0xc000103380)\n\t/work/mixer/mixer_test.go:20 +0x9c",
            "2026-03-02T01:00:00Z DEBUG mixer: configuration key mixer.gain missing, using 1",
            wanted("none", "pb001", 0, false),
        ),
        // A refusal that did not come, and something left over from before, which explains it as well.
        (
            "tests/test_codes.py:14: in test_taken\nE   Failed: DID NOT RAISE <class 'CodeTaken'>",
            "2026-03-02T01:00:00Z INFO seed: conflict: code A7 already exists",
            wanted("mistrial", "pb001", 0, true),
        ),
        // Nothing but a consequence, in a test's own frame: there is no evidence of anything else.
        ("wallet_test.go:5: pay: rpc error: code = DataLoss desc = pay", "", wanted("affirm", "pb001", 0, false)),
        (
            "wire_test.go:7: virement 7: rpc error: code = Internal desc = virement 7",
            "2026-03-02T01:00:00Z INFO profile: asked for C-7",
            wanted("affirm", "pb001", 0, false),
        ),
    ];
    let failures: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(at, (error, log, _))| {
            json!({"id": format!("c{at}"), "name": format!("case {at}"), "suite": format!("suite {at}"), "status": "FAILED",
                   "error_message": error, "log_snippet": log})
        })
        .collect();
    let launch = json!({"run_id": "1", "name": "l", "git": {"commit": "c07d5be"}, "failure_list": failures});
    let project = Project::with(&[("launch.json", &launch.to_string())]);
    let (found, _) = judged(&project, "launch.json");
    for (case, (error, _, wanted)) in found.iter().zip(&cases) {
        assert_eq!(&outcome(case), wanted, "{error}");
    }
}

#[test]
fn a_root_cause_is_stored_with_the_ruling() {
    let (project, cases, _) = example();
    let known = project.asterisk(&["rca", "list", "--format", "json"]).exits(0).json();
    let types: Vec<&str> = known["rcas"].as_array().unwrap().iter().map(|rca| rca["defect_type"].as_str().unwrap()).collect();
    for case in &cases {
        assert!(types.contains(&case["finding"]["defect_type"].as_str().unwrap()), "{known}");
    }
}
