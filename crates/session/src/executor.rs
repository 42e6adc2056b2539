//! Walking the cases of a run, batch by batch, on several threads.

use super::SessionError;
use super::queries::QueryRouter;
use super::revisions::RunRevisions;
use super::run_batches::{CaseSchedule, RunBatch, phase_of};
use super::run_context::{RunContext, WalkedBy};
use super::run_settings::text;
use super::work::{CaseReader, CaseWork};
use asterisk_adapters::agent::manual_names;
use asterisk_base::model::canonical;
use asterisk_project::Project;
use asterisk_store::{Store, StoreError};
use asterisk_walk::RevisionSource;
use asterisk_walk::{
    Answerer, CaseParams, Cluster, Clustering, Commit, Content, Event, EventBody, Journal, JournalError, Name, Plan, StepContext,
    WalkEnd, WalkStatus, Walker,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Executes the walks of one run.
pub(super) struct RunExecutor<'a> {
    pub(super) run: &'a RunContext<'a>,
    pub(super) revisions: &'a RunRevisions<'a>,
    pub(super) answer: &'a dyn Answerer,
    /// The journal, as the auditor reads it if the run is audited.
    pub(super) journal: &'a dyn Journal,
}

/// A case in progress.
pub(super) struct ActiveCase {
    pub(super) place: CaseSchedule,
    pub(super) work: Mutex<CaseWork>,
}

impl ActiveCase {
    pub(super) fn work(&self) -> MutexGuard<'_, CaseWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunExecutor<'_> {
    /// Walks every case as far as possible, one phase after the other, from where the run's own events left it. The results are
    /// in the order of the work.
    pub(super) fn walk(&self, work: Vec<CaseWork>, needs: &mut QueryRouter) -> Result<Vec<CaseWork>, SessionError> {
        let project = self.revisions.project();
        let pipeline = &project.plan.pipeline;
        let walking = work.into_iter().map(|work| {
            let place = CaseSchedule { wave: work.wave, turn: 1, phase: work.phase };
            ActiveCase { place, work: Mutex::new(work) }
        });
        let mut walking: Vec<ActiveCase> = walking.collect();
        let (mut batch, mut begun) = (RunBatch::FIRST, true);
        for (seq, event) in self.run.store().run_events(self.run.id())? {
            let EventBody::Barrier { wave, phase, turn, clusters } = event.what else { continue };
            let clusters = clusters.map(|clusters| clusters_at(self.run.store(), &clusters)).transpose()?.unwrap_or_default();
            defer_members(&mut walking, &clusters);
            needs.advance(seq, clusters);
            batch = RunBatch { wave, phase, turn };
        }
        self.walk_reopened(&mut walking, needs)?;
        loop {
            if walking.iter().any(|case| case.place.walks(batch, pipeline)) {
                if !begun {
                    self.begin(batch, &mut walking, needs)?;
                }
                // While an answer is pending, no case enters a later phase.
                if self.batch(batch, &mut walking, needs)? {
                    break;
                }
            }
            if self.run.stop.load(Ordering::Relaxed) {
                break;
            }
            let Some(next) = batch.next(pipeline) else { break };
            (batch, begun) = (next, false);
        }
        let over = walking.into_iter().map(|case| {
            let mut work = case.work.into_inner().unwrap_or_else(PoisonError::into_inner);
            // Cases that were pending when the run was stopped are paused with it.
            if work.status == WalkStatus::Running {
                work.status = WalkStatus::Paused;
            }
            if let Some((_, state)) = work.whole.as_deref_mut() {
                state.status = work.status;
            }
            work
        });
        Ok(over.collect())
    }

    /// Records the barrier before a batch: queries see what is committed so far.
    fn begin(&self, batch: RunBatch, walking: &mut [ActiveCase], needs: &mut QueryRouter) -> Result<(), SessionError> {
        let clusters = self.clusters(batch, walking)?;
        let content = (!clusters.is_empty()).then(|| Cluster::content(&clusters));
        let RunBatch { wave, phase, turn } = batch;
        let what = EventBody::Barrier { wave, phase, turn, clusters: content.clone() };
        let event = Event { case: "".into(), path: "".into(), at: self.run.session.setup().clock.now(), what };
        self.run.journal.commit(Commit::of(vec![event]))?;
        let events = self.run.store().run_events(self.run.id())?;
        let last = events.into_iter().rfind(|(_, event)| matches!(event.what, EventBody::Barrier { .. }));
        let (seq, event) = last.ok_or_else(|| StoreError::Damaged("a barrier was not recorded".into()))?;
        self.run.watch.event(&event);
        defer_members(walking, &clusters);
        needs.advance(seq, clusters);
        Ok(())
    }

    /// The clusters of the cases that would walk in a batch. A script returns the features of each case: cases with equal
    /// features are alike; a case with none joins no cluster.
    fn clusters(&self, batch: RunBatch, walking: &[ActiveCase]) -> Result<Vec<Cluster>, SessionError> {
        let plan = &*Arc::clone(&self.revisions.current()?.plan);
        let (Some(spec), Some(by)) = (&plan.pipeline.clusters, &plan.cluster) else { return Ok(Vec::new()) };
        if !batch.forms_clusters(&plan.pipeline) {
            return Ok(Vec::new());
        }
        let project = self.revisions.project();
        let cases = self.run.cases(&project);
        let members: Vec<&ActiveCase> = walking.iter().filter(|case| case.place.walks(batch, &plan.pipeline)).collect();
        let key = |walking: &&ActiveCase| {
            let mut work = walking.work();
            let whole = work.take(&cases)?;
            let (case, state) = &*whole;
            let node = state.node.as_deref().and_then(|name| plan.pipeline.node(name)).unwrap_or(plan.pipeline.start);
            let step = StepContext::between(plan, node, state);
            let kept = work.params.as_deref().and_then(OnceLock::get).map(CaseParams::anew);
            let params = kept.unwrap_or_else(|| CaseParams::new(self.run.id(), &self.run.launch, case));
            let params = params.for_step(case, &step, &step.state(None), &[], &|_| Vec::new());
            let key = by.respond(&params.view, plan.vars()).map_err(|error| SessionError::Texts((*error).into()))?;
            let alike = key.as_object().is_some_and(|parts| !parts.is_empty());
            work.whole = self.run.keep.then_some(whole);
            Ok::<_, SessionError>((work.id.clone(), alike.then(|| canonical(&key))))
        };
        let mut clustering = Clustering::new(spec.most);
        self.run.pool.in_order(&members, key, |(case, key)| {
            clustering.add(case, key);
            Ok(())
        })?;
        Ok(clustering.finish())
    }

    /// Walks reopened cases as far as possible, outside of batches.
    fn walk_reopened(&self, walking: &mut [ActiveCase], needs: &QueryRouter) -> Result<(), SessionError> {
        let show = |event: &Event| self.run.watch.event(event);
        let project = self.revisions.project();
        let walker = Walker { until: usize::MAX, ..self.walker(&project.plan, needs, RunBatch::FIRST, &show) };
        let cases = self.run.cases(&project);
        for case in walking {
            if case.work().alone {
                if case.place.phase.is_some() {
                    self.one(&walker, &cases, case)?;
                }
                // It belongs to no batch.
                case.place.phase = None;
            }
        }
        Ok(())
    }

    pub(super) fn walker<'w>(
        &'w self,
        plan: &'w Plan,
        needs: &'w QueryRouter,
        batch: RunBatch,
        show: &'w (dyn Fn(&Event) + Sync),
    ) -> Walker<'w> {
        Walker {
            plan,
            inherited: None,
            plans: Some(self.revisions),
            shadow: self.run.candidate.as_ref().map(|project| &*project.plan),
            answer: self.answer,
            needs,
            journal: self.journal,
            clock: &*self.run.session.setup().clock,
            since: self.run.session.setup().clock.now(),
            run: self.run.id(),
            seed: self.run.settings.seed,
            launch: &self.run.launch,
            until: batch.limit(),
            parallel: self.run.pool.count(),
            stop: self.run.stop,
            watch: Some(show),
        }
    }

    /// Walks the cases of a batch as far as they may. Returns whether any is pending on an external answer.
    fn batch(&self, batch: RunBatch, walking: &mut [ActiveCase], needs: &QueryRouter) -> Result<bool, SessionError> {
        let show = |event: &Event| self.run.watch.event(event);
        let project = self.revisions.project();
        let walker = self.walker(&project.plan, needs, batch, &show);
        let pipeline = &project.plan.pipeline;
        let members: Vec<&ActiveCase> = walking.iter().filter(|case| case.place.walks(batch, pipeline)).collect();
        self.run.watch.phase(batch.limit() + 1, pipeline.phases, members.len());
        let manual = manual_names(&self.run.session.setup.agents);
        if self.run.walked_by == WalkedBy::Workers {
            let walking: Vec<&ActiveCase> = members.iter().copied().filter(|case| !self.rests(case, &manual)).collect();
            self.hand_out(batch, &walking, &project)?;
        } else {
            self.walk_here(&walker, &members, &project, &manual)?;
        }
        let waits = members.iter().any(|case| case.work().status == WalkStatus::Paused);
        for case in walking.iter_mut().filter(|case| !case.work().alone) {
            case.place.phase = case.work.get_mut().unwrap_or_else(PoisonError::into_inner).phase;
        }
        Ok(waits)
    }

    /// Walks cases in this process.
    fn walk_here(
        &self,
        walker: &Walker<'_>,
        members: &[&ActiveCase],
        project: &Project,
        manual: &[String],
    ) -> Result<(), SessionError> {
        let next = AtomicUsize::new(0);
        let broken: Mutex<Option<SessionError>> = Mutex::new(None);
        let cases = self.run.cases(project);
        let walk_next = || {
            while let Some(case) = members.get(next.fetch_add(1, Ordering::Relaxed)) {
                if self.rests(case, manual) {
                    continue;
                }
                if let Err(error) = self.one(walker, &cases, case) {
                    self.run.stop.store(true, Ordering::Relaxed);
                    broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                    return;
                }
            }
        };
        if !self.run.pool.each(walk_next) {
            let lost = JournalError::Failed("a walk ended in a panic, which is a bug; the run can be resumed".into());
            broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(lost.into());
        }
        if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        Ok(())
    }

    /// Whether a case is pending on an answer by one of `manual`, while the answer of another case was submitted.
    fn rests(&self, walking: &ActiveCase, manual: &[String]) -> bool {
        let mut work = walking.work();
        if self.run.given.as_ref().is_none_or(|given| work.id == given.case) {
            return false;
        }
        let waits = work.own.as_ref().and_then(|own| own.waits.as_ref());
        work.rested = work.status == WalkStatus::Paused && waits.is_some_and(|via| manual.iter().any(|name| via == name));
        work.rested
    }

    pub(super) fn one(&self, walker: &Walker<'_>, cases: &CaseReader<'_>, walking: &ActiveCase) -> Result<(), SessionError> {
        let mut work = walking.work();
        let mut whole = work.take(cases)?;
        let (case, state) = &mut *whole;
        let span = work.span(case);
        let _within = span.enter();
        let params = work.params.take();
        let keeps = params.is_some();
        let params = params.unwrap_or_default();
        let end = walker.walk_with(case, state, &params)?;
        work.note(state, phase_of(state, &walker.plan.pipeline));
        self.run.watch.case_went(case);
        if !matches!(end, WalkEnd::Waiting) {
            self.run.watch.case_over(case, state.status);
        }
        if let WalkEnd::Failed(failure) = end {
            work.fail(failure);
        }
        work.span = (work.phase.is_some() && !span.is_disabled()).then(|| Box::new(span.clone()));
        // Until the end, for the summary.
        work.params = keeps.then_some(params);
        work.whole = self.run.keep.then_some(whole);
        Ok(())
    }
}

/// The clusters that a barrier recorded.
pub(super) fn clusters_at(store: &Store, content: &Content) -> Result<Vec<Cluster>, SessionError> {
    let text = text(store, &content.hash())?;
    Ok(serde_json::from_str(&text).map_err(|error| StoreError::Damaged(error.to_string()))?)
}

/// Puts all members of clusters but the representatives into the second turn.
fn defer_members(walking: &mut [ActiveCase], clusters: &[Cluster]) {
    let waiting: HashSet<&str> = clusters.iter().flat_map(Cluster::members).map(Name::as_str).collect();
    for case in walking {
        if waiting.contains(case.work.get_mut().unwrap_or_else(PoisonError::into_inner).id.as_str()) {
            case.place.turn = 2;
        }
    }
}
