//! Finds test reports below a directory, in the locations where test tools usually write them.

use super::inputs::{InputFile, is_launch_name};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Directories that test tools write reports to: Maven, Gradle, Playwright, Jest, .NET, nextest, and common choices in CI configurations.
const PLACES: [&str; 18] = [
    "surefire-reports",
    "failsafe-reports",
    "test-results",
    "test_results",
    "test-reports",
    "test_reports",
    "testresults",
    "reports",
    "junit",
    "junit-reports",
    "junit-results",
    "nextest",
    "allure-report",
    "bazel-testlogs",
    "cucumber-reports",
    "karate-reports",
    "playwright-report",
    "mochawesome-report",
];

/// Prefixes of report names, in lower case, valid in any directory.
const NAMES: [&str; 27] = [
    "junit",
    "test-",
    "test_",
    "testresult",
    "tests.",
    "pytest",
    "nosetests",
    "phpunit",
    "rspec",
    "xunit",
    "nunit",
    "nextest",
    "go-test",
    "gotest",
    "mocha",
    "catch2",
    "cucumber",
    "gtest",
    "jest",
    "k6",
    "newman",
    "playwright",
    "test.xml",
    "vitest",
    "job.log",
    "job.txt",
    "console",
];

/// Full report names, in lower case, valid in any directory.
const WHOLE_NAMES: [&str; 5] = ["report.xml", "results.xml", "testng-results.xml", "output.xml", "launch.json"];

/// Directories with third-party code, which are skipped.
const FOREIGN: [&str; 6] = ["node_modules", "vendor", "venv", "site-packages", "__pycache__", "bower_components"];

/// Directories with test data: reports below them are not results of this job.
const DATA: [&str; 7] = ["fixtures", "__fixtures__", "testdata", "test-data", "resources", "snapshots", "examples"];

/// Build directories, searched only for report locations.
const BUILT: [&str; 4] = ["target", "build", "bin", "obj"];

/// Locations whose reports usually duplicate others from the same job: Allure's listener, and `TestNG`'s own reports next to
/// Surefire's.
const REPEATING: [&str; 3] = ["allure-results", "junitreports", "test-output"];

/// The maximum depth of directories.
const MAX_DEPTH: usize = 16;

/// The maximum number of directory entries looked at.
const MAX_ENTRIES: usize = 200_000;

/// Test reports found below a directory, with paths relative to it.
#[derive(Clone, Debug, Default)]
pub struct FoundReports {
    /// Files that look like reports, sorted by path.
    pub files: Vec<InputFile>,
    /// Files that usually duplicate other reports.
    pub repeating: Vec<InputFile>,
    /// Skipped paths, each with the reason.
    pub skipped: Vec<(String, String)>,
}

/// Finds reports below `root` without following links. Files are matched by name only; their content is not checked.
pub fn find_reports(root: &Path) -> FoundReports {
    let mut walk = ReportWalk { root: root.to_owned(), entries: 0, found: FoundReports::default() };
    walk.dir(Path::new(""), DirectoryKind::Plain, 0);
    walk.found
}

/// How the files of a directory are treated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectoryKind {
    /// Files count if they are named like reports.
    Plain,
    /// Like plain, but only report locations are searched below it.
    Built,
    /// All files count.
    Place,
    /// Like a report location, but its files usually duplicate others.
    Repeating,
    /// No file counts.
    Data,
}

struct ReportWalk {
    root: PathBuf,
    entries: usize,
    found: FoundReports,
}

impl ReportWalk {
    fn dir(&mut self, below: &Path, kind: DirectoryKind, depth: usize) {
        let entries = match fs::read_dir(self.root.join(below)).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => return self.skip(below, format!("it cannot be read ({error})")),
        };
        let names: BTreeMap<_, _> =
            entries.iter().filter_map(|entry| Some((entry.file_name(), entry.file_type().ok()?))).collect();
        for (name, file_type) in names {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                if self.entries == MAX_ENTRIES + 1 {
                    self.skip(
                        below,
                        format!("there are more than {MAX_ENTRIES} files and directories: list the reports explicitly"),
                    );
                }
                return;
            }
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            let path = below.join(name);
            if file_type.is_dir() {
                self.enter(&path, &name.to_ascii_lowercase(), kind, depth);
            } else if file_type.is_file() {
                self.file(&path, &name.to_ascii_lowercase(), kind);
            }
        }
    }

    fn enter(&mut self, path: &Path, name: &str, kind: DirectoryKind, depth: usize) {
        use DirectoryKind::{Built, Data, Place, Plain, Repeating};
        let inside = matches!(kind, Place | Repeating);
        let next = match kind {
            _ if FOREIGN.contains(&name) => return,
            _ if depth == MAX_DEPTH => return self.skip(path, format!("it is more than {MAX_DEPTH} directories deep")),
            Data => Data,
            Repeating => Repeating,
            _ if REPEATING.contains(&name) => Repeating,
            _ if PLACES.contains(&name) => Place,
            _ if DATA.contains(&name) && !inside => Data,
            Place => Place,
            Built if name != "outputs" => return,
            _ if BUILT.contains(&name) => Built,
            Built | Plain => Plain,
        };
        self.dir(path, next, depth + 1);
    }

    fn file(&mut self, path: &Path, name: &str, kind: DirectoryKind) {
        if !is_launch_name(path) {
            return;
        }
        let is_named = NAMES.iter().any(|start| name.starts_with(start))
            || WHOLE_NAMES.contains(&name)
            || name.ends_with(".trx")
            || name.ends_with(".tap")
            || name.contains("junit");
        let size = fs::metadata(self.root.join(path)).ok().map(|meta| meta.len());
        let input =
            || InputFile { name: path.display().to_string(), path: self.root.join(path), size, below: true, member: None };
        match kind {
            DirectoryKind::Repeating => self.found.repeating.push(input()),
            DirectoryKind::Place if name.starts_with("testng-") => self.found.repeating.push(input()),
            DirectoryKind::Place => self.found.files.push(input()),
            DirectoryKind::Plain | DirectoryKind::Built if is_named => self.found.files.push(input()),
            DirectoryKind::Data if is_named => {
                self.skip(path, "the name of its directory suggests test data".to_owned());
            }
            _ => {}
        }
    }

    fn skip(&mut self, path: &Path, why: String) {
        let name = if path.as_os_str().is_empty() { ".".to_owned() } else { path.display().to_string() };
        self.found.skipped.push((name, why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str]) -> (Vec<String>, Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().expect("a directory");
        for path in paths {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, "x").expect("written");
        }
        let found = find_reports(dir.path());
        let names = |inputs: &[InputFile]| inputs.iter().map(|input| input.name.clone()).collect();
        (names(&found.files), names(&found.repeating), found.skipped.into_iter().map(|(name, _)| name).collect())
    }

    #[test]
    fn reports_are_found_where_tools_write_them() {
        let usual = [
            "a/target/surefire-reports/TEST-a.B.xml",
            "b/build/test-results/test/TEST-c.D.xml",
            "dotnet/Shop.Tests/TestResults/run.trx",
            "go-test.json",
            "junit.xml",
            "reports/unit/shop.xml",
            "target/nextest/ci/junit.xml",
            "web/test-results/results.json",
        ];
        assert_eq!(found(&usual).0, usual);
        assert_eq!(found(&["allure-results/1-result.json", "x/target/surefire-reports/testng-results.xml"]).1.len(), 2);
    }

    #[test]
    fn files_that_are_not_results_of_this_job_are_skipped() {
        let (files, repeating, skipped) = found(&[
            ".cache/junit.xml",
            "node_modules/x/junit.xml",
            "package.json",
            "pom.xml",
            "src/main/data.xml",
            "target/debug/build/x/out/junit.xml",
            "target/site/junit.html",
            "tests/fixtures/junit.xml",
        ]);
        assert_eq!((files, repeating), (vec![], vec![]));
        assert_eq!(skipped, ["tests/fixtures/junit.xml"]);
    }
}
