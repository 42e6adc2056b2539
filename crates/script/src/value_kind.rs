//! Names of the types of values.

use super::fault::ScriptFault;
use super::view::{ListView, ObjectView};
use rhai::{Dynamic, FnPtr};

pub(super) type Exclusive = std::ops::Range<i64>;
pub(super) type Inclusive = std::ops::RangeInclusive<i64>;

pub(super) fn is_list(value: &Dynamic) -> bool {
    value.is_array() || value.is::<ListView>()
}

/// The name of a value's type, with an article: `a string`, `nothing`.
pub(crate) fn kind_of(value: &Dynamic) -> &'static str {
    match value {
        v if v.is_unit() => "nothing",
        v if v.is_bool() => "a bool",
        v if v.is_int() || v.is_float() => "a number",
        v if v.is_string() => "a string",
        v if v.is_char() => "a character",
        v if is_list(v) => "a list",
        v if v.is_map() || v.is::<ObjectView>() => "an object",
        v if v.is::<FnPtr>() => "a function",
        v if v.is::<Exclusive>() || v.is::<Inclusive>() => "a range",
        v if v.is::<ScriptFault>() => "an error",
        _ => "a value of another kind",
    }
}
