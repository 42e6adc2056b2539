//! Builds the report of a run from its results.

use super::case::{CaseReport, ReportTransition};
use super::cases::{CaseBrief, CaseReports, MAX_DETAILED};
use super::causes::{Cause, causes, with_findings};
use super::finding::CaseFinding;
use super::regression::compare;
use super::timeline::Regression;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Attributes, LaunchCheckout};
use asterisk_diag::{Diagnostic, Diagnostics};
use asterisk_pipeline::Pipeline;
use asterisk_session::{CaseResult, RunResult, SessionError};
use asterisk_store::KnownHistory;
use asterisk_walk::{Plan, RuleFailures, WalkStatus};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The report of a run. Serialises as `rca.json`.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Version of the format.
    pub schema_version: u32,
    /// Id of the run.
    pub run: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Name of the domain; null without one.
    pub domain: Option<String>,
    /// Final status of the run.
    pub status: WalkStatus,
    /// Start time.
    pub started_at: Timestamp,
    /// The launch.
    pub launch: LaunchReport,
    /// The pipeline's nodes, in file order.
    pub nodes: Vec<NodeReport>,
    /// Numbers of cases by status and kind.
    pub totals: Totals,
    /// Comparison with earlier launches; absent if the run was not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
    /// The verdict and root rules that failed; absent if none did.
    #[serde(skip_serializing_if = "RuleFailures::is_empty")]
    pub failed_rules: RuleFailures,
    /// The causes, those with most cases first.
    pub causes: Vec<Cause>,
    /// The cases, in the order of the launch.
    pub cases: CaseReports,
    /// The colour of each defect type that has one, by its code.
    #[serde(skip)]
    pub(super) colours: BTreeMap<String, String>,
}

/// The parts of a report that templates refer to.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ReportHead<'r> {
    run: &'r str,
    pipeline: &'r str,
    domain: &'r Option<String>,
    launch: &'r LaunchReport,
    totals: &'r Totals,
}

impl RunReport {
    /// The report without its cases, which templates would have to convert as a whole.
    pub(super) fn head(&self) -> ReportHead<'_> {
        let Self { run, pipeline, domain, launch, totals, .. } = self;
        ReportHead { run, pipeline, domain, launch, totals }
    }
}

/// A node of the pipeline.
#[derive(Clone, Debug, Serialize)]
pub struct NodeReport {
    /// Name of the node.
    pub name: String,
    /// Code of the node, or else its name.
    pub code: String,
}

/// The launch as shown in the report.
#[derive(Clone, Debug, Serialize)]
pub struct LaunchReport {
    /// Id of the launch.
    pub run_id: String,
    /// Name of the launch.
    pub name: String,
    /// Number of the launch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Start time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// End time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Tests by outcome.
    pub totals: BTreeMap<String, u64>,
    /// Address of the CI job it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job_url: Option<String>,
    /// Versions, lanes, clusters.
    pub attributes: Attributes,
    /// The commit and branch under test.
    pub git: LaunchCheckout,
    /// Notes of the reader about omitted or truncated content.
    pub notes: Vec<String>,
    /// Notes according to which failures may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}

/// Numbers of cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    /// All cases.
    pub cases: usize,
    /// Walked to the end.
    pub done: usize,
    /// Failed during the walk.
    pub error: usize,
    /// Not finished.
    pub open: usize,
    /// Left to a person by their review.
    #[serde(skip_serializing_if = "is_zero")]
    pub needs_review: usize,
    /// By category.
    pub by_category: BTreeMap<String, usize>,
    /// By defect type.
    pub by_defect_type: BTreeMap<String, usize>,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Builds the report of a run with its history. Invalid findings of the summary script are returned as diagnostics.
/// `history` is called after all cases have been read.
pub fn build(
    result: &RunResult,
    history: impl FnOnce() -> Result<Option<KnownHistory>, SessionError>,
) -> Result<(RunReport, Diagnostics), SessionError> {
    build_of(result, history, |_| true)
}

/// Like [`build`], restricted to the cases selected by `keep`.
pub(super) fn build_of(
    result: &RunResult,
    history: impl FnOnce() -> Result<Option<KnownHistory>, SessionError>,
    mut keep: impl FnMut(&CaseReport) -> bool,
) -> Result<(RunReport, Diagnostics), SessionError> {
    let mut found = Diagnostics::new();
    let lost = |source| SessionError::Write { path: "a temporary file".into(), source };
    let mut cases = CaseReports::new(result.cases.in_memory(), result.cases.len()).map_err(lost)?;
    result.each(|case| {
        let case = case_report(result, case, &mut found);
        if keep(&case) { cases.push(case).map_err(lost) } else { Ok(()) }
    })?;
    found.extend(result.notes_on(&RunResult::WHOLE).iter().cloned());
    let launch = &result.launch;
    let causes = causes(&cases);
    cases.fetch(shown(&causes, &cases)).map_err(lost)?;
    let mut causes = with_findings(causes, &cases);
    let whole = cases.len() == launch.failures();
    let regression = history()?.map(|history| compare(&mut causes, &history, whole));
    let report = RunReport {
        schema_version: 1,
        run: result.run.clone(),
        pipeline: result.pipeline().name.value.clone(),
        domain: result.plan.domain.clone(),
        status: result.status,
        started_at: result.started_at,
        launch: LaunchReport {
            run_id: launch.run_id.clone(),
            name: launch.name.clone(),
            number: launch.number,
            started_at: launch.started_at,
            ended_at: launch.ended_at,
            totals: launch.totals.clone(),
            job_url: launch.job_url().map(str::to_owned),
            attributes: launch.attributes.clone(),
            git: launch.git.clone(),
            notes: launch.notes.clone(),
            gaps: launch.gaps.clone(),
        },
        nodes: nodes(result.pipeline()),
        totals: totals(&cases),
        regression,
        failed_rules: result.failed_rules.clone(),
        causes,
        cases,
        colours: colours(&result.plan),
    };
    Ok((report, found))
}

/// The cases whose details are loaded: those that represent causes, the first, and the first that failed.
fn shown(causes: &[(Cause, usize)], cases: &[CaseBrief]) -> BTreeSet<usize> {
    let failed =
        cases.iter().enumerate().filter(|(_, case)| case.status == WalkStatus::Error).map(|(at, _)| at).take(MAX_DETAILED);
    causes.iter().map(|(_, speaker)| *speaker).chain(failed).chain(0..MAX_DETAILED.min(cases.len())).collect()
}

fn case_report(result: &RunResult, case: &CaseResult, found: &mut Diagnostics) -> CaseReport {
    let finding = match &case.finding {
        None => CaseFinding::default(),
        Some(value) => serde_json::from_value(value.clone()).unwrap_or_else(|error| {
            let message = format!("the summary of case `{}` is not a finding: {error}", case.case.id);
            found.push(Diagnostic::error("report/finding", message));
            CaseFinding::default()
        }),
    };
    if let Some(trouble) = &case.trouble {
        found.push(Diagnostic::clone(trouble));
    }
    if case.is_damaged() {
        let message = format!("the finding of case `{}` is left out: {}", case.case.id, case.error().unwrap_or_default().message);
        found.push(Diagnostic::error("store/damaged", message));
    }
    found.extend(result.notes_on(&case.case.id).iter().cloned());
    let pipeline = result.pipeline();
    let turn = |(index, visit): (usize, &asterisk_walk::Visit)| ReportTransition {
        node: visit.node.to_string(),
        edge: visit.edge.to_string(),
        name: pipeline.edge(&visit.edge).map_or(String::new(), |edge| pipeline.edge_at(edge).name.clone()),
        to: case.state.path.get(index + 1).map(ToString::to_string),
        because: visit.because.to_string(),
        advisories: visit.advisories.iter().map(|(edge, because)| format!("{edge}: {because}")).collect(),
    };
    CaseReport {
        case: case.case.id.clone(),
        name: case.case.name.clone(),
        suite: case.case.suite.clone(),
        status: case.state.status,
        case_status: case.case_status.clone(),
        finding,
        path: case.state.path.iter().map(|node| code(result.pipeline(), node)).collect(),
        turns: case.state.history.iter().enumerate().map(turn).collect(),
        loops: case.state.loops.clone(),
        context: case.state.context.clone(),
        error: case.error(),
        notes: result.notes_on(&case.case.id).iter().map(|note| note.message.clone()).collect(),
    }
}

/// The colours of the defect types, by code.
fn colours(plan: &Plan) -> BTreeMap<String, String> {
    let defects = plan.taxonomy.view().map(|taxonomy| taxonomy.json()["defects"].take()).unwrap_or_default();
    let defects = defects.as_object().into_iter().flatten();
    defects.filter_map(|(code, defect)| Some((code.clone(), defect["colour"].as_str()?.to_owned()))).collect()
}

fn nodes(pipeline: &Pipeline) -> Vec<NodeReport> {
    let node = |node: &asterisk_pipeline::PipelineNode| {
        let name = node.name.value.clone();
        let code = node.code.as_ref().map_or_else(|| name.clone(), |code| code.value.clone());
        NodeReport { name, code }
    };
    pipeline.nodes.iter().map(node).collect()
}

fn code(pipeline: &Pipeline, node: &str) -> String {
    let code = pipeline.node(node).and_then(|ix| pipeline.at(ix).code.as_ref());
    code.map_or_else(|| node.to_owned(), |code| code.value.clone())
}

fn totals(cases: &[CaseBrief]) -> Totals {
    let mut totals = Totals { cases: cases.len(), ..Totals::default() };
    for case in cases {
        match case.status {
            WalkStatus::Done => totals.done += 1,
            WalkStatus::Error => totals.error += 1,
            WalkStatus::Running | WalkStatus::Paused => totals.open += 1,
        }
        totals.needs_review += usize::from(!case.needs_review.is_empty());
        for (value, counts) in [(&case.category, &mut totals.by_category), (&case.defect_type, &mut totals.by_defect_type)] {
            if !value.is_empty() {
                *counts.entry(value.to_string()).or_default() += 1;
            }
        }
    }
    totals
}

/// A report of these cases and nothing else.
#[cfg(test)]
pub(super) fn report_of(cases: Vec<CaseReport>) -> RunReport {
    let mut reports = CaseReports::new(true, cases.len()).expect("kept in memory");
    for case in cases {
        reports.push(case).expect("kept in memory");
    }
    let causes = with_findings(causes(&reports), &reports);
    let launch = LaunchReport {
        run_id: "1".into(),
        name: "nightly".into(),
        number: None,
        started_at: None,
        ended_at: None,
        totals: BTreeMap::new(),
        job_url: None,
        attributes: Attributes::default(),
        git: LaunchCheckout::default(),
        notes: Vec::new(),
        gaps: Vec::new(),
    };
    RunReport {
        schema_version: 1,
        run: "r".into(),
        pipeline: "p".into(),
        domain: None,
        status: WalkStatus::Done,
        started_at: Timestamp::default(),
        launch,
        nodes: Vec::new(),
        totals: totals(&reports),
        regression: None,
        failed_rules: RuleFailures::default(),
        causes,
        cases: reports,
        colours: BTreeMap::new(),
    }
}
