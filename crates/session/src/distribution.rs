//! Walking the cases of a run in other processes: the run hands each batch out as jobs of the store, workers take them, and the run goes on
//! when the batch is done. Barriers, clusters and the conclusion stay with the run, so that its result is that of a run in one process.

use super::answers::{self, answerer};
use super::executor::{ActiveCase, RunExecutor, clusters_at};
use super::listener::{RunListener, StartedRun};
use super::resume::StoredRun;
use super::revisions::{RunRevisions, RunTexts};
use super::run_batches::{CaseSchedule, RunBatch, phase_of};
use super::run_context::{RunContext, WalkedBy};
use super::run_settings::RunSettings;
use super::work::CaseWork;
use super::worker_pool::WorkerPool;
use super::{Session, SessionError};
use asterisk_adapters::agent::TokenBudget;
use asterisk_project::{CurrentProject, Project};
use asterisk_store::{Durability, JobFigures, RunJournal, Store, TakenJob, WorkerState};
use asterisk_walk::{Event, EventBody, JournalError, WalkStatus, Walker};
use serde::Serialize;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tracing::info_span;

/// How often a run looks at its jobs.
const LOOK: Duration = Duration::from_millis(100);
/// How much later a job may appear than one that ended after it, in milliseconds: commits are in another order than their times.
const OVERLAP_MS: i64 = 10_000;
/// How often a worker sends a heartbeat.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long a worker without jobs waits before it looks again, at first and at most.
const IDLE: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// How many jobs a thread takes at once.
const JOBS_PER_THREAD: usize = 2;

/// What a worker is.
#[derive(Clone, Debug)]
pub struct WorkerSpec {
    /// Its name, unique in the store.
    pub name: String,
    /// How many cases it walks at once; at least 1.
    pub threads: usize,
    pub durability: Durability,
    /// Whether it ends when no job is waiting.
    pub once: bool,
    /// How long a case may take in one phase. After that its job is given to another worker.
    pub job_timeout: Duration,
}

/// What a worker did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkerSummary {
    /// Jobs that it finished.
    pub finished: u64,
    /// Jobs that failed.
    pub failed: u64,
    /// Jobs that were given to another worker meanwhile.
    pub lost: u64,
}

/// Receives the progress of a worker. Called from many threads.
pub trait WorkerListener: Sync {
    /// It has begun with a run.
    fn took(&self, _run: &str) {}
    /// It finished a job, or that failed for a reason, or was given to another worker.
    fn ended(&self, _job: &TakenJob, _end: &JobEnd) {}
    /// Its heartbeat reached the store.
    fn heartbeat(&self, _heartbeat: &WorkerHeartbeat) {}
}

/// The figures that come with a heartbeat.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkerHeartbeat {
    /// How many cases it holds.
    pub active: usize,
    /// The jobs of all runs.
    pub queue: JobFigures,
}

impl WorkerListener for () {}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    Finished,
    /// For this reason.
    Failed(String),
    /// Another worker has it.
    Lost,
}

/// Refuses to hand out cases whose walks depend on this machine or on each other between barriers.
pub(super) fn check(distribute: bool, project: &Project, goal: bool) -> Result<(), SessionError> {
    let plan = &project.plan;
    if !distribute || (!goal && plan.policy.is_none()) {
        return Ok(());
    }
    let message = format!("the cases of `{}` cannot be walked by workers: they use files of this machine", *plan.pipeline.name);
    Err(SessionError::bad_request("input/distribute", message, Some("run without --distribute".into())))
}

impl RunExecutor<'_> {
    /// Hands the cases of a batch out to workers, and waits until they are done.
    pub(super) fn hand_out(&self, batch: RunBatch, members: &[&ActiveCase], project: &Project) -> Result<(), SessionError> {
        let (store, run) = (self.run.store(), self.run.id());
        let barrier = |(seq, event): &(i64, Event)| matches!(event.what, EventBody::Barrier { .. }).then_some(*seq);
        let barrier = store.run_events(run)?.iter().rev().find_map(barrier).unwrap_or_default();
        let ids: Vec<_> = members.iter().map(|case| case.work().id.clone()).collect();
        store.hand_out(run, ids.iter().map(|id| &**id), (batch.limit(), barrier))?;
        let mut open: HashMap<&str, &ActiveCase> = ids.iter().map(|id| &**id).zip(members.iter().copied()).collect();
        let mut since = 0;
        loop {
            let figures = store.job_figures(run)?;
            self.run.watch.handed_out(&figures, &|| alive(store));
            for (id, at) in store.finished_jobs(run, since)? {
                since = since.max(at - OVERLAP_MS);
                if let Some(member) = open.remove(id.as_str()) {
                    self.take_over(member, barrier, project)?;
                }
            }
            if figures.waiting + figures.walking == 0 {
                break;
            }
            if self.run.stop.load(Ordering::Relaxed) {
                // What workers commit from now on is refused.
                store.withdraw(run)?;
                break;
            }
            std::thread::sleep(LOOK);
        }
        for member in ids.iter().filter_map(|id| open.remove(&**id)) {
            self.take_over(member, barrier, project)?;
        }
        let JobFigures { dead, .. } = store.job_figures(run)?;
        if dead > 0 {
            let why = format!(
                "{dead} of {} cases failed with several workers: `asterisk worker list` shows why, `asterisk worker retry` tries them again",
                members.len()
            );
            return Err(JournalError::Failed(why).into());
        }
        Ok(())
    }

    /// Reads what a worker did with a case since a barrier.
    fn take_over(&self, member: &ActiveCase, barrier: i64, project: &Project) -> Result<(), SessionError> {
        let cases = self.run.cases(project);
        let mut work = member.work();
        let (brief, events) = cases.unread(&work.id)?;
        let mut whole = if self.run.keep { cases.whole_if_sound(&work.id)? } else { brief };
        if whole.1.status == WalkStatus::Running && whole.1.waits().is_some() {
            whole.1.status = WalkStatus::Paused;
        }
        for (_, event) in events.iter().filter(|(seq, _)| *seq > barrier) {
            self.run.watch.event(event);
        }
        work.note(&whole.1, phase_of(&whole.1, &project.plan.pipeline));
        if work.phase.is_none() {
            self.run.watch.case_over(&whole.0, whole.1.status);
        }
        work.whole = self.run.keep.then(|| Box::new(whole));
        Ok(())
    }
}

/// The number of workers that take jobs; 0 if it cannot be read, which must not end a run.
fn alive(store: &Store) -> usize {
    let workers = store.workers().unwrap_or_default();
    workers.iter().filter(|worker| worker.state == WorkerState::Running && worker.seen_seconds_ago < 30).count()
}

/// The jobs that a worker holds, each since when.
type HeldJobs = Mutex<Vec<(TakenJob, Instant)>>;

fn held(jobs: &HeldJobs) -> MutexGuard<'_, Vec<(TakenJob, Instant)>> {
    jobs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker at work.
struct Working<'a> {
    session: &'a Session,
    store: &'a Store,
    spec: &'a WorkerSpec,
    watch: &'a dyn WorkerListener,
    observers: &'a dyn RunListener,
    stop: &'a AtomicBool,
    held: HeldJobs,
    state: Mutex<WorkerState>,
    summary: Mutex<WorkerSummary>,
}

impl Session {
    /// Takes jobs from the store and walks their cases, until it is stopped or drained. `observers` receive what happens in its runs.
    pub fn work(
        &self,
        spec: &WorkerSpec,
        (watch, observers): (&dyn WorkerListener, &dyn RunListener),
        stop: &AtomicBool,
    ) -> Result<WorkerSummary, SessionError> {
        let store = self.open_store(spec.durability)?;
        let state = Mutex::new(store.heartbeat(&spec.name, spec.threads, &[])?);
        let working = Working {
            session: self,
            store: &store,
            spec,
            watch,
            observers,
            stop,
            held: Mutex::default(),
            state,
            summary: Mutex::default(),
        };
        working.report_heartbeat();
        let over = AtomicBool::new(false);
        let worked = std::thread::scope(|scope| {
            scope.spawn(|| working.keep_alive(&over));
            let worked = working.jobs();
            over.store(true, Ordering::Relaxed);
            worked
        });
        store.deregister(&spec.name)?;
        worked?;
        Ok(working.summary.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Working<'_> {
    /// Says that the worker lives, and prolongs the jobs that it holds, unless they take too long.
    fn keep_alive(&self, over: &AtomicBool) {
        let mut last = Instant::now();
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(IDLE.0);
            if last.elapsed() < HEARTBEAT {
                continue;
            }
            last = Instant::now();
            let jobs: Vec<TakenJob> = held(&self.held)
                .iter()
                .filter(|(_, since)| since.elapsed() < self.spec.job_timeout)
                .map(|(job, _)| job.clone())
                .collect();
            // A store that cannot be reached for a while: the jobs are given to others, if that lasts.
            if let Ok(state) = self.store.heartbeat(&self.spec.name, self.spec.threads, &jobs) {
                *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
                self.report_heartbeat();
            }
        }
    }

    /// Reports a heartbeat. Figures that cannot be read must not end a worker.
    fn report_heartbeat(&self) {
        if let Ok(queue) = self.store.queue_figures() {
            self.watch.heartbeat(&WorkerHeartbeat { active: held(&self.held).len(), queue });
        }
    }

    fn state(&self) -> WorkerState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.state() == WorkerState::Draining
    }

    /// Takes jobs.
    fn take(&self) -> Result<Vec<TakenJob>, SessionError> {
        if self.is_over() || self.state() == WorkerState::Paused {
            return Ok(Vec::new());
        }
        let jobs = self.store.take_jobs(&self.spec.name, self.spec.threads * JOBS_PER_THREAD)?;
        let now = Instant::now();
        held(&self.held).extend(jobs.iter().map(|job| (job.clone(), now)));
        Ok(jobs)
    }

    fn jobs(&self) -> Result<(), SessionError> {
        let mut idle = IDLE.0;
        let mut jobs = self.take()?;
        while !self.is_over() {
            if let Some(job) = jobs.first() {
                let run = job.run.clone();
                self.watch.took(&run);
                jobs = match self.of_run(&run, jobs) {
                    Ok(jobs) => jobs,
                    Err(error) => self.fail_held(&error)?,
                };
                idle = IDLE.0;
                continue;
            }
            if self.spec.once {
                break;
            }
            std::thread::sleep(idle);
            idle = (idle * 2).min(IDLE.1);
            jobs = self.take()?;
        }
        jobs.iter().try_for_each(|job| self.give_back(job))
    }

    /// Ends the jobs of a run that cannot be worked on: one run must not take all workers with it.
    fn fail_held(&self, error: &SessionError) -> Result<Vec<TakenJob>, SessionError> {
        let jobs: Vec<_> = held(&self.held).drain(..).map(|(job, _)| job).collect();
        jobs.iter().try_for_each(|job| self.end(job, Some(error.to_string())))?;
        Ok(Vec::new())
    }

    fn give_back(&self, job: &TakenJob) -> Result<(), SessionError> {
        held(&self.held).retain(|(other, _)| other != job);
        Ok(self.store.return_job(job)?)
    }

    /// Walks jobs of a run as long as it has any; returns those of another run that were taken meanwhile.
    fn of_run(&self, run: &str, jobs: Vec<TakenJob>) -> Result<Vec<TakenJob>, SessionError> {
        let stored = StoredRun::without_cases(self.session, self.store, run, None)?;
        let StoredRun { project, manifest, revision, launch, keep: _, settings, started_at, stub, .. } = stored;
        let via = self.session.via(&settings.via, &project.plan)?;
        let stub = answers::stub(&via, stub.as_ref())?;
        if !via.is_stub() {
            project.prepare();
        }
        let current = CurrentProject::new(Arc::clone(&project));
        let candidate = super::shadow::again(self.session, self.store, settings.origin.shadow.as_ref())?;
        let settings = RunSettings { via, budget: None, ..settings };
        let mut needs = self.session.reads(self.store, run, &manifest.workspace, settings.no_recall)?;
        let texts = RunTexts { current: &current, seen: 0, number: revision, manifest, project };
        let context = RunContext {
            session: self.session,
            budget: TokenBudget::new(None, 0),
            settings,
            journal: self.store.worker_journal(run)?,
            identity: None,
            started_at,
            launch,
            candidate,
            given: None,
            pool: WorkerPool::new(self.spec.threads),
            keep: false,
            fresh: false,
            recorded: true,
            walked_by: WalkedBy::ThisProcess,
            watch: self.observers,
            stop: self.stop,
        };
        let revisions = RunRevisions::new(self.session, texts, &context.journal, self.observers);
        let answer = answerer(&context, stub);
        let plan = &revisions.project().plan;
        let pipeline = &*plan.pipeline.name;
        self.observers.began(&StartedRun::new(run, plan, &context.launch, &[], RunBatch::FIRST));
        let _span = info_span!("run", otel.name = %pipeline, %run, pipeline = %pipeline, worker = %self.spec.name).entered();
        let executor = RunExecutor { run: &context, revisions: &revisions, answer: &*answer, journal: &context.journal };
        let (mut seen, mut jobs) = (0, jobs);
        let mut idle = Instant::now();
        loop {
            if let Some(barrier) = jobs.iter().map(|job| job.barrier).max() {
                for (seq, event) in self.store.run_events(run)? {
                    let EventBody::Barrier { clusters, .. } = event.what else { continue };
                    if seq > seen && seq <= barrier {
                        let clusters = clusters.map(|clusters| clusters_at(self.store, &clusters)).transpose()?;
                        needs.advance(seq, clusters.unwrap_or_default());
                        seen = seq;
                    }
                }
                let next = AtomicUsize::new(0);
                let broken: Mutex<Option<SessionError>> = Mutex::new(None);
                let walk = || {
                    while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Err(error) = self.job(&executor, &needs, &context.journal, job) {
                            broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                        }
                    }
                };
                let whole = context.pool.each(walk);
                if let Some(error) = broken.into_inner().unwrap_or_else(PoisonError::into_inner) {
                    return Err(error);
                }
                if !whole {
                    return Err(JournalError::Failed("a walk ended in a panic, which is a bug".into()).into());
                }
                idle = Instant::now();
            }
            if self.is_over() || (self.spec.once && jobs.is_empty()) {
                return Ok(Vec::new());
            }
            jobs = self.take()?;
            match jobs.first() {
                Some(job) if job.run != run => return Ok(jobs),
                None if idle.elapsed() > IDLE.1 * 3 => return Ok(Vec::new()),
                None => std::thread::sleep(IDLE.0),
                Some(_) => {}
            }
        }
    }

    /// Walks the case of a job as far as it may.
    fn job(
        &self,
        executor: &RunExecutor<'_>,
        needs: &super::queries::QueryRouter,
        journal: &RunJournal,
        job: &TakenJob,
    ) -> Result<(), SessionError> {
        if self.stop.load(Ordering::Relaxed) {
            return self.give_back(job);
        }
        let project = executor.revisions.project();
        let show = |event: &Event| self.observers.event(event);
        let walker = Walker { until: job.phase, ..executor.walker(&project.plan, needs, RunBatch::FIRST, &show) };
        let place = CaseSchedule { wave: 1, turn: 1, phase: Some(0) };
        let case = ActiveCase { place, work: Mutex::new(CaseWork::read(&job.case, 1)) };
        journal.hold(job);
        let walked = executor.one(&walker, &executor.run.cases(&project), &case);
        journal.release(job);
        if self.stop.load(Ordering::Relaxed) {
            return self.give_back(job);
        }
        self.end(job, walked.err().map(|error| error.to_string()))
    }

    /// Ends a job: it is finished, or failed for a reason.
    fn end(&self, job: &TakenJob, failure: Option<String>) -> Result<(), SessionError> {
        held(&self.held).retain(|(other, _)| other != job);
        let ours = self.store.end_job(&self.spec.name, job, failure.as_deref())?;
        let end = match failure {
            _ if !ours => JobEnd::Lost,
            None => JobEnd::Finished,
            Some(why) => JobEnd::Failed(why),
        };
        let mut summary = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        match end {
            JobEnd::Finished => summary.finished += 1,
            JobEnd::Failed(_) => summary.failed += 1,
            JobEnd::Lost => summary.lost += 1,
        }
        drop(summary);
        self.watch.ended(job, &end);
        Ok(())
    }
}
