//! Analyses regular expressions before use: whether they compile, and whether they are specific enough to be useful.

use super::api;
use asterisk_base::model::pattern_syntax;
use asterisk_diag::Span;
use regex_syntax::hir::literal::{Extractor, Literal};
use regex_syntax::hir::{Hir, HirKind};

/// The number of states ([`size`]) from which a pattern may be too large for the engine.
const LARGE: usize = 20_000;

/// A pattern that compiles with the engine used by scripts.
#[derive(Clone, Debug)]
pub struct Pattern {
    hir: Hir,
}

/// The reason why a pattern does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternFault {
    /// The error message.
    pub message: String,
    /// The span within the pattern.
    pub span: Span,
}

/// What the matches of a pattern begin with, ignoring case.
#[derive(Clone, Debug)]
pub struct MatchPrefixes {
    /// In lower case; `None` if a match can begin with anything.
    literals: Option<Vec<String>>,
    /// The minimum length of a match in bytes.
    shortest: usize,
}

impl MatchPrefixes {
    /// Whether a text in lower case may contain a match: fast, and without false negatives.
    pub fn may_match_in(&self, lowercase: &str) -> bool {
        // A letter may be three times as long as its other case: the Kelvin sign and `k`.
        let fits = self.shortest <= lowercase.len() * 3;
        fits && self.literals.as_ref().is_none_or(|literals| literals.iter().any(|literal| contains(lowercase, literal)))
    }
}

/// As `str::contains`, by a function that is fast in a build without optimisation too.
fn contains(text: &str, literal: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), literal.as_bytes()).is_some()
}

impl Pattern {
    /// Parses a pattern.
    pub fn read(text: &str) -> Result<Self, PatternFault> {
        let hir = pattern_syntax(text, false).map_err(|error| fault(text, &error))?;
        // Compiling is slow compared to parsing, and only a large pattern can fail.
        if size(&hir) > LARGE {
            let whole = Span::new(0, text.len());
            api::compile(text).map_err(|message| PatternFault { message, span: whole })?;
        }
        Ok(Self { hir })
    }

    /// Whether it matches the empty string, and thus anywhere in any text.
    pub fn matches_nothing(&self) -> bool {
        self.hir.properties().minimum_len() == Some(0)
    }

    /// The indices of the samples that a pattern matches anywhere, ignoring case.
    pub fn matched<'t>(text: &str, samples: impl Iterator<Item = &'t str>) -> Vec<usize> {
        let Ok(regex) = api::compile(&format!("(?im){text}")) else { return Vec::new() };
        samples.enumerate().filter(|(_, sample)| regex.is_match(sample)).map(|(index, _)| index).collect()
    }

    /// What each match begins with.
    pub fn prefixes(&self) -> MatchPrefixes {
        // A long prefix is truncated, possibly within a character.
        let lower = |prefix: &Literal| String::from_utf8_lossy(prefix.as_bytes()).trim_end_matches('\u{fffd}').to_lowercase();
        let extracted = Extractor::new().extract(&self.hir);
        let literals = extracted.literals().map(|literals| {
            let mut literals: Vec<String> = literals.iter().map(lower).collect();
            literals.sort_unstable();
            literals.dedup();
            literals
        });
        MatchPrefixes { literals, shortest: self.shortest() }
    }

    /// The only string that it matches, if it is a literal.
    pub fn literal(&self) -> Option<String> {
        match self.hir.kind() {
            HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec()).ok(),
            _ => None,
        }
    }

    /// The minimum length of a match in bytes; 0 if it can match the empty string.
    pub fn shortest(&self) -> usize {
        self.hir.properties().minimum_len().unwrap_or(0)
    }

    /// Whether it matches only at the start of a text or line.
    pub fn is_anchored(&self) -> bool {
        self.hir.properties().look_set_prefix().contains_anchor()
    }

    /// The number of capture groups.
    pub fn groups(&self) -> usize {
        self.hir.properties().explicit_captures_len()
    }
}

/// A pattern that matches exactly this text.
pub fn escape(text: &str) -> String {
    regex_syntax::escape(text)
}

/// The approximate number of states of a pattern.
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
    fn errors_have_a_span() {
        let fault = Pattern::read("clock (state").unwrap_err();
        assert_eq!((fault.message.as_str(), fault.span), ("unclosed group", Span::new(6, 7)));
        assert!(Pattern::read(r"x(?=y)").unwrap_err().message.contains("look-around"));
        assert!(Pattern::read(r"\w{1000}{1000}").unwrap_err().message.contains("size limit"));
    }

    #[test]
    fn unspecific_patterns_are_recognised() {
        let pattern = |text: &str| Pattern::read(text).unwrap();
        assert!(pattern("x*").matches_nothing() && pattern("a|").matches_nothing() && !pattern("ab?").matches_nothing());
        let matched = |text: &str| Pattern::matched(text, ["a", "0"].into_iter());
        assert_eq!((matched("."), matched("0"), matched("(")), (vec![0, 1], vec![1], vec![]));
        assert_eq!((pattern(r"a\.b").literal(), pattern("a.b").literal()), (Some("a.b".into()), None));
        let may = |pattern: Pattern, text: &str| pattern.prefixes().may_match_in(text);
        assert!(may(pattern(r"\bAb+"), "x abb") && !may(pattern("ab+c?"), "b a") && may(pattern(".*b"), "b"));
        let long = format!("a{}", "é".repeat(200));
        assert!(may(pattern("\u{212a}"), "k") && may(pattern(&long), &long));
        assert_eq!((pattern("(a)(?:b)(c)").groups(), pattern("ab+").shortest()), (2, 2));
    }
}
