//! Runs: ending, listing and loading them for resumption.

use super::content::needed;
use super::error::StoreError;
use super::findings::RunFindings;
use super::open::Store;
use crate::sql::{Connection, OptionalExtension, Row, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Hash, Launch};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Status of a run, or of the walk of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Of a case: its walk has not begun.
    Waiting,
    /// In execution; of a run: by a living process.
    Running,
    /// Stopped between two steps; can be resumed.
    Paused,
    /// Finished.
    Done,
    /// Ended by an error.
    Error,
}

impl RunStatus {
    const ALL: [Self; 5] = [Self::Waiting, Self::Running, Self::Paused, Self::Done, Self::Error];

    /// Name in JSON and output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Done => "done",
            Self::Error => "error",
        }
    }

    fn of_column(row: &Row<'_>, column: &str) -> crate::sql::Result<Self> {
        let text = row.get_ref(column)?.as_str()?;
        // A constraint of the tables admits these names only.
        Ok(Self::ALL.into_iter().find(|status| status.name() == text).unwrap_or(Self::Error))
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A run in a list of runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// Id of the run.
    pub run: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Status. A run whose process died is `paused`, since it can be resumed.
    pub status: RunStatus,
    /// Start time.
    pub started_at: Timestamp,
    /// Number of cases.
    pub cases: u64,
    /// Number of cases whose walk is done.
    pub done: u64,
}

/// Record of a run, without its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunRecord {
    /// Id of the run.
    pub run: String,
    /// Name of the pipeline.
    pub pipeline: String,
    /// Status; `paused` if its process died.
    pub status: RunStatus,
    /// Start time.
    pub started_at: Timestamp,
    /// When it ended or last paused; `None` while it is executed.
    pub ended_at: Option<Timestamp>,
    /// Number of the last event in the store when it began, the horizon of its `needs:` queries.
    pub start_seq: i64,
    /// Address of its settings.
    pub settings: Hash,
    /// Address of the project's manifest.
    pub manifest: Hash,
}

/// A case of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunCase {
    /// The case.
    pub case: Case,
    /// Status of its walk.
    pub status: RunStatus,
}

/// A launch as a content: its cases are contents of their own, shared with the run's cases.
#[derive(Deserialize)]
#[cfg_attr(test, derive(Serialize))]
pub(super) struct StoredLaunch {
    /// The launch without its cases.
    pub(super) launch: Launch,
    /// Addresses of its cases, in order.
    pub(super) cases: Vec<Hash>,
}

impl Store {
    /// Ends a run that no process executes.
    pub fn finish_run(&self, run: &str, status: RunStatus, at: Timestamp) -> Result<(), StoreError> {
        self.journal(run)?.conclude(status, at, RunFindings::default())
    }

    /// All runs, newest first.
    pub fn runs(&self) -> Result<Vec<RunRow>, StoreError> {
        let mut runs = self.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT name, pipeline, status, started_at, \
                 (SELECT count(*) FROM run_cases WHERE run = runs.id) AS cases, \
                 (SELECT count(*) FROM run_cases WHERE run = runs.id AND status = 'done') AS done \
                 FROM runs WHERE cleaned_at IS NULL ORDER BY started_at DESC, id DESC",
            )?;
            let runs = rows.query_map([], |row| {
                Ok(RunRow {
                    run: row.get("name")?,
                    pipeline: row.get("pipeline")?,
                    status: RunStatus::of_column(row, "status")?,
                    started_at: Timestamp::from_millis(row.get("started_at")?),
                    cases: row.get::<_, i64>("cases")?.unsigned_abs(),
                    done: row.get::<_, i64>("done")?.unsigned_abs(),
                })
            })?;
            Ok(runs.collect::<Result<Vec<_>, _>>()?)
        })?;
        for run in &mut runs {
            run.status = self.effective_status(&run.run, run.status)?;
        }
        Ok(runs)
    }

    /// The record of one run.
    pub fn run(&self, run: &str) -> Result<RunRecord, StoreError> {
        let mut record = self.read(|conn| {
            run_row(conn, run)?;
            let mut rows = conn.prepare_cached("SELECT * FROM runs WHERE name = ?1")?;
            let record = rows.query_row([run], |row| {
                Ok(RunRecord {
                    run: row.get("name")?,
                    pipeline: row.get("pipeline")?,
                    status: RunStatus::of_column(row, "status")?,
                    started_at: Timestamp::from_millis(row.get("started_at")?),
                    ended_at: row.get::<_, Option<i64>>("ended_at")?.map(Timestamp::from_millis),
                    start_seq: row.get("start_seq")?,
                    settings: Hash::from_bytes(row.get("settings")?),
                    manifest: Hash::from_bytes(row.get("manifest")?),
                })
            });
            record.optional()?.ok_or_else(|| StoreError::UnknownRun(run.to_owned()))
        })?;
        record.status = self.effective_status(run, record.status)?;
        Ok(record)
    }

    /// The launch of a run, including cases that the run does not walk. `keep` maps each case, with its index, to what is retained of it,
    /// if anything.
    pub fn launch(&self, run: &str, mut keep: impl FnMut(usize, Case) -> Option<Case>) -> Result<Launch, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let hash = conn.query_row("SELECT launch FROM runs WHERE id = ?1", [row], |row| row.get(0))?;
            let StoredLaunch { mut launch, cases } = needed(conn, &Hash::from_bytes(hash), parse)??;
            for hash in &cases {
                let case = match needed(conn, hash, parse).and_then(|case| case) {
                    Ok(case) => case,
                    Err(error) if error.is_damage() => {
                        launch.notes.push(format!("a failure of the launch is left out: {error}"));
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                launch.cases.extend(keep(cases.len(), case));
            }
            launch.left_out = cases.len() - launch.cases.len();
            Ok(launch)
        })
    }

    /// The launch of a run without its cases, which are counted only.
    pub fn launch_alone(&self, run: &str) -> Result<Launch, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let hash = conn.query_row("SELECT launch FROM runs WHERE id = ?1", [row], |row| row.get(0))?;
            let StoredLaunch { launch, cases } = needed(conn, &Hash::from_bytes(hash), parse)??;
            Ok(Launch { left_out: cases.len(), ..launch })
        })
    }

    /// The cases of a run, in order.
    pub fn cases(&self, run: &str) -> Result<Vec<RunCase>, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let mut rows = conn.prepare_cached("SELECT status, content FROM run_cases WHERE run = ?1 ORDER BY id")?;
            let mut rows = rows.query([row])?;
            let mut cases = Vec::new();
            while let Some(row) = rows.next()? {
                let case = needed(conn, &Hash::from_bytes(row.get("content")?), parse)??;
                cases.push(RunCase { case, status: RunStatus::of_column(&row, "status")? });
            }
            Ok(cases)
        })
    }

    /// Ids and recall keys of the cases of a run, in order.
    pub fn case_names(&self, run: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.read(|conn| {
            let row = run_row(conn, run)?;
            let mut rows = conn.prepare_cached("SELECT item, recall_key FROM run_cases WHERE run = ?1 ORDER BY id")?;
            let names = rows.query_map([row], |row| Ok((row.get(0)?, row.get(1)?)))?;
            Ok(names.collect::<Result<_, _>>()?)
        })
    }

    /// One case of a run.
    pub fn case(&self, run: &str, case: &str) -> Result<Case, StoreError> {
        self.read(|conn| case_of(conn, run_row(conn, run)?, case))
    }

    /// The effective status: a run marked as running that no process executes is paused.
    fn effective_status(&self, run: &str, status: RunStatus) -> Result<RunStatus, StoreError> {
        Ok(if status == RunStatus::Running && !self.is_executed(run)? { RunStatus::Paused } else { status })
    }
}

/// A case of the run with that row id.
pub(super) fn case_of(conn: &Connection, run: i64, case: &str) -> Result<Case, StoreError> {
    let mut rows = conn.prepare_cached("SELECT content FROM run_cases WHERE run = ?1 AND item = ?2")?;
    let hash = rows.query_row(params![run, case], |row| row.get(0).map(Hash::from_bytes)).optional()?;
    let hash = hash.ok_or_else(|| StoreError::Damaged(format!("the case `{case}` of a run is missing")))?;
    needed(conn, &hash, parse)?
}

/// The row id of a run whose events were not removed.
pub(super) fn run_row(conn: &Connection, run: &str) -> Result<i64, StoreError> {
    let mut rows = conn.prepare_cached("SELECT id, cleaned_at IS NULL FROM runs WHERE name = ?1")?;
    match rows.query_row([run], |row| Ok((row.get(0)?, row.get(1)?))).optional()? {
        Some((row, true)) => Ok(row),
        Some((_, false)) => Err(StoreError::CleanedRun(run.to_owned())),
        None => Err(StoreError::UnknownRun(run.to_owned())),
    }
}

fn parse<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, at, begin, enter, launch, step};
    use crate::{Durability, NewRun};
    use asterisk_walk::EventBody;
    use asterisk_walk::{Blob, Commit, Journal};
    use rstest::rstest;

    #[rstest]
    fn everything_a_run_began_with_comes_back(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let mut launch = launch(5);
        launch.attributes.insert("lane", "ran");
        launch.notes.push("cut".into());
        let earlier = fixture.begin("earlier", &launch);
        earlier.commit(step("c1", 1)).unwrap();
        let new = NewRun {
            run: "r",
            pipeline: "rca",
            started_at: at(5),
            settings: Blob::new(r#"{"seed":1}"#),
            manifest: Blob::new("{}"),
            blobs: vec![],
            launch: &launch,
            cases: vec![&launch.cases[3], &launch.cases[0]],
        };
        drop(fixture.store.begin_run(&new).unwrap());
        let reopened = Store::read_only(fixture.location()).unwrap();
        let record = reopened.run("r").unwrap();
        assert_eq!((record.pipeline.as_str(), record.started_at), ("rca", at(5)));
        assert_eq!((record.start_seq, record.ended_at), (4, None));
        assert_eq!(reopened.blob(&record.settings).unwrap().as_deref(), Some(r#"{"seed":1}"#));
        assert_eq!(reopened.launch("r", |_, case| Some(case)).unwrap(), launch);
        let alone = reopened.launch_alone("r").unwrap();
        assert_eq!((alone.failures(), alone.cases.len(), &alone.name), (launch.failures(), 0, &launch.name));
        let cases: Vec<_> = reopened.cases("r").unwrap().into_iter().map(|case| case.case).collect();
        assert_eq!(cases, [launch.cases[3].clone(), launch.cases[0].clone()]);
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            reopened.read(|conn| Ok(conn.query_row(&sql, [], |row| row.get::<_, i64>(0))?)).unwrap()
        };
        assert_eq!((count("launches"), count("cases"), count("run_cases")), (1, 5, 7), "identities are shared by runs");
    }

    #[rstest]
    fn runs_are_listed_newest_first_as_they_stand(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let first = fixture.begin("first", &launch(2));
        let second = fixture.begin("second", &launch(1));
        let done = EventBody::WalkComplete { node: "n".into() };
        let end = Commit { events: vec![crate::fixture::event("c1", "1", done)], ..Commit::default() };
        first.commit(end).unwrap();
        let listed = || fixture.store.runs().unwrap().into_iter().map(|run| (run.run, run.status, run.cases, run.done));
        let expect =
            |first: RunStatus, second: RunStatus| vec![("second".to_owned(), second, 1, 0), ("first".to_owned(), first, 2, 1)];
        assert_eq!(listed().collect::<Vec<_>>(), expect(RunStatus::Running, RunStatus::Running));
        second.conclude(RunStatus::Paused, at(2), RunFindings::default()).unwrap();
        first.conclude(RunStatus::Done, at(3), RunFindings::default()).unwrap();
        assert_eq!(listed().collect::<Vec<_>>(), expect(RunStatus::Done, RunStatus::Paused));
        assert_eq!(fixture.store.run("first").unwrap().ended_at, Some(at(3)));
        drop((first, second));
        let again = fixture.store.journal("second").unwrap();
        assert_eq!(fixture.store.run("second").unwrap().status, RunStatus::Running);
        assert_eq!(fixture.store.run("second").unwrap().ended_at, None);
        drop(again);
        assert_eq!(fixture.store.run("second").unwrap().status, RunStatus::Paused, "nobody executes it any more");
    }

    #[rstest]
    fn a_run_has_one_executor_at_a_time(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let second = Store::open(fixture.location(), Durability::Batch).unwrap();
        assert!(second.journal("r").is_err_and(|error| error.is_busy()));
        let clone = journal.clone();
        drop(journal);
        assert!(second.journal("r").is_err_and(|error| error.is_busy()), "a clone is left");
        drop(clone);
        let resumed = second.journal("r").unwrap();
        resumed.commit(Commit { events: vec![enter("c1", "2")], ..Commit::default() }).unwrap();
        assert_eq!(fixture.store.events("r", "c1").unwrap().len(), 1);
    }

    #[rstest]
    fn names_must_be_new_to_begin_and_known_to_go_on(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        drop(fixture.begin("r", &launch(1)));
        assert!(matches!(begin(&fixture.store, "r", &launch(1)), Err(StoreError::RunExists(run)) if run == "r"));
        let mut twice = launch(2);
        twice.cases[1].id = "c1".into();
        assert!(matches!(begin(&fixture.store, "s", &twice), Err(StoreError::Refused(why)) if why.contains("`c1`")));
        assert!(matches!(fixture.store.run("s"), Err(StoreError::UnknownRun(_))), "nothing of it was stored");
        assert!(matches!(fixture.store.journal("s"), Err(StoreError::UnknownRun(_))));
        assert!(matches!(fixture.store.finish_run("s", RunStatus::Done, at(0)), Err(StoreError::UnknownRun(_))));
        let reader = Store::read_only(fixture.location()).unwrap();
        assert!(matches!(reader.journal("r"), Err(StoreError::ReadOnly)));
        assert!(matches!(begin(&reader, "t", &launch(1)), Err(StoreError::ReadOnly)));
    }

    #[rstest]
    fn a_run_without_cases_or_launch_is_a_run(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        drop(fixture.begin("r", &Launch::default()));
        drop(fixture.begin("s", &Launch::default()));
        assert_eq!(fixture.store.launch("r", |_, case| Some(case)).unwrap(), Launch::default());
        assert!(fixture.store.cases("s").unwrap().is_empty());
    }
}
