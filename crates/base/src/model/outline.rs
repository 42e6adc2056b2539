//! A compact outline of an artifact shape, for the author of an artifact.

use super::shape::{Kind, Shape};
use std::fmt::Write as _;

impl Shape {
    /// The shape as JSON with a description in place of each value, one field per line: `"confidence": number from 0 to 1,  //
    /// required`.
    pub fn outline(&self) -> String {
        let mut out = String::new();
        object(self, 0, &mut out);
        out
    }
}

fn object(shape: &Shape, depth: usize, out: &mut String) {
    out.push_str("{\n");
    for (index, field) in shape.fields.iter().enumerate() {
        let _ = write!(out, "{:width$}\"{}\": ", "", field.name, width = 2 * (depth + 1));
        kind(&field.kind, depth + 1, out);
        let comma = if index + 1 < shape.fields.len() { "," } else { "" };
        let _ = writeln!(out, "{comma}{}", if field.required { "  // required" } else { "" });
    }
    let _ = write!(out, "{:width$}}}", "", width = 2 * depth);
}

fn kind(of: &Kind, depth: usize, out: &mut String) {
    match of {
        Kind::Any => out.push_str("anything"),
        Kind::Bool => out.push_str("true or false"),
        Kind::Int { min, max } => out.push_str(&numbers("whole number", *min, *max)),
        Kind::Number { min, max } => out.push_str(&numbers("number", *min, *max)),
        Kind::Text { one_of } if one_of.is_empty() => out.push_str("string"),
        Kind::Text { one_of } => {
            let words: Vec<String> = one_of.iter().map(|word| format!("{word:?}")).collect();
            out.push_str(&words.join(" or "));
        }
        Kind::List(item) => {
            out.push('[');
            kind(item, depth, out);
            out.push_str(", ...]");
        }
        Kind::Object(shape) => object(shape, depth, out),
        Kind::Map(item) => {
            out.push_str("{ any name: ");
            kind(item, depth, out);
            out.push_str(", ... }");
        }
    }
}

fn numbers<T: std::fmt::Display>(name: &str, min: Option<T>, max: Option<T>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{name} from {min} to {max}"),
        (Some(min), None) => format!("{name}, at least {min}"),
        (None, Some(max)) => format!("{name}, at most {max}"),
        (None, None) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape::Field;
    use super::*;
    use std::sync::Arc;

    #[test]
    fn every_kind_is_described() {
        let field = |name: &str, kind, required| Field { name: name.into(), kind, required };
        let text = |words: &[&str]| Kind::Text { one_of: words.iter().map(ToString::to_string).collect() };
        let inner = Shape {
            name: "r".into(),
            sparse: false,
            fields: vec![field("name", text(&[]), true), field("paths", Kind::List(Box::new(text(&[]))), false)],
        };
        let shape = Shape {
            name: "a".into(),
            sparse: false,
            fields: vec![
                field("match", Kind::Bool, true),
                field("score", Kind::Number { min: Some(0.0), max: Some(1.0) }, true),
                field("id", Kind::Int { min: Some(1), max: None }, false),
                field("decision", text(&["approve", "overturn"]), false),
                field("repos", Kind::List(Box::new(Kind::Object(Arc::new(inner)))), false),
                field("more", Kind::Map(Box::new(Kind::Any)), false),
            ],
        };
        let wanted = r#"{
  "match": true or false,  // required
  "score": number from 0 to 1,  // required
  "id": whole number, at least 1,
  "decision": "approve" or "overturn",
  "repos": [{
    "name": string,  // required
    "paths": [string, ...]
  }, ...],
  "more": { any name: anything, ... }
}"#;
        assert_eq!(shape.outline(), wanted);
    }
}
