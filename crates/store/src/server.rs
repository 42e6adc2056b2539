//! Stores on a PostgreSQL server: a schema for each project, whose privileges keep projects and roles apart.

use super::error::StoreError;
use super::location::ServerAddress;
use super::migrations::{STEPS, newest};
use super::role::StoreRole;
use super::sql::{Connection, ServerConnection, SqlError, translated_schema};
use asterisk_base::model::Hash;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What every connection begins with. A writer that hangs within a transaction blocks all others of the project; the server ends it, and
/// finds out within half a minute that a machine is gone. Every query has an index, but a statement is planned when its tables are still
/// empty, or their statistics old, and would read them whole from then on.
const SETTINGS: &str = "SET idle_in_transaction_session_timeout = '30s'; SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; \
     SET tcp_keepalives_count = 3; SET jit = off; SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; \
     SET client_min_messages = warning";
/// How long to wait for a process that only tries out a lease.
const PROBE_TIMEOUT: Duration = Duration::from_millis(200);
/// What PostgreSQL lacks: the ids of a JSON text as rows.
const FUNCTIONS: &str = "\
    CREATE FUNCTION ids_of(list text) RETURNS TABLE (value bigint) LANGUAGE sql IMMUTABLE AS \
      'SELECT id::bigint FROM json_array_elements_text(list::json) AS ids (id)';";

/// Opens a store for writing. A schema is made for a new project. Commits wait for the server's disk whatever the durability of a run: a
/// server may crash while its clients live on, and a walk would continue behind a step that is lost.
pub(super) fn open_writer(address: &ServerAddress) -> Result<Connection, StoreError> {
    let conn = ServerConnection::open(address, &format!("{SETTINGS}; SET synchronous_commit = on"))?;
    match version(&conn, address)? {
        None => migrate(&conn, address, STEPS)?,
        Some(found) => expect_newest(address, found)?,
    }
    Ok(Connection::Server(Box::new(conn)))
}

/// Opens a store that exists, for reading.
pub(super) fn open_reader(address: &ServerAddress) -> Result<Connection, StoreError> {
    let conn = ServerConnection::open(address, &format!("{SETTINGS}; SET default_transaction_read_only = on"))?;
    let found = version(&conn, address)?.ok_or_else(|| StoreError::Missing(address.to_string()))?;
    expect_newest(address, found)?;
    Ok(Connection::Server(Box::new(conn)))
}

/// Brings the tables of a project up to the newest format, and makes them for a new project; returns the format before and now.
pub(super) fn bring_up(address: &ServerAddress) -> Result<(Option<i64>, i64), StoreError> {
    let conn = ServerConnection::open(address, SETTINGS)?;
    let found = version(&conn, address)?;
    if found.is_some_and(|found| found > newest(STEPS)) {
        expect_newest(address, found.unwrap_or_default())?;
    }
    migrate(&conn, address, STEPS)?;
    Ok((found, newest(STEPS)))
}

/// Lets a role use the store of a project, also after later migrations.
pub(super) fn grant(address: &ServerAddress, role: &str, to: StoreRole) -> Result<(), StoreError> {
    let conn = ServerConnection::open(address, SETTINGS)?;
    let found = version(&conn, address)?.ok_or_else(|| StoreError::Missing(address.to_string()))?;
    expect_newest(address, found)?;
    let text = role.replace('\'', "''");
    conn.begin("BEGIN")?;
    let granted = (|| {
        conn.simple(&format!(
            "DELETE FROM store_roles WHERE name = '{text}'; INSERT INTO store_roles VALUES ('{text}', '{to}')"
        ))?;
        apply_grants(&conn, address)?;
        conn.end("COMMIT")
    })();
    if conn.is_in_transaction() {
        conn.end("ROLLBACK").unwrap_or_default();
    }
    Ok(granted?)
}

/// Grants all roles what they may do with the tables that there are now.
fn apply_grants(conn: &ServerConnection, address: &ServerAddress) -> Result<(), SqlError> {
    for role in StoreRole::ALL {
        let names =
            conn.simple(&format!("SELECT string_agg(quote_ident(name), E'\n') FROM store_roles WHERE role = '{role}'"))?;
        for name in names.iter().flat_map(|names| names.lines()) {
            conn.simple(&role.grants(&address.schema(), name).join("; "))?;
        }
    }
    Ok(())
}

fn expect_newest(address: &ServerAddress, found: i64) -> Result<(), StoreError> {
    let known = newest(STEPS);
    match found.cmp(&known) {
        std::cmp::Ordering::Less => Err(StoreError::OlderServer { store: address.to_string(), found, known }),
        std::cmp::Ordering::Greater => Err(StoreError::Newer { store: address.to_string(), found, known }),
        std::cmp::Ordering::Equal => Ok(()),
    }
}

/// The format of a project's tables; `None` if it has none, or none that this role may see.
fn version(conn: &ServerConnection, address: &ServerAddress) -> Result<Option<i64>, StoreError> {
    let schema = address.schema();
    let there = conn.simple(&format!("SELECT to_regclass('{schema}.store_format')"))?;
    if there.is_none() {
        return Ok(None);
    }
    let version = conn.simple(&format!("SELECT version FROM {schema}.store_format"))?;
    Ok(version.and_then(|version| version.parse().ok()))
}

/// Applies the pending migrations in one transaction: of two processes that begin at once, one waits for the other and finds nothing to do.
fn migrate(conn: &ServerConnection, address: &ServerAddress, steps: &[&str]) -> Result<(), StoreError> {
    let schema = address.schema();
    let lock = key(&["migrate", &schema]);
    conn.begin(&format!("BEGIN; SELECT pg_advisory_xact_lock({lock})"))?;
    let migrated = (|| {
        let found = version(conn, address)?.unwrap_or(0);
        let taken = usize::try_from(found).unwrap_or_default();
        if found == 0 {
            let made = format!(
                "CREATE SCHEMA IF NOT EXISTS {schema}; {FUNCTIONS} CREATE TABLE store_format (version bigint NOT NULL); \
                 CREATE TABLE store_roles (name text PRIMARY KEY, role text NOT NULL); INSERT INTO store_format VALUES (0)"
            );
            conn.simple(&made)?;
        }
        for step in steps.iter().skip(taken) {
            conn.simple(&translated_schema(step))?;
        }
        conn.simple(&format!("UPDATE store_format SET version = {}", newest(steps)))?;
        apply_grants(conn, address)?;
        conn.end("COMMIT")?;
        Ok(())
    })();
    if migrated.is_err() && conn.is_in_transaction() {
        conn.end("ROLLBACK").unwrap_or_default();
    }
    migrated
}

/// A key of an advisory lock.
pub(super) fn key(parts: &[&str]) -> i64 {
    let hash = Hash::of(parts.join("\n").as_bytes());
    hash.bytes().first_chunk().map_or(0, |first| i64::from_le_bytes(*first))
}

/// The leases on runs of a store that this process holds, on a connection of their own: the server releases them when it is closed,
/// however the process ends.
#[derive(Debug)]
pub(super) struct ServerLeases {
    address: ServerAddress,
    held: Mutex<HeldLeases>,
}

#[derive(Debug, Default)]
struct HeldLeases {
    conn: Option<ServerConnection>,
    runs: HashSet<String>,
}

/// The right to execute a run, released on drop.
#[derive(Debug)]
pub(super) struct ServerLease {
    leases: Arc<ServerLeases>,
    run: String,
}

impl ServerLeases {
    pub(super) fn new(address: ServerAddress) -> Arc<Self> {
        Arc::new(Self { address, held: Mutex::default() })
    }

    /// Acquires the lease on a run; fails as busy while another holder lives.
    pub(super) fn take(self: &Arc<Self>, run: &str) -> Result<ServerLease, StoreError> {
        let deadline = Instant::now() + PROBE_TIMEOUT;
        loop {
            if self.try_take(run)? {
                return Ok(ServerLease { leases: Arc::clone(self), run: run.to_owned() });
            }
            if Instant::now() >= deadline {
                return Err(StoreError::Busy(format!("run `{run}`")));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn try_take(&self, run: &str) -> Result<bool, StoreError> {
        self.with(|conn, runs| {
            // A session may take a lock twice.
            if runs.contains(run) {
                return Ok(false);
            }
            let taken = conn.simple(&format!("SELECT pg_try_advisory_lock({})", self.key(run)))?.as_deref() == Some("t");
            if taken {
                runs.insert(run.to_owned());
            }
            Ok(taken)
        })
    }

    /// Whether any process holds the lease on a run.
    pub(super) fn is_held(&self, run: &str) -> Result<bool, StoreError> {
        let key = self.key(run).cast_unsigned();
        let (high, low) = (key >> 32, key & u64::from(u32::MAX));
        let found = self.with(|conn, _| {
            Ok(conn.simple(&format!(
                "SELECT 1 FROM pg_locks JOIN pg_database d ON d.oid = database WHERE datname = current_database() \
                 AND locktype = 'advisory' AND classid = {high} AND objid = {low} AND objsubid = 1 AND granted"
            ))?)
        })?;
        Ok(found.is_some())
    }

    fn key(&self, run: &str) -> i64 {
        key(&["run", &self.address.schema(), run])
    }

    /// Passes the connection and the runs held to `body`. Leases of a connection that was lost are lost with it.
    fn with<T>(
        &self,
        body: impl FnOnce(&ServerConnection, &mut HashSet<String>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let HeldLeases { conn, runs } = &mut *held;
        if conn.as_ref().is_none_or(ServerConnection::is_lost) {
            *conn = Some(ServerConnection::open(&self.address, SETTINGS)?);
        }
        let Some(conn) = conn else { return Err(StoreError::ReadOnly) };
        body(conn, runs)
    }
}

impl Drop for ServerLease {
    fn drop(&mut self) {
        let mut held = self.leases.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.runs.remove(&self.run);
        if let Some(conn) = &held.conn {
            // On a lost connection there is nothing left to release.
            conn.simple(&format!("SELECT pg_advisory_unlock({})", self.leases.key(&self.run))).map(drop).unwrap_or_default();
        }
    }
}
