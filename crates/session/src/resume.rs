//! Resuming a run, with its recorded texts or with the current ones.

use super::answers::{self, ReopenedCase, SubmittedWork};
use super::assembly::EndedRun;
use super::load::DEFAULT_PIPELINE;
use super::recorded::{linked, named};
use super::revisions::{RunRevisions, RunTexts};
use super::run_batches::{phase_of, waves};
use super::run_context::RunContext;
use super::run_settings::{RunSettings, manifests, settings_of, text};
use super::trim::LaunchTrimmer;
use super::work::{CaseReader, CaseWork};
use super::worker_pool::WorkerPool;
use super::{Files, RunListener, RunResult, Session, SessionError};
use asterisk_adapters::agent::TokenBudget;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Launch;
use asterisk_diag::{CodeArea, Source};
use asterisk_files::FileIdentity;
use asterisk_project::{AnswererNames, CurrentProject, LinkSettings, Project, ProjectManifest};
use asterisk_script::probe::Probes;
use asterisk_store::{Durability, RunFindings, RunJournal, Store, StoreError};
use asterisk_walk::{Commit, Event, EventBody, Journal as _, TextChange, WalkStatus};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Session {
    /// Resumes a run with its recorded texts and canned answers, however it was stopped. With `migrate` it uses that project
    /// instead, graph included, if the unfinished cases fit it. A run that is over is not walked; its result is returned.
    pub fn resume(&self, spec: &ResumeSpec<'_>, watch: &dyn RunListener, stop: &AtomicBool) -> Result<RunResult, SessionError> {
        self.resume_with(spec, SubmittedWork::default(), watch, stop)
    }

    /// Resumes with what was submitted, as far as the cases go.
    pub(super) fn go_on(
        &self,
        run: &str,
        brought: SubmittedWork,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let parallel = std::thread::available_parallelism().map_or(1, usize::from);
        let spec = ResumeSpec { run, parallel, durability: Durability::Step, migrate: None, budget: None, distribute: false };
        self.resume_with(&spec, brought, watch, stop)
    }

    fn resume_with(
        &self,
        spec: &ResumeSpec<'_>,
        brought: SubmittedWork,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let store = self.store(spec.durability)?;
        self.resume_in(&store, spec, brought, watch, stop).map_err(SessionError::of_a_run)
    }

    fn resume_in(
        &self,
        store: &Store,
        spec: &ResumeSpec<'_>,
        brought: SubmittedWork,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let identity = self.setup.store.path().and_then(FileIdentity::of);
        let run = &named(store, spec.run)?;
        let newer = spec.migrate.map(CurrentProject::get);
        let stored = StoredRun::read(self, store, run, newer.as_ref().map(|(_, project)| Arc::clone(project)))?;
        let over = |status| matches!(status, WalkStatus::Done | WalkStatus::Error);
        let SubmittedWork { given, reopened } = brought;
        if reopened.is_none() && stored.work.iter().all(|case| over(case.status)) && stored.finished {
            // The process that ended the run may have been killed before it wrote the files.
            return self.again(store, stored, (spec.migrate, newer), watch);
        }
        let StoredRun { project, manifest, revision, launch, keep, settings, started_at, mut work, stub, .. } = stored;
        if spec.migrate.is_some() {
            super::migrate::fits(&project, &work, &CaseReader { store, run, plan: &project.plan })?;
        } else {
            self.report_changes(&settings, &manifest, watch);
        }
        super::distribution::check(spec.distribute, &project, settings.goal)?;
        let journal = store.journal(run)?;
        self.sweep(run);
        if let Some(reopened) = &reopened {
            let reads = CaseReader { store, run, plan: &project.plan };
            self.reopen(reopened, &journal, &mut work, &reads, watch)?;
        }
        let via = self.via(&settings.via, &project.plan)?;
        let stub = answers::stub(&via, stub.as_ref())?;
        let used = work.iter().filter_map(|case| case.own.as_ref()).map(|own| own.tokens.total()).sum();
        let pinned;
        let (current, seen) = match (spec.migrate, &newer) {
            (Some(current), Some((seen, _))) => (current, *seen),
            _ => {
                pinned = CurrentProject::new(Arc::clone(&project));
                (&pinned, 0)
            }
        };
        let candidate = super::shadow::again(self, store, settings.origin.shadow.as_ref())?;
        let settings = RunSettings { via, budget: spec.budget.or(settings.budget), ..settings };
        let texts = RunTexts { current, seen, number: revision, manifest, project };
        let run = RunContext {
            session: self,
            budget: TokenBudget::new(settings.budget, used),
            settings,
            journal,
            identity,
            started_at,
            launch,
            candidate,
            given,
            pool: WorkerPool::new(spec.parallel),
            keep,
            fresh: false,
            recorded: true,
            walked_by: spec.distribute.into(),
            watch,
            stop,
        };
        run.execute(texts, stub, work)
    }

    /// The result of a run that is over, with its files written again. Prompts whose templates fail are rendered with those of
    /// `newer`, if these work: the run then takes them as another revision.
    fn again(
        &self,
        store: &Store,
        stored: StoredRun,
        (current, newer): (Option<&CurrentProject>, Option<(u64, Arc<Project>)>),
        watch: &dyn RunListener,
    ) -> Result<RunResult, SessionError> {
        self.sweep(&stored.run);
        let files = stored.settings.files;
        let (run, revision, manifest) = (stored.run.clone(), stored.revision, stored.manifest.clone());
        let used = Arc::clone(&stored.project);
        let mut result = stored.result(self, store)?;
        result.notes = self.write_files(store, &result, files, &HashSet::new())?;
        let unmade = result.notes.values().flatten().any(|note| note.area() == Some(CodeArea::Template));
        if let (true, Some(current), Some((seen, project))) = (unmade, current, newer) {
            let record = store.run(&run)?;
            let journal = store.journal(&run)?;
            let texts = RunTexts { current, seen, number: revision, manifest, project: Arc::clone(&project) };
            RunRevisions::new(self, texts, &journal, watch).migrate(project)?;
            let ended_at = record.ended_at.unwrap_or_else(|| self.setup.clock.now());
            journal.conclude(record.status, ended_at, RunFindings::default())?;
            result.notes = self.write_files(store, &result, files, &HashSet::new())?;
        } else {
            watch.over();
        }
        self.finalise(&result)?;
        result.note(self.dream_after(store, &used, &run));
        Ok(result)
    }

    /// Reopens a finished case at a node.
    fn reopen(
        &self,
        reopened: &ReopenedCase,
        journal: &RunJournal,
        work: &mut [CaseWork],
        reads: &CaseReader<'_>,
        watch: &dyn RunListener,
    ) -> Result<(), SessionError> {
        let ReopenedCase { case, node, by } = reopened;
        let Some(work) = work.iter_mut().find(|work| work.id == case.as_str()) else { return Ok(()) };
        let (kept, mut whole) = (work.whole.is_some(), work.take(reads)?);
        let what = EventBody::Reopened { node: node.as_str().into(), by: (*by).into() };
        let event = Event { case: case.as_str().into(), path: whole.1.next_path(), at: self.setup.clock.now(), what };
        journal.commit(Commit::of(vec![event.clone()]))?;
        watch.event(&event);
        whole.1.apply(&event);
        work.note(&whole.1, phase_of(&whole.1, &reads.plan.pipeline));
        work.whole = kept.then_some(whole);
        Ok(())
    }

    /// Reports which texts have changed since those that a run continues with.
    fn report_changes(&self, run: &RunSettings, manifest: &ProjectManifest, watch: &dyn RunListener) {
        let changed = self.like(run).changed_since(run, manifest);
        if !changed.is_empty() {
            watch.pinned(&changed);
        }
    }

    /// Which texts of a session like the run's have changed since this manifest. Empty if they cannot be read: the run does not
    /// need them.
    pub(super) fn changed_since(&self, run: &RunSettings, manifest: &ProjectManifest) -> Vec<TextChange> {
        let Ok(sources) = self.sources(run.pipeline.as_deref()) else { return Vec::new() };
        let (mut now, _) = ProjectManifest::of(
            &sources,
            &LinkSettings {
                vars: manifest.vars.clone(),
                masks: manifest.masks.clone(),
                team: manifest.team.clone(),
                ..LinkSettings::default()
            },
            None,
        );
        // The run's pipeline, whatever name it was requested by.
        now.pipeline.0.clone_from(&manifest.pipeline.0);
        let mut changed = manifest.changes(&now);
        changed.retain(|change| change.what.contains('/'));
        changed
    }

    /// This session, completed with the settings that a run was started with.
    pub(super) fn like(&self, run: &RunSettings) -> Self {
        let mut setup = self.setup.clone();
        setup.texts.complete(&run.origin.texts);
        Self { setup, ..self.clone() }
    }

    /// The origin of a run, to read its texts as they are now.
    pub fn origin(&self, run: &str) -> Result<RunOrigin, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        let settings = settings_of(&store, &named(&store, run)?)?;
        let (session, answers) = (self.like(&settings), settings.via.answers());
        Ok(RunOrigin { session, pipeline: settings.pipeline.unwrap_or_else(|| DEFAULT_PIPELINE.to_owned()), answers })
    }

    /// The result of a run so far, without resuming it.
    pub fn result(&self, run: &str) -> Result<RunResult, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        StoredRun::read(self, &store, &named(&store, run)?, None)?.result(self, &store)
    }

    /// The result of a run so far, with its files rebuilt from the journal, as `files` or else the run's own setting requires.
    pub fn rebuild(&self, run: &str, files: Option<Files>) -> Result<RunResult, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        let stored = StoredRun::read(self, &store, &named(&store, run)?, None)?;
        self.check_output()?;
        let files = files.unwrap_or(stored.settings.files);
        let mut result = stored.result(self, &store)?;
        result.notes = self.write_files(&store, &result, files, &HashSet::new())?;
        Ok(result)
    }
}

/// The options of resuming a run.
#[derive(Clone, Copy, Debug)]
pub struct ResumeSpec<'a> {
    /// The run; `latest` is the one that began last.
    pub run: &'a str,
    /// The most cases walked concurrently; at least 1.
    pub parallel: usize,
    pub durability: Durability,
    /// The project to migrate to; it may be reloaded meanwhile.
    pub migrate: Option<&'a CurrentProject>,
    /// The token budget, if it differs from the original.
    pub budget: Option<u64>,
    /// Whether the cases are walked by workers (`asterisk worker`).
    pub distribute: bool,
}

/// What a run was started with.
pub struct RunOrigin {
    /// A session completed with the settings of the run.
    pub session: Session,
    /// The name or path of its pipeline.
    pub pipeline: String,
    pub answers: AnswererNames,
}

/// A run read back from its store.
pub(super) struct StoredRun {
    run: String,
    pub(super) settings: RunSettings,
    pub(super) project: Arc<Project>,
    /// The manifest of its current texts, and its revision.
    pub(super) manifest: ProjectManifest,
    pub(super) revision: u64,
    pub(super) launch: Launch,
    pub(super) started_at: Timestamp,
    pub(super) stub: Option<Source>,
    finished: bool,
    work: Vec<CaseWork>,
    pub(super) keep: bool,
}

impl StoredRun {
    /// Without its cases. `newer`: the project to use instead of the recorded texts.
    pub(super) fn without_cases(
        session: &Session,
        store: &Store,
        run: &str,
        newer: Option<Arc<Project>>,
    ) -> Result<Self, SessionError> {
        let record = store.run(run)?;
        let settings = settings_of(store, run)?;
        let (revision, manifest) = manifests(store, run)?.pop().ok_or_else(|| StoreError::UnknownRun(run.to_owned()))?;
        let project = match newer {
            Some(newer) => newer,
            None => Arc::new(linked(session, store, &manifest, settings.via.answers(), Probes::None)?),
        };
        let stub =
            settings.origin.stub.map(|hash| Ok::<_, SessionError>(Source::new("stub", text(store, &hash)?))).transpose()?;
        let mut lighten = LaunchTrimmer::default();
        let launch = store.launch(run, |cases, case| if session.keeps(cases) { Some(case) } else { lighten.case(case) })?;
        let keep = session.keeps(launch.failures());
        let finished = matches!(record.status, asterisk_store::RunStatus::Done | asterisk_store::RunStatus::Error);
        Ok(Self {
            run: run.to_owned(),
            settings,
            project,
            manifest,
            revision,
            launch,
            started_at: record.started_at,
            stub,
            finished,
            work: Vec::new(),
            keep,
        })
    }

    /// `newer`: the project to use instead of the recorded texts.
    fn read(session: &Session, store: &Store, run: &str, newer: Option<Arc<Project>>) -> Result<Self, SessionError> {
        let stored = Self::without_cases(session, store, run, newer)?;
        let (project, keep) = (&stored.project, stored.keep);
        let reads = CaseReader { store, run, plan: &project.plan };
        let cases = store.case_names(run)?;
        let paused = store.run(run)?.status == asterisk_store::RunStatus::Paused;
        let mut work = Vec::with_capacity(cases.len());
        for ((id, _), wave) in cases.iter().zip(waves(cases.iter().map(|(_, key)| key.as_str()))) {
            let mut whole = if keep { Some(Box::new(reads.whole_if_sound(id)?)) } else { None };
            let mut light = if keep { None } else { Some(reads.folded_if_sound(id)?) };
            let Some(state) = whole.as_deref_mut().map(|(_, state)| state).or(light.as_mut()) else { continue };
            if paused && state.status == WalkStatus::Running {
                state.status = WalkStatus::Paused;
            }
            let mut case = CaseWork::read(id, wave);
            case.note(state, phase_of(state, &project.plan.pipeline));
            work.push(CaseWork { whole, ..case });
        }
        Ok(Self { work, ..stored })
    }

    fn result(self, session: &Session, store: &Store) -> Result<RunResult, SessionError> {
        let Self { run, project, revision, launch, started_at, work, settings, .. } = self;
        let report = super::projection::report_path(&session.setup.out, &run, &project.plan);
        let report = report.is_file().then_some(report);
        let shadow = settings.origin.shadow.map(|_| super::shadow::sum(store, &run)).transpose()?;
        let ended = EndedRun { run, started_at, project: &project, revision, launch, recorded: true, pool: WorkerPool::all() };
        let mut result = RunResult { report, shadow, ..ended.result(store, work) };
        result.load_statuses(store)?;
        Ok(result)
    }
}
