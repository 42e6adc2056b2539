//! Functions on text: lines and words, searching, truncating and similarity.

use super::HostFn;
use super::args::{HostFnResult, MAX_ITEMS, bounded, charged, count, fail, texts};
use crate::guard::{charge, check_clock};
use asterisk_diag::counted;
use rhai::{Array, Dynamic, ImmutableString};
use std::collections::BTreeSet;

const GROUP: &str = "text";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "lines",
        signature: "lines(text: string) -> list of string",
        group: GROUP,
        doc: "The lines of a text, without their ends.",
        example: r#"lines("a\nb\r\n")"#,
        result: r#"["a", "b"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| parts(charged(text)?.lines()));
        },
    },
    HostFn {
        name: "first_line",
        signature: "first_line(text: string) -> string",
        group: GROUP,
        doc: "The first line that is not blank, trimmed; empty if there is none.",
        example: r#"first_line("\n  it broke \nhere")"#,
        result: r#""it broke""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(|text| ImmutableString::from(first_line(text))));
        },
    },
    HostFn {
        name: "trim_lines",
        signature: "trim_lines(text: string) -> string",
        group: GROUP,
        doc: "The text with every line trimmed and blank lines left out.",
        example: r#"trim_lines("  a \n\n b\n")"#,
        result: r#""a\nb""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(trim_lines));
        },
    },
    HostFn {
        name: "words",
        signature: "words(text: string) -> list of string",
        group: GROUP,
        doc: "The words of a text: its runs of letters, digits and `_`, unchanged.",
        example: r#"words("can't open ptp4l.conf")"#,
        result: r#"["can", "t", "open", "ptp4l", "conf"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| parts(words(charged(text)?)));
        },
    },
    HostFn {
        name: "contains_any",
        signature: "contains_any(text: string, parts: list of string) -> bool",
        group: GROUP,
        doc: "Whether the text contains any of the parts, ignoring case; an empty part never matches.",
        example: r#"contains_any("Connection REFUSED", ["timeout", "refused"])"#,
        result: "true",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, parts: Dynamic| contains(text, &parts).map(|(found, _)| found > 0));
        },
    },
    HostFn {
        name: "contains_all",
        signature: "contains_all(text: string, parts: list of string) -> bool",
        group: GROUP,
        doc: "Whether the text contains all of the parts, ignoring case.",
        example: r#"contains_all("Connection REFUSED", ["timeout", "refused"])"#,
        result: "false",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, parts: Dynamic| contains(text, &parts).map(|(found, of)| found == of));
        },
    },
    HostFn {
        name: "count_of",
        signature: "count_of(text: string, part: string) -> int",
        group: GROUP,
        doc: "The number of non-overlapping occurrences of the part in the text; 0 for an empty part.",
        example: r#"count_of("a, b, c", ", ")"#,
        result: "2",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, part: &str| charged(text).map(|text| count_of(text, part)));
        },
    },
    HostFn {
        name: "shorten",
        signature: "shorten(text: string, length: int) -> string",
        group: GROUP,
        doc: "The text if it has at most `length` characters, else its beginning with `…`, `length` characters in all.",
        example: r#"shorten("a long story", 7)"#,
        result: r#""a long…""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, length: i64| charged(text).map(|text| shorten(text, length)));
        },
    },
    HostFn {
        name: "indent",
        signature: "indent(text: string, spaces: int) -> string",
        group: GROUP,
        doc: "The text with every non-blank line indented by up to 64 spaces.",
        example: r#"indent("a\n\nb", 2)"#,
        result: r#""  a\n\n  b""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, spaces: i64| indent(charged(text)?, spaces));
        },
    },
    HostFn {
        name: "quote",
        signature: "quote(text: string) -> string",
        group: GROUP,
        doc: "The text in double quotes, with quotes, backslashes and control characters escaped as in JSON.",
        example: r#"quote("a\nb")"#,
        result: r#"`"a\nb"`"#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| bounded(serde_json::Value::from(charged(text)?).to_string()));
        },
    },
    HostFn {
        name: "strip_ansi",
        signature: "strip_ansi(text: string) -> string",
        group: GROUP,
        doc: "The text without terminal colours and cursor movements.",
        example: r#"strip_ansi("\x1b[31mred\x1b[0m")"#,
        result: r#""red""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(strip_ansi));
        },
    },
    HostFn {
        name: "title_case",
        signature: "title_case(text: string) -> string",
        group: GROUP,
        doc: "The text with the first letter of each word made a capital; `_` and `-` between words become spaces.",
        example: r#"title_case("root_cause report")"#,
        result: r#""Root Cause Report""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| title_case(charged(text)?));
        },
    },
    HostFn {
        name: "plural",
        signature: "plural(number: int, one: string, many: string) -> string",
        group: GROUP,
        doc: "The number with the singular or plural word.",
        example: r#"plural(2, "repository", "repositories")"#,
        result: r#""2 repositories""#,
        bind: |engine, name| {
            engine.register_fn(name, |number: i64, one: &str, many: &str| counted(number, one, many));
        },
    },
    HostFn {
        name: "join_nonempty",
        signature: "join_nonempty(parts: list of string, separator: string) -> string",
        group: GROUP,
        doc: "The parts that are not blank, in one text with the separator between them.",
        example: r#"join_nonempty(["a", "", "b"], "; ")"#,
        result: r#""a; b""#,
        bind: |engine, name| {
            engine.register_fn(name, |parts: Dynamic, separator: &str| join_nonempty(&parts, separator));
        },
    },
    HostFn {
        name: "common_prefix",
        signature: "common_prefix(texts: list of string) -> string",
        group: GROUP,
        doc: "The longest beginning that all texts share; empty for an empty list.",
        example: r#"common_prefix(["ptp sync lost", "ptp sync late"])"#,
        result: r#""ptp sync l""#,
        bind: |engine, name| {
            engine.register_fn(name, |texts: Dynamic| common_prefix(&texts));
        },
    },
    HostFn {
        name: "similarity",
        signature: "similarity(a: string, b: string) -> float",
        group: GROUP,
        doc: "The similarity of two texts, 0.0 to 1.0: the number of different words they share divided by the number of different \
              words in either (Jaccard), letter case ignored; two texts without words are alike.",
        example: r#"similarity("Sync lost on port 1", "sync late on port 1")"#,
        result: "4.0 / 6.0",
        bind: |engine, name| {
            engine.register_fn(name, similarity);
        },
    },
];

fn parts<'a>(parts: impl Iterator<Item = &'a str>) -> HostFnResult<Array> {
    let parts: Array = parts.take(MAX_ITEMS + 1).map(|part| Dynamic::from(part.to_owned())).collect();
    if parts.len() > MAX_ITEMS { fail(format!("the text has more than {MAX_ITEMS} parts")) } else { Ok(parts) }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|ch: char| !ch.is_alphanumeric() && ch != '_').filter(|word| !word.is_empty())
}

fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default()
}

fn trim_lines(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The number of parts that occur in the text, and the number of parts.
fn contains(text: &str, parts: &Dynamic) -> HostFnResult<(usize, usize)> {
    let (text, parts) = (charged(text)?.to_lowercase(), texts(parts)?);
    let mut found = 0;
    for part in parts.iter().filter(|part| !part.is_empty()) {
        charge(text.len())?;
        found += usize::from(text.contains(&part.to_lowercase()));
    }
    Ok((found, parts.len()))
}

fn count_of(text: &str, part: &str) -> i64 {
    if part.is_empty() { 0 } else { i64::try_from(text.matches(part).count()).unwrap_or(i64::MAX) }
}

fn shorten(text: &str, length: i64) -> String {
    let length = count(length, usize::MAX);
    if text.chars().nth(length).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(length.saturating_sub(1)).collect();
    if length == 0 { kept } else { format!("{}…", kept.trim_end()) }
}

fn indent(text: &str, spaces: i64) -> HostFnResult<String> {
    let margin = " ".repeat(count(spaces, 64));
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if !line.trim().is_empty() {
            out.push_str(&margin);
        }
        out.push_str(line);
        if out.len() > super::args::MAX_TEXT {
            break;
        }
    }
    bounded(out)
}

/// Removes `ESC [ ... letter` and every other escape together with the character after it.
fn strip_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(ch) = chars.next() {
        if ch != '\u{1b}' {
            out.push(ch);
        } else if chars.next() == Some('[') {
            chars.by_ref().find(|ch| ('@'..='~').contains(ch));
        }
    }
    out
}

fn title_case(text: &str) -> HostFnResult<String> {
    let mut out = String::with_capacity(text.len());
    let mut at_start = true;
    for ch in text.chars().map(|ch| if ch == '_' || ch == '-' { ' ' } else { ch }) {
        if at_start {
            out.extend(ch.to_uppercase());
        } else {
            out.push(ch);
        }
        at_start = ch.is_whitespace();
    }
    bounded(out)
}

fn join_nonempty(parts: &Dynamic, separator: &str) -> HostFnResult<String> {
    let mut out = String::new();
    for part in texts(parts)?.iter().filter(|part| !part.trim().is_empty()) {
        if !out.is_empty() {
            out.push_str(separator);
        }
        out = bounded(out + part.as_str())?;
    }
    Ok(out)
}

fn common_prefix(list: &Dynamic) -> HostFnResult<ImmutableString> {
    let texts = texts(list)?;
    let Some((first, rest)) = texts.split_first() else { return Ok(ImmutableString::new()) };
    let shared = rest.iter().fold(first.as_str(), |prefix, text| {
        let same = prefix.chars().zip(text.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        &prefix[..same]
    });
    Ok(shared.into())
}

#[allow(clippy::cast_precision_loss)]
fn similarity(a: &str, b: &str) -> HostFnResult<f64> {
    let (a, b) = (lowercase_words(a)?, lowercase_words(b)?);
    let (shared, either) = (a.intersection(&b).count(), a.union(&b).count());
    Ok(if either == 0 { 1.0 } else { shared as f64 / either as f64 })
}

/// The distinct words of a text, in lower case.
fn lowercase_words(text: &str) -> HostFnResult<BTreeSet<String>> {
    /// The cost of inserting a word, relative to reading a byte.
    const WORD: usize = 256;
    /// The clock is read once per this many words.
    const STRIDE: usize = 1024;
    let mut set = BTreeSet::new();
    charge(text.len())?;
    for (at, word) in words(text).enumerate() {
        charge(WORD)?;
        if at % STRIDE == STRIDE - 1 {
            check_clock()?;
        }
        set.insert(word.to_lowercase());
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn shortening_counts_characters_not_bytes() {
        assert_eq!(shorten("éèê", 3), "éèê");
        assert_eq!(shorten("éèêë", 3), "éè…");
        assert_eq!(shorten("ab", 1), "…");
        assert_eq!((shorten("ab", 0), shorten("ab", -5)), (String::new(), String::new()));
    }

    #[test]
    fn all_kinds_of_escapes_are_stripped() {
        assert_eq!(strip_ansi("\u{1b}[1;31mA\u{1b}[0K\u{1b}cB\u{1b}[12"), "AB");
    }

    #[test]
    fn prefixes_end_at_character_boundaries() {
        let list = |texts: &[&str]| Dynamic::from_array(texts.iter().map(|text| Dynamic::from((*text).to_owned())).collect());
        assert_eq!(common_prefix(&list(&["aé", "aè"])).unwrap(), "a");
        assert_eq!(common_prefix(&list(&[])).unwrap(), "");
        assert!(common_prefix(&list(&["a"])).unwrap() == "a" && common_prefix(&Dynamic::from(1_i64)).is_err());
    }

    #[test]
    fn empty_parts_and_words_do_not_count() {
        let parts = Dynamic::from_array(vec!["".into()]);
        assert_eq!(contains("x", &parts).unwrap(), (0, 1));
        assert!((similarity("", "--").unwrap() - 1.0).abs() < f64::EPSILON && similarity("a", "").unwrap().abs() < f64::EPSILON);
    }

    #[test]
    fn results_are_bounded() {
        assert!(indent(&"a\n".repeat(40_000), 64).is_err());
        assert!(parts("a\n".repeat(MAX_ITEMS + 1).lines()).is_err());
    }
}
