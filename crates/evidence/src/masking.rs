//! Secrets and personal data in foreign texts: what [`mask_secrets`] knows, and what a project's own patterns find. They are replaced by
//! stars before anything is kept, shown or sent.

use super::signatures::required_literals;
use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use asterisk_base::model::TextPattern;
use asterisk_diag::mask_secrets;
use std::borrow::Cow;

/// The replacement of masked text.
pub(super) const STARS: &str = "***";

/// A pattern of what is not to be kept.
#[derive(Clone, Debug, Default)]
pub struct MaskRule {
    /// Its id.
    pub id: String,
    /// Matches a line. Its first group is replaced, or all of it if it has none.
    pub pattern: String,
}

#[derive(Debug)]
struct Rule {
    pattern: TextPattern,
    /// Without a literal to look for.
    always: bool,
}

/// The known secrets, and a project's own rules of masking, compiled.
#[derive(Debug, Default)]
pub struct Masker {
    rules: Vec<Rule>,
    literals: Option<AhoCorasick>,
    by_literal: Vec<usize>,
}

impl Masker {
    /// Compiles rules.
    ///
    /// # Errors
    /// The pattern that is not a regular expression.
    pub fn new(rules: &[MaskRule]) -> Result<Self, regex::Error> {
        let (mut compiled, mut literals, mut by_literal) = (Vec::new(), Vec::new(), Vec::new());
        for (index, MaskRule { pattern, .. }) in rules.iter().enumerate() {
            let needed = required_literals(pattern);
            compiled.push(Rule { pattern: TextPattern::new(&format!("(?m){pattern}"))?, always: needed.is_none() });
            for literal in needed.unwrap_or_default() {
                literals.push(literal);
                by_literal.push(index);
            }
        }
        let literals = AhoCorasickBuilder::new().ascii_case_insensitive(true).build(&literals).ok();
        Ok(Self { rules: compiled, literals, by_literal })
    }

    /// The text with stars for what must not be kept; unchanged if there is nothing.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut wanted: Vec<bool> = self.rules.iter().map(|rule| rule.always).collect();
        if let Some(literals) = &self.literals {
            for found in literals.find_overlapping_iter(text) {
                wanted[self.by_literal[found.pattern().as_usize()]] = true;
            }
        }
        let mut masked = mask_secrets(text).map_or(Cow::Borrowed(text), Cow::Owned);
        for (rule, _) in self.rules.iter().zip(&wanted).filter(|(_, wanted)| **wanted) {
            if !rule.pattern.is_match(&masked) {
                continue;
            }
            let (mut out, mut done) = (String::new(), 0);
            for part in rule.pattern.captures_iter(&masked).filter_map(|groups| groups.get(1).or_else(|| groups.get(0))) {
                out.push_str(&masked[done..part.start()]);
                out.push_str(STARS);
                done = part.end();
            }
            out.push_str(&masked[done..]);
            masked = Cow::Owned(out);
        }
        masked
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_must_not_be_kept_is_starred() {
        let rule = |id: &str, pattern: &str| MaskRule { id: id.to_owned(), pattern: pattern.to_owned() };
        let rules = [rule("url", "://[^:@/ ]*:([^@/ ]+)@"), rule("key", r"\bAKIA[A-Z0-9]{4}\b"), rule("digits", r"\b\d{8}\b")];
        let masker = Masker::new(&rules).unwrap();
        assert_eq!(masker.mask("postgres://u:pw@db/x and AKIA1234"), "postgres://u:***@db/x and ***");
        assert_eq!(masker.mask("no literal: 12345678"), "no literal: ***");
        assert!(matches!(masker.mask("nothing here"), Cow::Borrowed(_)));
        let masked = masker.mask("a://b:c@d a://b:e@f").into_owned();
        assert_eq!(masker.mask(&masked), masked, "masking again changes nothing");
    }
}
