//! An XML report read piece by piece, each test a small tree with spans, within limits; document types are refused.

use super::json_span::last_char;
use super::markup;
use crate::diag::{Diagnostic, Source, Span};
use quick_xml::Reader;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::escape::EscapeError;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use std::borrow::Cow;
use std::cell::Cell;
use std::io::BufRead;

/// The deepest nesting that is read; reports of tests need fewer than ten levels.
const MAX_DEPTH: usize = 64;

/// The most elements that are held at a time: those of a test, and those of the open suites beside their tests.
const MAX_ELEMENTS: usize = 1_000_000;

/// The most attributes of an element; looking for doubles takes the square of their number.
const MAX_ATTRIBUTES: usize = 256;

/// An element.
#[derive(Debug, Default)]
pub(super) struct Element {
    /// Its name without a namespace prefix.
    pub(super) name: String,
    /// Its attributes in the order of the text.
    pub(super) attributes: Vec<(String, String)>,
    /// Its own text, that of its children left out.
    pub(super) text: String,
    /// Its children.
    pub(super) children: Vec<Self>,
    /// Its opening tag.
    pub(super) span: Span,
}

impl Element {
    /// The value of an attribute, unless it is blank.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// The children of one name.
    pub(super) fn children<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }
}

/// What is done with the parts of a report as they are read, so that no document is ever held as a whole.
pub(super) trait Visitor {
    /// The root's opening tag was read; an error ends the reading.
    fn root(&mut self, root: &Element) -> Result<(), Diagnostic>;
    /// A suite begins; what stands in it is not known yet.
    fn open(&mut self, suite: &Element);
    /// A test ended. `suite` is what is known so far of the suite it stands in, without its tests and inner suites.
    fn test(&mut self, test: &Element, suite: &Element);
    /// A suite ended: with all that stood in it except tests and inner suites.
    fn close(&mut self, suite: &Element);
}

/// What reading a document cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// References to characters that XML does not have: U+FFFD stands in their places.
    pub(super) replaced: usize,
    /// The document is cut off behind this many whole tests.
    pub(super) cut: Option<CutOff>,
}

/// Where a document is cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CutOff {
    /// How many tests are whole.
    pub(super) tests: usize,
    /// The name of the test that is not, if it is known.
    pub(super) within: Option<String>,
}

/// True for the elements that hold others of their kind and tests.
fn is_suite(name: &str) -> bool {
    matches!(name, "testsuites" | "testsuite")
}

/// Reads a document from its bytes and hands its suites and tests to `visitor`. `source` is the same text where it is at
/// hand, or an empty one: then the errors have no places. The bytes begin behind a byte order mark. A document that is cut off is
/// read as far as its tests are whole; one with no whole test is an error.
pub(super) fn read(input: impl BufRead, source: &Source, visitor: &mut impl Visitor) -> Result<Cost, Diagnostic> {
    let offset = source.text().len() - source.text().trim_start_matches('\u{feff}').len();
    let mut parser = Parser { source, reader: Reader::from_reader(input), start: 0, offset, replaced: Cell::new(0) };
    let mut open: Vec<Element> = Vec::new();
    let (mut held, mut held_before) = (0_usize, 0_usize);
    let mut rooted = false;
    let mut tests = 0;
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let event = match parser.next(&mut buffer) {
            Ok(event) => event,
            Err(error) if tests > 0 && error.code == TRUNCATED => return Ok(parser.salvaged(tests, open, visitor)),
            Err(error) => return Err(error),
        };
        let mut done = None;
        match event {
            Event::Start(tag) | Event::Empty(tag) if rooted && open.is_empty() => {
                let span = parser.element(&tag)?.span;
                return Err(parser.syntax(span, "a second root element", "an XML document has one root element"));
            }
            Event::Start(ref tag) | Event::Empty(ref tag) => {
                if tag.local_name().as_ref() == "testcase" && open.iter().all(|outer| is_suite(&outer.name)) {
                    held_before = held;
                }
                held += 1;
                let element = parser.element(tag)?;
                parser.check_limits(open.len() + 1, held, element.span)?;
                if open.is_empty() {
                    rooted = true;
                    visitor.root(&element)?;
                }
                if is_suite(&element.name) && open.iter().all(|outer| is_suite(&outer.name)) {
                    visitor.open(&element);
                }
                if matches!(event, Event::Empty(_)) {
                    done = Some(element);
                } else {
                    open.push(element);
                }
            }
            Event::End(_) => done = open.pop(),
            Event::Text(text) => parser.text(open.last_mut(), &text.xml10_content())?,
            Event::CData(text) => parser.text(open.last_mut(), &text.xml10_content())?,
            Event::GeneralRef(reference) => {
                let resolved = parser.resolve(&reference)?;
                parser.text(open.last_mut(), &resolved)?;
            }
            Event::Eof => break,
            _ => {}
        }
        let Some(element) = done else { continue };
        let in_suites = open.iter().all(|outer| is_suite(&outer.name));
        match open.last_mut() {
            Some(suite) if in_suites && element.name == "testcase" => {
                visitor.test(&element, suite);
                tests += 1;
                held = held_before;
            }
            _ if in_suites && is_suite(&element.name) => visitor.close(&element),
            Some(parent) => parent.children.push(element),
            None => {}
        }
    }
    match open.last() {
        Some(_) if tests > 0 => Ok(parser.salvaged(tests, open, visitor)),
        Some(element) => Err(parser.truncated(element)),
        None if rooted => Ok(Cost { replaced: parser.replaced.get(), cut: None }),
        None => Err(parser.no_root()),
    }
}

/// The code of what is wrong with a document that ends too soon.
const TRUNCATED: &str = "ingest/truncated";

struct Parser<'s, R> {
    source: &'s Source,
    reader: Reader<R>,
    /// Where the event being looked at begins.
    start: usize,
    /// The length of the byte order mark before the bytes.
    offset: usize,
    /// References to characters that XML does not have.
    replaced: Cell<usize>,
}

impl<R: BufRead> Parser<'_, R> {
    /// Closes the suites of a document that is cut off. The element in which it ends is lost.
    fn salvaged(&self, tests: usize, mut open: Vec<Element>, visitor: &mut impl Visitor) -> Cost {
        let within = open.iter().find(|element| element.name == "testcase");
        let within = within.and_then(|test| test.attribute("name")).map(str::to_owned);
        while let Some(element) = open.pop() {
            if is_suite(&element.name) && open.iter().all(|outer| is_suite(&outer.name)) {
                visitor.close(&element);
            }
        }
        Cost { replaced: self.replaced.get(), cut: Some(CutOff { tests, within }) }
    }

    /// What a reference stands for. One to a character that XML does not have (`&#0;`) costs that character, not the document.
    fn resolve(&self, reference: &str) -> Result<Cow<'static, str>, Diagnostic> {
        if let Some(text) = markup::entity(reference) {
            return Ok(text);
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
        match self.reader.read_event_into(buffer) {
            Ok(Event::DocType(_)) => Err(self.doctype()),
            Ok(event) => Ok(event),
            Err(error) => Err(self.error(&error)),
        }
    }

    fn position(&self, offset: u64) -> usize {
        usize::try_from(offset).unwrap_or(usize::MAX).saturating_add(self.offset).min(self.source.text().len())
    }

    /// The text of the event being looked at; of one that spans lines the first.
    fn span(&self) -> Span {
        let end = self.position(self.reader.buffer_position());
        let text = self.source.text().get(self.start..end).unwrap_or_default();
        Span::new(self.start, self.start + text.lines().next().map_or(0, str::len))
    }

    /// From `at` to the end of the line, or so much of it as fits a report.
    fn line_from(&self, at: usize) -> Span {
        let line = self.source.text().get(at..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let end = line.char_indices().nth(60).map_or(line.len(), |(end, _)| end);
        Span::new(at, at + end)
    }

    fn element(&self, tag: &BytesStart<'_>) -> Result<Element, Diagnostic> {
        let span = self.span();
        let mut element = Element { name: tag.local_name().as_ref().to_owned(), span, ..Element::default() };
        for (count, attribute) in tag.attributes().enumerate() {
            if count == MAX_ATTRIBUTES {
                return Err(self.too_much(
                    "ingest/too-large",
                    &format!("an element has more than {MAX_ATTRIBUTES} attributes"),
                    span,
                ));
            }
            let attribute = attribute.map_err(|error| self.attribute_error(&error))?;
            let value = self.unescape(&attribute.value)?;
            element.attributes.push((attribute.key.local_name().as_ref().to_owned(), value));
        }
        Ok(element)
    }

    /// An attribute's value with its references resolved. Line breaks stay, although XML would make them spaces: tools that
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
            Some(element) => element.text.push_str(text),
            None if text.trim().is_empty() => {}
            None => {
                let found = self.source.text().get(self.start..).unwrap_or_default();
                let span = self.line_from(self.start + found.len() - found.trim_start().len());
                return Err(self.syntax(
                    span,
                    "text outside of the root element",
                    "the file may be a log with XML in it: give the XML alone",
                ));
            }
        }
        Ok(())
    }

    fn check_limits(&self, depth: usize, elements: usize, span: Span) -> Result<(), Diagnostic> {
        if depth > MAX_DEPTH {
            return Err(self.too_much("ingest/too-deep", &format!("the XML is nested more than {MAX_DEPTH} levels deep"), span));
        }
        if elements > MAX_ELEMENTS {
            return Err(self.too_much("ingest/too-large", &format!("the XML has more than {MAX_ELEMENTS} elements"), span));
        }
        Ok(())
    }

    fn too_much(&self, code: &'static str, message: &str, span: Span) -> Diagnostic {
        Diagnostic::error(code, message)
            .label(self.source, span, "here")
            .help("a report of tests is smaller: check which file this is, or split it")
    }

    fn doctype(&self) -> Diagnostic {
        Diagnostic::error("ingest/doctype", "the XML has a document type, which is refused: entities of its own could blow it up")
            .label(self.source, self.span(), "document type")
            .help("no test tool writes one: remove the `<!DOCTYPE ...>`")
    }

    fn no_root(&self) -> Diagnostic {
        Diagnostic::error("ingest/xml-syntax", "the XML has no root element")
            .label(self.source, last_char(self.source.text()), "ends here")
            .help("the tool that writes it may have stopped before it did")
    }

    fn truncated(&self, open: &Element) -> Diagnostic {
        Diagnostic::error(TRUNCATED, format!("the XML ends before `<{}>` is closed", open.name))
            .label(self.source, last_char(self.source.text()), "ends here")
            .label(self.source, open.span, "this is never closed")
            .help("the download or copy was cut off, or the test run was killed while it wrote: get the whole file")
    }

    fn unknown_entity(&self, name: &str, span: Span) -> Diagnostic {
        self.syntax(
            span,
            &format!("the unknown entity `&{};`", name.escape_debug()),
            "XML knows `&lt; &gt; &amp; &quot; &apos;` and character numbers",
        )
    }

    fn syntax(&self, span: Span, what: &str, help: &str) -> Diagnostic {
        Diagnostic::error("ingest/xml-syntax", format!("this is not valid XML: {what}")).label(self.source, span, what).help(help)
    }

    fn attribute_error(&self, error: &AttrError) -> Diagnostic {
        let words = match error {
            AttrError::ExpectedEq(_) => "an attribute without `=`",
            AttrError::ExpectedValue(_) => "an attribute without a value",
            AttrError::UnquotedValue(_) => "an attribute without quotes",
            AttrError::ExpectedQuote(..) => "an attribute without its closing quote",
            AttrError::Duplicated(..) => "an attribute given twice",
        };
        self.syntax(self.span(), words, "write the report again with a recent version of the tool")
    }

    fn error(&self, error: &Error) -> Diagnostic {
        let span = self.line_from(self.position(self.reader.error_position()));
        match error {
            Error::Syntax(SyntaxError::InvalidBangMarkup) => {
                self.syntax(span, "`<!` that starts nothing", "write `<` in texts as `&lt;`")
            }
            Error::Syntax(syntax) => Diagnostic::error(TRUNCATED, format!("the XML ends too soon: {syntax}"))
                .label(self.source, span, "begins here and never ends")
                .help("the download or copy was cut off, or the test run was killed while it wrote: get the whole file"),
            Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => self.syntax(
                span,
                &format!("`</{found}>` where `</{expected}>` should be"),
                "the file may be two reports run together, or cut off in between",
            ),
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                self.syntax(span, "a `&` that starts no reference", "write it as `&amp;`")
            }
            Error::Escape(EscapeError::UnrecognizedEntity(_, name)) => self.unknown_entity(name, span),
            Error::InvalidAttr(error) => self.attribute_error(error),
            other => self.syntax(span, &other.to_string(), "write the report again with a recent version of the tool"),
        }
    }
}
