//! Fingerprints of failures and texts.

use super::HostFn;
use super::args::{HostFnResult, charged, texts};
use asterisk_base::model::{Hash, normalise_error};
use rhai::Dynamic;

const GROUP: &str = "fingerprint";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "fingerprint",
        signature: "fingerprint(parts: list of string) -> string",
        group: GROUP,
        doc: "The symptom fingerprint of some texts (test name, error, category): 64-bit FNV-1a over the parts joined by `|`, as 16 hex \
              digits.",
        example: r#"fingerprint(["a"])"#,
        result: r#""af63dc4c8601ec8c""#,
        bind: |engine, name| {
            engine.register_fn(name, |parts: Dynamic| fingerprint(&parts));
        },
    },
    HostFn {
        name: "normalise_error",
        signature: "normalise_error(text: string) -> string",
        group: GROUP,
        doc: "An error's text with everything that changes from run to run replaced: times by `<time>`, addresses by `<addr>`, UUIDs and \
              generated names by `<id>`, hexadecimal numbers by `<hex>`, other numbers by `<n>`. Recall keys are made of it.",
        example: r#"normalise_error("timed out after 30.5s at main.go:77")"#,
        result: r#""timed out after <time> at main.go:<n>""#,
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(normalise_error));
        },
    },
    HostFn {
        name: "stable_hash",
        signature: "stable_hash(text: string) -> string",
        group: GROUP,
        doc: "A hash of a text that is the same in every run and version: the first 16 hex digits of its BLAKE3 hash.",
        example: r#"stable_hash("")"#,
        result: r#""af1349b9f5f9a1a6""#,
        bind: |engine, name| {
            engine
                .register_fn(name, |text: &str| charged(text).map(|text| Hash::of(text.as_bytes()).to_string()[..16].to_owned()));
        },
    },
];

fn fingerprint(parts: &Dynamic) -> HostFnResult<String> {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for (index, part) in texts(parts)?.iter().enumerate() {
        let separator: &[u8] = if index == 0 { b"" } else { b"|" };
        for byte in separator.iter().chain(part.as_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(format!("{hash:016x}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn fingerprints_are_fnv_1a_over_joined_parts() {
        let of = |parts: &[&str]| {
            fingerprint(&Dynamic::from_array(parts.iter().map(|part| Dynamic::from((*part).to_owned())).collect())).unwrap()
        };
        // The published test vectors of FNV-1a.
        assert_eq!(of(&[]), "cbf29ce484222325");
        assert_eq!(of(&["foobar"]), "85944171f73967e8");
        assert_eq!(of(&["foo", "bar"]), of(&["foo|bar"]));
        assert!(fingerprint(&Dynamic::from(1_i64)).is_err());
    }
}
