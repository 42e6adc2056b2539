//! Reads contents by their addresses. Every content is compared with its address; one that changed on the disk is an error that names its
//! owners.

use super::bad_content::{BadContent, Fault, Owner};
use super::error::StoreError;
use crate::model::Hash;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use std::collections::{BTreeSet, HashSet};

/// Maximum number of owners that an error names.
const MAX_OWNERS: u8 = 3;
/// How many levels of references to follow upwards from a content: a part of a parameter list, a case of a launch.
const MAX_LEVELS: usize = 3;

/// Passes the content at an address to `look`, if it is stored.
pub(super) fn content<T>(conn: &Connection, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<Option<T>, StoreError> {
    let mut find = conn.prepare_cached("SELECT text FROM blobs WHERE hash = ?1")?;
    let mut rows = find.query(params![hash.bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    match verified(row.get_ref(0)?, hash) {
        Some(text) => Ok(Some(look(text))),
        None => Err(bad_content(conn, hash, Fault::Changed)),
    }
}

/// Passes the content at an address to `look`; a missing content is an error.
pub(super) fn needed<T>(conn: &Connection, hash: &Hash, look: impl FnOnce(&str) -> T) -> Result<T, StoreError> {
    content(conn, hash, look)?.ok_or_else(|| bad_content(conn, hash, Fault::Missing))
}

/// The text of a row, if it matches the address.
fn verified<'r>(value: ValueRef<'r>, hash: &Hash) -> Option<&'r str> {
    let bytes = value.as_bytes().ok().filter(|bytes| Hash::of(bytes) == *hash)?;
    std::str::from_utf8(bytes).ok()
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

fn direct(conn: &Connection, hash: &Hash, found: &mut BTreeSet<Owner>) -> rusqlite::Result<()> {
    let mut runs = conn.prepare_cached(
        "SELECT name, '', CASE ?1 WHEN args THEN 'what it was started with' WHEN manifest THEN 'the list of texts' ELSE 'the launch' END \
         FROM runs WHERE cleaned_at IS NULL AND ?1 IN (args, manifest, launch) \
         UNION ALL SELECT name, item, 'the failure' FROM run_cases JOIN runs ON runs.id = run \
         WHERE cleaned_at IS NULL AND content = ?1 ORDER BY 1 LIMIT ?2",
    )?;
    let owner = |row: &rusqlite::Row<'_>| Ok(Owner { run: row.get(0)?, case: row.get(1)?, what: row.get(2)? });
    for owner in runs.query_map(params![hash.bytes(), MAX_OWNERS], owner)? {
        found.insert(owner?);
    }
    let mut events = conn.prepare_cached(
        "SELECT name, ifnull(item, ''), CASE WHEN path = '' THEN 'a text' \
         WHEN type = 'node_exit' AND json_extract(body, '$.artifact') = ?1 THEN 'the artifact of step ' || path \
         ELSE 'what went into step ' || path END \
         FROM events JOIN runs ON runs.id = events.run LEFT JOIN run_cases ON run_cases.id = rc \
         WHERE instr(body, ?1) > 0 ORDER BY seq LIMIT ?2",
    )?;
    for owner in events.query_map(params![hash.to_string(), MAX_OWNERS], owner)? {
        found.insert(owner?);
    }
    Ok(())
}

/// The contents whose text contains an address.
fn parents(conn: &Connection, hash: &Hash) -> rusqlite::Result<Vec<Hash>> {
    let mut find = conn.prepare_cached("SELECT hash FROM blobs WHERE instr(text, ?1) > 0 LIMIT 16")?;
    find.query_map([hash.to_string()], |row| row.get(0).map(Hash::from_bytes))?.collect()
}

/// Compares every content with its address and checks that those referred to by runs and cases exist. Passes each fault to `show`; returns
/// the number of contents.
pub(super) fn verify(conn: &Connection, mut show: impl FnMut(BadContent)) -> Result<u64, StoreError> {
    let mut wrong = |hash: &Hash, fault| show(BadContent { hash: *hash, fault, owners: owners(conn, hash) });
    let mut count = 0;
    let mut all = conn.prepare("SELECT hash, text FROM blobs NOT INDEXED")?;
    let mut all = all.query([])?;
    while let Some(row) = all.next()? {
        count += 1;
        let hash = Hash::from_bytes(row.get(0)?);
        if verified(row.get_ref(1)?, &hash).is_none() {
            wrong(&hash, Fault::Changed);
        }
    }
    let mut needed = conn.prepare(
        "SELECT hash FROM (SELECT args AS hash FROM runs WHERE cleaned_at IS NULL UNION SELECT manifest FROM runs WHERE cleaned_at IS NULL \
         UNION SELECT launch FROM runs WHERE cleaned_at IS NULL \
         UNION SELECT content FROM run_cases JOIN runs ON runs.id = run WHERE cleaned_at IS NULL \
         UNION SELECT unhex(json_extract(body, '$.artifact')) FROM events WHERE type = 'node_exit') \
         WHERE hash IS NOT NULL AND hash NOT IN (SELECT hash FROM blobs)",
    )?;
    let missing: Vec<[u8; 32]> = needed.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for hash in missing {
        wrong(&Hash::from_bytes(hash), Fault::Missing);
    }
    Ok(count)
}
