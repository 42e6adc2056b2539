//! An observed value: small values are kept, large ones are truncated text.

use crate::compare::kind_of;
use crate::view::{ListView, ObjectView, View};
use rhai::Dynamic;
use std::borrow::Cow;
use std::fmt;

/// An observed value. Keeping it is cheap, however large the value is.
#[derive(Clone, Debug)]
pub enum ObservedValue {
    /// The value itself: a number, a string, a bool, `()`, or an input.
    Value(Dynamic),
    /// The truncated text of a list, a map or a long string of the script.
    Compound(String),
    /// A value without a text of its own: `a function`.
    Other(&'static str),
}

/// Maximum length of the text of a value, in bytes.
const LONGEST: usize = 100;

/// Maximum depth of the text of a value.
const DEEPEST: usize = 6;

impl ObservedValue {
    /// Captures a value.
    pub fn of(value: &Dynamic) -> Self {
        if value.is_shared() {
            return if value.is_locked() { Self::Other("a value in use") } else { Self::of(&value.flatten_clone()) };
        }
        if value.is_array() || value.is_map() {
            return Self::Compound(text_of(value));
        }
        if let Ok(text) = value.as_immutable_string_ref() {
            // A copy of the text: the script's own would not be freed.
            return if text.len() > LONGEST { Self::Compound(text_of(value)) } else { Self::Value(text.as_str().into()) };
        }
        match kind_of(value) {
            kind @ ("a function" | "an error" | "a value of another kind") => Self::Other(kind),
            _ => Self::Value(value.clone()),
        }
    }

    /// The value, if it is a bool.
    pub fn truth(&self) -> Option<bool> {
        if let Self::Value(value) = self { value.as_bool().ok() } else { None }
    }

    /// The value, if it is a number.
    #[expect(clippy::cast_precision_loss, reason = "for people to read")]
    pub fn number(&self) -> Option<f64> {
        let Self::Value(value) = self else { return None };
        value.as_float().ok().or_else(|| value.as_int().ok().map(|int| int as f64))
    }
}

impl fmt::Display for ObservedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(&text_of(value)),
            Self::Compound(text) => f.write_str(text),
            Self::Other(kind) => f.write_str(kind),
        }
    }
}

/// A value in script notation, truncated to fit a line. Reads only as much of the value as it shows.
pub(crate) fn text_of(value: &Dynamic) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    if text.len() > LONGEST {
        text.truncate(head(&text, LONGEST).len());
        text.push_str("...");
    }
    text
}

/// The prefix of a text that fits in `most` bytes.
fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

/// Like [`text_of`], for an input.
pub fn text_of_view(view: &View) -> String {
    text_of(&view.dynamic())
}

fn write(value: &Dynamic, depth: usize, out: &mut String) {
    if let Ok(array) = value.as_array_ref() {
        brackets("[", "]", array.iter(), depth, out, |item, out| write(item, depth + 1, out));
    } else if let Ok(map) = value.as_map_ref() {
        brackets("#{", "}", map.iter(), depth, out, |(key, item), out| {
            out.push_str(&name_of(key));
            out.push_str(": ");
            write(item, depth + 1, out);
        });
    } else if let Some(list) = value.read_lock::<ListView>() {
        brackets("[", "]", list.items().iter(), depth, out, |item, out| write_view(item, depth + 1, out));
    } else if let Some(object) = value.read_lock::<ObjectView>() {
        write_object(&View::from(object.clone()), depth, out);
    } else if value.is_unit() {
        out.push_str("()");
    } else if let Ok(text) = value.as_immutable_string_ref() {
        quote(head(&text, LONGEST + 4), out);
    } else {
        match kind_of(value) {
            kind @ ("a function" | "an error" | "a value of another kind") => out.push_str(kind),
            _ => out.push_str(&value.to_string()),
        }
    }
}

fn write_view(view: &View, depth: usize, out: &mut String) {
    if view.as_object().is_some() { write_object(view, depth, out) } else { write(&view.dynamic(), depth, out) }
}

fn write_object(view: &View, depth: usize, out: &mut String) {
    brackets("#{", "}", view.entries(), depth, out, |(key, item), out| {
        out.push_str(&name_of(key));
        out.push_str(": ");
        write_view(item, depth + 1, out);
    });
}

fn brackets<T>(
    open: &str,
    close: &str,
    items: impl Iterator<Item = T>,
    depth: usize,
    out: &mut String,
    mut each: impl FnMut(T, &mut String),
) {
    out.push_str(open);
    for (at, item) in items.enumerate() {
        if out.len() > LONGEST {
            break;
        }
        out.push_str(if at > 0 { ", " } else { "" });
        if depth > DEEPEST {
            out.push_str("...");
            break;
        }
        each(item, out);
    }
    out.push_str(close);
}

/// A key in map notation.
fn name_of(key: &str) -> Cow<'_, str> {
    let word = key.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if word { key.into() } else { format!("{key:?}").into() }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for ch in text.chars() {
        if out.len() > LONGEST + 4 {
            break;
        }
        match ch {
            '"' | '\\' => out.extend(['\\', ch]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            ch if ch.is_control() => out.extend(ch.escape_unicode()),
            ch => out.push(ch),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_shown_as_scripts_write_them_and_cut() {
        let show = |json: serde_json::Value| text_of(&View::plain(&json, "x").dynamic());
        assert_eq!(
            show(json!({"a": 1, "b c": [true, null, "x\n\"y\""], "n": 0.5})),
            r#"#{a: 1, "b c": [true, (), "x\n\"y\""], n: 0.5}"#
        );
        assert_eq!(show(json!(["x".repeat(200), 1])).len(), LONGEST + 3);
        assert!(show(json!("é".repeat(200))).ends_with("..."));
        assert_eq!(text_of(&Dynamic::from_array(vec![1.into(), Dynamic::UNIT])), "[1, ()]");
    }
}
