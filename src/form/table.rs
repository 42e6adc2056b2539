//! The tables: which keys a map has, what each holds, and what it is for.

use serde_json::Value;

/// A map with fixed keys.
#[derive(Debug)]
pub struct Form {
    /// What people call such a map, with an article.
    pub what: &'static str,
    /// The key that tells such maps apart in messages: ``node `a` ``.
    pub id: Option<&'static str>,
    /// Its keys.
    pub keys: &'static [FormKey],
    /// Keys that are refused as not supported yet.
    pub later: &'static [&'static str],
    /// Which keys may be written with nothing behind them.
    pub empty: MayBeEmpty,
}

/// Which keys may be written with nothing behind them, which is then the same as leaving them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayBeEmpty {
    /// Lists and maps, all of whose items may be commented out.
    Collections,
    /// All but texts.
    AllButTexts,
    /// All.
    All,
}

/// A key of a [`Form`].
#[derive(Clone, Copy, Debug)]
pub struct FormKey {
    /// The key.
    pub name: &'static str,
    /// What its value is.
    pub holds: ValueForm,
    /// Whether it has to be there.
    pub required: Requirement,
    /// What it says, in a sentence.
    pub doc: &'static str,
    /// What it is if it is left out.
    pub usual: Option<UsualValue>,
    /// Examples, as JSON or plain text.
    pub examples: &'static [&'static str],
}

/// Whether a key has to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// It may be left out.
    Optional,
    /// It has to be there; what a file extends may bring it.
    Required,
    /// It has to be there and not blank. Its absence has a code and a message of its own.
    Named(&'static str, &'static str),
    /// The same, where only the reader of the file knows whether it has to be there.
    Sometimes(&'static str, &'static str),
}

/// The value of a key that is left out.
#[derive(Clone, Copy, Debug)]
pub enum UsualValue {
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(&'static str),
    /// `true` or `false`.
    Flag(bool),
}

/// What the value of a key is.
#[derive(Clone, Copy, Debug)]
pub enum ValueForm {
    /// Anything.
    Any,
    /// A text that is not blank.
    Text,
    /// A text for people, which may be blank.
    Label,
    /// A text that has this regular expression in the JSON Schema; the reader of the file checks it.
    Matching(&'static str),
    /// A function of a script: `rules/rca.rhai#recall_hit`.
    Script,
    /// An expression in a text; `true` and `false` are expressions too.
    Expression,
    /// The name of something in the file, which may be blank; whoever resolves it reports that.
    Reference,
    /// `true` or `false`.
    Bool,
    /// A number within bounds, both included.
    Number(f64, f64),
    /// A whole number within bounds, both included.
    Whole(i64, i64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A regular expression with at least so many groups.
    Pattern(usize),
    /// The name of an entry of the key of this name at the top of the file.
    Name(&'static str),
    /// A list.
    List(&'static Self),
    /// A list with at least one item; the reader of the file reports an empty one.
    Some(&'static Self),
    /// A list of texts, none of them twice, and the code of the error about one that is.
    Distinct(&'static str),
    /// A list of maps, told apart by this key.
    Records(&'static Form, &'static str),
    /// A map from names to values.
    Entries(&'static Self),
    /// A map with fixed keys.
    Map(&'static Form),
    /// The first of these that goes with how the value is written; the last, if none does.
    Fitting(&'static [Self]),
    /// A language of its own, which its own reader checks, with its JSON Schema.
    Own(fn() -> Value),
}

impl FormKey {
    /// A key that may be left out.
    pub const fn new(name: &'static str, holds: ValueForm, doc: &'static str) -> Self {
        Self { name, holds, required: Requirement::Optional, doc, usual: None, examples: &[] }
    }

    /// A key that has to be there.
    pub const fn required(name: &'static str, holds: ValueForm, doc: &'static str) -> Self {
        Self { name, holds, required: Requirement::Required, doc, usual: None, examples: &[] }
    }

    /// The same key, which has to be there, with the code and the message where it is not.
    #[must_use]
    pub const fn named(mut self, code: &'static str, message: &'static str) -> Self {
        self.required = Requirement::Named(code, message);
        self
    }

    /// The same, where only the reader of the file knows whether it has to be there.
    #[must_use]
    pub const fn sometimes(mut self, code: &'static str, message: &'static str) -> Self {
        self.required = Requirement::Sometimes(code, message);
        self
    }

    /// The same key with the value that leaving it out stands for.
    #[must_use]
    pub const fn usual(mut self, value: UsualValue) -> Self {
        self.usual = Some(value);
        self
    }

    /// The same key with examples.
    #[must_use]
    pub const fn examples(mut self, examples: &'static [&'static str]) -> Self {
        self.examples = examples;
        self
    }

    /// Whether a map without it is incomplete, unless what it extends has it.
    pub(super) fn is_required(&self) -> bool {
        self.required == Requirement::Required
    }
}

impl Form {
    /// What most forms are: the rest of `Form { what, keys, ..Form::PLAIN }`.
    pub const PLAIN: Self = Self { what: "", id: None, keys: &[], later: &[], empty: MayBeEmpty::AllButTexts };

    /// The key of that name.
    pub fn key(&self, name: &str) -> Option<&'static FormKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// The names of its keys.
    pub fn names(&self) -> Vec<&'static str> {
        self.keys.iter().map(|key| key.name).collect()
    }

    /// Whether nothing behind a key is the same as no key.
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

/// Whether all of a value may stand in comments.
fn is_collection(holds: &ValueForm) -> bool {
    use ValueForm as V;
    match holds {
        V::Fitting(forms) => forms.iter().any(is_collection),
        V::Any | V::Label | V::Reference | V::Own(_) => true,
        other => matches!(other, V::List(_) | V::Some(_) | V::Distinct(_) | V::Records(..) | V::Entries(_) | V::Map(_)),
    }
}
