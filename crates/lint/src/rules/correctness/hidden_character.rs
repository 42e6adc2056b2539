//! `correctness/hidden-character`: characters that make a text look different from what it does.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_base::model::{is_invisible, looks_latin};
use asterisk_diag::{Diagnostic, Source, Span};
use asterisk_form::yaml::{QuoteStyle, Yaml, YamlKind};

pub(super) const RULE: LintRule = LintRule {
    id: "correctness/hidden-character",
    level: LintLevel::Error,
    summary: "an invisible character, or one that changes the text direction",
    manual: include_str!("../../manual/correctness/hidden-character.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    for (source, yaml) in cx.data {
        eaten_escapes(source, yaml, report);
    }
    for text in cx.texts {
        let source = &text.source;
        mixed_alphabets(source, report);
        let mut chars = source.text().char_indices().peekable();
        while let Some((start, first)) = chars.next() {
            if !hides(first, start, chars.peek().map(|(_, next)| *next)) {
                continue;
            }
            // Adjacent characters are one finding.
            let mut end = start + first.len_utf8();
            let mut names = vec![name(first)];
            while let Some((at, next)) = chars.next_if(|(_, next)| is_hidden(*next)) {
                end = at + next.len_utf8();
                names.push(name(next));
            }
            let more = names.len().saturating_sub(SHOWN);
            names.truncate(SHOWN);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let message = format!("invisible or reordering characters: {}{more}", names.join(", "));
            report.push(
                Diagnostic::error(RULE.id, message)
                    .label(source, Span::new(start, end), "here")
                    .help("remove it; if a string needs it, write an escape such as \"\\u202e\""),
            );
        }
    }
}

/// The maximum number of characters named in a finding.
const SHOWN: usize = 4;

/// Whether a character at an offset, given the one after it, is a finding.
fn hides(ch: char, at: usize, next: Option<char>) -> bool {
    let mark = ch == '\u{feff}' && at == 0;
    is_hidden(ch) && !mark && !(ch == '\r' && next == Some('\n'))
}

fn is_hidden(ch: char) -> bool {
    ch != '\n' && (is_invisible(ch) || matches!(ch, '\u{2028}' | '\u{2029}'))
}

fn name(ch: char) -> String {
    format!("U+{:04X}", u32::from(ch))
}

/// Reports words with Latin letters and look-alikes of other alphabets.
fn mixed_alphabets(source: &Source, report: &mut FindingCollector) {
    let text = source.text();
    if text.is_ascii() {
        return;
    }
    for (start, first) in text.char_indices().filter(|(_, ch)| looks_latin(*ch)) {
        let in_word = |ch: char| ch.is_alphanumeric() || ch == '_';
        let before = text[..start].chars().rev().take_while(|ch| in_word(*ch));
        let after = text[start..].chars().take_while(|ch| in_word(*ch));
        if !before.chain(after).any(|ch| ch.is_ascii_alphabetic()) {
            continue;
        }
        let message = format!("{} looks like a Latin letter in a word of Latin letters", name(first));
        let found =
            Diagnostic::error(RULE.id, message).label(source, Span::new(start, start + first.len_utf8()), "another letter");
        report.push(found.help("type the Latin letter"));
    }
}

/// Reports escapes in double quotes that YAML turns into control characters: `"\b"` is a backspace, not a word boundary.
fn eaten_escapes(source: &Source, yaml: &Yaml, report: &mut FindingCollector) {
    match &yaml.kind {
        YamlKind::List(items) => items.iter().for_each(|item| eaten_escapes(source, item, report)),
        YamlKind::Map(entries) => entries.iter().for_each(|entry| eaten_escapes(source, &entry.value, report)),
        YamlKind::Text(text) if text.style == QuoteStyle::Double => {
            let eaten = |ch: char| matches!(ch, '\u{7}' | '\u{8}' | '\u{b}' | '\u{c}' | '\u{1b}' | '\0');
            let Some(found) = text.value.chars().find(|ch| eaten(*ch)) else { return };
            let message = format!("YAML reads an escape in these double quotes as the control character {}", name(found));
            let error = Diagnostic::error(RULE.id, message).label(source, yaml.span, "not the escape of a pattern");
            report.push(error.help("write the pattern in single quotes"));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manual::ExampleFile;
    use crate::testing::{Example, found};

    #[test]
    fn every_kind_of_text_is_checked() {
        let comment = Example::script("/// Seen before. /*\u{202e} } \u{2066}*/\nfn seen(artifact, state, vars) { true }\n");
        assert_eq!(found(RULE.id, &comment), ["\u{202e}", "\u{2066}"]);
        assert_eq!(found(RULE.id, &Example::template("{# a\u{200b}\u{200b} #}")), ["\u{200b}\u{200b}"]);
        assert_eq!(found(RULE.id, &Example::rule("artifact.confidence > 0.5 /* \u{2028} a \r b */")), ["\u{2028}", "\r"]);
    }

    #[test]
    fn look_alikes_and_eaten_escapes_are_found() {
        let look_alike = Example::rule("artifact.label == \"m\u{430}tch\"");
        assert_eq!(found(RULE.id, &look_alike), ["\u{430}"]);
        assert_eq!(
            found(RULE.id, &Example::rule("artifact.label == \"\u{43c}\u{438}\u{440}\"")),
            [""; 0],
            "a word of one alphabet"
        );
        let file = |pattern: &str| ExampleFile {
            path: "scripts/data/signatures/own.yaml".into(),
            text: format!(
                "signatures:\n  - {{ id: x, title: x, category: infra, certainty: 0.5, severity: low, means: x, patterns: [{pattern}] }}\n"
            ),
        };
        assert_eq!(found(RULE.id, &Example::of(&[file("\"\\bboard busy\"")])), ["\"\\bboard busy\""]);
        assert_eq!(found(RULE.id, &Example::of(&[file("'\\bboard busy'")])), [""; 0]);
    }

    #[test]
    fn line_endings_byte_order_marks_and_joiners_are_allowed() {
        assert_eq!(
            found(RULE.id, &Example::template("\u{feff}a\r\n\tb \u{1f468}\u{200d}\u{1f469} \u{646}\u{200c}\u{647}\r\n")),
            [""; 0]
        );
        assert_eq!(found(RULE.id, &Example::rule(r#"artifact.label == "\u202e""#)), [""; 0]);
    }
}
