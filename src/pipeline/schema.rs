//! The schema mini-language: `match: bool`, `confidence: { type: number, min: 0, max: 1 }`, `reasoning?: string`,
//! `repos: [{ name: string, path?: string }]`.
//!
//! A schema is a map of fields; a `?` after a field's name makes it optional. A type is a word (`bool int number string any
//! object list map`), a list of one type, a map of fields, or the long form: a map with `type` (or `enum`) and that type's
//! options. A field that is itself called `type` or `enum` therefore goes under `{ type: object, fields: { .. } }`.

use super::yaml::{Fields, Kind as Node, Reader, Yaml};
use crate::diag::{did_you_mean, nearest};
use crate::model::{Field, Kind, Shape};
use std::sync::Arc;

const WORDS: &[&str] = &["bool", "int", "number", "string", "any", "object", "list", "map"];
/// What people write for one of the words, coming from other languages.
const FOREIGN: &[(&str, &str)] = &[
    ("boolean", "bool"),
    ("integer", "int"),
    ("float", "number"),
    ("double", "number"),
    ("str", "string"),
    ("text", "string"),
    ("array", "list"),
    ("dict", "map"),
];

/// Reads a map of fields.
pub(super) fn shape(reader: &mut Reader<'_>, yaml: &Yaml, name: String, what: &str) -> Option<Shape> {
    let map = reader.map(yaml, what)?;
    let mut fields: Vec<Field> = Vec::new();
    let mut whole = true;
    for entry in map.entries() {
        let (name, required) = match entry.key.strip_suffix('?') {
            Some(name) => (name.trim_end(), false),
            None => (entry.key.as_str(), true),
        };
        if name.is_empty() || fields.iter().any(|field| field.name == name) {
            let message = match name {
                "" => format!("a field of {what} has no name"),
                _ => format!("the field `{name}` of {what} is given twice"),
            };
            let error = reader.error("bad-schema", message, entry.key.span, "");
            reader.push(error);
            whole = false;
            continue;
        }
        match kind(reader, &entry.value, name, &format!("the type of `{name}`")) {
            Some(kind) => fields.push(Field { name: name.to_owned(), kind, required }),
            None => whole = false,
        }
    }
    whole.then_some(Shape { name, fields })
}

/// Reads a type; `field` names the objects in it.
fn kind(reader: &mut Reader<'_>, yaml: &Yaml, field: &str, what: &str) -> Option<Kind> {
    match &yaml.kind {
        Node::Text(_) => {
            let word = reader.text(yaml, what)?;
            by_word(reader, &word, yaml, what)
        }
        Node::List(items) => match items.as_slice() {
            [item] => Some(Kind::List(Box::new(kind(reader, item, field, &format!("the items' type of {what}"))?))),
            _ => {
                let message = format!("{what} is a list of {} types", items.len());
                let error = reader.error("bad-schema", message, yaml.head(reader.source()), "");
                reader.push(error.help("write the one type of its items: `[string]`"));
                None
            }
        },
        Node::Map(_) => {
            let map = reader.map(yaml, what)?;
            match map.entry("type").or(map.entry("enum")) {
                Some(_) => long(reader, map, field, what),
                None => Some(Kind::Object(Arc::new(shape(reader, yaml, field.to_owned(), what)?))),
            }
        }
        _ => {
            let message = format!("{what} is a type, not {}", yaml.what());
            let error = reader.error("bad-schema", message, yaml.span, "");
            reader.push(error.help(format!("types are {}", WORDS.join(", "))));
            None
        }
    }
}

fn by_word(reader: &mut Reader<'_>, word: &str, yaml: &Yaml, what: &str) -> Option<Kind> {
    Some(match word {
        "any" => Kind::Any,
        "bool" => Kind::Bool,
        "int" => Kind::Int { min: None, max: None },
        "number" => Kind::Number { min: None, max: None },
        "string" => Kind::Text { one_of: Vec::new() },
        "list" => Kind::List(Box::new(Kind::Any)),
        "map" | "object" => Kind::Map(Box::new(Kind::Any)),
        _ => {
            let foreign = FOREIGN.iter().find(|(theirs, _)| *theirs == word).map(|(_, ours)| *ours);
            let help = match (word.strip_suffix('?'), foreign.or(nearest(word, WORDS.iter().copied()))) {
                (Some(word), _) if WORDS.contains(&word) => {
                    Some(format!("the `?` of an optional field goes after its name: `name?: {word}`"))
                }
                (_, Some(known)) => Some(format!("did you mean `{known}`?")),
                _ => did_you_mean(word, WORDS.iter().copied()),
            };
            let error = reader.error("bad-schema", format!("`{word}` is not a type"), yaml.span, "unknown type");
            reader.push(error.label(reader.source(), yaml.span, what.to_owned()).maybe_help(help));
            return None;
        }
    })
}

/// The long form.
fn long(reader: &mut Reader<'_>, map: Fields<'_>, field: &str, what: &str) -> Option<Kind> {
    let base = match map.entry("type") {
        None => Kind::Text { one_of: Vec::new() },
        Some(entry) => {
            let word = reader.text(&entry.value, &format!("`type` of {what}"))?;
            by_word(reader, &word, &entry.value, what)?
        }
    };
    let object = map.entry("type").is_some_and(|entry| entry.value.as_text() == Some("object"));
    let options: &[&str] = match &base {
        Kind::Int { .. } | Kind::Number { .. } => &["type", "min", "max"],
        Kind::Text { .. } => &["type", "enum"],
        Kind::List(_) => &["type", "items"],
        Kind::Map(_) if object => &["type", "fields"],
        Kind::Map(_) => &["type", "values"],
        _ => &["type"],
    };
    reader.known_keys(map, what, options, &[]);
    let inner = |key: &str| map.entry(key).map(|entry| &entry.value);
    Some(match base {
        Kind::Int { .. } => {
            let mut bound =
                |key: &str| inner(key).and_then(|yaml| reader.int(yaml, &format!("`{key}` of {what}"), &(i64::MIN..=i64::MAX)));
            let (min, max) = (bound("min"), bound("max"));
            ordered(reader, map, min.zip(max).is_none_or(|(min, max)| min <= max), what);
            Kind::Int { min, max }
        }
        Kind::Number { .. } => {
            let mut bound = |key: &str| inner(key).and_then(|yaml| reader.number(yaml, &format!("`{key}` of {what}")));
            let (min, max) = (bound("min"), bound("max"));
            ordered(reader, map, min.zip(max).is_none_or(|(min, max)| min <= max), what);
            Kind::Number { min, max }
        }
        Kind::Text { .. } => Kind::Text { one_of: words(reader, inner("enum"), what)? },
        Kind::List(any) => match inner("items") {
            Some(items) => Kind::List(Box::new(kind(reader, items, field, &format!("`items` of {what}"))?)),
            None => Kind::List(any),
        },
        Kind::Map(any) => match (inner("fields").filter(|_| object), inner("values").filter(|_| !object)) {
            (Some(fields), _) => Kind::Object(Arc::new(shape(reader, fields, field.to_owned(), &format!("`fields` of {what}"))?)),
            (_, Some(values)) => Kind::Map(Box::new(kind(reader, values, field, &format!("`values` of {what}"))?)),
            _ => Kind::Map(any),
        },
        other => other,
    })
}

fn words(reader: &mut Reader<'_>, yaml: Option<&Yaml>, what: &str) -> Option<Vec<String>> {
    let Some(yaml) = yaml else { return Some(Vec::new()) };
    let what = format!("`enum` of {what}");
    let words = reader.texts(yaml, &what)?;
    if words.is_empty() {
        let error = reader.error("bad-schema", format!("{what} allows nothing"), yaml.head(reader.source()), "");
        reader.push(error.help("list the texts it may be"));
    }
    Some(words.into_iter().map(|word| word.value).collect())
}

fn ordered(reader: &mut Reader<'_>, map: Fields<'_>, ordered: bool, what: &str) {
    if !ordered {
        let span = map.entry("min").map_or(map.yaml.span, |entry| entry.value.span);
        let error = reader.error("bad-schema", format!("`min` of {what} is greater than its `max`"), span, "");
        reader.push(error);
    }
}
