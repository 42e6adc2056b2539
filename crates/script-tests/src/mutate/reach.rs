//! Which tests call which functions.

use crate::run::{SelectedTests, function, scene};
use crate::test_project::TestProject;
use asterisk_diag::Diagnostic;
use asterisk_script::is_test_file;
use asterisk_script::probe::{NodeRole, Probes, Recorder, RecordingScope};
use asterisk_session::{Session, SessionError, TestFile, WorkerPool};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the tests call.
pub(super) struct TestReach {
    /// By script and place of the function's name, the numbers of the tests.
    tests: BTreeMap<(String, usize), BTreeSet<usize>>,
}

impl TestReach {
    /// Runs every test once, watched.
    pub(super) fn of(session: &Session, ready: &SelectedTests, jobs: &[(&TestFile, &str)]) -> Result<Self, SessionError> {
        let ground = Arc::new(TestProject::link(session, &ready.texts, Probes::Decisions)?);
        let recorders = WorkerPool::all().map(jobs, |(file, name)| {
            let mut recorder = Recorder::new(RecordingScope::Counts);
            let function = function(&ground, file, name).map_err(SessionError::BadRequest)?;
            let trial = recorder.watch(|| function.run_test(scene(&ground, file)));
            if trial.failure.is_some() || trial.rows.iter().any(|row| row.failure.is_some()) {
                let message = format!("`{}#{name}` fails without any mutation", file.source.name());
                let help = "fix it first: a failing test detects no mutants";
                return Err(SessionError::BadRequest(Box::new(Diagnostic::error("test/mutate", message).help(help))));
            }
            Ok(recorder)
        });
        let recorders = recorders.into_iter().collect::<Result<Vec<Recorder>, SessionError>>()?;
        let mut tests: BTreeMap<(String, usize), BTreeSet<usize>> = BTreeMap::new();
        ground.with_probed(|texts| {
            for (unit, table) in texts.iter().filter(|(unit, _)| !unit.is_condition() && !is_test_file(unit.name())) {
                let callers: Vec<(usize, &Recorder)> =
                    recorders.iter().enumerate().filter(|(_, recorder)| recorder.has_hits(table)).collect();
                for (number, node) in
                    (0..).zip(table.nodes()).filter(|(_, node)| node.role == NodeRole::Function && !node.is_closure())
                {
                    let Some((_, place)) = node.place(unit) else { continue };
                    let calls = callers.iter().filter(|(_, recorder)| recorder.hits(table, number).total() > 0);
                    tests.entry((unit.name().to_owned(), place.start)).or_default().extend(calls.map(|(test, _)| *test));
                }
            }
        });
        Ok(Self { tests })
    }

    /// The numbers of the tests that call a function, given its script and where its name is defined.
    pub(super) fn tests(&self, script: &str, place: usize) -> impl Iterator<Item = usize> {
        self.tests.get(&(script.to_owned(), place)).into_iter().flatten().copied()
    }
    /// The numbers of the tests that call any function of a script.
    pub(super) fn tests_of_script(&self, script: &str) -> Vec<usize> {
        let of_script = self.tests.iter().filter(|((path, _), _)| path == script);
        let numbers: BTreeSet<usize> = of_script.flat_map(|(_, tests)| tests).copied().collect();
        numbers.into_iter().collect()
    }
}
