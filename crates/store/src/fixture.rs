//! Fixtures for tests of the store.

#![allow(clippy::unwrap_used)]

use super::{Durability, NewRun, RunJournal, Store, recorded_text};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::{Case, Effect, Hash, Launch};
use asterisk_walk::{Blob, Commit};
use asterisk_walk::{Event, EventBody};
use rusqlite::{Connection, Row, params};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// A store in a temporary directory.
pub(super) struct StoreFixture {
    pub(super) store: Store,
    _dir: TempDir,
}

impl StoreFixture {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("store.db"), Durability::Batch).unwrap();
        Self { store, _dir: dir }
    }

    /// Creates a run over the launch's cases.
    pub(super) fn begin(&self, run: &str, launch: &Launch) -> RunJournal {
        begin(&self.store, run, launch).unwrap()
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
