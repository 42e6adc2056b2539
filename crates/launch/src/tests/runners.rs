//! Reports of real runners over repositories with planted faults: each labelled failure is read.

use super::super::LaunchMerger;
use super::{load, root};
use asterisk_base::model::{Case, Launch};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Labelled failures of which the file says nothing.
const ABSENT: [(&str, &str); 3] =
    [("jest-junit.xml", "orders.test.js"), ("jest-junit.xml", "syntax.test.js"), ("collect.xml", "admin.spec.js")];

/// The directories of the reports, if they are next to the repository.
fn runners() -> Vec<PathBuf> {
    let found =
        ["../shared/data/runners", "../../shared/data/runners"].iter().map(|dir| root().join(dir)).find(|dir| dir.exists());
    let Some(dir) = found else {
        eprintln!("SKIPPED: the reports of runners are not in the shared data next to the repository");
        return Vec::new();
    };
    std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).filter(|dir| dir.join("labels.json").exists()).collect()
}

/// A file, or all files of a directory, as one launch.
fn launch(path: &Path) -> Option<Launch> {
    let mut paths = vec![path.to_owned()];
    if path.is_dir() {
        paths = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
    }
    let mut merger = LaunchMerger::default();
    for path in paths {
        merger.add(&load(&path)).ok()?;
    }
    Some(merger.finish())
}

/// The words of a name, in lower case.
fn words(name: &str) -> String {
    let plain = name.to_lowercase().replace(|ch: char| !ch.is_ascii_alphanumeric(), " ");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_called(case: &Case, label: &str) -> bool {
    [case.id.as_str(), case.name.as_str(), &format!("{} {}", case.suite, case.name)].iter().any(|name| words(name) == label)
}

fn is_like(case: &Case, label: &str) -> bool {
    let name = words(&case.name);
    !name.is_empty() && (label.contains(&name) || words(&case.id).contains(label))
}

#[test]
fn every_labelled_failure_of_a_runner_is_read() {
    for dir in runners() {
        let labels: Vec<Value> = serde_json::from_str(load(&dir.join("labels.json")).text()).unwrap();
        let text = |label: &Value, key: &str| label[key].as_str().unwrap_or_default().to_owned();
        let mut files: Vec<String> = labels.iter().map(|label| text(label, "file")).collect();
        files.dedup();
        for file in files {
            // Other readers than those of reports read what a runner prints.
            if file.ends_with(".txt") {
                continue;
            }
            let path = dir.join(&file);
            let mut cases = launch(&path).unwrap_or_else(|| panic!("{} is not read", path.display())).cases;
            for label in labels.iter().filter(|label| text(label, "file") == file && text(label, "label") != "not-a-failure") {
                let label = text(label, "test");
                if ABSENT.contains(&(&file, &label)) {
                    continue;
                }
                let label = words(&label);
                let found = cases.iter().position(|case| is_called(case, &label));
                let found = found.or_else(|| cases.iter().position(|case| is_like(case, &label)));
                let names = || cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>();
                cases.remove(found.unwrap_or_else(|| panic!("{}: no `{label}` among {:?}", path.display(), names())));
            }
        }
    }
}
