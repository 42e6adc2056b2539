//! Reads vars, in the short and the long form.

use super::schema;
use crate::keys::VAR;
use crate::schema_words::{WORDS, type_hint};
use crate::vars::{TYPES, Var, allowed};
use asterisk_base::model::Kind;
use asterisk_form::Spanned;
use asterisk_form::yaml::{Yaml, YamlEntry, YamlFields, YamlReader};
use serde_json::Value;
use std::collections::BTreeMap;

/// Reads `vars:` of a pipeline.
pub(super) fn vars(reader: &mut YamlReader<'_>, entries: &[YamlEntry]) -> BTreeMap<String, Var> {
    let plain = reader.vars(entries);
    let mut vars = BTreeMap::new();
    for YamlEntry { key, value } in entries {
        // A number with a decimal comma has been refused.
        let Some(default) = plain.get(key.as_str()) else { continue };
        let var = if is_long(value) {
            long(reader, key, value)
        } else {
            Some(Var { default: default.clone(), declared: None, doc: String::new() })
        };
        vars.extend(var.map(|var| (key.value.clone(), var)));
    }
    vars
}

/// Whether a value is the long form rather than a map that is the default itself.
fn is_long(yaml: &Yaml) -> bool {
    let typed = || yaml.get("type").and_then(Yaml::as_text).is_some_and(|word| WORDS.contains(&word));
    yaml.get("default").is_some() || typed()
}

fn long(reader: &mut YamlReader<'_>, name: &Spanned<String>, yaml: &Yaml) -> Option<Var> {
    let what = format!("var `{name}`");
    let fields = reader.map(yaml, &what)?;
    reader.known_keys(fields, &what, &VAR.names(), &[]);
    let doc = fields.entry("doc").and_then(|entry| reader.text(&entry.value, &format!("`doc` of {what}")));
    let Some(entry) = fields.entry("default") else {
        let error = reader.error("missing-key", format!("{what} needs a `default`"), yaml.head(reader.source()), "");
        reader.push(error.help("every var needs a default: `default: 0.8`"));
        return None;
    };
    let default = Spanned::new(entry.value.to_json(), entry.value.span);
    let declared = Some(kind(reader, fields, &default.value, &what)?).filter(|kind| *kind != Kind::Any);
    if let Some(kind) = declared.as_ref().filter(|kind| !kind.accepts(&default.value)) {
        let message = format!("the default of {what} must be {}, not {}", allowed(kind), default.value);
        let error = reader.error("var-default", message, default.span, "");
        reader.push(error.help("change the default, or the allowed values"));
        return None;
    }
    Some(Var { default, declared, doc: doc.map_or(String::new(), |doc| doc.value.trim().to_owned()) })
}

/// The type with its bounds; [`Kind::Any`] if the default is a list or a map.
fn kind(reader: &mut YamlReader<'_>, fields: YamlFields<'_>, default: &Value, what: &str) -> Option<Kind> {
    let given = |key: &str| fields.entry(key).map(|entry| &entry.value);
    let bounds = ["min", "max"].into_iter().find_map(given);
    let name = match given("type") {
        Some(yaml) => {
            let word = reader.text(yaml, &format!("`type` of {what}"))?;
            match TYPES.iter().find(|known| **known == *word) {
                Some(known) => known,
                None => {
                    let help = type_hint(&word, TYPES);
                    let error = reader.error("bad-var", format!("`{word}` is not a type of vars"), word.span, "");
                    reader.push(error.help(help.unwrap_or_else(|| format!("the types are {}", TYPES.join(", ")))));
                    return None;
                }
            }
        }
        None if given("values").is_some() => "string",
        None if bounds.is_some() => "number",
        None => match default {
            Value::Bool(_) => "bool",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            _ => return Some(Kind::Any),
        },
    };
    let idle: &[&str] = match name {
        "number" | "int" => &["values"],
        "string" => &["min", "max"],
        _ => &["min", "max", "values"],
    };
    for key in idle {
        let Some(entry) = fields.entry(key) else { continue };
        let message = format!("`{key}` of {what} is not for a {name}");
        let error = reader.error("bad-var", message, entry.key.span, "");
        reader.push(error.help("`min` and `max` are for numbers, `values` are for strings"));
        return None;
    }
    Some(match name {
        "bool" => Kind::Bool,
        "string" => Kind::Text {
            one_of: match given("values") {
                Some(yaml) => schema::words(reader, yaml, &format!("`values` of {what}"))?,
                None => Vec::new(),
            },
        },
        "int" => {
            let mut bound = |key: &str| match given(key) {
                Some(yaml) => reader.int(yaml, &format!("`{key}` of {what}"), &(i64::MIN..=i64::MAX)).map(Some),
                None => Some(None),
            };
            let (min, max) = (bound("min")?, bound("max")?);
            schema::ordered(reader, fields, min, max, what).then_some(Kind::Int { min, max })?
        }
        _ => {
            let mut bound = |key: &str| match given(key) {
                Some(yaml) => reader.number(yaml, &format!("`{key}` of {what}")).map(Some),
                None => Some(None),
            };
            let (min, max) = (bound("min")?, bound("max")?);
            schema::ordered(reader, fields, min, max, what).then_some(Kind::Number { min, max })?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;
    use asterisk_diag::Source;
    use serde_json::json;

    const REST: &str = "nodes: [{ name: a }]\nedges: [{ id: E, from: a, to: _done }]\nstart: a\ndone: _done\n";

    fn var(written: &str) -> Result<Var, Vec<String>> {
        let source = Source::new("t.yaml", format!("pipeline: t\nvars: {{ x: {written} }}\n{REST}"));
        let messages = |found: asterisk_diag::Diagnostics| {
            let place = |one: &asterisk_diag::Diagnostic| {
                one.primary().map_or(String::new(), |label| label.source.slice(label.span).to_owned())
            };
            found.iter().map(|one| format!("{} [{}] {}", one.code, place(one), one.message)).collect()
        };
        parse(&source).map_err(messages).map(|mut pipeline| pipeline.vars.remove("x").expect("the var"))
    }

    #[test]
    fn both_forms_are_read() {
        for (written, default, allowed) in [
            ("0.8", json!(0.8), "a number"),
            ("word", json!("word"), "a string"),
            ("{ a: 1 }", json!({ "a": 1 }), "a map"),
            ("{ type: fast }", json!({ "type": "fast" }), "a map"),
            ("{ default: 0.8 }", json!(0.8), "a number"),
            ("{ default: 0.8, type: number, min: 0, max: 1 }", json!(0.8), "a number from 0 to 1"),
            ("{ default: 2, type: int, min: 0 }", json!(2), "a whole number of 0 or more"),
            ("{ default: 2, max: 9.5 }", json!(2), "a number of 9.5 or less"),
            ("{ default: true, doc: Whether. }", json!(true), "true or false"),
            ("{ default: a, values: [a, b] }", json!("a"), "one of `a`, `b`"),
            ("{ default: a, type: string }", json!("a"), "a string"),
            ("{ default: [1] }", json!([1]), "a list"),
        ] {
            let var = var(written).unwrap_or_else(|errors| panic!("{written}: {errors:?}"));
            assert_eq!((&var.default.value, var.allowed().as_str()), (&default, allowed), "{written}");
            assert!(var.accepts(&default), "{written}");
        }
        assert_eq!(var("{ default: 1, doc: ' Of x. ' }").expect("a var").doc, "Of x.");
    }

    #[test]
    fn defaults_are_checked_against_their_bounds() {
        for (written, good, bad) in [
            ("1", json!(0.5), json!("a")),
            ("{ default: 1, type: int }", json!(2), json!(0.5)),
            ("{ default: 1, type: number, min: 0, max: 1 }", json!(0), json!(1.01)),
            ("{ default: a, values: [a, b] }", json!("b"), json!("c")),
            ("{ default: false }", json!(true), json!(1)),
        ] {
            let var = var(written).expect("a var");
            assert_eq!((var.accepts(&good), var.accepts(&bad)), (true, false), "{written}");
        }
    }

    #[test]
    fn errors_are_labelled() {
        for (written, message) in [
            (
                "{ default: 1.5, type: number, min: 0, max: 1 }",
                "pipeline/var-default [1.5] the default of var `x` must be a number from 0 to 1, not 1.5",
            ),
            ("{ default: c, values: [a] }", "pipeline/var-default [c] the default of var `x` must be one of `a`, not \"c\""),
            ("{ default: 1, type: integer }", "pipeline/bad-var [integer] `integer` is not a type of vars"),
            ("{ default: 1, type: list }", "pipeline/bad-var [list] `list` is not a type of vars"),
            ("{ type: number, min: 0 }", "pipeline/missing-key [{ type: number, min: 0 }] var `x` needs a `default`"),
            ("{ default: 1, mni: 0 }", "pipeline/unknown-key [mni] `mni` is not a key of var `x`"),
            ("{ default: a, type: string, min: 0 }", "pipeline/bad-var [min] `min` of var `x` is not for a string"),
            ("{ default: 1, type: int, min: 0.5 }", "pipeline/type [0.5] `min` of var `x` must be a whole number, not 0.5"),
            ("{ default: 1, min: 2, max: 0 }", "pipeline/bad-schema [2] `min` of var `x` is greater than its `max`"),
        ] {
            let found = var(written).expect_err(written);
            assert_eq!(found.first().map(String::as_str), Some(message), "{written}: {found:?}");
        }
    }
}
