//! `tests.history`: how the case's test ended in earlier launches.

use super::history::{OwnLaunch, own_launch};
use super::{ActiveQuery, StoreQueries, StoreSnapshot, cached, lock};
use crate::error::StoreError;
use crate::outcomes::read_outcomes;
use crate::sql::{Connection, Row, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{TestIdentity, TestOutcome, TestOutcomes};
use asterisk_walk::QuerySubject;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of launches of the name, the latest before this one.
const LAUNCHES: i64 = 50;
/// Maximum number of launches of the commit, the latest.
const SAME_COMMIT: i64 = 50;
/// Maximum number of tests whose outcomes are kept in memory, of all launches together: 90 MB. Further launches are read again for
/// each case.
const CACHED_TESTS: usize = 10_000_000;

/// The launches that the history of a run's tests is about, without those that do not have the outcomes of their tests.
#[derive(Debug, Default)]
pub(super) struct PastTestLaunches {
    /// Of the same name, which began before, in order.
    series: Vec<PastTestLaunch>,
    /// The row ids of those of the same commit.
    same_commit: Vec<i64>,
}

/// An earlier launch.
#[derive(Debug)]
struct PastTestLaunch {
    row: i64,
    id: String,
    version: String,
    commit: String,
    at: i64,
}

impl PastTestLaunch {
    fn read(row: &Row<'_>) -> crate::sql::Result<Self> {
        Ok(Self { row: row.get(0)?, id: row.get(1)?, version: row.get(2)?, commit: row.get(3)?, at: row.get(4)? })
    }

    fn to_json(&self) -> Value {
        let Self { id, version, commit, at, .. } = self;
        json!({ "launch": id, "version": version, "commit": commit, "at": Timestamp::from_millis(*at) })
    }
}

/// The outcomes of launches, by row id, as far as they may be kept.
#[derive(Debug, Default)]
pub(super) struct CachedOutcomes {
    launches: HashMap<i64, Arc<TestOutcomes>>,
    tests: usize,
}

/// Answers the query.
pub(super) fn answer(needs: &ActiveQuery<'_>, about: &QuerySubject<'_>) -> Result<Value, StoreError> {
    let past = cached(&needs.test_launches, || {
        needs.read_store(|conn, snapshot| Ok(Arc::new(past_launches(conn, snapshot, about.launch.commit())?)))
    })?;
    let test = about.case.identity();
    let mut history = TestTally::default();
    for launch in &past.series {
        history.add(launch, outcome(needs, launch.row, test)?);
    }
    for launch in &past.same_commit {
        history.add_same_commit(outcome(needs, *launch, test)?);
    }
    Ok(history.to_json())
}

/// The launches visible to a run: those whose outcomes an earlier run wrote.
fn past_launches(conn: &Connection, snapshot: StoreSnapshot, commit: &str) -> Result<PastTestLaunches, StoreError> {
    let OwnLaunch { id, at, name } = own_launch(conn, snapshot)?;
    let mut rows = conn.prepare_cached(
        "SELECT l.id, l.external, l.version, t.revision, l.at FROM launches l JOIN test_outcomes t ON t.launch = l.id \
         WHERE l.name = ?1 AND (l.at, l.id) < (?2, ?3) AND t.run < ?4 ORDER BY l.at DESC, l.id DESC LIMIT ?5",
    )?;
    let series = rows.query_map(params![name, at, id, snapshot.run, LAUNCHES], PastTestLaunch::read)?;
    let mut series = series.collect::<Result<Vec<_>, _>>()?;
    series.reverse();
    let mut same_commit = Vec::new();
    if !commit.is_empty() {
        let mut rows = conn.prepare_cached(
            "SELECT t.launch FROM test_outcomes t JOIN launches l ON l.id = t.launch \
             WHERE t.revision = ?1 AND t.revision <> '' AND t.launch <> ?2 AND t.run < ?3 ORDER BY l.at DESC, l.id DESC LIMIT ?4",
        )?;
        let found = rows.query_map(params![commit, id, snapshot.run, SAME_COMMIT], |row| row.get(0))?;
        same_commit = found.collect::<Result<_, _>>()?;
    }
    Ok(PastTestLaunches { series, same_commit })
}

/// The outcome of a test in a launch.
fn outcome(needs: &ActiveQuery<'_>, launch: i64, test: TestIdentity) -> Result<Option<TestOutcome>, StoreError> {
    if let Some(known) = lock(&needs.test_outcomes).launches.get(&launch) {
        return Ok(known.get(test));
    }
    // Not locked meanwhile: two threads may read the same launch.
    let read = needs.read_store(|conn, _| read_outcomes(conn, launch))?;
    let found = read.get(test);
    keep(needs, launch, read);
    Ok(found)
}

fn keep(needs: &StoreQueries, launch: i64, read: TestOutcomes) {
    let mut kept = lock(&needs.test_outcomes);
    if kept.tests + read.len() <= CACHED_TESTS && !kept.launches.contains_key(&launch) {
        kept.tests += read.len();
        kept.launches.insert(launch, Arc::new(read));
    }
}

/// What the launches say of one test. A flaky test passed in the end, an error is a failure, and a skipped test says neither.
#[derive(Debug, Default)]
struct TestTally<'l> {
    launches: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    flaky: usize,
    flips: usize,
    /// Whether it passed when it last ran.
    was_pass: Option<bool>,
    failing_since: Option<&'l PastTestLaunch>,
    last_passed: Option<&'l PastTestLaunch>,
    same_commit: (usize, usize),
}

impl<'l> TestTally<'l> {
    /// Adds the next launch.
    fn add(&mut self, launch: &'l PastTestLaunch, outcome: Option<TestOutcome>) {
        let Some(outcome) = outcome else { return };
        self.launches += 1;
        match outcome {
            TestOutcome::Passed => self.passed += 1,
            TestOutcome::Flaky => self.flaky += 1,
            TestOutcome::Failed | TestOutcome::Error => self.failed += 1,
            TestOutcome::Skipped => {
                self.skipped += 1;
                return;
            }
        }
        let is_pass = outcome.is_pass();
        self.flips += usize::from(self.was_pass.is_some_and(|was_pass| was_pass != is_pass));
        self.was_pass = Some(is_pass);
        if is_pass {
            (self.last_passed, self.failing_since) = (Some(launch), None);
        } else {
            self.failing_since.get_or_insert(launch);
        }
    }

    fn add_same_commit(&mut self, outcome: Option<TestOutcome>) {
        let Some(outcome) = outcome else { return };
        self.same_commit.0 += usize::from(outcome.is_pass());
        self.same_commit.1 += usize::from(outcome.is_failure());
    }

    fn to_json(&self) -> Value {
        let (passed, failed) = self.same_commit;
        json!({
            "known": self.launches + passed + failed > 0,
            "launches": self.launches,
            "passed": self.passed,
            "failed": self.failed,
            "skipped": self.skipped,
            "flaky": self.flaky,
            "flips": self.flips,
            "failing_since": self.failing_since.map(PastTestLaunch::to_json),
            "last_passed": self.last_passed.map(PastTestLaunch::to_json),
            "same_commit": { "passed": passed, "failed": failed },
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::StoreQueries;
    use crate::fixture::{Backend, StoreFixture, at, launch};
    use asterisk_base::clock::Timestamp;
    use asterisk_base::model::{Case, Launch, TestOutcome};
    use asterisk_walk::{Queries, QuerySubject, unknown_history};
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    /// A launch that is analysed: its name, day and commit, and how the test ended, if it is known.
    #[derive(Clone, Debug)]
    struct Night {
        name: u8,
        day: i64,
        commit: u8,
        outcome: Option<TestOutcome>,
    }

    fn case() -> Case {
        Case { suite: "shop".into(), ..launch(1).cases.remove(0) }
    }

    fn as_launch(night: &Night, number: usize) -> Launch {
        let mut launch = launch(1);
        launch.cases = vec![case()];
        (launch.name, launch.run_id) = (format!("name {}", night.name), format!("l{number}"));
        launch.started_at = Some(at(night.day * 86_400));
        launch.attributes.insert("version", format!("4.{number}"));
        launch.git.commit = (night.commit > 0).then(|| format!("c{}", night.commit));
        launch.outcomes.add(Case::default().identity(), TestOutcome::Passed);
        if let Some(outcome) = night.outcome {
            launch.outcomes.add(case().identity(), outcome);
        }
        launch.outcomes.settle();
        launch
    }

    fn ask(fixture: &StoreFixture, run: &str, launch: &Launch) -> Value {
        let needs = StoreQueries::new(&fixture.store, run, json!([])).unwrap();
        needs.query("tests.history", &QuerySubject::new(launch, &launch.cases[0])).unwrap()
    }

    /// The last answer when the launches are analysed in this order.
    fn history(backend: Backend, nights: &[Night]) -> Value {
        let fixture = StoreFixture::on(backend);
        let mut answer = Value::Null;
        for (number, night) in nights.iter().enumerate() {
            let launch = as_launch(night, number);
            drop(fixture.begin(&format!("r{number}"), &launch));
            answer = ask(&fixture, &format!("r{number}"), &launch);
        }
        answer
    }

    /// The same, counted by hand.
    fn naive(nights: &[Night]) -> Value {
        let (here, before) = nights.split_last().unwrap();
        let mut series: Vec<(usize, &Night)> = before.iter().enumerate().collect();
        series.retain(|(_, night)| night.name == here.name && night.day <= here.day);
        series.sort_by_key(|(number, night)| (night.day, *number));
        let ended: Vec<(usize, &Night, TestOutcome)> =
            series.into_iter().filter_map(|(number, night)| Some((number, night, night.outcome?))).collect();
        let count = |wanted: &[TestOutcome]| ended.iter().filter(|(.., outcome)| wanted.contains(outcome)).count();
        let ran: Vec<_> = ended.iter().filter(|(.., outcome)| *outcome != TestOutcome::Skipped).collect();
        let told = |(number, night, _): &(usize, &Night, TestOutcome)| {
            let commit = if night.commit > 0 { format!("c{}", night.commit) } else { String::new() };
            let at: Timestamp = at(night.day * 86_400);
            json!({ "launch": format!("l{number}"), "version": format!("4.{number}"), "commit": commit, "at": at })
        };
        let series = ran.iter().rposition(|(.., outcome)| outcome.is_pass());
        let same = before.iter().filter(|night| night.commit > 0 && night.commit == here.commit);
        let same: Vec<TestOutcome> = same.filter_map(|night| night.outcome).collect();
        let (passed, failed) =
            (same.iter().filter(|outcome| outcome.is_pass()).count(), same.iter().filter(|outcome| outcome.is_failure()).count());
        json!({
            "known": !ended.is_empty() || passed + failed > 0,
            "launches": ended.len(),
            "passed": count(&[TestOutcome::Passed]),
            "failed": count(&[TestOutcome::Failed, TestOutcome::Error]),
            "skipped": count(&[TestOutcome::Skipped]),
            "flaky": count(&[TestOutcome::Flaky]),
            "flips": ran.windows(2).filter(|two| two[0].2.is_pass() != two[1].2.is_pass()).count(),
            "failing_since": ran.get(series.map_or(0, |at| at + 1)).map(|night| told(night)),
            "last_passed": series.map(|at| told(ran[at])),
            "same_commit": { "passed": passed, "failed": failed },
        })
    }

    fn any_night() -> impl Strategy<Value = Night> {
        use TestOutcome::{Error, Failed, Flaky, Passed, Skipped};
        let outcome = prop_oneof![
            4 => Just(Some(Passed)), 4 => Just(Some(Failed)), 1 => Just(Some(Error)),
            1 => Just(Some(Flaky)), 1 => Just(Some(Skipped)), 1 => Just(None),
        ];
        (prop_oneof![4 => Just(0_u8), 1 => Just(1)], 0..9_i64, 0..4_u8, outcome).prop_map(|(name, day, commit, outcome)| Night {
            name,
            day,
            commit,
            outcome,
        })
    }

    #[rstest]
    fn histories_are_as_one_would_count_them(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        backend.check(48, &proptest::collection::vec(any_night(), 1..14), |nights| {
            prop_assert_eq!(history(backend, &nights), naive(&nights), "{:?}", nights);
            Ok(())
        });
    }

    fn night(day: i64, outcome: TestOutcome) -> Night {
        Night { name: 0, day, commit: 0, outcome: Some(outcome) }
    }

    #[rstest]
    fn only_the_last_fifty_launches_count(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let nights: Vec<Night> = (0..60)
            .map(|day| night(day, if day < 15 || day == 40 { TestOutcome::Passed } else { TestOutcome::Failed }))
            .collect();
        let answer = history(backend, &nights);
        let counts = ["launches", "passed", "failed", "flips"].map(|name| answer[name].as_u64().unwrap());
        // Before the last stand 59, of which the first nine are too old.
        assert_eq!(counts, [50, 7, 43, 3]);
        assert_eq!((&answer["failing_since"]["launch"], &answer["last_passed"]["launch"]), (&json!("l41"), &json!("l40")));
    }

    #[rstest]
    fn a_run_sees_the_knowledge_at_its_start(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let [first, second, third] =
            [1, 3, 2].map(|day| as_launch(&night(day, TestOutcome::Passed), usize::try_from(day).unwrap()));
        drop(fixture.begin("first", &first));
        drop(fixture.begin("second", &second));
        let before = ask(&fixture, "second", &second);
        assert_eq!((&before["known"], &before["launches"]), (&json!(true), &json!(1)));
        // Of a time between them, but analysed later.
        drop(fixture.begin("third", &third));
        assert_eq!(ask(&fixture, "second", &second), before);
        assert_eq!(ask(&fixture, "third", &third)["launches"], 1);
        drop(fixture.begin("again", &second));
        assert_eq!(ask(&fixture, "again", &second)["launches"], 2);
    }

    #[rstest]
    fn without_outcomes_nothing_is_known(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let bare = launch(1);
        drop(fixture.begin("a", &bare));
        drop(fixture.begin("b", &bare));
        let unknown = unknown_history();
        assert_eq!(ask(&fixture, "b", &bare), unknown);
        let needs = StoreQueries::without_store(json!([]));
        let about = QuerySubject::new(&bare, &bare.cases[0]);
        assert_eq!(needs.query("tests.history", &about), Ok(unknown));
    }
}
