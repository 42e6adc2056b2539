//! Parser events into a tree, within limits.

use super::fault::{diagnose, token};
use super::number::{Plain, plain};
use super::tree::{Entry, Kind, Style, Text, Yaml};
use crate::diag::{Diagnostic, Diagnostics, Source, Span};
use crate::pipeline::Spanned;
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, Span as Place, StructureStyle, Tag, options};
use std::collections::BTreeMap;

/// The most values (keys included, aliases expanded) of a file.
const MAX_NODES: usize = 10_000;
/// The most aliases of a file.
const MAX_ALIASES: usize = 50;
/// How deep lists and maps may nest (aliases expanded).
const MAX_DEPTH: usize = 32;

const BOM: char = '\u{feff}';

/// Reads a text as one YAML document. An empty one is [`Kind::Null`].
pub fn parse(source: &Source) -> Result<Yaml, Diagnostics> {
    let (base, text) = match source.text().strip_prefix(BOM) {
        Some(text) => (BOM.len_utf8(), text),
        None => (0, source.text()),
    };
    let mut builder = Builder { source, base, ..Builder::new(source) };
    let options = options! { emit_comments: false };
    for event in Parser::new_from_str_with_options(text, options) {
        let step = match event {
            Ok((event, place)) => builder.take(event, place),
            Err(error) => Err(diagnose(&error, source, base)),
        };
        if let Err(diagnostic) = step {
            builder.found.push(diagnostic);
            break;
        }
    }
    let root = builder.root.unwrap_or(Yaml { span: Span::default(), kind: Kind::Null });
    builder.found.into_result(root)
}

struct Builder<'a> {
    source: &'a Source,
    /// Where the parser's text begins in the source.
    base: usize,
    open: Vec<Open>,
    root: Option<Yaml>,
    /// Finished anchored values by the parser's number for them.
    anchors: BTreeMap<usize, Yaml>,
    documents: usize,
    nodes: usize,
    aliases: usize,
    found: Diagnostics,
}

/// A list or map that is not finished.
struct Open {
    span: Span,
    anchor: usize,
    flow: bool,
    content: Content,
}

enum Content {
    List(Vec<Yaml>),
    Map { entries: Vec<Entry>, key: Key, merges: Vec<Yaml> },
}

/// What the next value of a map belongs to.
enum Key {
    /// Nothing yet: it is a key.
    None,
    Name(Spanned<String>),
    /// `<<`
    Merge,
    /// A key that is an error already.
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
            nodes: 0,
            aliases: 0,
            found: Diagnostics::new(),
        }
    }

    /// Takes an event. Errors end the reading; problems that don't are put by.
    fn take(&mut self, event: Event<'_>, place: Place) -> Result<(), Diagnostic> {
        let span = self.span(place);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let at = token(self.source, span.start);
                    return Err(Diagnostic::error("yaml/documents", "a second document begins here; a file holds one")
                        .label(self.source, if span.is_empty() { at } else { span }, "")
                        .help("put it into a file of its own"));
                }
            }
            Event::Scalar(value, style, anchor, tag) => {
                self.count(1, span)?;
                let yaml = self.scalar(&value, style, tag.as_deref(), span);
                self.finish(yaml, anchor, matches!(style, ScalarStyle::Plain))?;
            }
            Event::Alias(anchor) => self.alias(anchor, span)?,
            Event::SequenceStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", span);
                self.open(span, anchor, style, Content::List(Vec::new()))?;
            }
            Event::MappingStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", span);
                let content = Content::Map { entries: Vec::new(), key: Key::None, merges: Vec::new() };
                self.open(span, anchor, style, content)?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span)?,
            _ => {}
        }
        Ok(())
    }

    /// A place as a span of the source, on character boundaries whatever the parser says.
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

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Diagnostic> {
        self.nodes += nodes;
        if self.nodes <= MAX_NODES {
            return Ok(());
        }
        let message = format!("the file holds more than {MAX_NODES} values");
        Err(Diagnostic::error("yaml/limit", message).label(self.source, span, "one too many"))
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Yaml {
        let style = match style {
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
            _ => Style::Plain,
        };
        let written = self.source.slice(span);
        let span = if style == Style::Block { Span::new(span.start, span.start + written.trim_end().len()) } else { span };
        let text = || Kind::Text(Text { value: value.to_owned(), style });
        let read = match plain(value) {
            Plain::Null => Kind::Null,
            Plain::Bool(value) => Kind::Bool(value),
            Plain::Int(value) => Kind::Int(value),
            Plain::Float(value) => Kind::Float(value),
            Plain::Text => text(),
            Plain::Unholdable if style == Style::Plain && tag.is_none_or(|tag| core(tag) != Some("str")) => {
                self.found.push(
                    Diagnostic::error("yaml/number", format!("`{value}` is not a number that can be held"))
                        .label(self.source, span, "")
                        .help("whole numbers have 64 bits, others are finite; a text that looks like a number needs quotes"),
                );
                Kind::Null
            }
            Plain::Unholdable => text(),
        };
        let kind = match tag.map(|tag| (tag, core(tag))) {
            None if style == Style::Plain => read,
            None | Some((_, Some("str"))) => text(),
            Some((_, Some("null"))) if read == Kind::Null => read,
            Some((_, Some("bool"))) if matches!(read, Kind::Bool(_)) => read,
            Some((_, Some("int"))) if matches!(read, Kind::Int(_)) => read,
            Some((_, Some("float"))) if matches!(read, Kind::Float(_)) => read,
            Some((_, Some("float"))) if matches!(read, Kind::Int(_)) => value.parse().map_or(read, Kind::Float),
            Some((tag, _)) => {
                self.bad_tag(tag, span);
                text()
            }
        };
        Yaml { span, kind }
    }

    fn collection_tag(&mut self, tag: Option<&Tag>, expected: &str, span: Span) {
        if let Some(tag) = tag.filter(|tag| core(tag) != Some(expected)) {
            self.bad_tag(tag, span);
        }
    }

    fn bad_tag(&mut self, tag: &Tag, span: Span) {
        self.found.push(
            Diagnostic::error("yaml/tag", format!("the tag `{tag}` means nothing here"))
                .label(self.source, if span.is_empty() { token(self.source, span.start) } else { span }, "tagged value")
                .help("leave the tag out"),
        );
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Diagnostic> {
        self.aliases += 1;
        let limit = |message: String| Diagnostic::error("yaml/limit", message).label(self.source, span, "");
        if self.aliases > MAX_ALIASES {
            return Err(limit(format!("the file holds more than {MAX_ALIASES} aliases")));
        }
        let Some(value) = self.anchors.get(&anchor) else {
            let message = format!("`{}` stands inside the value it stands for", self.source.slice(span));
            return Err(Diagnostic::error("yaml/alias", message).label(self.source, span, ""));
        };
        if self.open.len() + value.depth() > MAX_DEPTH {
            return Err(limit(format!("lists and maps nest more than {MAX_DEPTH} deep")));
        }
        let (size, value) = (value.size(), value.seen_at(span));
        self.count(size, span)?;
        self.finish(value, 0, false)
    }

    fn open(&mut self, span: Span, anchor: usize, style: StructureStyle, content: Content) -> Result<(), Diagnostic> {
        self.count(1, span)?;
        self.open.push(Open { span, anchor, flow: style == StructureStyle::Flow, content });
        if self.open.len() <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("lists and maps nest more than {MAX_DEPTH} deep");
        Err(Diagnostic::error("yaml/limit", message).label(self.source, token(self.source, span.start), ""))
    }

    fn close(&mut self, end: Span) -> Result<(), Diagnostic> {
        let Some(mut open) = self.open.pop() else { return Ok(()) };
        if open.flow {
            open.span.end = open.span.end.max(end.end);
        }
        let kind = match open.content {
            Content::List(items) => Kind::List(items),
            Content::Map { entries, merges, .. } => Kind::Map(self.merge(entries, merges)?),
        };
        self.finish(Yaml { span: open.span, kind }, open.anchor, false)
    }

    /// The entries with those of the merged maps that are not given.
    fn merge(&mut self, mut entries: Vec<Entry>, merges: Vec<Yaml>) -> Result<Vec<Entry>, Diagnostic> {
        for merge in merges {
            let maps = match &merge.kind {
                Kind::List(items) => items.iter().collect(),
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
                        self.count(1 + entry.value.size(), map.span)?;
                        entries.push(entry.seen_at(merge.span));
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Puts a finished value where it belongs.
    fn finish(&mut self, yaml: Yaml, anchor: usize, unquoted: bool) -> Result<(), Diagnostic> {
        if anchor != 0 {
            self.anchors.insert(anchor, yaml.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(yaml);
            return Ok(());
        };
        open.span.start = open.span.start.min(yaml.span.start);
        open.span.end = open.span.end.max(yaml.span.end);
        let (entries, key, merges) = match &mut open.content {
            Content::List(items) => {
                items.push(yaml);
                return Ok(());
            }
            Content::Map { entries, key, merges } => (entries, key, merges),
        };
        match std::mem::replace(key, Key::None) {
            Key::Name(name) => entries.push(Entry { key: name, value: yaml }),
            Key::Merge => merges.push(yaml),
            Key::Bad => {}
            Key::None => *key = key_of(self.source, &yaml, unquoted, entries, &mut self.found),
        }
        Ok(())
    }
}

/// A value in the place of a key.
fn key_of(source: &Source, yaml: &Yaml, unquoted: bool, entries: &[Entry], found: &mut Diagnostics) -> Key {
    let name = match &yaml.kind {
        Kind::Text(text) if unquoted && text.value == "<<" => return Key::Merge,
        Kind::Text(text) => text.value.clone(),
        Kind::List(_) | Kind::Map(_) => {
            let message = format!("a key is a text, not {}", yaml.what());
            found.push(Diagnostic::error("yaml/key", message).label(source, yaml.head(source), ""));
            return Key::Bad;
        }
        Kind::Null if yaml.span.is_empty() => {
            let at = token(source, yaml.span.start);
            found.push(Diagnostic::error("yaml/key", "a key is missing").label(source, at, "before this"));
            return Key::Bad;
        }
        _ if unquoted => source.slice(yaml.span).to_owned(),
        _ => yaml.to_json().to_string(),
    };
    if let Some(first) = entries.iter().find(|entry| *entry.key == name) {
        found.push(
            Diagnostic::error("yaml/duplicate-key", format!("the key `{name}` is given twice"))
                .label(source, yaml.span, "again here")
                .label(source, first.key.span, "first here")
                .help("leave one of them"),
        );
        return Key::Bad;
    }
    Key::Name(Spanned::new(name, yaml.span))
}

/// The name of a core schema tag; `str` for the non-specific `!`.
fn core(tag: &Tag) -> Option<&str> {
    match tag.core_suffix() {
        Some(suffix) => Some(suffix),
        None => (tag.to_string() == "!").then_some("str"),
    }
}
