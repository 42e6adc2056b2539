//! Selecting a run, case and step.

use super::recorded::Decisions;
use super::steps::{JournalStep, StepEnd};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_pipeline::{EdgeTarget, Pipeline};
use asterisk_session::SessionError;
use asterisk_walk::WalkStatus;
use serde::Serialize;

/// Selects steps of a case.
#[derive(Clone, Debug, Default)]
pub struct StepQuery {
    /// The run; `latest` is the one that began last.
    pub run: String,
    /// The case; may be `None` if the run has only one.
    pub case: Option<String>,
    /// The step, by its recorded path, or by its node's name or code (all visits of it); all steps if `None`.
    pub step: Option<String>,
}

/// The cases of a run, one of which must be named.
#[derive(Clone, Debug, Serialize)]
pub struct CaseList {
    pub run: String,
    /// The number of cases.
    pub total: usize,
    /// The first of them.
    pub cases: Vec<CaseLine>,
}

/// A case in such a list.
#[derive(Clone, Debug, Serialize)]
pub struct CaseLine {
    /// Its id.
    pub case: String,
    pub name: String,
    pub status: WalkStatus,
    /// The nodes visited, by name.
    pub nodes: Vec<String>,
    /// The edges taken.
    pub edges: Vec<String>,
}

/// The most cases of a list.
const MOST: usize = 200;

/// A case of a run with its steps, or the list of cases.
pub(super) enum StepSelection {
    Case { run: String, case: String, steps: Vec<JournalStep> },
    Cases(CaseList),
}

/// Finds the selected case.
pub(super) fn find(decisions: &Decisions, query: &StepQuery) -> Result<StepSelection, SessionError> {
    let store = decisions.record().store();
    let run = decisions.record().run(&query.run)?;
    let names = store.case_names(&run)?;
    let case = match (&query.case, names.as_slice()) {
        (Some(case), _) => decisions.record().case(&run, case)?,
        (None, []) => return Err(refused("input/no-case", format!("the run {run} has no case"), None)),
        (None, [(only, _)]) => only.clone(),
        (None, _) => {
            if let Some(step) = &query.step {
                let message = format!("step `{step}` is ambiguous: the run {run} has {}", names.len());
                let help = format!("select one with --case ID; asterisk explain {run} lists them");
                return Err(refused("input/which-case", message, Some(help)));
            }
            let cases = names.iter().take(MOST).map(|(id, _)| line(decisions, &run, id)).collect::<Result<_, _>>()?;
            return Ok(StepSelection::Cases(CaseList { run, total: names.len(), cases }));
        }
    };
    let steps = decisions.steps(&run, &case)?;
    Ok(StepSelection::Case { run, case, steps })
}

/// The status of a walk with these steps; `done` is the pipeline's done name.
pub(super) fn status(steps: &[JournalStep], done: Option<&str>) -> WalkStatus {
    match steps.iter().rfind(|step| step.is_own() || matches!(step.end, StepEnd::Failed { .. })).map(|step| &step.end) {
        Some(StepEnd::Failed { .. }) => WalkStatus::Error,
        Some(StepEnd::Over) => WalkStatus::Done,
        Some(StepEnd::To { to, .. }) if done.is_none_or(|done| done == to) => WalkStatus::Done,
        _ => WalkStatus::Running,
    }
}

fn line(decisions: &Decisions, run: &str, id: &str) -> Result<CaseLine, SessionError> {
    let store = decisions.record().store();
    let steps = decisions.steps(run, id)?;
    let own = || steps.iter().filter(|step| step.is_own());
    let entered = |name: &str| own().any(|step| step.node == name);
    let done = match own().next_back().map(|step| &step.end) {
        // The done name is entered by no step.
        Some(StepEnd::To { to, .. }) if !entered(to) => Some(to.to_string()),
        _ => Some(String::new()),
    };
    let edge = |step: &JournalStep| if let StepEnd::To { edge, .. } = &step.end { Some(edge.to_string()) } else { None };
    Ok(CaseLine {
        case: id.to_owned(),
        name: store.case(run, id)?.name,
        status: status(&steps, done.as_deref()),
        nodes: own().map(|step| step.node.to_string()).collect(),
        edges: own().filter_map(edge).collect(),
    })
}

/// The selected steps of a case.
pub(super) fn choose(steps: Vec<JournalStep>, query: &StepQuery, pipeline: &Pipeline) -> Result<Vec<JournalStep>, SessionError> {
    let Some(wanted) = &query.step else { return Ok(steps) };
    let meant = match pipeline.resolve_target(wanted) {
        Some(EdgeTarget::Node(node)) => Some(pipeline.at(node).name.as_str()),
        _ => None,
    };
    let node = meant.unwrap_or(wanted);
    let known: Vec<String> = steps.iter().flat_map(|step| [step.path.to_string(), step.node.to_string()]).collect();
    let list: Vec<String> = steps.iter().map(|step| format!("{} {}", step.path, step.node)).collect();
    let by_path = steps.iter().any(|step| step.path == *wanted);
    let chosen: Vec<JournalStep> =
        steps.into_iter().filter(|step| if by_path { step.path == *wanted } else { step.node == node }).collect();
    if chosen.is_empty() {
        let all = if list.is_empty() { "it has not started".to_owned() } else { format!("its steps: {}", list.join(", ")) };
        if let Some(node) = meant {
            return Err(refused("input/no-step", format!("the case never reached `{node}`"), Some(all)));
        }
        // Numbers get no suggestions.
        let hint = did_you_mean(wanted, known.iter().map(String::as_str)).filter(|_| wanted.parse::<u64>().is_err());
        let help = hint.map_or_else(|| all.clone(), |hint| format!("{hint}\n{all}"));
        return Err(refused("input/no-step", format!("no step `{wanted}` in the case"), Some(help)));
    }
    Ok(chosen)
}

pub(super) fn refused(code: &'static str, message: String, help: Option<String>) -> SessionError {
    SessionError::BadRequest(Box::new(Diagnostic::error(code, message).maybe_help(help)))
}
