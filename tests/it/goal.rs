//! The goal loop: goals about files and launches by scripts alone, a model that plans badly, lies and loops, confined tools, memories,
//! and an auditor that cannot be disabled.

use crate::harness::{Project, Ran, copy, repository, stride, strings};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// A project with a working directory of a few files.
pub(crate) fn project() -> Project {
    Project::with(&[
        ("work/a.txt", "one TODO\ntwo\n"),
        ("work/sub/b.txt", "three\nTODO and TODO\n"),
        ("work/sub/c.md", "# Notes\n\nfour\n"),
        ("canary.txt", "alive"),
    ])
}

fn goal(project: &Project, text: &str, more: &[&str]) -> Ran {
    let args: Vec<&str> =
        ["goal", text, "--workdir", "work", "--format", "json"].into_iter().chain(more.iter().copied()).collect();
    project.asterisk(&args)
}

/// The results of the tool calls, in the order of the steps, from the files that the run wrote.
fn outcomes(project: &Project, run: &Value) -> Vec<Value> {
    let below = format!(".asterisk/investigations/{}/", run["run"].as_str().unwrap());
    let number = |part: &str| part.trim_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
    let call = |(path, bytes): (String, Vec<u8>)| {
        let parts: Vec<&str> = path.strip_prefix(&below)?.split('/').collect();
        // Each call of a step is in its branch, next to the list of them all.
        let ends = parts.ends_with(&["call.json"]) && parts[parts.len() - 2].starts_with("branch[");
        ends.then(|| (parts.iter().filter_map(|part| number(part)).collect::<Vec<_>>(), serde_json::from_slice(&bytes).unwrap()))
    };
    let mut found: Vec<(Vec<u64>, Value)> = project.tree().into_iter().filter_map(call).collect();
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found.into_iter().map(|(_, outcome)| outcome).collect()
}

const AUDIT_LOG: &str = ".local/state/asterisk/audit.jsonl";

// ---- by scripts alone ----------------------------------------------------------------------------------------------

#[test]
fn goals_about_files_are_reached_without_a_model() {
    let project = project();
    for (text, key, wanted) in [
        ("count the files", "count", json!(3)),
        ("count the *.txt files", "count", json!(2)),
        ("find the files that contain \"TODO\"", "paths", json!(["a.txt", "sub/b.txt"])),
        ("count the lines of all *.txt files", "count", json!(4)),
    ] {
        let ran = goal(&project, text, &[]).exits(0);
        let result = ran.json();
        assert_eq!((&result["status"], &result["result"][key]), (&json!("done"), &wanted), "{text}: {}", ran.text());
    }
    let ran = goal(&project, "make the world a better place", &[]).exits(1);
    assert_eq!(ran.json()["status"], "abandoned", "{}", ran.text());
}

#[test]
fn a_goal_is_a_run_like_any_other() {
    let project = project();
    let result = goal(&project, "count the files; find the files that contain \"nothing of the kind\"", &[]).json();
    let rounds = result["rounds"].as_array().unwrap();
    assert!(!rounds.is_empty() && rounds.iter().all(|round| round["loss"]["L"].is_number()), "{result}");
    let run = result["run"].as_str().unwrap();
    project.asterisk(&["replay", run]).exits(0);
    let explained = project.asterisk(&["explain", run, "--format", "json"]).exits(0);
    assert!(explained.stdout.contains("rules/goal.rhai"), "{}", explained.text());
    project.asterisk(&["replay", run, "--sweep", "delta=0.1..0.9:0.4"]).exits(0);
    assert_eq!(project.asterisk(&["goal", "--resume", run, "--format", "json"]).exits(0).json()["result"], result["result"]);
}

#[test]
fn a_launch_is_explained_as_far_as_it_can_be() {
    let project = project();
    let launch = std::fs::read_to_string(repository().join("examples/launches/checkout-nightly.json")).unwrap();
    project.file("work/launch.json", launch);
    let ran = goal(&project, "explain every failure of this launch with at least 0.7", &["--input", "launch.json"]);
    let result = ran.json();
    let cases = result["result"]["cases"].as_array().unwrap_or_else(|| panic!("{}", ran.text()));
    assert!(cases.len() > 3 && cases.iter().all(|case| case["because"].is_string()), "{}", ran.text());
    let unsure = cases.iter().filter(|case| case["confidence"].as_f64().unwrap() < 0.7).count();
    assert_eq!(unsure > 0, !result["open"].as_array().unwrap().is_empty(), "unexplained failures stay open: {}", ran.text());
}

// ---- with a model --------------------------------------------------------------------------------------------------

/// A project whose roles are answered by a shell script: the body has one case for each node, and `n` the number of its visit, from 1.
fn with_model(cases: &str) -> Project {
    let project = project();
    let script = format!(
        "#!/bin/sh\ncat >/dev/null\nd=$(dirname \"$0\")/visits; mkdir -p $d\nf=$d/$ASTERISK_NODE\nn=$(($(cat $f 2>/dev/null || echo 0)+1))\necho $n >$f\ncase $ASTERISK_NODE in\n{cases}\nesac\n"
    );
    let path = project.file("model.sh", script);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project.file("asterisk.yaml", "agents:\n  model: { kind: exec, command: [./model.sh], retry: { attempts: 1 } }\n");
    project
}

const PERCEIVE: &str = r#"perceive) echo '{"task_id":"t","intent":"intent:say_hello","text":"say hello","criteria":["hello.txt says hello"],"understood":true}' ;;"#;

/// It plans to delete everything, lies about its work, calls endlessly, and in its second plan does the work.
const RECOVERS: &str = r#"
plan) if [ $n = 1 ]; then echo '{"subtasks":[{"id":"s1","intent":"clean up","text":"delete everything","criteria":["it is clean"]}]}'
      else echo '{"subtasks":[{"id":"s2","intent":"say hello","text":"write hello","criteria":["hello.txt says hello"]}]}'; fi ;;
execute) case $n in
  1) echo '{"calls":[{"tool":"shell","args":{"command":"rm -rf ."}},{"tool":"shell","args":{"command":"x=rm; $x -rf *"}},{"tool":"shell","args":{"command":"echo cm0gLXJmIC4K | base64 -d | sh"}}]}' ;;
  2) echo '{"result":"all is deleted","status":"completed"}' ;;
  [3-9]|1[0-9]) if [ $(cat $d/plan) = 1 ]; then echo '{"calls":[{"tool":"glob","args":{"pattern":"*"}}]}'
     elif [ ! -e work/hello.txt ]; then echo '{"calls":[{"tool":"write_file","args":{"path":"hello.txt","text":"hello"}},{"tool":"read_file","args":{"path":"hello.txt"}}]}'
     else echo '{"result":"hello","status":"completed"}'; fi ;;
  *) echo '{"result":"hello","status":"completed"}' ;;
  esac ;;
validate) if [ -e work/hello.txt ]; then echo '{"verdict":"matched","score":1,"criteria_verdicts":[{"criterion":"hello.txt says hello","verdict":"pass"}]}'
      else echo '{"verdict":"retry","score":0,"unmet":["it is clean"],"criteria_verdicts":[{"criterion":"it is clean","verdict":"fail","failure_class":"logical"}],"because":"nothing was deleted"}'; fi ;;
correct) echo '{"what_was_wrong":"nothing was deleted","what_to_do":"look again"}' ;;
meta_validate) if [ -e work/hello.txt ]; then echo '{"accepted":true,"summary":"hello is said"}'
      else echo '{"accepted":false,"recommendation":"replan","gap":"hello.txt is missing"}'; fi ;;"#;

#[test]
fn a_lying_and_looping_model_is_contained() {
    let project = with_model(&format!("{PERCEIVE}{RECOVERS}"));
    let ran = goal(&project, "say hello", &["--via", "model"]).exits(0);
    let result = ran.json();
    assert_eq!(result["status"], "done", "{}", ran.text());
    assert_eq!(result["rounds"].as_array().unwrap().len(), 2, "{}", ran.text());
    assert_eq!((project.read("work/hello.txt"), project.read("work/a.txt")), ("hello".to_owned(), "one TODO\ntwo\n".to_owned()));
    let made = outcomes(&project, &result);
    let refused: Vec<&Value> = made.iter().filter(|one| one["tool"] == "shell").collect();
    assert_eq!(refused.len(), 3, "{made:?}");
    assert!(refused.iter().all(|one| one["refused"] == true && one["ok"] == false), "{refused:?}");
    assert_eq!(refused[0]["law"], "LAW1");
    // No more calls than a sub-task may make, however many it asks for.
    assert!(made.iter().filter(|one| one["tool"] == "glob").count() <= 10, "{made:?}");
    project.asterisk(&["goal", "audit", "verify"]).exits(0);
    let shown = project.asterisk(&["goal", "audit", "show", "--format", "json"]).exits(0).json();
    let kinds: BTreeSet<&str> =
        shown["entries"].as_array().unwrap().iter().filter_map(|entry| entry["body"]["type"].as_str()).collect();
    for kind in [
        "TaskSpec",
        "SubTask",
        "ExecutionResult",
        "CorrectionSignal",
        "SubTaskOutcome",
        "ReplanRequest",
        "PlanDirective",
        "FinalResult",
    ] {
        assert!(kinds.contains(kind), "{kind} in {kinds:?}");
    }
}

/// Whatever answers, the loop ends within its budgets.
#[test]
fn the_loop_ends_for_every_adversary() {
    let plan = r#"plan) echo '{"subtasks":[{"id":"s'$n'","intent":"i","text":"t","criteria":["c"]}]}' ;;"#;
    let calls = r#"execute) echo '{"calls":[{"tool":"glob","args":{"pattern":"*"}}]}' ;;"#;
    let lies = r#"execute) echo '{"result":"done","status":"completed"}' ;;"#;
    let retry = r#"validate) echo '{"verdict":"retry","criteria_verdicts":[{"criterion":"c","verdict":"fail","failure_class":"CLASS"}]}' ;;"#;
    let correct = r#"correct) echo '{"what_was_wrong":"w","what_to_do":"again"}' ;;"#;
    let replan = r#"meta_validate) echo '{"accepted":false,"recommendation":"replan","gap":"g"}' ;;"#;
    let none = r#"plan) echo '{"subtasks":[]}' ;;"#;
    let worse = r#"validate) if [ $n -gt 4 ]; then v=failed; else v=retry; fi; echo '{"verdict":"'$v'","criteria_verdicts":[{"criterion":"c","verdict":"fail","failure_class":"environmental"}]}' ;;"#;
    let (logical, environmental) = (retry.replace("CLASS", "logical"), retry.replace("CLASS", "environmental"));
    let adversaries: Vec<Vec<&str>> = vec![
        vec![plan, calls, &logical, correct, replan],
        vec![plan, lies, &environmental, correct, replan],
        vec![none, replan],
        vec![plan, lies, worse, correct, replan],
    ];
    for adversary in adversaries {
        let project = with_model(&format!("{PERCEIVE}\n{}", adversary.join("\n")));
        let ran = goal(&project, "say hello", &["--via", "model", "--max-replans", "2"]).exits(1);
        let result = ran.json();
        assert_eq!(result["status"], "abandoned", "{}", ran.text());
        assert!((1..=3).contains(&result["rounds"].as_array().unwrap().len()), "{}", ran.text());
        // Two attempts of each sub-task, ten calls of each.
        assert!(outcomes(&project, &result).len() <= 30, "{}", ran.text());
    }
    // An invalid plan ends the goal with an error, not in a loop.
    let project = with_model(&format!("{PERCEIVE}\n*) echo nonsense ;;"));
    goal(&project, "say hello", &["--via", "model"]).exits(4);
}

/// Whatever the meta validator answers, a goal with a failed or missing sub-task is not done; an answer that fits no schema is not the end.
#[test]
fn a_goal_is_done_only_if_everything_matched_and_was_accepted() {
    let plan = r#"plan) echo '{"subtasks":[{"id":"s1","intent":"i","text":"t","criteria":["it is done"]}]}' ;;"#;
    let work = r#"execute) echo '{"result":1,"status":"completed"}' ;;"#;
    let matched = r#"validate) echo '{"verdict":"matched"}' ;;"#;
    let failed = r#"validate) echo '{"verdict":"failed","failure_class":"logical","because":"Permission denied"}' ;;"#;
    let accepted = r#"meta_validate) echo '{"accepted":true}' ;;"#;
    let banana = r#"*) echo '{"banana":1}' ;;"#;
    for (roles, open) in [
        (vec![plan, work, failed, accepted], "i: Permission denied; unmet: \"it is done\""),
        (vec![plan, work, banana], "i: the artifact of `validate` from `model` does not match its schema"),
        (vec![plan, work, matched, banana], "the result as a whole reaches the goal: the meta validator gave no valid answer: "),
        (vec![r#"plan) echo '{"subtasks":[]}' ;;"#, accepted], ""),
    ] {
        let project = with_model(&format!("{PERCEIVE}\n{}", roles.join("\n")));
        let ran = goal(&project, "say hello", &["--via", "model", "--max-replans", "2"]).exits(1);
        let result = ran.json();
        assert_eq!(result["status"], "abandoned", "{}", ran.text());
        assert!(result["rounds"].as_array().unwrap().len() > 1, "planned again: {}", ran.text());
        assert!(strings(&result["open"])[0].starts_with(open), "{open}: {}", ran.text());
        // The environment failed, or nothing: neither is evidence against an approach, and no failure is remembered as a success.
        let memories = project.asterisk(&["goal", "memory", "list", "--format", "json"]).json()["memories"].clone();
        assert!(memories.as_array().unwrap().iter().all(|memory| memory["sigma"].as_f64().unwrap() < 0.0), "{memories}");
    }
    let project = with_model(&format!("{PERCEIVE}\n{}", [plan, work, matched, accepted].join("\n")));
    assert_eq!(goal(&project, "say hello", &["--via", "model"]).exits(0).json()["status"], "done");
}

/// Sub-tasks that need each other are planned again.
#[test]
fn a_plan_with_dependent_sub_tasks_is_sent_back() {
    let plan = r#"plan) if [ $n = 1 ]; then echo '{"subtasks":[{"id":"s1","intent":"a","text":"a","criteria":["c"]},{"id":"s2","intent":"b","text":"use the result of s1","criteria":["c"]}]}'
      else echo '{"subtasks":[{"id":"s1","intent":"both","text":"both","criteria":["c"]}]}'; fi ;;"#;
    let rest = r#"execute) echo '{"result":1,"status":"completed"}' ;;
validate) echo '{"verdict":"matched"}' ;;
meta_validate) echo '{"accepted":true}' ;;"#;
    let project = with_model(&format!("{PERCEIVE}\n{plan}\n{rest}"));
    let ran = goal(&project, "say hello", &["--via", "model"]).exits(0);
    assert!(ran.stderr.contains("plan -> plan by dependent: s2 needs s1"), "{}", ran.text());
    assert_eq!(ran.json()["rounds"].as_array().unwrap().len(), 1, "{}", ran.text());
}

/// The time limit of a goal applies to a plan of any length, to its sub-tasks' requests and calls, and the outcome shows it.
#[test]
fn a_long_plan_ends_with_the_time_of_the_goal() {
    let plan = "plan) cat plan.json ;;";
    let calls = r#"execute) sleep 0.2; echo '{"calls":[{"tool":"shell","args":{"command":"sleep 5"}},{"tool":"glob","args":{"pattern":"*"}}]}' ;;"#;
    let replan = r#"meta_validate) echo '{"accepted":false,"recommendation":"replan","gap":"g"}' ;;"#;
    let project = with_model(&format!("{PERCEIVE}\n{plan}\n{calls}\n{replan}"));
    let subtask = |number: usize| json!({ "id": format!("s{number}"), "intent": "i", "text": "t", "criteria": ["c"] });
    project.file("plan.json", json!({ "subtasks": (0..3000).map(subtask).collect::<Vec<_>>() }).to_string());
    let args = ["goal", "say hello", "--workdir", "work", "--format", "json", "--via", "model", "--unconfined"];
    let args = [&args[..], &["--set", "time_budget_ms=2000", "--set", "max_subtasks=40"]].concat();
    let began = Instant::now();
    let ran = project.ran(&project.command(&args).env_remove("ASTERISK_CLOCK").output().unwrap()).exits(1);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    let result = ran.json();
    assert_eq!(result["status"], "abandoned", "{}", ran.text());
    assert_eq!(result["rounds"].as_array().unwrap().len(), 1, "{}", ran.text());
    let open = result["open"].to_string();
    assert!(open.contains("within the total limit of 2 s (`time_budget_ms`)"), "{open}");
    assert!(open.contains("the other 2960 sub-tasks of the plan: no more than 40 are run"), "{open}");
}

// ---- tools ---------------------------------------------------------------------------------------------------------

/// The outcomes of calls that a model makes, in order.
fn calls(project: &Project, calls: &Value, more: &[&str]) -> Vec<Value> {
    calls_in(project, calls, "work", more)
}

/// Gives a project a model that makes these calls.
fn model_that_calls(project: &Project, calls: &Value) {
    let plan = r#"plan) echo '{"subtasks":[{"id":"s","intent":"i","text":"t","criteria":["c"]}]}' ;;"#;
    let execute = r#"execute) if [ $n = 1 ]; then cat calls.json; else echo '{"result":1,"status":"completed"}'; fi ;;"#;
    let rest = r#"validate) echo '{"verdict":"matched","criteria_verdicts":[{"criterion":"c","verdict":"pass"}]}' ;;
meta_validate) echo '{"accepted":true}' ;;"#;
    let model = with_model(&format!("{PERCEIVE}\n{plan}\n{execute}\n{rest}"));
    for file in ["model.sh", "asterisk.yaml"] {
        std::fs::copy(model.root().join(file), project.root().join(file)).unwrap();
    }
    std::fs::remove_dir_all(project.root().join("visits")).unwrap_or_default();
    project.file("calls.json", json!({ "calls": calls }).to_string());
}

/// The outcomes of these command lines below `work`, in a separate process.
#[cfg(target_os = "linux")]
pub(crate) fn lines_run(project: &Project, lines: &[String]) -> Vec<Value> {
    let script: Vec<Value> = lines.iter().map(|line| json!({ "tool": "shell", "args": { "command": line } })).collect();
    model_that_calls(project, &json!(script));
    let most = format!("max_calls={}", lines.len().min(100));
    let args = ["goal", "say hello", "--workdir", "work", "--format", "json", "--via", "model", "--unconfined"];
    let ran = project.process(&[&args[..], &["--set", &most, "--set", "call_seconds=1"]].concat()).exits(0);
    outcomes(project, &ran.json())
}

/// The same in another directory, with the auditor's files elsewhere.
fn calls_in(project: &Project, calls: &Value, workdir: &str, more: &[&str]) -> Vec<Value> {
    model_that_calls(project, calls);
    let args = ["goal", "say hello", "--workdir", workdir, "--format", "json", "--via", "model"];
    // What a person says, if one is asked.
    let mut call = project.call(&[&args, more].concat()).reading(&"y\n".repeat(20));
    let log = tempfile::tempdir().unwrap();
    if workdir == "." {
        call = call.env("ASTERISK_AUDIT_LOG", log.path().join("audit.jsonl"));
    }
    let ran = call.ran().exits(0);
    outcomes(project, &ran.json())
}

#[test]
fn tools_read_and_write_below_the_working_directory_only() {
    let project = project();
    #[cfg(unix)]
    std::os::unix::fs::symlink(project.root().join("canary.txt"), project.root().join("work/link")).unwrap();
    let call = |tool: &str, args: Value| json!({ "tool": tool, "args": args });
    let made = calls(
        &project,
        &json!([
            call("read_file", json!({ "path": "a.txt" })),
            call("read_file", json!({ "path": "../canary.txt" })),
            call("read_file", json!({ "path": "link" })),
            call("write_file", json!({ "path": "a.txt", "text": "gone" })),
            call("write_file", json!({ "path": "new/d.txt", "text": "new" })),
            call("write_file", json!({ "path": "../e.txt", "text": "out" })),
            call("grep", json!({ "pattern": "TODO" })),
            call("http_get", json!({ "url": "http://127.0.0.1:9/x" })),
            call("shell", json!({ "command": "cat a.txt | wc -l" })),
            call("erase", json!({})),
        ]),
        &["--unconfined"],
    );
    let ok: Vec<bool> = made.iter().map(|one| one["ok"] == true).collect();
    assert_eq!(ok, [true, false, false, false, true, false, true, false, true, false], "{made:#?}");
    assert_eq!(made[0]["output"], "one TODO\ntwo\n");
    assert_eq!(made[6]["output"], "a.txt:1: one TODO\nsub/b.txt:2: TODO and TODO\n");
    assert_eq!(made[8]["output"].as_str().unwrap().trim(), "2");
    assert!(made[8]["confined"].is_boolean());
    assert_eq!((project.read("work/a.txt"), project.read("work/new/d.txt")), ("one TODO\ntwo\n".into(), "new".into()));
    assert_eq!(project.read("canary.txt"), "alive");
    assert!(!project.root().join("e.txt").exists());
}

/// Read-only commands are started without a shell, connected by pipes.
#[cfg(target_os = "linux")]
#[test]
fn harmless_commands_run_without_a_shell() {
    let project = project();
    project.file("work/-n", "x\n");
    let git =
        |args: &[&str]| std::process::Command::new("git").args(args).current_dir(project.root().join("work")).output().unwrap();
    git(&["init", "-q"]);
    git(&["config", "core.fsmonitor", "touch made; false"]);
    let commands = [
        "cat *.txt | wc -l",
        "cd sub && ls",
        "false && echo no || echo none",
        "cat ./* nothing 2>&1 | head -2; true",
        "cat nothing 2>/dev/null",
        "head -1 < a.txt",
        "git status",
        "grep -c x *",
    ];
    let script: Vec<Value> = commands.iter().map(|command| json!({ "tool": "shell", "args": { "command": command } })).collect();
    let made = calls(&project, &json!(script), &["--unconfined"]);
    let said: Vec<String> = made
        .iter()
        .map(|one| format!("{}{}", one["output"].as_str().unwrap().trim(), if one["refused"] == true { " refused" } else { "" }))
        .collect();
    assert_eq!(said, ["2", "b.txt\nc.md", "none", "x\none TODO", "", "one TODO", " refused", " refused"], "{made:#?}");
    assert_eq!((&made[4]["ok"], &made[6]["law"]), (&json!(false), &json!("")));
    assert!(made[6]["error"].as_str().unwrap().contains("core.fsmonitor"), "{made:#?}");
    assert!(!project.root().join("work/made").exists());
}

/// What a person lets run is bounded by the system, whatever it does. The calls that are refused it are tried in `confine/bounds.rs`.
#[cfg(target_os = "linux")]
#[test]
fn a_command_is_confined() {
    let project = project();
    let commands = [
        "cat ../canary.txt || echo unread",
        "cat /etc/shadow || echo unread",
        "mknod x c 1 7 || echo none",
        "i=0; while [ $i -lt 400 ]; do sleep 9 & i=$((i+1)); done; wait",
        "yes | tr -d x | tail -c 500000000 | wc -c",
        "echo made > made.txt; env",
    ];
    let script: Vec<Value> = commands.iter().map(|command| json!({ "tool": "shell", "args": { "command": command } })).collect();
    let made = calls(&project, &json!(script), &["--approve", "--set", "call_memory=64", "--set", "call_seconds=20"]);
    if made[0]["confined"] != true {
        return;
    }
    let text = |at: usize, key: &str| made[at][key].as_str().unwrap().to_owned();
    for (at, word) in [(0, "unread"), (1, "unread"), (2, "none")] {
        assert!(text(at, "output").contains(word), "{at}: {made:#?}");
    }
    assert!(text(3, "error").contains("more than 256 processes") || text(3, "output").contains("fork"), "{made:#?}");
    assert!(text(4, "error").contains("64 MiB of memory"), "{made:#?}");
    assert_eq!(project.read("work/made.txt"), "made\n");
    let variables: Vec<String> = text(5, "output")
        .lines()
        .filter_map(|line| Some(line.split_once('=')?.0.to_owned()))
        .filter(|name| name != "_")
        .collect();
    let variables: BTreeSet<&str> = variables.iter().map(String::as_str).collect();
    assert_eq!(variables, BTreeSet::from(["HOME", "LANG", "PATH", "PWD", "TMPDIR"]));
}

/// A system call that this kernel does not have: threads of a process have separate filters, inherited by everything they start.
#[cfg(target_os = "linux")]
#[test]
fn commands_that_cannot_be_confined_are_refused() {
    let project = project();
    let script =
        json!([{ "tool": "shell", "args": { "command": "cat a.txt" } }, { "tool": "shell", "args": { "command": "make" } }]);
    let made = |more: &[&str]| {
        std::thread::scope(|scope| {
            let without = || {
                let landlock = (444..=446).map(|call| (call, Vec::new())).collect();
                let missing = seccompiler::SeccompAction::Errno(38);
                let arch = std::env::consts::ARCH.try_into().unwrap();
                let filter = seccompiler::SeccompFilter::new(landlock, seccompiler::SeccompAction::Allow, missing, arch).unwrap();
                let filter: seccompiler::BpfProgram = filter.try_into().unwrap();
                seccompiler::apply_filter(&filter).unwrap();
                calls(&project, &script, more)
            };
            scope.spawn(without).join().unwrap()
        })
    };
    let calls_made = made(&[]);
    assert_eq!(calls_made[0]["refused"], true, "{calls_made:#?}");
    assert!(calls_made[0]["error"].as_str().unwrap().contains("--unconfined"), "{calls_made:#?}");
    let calls_made = made(&["--unconfined"]);
    assert_eq!((&calls_made[0]["ok"], &calls_made[0]["confined"]), (&json!(true), &json!(false)), "{calls_made:#?}");
    let ran = made(&["--approve"]);
    assert!(ran[1]["error"].as_str().unwrap().contains("--unconfined") || ran[1]["confined"] == false, "{ran:#?}");
}

/// The policy receives what a command's words do not show: the targets of links. Unknown arguments are rejected.
#[cfg(unix)]
#[test]
fn links_and_unknown_arguments_are_refused() {
    let project = project();
    std::os::unix::fs::symlink(project.root().join("canary.txt"), project.root().join("work/link")).unwrap();
    project.file("other/canary.txt", "alive");
    std::os::unix::fs::symlink(project.root().join("other"), project.root().join("work/sub/up")).unwrap();
    let shell = |command: &str| json!({ "tool": "shell", "args": { "command": command } });
    let commands =
        ["cat link", "cat l*", "cd sub; cat up/canary.txt", "head -1 < link", "ls .asterisk", "cat a.txt", "grep '$' a.txt"];
    let mut script: Vec<Value> = commands.iter().map(|command| shell(command)).collect();
    script.push(json!({ "tool": "shell", "args": { "command": "ls", "cwd": "/" } }));
    let made = calls(&project, &json!(script), &["--unconfined"]);
    let refused: Vec<bool> = made.iter().map(|one| one["refused"] == true).collect();
    assert_eq!(refused, [true, true, true, true, true, false, false, true], "{made:#?}");
    assert!(made[7]["error"].as_str().unwrap().contains("`cwd`"), "{made:#?}");
}

/// A goal in the project itself reads its texts, and changes none of them.
#[test]
fn sources_of_the_project_are_not_written() {
    let project = project();
    let write = |path: &str| json!({ "tool": "write_file", "args": { "path": path, "text": "x" } });
    let paths =
        ["asterisk.yml", "scripts/policy/tools.rhai", "pipelines/goal.yaml", ".asterisk/x", "asterisk.yaml/x", "work/new.txt"];
    let mut script: Vec<Value> = paths.iter().map(|path| write(path)).collect();
    script.push(json!({ "tool": "shell", "args": { "command": "cat asterisk.yaml work/a.txt" } }));
    let made = calls_in(&project, &json!(script), ".", &[]);
    let ok: Vec<bool> = made.iter().map(|one| one["ok"] == true).collect();
    assert_eq!(ok, [true, false, false, false, false, true, true], "{made:#?}");
    // Nor in a copy, from which they would be taken over.
    let project = self::project();
    let made = calls_in(&project, &json!(script), ".", &["--isolate", "copy"]);
    let ok: Vec<bool> = made.iter().map(|one| one["ok"] == true).collect();
    assert_eq!(ok, [true, false, false, false, false, true, true], "{made:#?}");
    std::fs::remove_dir_all(project.root().with_file_name(format!("{}.goal-1", project.root().file_name().unwrap().display())))
        .unwrap();
}

/// The sender of a launch does not choose where tools work; nor are they called in a run without a record.
#[test]
fn only_the_goal_names_its_working_directory() {
    let project = project();
    let attribute = |key: &str, value: &str| json!({ "key": key, "value": value });
    let workdir = project.root().join("work");
    let attributes = [attribute("workdir", workdir.to_str().unwrap()), attribute("allow_hosts", "localhost")];
    let launch = json!({ "run_id": "1", "name": "n", "number": 1, "status": "FAILED", "startTime": 1, "failure_list": [
        { "id": 1, "name": "count the *.txt files", "type": "STEP", "status": "FAILED", "path": "1", "attributes": attributes },
    ] });
    project.file("launch.json", launch.to_string());
    for more in [&[][..], &["--dry-run"]] {
        let ran = project.asterisk(&[&["run", "goal", "--input", "launch.json", "--format", "json"], more].concat());
        let response = ran.json();
        let edges = strings(&response["cases"][0]["edges"]);
        assert!(edges.contains(&"given-up"), "{}", ran.text());
        assert!(!edges.contains(&"accept") && !edges.contains(&"success"), "{}", ran.text());
    }
}

#[test]
fn calls_that_need_approval_are_asked_or_refused() {
    let project = project();
    let script = json!([{ "tool": "shell", "args": { "command": "sort -o sorted.txt a.txt" } }]);
    let made = calls(&project, &script, &[]);
    assert_eq!((&made[0]["ok"], &made[0]["refused"]), (&json!(false), &json!(true)), "{made:?}");
    assert!(made[0]["error"].as_str().unwrap().contains("--approve") || made[0]["law"] == "LAW1", "{made:?}");
}

#[test]
fn the_audit_log_may_not_be_in_the_working_directory() {
    let project = project();
    let ran = project.asterisk(&["goal", "count the files"]).exits(2);
    assert!(ran.stderr.contains("auditor"), "{}", ran.text());
    let elsewhere = |args: &[&str], log: &str| project.call(args).env("ASTERISK_AUDIT_LOG", log).ran();
    // By a relative path, over a link, for a goal that is resumed.
    let args = ["goal", "count the files", "--workdir", "work", "--format", "json"];
    elsewhere(&args, "work/audit.jsonl").exits(2);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(project.root().join("work/sub"), project.root().join("logs")).unwrap();
        elsewhere(&args, "logs/audit.jsonl").exits(2);
    }
    project.file(".local/state/asterisk/audit.jsonl/in-the-way", "");
    project.asterisk(&args).exits(5);
    std::fs::remove_dir_all(project.root().join(".local/state/asterisk/audit.jsonl")).unwrap();
    let run = project.asterisk(&["status", "--format", "json"]).exits(0).json()["runs"][0]["run"].as_str().unwrap().to_owned();
    elsewhere(&["goal", "--resume", &run], "work/audit.jsonl").exits(2);
    project.asterisk(&["goal", "--resume", &run]).exits(0);
    // Nor may it have another name.
    let other = project.root().join("work/h");
    std::fs::hard_link(project.root().join(AUDIT_LOG), &other).unwrap();
    let ran = project.asterisk(&args).exits(2);
    assert!(ran.stderr.contains("hard link"), "{}", ran.text());
    project.asterisk(&["goal", "audit", "verify"]).exits(1);
    std::fs::remove_file(other).unwrap();
    project.asterisk(&args).exits(0);
    project.file(".config/asterisk/auditor.rhai", std::fs::read(repository().join("scripts/audit/rules.rhai")).unwrap());
    std::fs::hard_link(project.root().join(".config/asterisk/auditor.rhai"), project.root().join("work/rules.rhai")).unwrap();
    assert!(project.asterisk(&args).exits(2).stderr.contains("hard link"));
}

// ---- isolation -----------------------------------------------------------------------------------------------------

/// A model that writes a file and is content.
const WRITES: &str = r#"
plan) echo '{"subtasks":[{"id":"s","intent":"say hello","text":"write hello","criteria":["hello.txt says hello"]}]}' ;;
execute) if [ $n = 1 ]; then echo '{"calls":[{"tool":"write_file","args":{"path":"new/hello.txt","text":"hello"}}]}'; else echo '{"result":1,"status":"completed"}'; fi ;;
validate) echo '{"verdict":"matched","criteria_verdicts":[{"criterion":"hello.txt says hello","verdict":"pass"}]}' ;;
meta_validate) echo '{"accepted":true}' ;;"#;

/// Runs a command as the result of a goal gives it.
#[cfg(unix)]
fn follow(project: &Project, command: &Value) {
    let command = command.as_str().unwrap().replace("[DIR]", project.root().to_str().unwrap());
    let done = std::process::Command::new("sh").args(["-c", &command]).output().unwrap();
    assert!(done.status.success(), "{command}: {}", String::from_utf8_lossy(&done.stderr));
}

#[cfg(unix)]
#[test]
fn a_goal_works_in_a_copy_and_shows_how_to_apply_it() {
    let project = with_model(&format!("{PERCEIVE}{WRITES}"));
    let result = goal(&project, "say hello", &["--via", "model", "--isolate", "copy"]).exits(0).json();
    let changes = &result["changes"];
    assert_eq!((&changes["new"], &changes["discarded"]), (&json!(["new/hello.txt"]), &json!(false)), "{result}");
    assert!(!project.root().join("work/new").exists());
    assert_eq!(project.read("work.goal-1/new/hello.txt"), "hello");
    follow(&project, &changes["take_over"]);
    assert_eq!(project.read("work/new/hello.txt"), "hello");
    follow(&project, &changes["discard"]);
    assert!(!project.root().join("work.goal-1").exists());
    // A goal that changed nothing leaves nothing; nor does one that did not begin.
    let response = goal(&project, "count the *.txt files", &["--isolate", "copy"]).exits(0).json();
    assert_eq!((&response["changes"]["discarded"], &response["result"]["count"]), (&json!(true), &json!(3)));
    goal(&project, "count the files", &["--isolate", "copy", "--via", "nobody"]).exits(2);
    goal(&project, "count the files", &["--isolate", "container"]).exits(2);
    let left = |name: &str| name.contains(".goal-");
    let names = std::fs::read_dir(project.root()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| left(name)).collect::<Vec<_>>(), Vec::<String>::new());
}

/// A killed goal resumes in its copy.
#[cfg(unix)]
#[test]
fn a_killed_goal_resumes_in_its_copy() {
    let project = project();
    let halt = project.root().join("halted");
    let mut command = project.command(&["goal", "count the files", "--workdir", "work", "--isolate", "copy"]);
    let mut child = command.env("ASTERISK_HALT_AT", "20").env("ASTERISK_HALT_FILE", &halt).spawn().unwrap();
    crate::harness::until(|| halt.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(project.root().join("work.goal-1/a.txt").exists());
    let resumed = project.asterisk(&["goal", "--resume", "latest", "--format", "json"]).exits(0).json();
    assert_eq!((&resumed["result"]["count"], &resumed["changes"]["discarded"]), (&json!(3), &json!(true)));
    // Again: the directory is gone, and its record too.
    assert_eq!(project.asterisk(&["goal", "--resume", "latest", "--format", "json"]).exits(0).json()["changes"], Value::Null);
}

#[cfg(unix)]
#[test]
fn a_goal_works_in_a_worktree_of_a_clean_repository() {
    let project = with_model(&format!("{PERCEIVE}{WRITES}"));
    let git = |args: &[&str]| {
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(project.root().join("work")).args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "-c",
            "commit.gpgsign=false",
        ]);
        assert!(git.args(args).output().unwrap().status.success(), "{args:?}");
    };
    let path = std::env::var_os("PATH").unwrap();
    let with_git = |args: &[&str]| project.call(args).env("PATH", &path).ran();
    let isolated = |workdir: &str, exit: i32| {
        std::fs::remove_dir_all(project.root().join("visits")).unwrap_or_default();
        let args = ["goal", "say hello", "--workdir", workdir, "--format", "json", "--via", "model", "--isolate", "worktree"];
        with_git(&args).exits(exit)
    };
    let refused = isolated("work", 2).stderr;
    assert!(refused.contains("git repository") && refused.contains("--isolate copy"), "{refused}");
    git(&["init", "-q"]);
    let refused = isolated("work", 2).stderr;
    assert!(refused.contains("uncommitted changes") && refused.contains("--isolate copy"), "{refused}");
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "first"]);
    for (workdir, wanted) in [("work", "new/hello.txt"), ("work/sub", "sub/new/hello.txt")] {
        let changes = isolated(workdir, 0).json()["changes"].clone();
        assert_eq!((&changes["new"], &changes["discarded"]), (&json!(["new/hello.txt"]), &json!(false)), "{changes}");
        assert!(!project.root().join("work").join(wanted).exists());
        assert_eq!(project.read(&format!("work.goal-1/{wanted}")), "hello");
        follow(&project, &changes["take_over"]);
        assert_eq!(project.read(&format!("work/{wanted}")), "hello");
        follow(&project, &changes["discard"]);
        assert!(!project.root().join("work.goal-1").exists());
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "next"]);
    }
    let count = ["goal", "count the *.txt files", "--workdir", "work", "--format", "json", "--isolate", "worktree"];
    let response = with_git(&count).exits(0).json();
    assert_eq!((&response["changes"]["discarded"], &response["result"]["count"]), (&json!(true), &json!(4)));
    assert!(!project.root().join("work.goal-1").exists());
    // The worktree's `.git` is none of the files.
    let all = ["goal", "count the files", "--workdir", "work", "--format", "json"];
    let counts = [&[][..], &["--isolate", "worktree"]]
        .map(|more| with_git(&[&all, more].concat()).exits(0).json()["result"]["count"].clone());
    assert_eq!(counts, [json!(5), json!(5)]);
}

// ---- memory --------------------------------------------------------------------------------------------------------

#[test]
fn goals_write_memories_that_can_be_shown_and_forgotten() {
    let project = project();
    for _ in 0..2 {
        goal(&project, "count the *.txt files", &[]).exits(0);
    }
    let listed = || project.asterisk(&["goal", "memory", "list", "--format", "json"]).exits(0).json()["memories"].clone();
    let memories = listed();
    assert_eq!(memories.as_array().unwrap().len(), 2, "{memories}");
    assert!(memories[0]["space"].as_str().unwrap().starts_with("intent:"), "{memories}");
    assert_eq!(memories[0]["state"], "accept");
    let id = memories[0]["id"].to_string();
    let why = project.asterisk(&["goal", "memory", "why", &id]).exits(0);
    assert!(why.stdout.contains("asterisk explain"), "{}", why.text());
    // One experience is distilled into nothing, and a second dream does what the first did: nothing.
    let dreamt = project.asterisk(&["goal", "dream", "--format", "json"]).exits(0).json();
    assert_eq!((&dreamt["seen"], &dreamt["distilled"]), (&json!(2), &json!(0)));
    project.asterisk(&["goal", "memory", "forget", &id]).exits(0);
    assert_eq!(listed().as_array().unwrap().len(), 1);
    project.asterisk(&["goal", "memory", "show", &id]).exits(2);
}

#[test]
fn frequent_experiences_are_distilled_once() {
    // After a run, or by command.
    for after in [true, false] {
        let project = project();
        let set = if after { "dream=true" } else { "dream=false" };
        for _ in 0..6 {
            goal(&project, "count the *.txt files", &["--set", set]).exits(0);
        }
        let memories =
            || project.asterisk(&["goal", "memory", "list", "--format", "json"]).json()["memories"].as_array().unwrap().clone();
        assert_eq!(memories().iter().filter(|one| one["level"] == "C").count(), usize::from(after));
        let dream = || project.asterisk(&["goal", "dream", "--format", "json"]).exits(0).json();
        assert_eq!(dream()["distilled"], u8::from(!after));
        let again = dream();
        assert_eq!((&again["distilled"], &again["changed"], &again["deleted"]), (&json!(0), &json!(0), &json!(0)));
        let memories = memories();
        let distilled: Vec<&Value> = memories.iter().filter(|one| one["level"] == "C").collect();
        assert_eq!(distilled.len(), 1, "{memories:?}");
        assert!(distilled[0]["sources"].as_array().unwrap().len() >= 5, "{memories:?}");
        assert_eq!(memories.iter().filter(|one| one["consolidated"] == true).count(), 6);
    }
}

/// An agent may only word distilled memories; without its text, the scripts' text is kept, with a note.
#[test]
fn an_agent_words_what_is_distilled() {
    for (answer, worded) in
        [(r#"{"content":"Count files with glob."}"#, true), (r#"{"content":" "}"#, false), ("no answer", false)]
    {
        let project = with_model(&format!("distil) echo '{answer}' ;;"));
        for _ in 0..6 {
            goal(&project, "count the *.txt files", &["--set", "dream=false", "--via", "script"]).exits(0);
        }
        let memories =
            || project.asterisk(&["goal", "memory", "list", "--format", "json"]).json()["memories"].as_array().unwrap().clone();
        let dreamt = project.asterisk(&["goal", "dream", "--via", "model", "--format", "json"]).exits(0);
        assert_eq!(dreamt.stderr.contains("keeps the wording of the scripts: "), !worded, "{}", dreamt.text());
        let dreamt = dreamt.json();
        assert_eq!((&dreamt["distilled"], &dreamt["unworded"]), (&json!(1), &json!(u8::from(!worded))));
        let memories = memories();
        let distilled = memories.iter().find(|one| one["level"] == "C").unwrap();
        let content = distilled["content"].as_str().unwrap();
        assert_eq!(content == "Count files with glob.", worded, "{content}");
        assert!(worded || content.starts_with("Prefer "), "{content}");
        // The wording is on record.
        let explained = project.asterisk(&["explain", dreamt["run"].as_str().unwrap(), "--case", "1", "--format", "json"]);
        assert!(explained.stdout.contains("\"distil\""), "{}", explained.text());
        // A second dream lacks anything to word.
        let again = project.asterisk(&["goal", "dream", "--via", "model", "--format", "json"]).exits(0).json();
        assert_eq!((&again["distilled"], &again["run"]), (&json!(0), &Value::Null));
    }
}

/// A project in which memories are consolidated after the next goal.
pub(crate) fn before_a_dream() -> Project {
    let project = project();
    for _ in 0..5 {
        goal(&project, "count the *.txt files", &[]).exits(0);
    }
    project
}

/// A project with the store and the log of another.
pub(crate) fn copied(of: &Project) -> Project {
    let project = project();
    for dir in [".asterisk", ".local"] {
        copy(&of.root().join(dir), &project.root().join(dir));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(project.root().join(AUDIT_LOG), std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    project
}

/// The number of memories that were distilled, each of six that are consolidated.
pub(crate) fn distilled(project: &Project) -> usize {
    let memories =
        project.asterisk(&["goal", "memory", "list", "--format", "json"]).json()["memories"].as_array().unwrap().clone();
    let distilled = memories.iter().filter(|one| one["level"] == "C").count();
    assert_eq!(memories.iter().filter(|one| one["consolidated"] == true).count(), 6 * distilled, "{memories:?}");
    distilled
}

// ---- the auditor ---------------------------------------------------------------------------------------------------

#[test]
fn every_change_of_the_log_is_seen() {
    let project = project();
    goal(&project, "count the files", &[]).exits(0);
    let verify = || project.asterisk(&["goal", "audit", "verify", "--format", "json"]);
    assert_eq!(verify().exits(0).json()["whole"], true);
    let whole = project.read(AUDIT_LOG);
    let lines: Vec<&str> = whole.lines().collect();
    assert!(lines.len() > 4, "{whole}");
    for (at, line) in lines.iter().enumerate().step_by(stride()) {
        let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
        changed[at] = line.replacen("\"kind\":\"", "\"kind\":\"x", 1);
        project.file(AUDIT_LOG, changed.join("\n") + "\n");
        assert_eq!(verify().exits(1).json()["broken"]["line"], json!(at + 1));
    }
    // Cut off, or begun anew: each entry follows the one before it, but the journal knows others.
    project.file(AUDIT_LOG, lines[..2].join("\n") + "\n");
    assert_eq!(verify().exits(1).json()["whole"], false);
    std::fs::remove_file(project.root().join(AUDIT_LOG)).unwrap();
    goal(&project, "count the *.md files", &[]).exits(0);
    assert_eq!(verify().exits(1).json()["whole"], false);
}

/// Appends entries of other runs to the log.
fn lengthened(project: &Project, entries: u64) {
    let mut log = project.read(AUDIT_LOG);
    let last: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let (mut prev, first) = (last["hash"].clone(), last["n"].as_u64().unwrap() + 1);
    for n in first..first + entries {
        let body = json!({ "type": "SubTask", "from": "R2", "to": "R3", "step": "1", "payload": { "task_id": "other/goal" } });
        let turn = format!("other/goal/{n}#0");
        let mut entry = json!({ "n": n, "at": last["at"], "turn": turn, "kind": "message", "body": body, "prev": prev });
        prev = asterisk_base::model::Hash::of_json(&entry).to_string().into();
        entry["hash"] = prev.clone();
        log.push_str(&entry.to_string());
        log.push('\n');
    }
    project.file(AUDIT_LOG, log);
}

/// A goal begins with the last file of the log; the others are there for `audit verify`, which reads all of them.
#[test]
fn a_goal_reads_only_the_last_file_of_a_long_log() {
    let project = project();
    let pursued = || goal(&project, "count the files", &[]).exits(0);
    let verify = || project.asterisk(&["goal", "audit", "verify", "--format", "json"]);
    let total =
        || project.asterisk(&["goal", "audit", "report", "--format", "json"]).exits(0).json()["report"]["total"]["tasks"].clone();
    let size = || project.read(AUDIT_LOG).len();
    let older = || {
        project
            .tree()
            .into_iter()
            .filter(|(path, _)| path.starts_with(".local/state/asterisk/audit.jsonl.d/") && path.ends_with(".jsonl"))
            .collect::<Vec<_>>()
    };
    pursued();
    lengthened(&project, 1000);
    assert!(size() > 256 << 10 && older().is_empty());
    pursued();
    assert!(size() < 64 << 10 && older().len() == 1, "{}", size());
    let seen = verify().exits(0).json();
    assert_eq!((&seen["unknown"]["other"]["entries"], &total()), (&json!(1000), &json!(2)));
    // Counts continue from the previous file, and so does a killed goal.
    let run = killed(&project, "count the *.md files", 20, &[]).unwrap();
    lengthened(&project, 1000);
    project.asterisk(&["goal", "--resume", &run]).exits(0);
    assert_eq!((older().len(), total()), (2, json!(3)));
    let ends = |entry: &Value| entry["kind"] == "report" && entry["body"]["on"] == "end";
    let shown = project.asterisk(&["goal", "audit", "show", "--format", "json"]).exits(0).json();
    let last = shown["entries"].as_array().unwrap().iter().rfind(|entry| ends(entry)).unwrap();
    assert_eq!(last["body"]["total"]["tasks"], 3);
    let mut turns: Vec<String> = shown["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["turn"].to_string())
        .filter(|turn| turn.contains(&run))
        .collect();
    let all = turns.len();
    turns.dedup();
    assert_eq!(all, turns.len(), "none twice");
    // What changes in an older file is not in the way of a goal, and seen all the same.
    let (path, bytes) = older().remove(0);
    let text = String::from_utf8(bytes).unwrap();
    project.file(&path, text.replacen("\"n\":3,", "\"n\": 3,", 1));
    pursued();
    assert_eq!(verify().exits(1).json()["broken"]["line"], 3);
    project.file(&path, &text);
    verify().exits(0);
    // Other rules read all of it once, and then their own counts.
    let rules = std::fs::read_to_string(repository().join("scripts/audit/rules.rhai")).unwrap();
    project.file(".config/asterisk/auditor.rhai", rules + "\n// Other rules.\n");
    for (tasks, files) in [(5, 3), (6, 3)] {
        pursued();
        assert_eq!((total(), older().len()), (json!(tasks), files));
    }
    verify().exits(0);
    // A removed file is a gap.
    std::fs::remove_file(project.root().join(&path)).unwrap();
    pursued();
    assert_eq!(verify().exits(1).json()["broken"]["line"], 1);
}

/// What no journal knows is named, and so are goals that the log does not have.
#[test]
fn differences_between_log_and_journal_are_reported() {
    let project = project();
    let run = goal(&project, "count the files", &[]).exits(0).json()["run"].as_str().unwrap().to_owned();
    let verify = || project.asterisk(&["goal", "audit", "verify", "--format", "json"]).exits(0).json();
    assert_eq!((&verify()["unknown"], &verify()["unaudited"]), (&json!({}), &json!([])));
    let other = project.root().join("other.jsonl");
    let elsewhere = project.call(&["goal", "audit", "verify", "--format", "json"]);
    let seen = elsewhere.env("ASTERISK_AUDIT_LOG", other).ran().exits(0).json();
    assert_eq!(seen["unaudited"], json!([run]));
    // The log has more than this store: a goal of another one.
    let own = ["--store", "other.db", "goal", "count the *.md files", "--workdir", "work", "--format", "json"];
    let other = project.asterisk(&own).exits(0).json()["run"].as_str().unwrap().to_owned();
    assert!(verify()["unknown"][&other]["entries"].as_u64().unwrap() > 2, "{}", verify());
}

/// A pipeline with another name is audited like any goal, and an invalid plan is distinguished from a valid one.
#[test]
fn every_goal_is_audited_and_every_plan_is_checked() {
    let project = project();
    let text = std::fs::read_to_string(repository().join("pipelines/goal.yaml")).unwrap();
    project.file("pipelines/goal.yaml", text.replace("pipeline: goal", "pipeline: target"));
    goal(&project, "count the files", &[]).exits(0);
    assert!(project.read(AUDIT_LOG).contains("DispatchManifest"));
    let project = with_model(&format!("{PERCEIVE}\nplan) echo '{{\"subtasks\":[1,\"x\"]}}' ;;"));
    let ran = goal(&project, "say hello", &["--via", "model"]).exits(4);
    assert!(ran.text().contains("subtasks") && !ran.text().contains("auditor"), "{}", ran.text());
    let many: Vec<Value> =
        (0..150).map(|n| json!({ "id": format!("s{n}"), "intent": "i", "text": "t", "criteria": ["c"] })).collect();
    let plan = json!({ "subtasks": many });
    let project = with_model(&format!(
        "{PERCEIVE}\nplan) echo '{plan}' ;;\nexecute) echo '{{\"result\":1,\"status\":\"completed\"}}' ;;\nvalidate) echo '{{\"verdict\":\"matched\"}}' ;;\nmeta_validate) echo '{{\"accepted\":true}}' ;;"
    ));
    goal(&project, "say hello", &["--via", "model"]).exits(0);
    assert!(project.read(AUDIT_LOG).contains("\"subtasks\":150"));
    assert_eq!(project.read(AUDIT_LOG).matches("SubTaskOutcome").count(), 150);
}

#[test]
fn a_run_whose_auditor_cannot_write_stops() {
    let project = project();
    project.file(".local/state/asterisk/audit.jsonl/in-the-way", "");
    let ran = goal(&project, "count the files", &[]).exits(5);
    assert!(ran.stderr.contains("auditor"), "{}", ran.text());
}

/// The operator's rules are separate: those of the project do not apply.
#[test]
fn the_rules_of_the_auditor_are_the_operators() {
    let project = project();
    // A project cannot silence it.
    project.file("scripts/audit/rules.rhai", "fn audits(pipeline) { false }\nfn messages(turn) { [] }\nfn observe(state, message) { #{ state: state, anomalies: [] } }\nfn report(state) { #{} }\n");
    goal(&project, "count the files", &[]).exits(0);
    assert!(project.read(AUDIT_LOG).lines().count() > 4);
    // The operator can have it look for something else.
    project.file(".config/asterisk/auditor.rhai", "fn audits(pipeline) { true }\nfn messages(turn) { [#{ type: \"Turn\", from: turn.from, to: turn.to, payload: #{} }] }\nfn observe(state, message) { #{ state: state, anomalies: [#{ kind: \"seen\", because: message.from }] } }\nfn report(state) { #{} }\n");
    goal(&project, "count the *.md files", &[]).exits(0);
    assert!(project.read(AUDIT_LOG).contains("\"kind\":\"seen\""));
}

/// Messages are reported after the period of the operator's rules, also across a restart.
#[test]
fn the_auditor_reports_periodically() {
    let reports = |project: &Project, on: &str| {
        let shown = project.asterisk(&["goal", "audit", "show", "--format", "json"]).exits(0).json();
        let entries = shown["entries"].as_array().unwrap().clone();
        entries.into_iter().filter(|entry| entry["kind"] == "report" && entry["body"]["on"] == on).collect::<Vec<_>>()
    };
    let rules = std::fs::read_to_string(repository().join("scripts/audit/rules.rhai")).unwrap();
    let every = |seconds: &str| rules.replace("fn period() { 300 }", &format!("fn period() {{ {seconds} }}"));
    let timed = |project: &Project, args: &[&str], clock: &str| project.call(args).env("ASTERISK_CLOCK", clock).ran();
    let args = ["goal", "count the files", "--workdir", "work", "--format", "json"];
    // Each reading of the clock is ten seconds after the one before.
    let ticking = "2026-02-14T21:21:09Z/10000";
    for (seconds, some) in [("60", true), ("0", false), ("100000", false)] {
        let project = project();
        project.file(".config/asterisk/auditor.rhai", every(seconds));
        timed(&project, &args, ticking).exits(0);
        let found = reports(&project, "period");
        assert_eq!(!found.is_empty(), some, "{seconds}: {found:?}");
        // Nothing is reported twice, and nothing is omitted.
        let tasks = |on| reports(&project, on).iter().map(|entry| entry["body"]["tasks"].as_i64().unwrap()).sum::<i64>();
        assert_eq!((tasks("period") + tasks("end"), reports(&project, "end").len()), (1, 1));
        assert_eq!(reports(&project, "end")[0]["body"]["total"]["tasks"], 1);
        project.asterisk(&["goal", "audit", "verify"]).exits(0);
    }
    // Nothing is due for the killed process, but for the one that resumes two hours later.
    let project = project();
    project.file(".config/asterisk/auditor.rhai", every("3600"));
    let run = killed(&project, "count the files", 20, &[("ASTERISK_CLOCK", "2026-02-14T21:21:09Z")]).unwrap();
    assert_eq!(reports(&project, "period"), Vec::<Value>::new());
    timed(&project, &["goal", "--resume", &run], "2026-02-14T23:21:09Z").exits(0);
    assert_eq!(reports(&project, "period").len(), 1);
    // On demand: the unreported messages, and the total.
    let report = project.asterisk(&["goal", "audit", "report", "--format", "json"]).exits(0).json()["report"].clone();
    assert_eq!((&report["tasks"], &report["total"]["tasks"]), (&json!(0), &json!(1)));
    // A period that is none is refused before anything is walked.
    project.file(".config/asterisk/auditor.rhai", every("\"often\""));
    let refused = goal(&project, "count the files", &[]).exits(3);
    assert!(refused.stderr.contains("period"), "{}", refused.text());
}

// ---- kills ---------------------------------------------------------------------------------------------------------

/// Pursues a goal and kills it at a boundary of a transaction. Returns the run, or `None` if it ended before.
fn killed(project: &Project, text: &str, boundary: usize, env: &[(&str, &str)]) -> Option<String> {
    let halt = project.root().join("halted");
    let mut command = project.command(&["goal", text, "--workdir", "work", "--format", "json"]);
    command.env("ASTERISK_HALT_AT", boundary.to_string()).env("ASTERISK_HALT_FILE", &halt).envs(env.iter().copied());
    let mut child = command.spawn().unwrap();
    while !halt.exists() {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let runs = project.asterisk(&["status", "--format", "json"]).exits(0).json();
    Some(runs["runs"][0]["run"].as_str().unwrap().to_owned())
}

/// Every message about resuming a goal names the command that resumes it, and only that one does.
#[test]
fn the_command_that_resumes_a_goal_is_shown() {
    let project = project();
    let run = killed(&project, "count the *.txt files", 20, &[]).unwrap();
    let command = format!("asterisk goal --resume {run}");
    for args in [&["status", "latest"][..], &["doctor"]] {
        let ran = project.asterisk(args);
        assert!(ran.text().contains(&command), "{args:?}: {}", ran.text());
    }
    let words: Vec<&str> = command.split(' ').skip(1).chain(["--format", "json"]).collect();
    assert_eq!(project.asterisk(&words).exits(0).json()["result"]["count"], 2);
    // Other runs are resumed by `run`, and said to be.
    let other = project.asterisk(&["run", "--input", "none", "--format", "json"]).exits(0).json();
    let refused = project.asterisk(&["goal", "--resume", other["run"].as_str().unwrap()]).exits(2);
    assert!(refused.stderr.contains("asterisk run --resume"), "{}", refused.text());
    // A person's answer resumes the goal until it stops again.
    let args = ["goal", "count the files", "--workdir", "work", "--via", "meta_validate=manual"];
    project.asterisk(&args).exits(5);
    project.file("answer.json", r#"{"accepted":true,"summary":"as it should be"}"#);
    let saved = project.asterisk(&["save", "-f", "answer.json", "--case-id", "goal"]).exits(0);
    assert!(saved.text().contains("it is over"), "{}", saved.text());
}

/// The record of a finished goal: its result, the results of its calls, the number of memories, and the audit log.
pub(crate) fn left(project: &Project, ran: &Ran) -> Value {
    let result = ran.json();
    let log = project.read(AUDIT_LOG);
    let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let entries: Vec<Value> = entries.map(|entry| json!([entry["kind"], entry["body"]])).collect();
    let memories = project.asterisk(&["goal", "memory", "list", "--format", "json"]).json()["memories"].as_array().unwrap().len();
    let calls: Vec<Value> = outcomes(project, &result).iter().map(|one| one["output"].clone()).collect();
    project.asterisk(&["goal", "audit", "verify"]).exits(0);
    json!({ "result": result["result"], "calls": calls, "memories": memories, "log": entries })
}

/// A list of texts, for assertions about `open`.
#[test]
fn open_sub_tasks_are_listed() {
    let project = project();
    let ran = goal(&project, "find at least 5 files that contain \"TODO\"", &[]).exits(1);
    let open = ran.json()["open"].clone();
    assert!(!strings(&open).is_empty(), "{}", ran.text());
}

/// The bundled goals, whose answers are known, with memory and without it: as many are reached as the documents say.
#[test]
fn the_bundled_goals_have_the_expected_results() {
    let project = Project::new();
    copy(&repository().join("examples/goals/work"), &project.root().join("work"));
    let goals: Value =
        serde_json::from_str(&std::fs::read_to_string(repository().join("examples/goals/goals.json")).unwrap()).unwrap();
    for memory in [&[][..], &["--no-recall"]] {
        let mut wrong = Vec::new();
        for goal in goals.as_array().unwrap().iter().step_by(stride()) {
            let text = goal["text"].as_str().unwrap();
            let launch: Vec<&str> = goal["launch"].as_str().into_iter().flat_map(|launch| ["--input", launch]).collect();
            let ran = self::goal(&project, text, &[memory, launch.as_slice()].concat());
            let result = ran.json();
            let found = goal["want"].as_object().into_iter().flatten().all(|(key, value)| {
                let of = &result["result"];
                of[key] == *value
            });
            if result["status"] != goal["status"] || !found {
                wrong.push(format!("{text}: {}", ran.text()));
            }
        }
        assert_eq!(wrong, Vec::<String>::new());
    }
}
