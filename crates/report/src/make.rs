//! Builds the report of a run and writes its pages, for all front ends.

use super::build::{RunReport, build};
use super::excerpt::add_excerpts;
use super::write::Pages;
use asterisk_diag::Diagnostics;
use asterisk_session::{RunResult, Session, SessionError};

/// The report of a run, with its history if it is recorded, and diagnostics about results of the summary script.
pub fn of_run(session: &Session, result: &RunResult) -> Result<(RunReport, Diagnostics), SessionError> {
    let (mut report, found) = build(result, || result.recorded.then(|| session.knowledge()?.history(&result.run)).transpose())?;
    add_excerpts(&mut report.causes, result);
    Ok((report, found))
}

/// The pages of a report.
pub fn pages(report: &RunReport) -> Result<Pages<'_>, SessionError> {
    Pages::of(report).map_err(|diagnostic| SessionError::Texts((*diagnostic).into()))
}

/// Writes the pages of a report into the run's directory, unless the run is not recorded. A policy pipeline has no failures to report on: its
/// results are the files of its stages.
pub fn write<'r>(session: &Session, result: &RunResult, report: &'r RunReport) -> Result<Option<Pages<'r>>, SessionError> {
    if !result.recorded || result.plan.policy.is_some() {
        return Ok(None);
    }
    let pages = pages(report)?;
    let dir = session.run_dir(&result.run)?;
    let path = dir.path().display().to_string();
    pages.write(&dir).map_err(|source| SessionError::Write { path, source })?;
    Ok(Some(pages))
}
