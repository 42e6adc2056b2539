//! Splits a typed text into tokens, for colours, brackets and words. It is lenient: the text is being typed.

use crate::ui::SyntaxClass;
use asterisk_diag::Span;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexKind {
    /// A name.
    Name,
    /// A name after a dot.
    Field,
    /// A token with a fixed colour.
    Inked(SyntaxClass),
    /// An opening bracket.
    Opens,
    /// A closing bracket.
    Closes,
    /// Any other symbol.
    Sign,
}

/// The tokens of a text.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// The tokens in order, without white space.
    pub(super) pieces: Vec<(Span, LexKind)>,
    /// Whether the text ends inside a string or a comment.
    pub(super) open: bool,
}

const KEYWORDS: &[&str] = &[
    "let", "const", "if", "else", "switch", "for", "in", "while", "loop", "do", "until", "break", "continue", "return", "throw",
    "try", "catch", "fn", "true", "false",
];
/// The inputs of rules.
pub(super) const INPUTS: &[&str] = &["artifact", "state", "vars"];
/// Symbols that cannot end an expression.
const CONTINUES: &[&str] =
    &["&&", "||", "+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "=", ".", ",", "|", "&", "=>", "??"];

/// Splits a text into tokens.
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
            // A quoted string ends on its line; only one in backticks may continue.
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
                _ => (symbol(rest).unwrap_or(c.len_utf8()), LexKind::Sign),
            }
        };
        at += len;
        lexed.pieces.push((Span::new(start, at), piece));
    }
    lexed
}

/// The end of a string that starts with a quote.
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

fn symbol(rest: &str) -> Option<usize> {
    CONTINUES.iter().filter(|symbol| rest.starts_with(**symbol)).map(|symbol| symbol.len()).max()
}

fn name(word: &str, after: &str, before: Option<&(Span, LexKind)>, text: &str) -> LexKind {
    let behind = |symbol: &str| before.is_some_and(|(span, _)| &text[span.start..span.end] == symbol);
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
    /// The number of open brackets at the end; negative if more were closed than opened.
    fn depth(&self) -> isize {
        self.pieces.iter().fold(0, |depth, (_, piece)| match piece {
            LexKind::Opens => depth + 1,
            LexKind::Closes => depth - 1,
            _ => depth,
        })
    }

    /// Whether the text is complete.
    pub(super) fn is_complete(&self, text: &str) -> bool {
        let continues = self
            .pieces
            .iter()
            .rev()
            .find(|(_, piece)| *piece != LexKind::Inked(SyntaxClass::Comment))
            .is_some_and(|(span, piece)| *piece == LexKind::Sign && CONTINUES.contains(&&text[span.start..span.end]));
        !self.open && self.depth() <= 0 && !continues
    }

    /// The coloured parts.
    pub(super) fn classes(&self) -> Vec<(Span, SyntaxClass)> {
        let mut depth = 0_isize;
        let mut classes = Vec::new();
        for (span, piece) in &self.pieces {
            match piece {
                LexKind::Inked(class) => classes.push((*span, *class)),
                LexKind::Opens => depth += 1,
                LexKind::Closes => {
                    depth -= 1;
                    if depth < 0 {
                        classes.push((*span, SyntaxClass::Bad));
                        depth = 0;
                    }
                }
                _ => {}
            }
        }
        classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_complete(text: &str) -> bool {
        lex(text).is_complete(text)
    }

    #[test]
    fn incomplete_text_continues() {
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
            assert!(is_complete(text), "{text}");
        }
        for text in ["f(", "#{ a: [1", "`open", "a &&", "a + // why", "/* open", "artifact.", "if x {", "let x ="] {
            assert!(!is_complete(text), "{text}");
        }
    }

    #[test]
    fn each_part_has_its_colour() {
        let text = "let x = artifact.confidence >= 0.5 && contains(s, \"é\") // so )";
        let coloured: Vec<(&str, SyntaxClass)> =
            lex(text).classes().iter().map(|(span, class)| (&text[span.start..span.end], *class)).collect();
        assert_eq!(
            coloured,
            [
                ("let", SyntaxClass::Keyword),
                ("artifact", SyntaxClass::Input),
                ("0.5", SyntaxClass::Number),
                ("contains", SyntaxClass::Function),
                ("\"é\"", SyntaxClass::Text),
                ("// so )", SyntaxClass::Comment),
            ]
        );
        let bad = |text: &str| lex(text).classes().iter().filter(|(_, class)| *class == SyntaxClass::Bad).count();
        assert_eq!((bad("(1))"), bad("\"open"), bad("1..2"), bad("'é")), (1, 1, 0, 1));
    }

    #[test]
    fn any_text_is_split() {
        for text in ["\\", "é.ß", "\"\\", "1.", "1.x", "..", "'\\é'", "\u{0}", "a\u{301}(", "`${`"] {
            let lexed = lex(text);
            assert!(lexed.pieces.iter().all(|(span, _)| text.get(span.start..span.end).is_some()), "{text}");
        }
    }
}
