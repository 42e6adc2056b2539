//! The cache of a connection to a server, which saves round trips: addresses, rows and texts of contents, and for a writer the end of the
//! journal. Contents never change, but `clean` removes them, and rows may be given again. It states that as an event of no run, in the same
//! transaction; each transaction begins by asking for the last such event.

use super::dictionary::Dictionary;
use super::sql::{self, Connection};
use asterisk_base::model::Hash;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Capacity of each table; a full one is cleared.
const MAX_ROWS: usize = 20_000;
/// Capacity for texts, in bytes, and the longest one that is kept.
const MAX_TEXTS: usize = 4 << 20;
const LONGEST_TEXT: usize = 64 << 10;

/// The cache of a connection.
#[derive(Debug, Default)]
pub(crate) struct ServerCache {
    /// Number of the last event of no run when the transaction began; `None` if what is cached may not hold in the next one.
    last_statement: Option<i64>,
    /// Whether the transaction is that of a writer.
    writes: bool,
    /// How the store stands; `None` until the writer's transaction asks.
    now: Option<Standing>,
    /// Addresses at which nothing is stored, in a writer's transaction.
    absent: HashSet<Hash>,
    rows: HashMap<Hash, i64>,
    hashes: HashMap<i64, Hash>,
    dictionaries: HashMap<u64, Dictionary>,
    texts: HashMap<Hash, Arc<str>>,
    text_bytes: usize,
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
        let writes = self.writes;
        *self = Self { writes, ..Self::default() };
    }

    /// Begins a transaction, `last_statement` being the number of the last event of no run.
    pub(crate) fn begin(&mut self, writes: bool, last_statement: Option<i64>) {
        if last_statement.is_none() || last_statement != self.last_statement {
            self.forget();
        }
        (self.writes, self.last_statement, self.now) = (writes, last_statement, None);
        self.absent.clear();
    }
}

/// How the store stands; `None` where that is not cached, since asking costs little.
pub(super) fn standing(conn: &Connection) -> sql::Result<Option<Standing>> {
    let Some(cache) = conn.cache() else { return Ok(None) };
    if !cache.borrow().writes {
        return Ok(None);
    }
    if let Some(now) = cache.borrow().now {
        return Ok(Some(now));
    }
    let mut ask = conn.prepare_cached(
        "SELECT coalesce((SELECT max(seq) FROM events), 0), coalesce((SELECT min(seq) FROM events), 0), \
         coalesce((SELECT max(id) FROM blobs), 0), d.id, d.hash, d.seq \
         FROM (SELECT 1) one LEFT JOIN (SELECT id, hash, seq FROM dictionaries ORDER BY id DESC LIMIT 1) d ON 1 = 1",
    )?;
    let now = ask.query_row([], |row| {
        let dictionary = match row.get::<_, Option<i64>>(3)? {
            Some(id) => Some((Dictionary::new(id, Hash::from_bytes(row.get(4)?)), row.get(5)?)),
            None => None,
        };
        Ok(Standing { last_event: row.get(0)?, first_event: row.get(1)?, last_blob: row.get(2)?, dictionary })
    })?;
    cache.borrow_mut().now = Some(now);
    Ok(Some(now))
}

/// Notes that events were written, from a number to another. Those of no run may be followed by the removal of contents.
pub(super) fn note_events(conn: &Connection, (first, last): (i64, i64), of_no_run: bool) {
    let Some(cache) = conn.cache() else { return };
    let cache = &mut *cache.borrow_mut();
    if let Some(now) = &mut cache.now {
        now.last_event = last;
        now.first_event = if now.first_event == 0 { first } else { now.first_event };
    }
    if of_no_run {
        cache.last_statement = None;
        cache.rows.clear();
        cache.texts.clear();
        cache.text_bytes = 0;
    }
}

/// Notes that a dictionary was made.
pub(super) fn note_dictionary(conn: &Connection) {
    if let Some(cache) = conn.cache() {
        cache.borrow_mut().now = None;
    }
}

/// The row of an address, as far as it is cached.
pub(super) fn row(conn: &Connection, hash: &Hash) -> AddressPlace {
    let Some(cache) = conn.cache() else { return AddressPlace::Unknown };
    let cache = cache.borrow();
    match cache.rows.get(hash) {
        Some(row) => AddressPlace::At(*row),
        None if cache.absent.contains(hash) => AddressPlace::Absent,
        None => AddressPlace::Unknown,
    }
}

/// Notes the row of an address.
pub(super) fn note_row(conn: &Connection, hash: &Hash, row: Option<i64>) {
    let Some(cache) = conn.cache() else { return };
    let cache = &mut *cache.borrow_mut();
    match row {
        Some(row) => insert(&mut cache.rows, *hash, row),
        None if cache.writes => drop(cache.absent.insert(*hash)),
        None => {}
    }
}

/// The text of a content, if it is cached.
pub(super) fn text(conn: &Connection, hash: &Hash) -> Option<Arc<str>> {
    conn.cache()?.borrow().texts.get(hash).cloned()
}

/// Notes the text of a content, which was compared with its address.
pub(super) fn note_text(conn: &Connection, hash: &Hash, text: &str) {
    let Some(cache) = conn.cache().filter(|_| text.len() <= LONGEST_TEXT) else { return };
    let ServerCache { texts, text_bytes, .. } = &mut *cache.borrow_mut();
    if *text_bytes + text.len() > MAX_TEXTS {
        texts.clear();
        *text_bytes = 0;
    }
    *text_bytes += text.len();
    insert(texts, *hash, text.into());
}

fn insert<K: Eq + std::hash::Hash, V>(table: &mut HashMap<K, V>, key: K, value: V) {
    if table.len() >= MAX_ROWS {
        table.clear();
    }
    table.insert(key, value);
}

/// The row that a new content gets: the one after the last, as a file would give it. `None` where the store gives it.
pub(super) fn next_blob(conn: &Connection) -> sql::Result<Option<i64>> {
    standing(conn)?;
    Ok(conn.cache().and_then(|cache| {
        let mut cache = cache.borrow_mut();
        let now = cache.now.as_mut()?;
        now.last_blob += 1;
        Some(now.last_blob)
    }))
}

/// The addresses of rows; `ask` is given those that are not cached. `None` if one is missing.
pub(super) fn hashes(
    conn: &Connection,
    rows: impl Iterator<Item = i64> + Clone,
    ask: impl FnOnce(&[i64]) -> Option<Vec<Hash>>,
) -> Option<Vec<Hash>> {
    let Some(cache) = conn.cache() else { return ask(&rows.collect::<Vec<_>>()) };
    let mut found: Vec<Option<Hash>> = rows.clone().map(|row| cache.borrow().hashes.get(&row).copied()).collect();
    let missing: Vec<i64> = rows.zip(&found).filter(|(_, hash)| hash.is_none()).map(|(row, _)| row).collect();
    if !missing.is_empty() {
        let asked = ask(&missing)?;
        for (row, hash) in missing.iter().zip(&asked) {
            insert(&mut cache.borrow_mut().hashes, *row, *hash);
        }
        let mut asked = asked.into_iter();
        found.iter_mut().filter(|hash| hash.is_none()).for_each(|hash| *hash = asked.next());
    }
    found.into_iter().collect()
}

/// The dictionary of a row, or what `ask` says.
pub(super) fn dictionary(conn: &Connection, row: u64, ask: impl FnOnce() -> Option<Dictionary>) -> Option<Dictionary> {
    let Some(cache) = conn.cache() else { return ask() };
    if let Some(known) = cache.borrow().dictionaries.get(&row) {
        return Some(*known);
    }
    let found = ask()?;
    insert(&mut cache.borrow_mut().dictionaries, row, found);
    Some(found)
}
