//! Running a pipeline over a launch.

use super::answers;
use super::listener::RunListener;
use super::outcome::RunResult;
use super::revisions::RunTexts;
use super::run_context::RunContext;
use super::run_settings::{RunSettings, RunSources, json_blob};
use super::work::CaseWork;
use super::worker_pool::WorkerPool;
use super::{Session, SessionError, case_named, shadow};
use asterisk_adapters::agent::TokenBudget;
use asterisk_adapters::reportportal::PortalLaunch;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Hash, Launch, TestOutcomes};
use asterisk_diag::Source;
use asterisk_files::{FileIdentity, example_launch};
use asterisk_launch as ingest;
use asterisk_project::{CurrentProject, Project};
use asterisk_store::{Durability, NewRun, Store, StoreError};
use asterisk_walk::{Blob, FIRST, WORKDIR, WORKDIR_OF};
use std::collections::BTreeSet;
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
    /// This launch. It is not masked again, so it must hold no secrets.
    Given(Arc<Launch>),
    /// The launch of this number or uuid, from ReportPortal.
    Launch(String),
    /// These files and all launches below these directories; `-` is standard input.
    Files(LaunchFiles),
}

/// The files of a launch.
#[derive(Clone, Debug, Default)]
pub struct LaunchFiles {
    pub paths: Vec<PathBuf>,
    /// Logs of earlier jobs that passed: the lines that these have, too, are left out of the evidence.
    pub baseline_logs: Vec<PathBuf>,
}

impl LaunchFiles {
    /// These files and directories.
    pub fn of(paths: &[PathBuf]) -> Self {
        Self { paths: paths.to_vec(), baseline_logs: Vec::new() }
    }
}

/// A run to begin.
#[derive(Clone, Debug)]
pub struct RunSpec {
    pub settings: RunSettings,
    /// What to analyse.
    pub inputs: RunInputs,
    /// Only these cases; all if empty.
    pub cases: Vec<String>,
    /// The canned answers, if all answers are canned.
    pub stub: Option<Source>,
    /// The most cases walked concurrently; at least 1.
    pub parallel: usize,
    pub durability: Durability,
    /// Whether to touch no store and write no file.
    pub dry_run: bool,
    /// Whether the cases are walked by workers (`asterisk worker`).
    pub distribute: bool,
    /// A directory of scripts whose rules are evaluated next to those of the run, without any effect on it.
    pub shadow: Option<PathBuf>,
}

impl RunSpec {
    /// A run of the default pipeline over all cases of the inputs, one at a time, answered by the pipeline's own answerers. The store is
    /// synced once a batch, and no case directories are written.
    pub fn of(inputs: RunInputs) -> Self {
        Self {
            settings: RunSettings::default(),
            inputs,
            cases: Vec::new(),
            stub: None,
            parallel: 1,
            durability: Durability::Batch,
            dry_run: false,
            distribute: false,
            shadow: None,
        }
    }
}

impl Session {
    /// Whether a run over the given number of cases keeps them in memory between batches.
    pub(super) fn keeps(&self, cases: usize) -> bool {
        cases <= self.setup.keep
    }

    /// Runs a pipeline over a launch. `stop` ends it between two steps; it can then be resumed.
    pub fn run(&self, spec: &RunSpec, watch: &dyn RunListener, stop: &AtomicBool) -> Result<RunResult, SessionError> {
        let project = self.project(spec.settings.pipeline.as_deref(), spec.settings.via.answers())?;
        self.run_by(&CurrentProject::new(project), spec, watch, stop)
    }

    /// [`Session::run`] with a project that may be reloaded meanwhile: each case takes the new one between two of its steps.
    pub fn run_by(
        &self,
        current: &CurrentProject,
        spec: &RunSpec,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let (seen, project) = current.get();
        let RunSettings { pipeline, via, goal, .. } = &spec.settings;
        super::distribution::check(spec.distribute, &project, *goal)?;
        if !via.is_stub() {
            project.prepare();
        }
        // A pipeline with a policy works on tasks, not on failures: without inputs it has one empty case, not the example launch.
        let tasks = project.plan.policy.is_some() && matches!(spec.inputs, RunInputs::Example);
        let inputs = if tasks { &RunInputs::None } else { &spec.inputs };
        let (mut launch, reportportal) = self.launch(inputs, &project, watch, stop)?;
        if !goal {
            // Input from elsewhere does not determine where tools work, nor what they may do there.
            for case in &mut launch.cases {
                for name in [WORKDIR, WORKDIR_OF, "allow_hosts"] {
                    let _ignored = case.attributes.remove(name);
                }
            }
        }
        if let Some(url) = &self.setup.job_url {
            launch.set_job_url(url);
        }
        let cases = select(&launch, &spec.cases)?;
        let via = self.via(via, &project.plan)?;
        let stub = answers::stub(&via, spec.stub.as_ref())?;
        let candidate = spec.shadow.as_deref().map(|dir| self.candidate(dir, pipeline.as_deref())).transpose()?;
        let (shadow, candidates) = candidate.as_ref().map(shadow::recorded).unzip();
        watch.warnings(&project.warnings);
        let started = self.setup.clock.now();
        let keep = self.keeps(launch.cases.len());
        let work = CaseWork::fresh(&cases, &project.plan, keep);
        // A dry run uses a private temporary store.
        let store = if spec.dry_run { Store::scratch()? } else { self.open_store(spec.durability)? };
        let identity = self.setup.store.path().filter(|_| !spec.dry_run).and_then(FileIdentity::of);
        if !spec.dry_run {
            self.check_output()?;
        }
        let mut texts = self.setup.texts.clone();
        texts.scripts = texts.scripts.map(|dir| std::path::absolute(&dir).unwrap_or(dir));
        let stub_hash = spec.stub.as_ref().map(|stub| Hash::of(stub.text().as_bytes()));
        let settings = RunSettings {
            pipeline: anywhere(pipeline.as_deref()).or_else(|| Some(project.plan.pipeline.name.value.clone())),
            via,
            origin: RunSources { texts, stub: stub_hash, shadow, reportportal },
            ..spec.settings.clone()
        };
        // A dry run is not read again.
        let (manifest, mut blobs) = project.manifest();
        if spec.dry_run {
            blobs.clear();
        } else {
            blobs.extend(manifest.bundle_blob());
        }
        let list = manifest.blob();
        blobs.extend(spec.stub.as_ref().map(|stub| Blob::new(stub.text())));
        blobs.extend(candidates.into_iter().flatten());
        let new = NewRun {
            run: "",
            pipeline: &project.plan.pipeline.name.value,
            started_at: started,
            settings: json_blob(&settings),
            manifest: list,
            blobs,
            launch: &launch,
            cases,
        };
        let mut attempt = 0;
        let journal = loop {
            let run = run_id(started, &launch, attempt);
            match store.begin_run(&NewRun { run: &run, ..new.clone() }) {
                Ok(journal) => break journal,
                Err(StoreError::RunExists(_)) if attempt < 1000 => attempt += 1,
                Err(error) => return Err(error.into()),
            }
        };
        drop(new);
        // The store has them now.
        launch.outcomes = TestOutcomes::default();
        let texts = RunTexts { current, seen, number: FIRST, manifest, project };
        let run = RunContext {
            session: self,
            budget: TokenBudget::new(settings.budget, 0),
            settings,
            journal,
            identity,
            started_at: started,
            launch,
            candidate,
            given: None,
            pool: WorkerPool::new(spec.parallel),
            keep,
            fresh: true,
            recorded: !spec.dry_run,
            walked_by: spec.distribute.into(),
            watch,
            stop,
        };
        run.execute(texts, stub, work).map_err(SessionError::of_a_run)
    }

    /// Reads the launch to analyse, without secrets and personal data, and returns where it was fetched from.
    fn launch(
        &self,
        inputs: &RunInputs,
        project: &Project,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<(Launch, Option<PortalLaunch>), SessionError> {
        let masker = || Arc::new(project.masker());
        Ok(match inputs {
            RunInputs::Example => (ingest::read_masked(&example_launch(), &masker())?, None),
            RunInputs::None => {
                let case = Case { id: "case-1".into(), name: "case-1".into(), status: "FAILED".into(), ..Case::default() };
                (Launch { run_id: "none".into(), name: "none".into(), cases: vec![case], ..Launch::default() }, None)
            }
            RunInputs::Given(launch) => (Launch::clone(launch), None),
            RunInputs::Files(files) => (super::input::launch(files, self.setup.environment.input(), &masker())?, None),
            RunInputs::Launch(id) => {
                let (launch, place) = self.fetch(id, &masker(), &|done, of| watch.fetched(done, of), stop)?;
                (launch, Some(place))
            }
        })
    }
}

/// A name or path that finds a pipeline from any directory.
fn anywhere(pipeline: Option<&str>) -> Option<String> {
    let pipeline = pipeline.unwrap_or(super::load::DEFAULT_PIPELINE);
    let path = Path::new(pipeline);
    let whole = if path.is_file() { std::path::absolute(path).ok()? } else { path.to_owned() };
    whole.to_str().map(str::to_owned)
}

/// The cases to walk: all, or those named.
fn select<'l>(launch: &'l Launch, names: &[String]) -> Result<Vec<&'l Case>, SessionError> {
    let ids: Vec<&str> = launch.cases.iter().map(|case| case.id.as_str()).collect();
    let wanted = names.iter().map(|name| case_named("the launch", &ids, name)).collect::<Result<BTreeSet<String>, _>>()?;
    Ok(launch.cases.iter().filter(|case| wanted.is_empty() || wanted.contains(case.id.as_str())).collect())
}

/// The start time of the run, and six digits that distinguish runs of the same second.
fn run_id(started: Timestamp, launch: &Launch, attempt: usize) -> String {
    let stamp: String = started.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    let (day, time) = stamp.split_at(stamp.len().min(8));
    let words = format!("{}|{}|{}|{attempt}", started.millis(), launch.run_id, launch.name);
    format!("{day}-{time}-{}", &Hash::of(words.as_bytes()).short()[..6])
}
