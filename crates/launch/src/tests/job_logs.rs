//! Logs of CI jobs in which real tools failed, with labels of what was planted.

use super::super::{LaunchMerger, read};
use super::root;
use asterisk_base::model::{Case, Launch};
use asterisk_diag::Source;
use serde::Deserialize;
use std::fmt::Write;

#[derive(Deserialize)]
struct LabelledLog {
    log: String,
    red: bool,
    cases: Vec<PlantedFailure>,
}

#[derive(Deserialize)]
struct PlantedFailure {
    kind: String,
    #[serde(default)]
    name: String,
    file: Option<String>,
    line: Option<u32>,
    #[serde(default)]
    message: String,
}

fn words(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a case is about the labelled failure.
fn is_about(case: &Case, label: &PlantedFailure) -> bool {
    if case.attributes.get("kind").unwrap_or("test") != label.kind {
        return false;
    }
    let (name, id) = (words(&label.name), words(&format!("{} {}", case.suite, case.name)));
    let error = words(&format!("{} {} {}", case.error_message, case.suite, case.name));
    if label.kind == "test" {
        let own = words(&case.name);
        return id.ends_with(&name) || own.starts_with(&name) || name.ends_with(&own) && !own.is_empty();
    }
    let message = words(&label.message);
    !message.is_empty() && error.contains(&message) || !name.is_empty() && error.contains(&name) || label.message.is_empty()
}

/// Whether it names the place.
fn is_located(case: &Case, label: &PlantedFailure) -> bool {
    let Some(file) = label.file.as_deref() else { return true };
    let base = file.rsplit('/').next().unwrap_or(file);
    let line = label.line.map(|line| line.to_string());
    let own = case.file.as_deref().is_some_and(|own| own.ends_with(base));
    let own_line = line.as_ref().is_none_or(|line| case.attributes.get("line") == Some(line.as_str()));
    let text = &case.error_message;
    let in_text = text.lines().any(|text| text.contains(base) && line.as_ref().is_none_or(|line| text.contains(line.as_str())));
    own && own_line || in_text
}

fn launch(log: &str) -> Result<Launch, String> {
    let text = std::fs::read(root().join("crates/launch/fixtures/logs").join(log)).unwrap();
    read(&Source::new(log, String::from_utf8_lossy(&text).into_owned())).map_err(|found| found.to_string())
}

#[test]
fn planted_failures_are_cases_with_their_places() {
    let labels = std::fs::read_to_string(root().join("crates/launch/fixtures/logs/labels.json")).unwrap();
    let labels: Vec<LabelledLog> = serde_json::from_str(&labels).unwrap();
    let mut green = 0;
    let (mut planted, mut found, mut located, mut cases, mut right, mut report) = (0, 0, 0, 0, 0, String::new());
    for LabelledLog { log, red, cases: labels } in &labels {
        planted += labels.len();
        let launch = match launch(log) {
            Ok(launch) => launch,
            Err(error) => {
                writeln!(report, "{log}: refused: {}", error.lines().next().unwrap_or_default()).unwrap();
                continue;
            }
        };
        if *red {
            green += usize::from(launch.cases.is_empty() && launch.gaps.is_empty());
            if launch.cases.is_empty() {
                writeln!(report, "{log}: GREEN {:?}", launch.notes).unwrap();
            }
        }
        let mut left: Vec<&Case> = launch.cases.iter().collect();
        cases += left.len();
        for label in labels {
            // Of several that fit, the one in the right place.
            let fits = |wants_place: bool| {
                left.iter().position(|case| is_about(case, label) && (!wants_place || is_located(case, label)))
            };
            let Some(index) = fits(true).or_else(|| fits(false)) else {
                writeln!(
                    report,
                    "{log}: MISSED {} `{}` {:?}:{:?} {}",
                    label.kind, label.name, label.file, label.line, label.message
                )
                .unwrap();
                continue;
            };
            let case = left.remove(index);
            (found, right) = (found + 1, right + 1);
            if is_located(case, label) {
                located += 1;
            } else {
                writeln!(
                    report,
                    "{log}: ELSEWHERE `{}` is in {:?}:{:?}, not {:?}:{:?}",
                    case.id,
                    label.file,
                    label.line,
                    case.file,
                    case.attributes.get("line")
                )
                .unwrap();
            }
        }
        for case in left {
            writeln!(
                report,
                "{log}: NONE {} `{}` {}",
                case.attributes.get("kind").unwrap_or("test"),
                case.id,
                case.error_message.lines().next().unwrap_or_default()
            )
            .unwrap();
        }
    }
    let summary = format!("planted {planted}, found {found}, located {located}; cases {cases}, right {right}\n{report}");
    assert!(green == 0 && located * 100 >= planted * 95 && right * 100 >= cases * 95, "{summary}");
}

/// A log of several jobs, as `gh run view --log` gives it, has the failures of each.
#[test]
fn every_job_of_a_log_is_read() {
    let logs = ["tsc-github.log", "pytest-long-github.log"];
    let texts = logs.map(|log| std::fs::read_to_string(root().join("crates/launch/fixtures/logs").join(log)).unwrap());
    let each: usize = logs.iter().map(|log| launch(log).unwrap().cases.len()).sum();
    let joined = read(&Source::new("all.log", texts.concat())).unwrap();
    let columns = texts.iter().zip(logs).flat_map(|(text, log)| {
        text.lines().map(move |line| format!("{log}\tUNKNOWN STEP\t{}\n", line.trim_start_matches('\u{feff}')))
    });
    let tabbed = read(&Source::new("run.log", columns.collect::<String>())).unwrap();
    assert_eq!((joined.cases.len(), tabbed.cases.len()), (each, each), "{:?}", joined.notes);
}

/// The output of a step in which a test failed, in the columns of `gh run view --log`.
fn matrix_job(job: &str) -> String {
    [
        "##[group]Run pytest",
        "##[endgroup]",
        "=================================== FAILURES ===================================",
        "__________________________________ test_total __________________________________",
        "",
        "    def test_total():",
        ">       assert total([2, 3]) == 6",
        "E       assert 5 == 6",
        "",
        "tests/test_cart.py:4: AssertionError",
        "=========================== short test summary info ============================",
        "FAILED tests/test_cart.py::test_total - assert 5 == 6",
        "============================== 1 failed in 0.01s ===============================",
        "##[error]Process completed with exit code 1.",
        "Post job cleanup.",
    ]
    .map(|line| format!("{job}\tRun tests\t2026-05-04T10:11:12.1234567Z {line}\n"))
    .concat()
}

fn jobs(launch: &Launch) -> Vec<(&str, &str)> {
    launch.cases.iter().map(|case| (case.id.as_str(), case.attributes.get("job").unwrap_or_default())).collect()
}

const MATRIX: [&str; 2] = ["test (3.11, ubuntu)", "test (3.12, ubuntu)"];

/// The same failure in two jobs of a matrix.
#[test]
fn cases_name_their_jobs() {
    let (first, second) = ("tests.test_cart::test_total", "tests.test_cart::test_total#2");
    let log = read(&Source::new("run.log", MATRIX.map(matrix_job).concat())).unwrap();
    assert_eq!(jobs(&log), [(first, MATRIX[0]), (second, MATRIX[1])]);
    assert_eq!(log.notes[0], "step `pytest` of job `test (3.11, ubuntu)` failed after 0 s, exit code 1; 1 step in the log");
    // Without columns, the runner says the name; else the file of the log has it.
    let bare = |job: &str| matrix_job(job).replace(&format!("{job}\tRun tests\t"), "");
    let named = MATRIX.map(|job| {
        let time = "2026-05-04T10:11:12.1234567Z";
        format!("{time} Current runner version: '2.3'\n{time} Complete job name: {job}\n{}", bare(job))
    });
    assert_eq!(jobs(&read(&Source::new("run.log", named.concat())).unwrap()), jobs(&log));
    let mut merger = LaunchMerger::default();
    for (index, job) in MATRIX.iter().enumerate() {
        merger.add(&Source::new(format!("logs.zip/{index}_{job}.txt"), bare(job) + &"\n".repeat(index))).unwrap();
    }
    assert_eq!(jobs(&merger.finish()), jobs(&log));
}

/// Each failure is joined with the report of its job, in whichever order they are read.
#[test]
fn jobs_of_a_matrix_are_joined_with_their_reports() {
    let report = |version: &str| {
        let xml = format!(
            r#"<testsuite name="{version}"><testcase classname="tests.test_cart" name="test_total"><failure message="assert 5 == 6"/></testcase></testsuite>"#
        );
        Source::new(format!("artifacts/results-{version}/junit.xml"), xml)
    };
    for versions in [["3.11", "3.12"], ["3.12", "3.11"]] {
        let mut merger = LaunchMerger::default();
        for version in versions {
            merger.add(&report(version)).unwrap();
        }
        merger.add(&Source::new("run.log", MATRIX.map(matrix_job).concat())).unwrap();
        let launch = merger.finish();
        let own = versions.map(|version| format!("test ({version}, ubuntu)"));
        assert_eq!(jobs(&launch).iter().map(|(_, job)| *job).collect::<Vec<_>>(), own);
    }
    // The report of one of the jobs was lost.
    let mut merger = LaunchMerger::default();
    merger.add(&report("3.12")).unwrap();
    merger.add(&Source::new("run.log", MATRIX.map(matrix_job).concat())).unwrap();
    let test = "tests.test_cart::test_total";
    assert_eq!(jobs(&merger.finish()), [(test, MATRIX[1]), (&format!("{test}#2"), MATRIX[0])]);
}

/// Prefixes separate the output of tasks that run concurrently.
#[test]
fn tasks_that_run_concurrently_are_separated() {
    for (log, cart, orders) in [
        ("turbo-plain.log", "@acme/cart:test", "@acme/orders:test"),
        ("lerna-plain.log", "@acme/cart", "@acme/orders"),
        ("pnpm-recursive-github.log", "packages/cart test", "packages/orders test"),
        ("parallel-jenkins.log", "cart", "orders"),
    ] {
        let launch = launch(log).unwrap();
        let mut found: Vec<(&str, &str)> =
            launch.cases.iter().map(|case| (case.name.as_str(), case.attributes.get("task").unwrap_or_default())).collect();
        found.sort_unstable();
        let wanted = [("cancels", orders), ("empties", cart), ("pays once", orders), ("rounds the total", cart)];
        assert_eq!(found, wanted, "{log}: {:?}", launch.cases);
        let has_prefix = |case: &Case| {
            case.error_message
                .lines()
                .any(|line| line.trim_start_matches('[').starts_with(&format!("{}: ", &case.attributes["task"])))
        };
        assert!(!launch.cases.iter().any(has_prefix), "{log}: {:?}", launch.cases);
    }
}
