//! Dictionaries that a store makes of its own texts, for those that follow: the walks of failures have most of their words in common.

use super::cache;
use super::packing::{compress, compressor, decompress, pack, unpack_bytes};
use crate::sql::{Connection, OptionalExtension, Row, params};
use asterisk_base::model::Hash;
use std::cell::RefCell;
use zstd::bulk::{Compressor, Decompressor};

/// How many dictionaries a thread keeps ready to unpack with.
const READY: usize = 8;

thread_local! {
    /// The dictionary that was packed with last. By address, since a process may have several stores.
    static PACKER: RefCell<Option<(Hash, Compressor<'static>)>> = const { RefCell::new(None) };
    /// The dictionaries that were unpacked with last, the latest in front.
    static UNPACKERS: RefCell<Vec<(Hash, Decompressor<'static>)>> = const { RefCell::new(Vec::new()) };
}

/// A dictionary of a store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dictionary {
    /// Its row.
    pub(super) id: i64,
    hash: Hash,
}

impl Dictionary {
    pub(super) fn new(id: i64, hash: Hash) -> Self {
        Self { id, hash }
    }

    /// The one that texts are packed with now.
    pub(super) fn latest(conn: &Connection) -> crate::sql::Result<Option<Self>> {
        if let Some(now) = cache::standing(conn)? {
            return Ok(now.dictionary.map(|(latest, _)| latest));
        }
        conn.prepare_cached("SELECT id, hash FROM dictionaries ORDER BY id DESC LIMIT 1")?.query_row([], Self::of_row).optional()
    }

    /// The one of a row.
    pub(super) fn find(conn: &Connection, id: u64) -> Option<Self> {
        cache::dictionary(conn, id, || {
            let mut find = conn.prepare_cached("SELECT id, hash FROM dictionaries WHERE id = ?1").ok()?;
            find.query_row([i64::try_from(id).ok()?], Self::of_row).ok()
        })
    }

    fn of_row(row: &Row<'_>) -> crate::sql::Result<Self> {
        Ok(Self { id: row.get(0)?, hash: Hash::from_bytes(row.get(1)?) })
    }

    /// Makes a dictionary of some bytes the latest, `seq` being the last event.
    pub(super) fn insert(conn: &Connection, seq: i64, bytes: &[u8]) -> crate::sql::Result<()> {
        let stored = pack(bytes).unwrap_or_default();
        conn.prepare_cached("INSERT INTO dictionaries (seq, hash, bytes) VALUES (?1, ?2, ?3)")?.execute(params![
            seq,
            Hash::of(bytes).bytes(),
            stored
        ])?;
        cache::note_dictionary(conn);
        Ok(())
    }

    /// The frame of some bytes; `None` if that cannot be made.
    pub(super) fn pack(&self, conn: &Connection, bytes: &[u8]) -> Option<Vec<u8>> {
        PACKER.with_borrow_mut(|packer| {
            if packer.as_ref().is_none_or(|(hash, _)| *hash != self.hash) {
                *packer = Some((self.hash, compressor(&self.bytes(conn)?)?));
            }
            compress(&mut packer.as_mut()?.1, bytes)
        })
    }

    /// The bytes of a frame; `None` if it or the dictionary is damaged.
    pub(super) fn unpack(&self, conn: &Connection, frame: &[u8]) -> Option<Vec<u8>> {
        UNPACKERS.with_borrow_mut(|unpackers| {
            match unpackers.iter().position(|(hash, _)| *hash == self.hash) {
                Some(at) => unpackers[..=at].rotate_right(1),
                None => {
                    unpackers.truncate(READY - 1);
                    unpackers.insert(0, (self.hash, Decompressor::with_dictionary(&self.bytes(conn)?).ok()?));
                }
            }
            decompress(&mut unpackers[0].1, frame)
        })
    }

    /// What it is made of, if that is what was stored.
    fn bytes(&self, conn: &Connection) -> Option<Vec<u8>> {
        let mut find = conn.prepare_cached("SELECT bytes FROM dictionaries WHERE id = ?1").ok()?;
        let bytes = find.query_row([self.id], |row| Ok(unpack_bytes(row.get_ref(0)?.as_blob()?))).ok()??;
        (Hash::of(&bytes) == self.hash).then_some(bytes)
    }
}
