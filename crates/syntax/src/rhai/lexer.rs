//! Splits a text into tokens as Rhai's lexer does, and keeps white space and comments.

use super::{SyntaxKind, words};
use SyntaxKind::{
    AMP, AMP_EQ, AMP2, BANG, BLOCK_COMMENT, CARET, CARET_EQ, CHAR, COLON, COLON2, COMMA, DOC_COMMENT, DOT, DOT2, DOT2_EQ, EQ,
    EQ2, FAT_ARROW, FLOAT, GT, GT_EQ, INT, INTERPOLATION_END, INTERPOLATION_START, L_BRACE, L_BRACK, L_PAREN, LINE_COMMENT, LT,
    LT_EQ, MAP_START, MINUS, MINUS_EQ, NEQ, NOT_IN, PERCENT, PERCENT_EQ, PIPE, PIPE_EQ, PIPE2, PLUS, PLUS_EQ, QUESTION_BRACK,
    QUESTION_DOT, QUESTION2, R_BRACE, R_BRACK, R_PAREN, SEMICOLON, SHL, SHL_EQ, SHR, SHR_EQ, SLASH, SLASH_EQ, STAR, STAR_EQ,
    STAR2, STAR2_EQ, STRING, TEMPLATE_END, TEMPLATE_START, TEMPLATE_TEXT, UNKNOWN, WHITESPACE,
};

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RhaiToken {
    pub kind: SyntaxKind,
    /// The byte at which it starts.
    pub start: usize,
    /// The byte after it.
    pub end: usize,
    /// What Rhai's lexer refuses about it.
    pub problem: Option<&'static str>,
}

/// The tokens of a text. They cover it without gaps.
pub fn tokens(text: &str) -> Vec<RhaiToken> {
    let mut lexer = Lexer { text, at: 0, tokens: Vec::new(), modes: Vec::new(), line_bound: false, signed: true };
    lexer.run();
    lexer.tokens
}

/// What encloses the current place.
#[derive(Clone, Copy)]
enum Mode {
    /// The text of a template; the index of its first token.
    Text(usize),
    /// The code of an interpolation, with the number of open braces.
    Code(usize),
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    tokens: Vec<RhaiToken>,
    modes: Vec<Mode>,
    /// Set once a template was found to be unterminated: from there on, a template ends with its line.
    line_bound: bool,
    /// Whether a `-` and a digit are a negative number here.
    signed: bool,
}

impl Lexer<'_> {
    fn run(&mut self) {
        loop {
            if self.at == self.text.len() {
                let Some(Mode::Text(first)) = self.modes.first().copied() else { break };
                if self.line_bound {
                    self.modes.clear();
                    self.flag("unterminated template string");
                    break;
                }
                // The outermost template is unterminated: without a limit, it would swallow the rest of the file.
                self.line_bound = true;
                self.at = self.tokens[first].start;
                self.tokens.truncate(first);
                self.modes.clear();
            }
            match self.modes.last() {
                Some(Mode::Text(_)) => self.template_text(),
                _ => self.token(),
            }
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// The byte `ahead` of the current place; 0 at the end.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, kind: SyntaxKind, len: usize) {
        self.push_with(kind, len, None);
    }

    fn push_with(&mut self, kind: SyntaxKind, len: usize, problem: Option<&'static str>) {
        let start = self.at;
        self.at += len;
        self.tokens.push(RhaiToken { kind, start, end: self.at, problem });
        if !kind.is_trivia() {
            self.signed = kind.precedes_sign();
        }
    }

    /// Attaches a problem to the last token.
    fn flag(&mut self, problem: &'static str) {
        if let Some(last) = self.tokens.last_mut() {
            last.problem.get_or_insert(problem);
        }
    }

    /// Text of a template, up to its end or the next interpolation.
    fn template_text(&mut self) {
        let bytes = self.text.as_bytes();
        let mut end = self.at;
        loop {
            match bytes.get(end) {
                None => return self.template_part(end),
                Some(b'\n' | b'\r') if self.line_bound => {
                    self.template_part(end);
                    self.flag("unterminated template string");
                    self.modes.clear();
                    return;
                }
                Some(b'`') if bytes.get(end + 1) == Some(&b'`') => end += 2,
                Some(b'`') => {
                    self.template_part(end);
                    self.push(TEMPLATE_END, 1);
                    self.modes.pop();
                    return;
                }
                Some(b'\\') if bytes[end..].starts_with(b"\\${") => end += 3,
                Some(b'$') if bytes.get(end + 1) == Some(&b'{') => {
                    self.template_part(end);
                    self.push(INTERPOLATION_START, 2);
                    self.modes.push(Mode::Code(0));
                    return;
                }
                Some(_) => end += 1,
            }
        }
    }

    fn template_part(&mut self, end: usize) {
        if end > self.at {
            self.push(TEMPLATE_TEXT, end - self.at);
        }
    }

    fn token(&mut self) {
        let first = self.byte(0);
        match first {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => self.whitespace(),
            b'0'..=b'9' => self.number(0),
            b'-' if self.signed && self.byte(1).is_ascii_digit() => self.number(1),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let len = word_len(self.rest());
                let word = &self.rest()[..len];
                let problem = (word != "_" && !word.trim_start_matches('_').starts_with(|c: char| c.is_ascii_alphabetic()))
                    .then_some("a name starts with a letter, or with underscores and a letter");
                let kind = words::kind(word);
                self.push_with(kind, len, problem);
            }
            b'/' if matches!(self.byte(1), b'/' | b'*') => self.comment(),
            b'"' => self.quoted(STRING),
            b'\'' => self.quoted(CHAR),
            b'`' => {
                self.modes.push(Mode::Text(self.tokens.len()));
                self.push(TEMPLATE_START, 1);
            }
            b'#' if matches!(self.byte(1), b'"' | b'#') => self.raw_string(),
            _ => self.symbol(),
        }
    }

    fn whitespace(&mut self) {
        let is_space = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0c');
        let bytes = &self.text.as_bytes()[self.at..];
        let mut len = bytes.iter().take_while(|byte| is_space(byte)).count();
        if self.line_bound
            && !self.modes.is_empty()
            && let Some(line) = bytes[..len].iter().position(|byte| matches!(byte, b'\n' | b'\r'))
        {
            if line == 0 {
                self.flag("unterminated template string");
                self.modes.clear();
            } else {
                len = line;
            }
        }
        self.push(WHITESPACE, len);
    }

    fn comment(&mut self) {
        let rest = self.rest();
        if rest.starts_with("//") {
            let len = rest.find(['\n', '\r']).unwrap_or(rest.len());
            let doc = rest.starts_with("//!") || rest.starts_with("///") && !rest.starts_with("////");
            return self.push(if doc { DOC_COMMENT } else { LINE_COMMENT }, len);
        }
        let bytes = rest.as_bytes();
        let doc = bytes.get(2) == Some(&b'*');
        let kind = if doc && bytes.get(3) != Some(&b'*') { DOC_COMMENT } else { BLOCK_COMMENT };
        let mut end = if doc { 3 } else { 2 };
        let mut level = 1;
        while level > 0 && end < bytes.len() {
            match &bytes[end..] {
                [b'/', b'*', ..] => {
                    level += 1;
                    end += 2;
                }
                [b'*', b'/', ..] => {
                    level -= 1;
                    end += 2;
                }
                _ => end += 1,
            }
        }
        // Rhai accepts a comment without an end.
        self.push(kind, end);
    }

    /// A number that starts after `sign` bytes.
    fn number(&mut self, sign: usize) {
        let bytes = &self.text.as_bytes()[self.at..];
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        let radix = if byte(sign) == b'0' {
            match byte(sign + 1) {
                b'x' | b'X' => 16,
                b'o' | b'O' => 8,
                b'b' | b'B' => 2,
                _ => 10,
            }
        } else {
            10
        };
        if radix != 10 {
            let digits = bytes[sign + 2..].iter().take_while(|byte| **byte == b'_' || char::from(**byte).is_digit(radix)).count();
            let value: String = self.rest()[sign + 2..sign + 2 + digits].replace('_', "");
            let problem = (sign > 0 || u64::from_str_radix(&value, radix).is_err()).then_some("this is not a number");
            return self.push_with(INT, sign + 2 + digits, problem);
        }
        let (mut end, mut point, mut exponent) = (sign + 1, false, false);
        loop {
            match byte(end) {
                b'_' | b'0'..=b'9' => end += 1,
                b'.' if !point => match bytes.get(end + 1) {
                    Some(b'0'..=b'9') => {
                        point = true;
                        end += 1;
                    }
                    None | Some(b'_' | b'.') => break,
                    Some(next) if next.is_ascii_alphabetic() => break,
                    Some(_) => {
                        point = true;
                        end += 1;
                    }
                },
                b'e' | b'E' if !exponent => match byte(end + 1) {
                    b'0'..=b'9' => {
                        (point, exponent) = (true, true);
                        end += 1;
                    }
                    b'+' | b'-' => {
                        (point, exponent) = (true, true);
                        end += 2;
                    }
                    _ => break,
                },
                _ => break,
            }
        }
        let digits = self.rest()[..end].replace('_', "");
        let problem = digits.parse::<f64>().is_err().then_some("this is not a number");
        self.push_with(if point { FLOAT } else { INT }, end, problem);
    }

    /// A string or a character, up to its quote or the end of the line.
    fn quoted(&mut self, kind: SyntaxKind) {
        let rest = self.rest();
        let quote = if kind == STRING { '"' } else { '\'' };
        let open = if kind == STRING { "unterminated string" } else { "unterminated character" };
        let mut chars = rest.char_indices().skip(1).peekable();
        let (mut problem, mut count) = (None, 0);
        let end = loop {
            let Some((at, char)) = chars.next() else {
                problem = Some(open);
                break rest.len();
            };
            match char {
                _ if char == quote => {
                    if chars.next_if(|(_, next)| *next == quote).is_none() {
                        break at + 1;
                    }
                    count += 1;
                }
                '\r' if chars.peek().is_some_and(|(_, next)| *next == '\n') => {}
                '\n' => {
                    problem = Some(open);
                    break at;
                }
                '\\' => match chars.peek().copied() {
                    Some((_, 'n' | 'r' | 't' | '\\')) => {
                        chars.next();
                        count += 1;
                    }
                    Some((_, next)) if next == quote => {
                        chars.next();
                        count += 1;
                    }
                    Some((at, letter @ ('x' | 'u' | 'U'))) => {
                        chars.next();
                        let digits = match letter {
                            'x' => 2,
                            'u' => 4,
                            _ => 8,
                        };
                        let code = rest.get(at + 1..at + 1 + digits).and_then(|code| u32::from_str_radix(code, 16).ok());
                        match code.and_then(char::from_u32) {
                            Some(_) => chars.by_ref().take(digits).for_each(|_| {}),
                            None => problem = problem.or(Some("this string has an invalid escape sequence")),
                        }
                        count += 1;
                    }
                    // A string goes on after `\` at the end of its line.
                    Some((_, '\n')) if kind == STRING => {
                        chars.next();
                    }
                    Some((_, '\r')) if kind == STRING && rest[at + 1..].starts_with("\r\n") => {
                        chars.next();
                        chars.next();
                    }
                    Some((_, '\n')) | None => {}
                    Some(_) => problem = problem.or(Some("this string has an invalid escape sequence")),
                },
                _ => count += 1,
            }
        };
        if kind == CHAR && count != 1 {
            problem = problem.or(Some("a character literal has one character"));
        }
        self.push_with(kind, end, problem);
    }

    fn raw_string(&mut self) {
        let rest = self.rest();
        let hashes = rest.bytes().take_while(|byte| *byte == b'#').count();
        if rest.as_bytes().get(hashes) != Some(&b'"') {
            return self.push_with(UNKNOWN, hashes, Some("`#` starts a map, `#{`, or a raw string, `#\"`"));
        }
        let end = format!("\"{}", &rest[..hashes]);
        match rest[hashes + 1..].find(&end) {
            Some(at) => self.push(STRING, hashes + 1 + at + end.len()),
            None => {
                let line = rest.find(['\n', '\r']).unwrap_or(rest.len());
                self.push_with(STRING, line, Some("unterminated string"));
            }
        }
    }

    fn symbol(&mut self) {
        let rest = self.rest();
        if rest.starts_with("!in") && !rest[3..].starts_with(|next: char| next == '_' || next.is_ascii_alphanumeric()) {
            return self.push(NOT_IN, 3);
        }
        let first = rest.as_bytes().first();
        let matches = |symbol: &str| symbol.as_bytes().first() == first && rest.starts_with(symbol);
        let Some((symbol, kind)) = SYMBOLS.iter().find(|(symbol, _)| matches(symbol)) else {
            let len = rest.chars().next().map_or(0, char::len_utf8);
            return self.push_with(UNKNOWN, len, Some("a script cannot contain this character"));
        };
        match (kind, self.modes.last_mut()) {
            (L_BRACE | MAP_START, Some(Mode::Code(open))) => *open += 1,
            (R_BRACE, Some(Mode::Code(0))) => {
                self.modes.pop();
                return self.push(INTERPOLATION_END, 1);
            }
            (R_BRACE, Some(Mode::Code(open))) => *open -= 1,
            _ => {}
        }
        let problem = (*kind == UNKNOWN).then_some("this is not an operator of Rhai");
        self.push_with(*kind, symbol.len(), problem);
    }
}

/// The symbols, longer ones first. `UNKNOWN` ones are reserved by Rhai.
const SYMBOLS: &[(&str, SyntaxKind)] = &[
    ("**=", STAR2_EQ),
    ("<<=", SHL_EQ),
    (">>=", SHR_EQ),
    ("===", UNKNOWN),
    ("!==", UNKNOWN),
    ("...", UNKNOWN),
    ("..=", DOT2_EQ),
    ("::<", UNKNOWN),
    ("#{", MAP_START),
    ("#!", UNKNOWN),
    ("+=", PLUS_EQ),
    ("++", UNKNOWN),
    ("-=", MINUS_EQ),
    ("->", UNKNOWN),
    ("--", UNKNOWN),
    ("*)", UNKNOWN),
    ("(*", UNKNOWN),
    ("*=", STAR_EQ),
    ("**", STAR2),
    ("/=", SLASH_EQ),
    ("..", DOT2),
    ("==", EQ2),
    ("=>", FAT_ARROW),
    ("::", COLON2),
    (":=", UNKNOWN),
    (":;", UNKNOWN),
    ("<=", LT_EQ),
    ("<-", UNKNOWN),
    ("<<", SHL),
    ("<|", UNKNOWN),
    (">=", GT_EQ),
    (">>", SHR),
    ("!=", NEQ),
    ("!.", UNKNOWN),
    ("||", PIPE2),
    ("|=", PIPE_EQ),
    ("|>", UNKNOWN),
    ("&&", AMP2),
    ("&=", AMP_EQ),
    ("^=", CARET_EQ),
    ("%=", PERCENT_EQ),
    ("?.", QUESTION_DOT),
    ("??", QUESTION2),
    ("?[", QUESTION_BRACK),
    ("(", L_PAREN),
    (")", R_PAREN),
    ("[", L_BRACK),
    ("]", R_BRACK),
    ("{", L_BRACE),
    ("}", R_BRACE),
    (",", COMMA),
    (";", SEMICOLON),
    (":", COLON),
    (".", DOT),
    ("=", EQ),
    ("|", PIPE),
    ("^", CARET),
    ("&", AMP),
    ("<", LT),
    (">", GT),
    ("+", PLUS),
    ("-", MINUS),
    ("*", STAR),
    ("/", SLASH),
    ("%", PERCENT),
    ("!", BANG),
];

/// The length of the word at the start of a text.
fn word_len(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count()
}
