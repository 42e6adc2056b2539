//! The command line: one file per command, each with an argument struct and a function.

mod audit;
mod blame;
mod calibrate;
mod calibrate_view;
mod call;
mod ci;
mod ci_advice;
mod clean;
mod command_groups;
mod completions;
mod config;
mod coverage;
mod cursor;
mod diff;
mod doc;
mod doctor;
mod dream;
mod explain;
mod goal;
mod graph;
mod gt;
mod init;
mod junit;
mod learn;
mod lint;
mod lint_report;
mod man;
mod memory;
mod new;
mod policy_args;
mod prompt;
mod push;
mod rca;
mod repl;
mod replay;
mod report;
mod review;
mod route;
mod run;
mod run_observe;
mod run_table;
mod run_view;
mod run_watch;
mod runs;
mod save;
mod schema;
mod score;
mod serve;
mod show;
mod show_evidence;
mod show_flaky;
mod show_knowledge;
mod show_policy;
mod show_signatures;
mod show_walkers;
mod status;
mod sweep;
mod test;
mod test_mutants;
mod test_view;
mod tour;
mod variables;
mod version;

use crate::config::{CommandLine, ResolvedSettings, resolve};
use crate::environment::{Environment, Variables};
use crate::exit::Exit;
use crate::model::shell;
use crate::session::{Session, SessionError};
use crate::ui::{Colour, OutputFormat, Ui};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::path::PathBuf;

/// The maximum width of help, in columns.
const WIDTH: usize = 100;

/// Investigate failed CI launches with pipelines whose every transition is decided by a small, explainable script.
#[derive(Debug, Parser)]
#[command(name = "asterisk", version, max_term_width = WIDTH)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Args)]
struct GlobalArgs {
    /// The store [default: .asterisk/asterisk.db in the project's directory].
    #[arg(id = "ASTERISK_STORE", long = "store", global = true, value_name = "FILE")]
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
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
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
    /// The project there [default: `reportportal.project` of asterisk.yaml].
    #[arg(id = "ASTERISK_REPORTPORTAL_PROJECT", long = "reportportal-project", value_name = "NAME")]
    reportportal_project: Option<String>,
}

impl PortalArgs {
    /// Overrides settings by what was given.
    fn override_settings(&self, settings: &mut crate::reportportal::PortalSettings) {
        let given = |value: &Option<String>| value.clone().filter(|value| !value.trim().is_empty());
        settings.url = given(&self.reportportal_url).or_else(|| settings.url.take());
        settings.project = given(&self.reportportal_project).or_else(|| settings.project.take());
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Ci(ci::CiArgs),
    Goal(Box<goal::GoalArgs>),
    Memory(memory::MemoryArgs),
    Dream(dream::DreamArgs),
    Audit(audit::AuditArgs),
    Route(route::RouteArgs),
    Replay(replay::ReplayArgs),
    Sweep(sweep::SweepArgs),
    Call(call::CallArgs),
    Test(test::TestArgs),
    Learn(learn::LearnArgs),
    Calibrate(Box<calibrate::CalibrateArgs>),
    Score(score::ScoreArgs),
    Gt(gt::GtArgs),
    Runs(runs::RunsArgs),
    Status(status::StatusArgs),
    Cursor(cursor::CursorArgs),
    Save(save::SaveArgs),
    Review(review::ReviewArgs),
    Push(push::PushArgs),
    Serve(serve::ServeArgs),
    Rca(rca::RcaArgs),
    Explain(explain::ExplainArgs),
    Blame(blame::BlameArgs),
    Coverage(coverage::CoverageArgs),
    Clean(clean::CleanArgs),
    Report(report::ReportArgs),
    Lint(lint::LintArgs),
    Graph(graph::GraphArgs),
    Prompt(prompt::PromptArgs),
    Repl(repl::ReplArgs),
    New(new::NewArgs),
    Show(show::ShowArgs),
    Diff(diff::DiffArgs),
    Doc(doc::DocArgs),
    Init(init::InitArgs),
    Tour(tour::TourArgs),
    Doctor(doctor::DoctorArgs),
    Config(config::ConfigArgs),
    Schema(schema::SchemaArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Version(version::VersionArgs),
}

/// Runs the program; returns its exit code.
pub fn main(environment: &Environment) -> u8 {
    #[cfg(unix)]
    if environment.owns_process() {
        if let Some(code) = crate::agent::become_guard(environment).or_else(|| crate::agent::become_confined(environment)) {
            return code;
        }
        environment.outlive_file_limit();
        crate::agent::adopt_orphans();
    }
    let ui = &Ui::new(environment, Colour::Auto, OutputFormat::Pretty);
    let width = ui.width().min(WIDTH);
    let command = command_groups::grouped(variables::filled_in(command_line(), environment.variables()), width);
    let matches = command.term_width(width).try_get_matches_from(environment.arguments());
    let exit = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(mut cli) => {
            cli.global.environment = environment.clone();
            let ui = cli.global.printer(OutputFormat::Pretty);
            check_output(&ui, dispatch(cli))
        }
        Err(error) => {
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Ok };
            ui.usage(&error);
            check_output(ui, exit)
        }
    };
    exit as u8
}

/// The command line, with the variables that arguments take their values from.
fn command_line() -> clap::Command {
    variables::documented(Cli::command())
}

/// The exit code, considering that lost output is no success.
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
        Command::Goal(args) => goal::goal(&global, *args),
        Command::Memory(args) => memory::memory(&global, &args),
        Command::Dream(args) => dream::dream(&global, &args),
        Command::Audit(args) => audit::audit(&global, &args),
        Command::Route(args) => route::route(&global, &args),
        Command::Replay(args) => replay::replay(&global, &args),
        Command::Sweep(args) => sweep::sweep(&global, &args),
        Command::Call(args) => call::call(&global, &args),
        Command::Test(args) => test::test(&global, &args),
        Command::Learn(args) => learn::learn(&global, &args),
        Command::Gt(args) => gt::gt(&global, &args),
        Command::Calibrate(args) => calibrate::calibrate(&global, &args),
        Command::Score(args) => score::score(&global, &args),
        Command::Runs(args) => runs::runs(&global, args),
        Command::Status(args) => status::status(&global, &args),
        Command::Cursor(args) => cursor::cursor(&global, &args),
        Command::Save(args) => save::save(&global, &args),
        Command::Review(args) => review::review(&global, &args),
        Command::Push(args) => push::push(&global, &args),
        Command::Serve(args) => serve::serve(&global, &args),
        Command::Clean(args) => clean::clean(&global, &args),
        Command::Explain(args) => explain::explain(&global, &args),
        Command::Blame(args) => blame::blame(&global, &args),
        Command::Coverage(args) => coverage::coverage(&global, &args),
        Command::Rca(args) => rca::rca(&global, &args),
        Command::Report(args) => report::report(&global, &args),
        Command::Prompt(args) => prompt::prompt(&global, &args),
        Command::Lint(args) => lint::lint(&global, &args),
        Command::Graph(args) => graph::graph(&global, &args),
        Command::Repl(args) => repl::repl(&global, &args),
        Command::New(args) => new::new(&global, &args),
        Command::Show(args) => show::show(&global, &args),
        Command::Diff(args) => diff::diff(&global, &args),
        Command::Doc(args) => doc::doc(&global, &args),
        Command::Init(args) => init::init(&global, &args),
        Command::Tour(args) => tour::tour(&global, &args),
        Command::Doctor(args) => doctor::doctor(&global, &args),
        Command::Config(args) => config::config(&global, &args),
        Command::Schema(args) => Ok(schema::schema(&global, args)),
        Command::Completions(args) => Ok(completions::completions(&global, args)),
        Command::Man(args) => man::man(&global, &args),
        Command::Version(args) => Ok(version::version(&global, args)),
    };
    done.unwrap_or_else(|error| {
        ui.failure(&error, resume);
        Exit::from(&error)
    })
}

/// Prints that there is nothing to list, or that there is no store.
fn nothing_yet(ui: &Ui, session: &Session, message: &str) {
    match session.no_store_yet() {
        Some(path) => ui.note(&format!("no store yet at {}; `asterisk run` makes one", path.display())),
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
        self.store.as_ref().map_or(String::new(), |store| format!(" --store {}", shell(&store.display().to_string())))
    }

    /// A session with the settings from the command line, the environment and the project file.
    fn session(&self, project: &ProjectArgs, out: Option<PathBuf>) -> Result<Session, SessionError> {
        Ok(Session::new(self.resolve(project, out)?.setup))
    }

    /// The settings, each with its origin.
    fn resolve(&self, project: &ProjectArgs, out: Option<PathBuf>) -> Result<ResolvedSettings, SessionError> {
        let given = CommandLine {
            store: self.store.clone(),
            out,
            scripts: project.scripts.clone(),
            domain: project.domain.clone(),
            set: project.set.clone(),
        };
        resolve(given, self.environment.directory(), &self.environment)
    }
}
