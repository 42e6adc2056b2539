//! Merges a domain with the one it extends.

use asterisk_form::{Form, ValueForm};
use asterisk_script::escape;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Merges `own` into `base`.
pub(super) fn merge(base: Option<Value>, own: Value, form: &'static Form) -> Value {
    let (mut merged, own) = match (base, own) {
        (Some(Value::Object(base)), Value::Object(own)) => (base, own),
        (base, own) => return base.unwrap_or(own),
    };
    // Descriptions are not inherited.
    merged.remove("description");
    for (name, value) in own {
        let Some(key) = form.key(&name) else { continue };
        let inherited = merged.remove(&name);
        merged.insert(name, combine(inherited, value, &key.holds));
    }
    Value::Object(merged)
}

fn combine(base: Option<Value>, own: Value, holds: &'static ValueForm) -> Value {
    let Some(base) = base else { return own };
    match (holds, base, own) {
        (ValueForm::List(_), Value::Array(mut base), Value::Array(own)) => {
            let new: Vec<Value> = own.into_iter().filter(|item| !base.contains(item)).collect();
            base.extend(new);
            Value::Array(base)
        }
        (ValueForm::Records(_, id), Value::Array(mut base), Value::Array(own)) => {
            let mut places: HashMap<String, usize> = HashMap::with_capacity(base.len());
            for (at, known) in base.iter().enumerate() {
                places.entry(known[*id].to_string()).or_insert(at);
            }
            let mut first = Vec::new();
            for item in own {
                match places.get(&item[*id].to_string()).and_then(|at| base.get_mut(*at)) {
                    Some(known) => overlay(known, item),
                    None => first.push(item),
                }
            }
            // The more specific comes first: of two equally good ones, the first is used.
            first.extend(base);
            Value::Array(first)
        }
        (ValueForm::Entries(item), Value::Object(mut base), Value::Object(own)) => {
            for (name, value) in own {
                let inherited = base.remove(&name);
                let value = match (item, inherited) {
                    (ValueForm::Map(_), Some(mut inherited)) => {
                        overlay(&mut inherited, value);
                        inherited
                    }
                    (item, inherited) => combine(inherited, value, item),
                };
                base.insert(name, value);
            }
            Value::Object(base)
        }
        (_, _, own) => own,
    }
}

/// A file with its topic in its signatures that name none, unless they override one of another file.
pub(super) fn with_topics(mut own: Value, base: Option<&Value>) -> Value {
    let Some(topic) = own.as_object_mut().and_then(|own| own.remove("topic")) else { return own };
    let known: HashSet<&str> = signatures(base).filter_map(|known| known["id"].as_str()).collect();
    for signature in own["signatures"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        let overrides = signature.get("id").and_then(Value::as_str).is_some_and(|id| known.contains(id));
        if !overrides && !signature.contains_key("topic") {
            signature.insert("topic".into(), topic.clone());
        }
    }
    own
}

fn signatures(domain: Option<&Value>) -> impl Iterator<Item = &Value> {
    domain.and_then(|domain| domain["signatures"].as_array()).into_iter().flatten()
}

/// Overrides the keys of a map.
fn overlay(base: &mut Value, own: Value) {
    if let (Value::Object(base), Value::Object(own)) = (base, own) {
        base.extend(own);
    }
}

/// Completes a merged domain: signatures get the patterns of the markers they name, and components without patterns are
/// recognised by their names.
pub(super) fn complete(value: &mut Value) {
    let markers = value["markers"].clone();
    for signature in value["signatures"].as_array_mut().into_iter().flatten() {
        let named: Vec<Value> = signature["markers"].as_array().cloned().unwrap_or_default();
        let more: Vec<Value> =
            named.iter().filter_map(|name| markers.get(name.as_str()?)?.as_array()).flatten().cloned().collect();
        if let Some(patterns) = signature["patterns"].as_array_mut() {
            patterns.extend(more);
        }
    }
    // A list of markers may be empty; a signature without any pattern would match everything.
    if let Some(signatures) = value["signatures"].as_array_mut() {
        signatures.retain(|signature| signature["patterns"].as_array().is_some_and(|patterns| !patterns.is_empty()));
    }
    let components = value["components"].as_object_mut();
    for (name, component) in components.into_iter().flatten() {
        let is_empty = |key: &str, component: &Value| component[key].as_array().is_none_or(Vec::is_empty);
        if is_empty("patterns", component) && is_empty("paths", component) {
            component["patterns"] = json!([format!(r"(?:^|[^\w-]){}(?:[^\w-]|$)", escape(name))]);
        }
    }
}

/// The entries of a key that holds a map.
pub(super) fn entries<'v>(value: &'v Value, key: &str) -> Option<&'v Map<String, Value>> {
    value.get(key)?.as_object()
}
