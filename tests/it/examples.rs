//! Every launch among the examples, and every one of the fixtures, is analysed without an error.

use crate::harness::{Project, fixture, repository};
use std::path::PathBuf;

#[test]
fn every_example_launch_is_analysed() {
    let mut launches: Vec<PathBuf> = Vec::new();
    for dir in [repository().join("examples/launches"), fixture("launches")] {
        launches.extend(std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()));
    }
    launches.retain(|path| path.extension().is_some_and(|ending| ending == "json" || ending == "xml"));
    // CTest writes its notes next to a report; they are not a launch by themselves.
    launches.retain(|path| !path.ends_with("ctest-notes.xml"));
    assert!(launches.len() >= 6, "{launches:?}");
    for path in launches {
        let project = Project::new();
        let ran = project.asterisk(&["run", "--input", path.to_str().unwrap()]).ok();
        let report = ran.stdout.lines().find_map(|line| line.strip_prefix("report: [DIR]/")).unwrap();
        assert!(project.read(&report.replace(".html", ".md")).starts_with("# Root causes of "), "{path:?}");
    }
}
