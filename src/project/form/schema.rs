//! The JSON Schema (2020-12) of a form.

use super::{Form, ValueForm};
use serde_json::{Map, Value, json};

/// The schema of files of a form. Where they may extend another file by the key `extends`, what is required is so only of a
/// file that does not.
pub(in crate::project) fn json_schema(title: &str, form: &Form) -> Value {
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

fn of_form(form: &Form) -> Value {
    let property = |key: &super::FormKey| {
        let mut schema = of(&key.holds, !key.required);
        schema["description"] = json!(key.doc);
        (key.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = form.keys.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The schema of a value; one that `may` be left out may also be written as nothing, if it is a collection.
fn of(holds: &ValueForm, may: bool) -> Value {
    let kind = |name: &str| if may { json!([name, "null"]) } else { json!(name) };
    match holds {
        ValueForm::Text => json!({ "type": "string", "pattern": "\\S" }),
        ValueForm::Pattern(_) => json!({ "type": "string", "pattern": "\\S", "format": "regex" }),
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
            // What is only listed is never laid over anything, and has to be whole.
            if let ValueForm::Map(form) = item {
                let names = form.keys.iter().filter(|key| key.required).map(|key| key.name);
                schema["required"] = names.collect();
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
            if let ValueForm::Map(_) = item {
                entry["type"] = json!(["object", "null"]);
            }
            json!({ "type": kind("object"), "propertyNames": { "pattern": "\\S" }, "additionalProperties": entry })
        }
        ValueForm::Map(form) => {
            let mut schema = of_form(form);
            schema["type"] = kind("object");
            schema
        }
    }
}

/// Only what has to be there, at any depth.
fn required(form: &Form) -> Option<Value> {
    let names: Vec<&str> = form.keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    let below = |key: &super::FormKey| Some((key.name.to_owned(), required_below(&key.holds)?));
    let properties: Map<String, Value> = form.keys.iter().filter_map(below).collect();
    let kind = if names.is_empty() { json!(["object", "null"]) } else { json!("object") };
    (!names.is_empty() || !properties.is_empty()).then(|| json!({ "type": kind, "required": names, "properties": properties }))
}

fn required_below(holds: &ValueForm) -> Option<Value> {
    match holds {
        ValueForm::Map(form) => required(form),
        ValueForm::Records(form, _) => Some(json!({ "items": required(form)? })),
        ValueForm::List(item) => Some(json!({ "items": required_below(item)? })),
        ValueForm::Entries(item) => Some(json!({ "additionalProperties": required_below(item)? })),
        _ => None,
    }
}
