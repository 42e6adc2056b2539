//! Running a pipeline over a launch.

use super::answers::{self, AnsweringContext};
use super::executor::{RunExecutor, WalkPorts};
use super::outcome::{CaseResult, RunCases, RunResult, StoredCases};
use super::revisions::{AppliedReload, RunRevisions};
use super::run_batches::RunBatch;
use super::setup::{Files, Via};
use super::trim::LaunchTrimmer;
use super::work::{CaseWork, OutsideDetails, StoredCaseBrief};
use super::worker_pool::WorkerPool;
use super::{Session, SessionError, finding, shadow};
use crate::agent::TokenBudget;
use crate::clock::Timestamp;
use crate::diag::{Diagnostics, Source, did_you_mean};
use crate::files::{FileIdentity, example_launch};
use crate::ingest;
use crate::model::{Case, Hash, Launch, canonical};
use crate::project::{CurrentProject, Project};
use crate::reportportal::PortalLaunch;
use crate::store::{Durability, NewRun, Store, StoreError};
use crate::walk::{Blob, Event, FIRST, Name, Plan, TextChange, TokenUsage, WalkStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What to analyse.
#[derive(Clone, Debug)]
pub enum RunInputs {
    /// The bundled example launch.
    Example,
    /// One empty case, `case-1`.
    None,
    /// The launch of this number or uuid, from ReportPortal.
    Launch(String),
    /// These files and all launches below these directories; `-` is standard input.
    Files(Vec<PathBuf>),
}

/// A run to make.
#[derive(Clone, Debug)]
pub struct RunSpec {
    /// The pipeline, by path, stem or name.
    pub pipeline: Option<String>,
    /// What to analyse.
    pub inputs: RunInputs,
    /// Only these cases; all if empty.
    pub cases: Vec<String>,
    /// Who answers.
    pub via: Via,
    /// The canned answers, if all answers are canned.
    pub stub: Option<Source>,
    /// How many cases walk at once; at least 1.
    pub parallel: usize,
    /// What a commit survives.
    pub durability: Durability,
    /// Seeds chance.
    pub seed: u64,
    /// Touch no store and write no file.
    pub dry_run: bool,
    /// Whether case directories are written.
    pub files: Files,
    /// A directory of scripts whose rules are asked beside those of the run, without any effect on it.
    pub shadow: Option<PathBuf>,
    /// How many tokens may be spent.
    pub budget: Option<u64>,
}

/// A run that begins, or goes on.
pub struct StartedRun<'a> {
    /// Its id.
    pub run: &'a str,
    /// What its cases go by.
    pub plan: &'a Arc<Plan>,
    /// The launch; of a large run, with those of its cases alone that others are told of.
    pub launch: &'a Launch,
    /// How many cases it has.
    pub cases: usize,
    /// How many of them were over before.
    pub over: usize,
    /// The wave, the phase and the turn in it that it stands at, each counted from 1.
    pub stands: (u32, u32, u32),
}

impl<'a> StartedRun<'a> {
    pub(super) fn new(run: &'a str, plan: &'a Arc<Plan>, launch: &'a Launch, work: &[CaseWork], round: RunBatch) -> Self {
        let over = work.iter().filter(|case| matches!(case.status, WalkStatus::Done | WalkStatus::Error)).count();
        let stands = (round.wave, round.phase, round.turn);
        Self { run, plan, launch, cases: work.len(), over, stands }
    }
}

/// What a run tells its front end while it goes on. Called from many threads.
pub trait RunListener: Sync {
    /// What does not keep the run from going on but should be known.
    fn warnings(&self, _warnings: &Diagnostics) {}
    /// The run begins, or goes on.
    fn began(&self, _begun: &StartedRun<'_>) {}
    /// Something was recorded.
    fn event(&self, _event: &Event) {}
    /// The run goes by other texts from now on, each case from its next step.
    fn reloaded(&self, _reloaded: &AppliedReload) {}
    /// Other texts were offered that do not fit the graph that the run keeps: it goes on by those it has.
    fn kept(&self, _problems: &Diagnostics) {}
    /// The run goes on by the texts it has, though these are other by now.
    fn pinned(&self, _changed: &[TextChange]) {}
    /// The run was over before.
    fn over(&self) {}
    /// So many cases are about to walk as far as phase `phase` of `phases` lets them, counted from 1.
    fn phase(&self, _phase: usize, _phases: usize, _cases: usize) {}
    /// A launch is being fetched: so many of its failures have been read.
    fn fetched(&self, _done: usize, _of: usize) {}
    /// A case has walked as far as its phase lets it.
    fn case_went(&self, _case: &Case) {}
    /// A walk ended or stopped.
    fn case_over(&self, _case: &Case, _status: WalkStatus) {}
}

/// What a run was started with, beside its project and launch: stored with it for its resumption.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedRunArgs {
    pub(super) via: Via,
    pub(super) stub: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) budget: Option<u64>,
    pub(super) files: Files,
    pub(super) pipeline: String,
    /// What the pipeline was asked for by: a path, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<String>,
    /// The directory of scripts, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scripts: Option<PathBuf>,
    /// The vocabulary that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) domain: Option<String>,
    /// The list of the candidates' texts, if the run has a shadow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shadow: Option<Hash>,
    /// Where its launch came from, if it was fetched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reportportal: Option<PortalLaunch>,
    /// The vars set for the run alone.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) set: Map<String, Value>,
    /// The masks put on from outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) masks: Vec<String>,
    /// The team from outside, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) team: Option<String>,
}

impl Session {
    /// Whether a run over so many cases keeps them in memory from round to round.
    pub(super) fn keeps(&self, cases: usize) -> bool {
        cases <= self.setup.keep
    }

    /// Runs a pipeline over a launch. `stop` ends it between two steps; it can then be resumed.
    pub fn run(&self, spec: &RunSpec, watch: &dyn RunListener, stop: &AtomicBool) -> Result<RunResult, SessionError> {
        let project = self.project(spec.pipeline.as_deref(), spec.via.answers())?;
        self.run_by(&CurrentProject::new(project), spec, watch, stop)
    }

    /// The same by a project that may be exchanged meanwhile: each case takes the new one between two of its steps.
    pub fn run_by(
        &self,
        current: &CurrentProject,
        spec: &RunSpec,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let (seen, project) = current.get();
        let (mut launch, reportportal) = self.launch(&spec.inputs, watch, stop)?;
        let cases = select(&launch, &spec.cases)?;
        let via = self.via(&spec.via, &project.plan)?;
        let stub = answers::stub(&via, spec.stub.as_ref())?;
        let candidate = spec.shadow.as_deref().map(|dir| self.candidate(dir, spec.pipeline.as_deref())).transpose()?;
        let (shadow, texts) = candidate.as_ref().map(shadow::recorded).unzip();
        watch.warnings(&project.warnings);
        let started = self.setup.clock.now();
        let keep = self.keeps(launch.cases.len());
        let work = CaseWork::fresh(&cases, &project.plan, keep);
        // A dry run does all that a run does, in a store of its own that nobody sees.
        let store = if spec.dry_run { Store::scratch()? } else { Store::open(&self.setup.store, spec.durability)? };
        let identity = FileIdentity::of(&self.setup.store).filter(|_| !spec.dry_run);
        if !spec.dry_run {
            self.check_out()?;
        }
        let args = RecordedRunArgs {
            via: via.clone(),
            budget: spec.budget,
            stub: spec.stub.as_ref().map(|stub| Hash::of(stub.text().as_bytes())),
            files: spec.files,
            pipeline: project.plan.pipeline.name.value.clone(),
            asked: asked(spec.pipeline.as_deref()),
            scripts: self.setup.scripts.as_ref().map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone())),
            domain: self.setup.domain.clone(),
            shadow,
            reportportal,
            set: self.setup.vars.clone(),
            masks: self.setup.masks.clone(),
            team: self.setup.team.clone(),
        };
        let (manifest, mut blobs) = project.manifest();
        let list = manifest.blob();
        blobs.extend(spec.stub.as_ref().map(|stub| Blob::new(stub.text())));
        blobs.extend(texts.into_iter().flatten());
        let new = NewRun {
            run: "",
            pipeline: &args.pipeline,
            started_at: started,
            seed: spec.seed,
            args: json_blob(&args),
            manifest: list,
            blobs,
            launch: &launch,
            cases,
        };
        let mut attempt = 0;
        let (run, journal) = loop {
            let run = run_id(started, &launch, attempt);
            match store.begin_run(&NewRun { run: &run, ..new.clone() }) {
                Ok(journal) => break (run, journal),
                Err(StoreError::RunExists(_)) if attempt < 1000 => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        };
        drop(new);
        watch.began(&StartedRun::new(&run, &project.plan, &launch, &work, RunBatch::FIRST));
        if !keep {
            LaunchTrimmer::launch(&mut launch);
        }
        let needs = self.reads(&store, &run, &self.setup.workspace).map_err(SessionError::of_a_run)?;
        let (seed, hands) = (spec.seed, WorkerPool::new(spec.parallel));
        let generations = RunRevisions::new(self, (current, seen), (FIRST, manifest, project), &journal, watch);
        let texts = &generations;
        let crew = RunExecutor {
            session: self,
            generations: texts,
            launch: &launch,
            shadow: candidate.as_ref().map(|project| &*project.plan),
            run: &run,
            seed,
            watch,
            stop,
            brought: None,
            hands: &hands,
            keep,
        };
        let budget = TokenBudget::new(spec.budget, 0);
        let writes = !spec.dry_run;
        let answer = self.answerer(AnsweringContext { run: &run, via: &via, stub, budget: &budget, stop, writes, given: None });
        let walked = crew.walk(work, WalkPorts { answer: &*answer, needs, journal: &journal }).map_err(SessionError::of_a_run);
        let work = self.unless_lost(identity, walked)?;
        drop(answer);
        let project = generations.project();
        let whole = EndedRun { run: run.clone(), started_at: started, project: &project, launch, recorded: writes, hands };
        let mut result = whole.result(&store, work);
        result.note_budget(&budget);
        result.shadow = candidate.map(|_| shadow::sum(&store, &result.run)).transpose()?;
        if spec.dry_run {
            return Ok(result);
        }
        self.conclude(&store, result, (spec.files, &HashSet::new())).map_err(SessionError::of_a_run)
    }

    /// The launch to analyse, and where it was fetched from.
    fn launch(
        &self,
        inputs: &RunInputs,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<(Launch, Option<PortalLaunch>), SessionError> {
        Ok(match inputs {
            RunInputs::Example => (ingest::read(&example_launch())?, None),
            RunInputs::None => {
                let case = Case { id: "case-1".into(), name: "case-1".into(), status: "FAILED".into(), ..Case::default() };
                (Launch { run_id: "none".into(), name: "none".into(), cases: vec![case], ..Launch::default() }, None)
            }
            RunInputs::Files(paths) => (super::input::launch(paths)?, None),
            RunInputs::Launch(id) => {
                let (launch, place) = self.fetch(id, &|done, of| watch.fetched(done, of), stop)?;
                (launch, Some(place))
            }
        })
    }

    /// Records how a run ended and writes its files, those of cases that `rested` as they are.
    pub(super) fn conclude(
        &self,
        store: &Store,
        mut result: RunResult,
        (files, rested): (Files, &HashSet<Name>),
    ) -> Result<RunResult, SessionError> {
        let now = self.setup.clock.now();
        match result.status {
            WalkStatus::Done => store.finish_run(&result.run, crate::store::RunStatus::Done, now)?,
            WalkStatus::Error => store.finish_run(&result.run, crate::store::RunStatus::Error, now)?,
            WalkStatus::Running | WalkStatus::Paused => store.pause_run(&result.run, now)?,
        }
        result.know_statuses(store)?;
        result.notes = self.project_files(store, &result, files, rested)?;
        self.finalise(&result)?;
        Ok(result)
    }
}

/// A run whose walks have ended or stopped.
pub(super) struct EndedRun<'a> {
    pub(super) run: String,
    pub(super) started_at: Timestamp,
    pub(super) project: &'a Project,
    pub(super) launch: Launch,
    pub(super) recorded: bool,
    pub(super) hands: WorkerPool,
}

impl EndedRun<'_> {
    /// What came of it.
    pub(super) fn result(self, store: &Store, work: Vec<CaseWork>) -> RunResult {
        let Self { run, started_at, project, launch, recorded, hands } = self;
        let plan = &project.plan;
        let status = status_of(work.iter().map(|case| case.status));
        let (mut kept, mut briefs, mut failures): (_, _, Vec<(Name, _)>) = (Vec::new(), Vec::new(), Vec::new());
        let mut tokens = TokenUsage::default();
        let mut waits = Vec::new();
        for CaseWork { id, status, whole, own, .. } in work {
            let OutsideDetails { failure, tokens: taken, waits: waiting } = own.map(|own| *own).unwrap_or_default();
            tokens.add(&taken);
            waits.extend(waiting.map(|via| (id.clone(), via)));
            failures.extend(failure.map(|failure| (id.clone(), failure)));
            match whole {
                None => briefs.push(StoredCaseBrief { id, status }),
                Some(whole) => {
                    let (case, state) = *whole;
                    let (finding, trouble) = finding::of(plan, &launch, &case, &state, &run);
                    kept.push(CaseResult { case, state, case_status: None, finding, trouble });
                }
            }
        }
        let stored = (!briefs.is_empty()).then(|| StoredCases { store: store.clone(), cases: briefs, hands });
        let cases = RunCases { kept, stored };
        RunResult {
            run,
            plan: plan.clone(),
            launch,
            started_at,
            status,
            cases,
            failures,
            recorded,
            report: None,
            shadow: None,
            tokens,
            notes: BTreeMap::new(),
            waits,
            budget: None,
        }
    }
}

/// What finds a pipeline again from any directory.
fn asked(pipeline: Option<&str>) -> Option<String> {
    let pipeline = pipeline.unwrap_or(super::load::DEFAULT_PIPELINE);
    let path = Path::new(pipeline);
    let whole = if path.is_file() { std::path::absolute(path).ok()? } else { path.to_owned() };
    whole.to_str().map(str::to_owned)
}

/// A run is in error if any case is, else paused if any is not over, else done.
pub(super) fn status_of(cases: impl Iterator<Item = WalkStatus>) -> WalkStatus {
    cases.fold(WalkStatus::Done, |so_far, case| match (so_far, case) {
        (WalkStatus::Error, _) | (_, WalkStatus::Error) => WalkStatus::Error,
        (WalkStatus::Paused, _) | (_, WalkStatus::Paused | WalkStatus::Running) => WalkStatus::Paused,
        _ => WalkStatus::Done,
    })
}

/// The cases to walk: all, or those named.
fn select<'l>(launch: &'l Launch, names: &[String]) -> Result<Vec<&'l Case>, SessionError> {
    for name in names {
        if !launch.cases.iter().any(|case| case.id == *name) {
            let hint = did_you_mean(name, launch.cases.iter().map(|case| case.id.as_str()));
            return Err(SessionError::asked("input/no-case", format!("the launch has no case `{name}`"), hint));
        }
    }
    let wanted: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    Ok(launch.cases.iter().filter(|case| wanted.is_empty() || wanted.contains(case.id.as_str())).collect())
}

/// When the run began, and six digits that tell it from others of the same second.
fn run_id(started: Timestamp, launch: &Launch, attempt: usize) -> String {
    let stamp: String = started.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = stamp.split_at(stamp.len().min(8));
    let words = format!("{}|{}|{}|{attempt}", started.millis(), launch.run_id, launch.name);
    format!("{day}-{time}-{}", &Hash::of(words.as_bytes()).short()[..6])
}

pub(super) fn json_blob(value: &impl Serialize) -> Blob {
    Blob::new(canonical(&serde_json::to_value(value).unwrap_or_default()))
}
