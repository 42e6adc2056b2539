//! Generates a reference of the keys of a form, in Markdown: one table per map, under the paths where it may stand.

use super::table::{DefaultValue, Form, FormKey, Requirement, ValueForm};
use serde_json::Value;
use std::fmt::Write as _;

/// A map with its rows: key, value, default and documentation.
struct ReferenceTable {
    /// The noun of its form, which distinguishes forms.
    what: &'static str,
    paths: Vec<String>,
    rows: Vec<[String; 4]>,
}

/// The tables of a form and of all maps in it. `title` is the heading of the outermost one.
pub fn reference(title: &str, form: &'static Form) -> String {
    let mut tables = Vec::new();
    add_form(&mut tables, "", form);
    let mut out = String::new();
    for table in tables {
        let paths: Vec<String> = table.paths.iter().filter(|path| !path.is_empty()).map(|path| format!("`{path}`")).collect();
        let heading = if paths.is_empty() { title.to_owned() } else { paths.join(", ") };
        // Writing to a string cannot fail.
        _ = writeln!(out, "\n## {heading}\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |");
        for row in table.rows {
            _ = writeln!(out, "| {} |", row.map(|cell| cell.replace('|', "\\|")).join(" | "));
        }
    }
    out
}

fn add_form(tables: &mut Vec<ReferenceTable>, path: &str, form: &'static Form) {
    if let Some(known) = tables.iter_mut().find(|known| known.what == form.what) {
        known.paths.push(path.to_owned());
        return;
    }
    tables.push(ReferenceTable { what: form.what, paths: vec![path.to_owned()], rows: form.keys.iter().map(row).collect() });
    for key in form.keys {
        let path = if path.is_empty() { key.name.to_owned() } else { format!("{path}.{}", key.name) };
        add_maps(tables, path, &key.holds);
    }
}

/// Adds the maps within a value.
fn add_maps(tables: &mut Vec<ReferenceTable>, path: String, holds: &'static ValueForm) {
    match holds {
        ValueForm::Map(form) | ValueForm::Hidden(form) => add_form(tables, &path, form),
        ValueForm::Records(form, _) => add_form(tables, &format!("{path}[]"), form),
        ValueForm::List(item) | ValueForm::NonEmptyList(item) => add_maps(tables, format!("{path}[]"), item),
        ValueForm::Entries(item) => add_maps(tables, format!("{path}.NAME"), item),
        ValueForm::FirstMatching(forms) => forms.iter().for_each(|form| add_maps(tables, path.clone(), form)),
        ValueForm::Custom(schema) => {
            let schema = schema();
            let Some(keys) = schema["properties"].as_object() else { return };
            let text = |text: &Value| text.as_str().unwrap_or_default().to_owned();
            let row =
                |(name, key): (&String, &Value)| [format!("`{name}`"), of_schema(key), String::new(), text(&key["description"])];
            tables.push(ReferenceTable { what: "", paths: vec![path], rows: keys.iter().map(row).collect() });
        }
        _ => {}
    }
}

fn row(key: &FormKey) -> [String; 4] {
    let default = match (key.default, key.required) {
        (Some(DefaultValue::Whole(number)), _) => format!("`{number}`"),
        (Some(DefaultValue::Text(text)), _) => format!("`{text}`"),
        (Some(DefaultValue::Flag(flag)), _) => format!("`{flag}`"),
        (None, Requirement::Required | Requirement::Named(..)) => "required".to_owned(),
        (None, _) => String::new(),
    };
    let examples = key.examples.iter().map(|example| format!("`{example}`")).collect::<Vec<_>>().join(", ");
    let doc = if examples.is_empty() { key.doc.to_owned() } else { format!("{} For example {examples}.", key.doc) };
    [format!("`{}`", key.name), of(&key.holds), default, doc]
}

/// The type of a value in words.
fn of(holds: &ValueForm) -> String {
    match holds {
        ValueForm::Any => "value".to_owned(),
        ValueForm::Custom(schema) => of_schema(&schema()),
        ValueForm::Text | ValueForm::Label | ValueForm::Reference => "string".to_owned(),
        ValueForm::Matching(pattern) => format!("string that matches `{pattern}`"),
        ValueForm::Script => "`FILE.rhai#FUNCTION`".to_owned(),
        ValueForm::Expression => "expression".to_owned(),
        ValueForm::Bool => words(&["true", "false"]),
        ValueForm::Number(least, most) if *most >= f64::MAX => format!("number, {least} or more"),
        ValueForm::Number(least, most) => format!("number from {least} to {most}"),
        ValueForm::Whole(least, i64::MAX) => format!("whole number, {least} or more"),
        ValueForm::Whole(least, most) => format!("whole number from {least} to {most}"),
        ValueForm::Word(known) => words(known),
        ValueForm::Pattern(_) => "regular expression".to_owned(),
        ValueForm::Name(to) => format!("name of one of `{to}`"),
        ValueForm::List(item) | ValueForm::NonEmptyList(item) => format!("list of {}", many(item)),
        ValueForm::Distinct(_) => "list of strings".to_owned(),
        ValueForm::Records(..) => "list of maps".to_owned(),
        ValueForm::Entries(item) => format!("{} by name", many(item)),
        ValueForm::Map(_) | ValueForm::Hidden(_) => "map".to_owned(),
        ValueForm::FirstMatching(forms) => forms.iter().map(of).collect::<Vec<_>>().join(" or "),
    }
}

/// Several values of a type in words.
fn many(item: &ValueForm) -> String {
    match item {
        ValueForm::FirstMatching(forms) => forms.iter().map(many).collect::<Vec<_>>().join(" or "),
        item => match of(item).as_str() {
            one @ ("value" | "string" | "map") => format!("{one}s"),
            other => other.to_owned(),
        },
    }
}

/// The type of a value with a reader of its own, from its schema.
fn of_schema(schema: &Value) -> String {
    if let Some(known) = schema["enum"].as_array() {
        return words(&known.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    }
    let types = schema["type"].as_array().map_or(std::slice::from_ref(&schema["type"]), Vec::as_slice);
    let word = |name: &Value| match name.as_str()? {
        "object" => Some("map"),
        "array" => Some("list"),
        "string" => Some("string"),
        "number" => Some("number"),
        "integer" => Some("whole number"),
        "boolean" => Some("`true` or `false`"),
        _ => None,
    };
    types.iter().filter_map(word).collect::<Vec<_>>().join(" or ")
}

fn words(known: &[&str]) -> String {
    known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: Form = Form {
        what: "a part",
        keys: &[
            FormKey::required("name", ValueForm::Matching("a|b"), "Its name."),
            FormKey::new("most", ValueForm::Number(0.0, f64::MAX), "A bound.").default_value(DefaultValue::Whole(3)),
        ],
        ..Form::PLAIN
    };
    const WHOLE: Form = Form {
        what: "the file",
        keys: &[
            FormKey::new("parts", ValueForm::Entries(&ValueForm::Map(&PART)), "The parts."),
            FormKey::new("words", ValueForm::List(&ValueForm::Text), "Words.").examples(&["[\"x\"]"]),
            FormKey::new("first", ValueForm::Hidden(&PART), "One more."),
        ],
        ..Form::PLAIN
    };

    #[test]
    fn each_map_is_described_once() {
        assert_eq!(
            reference("The file", &WHOLE),
            "\n## The file\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n| `parts` | maps by name |  | The parts. |\n\
             | `words` | list of strings |  | Words. For example `[\"x\"]`. |\n| `first` | map |  | One more. |\n\n\
             ## `parts.NAME`, `first`\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n\
             | `name` | string that matches `a\\|b` | required | Its name. |\n| `most` | number, 0 or more | `3` | A bound. |\n"
        );
    }
}
