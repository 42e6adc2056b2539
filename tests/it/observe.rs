//! Observers: their output, and that they do not affect a run.

use crate::harness::{Project, Ran};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const RIDE: &str = "\
pipeline: ride
vars: { enough: 2 }
nodes:
  - { name: look_up, code: R0, schema: { n: int } }
  - { name: court, code: R1, pipeline: small-court }
  - { name: tell }
edges:
  - { id: R1, name: again, from: look_up, to: look_up, loop: true, counter: looks, condition: \"n < vars.enough\" }
  - { id: R2, name: doubtful, from: look_up, to: court, condition: \"n < 5\" }
  - { id: R3, from: look_up, to: tell }
  - { id: R4, from: court, to: tell }
  - { id: R5, from: tell, to: _done }
start: look_up
done: _done
";

const COURT: &str = "\
pipeline: small-court
nodes:
  - { name: hearing, code: C0 }
  - { name: verdict, code: C1, schema: { n: int } }
edges:
  - { id: C1, from: hearing, to: verdict }
  - { id: C2, from: verdict, to: _done }
start: hearing
done: _done
";

/// Four cases: one looks twice, one goes through the court, one goes straight on, one fails in the court.
pub(crate) fn project() -> Project {
    let failure = |id: &str| json!({ "id": id, "name": format!("the {id} case"), "status": "FAILED" });
    let failures = ["twice", "doubtful", "plain", "broken"].map(failure);
    let stub = json!({
        "twice": { "look_up": [{ "n": 1 }, { "n": 9 }] },
        "doubtful": { "look_up": [{ "n": 3 }], "hearing": [{}], "verdict": [{ "n": 1 }] },
        "plain": { "look_up": [{ "n": 9 }] },
        "broken": { "look_up": [{ "n": 3 }], "hearing": [{}] },
        "*": { "tell": [{}] },
    });
    Project::with(&[
        ("asterisk.yaml", "pipelines: pipelines\n"),
        ("pipelines/ride.yaml", RIDE),
        ("pipelines/small-court.yaml", COURT),
        ("launch.json", &json!({ "run_id": "1", "name": "l", "failure_list": failures }).to_string()),
        ("stub.json", &stub.to_string()),
    ])
}

pub(crate) const RUN: [&str; 8] = ["run", "ride", "--input", "launch.json", "--stub", "stub.json", "--parallel", "1"];

/// An observed run, with a clock that advances by 10 ms at each reading.
fn observed(project: &Project, more: &[&str]) -> Ran {
    let args: Vec<&str> = RUN.iter().chain(more).copied().collect();
    project.call(&args).env("ASTERISK_CLOCK", "2026-02-14T21:21:09Z/10").ran()
}

fn events(project: &Project, path: &str) -> Vec<Value> {
    project.read(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_run_is_narrated_in_sentences() {
    let project = project();
    insta::assert_snapshot!("narration", observed(&project, &["--observe", "narration"]).exits(4).text());
}

/// Walkers hand over by name.
#[test]
fn a_narration_names_the_walkers_of_a_team() {
    let project = project();
    project.file("asterisk.yaml", "pipelines: pipelines\nscripts: scripts\n");
    let team = "team: { walkers: [Seeker, Weaver], scheduler: schedulers/turns.rhai }\n";
    project.file("pipelines/ride.yaml", format!("{RIDE}{team}"));
    project.file(
        "scripts/schedulers/turns.rhai",
        "/// By turns.\nfn select(ctx) { if ctx.node.name == \"tell\" { \"Weaver\" } else { \"Seeker\" } }\n",
    );
    let ran = observed(&project, &["--observe", "narration", "--observe", "metrics=m", "--case", "plain"]).exits(0);
    insta::assert_snapshot!("team", ran.stderr);
    let metrics = project.read("m");
    assert!(metrics.contains("asterisk_handoffs_total{from=\"Seeker\",pipeline=\"ride\",to=\"Weaver\"} 1\n"), "{metrics}");
}

#[test]
fn verbosity_adds_detail_to_the_log() {
    let project = project();
    let log = |more: &[&str]| observed(&project, more).exits(4).stderr;
    insta::assert_snapshot!("log", log(&["--observe", "log", "--case", "doubtful", "--case", "broken"]));
    insta::assert_snapshot!("log_v", log(&["--observe", "log", "-v", "--case", "broken"]));
    let (few, more) = (log(&["--observe", "log", "-v"]), log(&["--observe", "log", "-vv"]));
    assert!(more.lines().count() > few.lines().count() && more.contains("TRACE Case") && !few.contains("TRACE"));
}

#[test]
fn events_are_streamed_as_they_are_recorded() {
    let project = project();
    let ran = observed(&project, &["--observe", "jsonl=new/seen.jsonl", "--files", "always", "--format", "json"]).exits(4).json();
    let seen = events(&project, "new/seen.jsonl");
    let mut kept = events(&project, &format!(".asterisk/investigations/{}/events.jsonl", ran["run"].as_str().unwrap()));
    for event in &mut kept {
        event.as_object_mut().unwrap().remove("seq");
    }
    assert_eq!(seen, kept);
    // Another run's events come after them.
    observed(&project, &["--observe", "jsonl=new/seen.jsonl"]).exits(4);
    let runs: BTreeSet<String> = events(&project, "new/seen.jsonl").iter().map(|event| event["run"].to_string()).collect();
    assert_eq!(runs.len(), 2);
    // On standard output they are alone.
    let ran = observed(&project, &["--observe", "jsonl=-"]).exits(4);
    assert_eq!(ran.json_lines().len(), seen.len());
}

#[test]
fn metrics_count_what_happened() {
    let project = project();
    observed(&project, &["--observe", "metrics=run.prom"]).exits(4);
    let metrics = project.read("run.prom");
    let few: Vec<&str> = metrics.lines().filter(|line| !line.contains("_bucket")).collect();
    insta::assert_snapshot!("metrics", few.join("\n"));
    for line in metrics.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("asterisk_") && value.parse::<f64>().is_ok(), "{line}");
    }
}

/// The spans of each thread are nested: each ends after those that began within it.
#[test]
fn a_trace_nests_the_steps_of_subpipelines() {
    let project = project();
    observed(&project, &["--observe", "trace=trace.json", "-vv"]).exits(4);
    let trace: Value = serde_json::from_str(&project.read("trace.json")).unwrap();
    let mut open: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for entry in trace.as_array().unwrap() {
        let spans = open.entry(entry["tid"].as_u64().unwrap()).or_default();
        match entry["ph"].as_str().unwrap() {
            "B" => {
                spans.push(entry);
                let names: Vec<&str> = spans.iter().map(|span| span["name"].as_str().unwrap()).collect();
                seen.insert(names.join(" > "));
            }
            "E" => assert_eq!(spans.pop().unwrap()["name"], entry["name"]),
            "i" => assert_eq!(entry["cat"], "event"),
            _ => assert_eq!(entry["name"], "thread_name"),
        }
    }
    assert!(open.values().all(Vec::is_empty));
    for case in ["doubtful", "broken"] {
        for within in ["court", "court > hearing > commit", "court > hearing > answer", "court > verdict > answer"] {
            let wanted = format!("ride > case {case} > {within}");
            assert!(seen.contains(&wanted), "{wanted}: {seen:#?}");
        }
    }
    assert!(seen.iter().any(|names| names.ends_with("look_up > script")), "{seen:#?}");
}

#[test]
fn a_log_as_json_has_the_spans_around_each_event() {
    let project = project();
    observed(&project, &["--observe", "log-json=log.json", "--case", "broken"]).exits(4);
    let lines = events(&project, "log.json");
    let failed = lines.iter().find(|line| line["level"] == "ERROR").unwrap();
    assert_eq!(
        failed["message"],
        "Case broken (in Court) fails at Verdict (C1), agent_error: the stub file has no answer for `verdict`"
    );
    assert_eq!(
        (&failed["event"], &failed["kind"], &failed["node"]),
        (&json!("walk_error"), &json!("agent_error"), &json!("verdict"))
    );
    let spans: Vec<&str> = failed["spans"].as_array().unwrap().iter().map(|span| span["name"].as_str().unwrap()).collect();
    assert_eq!(spans, ["run", "case", "step", "step"]);
    assert!(
        lines[0]["spans"][0]["run"].is_string() && lines[0]["timestamp"].as_str().unwrap().starts_with("2026-02-14T21:21:09.")
    );
}

/// Directives by level and target, from the command line or the environment.
#[test]
fn a_filter_chooses_what_a_log_shows() {
    let project = project();
    let filter = |directives| observed(&project, &["--observe", "log=log", "--log-filter", directives]);
    let log = |ran: Ran| {
        ran.exits(4);
        let text = project.read("log");
        std::fs::remove_file(project.root().join("log")).unwrap();
        text
    };
    let words = |text: &str, word: &str| text.lines().filter(|line| line.split_whitespace().nth(1) == Some(word)).count();
    let few = log(filter("asterisk=error"));
    assert_eq!((few.lines().count(), words(&few, "ERROR")), (1, 1), "{few}");
    let more = log(filter("warn,asterisk::journal=trace"));
    assert!(words(&more, "TRACE") > 0 && words(&more, "DEBUG") > 0, "{more}");
    let args: Vec<&str> = RUN.iter().chain(&["--observe", "log=log"]).copied().collect();
    let by_variable = log(project.call(&args).env("ASTERISK_LOG_FILTER", "error").ran());
    assert_eq!(by_variable.lines().count(), 1);
    insta::assert_snapshot!("filter_refused", filter("asterisk=loud").exits(2).text());
}

#[test]
fn observers_do_not_change_a_run() {
    let (alone, watched) = (project(), project());
    let args: Vec<&str> = RUN.iter().chain(&["--format", "json", "--files", "always"]).copied().collect();
    let all = ["narration=n", "log=l", "log-json=k", "jsonl=j", "metrics=m", "trace=t"].map(|text| ["--observe", text]).concat();
    let (one, other) = (alone.asterisk(&args).exits(4), watched.asterisk(&[args.as_slice(), &all].concat()).exits(4));
    assert_eq!((&one.stdout, &one.stderr), (&other.stdout, &other.stderr));
    let run = one.json()["run"].as_str().unwrap().to_owned();
    let log = format!(".asterisk/investigations/{run}/events.jsonl");
    assert_eq!(alone.read(&log), watched.read(&log));
}

/// A full disk does not end a run, and is reported at its end.
#[cfg(target_os = "linux")]
#[test]
fn an_observer_that_cannot_write_does_not_end_a_run() {
    let project = project();
    for kind in ["narration", "log", "log-json", "jsonl", "metrics", "trace"] {
        let ran = observed(&project, &["--case", "plain", "--observe", &format!("{kind}=/dev/full")]).exits(0);
        let warning = format!("warning: not all of `--observe {kind}=/dev/full` could be written: No space left on device");
        assert!(ran.stderr.contains(&warning) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    }
}

#[test]
fn permanent_observers_are_set_in_the_project_file() {
    let project = project();
    project.file("asterisk.yaml", "pipelines: pipelines\nobservers: [metrics=of/run.prom, narration=of/story.txt]\n");
    project.asterisk(&RUN).exits(4);
    assert!(project.read("of/story.txt").contains("Small-court begins on case doubtful at Court (R1)\n"));
    assert!(project.read("of/run.prom").contains("asterisk_cases{status=\"error\"} 1\n"));
    project.file("asterisk.yaml", "pipelines: pipelines\nobservers: [naration, metrics]\n");
    insta::assert_snapshot!("refused_in_file", project.asterisk(&RUN).exits(3).text());
}

#[test]
fn invalid_observers_are_reported_before_any_walk() {
    let project = project();
    let refused = |what: &[&str]| {
        let observers = what.iter().flat_map(|what| ["--observe", what]);
        let args: Vec<&str> = RUN.into_iter().chain(observers).collect();
        let ran = project.asterisk(&args);
        format!("{}\n{}", ran.code.unwrap(), ran.stderr)
    };
    let shown = [&["logs"][..], &["trace"], &["jsonl="], &["metrics=-", "jsonl=-"], &["jsonl=asterisk.yaml/x"]].map(refused);
    insta::assert_snapshot!("refused", shown.join("\n"));
    assert!(!project.root().join(".asterisk").exists());
}

#[test]
fn a_resumed_run_is_narrated_from_where_it_resumes() {
    let project = project();
    observed(&project, &["--case", "plain"]).exits(0);
    let ran = project.asterisk(&["run", "--resume", "latest", "--observe", "narration"]).exits(0);
    assert_eq!(ran.stderr, "", "a finished run is not narrated");
}

/// The log, the observer and the query by type say the same of an event, the walker of its step included, also within sub-pipelines.
#[test]
fn events_name_their_walkers_and_are_found_by_type() {
    let project = project();
    let ran = observed(&project, &["--team", "light", "--observe", "jsonl=seen.jsonl", "--format", "json"]).exits(4);
    let log = events(&project, &format!(".asterisk/investigations/{}/events.jsonl", ran.json()["run"].as_str().unwrap()));
    let seen = events(&project, "seen.jsonl");
    let without = |mut event: Value| {
        event.as_object_mut().unwrap().remove("seq");
        event
    };
    assert_eq!(log.iter().cloned().map(without).collect::<Vec<_>>(), seen);
    let of_walks = |event: &&Value| event["path"] != "";
    assert!(log.iter().filter(of_walks).all(|event| event["walker"].is_string()), "{log:#?}");
    assert!(log.iter().any(|event| event["path"].as_str().unwrap().contains("/court/")));
    let types = ["walker_switch", "walk_complete"];
    let found = project.asterisk(&["explain", "--events=walker_switch,walk_complete"]).exits(0).json_lines();
    let wanted: Vec<Value> = log.iter().filter(|event| types.contains(&event["type"].as_str().unwrap())).cloned().collect();
    assert!(!found.is_empty() && found.iter().all(|event| event["node"].is_string()));
    assert_eq!(found, wanted);
    let of_case = project.asterisk(&["explain", "--events", "--case", "plain"]).exits(0).json_lines();
    assert_eq!(of_case, log.iter().filter(|event| event["case"] == "plain").cloned().collect::<Vec<_>>());
}
