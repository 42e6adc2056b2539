//! `verdicts/lone-group`: groups of one member, named almost like another group.

use crate::context::LintContext;
use crate::finding::FindingCollector;
use crate::rule::{LintLevel, LintRule};
use asterisk_diag::{Diagnostic, Source, misspelt};
use asterisk_form::Spanned;
use asterisk_form::yaml::Yaml;
use std::collections::BTreeMap;

pub(super) const RULE: LintRule = LintRule {
    id: "verdicts/lone-group",
    level: LintLevel::Warning,
    summary: "a group of one rule or signature, named almost like another group",
    manual: include_str!("../../manual/verdicts/lone-group.md"),
    options: &[],
    check: Some(check),
};

fn check(cx: &LintContext<'_>, report: &mut FindingCollector) {
    let mut named: Vec<(Spanned<String>, &Source)> = Vec::new();
    for pipe in &cx.pipelines {
        let rules = pipe.pipeline.verdict.iter().flat_map(|verdict| &verdict.rules);
        named.extend(rules.filter_map(|rule| Some((rule.group.clone()?, &pipe.pipeline.source))));
    }
    for (source, yaml) in cx.data {
        let signatures = yaml.get("signatures").and_then(Yaml::as_list).unwrap_or_default();
        named.extend(signatures.iter().filter_map(|signature| Some((signature.get("group")?.text()?, source))));
    }
    let mut members: BTreeMap<&str, usize> = BTreeMap::new();
    for (group, _) in &named {
        *members.entry(group).or_default() += 1;
    }
    // A signature without a group belongs to the group of its category.
    let categories = cx.domains.iter().filter_map(|domain| domain.value["categories"].as_object()).flat_map(|all| all.keys());
    for category in categories {
        *members.entry(category).or_default() += 2;
    }
    for (group, source) in named.iter().filter(|(group, _)| members.get(group.as_str()) == Some(&1)) {
        let others = members.iter().filter(|(_, count)| **count > 1).map(|(name, _)| *name);
        let Some(near) = misspelt(group, others) else { continue };
        let found = Diagnostic::warning(RULE.id, format!("the group `{}` has one member", **group));
        report.push(found.label(source, group.span, "alone here").help(format!("did you mean `{near}`?")));
    }
}
