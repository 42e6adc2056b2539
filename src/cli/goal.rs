//! `asterisk goal`.

use super::run::{ViaArg, on_interrupt};
use super::run_view::{self, LiveView};
use super::{FormatArg, GlobalArgs, ProjectArgs, goal_audit, goal_dream, goal_memory};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui, plain};
use asterisk_adapters::agent::Approve;
use asterisk_adapters::workspace::{IsolatedDir, Isolation, TreeChanges};
use asterisk_base::environment::Variables;
use asterisk_base::model::{Attributes, Case, Launch, shell};
use asterisk_diag::Diagnostics;
use asterisk_session::{
    Files, ResumeSpec, RunInputs, RunListener, RunResult, RunSettings, RunSpec, Session, SessionError, StartedRun, Via,
};
use asterisk_store::Durability;
use asterisk_walk::{Event, EventBody, WORKDIR, WORKDIR_OF, WalkStatus};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The pipeline that pursues goals.
const PIPELINE: &str = "goal";
/// The attribute of a goal's case that says what its isolated directory is.
const ISOLATION: &str = "isolation";
/// The most changed paths that are named.
const SHOWN: usize = 10;

/// Pursue a goal: plan it, run its sub-tasks with tools, judge the outcome, and replan where that helps.
///
/// Every tool call is judged before it runs (`scripts/policy/tools.rhai`): irreversible commands are refused, existing files are not
/// overwritten, and tools cannot write outside the working directory. Without an LLM, goals about files (find, count, collect, summarise)
/// and launches are understood; with `--via`, any text. The run is stored like any other, so `asterisk explain` and `replay` apply.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  asterisk goal \"count the lines of all *.rhai files\" --workdir scripts\n  \
                  asterisk goal \"find the *.rhai files\" --workdir scripts --format json\n  \
                  asterisk goal \"summarise the *.rhai files\" --workdir scripts --via claude,script --budget 200000\n  \
                  asterisk goal memory list\n  asterisk goal dream\n  asterisk goal audit verify"
)]
pub(super) struct GoalArgs {
    #[command(subcommand)]
    command: Option<GoalCommand>,
    /// The goal.
    #[arg(required_unless_present = "resume")]
    text: Option<String>,
    /// The working directory. The project's own sources and its store are not written; `--isolate` protects everything else
    /// [default: the current directory].
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    workdir: Option<PathBuf>,
    /// Work in a copy of the working directory, or in a git worktree of it, created next to it. The result lists the changes made
    /// there, and how to apply them; if nothing was changed, it is removed.
    #[arg(long, value_name = "copy|worktree", conflicts_with = "resume", value_parser = isolation_of)]
    isolate: Option<Isolation>,
    /// The launch that the goal is about: a file below the working directory.
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    input: Option<PathBuf>,
    #[command(flatten)]
    via: ViaArg,
    /// The maximum number of replans; the same as `--set max_replans=N`.
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    max_replans: Option<u16>,
    /// The number of tokens that the agents may spend.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Ask on the terminal about tool calls that need approval. Without it, they are refused.
    #[arg(long)]
    approve: bool,
    /// Run shell commands even if this system cannot confine them (`asterisk doctor` shows whether it can).
    #[arg(long)]
    unconfined: bool,
    /// Allow `http_get` to read from this server; may be repeated.
    #[arg(long, value_name = "HOST", conflicts_with = "resume")]
    allow_host: Vec<String>,
    /// Do not recall memories of earlier goals.
    #[arg(long, conflicts_with = "resume")]
    no_recall: bool,
    /// Resume a goal that was stopped.
    #[arg(long, value_name = "RUN", conflicts_with = "via")]
    resume: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Debug, Subcommand)]
enum GoalCommand {
    Memory(goal_memory::MemoryArgs),
    Dream(goal_dream::DreamArgs),
    Audit(goal_audit::AuditArgs),
}

pub(super) fn goal(global: &GlobalArgs, mut args: GoalArgs) -> Result<Exit, SessionError> {
    match &args.command {
        Some(GoalCommand::Memory(args)) => return goal_memory::memory(global, args),
        Some(GoalCommand::Dream(args)) => return goal_dream::dream(global, args),
        Some(GoalCommand::Audit(args)) => return goal_audit::audit(global, args),
        None => {}
    }
    let ui = &global.ui(args.format);
    args.project.set.extend(args.max_replans.map(|most| format!("max_replans={most}")));
    let session =
        global.session(&args.project, None)?.with_approval(args.approve.then(|| ask(ui))).with_unconfined(args.unconfined);
    let stop = Arc::new(AtomicBool::new(false));
    let walking = Arc::new(AtomicBool::new(false));
    let interrupted = on_interrupt(&global.environment, &stop, &walking);
    let live = LiveView::new(ui, global.verbose, walking, false);
    let progress = GoalProgress { ui, live: &live, quiet: global.verbose > 0, begun: AtomicBool::new(false) };
    let result = match &args.resume {
        Some(run) => {
            if !session.is_goal(run)? {
                let message = format!("the run `{run}` does not pursue a goal");
                let help = format!("continue with: asterisk run --resume {run}");
                return Err(SessionError::bad_request("input/resume", message, Some(help)));
            }
            let spec = ResumeSpec {
                run,
                parallel: 1,
                durability: Durability::Step,
                migrate: None,
                budget: args.budget,
                distribute: false,
            };
            session.resume(&spec, &progress, &stop)
        }
        None => {
            let (spec, isolated) = spec(&args, &session)?;
            let result = session.run(&spec, &progress, &stop);
            // A run that did not start cannot be resumed.
            if let (Err(_), Some(isolated), false) = (&result, isolated, progress.begun.load(Ordering::Relaxed)) {
                drop(isolated.discard_unchanged(global.variables()));
            }
            result
        }
    };
    live.finish();
    let store_flag = global.store_flag();
    conclude(ui, &session, &result?, interrupted.load(Ordering::Relaxed), &store_flag)
}

/// The run that pursues a goal, and the directory that was made for it.
fn spec(args: &GoalArgs, session: &Session) -> Result<(RunSpec, Option<IsolatedDir>), SessionError> {
    let text = args.text.clone().unwrap_or_default();
    if text.trim().is_empty() {
        return Err(SessionError::bad_request("input/goal", "the goal is empty", Some("describe what to do".into())));
    }
    let dir = args.workdir.clone().unwrap_or_else(|| PathBuf::from("."));
    let workdir = dir.canonicalize().ok().filter(|dir| dir.is_dir()).ok_or_else(|| {
        let message = format!("`{}` is not a directory", dir.display());
        SessionError::bad_request("input/workdir", message, Some("create it, or pass another one with --workdir".into()))
    })?;
    session.check_workdir(&workdir)?;
    let via = args.via.parse(Via::default())?;
    let mut attributes = Attributes::default();
    attributes.insert("allow_hosts", args.allow_host.join(","));
    if let Some(launch) = &args.input {
        attributes.insert("launch", below(&workdir, launch)?);
    }
    let isolated =
        args.isolate.map(|isolation| isolated(session.setup().environment.variables(), isolation, &workdir)).transpose()?;
    let used = isolated.as_ref().map_or(&workdir, |isolated| &isolated.dir);
    attributes.insert(WORKDIR, used.to_string_lossy());
    if let Some(IsolatedDir { isolation, origin, .. }) = &isolated {
        attributes.insert(ISOLATION, isolation.name());
        attributes.insert(WORKDIR_OF, origin.to_string_lossy());
    }
    let case = Case { id: PIPELINE.into(), name: text, status: "OPEN".into(), attributes, ..Case::default() };
    let launch = Launch { run_id: PIPELINE.into(), name: PIPELINE.into(), cases: vec![case], ..Launch::default() };
    let spec = RunSpec {
        settings: RunSettings {
            pipeline: Some(PIPELINE.into()),
            via,
            files: Files::Auto,
            budget: args.budget,
            no_recall: args.no_recall,
            goal: true,
            ..RunSettings::default()
        },
        durability: Durability::Step,
        ..RunSpec::of(RunInputs::Given(Arc::new(launch)))
    };
    Ok((spec, isolated))
}

/// Creates a directory that replaces the working directory.
fn isolated(variables: &Variables, isolation: Isolation, workdir: &Path) -> Result<IsolatedDir, SessionError> {
    IsolatedDir::create(variables, isolation, workdir).map_err(|why| {
        let help = match isolation {
            Isolation::Copy => "free some space next to it, or copy the needed files and pass the copy with --workdir",
            Isolation::Worktree => "a worktree needs a git repository without uncommitted changes; --isolate copy copies",
        };
        SessionError::bad_request("input/isolate", why, Some(help.into()))
    })
}

/// The isolated directory that a goal works in.
fn isolated_of(result: &RunResult) -> Option<IsolatedDir> {
    let attributes = &result.launch.cases.first()?.attributes;
    let isolation = isolation_of(attributes.get(ISOLATION)?).ok()?;
    Some(IsolatedDir { isolation, origin: attributes.get(WORKDIR_OF)?.into(), dir: attributes.get(WORKDIR)?.into() })
}

/// The outcome of the isolated directory of a finished goal; without changes it is removed. `None` if it was removed before.
fn changes(variables: &Variables, isolated: &IsolatedDir) -> Option<IsolatedChanges> {
    if !isolated.dir.is_dir() {
        return None;
    }
    let (take_over, discard) = isolated.commands(variables, |text| shell(text).into_owned());
    let mut found = IsolatedChanges {
        dir: isolated.dir.display().to_string(),
        of: isolated.origin.display().to_string(),
        removed: false,
        changes: TreeChanges::default(),
        problem: None,
        take_over,
        discard,
    };
    match isolated.changes(variables).and_then(|changes| Ok((isolated.discard_unchanged(variables)?, changes))) {
        Ok((removed, changes)) => (found.removed, found.changes) = (removed, changes),
        Err(why) => found.problem = Some(why),
    }
    Some(found)
}

/// The changes in an isolated directory, as they are shown.
#[derive(Serialize)]
struct IsolatedChanges {
    dir: String,
    of: String,
    /// Whether the directory was removed, as nothing was changed.
    #[serde(rename = "discarded")]
    removed: bool,
    #[serde(flatten)]
    changes: TreeChanges,
    /// Why the changes are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    take_over: String,
    discard: String,
}

impl IsolatedChanges {
    /// The changes in words.
    fn note(&self) -> String {
        let Self { dir, of, changes, .. } = self;
        if self.removed {
            return format!("nothing was changed: {dir} was removed");
        }
        let what = match &self.problem {
            Some(why) => format!("the changes are unknown ({why})"),
            None => [("new", &changes.new), ("changed", &changes.changed), ("removed", &changes.removed)]
                .into_iter()
                .filter(|(_, paths)| !paths.is_empty())
                .map(|(how, paths)| format!("{how}: {}", named(paths)))
                .collect::<Vec<_>>()
                .join("; "),
        };
        let Self { take_over, discard, .. } = self;
        let removed = if self.changes.removed.is_empty() { "" } else { " (files removed in it are kept)" };
        format!("{what}\n  in {dir}; {of} was not touched\n  apply{removed}: {take_over}\n  discard: {discard}")
    }
}

/// The first of some paths.
fn named(paths: &[String]) -> String {
    let more = if paths.len() > SHOWN { format!(" and {} more", paths.len() - SHOWN) } else { String::new() };
    paths.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ") + more.as_str()
}

fn isolation_of(name: &str) -> Result<Isolation, String> {
    let found = Isolation::ALL.into_iter().find(|isolation| isolation.name() == name);
    found.ok_or_else(|| "it is `copy` or `worktree`".to_owned())
}

/// Returns the path of a file relative to the working directory, which must contain it.
fn below(workdir: &Path, file: &Path) -> Result<String, SessionError> {
    let whole = workdir.join(file).canonicalize().ok().filter(|whole| whole.is_file());
    let inside = whole.as_deref().and_then(|whole| whole.strip_prefix(workdir).ok());
    inside.map(|inside| inside.to_string_lossy().into_owned()).ok_or_else(|| {
        let message = format!("`{}` is not a file below the working directory", file.display());
        SessionError::bad_request("input/launch", message, Some("tools cannot read outside of it: copy the launch there".into()))
    })
}

/// Asks for approval on the terminal.
fn ask(ui: &Ui) -> Approve {
    let one_at_a_time = Mutex::new(());
    let ui = ui.clone();
    Arc::new(move |question: &str| {
        let _turn = one_at_a_time.lock();
        ui.note(&plain(&format!("allow this? {question}\n[y/N]")));
        let mut said = String::new();
        let read = ui.environment().input().lock().read_line(&mut said);
        read.is_ok() && matches!(said.trim().to_lowercase().as_str(), "y" | "yes")
    })
}

/// Reports the steps of the loop and the outcomes of sub-tasks.
struct GoalProgress<'a> {
    ui: &'a Ui,
    live: &'a LiveView,
    /// Whether to report every step.
    quiet: bool,
    /// Whether the run began.
    begun: AtomicBool,
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
        self.begun.store(true, Ordering::Relaxed);
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
                self.say(&format!("  {} {from}, {edge}: {because}", subtask(&event.path)));
            }
            EventBody::BranchError { branch, message, .. } => self.say(&format!("  {branch} failed: {message}")),
            _ => {}
        }
    }
}

/// The branch that a step belongs to, counted from 1: `3/branch[1]/1/work/2` is of sub-task 1.
fn subtask(path: &str) -> String {
    let number = path.split_once("branch[").and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    number.map_or_else(|| path.to_owned(), |number| format!("sub-task {number}:"))
}

/// Prints the outcome of the goal.
fn conclude(ui: &Ui, session: &Session, result: &RunResult, interrupted: bool, store_flag: &str) -> Result<Exit, SessionError> {
    let (report, _) = super::report::build(ui, session, result)?;
    asterisk_report::write(session, result, &report)?;
    let mut artifact = Value::Null;
    result.each(|case| {
        if case.state.status == WalkStatus::Done {
            artifact =
                case.state.last_artifact().and_then(|last| last.view().map(asterisk_script::View::json)).unwrap_or_default();
        }
        Ok(())
    })?;
    let reached = artifact["status"] == "done";
    let over = matches!(result.status, WalkStatus::Done | WalkStatus::Error);
    let isolated = isolated_of(result).filter(|_| over);
    let changes = isolated.and_then(|isolated| changes(ui.environment().variables(), &isolated));
    match ui.format() {
        OutputFormat::Json => {
            let mut whole = json!({ "schema_version": 1, "run": result.run, "walk": result.status });
            if let (Value::Object(whole), Value::Object(artifact)) = (&mut whole, artifact) {
                whole.extend(artifact);
                whole.extend(changes.as_ref().map(|changes| ("changes".to_owned(), json!(changes))));
            }
            ui.json(&whole);
        }
        OutputFormat::Pretty => {
            if let Some(text) = artifact["text"].as_str() {
                ui.out(plain(text).trim_end());
            }
            let said = artifact["text"].as_str().unwrap_or_default();
            let open = artifact["open"].as_array().into_iter().flatten().filter_map(Value::as_str);
            for open in open.filter(|open| !said.contains(open)) {
                ui.note(&plain(&format!("open: {open}")));
            }
            if let Some(changes) = &changes {
                ui.note(&plain(&changes.note()));
            }
        }
    }
    run_view::failures(ui, result);
    run_view::tokens(ui, result);
    if !over {
        ui.note(&run_view::stopped(session, result, store_flag));
    }
    Ok(match result.status {
        _ if !over && interrupted => Exit::Interrupted,
        WalkStatus::Done if reached => Exit::Ok,
        WalkStatus::Done => Exit::Findings,
        WalkStatus::Error => Exit::Cases,
        WalkStatus::Paused | WalkStatus::Running => Exit::Stopped,
    })
}
