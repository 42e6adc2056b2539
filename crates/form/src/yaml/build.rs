//! Builds a tree from parser events, within limits.

use super::diagnose::{diagnose, token};
use super::extend::extend;
use super::number::{Plain, plain};
use super::tree::{QuoteStyle, Yaml, YamlEntry, YamlKind, YamlText};
use crate::Spanned;
use asterisk_diag::{Diagnostic, Diagnostics, Source, Span};
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span as Place, StructureStyle, Tag, options};
use std::collections::BTreeMap;

/// Maximum number of values that a file writes out (keys included).
const MAX_WRITTEN: usize = 1_000_000;
/// Maximum number of values that its aliases and merges expand to.
const MAX_EXPANDED: usize = 10_000;
/// Maximum number of aliases in a file.
const MAX_ALIASES: usize = 50;
/// Maximum nesting depth of lists and maps (aliases expanded).
const MAX_DEPTH: usize = 32;

const BOM: char = '\u{feff}';

/// Parses a text as one YAML document, merged with the texts that it extends. An empty document is [`YamlKind::Null`].
pub fn parse(source: &Source) -> Result<Yaml, Diagnostics> {
    let mut found = Diagnostics::new();
    let mut whole = None;
    for part in source.parts().into_iter().rev() {
        match parse_part(source, part) {
            Ok(own) => {
                whole = Some(match whole.take() {
                    None => own,
                    Some(base) => extend(own, base, source, &mut found),
                });
            }
            Err(wrong) => found.extend(wrong),
        }
    }
    found.into_result(whole.unwrap_or(Yaml { span: Span::default(), kind: YamlKind::Null }))
}

fn parse_part(source: &Source, part: Span) -> Result<Yaml, Diagnostics> {
    let text = source.slice(part);
    let (base, text) = match text.strip_prefix(BOM) {
        Some(text) => (part.start + BOM.len_utf8(), text),
        None => (part.start, text),
    };
    let mut builder = Builder { source, base, ..Builder::new(source) };
    let options = options! { emit_comments: false };
    for event in Parser::new_from_str_with_options(text, options) {
        let step = match event {
            Ok((event, place)) => builder.take(event, place),
            Err(error) => Err(diagnose(&error, source, base, builder.read)),
        };
        if let Err(diagnostic) = step {
            builder.found.push(diagnostic);
            break;
        }
    }
    let root = builder.root.unwrap_or(Yaml { span: Span::default(), kind: YamlKind::Null });
    builder.found.into_result(root)
}

struct Builder<'a> {
    source: &'a Source,
    /// The offset in the source where the parser's input begins.
    base: usize,
    open: Vec<OpenContainer>,
    root: Option<Yaml>,
    /// Finished anchored values, by the parser's anchor number.
    anchors: BTreeMap<usize, Yaml>,
    documents: usize,
    written: usize,
    expanded: usize,
    aliases: usize,
    found: Diagnostics,
    /// The end of the last event: the text before it was parsed.
    read: usize,
}

/// An unfinished list or map.
struct OpenContainer {
    span: Span,
    anchor: usize,
    flow: bool,
    content: ContainerContent,
}

enum ContainerContent {
    List(Vec<Yaml>),
    Map { entries: Vec<YamlEntry>, key: PendingKey, merges: Vec<Yaml> },
}

/// The key that the next value of a map belongs to.
enum PendingKey {
    /// No key yet: the next value is one.
    None,
    Name(Spanned<String>),
    /// `<<`
    Merge,
    /// An invalid key, already reported.
    Bad,
}

impl<'a> Builder<'a> {
    fn new(source: &'a Source) -> Self {
        Self {
            source,
            base: 0,
            open: Vec::new(),
            root: None,
            anchors: BTreeMap::new(),
            documents: 0,
            written: 0,
            expanded: 0,
            aliases: 0,
            found: Diagnostics::new(),
            read: 0,
        }
    }

    /// Handles an event. Fatal errors are returned; others are collected.
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Diagnostic> {
        let span = self.span(place);
        self.read = self.read.max(span.end);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let at = token(self.source, span.start);
                    return Err(Diagnostic::error("yaml/documents", "a second document begins here; a file contains one")
                        .label(self.source, if span.is_empty() { at } else { span }, "")
                        .help("move it to another file"));
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                self.write(span)?;
                let yaml = self.scalar(&value, style, tag.as_deref(), span);
                self.finish(yaml, anchor, style == ScalarStyle::Plain);
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::SequenceStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", span);
                self.open(span, anchor, style, ContainerContent::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", span);
                let content = ContainerContent::Map { entries: Vec::new(), key: PendingKey::None, merges: Vec::new() };
                self.open(span, anchor, style, content)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            _ => {}
        }
        Ok(())
    }

    /// Converts a place into a span of the source, clamped to character boundaries.
    fn span(&self, place: Place) -> Span {
        let text = self.source.text();
        let offset = |byte: Option<usize>| {
            let mut at = byte.map_or(text.len(), |byte| byte + self.base).min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        Span::new(offset(place.start.byte_offset()), offset(place.end.byte_offset()))
    }

    /// Counts a value that the text writes out.
    fn write(&mut self, span: Span) -> Result<(), Diagnostic> {
        self.written += 1;
        self.within(self.written, MAX_WRITTEN, "writes", span)
    }

    /// Counts values that an alias or a merge expands to.
    fn expand(&mut self, values: usize, span: Span) -> Result<(), Diagnostic> {
        self.expanded += values;
        self.within(self.expanded, MAX_EXPANDED, "repeats by aliases", span)
    }

    fn within(&self, count: usize, most: usize, does: &str, span: Span) -> Result<(), Diagnostic> {
        if count <= most {
            return Ok(());
        }
        let message = format!("the file {does} more than {most} values");
        Err(Diagnostic::error("yaml/limit", message).label(self.source, span, "one too many"))
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Yaml {
        let style = match style {
            ScalarStyle::SingleQuoted => QuoteStyle::Single,
            ScalarStyle::DoubleQuoted => QuoteStyle::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => QuoteStyle::Block,
            ScalarStyle::Plain => QuoteStyle::Plain,
        };
        let written = self.source.slice(span);
        let span = if style == QuoteStyle::Block { Span::new(span.start, span.start + written.trim_end().len()) } else { span };
        let text = || YamlKind::Text(YamlText { value: value.to_owned(), style });
        let kind = match (tag, tag.and_then(core)) {
            (_, Some("str")) => text(),
            (None, _) if style != QuoteStyle::Plain => text(),
            (None, _) => match plain(value) {
                Plain::Null => YamlKind::Null,
                Plain::Bool(value) => YamlKind::Bool(value),
                Plain::Int(value) => YamlKind::Int(value),
                Plain::Float(value) => YamlKind::Float(value),
                Plain::Text => text(),
                Plain::Unholdable => {
                    self.unholdable(value, span);
                    YamlKind::Null
                }
            },
            (Some(tag), wanted) => match (wanted, plain(value)) {
                (Some("null"), Plain::Null) => YamlKind::Null,
                (Some("bool"), Plain::Bool(value)) => YamlKind::Bool(value),
                (Some("int"), Plain::Int(value)) => YamlKind::Int(value),
                (Some("float"), Plain::Float(value)) => YamlKind::Float(value),
                (Some("float"), Plain::Int(_)) => value.parse().map_or(YamlKind::Null, YamlKind::Float),
                _ => {
                    self.bad_tag(tag, span);
                    text()
                }
            },
        };
        Yaml { span, kind }
    }

    fn unholdable(&mut self, value: &str, span: Span) {
        self.found.push(
            Diagnostic::error("yaml/number", format!("`{value}` is not a supported number"))
                .label(self.source, span, "")
                .help("integers have 64 bits, other numbers must be finite; quote a string that looks like a number"),
        );
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, expected: &str, span: Span) {
        if let Some(tag) = tag.filter(|tag| core(tag) != Some(expected)) {
            self.bad_tag(tag, span);
        }
    }

    fn bad_tag(&mut self, tag: &Tag, span: Span) {
        self.found.push(
            Diagnostic::error("yaml/tag", format!("the tag `{tag}` is not supported"))
                .label(self.source, if span.is_empty() { token(self.source, span.start) } else { span }, "tagged value")
                .help("remove the tag"),
        );
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Diagnostic> {
        self.aliases += 1;
        let limit = |message: String| Diagnostic::error("yaml/limit", message).label(self.source, span, "");
        if self.aliases > MAX_ALIASES {
            return Err(limit(format!("the file contains more than {MAX_ALIASES} aliases")));
        }
        let Some(value) = self.anchors.get(&anchor) else {
            let message = format!("`{}` is used inside its own value", self.source.slice(span));
            return Err(Diagnostic::error("yaml/alias", message).label(self.source, span, ""));
        };
        if self.open.len() + value.depth() > MAX_DEPTH {
            return Err(limit(format!("lists and maps are nested more than {MAX_DEPTH} deep")));
        }
        let (size, value) = (value.size(), value.seen_at(span));
        self.expand(size, span)?;
        self.finish(value, 0, false);
        Ok(())
    }

    fn open(&mut self, span: Span, anchor: usize, style: StructureStyle, content: ContainerContent) -> Result<(), Diagnostic> {
        self.write(span)?;
        self.open.push(OpenContainer { span, anchor, flow: style == StructureStyle::Flow, content });
        if self.open.len() <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("lists and maps are nested more than {MAX_DEPTH} deep");
        Err(Diagnostic::error("yaml/limit", message).label(self.source, token(self.source, span.start), ""))
    }

    fn close(&mut self, end: Span) -> Result<(), Diagnostic> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        if open.flow {
            open.span.end = open.span.end.max(end.end);
        }
        let kind = match open.content {
            ContainerContent::List(items) => YamlKind::List(items),
            ContainerContent::Map { entries, merges, .. } => YamlKind::Map(self.merge(entries, merges)?),
        };
        self.finish(Yaml { span: open.span, kind }, open.anchor, false);
        Ok(())
    }

    /// Adds the entries of merged maps that are not overridden.
    fn merge(&mut self, mut entries: Vec<YamlEntry>, merges: Vec<Yaml>) -> Result<Vec<YamlEntry>, Diagnostic> {
        for merge in merges {
            let maps = match &merge.kind {
                YamlKind::List(items) => items.iter().collect(),
                _ => vec![&merge],
            };
            for map in maps {
                let Some(more) = map.as_map() else {
                    let message = format!("`<<` merges maps, not {}", map.what());
                    self.found.push(Diagnostic::error("yaml/merge", message).label(self.source, map.span, ""));
                    continue;
                };
                for entry in more {
                    if entries.iter().all(|had| *had.key != *entry.key) {
                        self.expand(1 + entry.value.size(), map.span)?;
                        entries.push(entry.seen_at(merge.span));
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Attaches a finished value to its parent.
    fn finish(&mut self, yaml: Yaml, anchor: usize, unquoted: bool) {
        if anchor != 0 {
            self.anchors.insert(anchor, yaml.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(yaml);
            return;
        };
        open.span.start = open.span.start.min(yaml.span.start);
        open.span.end = open.span.end.max(yaml.span.end);
        let (entries, key, merges) = match &mut open.content {
            ContainerContent::List(items) => {
                items.push(yaml);
                return;
            }
            ContainerContent::Map { entries, key, merges } => (entries, key, merges),
        };
        match std::mem::replace(key, PendingKey::None) {
            PendingKey::Name(name) => entries.push(YamlEntry { key: name, value: yaml }),
            PendingKey::Merge => merges.push(yaml),
            PendingKey::Bad => {}
            PendingKey::None => *key = key_of(self.source, &yaml, unquoted, entries, &mut self.found),
        }
    }
}

/// Converts a value in key position.
fn key_of(source: &Source, yaml: &Yaml, unquoted: bool, entries: &[YamlEntry], found: &mut Diagnostics) -> PendingKey {
    let name = match &yaml.kind {
        YamlKind::Text(text) if unquoted && text.value == "<<" => return PendingKey::Merge,
        YamlKind::Text(text) => text.value.clone(),
        YamlKind::List(_) | YamlKind::Map(_) => {
            let message = format!("a key must be a string, not {}", yaml.what());
            found.push(Diagnostic::error("yaml/key", message).label(source, yaml.head(source), ""));
            return PendingKey::Bad;
        }
        YamlKind::Null if yaml.span.is_empty() => {
            let at = token(source, yaml.span.start);
            found.push(Diagnostic::error("yaml/key", "a key is missing").label(source, at, "before this"));
            return PendingKey::Bad;
        }
        _ if unquoted => source.slice(yaml.span).to_owned(),
        _ => yaml.to_json().to_string(),
    };
    if let Some(first) = entries.iter().find(|entry| *entry.key == name) {
        found.push(
            Diagnostic::error("yaml/duplicate-key", format!("the key `{name}` is duplicated"))
                .label(source, yaml.span, "again here")
                .label(source, first.key.span, "first here")
                .help("remove one of them"),
        );
        return PendingKey::Bad;
    }
    PendingKey::Name(Spanned::new(name, yaml.span))
}

/// The name of a core schema tag; `str` for the non-specific `!`.
fn core(tag: &Tag) -> Option<&str> {
    match tag.core_suffix() {
        Some(suffix) => Some(suffix),
        None => (tag.to_string() == "!").then_some("str"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> (Source, Yaml) {
        let source = Source::new("t.yaml", text);
        let yaml = parse(&source).unwrap_or_else(|found| panic!("{text:?}: {found}"));
        (source, yaml)
    }

    /// The spans of all keys and values, in source order.
    fn places(source: &Source, yaml: &Yaml) -> Vec<String> {
        let mut out = vec![source.slice(yaml.span).to_owned()];
        match &yaml.kind {
            YamlKind::List(items) => items.iter().for_each(|item| out.extend(places(source, item))),
            YamlKind::Map(entries) => {
                for entry in entries {
                    out.push(source.slice(entry.key.span).to_owned());
                    out.extend(places(source, &entry.value));
                }
            }
            _ => {}
        }
        out
    }

    fn errors(text: &str) -> Vec<(String, String, String)> {
        let source = Source::new("t.yaml", text);
        let found = parse(&source).expect_err(text);
        let one = |d: Diagnostic| {
            let label = d.primary().expect("a label");
            (d.code.to_string(), source.slice(label.span).to_owned(), d.message.clone())
        };
        found.into_iter().map(one).collect()
    }

    #[test]
    fn spans_are_exact_in_every_style() {
        for (text, expected) in [
            ("a: é\nb: [ü, 'ß']\n", vec!["a: é\nb: [ü, 'ß']", "a", "é", "b", "[ü, 'ß']", "ü", "'ß'"]),
            ("\u{feff}a: 1\r\nb: é\r\n", vec!["a: 1\r\nb: é", "a", "1", "b", "é"]),
            ("'k': \"v\\n\"", vec!["'k': \"v\\n\"", "'k'", "\"v\\n\""]),
            (
                "a: {b: [], c: {d: ~}}",
                vec!["a: {b: [], c: {d: ~}}", "a", "{b: [], c: {d: ~}}", "b", "[]", "c", "{d: ~}", "d", "~"],
            ),
            ("a: |\n  one\n  two\n\nb: >-\n  x\n", vec!["a: |\n  one\n  two\n\nb: >-\n  x", "a", "one\n  two", "b", "x"]),
            (
                "a:\n- b: 1\n  c: 2\n- d\n",
                vec!["a:\n- b: 1\n  c: 2\n- d", "a", "b: 1\n  c: 2\n- d", "b: 1\n  c: 2", "b", "1", "c", "2", "d"],
            ),
            ("a: p\n  q\n", vec!["a: p\n  q", "a", "p\n  q"]),
            ("a: # nothing\n", vec!["a", "a", ""]),
        ] {
            let (source, yaml) = read(text);
            assert_eq!(places(&source, &yaml), expected, "{text:?}");
        }
    }

    #[test]
    fn an_alias_has_the_span_of_its_use() {
        let (source, yaml) = read("a: &x {k: v}\nb: *x\n");
        let b = yaml.get("b").unwrap();
        assert_eq!(places(&source, b), ["*x", "*x", "*x"]);
        assert_eq!(b.to_json(), json!({"k": "v"}));
    }

    #[test]
    fn merged_entries_have_the_span_of_the_merge_and_are_overridden() {
        let (source, yaml) = read("a: &x {k: 1, l: 2}\nb: &y {l: 3, m: 4}\nc:\n  <<: [*x, *y]\n  k: 0\n");
        let c = yaml.get("c").unwrap();
        assert_eq!(c.to_json(), json!({"k": 0, "l": 2, "m": 4}));
        assert_eq!(source.slice(c.get("l").unwrap().span), "[*x, *y]");
        assert_eq!(errors("c: {<<: 1}")[0], ("yaml/merge".into(), "1".into(), "`<<` merges maps, not a whole number".into()));
        assert_eq!(read("'<<': 1").1.to_json(), json!({"<<": 1}));
    }

    #[test]
    fn scalars_are_typed_strictly_and_keys_are_strings() {
        let (_, yaml) = read("1: 007\ntrue: yes\nn: 1_000\nq: '1'\nf: 0.80\ni: -3\nt: !!str 5\nx: !!float 1\ne:\n1.0: ~\n");
        let json = json!({"1": "007", "true": "yes", "n": "1_000", "q": "1", "f": 0.8, "i": -3, "t": "5", "x": 1.0, "e": null, "1.0": null});
        assert_eq!(yaml.to_json(), json);
    }

    #[test]
    fn an_empty_document_is_null() {
        for text in ["", "\n\n", "# only\n", "---\n", "\u{feff}"] {
            assert!(read(text).1.is_null(), "{text:?}");
        }
    }

    #[test]
    fn every_error_has_a_span() {
        for (text, code, at, message) in [
            ("a: [1, {", "yaml/syntax", "{", "never closed"),
            ("a: [1, 2", "yaml/syntax", "[", "never closed"),
            ("a: [1}", "yaml/syntax", "[", "closed by `}`"),
            ("a: x: y", "yaml/syntax", ":", "unexpected `:`"),
            ("a:\n  b: 1\n c: 2\n", "yaml/syntax", "c", "indented by 1 space"),
            ("a:\n  b: 1\n   c: 2\n", "yaml/syntax", "c", "indented by 3 spaces"),
            ("a:\n  - b: 1\n   - c: 2\n", "yaml/syntax", "-", "indented by 3 spaces"),
            ("a:\n  - b: 1\n  c: 2\n", "yaml/syntax", "c", "indented by 2 spaces"),
            ("a:\n  b: 1\n\tc: 2\n", "yaml/syntax", "\t", "tabs are not allowed as indentation"),
            ("a: @x", "yaml/syntax", "@", "cannot begin an unquoted string"),
            ("a: \"\\q\"", "yaml/syntax", "\"", "escape"),
            ("a: *nope", "yaml/syntax", "*nope", "the anchor `&nope`"),
            ("a: 'x\nb: 1\n", "yaml/syntax", "'", "never closed"),
            ("a: 'x", "yaml/syntax", "'", "never closed"),
            ("a: &x [*x]", "yaml/alias", "*x", "inside its own value"),
            ("a: 1\n---\nb: 2\n", "yaml/documents", "---", "second document"),
            ("a: 1\n...\nb: 2\n", "yaml/documents", "b", "second document"),
            ("a: 1\nb: 2\na: 3\n", "yaml/duplicate-key", "a", "is duplicated"),
            ("1: a\n1: b\n", "yaml/duplicate-key", "1", "is duplicated"),
            ("[a]: 1", "yaml/key", "[a]", "a key must be a string, not a list"),
            (": 1", "yaml/key", ":", "a key is missing"),
            ("a: .nan", "yaml/number", ".nan", "cannot be held"),
            ("a: 99999999999999999999", "yaml/number", "99999999999999999999", ""),
            ("a: !foo b", "yaml/tag", "b", "`!foo`"),
            ("a: !!int x", "yaml/tag", "x", ""),
        ] {
            let found = errors(text);
            assert_eq!(found.len(), 1, "{text:?}: {found:?}");
            assert_eq!(found[0].0, code, "{text:?}: {found:?}");
            if !at.is_empty() {
                assert_eq!(found[0].1, at, "{text:?}: {found:?}");
            }
            assert!(found[0].2.contains(message) || message == "cannot be held", "{text:?}: {found:?}");
        }
    }

    #[test]
    fn all_recoverable_errors_are_reported() {
        let codes: Vec<String> = errors("a: .inf\na: 1\nb: !x y\n? [c]\n: 1\nb: 2\n").into_iter().map(|error| error.0).collect();
        assert_eq!(codes, ["yaml/number", "yaml/duplicate-key", "yaml/tag", "yaml/key", "yaml/duplicate-key"]);
    }

    #[test]
    fn an_unclosed_quote_is_labelled() {
        for (text, open) in [
            ("a: 1\nb: \"unclosed\nc: 2\n", 8),
            ("a: 1\nb: 'unclosed\nc: 2", 8),
            ("a:\n  - x: \"y\n  - z: 1\n", 10),
            ("a: it's 'x' \"y\nb: 'it''s\n\"c\": 1", 18),
            ("a: |\n  it's\nb: 'x\nc: 1", 15),
            ("\u{feff}é: \"x\nc: 1", 7),
            ("a: 'it's\n", 3),
        ] {
            let source = Source::new("t.yaml", text);
            let found = parse(&source).expect_err(text);
            let labels = &found.iter().next().unwrap().labels;
            assert!(labels.iter().any(|label| label.span.start == open), "{text:?} {found}");
        }
        let at_the_quote = errors("a: \"b\" # it's\nc: [\"d, e]\nf: 1\n").remove(0);
        assert_eq!((at_the_quote.1.as_str(), at_the_quote.2.as_str()), ("\"", "this quote is never closed"));
    }

    #[test]
    fn duplicate_keys_label_the_first() {
        let source = Source::new("t.yaml", "a: 1\nb: 2\na: 3\n");
        let found = parse(&source).expect_err("twice");
        let labels = &found.iter().next().unwrap().labels;
        assert_eq!((labels[0].span, labels[1].span), (Span::new(10, 11), Span::new(0, 1)));
    }

    #[test]
    fn alias_bombs_are_refused() {
        let deep = "[".repeat(MAX_DEPTH + 1) + "]".repeat(MAX_DEPTH + 1).as_str();
        assert_eq!(errors(&deep)[0].0, "yaml/limit");
        assert_eq!(errors(&"[".repeat(100_000))[0].1, "[");
        let many = |values: usize| format!("[{}]", "a,".repeat(values));
        assert_eq!(errors(&many(MAX_WRITTEN))[0].0, "yaml/limit");
        assert!(parse(&Source::new("t", many(10 * MAX_EXPANDED))).is_ok(), "what is written out is bounded by the text");
        let aliases = format!("a: &x 1\nb: [{}]", "*x,".repeat(MAX_ALIASES + 1));
        assert_eq!(errors(&aliases)[0].0, "yaml/limit");
        let mut laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..9 {
            let items = format!("*a{},", n - 1).repeat(6);
            laughs.push_str(&["a", &n.to_string(), ": &a", &n.to_string(), " [", &items, "]\n"].concat());
        }
        assert_eq!(errors(&laughs)[0].0, "yaml/limit");
        assert!(parse(&Source::new("t", "[".repeat(MAX_DEPTH) + "]".repeat(MAX_DEPTH).as_str())).is_ok());
    }

    fn inside(source: &Source, yaml: &Yaml) {
        assert!(source.text().get(yaml.span.start..yaml.span.end).is_some(), "{:?} in {:?}", yaml.span, source.text());
        if let Some(mapped) = yaml.mapped(source) {
            for (at, ch) in mapped.text().char_indices() {
                let span = mapped.locate(Span::new(at, at + ch.len_utf8()));
                assert!(source.text().get(span.start..span.end).is_some());
            }
        }
        yaml.as_list().into_iter().flatten().for_each(|item| inside(source, item));
        yaml.as_map().into_iter().flatten().for_each(|entry| {
            assert!(source.text().get(entry.key.span.start..entry.key.span.end).is_some());
            inside(source, &entry.value);
        });
    }

    fn survives(text: &str) {
        let source = Source::new("t.yaml", text);
        match parse(&source) {
            Ok(yaml) => {
                inside(&source, &yaml);
                drop(yaml.to_json());
            }
            Err(found) => {
                assert!(found.has_errors());
                for label in found.iter().flat_map(|d| &d.labels) {
                    assert!(source.text().get(label.span.start..label.span.end).is_some(), "{label:?} in {text:?}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn any_text_is_parsed_or_refused(text in "\\PC{0,60}") {
            survives(&text);
        }

        #[test]
        fn any_yamlish_text_is_parsed_or_refused(
            text in "([a-c]|é|[ \n\t\r]|  |: |- |\\{|\\}|\\[|\\]|, |'|\"|\\\\|#|&a |\\*a|!|!!str |\\||>|~|\\?|<<: |---\n|\u{feff}|0|\\.|%|@){0,40}"
        ) {
            survives(&text);
        }
    }
}
