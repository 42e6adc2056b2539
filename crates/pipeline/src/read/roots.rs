//! Reads `roots:`.

use crate::keys::ROOT_RULE;
use crate::roots::RootRule;
use asterisk_form::yaml::{Yaml, YamlReader};
use asterisk_form::{FormFields, Spanned};
use std::collections::BTreeMap;

/// Reads the rules. Their ids are unique.
pub(super) fn roots(reader: &mut YamlReader<'_>, fields: FormFields<'_>) -> Vec<RootRule> {
    let rules: Vec<RootRule> = fields.list("roots").unwrap_or_default().iter().filter_map(rule).collect();
    let mut seen: BTreeMap<&str, &Spanned<String>> = BTreeMap::new();
    for rule in &rules {
        if let Some(first) = seen.insert(&rule.id, &rule.id) {
            let message = format!("duplicate root rule `{}`", *rule.id);
            let error = reader.error("duplicate-root-rule", message, rule.id.span, "again here");
            let error = error.label(reader.source(), first.span, "first here");
            reader.push(error.help("give each rule its own id"));
        }
    }
    rules
}

fn rule(yaml: &Yaml) -> Option<RootRule> {
    let fields = FormFields::of(yaml, &ROOT_RULE)?;
    Some(RootRule {
        id: fields.text("id")?,
        name: fields.label("name"),
        rule: fields.text("rule")?,
        confidence: fields.number("confidence")?,
        in_launch: fields.text("scope").is_some_and(|scope| *scope == "launch"),
        consequence: fields.flag("consequence"),
        span: yaml.span,
    })
}
