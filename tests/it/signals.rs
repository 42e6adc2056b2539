//! Answers through files: good agents, and agents that die, lie, are late or write invalid files.

use crate::harness::{PATIENCE, Project, Ran, TWO, in_time, stride, strings, until};
use crate::shared::shared_json;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Two nodes, of which the first has a separate artifact file.
fn pipeline() -> String {
    TWO.replace("  - name: close", "    artifact: look-result.json\n  - name: close")
}

pub(crate) const RUN: [&str; 8] = ["run", "two.yaml", "--input", "none", "--via", "file", "--format", "json"];

/// A project whose `file` looks often and waits for so long.
pub(crate) fn project(timeout: &str) -> Project {
    let settings = format!("agents: {{ file: {{ poll: 40ms, timeout: {timeout} }} }}\n");
    Project::with(&[("two.yaml", &pipeline()), ("asterisk.yaml", &settings)])
}

/// The files of that name below a directory.
pub(crate) fn find(dir: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(find(&path, name));
        } else if path.ends_with(name) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A signal file, if one can be read there.
pub(crate) fn signal(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Writes atomically, as agents should.
pub(crate) fn put(path: &Path, text: impl AsRef<[u8]>) {
    let aside = path.with_extension(format!("{:?}", std::thread::current().id()).replace(['(', ')'], "-"));
    std::fs::write(&aside, text).unwrap();
    std::fs::rename(aside, path).unwrap();
}

pub(crate) fn wrapped(signal: &Value, data: &Value) -> String {
    json!({ "dispatch_id": signal["dispatch_id"], "data": data }).to_string()
}

/// An agent that sees to every new request that waits, as its behaviour says, until it is dropped. The second argument says how many
/// it saw before.
pub(crate) struct Agent {
    stop: Arc<AtomicBool>,
    hand: Option<JoinHandle<Vec<Value>>>,
}

impl Agent {
    pub(crate) fn of(root: &Path, act: impl Fn(&Path, &Value, usize) + Send + 'static) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, root) = (Arc::clone(&stop), root.to_owned());
        let hand = std::thread::spawn(move || {
            let mut seen: Vec<Value> = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                for path in find(&root, "signal.json") {
                    let Some(signal) = signal(&path).filter(|signal| signal["status"] == "waiting") else { continue };
                    if seen.iter().all(|known| known["dispatch_id"] != signal["dispatch_id"]) {
                        act(&path, &signal, seen.len());
                        seen.push(signal);
                    }
                }
                sleep(Duration::from_millis(5));
            }
            seen
        });
        Self { stop, hand: Some(hand) }
    }

    /// One that gives everybody the same answer.
    pub(crate) fn good(root: &Path, data: Value) -> Self {
        Self::of(root, move |_, signal, _| put(&artifact(signal), wrapped(signal, &data)))
    }

    /// Ends it. The requests that it saw.
    pub(crate) fn seen(mut self) -> Vec<Value> {
        self.stop.store(true, Ordering::Relaxed);
        self.hand.take().unwrap().join().unwrap()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Where the answer to a request belongs.
pub(crate) fn artifact(signal: &Value) -> PathBuf {
    signal["artifact_path"].as_str().unwrap().into()
}

/// The directory of the case of the only run.
fn case_dir(project: &Project) -> PathBuf {
    find(&project.root().join(".asterisk"), "signal.json")[0].parent().unwrap().to_owned()
}

fn last(project: &Project) -> Value {
    signal(&case_dir(project).join("signal.json")).unwrap()
}

pub(crate) fn events(project: &Project, ran: &Ran, types: &[&str]) -> Vec<Value> {
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let text = project.read(&format!(".asterisk/investigations/{run}/events.jsonl"));
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| types.iter().any(|kind| event["type"] == *kind)).collect()
}

fn ended(project: &Project, child: Child) -> Ran {
    project.ran(&child.wait_with_output().unwrap())
}

#[test]
fn an_agent_answers_through_files() {
    let project = project("60s");
    let agent = Agent::of(project.root(), |path, signal, _| {
        let prompt = std::fs::read_to_string(signal["prompt_path"].as_str().unwrap()).unwrap();
        assert!(prompt.contains("This is the step"), "{prompt}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(path), mode(path.parent().unwrap())), (0o600, 0o700));
        }
        // The case's state says which step waits.
        let state: Value = serde_json::from_str(&std::fs::read_to_string(path.with_file_name("state.json")).unwrap()).unwrap();
        assert_eq!((&state["current_step"], &state["status"]), (&signal["step"], &json!("running")));
        let came: Vec<&str> =
            state["history"].as_array().unwrap().iter().map(|visit| visit["outcome"].as_str().unwrap()).collect();
        assert_eq!(came, if signal["step"] == "T1_LOOK" { vec![] } else { vec!["E1"] });
        put(&artifact(signal), wrapped(signal, &json!({ "found": true })));
    });
    let ran = project.asterisk(&RUN).exits(0);
    let seen = agent.seen();
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E3"]));
    assert_eq!(seen.iter().map(|signal| &signal["dispatch_id"]).collect::<Vec<_>>(), [1, 2]);
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let dir = project.root().join(format!(".asterisk/investigations/{run}/case-1"));
    let first = &seen[0];
    assert_eq!((first["case_id"].as_str(), first["step"].as_str()), (Some("case-1"), Some("T1_LOOK")));
    assert_eq!(first["prompt_path"], json!(dir.join("prompt-look.md")));
    assert_eq!(first["artifact_path"], json!(dir.join("look-result.json")));
    assert_eq!(first["timestamp"], crate::harness::CLOCK);
    assert!(first.get("error").is_none());
    // The run is over, and its files are those of any run.
    assert_eq!(last(&project)["status"], "complete");
    assert_eq!(project.read(&format!(".asterisk/investigations/{run}/case-1/look-result.json")), "{\n  \"found\": true\n}\n");
    let exits = events(&project, &ran, &["node_exit"]);
    assert_eq!(exits[0]["agent"]["via"], "file");
    assert_eq!(exits[0]["agent"]["request"], events(&project, &ran, &["asked"])[0]["id"]);
    assert_eq!(exits[0]["agent"].get("stale"), None);
    let left = find(&project.root().join(".asterisk"), "signal.json.tmp~");
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(project.asterisk(&["replay", &run, "--format", "json"]).exits(0).json()["flips"], json!([]));
}

/// A directory of the agent's own, one among many agents, a chain that ends with the script.
#[test]
fn signals_may_have_a_separate_directory() {
    let settings = |timeout: &str| format!("agents: {{ desk: {{ kind: file, dir: desk, poll: 40ms, timeout: {timeout} }} }}\n");
    let project = Project::with(&[("two.yaml", &pipeline()), ("asterisk.yaml", &settings("60s"))]);
    let agent = Agent::good(&project.root().join("desk"), json!({ "found": false }));
    let ran = project.asterisk(&["run", "two.yaml", "--input", "none", "--via", "desk", "--format", "json"]).exits(0);
    assert_eq!(agent.seen().len(), 1);
    let found = find(&project.root().join("desk"), "signal.json");
    assert_eq!(found.len(), 1);
    assert_eq!(signal(&found[0]).unwrap()["status"], "complete");
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    assert!(found[0].starts_with(project.root().join("desk").join(run)));
    // No agent answers any more.
    project.file("asterisk.yaml", settings("300ms"));
    insta::assert_snapshot!(project.asterisk(&["run", "two.yaml", "--input", "none", "--via", "desk"]).exits(4).stderr);
    insta::assert_snapshot!(
        "dry",
        project.asterisk(&["run", "two.yaml", "--input", "none", "--via", "desk", "--dry-run"]).exits(4).stderr
    );
}

/// What an agent does to a first request, and how the run ends.
fn against(timeout: &str, act: impl Fn(&Path, &Value) + Send + 'static) -> (Project, Ran, Vec<Value>) {
    let project = project(timeout);
    against_in(project, act)
}

fn against_in(project: Project, act: impl Fn(&Path, &Value) + Send + 'static) -> (Project, Ran, Vec<Value>) {
    let agent = Agent::of(project.root(), move |path, signal, before| {
        if before == 0 { act(path, signal) } else { put(&artifact(signal), wrapped(signal, &json!({ "found": false }))) }
    });
    let ran = project.asterisk(&RUN);
    let seen = agent.seen();
    (project, ran, seen)
}

/// The state of a failed case: in the signal, the journal and the output.
#[track_caller]
fn fails(timeout: &str, why: &str, act: impl Fn(&Path, &Value) + Send + 'static) {
    let (project, ran, seen) = against(timeout, act);
    let ran = ran.exits(4);
    assert_eq!(seen.len(), 1);
    assert_eq!(ran.json()["cases"][0]["error"]["kind"], "agent_error");
    let unanswered = events(&project, &ran, &["unanswered"]);
    let said = unanswered[0]["message"].as_str().unwrap();
    assert!(said.contains(why), "{said}");
    let last = last(&project);
    assert_eq!((last["status"].as_str(), last["error"].as_str()), (Some("error"), Some(said)));
    assert!(ran.stderr.contains("`file` did not answer `look`"), "{}", ran.stderr);
}

#[track_caller]
fn succeeds(act: impl Fn(&Path, &Value) + Send + 'static) -> (Project, Ran) {
    let (project, ran, _) = against("60s", act);
    let ran = ran.exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E2"]));
    (project, ran)
}

fn fine(signal: &Value) -> String {
    wrapped(signal, &json!({ "found": false }))
}

fn failing(signal: &Value, id: &Value) -> String {
    json!({ "status": "error", "dispatch_id": id, "error": "out of ideas", "timestamp": "whenever", "case_id": signal["case_id"] })
        .to_string()
}

#[test]
fn an_agent_that_dies_or_aborts_ends_the_case() {
    fails("300ms", "timeout: no answer within 0.3 s", |_, _| {});
    let before = Instant::now();
    fails("1h", "responder error: out of ideas", |path, signal| put(path, failing(signal, &signal["dispatch_id"])));
    // The signal comes first.
    fails("1h", "responder error", |path, signal| {
        put(path, failing(signal, &signal["dispatch_id"]));
        put(&artifact(signal), fine(signal));
    });
    assert!(before.elapsed() < 2 * PATIENCE);
    // The error of another request is none.
    fails("400ms", "timeout", |path, signal| put(path, failing(signal, &json!(9))));
}

#[test]
fn an_invalid_answer_is_read_twice_then_rejected() {
    fails("60s", "the artifact cannot be read: it is not valid JSON", |_, signal| {
        put(&artifact(signal), "{\"dispatch_id\": 1, ");
    });
    fails("60s", "it is not a JSON object", |_, signal| put(&artifact(signal), "[]"));
    fails("60s", "it is longer than 4194304 bytes", |_, signal| put(&artifact(signal), vec![b' '; 50 << 20]));
    fails("60s", "symbolic link", |_, signal| std::os::unix::fs::symlink("/etc/hostname", artifact(signal)).unwrap());
    fails("60s", "is not a regular file", |_, signal| std::fs::create_dir(artifact(signal)).unwrap());
    fails("60s", "it nests deeper than 64 levels", |_, signal| put(&artifact(signal), "[".repeat(100_000)));
    fails("60s", "the artifact has no `data`", |_, signal| {
        put(&artifact(signal), json!({ "dispatch_id": signal["dispatch_id"] }).to_string());
    });
}

#[test]
fn a_half_written_file_is_read_again() {
    // However slow the agent is: what cannot be read is an error when the time between two looks is over, and changes are seen at once.
    let project = project("10m");
    project.file("asterisk.yaml", "agents: { file: { poll: 2m, timeout: 10m } }\n");
    let (_, ran, _) = against_in(project, |_, signal| {
        let (path, text) = (artifact(signal), fine(signal));
        std::fs::write(&path, &text[..text.len() / 2]).unwrap();
        sleep(Duration::from_millis(25));
        std::fs::write(&path, &text).unwrap();
    });
    assert_eq!(ran.exits(0).json()["cases"][0]["edges"], json!(["E2"]));
}

#[test]
fn stale_answers_are_ignored_and_counted() {
    // Each exists for many polls.
    in_time(600, |there| {
        let (project, ran) = succeeds(move |_, signal| {
            let path = artifact(signal);
            for text in ["{\"dispatch_id\": 7, \"data\": {\"found\": true}}", "{\"found\": true}"] {
                put(&path, text);
                sleep(Duration::from_millis(there));
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "it is never consumed");
            }
            put(&path, fine(signal));
        });
        (events(&project, &ran, &["node_exit"])[0]["agent"]["stale"] == 2).then_some(())
    });
    in_time(900, |limit| {
        let (project, ran, _) = against(&format!("{limit}ms"), |_, signal| put(&artifact(signal), "{\"found\": true}"));
        let ran = ran.exits(4);
        let said = events(&project, &ran, &["unanswered"])[0]["message"].as_str().unwrap().to_owned();
        assert!(said.starts_with("timeout: no answer within "), "{said}");
        said.ends_with(" s (an answer to another request was ignored)").then_some(())
    });
}

/// Of a loop, the second request finds the answer to the first, and does not take it.
#[test]
fn a_repeated_answer_is_accepted_once() {
    let project = project("60s");
    let loops = "  - { id: E1, from: look, to: look, loop: true, condition: found }";
    project.file("two.yaml", pipeline().replace("  - { id: E1, from: look, to: close, condition: found }", loops));
    // Every answer is written again and again, and so over that to the next request; the last until it is taken.
    let over = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&over);
    let agent = Agent::of(project.root(), move |_, signal, before| {
        let (path, text) = (artifact(signal), wrapped(signal, &json!({ "found": before == 0 })));
        let ended = Arc::clone(&ended);
        std::thread::spawn(move || {
            let mut times = 0..30;
            while !ended.load(Ordering::Relaxed) && (before > 0 || times.next().is_some()) {
                put(&path, &text);
                sleep(Duration::from_millis(7 + 2 * before as u64));
            }
        });
    });
    let ran = project.asterisk(&RUN).exits(0);
    over.store(true, Ordering::Relaxed);
    assert_eq!(agent.seen().len(), 2);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E2"]));
    assert_eq!(events(&project, &ran, &["node_exit"]).len(), 2);
}

#[test]
fn an_answer_of_the_wrong_form_is_returned() {
    let (project, ran, seen) = against("60s", |_, signal| put(&artifact(signal), wrapped(signal, &json!({ "found": "very" }))));
    let ran = ran.exits(0);
    assert_eq!(seen.len(), 2);
    assert_eq!(seen.iter().map(|signal| &signal["dispatch_id"]).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(events(&project, &ran, &["complained"])[0]["complaints"], json!(["$.found: expected bool, got a string"]));
    // An artifact of null is an empty one, which lacks something here.
    let (project, ran, _) = against("60s", |_, signal| put(&artifact(signal), wrapped(signal, &Value::Null)));
    let complained = events(&project, &ran.exits(0), &["complained"]);
    assert!(complained[0]["complaints"][0].as_str().unwrap().contains("found"), "{complained:?}");
    let (project, ran, _) = against("60s", |_, signal| put(&artifact(signal), wrapped(signal, &json!([1]))));
    let complained = events(&project, &ran.exits(0), &["complained"]);
    assert_eq!(complained[0]["complaints"], json!(["expected a JSON object, got a list"]));
}

#[test]
fn a_directory_that_links_elsewhere_is_not_written_to() {
    let project = project("60s");
    let outside = tempfile::tempdir().unwrap();
    let case = Project::new();
    drop(case);
    // The run's directory is known in advance: the clock is fixed.
    let ran = project.asterisk(&["run", "two.yaml", "--input", "none", "--via", "manual", "--format", "json"]).exits(5);
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let dir = project.root().join(".asterisk/investigations").join(run);
    std::fs::remove_dir_all(project.root().join(".asterisk")).unwrap();
    std::fs::create_dir_all(&dir).unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.join("case-1")).unwrap();
    let ran = project.asterisk(&RUN);
    assert!(ran.stderr.contains("is a symbolic link"), "{}", ran.text());
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn an_answer_written_between_runs_is_accepted() {
    let project = project("60s");
    let mut child = project.start(&RUN);
    until(|| !find(project.root(), "signal.json").is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let asked = last(&project);
    assert_eq!(asked["status"], "waiting");
    put(&artifact(&asked), fine(&asked));
    // No agent is left to answer.
    let ran = project.asterisk(&["run", "--resume", "latest", "--format", "json"]).exits(0);
    assert_eq!(ran.json()["cases"][0]["edges"], json!(["E2"]));
    let requests = events(&project, &ran, &["asked"]);
    assert_eq!(requests.len(), 1);
    assert_eq!(events(&project, &ran, &["node_exit"])[0]["agent"]["request"], requests[0]["id"]);
    assert_eq!(last(&project)["dispatch_id"], asked["dispatch_id"]);
}

/// The vectors of the signal protocol about our side, the file dispatcher, except for deliberate differences.
#[test]
fn the_vectors_hold() {
    let Some(vectors) = shared_json("vectors/signal_protocol.json") else { return };
    let known = |id: &str| vectors["file"].as_array().unwrap().iter().find(|one| one["id"] == id).unwrap()["expect"].clone();
    let fields: Vec<&str> = vectors["meta"]["signal_fields"]
        .as_array()
        .unwrap()
        .iter()
        .map(|field| field.as_str().unwrap().split(' ').next().unwrap())
        .collect();
    // The statuses in order, as seen from outside.
    let project = project("60s");
    let mut child = project.start(&RUN);
    let mut statuses: Vec<String> = Vec::new();
    let mut last_seen = None;
    let mut keys: Vec<String> = Vec::new();
    let data = known("sig-happy")["returned"].clone();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && began.elapsed() < PATIENCE {
        let Some(signal) = find(project.root(), "signal.json").first().and_then(|path| signal(path)) else { continue };
        let status = signal["status"].as_str().unwrap().to_owned();
        // Between two requests nothing else may have been seen.
        let state = (signal["dispatch_id"].clone(), status.clone());
        if last_seen.as_ref() != Some(&state) {
            last_seen = Some(state);
            statuses.push(status.clone());
            keys.extend(signal.as_object().unwrap().keys().cloned());
            if status == "waiting" {
                put(
                    &artifact(&signal),
                    wrapped(&signal, &if signal["step"] == "T1_LOOK" { json!({"found": true}) } else { data.clone() }),
                );
            }
        }
    }
    let ran = ended(&project, child).exits(0);
    let sequence = known("sig-happy")["status_sequence"].clone();
    let expected = strings(&sequence);
    // A state may be too short to be seen, but none comes in another order.
    let mut order = expected.iter().chain(&expected).chain(&["complete"]);
    assert!(statuses.iter().all(|status| order.any(|known| known == status)), "{statuses:?}");
    assert!(keys.iter().all(|key| fields.contains(&key.as_str())), "{keys:?} {fields:?}");
    let run = ran.json()["run"].as_str().unwrap().to_owned();
    let close: Value = serde_json::from_str(&project.read(&format!(".asterisk/investigations/{run}/case-1/close.json"))).unwrap();
    assert_eq!(close, data);
    // The others are the tests above; here is what each of them says.
    assert_eq!(known("sig-invalid-then-valid"), json!({ "status": "processing", "accepted": true }));
    assert_eq!(known("sig-bare-artifact"), json!({ "treated_as": 0, "rejected_as": "stale" }));
    assert_eq!(known("sig-empty-data"), json!({ "error_class": "empty_data", "final_status": "error" }));
    assert_eq!(known("sig-null-data"), json!({ "accepted": true, "returned": null }));
    assert_eq!(known("sig-responder-error")["message_contains"], "responder error");
    assert_eq!(known("sig-responder-error-other-id"), json!({ "ignored": true }));
    assert_eq!(known("sig-error-wins-over-artifact"), json!({ "error_class": "responder_error" }));
    assert_eq!(known("sig-finalize")["statuses"], json!(["complete", "complete"]));
}

/// Branches of a case have separate signals, in separate directories.
#[test]
fn branches_have_separate_directories() {
    let project = project("60s");
    let tour = "\
pipeline: two
nodes:
  - { name: find, schema: { places: any } }
  - { name: look, foreach: prior.find.places, merge: first, schema: { found: bool } }
edges:
  - { id: T1, from: find, to: look }
  - { id: T2, from: look, to: _done }
start: find
done: _done
";
    project.file("two.yaml", tour);
    let agent = Agent::of(project.root(), |_, signal, _| {
        let data = if signal["step"] == "FIND" { json!({ "places": [1, 2, 3] }) } else { json!({ "found": true }) };
        put(&artifact(signal), wrapped(signal, &data));
    });
    let ran = project.asterisk(&RUN);
    let mut dirs: Vec<String> = agent.seen().iter().map(|signal| signal["artifact_path"].as_str().unwrap().to_owned()).collect();
    dirs.sort();
    dirs.dedup();
    assert_eq!(dirs.len(), 4, "{dirs:?}\n{}", ran.text());
    assert!(dirs.iter().filter(|dir| dir.contains("/case-1/2/branch[")).count() == 3, "{dirs:?}");
    ran.exits(0);
}

/// Whenever the host is killed, every request is made once, and every answer taken once.
#[test]
fn a_host_may_be_killed_at_any_point_of_a_hand_off() {
    let boundaries = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..2).map(|lane| scope.spawn(move || killed(lane))).collect();
        lanes.into_iter().map(|lane| lane.join().unwrap()).max().unwrap()
    });
    // The beginning, two requests, two steps, a barrier or none, the end: three boundaries each.
    assert!(boundaries >= 18, "{boundaries}");
}

/// Kills at every second boundary (at the usual size, at fewer), until there is none. Where that was.
fn killed(lane: usize) -> u64 {
    for at in (1..).skip(lane * stride()).step_by(2 * stride()) {
        let project = project("60s");
        let agent = Agent::good(project.root(), json!({ "found": true }));
        let Ok(child) = crate::kill::halted(&project, &RUN, at) else { return at };
        // The agent's time limit passes between two runs.
        sleep(Duration::from_millis(30));
        crate::kill::kill(child);
        let known = project.asterisk(&["status", "latest"]).code == Some(0);
        let ran =
            if known { project.asterisk(&["run", "--resume", "latest", "--format", "json"]) } else { project.asterisk(&RUN) };
        let ran = ran.exits(0);
        assert_eq!(ran.json()["cases"][0]["edges"], json!(["E1", "E3"]), "killed at {at}");
        assert_eq!(agent.seen().len(), 2, "killed at {at}");
        for kind in ["asked", "node_exit"] {
            assert_eq!(events(&project, &ran, &[kind]).len(), 2, "{kind}, killed at {at}");
        }
        assert_eq!(last(&project)["status"], "complete", "killed at {at}");
    }
    unreachable!("boundaries have an end")
}

/// If interrupted, it leaves the request open, and resumes it.
#[test]
fn a_wait_can_be_interrupted_and_resumed() {
    let project = project("60s");
    let child = project.start(&RUN);
    until(|| !find(project.root(), "signal.json").is_empty());
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let stopped = ended(&project, child);
    assert_ne!(stopped.code, Some(0), "{}", stopped.text());
    let asked = last(&project);
    assert_eq!(asked["status"], "waiting");
    put(&artifact(&asked), fine(&asked));
    let ran = project.asterisk(&["run", "--resume", "latest", "--format", "json"]).exits(0);
    assert_eq!(events(&project, &ran, &["asked"]).len(), 1);
    assert_eq!(last(&project)["status"], "complete");
}
