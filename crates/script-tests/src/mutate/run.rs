//! Running the tests on each mutant.

use super::allow::{allows, complaints, reason};
use super::mutant::{Mutant, mutants};
use super::reach::TestReach;
use super::scope::MutateScope;
use super::words::ScriptWords;
use crate::run::{SelectedTests, TestSpec, function, scene};
use crate::test_project::TestProject;
use asterisk_diag::{Code, Diagnostic, Source, did_you_mean};
use asterisk_script::probe::Probes;
use asterisk_script::{LinkedScript, TestCallResult, is_test_file};
use asterisk_session::{Session, SessionError, TestFile, WorkerPool};
use std::sync::Arc;

/// The result of the mutants of some scripts.
#[derive(Debug)]
pub struct Mutation {
    /// The scripts that have mutants, by path.
    pub files: Vec<MutatedFile>,
    /// Allows that allow nothing.
    pub complaints: Vec<Diagnostic>,
    /// How many tests there are to notice.
    pub tests: usize,
    /// How long all of it took, in seconds; 0 under a clock that stands still.
    pub seconds: f64,
}

/// The result of the mutants of a script.
#[derive(Debug)]
pub struct MutatedFile {
    /// The script.
    pub source: Source,
    /// Its mutants that link, in the order of the text.
    pub mutants: Vec<(Mutant, MutantFate)>,
}

/// The result of a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MutantFate {
    /// This test failed.
    Killed(String),
    /// This test did not end within its limits.
    Endless(String),
    /// No test failed.
    Survived,
    /// No test failed, and an allow says why.
    Explained(String),
    /// No test calls the function it is in.
    NotReached,
}

impl Mutation {
    /// How many of all mutants had a fate.
    pub fn count(&self, fate: impl Fn(&MutantFate) -> bool + Copy) -> usize {
        self.files.iter().map(|file| file.count(fate)).sum()
    }

    /// How many survived without an explanation, those that no test reaches included.
    pub fn unexplained(&self) -> usize {
        self.count(MutantFate::is_unexplained)
    }
}

impl MutatedFile {
    /// How many of its mutants had a fate.
    pub fn count(&self, fate: impl Fn(&MutantFate) -> bool) -> usize {
        self.mutants.iter().filter(|(_, had)| fate(had)).count()
    }
}

impl MutantFate {
    /// Whether a test noticed it.
    pub fn is_killed(&self) -> bool {
        matches!(self, Self::Killed(_) | Self::Endless(_))
    }

    /// Whether it survived without an allow comment.
    pub fn is_unexplained(&self) -> bool {
        matches!(self, Self::Survived | Self::NotReached)
    }
}

/// Runs, on each mutant of the scope, the requested tests that call what was changed, until one fails. If only some tests are
/// requested, functions that none of them calls are skipped.
pub fn mutate(session: &Session, asked: &TestSpec, scope: &MutateScope) -> Result<Mutation, SessionError> {
    let clock = &session.setup().clock;
    let begun = clock.now();
    let ready = SelectedTests::new(session, &TestSpec { coverage: false, ..asked.clone() })?;
    let tests: Vec<(&TestFile, &str)> =
        ready.selected.iter().flat_map(|file| file.tests.iter().map(move |test| (&file.file, test.as_str()))).collect();
    let reach = TestReach::of(session, &ready, &tests)?;
    let base = Arc::new(TestProject::link(session, &ready.texts, Probes::None)?);
    let only_some = !asked.paths.is_empty() || asked.filter.is_some();
    let scripts: Vec<&LinkedScript> = base.library.files().filter(|file| !is_test_file(file.path())).collect();
    let mut jobs: Vec<(&LinkedScript, Mutant, Vec<usize>)> = Vec::new();
    for file in &scripts {
        for mutant in mutants(file.unit()).into_iter().filter(|mutant| scope.holds(file.path(), &mutant.function)) {
            // A constant can be read from anywhere.
            let mut tests_of: Vec<usize> = match mutant.constant {
                true if only_some => reach.tests_of_script(file.path()),
                true => (0..tests.len()).collect(),
                false => reach.tests(file.path(), mutant.defined.start).collect(),
            };
            // The script's own tests know best.
            let own = file.path().strip_suffix(".rhai").map(|stem| format!("{stem}_test.rhai"));
            tests_of.sort_by_key(|test| Some(tests[*test].0.source.name()) != own.as_deref());
            if !only_some || !tests_of.is_empty() {
                jobs.push((file, mutant, tests_of));
            }
        }
    }
    if jobs.is_empty() {
        return Err(nothing(scope, &scripts, only_some));
    }
    let fates = WorkerPool::all().map(&jobs, |(file, mutant, tests_of)| {
        let ground = Arc::new(base.edit(&mutant.source(file.source())).ok()?);
        let named = |test: &usize| tests[*test];
        Some(fate(&ground, tests_of.iter().map(named)))
    });
    let mut mutation = Mutation { files: Vec::new(), complaints: Vec::new(), tests: tests.len(), seconds: 0.0 };
    let mut fates = jobs.into_iter().zip(fates).peekable();
    for file in &scripts {
        let mut allows = allows(file.unit(), file.source());
        let mut found = Vec::new();
        while let Some(((_, mutant, _), fate)) = fates.next_if(|((of, ..), _)| of.path() == file.path()) {
            let Some(fate) = fate else { continue };
            let why = (fate == MutantFate::Survived).then(|| reason(&mut allows, &mutant)).flatten();
            found.push((mutant, why.map_or(fate, MutantFate::Explained)));
        }
        let whole = ScriptWords::of(file.unit()).bodies().iter().all(|body| scope.holds(file.path(), &body.name));
        if whole && !only_some {
            mutation.complaints.extend(complaints(&allows));
        }
        if !found.is_empty() {
            mutation.files.push(MutatedFile { source: file.source().clone(), mutants: found });
        }
    }
    mutation.seconds = clock.now().seconds_since(begun);
    Ok(mutation)
}

fn fate<'t>(ground: &Arc<TestProject>, tests: impl Iterator<Item = (&'t TestFile, &'t str)>) -> MutantFate {
    let mut reached = false;
    for (file, name) in tests {
        reached = true;
        let trial = match function(ground, file, name) {
            Ok(function) => function.run_test(scene(ground, file)),
            Err(diagnostic) => TestCallResult { failure: Some(diagnostic), rows: Vec::new() },
        };
        let mut failures = trial.rows.iter().map(|row| &row.failure).chain([&trial.failure]).flatten();
        if let Some(first) = failures.next() {
            let id = format!("{}#{name}", file.source.name());
            let endless = first.is(Code::ScriptLimit) || failures.any(|failure| failure.is(Code::ScriptLimit));
            return if endless { MutantFate::Endless(id) } else { MutantFate::Killed(id) };
        }
    }
    if reached { MutantFate::Survived } else { MutantFate::NotReached }
}

fn nothing(scope: &MutateScope, scripts: &[&LinkedScript], only_some: bool) -> SessionError {
    let message = format!("nothing to mutate in `{scope}`");
    let names: Vec<String> = scripts.iter().map(|file| file.path().to_owned()).collect();
    let help = if only_some {
        "or these tests do not call it"
    } else {
        "name a part of `path/of/script.rhai#function`, or a pattern with `*`"
    };
    let help = did_you_mean(&scope.to_string(), names.iter().map(String::as_str)).unwrap_or_else(|| help.into());
    SessionError::BadRequest(Box::new(Diagnostic::error("test/no-match", message).help(help)))
}
