//! The journal of one run, to which its walks commit their steps.

use super::error::StoreError;
use super::lease::Lease;
use super::open::Store;
use super::runs::run_row;
use super::step::{CaseIds, StoredCommit};
use asterisk_walk::{Commit, Journal, JournalError};
use rusqlite::Connection;
use std::sync::Arc;
use tracing::debug_span;

/// The journal of a run, with the lease on it: while it or a clone lives, no other process can execute the run.
#[derive(Clone, Debug)]
pub struct RunJournal(Arc<JournalInner>);

#[derive(Debug)]
struct JournalInner {
    store: Store,
    name: String,
    run: i64,
    cases: CaseIds,
    _lease: Option<Lease>,
}

impl RunJournal {
    pub(super) fn new(store: Store, name: String, run: i64, cases: CaseIds, lease: Option<Lease>) -> Self {
        Self(Arc::new(JournalInner { store, name, run, cases, _lease: lease }))
    }

    /// Id of the run.
    pub fn run(&self) -> &str {
        &self.0.name
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }
}

impl Journal for RunJournal {
    fn commit(&self, commit: Commit) -> Result<(), JournalError> {
        let JournalInner { store, run, cases, .. } = &*self.0;
        let _span = debug_span!("commit", events = commit.events.len()).entered();
        store.writer()?.submit(StoredCommit::new(*run, cases, commit)?)
    }
}

impl Store {
    /// Opens the journal of an existing run to resume it; its status becomes `running`. Fails as busy while a living process executes the
    /// run.
    pub fn journal(&self, run: &str) -> Result<RunJournal, StoreError> {
        let writer = self.writer()?;
        let row = self.read(|conn| run_row(conn, run))?;
        let lease = self.lease(run)?;
        writer.exclusively(|conn| {
            // Retention may have removed the run before the lease was acquired.
            run_row(conn, run)?;
            conn.execute("UPDATE runs SET status = 'running', ended_at = NULL WHERE id = ?1", [row])?;
            Ok(())
        })?;
        let cases = self.read(|conn| load_cases(conn, row))?;
        Ok(RunJournal::new(self.clone(), run.to_owned(), row, cases, lease))
    }
}

fn load_cases(conn: &Connection, run: i64) -> Result<CaseIds, StoreError> {
    let mut rows = conn.prepare_cached("SELECT item, id FROM run_cases WHERE run = ?1")?;
    let cases = rows.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(cases.collect::<Result<_, _>>()?)
}
