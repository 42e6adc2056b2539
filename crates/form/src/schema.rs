//! Generates the JSON Schema (2020-12) of a form.

use super::table::{DefaultValue, Form, FormKey, MayBeEmpty, Requirement, ValueForm};
use serde_json::{Map, Value, json};

/// The schema of a file. In forms whose files may extend another file with `extends`, required keys apply only to files that do
/// not extend one.
pub fn json_schema(title: &str, form: &Form) -> Value {
    let mut schema = of_form(form);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(title);
    if let Some(required) = required(form) {
        if form.key("extends").is_some() {
            schema["if"] = json!({ "required": ["extends"] });
            schema["else"] = required;
        } else {
            schema["allOf"] = json!([required]);
        }
    }
    schema
}

/// The schema of a file that may extend another one with `extends`, entry by entry ([`crate::yaml`]): `complete` for one that does not; for
/// one that does, a schema of changes to `partial`.
pub fn extensible(complete: Value, partial: &Value) -> Value {
    let Value::Object(mut complete) = complete else { return complete };
    let mut schema = Map::new();
    for key in ["$schema", "title", "$defs"] {
        schema.extend(complete.remove_entry(key));
    }
    // Editors offer the key in a file that does not have it yet.
    let offer = |schema: &mut Map<String, Value>| {
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            properties.insert(EXTENDS.to_owned(), extends());
        }
    };
    offer(&mut complete);
    for branch in ["then", "else"] {
        complete.get_mut(branch).and_then(Value::as_object_mut).map(offer);
    }
    schema.insert("if".to_owned(), json!({ "type": "object", "required": [EXTENDS] }));
    schema.insert("then".to_owned(), changes(partial));
    schema.insert("else".to_owned(), Value::Object(complete));
    Value::Object(schema)
}

/// The schema of a file that always extends another one: a schema of changes to `partial`, with the title of `complete`.
pub fn extending(mut complete: Value, partial: &Value) -> Value {
    let mut schema = changes(partial);
    for key in ["$schema", "title", "$defs"] {
        if let Some(value) = complete.get_mut(key) {
            schema[key] = value.take();
        }
    }
    schema
}

/// The key that names the extended file.
const EXTENDS: &str = "extends";

fn extends() -> Value {
    json!({ "type": "string", "pattern": "\\S", "description": "The file that this one extends, by name." })
}

/// The schema of the changes that a file makes to the one that it extends: no key is required, and entries can be removed and placed.
fn changes(schema: &Value) -> Value {
    let mut schema = partial(schema);
    schema["properties"][EXTENDS] = extends();
    schema
}

fn partial(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let mut schema = schema.clone();
    schema.remove("required");
    for (keyword, value) in &mut schema {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                properties.values_mut().for_each(|value| *value = removable(partial(value)));
            }
            ("additionalProperties", value @ Value::Object(_)) => *value = removable(partial(value)),
            ("items", value) => *value = placed(partial(value)),
            ("anyOf", Value::Array(alternatives)) => alternatives.iter_mut().for_each(|value| *value = partial(value)),
            _ => {}
        }
    }
    Value::Object(schema)
}

/// The value of a key, or `{ remove: true }` to remove the key.
fn removable(mut schema: Value) -> Value {
    let removed = json!({ "enum": [true], "description": "Removes the entry of the extended file." });
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.entry("remove").or_insert(removed);
        return schema;
    }
    let Some(keywords) = schema.as_object_mut().filter(|keywords| keywords.contains_key("type") || keywords.contains_key("enum"))
    else {
        return schema;
    };
    let mut whole = Map::new();
    for key in ["description", "default", "examples"] {
        whole.extend(keywords.remove_entry(key));
    }
    let removal =
        json!({ "type": "object", "properties": { "remove": removed }, "required": ["remove"], "additionalProperties": false });
    whole.insert("anyOf".to_owned(), json!([schema, removal]));
    Value::Object(whole)
}

/// An entry of a list, with the keys that say where it goes.
fn placed(mut entry: Value) -> Value {
    if let Some(alternatives) = entry.get_mut("anyOf").and_then(Value::as_array_mut) {
        for value in &mut *alternatives {
            *value = placed(value.take());
        }
    }
    let Some(properties) = entry.get_mut("properties").and_then(Value::as_object_mut) else { return entry };
    if ["id", "name"].iter().any(|id| properties.contains_key(*id)) {
        let name = |doc: &str| json!({ "type": "string", "pattern": "\\S", "description": doc });
        let removed = json!({ "enum": [true], "description": "Removes the entry of the extended file." });
        properties.entry("remove").or_insert(removed);
        for (key, doc) in [
            ("before", "The entry that this one comes before, by its id."),
            ("after", "The entry that this one comes after, by its id."),
        ] {
            let place = match properties.remove(key) {
                Some(own) => json!({ "anyOf": [name(doc), own] }),
                None => name(doc),
            };
            properties.insert(key.to_owned(), place);
        }
    }
    entry
}

/// The schema of a map, to be embedded in another schema.
pub fn of_form(form: &Form) -> Value {
    let property = |key: &FormKey| {
        let mut schema = of(&key.holds, form.skips_empty(key));
        schema["description"] = json!(key.doc);
        if let Some(default) = key.default {
            schema["default"] = match default {
                DefaultValue::Whole(number) => json!(number),
                DefaultValue::Text(text) => json!(text),
                DefaultValue::Flag(flag) => json!(flag),
            };
        }
        if !key.examples.is_empty() {
            let example = |text: &&str| serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            schema["examples"] = key.examples.iter().map(example).collect();
        }
        (key.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = form.keys.iter().map(property).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    let named: Vec<&str> =
        form.keys.iter().filter(|key| matches!(key.required, Requirement::Named(..))).map(|key| key.name).collect();
    if !named.is_empty() {
        schema["required"] = json!(named);
    }
    schema
}

/// The schema of a value. If `may` (the key is optional), a collection may also be null.
fn of(holds: &ValueForm, may: bool) -> Value {
    let kind = |name: &str| if may { json!([name, "null"]) } else { json!(name) };
    match holds {
        ValueForm::Any => json!({}),
        ValueForm::Custom(schema) => schema(),
        ValueForm::Label => json!({ "type": ["string", "null"] }),
        ValueForm::Text | ValueForm::Reference => json!({ "type": "string", "pattern": "\\S" }),
        ValueForm::Matching(pattern) => json!({ "type": "string", "pattern": pattern }),
        ValueForm::Script => json!({ "type": "string", "pattern": "^[^#]+\\.rhai#[A-Za-z_][A-Za-z0-9_]*$" }),
        ValueForm::Expression => json!({ "type": ["string", "boolean"] }),
        ValueForm::Distinct(_) => {
            json!({ "type": kind("array"), "items": { "type": "string", "pattern": "\\S" }, "uniqueItems": true })
        }
        ValueForm::NonEmptyList(item) => json!({ "type": "array", "items": of(item, false), "minItems": 1 }),
        ValueForm::FirstMatching(forms) => {
            let mut forms: Vec<Value> = forms.iter().map(|form| of(form, false)).collect();
            forms.extend(may.then(|| json!({ "type": "null" })));
            json!({ "anyOf": forms })
        }
        ValueForm::Pattern(0) => json!({ "type": "string", "pattern": "\\S", "format": "regex" }),
        ValueForm::Pattern(_) => json!({ "type": "string", "pattern": "\\((?:[^?]|\\?P?<)", "format": "regex" }),
        ValueForm::Name(to) => json!({ "type": "string", "pattern": "\\S", "$comment": format!("a name under `{to}`") }),
        ValueForm::Bool => json!({ "type": kind("boolean") }),
        ValueForm::Number(least, most) => json!({ "type": kind("number"), "minimum": least, "maximum": most }),
        ValueForm::Whole(least, most) => json!({ "type": kind("integer"), "minimum": least, "maximum": most }),
        ValueForm::Word(words) => {
            let mut words: Vec<Value> = words.iter().map(|word| json!(word)).collect();
            words.extend(may.then_some(Value::Null));
            json!({ "enum": words })
        }
        ValueForm::List(item) => {
            let mut schema = of(item, false);
            // Items of a list are never merged with a base and have to be complete.
            if let ValueForm::Map(form) = item {
                let names = form.keys.iter().filter(|key| key.is_required()).map(|key| key.name);
                let mut names: Vec<&str> = names.collect();
                names.extend(form.keys.iter().filter(|key| matches!(key.required, Requirement::Named(..))).map(|key| key.name));
                if !names.is_empty() {
                    schema["required"] = json!(names);
                }
            }
            json!({ "type": kind("array"), "items": schema })
        }
        ValueForm::Records(form, id) => {
            let mut item = of_form(form);
            item["required"] = json!([id]);
            json!({ "type": kind("array"), "items": item })
        }
        ValueForm::Entries(item) => {
            let mut entry = of(item, false);
            if let ValueForm::Map(form) = item
                && form.empty == MayBeEmpty::AllButTexts
            {
                entry["type"] = json!(["object", "null"]);
            }
            json!({ "type": kind("object"), "propertyNames": { "pattern": "\\S" }, "additionalProperties": entry })
        }
        ValueForm::Map(form) | ValueForm::Hidden(form) => {
            let mut schema = of_form(form);
            schema["type"] = kind("object");
            schema
        }
    }
}

/// The required keys alone, at any depth.
fn required(form: &Form) -> Option<Value> {
    let names: Vec<&str> = form.keys.iter().filter(|key| key.is_required()).map(|key| key.name).collect();
    let below = |key: &FormKey| Some((key.name.to_owned(), required_below(&key.holds)?));
    let properties: Map<String, Value> = form.keys.iter().filter_map(below).collect();
    let kind = if names.is_empty() { json!(["object", "null"]) } else { json!("object") };
    (!names.is_empty() || !properties.is_empty()).then(|| json!({ "type": kind, "required": names, "properties": properties }))
}

fn required_below(holds: &ValueForm) -> Option<Value> {
    match holds {
        ValueForm::Map(form) | ValueForm::Hidden(form) => required(form),
        ValueForm::Records(form, _) => Some(json!({ "items": required(form)? })),
        ValueForm::List(item) => Some(json!({ "items": required_below(item)? })),
        ValueForm::Entries(item) => Some(json!({ "additionalProperties": required_below(item)? })),
        _ => None,
    }
}
