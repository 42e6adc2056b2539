//! Running tests: several files at once, the results in the order of the files.

use super::blame::{blame, blame_row};
use super::coverage::Coverage;
use super::result::{TestFailure, TestResult, TestResults};
use super::select::{SelectedFile, select};
use super::test_host::ScriptTestHost;
use super::test_project::TestProject;
use asterisk_diag::{Code, Diagnostic};
use asterisk_script::probe::{Probes, Recorder, RecordingScope, frame};
use asterisk_script::{FunctionRef, ScriptFunction, TestCallResult, TestHost};
use asterisk_session::{Session, SessionError, TestFile, TestTexts, WorkerPool};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The request.
#[derive(Clone, Debug, Default)]
pub struct TestSpec {
    /// Files or directories of tests; all of the project if there are none.
    pub paths: Vec<PathBuf>,
    /// Only tests whose `file#name` contains this.
    pub filter: Option<String>,
    /// Whether to find out what of the scripts they go through; of some tests only, in the scripts that they touch.
    pub coverage: bool,
}

/// The requested tests, not run.
pub(super) struct SelectedTests {
    pub(super) texts: TestTexts,
    ground: Arc<TestProject>,
    pub(super) selected: Vec<SelectedFile>,
}

impl SelectedTests {
    pub(super) fn new(session: &Session, asked: &TestSpec) -> Result<Self, SessionError> {
        let texts = session.tests(&asked.paths)?;
        let probes = if asked.coverage { Probes::Decisions } else { Probes::None };
        let ground = Arc::new(TestProject::link(session, &texts, probes)?);
        let selected = select(&texts.tests, &ground.library, asked.filter.as_deref())?;
        Ok(Self { texts, ground, selected })
    }
}

/// The requested tests: the files, each with the names of its tests.
pub fn list(session: &Session, asked: &TestSpec) -> Result<Vec<SelectedFile>, SessionError> {
    SelectedTests::new(session, asked).map(|ready| ready.selected)
}

/// Runs the requested tests.
pub fn run(session: &Session, asked: &TestSpec) -> Result<TestResults, SessionError> {
    let clock = &session.setup().clock;
    let begun = clock.now();
    let SelectedTests { texts, ground, selected } = SelectedTests::new(session, asked)?;
    let runner = TestRunner { session, texts: &texts, ground: &ground, watched: OnceLock::new(), coverage: asked.coverage };
    let jobs: Vec<(&TestFile, &str)> =
        selected.iter().flat_map(|file| file.tests.iter().map(move |test| (&file.file, test.as_str()))).collect();
    let counted = Mutex::new(Recorder::new(RecordingScope::Counts));
    let tests = WorkerPool::all().map(&jobs, |(file, name)| {
        let mut recorder = Recorder::new(RecordingScope::Counts);
        let tested = runner.test(file, name, &mut recorder);
        counted.lock().unwrap_or_else(PoisonError::into_inner).add(&recorder);
        tested
    });
    let counted = counted.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut coverage = asked.coverage.then(|| Coverage::of(&ground, &texts, &counted));
    if let Some(coverage) = coverage.as_mut().filter(|_| !asked.paths.is_empty() || asked.filter.is_some()) {
        coverage.files.retain(super::FileCoverage::is_touched);
    }
    let seconds = clock.now().seconds_since(begun);
    Ok(TestResults { tests, coverage, seconds })
}

struct TestRunner<'a> {
    session: &'a Session,
    texts: &'a TestTexts,
    ground: &'a Arc<TestProject>,
    /// The same texts with all probes, linked when a test fails.
    watched: OnceLock<Option<Arc<TestProject>>>,
    coverage: bool,
}

impl TestRunner<'_> {
    fn test(&self, file: &TestFile, name: &str, recorder: &mut Recorder) -> TestResult {
        let clock = &self.session.setup().clock;
        let begun = clock.now();
        let trial = match function(self.ground, file, name) {
            Ok(function) if self.coverage => recorder.watch(|| function.run_test(scene(self.ground, file))),
            Ok(function) => frame("test", name, || function.run_test(scene(self.ground, file))),
            Err(diagnostic) => TestCallResult { failure: Some(diagnostic), rows: Vec::new() },
        };
        let seconds = clock.now().seconds_since(begun);
        let place = function(self.ground, file, name).ok().and_then(|function| function.definition());
        let rows = trial.rows.len();
        let failed = trial.failure.is_some() || trial.rows.iter().any(|row| row.failure.is_some());
        let failures = if failed { self.again(file, name, trial) } else { Vec::new() };
        TestResult { file: file.source.name().to_owned(), name: name.to_owned(), place, rows, failures, seconds }
    }

    /// Why a test failed, with the values that were involved: it runs once more, watched. Scripts are pure, so it fails again.
    fn again(&self, file: &TestFile, name: &str, first: TestCallResult) -> Vec<TestFailure> {
        let link = || TestProject::link(self.session, self.texts, Probes::All).ok().map(Arc::new);
        let watched = self.watched.get_or_init(link).as_ref();
        let rerun = watched.and_then(|ground| Some((ground, function(ground, file, name).ok()?)));
        let Some((ground, function)) = rerun else { return failures(first, &mut |_| None, &mut |_| None) };
        let mut recorder = Recorder::new(RecordingScope::Values);
        let trial = recorder.watch(|| function.run_test(scene(ground, file)));
        let evaluation = recorder.evaluations().last();
        ground.with_probed(|texts| {
            failures(trial, &mut |diagnostic| Some(blame(diagnostic, evaluation?, texts)), &mut |(diagnostic, evaluation)| {
                Some(blame_row(diagnostic, evaluation?, texts))
            })
        })
    }
}

pub(super) fn function(ground: &TestProject, file: &TestFile, name: &str) -> Result<ScriptFunction, Box<Diagnostic>> {
    let reference = FunctionRef { file: file.source.name().to_owned(), function: name.to_owned() };
    Ok(ground.library.function(&reference, 0)?)
}

pub(super) fn scene(ground: &Arc<TestProject>, file: &TestFile) -> Rc<dyn TestHost> {
    Rc::new(ScriptTestHost { ground: ground.of(file).clone(), file: file.clone() })
}

type FailureSubject<'t> = (&'t Diagnostic, Option<&'t asterisk_script::probe::Evaluation>);

/// The failures of a trial, each made clearer if that can be done.
fn failures(
    trial: TestCallResult,
    whole: &mut dyn FnMut(&Diagnostic) -> Option<Diagnostic>,
    row: &mut dyn FnMut(FailureSubject<'_>) -> Option<Diagnostic>,
) -> Vec<TestFailure> {
    let mut failed = Vec::new();
    for tried in trial.rows {
        let Some(diagnostic) = tried.failure else { continue };
        let clear = row((&diagnostic, tried.evaluation.as_ref()));
        failed
            .push(TestFailure { row: Some((tried.table, tried.index, tried.values)), diagnostic: clear.unwrap_or(*diagnostic) });
    }
    if let Some(diagnostic) = trial.failure.filter(|failure| !failure.is(Code::TestRows)) {
        failed.push(TestFailure { row: None, diagnostic: whole(&diagnostic).unwrap_or(*diagnostic) });
    }
    failed
}
