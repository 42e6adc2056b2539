//! Replaying the requested runs with the current texts.

use super::base::{ReplayProject, ReplayProjects};
use super::effects::rewritten;
use super::gates::gates;
use super::pass::{ReplayPass, ReplayedCase, ReplayedVerdict};
use super::replay_report::{ChangedAnswer, ChangedVerdict, Flip, ReplayReport, UnknownOutcome};
use super::replay_walk::{AnswerChanged, ReplayedDecision};
use super::verdicts::changed_verdict;
use crate::StepEnd;
use asterisk_project::Project;
use asterisk_session::{Record, Session, SessionError};
use asterisk_walk::{FailedRule, Name, Plan, TextChange};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The options of a replay.
#[derive(Clone, Debug)]
pub struct ReplaySpec {
    /// The runs; all of the store if empty.
    pub runs: Vec<String>,
    /// The pipeline to replay with, by path, stem or name; each run's own if `None`.
    pub pipeline: Option<String>,
    /// The most cases walked concurrently; at least 1.
    pub parallel: usize,
}

/// Replays runs with the current project, each with the settings that it was started with where the session has none of its own.
pub fn replay(session: &Session, spec: &ReplaySpec) -> Result<ReplayReport, SessionError> {
    let mut done = ReplayReport::default();
    let mut changed: BTreeSet<TextChange> = BTreeSet::new();
    each_run(session, spec, &mut done.left_out, |record, run, base, then| {
        let plans = [Arc::clone(&base.project.plan)];
        let pass = ReplayPass::new((record, run), (base, then), &plans, spec.parallel);
        let plan = &plans[0];
        let (first_flip, first_answer) = (done.flips.len(), done.answers.len());
        done.cases += pass.cases(
            |passed| CaseComparison::of(run, base, plan, passed),
            |case| {
                done.decisions += case.decisions;
                done.flips.extend(case.flips);
                done.answers.extend(case.answers);
                done.verdicts += usize::from(case.verdict);
                if let Some(changed) = case.changed_verdict {
                    let flipped = changed.from != changed.to;
                    if flipped { &mut done.changed_verdicts } else { &mut done.moved_verdicts }.push(changed);
                }
                done.failed_rules.add(&case.name, case.failed_rules);
                done.unknown.extend(case.unknown);
            },
        )?;
        let reviewed = gates(record, run, plan)?;
        done.decisions += reviewed.decisions;
        done.flips.extend(reviewed.flips);
        done.unknown.extend(reviewed.unknown);
        done.effects.extend(rewritten(record, run, base, (&done.flips[first_flip..], &done.answers[first_answer..]))?);
        if let Some(last) = record.texts(run)?.pop() {
            changed.extend(last.manifest.changes(&base.project.manifest().0));
        }
        done.runs.push(run.to_owned());
        Ok(())
    })?;
    done.changed = changed.into_iter().collect();
    Ok(done)
}

/// Visits the requested runs, each with the project to replay with and its original project, if known. Without names, runs of
/// another pipeline than the requested one are skipped, and those that cannot be replayed are left out.
pub(super) fn each_run(
    session: &Session,
    spec: &ReplaySpec,
    left_out: &mut Vec<(String, String)>,
    mut visit: impl FnMut(&Record, &str, &ReplayProject, Option<&Project>) -> Result<(), SessionError>,
) -> Result<(), SessionError> {
    let record = session.record()?;
    let mut bases = ReplayProjects::new(session, spec.pipeline.as_deref());
    let all = spec.runs.is_empty();
    for run in record.runs(&spec.runs)? {
        match bases.of(&run) {
            Ok(base) => {
                let other = base.project.plan.pipeline.name.value != record.store().run(&run)?.pipeline;
                if all && spec.pipeline.is_some() && other {
                    continue;
                }
                let then = bases.then(&record, &run)?;
                visit(&record, &run, &base, then.as_deref())?;
            }
            // A pipeline that is gone or was replaced is skipped; one that does not link is an error.
            Err(SessionError::BadRequest(why)) if all && spec.pipeline.is_none() => left_out.push((run, why.message.clone())),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// The findings on a case.
#[derive(Default)]
struct CaseComparison {
    /// The case's id.
    name: String,
    decisions: usize,
    flips: Vec<Flip>,
    answers: Vec<ChangedAnswer>,
    /// Whether the verdict was made again.
    verdict: bool,
    changed_verdict: Option<ChangedVerdict>,
    failed_rules: Vec<FailedRule>,
    unknown: Vec<UnknownOutcome>,
}

impl CaseComparison {
    fn of(run: &str, base: &ReplayProject, plan: &Plan, passed: ReplayedCase<'_>) -> Self {
        let ReplayedCase { case, walks, verdicts } = passed;
        let Some(walk) = walks.into_iter().next() else { return Self::default() };
        let flips = walk.decisions.iter().enumerate().filter(|(_, decision)| decision.flipped());
        let unknown = |(node, path): (Name, Name)| {
            let (run, case) = (run.to_owned(), case.to_owned());
            UnknownOutcome { run, case, path: path.into(), node: node.into() }
        };
        let answer = |answer: &AnswerChanged| ChangedAnswer {
            run: run.to_owned(),
            case: case.to_owned(),
            path: answer.path.to_string(),
            node: answer.node.to_string(),
            fields: answer.fields.clone(),
        };
        let mut result = Self {
            name: case.to_owned(),
            decisions: walk.decisions.iter().filter(|decision| decision.place.is_some()).count(),
            flips: flips.filter_map(|(at, _)| flip(run, case, base, plan, &walk.decisions[at..])).collect(),
            answers: walk.answers.iter().map(answer).collect(),
            unknown: walk.unknown.map(unknown).into_iter().collect(),
            ..Self::default()
        };
        if let Some(ReplayedVerdict { event, before, now }) = verdicts.into_iter().next().flatten() {
            match now {
                Some(now) => {
                    result.verdict = true;
                    result.changed_verdict = changed_verdict((run, case), &before, &now);
                    result.failed_rules.clone_from(&now.failed);
                }
                None if result.unknown.is_empty() => result.unknown.push(unknown((event.node, event.path))),
                None => {}
            }
        }
        result
    }
}

/// The flip at the first of these decisions.
fn flip(run: &str, case: &str, base: &ReplayProject, plan: &Plan, decisions: &[ReplayedDecision]) -> Option<Flip> {
    let (decision, beyond) = decisions.split_first()?;
    let before = decision.before.as_ref()?;
    let (from, from_node, _) = words(before);
    let (to, to_node, because) = words(&decision.now);
    // A sub-pipeline has vars of its own.
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
        // A walk beyond the step cap does not reach the node.
        then: beyond.iter().filter(|next| next.place.is_some()).map(|next| next.node.as_str().to_owned()).collect(),
        because,
        miss,
    })
}

/// A step's result in words: edge, target and reason.
pub(super) fn words(end: &StepEnd) -> (String, Option<String>, String) {
    match end {
        StepEnd::To { to, edge, because, .. } => (edge.as_str().to_owned(), Some(to.as_str().to_owned()), because.to_string()),
        StepEnd::Over => ("end".to_owned(), None, "the node has no edges: the walk completes".to_owned()),
        StepEnd::Failed { kind, message } => (kind.clone(), None, message.clone()),
        StepEnd::Open => ("nothing".to_owned(), None, "the record ends here".to_owned()),
    }
}
