//! `asterisk ci`.

use super::run::{exit_of, failed_gates, on_interrupt, print_failed_gates, print_failed_rules, with_failed_rules};
use super::run_screen::{self, ScreenParts};
use super::run_view::{self, LiveView};
use super::{FormatArg, GlobalArgs, ProjectArgs};
use crate::exit::Exit;
use crate::ui::{Colour, OutputFormat, Ui};
use asterisk_base::environment::Variables;
use asterisk_base::model::{CiSystem, Launch};
use asterisk_diag::Diagnostic;
use asterisk_diag::counted;
use asterisk_files::{FoundReports, OutDir, SourceTree, find_reports, list_inputs};
use asterisk_project::CurrentProject;
use asterisk_report::{
    Annotation, Gate, RunReport, SummarySize, annotations, causes_sarif, ci_comment, ci_summary, code_quality, pages,
};
use asterisk_session::{ReadReports, RunInputs, RunResult, RunSpec, SessionError, Via};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

/// GitHub shows at most this many annotations of each level per step.
const MAX_ANNOTATIONS: usize = 10;

/// GitHub accepts step summaries up to this size, in bytes.
const MAX_SUMMARY: usize = 1 << 20;

/// The maximum number of report files listed as read, and as skipped.
const MAX_LISTED: usize = 12;

/// Analyse the test reports of a CI job and publish the root causes in the CI system's own format.
///
/// Looks for reports below the working directory, in the locations where test tools usually write them. Publishes the causes in the job's
/// log, in its summary and as code annotations, as far as the CI system supports these. The directory --out receives `summary.md`,
/// `comment.md`, `causes.sarif`, `gl-code-quality-report.json`, `report.html`, `report.md` and `rca.json`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exits as `asterisk run` does; with 1 if a verdict or root rule failed in every case in which it was evaluated, \
                        or if the reports are incomplete, unless --allow-incomplete is given; without a report \
                        with 2, unless --allow-empty is given.\n\n\
                        Examples:\n  asterisk ci\n  asterisk ci reports\n  asterisk ci --fail-on 'regressions > 0'\n  \
                        asterisk ci --system gitlab --out public"
)]
pub(super) struct CiArgs {
    /// Reports, or directories of reports [default: those found below the working directory].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The CI system [default: detected from the environment].
    #[arg(long, value_enum, value_name = "NAME")]
    system: Option<SystemArg>,
    /// The output directory.
    #[arg(long, value_name = "DIR", default_value = "asterisk-report")]
    out: PathBuf,
    /// Exit with 1 if this expression over the figures of the report is true (`asterisk run --help`, --fail-on); may be given several times.
    #[arg(long, value_name = "EXPR")]
    fail_on: Vec<String>,
    /// The log of an earlier run of the job that passed: lines that it has, too, are not evidence; may be given several times.
    #[arg(long, value_name = "FILE")]
    baseline_log: Vec<PathBuf>,
    /// Do not exit with 1 because the reports are incomplete: a file is cut off, or lists fewer failures than it declares.
    #[arg(long)]
    allow_incomplete: bool,
    /// Do not fail if no report is found.
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
    /// No CI system: print the summary.
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

pub(super) fn ci(global: &GlobalArgs, args: &CiArgs) -> Result<Exit, SessionError> {
    let system = args.system.map_or_else(|| CiSystem::detect(|name| global.variables().text(name)), CiSystem::from);
    let ui = &global.ui(args.format).in_job(system);
    let session = global.session(&args.project, None)?;
    let project = session.project(None, Via::default().answers())?;
    for gate in &args.fail_on {
        Gate::compile(gate, &project.plan)?;
    }
    let found = reports(&args.paths)?;
    let read = session.read_reports(&found, &args.baseline_log, &Arc::new(project.masker()))?;
    list_reports(ui, &read);
    let Some(mut launch) = read.launch.clone() else { return no_reports(ui, args, &read) };
    name_after_job(global.variables(), &mut launch, system);
    let tests = launch.outcomes.len();

    let (stop, walking) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let interrupted = on_interrupt(&global.environment, &stop, &walking);
    let live = LiveView::new(ui, global.verbose, walking, false);
    let result = session.run_by(&CurrentProject::new(project), &spec(launch), &live, &stop);
    live.finish();
    let mut result = result?;
    let (report, report_exit) = super::report::build(ui, &session, &result)?;
    asterisk_report::write(&session, &result, &report)?;
    result.report = session.report_path(&result);
    let failed = failed_gates(&args.fail_on, &report, &result.plan)?;

    let tree = SourceTree::read(global.environment.directory());
    let shown = annotations(&report, |path| tree.find(path).map(str::to_owned));
    let fallback_location = read.read.first().map_or("", |file| file.name.as_str());
    let job = CiOutput { ui, system, report: &report, failed: &failed, annotations: &shown, fallback_location, tests };
    let dir = job.write(&args.out)?;
    match ui.format() {
        OutputFormat::Json => ui.json(&job.json(&result, &read)),
        OutputFormat::Pretty => job.print(&result, &dir),
    }
    job.publish(&dir)?;
    for gap in &result.launch.gaps {
        ui.note(&format!("warning: the launch is incomplete: {gap}"));
    }
    print_failed_rules(ui, &result.failed_rules);
    run_view::failures(ui, &result);
    print_failed_gates(ui, &failed);
    let exit = exit_of(result.status, interrupted.load(Ordering::Relaxed), report_exit, &failed);
    let is_incomplete = exit == Exit::Ok && !args.allow_incomplete && !result.launch.gaps.is_empty();
    if is_incomplete {
        ui.note("failed: failures may be missing from the reports; --allow-incomplete accepts that");
    }
    Ok(with_failed_rules(if is_incomplete { Exit::Findings } else { exit }, &result.failed_rules))
}

/// Returns the reports at these paths, or those found below the working directory if no paths are given.
fn reports(paths: &[PathBuf]) -> Result<FoundReports, SessionError> {
    if paths.is_empty() {
        return Ok(find_reports(Path::new(".")));
    }
    let listed = list_inputs(paths)?;
    let skipped = listed.notes.into_iter().chain(listed.gaps).map(|note| (note, String::new())).collect();
    Ok(FoundReports { files: listed.inputs, repeating: Vec::new(), skipped })
}

/// Lists the reports that were read, and those that were skipped with the reason.
fn list_reports(ui: &Ui, read: &ReadReports) {
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

fn listed(ui: &Ui, lines: &[String]) {
    let more = lines.len().saturating_sub(MAX_LISTED);
    lines.iter().take(MAX_LISTED).for_each(|line| ui.note(line));
    if more > 0 {
        ui.note(&format!("and {more} more"));
    }
}

/// Handles a job without reports. Missing reports must not look like success.
fn no_reports(ui: &Ui, args: &CiArgs, read: &ReadReports) -> Result<Exit, SessionError> {
    if args.allow_empty {
        ui.note("no test reports found: nothing was analysed");
        if ui.format() == OutputFormat::Json {
            ui.json(&json!({ "schema_version": 1, "run": null, "reports": [], "skipped": skipped(read) }));
        }
        return Ok(Exit::Ok);
    }
    let place = if args.paths.is_empty() { "below the working directory" } else { "at these paths" };
    let help = "run the tests first, or give the paths of their reports: asterisk ci PATH; the usual places are \
                target/surefire-reports, build/test-results, test-results, reports, TestResults and junit*.xml; with --allow-empty, having none is a success";
    let error = Diagnostic::error("ci/nothing", format!("no test reports found {place}")).help(help);
    Err(SessionError::BadRequest(Box::new(error)))
}

/// Names the launch after the job, so that runs of the same job share a history, and fills in a missing commit and branch.
fn name_after_job(variables: &Variables, launch: &mut Launch, system: CiSystem) {
    let job = system.job(|name| variables.text(name));
    if let Some(name) = job.name {
        launch.name = name;
    }
    launch.number = launch.number.or(job.number);
    let git = &mut launch.git;
    git.commit = git.commit.take().or(job.commit);
    git.branch = git.branch.take().or(job.branch);
}

fn spec(launch: Launch) -> RunSpec {
    RunSpec { parallel: available_parallelism().map_or(1, usize::from), ..RunSpec::of(RunInputs::Given(Arc::new(launch))) }
}

fn skipped(read: &ReadReports) -> Value {
    read.skipped.iter().map(|(file, why)| json!({ "file": file, "why": why })).collect()
}

/// The output of a run and its destinations.
struct CiOutput<'a> {
    ui: &'a Ui,
    system: CiSystem,
    report: &'a RunReport,
    failed: &'a [String],
    annotations: &'a [Annotation],
    /// The file used as the location of causes without a source location.
    fallback_location: &'a str,
    /// The number of tests, if the reports include those that passed.
    tests: usize,
}

impl CiOutput<'_> {
    /// Writes the output files.
    fn write(&self, output: &Path) -> Result<OutDir, SessionError> {
        let error = |source| SessionError::Write { path: output.display().to_string(), source };
        let dir = OutDir::create_ignored(output).map_err(error)?;
        let json = |value: &Value| format!("{value:#}\n");
        let files = [
            ("summary.md", ci_summary(self.report, self.failed, SummarySize::JOB)),
            ("comment.md", ci_comment(self.report, self.failed)),
            ("causes.sarif", json(&causes_sarif(self.annotations, self.fallback_location))),
            ("gl-code-quality-report.json", json(&code_quality(self.annotations, self.fallback_location))),
        ];
        files.iter().try_for_each(|(name, text)| dir.write(name, text).map(drop)).map_err(error)?;
        let pages = pages(self.report)?;
        for name in ["report.html", "report.md", "rca.json"] {
            dir.write_with(name, |out| pages.print(name, out)).map_err(error)?;
        }
        Ok(dir)
    }

    /// Prints the result to the job's log.
    fn print(&self, result: &RunResult, dir: &OutDir) {
        if result.cases.is_empty() {
            let of = match self.tests {
                0 => String::new(),
                tests => format!(" in {}", counted(tests, "test", "tests")),
            };
            let what = if result.launch.gaps.is_empty() { "no failures" } else { "no failure could be read" };
            self.ui.out(&format!("{what}{of}: nothing to analyse"));
        } else {
            // Uncoloured, since workflow commands are only recognised in plain text.
            let plain = Ui::new(self.ui.environment(), Colour::Never, OutputFormat::Pretty).in_job(self.system);
            for line in run_screen::lines(&plain, self.report, result, ScreenParts::default()) {
                plain.out(&line);
            }
        }
        self.ui.out(&format!("{}: {}", self.system.name(), dir.path().join("summary.md").display()));
    }

    /// Publishes annotations and the summary in the CI system's format.
    fn publish(&self, dir: &OutDir) -> Result<(), SessionError> {
        let pretty = self.ui.format() == OutputFormat::Pretty;
        match self.system {
            CiSystem::Github => {
                if pretty {
                    self.limited_annotations().for_each(|one| self.ui.command(&one.github()));
                }
                let text = ci_summary(self.report, self.failed, SummarySize::JOB);
                if text.len() < MAX_SUMMARY {
                    append(self.ui.environment().variables(), "GITHUB_STEP_SUMMARY", &text)?;
                }
                append(self.ui.environment().variables(), "GITHUB_OUTPUT", &self.github_outputs(dir))
            }
            CiSystem::Azure if pretty => {
                self.limited_annotations().for_each(|one| self.ui.command(&one.azure()));
                let path = std::path::absolute(dir.path()).unwrap_or_else(|_| dir.path().to_owned());
                self.ui.command(&format!("##vso[task.uploadsummary]{}", path.join("summary.md").display()));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The annotations that fit the CI system's limit per level.
    fn limited_annotations(&self) -> impl Iterator<Item = &Annotation> {
        let mut seen: Vec<asterisk_report::AnnotationLevel> = Vec::new();
        self.annotations.iter().filter(move |one| {
            seen.push(one.level);
            seen.iter().filter(|level| **level == one.level).count() <= MAX_ANNOTATIONS
        })
    }

    /// The step outputs.
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
            "causes": self.report.causes.len(), "failed_gates": self.failed, "failed_rules": result.failed_rules,
        })
    }
}

/// Appends to the file named by an environment variable, if it is set.
fn append(variables: &Variables, name: &str, text: &str) -> Result<(), SessionError> {
    let Some(path) = variables.text(name).filter(|path| !path.is_empty()) else { return Ok(()) };
    let written: io::Result<()> =
        OpenOptions::new().append(true).create(true).open(&path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|source| SessionError::Write { path, source })
}
