//! `asterisk new`: its files lint clean, pass their tests, and overwrite nothing.

use crate::harness::Project;

fn project() -> Project {
    let project = Project::with(&[("asterisk.yaml", "scripts: scripts\npipelines: pipelines\n")]);
    for area in ["scripts", "pipelines"] {
        std::fs::create_dir(project.root().join(area)).unwrap();
    }
    project
}

#[test]
fn every_skeleton_lints_clean_and_passes_its_tests() {
    for (kind, name, tests) in [
        ("rule", "looks_flaky", 2),
        ("responder", "look", 2),
        ("effect", "remember", 2),
        ("mask", "lookout", 2),
        ("scheduler", "nearest", 1),
        ("domain", "shop", 0),
        ("pipeline", "nightly", 0),
        ("test", "recalls", 2),
        ("judge-test", "is_known", 1),
        ("root", "device", 2),
        ("owner-rule", "driver", 0),
    ] {
        let project = project();
        let made = project.asterisk(&["new", kind, name, "--format", "json"]).ok().json();
        for written in made["written"].as_array().unwrap() {
            let text = project.read(written.as_str().unwrap());
            assert!(!text.contains("NAME") || kind == "pipeline", "{kind}: {text}");
        }
        let lint = project.asterisk(&["lint"]);
        assert_eq!(lint.code, Some(0), "{kind}: {}", lint.text());
        assert!(!lint.stdout.contains(name), "{kind}: {}", lint.text());
        if tests > 0 {
            let path = made["written"].as_array().unwrap().last().unwrap().as_str().unwrap();
            let ran = project.asterisk(&["test", path.strip_prefix("scripts/").unwrap(), "--format", "json"]);
            assert_eq!(ran.code, Some(0), "{kind}: {}", ran.text());
            assert_eq!(ran.json()["passed"], tests, "{kind}: {}", ran.text());
        }
    }
}

#[test]
fn a_signature_is_used_once_a_domain_includes_it() {
    let project = project();
    project.asterisk(&["new", "signature", "probe"]).exits(0);
    let alone = project.asterisk(&["lint"]).exits(1);
    assert!(alone.stdout.contains("no domain includes the signatures of `data/signatures/probe.yaml`"), "{}", alone.text());
    project.file("scripts/data/domains/lab.yaml", "extends: generic\ndescription: a lab\ninclude: [probe]\n");
    project.asterisk(&["lint"]).exits(0);
}

#[test]
fn a_pipeline_from_another_one_extends_it() {
    let project = project();
    project.asterisk(&["new", "pipeline", "nightly", "--from", "rca"]).exits(0);
    let text = project.read("pipelines/nightly.yaml");
    assert!(text.contains("extends: rca\npipeline: nightly\n"), "{text}");
    project.file(
        "pipelines/nightly.yaml",
        format!("{text}edges:\n  - {{ id: X1, from: triage, to: review, condition: \"skip_investigation\", after: H4 }}\n"),
    );
    project.asterisk(&["run", "nightly", "--files", "never"]).exits(0);
    project.file("pipelines/nightly.yaml", format!("{text}edges:\n  - {{ id: H99, remove: true }}\n"));
    let refused = project.asterisk(&["run", "nightly"]);
    assert!(
        refused.stderr.contains("the extended file has no entry `H99`") && refused.stderr.contains("nightly.yaml:"),
        "{}",
        refused.text()
    );
}

#[test]
fn a_name_reserved_for_tests_is_rejected() {
    let refused = Project::new().asterisk(&["new", "verdict-rule", "thrown_in_test"]).exits(2);
    assert!(refused.stderr.contains("does not end with `_test`"), "{}", refused.text());
}

#[test]
fn a_skeleton_of_a_pipeline_walks_with_that_of_its_responders() {
    let project = project();
    project.asterisk(&["new", "pipeline", "nightly"]).exits(0);
    project.asterisk(&["new", "responder", "look"]).exits(0);
    project.file("scripts/agents/tell.rhai", "/// Tells.\nfn tell(params, vars) { #{ text: \"done\" } }\n");
    project.asterisk(&["run", "nightly"]).exits(0);
    project.asterisk(&["new", "domain", "shop"]).exits(0);
    project.asterisk(&["run", "--domain", "shop", "--files", "never"]).exits(0);
}

#[test]
fn it_lists_the_files_written_with_next_steps_and_overwrites_nothing() {
    let project = Project::new();
    let mut output = String::new();
    for args in [
        &["new", "rule", "looks_flaky"][..],
        &["new", "rule", "looks_flaky"],
        &["new", "domain", "my-shop"],
        &["new", "rule", "Looks-Flaky"],
        &["new", "rule", "../x"],
        &["new", "mask", "m"],
        &["new", "rul", "m"],
    ] {
        output.extend(["$ ", &args.join(" "), "\n", &project.asterisk(args).text(), "\n"]);
    }
    project.file("scripts/rules/looks_flaky.rhai", "mine");
    output += &project.asterisk(&["new", "rule", "looks_flaky"]).exits(2).text();
    assert_eq!(project.read("scripts/rules/looks_flaky.rhai"), "mine");
    insta::assert_snapshot!(output);
}
