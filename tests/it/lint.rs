//! `asterisk lint`: the bundled files are clean, all errors are reported in one document, and fixes are stable.

use crate::harness::{Project, Ran, repository};
use serde_json::Value;
use std::process::Command;

const PIPELINE: &str = r#"pipeline: door
description: whether to open
vars: { sure: 0.8 }
nodes:
  - name: look
    schema: { confidence: { type: number, min: 0, max: 1 }, open: bool, label?: string }
    fallback: ask
  - name: ask
edges:
  - { id: D1, from: look, to: _done, rule: "rules/door.rhai#sure" }
  - { id: D2, from: ask, to: _done }
start: look
done: _done
"#;

const RULE: &str = "\
/// Opens with enough confidence.
fn sure(artifact, state, vars) {
    artifact.confidence >= vars.sure && artifact.open == true
}
";

fn door(rule: &str) -> Project {
    let project = Project::new();
    project.file("asterisk.yaml", "pipelines: pipelines\nscripts: heuristics\n");
    project.file("pipelines/door.yaml", PIPELINE);
    project.file("heuristics/rules/door.rhai", rule);
    project
}

#[track_caller]
fn shows(project: &Project, name: &str, args: &str) -> Ran {
    let ran = project.asterisk(&args.split(' ').collect::<Vec<_>>());
    insta::assert_snapshot!(name, format!("$ asterisk {args}\n{}", ran.text()));
    ran
}

/// `rule file:line:column` of each finding.
fn lines(ran: &Ran) -> Vec<String> {
    let json = ran.json();
    assert_eq!(json["schema_version"], 1);
    let line = |one: &Value| {
        format!("{} {}:{}:{}", one["rule"].as_str().unwrap(), one["file"].as_str().unwrap(), one["line"], one["column"])
    };
    json["findings"].as_array().unwrap().iter().map(line).collect()
}

#[test]
fn the_bundled_files_are_clean() {
    let project = Project::new();
    let ran = project.asterisk(&["lint"]).exits(0);
    assert!(ran.stderr.starts_with("nothing found"), "{}", ran.text());
    // As files of a project they are as clean.
    let scripts = repository().join("scripts");
    assert_eq!(lines(&project.asterisk(&["lint", scripts.to_str().unwrap(), "--format", "json"]).exits(0)), [""; 0]);
    // And next to the cases of the examples.
    let launches = repository().join("examples/launches");
    let json = project.asterisk(&["lint", "--input", launches.to_str().unwrap(), "--format", "json"]).exits(0).json();
    for finding in json["findings"].as_array().unwrap() {
        assert_eq!(finding["severity"], "note", "{finding}");
    }
}

#[test]
fn findings_are_printed_as_text_json_and_sarif() {
    let project = door(RULE);
    shows(&project, "pretty", "lint heuristics pipelines").exits(0);
    shows(&project, "json", "lint --format json").exits(0);
    let broken = RULE.replace("vars.sure", "vars.shure").replace("artifact.open == true", "artifact.confidence < 0.1");
    project.file("heuristics/rules/door.rhai", &broken);
    shows(&project, "broken", "lint").exits(1);
    shows(&project, "github", "lint --format github").exits(1);
    shows(&project, "junit", "lint heuristics --format junit").exits(1);
    let sarif = project.asterisk(&["lint", "--format", "sarif"]).exits(1).json();
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!((sarif["version"].as_str(), rules.len() >= 40), (Some("2.1.0"), true));
    let results = run["results"].as_array().unwrap();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(["heuristics/rules/door.rhai", "pipelines/door.yaml"].contains(&uri), "{uri}");
        assert!(result["partialFingerprints"]["asteriskLint/v1"].as_str().unwrap().len() == 64);
    }
    assert!(!results.is_empty());
}

#[test]
fn rules_are_listed_and_explained() {
    let project = Project::new();
    let list = project.asterisk(&["lint", "--list", "--format", "json"]).ok().json();
    let rules = list["rules"].as_array().unwrap();
    assert!(
        rules.len() >= 40
            && rules.iter().all(|rule| rule["id"].is_string() && rule["severity"].is_string() && rule["summary"].is_string())
    );
    for rule in rules {
        let text = project.asterisk(&["lint", "--explain", rule["id"].as_str().unwrap()]).ok().stdout;
        assert!(text.contains("\nBad:\n") && text.contains("\nGood:\n"), "{text}");
    }
    shows(&project, "list", "lint --list").ok();
    shows(&project, "explain", "lint --explain robustness/overlong-function").ok();
    shows(&project, "explain-slip", "lint --explain robustness/overlong-fuction").exits(2);
}

#[test]
fn an_older_store_does_not_prevent_linting() {
    let project = door(RULE);
    project.asterisk(&["run"]).ok();
    let store = rusqlite::Connection::open(project.root().join(".asterisk/asterisk.db")).unwrap();
    store.pragma_update(None, "user_version", 0).unwrap();
    drop(store);
    let linted = project.asterisk(&["lint"]).exits(0);
    assert!(linted.stderr.contains("older format 0") && linted.stderr.contains("checked against its cases"), "{}", linted.text());
}

#[test]
fn link_errors_do_not_hide_findings() {
    let project = door(RULE);
    project.file("heuristics/rules/broken.rhai", "fn f( {");
    project.file("heuristics/lib/mine.rhai", "fn g(x) { x.len_of(nobody) }");
    project.file("heuristics/lib/user.rhai", "import \"lib/mine\" as mine;\nfn h(x) { let left = 1; mine::g(x) }");
    project.file("pipelines/other.yaml", "pipeline: other\nnodes: []\n");
    project.file(
        "pipelines/prose.yaml",
        PIPELINE.replace("door\n", "prose\n").replace("rule: \"rules/door.rhai#sure\"", "condition: \"the door looks open\""),
    );
    let found = lines(&project.asterisk(&["lint", "--format", "json"]).exits(1));
    for want in [
        "correctness/syntax heuristics/rules/broken.rhai:1:7",
        "correctness/unknown-function heuristics/lib/mine.rhai:1:20",
        "robustness/unused-variable heuristics/lib/user.rhai:2:15",
        "correctness/prose-condition pipelines/prose.yaml:10:49",
        "robustness/bool-comparison heuristics/rules/door.rhai:3:41",
    ] {
        assert!(found.iter().any(|line| line == want), "{want}\n{found:#?}");
    }
    assert!(found.iter().any(|line| line.starts_with("correctness/pipeline-form pipelines/other.yaml")), "{found:#?}");
    let mut sorted = found.clone();
    sorted.sort_by_key(|line| line.split(' ').nth(1).unwrap().split(':').next().unwrap().to_owned());
    assert_eq!(found, sorted);
}

#[test]
fn an_allow_needs_a_reason_and_something_to_allow() {
    let allowed = |comment: &str| RULE.replace("    artifact", &format!("    {comment}\n    artifact"));
    let rules = |text: &str| {
        let ran = door(text).asterisk(&["lint", "heuristics", "--format", "json"]);
        lines(&ran).iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(rules(&allowed("// lint: allow(robustness/bool-comparison) it reads better")), [""; 0]);
    assert_eq!(rules(&RULE.replace("true\n", "true // lint: allow(robustness/bool-comparison) so\n")), [""; 0]);
    assert_eq!(
        rules(&allowed("// lint: allow(robustness/bool-comparison)")),
        ["allows/without-reason", "robustness/bool-comparison"]
    );
    assert_eq!(
        rules(&allowed("// lint: allow(robustness/bool-comparsion) so")),
        ["allows/unknown-rule", "robustness/bool-comparison"]
    );
    assert_eq!(rules(&allowed("// lint: allow(routing/no-exit) so").replace(" == true", "")), ["allows/unused"]);
    let text = RULE.replace("artifact.open == true", "artifact.label == \"// lint: allow(routing/no-exit) x\"");
    assert_eq!(rules(&text), [""; 0], "a string is not a comment");
    for spoken in ["// Write `// lint: allow(id) why`.", "/// lint: allow(id) why"] {
        assert_eq!(rules(&format!("{spoken}\n{}", RULE.replace(" == true", ""))), [""; 0], "{spoken}");
    }
    let slip = allowed("// lint: allow(correctness/unknown-var) no").replace("vars.sure", "vars.shure");
    let found = rules(&slip);
    assert!(found.contains(&"correctness/unknown-var".to_owned()), "what does not link cannot be allowed: {found:?}");
}

#[test]
fn levels_and_options_are_set_in_the_project_file() {
    let project = door(RULE);
    let with = |lint: &str| {
        project.file("asterisk.yaml", format!("pipelines: pipelines\nscripts: heuristics\nlint:\n{lint}\n"));
        project.asterisk(&["lint", "--format", "json"])
    };
    assert_eq!(with("  levels: { robustness/bool-comparison: error }").exits(1).json()["findings"][0]["severity"], "error");
    assert_eq!(lines(&with("  levels: { robustness: off }").exits(0)), [""; 0]);
    let long = with(
        "  options: { robustness/overlong-function: { max_lines: 2 } }\n  levels: { robustness/overlong-function: warning }",
    )
    .exits(1);
    assert!(lines(&long).iter().any(|line| line.starts_with("robustness/overlong-function heuristics/rules/door.rhai")));
    with("  levels: { robustnes: off }");
    shows(&project, "slip-in-levels", "lint").exits(3);
}

#[test]
fn a_baseline_survives_moved_lines() {
    let project = door(RULE);
    project.asterisk(&["lint", "--baseline", "known.json"]).exits(2);
    project.asterisk(&["lint", "--baseline", "known.json", "--write-baseline"]).exits(0);
    let known = |text: &str| {
        project.file("heuristics/rules/door.rhai", text);
        lines(&project.asterisk(&["lint", "--baseline", "known.json", "--format", "json"]))
    };
    assert_eq!(known(&format!("// A line more.\n\n{RULE}")), [""; 0]);
    let twice = format!("{RULE}\n/// Not.\nfn shut(artifact, state, vars) {{\n    artifact.open == false\n}}\n");
    let pipeline =
        PIPELINE.replace("  - { id: D2", "  - { id: D3, from: look, to: ask, rule: \"rules/door.rhai#shut\" }\n  - { id: D2");
    project.file("pipelines/door.yaml", pipeline);
    assert_eq!(known(&twice), ["robustness/bool-comparison heuristics/rules/door.rhai:8:5"]);
    let ran = project.asterisk(&["lint", "--baseline", "asterisk.yaml"]).exits(2);
    assert!(ran.stderr.contains("is not a baseline"), "{}", ran.text());
}

#[test]
fn fixes_are_made_only_where_version_control_has_the_text() {
    let text = RULE.replace("    artifact", "    // lint: allow(routing/no-exit) once\n    artifact");
    let project = door(&text);
    shows(&project, "fix-refused", "lint --fix").exits(2);
    assert_eq!(project.read("heuristics/rules/door.rhai"), text);
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(project.root()).args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]).args(args);
        assert!(command.output().unwrap().status.success(), "{args:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    shows(&project, "fix", "lint --fix").exits(0);
    assert_eq!(project.read("heuristics/rules/door.rhai"), RULE.replace(" == true", ""));
    project.file("heuristics/rules/door.rhai", RULE);
    project.asterisk(&["lint", "--fix"]).exits(2);
    project.asterisk(&["lint", "--fix", "--force"]).exits(0);
    assert_eq!(project.read("heuristics/rules/door.rhai"), RULE.replace(" == true", ""));
}

#[test]
fn paths_limit_the_findings_shown() {
    let project = door(RULE);
    project.file("more/rules/mine.rhai", "/// x\nfn mine(a) { let left = 1; a }");
    project.file("more/README.md", "no template");
    assert_eq!(
        lines(&project.asterisk(&["lint", "more", "--format", "json"]).exits(1)),
        ["robustness/unused-variable more/rules/mine.rhai:2:18"]
    );
    assert_eq!(lines(&project.asterisk(&["lint", "pipelines/door.yaml", "--format", "json"]).exits(0)), [""; 0]);
    project.file("empty/README", "");
    shows(&project, "nothing", "lint empty").exits(2);
    project.asterisk(&["lint", "empty", "--allow-empty"]).exits(0);
    project.asterisk(&["lint", "nowhere"]).exits(2);
    assert_eq!(
        lines(&project.asterisk(&["lint", "scripts/rules/rca.rhai", "--format", "json"]).exits(0)),
        [""; 0],
        "a bundled one"
    );
}

#[test]
fn cases_of_a_launch_reveal_keys_that_match_only_one() {
    let project = door(
        "/// Sure.\nfn sure(artifact, state, vars) { artifact.confidence >= vars.sure && artifact.label.contains(\"ledger refused\") }\n",
    );
    let case = |id: &str, name: &str, error: &str| {
        format!(r#"{{ "id": "{id}", "name": "{name}", "status": "FAILED", "error_message": "{error}" }}"#)
    };
    let cases = [
        case("a", "pays from ledger", "the ledger refused"),
        case("b", "logs in", "timed out"),
        case("c", "searches", "timed out again"),
    ]
    .join(", ");
    project.file("launch.json", format!(r#"{{ "run_id": "9", "name": "l", "failure_list": [{cases}] }}"#));
    let found = lines(&project.asterisk(&["lint", "--input", "launch.json", "--format", "json"]).exits(0));
    assert_eq!(found, ["overfit/one-case-literal heuristics/rules/door.rhai:2:94"]);
    assert_eq!(lines(&project.asterisk(&["lint", "--format", "json"]).exits(0)), [""; 0]);
}

#[test]
fn constants_and_arguments_that_are_patterns_compile() {
    let rule = "\
const SURE = `(?i)\\bopen\\b(?!ed)`;
const NOTE = \"(open\";

/// Opens with enough confidence.
fn sure(artifact, state, vars) {
    artifact.label != global::NOTE && says(artifact.label, `\\bopen(`) && regex_is_match(artifact.label, global::SURE)
}

private fn says(text, pattern) { regex_is_match(text, pattern) }
";
    let found = door(rule).asterisk(&["lint", "--format", "json"]);
    let found: Vec<String> = lines(&found).into_iter().filter(|line| line.starts_with("correctness/bad-pattern")).collect();
    assert_eq!(
        found,
        ["correctness/bad-pattern heuristics/rules/door.rhai:1:27", "correctness/bad-pattern heuristics/rules/door.rhai:6:67"]
    );
}
