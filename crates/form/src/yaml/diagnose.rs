//! Diagnostics for texts that are not valid YAML, phrased for the author of the file.

use asterisk_diag::counted;
use asterisk_diag::{Diagnostic, Source, Span};
use serde_saphyr::granit_parser::{ErrorKind as K, ScanError};

/// Converts a parse error into a diagnostic. `base` is added to the parser's offsets; `read` is the end of the text parsed so
/// far.
pub(super) fn diagnose(error: &ScanError, source: &Source, base: usize, read: usize) -> Diagnostic {
    let at = error.marker().byte_offset().map_or(source.text().len(), |offset| offset + base);
    let span = token(source, at);
    if let Some(found) = indentation(error.kind(), source, at) {
        return found;
    }
    let (mut message, help) = explain(error.kind(), source.slice(span));
    let quote = match error.kind() {
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar => {
            open_quote(source.text(), read, at, false)
        }
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => open_quote(source.text(), read, at, true),
        _ => None,
    };
    if quote.is_some_and(|quote| quote.start == at) {
        "this quote is never closed".clone_into(&mut message);
    }
    let diagnostic = Diagnostic::error("yaml/syntax", message).label(source, span, "").maybe_help(help.map(str::to_owned));
    match quote {
        Some(quote) if quote.start < span.start => diagnostic.label(source, quote, "the quote opens here"),
        _ => diagnostic,
    }
}

/// Explains a line indented by a tab, or by a number of spaces that matches no line above.
fn indentation(kind: &K, source: &Source, at: usize) -> Option<Diagnostic> {
    let text = source.text();
    let lines: Vec<Line<'_>> = Line::all(text).collect();
    let here = lines.iter().rposition(|line| line.start <= at)?;
    let found = |message: String, span: Span, help: String| {
        Some(Diagnostic::error("yaml/syntax", message).label(source, span, "").help(help))
    };
    if matches!(
        kind,
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabAtBlockScalarStart | K::TabInPlainScalar
    ) {
        // The parser stops at the end of the last valid token, which may be on an earlier line.
        let (line, tab) = lines[here..].iter().find_map(|line| Some((line, line.blank().find('\t')?)))?;
        let tabs = line.blank()[tab..].chars().take_while(|c| *c == '\t').count();
        let span = Span::new(line.start + tab, line.start + tab + tabs);
        return found(
            "tabs are not allowed as indentation".to_owned(),
            span,
            "indent with spaces: editors can turn tabs into them".to_owned(),
        );
    }
    let about_lines = matches!(
        kind,
        K::ExpectedBlockMappingKey
            | K::InvalidIndentation
            | K::SimpleKeyExpected
            | K::InvalidSimpleKey
            | K::ExpectedBlockSequenceEntry
            | K::BlockSequenceEntryNotAllowed
            | K::MappingValueNotAllowed
            | K::InvalidColonPlacement
    );
    let line = &lines[here];
    // Text after the first key of a line does not affect indentation.
    let first = about_lines && text.get(line.start..at).is_some_and(|before| !before.contains(':'));
    if !first || line.blank().contains('\t') {
        return None;
    }
    // The columns of the open maps or lists above, innermost first.
    let mut open: Vec<(usize, &Line<'_>)> = Vec::new();
    let mut least = usize::MAX;
    for above in lines[..here].iter().rev().filter(|above| !above.is_nothing()) {
        let column = if line.is_item() { above.is_item().then_some(above.indent()) } else { Some(above.key()) };
        if above.indent() < least || above.key() < least {
            open.extend(column.filter(|column| *column < least).map(|column| (column, above)));
            least = least.min(above.indent());
        }
    }
    let indent = line.indent();
    if open.iter().any(|(column, _)| *column == indent) {
        return None;
    }
    let (column, like) = open.iter().min_by_key(|(column, _)| column.abs_diff(indent))?;
    let spaces = |count: usize| counted(count, "space", "spaces");
    let (number, _) = source.line_column(like.start);
    let like = format!("like `{}` in line {number}", like.head(line.is_item()));
    found(
        format!(
            "this line is indented by {}, unlike every {} above it",
            spaces(indent),
            if line.is_item() { "item" } else { "key" }
        ),
        token(source, line.start + indent),
        if *column == 0 {
            format!("remove its indentation, {like}")
        } else {
            format!("indent it by {}, {like}", spaces(*column))
        },
    )
}

/// A line of the text.
struct Line<'a> {
    start: usize,
    text: &'a str,
}

impl<'a> Line<'a> {
    fn all(text: &'a str) -> impl Iterator<Item = Self> {
        text.split_inclusive('\n').scan(0, |start, text| {
            let line = Line { start: *start, text };
            *start += text.len();
            Some(line)
        })
    }

    /// Its leading white space.
    fn blank(&self) -> &'a str {
        &self.text[..self.text.len() - self.text.trim_start_matches([' ', '\t']).len()]
    }

    fn indent(&self) -> usize {
        self.blank().len()
    }

    /// Whether it is empty or a comment.
    fn is_nothing(&self) -> bool {
        let written = self.text.trim();
        written.is_empty() || written.starts_with('#')
    }

    fn is_item(&self) -> bool {
        self.text[self.indent()..].starts_with("- ")
    }

    /// The column of its first key, after the `-` of a list item.
    fn key(&self) -> usize {
        let written = self.text.trim_start_matches([' ', '-']);
        if self.is_item() { self.text.len() - written.len() } else { self.indent() }
    }

    /// Its first key, or the list item.
    fn head(&self, item: bool) -> &'a str {
        let written = self.text[if item { self.indent() } else { self.key() }..].trim_end();
        written.find(':').map_or(written, |end| &written[..=end])
    }
}

/// Finds the first quote after `from` that opens a string not closed before `to`; if `closed`, the last quote that opens one.
fn open_quote(text: &str, from: usize, to: usize, closed: bool) -> Option<Span> {
    let mut last = None;
    let mut at = from;
    // A quote opens a string only at the start of a scalar; elsewhere it is an ordinary character.
    let mut opens = true;
    while at <= to {
        let rest = text.get(at..)?;
        let Some(ch) = rest.chars().next() else { break };
        at += match ch {
            '"' | '\'' if opens => {
                let quote = Span::new(at, at + 1);
                let Some(length) = quoted_length(rest, ch).filter(|length| at + length <= to) else { return Some(quote) };
                last = Some(quote);
                opens = false;
                length
            }
            '#' if text[..at].ends_with(char::is_whitespace) => rest.find('\n').unwrap_or(rest.len()),
            _ => {
                opens = match ch {
                    ' ' | '\t' | '\r' => opens,
                    '\n' | '[' | '{' | ',' | ':' | '-' | '?' => true,
                    _ => false,
                };
                ch.len_utf8()
            }
        };
    }
    last.filter(|_| closed)
}

/// The length of a quoted string including its quotes; `None` if it is not closed.
fn quoted_length(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((at, ch)) = chars.next() {
        if ch == '\\' && quote == '"' || ch == quote && quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == quote) {
            chars.next();
        } else if ch == quote {
            return Some(at + 1);
        }
    }
    None
}

/// The word at an offset; at the end of the text or on white space, the last character before it.
pub(super) fn token(source: &Source, at: usize) -> Span {
    let text = source.text();
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let rest = &text[at..];
    let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match rest.chars().next() {
        Some(c) if word(c) => Span::new(at, at + rest.find(|c| !word(c)).unwrap_or(rest.len())),
        Some(c) if c == '*' || c == '&' => {
            Span::new(at, at + rest.find([' ', '\n', '\r', '\t', ',', ']', '}']).unwrap_or(rest.len()))
        }
        Some(c) if !c.is_whitespace() => Span::new(at, at + c.len_utf8()),
        _ => {
            let written = text[..at].trim_end();
            match written.chars().next_back() {
                Some(c) => Span::new(written.len() - c.len_utf8(), written.len()),
                None => Span::new(0, 0),
            }
        }
    }
}

fn explain(kind: &K, token: &str) -> (String, Option<&'static str>) {
    const QUOTE: &str = "quote a string that contains such characters";
    const TABS: &str = "indent with spaces";
    match kind {
        K::UnclosedFlowCollection { open } => {
            let help = if *open == '[' { "close it with `]`" } else { "close it with `}`" };
            (format!("this `{open}` is never closed"), Some(help))
        }
        K::MismatchedFlowCollectionEnd { open, close } => {
            let help = if *open == '[' { "a list `[..]` ends with `]`" } else { "a map `{..}` ends with `}`" };
            (format!("this `{open}` is closed by `{close}`"), Some(help))
        }
        K::MisplacedFlowCollectionEnd => (format!("`{token}` closes nothing"), Some(QUOTE)),
        K::UnclosedQuotedScalar | K::InvalidQuotedScalarIndent | K::DocumentIndicatorInQuotedScalar => {
            ("a quoted string is not closed before this".into(), Some("close the quote, or indent the lines of the string"))
        }
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => {
            ("unexpected text after a quoted string".into(), Some("quote the whole string, and double `'` inside '..'"))
        }
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape | K::InvalidUnicodeEscape => {
            ("unknown escape in a double-quoted string".into(), Some("in single quotes, a backslash is literal"))
        }
        K::MappingValueNotAllowed | K::InvalidColonPlacement | K::InvalidMappingValueWhitespace => {
            ("unexpected `:`".into(), Some("quote a string that contains `: `, or check the indentation and the brackets"))
        }
        K::UnexpectedCharacter { character } => (format!("`{character}` cannot begin an unquoted string"), Some(QUOTE)),
        K::ExpectedBlockMappingKey | K::InvalidIndentation | K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line does not belong to the map around it".into(),
            Some("give all keys of a map the same indentation, each followed by `:`"),
        ),
        K::ExpectedBlockSequenceEntry | K::BlockSequenceEntryNotAllowed => (
            "this line does not belong to the list around it".into(),
            Some("give all items of a list the same indentation, each after `- `"),
        ),
        K::ExpectedFlowMappingSeparator => {
            ("a `,` or `}` is missing before this".into(), Some("close the map `{` above with `}`"))
        }
        K::ExpectedFlowSequenceSeparator => {
            ("a `,` or `]` is missing before this".into(), Some("close the list `[` above with `]`"))
        }
        K::UnknownAnchor => (
            format!("the anchor `&{}` is not defined before this", token.trim_start_matches('*')),
            Some("write the anchor before the first use, or quote a string that begins with `*`"),
        ),
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabAtBlockScalarStart | K::TabInPlainScalar => {
            ("tabs are not allowed as indentation".into(), Some(TABS))
        }
        K::RecursionLimitExceeded => ("this is nested too deeply".into(), Some("flatten it")),
        other => {
            (format!("this is not YAML: {other}"), Some("check the quotes, brackets and indentation here and in the line before"))
        }
    }
}
