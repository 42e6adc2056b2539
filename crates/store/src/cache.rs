//! The cache of a connection to a server, which saves round trips: addresses by their rows within a transaction, and for a writer also rows by
//! addresses and the end of the journal. Each transaction of a writer begins by checking what others have written; no two write at once.

use super::dictionary::Dictionary;
use super::sql::{self, Connection};
use asterisk_base::model::Hash;
use std::collections::{HashMap, HashSet};

/// Capacity; a full cache is cleared.
const MAX_ROWS: usize = 20_000;

/// The cache of a connection.
#[derive(Debug, Default)]
pub(crate) struct ServerCache {
    /// How the store stands; `None` until the transaction asks.
    now: Option<Standing>,
    /// The last event when it was asked last.
    seen: i64,
    /// The rows of addresses.
    rows: HashMap<Hash, i64>,
    /// Addresses at which nothing is stored, in this transaction.
    absent: HashSet<Hash>,
    /// Whether the transaction is that of a writer.
    writes: bool,
    /// Addresses by their rows, and dictionaries by theirs, in this transaction. Rows of contents that were removed are given again.
    hashes: HashMap<i64, Hash>,
    dictionaries: HashMap<u64, Dictionary>,
}

/// How the store stands within a transaction of its writer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// Number of the last event.
    pub(super) last_event: i64,
    /// Number of the first one, or 0.
    pub(super) first_event: i64,
    /// The latest dictionary, and the number of the last event when it was made.
    pub(super) dictionary: Option<(Dictionary, i64)>,
    /// Row of the last content.
    last_blob: i64,
}

/// The cached location of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AddressPlace {
    /// Nothing.
    Unknown,
    /// Nothing is stored at it.
    Absent,
    /// Its row.
    At(i64),
}

#[cfg(feature = "postgres")]
impl ServerCache {
    /// Forgets everything: it may have been undone.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Begins a transaction, of a writer or a reader.
    pub(crate) fn begin(&mut self, writes: bool) {
        self.now = None;
        self.writes = writes;
        self.absent.clear();
        self.hashes.clear();
        self.dictionaries.clear();
    }
}

/// How the store stands; `None` where that is not remembered, since asking costs little.
pub(super) fn standing(conn: &Connection) -> sql::Result<Option<Standing>> {
    let Some(remembered) = conn.cache() else { return Ok(None) };
    if !remembered.borrow().writes {
        return Ok(None);
    }
    if let Some(now) = remembered.borrow().now {
        return Ok(Some(now));
    }
    let upto = if remembered.borrow().rows.is_empty() { i64::MAX } else { remembered.borrow().seen };
    let mut ask = conn.prepare_cached(
        "SELECT coalesce((SELECT max(seq) FROM events), 0), coalesce((SELECT min(seq) FROM events), 0), \
         coalesce((SELECT max(id) FROM blobs), 0), EXISTS (SELECT 1 FROM events WHERE seq > ?1 AND run = 0), d.id, d.hash, d.seq \
         FROM (SELECT 1) one LEFT JOIN (SELECT id, hash, seq FROM dictionaries ORDER BY id DESC LIMIT 1) d ON 1 = 1",
    )?;
    let (now, stated) = ask.query_row([upto], |row| {
        let dictionary = match row.get::<_, Option<i64>>(4)? {
            Some(id) => Some((Dictionary::new(id, Hash::from_bytes(row.get(5)?)), row.get(6)?)),
            None => None,
        };
        let (last_event, first_event, last_blob) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((Standing { last_event, first_event, dictionary, last_blob }, row.get::<_, bool>(3)?))
    })?;
    let mut remembered = remembered.borrow_mut();
    if stated {
        // Contents may have been removed.
        remembered.rows.clear();
    }
    (remembered.now, remembered.seen) = (Some(now), now.last_event);
    Ok(Some(now))
}

/// Notes that events were written, from a number to another. Those of no run may be followed by the removal of contents.
pub(super) fn note_events(conn: &Connection, (first, last): (i64, i64), of_no_run: bool) {
    let Some(remembered) = conn.cache() else { return };
    let ServerCache { now, seen, rows, .. } = &mut *remembered.borrow_mut();
    if let Some(now) = now {
        now.last_event = last;
        now.first_event = if now.first_event == 0 { first } else { now.first_event };
        *seen = last;
    }
    if of_no_run {
        rows.clear();
    }
}

/// Notes that a dictionary was made.
pub(super) fn note_dictionary(conn: &Connection) {
    if let Some(remembered) = conn.cache() {
        remembered.borrow_mut().now = None;
    }
}

/// The row of an address, as far as it is remembered.
pub(super) fn row(conn: &Connection, hash: &Hash) -> sql::Result<AddressPlace> {
    // Whether it still holds.
    let (Some(_), Some(remembered)) = (standing(conn)?, conn.cache()) else { return Ok(AddressPlace::Unknown) };
    let remembered = remembered.borrow();
    Ok(match remembered.rows.get(hash) {
        Some(row) => AddressPlace::At(*row),
        None if remembered.absent.contains(hash) => AddressPlace::Absent,
        None => AddressPlace::Unknown,
    })
}

/// Notes the row of an address.
pub(super) fn note_row(conn: &Connection, hash: &Hash, row: Option<i64>) {
    if let Some(remembered) = conn.cache().filter(|remembered| remembered.borrow().writes) {
        let ServerCache { rows, absent, .. } = &mut *remembered.borrow_mut();
        if rows.len() >= MAX_ROWS {
            rows.clear();
        }
        match row {
            Some(row) => drop(rows.insert(*hash, row)),
            None => drop(absent.insert(*hash)),
        }
    }
}

/// The row that a new content gets: the one after the last, as a file would give it. `None` where the store gives it.
pub(super) fn next_blob(conn: &Connection) -> sql::Result<Option<i64>> {
    standing(conn)?;
    Ok(conn.cache().and_then(|remembered| {
        let mut remembered = remembered.borrow_mut();
        let now = remembered.now.as_mut()?;
        now.last_blob += 1;
        Some(now.last_blob)
    }))
}

/// The address of a row, or what `ask` says.
pub(super) fn hash(conn: &Connection, row: i64, ask: impl FnOnce() -> Option<Hash>) -> Option<Hash> {
    kept(conn, row, |remembered| &mut remembered.hashes, ask)
}

/// The dictionary of a row, or what `ask` says.
pub(super) fn dictionary(conn: &Connection, row: u64, ask: impl FnOnce() -> Option<Dictionary>) -> Option<Dictionary> {
    kept(conn, row, |remembered| &mut remembered.dictionaries, ask)
}

fn kept<K: Copy + Eq + std::hash::Hash, V: Copy>(
    conn: &Connection,
    key: K,
    of: impl Fn(&mut ServerCache) -> &mut HashMap<K, V>,
    ask: impl FnOnce() -> Option<V>,
) -> Option<V> {
    let Some(remembered) = conn.cache() else { return ask() };
    if let Some(known) = of(&mut remembered.borrow_mut()).get(&key) {
        return Some(*known);
    }
    let found = ask()?;
    let mut remembered = remembered.borrow_mut();
    let all = of(&mut remembered);
    if all.len() >= MAX_ROWS {
        all.clear();
    }
    all.insert(key, found);
    Some(found)
}
