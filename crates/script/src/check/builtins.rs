//! The types of functions not written in scripts: Rhai's own and the host API.

use super::types::{TEXTS, Type};
use crate::api;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The result of a list function that takes a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListResult {
    /// A list of some of its items.
    Items,
    /// One of its items or `()`.
    Item,
    /// A bool.
    Bool,
    /// Something else.
    Other,
}

/// The result of a list function that calls a function with items; `None` for other functions.
pub(super) fn over_items(name: &str) -> Option<ListResult> {
    Some(match name {
        "filter" | "order" | "order_by" => ListResult::Items,
        "find" => ListResult::Item,
        "any" | "some" | "all" | "none" => ListResult::Bool,
        "map" | "find_map" | "index_of" | "for_each" | "zip" | "sort" | "sort_by" | "dedup" | "retain" | "drain" => {
            ListResult::Other
        }
        _ => return None,
    })
}

/// Whether the callback takes two items of the list at a time.
pub(super) fn takes_pairs(name: &str) -> bool {
    matches!(name, "sort" | "sort_by" | "order" | "order_by" | "dedup")
}

/// Whether the callback takes an item of the list and one of another list.
pub(super) fn takes_others(name: &str) -> bool {
    name == "zip"
}

/// Whether the callback takes its previous result, then an item.
pub(super) fn accumulates(name: &str) -> bool {
    matches!(name, "reduce" | "reduce_rev")
}

/// Whether the function modifies the list or map it is called on.
pub(super) fn changes(name: &str) -> bool {
    matches!(
        name,
        "push"
            | "append"
            | "insert"
            | "pop"
            | "shift"
            | "remove"
            | "truncate"
            | "clear"
            | "reverse"
            | "sort"
            | "sort_by"
            | "retain"
            | "drain"
            | "dedup"
            | "splice"
            | "pad"
            | "chop"
            | "set"
            | "mixin"
            | "fill_with"
    )
}

/// What a function returns of the list passed as its first argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListElement {
    /// Some of the items; in host functions, possibly selected by a field named by the second argument.
    Items,
    /// One of the items or `()`, selected by a field named by the second argument.
    Item,
    /// A field, named by the second argument, of every item.
    Fields,
}

/// What the function with this name and number of parameters does with a list.
pub(super) fn given(name: &str, params: usize) -> Option<ListElement> {
    Some(match (name, params) {
        ("unique" | "order" | "order_desc" | "to_array", 1) | ("take" | "sort_by_key", 2) | ("extract", 2 | 3) => {
            ListElement::Items
        }
        ("first" | "last", 1) | ("get" | "max_by" | "min_by", 2) => ListElement::Item,
        ("pluck", 2) => ListElement::Fields,
        _ => return None,
    })
}

/// The result type of a function, if it is certain. For Rhai's own functions this requires the type of the receiver: an unknown
/// object may have a field with the name that is called.
pub(super) fn result(name: &str, params: usize, on: Type<'_>) -> Type<'static> {
    if let Some(ty) = HOST.get(&(name, params)) {
        return *ty;
    }
    if on.class().is_none() {
        return Type::Unknown;
    }
    match (name, params) {
        ("len" | "to_int" | "to_float" | "parse_int" | "parse_float" | "abs" | "floor" | "ceiling" | "round" | "sqrt", 1) => {
            Type::Number
        }
        ("index_of", 2) => Type::Number,
        ("is_empty", 1) | ("contains" | "starts_with" | "ends_with", 2) => Type::Bool,
        ("to_string" | "to_upper" | "to_lower" | "to_debug" | "type_of" | "to_json", 1) | ("sub_string", 2 | 3) => Type::Text,
        ("split", 2) | ("keys", 1) => Type::Of(&TEXTS),
        ("values", 1) => Type::List,
        ("to_map", 1) => Type::Map,
        _ => Type::Unknown,
    }
}

/// The result types of host functions, by their signatures.
static HOST: LazyLock<BTreeMap<(&'static str, usize), Type<'static>>> = LazyLock::new(|| {
    let result = |function: &api::HostFn| match function.signature.rsplit(" -> ").next().unwrap_or_default() {
        "string" => Type::Text,
        "bool" => Type::Bool,
        "int" | "float" | "number" => Type::Number,
        "list of string" => Type::Of(&TEXTS),
        "list" | "list of map" | "list of number" => Type::List,
        "map" => Type::Map,
        _ => Type::Unknown,
    };
    api::registry().iter().map(|function| ((function.name, function.parameters()), result(function))).collect()
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::types::Class;

    #[test]
    fn result_types_of_host_functions_come_from_their_signatures() {
        assert_eq!(result("regex_is_match", 2, Type::Unknown), Type::Bool);
        assert_eq!(result("regex_find", 2, Type::Text), Type::Unknown);
        assert_eq!(result("words", 1, Type::Text).item().class(), Some(Class::Text));
        assert_eq!(result("words", 2, Type::Text), Type::Unknown);
    }

    #[test]
    fn names_mean_nothing_on_unknown_receivers() {
        assert_eq!(result("len", 1, Type::Unknown), Type::Unknown);
        assert_eq!(result("len", 1, Type::List), Type::Number);
    }

    #[test]
    fn the_functions_named_here_exist() {
        let engine = crate::build_engine(&crate::ScriptLimits::default(), [], api::register);
        let known = engine.gen_fn_signatures(true).join("\n");
        for name in [
            "len",
            "to_int",
            "parse_float",
            "ceiling",
            "sub_string",
            "split",
            "keys",
            "values",
            "pluck",
            "max_by",
            "order",
            "order_by",
            "order_desc",
            "zip",
            "extract",
            "first",
            "last",
            "get",
            "to_array",
            "to_map",
            "any",
            "some",
            "all",
            "none",
            "find",
        ] {
            assert!(known.contains(&format!("{name}(")), "{name}");
        }
    }
}
