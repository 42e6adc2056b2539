//! Reads policies, and what surrounds the answer of a node.

use crate::keys::{BUDGET, COUNCIL, GATE, POLICY, RETRY};
use crate::policy::{
    Council, CouncilDecision, GateRules, NodePolicy, PolicyRules, PolicySetting, RetryReason, RetryRules, TaskText,
};
use asterisk_diag::Source;
use asterisk_form::yaml::{Yaml, YamlEntry, YamlKind, YamlReader};
use asterisk_form::{FormFields, Spanned};
use serde_json::json;

/// The entry for categories without one, and what other dialects call it.
pub(super) const DEFAULT: &str = "default";

/// Reads the policy of a pipeline, or the name of the file that has it.
pub(super) fn of_pipeline(reader: &mut YamlReader<'_>, fields: FormFields<'_>) -> PolicyRules {
    match fields.map("policy", &POLICY) {
        Some(fields) => policy(reader, fields, "pipelines"),
        None => PolicyRules { file: fields.text("policy"), ..PolicyRules::default() },
    }
}

/// Reads a policy, whose form has been checked. `area` is where its file lies: `pipelines`, `data`.
fn policy(reader: &mut YamlReader<'_>, fields: FormFields<'_>, area: &str) -> PolicyRules {
    let mut rules = PolicyRules { preset: fields.text("preset"), ..PolicyRules::default() };
    version(reader, fields);
    let source = reader.source().clone();
    let at = |yaml: &Yaml| place(&source, area, yaml);
    for (key, to) in [
        ("thresholds", "score_thresholds"),
        ("score_thresholds", "score_thresholds"),
        ("timeouts", "timeouts"),
        ("retries", "retries"),
    ] {
        for YamlEntry { key: category, value } in fields.entries(key) {
            let value_json = value.to_json();
            if value_json.is_number() {
                let category = if category.value == "overall" { DEFAULT } else { category.as_str() };
                rules.settings.insert(format!("{to}.{category}"), PolicySetting { value: value_json, at: at(value) });
            }
        }
    }
    for YamlEntry { key: category, value } in fields.entries("advisors") {
        let Some(council) = council_of(value) else { continue };
        if council.members.is_empty() {
            let message = format!("the council of `{category}` needs an advisor");
            let error = reader.error("no-advisor", message, value.span, "");
            reader.push(error.help("list its advisors: `{ list: [NAME, NAME], decision: majority }`"));
            continue;
        }
        let category = if category.value == "council" { DEFAULT } else { category.as_str() };
        rules.settings.insert(format!("advisors.{category}"), PolicySetting { value: council.to_json(), at: at(value) });
    }
    if let Some(budget) = fields.map("budget", &BUDGET) {
        for YamlEntry { key, value } in budget.yaml.as_map().unwrap_or_default() {
            let name = if key.value == "max_bytes" { "max_artifacts_bytes" } else { key.as_str() };
            let value_json = value.to_json();
            if value_json.is_number() {
                rules.settings.insert(format!("budget.{name}"), PolicySetting { value: value_json, at: at(value) });
            }
        }
    }
    for key in ["fail_fast", "cache"] {
        if let Some(yaml) = fields.value(key).filter(|yaml| matches!(yaml.kind, YamlKind::Bool(_))) {
            rules.settings.insert(key.to_owned(), PolicySetting { value: json!(fields.flag(key)), at: at(yaml) });
        }
    }
    rules
}

/// Where a value is written: `pipelines/shop.yaml:12`.
fn place(source: &Source, area: &str, yaml: &Yaml) -> String {
    let place = source.place(yaml.span.start);
    if area.is_empty() { place } else { format!("{area}/{place}") }
}

/// Reports a version that is not this form's; it may be written as a text.
fn version(reader: &mut YamlReader<'_>, fields: FormFields<'_>) {
    let Some(yaml) = fields.present("version") else { return };
    if yaml.to_json() != json!(1) && yaml.as_text() != Some("1") {
        let error = reader.error("policy-version", "unknown version of a policy", yaml.span, "");
        reader.push(error.help("the version is 1"));
    }
}

/// A council: a map with a list, or a list.
fn council_of(yaml: &Yaml) -> Option<Council> {
    if let Some(list) = yaml.as_list() {
        return Some(members(list, Council::default()));
    }
    let fields = FormFields::of(yaml, &COUNCIL)?;
    Some(council(fields, fields.list("list").unwrap_or_default()))
}

/// The decision and weights of a map, with these members.
fn council(fields: FormFields<'_>, list: &[Yaml]) -> Council {
    let decision = fields.text("decision").and_then(|word| CouncilDecision::of(&word)).unwrap_or_default();
    let mut council = members(list, Council { decision, ..Council::default() });
    for YamlEntry { key, value } in fields.entries("weights") {
        if let Some(weight) = value.to_json().as_f64() {
            council.weights.insert(key.value.clone(), weight);
        }
    }
    council
}

/// Adds advisors by name, or as maps with name and weight.
fn members(list: &[Yaml], mut council: Council) -> Council {
    for item in list {
        let Some(name) = item.text().or_else(|| item.get("name")?.text()) else { continue };
        if let Some(weight) = item.get("weight").and_then(|weight| weight.to_json().as_f64()) {
            council.weights.insert(name.value.clone(), weight);
        }
        council.members.push(name);
    }
    council
}

/// Reads what surrounds the answer of a node; `None` without any of its keys.
pub(super) fn of_node(reader: &mut YamlReader<'_>, fields: FormFields<'_>, what: &str) -> Option<Box<NodePolicy>> {
    const KEYS: [&str; 7] = ["agent", "task", "category", "timeout", "retry", "cache", "gate"];
    if !KEYS.iter().any(|key| fields.present(key).is_some()) {
        return None;
    }
    let (max_retries, retry) = retries(fields);
    Some(Box::new(NodePolicy {
        agent: fields.text("agent"),
        task: fields.text("task").map(TaskText::of),
        category: fields.text("category"),
        timeout: number(fields, "timeout"),
        max_retries,
        retry,
        cache: flag(fields, "cache"),
        gate: gate(reader, fields, what),
    }))
}

pub(super) fn number(fields: FormFields<'_>, key: &str) -> Option<Spanned<f64>> {
    Some(Spanned::new(fields.number(key)?, fields.value(key)?.span))
}

pub(super) fn flag(fields: FormFields<'_>, key: &str) -> Option<Spanned<bool>> {
    let yaml = fields.value(key)?;
    if let YamlKind::Bool(flag) = yaml.kind { Some(Spanned::new(flag, yaml.span)) } else { None }
}

/// How often and when a node is answered again: a number, or a map.
pub(super) fn retries(fields: FormFields<'_>) -> (Option<Spanned<u64>>, RetryRules) {
    let whole = |yaml: &Yaml| Some(Spanned::new(u64::try_from(yaml.to_json().as_i64()?).ok()?, yaml.span));
    let Some(retry) = fields.map("retry", &RETRY) else {
        return (fields.present("retry").and_then(whole), RetryRules::default());
    };
    let mut rules = RetryRules { backoff: retry.number("backoff").unwrap_or(0.0), ..RetryRules::default() };
    if retry.present("on").is_some() {
        let words = retry.texts("on");
        rules.on = RetryReason::ALL.into_iter().filter(|reason| words.iter().any(|word| word.value == reason.word())).collect();
    }
    (retry.value("attempts").and_then(whole), rules)
}

fn gate(reader: &mut YamlReader<'_>, fields: FormFields<'_>, what: &str) -> Option<GateRules> {
    let yaml = fields.present("gate")?;
    if let Some(advisor) = fields.text("gate") {
        let council = Council { members: vec![advisor], ..Council::default() };
        return Some(GateRules { council, min_score: None, span: yaml.span });
    }
    let gate = fields.map("gate", &GATE)?;
    let mut council = council(gate, gate.list("advisors").unwrap_or_default());
    council.members.splice(0..0, gate.text("advisor"));
    if council.members.is_empty() {
        let error = reader.error("no-advisor", format!("the gate of {what} needs an advisor"), yaml.span, "");
        reader.push(error.help("name one: `gate: { advisor: NAME }`, or several: `gate: { advisors: [NAME, NAME] }`"));
        return None;
    }
    Some(GateRules { council, min_score: number(gate, "min_score"), span: yaml.span })
}

/// Reads a policy that has a file of its own, or is a preset, and reports its errors.
pub(crate) fn whole(reader: &mut YamlReader<'_>, yaml: &Yaml, area: &str) -> PolicyRules {
    FormFields::of(yaml, &POLICY).map(|fields| policy(reader, fields, area)).unwrap_or_default()
}
