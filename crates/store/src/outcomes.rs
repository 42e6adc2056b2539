//! The outcomes of the tests of a launch, as they are in the file: written once for each launch, and dropped with age.

use super::error::StoreError;
use super::test_names::store_names;
use crate::sql::{Connection, params};
use asterisk_base::model::{Launch, TestOutcomes};
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

/// How many launches of a name keep the outcomes of their tests when the store is cleaned.
const KEPT_LAUNCHES: i64 = 200;

/// The level of compression. Hashes do not compress, so that a higher one gains nothing.
const LEVEL: i32 = 3;

/// The maximum number of launches that a health check names.
const MAX_DAMAGED: usize = 5;

/// The bytes of a test.
const BYTES_PER_TEST: usize = 9;

/// The outcomes of a launch's tests, on their way into the file.
#[derive(Debug)]
pub(super) struct PackedOutcomes {
    tests: usize,
    frame: Vec<u8>,
}

impl PackedOutcomes {
    /// `None` if the launch does not have the outcomes of its tests.
    pub(super) fn new(launch: &Launch) -> Result<Option<Self>, StoreError> {
        if launch.outcomes.is_empty() {
            return Ok(None);
        }
        let refused = |error: std::io::Error| StoreError::Refused(format!("the outcomes of tests cannot be packed: {error}"));
        let mut compressor = Compressor::new(LEVEL).map_err(refused)?;
        compressor.set_parameter(CParameter::ChecksumFlag(true)).map_err(refused)?;
        let frame = compressor.compress(&launch.outcomes.to_bytes()).map_err(refused)?;
        Ok(Some(Self { tests: launch.outcomes.len(), frame }))
    }

    /// Writes them, unless an earlier analysis of the launch did, with the names of the tests that failed or were retried.
    pub(super) fn store(&self, conn: &Connection, row: i64, run: i64, launch: &Launch) -> Result<(), StoreError> {
        let sql = "INSERT INTO test_outcomes (launch, run, revision, tests, outcomes) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
        let tests = i64::try_from(self.tests).unwrap_or(i64::MAX);
        conn.prepare_cached(sql)?.execute(params![row, run, launch.commit(), tests, self.frame])?;
        let failed = launch.cases.iter().map(|case| (case.identity(), case.suite.as_str(), case.name.as_str()));
        store_names(conn, failed.chain(launch.outcomes.names()))
    }
}

/// Reads the outcomes of the tests of a launch that has them.
pub(super) fn read_outcomes(conn: &Connection, launch: i64) -> Result<TestOutcomes, StoreError> {
    let mut find = conn.prepare_cached("SELECT tests, outcomes FROM test_outcomes WHERE launch = ?1")?;
    let found = find.query_row([launch], |row| Ok(unpacked(row.get(0)?, row.get_ref(1)?.as_blob()?)))?;
    found.ok_or_else(|| {
        let name = "SELECT name || ' ' || external FROM launches WHERE id = ?1";
        let name = conn.query_row(name, [launch], |row| row.get::<_, String>(0)).unwrap_or_default();
        StoreError::Damaged(format!("the outcomes of the tests of launch `{name}` cannot be unpacked"))
    })
}

fn unpacked(tests: i64, frame: &[u8]) -> Option<TestOutcomes> {
    let tests = usize::try_from(tests).ok().filter(|tests| *tests <= TestOutcomes::MAX)?;
    let bytes = zstd::bulk::decompress(frame, tests * BYTES_PER_TEST).ok()?;
    TestOutcomes::from_bytes(&bytes).filter(|outcomes| outcomes.len() == tests)
}

/// The errors of those that cannot be read, of the first few.
pub(super) fn damaged_outcomes(conn: &Connection) -> Result<Vec<String>, StoreError> {
    let mut rows = conn.prepare("SELECT launch FROM test_outcomes ORDER BY launch")?;
    let mut found = Vec::new();
    for launch in rows.query_map([], |row| row.get(0))? {
        found.extend(read_outcomes(conn, launch?).err().map(|error| error.to_string()));
        if found.len() == MAX_DAMAGED {
            break;
        }
    }
    Ok(found)
}

/// Removes the outcomes of launches that are older than the latest 200 of their name. Returns their number and their size in bytes.
pub(super) fn remove_old_outcomes(conn: &Connection) -> Result<(u64, u64), StoreError> {
    let old = "SELECT launch FROM (SELECT launch, row_number() OVER (PARTITION BY name ORDER BY at DESC, launch DESC) AS nth \
               FROM test_outcomes JOIN launches ON launches.id = launch) numbered WHERE nth > ?1";
    let sum = format!("SELECT count(*), coalesce(sum(length(outcomes)), 0) FROM test_outcomes WHERE launch IN ({old})");
    let (count, bytes): (i64, i64) = conn.query_row(&sum, [KEPT_LAUNCHES], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if count > 0 {
        conn.execute(&format!("DELETE FROM test_outcomes WHERE launch IN ({old})"), [KEPT_LAUNCHES])?;
    }
    Ok((count.unsigned_abs(), bytes.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, at, launch};
    use crate::{Cleaned, Retention, RunStatus, Store};
    use asterisk_base::model::{TestIdentity, TestOutcome};
    use rstest::rstest;

    fn tests(count: u32, outcome: TestOutcome) -> TestOutcomes {
        let mut outcomes = TestOutcomes::default();
        for number in 0..count {
            outcomes.add(TestIdentity::new("com.example.shop.CartTest", &format!("test number {number}")), outcome);
        }
        outcomes.settle();
        outcomes
    }

    fn nightly(day: i64, outcomes: TestOutcomes) -> Launch {
        let mut launch = launch(1);
        launch.run_id = format!("l{day}");
        launch.started_at = Some(at(day * 86_400));
        launch.outcomes = outcomes;
        launch
    }

    fn count(store: &Store) -> i64 {
        store.read(|conn| Ok(conn.query_row("SELECT count(*) FROM test_outcomes", [], |row| row.get(0))?)).unwrap()
    }

    #[rstest]
    fn a_launch_is_written_once(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        drop(fixture.begin("first", &nightly(1, tests(3, TestOutcome::Passed))));
        drop(fixture.begin("again", &nightly(1, tests(5, TestOutcome::Failed))));
        drop(fixture.begin("without", &nightly(2, TestOutcomes::default())));
        assert_eq!(count(&fixture.store), 1);
        let found = fixture.store.read(|conn| read_outcomes(conn, 1)).unwrap();
        assert_eq!(found, tests(3, TestOutcome::Passed));
    }

    #[test]
    fn a_test_takes_few_bytes_of_the_file() {
        let bytes = |tests_of: fn() -> TestOutcomes| {
            let fixture = StoreFixture::on(Backend::File);
            for day in 0..20 {
                drop(fixture.begin(&format!("r{day}"), &nightly(day, tests_of())));
            }
            fixture.store.shrink().unwrap();
            std::fs::metadata(fixture.store.path().unwrap()).unwrap().len()
        };
        let mixed = || {
            let mut outcomes = tests(10_000, TestOutcome::Passed);
            for number in (0..10_000).step_by(7) {
                outcomes
                    .add(TestIdentity::new("com.example.shop.CartTest", &format!("test number {number}")), TestOutcome::Failed);
            }
            outcomes.settle();
            outcomes
        };
        let without = bytes(TestOutcomes::default);
        for (what, with) in [("alike", bytes(|| tests(10_000, TestOutcome::Passed))), ("mixed", bytes(mixed))] {
            let each = (with - without) / (20 * 10_000);
            assert!(each <= 10, "{each} bytes a test ({what})");
        }
    }

    #[rstest]
    fn damaged_outcomes_are_an_error_that_names_the_launch(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        drop(fixture.begin("first", &nightly(1, tests(300, TestOutcome::Passed))));
        let frame = PackedOutcomes::new(&nightly(1, tests(300, TestOutcome::Passed))).unwrap().unwrap().frame;
        assert!(unpacked(300, &frame).is_some());
        for (at, _) in frame.iter().enumerate() {
            let mut damaged = frame.clone();
            damaged[at] ^= 4;
            assert!(unpacked(300, &damaged).is_none_or(|outcomes| outcomes == tests(300, TestOutcome::Passed)), "{at}");
        }
        for wrong in [-1, 0, 299, 301, i64::MAX] {
            assert!(unpacked(wrong, &frame).is_none(), "{wrong}");
        }
        fixture.change("UPDATE test_outcomes SET outcomes = ?1", params![[0_u8]]);
        let error = fixture.store.read(|conn| read_outcomes(conn, 1)).expect_err("damaged").to_string();
        assert!(error.contains("launch `nightly l1`"), "{error}");
        if let Some(path) = fixture.store.path() {
            let health = crate::health(path, crate::Depth::Contents).unwrap();
            assert_eq!(health.trouble, [error]);
        }
    }

    #[rstest]
    fn cleaning_keeps_the_latest_launches_of_each_name(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        for day in 0..KEPT_LAUNCHES + 3 {
            // The latest are not the last to be analysed.
            let run = format!("r{day}");
            drop(fixture.begin(&run, &nightly(1000 - day, tests(2, TestOutcome::Passed))));
            fixture.store.finish_run(&run, RunStatus::Done, at(9)).unwrap();
        }
        let mut other = nightly(0, tests(2, TestOutcome::Passed));
        other.name = "other".into();
        drop(fixture.begin("other", &other));
        let retention = Retention { keep_latest: Some(1000), ..Retention::default() };
        let would = fixture.store.clean(&Retention { dry_run: true, ..retention }, at(20)).unwrap();
        assert_eq!(count(&fixture.store), KEPT_LAUNCHES + 4);
        let did = fixture.store.clean(&retention, at(20)).unwrap();
        assert_eq!(would, did);
        assert_eq!((did.test_outcomes, did.runs.len(), count(&fixture.store)), (3, 0, KEPT_LAUNCHES + 1));
        let oldest = "SELECT min(at) FROM test_outcomes JOIN launches ON launches.id = launch WHERE name = 'nightly'";
        let oldest: i64 = fixture.store.read(|conn| Ok(conn.query_row(oldest, [], |row| row.get(0))?)).unwrap();
        assert_eq!(oldest, at((1000 - KEPT_LAUNCHES + 1) * 86_400).millis());
        assert_eq!(fixture.store.clean(&retention, at(21)).unwrap(), Cleaned::default(), "nothing is left to do");
    }
}
