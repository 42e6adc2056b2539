//! Fingerprints of values, for comparing them with values that were read before.

use super::object::Absent;
use super::{View, ViewNode};
use asterisk_base::model::Hash;
use rhai::ImmutableString;
use smallvec::SmallVec;
use std::sync::OnceLock;

/// A value, or of a compound one the hash of its content. A script cannot distinguish values with equal fingerprints.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fingerprint {
    /// It cannot be read.
    Missing,
    Null,
    Bool(bool),
    Int(i64),
    /// By its bits.
    Float(u64),
    Text(ImmutableString),
    /// The content of a list or object.
    Content(Hash),
    /// Some list, and some object.
    List,
    Object,
}

/// The hash of a compound value, computed once.
#[derive(Default)]
pub(super) struct ContentHash(OnceLock<Hash>);

impl Fingerprint {
    /// That of a value; nothing if it cannot be read.
    pub(crate) fn of(value: Option<&View>) -> Self {
        let Some(value) = value else { return Self::Missing };
        match &value.0 {
            ViewNode::Null => Self::Null,
            ViewNode::Bool(truth) => Self::Bool(*truth),
            ViewNode::Int(number) => Self::Int(*number),
            ViewNode::Float(number) => Self::Float(number.to_bits()),
            ViewNode::Text(text) => Self::Text(text.clone()),
            ViewNode::List(list) => Self::Content(list.content_hash().of(value)),
            ViewNode::Object(object) => Self::Content(object.content_hash().of(value)),
        }
    }
}

impl Fingerprint {
    /// Writes it, so that the texts of two sequences are the same only if they are.
    pub(crate) fn encode(&self, out: &mut SmallVec<[u8; 512]>) {
        match self {
            Self::Missing => out.push(0),
            Self::Null => out.push(1),
            Self::Bool(truth) => out.extend_from_slice(&[2, u8::from(*truth)]),
            Self::Int(number) => {
                out.push(3);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Self::Float(bits) => {
                out.push(4);
                out.extend_from_slice(&bits.to_le_bytes());
            }
            Self::Text(text) => {
                out.push(5);
                out.extend_from_slice(&text.len().to_le_bytes());
                out.extend_from_slice(text.as_bytes());
            }
            Self::Content(hash) => {
                out.push(6);
                out.extend_from_slice(hash.bytes());
            }
            Self::List => out.push(7),
            Self::Object => out.push(8),
        }
    }
}

impl ContentHash {
    fn of(&self, value: &View) -> Hash {
        *self.0.get_or_init(|| {
            let mut bytes = Vec::with_capacity(1024);
            value.encode(&mut bytes);
            Hash::of(&bytes)
        })
    }
}

impl View {
    /// Its value if it is not compound, else whether it is a list or an object.
    pub(crate) fn kind(&self) -> Fingerprint {
        match &self.0 {
            ViewNode::List(_) => Fingerprint::List,
            ViewNode::Object(_) => Fingerprint::Object,
            _ => Fingerprint::of(Some(self)),
        }
    }

    /// The address of an object.
    pub(crate) fn object_address(&self) -> Option<usize> {
        if let ViewNode::Object(object) = &self.0 { Some(object.address()) } else { None }
    }

    /// The items of a list, the values of an object; no call notes that they are read.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &Self> {
        let (items, entries) = match &self.0 {
            ViewNode::List(list) => (list.items(), None),
            ViewNode::Object(object) => (&[][..], Some(object.raw().map(|entry| &entry.view))),
            _ => (&[][..], None),
        };
        items.iter().chain(entries.into_iter().flatten())
    }

    /// [`View::get`], which no call notes.
    pub(crate) fn peek(&self, field: &str) -> Option<Self> {
        if let ViewNode::Object(object) = &self.0 { object.value(field) } else { None }
    }

    /// [`View::has`], which no call notes.
    pub(crate) fn peek_presence(&self, field: &str) -> bool {
        if let ViewNode::Object(object) = &self.0 { object.is_present(field) } else { false }
    }

    /// Writes everything that scripts can distinguish.
    fn encode(&self, out: &mut Vec<u8>) {
        let text = |out: &mut Vec<u8>, text: &str| {
            out.extend(text.len().to_le_bytes());
            out.extend(text.as_bytes());
        };
        match &self.0 {
            ViewNode::Null => out.push(0),
            ViewNode::Bool(truth) => out.extend([1, u8::from(*truth)]),
            ViewNode::Int(number) => {
                out.push(2);
                out.extend(number.to_le_bytes());
            }
            ViewNode::Float(number) => {
                out.push(3);
                out.extend(number.to_bits().to_le_bytes());
            }
            ViewNode::Text(value) => {
                out.push(4);
                text(out, value);
            }
            ViewNode::List(list) => {
                out.push(5);
                out.extend(list.items().len().to_le_bytes());
                list.items().iter().for_each(|item| item.encode(out));
            }
            ViewNode::Object(object) => {
                out.push(6);
                out.extend(object.count().to_le_bytes());
                object.raw().for_each(|entry| {
                    text(out, &entry.key);
                    out.push(u8::from(entry.known));
                    entry.view.encode(out);
                });
                // How absent fields read.
                match object.absent() {
                    Absent::Refused => out.push(7),
                    Absent::Declared(shape) => {
                        out.push(8);
                        text(out, &shape.name);
                        out.extend(std::ptr::from_ref(&**shape).addr().to_le_bytes());
                    }
                    Absent::Zero(kind) => {
                        out.push(9);
                        text(out, &format!("{kind:?}"));
                    }
                    Absent::Reads(value) => {
                        out.push(10);
                        value.encode(out);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::Kind;
    use serde_json::json;

    #[test]
    fn fingerprints_differ_where_scripts_see_a_difference() {
        let of = |value: serde_json::Value| Fingerprint::of(Some(&View::plain(&value, "x")));
        let values = [
            json!(null),
            json!(false),
            json!(0),
            json!(0.0),
            json!(-0.0),
            json!(""),
            json!([]),
            json!({}),
            json!([[]]),
            json!(["a", "b"]),
            json!(["ab", ""]),
            json!({ "a": 1 }),
            json!({ "a": 1.0 }),
            json!({ "a": [1, { "b": 2 }] }),
            json!({ "a": [1, { "b": 3 }] }),
        ];
        for (at, one) in values.iter().enumerate() {
            for (other, two) in values.iter().enumerate() {
                assert_eq!(of(one.clone()) == of(two.clone()), at == other, "{one} {two}");
            }
        }
        let absent =
            [View::map("m", [("a", View::from(1))], View::from(0)), View::map("m", [("a", View::from(1))], View::from(1))];
        assert_ne!(Fingerprint::of(Some(&absent[0])), Fingerprint::of(Some(&absent[1])));
        assert_ne!(Fingerprint::of(Some(&absent[0])), Fingerprint::of(Some(&View::of(&json!({ "a": 1 }), &Kind::Any, "m"))));
    }
}
