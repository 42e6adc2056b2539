//! `asterisk goal`.

use super::run::{on_interrupt, via_of};
use super::run_view::{self, LiveView};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::agent::Approve;
use crate::diag::Diagnostics;
use crate::exit::Exit;
use crate::model::{Attributes, Case, Launch, shell};
use crate::session::{Files, ResumeSpec, RunInputs, RunListener, RunResult, RunSpec, Session, SessionError, StartedRun, Via};
use crate::store::Durability;
use crate::ui::{OutputFormat, Ui, plain};
use crate::walk::{Event, EventBody, WalkStatus};
use clap::Args;
use serde_json::{Value, json};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The pipeline that pursues goals.
const PIPELINE: &str = "goal";

/// Pursue a goal: plan it, run its sub-tasks with tools, judge the outcome, and replan where that helps.
///
/// Every tool call is judged before it runs (`scripts/policy/tools.rhai`): irreversible commands are refused, existing files are not
/// overwritten, and tools cannot write outside the working directory. Without an LLM, goals about files (find, count, collect, summarise)
/// and launches are understood; with `--via`, any text. The run is stored like any other, so `asterisk explain`, `replay` and `sweep`
/// apply.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk goal \"count the lines of all *.rhai files\" --workdir scripts\n  \
                  asterisk goal \"find the *.rhai files\" --workdir scripts --format json\n  \
                  asterisk goal \"summarise the *.rhai files\" --workdir scripts --via claude,script --budget 200000")]
pub(super) struct GoalArgs {
    /// The goal.
    #[arg(required_unless_present = "resume")]
    text: Option<String>,
    /// The working directory. To protect your files, pass a copy or a git worktree. The project's own texts and its store are not written
    /// [default: the current directory].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    workdir: Option<PathBuf>,
    /// The launch that the goal is about: a file below the working directory.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    launch: Option<PathBuf>,
    /// Who answers the roles instead of the scripts, as for `asterisk run`.
    #[arg(long, alias = "agent", value_name = "[NODE=]NAME", conflicts_with = "resume")]
    via: Vec<String>,
    /// The maximum number of replans; the same as `--set max_replans=N`.
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    max_replans: Option<u16>,
    /// The token budget of the agents.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Ask on the terminal about tool calls that need a person's approval. Without it, they are refused.
    #[arg(long)]
    approve: bool,
    /// Allow `http_get` to read from this server; may be repeated.
    #[arg(long, value_name = "HOST", conflicts_with = "resume")]
    allow_host: Vec<String>,
    /// Do not recall what earlier goals taught.
    #[arg(long, conflicts_with = "resume")]
    no_recall: bool,
    /// Resume a goal that was stopped.
    #[arg(long, value_name = "RUN")]
    resume: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

pub(super) fn goal(global: &GlobalArgs, mut args: GoalArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    args.project.set.extend(args.max_replans.map(|most| format!("max_replans={most}")));
    let session = global.session(&args.project, None)?.with_approval(args.approve.then(|| ask(ui)));
    let stop = Arc::new(AtomicBool::new(false));
    let walking = Arc::new(AtomicBool::new(false));
    let interrupted = on_interrupt(&stop, &walking);
    let live = LiveView::new(ui, global.verbose, walking, false);
    let progress = GoalProgress { ui, live: &live, quiet: global.verbose > 0 };
    let result = match &args.resume {
        Some(run) => {
            let spec = ResumeSpec { run, parallel: 1, durability: Durability::Step, migrate: None, budget: args.budget };
            session.resume(&spec, &progress, &stop)
        }
        None => session.run(&spec(&args, &session)?, &progress, &stop),
    };
    live.finish();
    let store_flag =
        global.store.as_ref().map_or(String::new(), |store| format!(" --store {}", shell(&store.display().to_string())));
    conclude(ui, &session, &result?, interrupted.load(Ordering::Relaxed), &store_flag)
}

fn spec(args: &GoalArgs, session: &Session) -> Result<RunSpec, SessionError> {
    let text = args.text.clone().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(SessionError::bad_request("input/goal", "the goal is empty", Some("say what is wanted".into())));
    }
    let dir = args.workdir.clone().unwrap_or_else(|| PathBuf::from("."));
    let workdir = dir.canonicalize().ok().filter(|dir| dir.is_dir()).ok_or_else(|| {
        let message = format!("`{}` is no directory to work in", dir.display());
        SessionError::bad_request("input/workdir", message, Some("make it, or name another one with --workdir".into()))
    })?;
    session.check_workdir(&workdir)?;
    let mut attributes = Attributes::default();
    attributes.insert("workdir", workdir.to_string_lossy());
    attributes.insert("allow_hosts", args.allow_host.join(","));
    if let Some(launch) = &args.launch {
        attributes.insert("launch", below(&workdir, launch)?);
    }
    let case = Case { id: PIPELINE.into(), name: text, status: "OPEN".into(), attributes, ..Case::default() };
    let launch = Launch { run_id: PIPELINE.into(), name: PIPELINE.into(), cases: vec![case], ..Launch::default() };
    Ok(RunSpec {
        pipeline: Some(PIPELINE.into()),
        via: via_of(&args.via, Via::default())?,
        durability: Durability::Step,
        files: Files::Auto,
        budget: args.budget,
        no_recall: args.no_recall,
        goal: true,
        ..RunSpec::of(RunInputs::Given(Arc::new(launch)))
    })
}

/// Returns the path of a file relative to the working directory, which must contain it.
fn below(workdir: &Path, file: &Path) -> Result<String, SessionError> {
    let whole = workdir.join(file).canonicalize().ok().filter(|whole| whole.is_file());
    let inside = whole.as_deref().and_then(|whole| whole.strip_prefix(workdir).ok());
    inside.map(|inside| inside.to_string_lossy().into_owned()).ok_or_else(|| {
        let message = format!("`{}` is no file below the working directory", file.display());
        SessionError::bad_request("input/launch", message, Some("tools read nothing outside of it: copy the launch there".into()))
    })
}

/// Asks for approval on the terminal.
fn ask(ui: Ui) -> Approve {
    let one_at_a_time = Mutex::new(());
    Arc::new(move |question: &str| {
        let _turn = one_at_a_time.lock();
        ui.note(&plain(&format!("may this be done? {question}\n[y/N]")));
        let mut said = String::new();
        let read = std::io::stdin().lock().read_line(&mut said);
        read.is_ok() && matches!(said.trim().to_lowercase().as_str(), "y" | "yes")
    })
}

/// Reports the steps of the loop and the outcomes of sub-tasks.
struct GoalProgress<'a> {
    ui: Ui,
    live: &'a LiveView,
    /// Whether to report every step.
    quiet: bool,
}

impl GoalProgress<'_> {
    fn say(&self, text: &str) {
        if !self.quiet {
            self.live.with_bar_hidden(|ui| ui.note(&plain(text)));
        }
    }
}

impl RunListener for GoalProgress<'_> {
    fn warnings(&self, warnings: &Diagnostics) {
        self.ui.diagnostics(warnings);
    }

    fn began(&self, begun: &StartedRun<'_>) {
        self.live.began(begun);
        self.say(&format!("run {}", begun.run));
    }

    fn event(&self, event: &Event) {
        self.live.event(event);
        let depth = event.path.matches('/').count();
        match &event.what {
            EventBody::Transition { from, to, edge, because, .. } if depth == 0 => {
                self.say(&format!("{from} -> {to} by {edge}: {because}"));
            }
            EventBody::Transition { from, edge, because, .. } if depth <= 4 && !because.is_empty() => {
                self.say(&format!("  {} {from}, {edge}: {because}", event.path));
            }
            EventBody::BranchError { branch, message, .. } => self.say(&format!("  {branch} failed: {message}")),
            _ => {}
        }
    }
}

/// Prints the outcome of the goal.
fn conclude(ui: Ui, session: &Session, result: &RunResult, interrupted: bool, store_flag: &str) -> Result<Exit, SessionError> {
    let (report, _) = super::report::build(ui, session, result)?;
    crate::report::write(session, result, &report)?;
    let mut artifact = Value::Null;
    result.each(|case| {
        if case.state.status == WalkStatus::Done {
            artifact = case.state.last_artifact().and_then(|last| last.view().map(crate::script::View::json)).unwrap_or_default();
        }
        Ok(())
    })?;
    let reached = artifact["status"] == "done";
    match ui.format() {
        OutputFormat::Json => {
            let mut whole = json!({ "schema_version": 1, "run": result.run, "walk": result.status });
            if let (Value::Object(whole), Value::Object(artifact)) = (&mut whole, artifact) {
                whole.extend(artifact);
            }
            ui.json(&whole);
        }
        OutputFormat::Pretty => {
            if let Some(text) = artifact["text"].as_str() {
                ui.out(plain(text).trim_end());
            }
            for open in artifact["open"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                ui.note(&plain(&format!("open: {open}")));
            }
        }
    }
    run_view::failures(ui, result);
    run_view::tokens(ui, result);
    let over = matches!(result.status, WalkStatus::Done | WalkStatus::Error);
    if !over {
        ui.note(&run_view::stopped(session, result, "goal", store_flag));
    }
    Ok(match result.status {
        _ if !over && interrupted => Exit::Interrupted,
        WalkStatus::Done if reached => Exit::Ok,
        WalkStatus::Done => Exit::Findings,
        WalkStatus::Error => Exit::Cases,
        WalkStatus::Paused | WalkStatus::Running => Exit::Stopped,
    })
}
