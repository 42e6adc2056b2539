//! Maps diagnostics of linking to lint rules.

/// A code, or a prefix of codes (`area/*`), and the id of its rule. The first match counts.
const CODES: &[(&str, &str)] = &[
    ("rule/unknown-field", "correctness/unknown-field"),
    ("rule/unknown-var", "correctness/unknown-var"),
    ("rule/enum-value", "correctness/enum-value"),
    ("rule/compare-types", "correctness/compare-types"),
    ("rule/writes-input", "correctness/writes-input"),
    ("rule/read-only", "correctness/writes-input"),
    ("rule/return", "correctness/no-verdict"),
    ("rule/absent-field", "correctness/absent-field"),
    ("verdict/no-reason", "verdicts/no-reason"),
    ("verdict/return", "correctness/returned-map"),
    ("root/return", "correctness/returned-map"),
    ("effect/return", "correctness/returned-map"),
    ("script/returned-field", "correctness/returned-map"),
    ("rule/dropped-value", "correctness/dropped-value"),
    ("rule/plain-interpolation", "correctness/plain-interpolation"),
    ("script/arity", "correctness/wrong-signature"),
    ("script/private", "correctness/wrong-signature"),
    ("script/unknown-function", "correctness/unknown-function"),
    ("script/unknown-variable", "correctness/unknown-function"),
    ("script/unknown-module", "correctness/unknown-function"),
    ("script/unknown-constant", "correctness/unknown-function"),
    ("script/unknown-file", "correctness/unknown-reference"),
    ("script/reference", "correctness/unknown-reference"),
    ("script/import", "correctness/unknown-reference"),
    ("script/import-cycle", "correctness/unknown-reference"),
    ("script/forbidden", "purity/forbidden-call"),
    ("script/*", "correctness/syntax"),
    ("yaml/*", "correctness/syntax"),
    ("template/syntax", "correctness/syntax"),
    ("template/tag", "correctness/syntax"),
    ("template/filter", "correctness/syntax"),
    ("template/limit", "correctness/syntax"),
    ("template/include", "correctness/unknown-reference"),
    ("template/*", "templates/undeclared-parameter"),
    ("project/undeclared-need", "templates/undeclared-parameter"),
    ("project/unknown-counter", "correctness/unknown-counter"),
    ("project/unknown-var", "correctness/unknown-var"),
    ("project/*", "correctness/unknown-reference"),
    ("pipeline/unknown-target", "correctness/unknown-reference"),
    ("pipeline/unknown-edge-source", "correctness/unknown-reference"),
    ("pipeline/unknown-edge-target", "correctness/unknown-reference"),
    ("pipeline/unknown-start", "correctness/unknown-reference"),
    ("pipeline/unknown-var", "correctness/unknown-reference"),
    ("pipeline/unknown-zone-node", "correctness/unknown-reference"),
    ("pipeline/*", "correctness/pipeline-form"),
    ("data/*", "correctness/data-form"),
    ("domain/*", "correctness/data-form"),
];

/// The rule for all other codes.
const REST: &str = "correctness/syntax";

/// The id of the rule for a diagnostic code.
pub(super) fn rule_of(code: &str) -> &'static str {
    let fits = |pattern: &str| pattern.strip_suffix('*').map_or(pattern == code, |area| code.starts_with(area));
    CODES.iter().find(|(pattern, _)| fits(pattern)).map_or(REST, |(_, rule)| rule)
}

/// Whether a rule is checked by linking.
pub(super) fn is_linked(rule: &str) -> bool {
    CODES.iter().any(|(_, known)| *known == rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::find;

    #[test]
    fn every_code_maps_to_an_existing_rule() {
        for (pattern, rule) in CODES {
            assert!(find(rule).is_some(), "{pattern}: {rule}");
        }
        assert_eq!(rule_of("yaml/syntax"), "correctness/syntax");
        assert_eq!(rule_of("rule/return"), "correctness/no-verdict");
        assert_eq!(rule_of("something/else"), REST);
    }
}
