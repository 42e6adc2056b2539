//! Connections to a PostgreSQL server.
//!
//! A connection has a runtime of its own, which drives it while a statement waits for its reply: a step of a walk is synchronous, and
//! handing each statement to another thread would cost more than most take.

use super::dialect::translated;
use super::{PLAIN, Result, SqlError, SqlParams};
use crate::cache::ServerCache;
use crate::location::ServerAddress;
use crate::server::key;
use bytes::BufMut as _;
use futures_util::future::try_join_all;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Row, SimpleQueryMessage, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long one attempt to connect may take, unless the address says otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Upper bound of the pause between two attempts to connect.
const MAX_PAUSE: Duration = Duration::from_secs(1);

/// Query: the number of the last event of no run; 0 without one.
const LAST_STATEMENT: &str = "SELECT coalesce(max(seq), 0) FROM events WHERE run = 0";

/// The reply to a statement that was sent.
type Reply = Pin<Box<dyn Future<Output = Result<(), tokio_postgres::Error>> + Send>>;

/// A connection to a project's schema on a server.
pub(crate) struct ServerConnection {
    runtime: Runtime,
    client: RefCell<Arc<Client>>,
    /// Replies that are not waited for yet.
    pending: RefCell<Vec<Reply>>,
    /// Whether a statement of the open transaction failed: the server would take its commit for a rollback, without an error.
    failed: Cell<bool>,
    cache: RefCell<ServerCache>,
    statements: RefCell<HashMap<Box<str>, Statement>>,
    in_transaction: Cell<bool>,
    /// Whether the server said that it ends the connection.
    ended: Cell<bool>,
    address: ServerAddress,
    /// Statements that every new connection begins with.
    settings: String,
    /// The key of the lock that writers of the project take in turn.
    write_lock: i64,
    /// The number of the transaction of a writer.
    transaction: RefCell<Option<String>>,
    /// How often a reply was waited for.
    #[cfg(test)]
    replies: Cell<usize>,
}

impl fmt::Debug for ServerConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConnection").field("address", &self.address).finish_non_exhaustive()
    }
}

impl ServerConnection {
    /// Connects to a server. `settings` are statements that every connection begins with, also after it was lost and made again.
    pub(crate) fn open(address: &ServerAddress, settings: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| SqlError::Connection(format!("cannot set up a connection: {error}")))?;
        // Names that the server does not find in the schema of the project are its own.
        let settings = format!("SET search_path = {}; {settings}", address.schema());
        let client = runtime.block_on(connect(address, &settings))?;
        Ok(Self {
            runtime,
            client: RefCell::new(Arc::new(client)),
            pending: RefCell::default(),
            failed: Cell::new(false),
            cache: RefCell::default(),
            statements: RefCell::default(),
            in_transaction: Cell::new(false),
            ended: Cell::new(false),
            address: address.clone(),
            settings,
            write_lock: key(&["write", &address.schema()]),
            transaction: RefCell::default(),
            #[cfg(test)]
            replies: Cell::default(),
        })
    }

    /// Whether a transaction is open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.in_transaction.get()
    }

    /// Whether the connection was lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.ended.get() || self.client.borrow().is_closed()
    }

    /// Connects again, if the connection was lost; tries until `patience` is over.
    pub(crate) fn restore(&self, patience: Duration) -> Result<()> {
        if !self.is_lost() {
            return Ok(());
        }
        self.in_transaction.set(false);
        self.pending.take();
        self.cache.borrow_mut().forget();
        self.statements.borrow_mut().clear();
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_millis(20);
        loop {
            match self.runtime.block_on(connect(&self.address, &self.settings)) {
                Ok(client) => {
                    *self.client.borrow_mut() = Arc::new(client);
                    self.ended.set(false);
                    return Ok(());
                }
                Err(error) if Instant::now() + pause >= deadline => return Err(error),
                Err(_) => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(MAX_PAUSE);
                }
            }
        }
    }

    /// Begins a transaction that only reads.
    pub(crate) fn begin_read(&self, patience: Duration) -> Result<()> {
        let last = self.begin_again(&format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {LAST_STATEMENT}"), patience)?;
        self.cache.borrow_mut().begin(false, last.as_deref().and_then(number));
        Ok(())
    }

    /// Ends a transaction that only read, without waiting for the reply.
    pub(crate) fn end_read(&self) -> Result<()> {
        self.send_simple("ROLLBACK")?;
        self.in_transaction.set(false);
        self.failed.set(false);
        // The connection sends when its task is polled. A server that keeps a transaction open cannot remove old rows.
        self.runtime.block_on(tokio::task::yield_now());
        Ok(())
    }

    /// Begins a transaction on a connection that may have to be made again.
    fn begin_again(&self, sql: &str, patience: Duration) -> Result<Option<String>> {
        self.restore(patience)?;
        match self.begin(sql) {
            // The first statement shows that the server is gone.
            Err(SqlError::Connection(_)) => {
                self.restore(patience)?;
                self.begin(sql)
            }
            other => other,
        }
    }

    /// Begins a transaction with the write lock of the project. Fails if that takes longer than `busy`.
    pub(crate) fn begin_write(&self, busy: Duration, patience: Duration) -> Result<()> {
        let sql = format!(
            "BEGIN; SET LOCAL lock_timeout = {}; SELECT pg_advisory_xact_lock({}); \
             SELECT pg_current_xact_id() || ' ' || ({LAST_STATEMENT})",
            busy.as_millis().max(1),
            self.write_lock
        );
        let begun = self.begin_again(&sql, patience)?;
        let (transaction, last) = begun.as_deref().and_then(|begun| begun.split_once(' ')).unzip();
        *self.transaction.borrow_mut() = transaction.map(str::to_owned);
        self.cache.borrow_mut().begin(true, last.and_then(number));
        Ok(())
    }

    /// Commits the transaction of a writer. If the connection is lost meanwhile, the server is asked for its outcome.
    pub(crate) fn commit(&self, patience: Duration) -> Result<()> {
        if self.failed.get() {
            return Err(SqlError::Failed);
        }
        let lost = match self.end("COMMIT") {
            Err(error @ SqlError::Connection(_)) => error,
            other => return other,
        };
        let uncertain = || SqlError::Uncertain(lost.to_string());
        let transaction = self.transaction.borrow_mut().take().ok_or_else(uncertain)?;
        // The server may still be about to end it.
        let deadline = Instant::now() + patience;
        loop {
            self.restore(patience).map_err(|_| uncertain())?;
            let status = self.simple(&format!("SELECT pg_xact_status('{transaction}')"));
            match status.as_ref().map(Option::as_deref) {
                Ok(Some("committed")) => return Ok(()),
                Ok(Some("aborted")) => return Err(lost),
                // It may be lost again.
                Ok(Some(_)) | Err(SqlError::Connection(_)) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                _ => return Err(uncertain()),
            }
        }
    }

    /// Begins a transaction with statements, and returns the first column of the last row that they have.
    pub(crate) fn begin(&self, sql: &str) -> Result<Option<String>> {
        self.in_transaction.set(true);
        self.failed.set(false);
        let begun = self.simple(sql);
        if begun.is_err() {
            // A statement behind `BEGIN` may have failed.
            self.end("ROLLBACK").unwrap_or_default();
        }
        begun
    }

    /// Ends the transaction with `COMMIT` or `ROLLBACK`.
    pub(crate) fn end(&self, sql: &str) -> Result<()> {
        if sql == "ROLLBACK" {
            // Whatever becomes of them.
            self.pending.take();
        }
        let ended = self.simple(sql).map(drop);
        self.in_transaction.set(false);
        self.failed.set(false);
        if sql != "COMMIT" || ended.is_err() {
            self.cache.borrow_mut().forget();
        }
        ended
    }

    /// Executes statements without parameters.
    pub(super) fn batch(&self, sql: &str) -> Result<()> {
        self.undone(sql);
        self.simple(sql).map(drop)
    }

    /// Notes that a statement undoes a part of the transaction.
    fn undone(&self, sql: &str) {
        if sql.starts_with("ROLLBACK TO") {
            self.failed.set(false);
            self.cache.borrow_mut().forget();
        }
    }

    /// The cache, within a transaction.
    pub(super) fn cache(&self) -> Option<&RefCell<ServerCache>> {
        self.in_transaction.get().then_some(&self.cache)
    }

    /// Sends a statement without parameters or rows.
    pub(crate) fn send_simple(&self, sql: &'static str) -> Result<()> {
        self.undone(sql);
        let client = Arc::clone(&self.client.borrow());
        self.start(Box::pin(async move { client.batch_execute(sql).await }))
    }

    /// Sends a statement.
    pub(super) fn send(&self, statement: &Statement, values: &[&dyn rusqlite::ToSql]) -> Result<()> {
        let (client, statement) = (Arc::clone(&self.client.borrow()), statement.clone());
        let values = bound(values)?.into_iter().map(BoundValue::into_owned).collect::<Result<Vec<_>>>()?;
        self.start(Box::pin(async move { client.execute_raw(&statement, values.iter()).await.map(drop) }))
    }

    /// Sends what a future sends when it is polled first.
    fn start(&self, mut reply: Reply) -> Result<()> {
        match reply.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => self.wait(std::future::ready(done)),
            Poll::Pending => {
                self.pending.borrow_mut().push(reply);
                Ok(())
            }
        }
    }

    /// Waits for the replies to what was sent.
    pub(super) fn settle(&self) -> Result<()> {
        if self.pending.borrow().is_empty() { Ok(()) } else { self.wait(std::future::ready(Ok(()))) }
    }

    /// Executes statements without parameters; returns the first column of the last row.
    pub(crate) fn simple(&self, sql: &str) -> Result<Option<String>> {
        let client = self.client.borrow();
        let messages = self.wait(client.simple_query(sql))?;
        let of_row = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).map(str::to_owned)),
            _ => None,
        };
        Ok(messages.iter().rev().find_map(of_row).flatten())
    }

    /// A statement in the dialect of `SQLite`, prepared.
    pub(super) fn prepare(&self, sql: &str) -> Result<Statement> {
        if let Some(known) = self.statements.borrow().get(sql) {
            return Ok(known.clone());
        }
        let translated = translated(sql);
        let client = self.client.borrow();
        let statement = self.wait(client.prepare(&translated))?;
        self.statements.borrow_mut().insert(sql.into(), statement.clone());
        Ok(statement)
    }

    /// The rows of a query.
    pub(super) fn query(&self, statement: &Statement, values: &[&dyn rusqlite::ToSql]) -> Result<Vec<Row>> {
        use futures_util::TryStreamExt as _;
        let client = self.client.borrow();
        let values = bound(values)?;
        self.wait(async { client.query_raw(statement, values.iter()).await?.try_collect().await })
    }

    /// The rows of a query for each of many parameters.
    pub(super) fn query_each(&self, statement: &Statement, all: Vec<impl SqlParams>) -> Result<Vec<Vec<Row>>> {
        use futures_util::TryStreamExt as _;
        let owned =
            |values: &[&dyn rusqlite::ToSql]| bound(values)?.into_iter().map(BoundValue::into_owned).collect::<Result<Vec<_>>>();
        let all = all.into_iter().map(|params| params.with(owned)).collect::<Result<Vec<_>>>()?;
        let client = self.client.borrow();
        let ask = |values: Vec<BoundValue<'static>>| async { client.query_raw(statement, values).await?.try_collect().await };
        if all.is_empty() { Ok(Vec::new()) } else { self.wait(try_join_all(all.into_iter().map(ask))) }
    }

    /// Executes a statement; returns the number of rows that it changed.
    pub(super) fn execute(&self, statement: &Statement, values: &[&dyn rusqlite::ToSql]) -> Result<usize> {
        let client = self.client.borrow();
        let values = bound(values)?;
        let changed = self.wait(client.execute_raw(statement, values.iter()))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    #[cfg(test)]
    pub(crate) fn replies(&self) -> usize {
        self.replies.get()
    }

    /// Sends what a future sends when it is polled first, and waits for all replies. The first error counts.
    fn wait<T>(&self, reply: impl Future<Output = Result<T, tokio_postgres::Error>>) -> Result<T> {
        let pending = self.pending.take();
        let reply = async {
            let mut reply = std::pin::pin!(reply);
            let sent = poll_fn(|context| Poll::Ready(reply.as_mut().poll(context))).await;
            for earlier in pending {
                earlier.await?;
            }
            match sent {
                Poll::Ready(done) => done,
                Poll::Pending => reply.await,
            }
        };
        #[cfg(test)]
        self.replies.set(self.replies.get() + 1);
        self.runtime.block_on(reply).map_err(|error| {
            // Ended by an administrator, for being idle within a transaction, or with the server.
            let ends = error.code().is_some_and(|code| matches!(code.code(), "57P01" | "57P02" | "57P03" | "25P03" | "57P05"));
            self.ended.set(self.ended.get() || ends);
            self.failed.set(true);
            if error.is_closed() || self.is_lost() {
                SqlError::Connection(format!("the connection to {} was lost: {}", self.address, described(&error)))
            } else {
                SqlError::Server(error)
            }
        })
    }
}

fn number(text: &str) -> Option<i64> {
    text.parse().ok()
}

/// Connects, and begins with the settings.
async fn connect(address: &ServerAddress, settings: &str) -> Result<Client> {
    let failed = |why: String| SqlError::Connection(format!("cannot connect to {address}: {why}"));
    let mut config: Config = address.url().parse().map_err(|error| failed(described(&error)))?;
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_application_name().is_none() {
        config.application_name("asterisk");
    }
    let local = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    // The driver's own default falls back to plain text if the server, or an impostor, offers no encryption.
    if !address.url().contains("sslmode=") {
        config.ssl_mode(if local { SslMode::Disable } else { SslMode::Require });
    }
    let client = if config.get_ssl_mode() == SslMode::Disable {
        let (client, connection) = config.connect(NoTls).await.map_err(|error| failed(described(&error)))?;
        tokio::spawn(connection);
        client
    } else {
        let tls = MakeRustlsConnect::new(trusted(address).map_err(failed)?);
        let (client, connection) = config.connect(tls).await.map_err(|error| failed(described(&error)))?;
        tokio::spawn(connection);
        client
    };
    client.batch_execute(settings).await.map_err(|error| failed(described(&error)))?;
    Ok(client)
}

/// The settings of TLS: the certificate must be of the host and of an authority that is trusted.
fn trusted(address: &ServerAddress) -> Result<rustls::ClientConfig, String> {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let mut roots = rustls::RootCertStore::empty();
    match address.root_certificates() {
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Some(path) => {
            let unusable = |error: &dyn fmt::Display| format!("cannot use the certificates in {}: {error}", path.display());
            for certificate in CertificateDer::pem_file_iter(path).map_err(|error| unusable(&error))? {
                let certificate = certificate.map_err(|error| unusable(&error))?;
                roots.add(certificate).map_err(|error| unusable(&error))?;
            }
        }
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// What an error says, with what caused it: the driver's own text is "db error".
pub(super) fn described(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail}", error.message());
    }
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

/// A value of a statement.
struct BoundValue<'v>(ToSqlOutput<'v>);

fn bound<'v>(values: &'v [&dyn rusqlite::ToSql]) -> Result<SmallVec<[BoundValue<'v>; 8]>> {
    values.iter().map(|value| Ok(BoundValue(value.to_sql()?))).collect()
}

impl BoundValue<'_> {
    fn into_owned(self) -> Result<BoundValue<'static>> {
        let value = match self.0 {
            ToSqlOutput::Borrowed(value) => Value::try_from(value)?,
            ToSqlOutput::Owned(value) => value,
            // Of features of the driver that are off.
            _ => Value::Null,
        };
        Ok(BoundValue(ToSqlOutput::Owned(value)))
    }

    fn value(&self) -> ValueRef<'_> {
        match &self.0 {
            ToSqlOutput::Borrowed(value) => *value,
            ToSqlOutput::Owned(value) => value.into(),
            // Of features of the driver that are off.
            _ => (&Value::Null).into(),
        }
    }
}

impl fmt::Debug for BoundValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value().fmt(f)
    }
}

impl ToSql for BoundValue<'_> {
    fn to_sql(&self, ty: &Type, out: &mut bytes::BytesMut) -> std::result::Result<IsNull, Box<dyn StdError + Sync + Send>> {
        match (self.value(), ty) {
            (ValueRef::Null, _) => return Ok(IsNull::Yes),
            (ValueRef::Integer(number), &Type::INT8) => out.put_i64(number),
            (ValueRef::Integer(number), &Type::INT4) => out.put_i32(number.try_into()?),
            (ValueRef::Integer(number), &Type::INT2) => out.put_i16(number.try_into()?),
            (ValueRef::Integer(number), &Type::BOOL) => out.put_u8((number != 0).into()),
            #[allow(clippy::cast_precision_loss)]
            (ValueRef::Integer(number), &Type::FLOAT8) => out.put_f64(number as f64),
            (ValueRef::Real(number), &Type::FLOAT8) => out.put_f64(number),
            (ValueRef::Text(text), &Type::BYTEA) => {
                out.put_u8(PLAIN);
                out.put_slice(text);
            }
            (ValueRef::Text(text), ty) if <&str as ToSql>::accepts(ty) => put_text(text, out),
            (ValueRef::Blob(bytes), &Type::BYTEA) => out.put_slice(bytes),
            (value, ty) => return Err(format!("{value:?} is not a value of type {ty}").into()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// PostgreSQL rejects the character 0 in texts; `SQLite` stores it.
fn put_text(text: &[u8], out: &mut bytes::BytesMut) {
    for part in text.split_inclusive(|byte| *byte == 0) {
        match part.split_last() {
            Some((0, before)) => {
                out.put_slice(before);
                out.put_slice("\u{fffd}".as_bytes());
            }
            _ => out.put_slice(part),
        }
    }
}

/// The value of a column.
pub(super) fn value<'r>(row: &'r Row, place: Option<usize>) -> Result<ValueRef<'r>> {
    let place = place.ok_or_else(|| rusqlite::Error::InvalidColumnName("not a column of the query".into()))?;
    Ok(row.try_get::<_, ServerValue<'r>>(place)?.0)
}

struct ServerValue<'r>(ValueRef<'r>);

impl<'r> tokio_postgres::types::FromSql<'r> for ServerValue<'r> {
    fn from_sql(ty: &Type, raw: &'r [u8]) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        use tokio_postgres::types::FromSql;
        Ok(Self(match *ty {
            Type::INT8 => ValueRef::Integer(i64::from_sql(ty, raw)?),
            Type::INT4 => ValueRef::Integer(i32::from_sql(ty, raw)?.into()),
            Type::INT2 => ValueRef::Integer(i16::from_sql(ty, raw)?.into()),
            Type::BOOL => ValueRef::Integer(bool::from_sql(ty, raw)?.into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(ty, raw)?),
            Type::BYTEA => ValueRef::Blob(raw),
            _ if <&str as FromSql>::accepts(ty) => ValueRef::Text(raw),
            _ => return Err(format!("a column of type {ty}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(ValueRef::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
