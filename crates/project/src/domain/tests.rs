//! Errors of a domain are located and found all at once; domains are merged; and the schema agrees with the reader.

#![allow(clippy::unwrap_used)]

use super::keys::DOMAIN;
use super::*;
use asterisk_diag::{Diagnostics, Severity, Source};
use asterisk_form::{Form, ValueForm};
use serde_json::{Map, json};

const BASE: &str = "\
defects:
  d1: { name: Bug, means: m, category: broken, aliases: [d0] }
  d9: { name: Open, means: m, category: open, undecided: true }
categories:
  broken: { defect: d1, means: m }
  open: { defect: d9, means: m }
severities: [{ name: high, priority: P1 }]
markers: { outage: ['the sky fell'] }
signatures:
  - { id: s1, title: t, category: broken, certainty: 0.5, severity: high, means: m, patterns: ['it broke'] }
  - { id: s2, title: t, category: open, certainty: 0.4, severity: high, means: m, markers: [outage] }
";

fn sources(own: &str) -> Vec<Source> {
    vec![Source::new("domains/base.yaml", BASE), Source::new("domains/own.yaml", own)]
}

fn linked(own: &str) -> (Option<Domain>, Diagnostics) {
    let mut found = Diagnostics::new();
    let domain = link(&sources(own), Some("own"), &mut found);
    (domain, found)
}

/// Code and labelled text of all diagnostics.
fn faults(own: &str) -> Vec<(String, String)> {
    let (_, found) = linked(own);
    found
        .iter()
        .map(|fault| {
            let label = fault.primary().unwrap();
            (fault.code.to_string(), label.source.slice(label.span).to_owned())
        })
        .collect()
}

#[track_caller]
fn finds(own: &str, expected: &[(&str, &str)]) {
    let found = faults(own);
    let found: Vec<(&str, &str)> = found.iter().map(|(code, text)| (code.as_str(), text.as_str())).collect();
    assert_eq!(found, expected, "{}", linked(own).1);
}

#[test]
fn a_domain_is_merged_into_the_one_it_extends() {
    let (domain, found) = linked(
        "extends: base\ndescription: mine\ndefects: { d1: { name: Fault } }\nmarkers: { outage: ['the sun went out'] }\n\
         signatures:\n  - { id: s1, certainty: 0.9 }\n  - { id: s3, title: t, category: broken, certainty: 0.6, severity: high, means: m, patterns: [xyz] }\n\
         components: { cart: , depot: { patterns: ['\\bstock\\b'] } }\n",
    );
    assert!(found.is_empty(), "{found}");
    let value = domain.unwrap().value;
    assert_eq!((&value["name"], &value["extends"], &value["description"]), (&json!("own"), &json!(["base"]), &json!("mine")));
    assert_eq!((&value["defects"]["d1"]["name"], &value["defects"]["d1"]["aliases"]), (&json!("Fault"), &json!(["d0"])));
    let ids: Vec<&Value> = value["signatures"].as_array().unwrap().iter().map(|signature| &signature["id"]).collect();
    assert_eq!(ids, ["s3", "s1", "s2"], "what is special comes first");
    assert_eq!((&value["signatures"][1]["certainty"], &value["signatures"][1]["patterns"]), (&json!(0.9), &json!(["it broke"])));
    assert_eq!(value["signatures"][2]["patterns"], json!(["the sky fell", "the sun went out"]));
    assert_eq!(value["components"]["depot"]["patterns"], json!(["\\bstock\\b"]));
    assert!(value["components"]["cart"]["patterns"][0].as_str().unwrap().contains("cart"), "a name recognises itself");
    assert_eq!((&value["glossary"], &value["red_herrings"]), (&json!({}), &json!([])), "what is absent is empty");
}

#[test]
fn all_errors_are_found_at_once_with_their_locations() {
    finds(
        "extends: base\ncomponets: {}\ncomponents:\n  cart: { purpose: 3, patterns: ['a(b', 'x*', '\\w'], repositories: [shopp] }\n  \
         Cart: { paths: [one] }\nrepositories:\n  shop: { role: brokn, aliases: [base, base] }\nred_herrings:\n  - { reason: r }\n\
         signatures:\n  - { id: s4, title: t, category: d0, certainty: 2, severity: hihg, means: m }\nroles: { opn: x1 }\npriors: { d8: 1 }\n",
        &[
            ("domain/unknown-key", "componets"),
            ("domain/type", "3"),
            ("domain/bad-pattern", "("),
            ("domain/wide-pattern", "'x*'"),
            ("domain/wide-pattern", "'\\w'"),
            ("domain/unknown-name", "shopp"),
            ("domain/duplicate", "Cart"),
            ("domain/unknown-name", "brokn"),
            ("domain/duplicate", "base"),
            ("domain/red-herring", "{ reason: r }"),
            ("domain/no-pattern", "s4"),
            ("domain/unknown-name", "d0"),
            ("domain/range", "2"),
            ("domain/unknown-name", "hihg"),
            ("domain/unknown-name", "opn"),
            ("domain/unknown-name", "d8"),
        ],
    );
    assert!(linked("extends: base\ncomponets: {}\n").0.is_none());
}

#[test]
fn each_error_has_help() {
    let (_, found) = linked(
        "extends: base\ncategories: { slow: { defect: d0, means: m } }\ncomponents: { a: { repositories: [shop] } }\nsignatures: [{ id: s }]\n",
    );
    let help: Vec<&str> = found.iter().filter_map(|fault| fault.help.as_deref()).collect();
    assert_eq!(help.len(), found.len(), "{found}");
    assert!(help.iter().any(|help| help.contains("alias of `d1`")), "{help:?}");
    assert!(help.iter().any(|help| help.contains("add it under `repositories`")), "{help:?}");
}

#[test]
fn a_redundant_pattern_is_a_warning() {
    let own =
        "extends: base\ncomponents:\n  a: { patterns: ['timed? out', 'it timed out'] }\n  b: { patterns: ['Timed? out'] }\n";
    finds(own, &[("domain/shadowed-pattern", "'it timed out'"), ("domain/shadowed-pattern", "'Timed? out'")]);
    let (domain, found) = linked(own);
    assert!(domain.is_some() && found.iter().all(|fault| fault.severity == Severity::Warning));
    // A match at a word boundary is not always within the other's matches.
    finds("extends: base\ncomponents: { a: { patterns: ['\\bport\\b', 'port'] } }\n", &[]);
}

#[test]
fn unknown_and_cyclic_domains_are_rejected() {
    finds("extends: bass\n", &[("domain/unknown", "bass")]);
    finds("extends: own\n", &[("domain/circle", "own")]);
    finds(
        "description: alone\n",
        &[
            ("domain/missing-key", "description: alone"),
            ("domain/missing-key", "description: alone"),
            ("domain/missing-key", "description: alone"),
        ],
    );
    let mut found = Diagnostics::new();
    assert!(link(&sources(""), Some("onw"), &mut found).is_none());
    assert_eq!(found.iter().next().unwrap().help.as_deref(), Some("did you mean `own`?"));
    assert!(link(&[], None, &mut Diagnostics::new()).is_none());
}

/// Validates a value: enough of JSON Schema for what [`json_schema`] writes.
fn valid(schema: &Value, value: &Value) -> bool {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    };
    let kind = match &schema["type"] {
        Value::String(kind) => is(kind),
        Value::Array(kinds) => kinds.iter().any(|kind| is(kind.as_str().unwrap())),
        _ => true,
    };
    let one_of = schema["enum"].as_array().is_none_or(|words| words.contains(value));
    let pattern = schema["pattern"].as_str().map(|pattern| regex::Regex::new(pattern).unwrap());
    let blank = pattern.zip(value.as_str()).is_some_and(|(pattern, text)| !pattern.is_match(text));
    let bound = |key: &str| schema[key].as_f64().zip(value.as_f64());
    let range = bound("minimum").is_none_or(|(least, value)| value >= least)
        && bound("maximum").is_none_or(|(most, value)| value <= most);
    let required = schema["required"].as_array().into_iter().flatten();
    let present = !value.is_object() || required.clone().all(|key| value.get(key.as_str().unwrap()).is_some());
    let fields = value.as_object().into_iter().flatten().all(|(key, value)| match schema["properties"].get(key) {
        Some(schema) => valid(schema, value),
        None => match &schema["additionalProperties"] {
            Value::Bool(allowed) => *allowed,
            Value::Null => true,
            schema => valid(schema, value),
        },
    });
    let items = value.as_array().into_iter().flatten().all(|item| valid(&schema["items"], item));
    let rest = if schema["if"].is_null() || valid(&schema["if"], value) { true } else { valid(&schema["else"], value) };
    kind && one_of && !blank && range && present && fields && items && rest
}

/// A valid value of a kind, with every key.
fn example(holds: &ValueForm) -> Value {
    match holds {
        ValueForm::Text => json!("text"),
        ValueForm::Bool => json!(true),
        ValueForm::Number(least, _) => json!(least),
        ValueForm::Whole(least, _) => json!(least),
        ValueForm::Word(words) => json!(words[0]),
        ValueForm::Pattern(_) => json!("(some)(more)(words)"),
        ValueForm::Name(_) => json!("n1"),
        ValueForm::List(item) => json!([example(item)]),
        ValueForm::Records(form, _) => json!([whole(form)]),
        ValueForm::Entries(item) => json!({ "n1": example(item) }),
        ValueForm::Map(form) => whole(form),
        other => panic!("no domain has {other:?}"),
    }
}

fn whole(form: &Form) -> Value {
    Value::Object(form.keys.iter().map(|key| (key.name.to_owned(), example(&key.holds))).collect::<Map<_, _>>())
}

/// Values that differ in one place from a valid value.
fn mutations(holds: &ValueForm) -> Vec<Value> {
    let mut mutations =
        vec![json!(7.5), json!("word"), json!(true), json!([true]), json!({ "n1": 7.5 }), json!(null), json!(" "), json!([])];
    match holds {
        ValueForm::List(item) => mutations.extend(self::mutations(item).into_iter().map(|mutation| json!([mutation]))),
        ValueForm::Entries(item) => mutations.extend(self::mutations(item).into_iter().map(|mutation| json!({ "n1": mutation }))),
        ValueForm::Records(form, _) => mutations.extend(of_form(form).into_iter().map(|mutation| json!([mutation]))),
        ValueForm::Map(form) => mutations.extend(of_form(form)),
        _ => {}
    }
    mutations
}

fn of_form(form: &Form) -> Vec<Value> {
    let right = whole(form);
    let mut all = vec![right.clone()];
    for key in form.keys {
        let mut without = right.clone();
        without.as_object_mut().unwrap().remove(key.name);
        all.push(without);
        for mutation in mutations(&key.holds) {
            let mut with = right.clone();
            with[key.name] = mutation;
            all.push(with);
        }
    }
    let mut more = right;
    more["onemore"] = json!(1);
    all.push(more);
    all
}

#[test]
fn the_schema_and_the_reader_agree() {
    let schema = json_schema();
    let (mut good, mut bad) = (0, 0);
    for mut value in of_form(&DOMAIN) {
        for extends in [true, false] {
            if let Some(map) = value.as_object_mut().filter(|_| !extends) {
                map.remove("extends");
            }
            let source = Source::new("domains/x.yaml", value.to_string());
            let tree = asterisk_form::yaml::parse(&source).unwrap();
            let base = (value.get("extends").is_some_and(Value::is_string)).then(|| whole(&DOMAIN));
            let mut check = crate::forms::DataReader::new(&source, "domain");
            check.file(&tree, &DOMAIN, base.as_ref());
            let diagnostics = check.finish();
            // References and the contents of patterns are not checked by the schema.
            assert_eq!(valid(&schema, &value), diagnostics.is_empty(), "{value:#}\n{diagnostics}");
            if diagnostics.is_empty() { good += 1 } else { bad += 1 }
        }
    }
    assert!(good > 100 && bad > 300, "{good} {bad}");
}

#[test]
fn an_unused_list_of_patterns_is_a_warning() {
    let (domain, found) = linked("extends: base\nmarkers: { outge: ['blue zone is drained'] }\n");
    assert!(domain.is_some(), "{found}");
    let warning = found.iter().next().unwrap();
    assert_eq!((warning.code.as_ref(), warning.severity), ("domain/unused", Severity::Warning));
    assert_eq!(warning.help.as_deref(), Some("did you mean `outage`?"));
    assert!(linked("extends: base\nmarkers: { outage: ['blue zone is drained'] }\n").1.is_empty());
}

#[test]
fn patterns_that_are_not_a_list_are_one_error() {
    let own = "extends: base\nsignatures:\n  - { id: s4, title: t, category: broken, certainty: 1, severity: high, means: m, patterns: 'it fell' }\n";
    finds(own, &[("domain/type", "'it fell'")]);
    assert_eq!(linked(own).1.iter().next().unwrap().help.as_deref(), Some("put it in brackets: ['it fell']"));
}
