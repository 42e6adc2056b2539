//! Limits on the depth and size of values that scripts add to a walk.

use serde_json::{Map, Value};

/// The deepest nesting of what edges add to the context. The context is an input of later rules; one that nested itself at every
/// step would become unreadable.
const CONTEXT_DEPTH: usize = 32;
/// The largest context, in characters of its JSON.
const CONTEXT_SIZE: usize = 1 << 20;

/// Checks what an edge adds to a context; the error names the limit exceeded.
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

/// Checks that the items of branches stay within the limits of a context.
pub(super) fn check_size(items: &[Value]) -> Result<(), String> {
    check_bounds(items, "an item of `foreach`", "the items of `foreach`")
}

/// Checks values against the limits; `one` and `all` name them in the error.
pub(super) fn check_bounds(items: &[Value], one: &str, all: &str) -> Result<(), String> {
    if items.iter().any(|item| depth(item) >= CONTEXT_DEPTH) {
        return Err(format!("{one} nests deeper than {CONTEXT_DEPTH} levels"));
    }
    let size: usize = items.iter().map(weight).sum();
    if size > CONTEXT_SIZE { Err(format!("{all} have more than {CONTEXT_SIZE} characters")) } else { Ok(()) }
}

/// The nesting depth of a value.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The approximate number of JSON characters of a value.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| 1 + weight(item)).sum::<usize>(),
        Value::Object(fields) => 2 + fields.iter().map(|(key, field)| 4 + key.len() + weight(field)).sum::<usize>(),
        _ => 5,
    }
}
