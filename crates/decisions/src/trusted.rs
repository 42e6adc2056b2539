//! A project whose bundled texts are taken as checked is the same as one linked from all its texts.
#![allow(clippy::unwrap_used)]

use super::testing::TraceFixture;
use asterisk_files::Area;
use asterisk_pipeline::NodeIx;
use asterisk_project::{AnswererNames, CurrentProject, LinkScope, Project};
use asterisk_script::probe::Probes;
use asterisk_session::{RunInputs, RunSpec};
use asterisk_walk::Plan;
use std::sync::atomic::AtomicBool;

/// What a plan decides by: the addresses of everything that it refers to.
fn addresses(plan: &Plan) -> Vec<String> {
    let mut all = vec![format!("data {} taxonomy {}", plan.data.hash(), plan.taxonomy.hash())];
    all.push(format!("domain {:?} evidence {} vars {}", plan.domain, plan.evidence.address(), plan.vars_content.hash()));
    for (edge, rule) in plan.rules.iter().enumerate() {
        all.extend(rule.as_ref().map(|rule| format!("rule {edge} {} {} {:?}", rule.function.key(), rule.script, *rule.reads)));
    }
    for (at, node) in plan.nodes.iter().enumerate() {
        let functions = [&node.responder, &node.effect].map(|function| function.as_ref().map(|one| (one.key(), one.hash())));
        let masks: Vec<_> = node.masks.iter().map(|mask| (&mask.path, &mask.nodes)).collect();
        all.push(format!("node {} {functions:?} {masks:?} {:?}", node.name, plan.node(NodeIx(at)).needs));
        all.extend(node.subpipeline.iter().flat_map(|part| addresses(part)));
    }
    all.extend(plan.verdict.as_ref().map(|verdict| format!("verdict {} {}", verdict.functions, verdict.address)));
    all.extend(plan.roots.as_ref().map(|roots| format!("roots {}", roots.address)));
    all
}

fn both(fixture: &TraceFixture, pipeline: &str) -> [Project; 2] {
    let session = &fixture.session;
    [
        session.project_with_probes(Some(pipeline), LinkScope::Checked, Probes::None).unwrap(),
        session.project(Some(pipeline), AnswererNames::Others).unwrap(),
    ]
}

#[test]
fn every_bundled_pipeline_links_to_the_same() {
    let fixture = TraceFixture::with(&[]);
    for listed in fixture.session.pipelines().unwrap() {
        let [checked, trusted] = both(&fixture, &listed.source_path());
        assert_eq!(addresses(&checked.plan), addresses(&trusted.plan), "{}", listed.stem);
        let warnings = [&checked, &trusted].map(|project| project.warnings.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(warnings[0], warnings[1], "{}", listed.stem);
        assert_eq!(checked.manifest().0, trusted.manifest().0);
    }
}

#[test]
fn the_outline_of_every_bundled_script_is_what_the_parser_says() {
    let fixture = TraceFixture::with(&[]);
    let checked = fixture.session.project_with_probes(None, LinkScope::Checked, Probes::None).unwrap();
    let trusted = fixture.session.whole_project(None, AnswererNames::Others).unwrap();
    let mut files = 0;
    for (one, other) in checked.library.files().zip(trusted.library.files()) {
        assert_eq!((one.path(), one.deep_hash(), one.hash()), (other.path(), other.deep_hash(), other.hash()));
        assert_eq!(one.imports().collect::<Vec<_>>(), other.imports().collect::<Vec<_>>(), "{}", one.path());
        assert!(one.signatures().eq(other.signatures()), "{}", one.path());
        files += 1;
    }
    assert_eq!(files, Area::Scripts.embedded().iter().filter(|file| file.name().ends_with(".rhai")).count());
    assert_eq!(trusted.library.files().count(), files);
}

#[test]
fn runs_come_to_the_same() {
    let results = both(&TraceFixture::with(&[]), "rca").map(|project| {
        let fixture = TraceFixture::with(&[]);
        let spec = RunSpec { dry_run: true, ..RunSpec::of(RunInputs::Example) };
        let done = fixture.session.run_by(&CurrentProject::new(project), &spec, &(), &AtomicBool::new(false)).unwrap();
        serde_json::to_value(done.summary()).unwrap()
    });
    assert_eq!(results[0], results[1]);
    assert!(results[0]["cases"].as_array().is_some_and(|cases| cases.len() > 10));
}

#[test]
fn a_script_that_imports_an_edited_one_is_checked_again() {
    let edited = Area::Scripts.embedded_file("lib/evidence.rhai").unwrap().text().replacen("fn ", "fn not_", 1);
    let fixture = TraceFixture::with(&[("scripts/lib/evidence.rhai", &edited)]);
    let problems = |scope: Result<Project, _>| match scope {
        Err(asterisk_session::SessionError::Texts(found)) => {
            let mut lines: Vec<String> = found.iter().map(ToString::to_string).collect();
            lines.sort();
            lines
        }
        other => panic!("{other:?}"),
    };
    let checked = problems(fixture.session.project_with_probes(None, LinkScope::Checked, Probes::None));
    let trusted = problems(fixture.session.whole_project(None, AnswererNames::Others));
    assert_eq!(checked, trusted);
    assert!(!trusted.is_empty());
}
