//! Reads typed values out of JSON. Each error is located at its value, and all errors are collected.

use super::json_span::{self, JsonStep};
use super::{cut, times};
use asterisk_base::clock::Timestamp;
use asterisk_diag::{Diagnostic, Diagnostics, Source, nearest};
use serde_json::{Map, Value};
use std::fmt::Write;

/// Errors beyond this number are only counted.
const MAX_ERRORS: usize = 20;

/// A value and its path from the root.
#[derive(Clone, Copy)]
pub(super) struct FieldNode<'a> {
    pub(super) value: &'a Value,
    up: Option<(&'a Self, JsonStep<'a>)>,
    /// The path from the root of the text to the outermost node.
    base: &'a [JsonStep<'a>],
}

impl<'a> FieldNode<'a> {
    /// The root value of a text.
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, up: None, base: &[] }
    }

    /// A value that was parsed on its own, with its path in the text.
    pub(super) fn at(value: &'a Value, base: &'a [JsonStep<'a>]) -> Self {
        Self { value, up: None, base }
    }

    /// The member `key`, unless it is absent or null.
    pub(super) fn get(&'a self, key: &'a str) -> Option<Self> {
        let value = self.value.get(key).filter(|value| !value.is_null())?;
        Some(Self { value, up: Some((self, JsonStep::Key(key))), base: self.base })
    }

    /// The elements of a list; none if it is not a list.
    pub(super) fn elements(&'a self) -> impl Iterator<Item = FieldNode<'a>> {
        let list = self.value.as_array().map_or(&[][..], Vec::as_slice);
        list.iter().enumerate().map(move |(index, value)| Self {
            value,
            up: Some((self, JsonStep::Index(index))),
            base: self.base,
        })
    }

    fn path(&self) -> Vec<JsonStep<'a>> {
        let mut path = self.up.map_or_else(|| self.base.to_vec(), |(up, _)| up.path());
        path.extend(self.up.map(|(_, step)| step));
        path
    }

    /// The path in the usual notation: `failure_list[3].name`.
    fn name(&self) -> String {
        self.path().iter().fold(String::new(), |mut name, step| {
            match step {
                JsonStep::Key(key) => {
                    if !name.is_empty() {
                        name.push('.');
                    }
                    name.push_str(key);
                }
                // Writing to a string cannot fail.
                JsonStep::Index(index) => write!(name, "[{index}]").unwrap_or_default(),
            }
            name
        })
    }
}

/// Reads values of one source and collects errors.
pub(super) struct FieldReader<'s> {
    source: &'s Source,
    found: Diagnostics,
    not_shown: usize,
    /// The number of invalid times, and a description of the first.
    unread_times: (usize, String),
    /// Notes for the launch.
    pub(super) notes: Vec<String>,
}

impl<'s> FieldReader<'s> {
    pub(super) fn new(source: &'s Source) -> Self {
        Self { source, found: Diagnostics::new(), not_shown: 0, unread_times: (0, String::new()), notes: Vec::new() }
    }

    /// Takes over the errors and notes of another reader of the same source.
    pub(super) fn absorb(&mut self, other: Self) {
        for found in other.found {
            self.report(|_| found);
        }
        self.not_shown += other.not_shown;
        self.notes.extend(other.notes);
        if self.unread_times.0 == 0 {
            self.unread_times.1 = other.unread_times.1;
        }
        self.unread_times.0 += other.unread_times.0;
    }

    /// Returns `value`, or the errors if there are any.
    pub(super) fn finish<T>(mut self, value: Option<T>) -> Result<T, Diagnostics> {
        if self.not_shown > 0 {
            let more = format!("{} more problems of this kind are not shown", self.not_shown);
            self.found.push(Diagnostic::error("ingest/more", more));
        }
        match value {
            Some(value) => self.found.into_result(value),
            None => Err(self.found),
        }
    }

    /// Adds an error. It is only made while there is room for it, because locating it searches the text.
    fn report(&mut self, make: impl FnOnce(&'s Source) -> Diagnostic) {
        if self.found.len() < MAX_ERRORS {
            self.found.push(make(self.source));
        } else {
            self.not_shown += 1;
        }
    }

    /// Reports a value of the wrong type.
    pub(super) fn wrong_type(&mut self, node: &FieldNode<'_>, wanted: &str) {
        self.report(|source| {
            let span = json_span::locate(source.text(), &node.path());
            let name = node.name();
            let subject = if name.is_empty() { "the whole text".to_owned() } else { format!("`{name}`") };
            Diagnostic::error("ingest/type", format!("{subject} is {}, but should be {wanted}", type_name(node.value))).label(
                source,
                span,
                format!("should be {wanted}"),
            )
        });
    }

    /// Reports that `key` is missing in an object; `rule` is the help line.
    pub(super) fn missing(&mut self, node: &FieldNode<'_>, key: &str, rule: &str) {
        self.report(|source| {
            let path = node.path();
            let name = node.name();
            let subject = if name.is_empty() { "the launch".to_owned() } else { format!("`{name}`") };
            let keys = node.value.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
            let similar = nearest(key, keys);
            let is_null = node.value.get(key).is_some();
            let message = if is_null { format!("`{key}` of {subject} is null") } else { format!("{subject} lacks `{key}`") };
            let (span, label) = match similar {
                _ if is_null => (json_span::locate_key(source.text(), &path, key), "is null".to_owned()),
                Some(similar) => (json_span::locate_key(source.text(), &path, similar), format!("is this meant to be `{key}`?")),
                None => (json_span::locate(source.text(), &path), format!("`{key}` is missing here")),
            };
            Diagnostic::error("ingest/missing", message).label(source, span, label).help(rule.to_owned())
        });
    }

    /// Whether the value is an object; an error is added if not.
    pub(super) fn expect_object(&mut self, node: &FieldNode<'_>) -> bool {
        if !node.value.is_object() {
            self.wrong_type(node, "an object");
        }
        node.value.is_object()
    }

    /// Reads a text; numbers and booleans are converted.
    pub(super) fn text(&mut self, node: &FieldNode<'_>, key: &str) -> Option<String> {
        let field = node.get(key)?;
        let text = scalar(field.value);
        if text.is_none() {
            self.wrong_type(&field, "a string");
        }
        text
    }

    /// Reads a required text; `rule` is the help line.
    pub(super) fn required_text(&mut self, node: &FieldNode<'_>, key: &str, rule: &str) -> Option<String> {
        if node.get(key).is_none() {
            self.missing(node, key, rule);
            return None;
        }
        self.text(node, key)
    }

    /// Reads a required id: a non-empty text or a whole number.
    pub(super) fn required_id(&mut self, node: &FieldNode<'_>, key: &str, rule: &str) -> Option<String> {
        let Some(field) = node.get(key) else {
            self.missing(node, key, rule);
            return None;
        };
        let id = match field.value {
            Value::String(text) => Some(super::texts::one_line(text)).filter(|id| !id.is_empty()),
            Value::Number(number) if !number.is_f64() => Some(number.to_string()),
            _ => None,
        };
        if id.is_none() {
            let wanted = "a whole number or a non-empty string";
            self.wrong_type(&field, wanted);
        }
        id
    }

    /// Reads a whole number, which may be written as a text.
    pub(super) fn integer(&mut self, node: &FieldNode<'_>, key: &str) -> Option<i64> {
        let field = node.get(key)?;
        let number = field.value.as_i64().or_else(|| field.value.as_str()?.trim().parse().ok());
        if number.is_none() {
            self.wrong_type(&field, "a whole number");
        }
        number
    }

    /// Reads a time: milliseconds since 1970, or RFC 3339. An invalid time is left out and noted: the analysis does not depend on
    /// it.
    pub(super) fn time(&mut self, node: &FieldNode<'_>, key: &str) -> Option<Timestamp> {
        let field = node.get(key)?;
        let time = match field.value {
            Value::String(text) if text.trim().is_empty() => return None,
            Value::String(text) => times::parse(text),
            Value::Number(number) => number.as_i64().and_then(times::from_millis),
            _ => {
                self.wrong_type(&field, "milliseconds since 1970 or an RFC 3339 time");
                return None;
            }
        };
        if time.is_none() {
            let (count, first) = &mut self.unread_times;
            *count += 1;
            if first.is_empty() {
                *first = format!("{} = {}", field.name(), field.value);
            }
        }
        time
    }

    /// Takes all notes for the launch.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        match &self.unread_times {
            (0, _) => {}
            (1, first) => notes.push(format!("an invalid time was ignored: {first}")),
            (count, first) => notes.push(format!("{count} invalid times were ignored, the first: {first}")),
        }
        notes
    }

    /// The member `key` if it is an object; anything else is an error.
    pub(super) fn object<'a>(&mut self, node: &'a FieldNode<'a>, key: &'a str) -> Option<FieldNode<'a>> {
        node.get(key).filter(|field| self.expect_object(field))
    }

    /// The member `key` if it is a list; anything else is an error.
    pub(super) fn list<'a>(&mut self, node: &'a FieldNode<'a>, key: &'a str) -> Option<FieldNode<'a>> {
        let field = node.get(key)?;
        if !field.value.is_array() {
            self.wrong_type(&field, "a list");
            return None;
        }
        Some(field)
    }
}

/// A scalar as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(cut::readable(text).into_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The name of the value's type, for messages.
fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(text) if text.trim().is_empty() => "an empty string",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = fn(&mut FieldReader<'_>, &FieldNode<'_>) -> Option<String>;

    fn with<T>(text: &str, read: impl FnOnce(&mut FieldReader<'_>, &FieldNode<'_>) -> Option<T>) -> Result<T, String> {
        let source = Source::new("x.json", text);
        let value = serde_json::from_str(source.text()).expect("json");
        let mut fields = FieldReader::new(&source);
        let read = read(&mut fields, &FieldNode::root(&value));
        fields.finish(read).map_err(|found| found.to_string())
    }

    #[test]
    fn scalars_are_read_in_their_spellings() {
        assert_eq!(with(r#"{"n": "13"}"#, |f, n| f.integer(n, "n")), Ok(13));
        assert_eq!(with(r#"{"id": 7}"#, |f, n| f.required_id(n, "id", "")), Ok("7".to_owned()));
        assert_eq!(with(r#"{"t": 5}"#, |f, n| f.text(n, "t")), Ok("5".to_owned()));
        assert_eq!(with(r#"{"t": 1771104069000}"#, |f, n| f.time(n, "t")).map(Timestamp::millis), Ok(1_771_104_069_000));
    }

    #[test]
    fn errors_have_a_location_and_a_message() {
        let table: [(&str, Read, &str); 5] = [
            ("{\n \"a\": [1]}", |f, n| f.required_text(n, "a", ""), "x.json:2:7: `a` is a list, but should be a string"),
            (
                r#"{"id": 1.5}"#,
                |f, n| f.required_id(n, "id", ""),
                "x.json:1:8: `id` is a number, but should be a whole number or a non-empty string",
            ),
            (
                r#"{"id": " "}"#,
                |f, n| f.required_id(n, "id", ""),
                "x.json:1:8: `id` is an empty string, but should be a whole number or a non-empty string",
            ),
            (r#"{"x": 1}"#, |f, n| f.required_text(n, "name", ""), "x.json:1:1: the launch lacks `name`"),
            (r#"{"nmae": 1}"#, |f, n| f.required_text(n, "name", ""), "x.json:1:2: the launch lacks `name`"),
        ];
        for (text, read, wanted) in table {
            assert_eq!(with(text, read), Err(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn the_number_of_errors_is_bounded() {
        let text = format!("[{}]", vec!["1"; 100].join(","));
        let error = with::<()>(&text, |f, n| {
            for element in n.elements() {
                f.expect_object(&element);
            }
            None
        });
        let error = error.expect_err("errors");
        assert_eq!(error.lines().count(), MAX_ERRORS + 1);
        assert!(error.ends_with("80 more problems of this kind are not shown"), "{error}");
    }
}
