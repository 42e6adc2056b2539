//! Waves and phases: the result of a launch is the same however many cases walk at once, whether or not anything is stored,
//! and wherever the run was interrupted.

use asterisk_base::clock::{FixedClock, Timestamp};
use asterisk_diag::Diagnostics;
use asterisk_report as report;
use asterisk_session::{KEEP, LaunchFiles, ResumeSpec, RunInputs, RunListener, RunResult, RunSettings, RunSpec, Session, Setup};
use asterisk_store::{Durability, Store};
use asterisk_walk::{Event, EventBody, WalkStatus};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// The bundled pipeline, with a rule that throws for some cases.
fn pipeline() -> String {
    let bundled = include_str!("../../pipelines/rca.yaml");
    let throwing = r#"edges:
  - { id: X, from: triage, to: report, condition: 'artifact.symptom_category == "crash" && 1 / (state.steps - 1) > 0' }
"#;
    assert!(bundled.contains("\nedges:\n"));
    bundled.replacen("\nedges:\n", &format!("\n{throwing}"), 1).replacen("pipeline: rca-investigation", "pipeline: waves", 1)
}

/// A failure: which test, which error, which number in it.
type Failure = (usize, usize, u8);

const TESTS: [&str; 4] = ["ptp clock locks", "order is paid", "cart is kept", "report is mailed"];
const ERRORS: [&str; 7] = [
    "panic: runtime error: nil pointer dereference at src/cart.go:17",
    "tests/test_orders.py:88: fixture 'orders' not found",
    "Timeout: waited 30 s for the holdover state of the clock",
    "connection refused: node worker-3 not ready",
    "fixture voucher has expired: tests/helpers/vouchers.py:18",
    "flaky: retried and passed",
    "",
];

fn launch(failures: &[Failure]) -> String {
    let case = |(at, (test, error, number)): (usize, &Failure)| {
        let error = ERRORS[*error].replacen("30 s", &format!("{number} s"), 1);
        json!({ "id": format!("c{at}"), "name": TESTS[*test], "status": "FAILED", "error_message": error, "log_snippet": format!("{error}\nrun {number}") })
    };
    json!({ "run_id": "1", "name": "any", "failure_list": failures.iter().enumerate().map(case).collect::<Vec<_>>() }).to_string()
}

/// A session that keeps runs of up to `keep` cases in memory.
fn session(dir: &Path, keep: usize) -> Session {
    Session::new(Setup {
        pipelines: Some(dir.join("pipelines")),
        workspace: json!({ "repositories": [{ "name": "shop", "path": "/shop" }, { "name": "ptp", "path": "/ptp", "purpose": "clock" }] }),
        script_time: Some(Duration::from_secs(60)),
        keep,
        ..Setup::bare(dir.to_path_buf(), Arc::new(FixedClock::new(Timestamp::from_millis(1_771_104_069_000), 0)))
    })
}

fn spec(dir: &Path, parallel: usize, dry_run: bool) -> RunSpec {
    let inputs = RunInputs::Files(LaunchFiles::of(&[dir.join("launch.json")]));
    RunSpec {
        settings: RunSettings { pipeline: Some("waves".into()), seed: 3, ..RunSettings::default() },
        parallel,
        dry_run,
        ..RunSpec::of(inputs)
    }
}

fn project(failures: &[Failure]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("pipelines")).unwrap();
    std::fs::write(dir.path().join("pipelines/waves.yaml"), pipeline()).unwrap();
    std::fs::write(dir.path().join("launch.json"), launch(failures)).unwrap();
    dir
}

/// Orders the run to stop after some events.
struct Stop<'a> {
    stop: &'a AtomicBool,
    left: AtomicUsize,
}

impl RunListener for Stop<'_> {
    fn warnings(&self, warnings: &Diagnostics) {
        assert!(warnings.iter().next().is_none(), "{warnings}");
    }

    fn event(&self, _event: &Event) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The whole outcome of a run except the position and time of its events: result, report, each case's journal
/// and facts, and the barriers.
fn reported(dir: &Path, result: &RunResult) -> Value {
    let store = Store::read_only(dir.join("store.db")).unwrap();
    let mut cases = Vec::new();
    let reported = result.each(|case| {
        let id = &case.case.id;
        let events: Vec<Event> = store.events(&result.run, id).unwrap().into_iter().map(|(_, event)| event).collect();
        cases.push(json!({ "case": id, "events": events, "facts": store.case_facts(&result.run, id).unwrap() }));
        Ok(())
    });
    reported.unwrap();
    let barriers: Vec<Event> = store.run_events(&result.run).unwrap().into_iter().map(|(_, event)| event).collect();
    json!({ "reported": said(result), "cases": cases, "barriers": barriers })
}

/// What a run says, stored or not.
fn said(result: &RunResult) -> Value {
    let mut summary = serde_json::to_value(result.summary()).unwrap();
    for case in summary["cases"].as_array_mut().unwrap() {
        case.as_object_mut().unwrap().remove("case_status");
    }
    let (report, _) = report::build(result, || Ok(None)).unwrap();
    let mut report = serde_json::to_value(&report).unwrap();
    for case in report["cases"].as_array_mut().unwrap() {
        case.as_object_mut().unwrap().remove("case_status");
    }
    json!([summary, report])
}

/// Runs it, stopped after each of these numbers of events, then to the end.
fn run(failures: &[Failure], parallel: usize, stops: &[usize], keep: usize) -> Value {
    let dir = project(failures);
    let session = session(dir.path(), keep);
    let stop = AtomicBool::new(false);
    let watch = |events: Option<usize>| Stop { stop: &stop, left: AtomicUsize::new(events.unwrap_or(usize::MAX)) };
    let mut result = session.run(&spec(dir.path(), parallel, false), &watch(stops.first().copied()), &stop).unwrap();
    for events in stops.iter().skip(1).copied().map(Some).chain([None]) {
        stop.store(false, Ordering::Relaxed);
        let mut all = true;
        let seen = result.each(|case| {
            all &= over(case.state.status);
            Ok(())
        });
        seen.unwrap();
        if over(result.status) && all {
            break;
        }
        result = {
            let spec = ResumeSpec {
                run: &result.run,
                parallel,
                durability: Durability::Batch,
                migrate: None,
                budget: None,
                distribute: false,
            };
            session.resume(&spec, &watch(events), &stop)
        }
        .unwrap();
    }
    reported(dir.path(), &result)
}

/// Where two values differ first, for people.
fn difference(left: &Value, right: &Value, path: &str) -> Option<String> {
    let none = Value::Null;
    match (left, right) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let of = |map: &Map<String, Value>, key: &str| map.get(key).cloned().unwrap_or_default();
            keys.into_iter().find_map(|key| difference(&of(a, key), &of(b, key), &format!("{path}.{key}")))
        }
        (Value::Array(a), Value::Array(b)) => (0..a.len().max(b.len()))
            .find_map(|at| difference(a.get(at).unwrap_or(&none), b.get(at).unwrap_or(&none), &format!("{path}[{at}]"))),
        (a, b) => (a != b).then(|| format!("{path}: {a} and {b}")),
    }
}

fn over(status: WalkStatus) -> bool {
    matches!(status, WalkStatus::Done | WalkStatus::Error)
}

fn failures() -> impl Strategy<Value = Vec<Failure>> {
    prop::collection::vec((0..TESTS.len(), 0..ERRORS.len(), 0..40_u8), 1..10)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_does_not_depend_on_parallelism_or_interruptions(
        failures in failures(), stops in prop::collection::vec(1..120_usize, 1..5),
    ) {
        let expected = run(&failures, 1, &[], KEEP);
        for parallel in [2, 8] {
            prop_assert_eq!(difference(&run(&failures, parallel, &[], KEEP), &expected, ""), None, "--parallel {}", parallel);
        }
        for (parallel, keep) in [(1, KEEP), (3, KEEP), (2, 0)] {
            let found = difference(&run(&failures, parallel, &stops, keep), &expected, "");
            prop_assert_eq!(found, None, "stopped after {:?}, --parallel {}, {} kept", &stops, parallel, keep);
        }
        prop_assert_eq!(difference(&run(&failures, 2, &[], 0), &expected, ""), None, "nothing kept in memory");
        let dir = project(&failures);
        let watch = Stop { stop: &AtomicBool::new(false), left: AtomicUsize::new(usize::MAX) };
        let dry = session(dir.path(), failures.len() % 2).run(&spec(dir.path(), 2, true), &watch, watch.stop).unwrap();
        prop_assert_eq!(difference(&said(&dry), &expected["reported"], ""), None, "a dry run");
        prop_assert!(!dir.path().join("store.db").exists());
    }
}

/// The failures of one kind as one launch: the first is investigated, the others are known by then.
#[test]
fn followers_receive_the_findings_of_their_representative() {
    let reported = run(&[(1, 1, 0), (0, 2, 1), (1, 1, 0), (0, 2, 9), (1, 1, 0)], 2, &[], KEEP);
    let nodes: Vec<String> =
        reported["reported"][0]["cases"].as_array().unwrap().iter().map(|case| case["nodes"].to_string()).collect();
    let known = r#"["recall","review","report"]"#;
    assert_eq!([&nodes[2], &nodes[4]], [known, known], "{nodes:#?}");
    assert!(nodes[0].contains("investigate") && nodes[1].contains("investigate"));
    let barriers: Vec<_> =
        reported["barriers"].as_array().unwrap().iter().map(|event| [&event["wave"], &event["phase"]]).collect();
    assert_eq!(json!(barriers)[0], json!([1, 2]));
    assert!(json!(barriers).to_string().contains("[2,1]"), "{barriers:?}");
}

/// Of failures that the triage found alike, the first is investigated ahead, also when the run is stopped on the way.
#[test]
fn a_representative_is_investigated_before_its_cluster() {
    let reported = run(&[(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 1, 0)], 3, &[40, 30], KEEP);
    let turns: Vec<Value> =
        reported["barriers"].as_array().unwrap().iter().map(|event| json!([event["phase"], event["turn"]])).collect();
    assert_eq!(turns, [json!([2, 1]), json!([2, 2]), json!([3, 1])]);
    assert!(reported["barriers"][0]["clusters"].is_string() && reported["barriers"][1]["clusters"].is_null());
}

/// No case is linked to a root cause of a later case.
#[test]
fn no_two_cases_are_each_others_duplicates() {
    let failures: Vec<Failure> = (0..12_usize).map(|at| (at % 4, 1 + at % 2, 7)).collect();
    let dir = project(&failures);
    let watch = Stop { stop: &AtomicBool::new(false), left: AtomicUsize::new(usize::MAX) };
    let result = session(dir.path(), KEEP).run(&spec(dir.path(), 3, false), &watch, watch.stop).unwrap();
    let store = Store::read_only(dir.path().join("store.db")).unwrap();
    let (mut owner, mut duplicates) = (std::collections::BTreeMap::new(), 0);
    for (at, (case, _)) in store.case_names(&result.run).unwrap().iter().enumerate() {
        let events = store.events(&result.run, case).unwrap();
        for (_, event) in events {
            let EventBody::NodeExit { effects, .. } = event.what else { continue };
            for effect in effects {
                let effect = serde_json::to_value(effect).unwrap();
                let id = effect["id"].as_i64();
                match effect["effect"].as_str() {
                    Some("create_rca") => drop(owner.insert(id, at)),
                    Some("link_rca") => {
                        duplicates += 1;
                        assert!(owner.get(&id).is_some_and(|owner| *owner < at), "{effect}: {owner:?}");
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(duplicates > 0);
}
