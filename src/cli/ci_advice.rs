//! The checks that `doctor` adds in a CI job: which reports there are, and what to add for a better analysis.

use asterisk_base::environment::Variables;
use asterisk_base::model::{CiSystem, Launch};
use asterisk_diag::CodeArea;
use asterisk_diag::counted;
use asterisk_files::find_reports;
use asterisk_session::{CheckResult, CheckState, Session, SessionError, Via};
use std::path::Path;
use std::sync::Arc;

/// Returns the checks of a CI job, or none outside of CI.
pub(super) fn checks(session: &Session, variables: &Variables) -> Vec<CheckResult> {
    let system = CiSystem::detect(|name| variables.text(name));
    if system == CiSystem::Plain {
        return Vec::new();
    }
    let mut all = vec![found("system", system.name())];
    match launch(session) {
        Ok(Some((launch, reports))) => {
            let failures = counted(launch.failures(), "failure", "failures");
            all.push(found("reports", &format!("{}, {failures}", counted(reports, "report", "reports"))));
            all.extend(logs(&launch));
            all.push(retries(&launch));
            all.push(commit(&launch, system, variables));
        }
        Ok(None) => {
            let help = "run it after the tests, in their directory, and have them write JUnit XML or another report: pytest --junitxml=junit.xml, \
                        Maven and Gradle write theirs anyway; asterisk ci PATH reads others";
            all.push(advice("reports", "none below the working directory", help));
        }
        // Linking errors are reported with the pipelines.
        Err(SessionError::Texts(found)) if found.iter().all(|one| one.area() != Some(CodeArea::Ingest)) => {}
        Err(error) => {
            let help = "asterisk ci shows where; a truncated report may come from a job that was killed";
            all.push(CheckResult {
                help: Some(help.into()),
                ..CheckResult::new("ci", "reports", CheckState::Wrong, error.to_string())
            });
        }
    }
    all.push(history(session, system));
    if Path::new(".git/shallow").exists() {
        let help = match system {
            CiSystem::Github => "give actions/checkout `fetch-depth: 100`",
            CiSystem::Gitlab => "set the variable GIT_DEPTH to 100",
            _ => "have the job fetch the last hundred commits",
        };
        all.push(advice("clone", "shallow: earlier changes cannot be inspected", help));
    }
    all
}

fn found(name: &str, what: &str) -> CheckResult {
    CheckResult::new("ci", name, CheckState::Ok, what)
}

fn advice(name: &str, what: &str, help: &str) -> CheckResult {
    CheckResult { help: Some(help.to_owned()), ..CheckResult::new("ci", name, CheckState::Note, what) }
}

/// Reads the launch below the working directory. Also returns the number of its reports.
fn launch(session: &Session) -> Result<Option<(Launch, usize)>, SessionError> {
    let project = session.project(None, Via::default().answers())?;
    let read = session.read_reports(&find_reports(Path::new(".")), &[], &Arc::new(project.masker()))?;
    Ok(read.launch.map(|launch| (launch, read.read.len())))
}

fn logs(launch: &Launch) -> Option<CheckResult> {
    let without = launch.cases.iter().filter(|case| case.log_snippet.is_empty()).count();
    Some(match (launch.cases.len(), without) {
        (0, _) => return None,
        (_, 0) => found("logs", "each failure has a log"),
        (all, without) => {
            let help = "have the report hold what tests print: pytest -o junit_logging=all, Surefire's redirectTestOutputToFile=false, Gradle's \
                        includeSystemOutLog, go test -json; a log tells what the error does not";
            advice("logs", &format!("{without} of {} without one", counted(all, "failure", "failures")), help)
        }
    })
}

fn retries(launch: &Launch) -> CheckResult {
    let again = launch.cases.iter().filter(|case| case.attributes.get("retries").is_some()).count();
    let passed = launch.outcomes.names().count();
    if again + passed > 0 {
        return found("retries", &format!("{again} failed again when retried, {passed} passed"));
    }
    let help = "retry failed tests once: Surefire's rerunFailingTestsCount, pytest --reruns 1, Playwright's retries, nextest --retries 1; one that \
                passes when retried is told apart from one that is broken";
    advice("retries", "no test was retried", help)
}

fn commit(launch: &Launch, system: CiSystem, variables: &Variables) -> CheckResult {
    let commit = launch.git.commit.clone().or_else(|| system.job(|name| variables.text(name)).commit);
    match commit {
        Some(commit) => found("commit", &commit),
        None => advice(
            "commit",
            "unknown",
            "give the job's commit in the variable of its system (GIT_COMMIT, BUILDKITE_COMMIT), or a property `commit` of the report; tests that \
             passed on the same commit are known to be unstable",
        ),
    }
}

fn history(session: &Session, system: CiSystem) -> CheckResult {
    match (session.no_store_yet(), session.runs()) {
        (None, Ok(runs)) if !runs.is_empty() => found("history", &counted(runs.len(), "earlier run", "earlier runs")),
        _ => {
            let help = match system {
                CiSystem::Github => "keep .asterisk between jobs with actions/cache (Asterisk's action does this)",
                CiSystem::Gitlab => "keep .asterisk between jobs: cache: { key: asterisk, paths: [.asterisk] }",
                CiSystem::Circleci => "keep .asterisk between jobs with save_cache and restore_cache",
                _ => "keep the directory .asterisk between jobs; ASTERISK_STORE sets another location of the store",
            };
            advice("history", "none: every cause is new, and flaky tests cannot be detected", help)
        }
    }
}
