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
    ("crates/adapters/src/agent/stage_files.rs", "only whether bytes of an artifact are UTF-8"),
    ("crates/adapters/src/agent/workdir/confine/mod.rs", "bounds that this program wrote on its own command line"),
    ("crates/adapters/src/agent/workdir/mod.rs", "only whether what a tool printed is UTF-8"),
    ("crates/adapters/src/agent/workdir/paths.rs", "only whether a file of the working directory is UTF-8"),
    (
        "crates/adapters/src/workspace/code.rs",
        "files of a checkout, as text whatever they are; `code` has a property test of any text",
    ),
    ("crates/adapters/src/workspace/isolated.rs", "names of files as git reports them"),
    ("crates/adapters/src/audit/log.rs", "lines whose place in the chain is compared; anything but an entry breaks it"),
    ("src/cli/policy_args.rs", "a value on the command line"),
    ("src/cli/tour.rs", "what a command of this program printed"),
    (
        "crates/debugger/src/wire.rs",
        "messages of an editor; `wire` has a property test of any bytes, and `tests` one of any requests",
    ),
    ("crates/decisions/src/replay/gates.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/root.rs", "recorded contents, canonical when they were stored"),
    ("crates/script/src/api/encoding.rs", "only whether decoded bytes are UTF-8"),
    ("crates/store/src/answers.rs", "columns of the store"),
    ("crates/store/src/megrams.rs", "columns of the store"),
    ("crates/adapters/src/agent/family.rs", "environments of processes, only whether a mark is in them"),
    ("crates/adapters/src/agent/file.rs", "shows bytes that `agent/wrapper.rs` has read"),
    ("src/cli/completions.rs", "what clap wrote"),
    ("src/cli/junit.rs", "writes XML, reads none"),
    ("src/cli/man.rs", "what clap wrote"),
    ("crates/form/src/schema.rs", "examples that forms of this program have"),
    ("src/cli/push.rs", "a draft that was written a moment before"),
    ("src/cli/run_observe.rs", "a name on the command line"),
    ("crates/files/src/overlay.rs", "only whether it is UTF-8; the text goes to the reader of its kind"),
    ("crates/project/src/bundle.rs", "bundled texts that a version of this program stored"),
    ("crates/project/src/manifest.rs", "addresses that this program stored"),
    ("crates/report/src/cases.rs", "a file without a name that this process wrote"),
    ("crates/script/src/view/record.rs", "bytes of a text"),
    ("src/repl/signatures.rs", "a quoted line that was typed; anything but a string is used verbatim"),
    ("crates/session/src/input.rs", "baseline logs, of which only hashes of lines are compared"),
    ("crates/launch/src/job_log/pattern_index.rs", "patterns of the table of tools"),
    ("crates/session/src/briefing.rs", "recorded contents, canonical when they were stored"),
    ("crates/session/src/executor.rs", "recorded contents, canonical when they were stored"),
    (
        "crates/session/src/dispatch.rs",
        "numbers that this program keeps in the run's directory; what is none is an error of the file",
    ),
    ("crates/session/src/projection.rs", "recorded contents, canonical when they were stored"),
    ("crates/session/src/run_settings.rs", "settings that this program stored"),
    ("crates/store/src/packing.rs", "columns of the store, used only if they are what their address or sum says"),
    ("crates/store/src/addresses.rs", "digits of an address, between brackets that were found"),
    ("crates/store/src/clean.rs", "columns of the store"),
    ("crates/store/src/content.rs", "events whose sum was compared"),
    ("crates/store/src/copy.rs", "columns of the store"),
    ("crates/store/src/sync.rs", "events of the store; what is none is left out"),
    ("crates/store/src/recorded.rs", "rows of the store, an error if they are not text"),
    ("crates/store/src/findings.rs", "columns of the store"),
    ("crates/store/src/knowledge.rs", "columns of the store"),
    ("crates/store/src/needs/cluster.rs", "recorded contents, canonical when they were stored"),
    ("crates/store/src/runs.rs", "columns of the store"),
    ("src/ui/clean.rs", "what is about to be printed"),
    ("crates/walk/src/event_outline.rs", "events whose sum was compared"),
    ("crates/decisions/src/recorded.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/verdict.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/verdict_coverage.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/replay/verdicts.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/explain.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/replay/effects.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/replay/pass.rs", "recorded contents, canonical when they were stored"),
    ("crates/decisions/src/replay/sweep/chart.rs", "a picture that was drawn a moment before"),
    ("crates/decisions/src/save.rs", "recorded contents, canonical when they were stored"),
];

#[test]
fn every_reader_is_a_target() {
    let mut found: BTreeMap<String, &str> = BTreeMap::new();
    collect(&repository().join("src"), &mut found);
    for entry in std::fs::read_dir(repository().join("crates")).unwrap() {
        collect(&entry.unwrap().path().join("src"), &mut found);
    }
    let covered: BTreeSet<&str> = targets::all().iter().flat_map(|target| target.covers).copied().collect();
    let own: BTreeSet<&str> = OWN.iter().map(|(path, _)| *path).collect();
    let missing: Vec<String> = found
        .iter()
        .filter(|(path, _)| !covered.contains(path.as_str()) && !own.contains(path.as_str()))
        .map(|(path, call)| {
            format!("{path} calls `{call}`: name a target that reaches it, or say in OWN why nothing from outside does")
        })
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    let gone: Vec<&str> = covered.union(&own).filter(|path| !repository().join(path).exists()).copied().collect();
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
                found.insert(path.strip_prefix(repository()).unwrap().to_str().unwrap().to_owned(), call);
            }
        }
    }
}
