//! Converts script results to JSON.

use super::value_kind::kind_of;
use super::view::{ListView, ObjectView, View};
use asterisk_base::memory;
use rhai::Dynamic;
use serde_json::{Map, Value};

/// Maximum nesting depth; deeper JSON could not be parsed back.
const DEEPEST: usize = 100;

/// Maximum size of the JSON, in bytes of text and parts of values. Inputs are shared: a list of ten thousand of them costs a
/// script nothing, but JSON shares nothing.
const LARGEST: usize = 16 << 20;

/// Maximum memory of the JSON under construction. Small objects take many times the size of their text.
const MEMORY: usize = 128 << 20;

/// A value that cannot be converted to JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unconvertible {
    /// The path within the result: `$.items[2]`.
    pub(crate) path: String,
    /// The problem.
    pub(crate) what: String,
}

/// Converts a value to JSON.
pub(crate) fn from_dynamic(value: &Dynamic) -> Result<Value, Unconvertible> {
    let mut left = Left { bytes: LARGEST, memory: memory::held().saturating_add_unsigned(MEMORY) };
    convert(value, 0, &mut left).map_err(|(mut path, what)| {
        path.reverse();
        Unconvertible { path: format!("${}", path.concat()), what }
    })
}

/// The path in reverse order, collected while unwinding, and the problem.
type JsonFailure = (Vec<String>, String);

/// The remaining budget.
struct Left {
    bytes: usize,
    /// The amount this thread may hold, as counted by [`memory::held`].
    memory: isize,
}

fn convert(value: &Dynamic, depth: usize, left: &mut Left) -> Result<Value, JsonFailure> {
    let fail = |what: String| Err((Vec::new(), what));
    if depth > DEEPEST {
        return fail(format!("is nested more than {DEEPEST} deep"));
    }
    match left.bytes.checked_sub(size_of(value)) {
        Some(less) if memory::held() <= left.memory => left.bytes = less,
        Some(_) => return fail(format!("is too large: its JSON takes more than {} MiB of memory", MEMORY >> 20)),
        None => return fail(format!("is too large: more than {} MiB", LARGEST >> 20)),
    }
    if value.is_unit() {
        return Ok(Value::Null);
    }
    if let Ok(value) = value.as_bool() {
        return Ok(value.into());
    }
    if let Ok(value) = value.as_int() {
        return Ok(value.into());
    }
    if let Ok(value) = value.as_float() {
        return serde_json::Number::from_f64(value)
            .map_or_else(|| fail(format!("is `{value}`, which JSON cannot represent")), |number| Ok(number.into()));
    }
    if let Ok(value) = value.as_char() {
        return Ok(value.to_string().into());
    }
    if let Ok(value) = value.as_immutable_string_ref() {
        return Ok(value.as_str().into());
    }
    if let Some(object) = value.read_lock::<ObjectView>() {
        return Ok(View::from(object.clone()).json());
    }
    if let Some(list) = value.read_lock::<ListView>() {
        return Ok(View::from(list.clone()).json());
    }
    if let Ok(array) = value.as_array_ref() {
        let items = array
            .iter()
            .enumerate()
            .map(|(at, item)| convert(item, depth + 1, left).map_err(|failure| inside(failure, format!("[{at}]"))));
        return items.collect::<Result<Vec<_>, _>>().map(Value::Array);
    }
    if let Ok(map) = value.as_map_ref() {
        let entries = map.iter().map(|(key, item)| {
            let item = convert(item, depth + 1, left).map_err(|failure| inside(failure, format!(".{key}")))?;
            Ok((key.to_string(), item))
        });
        return entries.collect::<Result<Map<_, _>, _>>().map(Value::Object);
    }
    fail(format!("is {}, which is not data", kind_of(value)))
}

/// The approximate size of a value that is owned, or shared and about to be copied.
fn size_of(value: &Dynamic) -> usize {
    const PART: usize = 16;
    let own = value.as_immutable_string_ref().map_or(0, |text| text.len());
    let object = value.read_lock::<ObjectView>().map_or(0, |object| View::from(object.clone()).size());
    let list = value.read_lock::<ListView>().map_or(0, |list| View::from(list.clone()).size());
    PART + own + object + list
}

fn inside((mut path, what): JsonFailure, part: String) -> JsonFailure {
    path.push(part);
    (path, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rhai::{Array, FnPtr};
    use serde_json::json;

    #[test]
    fn values_of_all_kinds_convert() {
        let view = View::of(&json!({"a": [1, {"b": null}]}), &asterisk_base::model::Kind::Any, "x");
        let array: Array = vec![1.into(), 0.5.into(), 'c'.into(), "d".into(), true.into(), ().into(), view.dynamic()];
        let got = from_dynamic(&Dynamic::from_array(array));
        assert_eq!(got, Ok(json!([1, 0.5, "c", "d", true, null, {"a": [1, {"b": null}]}])));
    }

    #[test]
    fn non_data_is_refused_with_its_path() {
        let function = Dynamic::from(FnPtr::new("f").expect("a function"));
        let map: rhai::Map = [("a".into(), Dynamic::from_array(vec![1.into(), function]))].into();
        let failure = from_dynamic(&Dynamic::from_map(map)).expect_err("a function");
        assert_eq!(failure, Unconvertible { path: "$.a[1]".into(), what: "is a function, which is not data".into() });
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(from_dynamic(&bad.into()).expect_err("not finite").what.contains("cannot represent"), "{bad}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = (0..200).fold(Dynamic::UNIT, |inner, _| Dynamic::from_array(vec![inner]));
        assert!(from_dynamic(&deep).expect_err("deep").what.contains("nested"));
    }
}
