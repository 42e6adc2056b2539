//! Looking at a regular expression before anything is searched with it: whether it can be compiled, and whether it says too
//! little to be of use.

use super::api;
use crate::diag::Span;
use regex_syntax::Parser;
use regex_syntax::hir::literal::{Extractor, Literal};
use regex_syntax::hir::{Hir, HirKind};

/// From this many states on ([`size`]) a pattern may be too large for the engine.
const LARGE: usize = 20_000;

/// A pattern that compiles, by the engine that scripts use.
#[derive(Clone, Debug)]
pub struct Pattern {
    hir: Hir,
}

/// Why a pattern does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternFault {
    /// What is wrong.
    pub message: String,
    /// Where in the pattern.
    pub span: Span,
}

impl Pattern {
    /// Reads a pattern, or says where it is wrong.
    pub fn read(text: &str) -> Result<Self, PatternFault> {
        let hir = Parser::new().parse(text).map_err(|error| fault(text, &error))?;
        // Compiling takes long beside reading, and only what is large can fail.
        if size(&hir) > LARGE {
            let whole = Span::new(0, text.len());
            api::compile(text).map_err(|message| PatternFault { message, span: whole })?;
        }
        Ok(Self { hir })
    }

    /// Whether it matches the empty text, and so anywhere in any text.
    pub fn matches_nothing(&self) -> bool {
        self.hir.properties().minimum_len() == Some(0)
    }

    /// How many of these it matches, looking for it anywhere in them, in any letter case.
    pub fn matches<'t>(text: &str, samples: impl Iterator<Item = &'t str>) -> usize {
        api::compile(&format!("(?im){text}")).map_or(0, |regex| samples.filter(|sample| regex.is_match(sample)).count())
    }

    /// Whether a text could hold a match, by what a match has to begin with: cheap, and never wrong when it says no.
    pub fn may_be_in(&self, text: &str) -> bool {
        let prefixes = Extractor::new().extract(&self.hir);
        let text = text.to_lowercase();
        // A long prefix is cut, maybe within a character.
        let shown = |prefix: &Literal| String::from_utf8_lossy(prefix.as_bytes()).trim_end_matches('\u{fffd}').to_lowercase();
        let begins = |prefix: &Literal| text.contains(&shown(prefix));
        // A letter may be three times as long as its other case: the Kelvin sign and `k`.
        self.shortest() <= text.len() * 3 && prefixes.literals().is_none_or(|prefixes| prefixes.iter().any(begins))
    }

    /// The one text that it matches, if it is a plain text.
    pub fn literal(&self) -> Option<String> {
        match self.hir.kind() {
            HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
            _ => None,
        }
    }

    /// The least number of bytes that it matches; 0 if it can match nothing at all.
    pub fn shortest(&self) -> usize {
        self.hir.properties().minimum_len().unwrap_or(0)
    }

    /// Whether it matches only where a text or line begins.
    pub fn is_anchored(&self) -> bool {
        self.hir.properties().look_set_prefix().contains_anchor()
    }

    /// The groups that catch something.
    pub fn groups(&self) -> usize {
        self.hir.properties().explicit_captures_len()
    }
}

/// A pattern that matches just this text.
pub fn escape(text: &str) -> String {
    regex_syntax::escape(text)
}

/// About how many states a pattern has.
fn size(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            size(&repetition.sub).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(capture) => size(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().map(size).fold(0, usize::saturating_add),
        HirKind::Class(_) => 10,
        HirKind::Empty | HirKind::Look(_) => 1,
    }
}

fn fault(text: &str, error: &regex_syntax::Error) -> PatternFault {
    let (message, start, end) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), error.span().start.offset, error.span().end.offset),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), error.span().start.offset, error.span().end.offset),
        other => (other.to_string(), 0, text.len()),
    };
    PatternFault { message, span: Span::new(start, end) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_fault_stands_at_its_place() {
        let fault = Pattern::read("clock (state").unwrap_err();
        assert_eq!((fault.message.as_str(), fault.span), ("unclosed group", Span::new(6, 7)));
        assert!(Pattern::read(r"x(?=y)").unwrap_err().message.contains("look-around"));
        assert!(Pattern::read(r"\w{1000}{1000}").unwrap_err().message.contains("size limit"));
    }

    #[test]
    fn what_says_little_is_seen() {
        let pattern = |text: &str| Pattern::read(text).unwrap();
        assert!(pattern("x*").matches_nothing() && pattern("a|").matches_nothing() && !pattern("ab?").matches_nothing());
        assert!(Pattern::matches(".", ["a", "0"].into_iter()) == 2 && Pattern::matches("a", ["a", "0"].into_iter()) == 1);
        assert_eq!((pattern(r"a\.b").literal(), pattern("a.b").literal()), (Some("a.b".into()), None));
        assert!(pattern(r"\bab+").may_be_in("x ABB") && !pattern("ab+c?").may_be_in("b a") && pattern(".*b").may_be_in("b"));
        let long = format!("a{}", "é".repeat(200));
        assert!(pattern("\u{212a}").may_be_in("k") && pattern(&long).may_be_in(&long));
        assert_eq!((pattern("(a)(?:b)(c)").groups(), pattern("ab+").shortest()), (2, 2));
    }
}
