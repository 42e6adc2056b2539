//! Rows of contents in the place of their addresses: three bytes for 66. A reader of a text restores the addresses and compares
//! all of it with its own address, or its sum.

use super::cache::{self, AddressPlace};
use super::error::StoreError;
use crate::sql::{Connection, OptionalExtension};
use asterisk_base::model::Hash;
use std::collections::BTreeSet;

/// Stands before a row. No text has this byte, since UTF-8 does not.
const MARK: u8 = 0xff;
/// The length of an address, in hexadecimal digits.
const DIGITS: usize = 64;

/// Query: the row of a content.
const FIND: &str = "SELECT id FROM blobs WHERE substr(hash, 1, 4) = ?2 AND hash = ?1";

/// Asks a server at once for all contents that a commit has and refers to. A file answers each question as fast.
pub(super) fn prefetch<'t>(
    conn: &Connection,
    contents: impl Iterator<Item = Hash>,
    texts: impl Iterator<Item = &'t str>,
) -> Result<(), StoreError> {
    if conn.file().is_some() {
        return Ok(());
    }
    let mut unknown = BTreeSet::new();
    for hash in contents.chain(texts.flat_map(addresses)) {
        if cache::row(conn, &hash) == AddressPlace::Unknown {
            unknown.insert(hash);
        }
    }
    let asked: Vec<[&[u8]; 2]> = unknown.iter().map(|hash| [hash.bytes().as_slice(), &hash.bytes()[..4]]).collect();
    let found = conn.prepare_cached(FIND)?.query_each(asked, |row| row.get(0))?;
    unknown.iter().zip(found).for_each(|(hash, rows)| cache::note_row(conn, hash, rows.first().copied()));
    Ok(())
}

/// The quoted addresses of a text.
fn addresses(text: &str) -> impl Iterator<Item = Hash> {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'"', bytes).filter_map(|at| address(&bytes[at + 1..]))
}

/// The row of the content at an address, if it is stored.
pub(super) fn row_of(conn: &Connection, hash: &Hash) -> crate::sql::Result<Option<i64>> {
    match cache::row(conn, hash) {
        AddressPlace::At(row) => return Ok(Some(row)),
        AddressPlace::Absent => return Ok(None),
        AddressPlace::Unknown => {}
    }
    let mut find = conn.prepare_cached(FIND)?;
    let row = find.query_row([hash.bytes().as_slice(), &hash.bytes()[..4]], |row| row.get(0)).optional()?;
    cache::note_row(conn, hash, row);
    Ok(row)
}

/// The text with rows for the quoted addresses of contents that are stored; what else looks like an address stays.
pub(super) fn with_rows(conn: &Connection, text: &str) -> Result<Vec<u8>, StoreError> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let (mut at, mut copied) = (0, 0);
    while let Some(quote) = memchr::memchr(b'"', &bytes[at..]).map(|found| at + found) {
        at = quote + 1;
        let Some(hash) = address(&bytes[at..]) else { continue };
        let Some(row) = row_of(conn, &hash)?.and_then(|row| u64::try_from(row).ok()) else { continue };
        out.extend_from_slice(&bytes[copied..quote]);
        out.push(MARK);
        put_number(&mut out, row);
        at += DIGITS + 1;
        copied = at;
    }
    out.extend_from_slice(&bytes[copied..]);
    Ok(out)
}

/// The text with its addresses put back; `None` if a content that it refers to is not stored.
pub(super) fn with_addresses(conn: &Connection, bytes: Vec<u8>) -> Option<Vec<u8>> {
    // The text in front of each row, the row, and what follows the last.
    let (mut parts, mut rest) = (Vec::new(), bytes.as_slice());
    while let Some(mark) = memchr::memchr(MARK, rest) {
        let (row, behind) = number(&rest[mark + 1..])?;
        parts.push((&rest[..mark], i64::try_from(row).ok()?));
        rest = behind;
    }
    if parts.is_empty() {
        return Some(bytes);
    }
    let hashes = cache::hashes(conn, parts.iter().map(|(_, row)| *row), |rows| {
        let mut find = conn.prepare_cached("SELECT hash FROM blobs WHERE id = ?1").ok()?;
        let found = find.query_each(rows.iter().map(|row| [*row]).collect(), |row| row.get(0).map(Hash::from_bytes)).ok()?;
        found.into_iter().map(|found| found.first().copied()).collect()
    })?;
    let mut out = Vec::with_capacity(bytes.len() + parts.len() * DIGITS);
    for ((before, _), hash) in parts.iter().zip(hashes) {
        out.extend_from_slice(before);
        out.extend_from_slice(format!("\"{hash}\"").as_bytes());
    }
    out.extend_from_slice(rest);
    Some(out)
}

/// The address before a closing quote, written as addresses are.
fn address(bytes: &[u8]) -> Option<Hash> {
    let digits = bytes.get(..DIGITS).filter(|_| bytes.get(DIGITS) == Some(&b'"'))?;
    let all = digits.iter().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(byte));
    if all { std::str::from_utf8(digits).ok()?.parse().ok() } else { None }
}

/// Appends a number: seven bits a byte, the lowest first, the highest bit for another byte to follow.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = number.to_le_bytes()[0] & 0x7f;
        number >>= 7;
        if number == 0 {
            return out.push(low);
        }
        out.push(low | 0x80);
    }
}

/// The number that some bytes begin with, and what follows it.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(9) {
        number |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, launch};
    use asterisk_walk::{Blob, Commit, Journal};
    use proptest::prelude::*;
    use rstest::rstest;

    proptest! {
        #[test]
        fn any_number_comes_back(any in 0..=i64::MAX.cast_unsigned(), small in 0..300_u64, rest in any::<[u8; 2]>()) {
            for written in [any, small] {
                let mut bytes = Vec::new();
                put_number(&mut bytes, written);
                bytes.extend_from_slice(&rest);
                prop_assert_eq!(number(&bytes), Some((written, rest.as_slice())));
            }
        }
    }

    #[rstest]
    fn any_text_comes_back(#[values(Backend::File, Backend::Server)] backend: Backend) {
        backend.check(256, &proptest::collection::vec(("\\PC{0,9}", 0..6_usize), 0..12), |parts| {
            let fixture = StoreFixture::on(backend);
            let journal = fixture.begin("r", &launch(1));
            let blobs: Vec<_> = (0..3).map(|n| Blob::new(format!("content {n}"))).collect();
            let (known, unknown) = (blobs[0].hash.to_string(), Hash::of(b"unknown").to_string());
            journal.commit(Commit { blobs: blobs.clone(), ..Commit::default() }).unwrap();
            let forms = [
                format!("\"{known}\""),
                known.clone(),
                format!("\"{unknown}\""),
                format!("\"{}\"", known.to_uppercase()),
                format!("\"{}\"", blobs[2].hash),
                "\"\"".to_owned(),
            ];
            let text: String = parts.iter().flat_map(|(text, form)| [text.as_str(), forms[*form].as_str()]).collect();
            let again = fixture.store.read(|conn| Ok(with_addresses(conn, with_rows(conn, &text)?))).unwrap();
            prop_assert_eq!(again, Some(text.into_bytes()));
            Ok(())
        });
    }

    #[rstest]
    fn only_stored_contents_have_rows_and_a_missing_row_is_noticed(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let _journal = fixture.begin("r", &launch(1));
        let (known, unknown) = (Hash::of(b"fn a() {}"), Hash::of(b"unknown"));
        let text = format!(r#"["{known}","{unknown}","{known}"#);
        fixture
            .store
            .read(|conn| {
                let short = with_rows(conn, &text)?;
                assert_eq!(short.len(), text.len() - 66 + 2);
                assert_eq!(with_addresses(conn, vec![MARK, 0x7f]), None);
                assert_eq!(with_addresses(conn, vec![b'x', MARK]), None);
                assert_eq!(with_addresses(conn, vec![MARK; 20]), None);
                Ok(())
            })
            .unwrap();
    }
}
