//! The journal of one run, to which its walks commit their steps.

use super::error::StoreError;
use super::findings::RunFindings;
use super::jobs::{TakenJob, withdraw};
use super::lease::Lease;
use super::open::Store;
use super::runs::{RunStatus, run_row};
use super::step::{CaseIds, Claim, StoredCommit};
use crate::sql::{Connection, params};
use asterisk_base::clock::Timestamp;
use asterisk_walk::{Commit, Journal, JournalError};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::debug_span;

/// The journal of a run. One of [`Store::begin_run`] or [`Store::journal`] has the lease on it: while it or a clone lives, no other process
/// can execute the run.
#[derive(Clone, Debug)]
pub struct RunJournal(Arc<JournalInner>);

#[derive(Debug)]
struct JournalInner {
    store: Store,
    name: String,
    run: i64,
    cases: CaseIds,
    right: Right,
}

/// By what right a journal commits.
#[derive(Debug)]
enum Right {
    /// The lease on the run, which was taken this often until then.
    Run { holder: i64, _lease: Option<Lease> },
    /// Jobs: cases by their rows, each with the number that the job was given with.
    Jobs(Mutex<HashMap<i64, i64>>),
}

impl RunJournal {
    pub(super) fn new(store: Store, name: String, (run, holder): (i64, i64), cases: CaseIds, lease: Option<Lease>) -> Self {
        Self(Arc::new(JournalInner { store, name, run, cases, right: Right::Run { holder, _lease: lease } }))
    }

    /// Lets a worker's journal commit for the case of a job.
    pub fn hold(&self, job: &TakenJob) {
        if let Right::Jobs(held) = &self.0.right {
            lock(held).insert(job.rc, job.fence);
        }
    }

    /// Ends that.
    pub fn release(&self, job: &TakenJob) {
        if let Right::Jobs(held) = &self.0.right {
            lock(held).remove(&job.rc);
        }
    }

    /// What a commit for a case must be sure of.
    fn claim(&self, case: Option<i64>) -> Claim {
        match &self.0.right {
            Right::Run { holder, .. } => Claim::Run { holder: *holder },
            // Without a job, a claim that never holds.
            Right::Jobs(held) => {
                let rc = case.unwrap_or_default();
                Claim::Job { rc, fence: lock(held).get(&rc).copied().unwrap_or_default() }
            }
        }
    }

    /// Ends or pauses the run, and keeps what its summary script made of its cases. Fails if another process has taken it over.
    pub fn conclude(&self, status: RunStatus, at: Timestamp, findings: RunFindings<'_>) -> Result<(), StoreError> {
        let JournalInner { store, run, .. } = &*self.0;
        store.writer()?.exclusively(|conn| {
            self.claim(None).expect(conn, *run)?;
            findings.keep(conn, *run)?;
            withdraw(conn, *run)?;
            let mut update = conn.prepare_cached("UPDATE runs SET status = ?2, ended_at = ?3 WHERE id = ?1")?;
            update.send(params![*run, status.name(), at.millis()])?;
            Ok(())
        })
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
        if let Some(why) = commit.events.first().and_then(|event| store.take_failed_read(*run, &event.case)) {
            return Err(JournalError::Failed(why));
        }
        let mut step = StoredCommit::new(*run, cases, commit)?;
        step.claim = self.claim(step.case());
        store.writer()?.submit(step)
    }
}

impl Store {
    /// Opens the journal of an existing run to resume it; its status becomes `running`. Fails as busy while a living process executes the
    /// run.
    pub fn journal(&self, run: &str) -> Result<RunJournal, StoreError> {
        let writer = self.writer()?;
        let row = self.read(|conn| run_row(conn, run))?;
        let lease = self.lease(run)?;
        let holder = writer.exclusively(|conn| {
            // Retention may have removed the run before the lease was acquired.
            run_row(conn, run)?;
            withdraw(conn, row)?;
            let sql = "UPDATE runs SET status = 'running', ended_at = NULL, holder = holder + 1 WHERE id = ?1 RETURNING holder";
            Ok(conn.query_row(sql, [row], |row| row.get(0))?)
        })?;
        let cases = self.read(|conn| load_cases(conn, row))?;
        Ok(RunJournal::new(self.clone(), run.to_owned(), (row, holder), cases, lease))
    }

    /// Opens the journal of a run for a worker, which commits for the cases of jobs that it holds ([`RunJournal::hold`]).
    pub fn worker_journal(&self, run: &str) -> Result<RunJournal, StoreError> {
        let row = self.read(|conn| run_row(conn, run))?;
        let cases = self.read(|conn| load_cases(conn, row))?;
        let right = Right::Jobs(Mutex::default());
        Ok(RunJournal(Arc::new(JournalInner { store: self.clone(), name: run.to_owned(), run: row, cases, right })))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn load_cases(conn: &Connection, run: i64) -> Result<CaseIds, StoreError> {
    let mut rows = conn.prepare_cached("SELECT item, id FROM run_cases WHERE run = ?1")?;
    let cases = rows.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(cases.collect::<Result<_, _>>()?)
}
