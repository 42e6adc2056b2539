//! The tokens of a script as mutators read them, and the function each is in.

use asterisk_diag::Span;
use asterisk_script::Unit;

/// Other text for a span of a script.
pub(super) type MutantEdit = (Span, String);

/// The tokens of a script without its comments.
pub(super) struct ScriptWords<'u> {
    text: &'u str,
    words: Vec<(Span, bool)>,
}

/// A function of a script, or a constant of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FunctionBody {
    /// Its name.
    pub(super) name: String,
    /// Its name where it is defined.
    pub(super) at: Span,
    /// Whether it is a constant.
    pub(super) constant: bool,
    /// The tokens inside its braces; of a constant, those of its value.
    pub(super) words: std::ops::Range<usize>,
}

impl<'u> ScriptWords<'u> {
    /// The words of a script.
    pub(super) fn of(unit: &'u Unit) -> Self {
        let text = unit.script();
        let comment = |span: Span| text[span.start..span.end].starts_with("//") || text[span.start..span.end].starts_with("/*");
        let lexemes = unit.tokens().lexemes().iter();
        let words = lexemes.filter(|lexeme| lexeme.quoted || !comment(lexeme.span)).map(|lexeme| (lexeme.span, lexeme.quoted));
        Self { text, words: words.collect() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// The token there; of a text literal, and outside of the script, the empty text.
    pub(super) fn word(&self, at: usize) -> &'u str {
        self.words.get(at).map_or("", |(span, quoted)| if *quoted { "" } else { &self.text[span.start..span.end] })
    }

    /// The token before one.
    pub(super) fn before(&self, at: usize) -> &'u str {
        at.checked_sub(1).map_or("", |at| self.word(at))
    }

    /// The text literal there, quotes and all.
    pub(super) fn literal(&self, at: usize) -> Option<&'u str> {
        self.words.get(at).filter(|(_, quoted)| *quoted).map(|(span, _)| &self.text[span.start..span.end])
    }

    /// From one token to another, both included.
    pub(super) fn span(&self, from: usize, to: usize) -> Span {
        let of = |at: usize| self.words.get(at).map_or(Span::new(self.text.len(), self.text.len()), |(span, _)| *span);
        Span::new(of(from).start, of(to).end)
    }

    /// What is written there.
    pub(super) fn written(&self, span: Span) -> &'u str {
        &self.text[span.start..span.end]
    }

    /// Whether a value ends with the token there: what follows it is between two values.
    pub(super) fn ends_value(&self, at: Option<usize>) -> bool {
        let Some(at) = at else { return false };
        let word = self.word(at);
        let named = word.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        self.literal(at).is_some() || matches!(word, ")" | "()" | "]" | "}") || (named && !KEYWORDS.contains(&word))
    }

    /// The first of some tokens at the level of the one there, from that on; nothing if the level ends before.
    pub(super) fn find(&self, from: usize, wanted: &[&str]) -> Option<usize> {
        let mut depth = 0_i32;
        for at in from..self.words.len() {
            let word = self.word(at);
            if depth == 0 && wanted.contains(&word) {
                return Some(at);
            }
            match word {
                "(" | "[" | "{" | "#{" | "?[" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth < 0 {
                return None;
            }
        }
        None
    }

    /// The functions and the constants of the script, in the order of the text.
    pub(super) fn bodies(&self) -> Vec<FunctionBody> {
        let mut bodies = Vec::new();
        let mut at = 0;
        while at < self.words.len() {
            let constant = self.word(at) == "const";
            let opens = match self.word(at) {
                "fn" => self.find(at, &["{"]),
                "const" => self.find(at, &["="]),
                _ => None,
            };
            let close = opens.and_then(|open| Some((open, self.find(open + 1, &[if constant { ";" } else { "}" }])?)));
            let Some((open, close)) = close else {
                at += 1;
                continue;
            };
            let name = self.word(at + 1).to_owned();
            bodies.push(FunctionBody { name, at: self.span(at + 1, at + 1), constant, words: open + 1..close });
            at = close;
        }
        bodies
    }
}

/// Words that a value may follow.
const KEYWORDS: &[&str] =
    &["return", "if", "else", "while", "until", "in", "let", "const", "switch", "throw", "loop", "do", "for"];
