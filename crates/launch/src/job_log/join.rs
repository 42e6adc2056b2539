//! Joins the log of a job with the reports of its tests: a case of a report gets its part of the log, and what the report lost
//! comes from the log.

use super::super::part::InputPart;
use super::super::room::TextRoom;
use super::super::unique::Ids;
use super::JOB;
use asterisk_base::model::{Case, Launch, TestIdentity};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// The kinds of cases by which a log only says that its tests failed.
const FOLLOWERS: [&str; 2] = ["command", "gate"];

/// The maximum number of reported tests that a failure in a log is compared with.
const MAX_TWINS: usize = 200;

/// Adds the cases of logs to the launch of reports.
/// `only_report` is the name of the report if there is one.
pub(in super::super) fn join(launch: &mut Launch, only_report: Option<&str>, logs: Vec<InputPart>, room: &TextRoom) {
    let mut claims = ReportedTests::new(&launch.cases, only_report).claims(&logs).into_iter();
    let mut ids = Ids::default();
    for case in &launch.cases {
        ids.take(&case.id);
    }
    let has_failures = !launch.cases.is_empty();
    let jobs: BTreeSet<String> = logs.iter().flat_map(|part| &part.launch.cases).map(job).collect();
    for part in logs {
        let log = part.launch;
        for mut case in log.cases {
            let kind = case.attributes.get("kind").unwrap_or_default().to_owned();
            let claim = claims.next().flatten();
            if kind == "test" {
                if let Some(index) = claim {
                    fill_in(&mut launch.cases[index], &case, room);
                    continue;
                }
                // Another attempt passed, unless it was that of another job.
                let outcome = launch.outcomes.get(TestIdentity::new(&case.suite, &case.name));
                if jobs.len() < 2 && outcome.is_some_and(|outcome| !outcome.is_failure()) {
                    continue;
                }
            } else if has_failures && FOLLOWERS.contains(&kind.as_str()) {
                continue;
            }
            case.id = ids.take(&case.id);
            for total in ["failed", "total"] {
                *launch.totals.entry(total.to_owned()).or_default() += 1;
            }
            launch.cases.push(case);
        }
        launch.notes.extend(log.notes.into_iter().map(|note| format!("{}: {note}", part.name)));
        // Without a mark in the log, the reports say whether the job passed.
        launch.gaps.extend(log.gaps.into_iter().filter(|_| !has_failures).map(|gap| format!("{}: {gap}", part.name)));
        for (name, value) in log.attributes.iter().filter(|(name, _)| *name != "report_format") {
            super::super::attributes::add(&mut launch.attributes, name, value);
        }
        launch.started_at = [launch.started_at, log.started_at].into_iter().flatten().min();
        launch.ended_at = [launch.ended_at, log.ended_at].into_iter().flatten().max();
    }
}

fn job(case: &Case) -> String {
    case.attributes.get(JOB).unwrap_or_default().to_owned()
}

/// A failed test of a report, in words.
struct ReportedTest {
    name: String,
    suite: String,
    /// Suite and name.
    whole: String,
    /// The words of the file of the report, which may be those of a job: `results-3.11/junit.xml`.
    file: BTreeSet<String>,
    /// The job whose log has it.
    job: Option<String>,
}

/// The failed tests of reports.
struct ReportedTests {
    tests: Vec<ReportedTest>,
    by_name: HashMap<String, Vec<usize>>,
}

impl ReportedTests {
    fn new(cases: &[Case], only_report: Option<&str>) -> Self {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let tests = cases.iter().enumerate().map(|(index, case)| {
            let name = words(&case.name);
            by_name.entry(name.clone()).or_default().push(index);
            let file = words(case.attributes.get("report_file").or(only_report).unwrap_or_default());
            ReportedTest {
                name,
                suite: words(&case.suite),
                whole: words(&format!("{} {}", case.suite, case.name)),
                file: file.split(' ').map(str::to_owned).collect(),
                job: None,
            }
        });
        Self { tests: tests.collect(), by_name }
    }

    /// The same tests in reports of the same jobs, as far as these are known: jobs of a matrix run the same tests, and each of their
    /// failures is joined with another case. The reports that are most like a job are taken first.
    fn claims(&mut self, logs: &[InputPart]) -> Vec<Option<usize>> {
        let cases: Vec<&Case> = logs.iter().flat_map(|part| &part.launch.cases).collect();
        let mut claims = vec![None; cases.len()];
        let mut open: Vec<(usize, usize, usize)> = Vec::new();
        for (case, own) in cases.iter().enumerate().filter(|(_, own)| own.attributes.get("kind") == Some("test")) {
            let job = words(&job(own));
            let likeness = |test: usize| job.split(' ').filter(|word| self.tests[test].file.contains(*word)).count();
            open.extend(self.twins(own).into_iter().take(MAX_TWINS).map(|test| (likeness(test), case, test)));
        }
        open.sort_by_key(|(likeness, ..)| Reverse(*likeness));
        // A test that a job runs twice may be in its report once.
        for may_be_taken in [false, true] {
            for &(_, case, test) in &open {
                let own = job(cases[case]);
                let is_free = self.tests[test]
                    .job
                    .as_ref()
                    .is_none_or(|job| may_be_taken && (job.is_empty() || *job == own || own.is_empty()));
                if claims[case].is_none() && is_free {
                    claims[case] = Some(test);
                    self.tests[test].job = Some(own);
                }
            }
        }
        claims
    }

    /// The tests of reports that may be this one.
    fn twins(&self, case: &Case) -> Vec<usize> {
        let (name, suite) = (words(&case.name), words(&case.suite));
        let same = self.by_name.get(&name).map_or(&[][..], Vec::as_slice);
        let is_related = |index: &usize| {
            let other = &self.tests[*index].suite;
            suite.is_empty() || other.is_empty() || other.contains(&suite) || suite.contains(other.as_str())
        };
        let related: Vec<usize> = same.iter().copied().filter(is_related).collect();
        if !related.is_empty() || same.len() == 1 {
            return if related.is_empty() { same.to_owned() } else { related };
        }
        // A report may put the titles of suites into the name, or into the suite.
        let full = words(&format!("{} {}", case.suite, case.name));
        let ends_with = |text: &str, end: &str| text.strip_suffix(end).is_some_and(|before| before.ends_with(' '));
        let is_same = |test: &ReportedTest| {
            test.whole == full || ends_with(&test.whole, &full) || ends_with(&full, &test.name) && test.whole.contains(&suite)
        };
        (0..self.tests.len()).filter(|index| is_same(&self.tests[*index])).collect()
    }
}

/// The log's text becomes the log of a case that has none; what the report does not know is taken from it.
fn fill_in(case: &mut Case, more: &Case, room: &TextRoom) {
    if case.error_message.is_empty() {
        case.error_message.clone_from(&more.error_message);
        case.recall_key.clone_from(&more.recall_key);
    } else if case.log_snippet.is_empty() && more.error_message.lines().count() > 1 {
        case.log_snippet = room.keep(more.error_message.clone());
    }
    case.file = case.file.take().or_else(|| more.file.clone());
    for name in ["step", JOB] {
        if let Some(value) = more.attributes.get(name) {
            super::super::attributes::add(&mut case.attributes, name, value);
        }
    }
}

fn words(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
