//! How deep and how large the values may be that scripts add to a walk.

use serde_json::{Map, Value};

/// How deep what edges add to the context may nest: a context is handed back to rules, and one that grew out of itself at
/// every turn could not be read again.
const CONTEXT_DEPTH: usize = 32;
/// How large the context may grow, in characters of its JSON.
const CONTEXT_SIZE: usize = 1 << 20;

/// Checks what an edge adds to a context; says what is out of bounds.
pub(super) fn check_context(added: &Map<String, Value>, context: &Map<String, Value>) -> Result<(), String> {
    let size = |context: &Map<String, Value>| context.values().map(weight).sum::<usize>();
    if added.values().any(|value| depth(value) >= CONTEXT_DEPTH) {
        Err(format!("what an edge adds to the context nests deeper than {CONTEXT_DEPTH} levels"))
    } else if !added.is_empty() && size(added) + size(context) > CONTEXT_SIZE {
        Err(format!("the context would be larger than {CONTEXT_SIZE} characters"))
    } else {
        Ok(())
    }
}

/// What the items of branches hold stays within the bounds of a context; else says why not.
pub(super) fn check_size(items: &[Value]) -> Result<(), String> {
    check_bounds(items, "an item of `foreach`", "the items of `foreach`")
}

/// The same of values that are called `one` and `all`.
pub(super) fn check_bounds(items: &[Value], one: &str, all: &str) -> Result<(), String> {
    if items.iter().any(|item| depth(item) >= CONTEXT_DEPTH) {
        return Err(format!("{one} nests deeper than {CONTEXT_DEPTH} levels"));
    }
    let size: usize = items.iter().map(weight).sum();
    if size > CONTEXT_SIZE { Err(format!("{all} have more than {CONTEXT_SIZE} characters")) } else { Ok(()) }
}

/// How deep a value nests.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// About how many characters of JSON a value takes.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| 1 + weight(item)).sum::<usize>(),
        Value::Object(fields) => 2 + fields.iter().map(|(key, field)| 4 + key.len() + weight(field)).sum::<usize>(),
        _ => 5,
    }
}
