//! `asterisk worker`.

use super::run::on_interrupt;
use super::run_observe::{self, ObserveArgs};
use super::run_view::LiveView;
use super::{FormatArg, GlobalArgs, ParallelArg, ProjectArgs};
use crate::exit::Exit;
use crate::serve::{HealthSource, serve_health};
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_diag::{Diagnostic, counted};
use asterisk_observe::{MetricsText, ObserverFanout};
use asterisk_session::{JobEnd, SessionError, WorkerHeartbeat, WorkerListener, WorkerSpec};
use asterisk_store::{Durability, JobFigures, TakenJob, WorkerState};
use clap::{Args, Subcommand};
use serde_json::json;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Walk the cases of runs that are handed out to workers (`asterisk run --distribute`), or manage workers.
///
/// A worker takes cases from the store, walks them with the recorded sources of their run, and records every step. A worker that is
/// lost is replaced: after 20 seconds its cases are given to another one, and what it commits after that is refused. A case that
/// failed three times is not retried until `asterisk worker retry`. An interrupt ends the worker after the current steps; its cases
/// are given back.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  asterisk worker --once\n  asterisk worker list\n  asterisk worker drain --all"
)]
pub(super) struct WorkerArgs {
    #[command(subcommand)]
    command: Option<WorkerCommand>,
    /// The name of the worker, unique in the store [default: host and process id].
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    parallel: ParallelArg,
    /// End when no case is waiting, rather than wait for more.
    #[arg(long)]
    once: bool,
    /// How long a case may take in one phase, in seconds, before it is given to another worker.
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..))]
    job_timeout: u64,
    /// Serve `/healthz` and `/metrics` (Prometheus) at an address, such as `0.0.0.0:9464`. They contain counts, no data of runs.
    #[arg(long, value_name = "ADDR")]
    health: Option<SocketAddr>,
    #[command(flatten)]
    observe: ObserveArgs,
}

#[derive(Debug, Subcommand)]
enum WorkerCommand {
    /// List the workers, and the cases that failed with several of them.
    List {
        #[command(flatten)]
        format: FormatArg,
    },
    /// Let workers take no more cases until `resume`.
    Pause(WorkerNames),
    /// Let paused workers take cases again.
    Resume(WorkerNames),
    /// Let workers finish the cases at hand, and end.
    Drain(WorkerNames),
    /// Give the cases that failed with several workers to workers again.
    Retry {
        /// Only those of this run.
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
        #[command(flatten)]
        format: FormatArg,
    },
}

/// Which workers.
#[derive(Debug, Args)]
struct WorkerNames {
    /// The worker.
    #[arg(required_unless_present = "all")]
    worker: Option<String>,
    /// All workers.
    #[arg(long, conflicts_with = "worker")]
    all: bool,
    #[command(flatten)]
    format: FormatArg,
}

/// Shows what a worker does.
struct WorkerView<'a> {
    ui: &'a Ui,
    verbose: u8,
    health: &'a WorkerStatus,
}

/// After how long without contact with the store a worker is not healthy: others have its cases by then.
const OUT_OF_CONTACT: Duration = Duration::from_secs(30);

/// What a worker did and knows.
struct WorkerStatus {
    name: String,
    finished: AtomicU64,
    failed: AtomicU64,
    lost: AtomicU64,
    /// When it last reached the store, and what it knew.
    last: Mutex<(Instant, WorkerHeartbeat)>,
}

impl WorkerStatus {
    fn new(name: &str) -> Self {
        let last = Mutex::new((Instant::now(), WorkerHeartbeat::default()));
        Self { name: name.to_owned(), finished: AtomicU64::new(0), failed: AtomicU64::new(0), lost: AtomicU64::new(0), last }
    }

    fn last(&self) -> (Instant, WorkerHeartbeat) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HealthSource for WorkerStatus {
    fn fault(&self) -> Option<String> {
        let silent = self.last().0.elapsed();
        (silent > OUT_OF_CONTACT).then(|| format!("the store was not reached for {} s", silent.as_secs()))
    }

    fn metrics(&self) -> String {
        let (seen, WorkerHeartbeat { active, queue }) = self.last();
        let [finished, failed, lost] = [&self.finished, &self.failed, &self.lost].map(|count| count.load(Ordering::Relaxed));
        let mut text = MetricsText::default();
        text.metric("worker_jobs_total", "Jobs of this worker that ended, by how.", "counter");
        for (end, count) in [("finished", finished), ("failed", failed), ("lost", lost)] {
            text.sample("worker_jobs_total", &[("worker", &self.name), ("end", end)], count);
        }
        text.metric("worker_active_cases", "Cases that this worker holds.", "gauge");
        text.sample("worker_active_cases", &[("worker", &self.name)], active);
        text.metric("worker_store_seconds", "Time since this worker last reached the store.", "gauge");
        text.sample("worker_store_seconds", &[("worker", &self.name)], seen.elapsed().as_secs());
        text.metric("queue_jobs", "Jobs of all runs in the store, by state.", "gauge");
        let JobFigures { waiting, walking, done, dead } = queue;
        for (state, count) in [("waiting", waiting), ("walking", walking), ("done", done), ("dead", dead)] {
            text.sample("queue_jobs", &[("state", state)], count);
        }
        text.finish()
    }
}

impl WorkerListener for WorkerView<'_> {
    fn took(&self, run: &str) {
        if self.verbose > 0 {
            self.ui.note(&format!("run {run}"));
        }
    }

    fn heartbeat(&self, heartbeat: &WorkerHeartbeat) {
        *self.health.last.lock().unwrap_or_else(PoisonError::into_inner) = (Instant::now(), *heartbeat);
    }

    fn ended(&self, job: &TakenJob, end: &JobEnd) {
        let case = plain(&job.case);
        let (count, message) = match end {
            JobEnd::Finished => {
                (&self.health.finished, (self.verbose > 0).then(|| format!("walked case {case} of run {}", job.run)))
            }
            JobEnd::Failed(why) => {
                (&self.health.failed, Some(format!("warning: case {case} of run {} failed: {}", job.run, plain(why))))
            }
            JobEnd::Lost => {
                (&self.health.lost, Some(format!("warning: case {case} of run {} was given to another worker", job.run)))
            }
        };
        count.fetch_add(1, Ordering::Relaxed);
        if let Some(message) = message {
            self.ui.note(&message);
        }
    }
}

pub(super) fn worker(global: &GlobalArgs, args: &WorkerArgs) -> Result<Exit, SessionError> {
    let session = global.session(&ProjectArgs::default(), None)?;
    match &args.command {
        None => {
            let ui = &global.printer(OutputFormat::Pretty);
            let (stop, walking) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(true)));
            let _interrupted = on_interrupt(&global.environment, &stop, &walking);
            let name = args.name.clone().unwrap_or_else(|| {
                let host = global.variables().text("HOSTNAME").filter(|host| !host.is_empty());
                format!("{}-{}", host.unwrap_or_else(|| "worker".to_owned()), std::process::id())
            });
            let spec = WorkerSpec {
                name: name.clone(),
                threads: args.parallel.count(),
                durability: Durability::Batch,
                once: args.once,
                job_timeout: Duration::from_secs(args.job_timeout),
            };
            let health = Arc::new(WorkerStatus::new(&name));
            let wanted = run_observe::wanted(&args.observe.observe, &[], Path::new(""))?;
            let live = Arc::new(LiveView::new(ui, 0, walking, false));
            let clock = &session.setup().clock;
            let attached = run_observe::attach(&wanted, &live, ui, (global.verbose, args.observe.log_filter.as_deref()), clock)?;
            let observed = ObserverFanout::over(&(), clock, attached);
            ui.note(&format!("worker {name} takes cases from {}", session.setup().store));
            if let Some(at) = args.health {
                let source = Arc::clone(&health) as Arc<dyn HealthSource>;
                let at = serve_health(at, source).map_err(|error| {
                    let diagnostic = Diagnostic::error("input/worker", format!("cannot listen at {at}: {error}"));
                    SessionError::BadRequest(Box::new(diagnostic.help("name a free address of this machine with --health")))
                })?;
                ui.note(&format!("serving http://{at}/healthz and /metrics"));
            }
            let view = WorkerView { ui, verbose: global.verbose, health: &health };
            let done = match &observed {
                Some(observed) => observed.within(|| session.work(&spec, (&view, observed), &stop)),
                None => session.work(&spec, (&view, &()), &stop),
            };
            run_observe::end(observed, ui);
            let done = done?;
            let lost = if done.lost > 0 { format!(", {} were given to another worker", done.lost) } else { String::new() };
            ui.out(&format!(
                "walked {}; {} failed{lost}",
                counted(done.finished.try_into().unwrap_or(usize::MAX), "case", "cases"),
                done.failed
            ));
            Ok(if done.failed > 0 { Exit::Cases } else { Exit::Ok })
        }
        Some(WorkerCommand::List { format }) => {
            let ui = &global.ui(*format);
            let (workers, dead) = session.workers()?;
            match ui.format() {
                OutputFormat::Json => ui.json(&json!({ "schema_version": 1, "workers": workers, "dead": dead })),
                OutputFormat::Pretty if workers.is_empty() && dead.is_empty() => {
                    ui.note("no workers; start one with: asterisk worker");
                }
                OutputFormat::Pretty => {
                    let mut table = ui.table(&["worker", "state", "threads", "active", "finished", "failed", "seen"]);
                    for worker in &workers {
                        let seen = format!("{} s ago", worker.seen_seconds_ago);
                        let numbers =
                            [worker.threads, worker.active, worker.finished, worker.failed].map(|number| number.to_string());
                        let [threads, active, finished, failed] = numbers;
                        table.row([worker.name.clone(), worker.state.to_string(), threads, active, finished, failed, seen]);
                    }
                    ui.out(&table.text());
                    for job in &dead {
                        ui.out(&format!("failed: case {} of run {}: {}", plain(&job.case), job.run, plain(&job.error)));
                    }
                }
            }
            Ok(Exit::Ok)
        }
        Some(WorkerCommand::Pause(names)) => set_state(global, names, WorkerState::Paused),
        Some(WorkerCommand::Resume(names)) => set_state(global, names, WorkerState::Running),
        Some(WorkerCommand::Drain(names)) => set_state(global, names, WorkerState::Draining),
        Some(WorkerCommand::Retry { run, format }) => {
            let count = session.retry_jobs(run.as_deref())?;
            report(&global.ui(*format), "retried", count, &counted(count, "case waits again", "cases wait again"));
            Ok(Exit::Ok)
        }
    }
}

fn set_state(global: &GlobalArgs, names: &WorkerNames, state: WorkerState) -> Result<Exit, SessionError> {
    let session = global.session(&ProjectArgs::default(), None)?;
    let count = session.set_worker_state(names.worker.as_deref(), state)?;
    if let (Some(name), 0) = (&names.worker, count) {
        let diagnostic = Diagnostic::error("input/worker", format!("no worker is called `{name}`")).help("asterisk worker list");
        return Err(SessionError::BadRequest(Box::new(diagnostic)));
    }
    report(&global.ui(names.format), "workers", count, &format!("{state}: {}", counted(count, "worker", "workers")));
    Ok(Exit::Ok)
}

fn report(ui: &Ui, name: &str, count: usize, text: &str) {
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({ "schema_version": 1, name: count })),
        OutputFormat::Pretty => ui.out(text),
    }
}
