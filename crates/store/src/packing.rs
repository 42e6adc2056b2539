//! Texts of the store as they lie in the file, each for itself: packed by zstd with a dictionary of the program, or plain. So are texts of
//! symptoms and root causes, which outlive the contents of their runs; contents and bodies of events take less (`recorded.rs`).
//!
//! A value of type `TEXT` is plain: it is short, or older than packing. A `BLOB` is packed: one byte, the number of the dictionary, and a
//! zstd frame without its magic number, which would be a tenth of most bodies. Addresses and sums are those of the plain text.
//!
//! The dictionary holds what the texts of most runs share: keys, names of nodes and edges, phrases of the bundled scripts. It is trained on
//! the bundled examples and fixtures alone, by the ignored test `growth::train_the_dictionary`. One that is published is never replaced, since stores are
//! written with it: another gets the next number.

use super::error::StoreError;
use super::sql::PLAIN;
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::LazyLock;
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};
use zstd::zstd_safe::get_frame_content_size;

/// The dictionary.
const DICTIONARY: &[u8] = include_bytes!("dictionaries/1.zdict");
/// Its number.
const NUMBER: u8 = 1;
/// The dearest level that takes less than 50 microseconds for most texts, and less than ten for most events.
const LEVEL: i32 = 9;
/// A text of more bytes is packed fast and by itself: dictionaries are for short ones.
pub(super) const LONG: usize = 256 << 10;
/// How fast.
const LEVEL_OF_LONG: i32 = 3;
/// What every frame begins with, and none in the store does.
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// A longer text stays plain, and a frame that claims to hold one is damaged.
pub(super) const MAX_BYTES: usize = 256 << 20;
/// The shortest block of a frame has four bytes and holds 128 KiB: a frame that claims to hold more than that is damaged.
const MAX_RATIO: usize = 32 << 10;

static ENCODER: LazyLock<EncoderDictionary<'static>> = LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, LEVEL));
static DECODER: LazyLock<DecoderDictionary<'static>> = LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

thread_local! {
    /// `None` if zstd cannot be set up, for want of memory: texts stay plain.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> =
        RefCell::new(Compressor::with_prepared_dictionary(&ENCODER).ok().and_then(ready));
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> =
        RefCell::new(Decompressor::with_prepared_dictionary(&DECODER).ok());
}

/// What packs with a dictionary.
pub(super) fn compressor(dictionary: &[u8]) -> Option<Compressor<'static>> {
    Compressor::with_dictionary(LEVEL, dictionary).ok().and_then(ready)
}

fn ready(mut compressor: Compressor<'static>) -> Option<Compressor<'static>> {
    compressor.include_dictid(false).ok()?;
    Some(compressor)
}

/// A text to be written.
#[derive(Debug)]
pub(super) enum StoredText<'t> {
    /// No shorter if packed.
    Plain(Cow<'t, str>),
    Packed(Vec<u8>),
}

impl<'t> StoredText<'t> {
    pub(super) fn new(text: impl Into<Cow<'t, str>>) -> Self {
        let text = text.into();
        pack(text.as_bytes()).map_or(Self::Plain(text), Self::Packed)
    }
}

impl ToSql for StoredText<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Plain(text) => text.to_sql(),
            Self::Packed(bytes) => bytes.to_sql(),
        }
    }
}

/// Why a value of the file is not text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is not what was written.
    Changed,
    /// It was packed with a dictionary of this number, which a newer program has.
    Newer(u8),
}

impl From<Unreadable> for StoreError {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::Changed => Self::Damaged("a text cannot be unpacked".into()),
            Unreadable::Newer(number) => Self::NewerText(number),
        }
    }
}

/// The packed form of some bytes, if that is shorter.
pub(super) fn pack(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > MAX_BYTES {
        return None;
    }
    let frame = pack_frame(bytes)?;
    (frame.len() + 1 < bytes.len()).then(|| [&[NUMBER], frame.as_slice()].concat())
}

/// The frame of some bytes, packed with the dictionary of the program.
pub(super) fn pack_frame(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() > LONG {
        let frame = zstd::bulk::compress(bytes, LEVEL_OF_LONG).ok()?;
        return frame.strip_prefix(&MAGIC).map(<[u8]>::to_vec);
    }
    COMPRESSOR.with_borrow_mut(|compressor| compress(compressor.as_mut()?, bytes))
}

/// The frame of some bytes, without its magic number.
pub(super) fn compress(compressor: &mut Compressor<'static>, bytes: &[u8]) -> Option<Vec<u8>> {
    let frame = compressor.compress(bytes).ok()?;
    frame.strip_prefix(&MAGIC).map(<[u8]>::to_vec)
}

/// The text of a value of the file, in `room` if it was packed.
pub(super) fn unpack<'v>(value: ValueRef<'v>, room: &'v mut Vec<u8>) -> Result<&'v str, Unreadable> {
    let bytes = match value {
        ValueRef::Text(text) | ValueRef::Blob([PLAIN, text @ ..]) => text,
        ValueRef::Blob([NUMBER, rest @ ..]) => {
            *room = unpack_frame(rest).ok_or(Unreadable::Changed)?;
            room.as_slice()
        }
        ValueRef::Blob([number, ..]) => return Err(Unreadable::Newer(*number)),
        _ => return Err(Unreadable::Changed),
    };
    std::str::from_utf8(bytes).map_err(|_| Unreadable::Changed)
}

/// The bytes of [`pack`].
pub(super) fn unpack_bytes(packed: &[u8]) -> Option<Vec<u8>> {
    packed.strip_prefix(&[NUMBER]).and_then(unpack_frame)
}

/// The bytes of [`pack_frame`].
pub(super) fn unpack_frame(frame: &[u8]) -> Option<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|decompressor| decompress(decompressor.as_mut()?, frame))
}

/// The bytes of [`compress`].
pub(super) fn decompress(decompressor: &mut Decompressor<'static>, rest: &[u8]) -> Option<Vec<u8>> {
    let frame = [&MAGIC, rest].concat();
    let size = usize::try_from(get_frame_content_size(&frame).ok()??).ok()?;
    if size > MAX_BYTES.min(rest.len().saturating_mul(MAX_RATIO)) {
        return None;
    }
    let mut text = Vec::with_capacity(size);
    let length = decompressor.decompress_to_buffer(&frame, &mut text).ok()?;
    (length == size).then_some(text)
}

/// A text that is packed by itself, as a column.
#[derive(Debug)]
pub(super) struct UnpackedText(pub(super) String);

impl FromSql for UnpackedText {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let mut room = Vec::new();
        unpack(value, &mut room).map(|text| Self(text.to_owned())).map_err(|_| FromSqlError::InvalidType)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use asterisk_base::model::Hash;
    use proptest::prelude::*;

    fn value<'t>(stored: &'t StoredText<'_>) -> ValueRef<'t> {
        match stored {
            StoredText::Plain(text) => ValueRef::Text(text.as_bytes()),
            StoredText::Packed(bytes) => ValueRef::Blob(bytes),
        }
    }

    /// Texts like those of the store, and any others.
    fn any_text() -> impl Strategy<Value = String> {
        let body = (any::<[u8; 32]>(), "[a-z]{1,12}").prop_map(|(hash, node)| {
            let hash = Hash::from_bytes(hash);
            format!(r#"{{"type":"node_exit","node":"{node}","artifact":"{hash}","by":"script","params":"{hash}","took_ms":7}}"#)
        });
        prop_oneof![any::<String>(), body, ("\\PC{0,20}", 0..3000_usize).prop_map(|(text, times)| text.repeat(times))]
    }

    proptest! {
        #[test]
        fn any_text_comes_back(text in any_text()) {
            let stored = StoredText::new(text.as_str());
            if let StoredText::Packed(bytes) = &stored {
                prop_assert!(bytes.len() < text.len());
            }
            let mut room = Vec::new();
            prop_assert_eq!(unpack(value(&stored), &mut room), Ok(text.as_str()));
        }

        #[test]
        fn any_bytes_are_a_text_or_an_error(
            text in any_text(), at in any::<proptest::sample::Index>(), bit in 0..8_u32, any in proptest::collection::vec(any::<u8>(), 0..200)
        ) {
            if let StoredText::Packed(mut bytes) = StoredText::new(text) {
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
                let newer = unpack(ValueRef::Blob(&bytes), &mut Vec::new()) == Err(Unreadable::Newer(bytes[0]));
                prop_assert_eq!(newer, at == 0 && bytes[0] != PLAIN);
            }
            let frame = [&[NUMBER], any.as_slice()].concat();
            for bytes in [any, frame] {
                let mut room = Vec::new();
                if unpack(ValueRef::Blob(&bytes), &mut room).is_ok() {
                    prop_assert!(room.len() <= bytes.len() * MAX_RATIO);
                }
            }
        }
    }

    #[test]
    fn a_frame_that_claims_too_much_is_damaged() {
        let StoredText::Packed(mut bytes) = StoredText::new("x".repeat(100_000)) else { panic!("not packed") };
        // A content size of four bytes stands behind the frame's descriptor.
        assert_eq!(bytes[2..6], 100_000_u32.to_le_bytes());
        bytes[2..6].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack(ValueRef::Blob(&bytes), &mut Vec::new()), Err(Unreadable::Changed));
    }

    #[test]
    fn short_texts_stay_plain_and_other_values_are_not_texts() {
        assert!(matches!(StoredText::new("same"), StoredText::Plain(text) if text == "same"));
        let mut room = Vec::new();
        for value in [ValueRef::Null, ValueRef::Integer(7), ValueRef::Blob(&[]), ValueRef::Text(&[0xff])] {
            assert_eq!(unpack(value, &mut room), Err(Unreadable::Changed));
        }
        assert_eq!(unpack(ValueRef::Blob(&[9, 1]), &mut room), Err(Unreadable::Newer(9)));
        let said = StoreError::from(Unreadable::Newer(9)).to_string();
        assert!(said.contains("written by a newer asterisk"), "{said}");
    }

    #[test]
    fn a_column_is_read_packed_or_plain() {
        let conn = rusqlite::Connection::open_in_memory().unwrap();
        let read = |value: &dyn ToSql| conn.query_row("SELECT ?1", [value], |row| row.get::<_, UnpackedText>(0));
        let long = r#"{"type":"node_enter","node":"recall"}"#.repeat(9);
        assert!(matches!(StoredText::new(long.as_str()), StoredText::Packed(_)));
        assert_eq!(read(&StoredText::new(long.as_str())).unwrap().0, long);
        assert_eq!(read(&"as it is").unwrap().0, "as it is");
        for damaged in [vec![NUMBER, 0, 0], vec![9_u8]] {
            assert!(StoreError::from(read(&damaged).expect_err("damaged")).is_damage());
        }
    }

    /// `cargo test --profile bench --lib store::packing -- --ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    #[allow(clippy::print_stdout, clippy::cast_precision_loss)]
    fn time_of_a_small_text() {
        let bodies: Vec<String> = (0..2000_u32)
            .map(|n| {
                let hash = Hash::of(&n.to_le_bytes());
                format!(
                    r#"{{"type":"node_exit","node":"recall","artifact":"{hash}","by":"script","params":"{hash}","took_ms":{n}}}"#
                )
            })
            .collect();
        for _ in 0..3 {
            let start = std::time::Instant::now();
            let stored: Vec<_> = bodies.iter().map(|body| StoredText::new(body.as_str())).collect();
            let packed = start.elapsed();
            let start = std::time::Instant::now();
            for stored in &stored {
                unpack(value(stored), &mut Vec::new()).unwrap();
            }
            let each = |time: std::time::Duration| time.as_secs_f64() * 1e6 / bodies.len() as f64;
            println!("packing {:.2} us, unpacking {:.2} us a body", each(packed), each(start.elapsed()));
        }
    }
}
