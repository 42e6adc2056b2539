//! The names of the functions of the language itself and of input views, sorted.
//!
//! Reading the engine's function metadata takes longer than linking a whole project, so the names are listed here, and a test
//! compares them with the engine.

/// Names of functions, with any parameters.
#[rustfmt::skip]
pub const NAMES: &[&str] = &[
    "E", "PI", "abs", "acos", "acosh", "all", "any", "append", "as_string", "asin", "asinh", "atan", "atanh", "back_trace",
    "bits", "blob", "bytes", "ceiling", "chars", "chop", "clear", "contains", "cos", "cosh", "crop", "dedup", "drain",
    "elapsed", "end", "ends_with", "exp", "extract", "fill_with", "filter", "find", "find_map", "first", "floor", "for_each",
    "fraction", "get", "get_bit", "get_bits", "hypot", "index_of", "insert", "int", "is_anonymous",
    "is_empty", "is_even", "is_exclusive", "is_finite", "is_inclusive", "is_infinite", "is_nan", "is_odd", "is_zero", "join",
    "keys", "last", "len", "ln", "log", "make_lower", "make_upper", "map", "max", "min", "mixin", "name", "none", "order",
    "order_by", "order_desc", "pad", "parse_be_float", "parse_be_int", "parse_float", "parse_int", "parse_json",
    "parse_le_float", "parse_le_int", "pop", "push", "range", "reduce", "reduce_rev", "remove", "replace", "retain", "reverse",
    "round", "set", "set_bit", "set_bits", "set_tag", "shift", "sign", "sin", "sinh", "some", "sort", "sort_by", "sort_desc",
    "splice", "split", "split_rev", "sqrt", "start", "starts_with", "sub_string", "tag", "take", "tan", "tanh", "to_array",
    "to_binary", "to_blob", "to_chars", "to_debug", "to_degrees", "to_float", "to_hex", "to_int", "to_json", "to_lower",
    "to_map", "to_octal", "to_radians", "to_string", "to_upper", "trim", "truncate", "values", "write_ascii", "write_be",
    "write_le", "write_utf8", "zip",
];

/// Words that look like function calls but are part of the language.
const WORDS: &[&str] = &["Fn", "call", "curry", "is_def_fn", "is_def_var", "is_shared", "type_of"];

/// Whether the language has a function with this name.
pub(crate) fn has(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok() || WORDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forbidden::FORBIDDEN;
    use crate::{ScriptLimits, build_engine};
    use std::collections::BTreeSet;

    #[test]
    fn the_names_match_the_engine_and_are_sorted() {
        let engine = build_engine(&ScriptLimits::default(), [], |_| {});
        let all = engine.collect_fn_metadata(None, |function| Some(function.metadata.name.to_string()), true);
        let is_name = |name: &String| {
            name.starts_with(|ch: char| ch.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
                && FORBIDDEN.iter().all(|(word, _)| word != name)
        };
        let names: BTreeSet<String> = all.into_iter().filter(is_name).collect();
        assert_eq!(NAMES, names.iter().map(String::as_str).collect::<Vec<_>>());
    }
}
