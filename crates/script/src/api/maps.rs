//! Functions on maps and objects.

use super::HostFn;
use super::args::{HostFnResult, object, texts};
use crate::view::View;
use rhai::{Dynamic, Map};

const GROUP: &str = "maps";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "pick",
        signature: "pick(map: map, keys: list of string) -> map",
        group: GROUP,
        doc: "A new map with the given keys only; missing keys are omitted.",
        example: r#"pick(#{ a: 1, b: 2, c: 3 }, ["a", "c", "z"])"#,
        result: "#{ a: 1, c: 3 }",
        bind: |engine, name| {
            engine.register_fn(name, |map: Dynamic, keys: Dynamic| pick(&map, &keys));
        },
    },
    HostFn {
        name: "get_or",
        signature: "get_or(map: map, key: string, default: any) -> any",
        group: GROUP,
        doc: "The value of a key, or the default if the key is missing or its value is ().",
        example: r#"[get_or(#{ a: 1 }, "a", 0), get_or(#{ a: () }, "a", 0), get_or(#{}, "a", 0)]"#,
        result: "[1, 0, 0]",
        bind: |engine, name| {
            engine.register_fn(name, |map: Dynamic, key: &str, default: Dynamic| get_or(&map, key, default));
        },
    },
    HostFn {
        name: "freeze",
        signature: "freeze(value: any) -> any",
        group: GROUP,
        doc: "The same value, read-only: a map becomes an object, an array a list. Passing it to a function copies nothing, and the results of \
              functions that read it can be reused. `to_map` and `to_array` make a copy that can be changed.",
        example: "freeze(#{ a: [1, 2] }).a.len()",
        result: "2",
        bind: |engine, name| {
            engine.register_fn(name, |value: Dynamic| freeze(&value));
        },
    },
];

fn freeze(value: &Dynamic) -> HostFnResult<Dynamic> {
    Ok(View::frozen(value)?.dynamic())
}

fn pick(map: &Dynamic, keys: &Dynamic) -> HostFnResult<Map> {
    let object = object(map)?;
    Ok(texts(keys)?.iter().filter_map(|key| Some((key.as_str().into(), object.get(key)?))).collect())
}

fn get_or(map: &Dynamic, key: &str, default: Dynamic) -> HostFnResult<Dynamic> {
    Ok(object(map)?.get(key).filter(|value| !value.is_unit()).unwrap_or(default))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    #[test]
    fn only_objects_have_keys() {
        let message = |script: &str| super::super::tests::eval(script).unwrap_err().message;
        assert_eq!(message("get_or((), \"a\", 1)"), "expected an object, got nothing");
        assert_eq!(message("pick(#{}, 1)"), "expected a list, got a number");
    }

    #[test]
    fn what_is_frozen_reads_the_same_and_cannot_be_changed() {
        let eval = |script: &str| super::super::tests::eval(script).map_err(|error| error.message);
        let all = "let all = #{ a: 1, b: [\"x\", #{ c: 2.5 }], d: (), e: true };";
        assert_eq!(eval(&format!("{all} freeze(all) == all && freeze(freeze(all)) == all")).unwrap().as_bool(), Ok(true));
        assert_eq!(eval("freeze(1) == 1 && freeze(\"a\") == \"a\" && freeze(()) == ()").unwrap().as_bool(), Ok(true));
        assert!(eval(&format!("{all} let all = freeze(all); all.a = 2; all")).is_err());
        assert_eq!(eval(&format!("{all} let copy = freeze(all).to_map(); copy.a = 2; copy.a + all.a")).unwrap().as_int(), Ok(3));
        assert!(eval("freeze([|x| x])").unwrap_err().contains("a function cannot be frozen"));
    }
}
