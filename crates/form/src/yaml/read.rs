//! Reads typed values from a tree. A value of the wrong type and a missing or unknown key become diagnostics; reading continues.

use super::tree::{QuoteStyle, Yaml, YamlEntry, YamlKind};
use crate::Spanned;
use asterisk_diag::{Diagnostic, Diagnostics, MappedText, Source, Span, did_you_mean, nearest};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// Reads the values of one file and collects errors. Error codes start with the area of the file (`pipeline`, `config`, ...):
/// `AREA/type`, `AREA/unknown-key`, `AREA/not-supported`, `AREA/empty`.
#[derive(Debug)]
pub struct YamlReader<'a> {
    source: &'a Source,
    area: &'static str,
    found: Diagnostics,
}

/// The help for a null value.
const EMPTY: &str = "give it a value, or omit the key";

/// A map whose keys are read one by one.
#[derive(Clone, Copy, Debug)]
pub struct YamlFields<'y> {
    /// The map node.
    pub yaml: &'y Yaml,
    entries: &'y [YamlEntry],
}

impl<'y> YamlFields<'y> {
    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&'y YamlEntry> {
        self.entries.iter().find(|entry| *entry.key == key)
    }

    /// All entries, in source order.
    pub fn entries(&self) -> &'y [YamlEntry] {
        self.entries
    }
}

impl<'a> YamlReader<'a> {
    /// Starts reading a file.
    pub fn new(source: &'a Source, area: &'static str) -> Self {
        Self { source, area, found: Diagnostics::new() }
    }

    /// The file being read.
    pub fn source(&self) -> &'a Source {
        self.source
    }

    /// Returns the diagnostics, in source order.
    pub fn finish(self) -> Diagnostics {
        let mut found: Vec<Diagnostic> = self.found.into_iter().collect();
        found.sort_by_key(|diagnostic| diagnostic.primary().map(|label| label.span.start));
        found.into_iter().collect()
    }

    /// Creates an error with the code `AREA/name`, labelled at `span`, to be completed and [`push`](Self::push)ed.
    pub fn error(&self, name: &str, message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic::error(format!("{}/{name}", self.area), message).label(self.source, self.visible(span), label)
    }

    /// Creates an error whose source line is not shown, because it is secret.
    pub fn error_hidden(&self, name: &str, message: impl Into<String>, span: Span) -> Diagnostic {
        let mut text = self.source.text().to_owned();
        if let Some(secret) = text.get(span.start..span.end) {
            let stars: String = secret.bytes().map(|byte| if byte == b'\n' { '\n' } else { '*' }).collect();
            text.replace_range(span.start..span.end, &stars);
        }
        let source = Source::new(self.source.name(), text);
        Diagnostic::error(format!("{}/{name}", self.area), message).label(&source, self.visible(span), "")
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Extends an empty span to the preceding character, so that it is visible.
    fn visible(&self, span: Span) -> Span {
        if span.is_empty() { super::diagnose::token(self.source, span.start) } else { span }
    }

    /// Reads `what` as a map.
    pub fn map<'y>(&mut self, yaml: &'y Yaml, what: &str) -> Option<YamlFields<'y>> {
        match &yaml.kind {
            YamlKind::Map(entries) => Some(YamlFields { yaml, entries }),
            _ => self.wrong(yaml, what, "a map"),
        }
    }

    /// Reads `what` as a list.
    pub fn list<'y>(&mut self, yaml: &'y Yaml, what: &str) -> Option<&'y [Yaml]> {
        match &yaml.kind {
            YamlKind::List(items) => Some(items),
            _ => self.wrong(yaml, what, "a list"),
        }
    }

    /// Reads `what` as a string that is not blank.
    pub fn text(&mut self, yaml: &Yaml, what: &str) -> Option<Spanned<String>> {
        match &yaml.kind {
            YamlKind::Text(text) if text.value.trim().is_empty() => {
                let error = self.error("empty", format!("{what} is empty"), yaml.span, "");
                self.push(error.help(EMPTY));
                None
            }
            YamlKind::Text(text) => Some(Spanned::new(text.value.clone(), yaml.span)),
            _ => self.wrong(yaml, what, "a string"),
        }
    }

    /// Reads `what` as a string that is not blank, with the source position of each character; a bool counts as its source text.
    pub fn expression(&mut self, yaml: &Yaml, what: &str) -> Option<MappedText> {
        match &yaml.kind {
            YamlKind::Bool(_) => expression(yaml, self.source),
            YamlKind::Text(_) => self.text(yaml, what).and_then(|_| expression(yaml, self.source)),
            _ => self.wrong(yaml, what, "an expression in a string"),
        }
    }

    /// Reads `what` as a list of strings.
    pub fn texts(&mut self, yaml: &Yaml, what: &str) -> Option<Vec<Spanned<String>>> {
        let items = self.list(yaml, what)?;
        Some(items.iter().filter_map(|item| self.text(item, &format!("an item of {what}"))).collect())
    }

    /// Reads `what` as a boolean.
    pub fn bool(&mut self, yaml: &Yaml, what: &str) -> Option<bool> {
        match yaml.kind {
            YamlKind::Bool(value) => Some(value),
            _ => self.wrong(yaml, what, "`true` or `false`"),
        }
    }

    /// Reads `what` as an integer within a range.
    pub fn int(&mut self, yaml: &Yaml, what: &str, range: &RangeInclusive<i64>) -> Option<i64> {
        match yaml.kind {
            YamlKind::Int(value) if range.contains(&value) => Some(value),
            YamlKind::Int(_) => self.wrong(yaml, what, &bounds(range)),
            _ => self.wrong(yaml, what, "a whole number"),
        }
    }

    /// Reads `what` as a number, integer or not.
    pub fn number(&mut self, yaml: &Yaml, what: &str) -> Option<f64> {
        match yaml.kind {
            #[expect(clippy::cast_precision_loss, reason = "the nearest float is what a script would see as well")]
            YamlKind::Int(value) => Some(value as f64),
            YamlKind::Float(value) => Some(value),
            _ => self.wrong(yaml, what, "a number"),
        }
    }

    /// Reads `what` as one of the given words.
    pub fn one_of<T: Copy>(&mut self, yaml: &Yaml, what: &str, words: &[(&str, T)]) -> Option<T> {
        let text = self.text(yaml, what)?;
        let known = || words.iter().map(|(word, _)| *word);
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == *text) {
            return Some(*value);
        }
        let list = known().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
        let error = self.error("type", format!("{what} must be {list}, not `{text}`"), text.span, "");
        self.push(error.maybe_help(nearest(&text, known()).map(|word| format!("did you mean `{word}`?"))));
        None
    }

    /// Reads a map of settings with values of any type. A number written with a decimal comma is an error: YAML parses it as a
    /// string or, within braces, as another key.
    pub fn vars(&mut self, entries: &[YamlEntry]) -> BTreeMap<String, Spanned<Value>> {
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let mut vars = BTreeMap::new();
        let mut entries = entries.iter().peekable();
        while let Some(YamlEntry { key, value }) = entries.next() {
            let cut = entries.next_if(|next| {
                let between = self.source.text().get(value.span.end..next.key.span.start);
                matches!(value.kind, YamlKind::Int(_)) && between == Some(",") && next.value.is_null() && digits(&next.key)
            });
            let whole = cut.map_or(value.span, |next| Span::new(value.span.start, next.key.span.end));
            let written = self.source.slice(whole);
            let plain = matches!(&value.kind, YamlKind::Text(text) if text.style == QuoteStyle::Plain);
            let number = plain.then(|| with_point(written)).flatten().or_else(|| cut.and_then(|_| with_point(written)));
            let Some(number) = number else {
                vars.insert(key.value.clone(), Spanned::new(value.to_json(), value.span));
                continue;
            };
            let message = format!("`{}` is not a number: `{written}` is written with a comma", **key);
            let error = self.error("number", message, whole, "");
            self.push(error.help(format!("write {number}; to write a string, quote it: \"{written}\"")));
        }
        vars
    }

    /// Reports every unknown key, and every key of `later` as not supported yet.
    pub fn known_keys(&mut self, fields: YamlFields<'_>, what: &str, known: &[&str], later: &[&str]) {
        for entry in fields.entries() {
            let key = entry.key.as_str();
            if known.contains(&key) {
                continue;
            }
            let error = if later.contains(&key) {
                self.error("not-supported", format!("`{key}` of {what} is not supported yet"), entry.key.span, "")
                    .help("omit it for now")
            } else {
                self.error("unknown-key", format!("`{key}` is not a key of {what}"), entry.key.span, "unknown key")
                    .maybe_help(did_you_mean(key, known.iter().copied()))
            };
            self.push(error);
        }
    }

    /// Reports that `what` is not the `wanted` type. Returns `None`.
    fn wrong<T>(&mut self, yaml: &Yaml, what: &str, wanted: &str) -> Option<T> {
        let got = match &yaml.kind {
            YamlKind::Null => {
                let error = self.error("empty", format!("{what} is empty"), yaml.span, format!("expected {wanted}"));
                self.push(error.help(EMPTY));
                return None;
            }
            YamlKind::Int(value) => format!("{value}"),
            YamlKind::Float(value) => format!("{value}"),
            YamlKind::Bool(value) => format!("`{value}`"),
            YamlKind::Text(text) if text.value.len() <= 40 && !text.value.contains('\n') => {
                format!("the string `{}`", text.value)
            }
            _ => yaml.what().to_owned(),
        };
        let message = format!("{what} must be {wanted}, not {got}");
        let error = self.error("type", message, yaml.head(self.source), format!("expected {wanted}"));
        let written = self.source.slice(yaml.span);
        self.push(error.maybe_help(instead(yaml, written, wanted)));
        None
    }
}

/// An expression with the source position of each character; `None` for a blank string and for a value that is neither string nor
/// bool.
pub fn expression(yaml: &Yaml, source: &Source) -> Option<MappedText> {
    match &yaml.kind {
        YamlKind::Bool(value) => {
            let offsets = (yaml.span.start..yaml.span.end).collect();
            Some(MappedText::new(value.to_string(), offsets, source.clone(), yaml.span))
        }
        YamlKind::Text(text) if !text.value.trim().is_empty() => yaml.mapped(source),
        _ => None,
    }
}

/// Replaces the decimal comma of a number by a point.
fn with_point(text: &str) -> Option<String> {
    let (whole, rest) = text.trim().split_once(',')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole.strip_prefix(['-', '+']).unwrap_or(whole)) && digits(rest)).then(|| format!("{whole}.{rest}"))
}

/// A suggested replacement, if one can be derived.
fn instead(yaml: &Yaml, written: &str, wanted: &str) -> Option<String> {
    let scalar = matches!(yaml.kind, YamlKind::Int(_) | YamlKind::Float(_) | YamlKind::Bool(_)) && !written.starts_with('*');
    let text = if let YamlKind::Text(text) = &yaml.kind { Some(text.value.trim()) } else { None };
    let bare = |text: &str| format!("write it without quotes: {text}");
    match wanted {
        "a string" if scalar => Some(format!("put it in quotes: \"{written}\"")),
        "a list" if (scalar || text.is_some()) && !written.contains('\n') => Some(format!("put it in brackets: [{written}]")),
        "a list" => Some("begin each item with `- `, or put them in brackets: [..., ...]".to_owned()),
        "a map" => Some("write a key and a value for each part, on lines of their own or in braces: { key: value }".to_owned()),
        "`true` or `false`" => match text?.to_ascii_lowercase().as_str() {
            "true" => Some(bare("true")),
            "false" => Some(bare("false")),
            "yes" | "on" | "y" => Some("write `true`".to_owned()),
            "no" | "off" | "n" => Some("write `false`".to_owned()),
            _ => None,
        },
        "a whole number" => text.filter(|text| text.parse::<i64>().is_ok()).map(bare),
        "a number" => text
            .filter(|text| text.parse::<f64>().is_ok_and(f64::is_finite))
            .map(bare)
            .or_else(|| Some(format!("write {}, with a point", with_point(text?)?))),
        _ => None,
    }
}

fn bounds(range: &RangeInclusive<i64>) -> String {
    match (*range.start(), *range.end()) {
        (start, i64::MAX) => format!("{start} or more"),
        (start, end) => format!("a whole number from {start} to {end}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::parse;
    use super::*;

    #[test]
    fn a_value_of_the_wrong_type_has_a_suggestion() {
        let help = |text: &str, read: fn(&mut YamlReader<'_>, &Yaml)| {
            let source = Source::new("x.yaml", text);
            let mut reader = YamlReader::new(&source, "x");
            read(&mut reader, parse(&source).unwrap().get("k").unwrap());
            let found = reader.finish();
            found.iter().next().unwrap().help.clone().unwrap_or_default()
        };
        assert_eq!(help("k: [1]", |reader, yaml| drop(reader.text(yaml, "`k`"))), "");
        assert_eq!(help("k: 7", |reader, yaml| drop(reader.text(yaml, "`k`"))), "put it in quotes: \"7\"");
        assert_eq!(help("k: a", |reader, yaml| _ = reader.list(yaml, "`k`")), "put it in brackets: [a]");
        assert!(help("k: { a: 1 }", |reader, yaml| _ = reader.list(yaml, "`k`")).starts_with("begin each item"));
        assert!(help("k: a", |reader, yaml| _ = reader.map(yaml, "`k`")).ends_with("{ key: value }"));
        assert_eq!(help("k: \"True\"", |reader, yaml| _ = reader.bool(yaml, "`k`")), "write it without quotes: true");
        assert_eq!(help("k: on", |reader, yaml| _ = reader.bool(yaml, "`k`")), "write `true`");
        assert_eq!(help("k: perhaps", |reader, yaml| _ = reader.bool(yaml, "`k`")), "");
        assert_eq!(help("k: '7'", |reader, yaml| _ = reader.int(yaml, "`k`", &(1..=9))), "write it without quotes: 7");
        assert_eq!(help("k: '.5'", |reader, yaml| _ = reader.number(yaml, "`k`")), "write it without quotes: .5");
        assert_eq!(help("k: '.5'", |reader, yaml| _ = reader.int(yaml, "`k`", &(1..=9))), "");
        assert_eq!(help("k:", |reader, yaml| drop(reader.text(yaml, "`k`"))), EMPTY);
    }

    #[test]
    fn errors_do_not_end_the_reading() {
        let source = Source::new(
            "asterisk.yaml",
            "n: 7\nlist: [a, 2]\nname: x\nflag: on\nhalf: .5\nmode: fasst\nnmae: y\nsoon: 1\nnone:\n",
        );
        let tree = parse(&source).unwrap();
        let mut reader = YamlReader::new(&source, "config");
        let fields = reader.map(&tree, "a project file").unwrap();
        let at = |key: &str| &fields.entry(key).unwrap().value;
        assert_eq!(reader.text(at("name"), "`name`").unwrap().value, "x");
        assert_eq!(reader.int(at("n"), "`n`", &(1..=7)), Some(7));
        assert_eq!((reader.number(at("n"), "`n`"), reader.number(at("half"), "`half`")), (Some(7.0), Some(0.5)));
        assert_eq!(reader.texts(at("list"), "`list`").unwrap().len(), 1);
        assert_eq!(reader.bool(at("flag"), "`flag`"), None);
        assert_eq!(reader.int(at("n"), "`n`", &(8..=i64::MAX)), None);
        assert_eq!(reader.one_of(at("mode"), "`mode`", &[("fast", 1), ("slow", 2)]), None);
        assert_eq!(reader.text(at("none"), "`none`"), None);
        reader.known_keys(fields, "a project file", &["n", "list", "name", "flag", "half", "mode", "none"], &["soon"]);
        let message: Vec<String> = reader.finish().iter().map(|d| format!("{} {d}", d.code)).collect();
        assert_eq!(
            message,
            [
                "config/type asterisk.yaml:1:4: `n` must be 8 or more, not 7",
                "config/type asterisk.yaml:2:11: an item of `list` must be a string, not 2",
                "config/type asterisk.yaml:4:7: `flag` must be `true` or `false`, not the string `on`",
                "config/type asterisk.yaml:6:7: `mode` must be `fast` or `slow`, not `fasst`",
                "config/unknown-key asterisk.yaml:7:1: `nmae` is not a key of a project file",
                "config/not-supported asterisk.yaml:8:1: `soon` of a project file is not supported yet",
                "config/empty asterisk.yaml:9:5: `none` is empty",
            ]
        );
    }
}
