//! Fixtures for tests of the store.

#![allow(clippy::unwrap_used)]

use super::recorded::recorded_text;
use super::{Durability, NewRun, RunJournal, Store, StoreLocation};
#[cfg(feature = "postgres")]
use super::{ServerAddress, sql::ServerConnection};
use crate::sql::{Connection, Row, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Effect, Hash, Launch};
use asterisk_walk::{Blob, Commit};
use asterisk_walk::{Event, EventBody};
use proptest::prelude::{ProptestConfig, Strategy};
use proptest::test_runner::{TestCaseError, TestRunner};
use std::collections::BTreeMap;
#[cfg(feature = "postgres")]
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// What a test of the store runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    /// A file.
    File,
    /// A scratch store.
    Memory,
    /// A project on a PostgreSQL server.
    Server,
}

/// Names a server for tests: `postgres://USER@HOST:PORT/DATABASE`. The value `required` makes tests fail without one.
const SERVER: &str = "ASTERISK_TEST_POSTGRES";

impl Backend {
    /// Whether tests cannot run on it here, for want of a server. Says so; where a server is required, fails.
    #[allow(clippy::print_stderr)]
    pub(super) fn is_missing(self) -> bool {
        let named = std::env::var(SERVER).unwrap_or_default();
        if self != Self::Server || (cfg!(feature = "postgres") && named.contains("://")) {
            return false;
        }
        let required = named == "required" || std::env::var_os("CI").is_some_and(|ci| !ci.is_empty());
        let why = if cfg!(feature = "postgres") {
            format!("set {SERVER}=postgres://USER@HOST:PORT/DATABASE, where the role may create schemas")
        } else {
            "build with `--features postgres`".to_owned()
        };
        assert!(!(required && cfg!(feature = "postgres")), "tests on a PostgreSQL server are required: {why}");
        eprintln!("skipped on a PostgreSQL server: {why}");
        true
    }

    /// Checks a property with values of a strategy, with few of them on a server, where a store takes long to make.
    pub(super) fn check<S: Strategy>(self, cases: u32, values: &S, property: impl Fn(S::Value) -> Result<(), TestCaseError>) {
        if self.is_missing() {
            return;
        }
        let cases = if self == Self::Server { cases.div_ceil(8) } else { cases };
        let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
        TestRunner::new(config).run(values, property).unwrap();
    }
}

/// A store that is gone with the fixture.
pub(super) struct StoreFixture {
    pub(super) store: Store,
    _dir: Option<TempDir>,
}

impl StoreFixture {
    pub(super) fn on(backend: Backend) -> Self {
        Self::durable(backend, Durability::Batch)
    }

    pub(super) fn durable(backend: Backend, durability: Durability) -> Self {
        match backend {
            Backend::File => {
                let dir = tempfile::tempdir().unwrap();
                let store = Store::open(dir.path().join("store.db"), durability).unwrap();
                Self { store, _dir: Some(dir) }
            }
            Backend::Memory => Self { store: Store::scratch().unwrap(), _dir: None },
            Backend::Server => Self { store: Store::open(new_project(), durability).unwrap(), _dir: None },
        }
    }

    /// Where the store is, to open it again.
    pub(super) fn location(&self) -> &StoreLocation {
        self.store.location().unwrap()
    }

    /// Creates a run over the launch's cases.
    pub(super) fn begin(&self, run: &str, launch: &Launch) -> RunJournal {
        begin(&self.store, run, launch).unwrap()
    }

    /// Changes rows behind the store's back.
    pub(super) fn change(&self, sql: &str, params: &[&dyn rusqlite::ToSql]) {
        self.store.writer().unwrap().exclusively(|conn| Ok(conn.execute(sql, params)?)).unwrap();
        // What they cached is not what is stored now.
        self.store.close_readers();
    }

    /// The value of a query.
    pub(super) fn value<T: rusqlite::types::FromSql>(&self, sql: &str, params: &[&dyn rusqlite::ToSql]) -> T {
        self.store.read(|conn| Ok(conn.query_row(sql, params, |row| row.get(0))?)).unwrap()
    }

    /// Changes the bodies of the events that meet a condition; they are plain then, as in older stores.
    pub(super) fn change_events(&self, condition: &str, change: impl Fn(String) -> String) {
        let sql = format!("SELECT seq, body FROM events {condition}");
        let change = |conn: &Connection| {
            let body = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, recorded_text(conn, row.get_ref(1)?).unwrap()));
            let bodies: Vec<_> = conn.prepare(&sql)?.query_map([], body)?.collect::<Result<_, _>>()?;
            for (seq, body) in bodies {
                conn.execute("UPDATE events SET body = ?2 WHERE seq = ?1", params![seq, change(body)])?;
            }
            Ok(())
        };
        self.store.writer().unwrap().exclusively(change).unwrap();
    }
}

/// A project of its own on the server.
#[cfg(feature = "postgres")]
fn new_project() -> StoreLocation {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let address: ServerAddress = std::env::var(SERVER).unwrap().parse().unwrap();
    let project = format!("test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let address = address.with_project(&project).unwrap();
    // One may be left of a process with the same number that was killed.
    drop_project(&address);
    StoreLocation::Server(address)
}

#[cfg(not(feature = "postgres"))]
fn new_project() -> StoreLocation {
    panic!("a server needs the feature `postgres`")
}

#[cfg(feature = "postgres")]
fn drop_project(address: &ServerAddress) {
    let conn = ServerConnection::open(address, "SET client_min_messages = warning; SET lock_timeout = '10s'").unwrap();
    conn.simple(&format!("DROP SCHEMA IF EXISTS {} CASCADE", address.schema())).unwrap();
}

#[cfg(feature = "postgres")]
impl Drop for StoreFixture {
    fn drop(&mut self) {
        if let Some(StoreLocation::Server(address)) = self.store.location() {
            drop_project(address);
        }
    }
}

pub(super) fn begin(store: &Store, run: &str, launch: &Launch) -> Result<RunJournal, super::StoreError> {
    store.begin_run(&NewRun {
        run,
        pipeline: "p",
        started_at: at(0),
        settings: Blob::new("{}"),
        manifest: Blob::new(r#"{"a.rhai":"..."}"#),
        blobs: vec![Blob::new("fn a() {}")],
        launch,
        cases: launch.cases.iter().collect(),
    })
}

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_771_104_069_000 + seconds * 1000)
}

/// A launch with cases `c1` to `cN` with distinct tests and errors.
pub(super) fn launch(cases: usize) -> Launch {
    let case = |n: usize| Case {
        id: format!("c{n}"),
        name: format!("test number {n}"),
        status: "failed".into(),
        error_message: format!("error {}", "abcdefgh".repeat(n % 5 + 1)),
        recall_key: format!("key {n}"),
        ..Case::default()
    };
    Launch {
        run_id: "77".into(),
        name: "nightly".into(),
        number: Some(3),
        cases: (1..=cases).map(case).collect(),
        ..Launch::default()
    }
}

pub(super) fn event(case: &str, path: &str, what: EventBody) -> Event {
    Event { case: case.into(), path: path.into(), at: at(1), what }
}

pub(super) fn enter(case: &str, path: &str) -> Event {
    event(case, path, EventBody::NodeEnter { node: "n".into() })
}

pub(super) fn effects(case: &str, effects: Vec<Effect<i64>>) -> Commit {
    Commit { events: vec![enter(case, "1")], effects, ..Commit::default() }
}

/// The commit of a review by an answerer, with its effects.
pub(super) fn review(case: &str, by: &str, effects: Vec<Effect<i64>>) -> Commit {
    let exit = EventBody::NodeExit {
        node: "review".into(),
        artifact: Hash::of(b"{}").into(),
        by: by.into(),
        params: None,
        template: None,
        took_ms: 0,
        agent: None,
        confidence: None,
        effects: effects.clone(),
        bindings: BTreeMap::new(),
    };
    Commit { events: vec![event(case, "1", exit)], effects, ..Commit::default() }
}

/// Everything that one step of a walk commits.
pub(super) fn step(case: &str, step: usize) -> Commit {
    let path = step.to_string();
    let node: asterisk_walk::Name = format!("node-{step}").into();
    let artifact =
        Blob::new(format!(r#"{{"case":"{case}","step":{step},"confidence":0.9,"reasoning":"{}"}}"#, "because ".repeat(30)));
    let state =
        Blob::new(format!(r#"{{"case":"{case}","node":"{node}","loops":{{}},"history":[],"context":{{}},"steps":{step}}}"#));
    let vars = Blob::new(r#"{"recall_hit":0.8,"recall_uncertain":0.4}"#);
    let exit = EventBody::NodeExit {
        node: node.clone(),
        artifact: artifact.hash.into(),
        by: "script".into(),
        params: None,
        template: None,
        took_ms: 0,
        agent: None,
        confidence: Some(0.9),
        effects: vec![Effect::Note { text: "seen".into() }],
        bindings: BTreeMap::from([("rca".to_owned(), 7)]),
    };
    let decision = EventBody::EdgeEvaluate {
        node: node.clone(),
        artifact: artifact.hash.into(),
        state: state.hash.into(),
        vars: vars.hash.into(),
        considered: vec![asterisk_walk::ConsideredEdge {
            edge: "H1".into(),
            outcome: asterisk_walk::EdgeOutcome::Fired,
            because: Some("confidence 0.9".into()),
            error: None,
            script: Some(Hash::of(b"script")),
        }],
    };
    let transition = EventBody::Transition {
        from: node.clone(),
        to: format!("node-{}", step + 1).into(),
        edge: "H1".into(),
        because: "confidence 0.9".into(),
        counter: None,
        context: serde_json::Map::new(),
    };
    let whats = [EventBody::NodeEnter { node }, exit, decision, transition];
    Commit {
        events: whats.into_iter().map(|what| event(case, &path, what)).collect(),
        blobs: vec![artifact, state, vars],
        effects: Vec::new(),
    }
}

/// Effect: upserts the symptom of a test's error.
pub(super) fn symptom(id: i64, test: &str, error: &str) -> Effect<i64> {
    Effect::UpsertSymptom {
        id: Some(id),
        name: None,
        fingerprint: format!("f{id}"),
        test: test.into(),
        error: error.into(),
        category: "timeout".into(),
        component: String::new(),
    }
}

/// Effect: creates a root cause.
pub(super) fn rca(id: i64, message: &str) -> Effect<i64> {
    Effect::CreateRca {
        id: Some(id),
        name: None,
        title: format!("title of {id}"),
        message: message.into(),
        defect_type: "pb".into(),
        component: "driver".into(),
        convergence: 0.75,
        root: String::new(),
        common: false,
    }
}

/// An effect that the store refuses.
pub(super) fn without_id() -> Effect<i64> {
    let mut effect = rca(1, "m");
    if let Effect::CreateRca { id, .. } = &mut effect {
        *id = None;
    }
    effect
}
