//! `asterisk ci`.

use super::run::{exit_of, failed_gates, on_interrupt, print_failed_gates};
use super::run_view::{self, LiveView};
use super::{FormatArg, GlobalArgs, ProjectArgs, run_table};
use crate::diag::Diagnostic;
use crate::exit::Exit;
use crate::files::{FoundReports, OutDir, SourceTree, find_reports, list_inputs};
use crate::model::{CiSystem, Launch, counted};
use crate::project::CurrentProject;
use crate::report::{
    Annotation, Gate, RunReport, SummarySize, annotations, causes_sarif, ci_comment, ci_summary, code_quality, pages,
};
use crate::session::{Files, ReadReports, RunInputs, RunResult, RunSpec, SessionError, Via};
use crate::store::Durability;
use crate::ui::{Colour, OutputFormat, Ui};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

/// The maximum number of annotations of each level that GitHub shows of a step.
const MAX_ANNOTATIONS: usize = 10;

/// The maximum size of a summary of a step that GitHub takes, in bytes.
const MAX_SUMMARY: usize = 1 << 20;

/// The maximum number of lines about reports that are read, and about those that are skipped.
const MAX_LISTED: usize = 12;

/// Analyse the test reports of a CI job and show the causes in the CI system's own form.
///
/// Finds the reports below the working directory where test tools usually write them. The causes are shown in the job's log and summary, and
/// as annotations of the code, as far as the system has these. The directory --output gets `summary.md`, `comment.md`, `causes.sarif`,
/// `gl-code-quality-report.json`, `report.html`, `report.md` and `rca.json`.
#[derive(Debug, Args)]
#[command(after_help = "Exits as `asterisk run` does; without a report with 2, unless --allow-empty is given.\n\n\
                        Examples:\n  asterisk ci\n  asterisk ci reports\n  asterisk ci --fail-on 'regressions > 0'\n  \
                        asterisk ci --system gitlab --output public")]
pub(super) struct CiArgs {
    /// Reports, or directories of reports [default: what is found below the working directory].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The CI system [default: the one that the environment tells of].
    #[arg(long, value_enum, value_name = "NAME")]
    system: Option<SystemArg>,
    /// The directory for the files.
    #[arg(long, value_name = "DIR", default_value = "asterisk-report")]
    output: PathBuf,
    /// Exit with 1 if this expression over the figures of the report is true (`asterisk run --help`, --fail-on); may be given several times.
    #[arg(long, value_name = "EXPR")]
    fail_on: Vec<String>,
    /// Do not fail if there is no report.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    format: FormatArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SystemArg {
    Github,
    Gitlab,
    Jenkins,
    Azure,
    Circleci,
    Buildkite,
    /// No system: the summary is printed.
    Plain,
}

impl From<SystemArg> for CiSystem {
    fn from(system: SystemArg) -> Self {
        match system {
            SystemArg::Github => Self::Github,
            SystemArg::Gitlab => Self::Gitlab,
            SystemArg::Jenkins => Self::Jenkins,
            SystemArg::Azure => Self::Azure,
            SystemArg::Circleci => Self::Circleci,
            SystemArg::Buildkite => Self::Buildkite,
            SystemArg::Plain => Self::Plain,
        }
    }
}

/// A variable of the environment.
pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub(super) fn ci(global: &GlobalArgs, args: &CiArgs) -> Result<Exit, SessionError> {
    let ui = global.ui(args.format);
    let system = args.system.map_or_else(|| CiSystem::detect(variable), CiSystem::from);
    let session = global.session(&args.project, None)?;
    let project = session.project(None, Via::default().answers())?;
    for gate in &args.fail_on {
        Gate::compile(gate, &project.plan)?;
    }
    let found = reports(&args.paths)?;
    let read = session.read_reports(&found, &Arc::new(project.masker()))?;
    list_reports(ui, &read);
    let Some(mut launch) = read.launch.clone() else { return nothing(ui, args, &read) };
    name_after_job(&mut launch, system);
    let tests = launch.outcomes.len();

    let (stop, walking) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let interrupted = on_interrupt(&stop, &walking);
    let live = LiveView::new(ui, global.verbose, walking, false);
    let result = session.run_by(&CurrentProject::new(project), &spec(launch), &live, &stop);
    live.finish();
    let mut result = result?;
    let (report, report_exit) = super::report::build(ui, &session, &result)?;
    if crate::report::write(&session, &result, &report)?.is_some() {
        result.report = Some(session.report_path(&result.run));
    }
    let failed = failed_gates(&args.fail_on, &report, &result.plan)?;

    let here = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    let tree = SourceTree::read(&here);
    let shown = annotations(&report, |path| tree.find(path).map(str::to_owned));
    let elsewhere = read.read.first().map_or("", |file| file.name.as_str());
    let job = CiOutput { ui, system, report: &report, failed: &failed, annotations: &shown, elsewhere, tests };
    let dir = job.write(&args.output)?;
    match ui.format() {
        OutputFormat::Json => ui.json(&job.json(&result, &read)),
        OutputFormat::Pretty => job.print(&result, &dir),
    }
    job.tell_system(&dir)?;
    for gap in &result.launch.gaps {
        ui.note(&CiSystem::inert(&format!("warning: the launch is not whole: {gap}")));
    }
    run_view::failures(ui, &result);
    print_failed_gates(ui, &failed);
    Ok(exit_of(result.status, interrupted.load(Ordering::Relaxed), report_exit, &failed))
}

/// The reports at these paths, or else those below the working directory.
fn reports(paths: &[PathBuf]) -> Result<FoundReports, SessionError> {
    if paths.is_empty() {
        return Ok(find_reports(Path::new(".")));
    }
    let listed = list_inputs(paths)?;
    let skipped = listed.notes.into_iter().chain(listed.gaps).map(|note| (note, String::new())).collect();
    Ok(FoundReports { files: listed.inputs, repeating: Vec::new(), skipped })
}

/// Prints which reports are read, and which are not and why.
fn list_reports(ui: Ui, read: &ReadReports) {
    let mut dirs: BTreeMap<String, usize> = BTreeMap::new();
    for file in &read.read {
        let dir = Path::new(&file.name).parent().filter(|dir| !dir.as_os_str().is_empty());
        *dirs.entry(dir.map_or_else(|| file.name.clone(), |dir| dir.display().to_string())).or_default() += 1;
    }
    let lines = dirs.iter().map(|(dir, count)| format!("read: {dir} ({})", counted(*count, "report", "reports")));
    listed(ui, &lines.collect::<Vec<_>>());
    let skipped = read.skipped.iter().map(|(name, why)| match why.as_str() {
        "" => format!("skipped: {name}"),
        why => format!("skipped: {name}: {why}"),
    });
    listed(ui, &skipped.collect::<Vec<_>>());
}

fn listed(ui: Ui, lines: &[String]) {
    let more = lines.len().saturating_sub(MAX_LISTED);
    lines.iter().take(MAX_LISTED).for_each(|line| ui.note(&CiSystem::inert(line)));
    if more > 0 {
        ui.note(&format!("and {more} more"));
    }
}

/// Without a report nothing is known of the tests, which must not look like success.
fn nothing(ui: Ui, args: &CiArgs, read: &ReadReports) -> Result<Exit, SessionError> {
    if args.allow_empty {
        ui.note("there is no report of tests: nothing was analysed");
        if ui.format() == OutputFormat::Json {
            ui.json(&json!({ "schema_version": 1, "run": null, "reports": [], "skipped": skipped(read) }));
        }
        return Ok(Exit::Ok);
    }
    let place = if args.paths.is_empty() { "below the working directory" } else { "at these paths" };
    let help = "run the tests first, and name where their reports are: asterisk ci PATH; usual places are \
                target/surefire-reports, build/test-results, test-results, reports, TestResults and junit*.xml; --allow-empty takes none for success";
    let error = Diagnostic::error("ci/nothing", format!("there is no report of tests {place}")).help(help);
    Err(SessionError::BadRequest(Box::new(error)))
}

/// Names a launch after its job, under which its history is kept, and tells the commit and branch that the reports do not.
fn name_after_job(launch: &mut Launch, system: CiSystem) {
    let job = system.job(variable);
    if let Some(name) = job.name {
        launch.name = name;
    }
    launch.number = launch.number.or(job.number);
    let git = &mut launch.git;
    git.commit = git.commit.take().or(job.commit);
    git.branch = git.branch.take().or(job.branch);
}

fn spec(launch: Launch) -> RunSpec {
    RunSpec {
        pipeline: None,
        inputs: RunInputs::Given(Arc::new(launch)),
        cases: Vec::new(),
        via: Via::default(),
        stub: None,
        parallel: available_parallelism().map_or(1, usize::from),
        durability: Durability::Batch,
        seed: 0,
        dry_run: false,
        files: Files::Never,
        shadow: None,
        budget: None,
        no_recall: false,
    }
}

fn skipped(read: &ReadReports) -> Value {
    read.skipped.iter().map(|(file, why)| json!({ "file": file, "why": why })).collect()
}

/// What is said of a run, and where.
struct CiOutput<'a> {
    ui: Ui,
    system: CiSystem,
    report: &'a RunReport,
    failed: &'a [String],
    annotations: &'a [Annotation],
    /// The file at which causes stand that are traced to no line of code.
    elsewhere: &'a str,
    /// The number of tests, if the reports list those that passed.
    tests: usize,
}

impl CiOutput<'_> {
    /// Writes the files.
    fn write(&self, output: &Path) -> Result<OutDir, SessionError> {
        let error = |source| SessionError::Write { path: output.display().to_string(), source };
        let dir = OutDir::create(output).map_err(error)?;
        let json = |value: &Value| format!("{value:#}\n");
        let files = [
            ("summary.md", ci_summary(self.report, self.failed, SummarySize::JOB)),
            ("comment.md", ci_comment(self.report, self.failed)),
            ("causes.sarif", json(&causes_sarif(self.annotations, self.elsewhere))),
            ("gl-code-quality-report.json", json(&code_quality(self.annotations, self.elsewhere))),
        ];
        files.iter().try_for_each(|(name, text)| dir.write(name, text).map(drop)).map_err(error)?;
        let pages = pages(self.report)?;
        for name in ["report.html", "report.md", "rca.json"] {
            dir.write_with(name, |out| pages.print(name, out)).map_err(error)?;
        }
        Ok(dir)
    }

    /// Prints the result for the log of the job.
    fn print(&self, result: &RunResult, dir: &OutDir) {
        if result.cases.is_empty() {
            let of = match self.tests {
                0 => String::new(),
                tests => format!(" in {}", counted(tests, "test", "tests")),
            };
            let what = if result.launch.gaps.is_empty() { "no failures" } else { "no failure could be read" };
            self.ui.out(&format!("{what}{of}: there is nothing to analyse"));
        } else {
            // Without colours, since commands to the system are looked for in the plain text.
            let plain = Ui::new(Colour::Never, OutputFormat::Pretty);
            for line in run_table::lines(plain, self.report, result) {
                plain.out(&CiSystem::inert(line.as_str()));
            }
        }
        self.ui.out(&format!("{}: {}", self.system.name(), dir.path().join("summary.md").display()));
    }

    /// Gives annotations and summary to the system, in its form.
    fn tell_system(&self, dir: &OutDir) -> Result<(), SessionError> {
        let pretty = self.ui.format() == OutputFormat::Pretty;
        match self.system {
            CiSystem::Github => {
                if pretty {
                    self.bounded().for_each(|one| self.ui.out(&one.github()));
                }
                let text = ci_summary(self.report, self.failed, SummarySize::JOB);
                if text.len() < MAX_SUMMARY {
                    append("GITHUB_STEP_SUMMARY", &text)?;
                }
                append("GITHUB_OUTPUT", &self.github_outputs(dir))
            }
            CiSystem::Azure if pretty => {
                self.bounded().for_each(|one| self.ui.out(&one.azure()));
                let path = std::path::absolute(dir.path()).unwrap_or_else(|_| dir.path().to_owned());
                self.ui.out(&format!("##vso[task.uploadsummary]{}", path.join("summary.md").display()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The annotations that a system shows: so many of each level.
    fn bounded(&self) -> impl Iterator<Item = &Annotation> {
        let mut seen: Vec<crate::report::AnnotationLevel> = Vec::new();
        self.annotations.iter().filter(move |one| {
            seen.push(one.level);
            seen.iter().filter(|level| **level == one.level).count() <= MAX_ANNOTATIONS
        })
    }

    /// The outputs of the step.
    fn github_outputs(&self, dir: &OutDir) -> String {
        let path = |name: &str| dir.path().join(name).display().to_string();
        let outputs = [
            ("failures", self.report.totals.cases.to_string()),
            ("causes", self.report.causes.len().to_string()),
            ("failed-gates", self.failed.len().to_string()),
            ("directory", dir.path().display().to_string()),
            ("sarif", path("causes.sarif")),
            ("comment", path("comment.md")),
        ];
        let lines = outputs.iter().map(|(name, value)| format!("{name}={}", value.replace(['\n', '\r'], " ")));
        lines.collect::<Vec<_>>().join("\n") + "\n"
    }

    fn json(&self, result: &RunResult, read: &ReadReports) -> Value {
        let files: Vec<&str> = read.read.iter().map(|file| file.name.as_str()).collect();
        json!({
            "schema_version": 1, "run": result.run, "system": self.system.name(), "launch": self.report.launch.name,
            "reports": files, "skipped": skipped(read), "failures": self.report.totals.cases,
            "causes": self.report.causes.len(), "failed_gates": self.failed,
        })
    }
}

/// Appends to the file that a variable names, if it does.
fn append(name: &str, text: &str) -> Result<(), SessionError> {
    let Some(path) = variable(name).filter(|path| !path.is_empty()) else { return Ok(()) };
    let written: io::Result<()> =
        OpenOptions::new().append(true).create(true).open(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| SessionError::Write { path, source })
}
