//! A value in the record that is addressed by its content, hashed when the address is first needed.

use super::event::Name;
use crate::model::{Hash, canonical};
use crate::script::View;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The key that tells a list of parts from a value.
const PARTS: &str = "$parts";

/// Content by address. Made from a [`View`] it knows the content and computes the address on demand, so that a walk that
/// nothing stores hashes nothing; read from a journal it knows the address only. On the wire it is the address.
///
/// An object whose parts live longer than itself (the parameters of a step: vocabulary, launch, case) is made from its parts:
/// its text then names the address of each, and a part that many objects share is stored once. [`assemble`] puts them
/// together again.
#[derive(Clone)]
pub struct Content(Arc<Inner>);

struct Inner {
    made: Made,
    sealed: OnceLock<Sealed>,
}

enum Made {
    /// From a value.
    View(View),
    /// From parts.
    Parts(Vec<(Name, Content)>),
    /// Read from a journal.
    Read,
}

/// The address with the canonical text it is the address of (absent when read from a journal).
#[derive(Clone)]
struct Sealed {
    hash: Hash,
    text: Option<Arc<str>>,
}

impl Content {
    /// Content that is at hand.
    pub fn new(view: View) -> Self {
        Self(Arc::new(Inner { made: Made::View(view), sealed: OnceLock::new() }))
    }

    /// An object made of parts.
    pub fn of_parts(parts: impl IntoIterator<Item = (Name, Self)>) -> Self {
        Self(Arc::new(Inner { made: Made::Parts(parts.into_iter().collect()), sealed: OnceLock::new() }))
    }

    /// The address.
    pub fn hash(&self) -> Hash {
        self.seal().hash
    }

    /// The value, if this was made from one.
    pub fn view(&self) -> Option<&View> {
        if let Made::View(view) = &self.0.made { Some(view) } else { None }
    }

    /// The canonical JSON that the address is of, unless this was read from a journal.
    pub fn text(&self) -> Option<Arc<str>> {
        self.seal().text.clone()
    }

    /// Shows this and, of an object made of parts, every part.
    pub fn each(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        if let Made::Parts(parts) = &self.0.made {
            for (_, part) in parts {
                part.each(visit);
            }
        }
    }

    /// Whether both are the same object in memory: cheap, and true for content shared by many records (vars).
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn seal(&self) -> &Sealed {
        self.0.sealed.get_or_init(|| {
            let text: Arc<str> = match &self.0.made {
                Made::View(view) => view.canonical().into(),
                Made::Parts(parts) => {
                    let parts: Map<String, Value> =
                        parts.iter().map(|(name, part)| (name.to_string(), json!(part.hash()))).collect();
                    canonical(&json!({ PARTS: parts })).into()
                }
                Made::Read => "null".into(), // sealed when it was read
            };
            Sealed { hash: Hash::of(text.as_bytes()), text: Some(text) }
        })
    }
}

impl From<Hash> for Content {
    fn from(hash: Hash) -> Self {
        Self(Arc::new(Inner { made: Made::Read, sealed: OnceLock::from(Sealed { hash, text: None }) }))
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.hash() == other.hash()
    }
}

impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Content({})", self.hash().short())
    }
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.hash().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Hash::deserialize(deserializer).map(Self::from)
    }
}

/// The value of a stored text: itself, or the object that its parts make. `read` gives the text at an address.
pub fn assemble<E>(text: &str, read: &mut impl FnMut(&Hash) -> Result<String, E>) -> Result<Value, E> {
    let mut value: Value = serde_json::from_str(text).unwrap_or_default();
    let Some(Value::Object(parts)) = value.get_mut(PARTS).map(Value::take) else { return Ok(value) };
    let mut whole = Map::new();
    for (name, address) in parts {
        let part = match address.as_str().and_then(|address| address.parse().ok()) {
            Some(hash) => assemble(&read(&hash)?, read)?,
            None => Value::Null,
        };
        whole.insert(name, part);
    }
    Ok(Value::Object(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;
    use std::collections::BTreeMap;

    #[test]
    fn parts_are_stored_once_and_make_the_whole_again() {
        let view = |value: Value| Content::new(View::of(&value, &Kind::Any, "test"));
        let shared = view(json!({"words": ["a", "b"]}));
        let inner = Content::of_parts([("x".into(), view(json!({"n": 1}))), ("y".into(), shared.clone())]);
        let whole = Content::of_parts([("data".into(), shared), ("needs".into(), inner)]);
        let mut stored: BTreeMap<Hash, String> = BTreeMap::new();
        whole.each(&mut |content| {
            stored.insert(content.hash(), content.text().expect("at hand").to_string());
        });
        assert_eq!(stored.len(), 4, "the shared part is there once");
        let mut read = |hash: &Hash| stored.get(hash).cloned().ok_or(());
        let value = assemble(&stored[&whole.hash()], &mut read).expect("all there");
        assert_eq!(value, json!({"data": {"words": ["a", "b"]}, "needs": {"x": {"n": 1}, "y": {"words": ["a", "b"]}}}));
    }

    #[test]
    fn what_was_read_is_known_by_its_address() {
        let made = Content::new(View::from("x"));
        let read = Content::from(made.hash());
        assert_eq!(made, read);
        assert_eq!((read.view().is_none(), read.text()), (true, None));
        assert_eq!(serde_json::to_value(&made).ok(), serde_json::to_value(made.hash()).ok());
    }
}
