//! Going on with a run, by the very texts it began with.

use super::crew::{Crew, Ports};
use super::run::{RunArgs, answerer, status_of};
use super::{Files, RunResult, Session, SessionError, Via, Watch};
use crate::clock::Timestamp;
use crate::diag::Source;
use crate::model::{Case, Hash, Launch};
use crate::project::{Answers, Manifest, Project, Settings};
use crate::store::{Durability, Store, StoreError};
use crate::walk::{Content, Event, Status, WalkState};
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
        if stored.work.iter().all(|(_, state)| over(state.status)) && stored.finished {
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
        let crew = Crew { session: self, project: &stored.project, launch: &stored.launch, run, seed: stored.seed, watch, stop };
        let cases = crew.walk(stored.work, parallel, Ports { answer: &*answer, needs, journal: &journal })?;
        let status = status_of(cases.iter().map(|case| case.state.status));
        let plan = stored.project.plan.clone();
        let result = RunResult {
            run: run.to_owned(),
            plan,
            launch: stored.launch,
            started_at: stored.started_at,
            status,
            cases,
            recorded: true,
            report: None,
        };
        self.conclude(&store, result, stored.args.files)
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
    work: Vec<(Case, WalkState)>,
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
        let launch = store.launch(run)?;
        let mut work: Vec<(Case, WalkState)> = Vec::new();
        for case in store.cases(run)? {
            let events: Vec<Event> = store.events(run, &case.case.id)?.into_iter().map(|(_, event)| event).collect();
            let mut state = WalkState::fold(&events);
            load_artifacts(store, &project, &mut state)?;
            work.push((case.case, state));
        }
        if matches!(record.status, crate::store::Status::Paused) {
            for (_, state) in &mut work {
                if state.status == Status::Running {
                    state.status = Status::Paused;
                }
            }
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
        })
    }

    fn result(self, session: &Session, store: &Store) -> Result<RunResult, SessionError> {
        let plan = self.project.plan.clone();
        let mut cases = Vec::with_capacity(self.work.len());
        let mut statuses = store.case_statuses(&self.run)?;
        for (case, state) in self.work {
            let (finding, trouble) = super::finding::of(&plan, &self.launch, &case, &state, &self.run);
            let case_status = statuses.remove(&case.id);
            cases.push(super::CaseResult { case, state, failure: None, case_status, finding, trouble });
        }
        let status = status_of(cases.iter().map(|case| case.state.status));
        let report = super::projection::report_path(&session.setup.out, &self.run);
        let report = report.is_file().then_some(report);
        let started_at = self.started_at;
        Ok(RunResult { run: self.run, plan, launch: self.launch, started_at, status, cases, recorded: true, report })
    }
}

/// Puts the content of the latest artifacts back into a folded state.
fn load_artifacts(store: &Store, project: &Project, state: &mut WalkState) -> Result<(), SessionError> {
    for (name, artifact) in &mut state.prior {
        let value: serde_json::Value = parse(&text(store, &artifact.hash())?)?;
        let node = project.plan.pipeline.node(name).map(|node| &project.plan.node(node).kind);
        let kind = node.unwrap_or(&crate::model::Kind::Any);
        *artifact = Content::new(crate::script::View::of(&value, kind, "artifact"));
    }
    Ok(())
}

pub(super) fn text(store: &Store, hash: &Hash) -> Result<String, SessionError> {
    let found = store.blob(hash)?;
    Ok(found.ok_or_else(|| StoreError::Damaged(format!("the content {hash} is missing")))?.to_string())
}

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, SessionError> {
    Ok(serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))?)
}
