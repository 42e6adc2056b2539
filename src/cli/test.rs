//! `asterisk test`.

use super::profile_arg::ProfileArg;
use super::{GlobalArgs, ProjectArgs};
use super::{test_mutants, test_view};
use crate::exit::Exit;
use crate::ui::{OutputFormat, Ui};
use asterisk_diag::Diagnostic;
use asterisk_files::{DEBOUNCE, Watcher};
use asterisk_script_tests::mutate::{self, MutateScope};
use asterisk_script_tests::{TestResults, TestSpec, lcov, list, run};
use asterisk_session::{Session, SessionError, Setup};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Run the tests of scripts: functions `test_*` in files `*_test.rhai`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  asterisk test\n  asterisk test rules/rca_test.rhai --filter recall\n  \
                        asterisk test --coverage --min-coverage 60\n  \
                        asterisk test --mutate\n  asterisk test --mutate=rules/rca.rhai#recall_hit\n  \
                        asterisk doc tests")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct TestArgs {
    /// Files or directories of tests, on disk or below the script root; a script's name stands for its tests [default: all].
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Only tests whose `file#name` contains this.
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// List the tests instead of running them.
    #[arg(long, conflicts_with = "coverage")]
    list: bool,
    /// Show the coverage of the scripts by the tests: functions, branches, conditions, results (-v: whole texts).
    #[arg(long)]
    coverage: bool,
    /// Fail if the coverage of all outcomes is lower than this.
    #[arg(long, value_name = "PERCENT", requires = "coverage")]
    min_coverage: Option<f64>,
    /// Mutate the scripts in one place at a time, and list the mutants that no test detects [default: rules, effects, schedulers,
    /// masks and branches].
    ///
    /// SCRIPTS is a part of `path#function`, or a pattern with `*`; several are separated by commas. An equivalent mutant is
    /// explained next to its line: `// mutants: allow(MUTATOR) reason`.
    #[arg(long, value_name = "SCRIPTS", num_args = 0..=1, require_equals = true, default_missing_value = "",
        conflicts_with_all = ["list", "coverage", "watch"])]
    mutate: Option<String>,
    /// Run again whenever a script, a test, a pipeline or the data changes.
    #[arg(long, conflicts_with_all = ["list", "min_coverage"])]
    watch: bool,
    /// Do not fail if no tests are found.
    #[arg(long)]
    allow_empty: bool,
    #[command(flatten)]
    profile: ProfileArg,
    #[command(flatten)]
    project: ProjectArgs,
    /// Output format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: TestFormat,
}

/// The format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum TestFormat {
    /// Text.
    #[default]
    Pretty,
    /// JSON.
    Json,
    /// For CI systems.
    Junit,
    /// Coverage alone, as a tracefile of lcov.
    Lcov,
}

pub(super) fn test(global: &GlobalArgs, args: &TestArgs) -> Result<Exit, SessionError> {
    let ui = &global.printer(if args.format == TestFormat::Json { OutputFormat::Json } else { OutputFormat::Pretty });
    let session = global.session(&args.project, None)?;
    if args.mutate.is_some() && args.format == TestFormat::Lcov {
        let help = "--mutate prints pretty, json or junit";
        return Err(SessionError::BadRequest(Box::new(Diagnostic::error("test/format", "lcov is for coverage only").help(help))));
    }
    let coverage = args.coverage || args.format == TestFormat::Lcov;
    let spec = TestSpec { paths: args.paths.clone(), filter: args.filter.clone(), coverage };
    if args.list {
        return listed(ui, &session, &spec, args);
    }
    if args.watch {
        return watch(global, args, ui, &spec);
    }
    let results = args.profile.measured(ui, || run(&session, &spec))?;
    if results.tests.is_empty() && !args.allow_empty {
        return Err(nothing());
    }
    if let Some(scope) = args.mutate.as_ref().filter(|_| results.failed() == 0 && !results.tests.is_empty()) {
        return run_mutants(ui, &session, &spec, scope, args.format, global.verbose > 0);
    }
    print(ui, args.format, &results, global.verbose > 0, (&spec, session.setup()));
    let missing =
        args.min_coverage.filter(|floor| results.coverage.as_ref().is_some_and(|coverage| coverage.share().percent() < *floor));
    if let (Some(floor), Some(coverage)) = (missing, &results.coverage) {
        let message = format!("the tests cover {:.1} % of all outcomes, less than {floor} %", coverage.share().percent());
        let help = "--coverage lists the outcomes that are not covered";
        ui.diagnostic(&Diagnostic::error("test/coverage", message).help(help));
    }
    Ok(if results.failed() > 0 || missing.is_some() { Exit::Findings } else { Exit::Ok })
}

/// Runs the tests now and after every edit, until interrupted. Link errors are shown.
fn watch(global: &GlobalArgs, args: &TestArgs, ui: &Ui, spec: &TestSpec) -> Result<Exit, SessionError> {
    let paths = |session: &Session| {
        let mut paths = session.text_paths(None);
        paths.extend(spec.paths.iter().filter(|path| path.exists()).cloned());
        paths
    };
    let mut session = global.session(&args.project, None)?;
    let mut watcher = Watcher::new(&paths(&session), DEBOUNCE)?;
    loop {
        match run(&session, spec) {
            Ok(results) => print(ui, args.format, &results, global.verbose > 0, (spec, session.setup())),
            Err(SessionError::Texts(found)) => ui.diagnostics(&found),
            Err(error) => return Err(error),
        }
        ui.note("waiting for edits; stop with Ctrl-C");
        if !watcher.changed() {
            return Ok(Exit::Ok);
        }
        session = global.session(&args.project, None)?;
        watcher.watch(&paths(&session))?;
    }
}

/// Runs the passing tests on mutants.
fn run_mutants(
    ui: &Ui,
    session: &Session,
    spec: &TestSpec,
    scope: &str,
    format: TestFormat,
    whole: bool,
) -> Result<Exit, SessionError> {
    let mutation = mutate::mutate(session, spec, &MutateScope::of(Some(scope)))?;
    match format {
        TestFormat::Json => ui.json(&test_mutants::as_json(&mutation)),
        TestFormat::Junit => {
            ui.out(&test_mutants::junit(&mutation));
            mutation.complaints.iter().for_each(|complaint| ui.diagnostic(complaint));
        }
        TestFormat::Pretty | TestFormat::Lcov => test_mutants::show(ui, &mutation, whole),
    }
    Ok(if mutation.unexplained() > 0 { Exit::Findings } else { Exit::Ok })
}

fn nothing() -> SessionError {
    let help = "write `fn test_..() { .. }` in a file `.._test.rhai`, or pass --allow-empty";
    SessionError::BadRequest(Box::new(Diagnostic::error("test/nothing", "no tests found").help(help)))
}

fn listed(ui: &Ui, session: &Session, spec: &TestSpec, args: &TestArgs) -> Result<Exit, SessionError> {
    let files = list(session, spec)?;
    if files.is_empty() && !args.allow_empty {
        return Err(nothing());
    }
    let ids = files.iter().flat_map(|file| file.tests.iter().map(move |test| format!("{}#{test}", file.file.source.name())));
    let ids: Vec<String> = ids.collect();
    match args.format {
        TestFormat::Json => ui.json(&json!({ "schema_version": 1, "tests": ids })),
        _ => ids.iter().for_each(|id| ui.out(id)),
    }
    Ok(Exit::Ok)
}

fn print(ui: &Ui, format: TestFormat, results: &TestResults, whole: bool, (spec, setup): (&TestSpec, &Setup)) {
    match format {
        TestFormat::Pretty => {
            test_view::show(ui, results, whole);
            if spec.paths.is_empty() {
                test_view::origins(ui, results, setup.texts.scripts.as_deref());
            }
        }
        TestFormat::Json => ui.json(&as_json(results)),
        TestFormat::Junit => ui.out(&test_view::junit(results)),
        TestFormat::Lcov => {
            test_view::failures(ui, results);
            ui.out(&results.coverage.as_ref().map(lcov).unwrap_or_default());
        }
    }
}

fn as_json(results: &TestResults) -> Value {
    let tests: Vec<Value> = results
        .tests
        .iter()
        .map(|test| {
            let line = test.place.as_ref().map(|(source, span)| source.line_column(span.start).0);
            let failures: Vec<Value> = test.failures.iter().map(failure).collect();
            json!({
                "file": test.file, "name": test.name, "line": line, "status": if test.passed() { "passed" } else { "failed" },
                "rows": test.rows, "seconds": test.seconds, "failures": failures,
            })
        })
        .collect();
    let mut all = json!({
        "schema_version": 1, "tests": tests, "passed": results.passed(), "failed": results.failed(), "seconds": results.seconds,
    });
    if let Some(coverage) = &results.coverage {
        all["coverage"] = test_view::coverage_json(coverage);
    }
    all
}

fn failure(failed: &asterisk_script_tests::TestFailure) -> Value {
    let diagnostic = &failed.diagnostic;
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| {
            let (line, column) = label.source.line_column(label.span.start);
            json!({ "file": label.source.name(), "line": line, "column": column, "text": label.source.slice(label.span), "value": label.text })
        })
        .collect();
    let row = failed.row.as_ref().map(|(table, index, values)| json!({ "table": table, "index": index, "values": values }));
    json!({ "row": row, "code": diagnostic.code, "message": diagnostic.message, "help": diagnostic.help, "labels": labels })
}
