//! Retention: removes events and contents of old runs and keeps the facts they established.
//!
//! The rows of runs and cases stay too: they are small, and facts are ordered and described by them.

use super::content::content;
use super::error::StoreError;
use super::open::Store;
use super::outcomes::remove_old_outcomes;
use super::recorded::{recorded, remove_unused_dictionaries};
use super::runs::RunStatus;
use super::step::append_statement;
use crate::sql::{Connection, params};
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use serde::Serialize;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};

/// Selects the runs whose events are removed: those that meet all of these conditions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Started before this time.
    pub before: Option<Timestamp>,
    /// Not among this many latest runs.
    pub keep_latest: Option<usize>,
    /// Also paused runs, which could be resumed.
    pub include_paused: bool,
    /// Report what would be removed, without removing it.
    pub dry_run: bool,
}

/// What was removed, or would be in a dry run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cleaned {
    /// Ids of the runs, oldest first.
    pub runs: Vec<String>,
    /// Runs that met the conditions but were kept because of their status: `paused`, `running`.
    pub kept: BTreeMap<String, RunStatus>,
    /// Number of events.
    pub events: u64,
    /// Number of contents that nothing else refers to.
    pub blobs: u64,
    /// Number of launches whose outcomes of tests were removed: those older than the latest 200 of their name.
    pub test_outcomes: u64,
    /// Total size of events, contents, outcomes and dictionaries in bytes.
    pub bytes: u64,
}

impl Store {
    /// Removes the events of runs and the contents that nothing else refers to, in one transaction. Runs in execution are never touched;
    /// readers and other runs continue meanwhile. Of each launch name, the outcomes of tests of the latest 200 launches are kept.
    pub fn clean(&self, retention: &Retention, now: Timestamp) -> Result<Cleaned, StoreError> {
        let mut cleaned = Cleaned::default();
        let mut leases = Vec::new();
        let latest = retention.keep_latest.unwrap_or(0);
        let listed = self.runs()?;
        let old = listed.iter().skip(latest).filter(|run| retention.before.is_none_or(|before| run.started_at < before));
        for run in old.collect::<Vec<_>>().into_iter().rev() {
            let lease = match run.status {
                RunStatus::Done | RunStatus::Error => self.lease(&run.run),
                RunStatus::Paused if retention.include_paused => self.lease(&run.run),
                status => {
                    cleaned.kept.insert(run.run.clone(), status);
                    continue;
                }
            };
            match lease {
                // Held until the end, so that no process resumes the run meanwhile.
                Ok(lease) => leases.push(lease),
                Err(error) if error.is_busy() => {
                    cleaned.kept.insert(run.run.clone(), RunStatus::Running);
                    continue;
                }
                Err(error) => return Err(error),
            }
            cleaned.runs.push(run.run.clone());
        }
        self.writer()?.exclusively(|conn| {
            conn.execute_batch("SAVEPOINT clean")?;
            (cleaned.test_outcomes, cleaned.bytes) = remove_old_outcomes(conn)?;
            if !cleaned.runs.is_empty() {
                remove(conn, &mut cleaned, now)?;
            }
            // The amount is found by removing, also in a dry run, which rolls back.
            conn.execute_batch(if retention.dry_run { "ROLLBACK TO clean; RELEASE clean" } else { "RELEASE clean" })?;
            Ok(())
        })?;
        drop(leases);
        Ok(cleaned)
    }

    /// Returns free pages to the file system. Does nothing and returns false while a run is executed: its steps would block, and it will
    /// reuse the pages.
    pub fn shrink(&self) -> Result<bool, StoreError> {
        if self.runs()?.iter().any(|run| run.status == RunStatus::Running) {
            return Ok(false);
        }
        self.writer()?.outside(|conn| {
            // A server gives the space of removed rows to new ones by itself.
            let Some(file) = conn.file() else { return Ok(false) };
            file.execute_batch("VACUUM")?;
            file.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(true)
        })
    }

    /// Ids of the runs whose events were removed.
    pub fn cleaned_runs(&self) -> Result<Vec<String>, StoreError> {
        self.read(|conn| {
            let mut rows = conn.prepare_cached("SELECT name FROM runs WHERE cleaned_at IS NOT NULL ORDER BY id")?;
            Ok(rows.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
    }
}

fn remove(conn: &Connection, cleaned: &mut Cleaned, now: Timestamp) -> Result<(), StoreError> {
    // An event of no run. Written before the removal, it keeps event numbers increasing; the visibility of facts depends on them.
    let body = json!({ "type": "cleaned", "runs": cleaned.runs }).to_string();
    append_statement(conn, now, &body)?;
    for name in &cleaned.runs {
        let run: i64 = conn.query_row("SELECT id FROM runs WHERE name = ?1", [name], |row| row.get(0))?;
        let sum = "SELECT count(*), coalesce(sum(octet_length(body)), 0) FROM events INDEXED BY events_case WHERE run = ?1";
        let (events, bytes): (i64, i64) = conn.query_row(sum, [run], |row| Ok((row.get(0)?, row.get(1)?)))?;
        cleaned.events += events.unsigned_abs();
        cleaned.bytes += bytes.unsigned_abs();
        conn.execute("DELETE FROM events WHERE run = ?1", [run])?;
        for table in ["triages", "case_statuses", "notes", "findings"] {
            conn.execute(&format!("DELETE FROM {table} WHERE rc IN (SELECT id FROM run_cases WHERE run = ?1)"), [run])?;
        }
        conn.execute("UPDATE runs SET cleaned_at = ?2, holder = holder + 1 WHERE id = ?1", params![run, now.millis()])?;
    }
    let live = live(conn)?;
    let mut dead = Vec::new();
    let mut rows = conn.prepare("SELECT id, hash, octet_length(text) FROM blobs")?;
    let mut rows = rows.query([])?;
    while let Some(row) = rows.next()? {
        if !live.contains(&row.get::<_, [u8; 32]>(1)?) {
            dead.push(row.get::<_, i64>(0)?);
            cleaned.bytes += row.get::<_, i64>(2)?.unsigned_abs();
        }
    }
    let mut delete = conn.prepare("DELETE FROM blobs WHERE id = ?1")?;
    for id in &dead {
        delete.execute([id])?;
    }
    cleaned.blobs = dead.len() as u64;
    cleaned.bytes += remove_unused_dictionaries(conn)?;
    Ok(())
}

/// The addresses of all contents that the remaining runs refer to, directly or through other contents.
fn live(conn: &Connection) -> Result<HashSet<[u8; 32]>, StoreError> {
    let mut live = HashSet::new();
    let mut roots = conn.prepare(
        "SELECT settings FROM runs WHERE cleaned_at IS NULL UNION SELECT manifest FROM runs WHERE cleaned_at IS NULL \
         UNION SELECT launch FROM runs WHERE cleaned_at IS NULL \
         UNION SELECT content FROM run_cases JOIN runs ON runs.id = run WHERE cleaned_at IS NULL",
    )?;
    for root in roots.query_map([], |row| row.get::<_, [u8; 32]>(0))? {
        live.insert(root?);
    }
    let mut bodies = conn.prepare("SELECT body FROM events")?;
    let mut bodies = bodies.query([])?;
    while let Some(row) = bodies.next()? {
        live.extend(addresses(recorded(conn, row.get_ref(0)?, &mut Vec::new())?));
    }
    let mut open: Vec<[u8; 32]> = live.iter().copied().collect();
    while let Some(hash) = open.pop() {
        // A damaged content is an error here: its references cannot be trusted, and contents they led to would be removed.
        let found = content(conn, &Hash::from_bytes(hash), |text| addresses(text).collect::<Vec<_>>())?;
        open.extend(found.into_iter().flatten().filter(|hash| live.insert(*hash)));
    }
    Ok(live)
}

/// Finds everything in a text that may be a content address: runs of 64 hexadecimal digits. A false match only keeps a content longer than
/// necessary.
pub(super) fn addresses(text: &str) -> impl Iterator<Item = [u8; 32]> {
    let digit = |byte: &u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte);
    let runs = text.as_bytes().split(move |byte| !digit(byte)).filter(|run| run.len() == 64);
    runs.filter_map(|run| std::str::from_utf8(run).ok()?.parse::<Hash>().ok()).map(|hash| *hash.bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, at, effects, launch, rca, step, symptom};
    use crate::{Dormancy, RcaFilter, RunJournal, StoreError, SymptomFilter};
    use asterisk_walk::{Blob, Commit, Journal};
    use rstest::rstest;

    fn walked(fixture: &StoreFixture, run: &str, id: i64) -> RunJournal {
        let mut launch = launch(2);
        launch.run_id = run.into();
        let journal = fixture.begin(run, &launch);
        journal.commit(effects("c1", vec![symptom(id, "t", "e"), rca(100 + id, "m")])).unwrap();
        let own = Blob::new(format!(r#"{{"own":"{run}"}}"#));
        let parts = Blob::new(format!(r#"["{}"]"#, own.hash));
        let mut commit = step("c2", 1);
        if let asterisk_walk::EventBody::NodeExit { params, .. } = &mut commit.events[1].what {
            *params = Some(parts.hash.into());
        }
        commit.blobs.extend([own, parts]);
        journal.commit(commit).unwrap();
        journal
    }

    fn done(fixture: &StoreFixture, run: &str, id: i64) {
        drop(walked(fixture, run, id));
        fixture.store.finish_run(run, RunStatus::Done, at(9)).unwrap();
    }

    fn names(store: &Store) -> Vec<String> {
        store.runs().unwrap().into_iter().map(|run| run.run).collect()
    }

    fn count(store: &Store, what: &str) -> i64 {
        store.read(|conn| Ok(conn.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0))?)).unwrap()
    }

    #[rstest]
    fn traces_are_removed_and_findings_are_kept(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        done(&fixture, "a", 1);
        done(&fixture, "b", 2);
        let store = &fixture.store;
        let filter = SymptomFilter { ids: None, run: None, status: None, limit: 9, now: at(0), dormancy: Dormancy::default() };
        let known = || (store.symptoms(&filter).unwrap(), store.rcas(&RcaFilter::default()).unwrap());
        let (before, kept) = (known(), store.all_events("b").unwrap());
        let retention = Retention { keep_latest: Some(1), ..Retention::default() };
        let would = store.clean(&Retention { dry_run: true, ..retention }, at(20)).unwrap();
        assert_eq!((names(store), count(store, "events WHERE run = 0")), (vec!["b".to_owned(), "a".to_owned()], 0));
        let did = store.clean(&retention, at(20)).unwrap();
        assert_eq!(would, did, "a dry run reports what would be removed");
        assert_eq!((did.runs.as_slice(), did.events, did.kept.len()), (&["a".to_owned()][..], 5, 0));
        assert!(did.blobs >= 3 && did.bytes > 300, "{did:?}");
        assert_eq!((names(store), known(), store.all_events("b").unwrap()), (vec!["b".to_owned()], before, kept.clone()));
        let own = |run: &str| store.blob(&Hash::of(format!(r#"{{"own":"{run}"}}"#).as_bytes())).unwrap();
        assert!(own("a").is_none() && own("b").is_some(), "contents referred to by contents stay with them");
        for (_, event) in kept {
            if let asterisk_walk::EventBody::NodeExit { artifact, .. } = event.what {
                assert!(store.blob(&artifact.hash()).unwrap().is_some());
            }
        }
        assert_eq!(store.launch("b", |_, case| Some(case)).unwrap().cases.len(), 2);
        for error in [store.run("a").expect_err("cleaned"), store.journal("a").map(drop).expect_err("cleaned")] {
            assert!(matches!(&error, StoreError::CleanedRun(run) if run == "a"), "{error}");
        }
        assert_eq!(store.clean(&retention, at(21)).unwrap(), Cleaned::default(), "nothing is left to do");
        assert_eq!(store.shrink().unwrap(), store.path().is_some(), "a server does by itself");
    }

    #[rstest]
    fn facts_stay_in_sight_when_all_events_are_gone(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        done(&fixture, "a", 1);
        let last = fixture.store.read(|conn| Ok(conn.query_row("SELECT max(seq) FROM events", [], |row| row.get::<_, i64>(0))?));
        let retention = Retention { before: Some(at(1)), ..Retention::default() };
        fixture.store.clean(&retention, at(20)).unwrap();
        drop(fixture.begin("b", &launch(1)));
        assert!(fixture.store.run("b").unwrap().start_seq > last.unwrap());
    }

    #[rstest]
    fn running_and_resumable_runs_are_kept(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        drop(walked(&fixture, "paused", 1));
        let running = walked(&fixture, "running", 2);
        done(&fixture, "done", 3);
        let clean = |include_paused| {
            let retention = Retention { before: Some(at(1)), include_paused, ..Retention::default() };
            fixture.store.clean(&retention, at(20)).unwrap()
        };
        let first = clean(false);
        assert_eq!(first.runs, ["done"]);
        let expected = [("paused".to_owned(), RunStatus::Paused), ("running".to_owned(), RunStatus::Running)];
        assert_eq!(first.kept, BTreeMap::from(expected));
        assert_eq!(clean(true).runs, ["paused"]);
        assert!(!fixture.store.shrink().unwrap(), "not while a run goes on");
        running.commit(step("c1", 2)).unwrap();
        assert!(count(&fixture.store, "events") > 5);
    }

    #[rstest]
    fn a_running_run_keeps_shared_contents(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        done(&fixture, "a", 1);
        let journal = walked(&fixture, "b", 2);
        let shared = Blob::new(r#"{"shared":1}"#);
        journal.commit(Commit { blobs: vec![shared.clone()], ..step("c1", 3) }).unwrap();
        let retention = Retention { keep_latest: Some(0), ..Retention::default() };
        fixture.store.clean(&retention, at(20)).unwrap();
        assert!(
            fixture.store.blob(&Hash::of(b"fn a() {}")).unwrap().is_some()
                || fixture.store.launch("b", |_, case| Some(case)).is_ok()
        );
        assert_eq!(fixture.store.cases("b").unwrap().len(), 2);
        journal.commit(step("c1", 4)).unwrap();
    }

    #[rstest]
    fn dictionaries_go_with_the_last_text_that_is_packed_with_them(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let walk = |run: &str, steps| {
            let journal = fixture.begin(run, &launch(1));
            (1..=steps).for_each(|at| journal.commit(step("c1", at)).unwrap());
            drop(journal);
            fixture.store.finish_run(run, RunStatus::Done, at(9)).unwrap();
            fixture.store.all_events(run).unwrap()
        };
        walk("a", 100);
        let kept = walk("b", 10);
        let before = count(&fixture.store, "dictionaries");
        let clean = |keep| {
            let retention = Retention { keep_latest: Some(keep), ..Retention::default() };
            fixture.store.clean(&retention, at(20)).unwrap();
            count(&fixture.store, "dictionaries")
        };
        // The contents of the second run are those of the first, with the dictionaries of those times.
        assert!(before == 3 && (1..=before).contains(&clean(1)), "{before}");
        assert_eq!(fixture.store.all_events("b").unwrap(), kept);
        assert_eq!(clean(0), 0);
        assert!(walk("c", 30).len() == 120 && count(&fixture.store, "dictionaries") == 1);
    }

    #[test]
    fn addresses_are_found_in_any_text() {
        let hash = Hash::of(b"x");
        let text = format!(r#"{{"a":"{hash}","b":["{hash}0"],"c":"{}"}}"#, &hash.to_string()[..63]);
        assert_eq!(addresses(&text).collect::<Vec<_>>(), [*hash.bytes()]);
    }
}
