//! The command line: one file per command, each with an argument struct and a function.

mod calibrate;
mod calibrate_truth;
mod calibrate_view;
mod ci;
mod ci_advice;
mod clean;
mod completions;
mod config;
mod coverage;
mod cursor;
mod dap;
mod diff;
mod doc;
mod doctor;
mod eval;
mod explain;
mod fmt;
mod goal;
mod goal_audit;
mod goal_dream;
mod goal_memory;
mod graph;
mod help;
mod init;
mod junit;
mod learn;
mod lint;
mod lint_report;
mod lsp;
mod man;
mod new;
mod policy_args;
mod profile_arg;
mod push;
mod rca;
mod repl;
mod replay;
mod replay_sweep;
mod report;
mod review;
mod run;
mod run_observe;
mod run_screen;
mod run_view;
mod run_watch;
mod save;
mod serve;
mod show;
mod show_evidence;
mod show_flaky;
mod show_policy;
mod show_signatures;
mod show_symptoms;
mod show_walkers;
mod status;
mod store;
mod test;
mod test_mutants;
mod test_view;
mod tour;
mod variables;
mod worker;

use crate::config::{CommandLine, ResolvedSettings, resolve};
use crate::exit::Exit;
use crate::ui::{Colour, OutputFormat, Ui};
use asterisk_base::environment::{Environment, Variables};
use asterisk_base::model::shell;
use asterisk_session::{Session, SessionError};
use asterisk_store::StoreLocation;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

/// The maximum width of help, in columns.
const WIDTH: usize = 100;

/// Investigate failed CI launches with pipelines in which a small, explainable script decides every transition.
#[derive(Debug, Parser)]
#[command(name = "asterisk", version, max_term_width = WIDTH, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
struct GlobalArgs {
    /// The store: a file, or `postgres://USER@HOST/DATABASE?project=NAME` [default: .asterisk/asterisk.db in the project's directory].
    #[arg(id = "ASTERISK_STORE", long = "store", global = true, value_name = "FILE|ADDRESS")]
    store: Option<PathBuf>,
    /// When to use colours.
    #[arg(id = "ASTERISK_COLOR", long = "color", global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: Colour,
    /// Print more on stderr: every transition of every case (-vv: every event).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[arg(skip)]
    environment: Environment,
}

/// `--format`, for commands that print data.
#[derive(Clone, Copy, Debug, Default, Args)]
struct FormatArg {
    /// Output format.
    #[arg(long, visible_alias = "output", value_enum, default_value_t, value_name = "FORMAT")]
    format: OutputFormat,
}

/// `--scripts`, `--domain` and `--set`, for commands that link a project.
#[derive(Clone, Debug, Default, Args)]
struct ProjectArgs {
    /// A directory of scripts that override the bundled ones, file by file.
    #[arg(id = "ASTERISK_SCRIPTS", long = "scripts", value_name = "DIR")]
    scripts: Option<PathBuf>,
    /// The domain to use (`asterisk show domains`) [default: generic].
    #[arg(id = "ASTERISK_DOMAIN", long = "domain", value_name = "NAME")]
    domain: Option<String>,
    /// Set a var of the pipeline; VALUE is JSON, or otherwise a string.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// The ReportPortal server, for commands that use it.
#[derive(Clone, Debug, Default, Args)]
struct PortalArgs {
    /// The address of ReportPortal [default: `reportportal.url` of asterisk.yaml].
    #[arg(id = "ASTERISK_REPORTPORTAL_URL", long = "reportportal-url", value_name = "URL")]
    reportportal_url: Option<String>,
    /// The project on the server [default: `reportportal.project` of asterisk.yaml].
    #[arg(id = "ASTERISK_REPORTPORTAL_PROJECT", long = "reportportal-project", value_name = "NAME")]
    reportportal_project: Option<String>,
}

impl PortalArgs {
    /// Overrides settings by the flags given.
    fn override_settings(&self, settings: &mut asterisk_adapters::reportportal::PortalSettings) {
        let given = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
        settings.url = given(&self.reportportal_url).or_else(|| settings.url.take());
        settings.project = given(&self.reportportal_project).or_else(|| settings.project.take());
    }
}

/// The run, for commands about one run.
#[derive(Clone, Debug, Args)]
struct RunArg {
    /// The run: its id, or `latest`.
    #[arg(default_value = "latest")]
    run: String,
}

/// `--parallel`, for commands that walk or evaluate cases.
#[derive(Clone, Copy, Debug, Default, Args)]
struct ParallelArg {
    /// The number of cases, or stages of a policy pipeline, processed at once [default: the number of processors].
    #[arg(long, visible_alias = "max-workers", value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    parallel: Option<u16>,
}

impl ParallelArg {
    fn count(self) -> usize {
        self.parallel.map_or_else(|| available_parallelism().map_or(1, usize::from), usize::from)
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Ci(ci::CiArgs),
    Status(status::StatusArgs),
    Report(report::ReportArgs),
    Review(review::ReviewArgs),
    Rca(rca::RcaArgs),
    Push(push::PushArgs),
    Goal(Box<goal::GoalArgs>),
    Explain(explain::ExplainArgs),
    Diff(diff::DiffArgs),
    Replay(replay::ReplayArgs),
    Coverage(coverage::CoverageArgs),
    Graph(graph::GraphArgs),
    Repl(repl::ReplArgs),
    Tour(tour::TourArgs),
    Init(init::InitArgs),
    New(new::NewArgs),
    Fmt(fmt::FmtArgs),
    Lint(lint::LintArgs),
    Test(test::TestArgs),
    Calibrate(Box<calibrate::CalibrateArgs>),
    Learn(learn::LearnArgs),
    Eval(eval::EvalArgs),
    Show(show::ShowArgs),
    Doc(doc::DocArgs),
    Serve(serve::ServeArgs),
    Cursor(cursor::CursorArgs),
    Dap(dap::DapArgs),
    Lsp(lsp::LspArgs),
    Save(save::SaveArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Worker(worker::WorkerArgs),
    Store(store::StoreArgs),
    Clean(clean::CleanArgs),
    Help(help::HelpArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// Runs the program; returns its exit code.
pub fn main(environment: &Environment) -> u8 {
    #[cfg(unix)]
    if environment.owns_process() {
        if let Some(code) =
            asterisk_adapters::agent::become_guard(environment).or_else(|| asterisk_adapters::agent::become_confined(environment))
        {
            return code;
        }
        environment.outlive_file_limit();
        asterisk_adapters::agent::adopt_orphans();
    }
    let ui = &Ui::new(environment, Colour::Auto, OutputFormat::Pretty);
    let matches = full_command_line(ui).try_get_matches_from(environment.arguments());
    let exit = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(mut cli) => {
            cli.global.environment = environment.clone();
            let ui = cli.global.printer(OutputFormat::Pretty);
            check_output(&ui, dispatch(cli))
        }
        Err(error) => check_output(ui, usage(ui, &error)),
    };
    exit as u8
}

/// Prints a help page or a usage error.
fn usage(ui: &Ui, error: &clap::Error) -> Exit {
    ui.usage(error);
    if error.use_stderr() { Exit::Usage } else { Exit::Ok }
}

/// The command line as it is parsed and shown in help.
fn full_command_line(ui: &Ui) -> clap::Command {
    let width = ui.width().min(WIDTH);
    help::grouped(variables::filled_in(command_line(), ui.environment().variables()), width).term_width(width)
}

/// The command line, with the variables that arguments take their values from.
fn command_line() -> clap::Command {
    variables::documented(Cli::command())
}

/// The exit code; lost output is a failure.
fn check_output(ui: &Ui, exit: Exit) -> Exit {
    let Some(source) = ui.environment().output().take_failure() else { return exit };
    let error = SessionError::Write { path: "standard output".into(), source };
    ui.failure(&error, "run");
    if exit == Exit::Ok { Exit::from(&error) } else { exit }
}

fn dispatch(cli: Cli) -> Exit {
    let Cli { global, command } = cli;
    let ui = &global.printer(OutputFormat::Pretty);
    let resume = if matches!(command, Command::Goal(_)) { "goal" } else { "run" };
    let done = match command {
        Command::Run(args) => run::run(&global, *args),
        Command::Ci(args) => ci::ci(&global, &args),
        Command::Status(args) => status::status(&global, &args),
        Command::Report(args) => report::report(&global, &args),
        Command::Review(args) => review::review(&global, &args),
        Command::Rca(args) => rca::rca(&global, &args),
        Command::Push(args) => push::push(&global, &args),
        Command::Goal(args) => goal::goal(&global, *args),
        Command::Explain(args) => explain::explain(&global, &args),
        Command::Diff(args) => diff::diff(&global, &args),
        Command::Replay(args) => replay::replay(&global, &args),
        Command::Coverage(args) => coverage::coverage(&global, &args),
        Command::Graph(args) => graph::graph(&global, &args),
        Command::Repl(args) => repl::repl(&global, &args),
        Command::Tour(args) => tour::tour(&global, &args),
        Command::Init(args) => init::init(&global, &args),
        Command::New(args) => new::new(&global, &args),
        Command::Fmt(args) => fmt::fmt(&global, &args),
        Command::Lint(args) => lint::lint(&global, &args),
        Command::Test(args) => test::test(&global, &args),
        Command::Calibrate(args) => calibrate::calibrate(&global, &args),
        Command::Learn(args) => learn::learn(&global, &args),
        Command::Eval(args) => eval::eval(&global, &args),
        Command::Show(args) => show::show(&global, &args),
        Command::Doc(args) => doc::doc(&global, &args),
        Command::Serve(args) => serve::serve(&global, &args),
        Command::Cursor(args) => cursor::cursor(&global, &args),
        Command::Dap(args) => Ok(dap::dap(&global, &args)),
        Command::Lsp(args) => lsp::lsp(&global, &args),
        Command::Save(args) => save::save(&global, &args),
        Command::Doctor(args) => doctor::doctor(&global, &args),
        Command::Config(args) => config::config(&global, &args),
        Command::Worker(args) => worker::worker(&global, &args),
        Command::Store(args) => store::store(&global, &args),
        Command::Clean(args) => clean::clean(&global, &args),
        Command::Help(args) => Ok(help::help(ui, &args)),
        Command::Completions(args) => Ok(completions::completions(&global, args)),
        Command::Man(args) => man::man(&global, &args),
    };
    done.unwrap_or_else(|error| {
        ui.failure(&error, resume);
        Exit::from(&error)
    })
}

/// Prints that there is nothing to list, or that the store does not exist.
fn nothing_yet(ui: &Ui, session: &Session, message: &str) {
    match session.no_store_yet() {
        Some(store) => ui.note(&format!("no store yet at {store}; `asterisk run` creates one")),
        None => ui.note(message),
    }
}

impl GlobalArgs {
    fn ui(&self, format: FormatArg) -> Ui {
        self.printer(format.format)
    }

    fn printer(&self, format: OutputFormat) -> Ui {
        Ui::new(&self.environment, self.color, format)
    }

    fn variables(&self) -> &Variables {
        self.environment.variables()
    }

    /// The `--store` flag of commands that are suggested.
    fn store_flag(&self) -> String {
        let named =
            |store: &PathBuf| store.to_str().and_then(|text| text.parse().ok()).map(|store: StoreLocation| store.to_string());
        self.store.as_ref().and_then(named).map_or(String::new(), |store| format!(" --store {}", shell(&store)))
    }

    /// A session with the settings from the command line, the environment and the project file.
    fn session(&self, project: &ProjectArgs, out: Option<PathBuf>) -> Result<Session, SessionError> {
        Ok(Session::new(self.resolve(project, out)?.setup))
    }

    /// A session for the project around a directory, by default the one in which the program runs.
    fn session_in(&self, project: &ProjectArgs, directory: Option<&Path>) -> Result<Session, SessionError> {
        let here = directory.unwrap_or(self.environment.directory());
        Ok(Session::new(resolve(self.command_line(project, None), here, &self.environment)?.setup))
    }

    /// The settings, each with its origin.
    fn resolve(&self, project: &ProjectArgs, out: Option<PathBuf>) -> Result<ResolvedSettings, SessionError> {
        resolve(self.command_line(project, out), self.environment.directory(), &self.environment)
    }

    /// The settings of the command line.
    fn command_line(&self, project: &ProjectArgs, out: Option<PathBuf>) -> CommandLine {
        CommandLine {
            store: self.store.clone(),
            out,
            scripts: project.scripts.clone(),
            domain: project.domain.clone(),
            set: project.set.clone(),
            ..CommandLine::default()
        }
    }
}
