//! What is wrong with a text that is not YAML, in words of whoever wrote it.

use crate::diag::{Diagnostic, Source, Span};
use serde_saphyr::granit_parser::{ErrorKind, ScanError};

/// The diagnostic of a parse error, labelled where it happened. `base` is added to the parser's offsets.
pub(super) fn diagnose(error: &ScanError, source: &Source, base: usize) -> Diagnostic {
    let at = error.marker().byte_offset().map_or(source.text().len(), |offset| offset + base);
    let span = token(source, at);
    let (message, help) = explain(error.kind(), source.slice(span));
    Diagnostic::error("yaml/syntax", message).label(source, span, "").maybe_help(help.map(str::to_owned))
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

fn explain(kind: &ErrorKind, token: &str) -> (String, Option<&'static str>) {
    use ErrorKind as K;
    const QUOTE: &str = "put a text that holds such characters in quotes";
    const TABS: &str = "indent with spaces";
    match kind {
        K::UnclosedFlowCollection { open } => (format!("this `{open}` is never closed"), None),
        K::MismatchedFlowCollectionEnd { open, close } => (format!("this `{open}` is closed by `{close}`"), None),
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
        K::ExpectedFlowMappingSeparator => ("a `,` or `}` is missing before this".into(), None),
        K::ExpectedFlowSequenceSeparator => ("a `,` or `]` is missing before this".into(), None),
        K::UnknownAnchor => (format!("no anchor `&{}` comes before this", token.trim_start_matches('*')), None),
        K::TabNotAllowed | K::TabInBlockIndentation | K::TabInIndentation | K::TabAtBlockScalarStart | K::TabInPlainScalar => {
            ("a tab cannot indent".into(), Some(TABS))
        }
        K::RecursionLimitExceeded => ("this nests too deeply".into(), None),
        other => (format!("this is not YAML: {other}"), None),
    }
}
