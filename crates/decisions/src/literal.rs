//! Formats values as script literals.

use serde_json::{Number, Value};
use std::fmt::Write as _;

/// The widest map or list on one line, in characters.
const WIDTH: usize = 100;

/// Formats a value as a script literal, its lines after the first indented by `indent`.
pub(super) fn literal(value: &Value, indent: usize) -> String {
    let line = on_one_line(value);
    if line.chars().count() + indent <= WIDTH {
        return line;
    }
    let inner = " ".repeat(indent + 4);
    let end = " ".repeat(indent);
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<String> = items.iter().map(|item| format!("{inner}{},\n", literal(item, indent + 4))).collect();
            format!("[\n{}{end}]", items.concat())
        }
        Value::Object(fields) if !fields.is_empty() => {
            let field = |(name, value): (&String, &Value)| format!("{inner}{}: {},\n", key(name), literal(value, indent + 4));
            format!("#{{\n{}{end}}}", fields.iter().map(field).collect::<String>())
        }
        _ => line,
    }
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Null => "()".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => number(value),
        Value::String(text) => quoted(text),
        Value::Array(items) => format!("[{}]", items.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) if fields.is_empty() => "#{}".into(),
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(name, value)| format!("{}: {}", key(name), on_one_line(value))).collect();
            format!("#{{ {} }}", fields.join(", "))
        }
    }
}

/// Integers beyond the range of a script's are written as floats, as JSON reads them.
fn number(value: &Number) -> String {
    if let Some(whole) = value.as_i64() {
        return whole.to_string();
    }
    let text = format!("{:?}", value.as_f64().unwrap_or_default());
    match text.split_once('e') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
        _ => text,
    }
}

fn key(name: &str) -> String {
    let starts = name.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_');
    let word = starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if word { name.to_owned() } else { quoted(name) }
}

/// Quotes a text.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for ch in text.chars() {
        match ch {
            '"' | '\\' => out.extend(['\\', ch]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ch if ch.is_control() || is_invisible(ch) => drop(write!(out, "\\U{:08x}", u32::from(ch))),
            ch => out.push(ch),
        }
    }
    out.push('"');
    out
}

/// Characters that change how the text next to them is shown.
fn is_invisible(ch: char) -> bool {
    matches!(ch, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_diag::Source;
    use asterisk_script::{FunctionRef, Library, LibraryInputs};
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        let scripts = vec![Source::new("t.rhai", format!("fn f() {{ {text} }}"))];
        let library = Library::link(LibraryInputs { scripts, ..LibraryInputs::default() }, None)
            .unwrap_or_else(|found| panic!("{text}: {found}"));
        let reference = FunctionRef::parse("t.rhai#f").expect("a reference");
        library.function(&reference, 0).expect("there").call_json(&[]).unwrap_or_else(|found| panic!("{text}: {found}"))
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (i64::MIN + 1..=i64::MAX).prop_map(Value::from),
            any::<f64>().prop_filter("JSON numbers are finite", |n| n.is_finite()).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn literals_read_back(value in any_value()) {
            prop_assert_eq!(read(&literal(&value, 4)), value);
        }
    }

    #[test]
    fn long_values_are_broken_into_lines() {
        let value = json!({"match": true, "n": 1e300, "a b": "x".repeat(90), "list": ["y".repeat(60), "z".repeat(60)]});
        let text = literal(&value, 4);
        assert!(text.starts_with("#{\n        \"a b\": \"xx") && text.contains("\n        match: true,\n"), "{text}");
        assert!(text.ends_with("\n    }"), "{text}");
        assert_eq!(read(&text), value);
    }
}
