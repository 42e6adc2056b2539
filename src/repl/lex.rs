//! A typed text taken apart, for its colours, its brackets and its words. It need not be right: it is being typed.

use crate::diag::Span;
use crate::ui::SyntaxClass;

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexKind {
    /// A name.
    Name,
    /// A name after a dot.
    Field,
    /// What has a colour whatever stands beside it.
    Inked(SyntaxClass),
    /// A bracket that opens.
    Opens,
    /// A bracket that closes.
    Closes,
    /// Any other sign.
    Sign,
}

/// A text taken apart.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// Its pieces, in order; spaces are none.
    pub(super) pieces: Vec<(Span, LexKind)>,
    /// Whether it ends inside a text or a comment.
    pub(super) open: bool,
}

const KEYWORDS: &[&str] = &[
    "let", "const", "if", "else", "switch", "for", "in", "while", "loop", "do", "until", "break", "continue", "return", "throw",
    "try", "catch", "fn", "true", "false",
];
/// What rules see.
pub(super) const INPUTS: &[&str] = &["artifact", "state", "vars"];
/// What cannot stand at the end of an expression.
const GOES_ON: &[&str] =
    &["&&", "||", "+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "=", ".", ",", "|", "&", "=>", "??"];

/// Takes a text apart.
pub(super) fn lex(text: &str) -> Lexed {
    let mut lexed = Lexed::default();
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let start = at;
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (len, piece) = if rest.starts_with("//") {
            (rest.find('\n').unwrap_or(rest.len()), LexKind::Inked(SyntaxClass::Comment))
        } else if rest.starts_with("/*") {
            let end = rest.find("*/").map(|end| end + 2);
            lexed.open |= end.is_none();
            (end.unwrap_or(rest.len()), LexKind::Inked(SyntaxClass::Comment))
        } else if matches!(c, '"' | '`' | '\'') {
            let end = closing(rest, c);
            // A single line holds a text in quotes; only what stands in backticks may go on below.
            lexed.open |= end.is_none() && c == '`';
            (
                end.unwrap_or(rest.len()),
                LexKind::Inked(if end.is_some() || c == '`' { SyntaxClass::Text } else { SyntaxClass::Bad }),
            )
        } else if c.is_ascii_digit() {
            let part = |(at, c): (usize, char)| {
                let fraction = c == '.' && rest[at + 1..].starts_with(|c: char| c.is_ascii_digit());
                !(c.is_ascii_alphanumeric() || c == '_' || fraction)
            };
            let end = rest.char_indices().find(|found| part(*found)).map_or(rest.len(), |(at, _)| at);
            (end, LexKind::Inked(SyntaxClass::Number))
        } else if c.is_alphabetic() || c == '_' {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            (end, name(&rest[..end], &rest[end..], lexed.pieces.last(), text))
        } else {
            match c {
                '(' | '[' | '{' => (1, LexKind::Opens),
                ')' | ']' | '}' => (1, LexKind::Closes),
                _ => (sign(rest).unwrap_or(c.len_utf8()), LexKind::Sign),
            }
        };
        at += len;
        lexed.pieces.push((Span::new(start, at), piece));
    }
    lexed
}

/// The end of a text that begins with a quote.
fn closing(rest: &str, quote: char) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\n' if quote != '`' => return None,
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn sign(rest: &str) -> Option<usize> {
    GOES_ON.iter().filter(|sign| rest.starts_with(**sign)).map(|sign| sign.len()).max()
}

fn name(word: &str, after: &str, before: Option<&(Span, LexKind)>, text: &str) -> LexKind {
    let behind = |sign: &str| before.is_some_and(|(span, _)| &text[span.start..span.end] == sign);
    if after.trim_start().starts_with('(') && !KEYWORDS.contains(&word) {
        LexKind::Inked(SyntaxClass::Function)
    } else if behind(".") || behind("?.") {
        LexKind::Field
    } else if KEYWORDS.contains(&word) {
        LexKind::Inked(SyntaxClass::Keyword)
    } else if INPUTS.contains(&word) {
        LexKind::Inked(SyntaxClass::Input)
    } else {
        LexKind::Name
    }
}

impl Lexed {
    /// How many brackets are open at the end; less than none if more were closed than opened.
    fn depth(&self) -> isize {
        self.pieces.iter().fold(0, |depth, (_, piece)| match piece {
            LexKind::Opens => depth + 1,
            LexKind::Closes => depth - 1,
            _ => depth,
        })
    }

    /// Whether nothing is missing at the end.
    pub(super) fn is_whole(&self, text: &str) -> bool {
        let goes_on = self
            .pieces
            .iter()
            .rev()
            .find(|(_, piece)| *piece != LexKind::Inked(SyntaxClass::Comment))
            .is_some_and(|(span, piece)| *piece == LexKind::Sign && GOES_ON.contains(&&text[span.start..span.end]));
        !self.open && self.depth() <= 0 && !goes_on
    }

    /// The parts that have a colour.
    pub(super) fn inks(&self) -> Vec<(Span, SyntaxClass)> {
        let mut depth = 0_isize;
        let mut inks = Vec::new();
        for (span, piece) in &self.pieces {
            match piece {
                LexKind::Inked(ink) => inks.push((*span, *ink)),
                LexKind::Opens => depth += 1,
                LexKind::Closes => {
                    depth -= 1;
                    if depth < 0 {
                        inks.push((*span, SyntaxClass::Bad));
                        depth = 0;
                    }
                }
                _ => {}
            }
        }
        inks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> bool {
        lex(text).is_whole(text)
    }

    #[test]
    fn what_lacks_an_end_goes_on() {
        for text in [
            "1 + 2",
            "f(1)",
            "#{ a: [1] }",
            "\"(\"",
            "'('",
            "a // (",
            "",
            "x)",
            "\"open",
            "a.b",
            "`a\n(`",
            "n > 1 // and",
            "let x = 1;",
        ] {
            assert!(whole(text), "{text}");
        }
        for text in ["f(", "#{ a: [1", "`open", "a &&", "a + // why", "/* open", "artifact.", "if x {", "let x ="] {
            assert!(!whole(text), "{text}");
        }
    }

    #[test]
    fn each_part_has_its_colour() {
        let text = "let x = artifact.confidence >= 0.5 && contains(s, \"é\") // so )";
        let inked: Vec<(&str, SyntaxClass)> =
            lex(text).inks().iter().map(|(span, ink)| (&text[span.start..span.end], *ink)).collect();
        assert_eq!(
            inked,
            [
                ("let", SyntaxClass::Keyword),
                ("artifact", SyntaxClass::Input),
                ("0.5", SyntaxClass::Number),
                ("contains", SyntaxClass::Function),
                ("\"é\"", SyntaxClass::Text),
                ("// so )", SyntaxClass::Comment),
            ]
        );
        let bad = |text: &str| lex(text).inks().iter().filter(|(_, ink)| *ink == SyntaxClass::Bad).count();
        assert_eq!((bad("(1))"), bad("\"open"), bad("1..2"), bad("'é")), (1, 1, 0, 1));
    }

    #[test]
    fn any_text_is_taken_apart() {
        for text in ["\\", "é.ß", "\"\\", "1.", "1.x", "..", "'\\é'", "\u{0}", "a\u{301}(", "`${`"] {
            let lexed = lex(text);
            assert!(lexed.pieces.iter().all(|(span, _)| text.get(span.start..span.end).is_some()), "{text}");
        }
    }
}
