//! The tables: the keys of a map, their types and their documentation.

use serde_json::Value;

/// A map with fixed keys.
#[derive(Debug)]
pub struct Form {
    /// The noun for such a map in messages, with an article.
    pub what: &'static str,
    /// The key that identifies such a map in messages: ``node `a` ``.
    pub id: Option<&'static str>,
    /// The keys, in the order of documentation.
    pub keys: &'static [FormKey],
    /// Keys that are rejected as not supported yet.
    pub later: &'static [&'static str],
    /// Which keys may have a null value.
    pub empty: MayBeEmpty,
}

/// Which keys may have a null value, which is then equivalent to omitting the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayBeEmpty {
    /// Lists and maps, whose items may all be commented out.
    Collections,
    /// All but strings.
    AllButTexts,
    /// All keys.
    All,
}

/// A key of a [`Form`].
#[derive(Clone, Copy, Debug)]
pub struct FormKey {
    /// The name of the key.
    pub name: &'static str,
    /// The type of its value.
    pub holds: ValueForm,
    /// Whether the key is required.
    pub required: Requirement,
    /// One sentence of documentation.
    pub doc: &'static str,
    /// The default value.
    pub default: Option<DefaultValue>,
    /// Examples, as JSON or plain text.
    pub examples: &'static [&'static str],
}

/// Whether a key is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// May be omitted.
    Optional,
    /// Required, here or in the file that this one extends.
    Required,
    /// Required and not blank. Its absence has its own error code and message.
    Named(&'static str, &'static str),
    /// Like [`Named`](Self::Named), but the reader of the file decides whether it is required.
    Sometimes(&'static str, &'static str),
}

/// The default value of a key.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// An integer.
    Whole(i64),
    /// A string.
    Text(&'static str),
    /// A boolean.
    Flag(bool),
}

/// The type of the value of a key.
#[derive(Clone, Copy, Debug)]
pub enum ValueForm {
    /// Any value.
    Any,
    /// A string that is not blank.
    Text,
    /// A human-readable string, possibly blank.
    Label,
    /// A string matching this regular expression in the JSON Schema; the reader of the file validates it.
    Matching(&'static str),
    /// A reference to a script function: `rules/rca.rhai#recall_hit`.
    Script,
    /// An expression as a string; `true` and `false` are valid expressions.
    Expression,
    /// A reference by name, possibly blank; the code that resolves it reports errors.
    Reference,
    /// A boolean.
    Bool,
    /// A number within inclusive bounds.
    Number(f64, f64),
    /// An integer within inclusive bounds.
    Whole(i64, i64),
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A regular expression with at least this many capture groups.
    Pattern(usize),
    /// The name of an entry of this top-level key.
    Name(&'static str),
    /// A list.
    List(&'static Self),
    /// A list with at least one item; the reader of the file reports an empty one.
    NonEmptyList(&'static Self),
    /// A list of distinct strings, with the code of the error for duplicates.
    Distinct(&'static str),
    /// A list of maps, identified by this key.
    Records(&'static Form, &'static str),
    /// A map with arbitrary keys.
    Entries(&'static Self),
    /// A map with fixed keys.
    Map(&'static Form),
    /// A map that says where a secret is. Any other value may be the secret itself; the reader of the file reports it without showing it.
    Hidden(&'static Form),
    /// The first alternative that matches the YAML type of the value; the last, if none does.
    FirstMatching(&'static [Self]),
    /// A format with a reader of its own, and its JSON Schema.
    Custom(fn() -> Value),
}

impl FormKey {
    /// An optional key.
    pub const fn new(name: &'static str, holds: ValueForm, doc: &'static str) -> Self {
        Self { name, holds, required: Requirement::Optional, doc, default: None, examples: &[] }
    }

    /// A required key.
    pub const fn required(name: &'static str, holds: ValueForm, doc: &'static str) -> Self {
        Self { name, holds, required: Requirement::Required, doc, default: None, examples: &[] }
    }

    /// Makes the key required, with a dedicated error code and message.
    #[must_use]
    pub const fn named(mut self, code: &'static str, message: &'static str) -> Self {
        self.required = Requirement::Named(code, message);
        self
    }

    /// Like [`named`](Self::named), but the reader of the file decides whether it is required.
    #[must_use]
    pub const fn sometimes(mut self, code: &'static str, message: &'static str) -> Self {
        self.required = Requirement::Sometimes(code, message);
        self
    }

    /// Sets the default value.
    #[must_use]
    pub const fn default_value(mut self, value: DefaultValue) -> Self {
        self.default = Some(value);
        self
    }

    /// Sets the examples.
    #[must_use]
    pub const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }

    /// Whether the key is required, here or in the file that this one extends.
    pub(super) fn is_required(&self) -> bool {
        self.required == Requirement::Required
    }
}

impl Form {
    /// Defaults for most forms, as in `Form { what, keys, ..Form::PLAIN }`.
    pub const PLAIN: Self = Self { what: "", id: None, keys: &[], later: &[], empty: MayBeEmpty::AllButTexts };

    /// The key with this name.
    pub fn key(&self, name: &str) -> Option<&'static FormKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of the keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }

    /// Whether a null value of the key is equivalent to omitting it.
    pub(super) fn skips_empty(&self, key: &FormKey) -> bool {
        use ValueForm as V;
        if key.required != Requirement::Optional {
            return matches!(key.required, Requirement::Sometimes(..)) && is_collection(&key.holds);
        }
        match self.empty {
            MayBeEmpty::All => true,
            MayBeEmpty::AllButTexts => !matches!(key.holds, V::Text | V::Pattern(_) | V::Name(_)),
            MayBeEmpty::Collections => is_collection(&key.holds),
        }
    }
}

/// Whether the value is a collection, whose items may all be commented out.
fn is_collection(holds: &ValueForm) -> bool {
    use ValueForm as V;
    match holds {
        V::FirstMatching(forms) => forms.iter().any(is_collection),
        V::Any | V::Label | V::Reference | V::Custom(_) => true,
        other => matches!(
            other,
            V::List(_) | V::NonEmptyList(_) | V::Distinct(_) | V::Records(..) | V::Entries(_) | V::Map(_) | V::Hidden(_)
        ),
    }
}
