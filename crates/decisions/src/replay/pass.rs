//! One pass through the cases of a run: each is read once, and replayed with each of several plans.

use super::answer_check::AnswerCheck;
use super::answer_maker::{AnswerMaker, ScriptedAnswers};
use super::base::ReplayProject;
use super::case_record::{CaseRecord, VerdictAgain};
use super::recorded_walk::{AdvisedNodes, RecordedVerdictEvent, RecordedWalk};
use super::replay_walk::{ReplayOutcome, ReplayWalk};
use super::reuse_check::{ReuseCheck, reuse};
use crate::steps::damaged;
use asterisk_base::model::{Hash, Kind, Launch};
use asterisk_pipeline::NodeIx;
use asterisk_project::Project;
use asterisk_script::View;
use asterisk_session::{Record, SessionError, WorkerPool};
use asterisk_store::StoreReading;
use asterisk_walk::{Plan, Verdict};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// How many cases a thread takes at a time.
const STRETCH: usize = 16;

/// The most artifacts in the cache.
const KEPT: usize = 4096;

/// The largest artifact that is cached, in bytes of its text.
const LARGE: usize = 4096;

/// A pass.
pub(super) struct ReplayPass<'a> {
    pub(super) record: &'a Record,
    pub(super) run: &'a str,
    pub(super) base: &'a ReplayProject,
    /// Plans of the base, each with other vars.
    pub(super) plans: &'a [Arc<Plan>],
    /// The most cases walked concurrently; at least 1.
    pub(super) parallel: usize,
    /// The reusable decisions, by plan.
    reuse: Vec<ReuseCheck>,
    /// The scripted answers that may differ, by plan.
    checks: Vec<AnswerCheck>,
    /// The nodes at which advisories may have fired.
    advised: AdvisedNodes,
    /// The address of recorded rules of the verdict that differ from those of a plan in weights alone, by plan.
    only_weights: Vec<Option<Hash>>,
}

/// A replayed case.
pub(super) struct ReplayedCase<'p> {
    pub(super) case: &'p str,
    /// One per plan.
    pub(super) walks: Vec<ReplayOutcome>,
    /// One per plan: the verdict, if its rules or vars are not those of the record.
    pub(super) verdicts: Vec<Option<ReplayedVerdict>>,
}

/// A verdict that was made by other rules than those of the record.
pub(super) struct ReplayedVerdict {
    /// The record of it.
    pub(super) event: RecordedVerdictEvent,
    pub(super) before: Verdict,
    /// `None` if the rules read what was not recorded.
    pub(super) now: Option<Verdict>,
}

/// A cache of artifacts by address and node: most occur in one case only, so the first time only the key is remembered.
#[derive(Default)]
struct ArtifactCache(Mutex<HashMap<ArtifactKey, Option<View>>>);

/// The address of an artifact, and the node whose schema gives it its shape: that of a pipeline at a fixed address in memory.
type ArtifactKey = (Hash, usize, usize);

impl<'a> ReplayPass<'a> {
    /// A pass through a run, given its original project, if that is known.
    pub(super) fn new(
        (record, run): (&'a Record, &'a str),
        (base, then): (&'a ReplayProject, Option<&Project>),
        plans: &'a [Arc<Plan>],
        parallel: usize,
    ) -> Self {
        let only_weights = |plan: &Arc<Plan>| {
            let (before, now) = (then?.plan.verdict.as_ref()?, plan.verdict.as_ref()?);
            (before.functions == now.functions).then_some(before.address)
        };
        Self {
            record,
            run,
            base,
            plans,
            parallel,
            reuse: reuse(then, base, plans),
            checks: plans.iter().map(|plan| AnswerCheck::of(then, plan, &base.same)).collect(),
            advised: AdvisedNodes::of(then),
            only_weights: plans.iter().map(only_weights).collect(),
        }
    }
}

impl ReplayPass<'_> {
    /// Maps every case and passes the results on, in the order of the cases.
    pub(super) fn cases<R: Send>(
        &self,
        make: impl Fn(ReplayedCase<'_>) -> R + Sync,
        mut take: impl FnMut(R),
    ) -> Result<usize, SessionError> {
        let store = self.record.store();
        let seed = self.record.settings(self.run)?.seed;
        let launch = store.launch_alone(self.run)?;
        let cases: Vec<String> = store.case_names(self.run)?.into_iter().map(|(case, _)| case).collect();
        let artifacts = ArtifactCache::default();
        let stretch = |cases: &&[String]| {
            store.reading(self.run, |reading| {
                let one = |case: &String| Ok(make(self.one((reading, &launch), seed, case, &artifacts)?));
                cases.iter().map(one).collect::<Result<Vec<R>, SessionError>>()
            })
        };
        let stretches: Vec<&[String]> = cases.chunks(STRETCH).collect();
        WorkerPool::new(self.parallel).in_order(&stretches, stretch, |made| {
            made.into_iter().for_each(&mut take);
            Ok::<_, SessionError>(())
        })?;
        Ok(cases.len())
    }

    fn one<'p>(
        &self,
        (reading, launch): (&StoreReading<'_>, &Launch),
        seed: u64,
        case: &'p str,
        artifacts: &ArtifactCache,
    ) -> Result<ReplayedCase<'p>, SessionError> {
        let recorded_walk = RecordedWalk::read(reading, case, &self.advised)?;
        // Every plan needs the same ones.
        let mut own: Vec<(ArtifactKey, View)> = Vec::new();
        let mut artifact = |hash: &Hash, plan: &Plan, node: NodeIx| {
            let key = (*hash, Arc::as_ptr(&plan.pipeline).addr(), node.0);
            if let Some((_, view)) = own.iter().find(|(known, _)| *known == key) {
                return Ok(view.clone());
            }
            let view = Self::artifact(reading, artifacts, key, &plan.node(node).kind)?;
            own.push((key, view.clone()));
            Ok(view)
        };
        let needs = recorded_walk.needs.map_or_else(|| Ok(Vec::new()), |hash| found(reading, &hash))?;
        let same = &self.base.same;
        let case_record = CaseRecord::new(reading, (self.run, launch), case, recorded_walk.verdict.as_ref());
        let mut walks = Vec::with_capacity(self.plans.len());
        let mut verdicts = Vec::with_capacity(self.plans.len());
        for (at, plan) in self.plans.iter().enumerate() {
            let scripted = ScriptedAnswers::new(&case_record, plan, self.only_weights[at]);
            let answers = Some(AnswerMaker { answers: &scripted, check: &self.checks[at] });
            let reuse = Some(&self.reuse[at]);
            let walk = ReplayWalk { plan, same, reuse, answers, seed, case, inherited: None, needs: &needs, follow: true };
            walks.push(walk.case(&recorded_walk, &mut artifact)?);
            verdicts.push(Self::verdict(&case_record, &scripted, plan, recorded_walk.verdict.as_ref())?);
        }
        Ok(ReplayedCase { case, walks, verdicts })
    }

    /// The verdict of a case by a plan, if it was made by other rules.
    fn verdict(
        record: &CaseRecord<'_>,
        scripted: &ScriptedAnswers<'_>,
        plan: &Plan,
        event: Option<&RecordedVerdictEvent>,
    ) -> Result<Option<ReplayedVerdict>, SessionError> {
        let Some(rules) = &plan.verdict else { return Ok(None) };
        let Some(event) = event.filter(|event| event.rules != rules.address) else { return Ok(None) };
        let now = match scripted.verdict(plan)? {
            VerdictAgain::Made(verdict, _) => Some(*verdict),
            VerdictAgain::Unknown | VerdictAgain::None => None,
        };
        let before = record.recorded_verdict()?.unwrap_or_default();
        Ok(Some(ReplayedVerdict { event: event.clone(), before, now }))
    }

    /// Reads an artifact in the shape of a node's schema, through the cache.
    fn artifact(reading: &StoreReading<'_>, kept: &ArtifactCache, key: ArtifactKey, kind: &Kind) -> Result<View, SessionError> {
        let known = kept.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(Some(view)) = known {
            return Ok(view);
        }
        let hash = key.0;
        let look = |text: &str| (text.len(), serde_json::from_str::<Value>(text).map(|value| View::of(&value, kind, "artifact")));
        let found = reading.content(&hash, look)?;
        let (size, view) = found.ok_or_else(|| damaged(format!("the artifact {hash} is missing")))?;
        let view = view.map_err(|error| damaged(format!("the artifact {hash} is not valid JSON: {error}")))?;
        if size <= LARGE {
            let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= KEPT {
                kept.clear();
            }
            kept.insert(key, known.map(|_| view.clone()));
        }
        Ok(view)
    }
}

/// Reads the results of a scheduler's queries.
fn found(reading: &StoreReading<'_>, hash: &Hash) -> Result<Vec<(String, View)>, SessionError> {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let value = reading.content(hash, read)?.ok_or_else(|| damaged(format!("the scheduler input {hash} is missing")))?;
    let view = |(name, value): (&String, &Value)| (name.clone(), View::of(value, &Kind::Any, "ctx.needs"));
    Ok(value.as_object().into_iter().flatten().map(view).collect())
}
