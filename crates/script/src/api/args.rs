//! Converts arguments of host functions from script values to Rust values and back; every function accepts script values and host
//! views alike.

use crate::compare::kind_of;
use crate::fault::ScriptFault;
use crate::guard::charge;
use crate::view::{ListView, ObjectView, View};
use asterisk_diag::did_you_mean;
use rhai::{Array, Dynamic, EvalAltResult, ImmutableString, Map};

/// The result of a host function.
pub(super) type HostFnResult<T> = Result<T, Box<EvalAltResult>>;

/// Maximum length in bytes of a string produced by a function.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// Maximum number of items produced by a function.
pub(super) const MAX_ITEMS: usize = 10_000;

/// Maximum nesting depth of values that are compared.
const MAX_DEPTH: usize = 64;

/// The code of errors about arguments.
const CODE: &str = "script/argument";

/// Returns a run-time error with a message; the engine adds the position of the call.
pub(super) fn fail<T>(message: impl Into<String>) -> HostFnResult<T> {
    ScriptFault::new(CODE, message).fail()
}

fn wrong<T>(wanted: &str, value: &Dynamic) -> HostFnResult<T> {
    fail(format!("expected {wanted}, got {}", kind_of(value)))
}

/// Charges the length of a string to the call, for functions that read it once.
pub(super) fn charged(text: &str) -> HostFnResult<&str> {
    charge(text.len())?;
    Ok(text)
}

/// The items of a list. Their number is charged to the call.
pub(super) fn list(value: &Dynamic) -> HostFnResult<Vec<Dynamic>> {
    const ITEM: usize = size_of::<Dynamic>();
    if let Some(array) = value.read_lock::<Array>() {
        charge(array.len() * ITEM)?;
        return Ok(array.clone());
    }
    if let Some(list) = value.read_lock::<ListView>() {
        charge(list.items().len() * ITEM)?;
        return Ok(list.items().iter().map(View::dynamic).collect());
    }
    wrong("a list", value)
}

/// The items of a list of strings.
pub(super) fn texts(value: &Dynamic) -> HostFnResult<Vec<ImmutableString>> {
    list(value)?.iter().map(text).collect()
}

/// A string. Its length is charged to the call.
pub(super) fn text(value: &Dynamic) -> HostFnResult<ImmutableString> {
    match value.read_lock::<ImmutableString>() {
        Some(text) => {
            charge(text.len())?;
            Ok(text.clone())
        }
        None => wrong("a string", value),
    }
}

/// An argument with named fields.
pub(super) enum ObjectArg {
    /// A map of the script.
    Map(Map),
    /// A view, in which an absent field may read as a zero value.
    View(ObjectView),
}

impl ObjectArg {
    /// The value of a field that is present and readable by scripts.
    pub(super) fn get(&self, name: &str) -> Option<Dynamic> {
        match self {
            Self::Map(map) => map.get(name).cloned(),
            Self::View(object) if object.has(name) => object.field(name).map(|view| view.dynamic()),
            Self::View(_) => None,
        }
    }

    /// The fields, in order of their names.
    pub(super) fn fields(&self) -> Vec<(&str, Dynamic)> {
        match self {
            Self::Map(map) => map.iter().map(|(name, value)| (name.as_str(), value.clone())).collect(),
            Self::View(object) => object.entries().map(|(name, view)| (name, view.dynamic())).collect(),
        }
    }

    /// A required field, as a script would read it.
    pub(super) fn require(&self, name: &str) -> HostFnResult<Dynamic> {
        match self {
            Self::View(object) => object.read(name),
            Self::Map(map) => map.get(name).cloned().map_or_else(
                || {
                    let fault = ScriptFault::new(CODE, format!("an item lacks the field `{name}`"));
                    fault.maybe_help(did_you_mean(name, map.keys().map(rhai::Identifier::as_str))).fail()
                },
                Ok,
            ),
        }
    }
}

/// Converts a map or object.
pub(super) fn object(value: &Dynamic) -> HostFnResult<ObjectArg> {
    if let Some(map) = value.read_lock::<Map>() {
        charge(map.len() * size_of::<Dynamic>())?;
        return Ok(ObjectArg::Map(map.clone()));
    }
    if let Some(object) = value.read_lock::<ObjectView>() {
        return Ok(ObjectArg::View(object.clone()));
    }
    wrong("an object", value)
}

/// A number; `1` and `1.0` are kept apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
}

impl Number {
    /// The value as a float; integers beyond 2^53 are rounded.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn float(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }
}

impl From<Number> for Dynamic {
    fn from(number: Number) -> Self {
        match number {
            Number::Int(int) => int.into(),
            Number::Float(float) => float.into(),
        }
    }
}

/// Converts a number.
pub(super) fn number(value: &Dynamic) -> HostFnResult<Number> {
    match (value.as_int(), value.as_float()) {
        (Ok(int), _) => Ok(Number::Int(int)),
        (_, Ok(float)) => Ok(Number::Float(float)),
        _ => wrong("a number", value),
    }
}

/// Clamps an integer to the range from 0 to `max`.
pub(super) fn count(value: i64, max: usize) -> usize {
    usize::try_from(value.max(0)).unwrap_or(usize::MAX).min(max)
}

/// Checks that a string is within [`MAX_TEXT`].
pub(super) fn bounded(text: String) -> HostFnResult<String> {
    if text.len() > MAX_TEXT {
        return fail(format!("the result would be longer than {MAX_TEXT} bytes"));
    }
    Ok(text)
}

/// A string that is equal for equal values only; integers equal floats of the same value.
pub(super) fn key(value: &Dynamic) -> HostFnResult<String> {
    key_at(value, 0)
}

fn is_list(value: &Dynamic) -> bool {
    value.is_array() || value.read_lock::<ListView>().is_some()
}

fn key_at(value: &Dynamic, depth: usize) -> HostFnResult<String> {
    if depth > MAX_DEPTH {
        return fail(format!("values nested more than {MAX_DEPTH} deep cannot be compared"));
    }
    if let Ok(number) = number(value) {
        return Ok(match number {
            Number::Int(int) => int.to_string(),
            // `+ 0.0` turns a negative zero into a zero.
            Number::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => format!("{:.0}", float + 0.0),
            Number::Float(float) => format!("{float:?}"),
        });
    }
    if value.is_string() {
        return Ok(format!("{:?}", text(value)?));
    }
    if is_list(value) {
        let items = list(value)?;
        let keys: Vec<_> = items.iter().map(|item| key_at(item, depth + 1)).collect::<HostFnResult<_>>()?;
        return Ok(format!("[{}]", keys.join(",")));
    }
    if value.is_map() || value.read_lock::<ObjectView>().is_some() {
        let object = object(value)?;
        let field = |(name, value): (&str, Dynamic)| Ok(format!("{name:?}:{}", key_at(&value, depth + 1)?));
        let keys: Vec<_> = object.fields().into_iter().map(field).collect::<HostFnResult<_>>()?;
        return Ok(format!("{{{}}}", keys.join(",")));
    }
    if value.is_unit() || value.is_bool() || value.is_char() {
        return Ok(format!("{}:{value}", value.type_name()));
    }
    fail(format!("{} cannot be compared", kind_of(value)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::tests::eval_with;
    use crate::View;
    use asterisk_base::model::{Field, Kind, Shape};
    use serde_json::json;
    use std::sync::Arc;

    fn artifact() -> View {
        let field = |name: &str, kind| Field { name: name.into(), kind, required: false };
        let repo = Shape {
            name: "repo".into(),
            sparse: false,
            fields: vec![field("name", Kind::Text { one_of: vec![] }), field("score", Kind::Number { min: None, max: None })],
        };
        let repos = Kind::List(Box::new(Kind::Object(Arc::new(repo))));
        let kind = Kind::Object(Arc::new(Shape {
            name: "artifact".into(),
            sparse: false,
            fields: vec![field("repos", repos), field("label", Kind::Any)],
        }));
        View::of(
            &json!({"repos": [{"name": "a", "score": 1}, {"name": "b", "score": 3}, {"name": "c"}], "extra": 1}),
            &kind,
            "artifact",
        )
    }

    #[test]
    fn views_are_accepted_like_script_values() {
        for (script, expected) in [
            ("max_by(artifact.repos, \"score\").name", "\"b\""),
            ("min_by(artifact.repos, \"score\").name", "\"c\""),
            ("artifact.repos.pluck(\"score\")", "[1.0, 3.0, 0.0]"),
            ("sort_by_key(artifact.repos, \"score\").pluck(\"name\")", "[\"c\", \"a\", \"b\"]"),
            ("take(artifact.repos, 1)[0].name", "\"a\""),
            ("unique([artifact.repos[0], artifact.repos[0], artifact.repos[1]]).len()", "2"),
            ("unique([artifact.repos[0], #{name: \"a\", score: 1}]).len()", "1"),
            ("mean(artifact.repos.pluck(\"score\"))", "1.3333333333333333"),
            ("pick(artifact.repos[0], [\"name\", \"nope\"])", "#{\"name\": \"a\"}"),
            ("get_or(artifact.repos[2], \"score\", 0.5)", "0.5"),
            ("get_or(artifact, \"extra\", 2)", "2"),
            ("contains_any(\"about B\", artifact.repos.pluck(\"name\"))", "true"),
        ] {
            assert_eq!(format!("{:?}", eval_with(&artifact(), script).unwrap()), expected, "{script}");
        }
    }

    #[test]
    fn undeclared_fields_of_a_view_are_refused() {
        let error = eval_with(&artifact(), "pluck(artifact.repos, \"scor\")").unwrap_err();
        assert_eq!((error.code.as_ref(), error.help.as_deref()), ("rule/unknown-field", Some("did you mean `score`?")));
        let error = eval_with(&artifact(), "unique(artifact)").unwrap_err();
        assert_eq!((error.code.as_ref(), error.message.as_str()), ("script/argument", "expected a list, got an object"));
    }
}
