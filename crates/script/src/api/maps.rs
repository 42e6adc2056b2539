//! Functions on maps and objects.

use super::HostFn;
use super::args::{HostFnResult, object, texts};
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
];

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
}
