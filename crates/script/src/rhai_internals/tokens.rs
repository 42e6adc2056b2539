//! Re-lexes a script into tokens with spans: Rhai's positions have a start and no length, but a diagnostic labels the whole
//! token.

use super::tree::Expr;
use asterisk_diag::Span;
use rhai::{Engine, Position, Token};

/// A token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    /// Its span in bytes.
    pub span: Span,
    /// Whether it is a string literal, or a literal part of an interpolated one.
    pub quoted: bool,
    /// 1 for an opening bracket, -1 for a closing one.
    nesting: i8,
}

/// The tokens of a text, in order.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    lexemes: Vec<Lexeme>,
    places: LineIndex,
}

/// Finds the byte of a line and column without scanning the line from its start.
#[derive(Clone, Debug, Default)]
struct LineIndex {
    /// The number of characters before each line.
    lines: Vec<usize>,
    /// The byte offset of every [`STRIDE`]th character.
    marks: Vec<usize>,
}

/// Characters between two marks.
const STRIDE: usize = 64;

impl LineIndex {
    fn of(text: &str) -> Self {
        let mut places = Self { lines: vec![0], marks: Vec::new() };
        for (count, (at, ch)) in text.char_indices().enumerate() {
            if count % STRIDE == 0 {
                places.marks.push(at);
            }
            if ch == '\n' {
                places.lines.push(count + 1);
            }
        }
        places
    }

    /// The byte offset of a character by its line and column, both from 0; the end of the text beyond it.
    fn offset(&self, text: &str, line: usize, column: usize) -> usize {
        let Some(before) = self.lines.get(line) else { return text.len() };
        let count = before + column;
        let Some(&mark) = self.marks.get(count / STRIDE) else { return text.len() };
        text[mark..].char_indices().nth(count % STRIDE).map_or(text.len(), |(at, _)| mark + at)
    }
}

impl Tokens {
    /// Lexes a text. Invalid characters become tokens of one character, so a text that does not parse has tokens too.
    pub fn new(engine: &Engine, text: &str) -> Self {
        let mut tokens = Self { lexemes: Vec::new(), places: LineIndex::of(text) };
        let inputs = [text];
        let (mut stream, control) = engine.lex(&inputs);
        let mut depth = 0_i32;
        let mut interpolations: Vec<i32> = Vec::new();
        // The lexer yields the end of the input forever, and might yield errors forever: there are no more tokens than bytes.
        for _ in 0..=text.len().saturating_mul(2) {
            let Some((token, position)) = stream.next() else { break };
            if token == Token::EOF {
                break;
            }
            if position.is_none() {
                // The empty text after `${x}`; another interpolation may follow it.
                if let Token::InterpolatedString(..) = token {
                    interpolations.push(depth);
                }
                continue;
            }
            match token {
                Token::InterpolatedString(..) => interpolations.push(depth),
                Token::LeftBrace | Token::MapStart => depth += 1,
                Token::RightBrace => {
                    depth -= 1;
                    if interpolations.last() == Some(&depth) {
                        interpolations.pop();
                        // The raw lexer does not know that the string continues here; normally the parser sets this.
                        control.borrow_mut().is_within_text = true;
                    }
                }
                _ => {}
            }
            let start = tokens.offset(text, position);
            let end = start + length_of(&token, &text[start..]);
            let quoted = matches!(token, Token::StringConstant(..) | Token::InterpolatedString(..) | Token::CharConstant(..));
            tokens.lexemes.push(Lexeme { span: Span::new(start, end.min(text.len())), quoted, nesting: nesting_of(&token) });
        }
        tokens.normalise(text);
        tokens
    }

    /// Sorts the tokens, ends each where the next begins, and clamps spans to character boundaries.
    fn normalise(&mut self, text: &str) {
        self.lexemes.sort_by_key(|lexeme| lexeme.span.start);
        self.lexemes.dedup_by_key(|lexeme| lexeme.span.start);
        for at in 0..self.lexemes.len() {
            let next = self.lexemes.get(at + 1).map_or(text.len(), |next| next.span.start);
            let span = &mut self.lexemes[at].span;
            span.end = span.end.min(next);
            while !text.is_char_boundary(span.end) {
                span.end += 1;
            }
        }
    }

    /// All tokens.
    pub fn lexemes(&self) -> &[Lexeme] {
        &self.lexemes
    }

    /// Whether a byte is inside a token. Plain comments are not tokens, doc comments are.
    pub fn covers(&self, at: usize) -> bool {
        let before = self.lexemes.partition_point(|lexeme| lexeme.span.start <= at);
        before > 0 && self.lexemes[before - 1].span.end > at
    }

    /// The byte offset of a position.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let Some(line) = position.line() else { return 0 };
        let column = position.position().unwrap_or(1).max(1);
        self.places.offset(text, line.saturating_sub(1), column - 1)
    }

    /// The token at a position; at the end of the text, the last one. `None` without a position.
    pub fn token(&self, text: &str, position: Position) -> Option<Span> {
        if position.is_none() {
            return None;
        }
        let at = self.at(self.offset(text, position));
        Some(at.map_or_else(|| Span::new(0, 0), |at| self.lexemes[at].span))
    }

    /// The index of the token at or before an offset.
    fn at(&self, offset: usize) -> Option<usize> {
        match self.lexemes.binary_search_by_key(&offset, |lexeme| lexeme.span.start) {
            Ok(at) => Some(at),
            Err(0) => None,
            Err(at) => Some(at - 1),
        }
    }

    /// The span of an expression: from its first to its last token, with brackets closed.
    pub fn extent(&self, text: &str, expr: &Expr) -> Option<Span> {
        self.hull(text, expr.positions())
    }

    /// The span from the first to the last of some positions, extended over a call's parentheses and over brackets left open.
    pub fn hull(&self, text: &str, positions: impl IntoIterator<Item = Position>) -> Option<Span> {
        let places = positions.into_iter().filter(|position| !position.is_none());
        let places: Vec<usize> = places.filter_map(|position| self.at(self.offset(text, position))).collect();
        let (mut first, mut last) = (*places.iter().min()?, *places.iter().max()?);
        if self.lexemes[last].nesting <= 0
            && let Some(next) = self.lexemes.get(last + 1)
            && next.span.start == self.lexemes[last].span.end
            && text[next.span.start..next.span.end].starts_with('(')
        {
            last += 1;
        }
        let (mut depth, mut lowest) = (0_i32, 0_i32);
        for lexeme in &self.lexemes[first..=last] {
            depth += i32::from(lexeme.nesting);
            lowest = lowest.min(depth);
        }
        while depth > lowest && last + 1 < self.lexemes.len() {
            last += 1;
            depth += i32::from(self.lexemes[last].nesting);
        }
        while lowest < 0 && first > 0 {
            first -= 1;
            lowest += i32::from(self.lexemes[first].nesting);
        }
        Some(Span::new(self.lexemes[first].span.start, self.lexemes[last].span.end))
    }

    /// The last token of the text.
    pub fn last(&self) -> Option<Span> {
        self.lexemes.last().map(|lexeme| lexeme.span)
    }
}

fn nesting_of(token: &Token) -> i8 {
    match token {
        Token::LeftParen | Token::LeftBracket | Token::LeftBrace | Token::MapStart | Token::QuestionBracket => 1,
        Token::RightParen | Token::RightBracket | Token::RightBrace => -1,
        _ => 0,
    }
}

/// The length of a token in the text: for literals and comments the token's own text differs from the source.
fn length_of(token: &Token, rest: &str) -> usize {
    match token {
        Token::StringConstant(..) | Token::InterpolatedString(..) | Token::CharConstant(..) => string_length(rest),
        Token::IntegerConstant(..) | Token::FloatConstant(..) => number_length(rest),
        Token::Comment(comment) => comment.len(),
        Token::LexError(_) => match rest.chars().next() {
            Some('"' | '`' | '\'') => string_length(rest),
            Some(first) if first.is_alphanumeric() || first == '_' => {
                rest.find(|ch: char| !ch.is_alphanumeric() && ch != '_').unwrap_or(rest.len())
            }
            first => first.map_or(0, char::len_utf8),
        },
        token => token.to_string().len(),
    }
}

fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let goes_on = byte.is_ascii_alphanumeric()
            || byte == b'_'
            || (byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
            || (matches!(byte, b'-' | b'+') && (at == 0 || matches!(bytes[at - 1], b'e' | b'E')));
        if !goes_on {
            break;
        }
        at += 1;
    }
    at
}

/// `"..."`, `'.'`, `` `...` `` up to an interpolation, `#"..."#`; inside an interpolated string, from the `}` on.
fn string_length(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    let quote = match chars.next() {
        Some((_, '#')) => {
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            let close = format!("\"{}", "#".repeat(hashes));
            return rest
                .get(hashes + 1..)
                .and_then(|inner| inner.find(&close))
                .map_or(rest.len(), |at| hashes + 1 + at + close.len());
        }
        Some((_, quote @ ('"' | '\''))) => quote,
        Some(_) => '`',
        None => return 0,
    };
    let mut escaped = false;
    for (at, ch) in chars {
        if escaped {
            escaped = false;
        } else if ch == '\\' && quote != '`' {
            escaped = true;
        } else if ch == quote {
            return at + ch.len_utf8();
        } else if quote == '`' && rest[at..].starts_with("${") {
            return at;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rhai_internals::tree::Stmt;
    use crate::rhai_internals::tree_of;
    use crate::{ScriptLimits, build_engine};

    fn words(text: &str) -> Vec<String> {
        let tokens = Tokens::new(&build_engine(&ScriptLimits::default(), [], |_| {}), text);
        tokens.lexemes().iter().map(|lexeme| text[lexeme.span.start..lexeme.span.end].to_owned()).collect()
    }

    #[test]
    fn tokens_cover_the_source() {
        assert_eq!(words("a.b >= 1_000.5e-3 && x"), ["a", ".", "b", ">=", "1_000.5e-3", "&&", "x"]);
        assert_eq!(
            words(r##"f("a\"b", 'c', #"raw "x" "#)"##),
            ["f", "(", r#""a\"b""#, ",", "'c'", ",", r##"#"raw "x" "#"##, ")"]
        );
        assert_eq!(words("artifact.match"), ["artifact", ".", "match"]);
        assert_eq!(words("é == \"é\" // ü\n&& ü"), ["é", "==", "\"é\"", "&&", "ü"]);
    }

    #[test]
    fn tokens_are_exact_after_an_interpolation() {
        let found = words("`a ${b + `${c}`} d` + e == f");
        assert_eq!(&found[found.len() - 4..], ["+", "e", "==", "f"]);
        assert!(found.contains(&"b".to_owned()) && found.contains(&"c".to_owned()), "{found:?}");
        assert_eq!(words("f(`${a}${b}`); g(`c`)"), ["f", "(", "`", "{", "a", "}", "{", "b", "}", ")", ";", "g", "(", "`c`", ")"]);
        assert_eq!(words("x > -0.5"), ["x", ">", "-0.5"]);
    }

    #[test]
    fn a_text_that_does_not_lex_has_tokens_too() {
        for text in ["\"open", "`open ${", "a $ b", "'", "/* open", "\u{0}\u{1}", "1.2.3.4", "}}}}", "`${`${`"] {
            drop(words(text));
        }
    }

    #[test]
    fn every_position_is_found() {
        for text in ["", "a", "\n", "é\n\nüx\ny", &"aé\n".repeat(100), &"é".repeat(1000)] {
            let places = LineIndex::of(text);
            let starts: Vec<usize> = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
            for (line, start) in starts.iter().enumerate() {
                let walked = text[*start..].char_indices().map(|(at, _)| start + at).chain([text.len(), text.len()]);
                for (column, at) in walked.enumerate() {
                    assert_eq!(places.offset(text, line, column), at, "{line}:{column}");
                }
            }
            assert_eq!(places.offset(text, starts.len(), 0), text.len());
        }
    }

    #[test]
    fn positions_in_long_lines_are_near_a_mark() {
        let text = "é + ".repeat(20_000);
        let places = LineIndex::of(&text);
        assert!(places.marks.windows(2).all(|pair| text[pair[0]..pair[1]].chars().count() == STRIDE));
        assert_eq!(places.marks.len(), 80_000_usize.div_ceil(STRIDE));
        let found = words(&text);
        assert_eq!((found.len(), found[1].as_str()), (32_768, "+"), "a column is at most 65 535");
    }

    #[test]
    fn the_extent_of_an_expression_closes_its_brackets() {
        let engine = build_engine(&ScriptLimits::default(), [], |_| {});
        for (text, want) in [
            ("let a = [1, [2, 3]]; a", "[1, [2, 3]]"),
            ("let a = max(1, min(2, 3)) ; a", "max(1, min(2, 3))"),
            ("let a = (1 + 2) * 3; a", "(1 + 2) * 3"),
            ("let a = \"x\".len(); a", "\"x\".len()"),
        ] {
            let tree = tree_of(&engine.compile(text).expect("a script"));
            let Some(Stmt::Var { value, .. }) = tree.statements.first() else { panic!("a variable") };
            let span = Tokens::new(&engine, text).extent(text, value).expect("an extent");
            assert_eq!(&text[span.start..span.end], want);
        }
    }
}
