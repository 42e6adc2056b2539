//! Every reader of external bytes is in the table.

use crate::harness::repository;
use crate::targets;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What a file that reads bytes calls.
const READS: &[&str] = &[
    "serde_json::from_str",
    "serde_json::from_slice",
    "serde_json::from_reader",
    "Deserializer::from_",
    "quick_xml",
    "serde_saphyr",
    "minijinja::Environment",
    "from_utf8",
    "regex_syntax",
    "compile_expression",
    "compile_to_ast",
];

/// Files that read what this program wrote or has read before, and why nothing else can come there.
const OWN: &[(&str, &str)] = &[
    ("agent/stage_files.rs", "only whether bytes of an artifact are UTF-8"),
    ("agent/workdir/confine/mod.rs", "bounds that this program wrote on its own command line"),
    ("agent/workdir/mod.rs", "only whether what a tool printed is UTF-8"),
    ("agent/workdir/paths.rs", "only whether a file of the working directory is UTF-8"),
    ("workspace/isolated.rs", "names of files as git reports them"),
    ("audit/log.rs", "lines whose place in the chain is compared; anything but an entry breaks it"),
    ("cli/policy_args.rs", "a value on the command line"),
    ("cli/tour.rs", "what a command of this program printed"),
    ("decisions/replay/gates.rs", "recorded contents, canonical when they were stored"),
    ("decisions/root.rs", "recorded contents, canonical when they were stored"),
    ("script/api/encoding.rs", "only whether decoded bytes are UTF-8"),
    ("store/answers.rs", "columns of the store"),
    ("store/megrams.rs", "columns of the store"),
    ("agent/family.rs", "environments of processes, only whether a mark is in them"),
    ("agent/file.rs", "shows bytes that `agent/wrapper.rs` has read"),
    ("cli/completions.rs", "what clap wrote"),
    ("cli/junit.rs", "writes XML, reads none"),
    ("cli/man.rs", "what clap wrote"),
    ("form/schema.rs", "examples that forms of this program have"),
    ("cli/push.rs", "a draft that was written a moment before"),
    ("cli/run_observe.rs", "a name on the command line"),
    ("files/overlay.rs", "only whether it is UTF-8; the text goes to the reader of its kind"),
    ("project/bundle.rs", "bundled texts that a version of this program stored"),
    ("project/manifest.rs", "addresses that this program stored"),
    ("report/cases.rs", "a file without a name that this process wrote"),
    ("script/view/record.rs", "bytes of a text"),
    ("repl/signatures.rs", "a quoted line that was typed; anything but a string is used verbatim"),
    ("session/briefing.rs", "recorded contents, canonical when they were stored"),
    ("session/executor.rs", "recorded contents, canonical when they were stored"),
    ("session/dispatch.rs", "numbers that this program keeps in the run's directory; what is none is an error of the file"),
    ("session/projection.rs", "recorded contents, canonical when they were stored"),
    ("session/run_settings.rs", "settings that this program stored"),
    ("store/packing.rs", "columns of the store, used only if they are what their address or sum says"),
    ("store/addresses.rs", "digits of an address, between brackets that were found"),
    ("store/clean.rs", "columns of the store"),
    ("store/content.rs", "events whose sum was compared"),
    ("store/recorded.rs", "rows of the store, an error if they are not text"),
    ("store/findings.rs", "columns of the store"),
    ("store/knowledge.rs", "columns of the store"),
    ("store/needs/cluster.rs", "recorded contents, canonical when they were stored"),
    ("store/runs.rs", "columns of the store"),
    ("ui/clean.rs", "what is about to be printed"),
    ("walk/event_outline.rs", "events whose sum was compared"),
    ("decisions/recorded.rs", "recorded contents, canonical when they were stored"),
    ("decisions/verdict.rs", "recorded contents, canonical when they were stored"),
    ("decisions/verdict_coverage.rs", "recorded contents, canonical when they were stored"),
    ("decisions/replay/verdicts.rs", "recorded contents, canonical when they were stored"),
    ("decisions/explain.rs", "recorded contents, canonical when they were stored"),
    ("decisions/replay/effects.rs", "recorded contents, canonical when they were stored"),
    ("decisions/replay/pass.rs", "recorded contents, canonical when they were stored"),
    ("decisions/replay/sweep/chart.rs", "a picture that was drawn a moment before"),
    ("decisions/save.rs", "recorded contents, canonical when they were stored"),
];

#[test]
fn every_reader_is_a_target() {
    let mut found: BTreeMap<String, &str> = BTreeMap::new();
    collect(&repository().join("src"), &mut found);
    let covered: BTreeSet<&str> = targets::all().iter().flat_map(|target| target.covers).copied().collect();
    let own: BTreeSet<&str> = OWN.iter().map(|(path, _)| *path).collect();
    let missing: Vec<String> = found
        .iter()
        .filter(|(path, _)| !covered.contains(path.as_str()) && !own.contains(path.as_str()))
        .map(|(path, call)| {
            format!("src/{path} calls `{call}`: name a target that reaches it, or say in OWN why nothing from outside does")
        })
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    let gone: Vec<&str> = covered.union(&own).filter(|path| !repository().join("src").join(path).exists()).copied().collect();
    assert!(gone.is_empty(), "no such files: {gone:?}");
    let idle: Vec<&str> = own.iter().filter(|path| !found.contains_key(**path)).copied().collect();
    assert!(idle.is_empty(), "these read nothing any more: {idle:?}");
}

/// The files below a directory that read bytes in what comes before their tests.
fn collect(dir: &Path, found: &mut BTreeMap<String, &'static str>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != "tests" {
                collect(&path, found);
            }
        } else if name.ends_with(".rs") && !["tests.rs", "testing.rs", "fixture.rs", "equivalence.rs"].contains(&name.as_str()) {
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
            let calls = code.lines().filter(|line| !line.trim_start().starts_with("//"));
            let call = calls.flat_map(|line| READS.iter().filter(move |call| line.contains(**call))).next();
            if let Some(call) = call {
                found.insert(path.strip_prefix(repository().join("src")).unwrap().to_str().unwrap().to_owned(), call);
            }
        }
    }
}
