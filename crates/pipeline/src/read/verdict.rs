//! Reads `verdict:`.

use crate::keys::VERDICT_RULE;
use crate::vars::Var;
use crate::verdict::{DefectWeight, VerdictRule, VerdictRules};
use asterisk_form::yaml::{Yaml, YamlEntry, YamlKind, YamlReader};
use asterisk_form::{FormFields, Spanned};
use std::collections::BTreeMap;

/// Reads the section. `vars` are those of the pipeline, which hold the floor and the temperature.
pub(super) fn verdict(reader: &mut YamlReader<'_>, fields: FormFields<'_>, vars: &BTreeMap<String, Var>) -> Option<VerdictRules> {
    let priors = weights(fields, "priors");
    let rules: Vec<VerdictRule> = fields.list("rules").unwrap_or_default().iter().filter_map(rule).collect();
    let read = VerdictRules {
        undecided: fields.text("undecided")?,
        floor: fields.text("floor")?,
        temperature: fields.text("temperature"),
        terms: fields.text("terms"),
        needs: fields.texts("needs"),
        signatures: fields.text("signatures"),
        span: fields.yaml.head(reader.source()),
        priors,
        rules,
    };
    let hint = "name a var with the minimum probability of a decided verdict: `vars: { decide_floor: 0.5 }`";
    check_number(reader, ("floor", &read.floor, hint), vars);
    if let Some(temperature) = &read.temperature {
        let hint = "name a var with the temperature that divides log-odds: `vars: { temperature: 0.9 }`";
        check_number(reader, ("temperature", temperature, hint), vars);
    }
    if let Some(terms) = &read.terms {
        let hint = "name a var with the weight of words: `vars: { term_strength: 1 }`";
        check_number(reader, ("terms", terms, hint), vars);
    }
    check_rules(reader, &read);
    Some(read)
}

fn rule(yaml: &Yaml) -> Option<VerdictRule> {
    let fields = FormFields::of(yaml, &VERDICT_RULE)?;
    Some(VerdictRule {
        id: fields.text("id")?,
        name: fields.label("name"),
        group: fields.text("group"),
        weights: weights(fields, "for"),
        rule: fields.text("rule")?,
        span: yaml.span,
    })
}

fn weights(fields: FormFields<'_>, key: &str) -> Vec<DefectWeight> {
    let weight = |YamlEntry { key, value }: &YamlEntry| {
        #[expect(clippy::cast_precision_loss, reason = "the form allows numbers up to 20")]
        let weight = match value.kind {
            YamlKind::Int(number) => number as f64,
            YamlKind::Float(number) => number,
            _ => return None,
        };
        Some(DefectWeight { defect: key.clone(), weight })
    };
    fields.entries(key).iter().filter_map(weight).collect()
}

/// The var that a key names is one of the pipeline's, and a number.
fn check_number(reader: &mut YamlReader<'_>, (key, var, hint): (&str, &Spanned<String>, &str), vars: &BTreeMap<String, Var>) {
    let number = vars.get(var.as_str()).map(|var| var.default.value.is_number());
    if number == Some(true) {
        return;
    }
    let fault = if number.is_none() { "is not a var of the pipeline" } else { "is not a number" };
    let error = reader.error("verdict-var", format!("the {key} `{}` {fault}", **var), var.span, "");
    let similar = asterisk_diag::did_you_mean(var, vars.keys().map(String::as_str));
    reader.push(error.help(similar.unwrap_or_else(|| hint.into())));
}

/// Ids are unique, and weights are of defects that the section decides between.
fn check_rules(reader: &mut YamlReader<'_>, read: &VerdictRules) {
    let mut seen: BTreeMap<&str, &Spanned<String>> = BTreeMap::new();
    for rule in &read.rules {
        if let Some(first) = seen.insert(&rule.id, &rule.id) {
            let message = format!("duplicate verdict rule `{}`", *rule.id);
            let error = reader.error("duplicate-verdict-rule", message, rule.id.span, "again here");
            let error = error.label(reader.source(), first.span, "first here");
            reader.push(error.help("give each rule its own id"));
        }
        if rule.weights.is_empty() {
            let message = format!("the rule `{}` is without weights, so it never contributes", *rule.id);
            let error = reader.error("verdict-weight", message, rule.span, "");
            reader.push(error.help("list the defects that it supports, with weights: `for: { DEFECT: 1.2 }`"));
        }
        for DefectWeight { defect, .. } in &rule.weights {
            if read.priors.iter().any(|prior| *prior.defect == **defect) {
                continue;
            }
            let message = format!("the rule `{}` supports `{}`, a defect without a prior", *rule.id, **defect);
            let error = reader.error("verdict-weight", message, defect.span, "");
            let hint = asterisk_diag::did_you_mean(defect, read.priors.iter().map(|prior| prior.defect.as_str()));
            reader.push(error.help(hint.unwrap_or_else(|| "the verdict decides between the defects of `priors`".into())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VerdictRules;
    use crate::parse;
    use asterisk_diag::Source;

    fn outcome(verdict: &str) -> String {
        let text = format!(
            "pipeline: t\nvars: {{ least: 0.5, cold: 0.9, word: x }}\nnodes: [{{ name: a }}]\nedges: [{{ id: E, from: a, to: _done }}]\nverdict:\n  undecided: d0\n  priors: {{ d1: 0 }}\n  rules: [{{ id: V1, for: {{ d1: 1 }}, rule: v.rhai#one }}]\n{verdict}start: a\ndone: _done\n"
        );
        match parse(&Source::new("t.yaml", text)) {
            Ok(pipeline) => format!("{:?}", pipeline.verdict.iter().flat_map(VerdictRules::vars).collect::<Vec<_>>()),
            Err(found) => found.iter().map(|found| format!("{}: {}", found.code, found.message)).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn floor_and_temperature_name_numbers_of_the_pipeline() {
        assert_eq!(outcome("  floor: least\n"), r#"["least"]"#);
        assert_eq!(outcome("  floor: least\n  temperature: cold\n"), r#"["least", "cold"]"#);
        assert_eq!(outcome("  floor: lest\n"), "pipeline/verdict-var: the floor `lest` is not a var of the pipeline");
        assert_eq!(
            outcome("  floor: least\n  temperature: word\n"),
            "pipeline/verdict-var: the temperature `word` is not a number"
        );
    }
}
