//! Differences between two values.

use super::show::short;
use serde_json::Value;

/// Lists the parts that were added, removed or changed, a line each; `path` is the name of the values.
pub(super) fn differences(path: &str, before: &Value, after: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare(path, Some(before), Some(after), &mut lines);
    lines
}

fn compare(path: &str, before: Option<&Value>, after: Option<&Value>, lines: &mut Vec<String>) {
    match (before, after) {
        (Some(before), Some(after)) if before == after => {}
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let new = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(new) {
                compare(&format!("{path}.{key}"), before.get(key), after.get(key), lines);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for at in 0..before.len().max(after.len()) {
                compare(&format!("{path}[{at}]"), before.get(at), after.get(at), lines);
            }
        }
        (Some(before), Some(after)) => lines.push(format!("~ {path}: {} -> {}", short(before), short(after))),
        (Some(before), None) => lines.push(format!("- {path}: {}", short(before))),
        (None, Some(after)) => lines.push(format!("+ {path}: {}", short(after))),
        (None, None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_part_that_differs_has_a_line() {
        let (before, after) =
            (json!({"a": 1, "b": [1, 2], "c": {"d": "x"}, "e": 0}), json!({"a": 1, "b": [1, 3, 4], "c": {}, "f": true}));
        assert_eq!(
            differences("artifact", &before, &after),
            ["~ artifact.b[1]: 2 -> 3", "+ artifact.b[2]: 4", "- artifact.c.d: \"x\"", "- artifact.e: 0", "+ artifact.f: true"]
        );
        assert!(differences("artifact", &before, &before).is_empty());
    }
}
