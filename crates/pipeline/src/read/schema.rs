//! The schema language: `match: bool`, `confidence: { type: number, min: 0, max: 1 }`, `reasoning?: string`, `repos: [{ name:
//! string, path?: string }]`.
//!
//! A schema is a map of fields; a `?` after a field's name makes it optional. A type is a word (`bool int number string any
//! object list map`), a list of one type, a map of fields, or the long form: a map with `type` (or `enum`) and the options of
//! that type. A field that is itself called `type` or `enum` therefore goes under `{ type: object, fields: { .. } }`.

use crate::schema_words::{WORDS, type_hint};
use asterisk_base::model::{Field, Kind, Shape};
use asterisk_form::yaml::{Yaml, YamlFields, YamlKind, YamlReader};
use std::sync::Arc;

/// Reads a map of fields.
pub(super) fn shape(reader: &mut YamlReader<'_>, yaml: &Yaml, name: String, what: &str) -> Option<Shape> {
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
                "" => format!("a field of {what} has an empty name"),
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
    whole.then_some(Shape { name, fields, sparse: false })
}

/// Reads a type; `field` names the objects in it.
fn kind(reader: &mut YamlReader<'_>, yaml: &Yaml, field: &str, what: &str) -> Option<Kind> {
    match &yaml.kind {
        YamlKind::Text(_) => {
            let word = reader.text(yaml, what)?;
            by_word(reader, &word, yaml, what)
        }
        YamlKind::List(items) => {
            if let [item] = items.as_slice() {
                return Some(Kind::List(Box::new(kind(reader, item, field, &format!("the items' type of {what}"))?)));
            }
            let message = format!("{what} lists {} types", items.len());
            let error = reader.error("bad-schema", message, yaml.head(reader.source()), "");
            reader.push(error.help("give the single type of its items: `[string]`"));
            None
        }
        YamlKind::Map(_) => {
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

fn by_word(reader: &mut YamlReader<'_>, word: &str, yaml: &Yaml, what: &str) -> Option<Kind> {
    Some(match word {
        "any" => Kind::Any,
        "bool" => Kind::Bool,
        "int" => Kind::Int { min: None, max: None },
        "number" => Kind::Number { min: None, max: None },
        "string" => Kind::Text { one_of: Vec::new() },
        "list" => Kind::List(Box::new(Kind::Any)),
        "map" | "object" => Kind::Map(Box::new(Kind::Any)),
        _ => {
            let help = match word.strip_suffix('?') {
                Some(word) if WORDS.contains(&word) => {
                    Some(format!("the `?` of an optional field goes after its name: `name?: {word}`"))
                }
                _ => type_hint(word, WORDS),
            };
            let error = reader.error("bad-schema", format!("`{word}` is not a type"), yaml.span, what);
            reader.push(error.maybe_help(help));
            return None;
        }
    })
}

/// Reads the long form.
fn long(reader: &mut YamlReader<'_>, map: YamlFields<'_>, field: &str, what: &str) -> Option<Kind> {
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
            ordered(reader, map, min, max, what);
            Kind::Int { min, max }
        }
        Kind::Number { .. } => {
            let mut bound = |key: &str| inner(key).and_then(|yaml| reader.number(yaml, &format!("`{key}` of {what}")));
            let (min, max) = (bound("min"), bound("max"));
            ordered(reader, map, min, max, what);
            Kind::Number { min, max }
        }
        Kind::Text { .. } => Kind::Text {
            one_of: match inner("enum") {
                Some(yaml) => words(reader, yaml, &format!("`enum` of {what}"))?,
                None => Vec::new(),
            },
        },
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

/// Reads a list of allowed strings, at least one.
pub(super) fn words(reader: &mut YamlReader<'_>, yaml: &Yaml, what: &str) -> Option<Vec<String>> {
    let words = reader.texts(yaml, what)?;
    if words.is_empty() {
        let error =
            reader.error("bad-schema", format!("{what} is empty, so no value is allowed"), yaml.head(reader.source()), "");
        reader.push(error.help("list the allowed values"));
    }
    Some(words.into_iter().map(|word| word.value).collect())
}

/// Checks that `min` is not above `max`; otherwise reports it.
pub(super) fn ordered<T: PartialOrd>(
    reader: &mut YamlReader<'_>,
    map: YamlFields<'_>,
    min: Option<T>,
    max: Option<T>,
    what: &str,
) -> bool {
    let ordered = min.zip(max).is_none_or(|(min, max)| min <= max);
    if !ordered {
        let span = map.entry("min").map_or(map.yaml.span, |entry| entry.value.span);
        let error = reader.error("bad-schema", format!("`min` of {what} is greater than its `max`"), span, "");
        reader.push(error);
    }
    ordered
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use asterisk_diag::{Diagnostics, Source};
    use asterisk_form::yaml;

    fn read(text: &str) -> (Source, Option<Shape>, Diagnostics) {
        let source = Source::new("s.yaml", text);
        let tree = yaml::parse(&source).unwrap();
        let mut reader = YamlReader::new(&source, "pipeline");
        let shape = shape(&mut reader, &tree, "test artifact".into(), "`schema`");
        let found = reader.finish();
        (source, shape, found)
    }

    fn good(text: &str) -> Shape {
        let (_, shape, found) = read(text);
        shape.unwrap_or_else(|| panic!("{text}: {found}"))
    }

    fn field(text: &str) -> Field {
        good(text).fields.remove(0)
    }

    #[test]
    fn every_type_is_read_in_both_forms() {
        let text = |words: &[&str]| Kind::Text { one_of: words.iter().map(|&word| word.to_owned()).collect() };
        let list = |kind| Kind::List(Box::new(kind));
        let map = |kind| Kind::Map(Box::new(kind));
        for (written, kind) in [
            ("bool", Kind::Bool),
            ("{ type: bool }", Kind::Bool),
            ("int", Kind::Int { min: None, max: None }),
            ("{ type: int, min: -1 }", Kind::Int { min: Some(-1), max: None }),
            ("number", Kind::Number { min: None, max: None }),
            ("{ type: number, min: 0, max: 1.5 }", Kind::Number { min: Some(0.0), max: Some(1.5) }),
            ("string", text(&[])),
            ("{ type: string, enum: [a, b] }", text(&["a", "b"])),
            ("{ enum: [a] }", text(&["a"])),
            ("any", Kind::Any),
            ("list", list(Kind::Any)),
            ("[string]", list(text(&[]))),
            ("[[bool]]", list(list(Kind::Bool))),
            ("{ type: list, items: int }", list(Kind::Int { min: None, max: None })),
            ("object", map(Kind::Any)),
            ("map", map(Kind::Any)),
            ("{ type: map, values: [bool] }", map(list(Kind::Bool))),
            ("{ type: object }", map(Kind::Any)),
        ] {
            assert_eq!(field(&format!("x: {written}")).kind, kind, "{written}");
        }
    }

    #[test]
    fn objects_are_named_after_their_fields() {
        let repos = field("repos: [{ name: string, path?: string }]");
        let Kind::List(item) = repos.kind else { panic!() };
        let Kind::Object(repo) = *item else { panic!() };
        assert_eq!(repo.name, "repos");
        assert_eq!(
            repo.fields.iter().map(|f| (f.name.as_str(), f.required)).collect::<Vec<_>>(),
            [("name", true), ("path", false)]
        );
        for written in ["at: { x: int }", "at: { type: object, fields: { x: int } }"] {
            let Kind::Object(at) = field(written).kind else { panic!("{written}") };
            assert_eq!((at.name.as_str(), at.fields[0].name.as_str()), ("at", "x"));
        }
        let Kind::Object(odd) = field("odd: { type: object, fields: { type: string } }").kind else { panic!() };
        assert_eq!(odd.fields[0].name, "type");
    }

    #[test]
    fn a_question_mark_makes_a_field_optional() {
        let shape = good("a: bool\nb?: bool\n'c ?': bool");
        let fields: Vec<_> = shape.fields.iter().map(|f| (f.name.as_str(), f.required)).collect();
        assert_eq!(fields, [("a", true), ("b", false), ("c", false)]);
        assert_eq!(shape.name, "test artifact");
    }

    #[test]
    fn every_error_has_a_span_and_help() {
        for (text, code, at, help) in [
            ("x: strng", "bad-schema", "strng", "did you mean `string`?"),
            ("x: boolean", "bad-schema", "boolean", "did you mean `bool`?"),
            ("x: array", "bad-schema", "array", "did you mean `list`?"),
            ("x: string?", "bad-schema", "string?", "the `?` of an optional field goes after its name: `name?: string`"),
            ("x: 1", "bad-schema", "1", "types are bool, int, number, string, any, object, list, map"),
            ("x: []", "bad-schema", "[]", "give the single type of its items: `[string]`"),
            ("x: [bool, int]", "bad-schema", "[bool, int]", "give the single type of its items: `[string]`"),
            ("x: bool\nx?: int", "bad-schema", "x?", ""),
            ("'?': bool", "bad-schema", "'?'", ""),
            ("x: { type: number, mn: 0 }", "unknown-key", "mn", "did you mean `min`?"),
            ("x: { type: string, min: 0 }", "unknown-key", "min", "known here: `enum`, `type`"),
            ("x: { type: number, min: 2, max: 1 }", "bad-schema", "2", ""),
            ("x: { type: int, min: 0.5 }", "type", "0.5", ""),
            ("x: { type: object, values: int }", "unknown-key", "values", ""),
            ("x: { enum: [] }", "bad-schema", "[]", "list the allowed values"),
            ("x: { enum: [a, 1] }", "type", "1", "put it in quotes: \"1\""),
            ("x: { type: [a] }", "type", "[a]", ""),
            ("- bool", "type", "- bool", ""),
        ] {
            let (source, _, found) = read(text);
            assert_eq!(found.len(), 1, "{text}: {found}");
            let one = found.iter().next().unwrap();
            assert_eq!(one.code, format!("pipeline/{code}"), "{text}");
            assert_eq!(source.slice(one.primary().unwrap().span), at, "{text}");
            assert!(help.is_empty() || one.help.as_deref() == Some(help), "{text}: {:?}", one.help);
        }
    }

    #[test]
    fn all_errors_are_reported() {
        let (_, shape, found) = read("a: boo\nb: { c: [nmber], d: bool }\ne: { type: int, mx: 1 }");
        assert!(shape.is_none());
        assert_eq!(found.len(), 3, "{found}");
    }
}
