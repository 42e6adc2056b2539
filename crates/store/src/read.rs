//! Reads events and contents of runs.

use super::content::{content, needed};
use super::error::StoreError;
use super::open::Store;
use super::packing::Unreadable;
use super::recorded::recorded;
use super::runs::run_row;
use super::step::{sum, walk_status};
use crate::sql::{Connection, OptionalExtension, Row, SqlParams, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use asterisk_walk::{Event, EventKind, EventOutline};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The columns of an event, in the order that [`StoredEvent::of_row`] expects.
macro_rules! event_rows {
    ($item:literal, $from:literal) => {
        concat!("SELECT seq, ", $item, ", events.run, rc, path, at, body, sum FROM events ", $from)
    };
}

/// Query: events of a case of a run.
const OF_CASE: &str = event_rows!(
    "?2",
    "INDEXED BY events_case WHERE run = ?1 AND rc = (SELECT id FROM run_cases WHERE run = ?1 AND item = ?2) ORDER BY seq"
);
/// Query: events of a case of a run, both by row id, up to an event number.
const OF_CASE_UPTO: &str = event_rows!(
    "item",
    "INDEXED BY events_case JOIN run_cases ON run_cases.id = rc WHERE events.run = ?1 AND rc = ?2 AND seq <= ?3 ORDER BY seq"
);
/// Query: events of a run. They are mostly adjacent between its first and last: scanning the table in its own order (hence the `+`, which
/// hides the index) is faster than sorting them.
const OF_RUN: &str = event_rows!(
    "item",
    "LEFT JOIN run_cases ON run_cases.id = rc WHERE +events.run = ?1 \
     AND seq > (SELECT start_seq FROM runs WHERE id = ?1) \
     AND seq <= (SELECT max(seq) FROM events INDEXED BY events_case WHERE run = ?1) ORDER BY seq"
);
/// Query: events of a run that belong to no case.
const OF_RUN_ITSELF: &str = event_rows!("NULL", "WHERE run = ?1 AND rc IS NULL ORDER BY seq");
/// Query: every event, with its run's name behind the columns of the event.
const OF_STORE: &str = "SELECT seq, item, events.run, rc, path, at, body, sum, name FROM events NOT INDEXED \
     LEFT JOIN run_cases ON run_cases.id = rc LEFT JOIN runs ON runs.id = events.run WHERE events.run > 0";

/// Query: events of all runs behind a number, in order, as many as are read at once.
const OF_STORE_FROM: &str =
    event_rows!("item", "LEFT JOIN run_cases ON run_cases.id = rc WHERE events.run > 0 AND seq > ?1 ORDER BY seq LIMIT ?2");
/// How many that is.
const EVENTS: i64 = 2000;

/// A stored event whose sum was checked. Nothing else in the store reads events.
#[derive(Clone, Copy, Debug)]
pub struct StoredEvent<'r> {
    /// Number of the event.
    pub seq: i64,
    /// Id of its case; empty for events of the run itself.
    pub case: &'r str,
    /// Path of the step.
    pub path: &'r str,
    /// Time of the event.
    pub at: Timestamp,
    body: &'r str,
}

impl<'r> StoredEvent<'r> {
    /// Decodes a row and checks its sum: an event without the content it refers to would be taken for what happened. `room` is for its
    /// body, if it was packed.
    fn of_row(conn: &Connection, row: &'r Row<'_>, room: &'r mut Vec<u8>) -> Result<Self, StoreError> {
        let seq = row.get(0)?;
        let case = row.get_ref(1)?.as_str_or_null()?.unwrap_or_default();
        let (path, at, body) = (row.get_ref(4)?, row.get(5)?, recorded(conn, row.get_ref(6)?, room));
        if let Err(newer @ Unreadable::Newer(_)) = body {
            return Err(newer.into());
        }
        let (Ok(path), Ok(body)) = (path.as_str(), body) else {
            return Err(damaged(seq, case, &"is no longer text"));
        };
        if let Some(recorded) = row.get::<_, Option<i64>>(7)?
            && sum(row.get(2)?, row.get(3)?, path, at, body) != recorded
        {
            return Err(damaged(seq, case, &"does not match the record"));
        }
        Ok(Self { seq, case, path, at: Timestamp::from_millis(at), body })
    }

    /// Decodes the whole event.
    pub fn event(&self) -> Result<Event, StoreError> {
        let what = serde_json::from_str(self.body).map_err(|error| damaged(self.seq, self.case, &error))?;
        Ok(Event { case: self.case.into(), path: self.path.into(), at: self.at, what })
    }

    /// Decodes the event without what only explanations need.
    pub fn outline(&self) -> Result<EventOutline<'r>, StoreError> {
        EventOutline::of(self.body).map_err(|error| damaged(self.seq, self.case, &error))
    }
}

fn damaged(seq: i64, case: &str, why: &dyn std::fmt::Display) -> StoreError {
    let of = if case.is_empty() { String::new() } else { format!(" of case `{case}`") };
    StoreError::Damaged(format!("event {seq}{of} {why}"))
}

/// Passes the events of a query to `visit` until it breaks.
fn each<E: From<StoreError>>(
    conn: &Connection,
    sql: &str,
    params: impl SqlParams,
    mut visit: impl FnMut(StoredEvent<'_>) -> Result<ControlFlow<()>, E>,
) -> Result<(), E> {
    let mut rows = conn.prepare_cached(sql).map_err(StoreError::from)?;
    let mut rows = rows.query(params).map_err(StoreError::from)?;
    let mut room = Vec::new();
    while let Some(row) = rows.next().map_err(StoreError::from)? {
        if visit(StoredEvent::of_row(conn, &row, &mut room)?)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// Events of the given kinds of a case (by row id), in order, up to an event number.
pub(super) fn of_kinds(
    conn: &Connection,
    (run, case): (i64, i64),
    upto: i64,
    kinds: &[EventKind],
) -> Result<Vec<(i64, Event)>, StoreError> {
    let mut events = Vec::new();
    each(conn, OF_CASE_UPTO, params![run, case, upto], |stored| {
        if EventKind::of(stored.body).is_some_and(|kind| kinds.contains(&kind)) {
            events.push((stored.seq, stored.event()?));
        }
        Ok::<_, StoreError>(ControlFlow::Continue(()))
    })?;
    Ok(events)
}

/// Passes the events of a case of a run to `visit`, in order.
pub(super) fn each_of_case<E: From<StoreError>>(
    conn: &Connection,
    (run, case): (i64, &str),
    mut visit: impl FnMut(StoredEvent<'_>) -> Result<(), E>,
) -> Result<(), E> {
    each(conn, OF_CASE, params![run, case], |event| visit(event).map(ControlFlow::Continue))
}

/// The decoded events of a query with their numbers.
fn all(conn: &Connection, sql: &str, params: impl SqlParams) -> Result<Vec<(i64, Event)>, StoreError> {
    let mut events = Vec::new();
    each(conn, sql, params, |stored| {
        events.push((stored.seq, stored.event()?));
        Ok::<_, StoreError>(ControlFlow::Continue(()))
    })?;
    Ok(events)
}

impl Store {
    /// The events of a case of a run with their numbers, in order; `None` if the run does not have this case.
    pub fn events(&self, run: &str, case: &str) -> Result<Vec<(i64, Event)>, StoreError> {
        self.read(|conn| {
            let run = run_row(conn, run)?;
            // Read first: another process may go on with the walk in between.
            let sql = "SELECT status FROM run_cases WHERE run = ?1 AND item = ?2";
            let ended: Option<String> = conn.prepare_cached(sql)?.query_row(params![run, case], |row| row.get(0)).optional()?;
            let events = all(conn, OF_CASE, params![run, case])?;
            // A row that a damaged index no longer leads to.
            let over = ended.filter(|ended| ["done", "error"].contains(&ended.as_str()));
            if over.is_some_and(|ended| !events.iter().any(|(_, event)| walk_status(event) == Some(ended.as_str()))) {
                return Err(StoreError::Damaged(format!("the last events of case `{case}` are missing")));
            }
            Ok(events)
        })
    }

    /// Every event of a run, its own and those of all its cases, with their numbers, in order.
    pub fn all_events(&self, run: &str) -> Result<Vec<(i64, Event)>, StoreError> {
        self.read(|conn| all(conn, OF_RUN, [run_row(conn, run)?]))
    }

    /// Passes every event of a run to `visit`, in order, until it breaks. For runs too long to hold in memory.
    pub fn each_event(&self, run: &str, mut visit: impl FnMut(i64, Event) -> ControlFlow<()>) -> Result<(), StoreError> {
        self.read(|conn| each(conn, OF_RUN, [run_row(conn, run)?], |stored| Ok(visit(stored.seq, stored.event()?))))
    }

    /// Passes every event of one kind of a run to `visit`, in order, until it breaks.
    pub fn each_event_of(
        &self,
        kind: EventKind,
        run: &str,
        mut visit: impl FnMut(Event) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.read(|conn| {
            each(conn, OF_RUN, [run_row(conn, run)?], |stored| {
                if EventKind::of(stored.body) == Some(kind) { Ok(visit(stored.event()?)) } else { Ok(ControlFlow::Continue(())) }
            })
        })
    }

    /// The events of a run that belong to no case, with their numbers, in order.
    pub fn run_events(&self, run: &str) -> Result<Vec<(i64, Event)>, StoreError> {
        self.read(|conn| all(conn, OF_RUN_ITSELF, [run_row(conn, run)?]))
    }

    /// Passes every event of all runs to `visit`, with its number and the row of its run, in order, until it breaks.
    pub(super) fn each_event_of_store(
        &self,
        mut visit: impl FnMut(i64, i64, Event) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let mut last = 0;
        loop {
            let mut count = 0;
            let go_on = self.read(|conn| {
                let mut rows = conn.prepare_cached(OF_STORE_FROM)?;
                let mut rows = rows.query(params![last, EVENTS])?;
                while let Some(row) = rows.next()? {
                    (last, count) = (row.get(0)?, count + 1);
                    let run = row.get(2)?;
                    let event = StoredEvent::of_row(conn, &row, &mut Vec::new())?.event()?;
                    if visit(last, run, event).is_break() {
                        return Ok(false);
                    }
                }
                Ok(count == EVENTS)
            })?;
            if !go_on {
                return Ok(());
            }
        }
    }

    /// Passes the time and the body of every event of no run to `visit`, in order: what people said outside of runs.
    pub(super) fn each_statement(&self, mut visit: impl FnMut(Timestamp, &str)) -> Result<(), StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached("SELECT at, body FROM events WHERE run = 0 ORDER BY seq")?;
            let mut rows = rows.query([])?;
            let mut room = Vec::new();
            while let Some(row) = rows.next()? {
                let at = Timestamp::from_millis(row.get(0)?);
                visit(at, recorded(conn, row.get_ref(1)?, &mut room)?);
            }
            Ok(())
        })
    }

    /// The content at an address, if it is stored.
    pub fn blob(&self, hash: &Hash) -> Result<Option<Arc<str>>, StoreError> {
        Ok(self.blobs([*hash])?.remove(hash))
    }

    /// The contents at many addresses; missing ones are left out.
    pub fn blobs(&self, hashes: impl IntoIterator<Item = Hash>) -> Result<BTreeMap<Hash, Arc<str>>, StoreError> {
        self.read(|conn| {
            let mut found = BTreeMap::new();
            for hash in hashes {
                if let Some(text) = content(conn, &hash, |text| Arc::from(text))? {
                    found.insert(hash, text);
                }
            }
            Ok(found)
        })
    }

    /// The content at an address; a missing one is an error.
    pub fn needed(&self, hash: &Hash) -> Result<String, StoreError> {
        self.read(|conn| needed(conn, hash, str::to_owned))
    }
}

/// Reads every event; returns their number and a description of each damaged one.
pub(super) fn verify(conn: &Connection) -> Result<(u64, Vec<String>), StoreError> {
    let mut rows = conn.prepare(OF_STORE)?;
    let mut rows = rows.query([])?;
    let (mut count, mut bad) = (0, Vec::new());
    while let Some(row) = rows.next()? {
        count += 1;
        if let Err(error) = StoredEvent::of_row(conn, &row, &mut Vec::new()).and_then(|stored| stored.event()) {
            let run: Option<String> = row.get(8)?;
            bad.push(format!("{error}, in run {}", run.as_deref().unwrap_or("(unknown)")));
        }
    }
    Ok((count, bad))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::Fault;
    use crate::fixture::{Backend, StoreFixture, at, launch, step};
    use crate::sql::PLAIN;
    use asterisk_base::model::Effect;
    use asterisk_walk::{Blob, Commit, Journal};
    use asterisk_walk::{ConsideredEdge, Content, EdgeOutcome, EventBody, Name};
    use proptest::prelude::*;
    use rstest::rstest;

    fn any_what() -> impl Strategy<Value = EventBody> {
        let text = || any::<String>().prop_map(Name::from);
        let words = || any::<String>();
        let hash = || any::<[u8; 32]>().prop_map(Hash::from_bytes);
        let content = || hash().prop_map(Content::from);
        let outcome = prop_oneof![
            Just(EdgeOutcome::Fired),
            Just(EdgeOutcome::False),
            Just(EdgeOutcome::Error),
            Just(EdgeOutcome::Advisory),
            Just(EdgeOutcome::NotReached)
        ];
        let considered = (text(), outcome, proptest::option::of(text()), any::<Option<String>>(), proptest::option::of(hash()))
            .prop_map(|(edge, outcome, because, error, script)| ConsideredEdge {
                edge,
                outcome,
                because: because.map(|why| why.as_str().into()),
                error,
                script,
            });
        let effect = prop_oneof![
            words().prop_map(|text| Effect::Note { text }),
            (any::<i64>(), any::<i64>(), 0.0..1.0_f64).prop_map(|(symptom, rca, confidence)| Effect::LinkSymptomRca {
                symptom,
                rca,
                confidence
            }),
        ];
        let bindings = proptest::collection::btree_map(words(), any::<i64>(), 0..3);
        prop_oneof![
            text().prop_map(|node| EventBody::NodeEnter { node }),
            (text(), content(), text(), proptest::option::of(0.0..1.0_f64), proptest::collection::vec(effect, 0..3), bindings)
                .prop_map(|(node, artifact, by, confidence, effects, bindings)| EventBody::NodeExit {
                    node,
                    artifact: artifact.clone(),
                    by,
                    params: Some(artifact),
                    template: None,
                    took_ms: 7,
                    agent: None,
                    confidence,
                    effects,
                    bindings
                }),
            (text(), content(), content(), content(), proptest::collection::vec(considered, 0..4)).prop_map(
                |(node, artifact, state, vars, considered)| EventBody::EdgeEvaluate { node, artifact, state, vars, considered }
            ),
            (text(), text(), text(), proptest::option::of(text()), any::<i64>()).prop_map(|(from, to, because, counter, n)| {
                let context = serde_json::Map::from_iter([(because.to_string(), serde_json::json!([n, null, because]))]);
                EventBody::Transition { from, to, edge: "e".into(), because: because.as_str().into(), counter, context }
            }),
            text().prop_map(|node| EventBody::WalkComplete { node }),
            (text(), words(), words()).prop_map(|(node, kind, message)| EventBody::WalkError { node, kind, message }),
        ]
    }

    fn any_commit() -> impl Strategy<Value = Commit> {
        let case = proptest::sample::select(vec!["", "c1", "c2", "c3"]);
        let event = (case, any::<String>(), -1_000_000..1_000_000_i64, any_what()).prop_map(|(case, path, time, what)| Event {
            case: case.into(),
            path: path.into(),
            at: at(time),
            what,
        });
        let blobs = proptest::collection::vec(any::<String>().prop_map(Blob::new), 0..3);
        (proptest::collection::vec(event, 0..5), blobs).prop_map(|(events, blobs)| Commit { events, blobs, ..Commit::default() })
    }

    #[rstest]
    fn reads_return_what_was_written(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        backend.check(32, &proptest::collection::vec(any_commit(), 0..12), |commits| {
            let fixture = StoreFixture::on(backend);
            let journal = fixture.begin("r", &launch(3));
            for commit in &commits {
                journal.commit(commit.clone()).unwrap();
            }
            let written: Vec<Event> = commits.iter().flat_map(|commit| commit.events.clone()).collect();
            let read = fixture.store.all_events("r").unwrap();
            prop_assert!(read.windows(2).all(|pair| pair[0].0 < pair[1].0));
            prop_assert_eq!(read.into_iter().map(|(_, event)| event).collect::<Vec<_>>(), written.clone());
            for case in ["c1", "c2", "c3"] {
                let read: Vec<_> = fixture.store.events("r", case).unwrap().into_iter().map(|(_, event)| event).collect();
                prop_assert_eq!(read, written.iter().filter(|event| &*event.case == case).cloned().collect::<Vec<_>>());
            }
            for blob in commits.iter().flat_map(|commit| &commit.blobs) {
                prop_assert_eq!(fixture.store.blob(&blob.hash).unwrap(), Some(blob.text.clone()));
            }
            Ok(())
        });
    }

    #[rstest]
    fn the_events_of_runs_are_kept_apart(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let (a, b) = (fixture.begin("a", &launch(2)), fixture.begin("b", &launch(2)));
        for at in 1..=3 {
            a.commit(step("c1", at)).unwrap();
            b.commit(step("c1", at)).unwrap();
            b.commit(step("c2", at)).unwrap();
        }
        assert_eq!((fixture.store.all_events("a").unwrap().len(), fixture.store.all_events("b").unwrap().len()), (12, 24));
        assert_eq!((fixture.store.events("a", "c2").unwrap().len(), fixture.store.events("b", "c2").unwrap().len()), (0, 12));
        assert!(fixture.store.events("b", "nobody").unwrap().is_empty());
        assert!(fixture.store.all_events("c").is_err());
        let mut first = 0;
        fixture
            .store
            .each_event("b", |seq, _| {
                first = seq;
                ControlFlow::Break(())
            })
            .unwrap();
        assert_eq!(first, 5);
    }

    #[rstest]
    fn an_event_that_is_another_by_now_is_not_read(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let changed = |change: &dyn Fn(&StoreFixture)| {
            let fixture = StoreFixture::on(backend);
            let journal = fixture.begin("r", &launch(2));
            journal.commit(step("c1", 1)).unwrap();
            journal.commit(step("c2", 1)).unwrap();
            assert_eq!(fixture.store.read(verify).unwrap(), (8, Vec::new()));
            change(&fixture);
            fixture
        };
        let set = |fixture: &StoreFixture, column: &str, other: &str| {
            fixture.change(&format!("UPDATE events SET {column} = {other} WHERE seq = 2"), &[]);
        };
        for (column, other) in [("body", ""), ("at", "at + 1"), ("path", "path || '/1'"), ("rc", "3 - rc")] {
            let fixture = changed(&|fixture| match column {
                "body" => fixture.change_events("WHERE seq = 2", |body| body.replace('1', "2")),
                _ => set(fixture, column, other),
            });
            let case = if column == "rc" { "c2" } else { "c1" };
            let error = fixture.store.events("r", case).expect_err(column);
            assert!(error.is_damage() && error.to_string().contains(&format!("event 2 of case `{case}`")), "{error}");
            assert!(fixture.store.all_events("r").is_err(), "{column}");
            let (count, bad) = fixture.store.read(verify).unwrap();
            assert!(count == 8 && bad.len() == 1 && bad[0].contains("in run r"), "{bad:?}");
            let read = fixture.store.reading("r", |reading| reading.events(case, |_| Ok::<_, StoreError>(())));
            assert!(read.is_err_and(|error| error.is_damage()), "{column}");
        }
        let fixture = changed(&|fixture| {
            let mut body: Vec<u8> = fixture.value("SELECT body FROM events WHERE seq = 2", &[]);
            body.pop();
            fixture.change("UPDATE events SET body = ?1 WHERE seq = 2", params![body]);
        });
        assert!(fixture.store.events("r", "c1").is_err_and(|error| error.is_damage()), "cut off");
        // A walk that is over ends with the event that says so.
        let fixture = changed(&|fixture| {
            fixture.change("UPDATE run_cases SET status = 'done' WHERE item = 'c1'", &[]);
        });
        assert!(fixture.store.events("r", "c1").is_err_and(|error| error.is_damage()), "its end is missing");
        // From a store that was written before sums existed.
        let fixture = changed(&|fixture| set(fixture, "sum", "NULL"));
        assert_eq!(fixture.store.events("r", "c1").unwrap().len(), 4);
    }

    #[rstest]
    fn a_content_that_is_another_by_now_is_not_read(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let commit = step("c1", 1);
        let hash = commit.blobs[0].hash;
        journal.commit(commit).unwrap();
        fixture.store.needed(&hash).unwrap();
        // Another text, and invalid UTF-8.
        for other in [&b"another"[..], &[0xff, 0xfe]] {
            let plain = [&[PLAIN], other].concat();
            fixture.change("UPDATE blobs SET text = ?2 WHERE hash = ?1", params![hash.bytes(), plain]);
            let Err(StoreError::Content(bad)) = fixture.store.blob(&hash) else { panic!("{other:?}") };
            assert_eq!((bad.hash, bad.fault), (hash, Fault::Changed));
            assert_eq!((bad.owners[0].run.as_str(), bad.owners[0].case.as_str()), ("r", "c1"), "{bad}");
            let read = fixture.store.reading("r", |reading| reading.content(&hash, |_| ()));
            assert!(read.is_err_and(|error| error.is_damage()));
        }
        fixture.change("DELETE FROM blobs WHERE hash = ?1", params![hash.bytes()]);
        assert_eq!(fixture.store.blob(&hash).unwrap(), None);
        let missing = fixture.store.needed(&hash).expect_err("missing");
        assert!(missing.to_string().contains("is missing"), "{missing}");
        let referring = fixture.store.events("r", "c1").expect_err("its address is gone with it");
        assert!(referring.is_damage() && referring.to_string().contains("event 2 of case `c1`"), "{referring}");
    }

    #[rstest]
    fn missing_contents_are_left_out(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let _journal = fixture.begin("r", &launch(1));
        let (known, unknown) = (Hash::of(b"fn a() {}"), Hash::of(b"never"));
        assert_eq!(fixture.store.blob(&unknown).unwrap(), None);
        assert_eq!(fixture.store.blobs([known, unknown]).unwrap().into_keys().collect::<Vec<_>>(), [known]);
    }
}
