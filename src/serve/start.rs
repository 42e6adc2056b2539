//! Starts a run that is answered by workers, and tracks its end.

use super::args::StartRun;
use super::fault::ToolFault;
use super::paths::{pipeline_within, within};
use super::registry::{RunPhase, SERVER, ServedRun, SessionRegistry, locked};
use asterisk_adapters::agent::{MCP, QueueClosed, StepQueue};
use asterisk_base::model::Case;
use asterisk_report as report;
use asterisk_session::{
    Files, LaunchFiles, ResumeSpec, RunInputs, RunListener, RunResult, RunSettings, RunSpec, Session, SessionError, StartedRun,
    Via, refuse_secret,
};
use asterisk_store::Durability;
use asterisk_walk::{Event, WalkStatus};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// Default number of concurrent cases.
const PARALLEL: usize = 8;
/// Maximum number of concurrent cases.
const MAX_PARALLEL: usize = 1024;

/// Id and number of cases of the run, or why it did not begin.
type StartResult = Result<(String, usize), ToolFault>;

/// Starts a run; returns once it has begun.
pub(super) fn start(registry: &Arc<SessionRegistry>, args: StartRun) -> Result<Value, ToolFault> {
    let _one = locked(&registry.starting);
    if let Some(running) = registry.current().filter(|served| served.phase() == RunPhase::Running) {
        // A stopped run ends soon.
        if !args.force && running.queue.closed().is_none() {
            let message = format!("the session `{}` is running", running.run);
            return Err(ToolFault::new("session_running", message).help("wait until it completes, or pass force: true to end it"));
        }
        running.end(&QueueClosed::Aborted("another session was started by force".into()));
        running.join();
    }
    let parallel = args.parallel.unwrap_or(PARALLEL.max(args.desired_capacity)).clamp(1, MAX_PARALLEL);
    if args.desired_capacity > parallel {
        let message = format!("desired_capacity is {}, but only {parallel} cases are walked in parallel", args.desired_capacity);
        return Err(ToolFault::new("arguments", message).help("raise parallel to match"));
    }
    let queue = StepQueue::new(args.desired_capacity);
    let stop = Arc::new(AtomicBool::new(false));
    let mut setup = registry.session.setup().clone();
    for (name, value) in &args.set {
        refuse_secret(name, value.as_str().unwrap_or(&value.to_string()))?;
    }
    setup.texts.vars.extend(args.set.clone());
    let session = Session::new(setup).with_queue(Arc::clone(&queue));
    let job = job(&session, args, parallel)?;
    let (sender, receiver) = channel::<StartResult>();
    let slot: Arc<OnceLock<Arc<ServedRun>>> = Arc::default();
    let watch = Begin { queue: Arc::clone(&queue), served: Arc::clone(&slot), sender: Mutex::new(Some(sender)) };
    let (own_queue, own_stop) = (Arc::clone(&queue), Arc::clone(&stop));
    let own_session = session.clone();
    let work = move || {
        let result = job.run(&own_session, &watch, &own_stop);
        let ended = result.and_then(|result| conclude(&own_session, result));
        let phase = phase_of(ended, &own_queue);
        match watch.served.get() {
            Some(served) => over(served, phase),
            // The run did not begin; its phase says why.
            None => watch.report_start(Err(match phase {
                RunPhase::Error(why, Value::Null) => ToolFault::new("not_started", why),
                RunPhase::Error(_, fault) => ToolFault(fault),
                _ => ToolFault::new("over", "the run has already ended").help("get_report returns the report"),
            })),
        }
    };
    let thread = thread::Builder::new().name("run".into()).stack_size(super::STACK).spawn(work);
    let thread = thread.map_err(|error| ToolFault::new("failed", error.to_string()))?;
    let (run, cases) = match receiver.recv() {
        Ok(Ok(begun)) => begun,
        Ok(Err(fault)) => return Err(fault),
        Err(_) => return Err(ToolFault::new("not_started", "the run did not start")),
    };
    let served = Arc::new(ServedRun::new(&session, (run.clone(), cases), (queue, stop), parallel));
    *locked(&served.thread) = Some(thread);
    let meta = BTreeMap::from([("run".to_owned(), run.clone()), ("cases".to_owned(), cases.to_string())]);
    served.add_signal(("session_started", SERVER), (None, None), meta);
    registry.serve(Arc::clone(&served));
    drop(slot.set(Arc::clone(&served)));
    Ok(json!({ "session_id": run, "run": run, "cases": cases, "parallel": parallel, "state": "running" }))
}

/// A run to execute.
enum ServeJob {
    Run(Box<RunSpec>),
    Resume { run: String, parallel: usize, budget: Option<u64> },
}

fn job(session: &Session, args: StartRun, parallel: usize) -> Result<ServeJob, ToolFault> {
    if let Some(run) = args.resume {
        return Ok(ServeJob::Resume { run, parallel, budget: args.budget });
    }
    let root = &session.setup().root;
    let input = args.input.map(super::args::OneOrMany::all).unwrap_or_default();
    let inputs = match (args.launch, input.as_slice()) {
        (Some(launch), []) => RunInputs::Launch(launch),
        (Some(_), _) => {
            let both = ToolFault::new("arguments", "`launch` and `input` are mutually exclusive");
            return Err(both.help("pass one of them: a ReportPortal launch, or files"));
        }
        (None, input) => files_named(root, input)?,
    };
    pipeline_within(root, args.pipeline.as_deref())?;
    let default_chain = args.via.map_or_else(|| vec![MCP.to_owned()], super::args::OneOrMany::all);
    let nodes = args.via_nodes.into_iter().map(|(node, names)| (node, names.all())).collect();
    Ok(ServeJob::Run(Box::new(RunSpec {
        settings: RunSettings {
            pipeline: args.pipeline,
            via: Via { usual: default_chain, nodes },
            seed: args.seed,
            files: Files::Auto,
            budget: args.budget,
            ..RunSettings::default()
        },
        cases: args.cases,
        parallel,
        durability: Durability::Step,
        ..RunSpec::of(inputs)
    })))
}

/// The named files of the project, or those that a name refers to.
fn files_named(root: &Path, input: &[String]) -> Result<RunInputs, ToolFault> {
    Ok(match input {
        [] => RunInputs::Example,
        [only] if only == "example" => RunInputs::Example,
        [only] if only == "none" => RunInputs::None,
        paths => RunInputs::Files(LaunchFiles::of(&paths.iter().map(|path| within(root, path)).collect::<Result<Vec<_>, _>>()?)),
    })
}

impl ServeJob {
    fn run(self, session: &Session, watch: &dyn RunListener, stop: &AtomicBool) -> Result<RunResult, SessionError> {
        match self {
            Self::Run(spec) => session.run(&spec, watch, stop),
            Self::Resume { run, parallel, budget } => session.resume(
                &ResumeSpec { run: &run, parallel, durability: Durability::Step, migrate: None, budget, distribute: false },
                watch,
                stop,
            ),
        }
    }
}

/// Writes the report; returns the final status and the summary.
fn conclude(session: &Session, mut result: RunResult) -> Result<(WalkStatus, Value), SessionError> {
    let (report, _) = report::of_run(session, &result)?;
    report::write(session, &result, &report)?;
    result.report = session.report_path(&result);
    Ok((result.status, serde_json::to_value(result.summary()).unwrap_or_default()))
}

fn phase_of(ended: Result<(WalkStatus, Value), SessionError>, queue: &StepQueue) -> RunPhase {
    match ended {
        Ok((WalkStatus::Done | WalkStatus::Error, summary)) => {
            queue.end(&QueueClosed::Over, true);
            RunPhase::Done(summary)
        }
        Ok((WalkStatus::Paused | WalkStatus::Running, summary)) => {
            let why = match queue.closed() {
                Some(QueueClosed::Aborted(why)) => why,
                Some(QueueClosed::Cancelled) => "it was stopped".to_owned(),
                _ => "it waits for another answerer, or its budget is spent".to_owned(),
            };
            queue.end(&QueueClosed::Aborted(why.clone()), true);
            RunPhase::Error(format!("{why}; it can be resumed"), summary)
        }
        Err(error) => {
            let fault = ToolFault::from(error);
            queue.end(&QueueClosed::Aborted(fault.message().to_owned()), false);
            RunPhase::Error(fault.message().to_owned(), fault.0)
        }
    }
}

fn over(served: &ServedRun, phase: RunPhase) {
    let event = match &phase {
        RunPhase::Error(..) => "session_error",
        _ => "session_done",
    };
    let meta = match &phase {
        RunPhase::Error(why, _) => BTreeMap::from([("error".to_owned(), why.clone())]),
        _ => BTreeMap::new(),
    };
    served.add_signal((event, SERVER), (None, None), meta);
    *locked(&served.phase) = phase;
}

/// Reports the start of the run to its starter, and recorded answers to the queue.
struct Begin {
    queue: Arc<StepQueue>,
    served: Arc<OnceLock<Arc<ServedRun>>>,
    sender: Mutex<Option<Sender<StartResult>>>,
}

impl Begin {
    fn report_start(&self, result: StartResult) {
        if let Some(sender) = locked(&self.sender).take() {
            drop(sender.send(result));
        }
    }
}

impl RunListener for Begin {
    fn began(&self, begun: &StartedRun<'_>) {
        self.report_start(Ok((begun.run.to_owned(), begun.cases)));
        // The starter publishes the run before its first step is taken.
        self.served.wait();
    }

    fn event(&self, event: &Event) {
        if let Some(agent) = event.what.agent() {
            self.queue.recorded(agent.request);
        }
    }

    fn case_went(&self, case: &Case) {
        self.queue.case_stopped(&case.id);
    }

    fn case_over(&self, case: &Case, status: WalkStatus) {
        if let Some(served) = self.served.get() {
            let event = if status == WalkStatus::Error { "case_error" } else { "case_done" };
            served.add_signal((event, SERVER), (Some(case.id.clone()), None), BTreeMap::new());
        }
    }
}
