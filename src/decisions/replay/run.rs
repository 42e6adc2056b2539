//! What would flip: the runs asked for, decided again by the texts of now.

use super::base::{ReplayProject, ReplayProjects};
use super::effects::rewritten;
use super::pass::{ReplayPass, ReplayedCase};
use super::recorded_walk::AdvisedNodes;
use super::replay_report::{Flip, ReplayReport, UnknownOutcome};
use super::replay_walk::ReplayedDecision;
use super::reuse_check::settled;
use crate::decisions::StepEnd;
use crate::project::Project;
use crate::session::{Record, Session, SessionError};
use crate::walk::{Plan, TextChange};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What to replay, and by what.
#[derive(Clone, Debug)]
pub struct ReplaySpec {
    /// The runs; all of the store if there are none.
    pub runs: Vec<String>,
    /// The pipeline to go by, by path, stem or name; each run's own if none is named.
    pub pipeline: Option<String>,
    /// How many cases are walked at once; at least 1.
    pub parallel: usize,
}

/// Decides runs again by the project of now, each with the settings that it was started with where the session has none of its own.
pub fn replay(session: &Session, asked: &ReplaySpec) -> Result<ReplayReport, SessionError> {
    let mut done = ReplayReport::default();
    let mut changed: BTreeSet<TextChange> = BTreeSet::new();
    each_run(session, asked, &mut done.left_out, |record, run, base, then| {
        let plans = [Arc::clone(&base.project.plan)];
        let settled = settled(then, base, &plans);
        let advised = &AdvisedNodes::of(then);
        let pass = ReplayPass { record, run, base, plans: &plans, settled: &settled, advised, parallel: asked.parallel };
        let plan = &plans[0];
        done.cases += pass.cases(
            |passed| told(run, base, plan, passed),
            |(decisions, flips, unknown)| {
                done.decisions += decisions;
                done.flips.extend(flips);
                done.unknown.extend(unknown);
            },
        )?;
        let own = done.flips.iter().position(|flip| flip.run == run).unwrap_or(done.flips.len());
        done.effects.extend(rewritten(record, run, base, &done.flips[own..])?);
        if let Some(last) = record.texts(run)?.pop() {
            changed.extend(last.manifest.changes(&base.project.manifest().0));
        }
        done.runs.push(run.to_owned());
        Ok(())
    })?;
    done.changed = changed.into_iter().collect();
    Ok(done)
}

/// Goes through the runs that are asked for, each with what to go by. Without names, runs of another pipeline than the one asked
/// for are passed over, and those that cannot be replayed are left out. Each with the project that it went by, if it was one.
pub(super) fn each_run(
    session: &Session,
    asked: &ReplaySpec,
    left_out: &mut Vec<(String, String)>,
    mut visit: impl FnMut(&Record, &str, &ReplayProject, Option<&Project>) -> Result<(), SessionError>,
) -> Result<(), SessionError> {
    let record = session.record()?;
    let mut bases = ReplayProjects::new(session, asked.pipeline.as_deref());
    let all = asked.runs.is_empty();
    for run in record.runs(&asked.runs)? {
        match bases.of(&run) {
            Ok(base) => {
                let other = base.project.plan.pipeline.name.value != record.store().run(&run)?.pipeline;
                if all && asked.pipeline.is_some() && other {
                    continue;
                }
                let then = bases.then(&record, &run)?;
                visit(&record, &run, &base, then.as_deref())?;
            }
            // A pipeline that is gone, or that is another one's by now; what does not link must be known.
            Err(SessionError::Asked(why)) if all && asked.pipeline.is_none() => left_out.push((run, why.message.clone())),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

type CaseFlips = (usize, Vec<Flip>, Option<UnknownOutcome>);

/// What is told of a case.
fn told(run: &str, base: &ReplayProject, plan: &Plan, passed: ReplayedCase<'_>) -> CaseFlips {
    let ReplayedCase { case, walks, .. } = passed;
    let Some(walk) = walks.into_iter().next() else { return CaseFlips::default() };
    let made = walk.decisions.iter().filter(|decision| decision.place.is_some()).count();
    let flips = walk.decisions.iter().enumerate().filter(|(_, decision)| decision.flipped());
    let flips = flips.filter_map(|(at, _)| flip(run, case, base, plan, &walk.decisions[at..])).collect();
    let unknown = walk.unknown.map(|(node, path)| UnknownOutcome {
        run: run.to_owned(),
        case: case.to_owned(),
        path: path.into(),
        node: node.into(),
    });
    (made, flips, unknown)
}

/// The first of these decisions, which goes another way.
fn flip(run: &str, case: &str, base: &ReplayProject, plan: &Plan, decisions: &[ReplayedDecision]) -> Option<Flip> {
    let (decision, beyond) = decisions.split_first()?;
    let before = decision.before.as_ref()?;
    let (from, from_node, _) = words(before);
    let (to, to_node, because) = words(&decision.now);
    // The vars of a walk in the place of a node are its own.
    let vars = Some(plan.vars()).filter(|_| !decision.path.contains('/'));
    let miss = decision.seen.as_ref().and_then(|seen| base.misses((&decision.path, &decision.node), &from, seen, vars));
    Some(Flip {
        run: run.to_owned(),
        case: case.to_owned(),
        path: decision.path.as_str().to_owned(),
        node: decision.node.as_str().to_owned(),
        from,
        to,
        from_node,
        to_node,
        // A walk that is over its cap does not come to the node any more.
        then: beyond.iter().filter(|next| next.place.is_some()).map(|next| next.node.as_str().to_owned()).collect(),
        because,
        miss,
    })
}

/// A way in words: by what, where to, and why.
pub(super) fn words(went: &StepEnd) -> (String, Option<String>, String) {
    match went {
        StepEnd::To { to, edge, because, .. } => (edge.as_str().to_owned(), Some(to.as_str().to_owned()), because.to_string()),
        StepEnd::Over => ("end".to_owned(), None, "the node has no edge: the walk completes".to_owned()),
        StepEnd::Failed { kind, message } => (kind.clone(), None, message.clone()),
        StepEnd::Open => ("nothing".to_owned(), None, "the record ends here".to_owned()),
    }
}
