//! How steady tests are, by the outcomes of the launches that the store has.

use super::error::StoreError;
use super::open::Store;
use super::outcomes::read_outcomes;
use super::test_names::read_names;
use crate::sql::Connection;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{TestIdentity, TestOutcome};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// How many launches of a name are looked at, the latest.
const LAUNCHES: i64 = 50;

/// How a test ended over the launches of one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestStability {
    /// Name of the launches.
    pub launch: String,
    pub suite: String,
    pub test: String,
    /// Launches that ran it.
    pub launches: usize,
    /// Of those, how many it passed at once.
    pub passed: usize,
    /// How many it failed.
    pub failed: usize,
    /// How many it failed in and passed when retried.
    pub retried: usize,
    /// Changes between passed and failed from one launch to the next.
    pub flips: usize,
    /// Changes as a share of those that there could be, 0 to 1.
    pub flip_rate: f64,
    /// Retried as a share of the launches, 0 to 1.
    pub retry_rate: f64,
    /// Commits on which it passed and failed, in launches of any name.
    pub contradicted_commits: usize,
    /// When it last failed or was retried.
    pub last_failed: Option<Timestamp>,
}

/// A launch with the outcomes of its tests.
struct LaunchRow {
    id: i64,
    name: String,
    revision: String,
    at: i64,
}

/// The counts of one test in the launches of one name.
#[derive(Default)]
struct StabilityTally {
    passed: usize,
    failed: usize,
    retried: usize,
    flips: usize,
    was_pass: Option<bool>,
    last_failed: Option<i64>,
}

impl StabilityTally {
    fn add(&mut self, outcome: TestOutcome, at: i64) {
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Flaky => self.retried += 1,
            TestOutcome::Failed | TestOutcome::Error => self.failed += 1,
            TestOutcome::Skipped => return,
        }
        if outcome != TestOutcome::Passed {
            self.last_failed = Some(at);
        }
        let is_pass = outcome.is_pass();
        self.flips += usize::from(self.was_pass.is_some_and(|was_pass| was_pass != is_pass));
        self.was_pass = Some(is_pass);
    }
}

impl Store {
    /// How steady the tests are that failed or were retried in any of the latest 50 launches of each name, in the order of launch names,
    /// suites and tests.
    pub fn test_stability(&self) -> Result<Vec<TestStability>, StoreError> {
        self.read(|conn| {
            let names = read_names(conn)?;
            let mut tallies: BTreeMap<(String, TestIdentity), StabilityTally> = BTreeMap::new();
            let mut commits: BTreeMap<(TestIdentity, String), (bool, bool)> = BTreeMap::new();
            for launch in launches(conn)? {
                let outcomes = read_outcomes(conn, launch.id)?;
                for test in names.keys() {
                    let Some(outcome) = outcomes.get(*test) else { continue };
                    tallies.entry((launch.name.clone(), *test)).or_default().add(outcome, launch.at);
                    if !launch.revision.is_empty() {
                        let (passed, failed) = commits.entry((*test, launch.revision.clone())).or_default();
                        *passed |= outcome.is_pass();
                        *failed |= outcome.is_failure();
                    }
                }
            }
            let mut contradicted: HashMap<TestIdentity, usize> = HashMap::new();
            for ((test, _), both) in &commits {
                *contradicted.entry(*test).or_default() += usize::from(*both == (true, true));
            }
            let mut found: Vec<TestStability> = tallies
                .into_iter()
                .filter_map(|((launch, test), tally)| {
                    let (suite, name) = names.get(&test)?;
                    Some(tally.stability(launch, (suite, name), contradicted.get(&test).copied().unwrap_or_default()))
                })
                .collect();
            found.sort_by(|a, b| (&a.launch, &a.suite, &a.test).cmp(&(&b.launch, &b.suite, &b.test)));
            Ok(found)
        })
    }
}

impl StabilityTally {
    fn stability(self, launch: String, (suite, test): (&str, &str), contradicted_commits: usize) -> TestStability {
        let launches = self.passed + self.failed + self.retried;
        #[allow(clippy::cast_precision_loss)]
        let share = |part: usize, whole: usize| if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 1e4).round() / 1e4 };
        TestStability {
            launch,
            suite: suite.to_owned(),
            test: test.to_owned(),
            launches,
            passed: self.passed,
            failed: self.failed,
            retried: self.retried,
            flips: self.flips,
            flip_rate: share(self.flips, launches.saturating_sub(1)),
            retry_rate: share(self.retried, launches),
            contradicted_commits,
            last_failed: self.last_failed.map(Timestamp::from_millis),
        }
    }
}

/// The latest launches of each name, in the order in which they began.
fn launches(conn: &Connection) -> Result<Vec<LaunchRow>, StoreError> {
    let mut rows = conn.prepare(
        "SELECT id, name, revision, at FROM (SELECT l.id, l.name, t.revision, l.at, \
         row_number() OVER (PARTITION BY l.name ORDER BY l.at DESC, l.id DESC) AS nth \
         FROM test_outcomes t JOIN launches l ON l.id = t.launch) latest WHERE nth <= ?1 ORDER BY at, id",
    )?;
    let launches = rows.query_map([LAUNCHES], |row| {
        Ok(LaunchRow { id: row.get(0)?, name: row.get(1)?, revision: row.get(2)?, at: row.get(3)? })
    })?;
    Ok(launches.collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, at, launch};
    use TestOutcome::{Failed, Flaky, Passed, Skipped};
    use asterisk_base::model::{Case, Launch, TestOutcomes};
    use rstest::rstest;

    /// A launch of a day in which tests of the suite `s` ended so.
    fn nightly(day: i64, commit: &str, tests: &[(&str, TestOutcome)]) -> Launch {
        let mut outcomes = TestOutcomes::default();
        let mut launch = launch(0);
        for (name, outcome) in tests {
            outcomes.add(TestIdentity::new("s", name), *outcome);
            if outcome.is_failure() {
                let (id, name) = ((*name).to_owned(), (*name).to_owned());
                launch.cases.push(Case { id, name, suite: "s".into(), ..Case::default() });
            } else if *outcome == TestOutcome::Flaky {
                outcomes.name("s", name);
            }
        }
        outcomes.settle();
        launch.run_id = format!("l{day}");
        launch.started_at = Some(at(day * 86_400));
        launch.git.commit = Some(commit.into());
        launch.outcomes = outcomes;
        launch
    }

    #[rstest]
    fn what_flips_is_retried_or_contradicts_itself_is_counted(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let nights = [
            ("a", [("flips", Passed), ("retried", Passed), ("steady", Passed), ("broken", Passed)]),
            ("a", [("flips", Failed), ("retried", Flaky), ("steady", Passed), ("broken", Failed)]),
            ("b", [("flips", Passed), ("retried", Passed), ("steady", Passed), ("broken", Failed)]),
            ("c", [("flips", Failed), ("retried", Flaky), ("steady", Passed), ("broken", Skipped)]),
        ];
        // They are analysed in another order than they began in.
        for (day, (commit, tests)) in (0_i32..4).zip(&nights).rev() {
            drop(fixture.begin(&format!("r{day}"), &nightly(i64::from(day), commit, tests)));
        }
        let found = fixture.store.test_stability().unwrap();
        let told: Vec<_> = found
            .iter()
            .map(|test| (test.test.as_str(), test.launches, test.failed, test.retried, test.flips, test.contradicted_commits))
            .collect();
        assert_eq!(told, [("broken", 3, 2, 0, 1, 1), ("flips", 4, 2, 0, 3, 1), ("retried", 4, 0, 2, 0, 0)]);
        assert!((found[1].flip_rate - 1.0).abs() < f64::EPSILON && (found[2].retry_rate - 0.5).abs() < f64::EPSILON);
        assert_eq!(found[0].last_failed, Some(at(2 * 86_400)));
    }
}
