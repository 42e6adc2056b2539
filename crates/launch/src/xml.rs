//! Reads an XML report in pieces, each test as a small tree with spans, within limits. A document type is skipped, and nothing that it
//! names is read; entities of its own are rejected.
//!
//! Damage costs the test it is in: if the text is in memory, reading continues at the next test.

use super::damage::DamageLog;
use super::json_span::last_char;
use super::{cut, lines, markup, texts};
use asterisk_base::model::Launch;
use asterisk_diag::counted;
use asterisk_diag::{Code, Diagnostic, Source, Span};
use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::escape::EscapeError;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::{self, BufRead, Read};

/// The maximum nesting; test reports need fewer than ten levels.
const MAX_DEPTH: usize = 64;

/// The maximum number of elements held at a time: those of a test, and those of the open suites next to their tests.
const MAX_ELEMENTS: usize = 1_000_000;

/// The maximum number of attributes of an element; the check for duplicates is quadratic.
const MAX_ATTRIBUTES: usize = 256;

/// The maximum number of entities of a document type, and of bytes of each.
const MAX_ENTITIES: usize = 100;

/// The entities that a document type declares, if all are short texts: such cannot expand, and nothing is fetched.
fn plain_entities(document_type: &str) -> Option<Vec<(String, String)>> {
    let declarations = document_type.split("<!ENTITY").skip(1);
    let entities: Option<Vec<(String, String)>> = declarations
        .map(|declaration| {
            let (name, rest) = declaration.trim_start().split_once(char::is_whitespace)?;
            let rest = rest.trim_start();
            let quote = rest.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
            let (text, rest) = rest[1..].split_once(quote)?;
            let is_plain = text.len() <= MAX_ENTITIES && !text.contains(['&', '<', '%']) && rest.trim_start().starts_with('>');
            is_plain.then(|| (name.to_owned(), text.to_owned()))
        })
        .collect();
    entities.filter(|entities| entities.len() <= MAX_ENTITIES)
}

#[derive(Debug, Default)]
pub(super) struct Element {
    /// Its name without a namespace prefix.
    pub(super) name: String,
    /// Its attributes in document order.
    pub(super) attributes: Vec<(String, String)>,
    /// Its own text, without that of its children.
    pub(super) text: String,
    pub(super) children: Vec<Self>,
    /// The span of its opening tag.
    pub(super) span: Span,
    /// The line of its opening tag, counted from 1.
    pub(super) line: usize,
}

impl Element {
    /// The trimmed value of an attribute, unless it is blank.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The children with a name.
    pub(super) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The first child with a name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The trimmed text of the first child with a name; empty if there is none.
    pub(super) fn text_of(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| child.text.trim())
    }
}

/// Receives the parts of a report as they are read, so that no document is ever held as a whole.
pub(super) trait Visitor {
    /// The root's opening tag was read; an error stops reading.
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic>;
    /// Whether elements of this name contain tests or suites. They are passed on when they end, without these.
    fn is_suite(&self, name: &str) -> bool;
    /// Whether elements of this name, directly in a suite, are tests. They are passed on when they end, and then dropped.
    fn is_test(&self, name: &str) -> bool;
    /// A suite begins; its contents are not known yet.
    fn open(&mut self, _suite: &Element) {}
    /// A test ended. `suite` is the enclosing suite as read so far, without its tests and inner suites.
    fn test(&mut self, test: &Element, suite: &Element);
    /// A suite ended, with its contents except tests and inner suites.
    fn close(&mut self, _suite: &Element) {}
    /// Reduces an element within a test, or next to the tests of a suite, when it ends; `None` drops it.
    fn filter(&self, element: Element) -> Option<Element> {
        Some(element)
    }
    /// Whether a test that was read in part is known to have failed: if so, it is passed on as it is.
    fn has_failed(&self, test: &Element) -> bool;
    /// The maximum nesting.
    fn max_depth(&self) -> usize {
        MAX_DEPTH
    }
}

/// Problems found while reading a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct XmlProblems {
    /// The number of references to characters invalid in XML, replaced by U+FFFD.
    pub(super) replaced: usize,
    /// Where the document is cut off, if it is.
    pub(super) cut: Option<CutOff>,
    /// Damaged places after which reading continued.
    pub(super) damage: DamageLog,
}

impl XmlProblems {
    /// Adds notes on the problems. Returns whether the end of the document is missing.
    pub(super) fn note(self, file: &str, launch: &mut Launch) -> bool {
        if self.replaced > 0 {
            launch.notes.push(format!("{} invalid character references (such as `&#0;`); replaced by `\u{fffd}`", self.replaced));
        }
        self.damage.note(file, launch);
        let Some(cut) = self.cut else { return false };
        let whole = counted(cut.tests, "test is whole", "tests are whole");
        let within = cut.within.as_ref().map_or(String::new(), |name| format!(" from test `{}` on", texts::one_line(name)));
        launch.gap(format!("the file is cut off: {whole}, what follows{within} is missing"));
        true
    }
}

/// Where a document is cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CutOff {
    /// The number of complete tests.
    pub(super) tests: usize,
    /// The name of the incomplete test, if known.
    pub(super) within: Option<String>,
}

/// Reads a document and passes its suites and tests to `visitor`. `source` is the same text if in memory, else empty: then errors
/// have no location, and damage is an error. The input begins after a byte order mark. A document that is cut off or damaged is
/// read as far as its tests are complete; one without any complete test is an error.
pub(super) fn read(input: impl BufRead, source: &Source, visitor: &mut impl Visitor) -> Result<XmlProblems, Diagnostic> {
    let text = source.text();
    let mut pass = Pass::default();
    let mut parser = Parser::new(source, input, text.len() - text.trim_start_matches('\u{feff}').len(), 1);
    let mut result = pass.run(&mut parser, visitor);
    let (mut stop, mut line, mut replaced) = (parser.start, parser.start_line, parser.replaced.get());
    let (mut first, mut resumed, mut budget) = (None, 0, MAX_REREAD * (text.len() + 1));
    while let Err(error) = result {
        let place = pass.resync(text, stop, line, &error, visitor).filter(|place| *place > resumed);
        let Some(place) = place.filter(|_| budget > text.len()) else { return Err(first.unwrap_or(error)) };
        budget -= text.len() - place;
        resumed = place;
        first.get_or_insert(error);
        let mut parser = Parser::new(source, &text.as_bytes()[place..], place, text[..place].matches('\n').count() + 1);
        result = pass.run(&mut parser, visitor);
        (stop, line) = (parser.start, parser.start_line);
        replaced += parser.replaced.get();
    }
    match first {
        Some(error) if pass.tests == 0 => Err(error),
        _ => Ok(XmlProblems { replaced, cut: result.unwrap_or_default(), damage: pass.damage }),
    }
}

/// The maximum amount read of a damaged document, as a multiple of its length.
const MAX_REREAD: usize = 16;

/// An open element.
struct OpenElement {
    element: Element,
    /// The number of elements held before it.
    held: usize,
}

/// The state of reading a document.
#[derive(Default)]
struct Pass {
    open: Vec<OpenElement>,
    held: usize,
    rooted: bool,
    tests: usize,
    damage: DamageLog,
}

impl Pass {
    /// Reads to the end, or to the next damage.
    fn run<R: BufRead>(&mut self, parser: &mut Parser<'_, R>, visitor: &mut impl Visitor) -> Result<Option<CutOff>, Diagnostic> {
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            let error = match parser.next(&mut buffer) {
                Ok(Event::Eof) => break,
                Ok(event) => {
                    self.event(event, parser, visitor)?;
                    continue;
                }
                Err(error) => error,
            };
            if error.is(Code::IngestTruncated) && self.is_last(visitor) && !starts_test(&buffer, visitor) {
                return Ok(Some(self.close_truncated(visitor)));
            }
            return Err(error);
        }
        match self.open.last() {
            Some(_) if self.is_last(visitor) => Ok(Some(self.close_truncated(visitor))),
            Some(open) => Err(parser.truncated(&open.element)),
            None if self.rooted => Ok(None),
            None => Err(parser.no_root()),
        }
    }

    fn event<R: BufRead>(
        &mut self,
        event: Event<'_>,
        parser: &Parser<'_, R>,
        visitor: &mut impl Visitor,
    ) -> Result<(), Diagnostic> {
        match event {
            Event::Start(tag) | Event::Empty(tag) if self.rooted && self.open.is_empty() => {
                let span = parser.element(&tag)?.span;
                return Err(parser.syntax(span, "a second root element", "an XML document has one root element"));
            }
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                let held = self.held;
                self.held += 1;
                let element = parser.element(tag)?;
                parser.check_limits(self.open.len() + 1, visitor.max_depth(), self.held, element.span)?;
                if self.open.is_empty() {
                    self.rooted = true;
                    visitor.root(&element)?;
                }
                if visitor.is_suite(&element.name) && self.in_suites(visitor) {
                    visitor.open(&element);
                }
                let opened = OpenElement { element, held };
                if matches!(event, Event::Empty(_)) {
                    self.close_element(opened, visitor);
                } else {
                    self.open.push(opened);
                }
            }
            Event::End(tag) => {
                let name = tag.local_name();
                self.close_until(name.as_ref(), parser, visitor)?;
                if let Some(closed) = self.open.pop() {
                    self.close_element(closed, visitor);
                }
            }
            Event::Text(text) => parser.text(self.innermost(), &text.xml10_content())?,
            Event::CData(text) => parser.text(self.innermost(), &text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let resolved = parser.resolve(&reference)?;
                parser.text(self.innermost(), &resolved)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn innermost(&mut self) -> Option<&mut Element> {
        self.open.last_mut().map(|open| &mut open.element)
    }

    fn in_suites(&self, visitor: &impl Visitor) -> bool {
        self.open.iter().all(|open| visitor.is_suite(&open.element.name))
    }

    /// Passes a closed element to the visitor, or adds it to its parent.
    fn close_element(&mut self, OpenElement { element, held }: OpenElement, visitor: &mut impl Visitor) {
        let in_suites = self.in_suites(visitor);
        match self.open.last_mut() {
            Some(suite) if in_suites && visitor.is_test(&element.name) => {
                visitor.test(&element, &suite.element);
                self.tests += 1;
                self.held = held;
            }
            _ if in_suites && visitor.is_suite(&element.name) => {
                visitor.close(&element);
                self.held = held;
            }
            Some(parent) => match visitor.filter(element) {
                Some(kept) => parent.element.children.push(kept),
                None => self.held = held,
            },
            None => {}
        }
    }

    /// Ensures that the innermost open element is the one that ends here: unclosed suites end with the one around them.
    fn close_until<R: BufRead>(
        &mut self,
        name: &str,
        parser: &Parser<'_, R>,
        visitor: &mut impl Visitor,
    ) -> Result<(), Diagnostic> {
        let Some(open) = self.open.last() else { return Err(parser.unmatched(name)) };
        if open.element.name == name {
            return Ok(());
        }
        if self.tests == 0 || !self.in_suites(visitor) || self.open.iter().all(|open| open.element.name != name) {
            return Err(parser.mismatched(&open.element.name, name));
        }
        while let Some(open) = self.open.pop_if(|open| open.element.name != name) {
            self.damage.add(open.element.line, format!("`<{}>` is never closed", open.element.name));
            self.close_element(open, visitor);
        }
        Ok(())
    }

    /// Whether the open elements contain no other test: nothing can be recovered after the place where the document ends.
    fn is_last(&self, visitor: &impl Visitor) -> bool {
        let first = self.open.iter().position(|open| !visitor.is_suite(&open.element.name)).unwrap_or(self.open.len());
        let inside = &self.open[first..];
        self.tests > 0
            && inside.iter().skip(1).all(|open| !visitor.is_test(&open.element.name))
            && inside.iter().all(|open| !contains_test(&open.element, visitor))
    }

    /// Closes the suites of a truncated document. The element in which it ends is lost.
    fn close_truncated(&mut self, visitor: &mut impl Visitor) -> CutOff {
        let within = self
            .open
            .iter()
            .map(|open| &open.element)
            .find(|element| visitor.is_test(&element.name) && !visitor.is_suite(&element.name));
        let within = within.and_then(test_name).map(str::to_owned);
        while let Some(OpenElement { element, .. }) = self.open.pop() {
            if visitor.is_suite(&element.name) && self.in_suites(visitor) {
                visitor.close(&element);
            }
        }
        CutOff { tests: self.tests, within }
    }

    /// Drops the damaged element. Returns where reading continues: at the next test or end of a suite.
    fn resync(&mut self, text: &str, stop: usize, line: usize, error: &Diagnostic, visitor: &mut impl Visitor) -> Option<usize> {
        let is_damage = matches!(error.known(), Some(Code::IngestXmlSyntax | Code::IngestTooDeep | Code::IngestTruncated));
        if !is_damage || text.is_empty() || self.open.is_empty() {
            return None;
        }
        let Some(first) = self.open.iter().position(|open| !visitor.is_suite(&open.element.name)) else {
            let place = next_tag(text.as_bytes(), stop + 1, &self.open, visitor);
            if place < text.len() || !error.is(Code::IngestTruncated) {
                self.damage.add(line, error.message.clone());
            }
            return Some(place);
        };
        let swallowed = {
            let inside = &self.open[first..];
            inside.iter().skip(1).any(|open| visitor.is_test(&open.element.name))
                || inside.iter().any(|open| contains_test(&open.element, visitor))
        };
        let begin = self.open[first].element.span.start;
        self.held = self.open[first].held;
        let mut damaged: Option<Element> = None;
        while let Some(OpenElement { mut element, .. }) = if self.open.len() > first { self.open.pop() } else { None } {
            element.children.extend(damaged.take());
            element.children.retain(|child| !visitor.is_test(&child.name) && !contains_test(child, visitor));
            damaged = Some(element);
        }
        let damaged = damaged?;
        let what = &error.message;
        match self.open.last() {
            Some(suite) if visitor.is_test(&damaged.name) => {
                let name = test_name(&damaged).map_or_else(String::new, |name| format!(" `{}`", texts::one_line(name)));
                let has_failed = visitor.has_failed(&damaged);
                let how = if has_failed { "is read in part" } else { "could not be read" };
                self.damage.add(damaged.line, format!("test{name} {how}: {what}"));
                if has_failed {
                    visitor.test(&damaged, &suite.element);
                    self.tests += 1;
                }
            }
            _ => self.damage.add(damaged.line, format!("`<{}>` could not be read: {what}", damaged.name)),
        }
        Some(next_tag(
            text.as_bytes(),
            if swallowed { begin + 1 } else { stop + usize::from(stop == begin) },
            &self.open,
            visitor,
        ))
    }
}

/// The name of a test.
fn test_name(test: &Element) -> Option<&str> {
    ["name", "testName"].iter().find_map(|name| test.attribute(name))
}

/// Whether an element contains a test.
fn contains_test(element: &Element, visitor: &impl Visitor) -> bool {
    element.children.iter().any(|child| visitor.is_test(&child.name) || contains_test(child, visitor))
}

/// Whether these bytes contain the start of a test.
fn starts_test(bytes: &[u8], visitor: &impl Visitor) -> bool {
    tags(bytes, 0).any(|(_, ends, name)| !ends && visitor.is_test(name))
}

/// Where reading can continue in a damaged text at or after `from`: at the next test or suite, at the end of an open suite, or
/// after the end of a test.
fn next_tag(text: &[u8], from: usize, open: &[OpenElement], visitor: &impl Visitor) -> usize {
    let place = tags(text, from).find_map(|(at, ends, name)| match (ends, visitor.is_test(name), visitor.is_suite(name)) {
        (true, true, false) => text[at..].iter().position(|byte| *byte == b'>').map(|end| at + end + 1),
        (true, _, true) => open.iter().any(|open| open.element.name == name).then_some(at),
        (false, test, suite) => (test || suite).then_some(at),
        _ => None,
    });
    place.unwrap_or(text.len())
}

/// The offsets of what looks like tags, whether each ends an element, and its name without a prefix.
fn tags(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, bool, &str)> {
    let mut at = from.min(bytes.len());
    std::iter::from_fn(move || {
        loop {
            at += bytes[at..].iter().position(|byte| *byte == b'<')?;
            let place = at;
            at += 1;
            let ends = bytes.get(at) == Some(&b'/');
            let name = &bytes[at + usize::from(ends)..];
            let length =
                name.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"-_:.".contains(byte)).unwrap_or(name.len());
            if let Ok(name) = str::from_utf8(&name[..length])
                && !name.is_empty()
            {
                return Some((place, ends, name.rsplit(':').next().unwrap_or(name)));
            }
        }
    })
}

/// A reader that counts lines.
struct LineCounter<R> {
    inner: R,
    /// The current line, counted from 1.
    line: usize,
}

impl<R: BufRead> Read for LineCounter<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for LineCounter<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // The bytes to consume are still in the buffer.
        let passed = self.inner.fill_buf().map_or(&[][..], |bytes| &bytes[..count.min(bytes.len())]);
        self.line += passed.split(|byte| *byte == b'\n').count() - 1;
        self.inner.consume(count);
    }
}

struct Parser<'s, R> {
    source: &'s Source,
    reader: Reader<LineCounter<R>>,
    /// The offset of the current event.
    start: usize,
    /// The line of the current event.
    start_line: usize,
    /// The length of the byte order mark before the input.
    offset: usize,
    /// The number of references to characters invalid in XML.
    replaced: Cell<usize>,
    /// The entities that the document type declares as plain texts.
    entities: Vec<(String, String)>,
}

impl<'s, R: BufRead> Parser<'s, R> {
    fn new(source: &'s Source, input: R, offset: usize, line: usize) -> Self {
        let mut reader = Reader::from_reader(LineCounter { inner: input, line });
        // End tags are matched by `Pass`, so that damage can be skipped.
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        Self { source, reader, start: offset, start_line: line, offset, replaced: Cell::new(0), entities: Vec::new() }
    }

    /// Resolves a reference. One to a character invalid in XML (`&#0;`) costs that character, not the document.
    fn resolve(&self, reference: &str) -> Result<Cow<'static, str>, Diagnostic> {
        if let Some(text) = markup::entity(reference) {
            return Ok(text);
        }
        if let Some((_, text)) = self.entities.iter().find(|(name, _)| name == reference) {
            return Ok(Cow::Owned(text.clone()));
        }
        let number = reference.strip_prefix('#').map(|number| number.strip_prefix(['x', 'X']).unwrap_or(number));
        if number.is_none_or(|number| number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_hexdigit())) {
            return Err(self.unknown_entity(reference, self.span()));
        }
        self.replaced.set(self.replaced.get() + 1);
        Ok(Cow::Borrowed("\u{fffd}"))
    }

    fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Result<Event<'b>, Diagnostic> {
        self.start = self.position(self.reader.buffer_position());
        self.start_line = self.reader.get_ref().line;
        match self.reader.read_event_into(buffer) {
            Ok(Event::DocType(document_type)) => match plain_entities(&document_type) {
                Some(entities) => {
                    self.entities = entities;
                    Ok(Event::DocType(document_type))
                }
                None => Err(self.doctype()),
            },
            Ok(event) => Ok(event),
            Err(error) => Err(self.error(&error)),
        }
    }

    fn position(&self, offset: u64) -> usize {
        usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(self.offset).min(self.source.text().len())
    }

    /// The span of the current event; of one that spans lines, the first line.
    fn span(&self) -> Span {
        let end = self.position(self.reader.buffer_position());
        let text = self.source.text().get(self.start..end).unwrap_or_default();
        Span::new(self.start, self.start + text.lines().next().map_or(0, str::len))
    }

    /// The span from `at` to the end of the line, at most 60 characters.
    fn line_from(&self, at: usize) -> Span {
        let line = self.source.text().get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let end = line.char_indices().nth(60).map_or(line.len(), |(end, _)| end);
        Span::new(at, at + end)
    }

    fn element(&self, tag: &BytesStart<'_>) -> Result<Element, Diagnostic> {
        let span = self.span();
        let name = tag.local_name().as_ref().to_owned();
        let mut element = Element { name, span, line: self.start_line, ..Element::default() };
        for (count, attribute) in tag.attributes().enumerate() {
            if count == MAX_ATTRIBUTES {
                return Err(self.too_much(
                    Code::IngestTooLarge,
                    &format!("an element has more than {MAX_ATTRIBUTES} attributes"),
                    span,
                ));
            }
            let attribute = attribute.map_err(|error| self.attribute_error(&error))?;
            let value = cut::cut(self.unescape(&attribute.value)?, cut::MAX_READ).0;
            element.attributes.push((attribute.key.local_name().as_ref().to_owned(), value));
        }
        Ok(element)
    }

    /// Resolves the references in an attribute's value. Line breaks are kept, although XML would make them spaces: tools that
    /// write them raw mean them.
    fn unescape(&self, raw: &str) -> Result<String, Diagnostic> {
        let mut out = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.find('&') {
            out.push_str(&rest[..at]);
            let body = rest[at + 1..].split_once(';').map(|(body, _)| body).filter(|body| body.len() <= 12);
            let Some(body) = body else {
                return Err(self.syntax(self.span(), "a `&` that starts no reference in an attribute", "write it as `&amp;`"));
            };
            out.push_str(&self.resolve(body)?);
            rest = &rest[at + body.len() + 2..];
        }
        out.push_str(rest);
        Ok(out)
    }

    fn text(&self, element: Option<&mut Element>, text: &str) -> Result<(), Diagnostic> {
        match element {
            Some(element) => lines::push_bounded(&mut element.text, &cut::readable(text), 2 * cut::MAX_READ),
            None if text.trim().is_empty() => {}
            None => {
                let found = self.source.text().get(self.start..).unwrap_or_default();
                let span = self.line_from(self.start + found.len() - found.trim_start().len());
                return Err(self.syntax(
                    span,
                    "text outside of the root element",
                    "the file may be a log with XML in it: pass only the XML",
                ));
            }
        }
        Ok(())
    }

    fn check_limits(&self, depth: usize, most: usize, elements: usize, span: Span) -> Result<(), Diagnostic> {
        if depth > most {
            return Err(self.too_much(Code::IngestTooDeep, &format!("the XML is nested more than {most} levels deep"), span));
        }
        if elements > MAX_ELEMENTS {
            return Err(self.too_much(Code::IngestTooLarge, &format!("the XML has more than {MAX_ELEMENTS} elements"), span));
        }
        Ok(())
    }

    fn too_much(&self, code: Code, message: &str, span: Span) -> Diagnostic {
        Diagnostic::error(code, message)
            .label(self.source, span, "here")
            .help("a report of tests is smaller: check which file this is, or split it")
    }

    fn doctype(&self) -> Diagnostic {
        Diagnostic::error(
            Code::IngestDoctype,
            "the XML has a document type with entities, which is rejected: they could expand without limit",
        )
        .label(self.source, self.span(), "document type")
        .help("no test tool writes them: remove the `<!DOCTYPE ...>`")
    }

    fn no_root(&self) -> Diagnostic {
        Diagnostic::error(Code::IngestXmlSyntax, "the XML has no root element")
            .label(self.source, last_char(self.source.text()), "ends here")
            .help("the tool may have stopped before writing it")
    }

    fn truncated(&self, open: &Element) -> Diagnostic {
        Diagnostic::error(Code::IngestTruncated, format!("the XML ends before `<{}>` is closed", open.name))
            .label(self.source, last_char(self.source.text()), "ends here")
            .label(self.source, open.span, "this is never closed")
            .help("the download or copy was cut off, or the test run was killed while it wrote: get the whole file")
    }

    fn unknown_entity(&self, name: &str, span: Span) -> Diagnostic {
        self.syntax(
            span,
            &format!("the unknown entity `&{};`", name.escape_debug()),
            "XML defines `&lt; &gt; &amp; &quot; &apos;` and character numbers",
        )
    }

    fn syntax(&self, span: Span, what: &str, help: &str) -> Diagnostic {
        Diagnostic::error(Code::IngestXmlSyntax, format!("this is not valid XML: {what}"))
            .label(self.source, span, what)
            .help(help)
    }

    fn mismatched(&self, expected: &str, found: &str) -> Diagnostic {
        self.syntax(
            self.line_from(self.start),
            &format!("`</{found}>` where `</{expected}>` should be"),
            "the file may be two reports run together, or cut off in between",
        )
    }

    fn unmatched(&self, found: &str) -> Diagnostic {
        self.syntax(
            self.line_from(self.start),
            &format!("`</{found}>` closes nothing"),
            "the file may be two reports run together, or cut off in between",
        )
    }

    fn attribute_error(&self, error: &AttrError) -> Diagnostic {
        let words = match error {
            AttrError::ExpectedEq(_) => "an attribute without `=`",
            AttrError::ExpectedValue(_) => "an attribute without a value",
            AttrError::UnquotedValue(_) => "an attribute without quotes",
            AttrError::ExpectedQuote(..) => "an attribute without its closing quote",
            AttrError::Duplicated(..) => "an attribute given twice",
        };
        self.syntax(self.span(), words, "regenerate the report with a recent version of the tool")
    }

    fn error(&self, error: &Error) -> Diagnostic {
        let span = self.line_from(self.position(self.reader.error_position()));
        match error {
            Error::Syntax(SyntaxError::InvalidBangMarkup) => {
                self.syntax(span, "`<!` that starts nothing", "write `<` in texts as `&lt;`")
            }
            Error::Syntax(syntax) => Diagnostic::error(Code::IngestTruncated, format!("the XML ends too soon: {syntax}"))
                .label(self.source, span, "begins here and never ends")
                .help("the download or copy was cut off, or the test run was killed while it wrote: get the whole file"),
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                self.syntax(span, "a `&` that starts no reference", "write it as `&amp;`")
            }
            Error::Escape(EscapeError::UnrecognizedEntity(_, name)) => self.unknown_entity(name, span),
            Error::InvalidAttr(error) => self.attribute_error(error),
            other => self.syntax(span, &other.to_string(), "regenerate the report with a recent version of the tool"),
        }
    }
}
