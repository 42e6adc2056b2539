//! Linting a thousand rule files with every rule, against only parsing them.

mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_diag::Source;
use asterisk_files::Area;
use asterisk_lint::{Config, LintInput, lint};
use asterisk_project::LinkSettings;
use asterisk_script::{Library, LibraryInputs, ScriptLimits, build_engine};
use asterisk_session::ProjectText;
use harness::{Table, measure};
use std::fmt::Write as _;
use std::process::ExitCode;

const FILES: usize = 1_000;
/// The number of files per pipeline: a YAML file may contain at most 10 000 values.
const EACH: usize = 250;

/// A typical file with a rule and a helper.
fn script(at: usize) -> String {
    format!(
        "//! Rule {at}.\n\n/// Fires on a confident match that was not seen too often.\nfn rule_{at}(artifact, state, vars) {{\n    \
         if !artifact.match || artifact.confidence < vars.enough {{ return false; }}\n    \
         let taken = state.loops.again_{at};\n    if taken >= vars.most {{ return false; }}\n    \
         let names = artifact.places.filter(|place| place.weight > vars.enough).map(|place| place.path);\n    \
         #{{ because: `sure: ${{artifact.confidence}}, ${{plain(names)}}`, context: #{{ taken: taken + 1 }} }}\n}}\n\n\
         private fn plain(names) {{\n    if names.is_empty() {{ \"nowhere\" }} else {{ names.join(\", \") }}\n}}\n"
    )
}

/// A pipeline with a node and an edge for each file.
fn pipeline(files: std::ops::Range<usize>) -> String {
    let (first, end) = (files.start, files.end);
    let mut text = format!("pipeline: wide-{first}\ndescription: many rules\nvars: {{ enough: 0.8, most: 3 }}\nnodes:\n");
    for at in files.clone() {
        let next = if at + 1 < end { format!("n{}", at + 1) } else { "_done".to_owned() };
        let schema = "{ match: bool, confidence: { type: number, min: 0, max: 1 }, places?: [{ path: string, weight: number }] }";
        let _ = writeln!(text, "  - {{ name: n{at}, schema: {schema}, fallback: {next} }}");
    }
    text.push_str("edges:\n");
    for at in files {
        let rule = format!("rules/r{at}.rhai#rule_{at}");
        let _ =
            writeln!(text, "  - {{ id: E{at}, from: n{at}, to: n{first}, loop: true, counter: again_{at}, rule: \"{rule}\" }}");
    }
    let _ = writeln!(text, "start: n{first}\ndone: _done");
    text
}

fn main() -> ExitCode {
    let sources: Vec<Source> = (0..FILES).map(|at| Source::new(format!("rules/r{at}.rhai"), script(at))).collect();
    let mut texts: Vec<ProjectText> = sources.iter().map(|source| ProjectText::embedded(Area::Scripts, source.clone())).collect();
    for first in (0..FILES).step_by(EACH) {
        let name = format!("wide-{first}.yaml");
        texts.push(ProjectText::embedded(Area::Pipelines, Source::new(name, pipeline(first..first + EACH))));
    }
    let (settings, config) = (LinkSettings::default(), Config::default());
    let input = LintInput { texts: &texts, settings: &settings, config: &config, cases: &[] };
    let findings = lint(input).findings;
    assert!(findings.is_empty(), "{:?}", findings.first());
    let engine = build_engine(&ScriptLimits::default(), [], asterisk_script::api::register);
    let inputs = || LibraryInputs { scripts: sources.clone(), ..LibraryInputs::default() };
    let figures = measure(
        7,
        1,
        &mut [
            ("parse", &mut || sources.iter().for_each(|source| drop(std::hint::black_box(engine.compile(source.text()))))),
            ("link", &mut || drop(std::hint::black_box(Library::link(inputs(), None)))),
            ("lint", &mut || drop(std::hint::black_box(lint(input)))),
        ],
    );
    let ms: Vec<f64> = figures.iter().map(|figure| figure / 1e6).collect();
    let mut table = Table::new("lint: 1 000 rule files and 4 pipelines of 250 edges", "ms");
    table.plain("floor: the files parsed, and nothing else", ms[0]);
    table.against("the files linked", ms[1], ms[0]);
    table.against("linted", ms[2], ms[0]);
    table.at_most("linted, all in all", ms[2], 1000.0);
    table.finish()
}
