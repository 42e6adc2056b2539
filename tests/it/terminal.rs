//! Untrusted text cannot control the terminal: escape sequences and hidden characters never reach a terminal or a pipe.

use crate::harness::{Project, Ran, TWO};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

/// A title, a cleared screen, concealed text, a backspace, C1, a new line's beginning, and what turns or hides text.
const EVIL: &str = "\u{1b}]0;PWN\u{7}\u{1b}[2J\u{1b}[8m\u{8}\r\u{9b}31m\u{85}\u{202e}\u{2066}\u{200b}\u{2028}\u{7f}";
/// The same as scripts and YAML write it in quotes.
const SPELT: &str = r"\x1b]0;PWN\x07\x1b[2J\x1b[8m\x08\r\u009b31m\u0085\u202e\u2066\u200b\u2028\x7f";

/// Asserts that a text has nothing that a terminal obeys, or shows as nothing.
#[track_caller]
fn is_safe(what: &str, text: &str) {
    let bad = |ch: char| {
        let hidden = matches!(ch, '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
        hidden || (ch.is_control() && ch != '\n' && ch != '\t')
    };
    if let Some(at) = text.find(bad) {
        let near: String = text[..at].chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        panic!("{what}: {:?} behind {near:?}", text[at..].chars().next());
    }
}

#[track_caller]
fn check(what: &str, ran: &Ran) {
    is_safe(&format!("stdout of {what}"), &ran.stdout);
    is_safe(&format!("stderr of {what}"), &ran.stderr);
    assert!(ran.code.is_some() && !ran.stderr.contains("panicked"), "{what}: {}", ran.text());
}

fn launch() -> String {
    let case = |id: &str| {
        json!({
            "id": id, "name": format!("test {id}{EVIL}"), "status": "FAILED",
            "error_message": format!("boom{EVIL}"), "logs": [{ "message": format!("log{EVIL}") }],
            "attributes": [{ "key": EVIL, "value": EVIL }],
        })
    };
    json!({ "run_id": "1", "name": format!("n{EVIL}"), "failure_list": [case("a"), case("b")] }).to_string()
}

/// A project whose every text, name and answer is hostile.
fn hostile() -> Project {
    let project = Project::with(&[
        (
            "asterisk.yaml",
            &format!(
                "scripts: scripts\npipelines: pipelines\nagents:\n  evil: {{ kind: exec, command: [./evil.sh, \"{SPELT}\"] }}\n  rude: {{ kind: exec, command: [./rude.sh] }}\n"
            ),
        ),
        ("pipelines/two.yaml", TWO),
        (
            "pipelines/evil.yaml",
            &TWO.replace("pipeline: two", &format!("pipeline: \"evil{SPELT}\"")).replace("E1", &format!("\"E1{SPELT}\"")),
        ),
        (
            "pipelines/throw.yaml",
            &TWO.replace("pipeline: two", "pipeline: throw").replace("condition: found", "rule: \"rules/t.rhai#loud\""),
        ),
        ("pipelines/broken.yaml", &format!("pipeline: broken\nnodes: [ {EVIL}\n")),
        (
            "scripts/rules/t.rhai",
            &format!(
                "/* {EVIL} */\n/// Loud.\nfn loud(artifact, state, vars) {{ throw \"{SPELT}\"; }}\n/// Quiet.\nfn quiet(a) {{ a.b }}\n"
            ),
        ),
        ("launch.json", &launch()),
        (&format!("na\u{1b}[2Jme{EVIL}.json"), &launch()),
        ("broken.json", &format!("{{\"run_id\":\"1\",\"name\":\"n{EVIL}\" \"{EVIL}\"}}")),
        ("broken.xml", &format!("<testsuite name=\"{EVIL}\"><testcase name=\"{EVIL}\"><x{EVIL}></testsuite>")),
        ("stub.json", &json!({ "*": { "look": [{ "found": true, "why": EVIL }], "close": [{ "x": EVIL }] } }).to_string()),
        ("bad/bad.rhai", &format!("fn f() {{ let x{EVIL} = ; }}\n")),
    ]);
    let answer = json!({ "found": true, "why": EVIL, "by": EVIL }).to_string();
    for (name, body) in [
        ("evil.sh", format!("cat >/dev/null; printf '%s' '{answer}'")),
        ("rude.sh", format!("printf '{EVIL}'; printf '{EVIL}' >&2; exit 3")),
    ] {
        let path = project.file(name, format!("#!/bin/sh\n{body}\n"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    project
}

#[test]
fn untrusted_text_cannot_forge_a_line_of_a_log() {
    let project = hostile();
    let observers = ["log=log", "log-json=json", "narration=told"].map(|observer| ["--observe", observer]).concat();
    let walk = ["run", "two", "--input", "launch.json", "--via", "rude", "-vv"];
    assert_ne!(project.asterisk(&[&walk[..], &observers].concat()).code, Some(2));
    let log = project.read("log");
    let begins = |line: &str| line.split_once(' ').is_some_and(|(time, _)| time.len() == 24 && time.ends_with('Z'));
    assert!(log.lines().count() > 5 && log.lines().all(begins), "{log}");
    for text in [&log, &project.read("told")] {
        assert_eq!(text.chars().find(|ch| ch.is_control() && *ch != '\n'), None, "{text}");
    }
    for line in project.read("json").lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object(), "{line}");
    }
}

#[test]
fn escape_sequences_never_reach_the_output() {
    let project = hostile();
    let named = format!("na\u{1b}[2Jme{EVIL}.json");
    let stub = ["--input", "launch.json", "--stub", "stub.json"];
    let runs: &[&[&str]] = &[
        &["run", "--input", "launch.json", "-v"],
        &["run", "--input", &named],
        &["run", "two", stub[0], stub[1], stub[2], stub[3], "--observe", "narration", "--observe", "log"],
        &["run", "two", stub[0], stub[1], stub[2], stub[3], "-vv"],
        &["run", "evil", stub[0], stub[1], stub[2], stub[3], "--observe", "jsonl=-"],
        &["run", "evil", stub[0], stub[1], stub[2], stub[3], "--observe", "trace=-"],
        &["run", "evil", stub[0], stub[1], stub[2], stub[3], "--format", "json"],
        &["run", "two", "--input", "launch.json", "--via", "evil"],
        &["run", "two", "--input", "launch.json", "--via", "rude"],
        &["run", "two", "--input", "launch.json", "--via", "manual"],
        &["cursor", "--suite-id", "latest"],
        &["status", "latest"],
        &["run", "throw", stub[0], stub[1], stub[2], stub[3]],
        &["run", "--input", "launch.json"],
        &["status"],
        &["explain", "latest"],
        &["explain", "latest", "--format", "json"],
        &["report", "latest", "--format", "md"],
        &["report", "latest", "--format", "html"],
        &["report", "latest", "--format", "json"],
        &["show", "symptoms"],
        &["rca", "list", "--format", "json"],
        &["graph", "evil"],
        &["graph", "evil", "--format", "svg"],
        &["graph", "evil", "--format", "mermaid"],
        &["config", "--origin"],
        &["config", "--format", "json"],
        &["doctor"],
        &["lint", "pipelines", "scripts"],
        &["lint", "pipelines", "scripts", "--format", "json"],
        &["lint", "pipelines", "scripts", "--format", "github"],
        &["lint", "pipelines", "scripts", "--format", "sarif"],
        &["run", "broken"],
        &["run", "--input", "broken.json"],
        &["run", "--input", "broken.xml"],
        &["run", "--scripts", "bad", "--input", "none"],
        &["run", EVIL],
        &[EVIL],
        &["run", &format!("--{EVIL}")],
        &["run", "--parallel", EVIL],
        &["run", "--input", EVIL],
        &["run", "--set", EVIL],
        &["run", "--case", EVIL],
        &["run", "--via", EVIL],
        &["run", "--observe", EVIL],
        &["run", "--store", &format!("{EVIL}/x.db")],
        &["rca", "show", EVIL],
        &["show", "data", EVIL],
        &["explain", EVIL],
        &["lint", "--explain", EVIL],
        &["doc", EVIL],
        &["eval", "call", EVIL],
        &["eval", "route", "two", "--node", EVIL],
    ];
    for (number, args) in runs.iter().enumerate() {
        // Colours do not affect cleaning: each command is tried with one choice.
        {
            let colour = ["never", "always"][number % 2];
            let ran = project.call(args).env("ASTERISK_COLOR", colour).ran();
            let bare = |text: &str| own_colours(text);
            check(&format!("{args:?} {colour}"), &Ran { stdout: bare(&ran.stdout), stderr: bare(&ran.stderr), code: ran.code });
            assert!(!ran.text().contains("\u{1b}[8m"), "{args:?} conceals");
            let wanted = match *args {
                ["run", "throw", ..] | ["run", "two", .., "rude"] => Some(4),
                ["run", "two", .., "manual"] => Some(5),
                ["run", "two" | "evil", ..]
                | ["report" | "explain" | "status" | "show" | "graph", "latest" | "symptoms" | "evil", ..] => Some(0),
                _ => ran.code,
            };
            assert_eq!(ran.code, wanted, "{args:?}: {}", ran.text());
        }
    }
    let typed = format!(
        "\"{SPELT}\"\n#{{ \"{SPELT}\": 1 }}\nthrow \"{SPELT}\"\n:case {EVIL}\n:cases\n:steps\n:why\n{EVIL}\nartifact.{EVIL}\n"
    );
    for args in [&["repl"][..], &["repl", "--run"]] {
        check(&format!("{args:?}"), &project.asterisk_reading(args, &typed));
    }
    check("a broken launch", &project.asterisk_reading(&["run", "--input", "-"], &project.read("broken.json")));
}

/// A text without the colours that this program uses.
fn own_colours(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|ch: char| !ch.is_ascii_digit() && ch != ';').unwrap_or(part.len());
        match part[digits..].strip_prefix('m') {
            Some(rest) => out.push_str(rest),
            None => out.extend(["\u{1b}[", part]),
        }
    }
    out
}

#[test]
fn machine_readable_output_keeps_its_values() {
    let project = hostile();
    let ran = project.asterisk(&[
        "eval",
        "call",
        "rules/t.rhai#quiet",
        "--args",
        &json!([{ "b": EVIL }]).to_string(),
        "--format",
        "json",
    ]);
    assert_eq!(ran.exits(0).json()["result"], json!(EVIL));
}

#[test]
fn labels_are_aligned_with_their_text() {
    let project = Project::new();
    let text = "{\"run_id\":\"1\",\"name\":\"é\u{9b}2J\u{202e}\",\"failure_list\": oops}";
    project.file("x.json", text);
    let ran = project.asterisk(&["run", "--input", "x.json"]).exits(3);
    insta::assert_snapshot!(ran.stderr);
}
