//! Reads contents by their addresses. Every content is compared with its address; one that changed on the disk is an error that names its
//! owners.

use super::bad_content::{BadContent, Fault, Owner};
use super::cache;
use super::error::StoreError;
use super::packing::Unreadable;
use super::recorded::{recorded, recorded_text};
use crate::sql::{Connection, params};
use asterisk_base::model::Hash;
use asterisk_walk::EventKind;
use rusqlite::types::ValueRef;
use serde::Deserialize;
use std::collections::{BTreeSet, HashSet};

/// Maximum number of owners that an error names.
const MAX_OWNERS: u8 = 3;
/// How many levels of references to follow upwards from a content: a part of a parameter list, a case of a launch.
const MAX_LEVELS: usize = 3;
/// How many contents to follow upwards from each.
const MAX_PARENTS: usize = 16;

/// Passes the content at an address to `look`, if it is stored.
pub(super) fn content<T>(conn: &Connection, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<Option<T>, StoreError> {
    if let Some(text) = cache::text(conn, hash) {
        return Ok(Some(look(&text)));
    }
    let mut find = conn.prepare_cached("SELECT text FROM blobs WHERE substr(hash, 1, 4) = ?2 AND hash = ?1")?;
    let mut rows = find.query([hash.bytes().as_slice(), &hash.bytes()[..4]])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    match verified(conn, row.get_ref(0)?, hash, &mut Vec::new()) {
        Ok(text) => {
            cache::note_text(conn, hash, text);
            Ok(Some(look(text)))
        }
        Err(Unreadable::Changed) => Err(bad_content(conn, hash, Fault::Changed)),
        Err(newer @ Unreadable::Newer(_)) => Err(newer.into()),
    }
}

/// Passes the content at an address to `look`; a missing content is an error.
pub(super) fn needed<T>(conn: &Connection, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<T, StoreError> {
    content(conn, hash, look)?.ok_or_else(|| bad_content(conn, hash, Fault::Missing))
}

/// The text of a row, if it matches the address.
fn verified<'r>(conn: &Connection, value: ValueRef<'r>, hash: &Hash, room: &'r mut Vec<u8>) -> Result<&'r str, Unreadable> {
    let text = recorded(conn, value, room)?;
    if Hash::of(text.as_bytes()) == *hash { Ok(text) } else { Err(Unreadable::Changed) }
}

fn bad_content(conn: &Connection, hash: &Hash, fault: Fault) -> StoreError {
    StoreError::Content(Box::new(BadContent { hash: *hash, fault, owners: owners(conn, hash) }))
}

/// Finds what refers to a content. Scans the whole store, which only a damaged content justifies. Unreadable rows are skipped: the store is
/// known to be broken.
fn owners(conn: &Connection, hash: &Hash) -> Vec<Owner> {
    let mut found = BTreeSet::new();
    let mut seen: HashSet<Hash> = HashSet::from([*hash]);
    let mut level = vec![*hash];
    for _ in 0..MAX_LEVELS {
        for hash in &level {
            // An unreadable row contributes nothing.
            direct(conn, hash, &mut found).unwrap_or_default();
        }
        if !found.is_empty() {
            break;
        }
        level = level.iter().flat_map(|hash| parents(conn, hash).unwrap_or_default()).filter(|up| seen.insert(*up)).collect();
    }
    // Within a case the first role says most: its artifact rather than the decision made on it.
    let mut owners: Vec<Owner> = found.into_iter().collect();
    owners.dedup_by(|next, first| (&next.run, &next.case) == (&first.run, &first.case));
    owners.truncate(MAX_OWNERS.into());
    owners
}

fn direct(conn: &Connection, hash: &Hash, found: &mut BTreeSet<Owner>) -> crate::sql::Result<()> {
    let mut runs = conn.prepare_cached(
        "SELECT name, '', CASE WHEN settings = ?1 THEN 'what it was started with' WHEN manifest = ?1 THEN 'the list of texts' ELSE 'the launch' END \
         FROM runs WHERE cleaned_at IS NULL AND ?1 IN (settings, manifest, launch) \
         UNION ALL SELECT name, item, 'the failure' FROM run_cases JOIN runs ON runs.id = run \
         WHERE cleaned_at IS NULL AND content = ?1 ORDER BY 1 LIMIT ?2",
    )?;
    let owner = |row: &crate::sql::Row<'_>| Ok(Owner { run: row.get(0)?, case: row.get(1)?, what: row.get(2)? });
    for owner in runs.query_map(params![hash.bytes(), MAX_OWNERS], owner)? {
        found.insert(owner?);
    }
    let mut events = conn.prepare_cached(
        "SELECT name, coalesce(item, ''), path, body FROM events JOIN runs ON runs.id = events.run \
         LEFT JOIN run_cases ON run_cases.id = rc ORDER BY seq",
    )?;
    let (mut events, address) = (events.query([])?, hash.to_string());
    let most = found.len() + usize::from(MAX_OWNERS);
    while let Some(row) = events.next()?.filter(|_| found.len() < most) {
        let Some(body) = recorded_text(conn, row.get_ref(3)?).filter(|body| body.contains(&address)) else { continue };
        let path: String = row.get(2)?;
        let what = match artifact(&body) {
            _ if path.is_empty() => "a text".to_owned(),
            Some(artifact) if artifact == *hash && EventKind::of(&body) == Some(EventKind::NodeExit) => {
                format!("the artifact of step {path}")
            }
            _ => format!("the inputs of step {path}"),
        };
        found.insert(Owner { run: row.get(0)?, case: row.get(1)?, what });
    }
    Ok(())
}

/// The address of the artifact that an event has.
fn artifact(body: &str) -> Option<Hash> {
    #[derive(Deserialize)]
    struct WithArtifact {
        artifact: Hash,
    }
    serde_json::from_str::<WithArtifact>(body).ok().map(|event| event.artifact)
}

/// The contents whose text contains an address.
fn parents(conn: &Connection, hash: &Hash) -> crate::sql::Result<Vec<Hash>> {
    let mut all = conn.prepare_cached("SELECT hash, text FROM blobs NOT INDEXED")?;
    let (mut all, address) = (all.query([])?, hash.to_string());
    let mut found = Vec::new();
    while let Some(row) = all.next()?.filter(|_| found.len() < MAX_PARENTS) {
        if recorded_text(conn, row.get_ref(1)?).is_some_and(|text| text.contains(&address)) {
            found.push(Hash::from_bytes(row.get(0)?));
        }
    }
    Ok(found)
}

/// Compares every content with its address and checks that those referred to by runs and cases exist. Passes each fault to `show`; returns
/// the number of contents.
pub(super) fn verify(conn: &Connection, mut show: impl FnMut(BadContent)) -> Result<u64, StoreError> {
    let mut wrong = |hash: &Hash, fault| show(BadContent { hash: *hash, fault, owners: owners(conn, hash) });
    let mut count = 0;
    let mut all = conn.prepare("SELECT hash, text FROM blobs NOT INDEXED")?;
    let mut all = all.query([])?;
    let mut stored = HashSet::new();
    while let Some(row) = all.next()? {
        count += 1;
        let hash = Hash::from_bytes(row.get(0)?);
        match verified(conn, row.get_ref(1)?, &hash, &mut Vec::new()) {
            Ok(_) => {}
            Err(Unreadable::Changed) => wrong(&hash, Fault::Changed),
            Err(Unreadable::Newer(_)) => wrong(&hash, Fault::Newer),
        }
        stored.insert(hash);
    }
    let mut needed = conn.prepare(
        "SELECT settings FROM runs WHERE cleaned_at IS NULL UNION SELECT manifest FROM runs WHERE cleaned_at IS NULL \
         UNION SELECT launch FROM runs WHERE cleaned_at IS NULL \
         UNION SELECT content FROM run_cases JOIN runs ON runs.id = run WHERE cleaned_at IS NULL",
    )?;
    let mut needed: BTreeSet<Hash> = needed.query_map([], |row| row.get(0).map(Hash::from_bytes))?.collect::<Result<_, _>>()?;
    let mut events = conn.prepare("SELECT body FROM events WHERE rc IS NOT NULL")?;
    let mut events = events.query([])?;
    while let Some(row) = events.next()? {
        needed.extend(recorded_text(conn, row.get_ref(0)?).and_then(|body| artifact(&body)));
    }
    needed.iter().filter(|hash| !stored.contains(hash)).for_each(|hash| wrong(hash, Fault::Missing));
    Ok(count)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, launch, step};
    use asterisk_walk::Journal;
    use proptest::prelude::*;
    use rstest::rstest;

    /// Sets the value of a content.
    fn put(fixture: &StoreFixture, hash: &Hash, value: &dyn rusqlite::ToSql) {
        fixture.change("UPDATE blobs SET text = ?2 WHERE hash = ?1", params![hash.bytes(), value]);
    }

    #[test]
    fn a_changed_byte_of_a_packed_content_is_noticed() {
        Backend::File.check(64, &(any::<proptest::sample::Index>(), 0..8_u32), |(at, bit)| {
            let fixture = StoreFixture::on(Backend::File);
            let journal = fixture.begin("r", &launch(1));
            let commit = step("c1", 1);
            journal.commit(commit.clone()).unwrap();
            let blob = &commit.blobs[0];
            let mut bytes: Vec<u8> = fixture.value("SELECT text FROM blobs WHERE hash = ?1", params![blob.hash.bytes()]);
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
            put(&fixture, &blob.hash, &bytes);
            match fixture.store.blob(&blob.hash) {
                // Some bits of a frame are unused.
                Ok(text) => prop_assert_eq!(text, Some(blob.text.clone())),
                Err(StoreError::NewerText(_)) => prop_assert_eq!(at, 0),
                Err(StoreError::Content(bad)) => {
                    prop_assert_eq!((bad.fault, bad.owners[0].case.as_str()), (Fault::Changed, "c1"));
                    let mut found = Vec::new();
                    fixture.store.read(|conn| verify(conn, |bad| found.push(bad))).unwrap();
                    prop_assert_eq!(found, [*bad]);
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
            Ok(())
        });
    }

    #[rstest]
    fn plain_contents_of_older_stores_are_read(#[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let commit = step("c1", 1);
        let journal = fixture.begin("r", &launch(1));
        journal.commit(commit.clone()).unwrap();
        for blob in &commit.blobs {
            put(&fixture, &blob.hash, &&*blob.text);
        }
        fixture.change_events("", |body| body);
        for blob in &commit.blobs {
            assert_eq!(fixture.store.blob(&blob.hash).unwrap().as_ref(), Some(&blob.text));
        }
        let events: Vec<_> = fixture.store.events("r", "c1").unwrap().into_iter().map(|(_, event)| event).collect();
        assert_eq!(events, commit.events);
        assert_eq!(fixture.store.read(|conn| verify(conn, |bad| panic!("{bad}"))).unwrap(), 8);
    }

    #[rstest]
    fn a_content_of_a_newer_program_is_not_called_damaged(
        #[values(Backend::File, Backend::Memory, Backend::Server)] backend: Backend,
    ) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let commit = step("c1", 1);
        journal.commit(commit.clone()).unwrap();
        let hash = &commit.blobs[0].hash;
        put(&fixture, hash, &vec![200_u8, 1, 2, 3]);
        let error = fixture.store.needed(hash).expect_err("newer");
        assert!(!error.is_damage() && error.to_string().contains("written by a newer asterisk"), "{error}");
        let mut found = Vec::new();
        fixture.store.read(|conn| verify(conn, |bad| found.push((bad.hash, bad.fault)))).unwrap();
        assert_eq!(found, [(*hash, Fault::Newer)]);
        fixture.change("UPDATE events SET body = ?1 WHERE seq = 2", params![vec![200_u8, 1, 2, 3]]);
        let error = fixture.store.events("r", "c1").expect_err("newer");
        assert!(matches!(error, StoreError::NewerText(200)), "{error}");
    }
}
