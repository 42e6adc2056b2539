//! Jobs: cases of a run that is handed out to workers, which may be other processes and other machines.
//!
//! A worker holds a job for [`JOB_LEASE`] and prolongs that while it walks. A job that is not prolonged is given to another worker; what the
//! earlier one commits after that is refused, since every step compares the number that it was given (`fence`) in its own transaction. All
//! times are those of the store: the clock of the server, or of this machine for a file.

use super::error::StoreError;
use super::open::Store;
use super::sql::{Connection, OptionalExtension, params};
use asterisk_base::clock::Timestamp;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long a worker holds a job that it does not prolong.
pub const JOB_LEASE: Duration = Duration::from_secs(20);
/// After how many failures a job is given to no worker until a person says so.
const MAX_FAILURES: i64 = 3;
/// The pause after the first failure; it doubles with each.
const BACKOFF_MS: i64 = 2000;
/// A worker that was not seen for this long is forgotten.
const FORGOTTEN_MS: i64 = 24 * 3_600_000;

/// A job that was given to a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenJob {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// The last phase that the case may enter, counted from 0.
    pub phase: usize,
    /// The event number of the barrier that its queries see the run up to.
    pub barrier: i64,
    pub(super) rc: i64,
    pub(super) fence: i64,
}

/// How the jobs of a run stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JobFigures {
    /// Not given to a worker yet.
    pub waiting: u64,
    /// Being walked.
    pub walking: u64,
    /// Finished in the current phase.
    pub done: u64,
    /// Failed too often.
    pub dead: u64,
}

/// A job that failed too often.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeadJob {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// Why it failed last.
    pub error: String,
}

/// The requested state of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// Takes jobs.
    Running,
    /// Takes no jobs until it is resumed.
    Paused,
    /// Finishes its jobs, and ends.
    Draining,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WorkerRow {
    /// Its name, unique in the store.
    pub name: String,
    /// How many cases it walks at once.
    pub threads: u64,
    /// When it started.
    pub started_at: Timestamp,
    /// How long ago it was seen, in seconds.
    pub seen_seconds_ago: u64,
    /// Its requested state.
    pub state: WorkerState,
    /// Number of cases that it walks now.
    pub active: u64,
    /// How many jobs it finished.
    pub finished: u64,
    /// How many of its jobs failed.
    pub failed: u64,
}

impl WorkerState {
    const ALL: [Self; 3] = [Self::Running, Self::Paused, Self::Draining];

    /// Name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Draining => "draining",
        }
    }
}

impl fmt::Display for WorkerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for WorkerState {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|state| state.name() == text).ok_or(())
    }
}

impl Store {
    /// Hands out cases of a run up to a phase. A case that was handed out for that phase already stays as it is.
    pub fn hand_out<'c>(
        &self,
        run: &str,
        cases: impl IntoIterator<Item = &'c str>,
        (phase, barrier): (usize, i64),
    ) -> Result<(), StoreError> {
        let phase = i64::try_from(phase).unwrap_or(i64::MAX);
        self.writer()?.exclusively(|conn| {
            let run: i64 = conn.query_row("SELECT id FROM runs WHERE name = ?1", [run], |row| row.get(0))?;
            let mut insert = conn.prepare_cached(
                "INSERT INTO jobs (rc, run, phase, barrier, state) SELECT id, run, ?3, ?4, 'waiting' FROM run_cases WHERE run = ?1 AND item = ?2 \
                 ON CONFLICT (rc) DO UPDATE SET phase = excluded.phase, barrier = excluded.barrier, state = 'waiting', failures = 0, until = 0, \
                 error = '' WHERE jobs.state <> 'walking' OR jobs.phase <> excluded.phase",
            )?;
            for case in cases {
                insert.send(params![run, case, phase, barrier])?;
            }
            Ok(())
        })
    }

    /// How the jobs of a run stand.
    pub fn job_figures(&self, run: &str) -> Result<JobFigures, StoreError> {
        let sql = "SELECT state, count(*) FROM jobs WHERE run = (SELECT id FROM runs WHERE name = ?1) GROUP BY state";
        self.read(|conn| figures(conn, sql, params![run]))
    }

    /// How the jobs of all runs stand.
    pub fn queue_figures(&self) -> Result<JobFigures, StoreError> {
        self.read(|conn| figures(conn, "SELECT state, count(*) FROM jobs GROUP BY state", &[]))
    }

    /// The cases of a run whose jobs ended at a time or later, with these times, in milliseconds.
    pub fn finished_jobs(&self, run: &str, since: i64) -> Result<Vec<(String, i64)>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT item, until FROM jobs JOIN run_cases ON run_cases.id = rc \
                 WHERE jobs.run = (SELECT id FROM runs WHERE name = ?1) AND state = 'done' AND until >= ?2 ORDER BY until, rc",
            )?;
            Ok(rows.query_map(params![run, since], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
    }

    /// Takes back the jobs of a run: what workers commit for them from now on is refused.
    pub fn withdraw(&self, run: &str) -> Result<(), StoreError> {
        self.writer()?.exclusively(|conn| {
            let row = conn.query_row("SELECT id FROM runs WHERE name = ?1", [run], |row| row.get(0))?;
            withdraw(conn, row)
        })
    }

    /// Gives a worker up to `most` jobs, of one run: those that wait the longest, or whose worker is lost. None unless it is running.
    pub fn take_jobs(&self, worker: &str, most: usize) -> Result<Vec<TakenJob>, StoreError> {
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        self.writer()?.exclusively(|conn| {
            let now = now(conn)?;
            let state = conn.prepare_cached("SELECT state FROM workers WHERE name = ?1")?.query_row([worker], |row| row.get(0));
            if state.optional()?.is_none_or(|state: String| state != WorkerState::Running.name()) {
                return Ok(Vec::new());
            }
            let mut find = conn.prepare_cached(
                "SELECT run FROM jobs WHERE state IN ('waiting', 'walking') AND until <= ?1 ORDER BY rc LIMIT 1",
            )?;
            let Some(run) = find.query_row([now], |row| row.get::<_, i64>(0)).optional()? else { return Ok(Vec::new()) };
            let mut find = conn.prepare_cached(
                "SELECT rc, r.name, c.item, phase, barrier, fence, j.state, failures FROM jobs j JOIN runs r ON r.id = j.run \
                 JOIN run_cases c ON c.id = rc WHERE j.run = ?1 AND j.state IN ('waiting', 'walking') AND until <= ?2 ORDER BY rc LIMIT ?3",
            )?;
            let found = find.query_map([run, now, most], |row| {
                let job = TakenJob {
                    rc: row.get(0)?,
                    run: row.get(1)?,
                    case: row.get(2)?,
                    phase: usize::try_from(row.get::<_, i64>(3)?).unwrap_or_default(),
                    barrier: row.get(4)?,
                    fence: row.get::<_, i64>(5)? + 1,
                };
                Ok((job, row.get::<_, String>(6)? == "walking", row.get::<_, i64>(7)?))
            })?;
            let mut taken = Vec::new();
            for found in found.collect::<Result<Vec<_>, _>>()? {
                let (job, lost, failures) = found;
                // A job that takes its workers with it must not take all of them.
                let failures = failures + i64::from(lost);
                if failures >= MAX_FAILURES {
                    let sql = "UPDATE jobs SET state = 'dead', fence = ?2, failures = ?3, error = 'its workers were lost' WHERE rc = ?1";
                    conn.execute(sql, params![job.rc, job.fence, failures])?;
                    continue;
                }
                let until = now + lease_ms();
                let mut take = conn.prepare_cached(
                    "UPDATE jobs SET state = 'walking', worker = ?2, fence = ?3, failures = ?4, until = ?5 WHERE rc = ?1",
                )?;
                take.send(params![job.rc, worker, job.fence, failures, until])?;
                taken.push(job);
            }
            Ok(taken)
        })
    }

    /// Ends a job: it is finished, or it failed for a reason. Returns false if it was given to another worker meanwhile.
    pub fn end_job(&self, worker: &str, job: &TakenJob, failure: Option<&str>) -> Result<bool, StoreError> {
        self.writer()?.exclusively(|conn| {
            if !holds_job(conn, job.rc, job.fence)? {
                return Ok(false);
            }
            match failure {
                None => {
                    let now = now(conn)?;
                    conn.execute("UPDATE jobs SET state = 'done', until = ?2 WHERE rc = ?1", [job.rc, now])?;
                    conn.execute("UPDATE workers SET finished = finished + 1 WHERE name = ?1", [worker])?;
                }
                Some(why) => {
                    let sql = "SELECT failures FROM jobs WHERE rc = ?1";
                    let failures: i64 = conn.query_row(sql, [job.rc], |row| row.get(0))?;
                    let failures = failures + 1;
                    let state = if failures < MAX_FAILURES { "waiting" } else { "dead" };
                    let until = now(conn)? + (BACKOFF_MS << (failures - 1).clamp(0, 10));
                    conn.execute(
                        "UPDATE jobs SET state = ?2, failures = ?3, until = ?4, error = ?5 WHERE rc = ?1",
                        params![job.rc, state, failures, until, why],
                    )?;
                    conn.execute("UPDATE workers SET failed = failed + 1 WHERE name = ?1", [worker])?;
                }
            }
            Ok(true)
        })
    }

    /// Gives a job back untouched, as a worker does that is stopped.
    pub fn return_job(&self, job: &TakenJob) -> Result<(), StoreError> {
        self.writer()?.exclusively(|conn| {
            if holds_job(conn, job.rc, job.fence)? {
                conn.execute("UPDATE jobs SET state = 'waiting', until = 0 WHERE rc = ?1", [job.rc])?;
            }
            Ok(())
        })
    }

    /// Registers a worker, or renews its registration and the leases of its jobs. Returns its requested state.
    pub fn heartbeat(&self, worker: &str, threads: usize, jobs: &[TakenJob]) -> Result<WorkerState, StoreError> {
        let threads = i64::try_from(threads).unwrap_or(i64::MAX);
        self.writer()?.exclusively(|conn| {
            let now = now(conn)?;
            conn.execute(
                "INSERT INTO workers (name, threads, started_at, seen_at, state) VALUES (?1, ?2, ?3, ?3, 'running') \
                 ON CONFLICT (name) DO UPDATE SET threads = excluded.threads, seen_at = excluded.seen_at",
                params![worker, threads, now],
            )?;
            let mut prolong =
                conn.prepare_cached("UPDATE jobs SET until = ?3 WHERE rc = ?1 AND fence = ?2 AND state = 'walking'")?;
            for job in jobs {
                prolong.send([job.rc, job.fence, now + lease_ms()])?;
            }
            conn.execute("DELETE FROM workers WHERE seen_at < ?1", [now - FORGOTTEN_MS])?;
            let state: String = conn.query_row("SELECT state FROM workers WHERE name = ?1", [worker], |row| row.get(0))?;
            Ok(state.parse().unwrap_or(WorkerState::Running))
        })
    }

    /// Removes a worker that ends.
    pub fn deregister(&self, worker: &str) -> Result<(), StoreError> {
        self.writer()?.exclusively(|conn| {
            conn.execute(
                "UPDATE jobs SET state = 'waiting', until = 0, fence = fence + 1 WHERE worker = ?1 AND state = 'walking'",
                [worker],
            )?;
            conn.execute("DELETE FROM workers WHERE name = ?1", [worker])?;
            Ok(())
        })
    }

    /// The workers, by name.
    pub fn workers(&self) -> Result<Vec<WorkerRow>, StoreError> {
        self.read(|conn| {
            let now = now(conn)?;
            let mut rows = conn.prepare_cached(
                "SELECT name, threads, started_at, seen_at, workers.state, finished, failed, \
                 (SELECT count(*) FROM jobs WHERE worker = name AND jobs.state = 'walking') FROM workers ORDER BY name",
            )?;
            let rows = rows.query_map([], |row| {
                Ok(WorkerRow {
                    name: row.get(0)?,
                    threads: row.get::<_, i64>(1)?.unsigned_abs(),
                    started_at: Timestamp::from_millis(row.get(2)?),
                    seen_seconds_ago: ((now - row.get::<_, i64>(3)?).max(0) / 1000).unsigned_abs(),
                    state: row.get::<_, String>(4)?.parse().unwrap_or(WorkerState::Running),
                    finished: row.get::<_, i64>(5)?.unsigned_abs(),
                    failed: row.get::<_, i64>(6)?.unsigned_abs(),
                    active: row.get::<_, i64>(7)?.unsigned_abs(),
                })
            })?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Sets the requested state of a worker, or of all of them; returns the number of workers.
    pub fn set_worker_state(&self, worker: Option<&str>, state: WorkerState) -> Result<usize, StoreError> {
        self.writer()?.exclusively(|conn| {
            Ok(match worker {
                None => conn.execute("UPDATE workers SET state = ?1", [state.name()])?,
                Some(worker) => conn.execute("UPDATE workers SET state = ?2 WHERE name = ?1", [worker, state.name()])?,
            })
        })
    }

    /// The jobs that failed too often, in the order of their cases.
    pub fn dead_jobs(&self) -> Result<Vec<DeadJob>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT r.name, c.item, error FROM jobs j JOIN runs r ON r.id = j.run JOIN run_cases c ON c.id = rc \
                 WHERE j.state = 'dead' ORDER BY rc",
            )?;
            let rows = rows.query_map([], |row| Ok(DeadJob { run: row.get(0)?, case: row.get(1)?, error: row.get(2)? }))?;
            Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Gives jobs that failed too often to workers again, those of a run or all; returns how many.
    pub fn retry_jobs(&self, run: Option<&str>) -> Result<usize, StoreError> {
        self.writer()?.exclusively(|conn| {
            let all = "UPDATE jobs SET state = 'waiting', failures = 0, until = 0 WHERE state = 'dead'";
            Ok(match run {
                None => conn.execute(all, [])?,
                Some(run) => conn.execute(&format!("{all} AND run = (SELECT id FROM runs WHERE name = ?1)"), [run])?,
            })
        })
    }
}

/// The figures of a query of states and counts.
fn figures(conn: &Connection, sql: &str, params: &[&dyn rusqlite::ToSql]) -> Result<JobFigures, StoreError> {
    let mut rows = conn.prepare_cached(sql)?;
    let rows = rows.query_map(params, |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let mut figures = JobFigures::default();
    for row in rows {
        let (state, count) = row?;
        let count = count.unsigned_abs();
        match state.as_str() {
            "waiting" => figures.waiting = count,
            "walking" => figures.walking = count,
            "done" => figures.done = count,
            _ => figures.dead = count,
        }
    }
    Ok(figures)
}

/// Takes back the jobs of a run, by its row.
pub(super) fn withdraw(conn: &Connection, run: i64) -> Result<(), StoreError> {
    conn.prepare_cached("DELETE FROM jobs WHERE run = ?1")?.execute([run])?;
    Ok(())
}

/// Whether the job of a case is still held with this fence.
pub(super) fn holds_job(conn: &Connection, rc: i64, fence: i64) -> Result<bool, StoreError> {
    let mut held = conn.prepare_cached("SELECT 1 FROM jobs WHERE rc = ?1 AND fence = ?2 AND state = 'walking'")?;
    Ok(held.exists([rc, fence])?)
}

fn lease_ms() -> i64 {
    i64::try_from(JOB_LEASE.as_millis()).unwrap_or(i64::MAX)
}

/// The time of the store.
fn now(conn: &Connection) -> Result<i64, StoreError> {
    if conn.file().is_some() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        return Ok(i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    }
    let sql = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)";
    Ok(conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, launch, step};
    use asterisk_walk::{Journal, JournalError};
    use rstest::rstest;

    /// A store with a run of three cases, all handed out up to phase 1, and two workers.
    fn handed_out(backend: Backend) -> StoreFixture {
        let fixture = StoreFixture::on(backend);
        drop(fixture.begin("r", &launch(3)));
        for worker in ["one", "two"] {
            assert_eq!(fixture.store.heartbeat(worker, 2, &[]).unwrap(), WorkerState::Running);
        }
        fixture.store.hand_out("r", ["c1", "c2", "c3"], (1, 7)).unwrap();
        fixture
    }

    /// Lets the time of all leases and pauses pass.
    fn later(fixture: &StoreFixture) {
        fixture.store.writer().unwrap().exclusively(|conn| Ok(conn.execute("UPDATE jobs SET until = 0", [])?)).unwrap();
    }

    fn figures(fixture: &StoreFixture) -> [u64; 4] {
        let JobFigures { waiting, walking, done, dead } = fixture.store.job_figures("r").unwrap();
        [waiting, walking, done, dead]
    }

    #[rstest]
    fn a_job_is_given_to_one_worker_and_ends_once(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = handed_out(backend);
        let store = &fixture.store;
        let first = store.take_jobs("one", 2).unwrap();
        assert_eq!(
            first.iter().map(|job| (job.case.as_str(), job.phase, job.barrier)).collect::<Vec<_>>(),
            [("c1", 1, 7), ("c2", 1, 7)]
        );
        let second = store.take_jobs("two", 2).unwrap();
        assert_eq!(second.iter().map(|job| job.case.as_str()).collect::<Vec<_>>(), ["c3"]);
        assert!(store.take_jobs("two", 2).unwrap().is_empty());
        assert_eq!(figures(&fixture), [0, 3, 0, 0]);
        assert!(store.end_job("one", &first[0], None).unwrap());
        assert!(!store.end_job("one", &first[0], None).unwrap(), "it has ended");
        store.return_job(&first[1]).unwrap();
        assert_eq!(figures(&fixture), [1, 1, 1, 0]);
        // What is handed out for the same phase again stays with its worker; the next phase is another job.
        store.hand_out("r", ["c3"], (1, 7)).unwrap();
        assert_eq!(figures(&fixture), [1, 1, 1, 0]);
        store.hand_out("r", ["c1"], (2, 9)).unwrap();
        assert_eq!(figures(&fixture), [2, 1, 0, 0]);
        let workers = store.workers().unwrap();
        assert_eq!(workers.iter().map(|worker| (worker.active, worker.finished)).collect::<Vec<_>>(), [(0, 1), (1, 0)]);
        store.withdraw("r").unwrap();
        assert_eq!(figures(&fixture), [0; 4]);
        assert!(!store.end_job("two", &second[0], None).unwrap());
    }

    #[rstest]
    fn what_a_lost_worker_commits_late_is_refused(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = handed_out(backend);
        let store = &fixture.store;
        let (late, now) = (store.worker_journal("r").unwrap(), store.worker_journal("r").unwrap());
        assert!(late.commit(step("c1", 1)).is_err(), "it has no job");
        let lost = store.take_jobs("one", 1).unwrap().remove(0);
        late.hold(&lost);
        late.commit(step("c1", 1)).unwrap();
        assert!(late.commit(step("c2", 1)).is_err(), "that is another case");
        store.heartbeat("one", 2, std::slice::from_ref(&lost)).unwrap();
        assert!(store.take_jobs("two", 1).unwrap().iter().all(|job| job.case != "c1"), "it lives");
        later(&fixture);
        let again = store.take_jobs("two", 1).unwrap().remove(0);
        assert_eq!((again.case.as_str(), again.fence), ("c1", lost.fence + 1));
        now.hold(&again);
        match late.commit(step("c1", 2)) {
            Err(JournalError::Failed(why)) => assert!(why.contains("run `r` was taken over"), "{why}"),
            other => panic!("{other:?}"),
        }
        now.commit(step("c1", 2)).unwrap();
        assert_eq!(store.events("r", "c1").unwrap().len(), 8, "two steps");
        assert!(!store.end_job("one", &lost, None).unwrap());
        assert!(store.end_job("two", &again, None).unwrap());
        // Who resumes the run takes all of it back.
        let other = store.take_jobs("two", 1).unwrap().remove(0);
        now.hold(&other);
        drop(store.journal("r").unwrap());
        assert!(now.commit(step(&other.case, 1)).is_err());
    }

    #[rstest]
    fn a_job_that_fails_waits_and_is_given_up_in_the_end(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = handed_out(backend);
        let store = &fixture.store;
        for failures in 1..=3 {
            let job = store.take_jobs("one", 1).unwrap().remove(0);
            assert_eq!(job.case, "c1");
            // The second of them takes its worker with it.
            if failures != 2 {
                assert!(store.end_job("one", &job, Some("no answer")).unwrap());
                assert!(store.take_jobs("two", 9).unwrap().iter().all(|job| job.case != "c1"), "not at once");
                let held = store.workers().unwrap();
                assert_eq!(held.iter().map(|worker| worker.failed).sum::<u64>(), if failures == 1 { 1 } else { 2 });
                store.deregister("two").unwrap();
                store.heartbeat("two", 2, &[]).unwrap();
            }
            later(&fixture);
        }
        assert_eq!(figures(&fixture), [2, 0, 0, 1]);
        let dead = store.dead_jobs().unwrap();
        assert_eq!((dead[0].case.as_str(), dead[0].error.as_str()), ("c1", "no answer"));
        assert_eq!((store.retry_jobs(Some("other")).unwrap(), store.retry_jobs(Some("r")).unwrap()), (0, 1));
        assert_eq!(figures(&fixture), [3, 0, 0, 0]);
    }

    #[rstest]
    fn the_state_of_a_worker_is_respected(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = handed_out(backend);
        let store = &fixture.store;
        assert!(store.take_jobs("unknown", 1).unwrap().is_empty());
        assert_eq!(store.set_worker_state(Some("one"), WorkerState::Paused).unwrap(), 1);
        assert!(store.take_jobs("one", 1).unwrap().is_empty());
        assert_eq!(store.heartbeat("one", 2, &[]).unwrap(), WorkerState::Paused, "a beat changes nothing of it");
        assert_eq!(store.set_worker_state(Some("nobody"), WorkerState::Running).unwrap(), 0);
        assert_eq!(store.set_worker_state(None, WorkerState::Running).unwrap(), 2);
        let job = store.take_jobs("one", 1).unwrap().remove(0);
        store.deregister("one").unwrap();
        assert_eq!(figures(&fixture), [3, 0, 0, 0]);
        assert!(!store.end_job("one", &job, None).unwrap());
        assert_eq!(store.workers().unwrap().len(), 1);
    }
}
