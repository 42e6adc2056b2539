//! Nothing is lost silently: full outputs, removed stores, incomplete launches, failing summaries. And
//! suggested commands can be pasted.

use crate::harness::{Project, Ran, TWO};
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

fn case(id: &str) -> serde_json::Value {
    json!({ "id": id, "name": format!("test {id}"), "status": "FAILED" })
}

fn launch(cases: &[&str]) -> String {
    let cases: Vec<serde_json::Value> = cases.iter().copied().map(case).collect();
    json!({ "run_id": "1", "name": "n", "failure_list": cases }).to_string()
}

fn executable(project: &Project, name: &str, body: &str) {
    let path = project.file(name, format!("#!/bin/sh\n{body}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a line of a shell in which `asterisk` is the program.
fn shell(project: &Project, line: &str) -> Ran {
    let plain = project.command(&["--version"]);
    let dir = Path::new(env!("CARGO_BIN_EXE_asterisk")).parent().unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(project.root()).env_clear();
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("PATH", format!("{}:/usr/bin:/bin", dir.display()));
    project.ran(&command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_full_output_device_is_an_error() {
    let project = Project::new();
    for line in [
        "asterisk run",
        "asterisk run --format json",
        "asterisk show domains",
        "asterisk --version",
        "asterisk --help",
        "asterisk doc --schema pipeline",
    ] {
        let ran = shell(&project, &format!("{line} >/dev/full")).exits(4);
        assert!(ran.stderr.contains("cannot write `standard output`: No space left on device"), "{line}: {}", ran.text());
        assert!(ran.stderr.contains("free disk space"), "{line}: {}", ran.text());
        // A reader that closed the pipe has enough.
        let ran = shell(&project, &format!("set -o pipefail; {line} | true"));
        assert!(ran.code == Some(0) && !ran.stderr.contains("cannot write"), "{line}: {}", ran.text());
    }
}

#[test]
fn a_store_removed_during_a_run_is_reported() {
    for ruin in
        ["rm -rf .asterisk", "mv .asterisk/asterisk.db away.db", "cp .asterisk/asterisk.db c && mv c .asterisk/asterisk.db"]
    {
        let project = Project::with(&[
            ("two.yaml", TWO),
            ("asterisk.yaml", "agents: { ruin: { kind: exec, command: [./ruin.sh] } }\n"),
            ("launch.json", &launch(&["a"])),
        ]);
        executable(
            &project,
            "ruin.sh",
            &format!("cat >/dev/null; [ -e done ] || {{ touch done; {ruin}; }}; echo '{{\"found\": false}}'"),
        );
        let ran = project.asterisk(&["run", "two.yaml", "--input", "launch.json", "--via", "ruin"]);
        assert!(!matches!(ran.code, Some(0) | None) && ran.stderr.contains("was removed or replaced"), "{ruin}: {}", ran.text());
    }
}

#[test]
fn a_failed_summary_affects_only_the_summary() {
    let project = Project::with(&[
        ("asterisk.yaml", "scripts: scripts\n"),
        ("two.yaml", &TWO.replace("pipeline: two", "pipeline: two\nreport: sum.rhai#told")),
        (
            "scripts/sum.rhai",
            "/// Told.\nfn told(params, vars) { if params.failure.name == \"test b\" { throw \"no word for this\"; } #{ title: \"fine\" } }\n",
        ),
        ("launch.json", &launch(&["a", "b"])),
        ("stub.json", &json!({ "*": { "look": [{ "found": false }] } }).to_string()),
    ]);
    for args in [&["run", "two.yaml", "--input", "launch.json", "--stub", "stub.json"][..], &["report", "latest"]] {
        let ran = project.asterisk(args).exits(4);
        assert!(ran.stderr.contains("no word for this") && ran.stderr.contains("sum.rhai"), "{}", ran.text());
    }
    let report = project.asterisk(&["report", "latest", "--format", "md"]);
    assert!(report.stdout.contains("test b"), "{}", report.text());
}

#[test]
fn an_incomplete_launch_is_reported_wherever_it_is_counted() {
    let project = Project::with(&[
        (
            "page.json",
            &json!({ "content": [case("a")], "page": { "number": 1, "size": 1, "totalElements": 37, "totalPages": 37 } })
                .to_string(),
        ),
        (
            "cut.xml",
            "<testsuites><testsuite name=\"s\"><testcase name=\"a\"><failure>x</failure></testcase><testcase><failure>y&#0;</failure>\
             </testcase><testcase name=\"late\"><fail",
        ),
        ("half.json", &launch(&["a"]).replace("test a", "test \\ud83d!")),
    ]);
    let ran = project.asterisk(&["run", "--input", "page.json"]).exits(0);
    assert!(ran.stderr.contains("warning: the launch is incomplete: this is page 1 of 37"), "{}", ran.text());
    assert!(ran.stdout.contains("1 case, 1 cause, of an incomplete launch"), "{}", ran.text());
    let ran = project.asterisk(&["run", "--input", "cut.xml", "--format", "json"]).exits(0);
    let found = ran.json();
    assert_eq!(found["gaps"], json!(["the file is cut off: 2 tests are whole, what follows from test `late` on is missing"]));
    assert_eq!(found["cases"].as_array().unwrap().iter().map(|case| &case["case"]).collect::<Vec<_>>(), ["s::a", "s::(unnamed)"]);
    let notes = project.asterisk(&["report", "latest", "--format", "json"]).exits(0).json()["launch"]["notes"].to_string();
    for note in ["the file is cut off", "1 failed test has neither `name` nor `classname`", "1 invalid character references"] {
        assert!(notes.contains(note), "{note}: {notes}");
    }
    let ran = project.asterisk(&["run", "--input", "half.json"]).exits(0);
    assert!(ran.stdout.contains("test \u{fffd}!"), "{}", ran.text());
}

#[test]
fn skipped_files_of_a_directory_are_reported() {
    let project = Project::with(&[
        ("in/a.xml", "<testsuite name=\"s\"><testcase name=\"a\"><failure/></testcase></testsuite>"),
        ("in/b.xml", "<testsuite name=\"s\"><testcase name=\"b\"><failure/></testcase></testsuite>"),
        ("in/shut/c.xml", "<testsuite/>"),
        ("out/secret.xml", "<testsuite name=\"s\"><testcase name=\"secret\"><failure/></testcase></testsuite>"),
    ]);
    std::os::unix::fs::symlink("../out/secret.xml", project.root().join("in/link.xml")).unwrap();
    // The superuser may read everything: another user reads.
    let mode = |path: &str, mode| {
        std::fs::set_permissions(project.root().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let mut command = project.command(&["run", "--dry-run", "--input", "in"]);
    if project.root().metadata().map(|meta| std::os::unix::fs::MetadataExt::uid(&meta)).unwrap() == 0 {
        mode(".", 0o755);
        command.uid(65534).gid(65534);
    }
    mode("in/b.xml", 0o000);
    mode("in/shut", 0o000);
    let ran = project.ran(&command.output().unwrap()).exits(0);
    mode("in/shut", 0o755);
    for gap in [
        "`in/b.xml` cannot be read (Permission denied",
        "`in/shut` cannot be read (Permission denied",
        "`in/link.xml` is a link to a file outside",
    ] {
        assert!(ran.stderr.contains(&format!("warning: the launch is incomplete: {gap}")), "{gap}: {}", ran.text());
    }
    assert!(!ran.text().contains("secret |"), "{}", ran.text());
}

#[test]
fn suggested_commands_can_be_pasted() {
    let project = Project::with(&[("two.yaml", TWO), ("launch.json", &launch(&["it's $HOME `x` \"y\"\\ & more"]))]);
    let store = "a 'b' $c\n;d.db";
    let ran = project.asterisk(&["--store", store, "run", "two.yaml", "--input", "launch.json", "--via", "manual"]).exits(5);
    let suggested = |text: &str, behind: &str| {
        let at = text.find(behind).unwrap_or_else(|| panic!("no {behind:?} in {text}"));
        text[at + behind.len()..].lines().next().unwrap().trim().to_owned()
    };
    let cursor = suggested(&ran.stderr, "get its prompt with: ");
    let ran = shell(&project, &cursor).exits(0);
    assert!(ran.text().contains("look"), "{cursor}: {}", ran.text());
    let save = suggested(&ran.text().replace("[DIR]", project.root().to_str().unwrap()), "with: ");
    // The command returns the answer verbatim.
    let file = project.file("answer.json", r#"{"found": false}"#);
    let path = shell(&project, &format!("set -- {save}; printf %s \"$4\"")).stdout;
    std::fs::copy(file, path.replace("[DIR]", project.root().to_str().unwrap())).unwrap();
    let ran = shell(&project, &format!("{save} --store {}", "$'a \\'b\\' $c\\n;d.db'"));
    assert!(ran.code == Some(0), "{save}: {}", ran.text());
}

#[test]
fn a_missing_store_is_reported() {
    let project = Project::new();
    for args in [&["status"][..], &["rca", "list"], &["show", "symptoms"]] {
        let ran = project.asterisk(args).exits(0);
        assert_eq!(ran.stderr, "no store yet at [DIR]/.asterisk/asterisk.db; `asterisk run` creates one\n");
    }
    for args in [
        &["explain", "latest"][..],
        &["repl", "--run"],
        &["status", "latest"],
        &["report"],
        &["run", "--resume", "latest"],
        &["review", "x", "approve"],
        &["push", "latest", "--to", "reportportal"],
        &["graph", "--run", "latest"],
    ] {
        let ran = project.asterisk(args).exits(2);
        assert!(ran.stderr.contains("no store at [DIR]/.asterisk/asterisk.db yet"), "{args:?}: {}", ran.text());
        assert!(ran.stderr.contains("`asterisk run` creates one"), "{args:?}: {}", ran.text());
    }
    assert!(!project.root().join(".asterisk").exists(), "asking does not create one");
}
