//! Going on with a run, by the very texts it began with.

use super::crew::{Crew, Ports};
use super::lighten::Lighten;
use super::rounds::{phase_of, waves};
use super::run::{Ended, RunArgs, answerer};
use super::work::{Reads, Work};
use super::{Files, RunResult, Session, SessionError, Via, Watch};
use crate::clock::Timestamp;
use crate::diag::Source;
use crate::model::{Hash, Launch};
use crate::project::{Answers, Manifest, Project, Settings};
use crate::store::{Durability, Store, StoreError};
use crate::walk::Status;
use serde::de::DeserializeOwned;
use std::sync::atomic::AtomicBool;

impl Session {
    /// Goes on with a run that was stopped, however it was stopped. Scripts, pipeline, vars and canned answers are those
    /// it began with. A run that is over is not walked again: its result comes back.
    pub fn resume(
        &self,
        run: &str,
        parallel: usize,
        durability: Durability,
        watch: &dyn Watch,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let store = Store::open(&self.setup.store, durability)?;
        let run = &named(&store, run)?;
        let stored = Stored::read(self, &store, run)?;
        let over = |status| matches!(status, Status::Done | Status::Error);
        if stored.work.iter().all(|case| over(case.status)) && stored.finished {
            // The process that ended the run may have been killed before it wrote the files.
            let files = stored.args.files;
            let result = stored.result(self, &store)?;
            self.project_files(&store, &result, files)?;
            return Ok(result);
        }
        let journal = store.journal(run)?;
        watch.began(run, stored.work.len());
        let needs = self.reads(&store, run, &stored.project.settings.workspace)?;
        let answer = answerer(stored.args.via, stored.stub.as_ref())?;
        let Stored { project, launch, seed, keep, args, started_at, work, .. } = stored;
        let crew = Crew { session: self, project: &project, launch: &launch, run, seed, watch, stop, parallel, keep };
        let work = crew.walk(work, Ports { answer: &*answer, needs, journal: &journal })?;
        let ended = Ended { run: run.to_owned(), started_at, project: &project, launch, recorded: true, parallel };
        self.conclude(&store, ended.result(&store, work), args.files)
    }

    /// What came of a run so far, without going on with it.
    pub fn result(&self, run: &str) -> Result<RunResult, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        Stored::read(self, &store, &named(&store, run)?)?.result(self, &store)
    }

    /// What came of a run so far, with the files that were written for it written again from the journal: the event log and
    /// the case directories, where `files` or else the run itself asks for them.
    pub fn rebuild(&self, run: &str, files: Option<Files>) -> Result<RunResult, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        let stored = Stored::read(self, &store, &named(&store, run)?)?;
        self.check_out()?;
        let files = files.unwrap_or(stored.args.files);
        let result = stored.result(self, &store)?;
        self.project_files(&store, &result, files)?;
        Ok(result)
    }
}

/// What stands for the run that began last.
const LATEST: &str = "latest";

/// The run that a name stands for.
fn named(store: &Store, run: &str) -> Result<String, SessionError> {
    if run != LATEST {
        return Ok(run.to_owned());
    }
    match store.runs()?.into_iter().next() {
        Some(latest) => Ok(latest.run),
        None => {
            let help = Some("make one with: asterisk run".to_owned());
            Err(SessionError::asked("input/no-run", "the store has no runs yet", help))
        }
    }
}

/// A run read back from its store.
struct Stored {
    run: String,
    args: RunArgs,
    project: Project,
    launch: Launch,
    started_at: Timestamp,
    stub: Option<Source>,
    seed: u64,
    finished: bool,
    work: Vec<Work>,
    keep: bool,
}

impl Stored {
    fn read(session: &Session, store: &Store, run: &str) -> Result<Self, SessionError> {
        let record = store.run(run)?;
        let args: RunArgs = parse(&text(store, &record.args)?)?;
        let manifest: Manifest = parse(&text(store, &record.manifest)?)?;
        let sources = manifest.sources(|hash| text(store, hash))?;
        let answers = if args.via == Via::Script { Answers::Scripts } else { Answers::Others };
        let settings = Settings {
            vars: manifest.vars,
            project_vars: serde_json::Map::new(),
            workspace: manifest.workspace,
            domain: manifest.domain,
            ..session.settings(answers)
        };
        let project = Project::link(sources, settings)?;
        let stub = args.stub.map(|hash| Ok::<_, SessionError>(Source::new("stub", text(store, &hash)?))).transpose()?;
        let mut lighten = Lighten::default();
        let launch = store.launch(run, |cases, case| if session.keeps(cases) { case } else { lighten.case(case) })?;
        let keep = session.keeps(launch.cases.len());
        let reads = Reads { store, run, plan: &project.plan };
        let cases = store.case_names(run)?;
        let paused = matches!(record.status, crate::store::Status::Paused);
        let mut work = Vec::with_capacity(cases.len());
        for ((id, _), wave) in cases.iter().zip(waves(cases.iter().map(|(_, key)| key.as_str()))) {
            let mut whole = if keep { Some(Box::new(reads.whole(id)?)) } else { None };
            let mut light = if keep { None } else { Some(reads.folded(id)?) };
            let Some(state) = whole.as_deref_mut().map(|(_, state)| state).or(light.as_mut()) else { continue };
            if paused && state.status == Status::Running {
                state.status = Status::Paused;
            }
            let (status, phase) = (state.status, phase_of(state, &project.plan.pipeline));
            work.push(Work { id: id.as_str().into(), wave, status, phase, whole, failure: None });
        }
        let finished = matches!(record.status, crate::store::Status::Done | crate::store::Status::Error);
        Ok(Self {
            run: run.to_owned(),
            args,
            project,
            launch,
            started_at: record.started_at,
            stub,
            seed: record.seed,
            finished,
            work,
            keep,
        })
    }

    fn result(self, session: &Session, store: &Store) -> Result<RunResult, SessionError> {
        let Self { run, project, launch, started_at, work, .. } = self;
        let report = super::projection::report_path(&session.setup.out, &run);
        let report = report.is_file().then_some(report);
        let parallel = std::thread::available_parallelism().map_or(1, usize::from);
        let ended = Ended { run, started_at, project: &project, launch, recorded: true, parallel };
        let mut result = RunResult { report, ..ended.result(store, work) };
        result.know_statuses(store)?;
        Ok(result)
    }
}

pub(super) fn text(store: &Store, hash: &Hash) -> Result<String, SessionError> {
    let found = store.blob(hash)?;
    Ok(found.ok_or_else(|| StoreError::Damaged(format!("the content {hash} is missing")))?.to_string())
}

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, SessionError> {
    Ok(serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))?)
}
