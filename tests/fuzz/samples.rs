//! Real inputs: the repository's own texts and fixtures, and the record of a run.

use crate::harness::{Project, repository};
use std::path::Path;
use std::sync::OnceLock;

/// The largest file that is a sample: small ones are understood as well, and are tried more often.
const LARGEST: u64 = 40 << 10;

/// The files with one of these endings below these directories (or these files).
pub(crate) fn files(paths: &[&str], endings: &[&str]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for path in paths {
        collect(&repository().join(path), endings, &mut found);
    }
    found
}

fn collect(path: &Path, endings: &[&str], found: &mut Vec<Vec<u8>>) {
    if path.is_dir() {
        let mut entries: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for entry in &entries {
            collect(entry, endings, found);
        }
    } else if path.extension().is_some_and(|have| endings.iter().any(|ending| have == *ending))
        && path.metadata().unwrap().len() <= LARGEST
    {
        found.push(std::fs::read(path).unwrap());
    }
}

/// These texts.
pub(crate) fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// The journal of a run of the bundled launch, case by case.
pub(crate) fn journal() -> Vec<Vec<u8>> {
    static JOURNAL: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    JOURNAL
        .get_or_init(|| {
            let project = Project::new();
            let run = project.process(&["run", "--format", "json", "--files", "always"]).exits(0).json();
            let log = project.read(&format!(".asterisk/investigations/{}/events.jsonl", run["run"].as_str().unwrap()));
            let case = |line: &&str| line.split("\"case\":\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
            let mut cases: Vec<Option<String>> = log.lines().map(|line| case(&line)).collect();
            cases.sort();
            cases.dedup();
            cases
                .iter()
                .map(|of| log.lines().filter(|line| case(line) == *of).collect::<Vec<_>>().join("\n").into_bytes())
                .collect()
        })
        .clone()
}
