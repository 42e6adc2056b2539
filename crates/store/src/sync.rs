//! Adds the finished runs of one store to another one, such as those of an offline runner to the store of its team.
//!
//! Events are replayed in the order of the source, through the journal of the target, which assigns its own row ids and stamps; the findings
//! are visible to runs that begin there later. Runs that the target has are skipped, and a partial transfer is completed.

use super::begin::NewRun;
use super::clean::addresses;
use super::error::StoreError;
use super::findings::RunFindings;
use super::journal::RunJournal;
use super::knowledge::RcaStatusChange;
use super::open::Store;
use super::outcomes::read_outcomes;
use super::root_words::RootWord;
use super::runs::{RunRecord, RunStatus, run_row};
use super::sql::{OptionalExtension, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Hash, Hasher, TestOutcomes};
use asterisk_walk::{Blob, Commit, Event, EventBody, Journal};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;

/// The result of adding runs to another store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SyncedStore {
    /// Ids of the added runs, oldest first.
    pub runs: Vec<String>,
    /// Number of events that were written for them.
    pub events: u64,
    /// Ids of the runs that the other store had already.
    pub known: Vec<String>,
    /// Runs that are not finished, with their status, and those whose events were removed (`cleaned`).
    pub left: BTreeMap<String, String>,
    /// Number of statements of people about root causes that were repeated there.
    pub statements: usize,
}

/// A run being transferred.
struct RunTransfer<'s> {
    from: &'s Store,
    to: &'s Store,
    record: RunRecord,
    journal: RunJournal,
    /// How many of its events the other store has.
    there: usize,
    /// Contents that were transferred.
    known: HashSet<Hash>,
    /// Events of one case that are not committed yet.
    open: Vec<Event>,
    written: u64,
}

impl Store {
    /// Adds the finished runs to another store, with the reviews of root causes, and compares both copies.
    pub fn sync_to(&self, target: &Self) -> Result<SyncedStore, StoreError> {
        let mut synced = SyncedStore::default();
        let cleaned = self.cleaned_runs()?.into_iter().map(|run| (run, "cleaned".to_owned()));
        synced.left.extend(cleaned);
        let mut waiting = Vec::new();
        for row in self.runs()?.into_iter().rev() {
            if !matches!(row.status, RunStatus::Done | RunStatus::Error) {
                synced.left.insert(row.run, row.status.to_string());
                continue;
            }
            match target.run(&row.run) {
                Ok(there) if matches!(there.status, RunStatus::Done | RunStatus::Error) => {
                    self.expect_same(target, &self.run(&row.run)?, &there)?;
                    synced.known.push(row.run);
                }
                Ok(_) | Err(StoreError::UnknownRun(_)) => waiting.push(self.run(&row.run)?),
                // Its events were removed there.
                Err(StoreError::CleanedRun(_)) => synced.known.push(row.run),
                Err(error) => return Err(error),
            }
        }
        // Concurrent runs see each other's earlier findings, so their events are written in their original order.
        waiting.sort_by_key(|record| record.start_seq);
        let mut waiting = waiting.into_iter().peekable();
        let mut transfers: Vec<RunTransfer<'_>> = Vec::new();
        let ids = self.run_ids()?;
        let mut failed = None;
        self.each_event_of_store(|seq, run, event| {
            let transfer = || -> Result<(), StoreError> {
                while let Some(record) = waiting.next_if(|record| record.start_seq < seq) {
                    // The new run may read what earlier runs have written.
                    transfers.iter_mut().try_for_each(RunTransfer::flush)?;
                    transfers.push(RunTransfer::begin(self, target, record)?);
                }
                let of_run = |one: &&mut RunTransfer<'_>| ids.get(&run).is_some_and(|name| *name == one.record.run);
                transfers.iter_mut().find(of_run).map_or(Ok(()), |one| one.event(event))
            };
            match transfer() {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        for record in waiting {
            transfers.push(RunTransfer::begin(self, target, record)?);
        }
        for mut one in transfers {
            one.flush()?;
            one.finish()?;
            synced.events += one.written;
            synced.runs.push(one.record.run);
        }
        synced.statements = self.repeat_statements(target)?;
        Ok(synced)
    }

    /// Fails if a run of the same id in another store is another run.
    fn expect_same(&self, other: &Self, run: &RunRecord, there: &RunRecord) -> Result<(), StoreError> {
        let known = |run: &RunRecord| (run.started_at, run.settings, run.manifest);
        if known(run) == known(there) && self.case_names(&run.run)? == other.case_names(&run.run)? {
            return Ok(());
        }
        Err(StoreError::Refused(format!("another run `{}` exists in the other store", run.run)))
    }

    /// The names of runs by their rows.
    fn run_ids(&self) -> Result<HashMap<i64, String>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached("SELECT id, name FROM runs")?;
            Ok(rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
    }

    /// A hash of the events of a run, with their cases and times.
    fn digest(&self, run: &str) -> Result<Hash, StoreError> {
        let mut hasher = Hasher::default();
        self.each_event(run, |_, event| {
            let text = serde_json::to_string(&event.what).unwrap_or_default();
            for part in [&*event.case, &*event.path, &event.at.millis().to_string(), &text] {
                hasher.update(part.as_bytes());
                hasher.update(&[0]);
            }
            ControlFlow::Continue(())
        })?;
        Ok(hasher.finish())
    }

    /// What people said of root causes outside of runs.
    fn statements(&self) -> Result<Vec<(Timestamp, Value)>, StoreError> {
        let mut found = Vec::new();
        self.each_statement(|at, body| {
            // Unknown events are skipped.
            found.extend(serde_json::from_str(body).ok().map(|body| (at, body)));
        })?;
        Ok(found)
    }

    /// Repeats them in another store, unless they were said there; returns how many.
    fn repeat_statements(&self, target: &Self) -> Result<usize, StoreError> {
        // The state before differs from store to store.
        let said = |(at, body): &(Timestamp, Value)| {
            let mut body = body.clone();
            if let Value::Object(body) = &mut body {
                body.remove("from");
            }
            (at.millis(), body.to_string())
        };
        let known: HashSet<_> = target.statements()?.iter().map(said).collect();
        let mut count = 0;
        for statement in self.statements()?.iter().filter(|statement| !known.contains(&said(statement))) {
            let (at, body) = statement;
            let text = |name: &str| body[name].as_str().unwrap_or_default();
            let rca = body["rca"].as_i64().unwrap_or_default();
            let word = RootWord { by: text("by"), at: *at, message: text("message") };
            let done = match text("type") {
                "rca_status" => {
                    let change = RcaStatusChange {
                        status: text("status").to_owned(),
                        by: text("by").to_owned(),
                        at: *at,
                        message: text("message").to_owned(),
                    };
                    target.set_rca_status(rca, &change).map(drop)
                }
                "rca_merged" => target.merge_rcas(rca, body["other"].as_i64().unwrap_or_default(), word).map(drop),
                "rca_split" => {
                    let cases = body["cases"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
                    target.split_rca(rca, &cases.collect::<Vec<_>>(), word).map(drop)
                }
                _ => continue,
            };
            match done {
                Ok(()) => count += 1,
                // About a root cause of a run that was not added.
                Err(StoreError::UnknownId(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

impl<'s> RunTransfer<'s> {
    /// Creates the run in the other store, or goes on with it.
    fn begin(from: &'s Store, to: &'s Store, record: RunRecord) -> Result<Self, StoreError> {
        let name = record.run.clone();
        let mut known = HashSet::new();
        let (journal, there) = match to.run(&name) {
            Ok(there) => {
                from.expect_same(to, &record, &there)?;
                (to.journal(&name)?, to.all_events(&name)?.len())
            }
            Err(StoreError::UnknownRun(_)) => (Self::create(from, to, &record, &mut known)?, 0),
            Err(error) => return Err(error),
        };
        Ok(Self { from, to, record, journal, there, known, open: Vec::new(), written: 0 })
    }

    fn create(from: &Store, to: &Store, record: &RunRecord, known: &mut HashSet<Hash>) -> Result<RunJournal, StoreError> {
        let name = &record.run;
        let mut launch = from.launch(name, |_, case| Some(case))?;
        launch.outcomes = from.read(|conn| {
            let sql = "SELECT c.launch FROM run_cases r JOIN cases c ON c.id = r.known JOIN test_outcomes t ON t.launch = c.launch \
                       WHERE r.run = ?1 LIMIT 1";
            let row = conn.prepare_cached(sql)?.query_row([run_row(conn, name)?], |row| row.get(0)).optional()?;
            row.map_or_else(|| Ok(TestOutcomes::default()), |launch| read_outcomes(conn, launch))
        })?;
        let cases = from.cases(name)?;
        let mut blobs = Vec::new();
        for hash in [record.settings, record.manifest] {
            contents(from, &hash, known, &mut blobs)?;
        }
        let one = |hash: Hash| blobs.iter().find(|blob| blob.hash == hash).cloned();
        let missing = || StoreError::Damaged(format!("the settings of run `{name}` are missing"));
        to.begin_run(&NewRun {
            run: name,
            pipeline: &record.pipeline,
            started_at: record.started_at,
            settings: one(record.settings).ok_or_else(missing)?,
            manifest: one(record.manifest).ok_or_else(missing)?,
            blobs,
            launch: &launch,
            cases: cases.iter().map(|one| &one.case).collect(),
        })
    }

    /// Takes the next event of the run.
    fn event(&mut self, event: Event) -> Result<(), StoreError> {
        if self.there > 0 {
            self.there -= 1;
            return Ok(());
        }
        if self.open.first().is_some_and(|first| first.case != event.case) {
            self.flush()?;
        }
        let ends_step = matches!(event.what, EventBody::Transition { .. } | EventBody::Barrier { .. });
        self.open.push(event);
        if ends_step { self.flush() } else { Ok(()) }
    }

    /// Commits the open events with the contents that they refer to and the effects that they had.
    fn flush(&mut self) -> Result<(), StoreError> {
        let events = std::mem::take(&mut self.open);
        if events.is_empty() {
            return Ok(());
        }
        let mut commit = Commit::default();
        for event in &events {
            let text = serde_json::to_string(&event.what).unwrap_or_default();
            for hash in addresses(&text) {
                contents(self.from, &Hash::from_bytes(hash), &mut self.known, &mut commit.blobs)?;
            }
            if let EventBody::NodeExit { effects, .. } = &event.what {
                commit.effects.extend(effects.iter().cloned());
            }
        }
        self.written += events.len() as u64;
        commit.events = events;
        self.journal.commit(commit).map_err(|error| StoreError::Refused(error.to_string()))
    }

    /// Ends the run as it ended, with what was pushed for it, and compares the events of both stores.
    fn finish(&self) -> Result<(), StoreError> {
        let run = &self.record.run;
        let pushed = self.from.read(|conn| {
            let mut rows = conn.prepare_cached(
                "SELECT target, item, hash, at FROM pushes JOIN run_cases ON run_cases.id = rc WHERE run = ?1 ORDER BY target, rc",
            )?;
            let rows = rows.query_map(params![run_row(conn, run)?], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, [u8; 32]>(2)?, row.get::<_, i64>(3)?))
            })?;
            Ok(rows.collect::<Result<Vec<_>, _>>()?)
        })?;
        for (target, case, hash, at) in &pushed {
            self.to.note_pushed(run, target, Timestamp::from_millis(*at), &[(case, Hash::from_bytes(*hash))])?;
        }
        if self.from.digest(run)? != self.to.digest(run)? {
            return Err(StoreError::Damaged(format!("what arrived of run `{run}` is not what was sent")));
        }
        let ended = self.record.ended_at.unwrap_or(self.record.started_at);
        self.journal.conclude(self.record.status, ended, RunFindings::default())
    }
}

/// Collects a content and those that it refers to, unless they were transferred already. Contents precede their parts.
fn contents(from: &Store, hash: &Hash, known: &mut HashSet<Hash>, into: &mut Vec<Blob>) -> Result<(), StoreError> {
    let mut open = vec![*hash];
    while let Some(hash) = open.pop() {
        if !known.insert(hash) {
            continue;
        }
        // What merely looks like an address is of no content.
        let Some(text) = from.blob(&hash)? else { continue };
        open.extend(addresses(&text).map(Hash::from_bytes));
        into.push(Blob { hash, text });
    }
    Ok(())
}
