//! Commands that answer: good ones, chatty ones, bad ones, dead ones.

use crate::harness::{PATIENCE, Project, Ran, TWO, in_time, stride, until};
use crate::tools::is_running;
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// A project with agents, each the body of a shell script, and what their entries say besides.
fn project(agents: &[(&str, &str, &str)]) -> Project {
    let project = Project::with(&[("two.yaml", TWO)]);
    let entry = |(name, _, more): &(&str, &str, &str)| format!("  {name}: {{ kind: exec, command: [./{name}.sh]{more} }}\n");
    for (name, body, _) in agents {
        let path = project.file(&format!("{name}.sh"), format!("#!/bin/sh\n{body}\n"));
        executable(&path);
    }
    project.file("asterisk.yaml", format!("agents:\n{}", agents.iter().map(entry).collect::<String>()));
    project
}

fn executable(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(project: &Project, via: &str) -> Ran {
    project.asterisk(&["run", "two.yaml", "--input", "none", "--via", via, "--format", "json"])
}

/// The events of the latest run of these types.
fn events(project: &Project, run: &Ran, types: &[&str]) -> Vec<Value> {
    let id = run.json()["run"].as_str().unwrap().to_owned();
    let text = project.read(&format!(".asterisk/investigations/{id}/events.jsonl"));
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| types.iter().any(|kind| event["type"] == *kind)).collect()
}

const GOOD: &str = "cat > prompt-$ASTERISK_NODE.txt; echo '{\"found\": true}'";

#[test]
fn a_command_answers_with_json() {
    let project = project(&[("good", GOOD, "")]);
    let ran = run(&project, "good").exits(0);
    let case = &ran.json()["cases"][0];
    assert_eq!(case["edges"], serde_json::json!(["E1", "E3"]));
    assert!(project.read("prompt-look.txt").contains("\"found\": true or false"));
    let exits = events(&project, &ran, &["node_exit"]);
    assert_eq!(exits[0]["by"], "agent");
    assert_eq!(exits[0]["agent"]["via"], "good");
    let asked = events(&project, &ran, &["asked"]);
    assert_eq!(asked[0]["id"], exits[0]["agent"]["request"]);
    assert_ne!(asked[0]["id"], asked[1]["id"]);
    let tokens = &exits[0]["agent"]["tokens"];
    assert_eq!(tokens["estimated"], true);
    assert_eq!(tokens["prompt"].as_u64().unwrap(), project.read("prompt-look.txt").len() as u64 / 4);
    // The kind selects the only configured agent of it.
    assert_eq!(run(&project, "exec").exits(0).json()["cases"][0]["edges"], case["edges"]);
    // Recorded answers are not requested again.
    std::fs::remove_file(project.root().join("good.sh")).unwrap();
    let id = ran.json()["run"].as_str().unwrap().to_owned();
    project.asterisk(&["explain", &id]).exits(0);
    let replayed = project.asterisk(&["replay", &id, "--format", "json"]).exits(0).json();
    assert_eq!(replayed["flips"], serde_json::json!([]), "{replayed}");
    project.asterisk(&["coverage", &id]).exits(0);
}

#[test]
fn json_is_found_in_chatter_and_envelopes() {
    let chatty = "echo 'Let me {think}.'; echo '```json'; echo '{\"found\": true}'; echo '```'; echo 'Anything else?'";
    let envelope =
        "printf '%s' '{\"type\": \"result\", \"result\": \"Here: {\\\"found\\\": true}\", \"usage\": {\"i\": 1000, \"o\": 100}}'";
    let more = ", answer: result, tokens: { in: usage.i, out: usage.o }, price: { in: 3, out: 15 }";
    let project = project(&[("chatty", chatty, ""), ("envelope", envelope, more)]);
    assert_eq!(run(&project, "chatty").exits(0).json()["cases"][0]["nodes"], serde_json::json!(["look", "close"]));
    let ran = run(&project, "envelope").exits(0);
    let tokens = &ran.json()["tokens"];
    assert_eq!(*tokens, serde_json::json!({"prompt": 2000, "answer": 200, "estimated": false, "cost": 0.009}), "{}", ran.text());
    assert!(ran.stderr.contains("tokens: 2000 in, 200 out; 0.0090 USD"), "{}", ran.stderr);
}

#[test]
fn an_invalid_answer_is_returned_with_its_errors() {
    let learns = "cat > got.txt\n\
                  if grep -q 'was not accepted' got.txt; then cp got.txt complaint.txt; echo '{\"found\": true}'; \
                  else echo 'found it'; fi";
    let wrong = "cat > /dev/null; echo '{\"found\": \"very\"}'";
    let project = project(&[("learns", learns, ""), ("wrong", wrong, ", retry: { attempts: 2 }")]);
    let ran = run(&project, "learns").exits(0);
    let complained = events(&project, &ran, &["complained"]);
    assert_eq!(complained[0]["complaints"], serde_json::json!(["it contains no JSON object: \"found it\""]));
    assert!(project.read("complaint.txt").contains("it contains no JSON object"));
    // Asked twice about the first node, under two ids.
    let asked = events(&project, &ran, &["asked"]);
    assert_eq!(asked.len(), 4);
    assert_ne!(asked[0]["id"], asked[1]["id"]);
    let failed = run(&project, "wrong").exits(4);
    insta::assert_snapshot!(failed.stderr);
    assert_eq!(failed.json()["cases"][0]["error"]["kind"], "schema");
    assert_eq!(events(&project, &failed, &["complained"]).len(), 2);
}

#[test]
fn a_failing_command_is_retried_then_the_next_answerer_is_asked() {
    let dead = "cat > /dev/null; echo tried >> tries.txt; echo 'no credit left' >&2; exit 3";
    let once = "cat > /dev/null; if [ -e been ]; then echo '{\"found\": true}'; else touch been; exit 1; fi";
    let project = project(&[("dead", dead, ""), ("once", once, ""), ("good", GOOD, "")]);
    let ran = run(&project, "once").exits(0);
    let asked = events(&project, &ran, &["asked", "unanswered"]);
    let kinds: Vec<&str> = asked.iter().map(|event| event["type"].as_str().unwrap()).collect();
    // The same request, so no other is recorded.
    assert_eq!(kinds, ["asked", "unanswered", "asked"]);
    let failed = run(&project, "dead").exits(4);
    assert_eq!(project.read("tries.txt").lines().count(), 3);
    insta::assert_snapshot!(failed.stderr);
    let ran = run(&project, "dead,good").exits(0);
    assert_eq!(ran.json()["cases"][0]["nodes"], serde_json::json!(["look", "close"]));
    assert_eq!(events(&project, &ran, &["node_exit"])[0]["agent"]["via"], "good");
    // The circuit opens after five failures: 3 before the first `good`, 2 more, and no third one of the next step.
    assert_eq!(project.read("tries.txt").lines().count(), 3 + 5);
}

#[test]
fn a_hanging_or_flooding_command_is_killed() {
    let hangs = "sleep 9999 & echo $! > child; sleep 9999";
    let floods = "head -c 52428800 /dev/zero | tr '\\0' x";
    let began = Instant::now();
    let child = in_time(400, |limit| {
        let project = project(&[("hangs", hangs, &format!(", timeout: {limit}ms, retry: {{ attempts: 1 }}"))]);
        let output = run(&project, "hangs").exits(4).stderr;
        insta::assert_snapshot!("hangs", output.replace(&format!("{} s", Duration::from_millis(limit).as_secs_f64()), "0.4 s"));
        // It may have been ended before it came as far as to have one.
        std::fs::read_to_string(project.root().join("child")).ok().filter(|child| child.ends_with('\n'))
    });
    until(|| !is_running(child.trim()));
    let project = project(&[("floods", floods, ", retry: { attempts: 1 }"), ("gone", "", "")]);
    std::fs::remove_file(project.root().join("gone.sh")).unwrap();
    insta::assert_snapshot!("floods", run(&project, "floods").exits(4).stderr);
    insta::assert_snapshot!("gone", run(&project, "gone").exits(4).stderr);
    assert!(began.elapsed() < 3 * PATIENCE, "{:?}", began.elapsed());
}

/// A command that answers well leaves nothing behind either: neither in its group nor in a separate session, with its environment or without.
#[cfg(target_os = "linux")]
#[test]
fn leftover_processes_of_a_command_are_killed() {
    let leaves = "cat > /dev/null; sleep 1000 & echo $! >> left; exec 3>&1 >/dev/null 2>&1\n\
                  setsid sh -c 'echo $$ >> left; exec sleep 1000' &\n\
                  (setsid env -i sh -c 'echo $$ >> left; sleep 1000; :' &)\n\
                  until [ $(wc -l < left) -ge 3 ]; do :; done; mv left left-$ASTERISK_NODE; echo '{\"found\": true}' >&3";
    let project = project(&[("leaves", leaves, "")]);
    // Only a process that does nothing else adopts what a command leaves behind.
    project.process(&["run", "two.yaml", "--input", "none", "--via", "leaves", "--format", "json"]).exits(0);
    for node in ["look", "close"] {
        let left = project.read(&format!("left-{node}"));
        assert_eq!(left.lines().filter(|pid| is_running(pid)).collect::<Vec<_>>(), Vec::<&str>::new(), "{left}");
    }
}

/// Even a killed host does not leave a command behind, nor its children, wherever they moved.
#[test]
fn commands_end_when_the_host_is_killed() {
    let note = "sh -c 'trap : TERM HUP; echo $$ >> left; sleep 9999; sleep 9999'";
    let body = format!(
        "sleep 9999 & echo $! > left; setsid {note} &\n\
         env -i setsid {note} </dev/null >/dev/null 2>&1 &\n\
         (setsid env -i setsid {note} &)\n\
         until [ $(wc -l < left) -ge 4 ]; do :; done; mv left child; sleep 9999"
    );
    let body = body.as_str();
    let project = project(&[("hangs", body, "")]);
    let mut host = project.start(&["run", "two.yaml", "--input", "none", "--via", "hangs"]);
    until(|| project.root().join("child").exists());
    let children = project.read("child");
    assert!(children.lines().all(is_running), "{children}");
    host.kill().unwrap();
    host.wait().unwrap();
    until(|| !children.lines().any(is_running));
}

/// The guard of a command is not in its group, and outlives it until nothing is left.
#[cfg(target_os = "linux")]
#[test]
fn a_command_that_kills_its_group_leaves_no_process() {
    let body = "env -i setsid sh -c 'echo $$ > left; mv left child; exec sleep 9999' &\n\
                until [ -e child ]; do :; done; kill -KILL 0";
    let project = project(&[("kills", body, ", retry: { attempts: 1 }")]);
    let said = run(&project, "kills").exits(4).stderr;
    assert!(said.contains("SIGKILL"), "{said}");
    assert!(!is_running(project.read("child").trim()));
}

/// A host that is killed while it starts a command has none begin. A script without `#!` is the shell's.
#[cfg(target_os = "linux")]
#[test]
fn the_watchdog_starts_commands_like_a_shell_while_the_host_lives() {
    let project = project(&[("good", GOOD, "")]);
    project.process(&["__guard", "1", "touch", "begun"]).exits(126);
    assert!(!project.root().join("begun").exists());
    project.file("good.sh", GOOD);
    run(&project, "good").exits(0);
}

#[test]
fn an_agent_cannot_answer_as_a_person() {
    let project = project(&[("liar", "cat > /dev/null; echo '{\"found\": false, \"by\": \"human\"}'", "")]);
    let ran = run(&project, "liar").exits(0);
    let id = ran.json()["run"].as_str().unwrap().to_owned();
    let artifact = project.read(&format!(".asterisk/investigations/{id}/case-1/look.json"));
    assert!(artifact.contains("\"by\": \"agent\""), "{artifact}");
}

#[test]
fn a_node_names_its_answerer() {
    let project = project(&[("good", GOOD, ""), ("other", "cat > /dev/null; echo '{\"found\": false}'", "")]);
    project.file("two.yaml", TWO.replace("code: T1", "code: T1\n    via: [nowhere, other]"));
    insta::assert_snapshot!(run(&project, "good").exits(3).stderr);
    project.file("two.yaml", TWO.replace("code: T1", "code: T1\n    via: other"));
    assert_eq!(run(&project, "good").exits(0).json()["cases"][0]["edges"], serde_json::json!(["E2"]));
    let command = ["run", "two.yaml", "--input", "none", "--via", "good", "--via", "T1=good", "--format", "json"];
    assert_eq!(project.asterisk(&command).exits(0).json()["cases"][0]["edges"], serde_json::json!(["E1", "E3"]));
    insta::assert_snapshot!("unknown", run(&project, "goood").exits(2).stderr);
    insta::assert_snapshot!("kind", run(&project, "http").exits(2).stderr);
}

#[test]
fn a_budget_stops_the_run_where_it_can_be_resumed() {
    let measured = "cat > /dev/null; echo '{\"found\": true, \"u\": 600}'";
    let more = ", tokens: { in: u, out: u }";
    let project = project(&[("good", measured, more)]);
    project.file("two.yaml", TWO.replace("found: bool,", "found: bool, u?: int,"));
    let command = ["run", "two.yaml", "--input", "none", "--via", "good", "--budget", "1000", "--format", "json"];
    let ran = project.asterisk(&command).exits(5);
    insta::assert_snapshot!(ran.stderr);
    let id = ran.json()["run"].as_str().unwrap().to_owned();
    let status = format!(".asterisk/investigations/{id}/budget-status.json");
    let left: Value = serde_json::from_str(&project.read(&status)).unwrap();
    assert_eq!(left, serde_json::json!({"total_budget": 1000, "used": 1200, "remaining": -200, "percent_used": 120.0}));
    let resumed = project.asterisk(&["run", "--resume", &id, "--budget", "3000", "--format", "json"]).exits(0);
    assert_eq!(resumed.json()["cases"][0]["nodes"], serde_json::json!(["look", "close"]));
    assert_eq!(resumed.json()["budget"]["used"], 2400);
}

/// A process that is killed while a command answers loses nothing: the same request is made again.
#[test]
fn an_open_request_is_reused_after_a_restart() {
    let slow = "echo $ASTERISK_REQUEST >> requests; cat > /dev/null; if [ -e fast ]; then echo '{\"found\": false}'; else sleep 9999; fi";
    let project = project(&[("slow", slow, "")]);
    let mut child = project.start(&["run", "two.yaml", "--input", "none", "--via", "slow"]);
    let asked = || std::fs::read_to_string(project.root().join("requests")).unwrap_or_default();
    until(|| asked().ends_with('\n'));
    child.kill().unwrap();
    child.wait().unwrap();
    project.file("fast", "");
    let ran = project.asterisk(&["run", "--resume", "latest", "--format", "json"]).exits(0);
    let asked: Vec<String> = asked().lines().map(str::to_owned).collect();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1]);
    assert_eq!(events(&project, &ran, &["asked"]).len(), 1);
}

/// Whenever the host is killed, recorded answers are not requested again, and the rest under the same id.
#[test]
fn a_host_may_be_killed_at_any_point_of_a_command() {
    let body = "cat > /dev/null; echo $ASTERISK_REQUEST >> requests; echo '{\"found\": true}'";
    let args = ["run", "two.yaml", "--input", "none", "--via", "good", "--format", "json"];
    for at in (1..).step_by(stride()) {
        let project = project(&[("good", body, "")]);
        let Ok(child) = crate::kill::halted(&project, &args, at) else {
            assert!(at > 15, "{at}");
            return;
        };
        crate::kill::kill(child);
        let known = project.asterisk(&["status", "latest"]).code == Some(0);
        let ran =
            if known { project.asterisk(&["run", "--resume", "latest", "--format", "json"]) } else { project.asterisk(&args) };
        let ran = ran.exits(0);
        let exits = events(&project, &ran, &["node_exit"]);
        let ids: Vec<String> = exits.iter().map(|exit| exit["agent"]["request"].to_string()).collect();
        let mut asked: Vec<String> = project.read("requests").lines().map(str::to_owned).collect();
        assert!(asked.len() <= 3, "at most the one under way is asked again: {asked:?}, killed at {at}");
        asked.dedup();
        assert_eq!(asked, ids, "killed at {at}");
        assert_eq!(events(&project, &ran, &["asked"]).len(), 2, "killed at {at}");
    }
}

/// After five failures the circuit opens; then one request probes it, and the run continues.
#[test]
fn a_probe_detects_recovery() {
    let body = "cat > /dev/null; echo x >> tries; if [ $(wc -l < tries) -gt 5 ]; then echo '{\"found\": false}'; else exit 1; fi";
    let project = project(&[("ill", body, ", retry: { attempts: 20 }")]);
    run(&project, "ill").exits(0);
    assert_eq!(project.read("tries").lines().count(), 6);
}

#[test]
fn concurrent_requests_are_limited() {
    let body = "cat > /dev/null; mkdir busy || echo x >> clashes; sleep 0.05; rmdir busy; echo '{\"found\": false}'";
    let project = project(&[("one", body, ", concurrency: 1")]);
    let cases: Vec<Value> = (0..6)
        .map(|n| serde_json::json!({ "id": format!("c{n}"), "name": format!("t{n}"), "status": "FAILED", "error_message": "no" }))
        .collect();
    project.file("launch.json", serde_json::json!({ "run_id": "7", "name": "small", "failure_list": cases }).to_string());
    let ran =
        project.asterisk(&["run", "two.yaml", "--input", "launch.json", "--via", "one", "--parallel", "6", "--format", "json"]);
    assert_eq!(ran.exits(0).json()["cases"].as_array().unwrap().len(), 6);
    assert!(!project.root().join("clashes").exists());
}

/// The walker of a step names the answerer; the node takes precedence.
#[test]
fn a_walker_names_its_answerer() {
    let other = "cat > /dev/null; echo '{\"found\": false}'";
    let project = project(&[("good", GOOD, ""), ("other", other, "")]);
    let team =
        "team:\n  walkers: [{ name: Scout, element: air, home: look, via: [other] }]\n  scheduler: schedulers/single.rhai\n";
    project.file("two.yaml", format!("{TWO}{team}"));
    assert_eq!(run(&project, "good").exits(0).json()["cases"][0]["edges"], serde_json::json!(["E2"]));
    project.file("two.yaml", format!("{}{team}", TWO.replace("code: T1", "code: T1\n    via: good")));
    assert_eq!(run(&project, "good").exits(0).json()["cases"][0]["edges"], serde_json::json!(["E1", "E3"]));
}
