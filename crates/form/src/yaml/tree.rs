//! The tree: values with spans.

use crate::Spanned;
use asterisk_diag::{Source, Span};
use serde_json::{Map, Value};

/// A value and its span. A value that came from an alias has the span of the alias.
#[derive(Clone, Debug, PartialEq)]
pub struct Yaml {
    /// The span: of a scalar, including its quotes (of a block scalar, its lines); of a list or map, from its first to its last
    /// character; empty if nothing is written (`key:`).
    pub span: Span,
    /// The typed content.
    pub kind: YamlKind,
}

/// The typed content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum YamlKind {
    /// `~`, `null` or empty.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A number; always finite.
    Float(f64),
    /// A string.
    Text(YamlText),
    /// A list.
    List(Vec<Yaml>),
    /// A map in source order, without duplicate keys.
    Map(Vec<YamlEntry>),
}

/// A string and its written style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlText {
    /// The decoded text.
    pub value: String,
    /// The written style.
    pub style: QuoteStyle,
}

/// The written style of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteStyle {
    /// Without quotes.
    Plain,
    /// `'..'`
    Single,
    /// `".."`
    Double,
    /// `|` or `>`
    Block,
    /// Written elsewhere: the value came from an alias.
    Alias,
}

/// A key of a map with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct YamlEntry {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: Yaml,
}

impl Yaml {
    /// The name of its type in messages, with an article.
    pub fn what(&self) -> &'static str {
        match self.kind {
            YamlKind::Null => "nothing",
            YamlKind::Bool(_) => "a bool",
            YamlKind::Int(_) => "a whole number",
            YamlKind::Float(_) => "a number",
            YamlKind::Text(_) => "a string",
            YamlKind::List(_) => "a list",
            YamlKind::Map(_) => "a map",
        }
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        self.kind == YamlKind::Null
    }

    /// The string, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            YamlKind::Text(text) => Some(&text.value),
            _ => None,
        }
    }

    /// The string with its span, if it is one and not blank.
    pub fn text(&self) -> Option<Spanned<String>> {
        let text = self.as_text().filter(|text| !text.trim().is_empty())?;
        Some(Spanned::new(text.to_owned(), self.span))
    }

    /// The strings among the items, if it is a list.
    pub fn texts(&self) -> Option<Vec<Spanned<String>>> {
        Some(self.as_list()?.iter().filter_map(Self::text).collect())
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Self]> {
        match &self.kind {
            YamlKind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, if it is a map.
    pub fn as_map(&self) -> Option<&[YamlEntry]> {
        match &self.kind {
            YamlKind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of a key, if it is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.iter().find(|entry| *entry.key == key).map(|entry| &entry.value)
    }

    /// The first line of its span, to label instead of a long value.
    pub fn head(&self, source: &Source) -> Span {
        let text = source.slice(self.span);
        let line = text.find(['\n', '\r']).map_or(text, |end| &text[..end]);
        Span::new(self.span.start, self.span.start + line.trim_end().len())
    }

    /// Converts the value to JSON.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            YamlKind::Null => Value::Null,
            YamlKind::Bool(value) => Value::from(*value),
            YamlKind::Int(value) => Value::from(*value),
            YamlKind::Float(value) => Value::from(*value),
            YamlKind::Text(text) => Value::from(text.value.as_str()),
            YamlKind::List(items) => items.iter().map(Self::to_json).collect(),
            YamlKind::Map(entries) => Value::Object(entries.iter().map(YamlEntry::to_json).collect::<Map<_, _>>()),
        }
    }

    /// The number of values in it, itself included.
    pub(super) fn size(&self) -> usize {
        1 + match &self.kind {
            YamlKind::List(items) => items.iter().map(Self::size).sum(),
            YamlKind::Map(entries) => entries.iter().map(|entry| 1 + entry.value.size()).sum(),
            _ => 0,
        }
    }

    /// The nesting depth: 0 for a scalar.
    pub(super) fn depth(&self) -> usize {
        match &self.kind {
            YamlKind::List(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            YamlKind::Map(entries) => 1 + entries.iter().map(|entry| entry.value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// A copy for an alias: every span becomes that of the alias.
    pub(super) fn seen_at(&self, span: Span) -> Self {
        let kind = match &self.kind {
            YamlKind::Text(text) => YamlKind::Text(YamlText { value: text.value.clone(), style: QuoteStyle::Alias }),
            YamlKind::List(items) => YamlKind::List(items.iter().map(|item| item.seen_at(span)).collect()),
            YamlKind::Map(entries) => YamlKind::Map(entries.iter().map(|entry| entry.seen_at(span)).collect()),
            scalar => scalar.clone(),
        };
        Self { span, kind }
    }
}

impl YamlEntry {
    fn to_json(&self) -> (String, Value) {
        (self.key.value.clone(), self.value.to_json())
    }

    /// A copy for an alias or merge: every span becomes the given one.
    pub(super) fn seen_at(&self, span: Span) -> Self {
        Self { key: Spanned::new(self.key.value.clone(), span), value: self.value.seen_at(span) }
    }
}
