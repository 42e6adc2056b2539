//! Policy pipelines: stages in waves, gates with advisors and councils, retries, budgets, the cache, artifacts, and the remains when
//! a stage fails.

use crate::harness::{Project, Ran};
use crate::shared::shared_json;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;

const DATA: &str = "\
defaults: { min_score: 0.85, max_retries: 1, timeout: 60, council: lib/policy.rhai#council }
agents:
  RequirementsDraftingAgent: { script: agents/vector.rhai#answer }
  Writer: { script: agents/vector.rhai#write, version: \"1\" }
  Packer: { script: agents/vector.rhai#pack }
advisors:
  RequirementsAdvisor: { script: advisors/vector.rhai#review }
  Second: { script: advisors/vector.rhai#second }
presets:
  strict: { version: \"1\", score_thresholds: { code: 0.95 }, retries: { code: 0 }, timeouts: null, budget: null }
";

/// Agents and advisors that do as the memory says: `plan[STAGE].agent` and `plan[STAGE].reviews`, one for each attempt.
const AGENTS: &str = r##"
/// Answers as planned for the attempt.
fn answer(params, vars) {
    let plan = if "plan" in params.memory { params.memory.plan } else { #{} };
    let stage = params.stage.name;
    let modes = if stage in plan && "agent" in plan[stage] { plan[stage].agent } else { [] };
    let mode = if modes.is_empty() { "fine" } else { modes[min(params.stage.attempt, modes.len()) - 1] };
    if mode == "empty" { return #{ content: "" }; }
    if mode == "raise_value" { throw "no value"; }
    if mode == "list" { return #{ content: [1] }; }
    #{ content: `${stage} ${params.stage.attempt}: ${params.task}` }
}

/// Writes a file with the task and the review of the last one.
fn write(params, vars) {
    let note = if params.review == () { "" } else { ` after ${params.review.summary}, instead of ${params.previous_content}` };
    #{
        content: `wrote ${params.task}${note}`,
        artifacts: [
            #{ name: "a:b?.md", type: "text", content: "# " + params.task + "\n" },
            #{ name: "dot.png", type: "image", base64: "iVBORw0KGgo=" },
        ],
        metadata: #{ words: 3 },
    }
}

/// Packs the files of the stages before.
fn pack(params, vars) {
    let entries = [];
    for name in params.stages.keys() {
        for artifact in params.stages[name].artifacts {
            entries.push(#{ name: artifact.path, stage: name, artifact: artifact.name });
        }
    }
    entries.push(#{ name: "NOTE.txt", content: "packed" });
    #{ content: "packed", artifacts: [#{ name: "package.zip", type: "zip", entries: entries }] }
}
"##;

const ADVISORS: &str = r#"
/// Reviews as planned for the attempt.
fn review(output, task, context) {
    let plan = if "plan" in context.memory { context.memory.plan } else { #{} };
    let stage = context.stage.name;
    let planned = if stage in plan && "reviews" in plan[stage] { plan[stage].reviews } else { [] };
    let one = if planned.is_empty() { #{ score: 0.9, approved: true } } else { planned[min(context.stage.attempt, planned.len()) - 1] };
    let review = #{ score: one.score, approved: one.approved, summary: `attempt ${context.stage.attempt} of ${stage}` };
    if !one.approved { review.critical_issues = ["it is not good enough"]; review.suggestions = ["make it better"]; }
    review
}

/// Is always content.
fn second(output, task, context) {
    #{ score: 0.7, approved: true, summary: "fine" }
}
"#;

fn project(files: &[(&str, &str)]) -> Project {
    let mut all = vec![
        ("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n"),
        ("scripts/data/policy.yaml", DATA),
        ("scripts/agents/vector.rhai", AGENTS),
        ("scripts/advisors/vector.rhai", ADVISORS),
    ];
    all.extend(files);
    Project::with(&all)
}

/// The only case of a run, with its events.
fn walked(project: &Project, ran: &Ran) -> (Value, Vec<Value>) {
    let said = ran.json();
    (said["cases"][0].clone(), events(project, &said))
}

fn events(project: &Project, said: &Value) -> Vec<Value> {
    let log = project.read(&format!(".asterisk/investigations/{}/events.jsonl", said["run"].as_str().unwrap()));
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The events of policy runs in the vectors, without those that only this program has.
fn names(events: &[Value]) -> Vec<&str> {
    let known = ["step_start", "step_attempt", "cache_hit", "step_retry", "step_complete", "error"];
    events.iter().map(|event| event["type"].as_str().unwrap()).filter(|name| known.contains(name)).collect()
}

pub(crate) const RUN: [&str; 8] = ["run", "p", "--parallel", "1", "--files", "always", "--format", "json"];

fn run(project: &Project, more: &[&str]) -> Ran {
    let mut args = vec!["run", "p", "--parallel", "2", "--format", "json"];
    args.extend(more);
    project.asterisk(&args)
}

#[test]
fn waves_are_those_of_the_vectors() {
    let Some(vectors) = shared_json("vectors/policy.json") else { return };
    let records = vectors["waves"].as_array().unwrap();
    assert!(records.len() >= 6);
    for record in records {
        let mut text = String::from("stages:\n");
        for (name, waits) in record["depends_on"].as_object().unwrap() {
            let _ = writeln!(
                text,
                "  - {{ name: {name}, agent: EchoAgent, advisor: CompletenessAdvisor, task: t, depends_on: {waits} }}"
            );
        }
        let project = project(&[("pipelines/p.yaml", &text)]);
        let ran = project.asterisk(&["graph", "p", "--format", "json"]);
        match &record["expect"]["waves"] {
            Value::Null => assert!(ran.exits(3).stderr.contains("wait for each other"), "{}", record["id"]),
            waves => {
                assert_eq!(ran.ok().json()["waves"], *waves, "{}", record["id"]);
                // Written in the graph language, it has the same waves.
                let graph = project.asterisk(&["graph", "p", "--format", "yaml"]).ok().stdout;
                project.file("pipelines/p.yaml", graph);
                assert_eq!(project.asterisk(&["graph", "p", "--format", "json"]).ok().json()["waves"], *waves);
            }
        }
    }
}

#[test]
fn files_of_stages_are_read_as_in_the_vectors() {
    let Some(vectors) = shared_json("vectors/policy.json") else { return };
    let records = vectors["yaml"].as_array().unwrap();
    assert!(records.len() >= 16);
    for record in records {
        let id = record["id"].as_str().unwrap();
        let ok = |loader: &str| record["expect"][loader]["ok"].as_bool().unwrap();
        // Where the two loaders differ: dependencies are checked as the basic one does, numbers as the strict one does, and what either
        // dialect has is read (`docs/decisions/0015-policy-precedence.md`).
        let wanted = match id {
            "pol-yaml-neg-retries" | "pol-yaml-policy-v1-string" => ok("strict"),
            _ => ok("basic"),
        };
        let project = project(&[("pipelines/p.yaml", record["yaml"].as_str().unwrap())]);
        let ran = run(&project, &["--dry-run"]);
        assert_eq!(ran.code, Some(if wanted { 0 } else { 3 }), "{id}: {}", ran.text());
        if !wanted {
            assert!(ran.stderr.contains("p.yaml:"), "{id}: {}", ran.text());
        } else if id == "pol-yaml-minimal" {
            assert_eq!(ran.json()["order"], json!(["a"]));
        }
    }
}

#[test]
fn runs_match_the_vectors_or_the_decided_differences() {
    let Some(vectors) = shared_json("vectors/policy.json") else { return };
    let records = vectors["runs"].as_array().unwrap();
    assert!(records.len() >= 7);
    for record in records {
        let id = record["id"].as_str().unwrap();
        let mut plan = BTreeMap::new();
        let mut text = String::new();
        let mut policy = record["policy"].as_object().cloned().unwrap_or_default();
        policy.insert("budget".into(), record["budget"].clone());
        let stages = record["stages"].as_array().unwrap();
        for stage in stages {
            let name = stage["stage"].as_str().unwrap();
            let mut keys =
                json!({ "name": name, "agent": "RequirementsDraftingAgent", "advisor": "RequirementsAdvisor", "task": "t" });
            for key in ["max_retries", "category"] {
                if !stage[key].is_null() {
                    keys[key] = stage[key].clone();
                }
            }
            let _ = writeln!(text, "  - {keys}");
            plan.insert(name, stage.clone());
        }
        let memory = json!({ "plan": plan });
        let text = format!("policy: {}\nmemory: {memory}\nstages:\n{text}", Value::Object(policy));
        let project = project(&[("pipelines/p.yaml", &text)]);
        let ran = run(&project, &[]);
        let (case, events) = walked(&project, &ran);
        let passed: Vec<&str> =
            events.iter().filter(|e| e["type"] == "step_complete").map(|e| e["node"].as_str().unwrap()).collect();
        let calls = |name: &str| events.iter().filter(|e| e["type"] == "step_attempt" && e["node"] == name).count();
        let reason = |name: &str| {
            let error = events.iter().find(|e| e["type"] == "error" && e["node"] == name);
            error.map(|error| error["reason"].as_str().unwrap().to_owned())
        };
        match id {
            // Decision 30: invalid output is retried, and ends the stage alone.
            "run-invalid-output-empty" | "run-invalid-output-value-error" => {
                assert_eq!((calls("s"), reason("s").as_deref()), (2, Some("invalid_output")), "{id}");
                assert_eq!(names(&events), ["step_start", "step_attempt", "step_retry", "step_attempt", "error"]);
                ran.exits(4);
            }
            "run-budget-stages" => {
                assert_eq!((passed.len(), case["error"]["kind"].as_str()), (2, Some("limit")));
                let message = case["error"]["message"].as_str().unwrap();
                assert!(message.contains("2 nodes, and `max_stages` is 1 (pipelines/p.yaml:1)"), "{message}");
                ran.exits(4);
            }
            _ => {
                for entry in record["expect"]["history"].as_array().unwrap() {
                    let name = entry["stage"].as_str().unwrap();
                    assert_eq!(json!(reason(name)), entry["error_reason"], "{id}");
                    assert_eq!(passed.contains(&name), entry["error_reason"].is_null(), "{id}");
                    assert_eq!(json!(calls(name)), record["expect"]["calls"][name], "{id}");
                }
                // A stage that came to nothing is an error of the run, here.
                let failed = events.iter().any(|event| event["type"] == "error");
                ran.exits(if failed { 4 } else { 0 });
            }
        }
    }
}

const CHAIN: &str = "\
pipeline: p
policy:
  score_thresholds: { code: 0.9 }
memory:
  idea: shop
  plan: { b: { reviews: [{ score: 0.8, approved: true }, { score: 0.95, approved: true }] } }
stages:
  - { name: a, agent: Writer, advisor: RequirementsAdvisor, task: \"on {idea} and {unknown}\" }
  - { name: b, agent: Writer, advisor: RequirementsAdvisor, category: code, task: \"{a.content}\", max_retries: 2 }
  - { name: c, agent: Packer, advisor: RequirementsAdvisor, task: \"{b.score} {b.metadata}\" }
";

/// Three stages, of which one is answered twice.
pub(crate) fn chain() -> Project {
    project(&[("pipelines/p.yaml", CHAIN)])
}

/// The files of the run that began last, by their paths in its directory.
fn files(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let run = project.asterisk(&["status", "--format", "json"]).ok().json()["runs"][0]["run"].as_str().unwrap().to_owned();
    let dir = format!(".asterisk/investigations/{run}/");
    project.tree().into_iter().filter_map(|(path, bytes)| Some((path.strip_prefix(&dir)?.to_owned(), bytes))).collect()
}

/// The names of a run's files, and its package: independent of the duration of the stages.
pub(crate) fn packed(project: &Project) -> Value {
    let files = files(project);
    json!([files.keys().collect::<Vec<_>>(), files.get("package.zip")])
}

/// The program may be killed after its last commit, before it writes a file.
#[test]
fn artifacts_and_package_are_rebuilt_from_the_journal() {
    let files_of_stages =
        ["package.zip", "MANIFEST.txt", "manifest.json", "SUMMARY.md", "checkpoints.json", "w/a_b_.md", "p/package.zip"];
    let text = "stages:\n  - { name: w, agent: Writer, advisor: RequirementsAdvisor, task: t }\n  \
                - { name: p, agent: Packer, advisor: RequirementsAdvisor, task: t, depends_on: [w] }\n";
    let project = project(&[("pipelines/p.yaml", text)]);
    run(&project, &["--files", "always"]).exits(0);
    let made = files(&project);
    for name in files_of_stages {
        assert!(made.contains_key(name), "{name}: {:?}", made.keys());
    }
    for again in [&["run", "--resume", "latest"][..], &["report", "latest", "--files", "always"], &["report"]] {
        std::fs::remove_dir_all(project.root().join(".asterisk/investigations")).unwrap();
        project.asterisk(again).exits(0);
        assert_eq!(files(&project), made, "{again:?}");
    }
    // Those of a run that was to have none.
    run(&project, &["--files", "never"]).exits(0);
    assert!(!files(&project).contains_key("package.zip"));
    project.asterisk(&["report", "latest", "--files", "always"]).exits(0);
    assert_eq!(files(&project)["package.zip"], made["package.zip"]);
}

#[cfg(unix)]
#[test]
fn a_command_finds_the_directory_of_its_run() {
    let settings = "agents: { mine: { kind: exec, command: [sh, agent.sh], retry: { attempts: 1 } } }\n";
    let agent = "cat > /dev/null\nprintf hi > \"$ASTERISK_RUN_DIR/f\"\n\
                 echo '{\"content\":\"c\",\"artifacts\":[{\"name\":\"a\",\"type\":\"text\",\"path\":\"f\"}]}'\n";
    let text = "stages:\n  - { name: w, agent: Writer, advisor: RequirementsAdvisor, task: t }\n";
    let project = project(&[("pipelines/p.yaml", text), ("agent.sh", agent)]);
    project.file("asterisk.yaml", project.read("asterisk.yaml") + settings);
    run(&project, &["--via", "w=mine"]).exits(0);
    assert_eq!(files(&project)["w/a"], b"hi");
}

#[test]
fn a_rejected_answer_is_retried_with_the_review() {
    let project = project(&[("pipelines/p.yaml", CHAIN)]);
    let ran = run(&project, &[]).exits(0);
    let (_, events) = walked(&project, &ran);
    let retry = events.iter().find(|event| event["type"] == "step_retry").unwrap();
    assert_eq!((retry["score"].as_f64(), retry["threshold"].as_f64()), (Some(0.8), Some(0.9)));
    let why = "RequirementsAdvisor approved it with 0.8; the threshold is 0.9 (pipelines/p.yaml:3)";
    assert_eq!(retry["message"], why);
    let explained = project.asterisk(&["explain", "latest"]).ok().stdout;
    assert!(explained.contains("attempt 1 advisor_reject: RequirementsAdvisor"), "{explained}");
    assert!(explained.contains("attempt 2 passed: RequirementsAdvisor approved it with 0.95"), "{explained}");
    // The answer knows of the review and of the answer before.
    let answer = project.asterisk(&["show", "policy", "p"]).ok().stdout;
    assert!(answer.contains("pipelines/p.yaml:3"), "{answer}");
    let summary = project.read(&format!(".asterisk/investigations/{}/SUMMARY.md", ran.json()["run"].as_str().unwrap()));
    assert!(summary.contains("## Stage: b") && summary.contains("- Attempts: 2"), "{summary}");
    assert!(ran.stderr.contains("`unknown`, which is not defined"), "{}", ran.text());
}

#[test]
fn a_rejection_names_advisor_score_threshold_and_what_to_change() {
    let text = CHAIN.replace("{ score: 0.95, approved: true }", "{ score: 0.2, approved: false }");
    let project = project(&[("pipelines/p.yaml", &text)]);
    let ran = run(&project, &[]).exits(4);
    let (case, events) = walked(&project, &ran);
    assert_eq!((case["status"].as_str(), case["error"]["kind"].as_str()), (Some("error"), Some("rejected")));
    let skipped: Vec<&Value> = events.iter().filter(|event| event["type"] == "step_skipped").collect();
    assert_eq!((skipped.len(), &skipped[0]["node"], &skipped[0]["because"]), (1, &json!("c"), &json!("b")));
    let error = events.iter().find(|event| event["type"] == "error").unwrap();
    assert_eq!((error["reason"].as_str(), error["attempts"].as_u64()), (Some("exhausted_retries"), Some(3)));
    let message = case["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("`b` did not pass its gate after 3 attempts: RequirementsAdvisor rejected it with 0.2"),
        "{message}"
    );
    assert!(message.contains("the threshold is 0.9 (pipelines/p.yaml:3)") && message.contains("skipped: `c`"), "{message}");
    let said = project.asterisk(&["run", "p", "--mem", "idea=other"]).exits(4);
    for part in ["passed", "failed", "skipped"] {
        assert!(said.stdout.contains(part), "{}", said.text());
    }
    for part in ["what to change:", "make it better", "p.yaml:9"] {
        assert!(said.stderr.contains(part), "{}", said.text());
    }
    // Stages that do not wait for it continue, unless the run has to end.
    let text = text.replace("{b.score} {b.metadata}", "alone");
    project.file(
        "pipelines/p.yaml",
        text.replace("task: \"on {idea}", "depends_on: [b], task: \"on {idea}").replace("{a.content}", "x"),
    );
    let count = |more: &[&str]| {
        let (_, events) = walked(&project, &run(&project, more).exits(4));
        events.iter().filter(|event| event["type"] == "step_complete").count()
    };
    assert_eq!(count(&["--no-cache"]), 1);
    assert!(count(&["--no-cache", "--fail-fast"]) <= 1);
}

#[test]
fn policy_settings_show_their_origin() {
    let project = project(&[
        ("pipelines/p.yaml", CHAIN),
        (
            "own.yaml",
            "score_thresholds: { code: 0.5, default: 0.5 }\nadvisors: { council: [{ name: RequirementsAdvisor, weight: 3 }, Second] }\n",
        ),
    ]);
    let show = |set: &[&str]| {
        let mut args = vec!["show", "policy", "p", "--format", "json"];
        args.extend(set);
        let shown = project.asterisk(&args).exits(0).json();
        let b = shown["nodes"].as_array().unwrap().iter().find(|node| node["node"] == "b").unwrap().clone();
        (b["gate"]["threshold"].clone(), b["gate"]["threshold_from"].as_str().unwrap().to_owned(), b["max_retries"].clone())
    };
    assert_eq!(show(&[]), (json!(0.9), "pipelines/p.yaml:3".into(), json!(2)));
    let (threshold, from, retries) = show(&["--set", "policy.preset=strict"]);
    assert_eq!((threshold, retries), (json!(0.95), json!(0)));
    assert!(from.starts_with("preset `strict`, data/policy.yaml:"), "{from}");
    let both = ["--set", "policy.preset=strict", "--set", "policy.score_thresholds.code=0.1"];
    assert_eq!(show(&both), (json!(0.1), "--set".into(), json!(0)));
    let ran = run(&project, &["--preset", "own.yaml"]).exits(0);
    let (_, events) = walked(&project, &ran);
    let reviews = events.iter().filter(|event| event["type"] == "advisor_review").count();
    assert_eq!(reviews, 6, "three stages, two advisors");
    for (wrong, says) in [
        (["--preset", "strikt"], "did you mean `strict`?"),
        (["--set", "policy.score_thresholds.code=high"], "cannot be set to \"high\""),
        (["--set", "policy.budget.max_stage=3"], "did you mean `max_stages`?"),
    ] {
        let ran = run(&project, &wrong);
        assert!(ran.code == Some(3) && ran.stderr.contains(says), "{}", ran.text());
    }
}

#[test]
fn artifacts_are_written_by_stage_and_packed() {
    let project = project(&[("pipelines/p.yaml", CHAIN)]);
    let first = run(&project, &[]).exits(0).json();
    let dir = format!(".asterisk/investigations/{}", first["run"].as_str().unwrap());
    assert_eq!(project.read(&format!("{dir}/a/a_b_.md")), "# on shop and {unknown}\n");
    let manifest: Value = serde_json::from_str(&project.read(&format!("{dir}/manifest.json"))).unwrap();
    assert_eq!(manifest["run_id"], first["run"]);
    let artifact = &manifest["stages"][0]["artifacts"][0];
    assert_eq!((artifact["name"].as_str(), artifact["path"].as_str()), (Some("a:b?.md"), Some("a/a_b_.md")));
    assert_eq!(artifact["sha256"].as_str().unwrap().len(), 64);
    assert_eq!(
        (manifest["summary"]["total_stages"].as_u64(), manifest["summary"]["total_artifacts"].as_u64()),
        (Some(3), Some(5))
    );
    assert_eq!(artifact["bytes"].as_u64(), Some(24));
    let list = project.read(&format!("{dir}/MANIFEST.txt"));
    assert!(list.contains(artifact["sha256"].as_str().unwrap()) && list.contains("b/dot.png"), "{list}");
    let bytes = |name: &str| std::fs::read(project.root().join(&dir).join(name)).unwrap();
    let whole = bytes("package.zip");
    assert!(whole.starts_with(b"PK") && bytes("c/package.zip").starts_with(b"PK"));
    // Another run packs the same bytes.
    let again = run(&project, &["--no-cache"]).exits(0).json();
    let other = project.root().join(".asterisk/investigations").join(again["run"].as_str().unwrap());
    assert_ne!(first["run"], again["run"]);
    assert_eq!(std::fs::read(other.join("package.zip")).unwrap(), whole);
}

#[test]
fn a_cached_answer_is_used_until_its_inputs_change() {
    let project = project(&[("pipelines/p.yaml", CHAIN)]);
    let hits = |more: &[&str]| {
        let (_, events) = walked(&project, &run(&project, more).exits(0));
        let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
        assert!(of("advisor_review") >= 3, "advisors are asked nevertheless");
        of("cache_hit")
    };
    assert_eq!(hits(&[]), 0);
    // The second stage was answered in its second attempt, on other inputs than those of a first.
    assert_eq!(hits(&[]), 3);
    assert_eq!(hits(&["--no-cache"]), 0);
    assert_eq!(hits(&["--mem", "idea=other"]), 0);
    project.file("scripts/agents/vector.rhai", AGENTS.replace("wrote ", "has written "));
    assert_eq!(hits(&[]), 0);
    let cleaned = project.asterisk(&["clean", "--cache"]).ok().stdout;
    assert!(cleaned.starts_with("removed ") && cleaned.contains("cached answers"), "{cleaned}");
    assert_eq!(hits(&[]), 0);
}

#[test]
fn replay_says_which_gates_flip() {
    let project = project(&[("pipelines/p.yaml", CHAIN)]);
    run(&project, &[]).exits(0);
    let replay = |set: &str| project.asterisk(&["replay", "latest", "--set", set, "--format", "json"]).exits(0).json();
    let flips = |set: &str| {
        let said = replay(set);
        let details = |flip: &Value| {
            format!("{} {} {}", flip["node"].as_str().unwrap(), flip["from"].as_str().unwrap(), flip["to"].as_str().unwrap())
        };
        said["flips"].as_array().unwrap().iter().map(details).collect::<Vec<_>>()
    };
    assert!(flips("policy.score_thresholds.code=0.9").is_empty());
    assert_eq!(flips("policy.score_thresholds.code=0.96"), ["b passed rejected"]);
    assert_eq!(flips("policy.score_thresholds.code=0.7"), ["b rejected passed"]);
}

#[test]
fn checkpoints_are_readable_files() {
    let text = CHAIN.replace("{ score: 0.95, approved: true }", "{ score: 0.2, approved: false }");
    let project = project(&[("pipelines/p.yaml", &text)]);
    let ran = run(&project, &["--files", "always"]).exits(4);
    let dir = format!(".asterisk/investigations/{}", ran.json()["run"].as_str().unwrap());
    let checkpoints: Value = serde_json::from_str(&project.read(&format!("{dir}/checkpoints.json"))).unwrap();
    let stages = checkpoints["stages"].as_array().unwrap();
    let brief = |stage: &Value| format!("{} {} {} {}", stage["step_index"], stage["stage"], stage["status"], stage["attempt"]);
    let brief: Vec<String> = stages.iter().map(brief).collect();
    assert_eq!(brief, ["0 \"a\" \"passed\" 1", "1 \"b\" \"failed\" 3", "2 \"c\" \"skipped\" 0"]);
    assert_eq!((&stages[0]["score"], &stages[0]["artifacts"][0]), (&json!(0.9), &json!("a/a_b_.md")));
    assert!(stages[1]["reason"].as_str().unwrap().starts_with("exhausted_retries: "), "{checkpoints}");
    assert!(stages[0]["agent_output"]["content"].is_string() && checkpoints["memory"].is_object(), "{checkpoints}");
    assert_eq!((&stages[0]["advisor_review"]["score"], &stages[1]["advisor_review"]["approved"]), (&json!(0.9), &json!(false)));
}

/// The stages of a run, as `--format json` prints them.
fn stages(ran: &Ran) -> Vec<String> {
    let stages = ran.json()["cases"][0]["stages"].as_array().unwrap().clone();
    stages.iter().map(|one| format!("{} {} {}", one["stage"], one["status"], one["score"])).collect()
}

#[test]
fn stages_are_printed_with_their_scores_and_logged_in_the_form_of_the_document() {
    let text = CHAIN.replace("{ score: 0.95, approved: true }", "{ score: 0.2, approved: false }");
    let project = project(&[("pipelines/p.yaml", &text)]);
    let ran = run(&project, &[]).exits(4);
    assert_eq!(stages(&ran), ["\"a\" \"passed\" 0.9", "\"b\" \"failed\" 0.2", "\"c\" \"skipped\" null"]);
    let id = ran.json()["run"].as_str().unwrap().to_owned();
    let log = project.read(&format!(".asterisk/investigations/{id}_events.jsonl"));
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let brief = |event: &Value| format!("{} {}", event["event"].as_str().unwrap(), event["stage"].as_str().unwrap());
    let brief: Vec<String> = events.iter().map(brief).collect();
    assert_eq!(brief[0], "step_start a", "{log}");
    for event in ["step_complete a", "step_retry b", "error b", "step_skipped c"] {
        assert!(brief.iter().any(|one| one == event), "{event}: {log}");
    }
    assert!(events.iter().all(|event| event["run_id"] == id.as_str() && event["ts"].is_number()), "{log}");
    let retry = events.iter().find(|event| event["event"] == "step_retry").unwrap();
    assert_eq!(retry["reason"], "advisor_reject");
    // There is no report on failures, and the summary takes its place.
    assert!(files(&project).keys().all(|name| !name.contains("report") && name != "rca.json"), "{:?}", files(&project).keys());
    assert!(ran.json()["report"].as_str().unwrap().ends_with("/SUMMARY.md"), "{}", ran.text());
    // The first failure ends the run, and is shown as one.
    let fast = run(&project, &["--fail-fast", "--no-cache"]).exits(4);
    assert_eq!(stages(&fast)[1], "\"b\" \"failed\" 0.2", "{}", fast.text());
    project.asterisk(&["clean", "--keep-latest", "0"]).exits(0);
    assert!(project.tree().iter().all(|(path, _)| !path.ends_with("_events.jsonl")), "removed with their runs");
}

/// As many stages run at once as `--parallel` allows.
#[cfg(unix)]
#[test]
fn stages_run_at_most_as_many_at_once_as_wanted() {
    let settings = "agents: { slow: { kind: exec, command: [sh, slow.sh], retry: { attempts: 1 } } }\n";
    let agent =
        "cat > /dev/null\nmkdir -p on && touch on/$$ && ls on | wc -l >> seen\nsleep 0.4\nrm on/$$\necho '{\"content\":\"c\"}'\n";
    let stage = |name: &str| format!("  - {{ name: {name}, agent: Writer, advisor: RequirementsAdvisor, task: t }}\n");
    let text = format!("stages:\n{}", ["a", "b", "c", "d"].map(stage).concat());
    let project = project(&[("pipelines/p.yaml", &text), ("slow.sh", agent)]);
    project.file("asterisk.yaml", project.read("asterisk.yaml") + settings);
    let via = ["a=slow", "b=slow", "c=slow", "d=slow"].map(|via| ["--via", via]).concat();
    for (flag, most) in [(["--parallel", "1"], 1), (["--max-workers", "2"], 2)] {
        drop(std::fs::remove_file(project.root().join("seen")));
        project.asterisk(&[&["run", "p", "--no-cache"], &via[..], &flag].concat()).exits(0);
        let seen: Vec<usize> = project.read("seen").lines().map(|line| line.trim().parse().unwrap()).collect();
        assert!(seen.len() == 4 && seen.iter().all(|count| *count <= most), "{flag:?}: {seen:?}");
    }
}

#[test]
fn a_policy_may_have_a_file_of_its_own() {
    let file = "score_thresholds:\n  code: 0.93\nretries:\n  code: 2\npreset: strict\n";
    let text = CHAIN.replace("policy:\n  score_thresholds: { code: 0.9 }", "policy: rules/own.yaml");
    let project = project(&[("pipelines/p.yaml", &text), ("pipelines/rules/own.yaml", file)]);
    let show = || {
        let shown = project.asterisk(&["show", "policy", "p", "--format", "json"]).exits(0).json();
        shown["settings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| format!("{} {} {}", one["setting"], one["value"], one["from"]))
            .collect::<Vec<_>>()
    };
    let settings = show();
    assert!(settings[0].starts_with("\"retries.code\" 0 \"preset `strict`, data/policy.yaml:"), "{settings:?}");
    project.file("pipelines/rules/own.yaml", file.replace("preset: strict\n", ""));
    assert_eq!(
        show(),
        ["\"retries.code\" 2 \"pipelines/rules/own.yaml:4\"", "\"score_thresholds.code\" 0.93 \"pipelines/rules/own.yaml:2\""]
    );
    // It is not a pipeline, but part of the run's record.
    let listed = project.asterisk(&["show", "pipelines"]).ok().stdout;
    assert!(!listed.contains("own"), "{listed}");
    let (_, events) = walked(&project, &run(&project, &[]).exits(0));
    assert!(events.iter().any(|event| event["threshold"] == json!(0.93)));
    assert!(project.asterisk(&["graph", "p", "--format", "yaml"]).ok().stdout.contains("policy: rules/own.yaml"));
    let linted = project.asterisk(&["lint", "pipelines"]);
    assert!(!linted.text().contains("own.yaml:"), "{}", linted.text());
    project.asterisk(&["explain", "latest"]).exits(0);
    // Its errors are reported with their location.
    for (wrong, says) in [
        ("score_treshold: { code: 1 }\nretries: { code: 1 }\n", ["did you mean `score_thresholds`?", "own.yaml:1"]),
        ("retries: { code: often }\n", ["`retries`", "own.yaml:1"]),
        ("retries:\n  code: [\n", ["own.yaml:", "retries"]),
        ("retries: { code: 1 }\npreset: strikt\n", ["did you mean `strict`?", "own.yaml:2"]),
    ] {
        project.file("pipelines/rules/own.yaml", wrong);
        for command in [&["show", "policy", "p"][..], &["lint", "pipelines"]] {
            let ran = project.asterisk(command);
            assert!(ran.code != Some(0) && says.iter().all(|part| ran.text().contains(part)), "{command:?}: {}", ran.text());
        }
    }
    std::fs::remove_file(project.root().join("pipelines/rules/own.yaml")).unwrap();
    // One of that name elsewhere is another file.
    project.file("rules/own.yaml", file);
    let ran = project.asterisk(&["show", "policy", "p"]).exits(3);
    assert!(ran.stderr.contains("rules/own.yaml") && ran.stderr.contains("p.yaml:2"), "{}", ran.text());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_stage_begins_after_its_dependencies(edges in prop::collection::vec((0..9_usize, 0..9_usize), 0..14)) {
        let mut waits: BTreeMap<usize, Vec<String>> = (0..9).map(|at| (at, Vec::new())).collect();
        for (a, b) in edges {
            let (early, late) = (a.min(b), a.max(b));
            let name = format!("s{early}");
            if early != late && !waits[&late].contains(&name) {
                waits.get_mut(&late).unwrap().push(name);
            }
        }
        let mut text = String::from("pipeline: p\nstages:\n");
        // The file order is not the order of the waves.
        for (at, waits) in waits.iter().rev() {
            let _ = writeln!(text, "  - {{ name: s{at}, agent: EchoAgent, advisor: CompletenessAdvisor, task: t, depends_on: {} }}", json!(waits));
        }
        let data = include_str!("../../scripts/data/policy.yaml");
        let project = project(&[("pipelines/p.yaml", &text), ("scripts/data/policy.yaml", data)]);
        let waves = project.asterisk(&["graph", "p", "--format", "json"]).ok().json()["waves"].clone();
        let ran = run(&project, &[]).ok();
        let (_, events) = walked(&project, &ran);
        let at = |kind: &str, name: &str| events.iter().position(|event| event["type"] == kind && event["node"] == name).unwrap();
        for (late, waits) in &waits {
            for early in waits {
                let (done, begun) = (at("step_complete", early), at("step_start", &format!("s{late}")));
                prop_assert!(done < begun);
            }
        }
        let all: usize = waves.as_array().unwrap().iter().map(|wave| wave.as_array().unwrap().len()).sum();
        prop_assert_eq!(all, 9);
    }
}
