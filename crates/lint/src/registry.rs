//! The registry of all rules.

use super::rule::LintRule;
use super::rules::RULES;

/// All rules, by category.
pub fn rules() -> impl Iterator<Item = &'static LintRule> {
    RULES.iter().copied()
}

/// The rule with this id.
pub fn find(id: &str) -> Option<&'static LintRule> {
    rules().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::is_linked;
    use crate::manual::example;
    use crate::testing::{Example, all};
    use std::collections::BTreeSet;

    #[test]
    fn every_rule_follows_the_naming_convention() {
        let ids: Vec<&str> = rules().map(|rule| rule.id).collect();
        let unique: BTreeSet<&&str> = ids.iter().collect();
        assert!(ids.len() == unique.len() && ids.len() >= 40, "{} rules", ids.len());
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        for rule in rules() {
            let (category, name) = rule.id.split_once('/').expect("category/name");
            let plain = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(plain(category) && plain(name), "{}", rule.id);
            if rule.check.is_some() {
                let file = root.join(category).join(name.replace('-', "_") + ".rs");
                let text = std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("{}: no file of its own", rule.id));
                assert!(text.starts_with(&format!("//! `{}`: ", rule.id)), "{}: the head of its file", rule.id);
                assert!(text.contains(&format!("manual/{}.md\")", rule.id)), "{}: its page", rule.id);
            }
            assert!(!rule.manual().contains("# ..."), "{}: an unknown part", rule.id);
            assert!(!rule.summary.ends_with('.') && rule.summary.len() <= 100, "{}: {}", rule.id, rule.summary);
            assert!(rule.options.iter().all(|option| !option.doc.is_empty()), "{}", rule.id);
            let special = rule.id == "correctness/prose-condition" || rule.category() == "allows";
            assert!(special || rule.check.is_some() || is_linked(rule.id), "{}: nothing checks it", rule.id);
        }
    }

    /// The bad example of a page is reported by its rule and no other, the good one by none.
    #[test]
    fn every_manual_example_is_correct() {
        let mut wrong = Vec::new();
        for rule in rules() {
            let page = rule.manual();
            let (bad, good) = (example(&page, "Bad"), example(&page, "Good"));
            assert!(!bad.is_empty() && !good.is_empty(), "{}: no examples", rule.id);
            let shown = |found: &[crate::LintFinding]| {
                let line = |one: &crate::LintFinding| format!("\n    {} {}", one.rule, one.diagnostic);
                found.iter().map(line).collect::<String>()
            };
            let found = all(&Example::of(&bad));
            let ids: BTreeSet<&str> = found.iter().map(|finding| finding.rule).collect();
            if ids != BTreeSet::from([rule.id]) {
                wrong.push(format!("{}, bad: {}", rule.id, shown(&found)));
            }
            if !found.iter().all(|finding| finding.diagnostic.help.is_some()) {
                wrong.push(format!("{}: no help", rule.id));
            }
            let found = all(&Example::of(&good));
            if !found.is_empty() {
                wrong.push(format!("{}, good: {}", rule.id, shown(&found)));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
