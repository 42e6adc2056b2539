//! Decisions on roots outside of any run: which root causes are the same, and which failures do not belong to a cause.

use super::error::StoreError;
use super::knowledge::{FactScope, rca_as_of};
use super::open::Store;

use crate::sql::{Connection, OptionalExtension, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use serde_json::json;

use super::step::append_statement;

/// Who says something, when, and why.
#[derive(Clone, Copy, Debug)]
pub struct RootWord<'a> {
    /// Who.
    pub by: &'a str,
    /// When.
    pub at: Timestamp,
    /// Why; may be empty.
    pub message: &'a str,
}

/// What a word about roots changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootWordDone {
    /// The root that counts now.
    pub root: String,
    /// The cases that it is about.
    pub cases: usize,
}

impl Store {
    /// Makes two root causes one: `other` becomes a duplicate of `kept`, and failures with its roots are of the root of `kept` in runs that
    /// begin later. Its cases and symptoms are linked to `kept`.
    pub fn merge_rcas(&self, kept: i64, other: i64, word: RootWord<'_>) -> Result<RootWordDone, StoreError> {
        self.writer()?.exclusively(|conn| {
            for rca in [kept, other] {
                expect(conn, rca)?;
            }
            let body = json!({ "type": "rca_merged", "rca": kept, "other": other, "by": word.by, "message": word.message });
            let stamp = event(conn, &word, &body.to_string())?;
            let root = root_of(conn, kept, stamp)?;
            for alias in roots(conn, other)? {
                if alias != root {
                    said(conn, stamp, &word, (None, Some(&alias)), &root)?;
                }
            }
            // Failures without a root are identified by themselves.
            for key in recall_keys(conn, other)? {
                said(conn, stamp, &word, (Some(&key), None), &root)?;
            }
            conn.execute(
                "INSERT INTO symptom_rcas (symptom, rca, rc, stamp, confidence, human) SELECT symptom, ?1, rc, ?3, confidence, human \
                 FROM symptom_rcas WHERE id IN (SELECT max(id) FROM symptom_rcas WHERE rca = ?2 GROUP BY symptom) ORDER BY id",
                params![kept, other, stamp],
            )?;
            let linked = "INSERT INTO case_rcas (rc, rca, stamp) SELECT rc, ?1, ?3 FROM case_causes WHERE rca = ?2 ON CONFLICT DO NOTHING";
            let cases = conn.execute(linked, params![kept, other, stamp])?;
            conn.execute(
                "INSERT INTO rca_words (rca, stamp, at, status, by, message) VALUES (?1, ?2, ?3, 'duplicate', ?4, ?5)",
                params![other, stamp, word.at.millis(), word.by, word.message],
            )?;
            Ok(RootWordDone { root, cases })
        })
    }

    /// Takes cases out of a root cause: failures like them have a root of their own in runs that begin later, and are not recognised as
    /// that cause any more. An error if a case is not of the cause.
    pub fn split_rca(&self, rca: i64, cases: &[String], word: RootWord<'_>) -> Result<RootWordDone, StoreError> {
        self.writer()?.exclusively(|conn| {
            expect(conn, rca)?;
            let body = json!({ "type": "rca_split", "rca": rca, "cases": cases, "by": word.by, "message": word.message });
            let stamp = event(conn, &word, &body.to_string())?;
            let root = Hash::of_json(&json!({ "split": rca, "cases": cases })).to_string()[..16].to_owned();
            let mut found = 0;
            for case in cases {
                let mut rows = conn.prepare_cached(
                    "SELECT run_cases.id, recall_key FROM case_causes c JOIN run_cases ON run_cases.id = c.rc \
                     WHERE c.rca = ?1 AND item = ?2 ORDER BY run_cases.id",
                )?;
                let rows = rows.query_map(params![rca, case], |row| Ok((row.get(0)?, row.get(1)?)))?;
                let rows = rows.collect::<Result<Vec<(i64, String)>, _>>()?;
                if rows.is_empty() {
                    return Err(StoreError::UnknownId(format!("case `{case}` of root cause {rca}")));
                }
                for (rc, key) in rows {
                    found += 1;
                    if !key.is_empty() {
                        said(conn, stamp, &word, (Some(&key), None), &root)?;
                    }
                    conn.execute(
                        "INSERT INTO overturned (symptom, rca, rc, stamp, by) SELECT symptom, ?2, ?1, ?3, 'human' FROM case_symptoms WHERE rc = ?1",
                        params![rc, rca, stamp],
                    )?;
                }
            }
            Ok(RootWordDone { root, cases: found })
        })
    }
}

fn expect(conn: &Connection, rca: i64) -> Result<(), StoreError> {
    let known = conn.query_row("SELECT 1 FROM rcas WHERE id = ?1", [rca], |_| Ok(())).optional()?;
    known.ok_or_else(|| StoreError::UnknownId(format!("root cause {rca}")))
}

/// Records the word as an event of no run.
fn event(conn: &Connection, word: &RootWord<'_>, body: &str) -> Result<i64, StoreError> {
    append_statement(conn, word.at, body)
}

/// The first root of a root cause; one is made for a cause without any.
fn root_of(conn: &Connection, rca: i64, stamp: i64) -> Result<String, StoreError> {
    if let Some(root) = roots(conn, rca)?.into_iter().next() {
        return Ok(root);
    }
    let title = rca_as_of(conn, rca, FactScope::ALL)?.title;
    let root = Hash::of_json(&json!({ "root cause": rca, "title": title })).to_string()[..16].to_owned();
    conn.execute(
        "INSERT INTO rca_roots (root, rca, rc, stamp) SELECT ?1, id, rc, ?3 FROM rcas WHERE id = ?2",
        params![root, rca, stamp],
    )?;
    // Its own failures have it from now on.
    let own = RootWord { by: "human", at: Timestamp::default(), message: "" };
    for key in recall_keys(conn, rca)? {
        said(conn, stamp, &own, (Some(&key), None), &root)?;
    }
    Ok(root)
}

fn roots(conn: &Connection, rca: i64) -> Result<Vec<String>, StoreError> {
    let mut rows = conn.prepare_cached("SELECT root FROM rca_roots WHERE rca = ?1 ORDER BY stamp, root")?;
    Ok(rows.query_map([rca], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// The recall keys of the failures of a root cause without a root.
fn recall_keys(conn: &Connection, rca: i64) -> Result<Vec<String>, StoreError> {
    let mut rows = conn.prepare_cached(
        "SELECT DISTINCT recall_key FROM case_causes c JOIN run_cases ON run_cases.id = c.rc WHERE c.rca = ?1 AND recall_key <> '' \
         AND NOT EXISTS (SELECT 1 FROM rca_roots r WHERE r.rca = c.rca AND r.stamp <= c.stamp) ORDER BY recall_key",
    )?;
    Ok(rows.query_map([rca], |row| row.get(0))?.collect::<Result<_, _>>()?)
}

/// Records that the failures of a recall key, or those of a root, have another root.
fn said(
    conn: &Connection,
    stamp: i64,
    word: &RootWord<'_>,
    (key, root): (Option<&str>, Option<&str>),
    other: &str,
) -> Result<(), StoreError> {
    conn.prepare_cached(
        "INSERT INTO root_words (stamp, at, recall_key, root, other, by, message) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![stamp, word.at.millis(), key, root, other, word.by, word.message])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::StoreQueries;
    use crate::fixture::{Backend, StoreFixture, at, effects, launch, rca, symptom};
    use asterisk_base::model::Effect;
    use asterisk_walk::{Journal, Queries, QuerySubject};
    use rstest::rstest;
    use serde_json::Value;

    fn with_root(id: i64, key: &str) -> Effect<i64> {
        let mut effect = rca(id, "m");
        if let Effect::CreateRca { root, .. } = &mut effect {
            *root = key.into();
        }
        effect
    }

    fn word() -> RootWord<'static> {
        RootWord { by: "ada", at: at(5), message: "one fix" }
    }

    fn asked(fixture: &StoreFixture, run: &str, case: usize, name: &str, root: &str) -> Value {
        let launch = launch(3);
        fixture.begin(run, &launch);
        let needs = StoreQueries::new(&fixture.store, run, Value::Null).unwrap();
        needs.query(name, &QuerySubject { root, ..QuerySubject::new(&launch, &launch.cases[case]) }).unwrap()
    }

    #[rstest]
    fn causes_are_found_by_their_root(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let first = fixture.begin("first", &launch(3));
        first.commit(effects("c1", vec![with_root(9, "aa")])).unwrap();
        first.commit(effects("c2", vec![with_root(10, "bb")])).unwrap();
        let ids = |found: &Value| found.as_array().unwrap().iter().map(|rca| rca["id"].as_i64().unwrap()).collect::<Vec<_>>();
        assert_eq!(ids(&asked(&fixture, "second", 0, "rcas.of_root", "aa")), [9]);
        assert_eq!(ids(&asked(&fixture, "third", 0, "rcas.of_root", "cc")), [0; 0]);
        assert_eq!(ids(&asked(&fixture, "fourth", 0, "rcas.of_root", "")), [0; 0]);
    }

    #[rstest]
    fn a_merge_aliases_the_roots_for_later_runs(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let first = fixture.begin("first", &launch(3));
        first.commit(effects("c1", vec![with_root(9, "aa")])).unwrap();
        first.commit(effects("c2", vec![with_root(10, "bb")])).unwrap();
        let done = fixture.store.merge_rcas(9, 10, word()).unwrap();
        assert_eq!(done, RootWordDone { root: "aa".into(), cases: 1 });
        let said = asked(&fixture, "second", 0, "roots.said", "");
        assert_eq!(said, json!({ "pinned": null, "merged": [["bb", "aa"]] }));
        assert!(fixture.store.merge_rcas(9, 77, word()).is_err());
    }

    #[rstest]
    fn a_split_pins_the_failures(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let first = fixture.begin("first", &launch(3));
        first.commit(effects("c1", vec![symptom(5, "t", "e"), with_root(9, "aa")])).unwrap();
        first.commit(effects("c2", vec![symptom(6, "t", "f"), Effect::LinkRca { id: 9, name: None }])).unwrap();
        let done = fixture.store.split_rca(9, &["c2".into()], word()).unwrap();
        assert_eq!(done.cases, 1);
        let pinned = |case| asked(&fixture, &format!("run {case}"), case, "roots.said", "")["pinned"].clone();
        assert_eq!(pinned(1), json!(done.root));
        assert_eq!(pinned(0), Value::Null);
        assert!(fixture.store.split_rca(9, &["c3".into()], word()).is_err(), "not of the cause");
    }
}
