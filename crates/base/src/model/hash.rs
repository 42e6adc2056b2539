//! Content addresses: BLAKE3 over canonical JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A BLAKE3 content address; prints and serialises as 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; 32]);

impl Hash {
    /// The address of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The address of a JSON value: the hash of its [`canonical`] text.
    pub fn of_json(value: &Value) -> Self {
        Self::of(canonical(value).as_bytes())
    }

    /// The raw 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Creates an address from the raw 32 bytes.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The first 12 hex digits, for display.
    pub fn short(&self) -> String {
        self.to_string()[..12].to_owned()
    }
}

/// Computes a content address incrementally.
#[derive(Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The address of all bytes added so far.
    pub fn finish(&self) -> Hash {
        Hash(*self.0.finalize().as_bytes())
    }
}

/// The canonical text of a JSON value: no white space, keys in byte order, numbers as printed by `serde_json`. (Key order relies
/// on `serde_json::Map` being a B-tree; a test guards against its `preserve_order` feature being enabled.)
pub fn canonical(value: &Value) -> String {
    value.to_string()
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(blake3::Hash::from_bytes(self.0).to_hex().as_str())
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hash({})", self.short())
    }
}

impl FromStr for Hash {
    type Err = blake3::HexError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text).map(|hash| Self(*hash.as_bytes()))
    }
}

impl Serialize for Hash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_json_sorts_keys() {
        let value: Value = serde_json::from_str(r#"{ "b": 1, "a": [ {"z": 1.0, "y": null} ] }"#).expect("json");
        assert_eq!(canonical(&value), r#"{"a":[{"y":null,"z":1.0}],"b":1}"#);
    }

    #[test]
    fn hashes_print_and_parse() {
        let hash = Hash::of(b"x");
        assert_eq!(hash.to_string().parse::<Hash>().ok(), Some(hash));
        assert_eq!(hash.short().len(), 12);
    }
}
