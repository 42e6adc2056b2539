//! `asterisk run`.

use super::policy_args::PolicyArgs;
use super::profile_arg::ProfileArg;
use super::report::FilesArg;
use super::run_observe::{self, ObserveArgs};
use super::run_screen::{self, ScreenParts};
use super::run_view::{self, LiveView};
use super::run_watch::{self, WatchedTexts};
use super::{FormatArg, GlobalArgs, ParallelArg, PortalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_adapters::agent::STUB;
use asterisk_base::environment::{Environment, InputStream, Variables};
use asterisk_diag::Diagnostic;
use asterisk_files::read_input;
use asterisk_observe::ObserverFanout;
use asterisk_pipeline::NodeIx;
use asterisk_project::CurrentProject;
use asterisk_report::{Gate, RunReport};
use asterisk_session::reload::LoadProject;
use asterisk_session::{
    LaunchFiles, ResumeSpec, RunInputs, RunListener, RunResult, RunSettings, RunSpec, Session, SessionError, Via,
};
use asterisk_store::Durability;
use asterisk_walk::{Plan, RuleFailures, WalkStatus};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Walk every failure of a launch through a pipeline and report its root cause.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk run\n  asterisk run --input launch.json --set recall_hit=0.9\n  \
                        asterisk run rca --input junit.xml --parallel 4 --format json\n  asterisk run --input reports --input launch.json\n  asterisk run --launch 33195\n  asterisk run --resume 20260214-212109-ab12cd\n  asterisk run --watch\n  asterisk run --via claude,script --budget 200000\n  asterisk run --via review=claude,script\n  asterisk run --observe narration --observe metrics=run.prom")]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct RunArgs {
    /// The pipeline: a path, a file stem, or a `pipeline:` name [default: rca].
    pub(super) pipeline: Option<String>,
    /// A launch (a test report, ReportPortal JSON, or the log of a CI job), a directory or ZIP archive of these, `-` for standard
    /// input, or `none` for one empty case; several are merged into one launch [default: the bundled example].
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,
    /// The log of an earlier run of the job that passed: lines that it has, too, are not evidence; may be given several times.
    #[arg(long, value_name = "FILE")]
    baseline_log: Vec<PathBuf>,
    /// The launch with this number or UUID, fetched from ReportPortal (configured by `reportportal:` in asterisk.yaml).
    #[arg(long, value_name = "ID", conflicts_with = "input")]
    launch: Option<String>,
    #[command(flatten)]
    portal: PortalArgs,
    /// Walk only this case.
    #[arg(long = "case", value_name = "ID")]
    cases: Vec<String>,
    #[command(flatten)]
    via: ViaArg,
    /// Canned answers: {"CASE or *": {"NODE": [artifact, ...]}}. Implies --via stub.
    #[arg(long, value_name = "FILE")]
    pub(super) stub: Option<PathBuf>,
    #[command(flatten)]
    pub(super) project: ProjectArgs,
    #[command(flatten)]
    parallel: ParallelArg,
    /// Continue a stopped run, or show a finished one. Uses the recorded sources, unless --migrate is given.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["pipeline", "input", "launch", "cases", "via", "stub", "dry_run", "seed", "files"])]
    pub(super) resume: Option<String>,
    /// Resume with the current scripts, pipeline, templates, data and vars, if these still fit the paths of the cases.
    #[arg(long, requires = "resume")]
    migrate: bool,
    /// Watch the scripts, pipelines, templates, data and the project file: each case uses an edit from its next step on, keeping
    /// the graph it started with. An edit that does not compile is reported, and the last valid version stays in use. If the
    /// sources do not compile at the start, the run waits until they do. Watching ends with the run.
    #[arg(long)]
    watch: bool,
    /// With --watch: wait until the sources compile, then use them unchanged, regardless of later edits.
    #[arg(long, conflicts_with = "migrate")]
    pin: bool,
    /// Also evaluate the rules of the scripts in DIR, each time with the same inputs: their decisions are recorded and
    /// summarised, without any other effect. The scripts in DIR override those of the run, file by file.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["watch", "resume"])]
    shadow: Option<PathBuf>,
    /// Have doubtful conclusions reviewed by the court of the pipeline; the same as --set court=true.
    #[arg(long)]
    court: bool,
    /// Apply a mask to every node it is meant for, inside those that the pipeline applies: a script such as masks/recall.rhai.
    #[arg(long = "mask", value_name = "FILE", conflicts_with = "resume")]
    pub(super) masks: Vec<PathBuf>,
    /// Use this team instead of the pipeline's own: a name in `data/teams.yaml` of the scripts (`light`, `zone`, `cycle`,
    /// `calibrated`, or one of yours). Sub-pipelines with their own team keep it.
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(super) team: Option<String>,
    #[command(flatten)]
    policy: PolicyArgs,
    /// What a committed step survives: `step` a power loss, `batch` the end of the process.
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    durability: DurabilityArg,
    /// The number of tokens that the agents may spend. Once they are spent, no further agent is called and the run stops;
    /// continue with --resume and a larger budget. Details are in budget-status.json next to the report.
    #[arg(long, value_name = "TOKENS")]
    budget: Option<u64>,
    /// Disable memory: findings of other runs are not recalled.
    #[arg(long, conflicts_with = "resume")]
    no_recall: bool,
    /// Walk without writing to the store or to files. A policy pipeline is not walked; its stage order is printed instead.
    #[arg(long)]
    dry_run: bool,
    /// Hand the cases out to workers (`asterisk worker`), which may be on other machines, and wait for them. The result is the same.
    #[arg(long, conflicts_with_all = ["dry_run", "watch", "budget"])]
    distribute: bool,
    /// The seed of `state.chance`.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Whether to write a directory for each case: `auto` up to 1 000 cases.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    files: FilesArg,
    /// The output directory [default: .asterisk/investigations in the project's directory].
    #[arg(id = "ASTERISK_OUT", long = "out", value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    #[command(flatten)]
    observe: ObserveArgs,
    #[command(flatten)]
    profile: ProfileArg,
    /// Exit with 1 if this expression over the figures of the report is true, for example `new_causes > 0`; may be
    /// given several times. The figures: failures, causes, `new_causes`, regressions, recurring, flaky, undecided, `undecided_share`,
    /// `lowest_confidence`, `needs_review`, failed, unfinished, gaps, `by_defect.CODE`, `by_category.NAME`, `new_by_defect.CODE`,
    /// `causes_by_defect.CODE`.
    #[arg(long, value_name = "EXPR")]
    fail_on: Vec<String>,
    /// List the cases below the causes.
    #[arg(long = "cases")]
    list_cases: bool,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum DurabilityArg {
    #[default]
    Step,
    Batch,
}

pub(super) fn run(global: &GlobalArgs, mut args: RunArgs) -> Result<Exit, SessionError> {
    let ui = &global.ui(args.format);
    // The flag is short for a setting; the pipeline defines what the var means.
    args.project.set.extend(args.court.then(|| "court=true".to_owned()));
    args.project.set.extend(args.policy.settings()?);
    let resolved = global.resolve(&args.project, args.out.clone())?;
    let wanted = run_observe::wanted(&args.observe.observe, &resolved.observers, &resolved.root)?;
    let mut setup = resolved.setup;
    args.portal.override_settings(&mut setup.reportportal);
    let session = Session::new(setup).with_masks(&args.masks).with_team(args.team.as_deref());
    let parallel = args.parallel.count();
    let durability = match args.durability {
        DurabilityArg::Step => Durability::Step,
        DurabilityArg::Batch => Durability::Batch,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let walking = Arc::new(AtomicBool::new(false));
    let interrupted = on_interrupt(&global.environment, &stop, &walking);
    let verbose = if run_observe::writes_stderr(&wanted) { 0 } else { global.verbose };
    let live = Arc::new(LiveView::new(ui, verbose, walking, args.migrate));
    check(global.variables(), &args)?;
    check_gates(&session, &args)?;
    if args.dry_run && !args.watch {
        let project = session.project(args.pipeline.as_deref(), via(&args)?.answers())?;
        // Policy agents may be slow and cost money, so a dry run does not call them.
        if project.plan.policy.is_some() && project.plan.pipeline.waves() {
            live.warnings(&project.warnings);
            print_order(ui, &project.plan);
            return Ok(Exit::Ok);
        }
    }
    let clock = &session.setup().clock;
    let attached = run_observe::attach(&wanted, &live, ui, (global.verbose, args.observe.log_filter.as_deref()), clock)?;
    let observed = ObserverFanout::over(&*live, clock, attached);
    let watch = observed.as_ref().map_or(&*live as &dyn RunListener, |observed| observed);
    let texts = WatchedTexts {
        global: global.clone(),
        project: args.project.clone(),
        out: args.out.clone(),
        pipeline: args.pipeline.clone(),
        answers: via(&args)?.answers(),
        resume: args.resume.clone(),
        masks: args.masks.clone(),
        team: args.team.clone(),
    };
    let gates = args.fail_on.clone();
    let example = args.resume.is_none() && args.launch.is_none() && args.input.is_empty();
    let parts = ScreenParts { cases: args.list_cases, example };
    let (follow, pin, migrate, resume, budget) = (args.watch, args.pin, args.migrate, args.resume.clone(), args.budget);
    let (distribute, profile) = (args.distribute, args.profile.clone());
    let spec = resume.is_none().then(|| spec(args, global.environment.input(), parallel, durability)).transpose()?;
    let go = |current: Option<&CurrentProject>| match (&resume, &spec, current) {
        (Some(run), _, migrate) => {
            session.resume(&ResumeSpec { run, parallel, durability, migrate, budget, distribute }, watch, &stop)
        }
        (None, Some(spec), Some(current)) => session.run_by(current, spec, watch, &stop),
        (None, Some(spec), None) => session.run(spec, watch, &stop),
        (None, None, _) => Err(SessionError::BadRequest(Box::new(Diagnostic::error("input/run", "nothing to run")))),
    };
    let walk = || match (follow, migrate) {
        (true, _) => run_watch::run_watched(texts, pin, &live, |current| go(Some(current))),
        (false, true) => texts.load(None).and_then(|project| go(Some(&CurrentProject::new(project)))),
        (false, false) => go(None),
    };
    let measured = || {
        let result = match &observed {
            Some(observed) => observed.within(walk),
            None => walk(),
        };
        live.finish();
        result
    };
    let directory = |result: &RunResult| result.recorded.then(|| session.run_dir(&result.run).ok()).flatten();
    let result = profile.measured_to(ui, measured, directory);
    run_observe::end(observed, ui);
    let store_flag = global.store_flag();
    let ending = RunEnding {
        interrupted: interrupted.load(Ordering::Relaxed),
        silent: run_observe::take_stdout(&wanted),
        store_flag: &store_flag,
        gates: &gates,
        parts,
    };
    conclude(ui, &session, result?, &ending)
}

/// Prints the order in which the nodes of a policy pipeline would run.
fn print_order(ui: &Ui, plan: &Plan) {
    let names = |wave: Vec<NodeIx>| wave.into_iter().map(|ix| plan.node(ix).name.to_string()).collect::<Vec<_>>();
    let waves: Vec<Vec<String>> = plan.pipeline.wave_nodes().into_iter().map(names).collect();
    match ui.format() {
        OutputFormat::Json => ui.json(&json!({
            "schema_version": 1, "pipeline": *plan.pipeline.name, "stages": plan.nodes.len(), "order": waves.concat(), "waves": waves,
            "status": "ok",
        })),
        OutputFormat::Pretty => {
            let mut table = ui.table(&["wave", "stages"]);
            for (at, wave) in waves.iter().enumerate() {
                table.row([(at + 1).to_string(), wave.join(", ")]);
            }
            ui.out(&table.text());
        }
    }
}

/// Compiles the gates before anything is walked. A resumed run compiles them with its recorded sources, at the end.
fn check_gates(session: &Session, args: &RunArgs) -> Result<(), SessionError> {
    if args.fail_on.is_empty() || args.resume.is_some() || args.watch {
        return Ok(());
    }
    let project = session.project(args.pipeline.as_deref(), via(args)?.answers())?;
    for gate in &args.fail_on {
        Gate::compile(gate, &project.plan)?;
    }
    Ok(())
}

/// Returns the gates that fail on a report, each with the figures that it reads.
pub(super) fn failed_gates(gates: &[String], report: &RunReport, plan: &Plan) -> Result<Vec<String>, SessionError> {
    let failures = gates.iter().map(|gate| Ok(Gate::compile(gate, plan)?.failure(report, plan)?));
    failures.filter_map(Result::transpose).collect()
}

/// Prints the failed gates of a run.
pub(super) fn print_failed_gates(ui: &Ui, failed: &[String]) {
    for why in failed {
        ui.note(&format!("failed by --fail-on {why}"));
    }
}

/// How a run is concluded.
struct RunEnding<'a> {
    interrupted: bool,
    /// Whether standard output belongs to an observer.
    silent: bool,
    /// The `--store` flag of commands that are suggested.
    store_flag: &'a str,
    gates: &'a [String],
    parts: ScreenParts,
}

/// Rejects flags that do not apply to this way of running or resuming.
fn check(variables: &Variables, args: &RunArgs) -> Result<(), SessionError> {
    if args.pin && !args.watch {
        let message = "`--pin` without `--watch` has no effect: a run uses the sources from its start anyway";
        let help = "omit it; `--watch --pin` waits until the sources compile and then uses them";
        return Err(SessionError::bad_request("input/pin", message, Some(help.into())));
    }
    if args.resume.is_none() || args.migrate {
        return Ok(());
    }
    let given = |name: &str, value: Option<&std::ffi::OsStr>| value.is_some_and(|value| !variables.says(name, value));
    let project = &args.project;
    let flag = match () {
        () if args.watch => "--watch",
        () if !project.set.is_empty() => "--set",
        () if given("ASTERISK_SCRIPTS", project.scripts.as_deref().map(Path::as_os_str)) => "--scripts",
        () if given("ASTERISK_DOMAIN", project.domain.as_deref().map(std::ffi::OsStr::new)) => "--domain",
        () => return Ok(()),
    };
    let message = format!("a run is resumed with its recorded sources, so `{flag}` has no effect");
    let help = "add --migrate to continue with the current sources";
    Err(SessionError::BadRequest(Box::new(Diagnostic::error("input/resume", message).help(help))))
}

fn spec(args: RunArgs, input: &InputStream, parallel: usize, durability: Durability) -> Result<RunSpec, SessionError> {
    let via = via(&args)?;
    Ok(RunSpec {
        settings: RunSettings {
            pipeline: args.pipeline,
            via,
            seed: args.seed,
            files: args.files.into(),
            budget: args.budget,
            no_recall: args.no_recall,
            ..RunSettings::default()
        },
        inputs: inputs(&args.input, &args.baseline_log, args.launch),
        cases: args.cases,
        stub: args.stub.as_deref().map(|path| read_input(path, input)).transpose()?,
        parallel,
        durability,
        dry_run: args.dry_run,
        distribute: args.distribute,
        shadow: args.shadow,
    })
}

/// Parses `--via` and `--stub`.
fn via(args: &RunArgs) -> Result<Via, SessionError> {
    args.via.parse(if args.stub.is_some() { Via::stub() } else { Via::default() })
}

/// `--via`, for commands that walk.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ViaArg {
    /// The answerer of nodes that declare none: `script` (the scripts), `stub` (canned answers), `manual` (`asterisk cursor` and
    /// `save`), or a name or kind of `agents:` in asterisk.yaml. Several are tried in turn: NAME,NAME. NODE=NAME sets it for one
    /// node and overrides its declaration [default: script].
    #[arg(long, alias = "agent", value_name = "[NODE=]NAME")]
    via: Vec<String>,
}

impl ViaArg {
    pub(super) fn is_empty(&self) -> bool {
        self.via.is_empty()
    }

    /// Parses the flags; nodes without any are answered by `usual`.
    pub(super) fn parse(&self, usual: Via) -> Result<Via, SessionError> {
        via_of(&self.via, usual)
    }
}

fn via_of(given: &[String], usual: Via) -> Result<Via, SessionError> {
    let mut via = usual;
    let mut default = Vec::new();
    for one in given {
        let (node, names) = one.split_once('=').map_or((None, one.as_str()), |(node, names)| (Some(node.trim()), names));
        let names = names.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        match node {
            Some(node) => via.nodes.entry(node.to_owned()).or_default().extend(names),
            None => default.extend(names),
        }
    }
    let bad_request = |message: String, help| SessionError::bad_request("input/via", message, Some(String::from(help)));
    if via.is_stub() && (!via.nodes.is_empty() || default.iter().any(|name| name != STUB)) {
        let message = format!("`--stub` answers every node, so `--via {}` would have no effect", given.join(","));
        return Err(bad_request(message, "use one of the two"));
    }
    if !default.is_empty() {
        via.usual = default;
    }
    let chains = || via.nodes.values().chain([&via.usual]);
    if chains().any(Vec::is_empty) {
        return Err(bad_request(
            format!("`--via {}` does not name an answerer", given.join(",")),
            "write --via NAME or --via NODE=NAME",
        ));
    }
    if !via.nodes.values().all(|names| names.iter().all(|name| name != STUB)) || (via.is_stub() && via.usual.len() > 1) {
        return Err(bad_request("canned answers apply to all nodes or to none".into(), "pass only --stub FILE"));
    }
    Ok(via)
}

fn inputs(paths: &[PathBuf], baseline_logs: &[PathBuf], launch: Option<String>) -> RunInputs {
    match paths {
        [] => launch.map_or(RunInputs::Example, RunInputs::Launch),
        [only] if only == Path::new("none") => RunInputs::None,
        paths => RunInputs::Files(LaunchFiles { paths: paths.to_vec(), baseline_logs: baseline_logs.to_vec() }),
    }
}

/// The first interrupt stops the walks after their current step; the second ends the process at once. Before any walk has begun,
/// no step needs to finish.
pub(super) fn on_interrupt(environment: &Environment, stop: &Arc<AtomicBool>, walking: &Arc<AtomicBool>) -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let (stop, walking, seen, ours) = (Arc::clone(stop), Arc::clone(walking), Arc::clone(&interrupted), environment.clone());
    let handler = move || {
        if seen.swap(true, Ordering::Relaxed) || !walking.load(Ordering::Relaxed) {
            ours.stop(Exit::Interrupted as u8);
        }
        stop.store(true, Ordering::Relaxed);
    };
    environment.on_interrupt(handler);
    interrupted
}

/// Writes the report, prints the result unless standard output is an observer's, and prints how to continue.
fn conclude(ui: &Ui, session: &Session, mut result: RunResult, ending: &RunEnding<'_>) -> Result<Exit, SessionError> {
    let RunEnding { interrupted, silent, store_flag, gates, parts } = *ending;
    if result.cases.is_empty() {
        ui.note(if result.launch.gaps.is_empty() {
            "no failures in this launch: nothing to analyse"
        } else {
            "no failure could be read from this launch: nothing to analyse"
        });
    }
    let (report, report_exit) = super::report::build(ui, session, &result)?;
    asterisk_report::write(session, &result, &report)?;
    result.report = session.report_path(&result);
    let over = matches!(result.status, WalkStatus::Done | WalkStatus::Error);
    match ui.format() {
        _ if silent => {}
        OutputFormat::Json => ui.json(&result.summary()),
        OutputFormat::Pretty => run_screen::print(ui, &report, &result, parts),
    }
    for gap in &result.launch.gaps {
        ui.note(&format!("warning: the launch is incomplete: {gap}"));
    }
    print_failed_rules(ui, &result.failed_rules);
    run_view::failures(ui, &result);
    run_view::shadow(ui, &result);
    run_view::tokens(ui, &result);
    if !over {
        ui.note(&run_view::stopped(session, &result, store_flag));
    }
    let is_judged = result.status == WalkStatus::Done && report_exit == Exit::Ok;
    let failed = if is_judged { failed_gates(gates, &report, &result.plan)? } else { Vec::new() };
    print_failed_gates(ui, &failed);
    let exit = exit_of(result.status, interrupted, report_exit, &failed);
    // Dropping a linked project takes a tenth of a cold start.
    ui.environment().forget(result);
    Ok(exit)
}

/// Prints the rules that failed.
pub(super) fn print_failed_rules(ui: &Ui, rules: &RuleFailures) {
    rules.iter().for_each(|failed| ui.note(&format!("warning: {failed}")));
}

/// The exit code of a command whose rules must work: 1 if one of them failed in every case in which it was evaluated.
pub(super) fn with_failed_rules(exit: Exit, rules: &RuleFailures) -> Exit {
    if exit == Exit::Ok && rules.iter().any(|rule| rule.always) { Exit::Findings } else { exit }
}

/// The exit code of a run, from its status, the exit code of its report, and the gates that failed.
pub(super) fn exit_of(status: WalkStatus, interrupted: bool, report: Exit, failed: &[String]) -> Exit {
    match status {
        WalkStatus::Done if report == Exit::Ok && !failed.is_empty() => Exit::Findings,
        WalkStatus::Done => report,
        WalkStatus::Error => Exit::Cases,
        WalkStatus::Paused | WalkStatus::Running if interrupted => Exit::Interrupted,
        WalkStatus::Paused | WalkStatus::Running => Exit::Stopped,
    }
}
