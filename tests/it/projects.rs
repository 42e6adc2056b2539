//! Projects as teams write them: they lint clean, their tests pass next to the bundled ones, and they run.

use crate::harness::{Project, copy, fixture};

/// The projects, each with the arguments of a run.
const PROJECTS: [(&str, &[&str]); 3] = [
    ("firmware-lab", &["run", "--input", "launches/nightly.json"]),
    ("web-shop", &["run", "shop", "--input", "launches/nightly.json"]),
    ("data-pipeline", &["run", "nightly", "--input", "launches/nightly.json"]),
];

fn project(name: &str) -> Project {
    let project = Project::new();
    copy(&fixture(&format!("projects/{name}")), project.root());
    project
}

#[test]
fn the_linter_reports_no_false_positives() {
    for (name, _) in PROJECTS {
        let found = project(name).asterisk(&["lint", "--format", "json"]).ok().json();
        assert_eq!(found["findings"].as_array().map(Vec::len), Some(0), "{name}: {found:#}");
    }
}

#[test]
fn projects_run_with_their_own_rules() {
    for (name, run) in PROJECTS {
        let project = project(name);
        let ran = project.asterisk(&[run, &["--format", "json"]].concat()).ok().json();
        assert_eq!(ran["status"], "done", "{name}: {ran:#}");
        assert!(ran.get("failed_rules").is_none(), "{name}: {ran:#}");
    }
}

/// The bundled tests of routing and of verdicts, and the project's own.
#[test]
fn bundled_tests_do_not_depend_on_the_project() {
    for (name, _) in PROJECTS {
        let project = project(name);
        for file in [
            "agents/resolve_test.rhai",
            "agents/triage_test.rhai",
            "agents/verdict_test.rhai",
            "lib/gaps_test.rhai",
            "rules/rca_test.rhai",
        ] {
            let ran = project.asterisk(&["test", file]);
            assert_eq!(ran.code, Some(0), "{name}, {file}: {}", ran.text());
        }
    }
    let project = project("firmware-lab");
    for file in ["rules/lab_test.rhai", "verdicts/lab_test.rhai", "roots/lab_test.rhai", "rules/lab_triage_test.rhai"] {
        project.asterisk(&["test", file]).ok();
    }
}
