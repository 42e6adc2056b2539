//! Advisors that are answerers: agents behind files, commands and people review answers. Their reviews are requests like any other:
//! recorded, checked, resumed and replayed.

use crate::harness::{Project, Ran};
use crate::signals::{Agent, artifact, put, wrapped};
use serde_json::{Value, json};
use std::path::Path;

const DATA: &str = "\
defaults: { min_score: 0.85, max_retries: 1, timeout: 60, council: lib/policy.rhai#council }
agents:
  Writer: { script: agents/write.rhai#write }
advisors:
  Lengthy: { script: advisors/write.rhai#review }
  Critic: { via: [file], description: Looks for courage. }
  Either: { script: advisors/write.rhai#review, via: [broken, script] }
  Nobody: { via: [absent] }
";

const WRITER: &str = "\
/// Writes the task, bolder after a review.
fn write(params, vars) {
    let bold = if params.review == () { \"\" } else { `, boldly, since ${params.review.summary}` };
    #{ content: params.task + bold, artifacts: [#{ name: \"a.md\", content: \"# \" + params.task }] }
}
";

const ADVISOR: &str = "\
/// Is content with anything.
fn review(output, task, context) { #{ score: 0.9, approved: true, summary: \"long enough\" } }
";

const SETTINGS: &str = "scripts: scripts\npipelines: pipelines\nagents:\n  file: { poll: 40ms, timeout: 60s }\n";

/// A pipeline of two stages whose first has this advisor.
fn stages(advisor: &str) -> String {
    format!(
        "pipeline: p\nstages:\n  - {{ name: one, agent: Writer, advisor: {advisor}, task: Be brave }}\n  \
         - {{ name: two, agent: Writer, advisor: Lengthy, task: \"after {{one.content}}\" }}\n"
    )
}

/// A project with that pipeline, and commands by name with their scripts.
fn project(pipeline: &str, commands: &[(&str, &str)]) -> Project {
    let entry =
        |(name, _): &(&str, &str)| format!("  {name}: {{ kind: exec, command: [./{name}.sh], retry: {{ wait: 1ms }} }}\n");
    let settings = format!("{SETTINGS}{}", commands.iter().map(entry).collect::<String>());
    let project = Project::with(&[
        ("asterisk.yaml", &settings),
        ("scripts/data/policy.yaml", DATA),
        ("scripts/agents/write.rhai", WRITER),
        ("scripts/advisors/write.rhai", ADVISOR),
        ("pipelines/p.yaml", pipeline),
    ]);
    for (name, body) in commands {
        use std::os::unix::fs::PermissionsExt as _;
        let path = project.file(&format!("{name}.sh"), format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project
}

pub(crate) const RUN: [&str; 8] = ["run", "p", "--parallel", "1", "--files", "always", "--format", "json"];

fn run(project: &Project) -> Ran {
    project.asterisk(&RUN)
}

fn events(project: &Project, ran: &Ran, kinds: &[&str]) -> Vec<Value> {
    let log = project.read(&format!(".asterisk/investigations/{}/events.jsonl", ran.json()["run"].as_str().unwrap()));
    let all = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    all.filter(|event| kinds.iter().any(|kind| event["type"] == *kind)).collect()
}

fn lines(project: &Project, name: &str) -> usize {
    std::fs::read_to_string(project.root().join(name)).map_or(0, |text| text.lines().count())
}

/// A command that logs each call, rejects text that is not bold, and omits a required field in its first answer.
const BOLD: &str = "\
prompt=$(cat); echo \"$ASTERISK_NODE\" >> calls.txt; printf '%s' \"$prompt\" > \"prompt-$(wc -l < calls.txt).txt\"
case \"$prompt\" in
  *'was not accepted'*) echo '{\"score\": 0.3, \"approved\": false, \"summary\": \"it is timid\", \"suggestions\": [\"be bold\"]}' ;;
  *boldly*) echo '{\"score\": 0.95, \"approved\": true, \"severity\": \"low\"}' ;;
  *) echo '{\"score\": 0.3}' ;;
esac";

#[test]
fn an_agent_over_files_reviews_in_a_council() {
    let project =
        project(&stages("Critic").replace("stages:", "policy: { advisors: { council: [Lengthy, Critic] } }\nstages:"), &[]);
    let agent = Agent::of(project.root(), |_, signal, _| {
        let prompt = std::fs::read_to_string(signal["prompt_path"].as_str().unwrap()).unwrap();
        assert!(
            prompt.starts_with("# Review of ") && prompt.contains("Looks for courage.") && prompt.contains("Be brave"),
            "{prompt}"
        );
        let review = json!({ "score": 0.92, "approved": true, "summary": "brave", "suggestions": [], "critical_issues": [] });
        put(&artifact(signal), wrapped(signal, &review));
    });
    let ran = run(&project).exits(0);
    let seen = agent.seen();
    assert_eq!(seen.iter().map(|signal| &signal["step"]).collect::<Vec<_>>(), ["ONE/Critic", "TWO/Critic"]);
    let asked = events(&project, &ran, &["asked", "answered", "advisor_review"]);
    let kinds: Vec<&str> = asked.iter().take(4).map(|event| event["type"].as_str().unwrap()).collect();
    // The answer is recorded before anybody outside is asked; the script's review goes with the next record.
    assert_eq!(kinds, ["answered", "asked", "advisor_review", "advisor_review"]);
    assert_eq!((&asked[1]["node"], &asked[1]["advisor"], &asked[1]["via"]), (&json!("one"), &json!("Critic"), &json!("file")));
    assert_eq!((&asked[3]["agent"]["via"], &asked[3]["review"]["summary"]), (&json!("file"), &json!("brave")));
    let signal = project.read(asked_signal(&project, &seen[0]).as_str());
    assert!(signal.contains("\"complete\""), "{signal}");
    let explained = project.asterisk(&["explain", "latest"]).ok().stdout;
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(explained.contains("Critic approved it with 0.92; by majority the council gives 0.91"), "{explained}");
    // Without an answerer now: the record is enough.
    let replay =
        |set: &str| project.asterisk(&["replay", "latest", "--set", set, "--format", "json"]).exits(0).json()["flips"].clone();
    assert_eq!(replay("policy.score_thresholds.default=0.85"), json!([]));
    assert_eq!(replay("policy.score_thresholds.default=0.915").as_array().unwrap().len(), 2);
}

fn asked_signal(project: &Project, signal: &Value) -> String {
    let path = artifact(signal).with_file_name("signal.json");
    path.strip_prefix(project.root().canonicalize().unwrap()).unwrap_or(&path).display().to_string()
}

#[test]
fn a_command_reviews_and_gets_the_schema_of_a_review() {
    let project = project(&stages("bold"), &[("bold", BOLD)]);
    let ran = run(&project).exits(0);
    // Once in a wrong form, once to reject, once to approve.
    assert_eq!(project.read("calls.txt"), "one/bold\none/bold\none/bold\n");
    let first = project.read("prompt-1.txt");
    for part in
        ["# Review of one by bold", "## The task\n\n````\nBe brave", "## The answer", "Its file a.md (text)", "\"score\": "]
    {
        assert!(first.contains(part), "{part}: {first}");
    }
    let complained = events(&project, &ran, &["complained"]);
    assert_eq!(complained[0]["complaints"], json!(["$.approved: is required and missing"]));
    let retry = events(&project, &ran, &["step_retry"]);
    assert_eq!(retry[0]["message"], "bold rejected it with 0.3; the threshold is 0.85 (the defaults of data/policy.yaml)");
    let outputs = ran.json()["cases"][0].clone();
    assert_eq!(outputs["status"], "done", "{outputs}");
    let tokens = ran.json()["tokens"].clone();
    assert!(tokens["prompt"].as_u64().unwrap() > 100, "{tokens}");
    // What passed comes from the cache, and is reviewed all the same.
    let again = run(&project).exits(0);
    assert_eq!(events(&project, &again, &["cache_hit"]).len(), 2);
    assert_eq!(lines(&project, "calls.txt"), 6);
    let shown = project.asterisk(&["show", "policy", "p"]).ok().stdout;
    assert!(shown.contains("bold"), "{shown}");
}

#[test]
fn a_person_reviews_when_the_run_waits() {
    let project = project(&stages("manual"), &[]);
    project.asterisk(&["run", "p", "--parallel", "1"]).exits(5);
    let taken = project.asterisk(&["cursor", "--format", "json"]).ok().json();
    let one = &taken["prompts"][0];
    assert_eq!((one["node"].as_str(), one["step"].as_str()), (Some("one/manual"), Some("ONE/manual")), "{taken}");
    assert!(one["prompt"].as_str().unwrap().starts_with("# Review of one by manual"), "{taken}");
    let case = one["case"].as_str().unwrap();
    let save = |answer: &str| {
        project.file("answer.json", answer);
        project.asterisk(&["save", "-f", "answer.json", "--case-id", case])
    };
    let refused = save("{\"score\": 7, \"approved\": true}").exits(3);
    for part in
        ["the answer of `manual` is not a review of `one` by the advisor `manual`", "$.score: 7 is out of bounds", "p.yaml:3"]
    {
        assert!(refused.stderr.contains(part), "{}", refused.text());
    }
    save("{\"score\": 0.9, \"approved\": true, \"summary\": \"good\"}").exits(0);
    let explained = project.asterisk(&["explain", "latest"]).ok().stdout;
    assert!(explained.contains("manual approved it with 0.9"), "{explained}");
}

#[test]
fn unknown_reviewers_are_reported_where_they_are_named() {
    let broken = ("broken", "cat > /dev/null; echo '{\"score\": 0.3, \"approved\": \"perhaps\"}'");
    for (advisor, code, says) in [
        ("Critik", 3, ["unknown advisor `Critik`", "did you mean `Critic`?", "p.yaml:3"]),
        ("Nobody", 3, ["the advisor `Nobody` has no reviewer", "configure absent under `agents:`", "p.yaml:3"]),
        (
            "broken",
            4,
            ["the answer of `broken` is not a review of `one` by the advisor `broken`: $.approved: ", "p.yaml:3", "failed"],
        ),
        // Its script reviews where the answerer cannot.
        ("Either", 0, ["", "", ""]),
    ] {
        let ran = run(&project(&stages(advisor), &[broken])).exits(code);
        assert!(says.iter().all(|part| ran.stderr.contains(part)), "{advisor}: {}", ran.text());
    }
    assert!(Path::new("scripts/advisors").is_dir(), "where bundled advisors are");
}

/// Two stages, whose answers two commands review; each command leaves a line when it is asked.
pub(crate) fn council() -> Project {
    let writer = "cat > /dev/null; echo \"$ASTERISK_NODE\" >> calls.txt; echo '{\"content\": \"bold\"}'";
    let critic = "cat > /dev/null; echo \"$ASTERISK_NODE\" >> calls.txt; echo '{\"score\": 0.9, \"approved\": true}'";
    let pipeline = stages("critic").replace("task: Be brave", "via: [writer], task: Be brave");
    let pipeline = pipeline.replace("stages:", "policy: { advisors: { council: [critic, second] } }\nstages:");
    project(&pipeline, &[("writer", writer), ("critic", critic), ("second", critic)])
}

#[test]
fn a_council_is_asked_in_order() {
    let project = council();
    run(&project).exits(0);
    assert_eq!(project.read("calls.txt"), "one\none/critic\none/second\ntwo/critic\ntwo/second\n");
}
