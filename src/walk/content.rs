//! A value in the record that is addressed by its content, hashed when the address is first needed.

use crate::model::Hash;
use crate::script::View;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Content by address. Made from a [`View`] it knows the content and computes the address on demand, so that a walk that
/// nothing stores hashes nothing; read from a journal it knows the address only. On the wire it is the address.
#[derive(Clone)]
pub struct Content(Arc<Inner>);

struct Inner {
    view: Option<View>,
    sealed: OnceLock<Sealed>,
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
        Self(Arc::new(Inner { view: Some(view), sealed: OnceLock::new() }))
    }

    /// The address.
    pub fn hash(&self) -> Hash {
        self.seal().hash
    }

    /// The value, unless this was read from a journal.
    pub fn view(&self) -> Option<&View> {
        self.0.view.as_ref()
    }

    /// The canonical JSON that the address is of, unless this was read from a journal.
    pub fn text(&self) -> Option<Arc<str>> {
        self.seal().text.clone()
    }

    /// Whether both are the same object in memory: cheap, and true for content shared by many records (vars).
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn seal(&self) -> &Sealed {
        self.0.sealed.get_or_init(|| {
            let text: Arc<str> = self.0.view.as_ref().map_or_else(|| "null".into(), |view| view.canonical().into());
            Sealed { hash: Hash::of(text.as_bytes()), text: Some(text) }
        })
    }
}

impl From<Hash> for Content {
    fn from(hash: Hash) -> Self {
        Self(Arc::new(Inner { view: None, sealed: OnceLock::from(Sealed { hash, text: None }) }))
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
