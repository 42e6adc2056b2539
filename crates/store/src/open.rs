//! Opening a store.

use super::connection::{open_reader, open_scratch, open_writer};
use super::durability::Durability;
use super::error::StoreError;
use super::failpoint::Failpoint;
use super::lease::{FileLease, Lease};
use super::location::StoreLocation;
use super::migrations::{STEPS, newest};
use super::private::{make_file, make_parents};
use super::readers::{LazyRead, Readers, Snapshot};
use super::role::StoreRole;
#[cfg(feature = "postgres")]
use super::server::{self, ServerLeases};
use super::sql::Connection;
use super::writer::CommitWriter;
use asterisk_base::environment::Variables;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long to wait for another process's transaction before failing as busy.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long on a server, which more processes write to.
#[cfg(feature = "postgres")]
const BUSY_SERVER: Duration = Duration::from_secs(30);

/// A handle on a store. Clones share it; it may be used from many threads at once.
#[derive(Clone, Debug)]
pub struct Store(Arc<StoreInner>);

#[derive(Debug)]
struct StoreInner {
    /// `None` for a scratch store.
    location: Option<StoreLocation>,
    /// `None` in a scratch store, which has a single connection.
    readers: Option<Readers>,
    /// `None` if opened read-only.
    writer: Option<CommitWriter>,
    /// Cases by run and id for which a query failed because the store could not be read, and why.
    failed_reads: Mutex<HashMap<(i64, String), String>>,
    #[cfg(feature = "postgres")]
    leases: Option<Arc<ServerLeases>>,
}

impl Store {
    /// Opens the store at a location; creates it if missing, a file (0600) with its directories (0700), and migrates an older file. Fails
    /// for files that are not a store, and for stores that were written by a newer version of the program.
    pub fn open(location: impl Into<StoreLocation>, durability: Durability) -> Result<Self, StoreError> {
        let location = location.into();
        match &location {
            StoreLocation::File(path) => Self::open_with_timeout(path, durability, BUSY_TIMEOUT),
            #[cfg(feature = "postgres")]
            StoreLocation::Server(address) => {
                let conn = server::open_writer(address)?;
                Ok(Self::new(&location, Some(CommitWriter::new(conn, BUSY_SERVER)), BUSY_SERVER))
            }
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Server(_) => Err(StoreError::NoServers),
        }
    }

    /// [`Store::open`] of a file with another timeout for other processes' transactions.
    pub fn open_with_timeout(path: &Path, durability: Durability, busy_timeout: Duration) -> Result<Self, StoreError> {
        make_parents(path)?;
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(StoreError::NotAStore(path.to_path_buf()));
        }
        make_file(path)?;
        let conn = open_writer(path, durability.synchronous(), busy_timeout)?;
        FileLease::sweep(path);
        Ok(Self::new(&path.into(), Some(CommitWriter::new(conn, busy_timeout)), busy_timeout))
    }

    /// A private store that is gone with its last handle: in memory, spilling to an unnamed temporary file.
    pub fn scratch() -> Result<Self, StoreError> {
        let writer = CommitWriter::new(open_scratch()?, BUSY_TIMEOUT);
        Ok(Self(Arc::new(StoreInner {
            location: None,
            readers: None,
            writer: Some(writer),
            failed_reads: Mutex::default(),
            #[cfg(feature = "postgres")]
            leases: None,
        })))
    }

    /// Blocks or fails at the boundaries of transactions that the variables name, in builds for tests.
    #[must_use]
    pub fn with_failpoint(self, variables: &Variables) -> Self {
        if let Some(writer) = &self.0.writer {
            writer.arm(Failpoint::of(variables));
        }
        self
    }

    /// Opens an existing store of the newest format read-only.
    pub fn read_only(location: impl Into<StoreLocation>) -> Result<Self, StoreError> {
        let location = location.into();
        let busy_timeout = match &location {
            StoreLocation::File(path) => {
                drop(open_reader(path, BUSY_TIMEOUT)?);
                BUSY_TIMEOUT
            }
            #[cfg(feature = "postgres")]
            StoreLocation::Server(_) => BUSY_SERVER,
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Server(_) => return Err(StoreError::NoServers),
        };
        let store = Self::new(&location, None, busy_timeout);
        // A missing or an older one is noticed here.
        store.read(|_| Ok(()))?;
        Ok(store)
    }

    /// Brings a store up to the newest format, or creates it; returns its format before, if there was one, and now.
    pub fn migrate(location: &StoreLocation) -> Result<(Option<i64>, i64), StoreError> {
        match location {
            StoreLocation::File(path) => {
                let before = if path.exists() { Some(crate::health(path, crate::Depth::Pages)?.version) } else { None };
                drop(Self::open(path, Durability::Step)?);
                Ok((before, newest(STEPS)))
            }
            #[cfg(feature = "postgres")]
            StoreLocation::Server(address) => server::bring_up(address),
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Server(_) => Err(StoreError::NoServers),
        }
    }

    /// Lets a role of the server use the store of a project. The role must exist; it loses what it was granted before.
    pub fn grant(location: &StoreLocation, role: &str, to: StoreRole) -> Result<(), StoreError> {
        match location {
            StoreLocation::File(_) => {
                Err(StoreError::Refused("roles exist only on a server; access to a file is controlled by its permissions".into()))
            }
            #[cfg(feature = "postgres")]
            StoreLocation::Server(address) => server::grant(address, role, to),
            #[cfg(not(feature = "postgres"))]
            StoreLocation::Server(_) => {
                let _ = (role, to);
                Err(StoreError::NoServers)
            }
        }
    }

    fn new(location: &StoreLocation, writer: Option<CommitWriter>, busy_timeout: Duration) -> Self {
        Self(Arc::new(StoreInner {
            location: Some(location.clone()),
            readers: Some(Readers::new(location.clone(), busy_timeout)),
            writer,
            failed_reads: Mutex::default(),
            #[cfg(feature = "postgres")]
            leases: match location {
                StoreLocation::File(_) => None,
                StoreLocation::Server(address) => Some(ServerLeases::new(address.clone())),
            },
        }))
    }

    /// Where the store is; `None` for a [`Store::scratch`].
    pub fn location(&self) -> Option<&StoreLocation> {
        self.0.location.as_ref()
    }

    /// Path of the file; `None` of a store without one.
    pub fn path(&self) -> Option<&Path> {
        self.0.location.as_ref().and_then(StoreLocation::path)
    }

    /// Acquires the lease on a run. A scratch store needs none: no other process can see it.
    pub(super) fn lease(&self, run: &str) -> Result<Option<Lease>, StoreError> {
        #[cfg(feature = "postgres")]
        if let Some(leases) = &self.0.leases {
            return leases.take(run).map(|lease| Some(Lease::Server(lease)));
        }
        self.path().map(|path| FileLease::take(path, run).map(Lease::File)).transpose()
    }

    /// Whether a living process executes a run.
    #[cfg_attr(not(feature = "postgres"), allow(clippy::unnecessary_wraps))]
    pub(super) fn is_executed(&self, run: &str) -> Result<bool, StoreError> {
        #[cfg(feature = "postgres")]
        if let Some(leases) = &self.0.leases {
            return leases.is_held(run);
        }
        Ok(self.path().is_some_and(|path| FileLease::is_held(path, run)))
    }

    /// Runs `body` on a consistent snapshot of the store.
    pub(super) fn read<T>(&self, body: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &self.0.readers {
            Some(readers) => readers.read(body),
            None => self.writer()?.exclusively(body),
        }
    }

    /// Passes a connection to `body` that reads a consistent snapshot once it is asked for.
    pub(super) fn read_lazily<T>(&self, body: impl FnOnce(&dyn Snapshot) -> Result<T, StoreError>) -> Result<T, StoreError> {
        match &self.0.readers {
            Some(readers) => body(&LazyRead::new(readers)),
            None => self.writer()?.exclusively(|conn| body(conn)),
        }
    }

    /// Notes that a query for a case of a run failed because the store could not be read.
    pub(super) fn note_failed_read(&self, run: i64, case: &str, why: &StoreError) {
        let mut failed = self.0.failed_reads.lock().unwrap_or_else(PoisonError::into_inner);
        failed.insert((run, case.to_owned()), why.to_string());
    }

    /// Why a query for a case failed since it was asked last, if one did.
    pub(super) fn take_failed_read(&self, run: i64, case: &str) -> Option<String> {
        let mut failed = self.0.failed_reads.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.is_empty() { None } else { failed.remove(&(run, case.to_owned())) }
    }

    /// Closes the connections of readers.
    #[cfg(test)]
    pub(super) fn close_readers(&self) {
        if let Some(readers) = &self.0.readers {
            readers.close();
        }
    }

    /// The writer; an error if the store was opened read-only.
    pub(super) fn writer(&self) -> Result<&CommitWriter, StoreError> {
        self.0.writer.as_ref().ok_or(StoreError::ReadOnly)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::migrations;
    use std::path::PathBuf;

    fn fresh() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("deep/down/store.db");
        (dir, path)
    }

    fn pragma(store: &Store, name: &str) -> i64 {
        store
            .writer()
            .unwrap()
            .exclusively(|conn| Ok(conn.file().unwrap().pragma_query_value(None, name, |row| row.get(0))?))
            .unwrap()
    }

    #[test]
    fn a_missing_store_is_made_and_opens_again() {
        let (_dir, path) = fresh();
        for _ in 0..2 {
            let store = Store::open(&path, Durability::Step).unwrap();
            assert_eq!(pragma(&store, "user_version"), migrations::newest(migrations::STEPS));
            assert_eq!((pragma(&store, "synchronous"), pragma(&store, "foreign_keys")), (2, 1));
        }
        let store = Store::open(&path, Durability::Batch).unwrap();
        assert_eq!(pragma(&store, "synchronous"), 1);
        let mode = |conn: &Connection| Ok(conn.file().unwrap().pragma_query_value(None, "journal_mode", |row| row.get(0))?);
        let mode: String = store.read(mode).unwrap();
        assert_eq!(mode, "wal");
    }

    #[cfg(unix)]
    #[test]
    fn every_file_of_a_store_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let (_dir, path) = fresh();
        let store = Store::open(&path, Durability::Batch).unwrap();
        store.writer().unwrap().exclusively(|conn| Ok(conn.execute_batch("CREATE TABLE x (y)")?)).unwrap();
        let entries: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().map(Result::unwrap).collect();
        assert!(entries.len() >= 2, "the log is next to the file");
        for entry in entries {
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", entry.path());
        }
    }

    #[test]
    fn an_incompletely_created_store_is_missing() {
        let (_dir, path) = fresh();
        make_parents(&path).unwrap();
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.pragma_update(None, "journal_mode", "WAL").unwrap();
        drop(conn);
        assert!(std::fs::metadata(&path).unwrap().len() > 0);
        assert!(matches!(Store::read_only(&path), Err(StoreError::Missing(_))));
        drop(Store::open(&path, Durability::Batch).unwrap());
        assert!(Store::read_only(&path).is_ok());
    }

    #[test]
    fn a_newer_file_is_refused_untouched() {
        let (_dir, path) = fresh();
        let store = Store::open(&path, Durability::Batch).unwrap();
        let raise = |conn: &Connection| Ok(conn.file().unwrap().pragma_update(None, "user_version", 99)?);
        store.writer().unwrap().exclusively(raise).unwrap();
        drop(store);
        for error in [Store::open(&path, Durability::Batch).expect_err("newer"), Store::read_only(&path).expect_err("newer")] {
            assert!(matches!(&error, StoreError::Newer { found: 99, .. }), "{error}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        let (dir, _) = fresh();
        let text = dir.path().join("text");
        std::fs::write(&text, "this is not a database at all, it is a text that goes on for more than a header's length ...")
            .unwrap();
        let foreign = dir.path().join("foreign.db");
        rusqlite::Connection::open(&foreign).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        for path in [text, foreign] {
            let before = std::fs::read(&path).unwrap();
            assert!(matches!(Store::open(&path, Durability::Batch), Err(StoreError::NotAStore(_))), "{path:?}");
            assert!(matches!(Store::read_only(&path), Err(StoreError::NotAStore(_))), "{path:?}");
            assert_eq!(std::fs::read(&path).unwrap(), before, "{path:?} is untouched");
        }
        let directory = dir.path().join("directory");
        std::fs::create_dir(&directory).unwrap();
        let below_a_file = dir.path().join("foreign.db/store.db");
        assert!(matches!(Store::open(&directory, Durability::Batch), Err(StoreError::NotAStore(_))));
        assert!(matches!(Store::open(&below_a_file, Durability::Batch), Err(StoreError::Io { .. })));
    }

    #[test]
    fn reading_makes_nothing_and_writes_nothing() {
        let (_dir, path) = fresh();
        assert!(matches!(Store::read_only(&path), Err(StoreError::Missing(_))));
        assert!(!path.parent().unwrap().exists());
        drop(Store::open(&path, Durability::Batch).unwrap());
        let store = Store::read_only(&path).unwrap();
        assert!(matches!(store.writer(), Err(StoreError::ReadOnly)));
        assert!(store.read(|conn| Ok(conn.execute_batch("CREATE TABLE x (y)")?)).is_err());
    }

    #[test]
    fn a_damaged_file_is_an_error_not_a_panic() {
        use std::io::{Seek, SeekFrom, Write};
        let (_dir, path) = fresh();
        drop(Store::open(&path, Durability::Batch).unwrap());
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(100)).unwrap();
        file.write_all(&vec![0xA5; 60_000]).unwrap();
        drop(file);
        assert!(matches!(Store::open(&path, Durability::Batch), Err(StoreError::Damaged(_))));
        std::fs::write(&path, &std::fs::read(&path).unwrap()[..50]).unwrap();
        assert!(Store::open(&path, Durability::Batch).is_err());
    }

    #[test]
    fn a_file_that_lacks_its_last_byte_is_damaged() {
        let (_dir, path) = fresh();
        drop(Store::open(&path, Durability::Batch).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        for opened in [Store::open(&path, Durability::Batch), Store::read_only(&path)] {
            assert!(matches!(opened, Err(StoreError::Damaged(_))));
        }
    }

    #[test]
    fn many_open_a_new_store_at_once() {
        let (_dir, path) = fresh();
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..8).map(|_| scope.spawn(|| Store::open(&path, Durability::Batch).map(drop))).collect();
            for handle in handles {
                handle.join().unwrap().unwrap();
            }
        });
    }

    #[test]
    fn a_lock_held_too_long_is_busy() {
        let (_dir, path) = fresh();
        let busy_timeout = Duration::from_millis(60);
        let store = Store::open_with_timeout(&path, Durability::Batch, busy_timeout).unwrap();
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let before = std::time::Instant::now();
        let error = store.writer().unwrap().exclusively(|_| Ok(())).expect_err("busy");
        assert!(error.is_busy(), "{error}");
        assert!(before.elapsed() >= busy_timeout);
        assert!(store.read(|_| Ok(())).is_ok(), "readers are not in the way of a writer");
        other.execute_batch("COMMIT").unwrap();
        store.writer().unwrap().exclusively(|_| Ok(())).unwrap();
    }
}
