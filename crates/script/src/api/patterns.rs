//! Regular expressions, in the syntax of the `regex` crate: linear time, no look-around, no back-references.

use super::HostFn;
use super::args::{HostFnResult, MAX_ITEMS, MAX_TEXT, bounded, charged, fail, list, object, text};
use crate::guard::{apart, charge, check_clock};
use crate::view::{ListView, View};
use asterisk_base::model::{TextMatch, TextPattern};
use rhai::{Array, Dynamic, ImmutableString};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

const GROUP: &str = "regex";

/// Maximum number of cached patterns; scripts have far fewer.
const KEPT: usize = 1024;

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "regex_is_match",
        signature: "regex_is_match(text: string, pattern: string) -> bool",
        group: GROUP,
        doc: "Whether the pattern matches anywhere in the text.",
        example: r#"regex_is_match("offset 512 ns", `offset \d+`)"#,
        result: "true",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, pattern: &str| with(text, pattern, |regex| Ok(apart(|| regex.is_match(text)))));
        },
    },
    HostFn {
        name: "regex_find",
        signature: "regex_find(text: string, pattern: string) -> string or ()",
        group: GROUP,
        doc: "The first match of the pattern in the text, or () if there is none.",
        example: r#"regex_find("offset 512 ns", `\d+`)"#,
        result: r#""512""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, pattern: &str| with(text, pattern, |regex| Ok(find(regex, text))));
        },
    },
    HostFn {
        name: "regex_find_all",
        signature: "regex_find_all(text: string, pattern: string) -> list of string",
        group: GROUP,
        doc: "All matches of the pattern in the text, without overlaps.",
        example: r#"regex_find_all("a1 b22", `\d+`)"#,
        result: r#"["1", "22"]"#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, pattern: &str| with(text, pattern, |regex| find_all(regex, text)));
        },
    },
    HostFn {
        name: "regex_captures",
        signature: "regex_captures(text: string, pattern: string) -> list or ()",
        group: GROUP,
        doc: "The first match and its groups, as a list: item 0 is the whole match, a group that did not match is (); or () if \
              nothing matches.",
        example: r#"regex_captures("main.go:77", `(\w+)\.go:(\d+)(!)?`)"#,
        result: r#"["main.go:77", "main", "77", ()]"#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, pattern: &str| with(text, pattern, |regex| Ok(captures(regex, text))));
        },
    },
    HostFn {
        name: "regex_replace_all",
        signature: "regex_replace_all(text: string, pattern: string, replacement: string) -> string",
        group: GROUP,
        doc: "The text with every match replaced; in the replacement `$1` or `${name}` stands for a group and `$$` for a dollar.",
        example: r#"regex_replace_all("a=1, b=2", `(\w)=(\d)`, "$2:$1")"#,
        result: r#""1:a, 2:b""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, pattern: &str, replacement: &str| {
                with(text, pattern, |regex| replace_all(regex, text, replacement))
            });
        },
    },
    HostFn {
        name: "regex_find_by",
        signature: "regex_find_by(items: list of map, field: string, pattern: string) -> map or ()",
        group: GROUP,
        doc: "The first item of the list with a field that the pattern matches, or () if there is none; the field is a string in all of \
              them. Much faster than `find` with a closure.",
        example: r#"regex_find_by([#{ text: "ok" }, #{ text: "offset 512 ns" }], "text", `\d+ ns`)"#,
        result: r#"#{ text: "offset 512 ns" }"#,
        bind: |engine, name| {
            engine.register_fn(name, |items: Dynamic, field: &str, pattern: &str| {
                compiled(pattern, |regex| find_by(regex, &items, field))
            });
        },
    },
    HostFn {
        name: "regex_count",
        signature: "regex_count(text: string, pattern: string) -> int",
        group: GROUP,
        doc: "The number of non-overlapping matches of the pattern in the text.",
        example: r#"regex_count("fail, fail, pass", "fail")"#,
        result: "2",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str, pattern: &str| with(text, pattern, |regex| number_of(regex, text)));
        },
    },
];

/// A cached pattern: compiled by the first thread that needs it while others wait, or refused with a reason.
///
/// Behind an `Arc`, because a clone of a pattern starts with an empty state cache: it would rebuild its automaton for every text,
/// which costs many times the search.
type CachedPattern = Arc<OnceLock<Result<TextPattern, String>>>;

/// The cached patterns of all threads.
static COMPILED: LazyLock<RwLock<HashMap<String, CachedPattern>>> = LazyLock::new(RwLock::default);

/// Runs `work` with a compiled pattern. The text is bounded, since a search cannot be interrupted.
fn with<T>(text: &str, pattern: &str, work: impl FnOnce(&TextPattern) -> HostFnResult<T>) -> HostFnResult<T> {
    if text.len() > MAX_TEXT {
        return fail(format!("patterns are for texts of at most {MAX_TEXT} bytes; this one has {}", text.len()));
    }
    charge(text.len())?;
    compiled(pattern, work)
}

/// Visits all non-overlapping matches. A search may read the text to completion for a match of one byte at its start, so all of
/// them together may take quadratic time: the clock is read after each. The lazily built automaton is kept with the pattern for
/// all calls of the thread.
fn matches<'t>(regex: &TextPattern, text: &'t str, mut each: impl FnMut(TextMatch<'t>) -> HostFnResult<()>) -> HostFnResult<()> {
    let mut all = apart(|| regex.find_iter(text));
    while let Some(found) = apart(|| all.next()) {
        check_clock()?;
        each(found)?;
    }
    apart(|| drop(all));
    Ok(())
}

fn number_of(regex: &TextPattern, text: &str) -> HostFnResult<i64> {
    let mut number = 0;
    matches(regex, text, |_| {
        number += 1;
        Ok(())
    })?;
    Ok(number)
}

fn compiled<T>(pattern: &str, work: impl FnOnce(&TextPattern) -> HostFnResult<T>) -> HostFnResult<T> {
    let kept = apart(|| {
        let kept = kept(pattern);
        kept.get_or_init(|| compile(pattern));
        kept
    });
    match kept.get_or_init(|| compile(pattern)) {
        Ok(regex) => {
            check_clock()?;
            work(regex)
        }
        Err(error) => fail(format!("the pattern `{pattern}` is not a regular expression: {error}")),
    }
}

fn kept(pattern: &str) -> CachedPattern {
    if let Some(kept) = COMPILED.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return Arc::clone(kept);
    }
    let mut compiled = COMPILED.write().unwrap_or_else(PoisonError::into_inner);
    if compiled.len() >= KEPT {
        compiled.clear();
    }
    Arc::clone(compiled.entry(pattern.to_owned()).or_default())
}

/// Compiles a pattern within the limits. An error is the reason.
pub(crate) fn compile(pattern: &str) -> Result<TextPattern, String> {
    TextPattern::new(pattern).map_err(|error| error.to_string())
}

fn find(regex: &TextPattern, text: &str) -> Dynamic {
    apart(|| regex.find(text)).map_or(Dynamic::UNIT, |found| ImmutableString::from(found.as_str()).into())
}

fn find_by(regex: &TextPattern, items: &Dynamic, field: &str) -> HostFnResult<Dynamic> {
    let matches = |text: &str| -> HostFnResult<bool> {
        charged(text)?;
        check_clock()?;
        Ok(apart(|| regex.is_match(text)))
    };
    if let Some(views) = items.read_lock::<ListView>() {
        for item in views.items() {
            // What is not a string fails below, as it does in a list of the script.
            let found = match item.present(field).and_then(View::as_str) {
                Some(text) => matches(text)?,
                None => matches(&text(&object(&item.dynamic())?.require(field)?)?)?,
            };
            if found {
                return Ok(item.dynamic());
            }
        }
        return Ok(Dynamic::UNIT);
    }
    for item in list(items)? {
        if matches(&text(&object(&item)?.require(field)?)?)? {
            return Ok(item);
        }
    }
    Ok(Dynamic::UNIT)
}

fn find_all(regex: &TextPattern, text: &str) -> HostFnResult<Array> {
    let mut all = Array::new();
    matches(regex, text, |found| {
        if all.len() >= MAX_ITEMS {
            return fail(format!("the pattern matches more than {MAX_ITEMS} times"));
        }
        all.push(Dynamic::from(found.as_str().to_owned()));
        Ok(())
    })?;
    Ok(all)
}

fn captures(regex: &TextPattern, text: &str) -> Dynamic {
    let group = |group: Option<TextMatch<'_>>| group.map_or(Dynamic::UNIT, |found| Dynamic::from(found.as_str().to_owned()));
    let captures = apart(|| regex.captures(text));
    let groups = captures.as_ref().map_or(Dynamic::UNIT, |captures| Dynamic::from_array(captures.iter().map(group).collect()));
    apart(|| drop(captures));
    groups
}

fn replace_all(regex: &TextPattern, text: &str, replacement: &str) -> HostFnResult<String> {
    let mut out = String::new();
    let mut done = 0;
    let (mut all, mut groups) = apart(|| (regex.captures_iter(text), None));
    loop {
        apart(|| groups = all.next());
        let Some((captures, whole)) = groups.as_ref().and_then(|captures| Some((captures, captures.get(0)?))) else { break };
        check_clock()?;
        out.push_str(&text[done..whole.start()]);
        captures.expand(replacement, &mut out);
        out = bounded(out)?;
        done = whole.end();
    }
    apart(|| drop(all));
    out.push_str(&text[done..]);
    bounded(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_bad_pattern_is_explained_by_its_compiler() {
        let message = |pattern: &str| super::super::tests::fault(&compiled(pattern, |_| Ok(())).unwrap_err()).message;
        let error = message("a(b");
        assert!(error.contains("`a(b`") && error.contains("unclosed group"), "{error}");
        assert!(message(r"\w{1000}{1000}").contains("size limit"));
    }

    #[test]
    fn no_match_is_unit_or_empty() {
        let regex = compile("x").unwrap();
        assert!(find(&regex, "a").is_unit() && captures(&regex, "a").is_unit() && find_all(&regex, "a").unwrap().is_empty());
    }

    #[test]
    fn items_are_found_in_lists_of_scripts_and_of_views() {
        let regex = compile("b+").unwrap();
        let items = serde_json::json!([{ "text": "a" }, { "text": "abb" }, { "text": 7 }]);
        let views = View::plain(&items, "lines").dynamic();
        let own: Dynamic = Dynamic::from_array(list(&views).unwrap());
        for items in [&views, &own] {
            let found = find_by(&regex, items, "text").unwrap();
            assert_eq!(text(&object(&found).unwrap().require("text").unwrap()).unwrap().as_str(), "abb");
            assert!(find_by(&compile("c").unwrap(), items, "text").is_err(), "a number is no text");
            assert!(find_by(&regex, items, "txt").is_err());
        }
        assert!(find_by(&regex, &View::plain(&serde_json::json!([]), "lines").dynamic(), "text").unwrap().is_unit());
        assert!(find_by(&regex, &Dynamic::from(1_i64), "text").is_err());
    }

    #[test]
    fn results_are_bounded() {
        let text = "a".repeat(MAX_ITEMS + 1);
        assert!(find_all(&compile("a").unwrap(), &text).is_err());
        assert!(replace_all(&compile("a").unwrap(), &text, &"b".repeat(200)).is_err());
        assert!(with(&"a".repeat(MAX_TEXT + 1), "a", |_| Ok(())).is_err());
    }

    #[test]
    fn the_cache_is_bounded_and_compiles_each_pattern_once() {
        let first = kept("p");
        assert!(Arc::ptr_eq(&first, &kept("p")));
        for index in 0..2 * KEPT {
            drop(kept(&format!("p{index}")));
        }
        assert!(COMPILED.read().unwrap().len() <= KEPT);
    }
}
