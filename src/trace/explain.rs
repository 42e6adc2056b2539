//! Why a case went the way it went.

use super::asked::{Asked, CaseList, Found, choose, find, status};
use super::decisions::Decisions;
use super::retell;
use super::steps::Step;
use super::told::Explained;
use crate::project::Project;
use crate::script::probe::Probes;
use crate::session::{Session, SessionError};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What there is to say.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// Of a case.
    Case(Box<Explained>),
    /// The cases, of which one must be named.
    Cases(CaseList),
}

/// Explains the steps of a case: each decision is made again by the recorded texts on what it was made on, watched.
pub fn explain(session: &Session, asked: &Asked) -> Result<Explanation, SessionError> {
    let decisions = Decisions::open(session)?;
    let (run, case, steps) = match find(&decisions, asked)? {
        Found::Case { run, case, steps } => (run, case, steps),
        Found::Cases(cases) => return Ok(Explanation::Cases(cases)),
    };
    let case_name = decisions.record().store().case(&run, &case)?.name;
    // The node's names are those of the graph that the case went by last.
    let last = steps.last().map(|step| decisions.project(&run, step, Probes::All)).transpose()?;
    let done = last.as_ref().map(|project| project.plan.done.to_string());
    let status = status(&steps, done.as_deref());
    let steps = match &last {
        Some(project) => choose(steps, asked, &project.plan.pipeline)?,
        None => steps,
    };
    let changed = changed(&decisions, &run, &steps)?;
    let mut told = Vec::with_capacity(steps.len());
    for step in &steps {
        let project = decisions.project(&run, step, Probes::All)?;
        told.push(tell(&decisions, &run, step, &project, &changed)?);
    }
    Ok(Explanation::Case(Box::new(Explained {
        pipeline: last.map_or_else(String::new, |project| project.plan.pipeline.name.value.clone()),
        run,
        case,
        name: case_name,
        status,
        detailed: asked.step.is_some(),
        changed: changed.into_iter().collect(),
        steps: told,
    })))
}

fn tell(
    decisions: &Decisions,
    run: &str,
    step: &Step,
    project: &Arc<Project>,
    changed: &BTreeSet<String>,
) -> Result<super::told::StepTold, SessionError> {
    let Some(decision) = decisions.decisions(run, vec![step.clone()])?.pop() else {
        let pipeline = &project.plan.pipeline;
        return Ok(retell::undecided(step, pipeline.node(&step.node).map(|node| pipeline.at(node))));
    };
    let again = decision.again(project)?;
    Ok(retell::decided(step, &again, project, changed))
}

/// The texts that are other by now than those that these steps went by.
pub(super) fn changed(decisions: &Decisions, run: &str, steps: &[Step]) -> Result<BTreeSet<String>, SessionError> {
    let mut found = BTreeSet::new();
    for texts in decisions.texts(run)? {
        if steps.iter().any(|step| step.manifest == texts.address) {
            let changes = decisions.record().changed_since(run, &texts.manifest)?;
            // Only what decides can change a decision.
            let decides = |what: &String| what.starts_with("scripts/") || what.starts_with("pipelines/");
            found.extend(changes.into_iter().map(|change| change.what).filter(decides));
        }
    }
    Ok(found)
}
