//! What is wrong with a text that is not YAML, in words of whoever wrote it.

use crate::diag::{Diagnostic, Source, Span};
use serde_saphyr::granit_parser::{ErrorKind as K, ScanError};

/// The diagnostic of a parse error, labelled where it happened. `base` is added to the parser's offsets; `read` is how far
/// the text was understood before.
pub(super) fn diagnose(error: &ScanError, source: &Source, base: usize, read: usize) -> Diagnostic {
    let at = error.marker().byte_offset().map_or(source.text().len(), |offset| offset + base);
    let span = token(source, at);
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

/// The quote from an offset on that opens a text which is not closed before the second offset; if `closed`, the last quote that
/// opens one.
fn open_quote(text: &str, from: usize, to: usize, closed: bool) -> Option<Span> {
    let mut last = None;
    let mut at = from;
    // A quote opens a text only at its beginning; any other one is a character like any.
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

/// How long a quoted text is, its quotes included; nothing if it does not end.
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

/// The word at an offset; at the end of the text or on white space, the last character written before.
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
    const QUOTE: &str = "put a text that holds such characters in quotes";
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
            ("a quoted text is not closed before this".into(), Some("close the quote, or indent the lines of the text"))
        }
        K::InvalidTrailingSingleQuotedScalar | K::InvalidTrailingDoubleQuotedScalar => {
            ("something follows a quoted text".into(), Some("put quotes around the whole text, and double `'` inside '..'"))
        }
        K::UnknownQuotedScalarEscape | K::InvalidQuotedScalarHexEscape | K::InvalidUnicodeEscape => {
            ("a \"..\" text holds an escape that does not exist".into(), Some("in '..' a backslash is only a backslash"))
        }
        K::MappingValueNotAllowed | K::InvalidColonPlacement | K::InvalidMappingValueWhitespace => (
            "a `:` cannot stand here".into(),
            Some("put a text that holds `: ` in quotes, or check the indentation and the brackets"),
        ),
        K::UnexpectedCharacter { character } => (format!("`{character}` cannot begin an unquoted text"), Some(QUOTE)),
        K::ExpectedBlockMappingKey | K::InvalidIndentation | K::SimpleKeyExpected | K::InvalidSimpleKey => (
            "this line does not fit the map it stands in".into(),
            Some("give all keys of a map the same indentation, each followed by `:`"),
        ),
        K::ExpectedBlockSequenceEntry | K::BlockSequenceEntryNotAllowed => (
            "this line does not fit the list it stands in".into(),
            Some("give all items of a list the same indentation, each after `- `"),
        ),
        K::ExpectedFlowMappingSeparator => {
            ("a `,` or `}` is missing before this".into(), Some("close the map `{` above with `}`"))
        }
        K::ExpectedFlowSequenceSeparator => {
            ("a `,` or `]` is missing before this".into(), Some("close the list `[` above with `]`"))
        }
        K::UnknownAnchor => (
            format!("no anchor `&{}` comes before this", token.trim_start_matches('*')),
            Some("write the anchor before the first use, or quote a text that begins with `*`"),
        ),
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabAtBlockScalarStart | K::TabInPlainScalar => {
            ("a tab cannot indent".into(), Some(TABS))
        }
        K::RecursionLimitExceeded => ("this nests too deeply".into(), Some("write it flatter")),
        other => {
            (format!("this is not YAML: {other}"), Some("check the quotes, brackets and indentation here and in the line before"))
        }
    }
}
