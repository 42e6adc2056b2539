//! The single writer of a store handle, with group commit.
//!
//! Writes do not use a separate thread: a round trip to one costs more than the commit itself. Instead, the first of the threads
//! that want to commit becomes the leader. It commits all queued steps in one transaction while the next ones queue up behind it,
//! then distributes the replies. A single thread pays for two uncontended locks.

use super::error::StoreError;
use super::failpoint::Failpoint;
use super::step::StoredCommit;
use super::transaction::{self, run};
use crate::sql::Connection;
use asterisk_walk::JournalError;
use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often a group is tried while the connection is lost before it is committed.
const ATTEMPTS: usize = 3;

type CommitReply = Result<(), JournalError>;

/// The write connection and the queue of commits.
#[derive(Debug)]
pub(super) struct CommitWriter {
    queue: Mutex<WriteQueue>,
    /// Signalled when a leader steps down.
    changed: Condvar,
    committer: Mutex<GroupCommitter>,
}

#[derive(Debug, Default)]
struct WriteQueue {
    next: u64,
    pending: Vec<(u64, StoredCommit)>,
    replies: HashMap<u64, CommitReply>,
    has_leader: bool,
}

#[derive(Debug)]
struct GroupCommitter {
    conn: Connection,
    busy_timeout: Duration,
    failpoint: Failpoint,
}

impl CommitWriter {
    /// Takes ownership of the connection. `busy_timeout` is the timeout for other processes' transactions.
    pub(super) fn new(conn: Connection, busy_timeout: Duration) -> Self {
        let failpoint = Failpoint::default();
        let committer = Mutex::new(GroupCommitter { conn, busy_timeout, failpoint });
        Self { queue: Mutex::default(), changed: Condvar::new(), committer }
    }

    /// Arms a failpoint, from the next transaction on.
    pub(super) fn arm(&self, failpoint: Failpoint) {
        lock(&self.committer).failpoint = failpoint;
    }

    /// Stores a step; returns once it is committed, alone or in a group.
    pub(super) fn submit(&self, step: StoredCommit) -> CommitReply {
        let mut queue = lock(&self.queue);
        let ticket = queue.next;
        queue.next += 1;
        queue.pending.push((ticket, step));
        loop {
            if let Some(reply) = queue.replies.remove(&ticket) {
                return reply;
            }
            if !queue.has_leader {
                break;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue.has_leader = true;
        let group = std::mem::take(&mut queue.pending);
        drop(queue);
        let mut lead = LeaderGuard { writer: self, replies: Vec::with_capacity(group.len()) };
        lead.replies = lock(&self.committer).commit(&group);
        let own = lead.replies.iter().position(|(other, _)| *other == ticket);
        // Without a reply: an earlier leader panicked while it held this step.
        own.map_or_else(|| Err(JournalError::Failed("the writer was lost".into())), |at| lead.replies.swap_remove(at).1)
    }

    /// Runs `body` outside of any transaction, for statements that cannot be part of one.
    pub(super) fn outside<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        body(&lock(&self.committer).conn)
    }

    /// Runs `body` in a write transaction of its own.
    pub(super) fn exclusively<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        lock(&self.committer).transaction(body)
    }
}

/// Marks the leader while it lives; on drop, also after a panic, distributes the replies and lets the next one lead.
struct LeaderGuard<'a> {
    writer: &'a CommitWriter,
    replies: Vec<(u64, CommitReply)>,
}

impl Drop for LeaderGuard<'_> {
    fn drop(&mut self) {
        let mut queue = lock(&self.writer.queue);
        queue.has_leader = false;
        queue.replies.extend(self.replies.drain(..));
        drop(queue);
        self.writer.changed.notify_all();
    }
}

impl GroupCommitter {
    /// Commits a group; again, if the connection was lost before it was committed.
    fn commit(&mut self, group: &[(u64, StoredCommit)]) -> Vec<(u64, CommitReply)> {
        let mut attempt = 1;
        loop {
            match self.commit_once(group) {
                Ok(replies) => return replies,
                Err(StoreError::Unreachable(_)) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => {
                    let error = JournalError::from(error);
                    return group.iter().map(|(ticket, _)| (*ticket, Err(error.clone()))).collect();
                }
            }
        }
    }

    fn commit_once(&mut self, group: &[(u64, StoredCommit)]) -> Result<Vec<(u64, CommitReply)>, StoreError> {
        let alone = group.len() == 1;
        self.transaction(|conn| {
            let mut replies = Vec::with_capacity(group.len());
            for (ticket, step) in group {
                let stored = if alone { step.store(conn) } else { isolated(conn, step) };
                match stored {
                    // The whole transaction is lost.
                    Err(error) if alone || conn.is_autocommit() || matches!(error, StoreError::Unreachable(_)) => {
                        return Err(error);
                    }
                    stored => replies.push((*ticket, stored.map_err(JournalError::from))),
                }
            }
            Ok(replies)
        })
    }

    fn transaction<T>(&mut self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let Self { conn, busy_timeout, failpoint } = self;
        transaction::write(conn, *busy_timeout, || failpoint.boundary(), body)
    }
}

/// Stores a step in a savepoint, so that its failure leaves no trace and does not affect other steps of the transaction.
fn isolated(conn: &Connection, step: &StoredCommit) -> Result<(), StoreError> {
    run(conn, "SAVEPOINT step")?;
    let stored = step.store(conn).and_then(|()| Ok(conn.settle()?));
    if stored.is_err() && !conn.is_autocommit() {
        run(conn, "ROLLBACK TO step")?;
    }
    if !conn.is_autocommit() {
        run(conn, "RELEASE step")?;
    }
    stored
}

/// Ignores poisoning: transactions clean up after themselves.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Durability;
    use crate::fixture::{Backend, StoreFixture, effects, enter, launch, step, without_id};
    use asterisk_base::model::Effect;
    use asterisk_walk::{Commit, Journal};
    use rstest::rstest;

    #[rstest]
    fn parallel_cases_lose_nothing_and_keep_their_order(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        for durability in Durability::ALL {
            let fixture = StoreFixture::durable(backend, durability);
            let (store, journal) = (&fixture.store, fixture.begin("r", &launch(8)));
            std::thread::scope(|scope| {
                for case in 1..=8 {
                    let journal = journal.clone();
                    scope.spawn(move || {
                        for at in 1..=40 {
                            journal.commit(step(&format!("c{case}"), at)).unwrap();
                        }
                    });
                }
            });
            assert_eq!(store.all_events("r").unwrap().len(), 8 * 40 * 4);
            for case in 1..=8 {
                let case = format!("c{case}");
                let found: Vec<_> = store.events("r", &case).unwrap().into_iter().map(|(_, event)| event).collect();
                let written: Vec<_> = (1..=40).flat_map(|at| step(&case, at).events).collect();
                assert_eq!(found, written);
            }
        }
    }

    #[rstest]
    fn one_bad_commit_of_a_group_leaves_no_trace_and_harms_no_other(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let _journal = fixture.begin("r", &launch(3));
        let cases = (1..=3).map(|n| (format!("c{n}").into(), n)).collect();
        let bad = Commit { effects: vec![Effect::Note { text: "x".into() }, without_id()], ..step("c2", 1) };
        let commits = [step("c1", 1), bad, step("c3", 1)];
        let group = commits.into_iter().zip(0..).map(|(commit, ticket)| (ticket, StoredCommit::new(1, &cases, commit).unwrap()));
        let replies = lock(&fixture.store.writer().unwrap().committer).commit(&group.collect::<Vec<_>>());
        assert!(matches!(&replies[1].1, Err(JournalError::Refused(why)) if why.contains("without an id")), "{replies:?}");
        assert!(replies[0].1.is_ok() && replies[2].1.is_ok());
        let counts = ["c1", "c2", "c3"].map(|case| fixture.store.events("r", case).unwrap().len());
        assert_eq!(counts, [4, 0, 4]);
        assert!(fixture.store.case_facts("r", "c2").unwrap().notes.is_empty());
        assert_eq!(fixture.store.cases("r").unwrap()[1].status, crate::RunStatus::Waiting);
    }

    #[rstest]
    fn a_failing_commit_alone_leaves_no_trace(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        assert!(journal.commit(effects("c1", vec![without_id()])).is_err());
        assert!(fixture.store.all_events("r").unwrap().is_empty());
        journal.commit(step("c1", 1)).unwrap();
        assert_eq!(fixture.store.all_events("r").unwrap().len(), 4);
    }

    #[rstest]
    fn a_panic_inside_a_transaction_is_not_the_end(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let writer = fixture.store.writer().unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            writer.exclusively::<()>(|conn| {
                conn.execute("DELETE FROM runs", []).unwrap_or_default();
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        journal.commit(Commit { events: vec![enter("c1", "1")], ..Commit::default() }).unwrap();
        assert_eq!(fixture.store.runs().unwrap().len(), 1);
    }

    #[test]
    fn a_busy_store_fails_every_waiting_commit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.db");
        let store = crate::Store::open_with_timeout(&path, Durability::Batch, Duration::from_millis(50)).unwrap();
        let journal = crate::fixture::begin(&store, "r", &launch(4)).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::scope(|scope| {
            for case in 1..=4 {
                let journal = journal.clone();
                scope.spawn(move || {
                    let reply = journal.commit(step(&format!("c{case}"), 1));
                    assert!(matches!(reply, Err(JournalError::Busy(_))), "{reply:?}");
                });
            }
        });
        drop(other);
        journal.commit(step("c1", 1)).unwrap();
    }
}
