//! Content-addressed values of the record, hashed lazily.

use super::name::Name;
use asterisk_base::model::Hash;
use asterisk_script::View;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

/// The key that marks a list of parts.
const PARTS: &str = "$parts";

/// The length of an address in a list of parts, in bytes.
const ADDRESS: usize = 66;

/// Content by address. Made from a [`View`], it holds the value and computes the address on demand, so that a walk without a journal
/// hashes nothing; read from a journal, it holds the address only. It serialises as the address.
///
/// An object whose fields outlive it (the parameters of a step: domain, launch, case) is made from parts: its text then has the
/// address of each, and a part shared by many objects is stored once. A part that no other object has ([`Content::own`]), or that is
/// no longer than an address, is inlined. [`assemble`] reverses this.
#[derive(Clone)]
pub struct Content(Arc<ContentInner>);

struct ContentInner {
    made: ContentForm,
    /// Whether it is a part of one object only, and hence inlined.
    own: bool,
    sealed: OnceLock<SealedContent>,
}

enum ContentForm {
    View(View),
    Parts(Vec<(Name, Content)>),
    /// No value: only its text, or, read from a journal, only its address.
    Sealed,
}

/// An address with its canonical text (absent when read from a journal).
#[derive(Clone)]
struct SealedContent {
    hash: Hash,
    text: Option<Arc<str>>,
}

impl Content {
    /// Content of a value.
    pub fn new(view: View) -> Self {
        Self::made(ContentForm::View(view), false)
    }

    /// Content of a value that is a part of one object only.
    pub fn own(view: View) -> Self {
        Self::made(ContentForm::View(view), true)
    }

    /// An object made of parts.
    pub fn of_parts(parts: impl IntoIterator<Item = (Name, Self)>) -> Self {
        Self::made(ContentForm::Parts(parts.into_iter().collect()), false)
    }

    /// An object made of parts that is itself a part of one object only: the addresses of its parts are in the text of that one.
    pub fn own_of_parts(parts: impl IntoIterator<Item = (Name, Self)>) -> Self {
        Self::made(ContentForm::Parts(parts.into_iter().collect()), true)
    }

    /// Content of canonical JSON, without a value: for texts too large to parse.
    pub fn of_text(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let sealed = SealedContent { hash: Hash::of(text.as_bytes()), text: Some(text) };
        Self(Arc::new(ContentInner { made: ContentForm::Sealed, own: false, sealed: OnceLock::from(sealed) }))
    }

    fn made(made: ContentForm, own: bool) -> Self {
        Self(Arc::new(ContentInner { made, own, sealed: OnceLock::new() }))
    }

    /// Computes the address on first use.
    pub fn hash(&self) -> Hash {
        self.seal().hash
    }

    /// The value, if made from one.
    pub fn view(&self) -> Option<&View> {
        if let ContentForm::View(view) = &self.0.made { Some(view) } else { None }
    }

    /// A part of an object; `None` for an unknown name, and if it is not an object.
    pub fn part(&self, name: &str) -> Option<Self> {
        match &self.0.made {
            ContentForm::Parts(parts) => parts.iter().find(|(known, _)| *known == name).map(|(_, content)| content.clone()),
            ContentForm::View(view) => view.get(name).map(Self::new),
            ContentForm::Sealed => None,
        }
    }

    /// The canonical JSON, unless read from a journal.
    pub fn text(&self) -> Option<Arc<str>> {
        self.seal().text.clone()
    }

    /// Visits this content and, of an object made of parts, every part that is stored separately.
    pub fn each(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        self.below(visit);
    }

    fn below(&self, visit: &mut impl FnMut(&Self)) {
        if let ContentForm::Parts(parts) = &self.0.made {
            for (_, part) in parts {
                if part.inline().is_none() {
                    visit(part);
                }
                part.below(visit);
            }
        }
    }

    /// The text that is inlined in a list of parts; `None` if the part is stored by its address.
    fn inline(&self) -> Option<&str> {
        let text = self.seal().text.as_deref()?;
        // A JSON string would be read as an address.
        ((self.0.own || text.len() <= ADDRESS) && !text.starts_with('"')).then_some(text)
    }

    /// Whether both are the same allocation: cheap, and true for content shared by many records (vars).
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn seal(&self) -> &SealedContent {
        self.0.sealed.get_or_init(|| {
            let text: Arc<str> = match &self.0.made {
                ContentForm::View(view) => view.canonical().into(),
                ContentForm::Parts(parts) => {
                    let parts: BTreeMap<&str, &Self> = parts.iter().map(|(name, part)| (&**name, part)).collect();
                    let entry = |(name, part): (&str, &Self)| {
                        let name = Value::from(name);
                        part.inline().map_or_else(|| format!("{name}:\"{}\"", part.hash()), |text| format!("{name}:{text}"))
                    };
                    let entries: Vec<String> = parts.into_iter().map(entry).collect();
                    format!("{{\"{PARTS}\":{{{}}}}}", entries.join(",")).into()
                }
                ContentForm::Sealed => "null".into(), // sealed when it was made
            };
            SealedContent { hash: Hash::of(text.as_bytes()), text: Some(text) }
        })
    }
}

impl From<Hash> for Content {
    fn from(hash: Hash) -> Self {
        Self(Arc::new(ContentInner {
            made: ContentForm::Sealed,
            own: false,
            sealed: OnceLock::from(SealedContent { hash, text: None }),
        }))
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

/// Makes values of some form from stored texts.
pub trait ContentBuilder {
    type Made;
    type Error;
    /// The value of the content at an address.
    fn content(&mut self, hash: &Hash) -> Result<Self::Made, Self::Error>;
    /// An object of parts.
    fn object(&mut self, parts: Vec<(String, Self::Made)>) -> Self::Made;
    /// A value without parts.
    fn plain(&mut self, value: Value) -> Self::Made;
}

/// Rebuilds the value of a stored text, resolving its parts by `builder`.
pub fn build_content<B: ContentBuilder>(text: &str, builder: &mut B) -> Result<B::Made, B::Error> {
    build_value(serde_json::from_str(text).unwrap_or_default(), builder)
}

fn build_value<B: ContentBuilder>(mut value: Value, builder: &mut B) -> Result<B::Made, B::Error> {
    let Some(Value::Object(parts)) = value.get_mut(PARTS).map(Value::take) else { return Ok(builder.plain(value)) };
    let part = |(name, part)| Ok((name, build_part(part, builder)?));
    let parts = parts.into_iter().map(part).collect::<Result<_, _>>()?;
    Ok(builder.object(parts))
}

fn build_part<B: ContentBuilder>(part: Value, builder: &mut B) -> Result<B::Made, B::Error> {
    match part {
        Value::String(address) => match address.parse() {
            Ok(hash) => builder.content(&hash),
            Err(_) => Ok(builder.plain(Value::Null)),
        },
        part => build_value(part, builder),
    }
}

/// Rebuilds the value of a stored text, resolving its parts. `read` returns the text at an address.
pub fn assemble<E>(text: &str, read: &mut impl FnMut(&Hash) -> Result<String, E>) -> Result<Value, E> {
    build_content(text, &mut JsonBuilder { read, error: PhantomData })
}

/// Makes JSON.
struct JsonBuilder<'r, R, E> {
    read: &'r mut R,
    error: PhantomData<E>,
}

impl<R: FnMut(&Hash) -> Result<String, E>, E> ContentBuilder for JsonBuilder<'_, R, E> {
    type Made = Value;
    type Error = E;

    fn content(&mut self, hash: &Hash) -> Result<Value, E> {
        assemble(&(self.read)(hash)?, self.read)
    }

    fn object(&mut self, parts: Vec<(String, Value)>) -> Value {
        parts.into_iter().collect()
    }

    fn plain(&mut self, value: Value) -> Value {
        value
    }
}

/// The part of that name of a stored object, if it has one; no other part is read.
pub fn assemble_part<E>(text: &str, name: &str, read: &mut impl FnMut(&Hash) -> Result<String, E>) -> Result<Option<Value>, E> {
    let mut object: Value = serde_json::from_str(text).unwrap_or_default();
    match object.get_mut(PARTS) {
        Some(parts) => {
            let mut builder = JsonBuilder { read, error: PhantomData };
            parts.get_mut(name).map(Value::take).map(|part| build_part(part, &mut builder)).transpose()
        }
        None => Ok(object.get_mut(name).map(Value::take)),
    }
}

/// Whether a stored object has this content as the part of that name. The part is not read.
pub fn has_part(text: &str, name: &str, content: &Content) -> bool {
    let object: Value = serde_json::from_str(text).unwrap_or_default();
    let part = object.get(PARTS).unwrap_or(&object).get(name);
    match content.inline() {
        Some(own) => serde_json::from_str(own).is_ok_and(|own: Value| part == Some(&own)),
        None => {
            part.and_then(Value::as_str).is_some_and(|address| address.parse().is_ok_and(|hash: Hash| hash == content.hash()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::Kind;
    use serde_json::json;

    #[test]
    fn parts_are_stored_once_and_assembled() {
        let view = |value: Value| View::of(&value, &Kind::Any, "test");
        let long = "a text that is longer than an address, of which there are enough already";
        let shared = Content::new(view(json!({ "words": [long] })));
        let inner =
            [("n", Content::new(view(json!({ "n": 1 })))), ("data", shared.clone()), ("text", Content::new(View::from("x")))];
        let inner = Content::of_parts(inner.map(|(name, part)| (name.into(), part)));
        let none = Content::of_parts([]);
        let prior = Content::own_of_parts([("data".into(), shared.clone()), ("one".into(), Content::new(view(json!(1))))]);
        let own = Content::own(view(json!({ "own": [long, "\"quoted\""] })));
        let parts = [
            ("needs", inner),
            ("data", shared),
            ("none", none),
            ("prior", prior),
            ("own \"it\"", own),
            ("void", Content::new(View::null())),
        ];
        let whole = Content::of_parts(parts.map(|(name, part)| (name.into(), part)));
        let mut stored: BTreeMap<Hash, String> = BTreeMap::new();
        whole.each(&mut |content| {
            stored.insert(content.hash(), content.text().expect("at hand").to_string());
        });
        assert_eq!(stored.len(), 4, "the whole, its needs, the shared part once, the text: {stored:?}");
        let text = &stored[&whole.hash()];
        let sorted = asterisk_base::model::canonical(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(*text, sorted, "it is canonical");
        let mut read = |hash: &Hash| stored.get(hash).cloned().ok_or(());
        let value = assemble(text, &mut read).expect("all there");
        let words = json!({ "words": [long] });
        let expected = json!({
            "needs": { "n": { "n": 1 }, "data": words, "text": "x" }, "data": words, "none": {}, "prior": { "data": words, "one": 1 },
            "own \"it\"": { "own": [long, "\"quoted\""] }, "void": null,
        });
        assert_eq!(value, expected);
        for (name, part) in expected.as_object().expect("an object") {
            assert_eq!(assemble_part(text, name, &mut read).expect("all there").as_ref(), Some(part), "{name}");
        }
        assert_eq!(assemble_part(text, "evidence", &mut read), Ok(None));
        let with = |value: Value| Content::new(view(value));
        assert!(has_part(text, "data", &with(words.clone())) && has_part(text, "void", &Content::new(View::null())));
        assert!(!has_part(text, "data", &with(json!({ "words": ["another text of some length, so that it has an address"] }))));
        assert!(!has_part(text, "void", &with(json!(1))) && !has_part(text, "evidence", &with(words.clone())));
        let mut only = |hash: &Hash| if *hash == Hash::of(b"{}") { Ok("{}".to_owned()) } else { Err(()) };
        let other = Hash::of(b"not stored");
        let text = format!(r#"{{"$parts":{{"a":"{other}","b":"{}"}}}}"#, Hash::of(b"{}"));
        assert_eq!(assemble_part(&text, "b", &mut only), Ok(Some(json!({}))), "other parts are not read");
        assert_eq!(assemble_part(r#"{"a":1}"#, "a", &mut only), Ok(Some(json!(1))));
    }

    #[test]
    fn lists_of_addresses_only_are_assembled() {
        let text = format!(r#"{{"$parts":{{"a":"{}"}}}}"#, Hash::of(b"{}"));
        assert_eq!(assemble(&text, &mut |_| Ok::<_, ()>("{}".to_owned())), Ok(json!({ "a": {} })));
    }

    #[test]
    fn content_read_from_a_journal_has_its_address() {
        let made = Content::new(View::from("x"));
        let read = Content::from(made.hash());
        assert_eq!(made, read);
        assert_eq!((read.view().is_none(), read.text()), (true, None));
        assert_eq!(serde_json::to_value(&made).ok(), serde_json::to_value(made.hash()).ok());
    }
}
