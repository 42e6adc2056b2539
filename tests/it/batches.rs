//! Batched requests: many agents, each of which claims its requests.

use crate::harness::{Project, Ran, TWO, in_time, until};
use crate::shared::shared_json;
use crate::signals::{artifact, events, find, put, signal, wrapped};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

pub(crate) fn project(cases: usize, more: &str) -> Project {
    let settings = format!("agents: {{ batch-file: {{ poll: 40ms, timeout: 60s{more} }} }}\n");
    let cases: Vec<Value> = (0..cases)
        .map(|n| json!({ "id": format!("c{n}"), "name": format!("test {n}"), "status": "FAILED", "error_message": "no" }))
        .collect();
    let launch = json!({ "run_id": "7", "name": "small", "failure_list": cases }).to_string();
    let pipeline = format!("{TWO}phases: [[look], [close]]\n");
    Project::with(&[("two.yaml", &pipeline), ("asterisk.yaml", &settings), ("launch.json", &launch)])
}

fn run(project: &Project, more: &[&str]) -> Ran {
    project.asterisk(&args(more))
}

pub(crate) fn args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let args = ["run", "two.yaml", "--input", "launch.json", "--via", "batch-file", "--files", "always", "--format", "json"];
    [&args, more].concat()
}

fn manifest(root: &Path) -> Option<(PathBuf, Value)> {
    let path = find(&root.join(".asterisk"), "batch-manifest.json").pop()?;
    let manifest = signal(&path)?;
    Some((path, manifest))
}

/// What one of many agents does with a request that it has claimed.
type Act = dyn Fn(&Path, &Value) + Send + Sync;

/// Agents that follow the manifest. Each claims a request before reading it.
pub(crate) struct Crowd {
    stop: Arc<AtomicBool>,
    hands: Vec<JoinHandle<()>>,
    /// The claims, with their agents.
    taken: Arc<Mutex<Vec<(i64, usize)>>>,
}

impl Crowd {
    pub(crate) fn of(many: usize, root: &Path, act: impl Fn(&Path, &Value) + Send + Sync + 'static) -> Self {
        let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let act: Arc<Act> = Arc::new(act);
        let hands = (0..many)
            .map(|me| {
                let (root, stop, taken, act) = (root.to_owned(), Arc::clone(&stop), Arc::clone(&taken), Arc::clone(&act));
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        work(me, &root, &taken, &*act);
                        sleep(Duration::from_millis(4));
                    }
                })
            })
            .collect();
        Self { stop, hands, taken }
    }

    pub(crate) fn taken(self) -> Vec<(i64, usize)> {
        self.stop.store(true, Ordering::Relaxed);
        self.hands.into_iter().for_each(|hand| hand.join().unwrap());
        Arc::into_inner(self.taken).unwrap().into_inner().unwrap()
    }
}

fn work(me: usize, root: &Path, taken: &Mutex<Vec<(i64, usize)>>, act: &Act) {
    let Some((_, manifest)) = manifest(root) else { return };
    for entry in manifest["signals"].as_array().unwrap().iter().filter(|entry| entry["status"] == "pending") {
        let path = PathBuf::from(entry["signal_path"].as_str().unwrap());
        let Some(signal) = signal(&path).filter(|signal| signal["status"] == "waiting") else { continue };
        if artifact(&signal).exists() {
            continue;
        }
        let id = signal["dispatch_id"].as_i64().unwrap();
        if std::fs::create_dir(path.with_file_name(format!("claim-{id}"))).is_ok() {
            taken.lock().unwrap().push((id, me));
            act(&path, &signal);
        }
    }
}

pub(crate) fn good(_: &Path, signal: &Value) {
    put(&artifact(signal), wrapped(signal, &json!({ "found": true })));
}

#[test]
fn many_agents_share_a_batch_without_double_work() {
    let project = project(10, "");
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let (root, all) = (project.root().to_owned(), Arc::clone(&seen));
    let crowd = Crowd::of(5, project.root(), move |path, signal| {
        let (_, manifest) = manifest(&root).unwrap();
        let briefing = manifest["briefing_path"].as_str().unwrap();
        let text = std::fs::read_to_string(briefing).unwrap();
        assert!(text.contains("- total: 10\n") && text.contains("- scenario: small\n"), "{text}");
        assert!(!text.contains("Known symptoms") && !text.contains("Clusters") && !text.contains("Prior RCAs"), "{text}");
        all.lock().unwrap().push(manifest);
        good(path, signal);
    });
    let ran = run(&project, &["--parallel", "4"]).exits(0);
    let mut taken: Vec<i64> = crowd.taken().into_iter().map(|(id, _)| id).collect();
    assert_eq!(taken.len(), 20, "two steps of ten cases, each claimed once");
    taken.sort_unstable();
    assert_eq!(taken, (1..=20).collect::<Vec<i64>>());
    assert_eq!(events(&project, &ran, &["asked"]).len(), 20);
    let (_, last) = manifest(project.root()).unwrap();
    assert_eq!(last["status"], "done");
    let seen = seen.lock().unwrap();
    let phases: Vec<&str> = seen.iter().map(|manifest| manifest["phase"].as_str().unwrap()).collect();
    assert!(phases.starts_with(&["look"]) && phases.ends_with(&["close"]), "{phases:?}");
    assert!(seen.iter().all(|manifest| (1..=4).contains(&manifest["total"].as_u64().unwrap())), "{seen:?}");
    assert!(last["batch_id"].as_u64().unwrap() >= 6, "{last}");
    let left = find(project.root(), "signal.json");
    assert!(left.iter().all(|path| signal(path).unwrap()["status"] == "complete"));
    assert!(
        std::fs::read_dir(left[0].parent().unwrap())
            .unwrap()
            .all(|entry| { !entry.unwrap().file_name().to_str().unwrap().starts_with("claim-") })
    );
}

/// Nothing is published once the budget is spent, whatever has been queued before.
#[test]
fn a_spent_budget_stops_before_the_next_batch() {
    let project = project(16, "");
    let published = || find(project.root(), "signal.json").len();
    let crowd = Crowd::of(4, project.root(), good);
    let ran = run(&project, &["--parallel", "16", "--budget", "1500"]).exits(5);
    drop(crowd.taken());
    let used = |ran: &Ran| ran.json()["budget"]["percent_used"].as_f64().unwrap();
    assert!((100.0..150.0).contains(&used(&ran)), "{}", ran.text());
    assert!(published() < 16, "{}", published());
    let status = signal(&find(project.root(), "budget-status.json")[0]).unwrap();
    assert_eq!(status["used"], ran.json()["budget"]["used"], "the last report is written last");
    // The queued requests are made when the run is resumed with a larger budget.
    let crowd = Crowd::of(4, project.root(), good);
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    project.asterisk(&["run", "--resume", &run, "--budget", "1000000", "--format", "json"]).exits(0);
    drop(crowd.taken());
}

/// The batch vectors, except for deliberate differences: a partly failed batch is an error, and ids are unique in the run.
#[test]
fn a_batch_fails_if_one_of_its_requests_fails() {
    // On a slow machine they may not all come in the time in which a batch is gathered.
    let (ran, last) = in_time(1, |_| {
        let project = project(4, "");
        let crowd = Crowd::of(2, project.root(), |path, signal| {
            if signal["case_id"] == "c2" {
                put(path, json!({ "status": "error", "dispatch_id": signal["dispatch_id"], "error": "no idea" }).to_string());
            } else {
                put(&artifact(signal), wrapped(signal, &json!({ "found": false })));
            }
        });
        let ran = run(&project, &["--parallel", "4"]).exits(4);
        drop(crowd.taken());
        let (_, last) = manifest(project.root()).unwrap();
        (last["total"] == 4).then_some((ran, last))
    });
    assert_eq!(last["status"], "error");
    let of =
        |case: &str| last["signals"].as_array().unwrap().iter().find(|entry| entry["case_id"] == case).unwrap()["status"].clone();
    assert_eq!((of("c1"), of("c2")), (json!("done"), json!("error")));
    let cases = ran.json()["cases"].as_array().unwrap().clone();
    assert_eq!(cases.iter().filter(|case| case["status"] == "done").count(), 3, "{cases:?}");
    let Some(vectors) = shared_json("vectors/signal_protocol.json") else { return };
    let fields = vectors["meta"]["manifest_fields"].as_array().unwrap();
    let plain = |field: &Value| field.as_str().unwrap().split('[').next().unwrap().to_owned();
    let mut expected: Vec<String> = fields.iter().map(plain).collect();
    let mut have: Vec<String> = last.as_object().unwrap().keys().cloned().collect();
    expected.sort();
    have.sort();
    assert_eq!(have, expected);
    let words = [&vectors["meta"]["manifest_signal_statuses"], &vectors["meta"]["manifest_statuses"]];
    assert!(words.iter().all(|words| words.as_array().unwrap().iter().any(|word| word == "done")));
}

#[test]
fn an_agent_that_claims_and_dies_is_replaced() {
    let project = project(2, ", claim: 300ms");
    let dead = AtomicBool::new(false);
    let crowd = Crowd::of(3, project.root(), move |path, signal| {
        // The first who claims anything is never heard of again.
        if dead.swap(true, Ordering::Relaxed) {
            good(path, signal);
        }
    });
    run(&project, &["--parallel", "2"]).exits(0);
    assert_eq!(crowd.taken().len(), 5);
}

#[test]
fn one_by_one_is_a_batch_without_a_briefing() {
    let project = project(2, ", size: 1");
    let crowd = Crowd::of(2, project.root(), good);
    run(&project, &["--parallel", "2"]).exits(0);
    assert_eq!(crowd.taken().len(), 4);
    let (_, last) = manifest(project.root()).unwrap();
    assert_eq!(
        (last["phase"].as_str(), last["briefing_path"].as_str(), last["total"].as_u64()),
        (Some("single"), Some(""), Some(1))
    );
    assert_eq!(last["batch_id"], 4);
}

/// The first batch of a run with this number of cases, which all belong to it, and the project of the run, which was then killed.
fn first_batch(cases: usize) -> (Project, Value) {
    // On a slow machine they may not all come in the time in which a batch is gathered.
    in_time(1, |_| {
        let project = project(cases, "");
        let mut child = project.start(&args(&["--parallel", &cases.to_string()]));
        until(|| manifest(project.root()).is_some());
        child.kill().unwrap();
        child.wait().unwrap();
        let (_, first) = manifest(project.root()).unwrap();
        (first["total"] == cases).then_some((project, first))
    })
}

#[test]
fn a_batch_survives_its_host() {
    let (project, before) = first_batch(4);
    // Half of it is answered between two runs.
    for entry in &before["signals"].as_array().unwrap()[..2] {
        let path = PathBuf::from(entry["signal_path"].as_str().unwrap());
        good(&path, &signal(&path).unwrap());
    }
    let crowd = Crowd::of(2, project.root(), good);
    let ran = project.asterisk(&["run", "--resume", "latest", "--parallel", "4", "--format", "json"]).exits(0);
    assert_eq!(crowd.taken().len(), 6, "two were answered before");
    assert_eq!(events(&project, &ran, &["asked"]).len(), 8);
    assert_eq!(events(&project, &ran, &["node_exit"]).len(), 8);
    assert!(manifest(project.root()).unwrap().1["batch_id"].as_u64().unwrap() > 1);
}

/// The findings of the scripts so far are in the briefings of later agents.
#[test]
fn a_briefing_contains_earlier_findings() {
    let settings = "agents: { batch-file: { poll: 40ms, timeout: 60s } }\n";
    let project = Project::with(&[("asterisk.yaml", settings)]);
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    let all = Arc::clone(&seen);
    let crowd = Crowd::of(3, project.root(), move |path, signal| {
        let run = path.ancestors().nth(2).unwrap();
        all.lock().unwrap().push(std::fs::read_to_string(run.join("briefing.md")).unwrap());
        let artifact_of = |step: &str| match step {
            "F0_RECALL" => json!({ "match": false, "confidence": 0.1 }),
            _ => json!({ "decision": "approve" }),
        };
        put(&artifact(signal), wrapped(signal, &artifact_of(signal["step"].as_str().unwrap())));
    });
    let via = ["--via", "recall=batch-file", "--via", "review=batch-file"];
    project.asterisk(&[&["run"][..], &via, &["--parallel", "4", "--format", "json"]].concat()).exits(0);
    drop(crowd.taken());
    let (first, last) = {
        let seen = seen.lock().unwrap();
        (seen.first().unwrap().clone(), seen.last().unwrap().clone())
    };
    let headings: Vec<&str> = last.lines().filter(|line| line.starts_with('#')).skip(1).collect();
    assert_eq!(
        headings,
        ["## Run context", "## Known symptoms", "## Clusters", "## Prior RCAs", "## Common error patterns"],
        "{last}"
    );
    assert!(last.contains("- scenario: checkout-nightly\n") && last.contains("\n| K1 | 880101 | 880201 | "), "{last}");
    assert!(
        last.lines().any(|line| line.starts_with("| 880") && line.ends_with(" |") && line.matches('|').count() == 6),
        "{last}"
    );
    if let Some(vectors) = shared_json("vectors/signal_protocol.json") {
        holds(&vectors["briefing"][0], &first);
        holds(&vectors["briefing"][1], &last);
    }
    assert!(last.contains("- phase: investigation\n") && last.lines().all(|line| line.chars().count() < 500), "{last}");
}

/// The columns of the tables under these headings, and the names of a list there.
fn columns(briefing: &str, heading: &str) -> Vec<String> {
    let lines = briefing.lines().skip_while(|line| *line != format!("## {heading}")).skip(1);
    let lines: Vec<&str> = lines.take_while(|line| !line.starts_with('#')).collect();
    if let Some(head) = lines.iter().find(|line| line.starts_with('|')) {
        return head.split('|').map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    }
    lines.iter().filter_map(|line| Some(line.strip_prefix("- ")?.split_once(':')?.0.to_owned())).collect()
}

/// The requirements of the vectors for a briefing: sections with their parts, such as `known symptoms table: case, category`.
fn holds(vector: &Value, briefing: &str) {
    for section in vector["expect_sections"].as_array().unwrap() {
        let (name, parts) = section.as_str().unwrap().split_once(": ").unwrap_or((section.as_str().unwrap(), ""));
        let heading = match name {
            "title with batch number" => {
                assert!(briefing.starts_with("# Briefing of batch "), "{briefing}");
                continue;
            }
            "run context" => "Run context",
            "known symptoms table" => "Known symptoms",
            "cluster table" => "Clusters",
            "prior RCA table" => "Prior RCAs",
            other => panic!("what is {other}?"),
        };
        // Its first column has the names `K1`, `K2`, ...
        let have = columns(briefing, heading).join(", ").replace("cluster, ", "K1.., ");
        assert_eq!(have, parts, "{heading} of {briefing}");
    }
    for absent in vector["expect_absent"].as_array().into_iter().flatten() {
        let heading = absent.as_str().unwrap().to_lowercase();
        assert!(briefing.lines().all(|line| line.to_lowercase() != format!("## {heading}")), "{briefing}");
    }
}

/// Every vector about batches, except for deliberate differences.
#[test]
fn the_vectors_hold() {
    let Some(vectors) = shared_json("vectors/signal_protocol.json") else { return };
    let all: Vec<&Value> = vectors["batch"].as_array().unwrap().iter().collect();
    assert!(all.len() >= 9, "the file lost vectors");
    for vector in all {
        let (id, expect) = (vector["id"].as_str().unwrap(), &vector["expect"]);
        match id {
            "batch-all-done" => {
                let (statuses, last, entries) = batch(2, "60s", true);
                let sequence: Vec<&str> =
                    expect["manifest_status_sequence"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
                // A state may be too short to be seen, but none comes in another order.
                let mut order = sequence.iter();
                assert!(statuses.iter().all(|status| order.any(|known| known == status)), "{statuses:?}");
                assert_eq!((&last["batch_id"], &json!(entries)), (&expect["batch_id"], &expect["signal_statuses"]));
            }
            "batch-all-error" => {
                let (_, last, entries) = batch(2, "300ms", false);
                assert_eq!((&last["status"], &json!(entries)), (&expect["manifest_status"], &expect["signal_statuses"]));
            }
            "batch-empty" => {
                let project = project(0, "");
                run(&project, &[]);
                assert!(manifest(project.root()).is_none() && expect["manifest_written"] == false);
            }
            "batch-single" => {
                let project = project(1, ", size: 1");
                let crowd = Crowd::of(1, project.root(), good);
                run(&project, &[]).exits(0);
                drop(crowd.taken());
                let (_, last) = manifest(project.root()).unwrap();
                assert_eq!((&last["phase"], &last["briefing_path"]), (&expect["phase"], &expect["briefing_path"]));
            }
            "batch-manifest-roundtrip" => {
                let (_project, first) = first_batch(3);
                assert_eq!((&first["status"], &first["total"]), (&expect["status"], &expect["total"]));
                assert!(Path::new(first["briefing_path"].as_str().unwrap()).exists() && expect["briefing_path_kept"] == true);
            }
            // Without a manifest there are not any batches yet: agents follow the signals (`signals::an_agent_answers_through_files`).
            "batch-manifest-missing" => assert_eq!(expect["error"], true),
            "budget-1" | "budget-not-configured" | "budget-agent-rule" => budget(id, expect),
            other => panic!("what is {other}?"),
        }
    }
}

/// The successive statuses of a manifest, the final manifest and the statuses of its entries, for these cases, answered or not.
fn batch(cases: usize, timeout: &str, answered: bool) -> (Vec<String>, Value, Vec<Value>) {
    let project = project(cases, "");
    project.file(
        "asterisk.yaml",
        format!("agents: {{ batch-file: {{ poll: 40ms, timeout: {timeout}, retry: {{ attempts: 1 }} }} }}\n"),
    );
    let mut child = project.start(&args(&["--parallel", "4"]));
    let crowd = answered.then(|| {
        Crowd::of(1, project.root(), |_, signal| {
            put(&artifact(signal), wrapped(signal, &json!({ "found": false })));
        })
    });
    let mut statuses: Vec<String> = Vec::new();
    until(|| {
        let status = manifest(project.root()).map(|(_, manifest)| manifest["status"].as_str().unwrap().to_owned());
        statuses.extend(status.filter(|status| statuses.last() != Some(status)));
        child.try_wait().unwrap().is_some()
    });
    drop(crowd.map(Crowd::taken));
    let (_, last) = manifest(project.root()).unwrap();
    let entries = last["signals"].as_array().unwrap().iter().map(|entry| entry["status"].clone()).collect();
    (statuses, last, entries)
}

/// The part of a budget that its file contains.
fn budget(id: &str, expect: &Value) {
    let project = project(1, ", size: 1");
    let crowd = Crowd::of(1, project.root(), good);
    let more: &[&str] = if id == "budget-not-configured" { &[] } else { &["--budget", "100000"] };
    run(&project, more).exits(0);
    drop(crowd.taken());
    let files = find(&project.root().join(".asterisk"), "budget-status.json");
    match id {
        "budget-not-configured" => assert_eq!(json!(!files.is_empty()), expect["budget_file_written"]),
        _ => {
            let status = signal(&files[0]).unwrap();
            let keys: Vec<&str> = status.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["percent_used", "remaining", "total_budget", "used"]);
            let (used, left) = (status["used"].as_i64().unwrap(), status["remaining"].as_i64().unwrap());
            assert!(used > 0 && left == 100_000 - used, "{status}");
        }
    }
}
