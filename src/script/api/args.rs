//! From what scripts pass to what Rust works on, and back: every function takes script values and host views alike.

use rhai::{Array, Dynamic, EvalAltResult, ImmutableString, Map, Position};

/// What a host function returns.
pub(super) type Outcome<T> = Result<T, Box<EvalAltResult>>;

/// The longest text, in bytes, that a function produces.
pub(super) const MAX_TEXT: usize = 1 << 20;

/// The most items that a function produces.
pub(super) const MAX_ITEMS: usize = 100_000;

/// The deepest nesting that is compared.
const MAX_DEPTH: usize = 64;

/// A runtime error with a message; the engine adds the position of the call.
pub(super) fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Box::new(EvalAltResult::ErrorRuntime(message.into().into(), Position::NONE)))
}

/// The items of a list.
pub(super) fn list(value: &Dynamic) -> Outcome<Vec<Dynamic>> {
    if let Some(array) = value.read_lock::<Array>() {
        return Ok(array.clone());
    }
    fail(format!("expected a list, got {}", kind(value)))
}

/// The items of a list of texts.
pub(super) fn texts(value: &Dynamic) -> Outcome<Vec<ImmutableString>> {
    list(value)?.iter().map(text).collect()
}

/// A text.
pub(super) fn text(value: &Dynamic) -> Outcome<ImmutableString> {
    match value.read_lock::<ImmutableString>() {
        Some(text) => Ok(text.clone()),
        None => fail(format!("expected a string, got {}", kind(value))),
    }
}

/// Something with named fields.
pub(super) enum Object {
    /// A script's own map.
    Map(Map),
}

impl Object {
    /// The value of a field that is there.
    pub(super) fn get(&self, name: &str) -> Option<Dynamic> {
        match self {
            Self::Map(map) => map.get(name).cloned(),
        }
    }

    /// Its fields, in the order of their names.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, Dynamic)> {
        match self {
            Self::Map(map) => map.iter().map(|(name, value)| (name.as_str(), value.clone())),
        }
    }

    /// The value of a field that every item must have.
    pub(super) fn require(&self, name: &str) -> Outcome<Dynamic> {
        if let Some(value) = self.get(name) {
            return Ok(value);
        }
        let hint = crate::diag::nearest(name, self.fields().map(|(name, _)| name));
        fail(format!("an item has no field `{name}`{}", hint.map_or(String::new(), |hint| format!("; did you mean `{hint}`?"))))
    }
}

/// The fields of a map or object.
pub(super) fn object(value: &Dynamic) -> Outcome<Object> {
    if let Some(map) = value.read_lock::<Map>() {
        return Ok(Object::Map(map.clone()));
    }
    fail(format!("expected a map, got {}", kind(value)))
}

/// A number, with `1` and `1.0` kept apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    /// A whole number.
    Int(i64),
    /// A float.
    Float(f64),
}

impl Number {
    /// Its value; whole numbers beyond 2^53 are rounded.
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

/// A number.
pub(super) fn number(value: &Dynamic) -> Outcome<Number> {
    match (value.as_int(), value.as_float()) {
        (Ok(int), _) => Ok(Number::Int(int)),
        (_, Ok(float)) => Ok(Number::Float(float)),
        _ => fail(format!("expected a number, got {}", kind(value))),
    }
}

/// A whole number that is not negative, at most `max`.
pub(super) fn count(value: i64, max: usize) -> usize {
    usize::try_from(value.max(0)).unwrap_or(usize::MAX).min(max)
}

/// The text if it is not too long.
pub(super) fn bounded(text: String) -> Outcome<String> {
    if text.len() > MAX_TEXT {
        return fail(format!("the result would be longer than {MAX_TEXT} bytes"));
    }
    Ok(text)
}

/// A text that is the same for equal values and differs for others; whole numbers equal floats of the same value.
pub(super) fn key(value: &Dynamic) -> Outcome<String> {
    key_at(value, 0)
}

fn key_at(value: &Dynamic, depth: usize) -> Outcome<String> {
    if depth > MAX_DEPTH {
        return fail(format!("values nested more than {MAX_DEPTH} deep cannot be compared"));
    }
    if let Ok(number) = number(value) {
        return Ok(match number {
            Number::Int(int) => int.to_string(),
            // `+ 0.0` makes a negative zero a zero.
            Number::Float(float) if float.fract() == 0.0 && float.abs() < 9e15 => format!("{:.0}", float + 0.0),
            Number::Float(float) => format!("{float:?}"),
        });
    }
    if let Ok(text) = text(value) {
        return Ok(format!("{text:?}"));
    }
    if let Ok(items) = list(value) {
        let keys: Vec<_> = items.iter().map(|item| key_at(item, depth + 1)).collect::<Outcome<_>>()?;
        return Ok(format!("[{}]", keys.join(",")));
    }
    if let Ok(object) = object(value) {
        let field = |(name, value): (&str, Dynamic)| Ok(format!("{name:?}:{}", key_at(&value, depth + 1)?));
        let keys: Vec<_> = object.fields().map(field).collect::<Outcome<_>>()?;
        return Ok(format!("{{{}}}", keys.join(",")));
    }
    if value.is_unit() || value.is_bool() || value.is_char() {
        return Ok(format!("{}:{value}", value.type_name()));
    }
    fail(format!("{} cannot be compared", kind(value)))
}

/// What people call the type of a value, with an article.
pub(super) fn kind(value: &Dynamic) -> &'static str {
    if value.is_unit() {
        "()"
    } else if value.is_bool() {
        "a bool"
    } else if value.is_int() {
        "a whole number"
    } else if value.is_float() {
        "a number"
    } else if value.is_string() {
        "a string"
    } else if value.is_array() {
        "a list"
    } else if value.is_map() {
        "a map"
    } else if value.is_fnptr() {
        "a function"
    } else {
        "a value of another type"
    }
}
