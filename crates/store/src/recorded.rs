//! Contents and the bodies of events as they lie in the file: with rows for addresses (`addresses.rs`), packed with the dictionary that was
//! the latest (`dictionary.rs`).
//!
//! A packed one is a `BLOB`: a byte for this form, the row of the dictionary (0 for the one in the program), the frame. What older
//! programs wrote has the forms of `packing.rs`, and so has what no dictionary makes shorter.

use super::addresses::{number, put_number, with_addresses, with_rows};
use super::cache;
use super::connection::inspect;
use super::dictionary::Dictionary;
use super::error::StoreError;
use super::packing::{LONG, MAX_BYTES, StoredText, Unreadable, pack_frame, unpack, unpack_frame};
use crate::sql::Connection;
use rusqlite::types::{FromSql, ValueRef};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

/// The first byte.
const FORM: u8 = 2;
/// After how many events a store makes its first dictionary: those of two or three failures.
const FIRST: i64 = 75;
/// After how many events it makes another one, at least: those of four or five failures. Newer ones save more than they take, down to about
/// that.
const EVERY: i64 = 150;
/// After which part of its events a larger store makes another one: what they have in common is learnt early, and each takes the time of
/// a dozen steps.
const SHARE: i64 = 8;
/// Of how many bytes of contents a dictionary is made: of every second one, the latest. Cases walk side by side, so that the latest alone
/// would all be of one step.
const CONTENT_BYTES: usize = 84 << 10;
/// Of how many bytes of events: of the latest of each beginning, that is of each kind and node.
const EVENT_BYTES: usize = 12 << 10;
/// How many bytes make a beginning.
const BEGINNING: usize = 45;
/// A dictionary helps most with what is short.
const LONGEST: usize = 16_000;
/// How many rows of contents are looked at for them; of events, those since the last dictionary. Unpacking them takes a few milliseconds,
/// while other steps wait to be written.
const CONTENT_ROWS: i64 = 500;

/// A content or the body of an event to be written.
pub(super) fn record<'t>(conn: &Connection, text: &'t str) -> Result<StoredText<'t>, StoreError> {
    if text.len() > MAX_BYTES || conn.is_scratch() {
        return Ok(StoredText::Plain(Cow::Borrowed(text)));
    }
    let short = with_rows(conn, text)?;
    let own = if short.len() > LONG { None } else { Dictionary::latest(conn)? };
    let own = own.and_then(|own| Some((own.id.cast_unsigned(), own.pack(conn, &short)?)));
    let Some((dictionary, frame)) = own.or_else(|| Some((0, pack_frame(&short)?))) else {
        return Ok(StoredText::Plain(Cow::Borrowed(text)));
    };
    let mut packed = vec![FORM];
    put_number(&mut packed, dictionary);
    packed.extend_from_slice(&frame);
    Ok(if packed.len() < text.len() { StoredText::Packed(packed) } else { StoredText::Plain(Cow::Borrowed(text)) })
}

/// The text of a value of the file, in `room` if it was packed.
pub(super) fn recorded<'v>(conn: &Connection, value: ValueRef<'v>, room: &'v mut Vec<u8>) -> Result<&'v str, Unreadable> {
    let ValueRef::Blob([FORM, packed @ ..]) = value else { return unpack(value, room) };
    *room = short_form(conn, packed).and_then(|short| with_addresses(conn, short)).ok_or(Unreadable::Changed)?;
    std::str::from_utf8(room).map_err(|_| Unreadable::Changed)
}

/// What was packed: the text with rows for addresses.
fn short_form(conn: &Connection, packed: &[u8]) -> Option<Vec<u8>> {
    match number(packed)? {
        (0, frame) => unpack_frame(frame),
        (dictionary, frame) => Dictionary::find(conn, dictionary)?.unpack(conn, frame),
    }
}

/// The rows of a query of a file, the second column being the body of an event or a content, as text: for those who look into a store by
/// themselves.
///
/// # Errors
/// If the query fails, or if a text cannot be read.
pub fn recorded_texts<T: FromSql>(path: &Path, sql: &str) -> Result<Vec<(T, String)>, StoreError> {
    let conn = inspect(path)?;
    let mut rows = conn.prepare(sql)?;
    let mut rows = rows.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push((row.get(0)?, recorded(&conn, row.get_ref(1)?, &mut Vec::new())?.to_owned()));
    }
    Ok(found)
}

/// The text of a value of the file, if it can be read.
pub(super) fn recorded_text(conn: &Connection, value: ValueRef<'_>) -> Option<String> {
    recorded(conn, value, &mut Vec::new()).ok().map(str::to_owned)
}

/// Makes another dictionary if it is time for one, `seq` being the last event.
pub(super) fn renew_dictionary(conn: &Connection, seq: i64) -> Result<(), StoreError> {
    if conn.is_scratch() {
        return Ok(());
    }
    let (last, begun): (Option<i64>, i64) = match cache::standing(conn)? {
        Some(now) => (now.dictionary.map(|(_, seq)| seq), now.first_event),
        None => conn
            .prepare_cached("SELECT max(seq), (SELECT coalesce(min(seq), 0) FROM events) FROM dictionaries")?
            .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?,
    };
    if seq - last.unwrap_or(begun) < last.map_or(FIRST, |_| EVERY.max((seq - begun) / SHARE)) {
        return Ok(());
    }
    let mut beginnings = HashSet::new();
    let new = |text: &[u8]| beginnings.insert(text[..text.len().min(BEGINNING)].to_vec());
    let mut texts = chosen(conn, "SELECT body FROM events ORDER BY seq DESC LIMIT ?1", (EVERY, EVENT_BYTES), new)?;
    let mut contents = 0;
    let every_second = |_: &[u8]| {
        contents += 1;
        contents % 2 == 1
    };
    texts.extend(chosen(conn, "SELECT text FROM blobs ORDER BY id DESC LIMIT ?1", (CONTENT_ROWS, CONTENT_BYTES), every_second)?);
    // What stands at the end is the cheapest to refer to.
    texts.reverse();
    Ok(Dictionary::insert(conn, seq, &texts.concat())?)
}

/// The texts of the first rows of a query, as they are packed, that are chosen in turn, until there are the given number of
/// bytes. What cannot be read helps no other.
fn chosen(
    conn: &Connection,
    sql: &str,
    (most, bytes): (i64, usize),
    mut choose: impl FnMut(&[u8]) -> bool,
) -> Result<Vec<Vec<u8>>, StoreError> {
    let mut rows = conn.prepare_cached(sql)?;
    let mut rows = rows.query([most])?;
    let (mut found, mut left) = (Vec::new(), bytes);
    while let Some(row) = rows.next()? {
        let text = match row.get_ref(0)? {
            ValueRef::Blob([FORM, packed @ ..]) => short_form(conn, packed),
            other => recorded_text(conn, other).map(String::into_bytes),
        };
        let Some(text) = text.filter(|text| text.len() <= LONGEST && choose(text)) else { continue };
        if text.len() > left {
            break;
        }
        left -= text.len();
        found.push(text);
    }
    Ok(found)
}

/// Removes the dictionaries that nothing is packed with; returns their size in bytes.
pub(super) fn remove_unused_dictionaries(conn: &Connection) -> Result<u64, StoreError> {
    let mut used = HashSet::new();
    let mut rows = conn.prepare(
        "SELECT substr(text, 1, 10) FROM blobs WHERE substr(text, 1, 1) = ?1 \
         UNION ALL SELECT substr(body, 1, 10) FROM events WHERE substr(body, 1, 1) = ?1",
    )?;
    let mut rows = rows.query([[FORM].as_slice()])?;
    while let Some(row) = rows.next()? {
        if let ValueRef::Blob([FORM, packed @ ..]) = row.get_ref(0)? {
            used.extend(number(packed).map(|(dictionary, _)| dictionary.cast_signed()));
        }
    }
    let mut all = conn.prepare("SELECT id, length(bytes) FROM dictionaries")?;
    let all: Vec<(i64, i64)> = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    let mut bytes = 0;
    for (id, length) in all.into_iter().filter(|(id, _)| !used.contains(id)) {
        conn.execute("DELETE FROM dictionaries WHERE id = ?1", [id])?;
        bytes += length.unsigned_abs();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::fixture::{Backend, StoreFixture, launch, step};
    use crate::sql::params;
    use asterisk_base::model::Hash;
    use asterisk_walk::{Blob, Commit, Journal};
    use proptest::prelude::*;
    use rstest::rstest;

    fn dictionaries(fixture: &StoreFixture) -> i64 {
        fixture.store.read(|conn| Ok(conn.query_row("SELECT count(*) FROM dictionaries", [], |row| row.get(0))?)).unwrap()
    }

    /// A store that has made this many dictionaries, by a run `r` of one case.
    fn grown(backend: Backend, most: i64) -> (StoreFixture, i64) {
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let mut steps = 0;
        while dictionaries(&fixture) < most {
            steps += 1;
            journal.commit(step("c1", steps)).unwrap();
        }
        (fixture, i64::try_from(steps).unwrap())
    }

    #[rstest]
    fn any_text_comes_back_whatever_it_is_packed_with(#[values(Backend::File, Backend::Server)] backend: Backend) {
        let texts = proptest::collection::vec(("\\PC{0,40}", 0..60_usize, any::<bool>()), 1..20);
        backend.check(32, &(texts, 0..3_i64), |(texts, most)| {
            let (fixture, _) = grown(backend, most);
            let known = Hash::of(b"fn a() {}");
            let come_back = |conn: &Connection| {
                for (text, times, named) in &texts {
                    let named = if *named { format!("\"{known}\"") } else { String::new() };
                    let text = format!("{}{named}", text.repeat(*times));
                    let stored = record(conn, &text)?;
                    if let StoredText::Packed(bytes) = &stored {
                        assert!(bytes.len() < text.len());
                    }
                    let value = match &stored {
                        StoredText::Plain(text) => ValueRef::Text(text.as_bytes()),
                        StoredText::Packed(bytes) => ValueRef::Blob(bytes),
                    };
                    assert_eq!(recorded(conn, value, &mut Vec::new()), Ok(text.as_str()));
                }
                Ok(())
            };
            fixture.store.writer().unwrap().exclusively(come_back).unwrap();
            Ok(())
        });
    }

    #[test]
    fn any_bytes_are_a_text_or_an_error() {
        Backend::File.check(32, &proptest::collection::vec(any::<u8>(), 0..200), |any| {
            let (fixture, _) = grown(Backend::File, 1);
            let read = |conn: &Connection| {
                for dictionary in [0, 1, 9] {
                    let bytes = [&[FORM, dictionary], any.as_slice()].concat();
                    recorded_text(conn, ValueRef::Blob(&bytes));
                }
                Ok(())
            };
            fixture.store.read(read).unwrap();
            Ok(())
        });
    }

    #[rstest]
    fn dictionaries_are_made_as_a_store_grows_and_save_most_of_it(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let (fixture, first) = grown(backend, 1);
        let (second, later) = grown(backend, 2);
        assert_eq!((first, later), ((FIRST + 3) / 4, (FIRST + 3) / 4 + (EVERY + 3) / 4));
        let bytes = |fixture: &StoreFixture, step: i64| {
            let sql = "SELECT CAST(sum(octet_length(body)) AS BIGINT) FROM events WHERE seq > ?1 AND seq <= ?1 + 40";
            fixture.value::<i64>(sql, &[&(step * 4)])
        };
        assert!(bytes(&second, first + 5) * 3 < bytes(&fixture, 2) * 2, "{} {}", bytes(&second, first + 5), bytes(&fixture, 2));
        for (fixture, steps) in [(fixture, first), (second, later)] {
            let events: Vec<_> = fixture.store.events("r", "c1").unwrap().into_iter().map(|(_, event)| event).collect();
            assert_eq!(events, (1..=steps).flat_map(|at| step("c1", at.try_into().unwrap()).events).collect::<Vec<_>>());
        }
    }

    #[rstest]
    fn parts_are_named_by_their_rows_though_they_stand_behind(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let fixture = StoreFixture::on(backend);
        let journal = fixture.begin("r", &launch(1));
        let part = Blob::new(r#"{"a part":"of it"}"#);
        let whole = Blob::new(format!(r#"{{"$parts":{{"a":"{}"}}}}"#, part.hash));
        journal.commit(Commit { blobs: vec![whole.clone(), part], ..Commit::default() }).unwrap();
        let length: i64 = fixture.value("SELECT octet_length(text) FROM blobs WHERE hash = ?1", params![whole.hash.bytes()]);
        assert!(length < 30, "{length}");
        assert_eq!(fixture.store.blob(&whole.hash).unwrap(), Some(whole.text));
    }

    #[rstest]
    fn a_damaged_dictionary_is_damage_and_packs_nothing_more(#[values(Backend::File, Backend::Server)] backend: Backend) {
        if backend.is_missing() {
            return;
        }
        let (fixture, steps) = grown(backend, 1);
        fixture.change("UPDATE dictionaries SET hash = ?1", params![[0_u8; 32]]);
        let text = "a text as long as any".repeat(20);
        fixture
            .store
            .writer()
            .unwrap()
            .exclusively(|conn| {
                let StoredText::Packed(bytes) = record(conn, &text)? else { panic!("plain") };
                assert_eq!(bytes[..2], [FORM, 0]);
                assert_eq!(recorded(conn, ValueRef::Blob(&[FORM, 1, 2, 3]), &mut Vec::new()), Err(Unreadable::Changed));
                Ok(())
            })
            .unwrap();
        assert_eq!(fixture.store.events("r", "c1").unwrap().len(), usize::try_from(steps * 4).unwrap());
    }

    /// `cargo test --profile bench --lib store::recorded -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    #[allow(clippy::print_stdout, clippy::cast_precision_loss)]
    fn time_of_an_event_and_of_a_list_of_parts() {
        let (fixture, _) = grown(Backend::File, 2);
        let known = Hash::of(b"fn a() {}");
        let parts: Vec<_> = (0..12).map(|n| format!(r#""part {n}":"{known}""#)).collect();
        let texts = |n: u32| {
            let event = format!(r#"{{"type":"node_exit","node":"recall","artifact":"{known}","by":"script","took_ms":{n}}}"#);
            [event, format!(r#"{{"$parts":{{{},"n":{n}}}}}"#, parts.join(","))]
        };
        let time = |conn: &Connection, which: usize| {
            let texts: Vec<_> = (0..2000).map(|n| texts(n)[which].clone()).collect();
            let start = std::time::Instant::now();
            let stored: Vec<_> = texts.iter().map(|text| record(conn, text).unwrap()).collect();
            let packed = start.elapsed();
            let start = std::time::Instant::now();
            for stored in &stored {
                let StoredText::Packed(bytes) = stored else { panic!("plain") };
                recorded(conn, ValueRef::Blob(bytes), &mut Vec::new()).unwrap();
            }
            let each = |time: std::time::Duration| time.as_secs_f64() * 1e6 / texts.len() as f64;
            println!("packing {:.1} us, unpacking {:.1} us", each(packed), each(start.elapsed()));
        };
        let both = |conn: &Connection| {
            (0..3).for_each(|_| [0, 1].into_iter().for_each(|which| time(conn, which)));
            Ok(())
        };
        fixture.store.read(both).unwrap();
    }
}
