//! Samples with hostile changes: nearly valid input reaches deeper code than noise does.

use proptest::prelude::*;
use proptest::sample::Index;

/// The most bytes of an input. Work that grows faster than its input shows long before.
const MOST: usize = 128 << 10;

/// Tokens of formats, and known troublemakers.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "/>",
    "</",
    "\"",
    "'",
    "`",
    ":",
    ",",
    ";",
    "&",
    "*",
    "!",
    "|",
    "-",
    "#",
    "%",
    "@",
    "=",
    "${",
    "{{",
    "}}",
    "{%",
    "%}",
    "{#",
    "```",
    "~~~",
    "\\",
    "\\u",
    "\\ud800",
    "\\u0000",
    "&#0;",
    "&#27;",
    "&lt;",
    "&x;",
    "]]>",
    "<![CDATA[",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "<?xml version=\"1.0\" encoding=\"UTF-16\"?>",
    "null",
    "true",
    "NaN",
    "-0",
    "1e999",
    "-1",
    "0x7f",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "0.1",
    "1_000",
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\u{b}",
    "\u{1b}[2J",
    "\u{1b}]0;x\u{7}",
    "\u{9b}",
    "\u{85}",
    "\u{202e}",
    "\u{2028}",
    "\u{feff}",
    "\u{200d}",
    "é",
    "\u{1f600}",
    "\u{10ffff}",
    "---",
    "...",
    "&a ",
    "*a",
    "<<: ",
    "!!binary ",
    "? ",
    "- ",
    ">-\n",
    "data:",
    "event:",
    "Content-Length: 5",
    "Transfer-Encoding: chunked",
    "jsonrpc",
    "id",
    "..",
    "../../etc/passwd",
    "/dev/zero",
    "9999-12-31T23:59:59Z",
    "-262144-01-01T00:00:00Z",
    "+14:00",
    "if",
    "fn f(",
    "let ",
    "loop {",
    "for x in ",
    "switch x { ",
    "=> ",
    "|x| ",
    "import \"lib/text\" as t;",
    "this",
    "eval(\"1\")",
    "??",
    "?.",
    "..=",
    "**",
    "//",
    "/*",
    "*/",
];

/// Bytes that are not text.
const BYTES: &[&[u8]] =
    &[b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\0\0\0\0"];

/// One change of a text.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// Another byte.
    Byte(Index, u8),
    /// Some bytes less.
    Cut(Index, usize),
    /// The beginning alone.
    Keep(Index),
    /// A token more.
    Token(Index, Index),
    /// Bytes that are not text.
    Bytes(Index, Index),
    /// A part, repeated.
    Repeat(Index, usize, usize),
    /// A token, repeated.
    Nest(Index, Index, usize),
    /// A part of another sample.
    Splice(Index, Index, Index, usize),
    /// A part at another place.
    Move(Index, Index, usize),
}

/// Changes of a sample.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    sample: Index,
    changes: Vec<Change>,
}

/// Recipes of all kinds.
pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let index = any::<Index>;
    let change = prop_oneof![
        3 => (index(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        3 => (index(), 1_usize..40).prop_map(|(at, len)| Change::Cut(at, len)),
        1 => index().prop_map(Change::Keep),
        5 => (index(), index()).prop_map(|(at, token)| Change::Token(at, token)),
        1 => (index(), index()).prop_map(|(at, bytes)| Change::Bytes(at, bytes)),
        2 => (index(), 1_usize..80, 2_usize..400).prop_map(|(at, len, times)| Change::Repeat(at, len, times)),
        1 => (index(), index(), 2_usize..3000).prop_map(|(at, token, times)| Change::Nest(at, token, times)),
        2 => (index(), index(), index(), 1_usize..400).prop_map(|(at, of, from, len)| Change::Splice(at, of, from, len)),
        2 => (index(), index(), 1_usize..200).prop_map(|(at, to, len)| Change::Move(at, to, len)),
    ];
    (index(), proptest::collection::vec(change, 1..7)).prop_map(|(sample, changes)| Recipe { sample, changes })
}

impl Recipe {
    /// The input.
    pub(crate) fn of(&self, samples: &[Vec<u8>]) -> Vec<u8> {
        let mut text = self.sample.get(samples).clone();
        for change in &self.changes {
            apply(&mut text, change, samples);
            text.truncate(MOST);
        }
        text
    }
}

fn apply(text: &mut Vec<u8>, change: &Change, samples: &[Vec<u8>]) {
    let place = |index: &Index, text: &[u8]| index.index(text.len() + 1);
    let part = |index: &Index, len: usize, text: &[u8]| {
        let from = index.index(text.len() + 1);
        from..(from + len).min(text.len())
    };
    match change {
        Change::Byte(at, byte) if !text.is_empty() => {
            let at = at.index(text.len());
            text[at] = *byte;
        }
        Change::Byte(_, byte) => text.push(*byte),
        Change::Cut(at, len) => drop(text.drain(part(at, *len, text))),
        Change::Keep(at) => text.truncate(place(at, text)),
        Change::Token(at, token) => insert(text, place(at, text), token.get(TOKENS).as_bytes()),
        Change::Bytes(at, bytes) => insert(text, place(at, text), &bytes.get(BYTES)[..]),
        Change::Repeat(at, len, times) => {
            let part = part(at, *len, text);
            let more = text[part.clone()].repeat(*times);
            insert(text, part.end, &more);
        }
        Change::Nest(at, token, times) => insert(text, place(at, text), &token.get(TOKENS).as_bytes().repeat(*times)),
        Change::Splice(at, of, from, len) => {
            let other = of.get(samples);
            insert(text, place(at, text), &other[part(from, *len, other)]);
        }
        Change::Move(at, to, len) => {
            let moved: Vec<u8> = text.drain(part(at, *len, text)).collect();
            insert(text, place(to, text), &moved);
        }
    }
}

fn insert(text: &mut Vec<u8>, at: usize, more: &[u8]) {
    let room = MOST.saturating_sub(text.len());
    text.splice(at..at, more.iter().copied().take(room));
}
