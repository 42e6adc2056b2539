//! `correctness/prose-condition`: conditions written as prose.

use crate::rule::{LintLevel, LintRule};

/// Reported by linking when the condition does not parse; [`is_prose`] distinguishes it from a syntax error.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/prose-condition",
    level: LintLevel::Error,
    summary: "a condition that is a sentence, not an expression",
    manual: include_str!("../../manual/correctness/prose-condition.md"),
    options: &[],
    check: None,
};

/// Whether a text consists of words only.
pub(crate) fn is_prose(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || matches!(c, ',' | '.' | '\'' | '-' | ';' | ':'));
    let words = text.split_whitespace().filter(|word| word.chars().next().is_some_and(char::is_alphabetic)).count();
    plain && words >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_distinguished_from_expressions() {
        for prose in ["the repository has recent commits", "confidence is high", "it's a known one, probably."] {
            assert!(is_prose(prose), "{prose}");
        }
        for expression in ["a == b", "confidence >=", "match && x", "f(x", "confidence", "\"a b\""] {
            assert!(!is_prose(expression), "{expression}");
        }
    }
}
