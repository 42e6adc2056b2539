//! `correctness/prose-condition`: conditions that are sentences.

use crate::lint::rule::{LintLevel, LintRule};

/// The rule. Linking finds that the condition cannot be parsed; [`is_prose`] tells why.
pub(super) const RULE: LintRule = LintRule {
    id: "correctness/prose-condition",
    level: LintLevel::Error,
    summary: "a condition that is a sentence, not an expression",
    manual: include_str!("../../manual/correctness/prose-condition.md"),
    options: &[],
    check: None,
};

/// Whether a text is words alone.
pub(in crate::lint) fn is_prose(text: &str) -> bool {
    let plain = text.chars().all(|c| c.is_alphanumeric() || c.is_whitespace() || matches!(c, ',' | '.' | '\'' | '-' | ';' | ':'));
    let words = text.split_whitespace().filter(|word| word.chars().next().is_some_and(char::is_alphabetic)).count();
    plain && words >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_told_from_expressions() {
        for prose in ["the repository has recent commits", "confidence is high", "it's a known one, probably."] {
            assert!(is_prose(prose), "{prose}");
        }
        for expression in ["a == b", "confidence >=", "match && x", "f(x", "confidence", "\"a b\""] {
            assert!(!is_prose(expression), "{expression}");
        }
    }
}
