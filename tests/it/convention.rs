//! A project whose `scripts/`, `pipelines/` and `templates/` are not configured: every command uses them.

use crate::harness::Project;

const PIPELINE: &str = "\
pipeline: door
description: whether to open
vars: { sure: 0.8 }
nodes:
  - name: look
    prompt: own.md
    schema: { confidence: number }
edges:
  - { id: D1, from: look, to: _done, rule: \"rules/door.rhai#sure\" }
  - { id: D2, from: look, to: _done }
start: look
done: _done
";
const RULE: &str =
    "/// Opens with enough confidence.\nfn sure(artifact, state, vars) {\n    artifact.confidence >= vars.sure\n}\n";
const TEST: &str = "fn test_sure() {\n    assert(verdict(\"rules/door.rhai#sure\", \
                    #{ artifact: #{ confidence: 0.9 }, vars: #{ sure: 0.8 } }).fired);\n}\n";

/// The project, with or without a settings file; in the latter case the working directory alone makes it one.
fn door(settings: bool) -> Project {
    let project = Project::with(&[
        ("pipelines/door.yaml", PIPELINE),
        ("scripts/rules/door.rhai", RULE),
        ("scripts/rules/door_test.rhai", TEST),
        ("scripts/agents/look.rhai", "/// Looks.\nfn look(params, vars) { #{ confidence: 0.5 } }\n"),
        ("templates/own.md", "# {{ failure.name | code }} of mine\n"),
        ("artifact.json", "{ \"confidence\": 0.9 }"),
    ]);
    if !settings {
        std::fs::remove_file(project.root().join("asterisk.yaml")).unwrap();
    }
    project
}

#[test]
fn every_command_uses_the_conventional_directories() {
    for settings in [true, false] {
        let project = door(settings);
        let run = project.asterisk(&["run", "door", "--format", "json"]).exits(0);
        assert!(run.stdout.contains("D2"), "{}", run.text());
        let route = project.asterisk(&["eval", "route", "door", "--node", "look", "--artifact", "artifact.json"]).ok();
        assert!(route.stdout.starts_with("look -> _done by D1"), "{}", route.text());
        let repl = project.asterisk_reading(&["repl", "door"], "vars.sure\n").exits(0);
        assert!(repl.stdout.contains("0.8"), "{}", repl.text());
        let prompt = project.asterisk(&["explain", "--case", "880101", "--prompt", "--step", "look"]);
        assert!(prompt.text().contains("of mine"), "{}", prompt.text());
        let config = project.asterisk(&["config", "--origin"]).exits(0);
        let by_name = config.stdout.lines().filter(|line| line.contains("[DIR]/") && line.ends_with("by its name")).count();
        assert_eq!(by_name, 3, "{}", config.text());
        let doctor = project.asterisk(&["doctor"]);
        assert!(doctor.stdout.contains("in [DIR]/scripts") && doctor.stdout.contains("door"), "{}", doctor.text());
    }
}

#[test]
fn lint_and_test_read_the_conventional_directories() {
    for settings in [true, false] {
        let project = door(settings);
        let clean = project.asterisk(&["lint"]).exits(0);
        assert!(clean.stderr.contains("5 in pipelines, scripts, templates"), "{}", clean.text());
        let tests = project.asterisk(&["test", "--filter", "door_test"]).exits(0);
        assert!(tests.stderr.contains("tests: 1 file in scripts"), "{}", tests.text());
        project.file("scripts/rules/door.rhai", RULE.replace("confidence", "confidense"));
        project.file("templates/own.md", "{{ failur.name }}\n");
        let broken = project.asterisk(&["lint"]).exits(1);
        assert!(broken.stdout.contains("confidense") && broken.stdout.contains("failur"), "{}", broken.text());
        assert!(project.asterisk(&["test"]).code != Some(0));
    }
    let bundled = Project::new();
    assert!(bundled.asterisk(&["lint"]).exits(0).stderr.contains("all bundled"));
}

#[test]
fn settings_override_the_convention_and_directories_of_other_tools_are_ignored() {
    let project = door(true);
    project.file("asterisk.yaml", "scripts: heuristics\n");
    project.file("heuristics/rules/door.rhai", RULE.replace(">=", "<"));
    project.file("heuristics/agents/look.rhai", project.read("scripts/agents/look.rhai"));
    let route = project.asterisk(&["eval", "route", "door", "--node", "look", "--artifact", "artifact.json"]).ok();
    assert!(route.stdout.starts_with("look -> _done by D2"), "{}", route.text());
    let other = Project::with(&[("scripts/deploy.sh", "exit 1\n"), ("scripts/ci.yaml", "steps: [\n")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", other.root().join("scripts/link.rhai")).unwrap();
    assert!(other.asterisk(&["lint"]).exits(0).stderr.contains("all bundled"));
}

#[test]
fn every_domain_is_linted_whichever_is_in_use() {
    let project = Project::with(&[("scripts/data/domains/shop.yaml", "description: words of a shop\nextends: genric\n")]);
    let ran = project.asterisk(&["lint"]).exits(1);
    assert!(ran.stdout.contains("scripts/data/domains/shop.yaml:2") && ran.stdout.contains("`generic`"), "{}", ran.text());
}

#[test]
fn the_repository_itself_is_read_once() {
    let files = |dir: Option<&std::path::Path>| {
        let project = Project::new();
        let ran = project.call(&["lint", "--format", "junit"]).within(dir.unwrap_or(project.root())).ran();
        ran.stdout.lines().filter(|line| line.contains("<testcase")).count()
    };
    assert_eq!(files(Some(crate::harness::repository())), files(None));
}

#[test]
fn a_var_of_another_pipeline_or_project_is_not_a_mistake() {
    let project = door(true);
    project.file("asterisk.yaml", "vars: { sure: 0.9, recall_hit: 0.7 }\n");
    for pipeline in ["door", "rca"] {
        project.asterisk(&["run", pipeline, "--dry-run", "--input", "none"]).exits(0);
    }
    project.asterisk(&["run", "--set", "sure=0.9", "--dry-run", "--input", "none"]).exits(2);
    // The user's own file applies to other projects too.
    project.file("asterisk.yaml", "");
    project.file(".config/asterisk/config.yaml", "vars: { enough_of_it: 1 }\n");
    let ran = project.asterisk(&["run", "door", "--dry-run", "--input", "none"]).exits(0);
    assert!(!ran.stderr.contains("enough_of_it"), "{}", ran.text());
    project.file(".config/asterisk/config.yaml", "vars: { suree: 1 }\n");
    let ran = project.asterisk(&["run", "door", "--dry-run", "--input", "none"]).exits(0);
    assert!(ran.stderr.contains("config.yaml:1:") && ran.stderr.contains("did you mean `sure`?"), "{}", ran.text());
}

/// A declared type holds wherever a var is set, and the error says where that is.
#[test]
fn the_type_of_a_var_is_checked_wherever_it_is_set() {
    let project = door(true);
    let typed = |default: &str| format!("vars: {{ sure: {{ default: {default}, type: number, min: 0, max: 1 }} }}");
    let text = std::fs::read_to_string(project.root().join("pipelines/door.yaml")).unwrap();
    assert!(text.contains("vars: { sure: 0.8 }"), "{text}");
    project.file("pipelines/door.yaml", text.replace("vars: { sure: 0.8 }", &typed("0.8")));
    let run = ["run", "door", "--dry-run", "--input", "none"];
    let refused = |args: &[&str], place: &str| {
        let ran = project.asterisk(args).exits(2);
        let said = "the var `sure` is a number from 0 to 1, and cannot be set to 1.5";
        assert!(ran.stderr.contains(said) && ran.stderr.contains(place), "{}", ran.text());
    };
    project.asterisk(&[&run[..], &["--set", "sure=1"]].concat()).exits(0);
    refused(&[&run[..], &["--set", "sure=1.5"]].concat(), "the command line:1:12");
    project.file("asterisk.yaml", "# of the project\nvars: { sure: 1.5 }\n");
    refused(&run, "asterisk.yaml:2:15");
    project.file("asterisk.yaml", "");
    refused(
        &["eval", "route", "door", "--node", "look", "--artifact", "artifact.json", "--set", "sure=1.5"],
        "the command line:1:12",
    );
    // A pipeline that is walked as a node is given the vars of the walk around it.
    project.file("pipelines/around.yaml", "pipeline: around\nvars: { sure: 1.5 }\nnodes: [{ name: inner, pipeline: door }]\nedges: [{ id: E, from: inner, to: _done }]\nstart: inner\ndone: _done\n");
    refused(&["run", "around", "--dry-run", "--input", "none"], "around.yaml:2:15");
    // Values in the pipeline itself are checked with their location.
    project.file("pipelines/door.yaml", text.replace("vars: { sure: 0.8 }", &typed("1.5")));
    let ran = project.asterisk(&run);
    assert!(ran.stderr.contains("pipeline/var-default") && ran.stderr.contains("door.yaml:"), "{}", ran.text());
}
