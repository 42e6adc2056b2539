//! Regular expressions for texts that are mostly ASCII.
//!
//! The tables of all the world's letters behind `\w`, `\b` or `.` make a pattern some twenty times as slow to compile, and slower to
//! search by. A text that has none of those letters gives the same matches without the tables; so a pattern is compiled without
//! them for such texts, and with them for the first text that needs it.

use regex::{Captures, Match, Regex, RegexBuilder, RegexSet, RegexSetBuilder, bytes};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;
use std::sync::OnceLock;

/// The maximum size of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 10 << 20;

/// A regular expression in the syntax of the `regex` crate. Its matches are those of [`Regex`].
#[derive(Debug)]
pub struct TextPattern {
    text: String,
    /// For texts of ASCII; `None` if the pattern needs letters beyond that.
    ascii: OnceLock<Option<bytes::Regex>>,
    unicode: OnceLock<Option<Regex>>,
}

impl TextPattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern is not a regular expression, or too large. That it is too large for texts beyond ASCII alone is found when it
    /// is searched for in one, and then it does not match.
    pub fn new(pattern: &str) -> Result<Self, regex::Error> {
        let compiled = Self::lazy(pattern);
        if compiled.ascii().is_some() {
            return Ok(compiled);
        }
        Ok(Self { unicode: OnceLock::from(Some(with_tables(pattern)?)), ..compiled })
    }

    /// A pattern that is compiled when it is first searched for. One that is not a regular expression never matches.
    pub fn lazy(pattern: impl Into<String>) -> Self {
        Self { text: pattern.into(), ascii: OnceLock::new(), unicode: OnceLock::new() }
    }

    fn ascii(&self) -> Option<&bytes::Regex> {
        let compile = || {
            let mut builder = bytes::RegexBuilder::new(&self.text);
            builder.unicode(false).size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED).build().ok()
        };
        self.ascii.get_or_init(compile).as_ref()
    }

    /// Whether it is a regular expression, and not too large.
    pub fn compiles(&self) -> bool {
        Self::new(&self.text).is_ok()
    }

    /// The compiled pattern for a text. `None` if it is too large for that text.
    fn form(&self, text: &str) -> Option<PatternForm<'_>> {
        match text.is_ascii().then(|| self.ascii()).flatten() {
            Some(ascii) => Some(PatternForm::Ascii(ascii)),
            None => self.unicode.get_or_init(|| with_tables(&self.text).ok()).as_ref().map(PatternForm::Unicode),
        }
    }

    /// Whether it matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        match self.form(text) {
            Some(PatternForm::Ascii(regex)) => regex.is_match(text.as_bytes()),
            Some(PatternForm::Unicode(regex)) => regex.is_match(text),
            None => false,
        }
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t str) -> Option<TextMatch<'t>> {
        match self.form(text)? {
            PatternForm::Ascii(regex) => regex.find(text.as_bytes()).map(|found| of_bytes(text, found)),
            PatternForm::Unicode(regex) => regex.find(text).map(of_text),
        }
    }

    /// All matches that do not overlap.
    pub fn find_iter<'r, 't: 'r>(&'r self, text: &'t str) -> Box<dyn Iterator<Item = TextMatch<'t>> + 'r> {
        match self.form(text) {
            Some(PatternForm::Ascii(regex)) => Box::new(regex.find_iter(text.as_bytes()).map(move |found| of_bytes(text, found))),
            Some(PatternForm::Unicode(regex)) => Box::new(regex.find_iter(text).map(of_text)),
            None => Box::new(std::iter::empty()),
        }
    }

    /// The first match with its groups.
    pub fn captures<'t>(&self, text: &'t str) -> Option<TextCaptures<'t>> {
        match self.form(text)? {
            PatternForm::Ascii(regex) => regex.captures(text.as_bytes()).map(|groups| TextCaptures::Ascii(text, groups)),
            PatternForm::Unicode(regex) => regex.captures(text).map(TextCaptures::Unicode),
        }
    }

    /// All matches that do not overlap, with their groups.
    pub fn captures_iter<'r, 't: 'r>(&'r self, text: &'t str) -> Box<dyn Iterator<Item = TextCaptures<'t>> + 'r> {
        match self.form(text) {
            Some(PatternForm::Ascii(regex)) => {
                Box::new(regex.captures_iter(text.as_bytes()).map(move |groups| TextCaptures::Ascii(text, groups)))
            }
            Some(PatternForm::Unicode(regex)) => Box::new(regex.captures_iter(text).map(TextCaptures::Unicode)),
            None => Box::new(std::iter::empty()),
        }
    }
}

enum PatternForm<'r> {
    Ascii(&'r bytes::Regex),
    Unicode(&'r Regex),
}

/// The syntax of a pattern for texts of ASCII, else for any. What its matches begin with, have and measure at least is the same in
/// both.
///
/// # Errors
/// The pattern is not a regular expression.
pub fn pattern_syntax(pattern: &str, multi_line: bool) -> Result<Hir, Box<regex_syntax::Error>> {
    let parser = |unicode| ParserBuilder::new().multi_line(multi_line).unicode(unicode).utf8(unicode).build();
    match parser(false).parse(pattern) {
        Ok(syntax) => Ok(syntax),
        Err(_) => parser(true).parse(pattern).map_err(Box::new),
    }
}

fn with_tables(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(MAX_COMPILED).dfa_size_limit(MAX_COMPILED).build()
}

/// A match in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextMatch<'t> {
    text: &'t str,
    start: usize,
}

impl<'t> TextMatch<'t> {
    /// What matched.
    pub const fn as_str(&self) -> &'t str {
        self.text
    }

    /// The offset of its first byte.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// The offset behind its last byte.
    pub const fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

fn of_bytes<'t>(text: &'t str, found: bytes::Match<'t>) -> TextMatch<'t> {
    // A text of ASCII has a character at each byte.
    TextMatch { text: text.get(found.range()).unwrap_or_default(), start: found.start() }
}

fn of_text(found: Match<'_>) -> TextMatch<'_> {
    TextMatch { text: found.as_str(), start: found.start() }
}

/// The groups of a match; the first is the whole.
#[derive(Debug)]
pub enum TextCaptures<'t> {
    /// In a text of ASCII.
    Ascii(&'t str, bytes::Captures<'t>),
    /// In any other.
    Unicode(Captures<'t>),
}

impl<'t> TextCaptures<'t> {
    /// The group with that number, if it took part in the match.
    pub fn get(&self, group: usize) -> Option<TextMatch<'t>> {
        match self {
            Self::Ascii(text, groups) => groups.get(group).map(|found| of_bytes(text, found)),
            Self::Unicode(groups) => groups.get(group).map(of_text),
        }
    }

    /// The group with that name, if it took part in the match.
    pub fn name(&self, name: &str) -> Option<TextMatch<'t>> {
        match self {
            Self::Ascii(text, groups) => groups.name(name).map(|found| of_bytes(text, found)),
            Self::Unicode(groups) => groups.name(name).map(of_text),
        }
    }

    /// All groups, the whole first.
    pub fn iter(&self) -> impl Iterator<Item = Option<TextMatch<'t>>> + '_ {
        let groups = match self {
            Self::Ascii(_, groups) => groups.len(),
            Self::Unicode(groups) => groups.len(),
        };
        (0..groups).map(|group| self.get(group))
    }

    /// Appends a replacement, in which `$1` or `${name}` stands for a group and `$$` for a dollar.
    pub fn expand(&self, replacement: &str, out: &mut String) {
        match self {
            Self::Ascii(_, groups) => {
                let mut bytes = Vec::new();
                groups.expand(replacement.as_bytes(), &mut bytes);
                out.push_str(&String::from_utf8_lossy(&bytes));
            }
            Self::Unicode(groups) => groups.expand(replacement, out),
        }
    }
}

/// What the group matched. Panics if the group took no part in the match.
impl std::ops::Index<usize> for TextCaptures<'_> {
    type Output = str;

    fn index(&self, group: usize) -> &str {
        self.get(group).map_or_else(|| panic!("no group {group}"), |found| found.as_str())
    }
}

/// Regular expressions that are searched for together.
#[derive(Debug, Default)]
pub struct TextPatternSet {
    patterns: Vec<String>,
    ignore_case: bool,
    ascii: Option<bytes::RegexSet>,
    unicode: OnceLock<RegexSet>,
}

impl TextPatternSet {
    /// Compiles patterns.
    ///
    /// # Errors
    /// One of the patterns is not a regular expression, or they are too large together.
    pub fn new(patterns: &[String], ignore_case: bool) -> Result<Self, regex::Error> {
        let ascii = bytes::RegexSetBuilder::new(patterns).unicode(false).case_insensitive(ignore_case).build().ok();
        let unicode = match &ascii {
            Some(_) => OnceLock::new(),
            None => OnceLock::from(RegexSetBuilder::new(patterns).case_insensitive(ignore_case).build()?),
        };
        Ok(Self { patterns: patterns.to_vec(), ignore_case, ascii, unicode })
    }

    fn unicode(&self) -> &RegexSet {
        let build = || RegexSetBuilder::new(&self.patterns).case_insensitive(self.ignore_case).build().unwrap_or_default();
        self.unicode.get_or_init(build)
    }

    /// Whether one of them matches anywhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        match &self.ascii {
            Some(ascii) if text.is_ascii() => ascii.is_match(text.as_bytes()),
            _ => self.unicode().is_match(text),
        }
    }

    /// The first of the patterns that matches anywhere in the text.
    pub fn first(&self, text: &str) -> Option<&str> {
        let first = match &self.ascii {
            Some(ascii) if text.is_ascii() => ascii.matches(text.as_bytes()).iter().next(),
            _ => self.unicode().matches(text).iter().next(),
        };
        self.patterns.get(first?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use proptest::prelude::*;

    /// Patterns as scripts, data and readers have them.
    const PATTERNS: &[&str] = &[
        r"\b(\w+)\b",
        r"(?i)k+|straße|(?P<name>s)s",
        r"^\s*[^\d:]+:?.*$",
        r"(?m)^(\S+)\s(?:\W|$)",
        r"",
        r"[a-zé]+|\u{2502}",
        r"(a|b)?(\D)",
        r"\p{Lu}\p{Ll}*",
        r"(?s-u:[^a])|(?-u:\w)+",
    ];

    proptest! {
        #[test]
        fn matches_are_those_of_a_plain_pattern(text in r"([ -~\n\t]|[aksSK:é│\u{212a}ſβ\u{a0}²ǅ\x0b]){0,24}", at in 0..PATTERNS.len()) {
            let pattern = PATTERNS[at];
            // Outside of UTF-8 a plain pattern is refused.
            let Ok(plain) = Regex::new(pattern) else { return Ok(()) };
            let own = TextPattern::new(pattern).unwrap();
            prop_assert_eq!(own.is_match(&text), plain.is_match(&text));
            let found = own.find(&text).map(|found| (found.start(), found.end(), found.as_str()));
            prop_assert_eq!(found, plain.find(&text).map(|found| (found.start(), found.end(), found.as_str())));
            let all: Vec<_> = own.find_iter(&text).map(|found| found.as_str()).collect();
            prop_assert_eq!(all, plain.find_iter(&text).map(|found| found.as_str()).collect::<Vec<_>>());
            let of_own: Vec<Vec<_>> = own.captures_iter(&text).map(|groups| groups.iter().map(|group| group.map(|found| (found.start(), found.as_str()))).collect()).collect();
            let of_plain: Vec<Vec<_>> = plain.captures_iter(&text).map(|groups| groups.iter().map(|group| group.map(|found| (found.start(), found.as_str()))).collect()).collect();
            prop_assert_eq!(of_own, of_plain);
            if let (Some(own), Some(plain)) = (own.captures(&text), plain.captures(&text)) {
                let (mut one, mut other) = (String::new(), String::new());
                own.expand("<$0 $1 ${name} $$ é>", &mut one);
                plain.expand("<$0 $1 ${name} $$ é>", &mut other);
                prop_assert_eq!(one, other);
                prop_assert_eq!(own.name("name").map(|found| found.as_str()), plain.name("name").map(|found| found.as_str()));
            }
        }

        #[test]
        fn sets_match_as_plain_sets(text in r"([ -~]|[aksSé\u{212a}ſ]){0,12}", ignore_case: bool) {
            for patterns in [&["k", r"\bs\w", "é|a"][..], &[r"^\W", "[é-ö]"], &[]] {
                let patterns: Vec<String> = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
                let own = TextPatternSet::new(&patterns, ignore_case).unwrap();
                let plain = RegexSetBuilder::new(&patterns).case_insensitive(ignore_case).build().unwrap();
                prop_assert_eq!(own.is_match(&text), plain.is_match(&text));
                let first = plain.matches(&text).iter().next().map(|at| patterns[at].as_str());
                prop_assert_eq!(own.first(&text), first);
            }
        }
    }

    #[test]
    fn what_is_not_a_pattern_is_refused() {
        assert!(!TextPattern::lazy("a(b").is_match("a(b") && TextPattern::lazy("é").is_match("é"));
        assert!(TextPattern::new("a(b").is_err() && TextPattern::new(r"\w{1000}{1000}").is_err());
        assert!(TextPatternSet::new(&["a".to_owned(), "(".to_owned()], false).is_err());
        // Too large with the tables alone.
        let large = TextPattern::new(r"\w{5000}").unwrap();
        assert!(large.is_match(&"a".repeat(5000)) && !large.is_match(&"é".repeat(5000)));
    }
}
