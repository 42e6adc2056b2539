//! The maps that rules return: the keys of each role, which the static checker knows too, and how they are read.

use super::compare::{kind_of, show};
use super::invoke::ScriptFunction;
use asterisk_diag::{Diagnostic, nearest};
use rhai::{Dynamic, Map};
use serde_json::Value;

/// What functions of a role return.
#[derive(Debug)]
pub(crate) struct ReturnForm {
    /// The code of errors about the value.
    pub(crate) code: &'static str,
    /// What the role returns.
    pub(crate) help: &'static str,
    /// The keys of its maps.
    pub(crate) keys: &'static [ReturnedKey],
}

/// A key of a returned map; each may be left out, or be `()`.
#[derive(Debug)]
pub(crate) struct ReturnedKey {
    pub(crate) name: &'static str,
    /// The types that its value may have.
    pub(crate) holds: &'static [ReturnedType],
}

/// The type of a value in a returned map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReturnedType {
    Text,
    /// A list of strings.
    Texts,
    Map,
    /// A number from 0 to 1.
    Share,
}

/// The reason, as displayed.
pub(crate) const BECAUSE: ReturnedKey = ReturnedKey { name: "because", holds: &[ReturnedType::Text] };
/// The ids of the lines of the evidence that it is about.
pub(crate) const ABOUT: ReturnedKey = ReturnedKey { name: "about", holds: &[ReturnedType::Texts] };

/// A returned map whose keys are known.
pub(super) struct ReturnedMap<'a> {
    function: &'a ScriptFunction,
    map: &'a Map,
    form: &'static ReturnForm,
}

impl<'a> ReturnedMap<'a> {
    /// A map that a function returned. An unknown key is an error.
    pub(super) fn of(function: &'a ScriptFunction, map: &'a Map, form: &'static ReturnForm) -> Result<Self, Box<Diagnostic>> {
        let known = || form.keys.iter().map(|key| key.name);
        if let Some(key) = map.keys().find(|key| !known().any(|name| name == key.as_str())) {
            let hint = nearest(key, known()).map_or(String::new(), |known| format!("; did you mean `{known}`?"));
            return function.refuse(form, format!("`{}` returned a map with the key `{key}`{hint}", function.name()));
        }
        Ok(Self { function, map, form })
    }

    /// The value of a key, if it is there and not `()`.
    pub(super) fn given(&self, key: &str) -> Option<&'a Dynamic> {
        self.map.get(key).filter(|value| !value.is_unit())
    }

    /// The string of a key.
    pub(super) fn text(&self, key: &str) -> Result<Option<String>, Box<Diagnostic>> {
        match self.given(key) {
            Some(value) if !value.is_string() => {
                self.refuse(&format!("returned {} as `{key}`, which is a string", described(value)))
            }
            value => Ok(value.map(ToString::to_string)),
        }
    }

    /// The strings of a key that holds a list.
    pub(super) fn texts(&self, key: &str) -> Result<Vec<String>, Box<Diagnostic>> {
        match self.data(key)?.map(serde_json::from_value) {
            None => Ok(Vec::new()),
            Some(Ok(texts)) => Ok(texts),
            Some(Err(_)) => self.refuse(&format!("returned an `{key}` that is not a list of strings")),
        }
    }

    /// The value of a key as data.
    pub(super) fn data(&self, key: &str) -> Result<Option<Value>, Box<Diagnostic>> {
        self.given(key).map(|value| self.function.data(value, self.form.code)).transpose()
    }

    /// The error for what the function did.
    pub(super) fn refuse<T>(&self, what: &str) -> Result<T, Box<Diagnostic>> {
        self.function.refuse(self.form, format!("`{}` {what}", self.function.name()))
    }
}

impl ScriptFunction {
    /// The error for a value that the role does not return.
    #[cold]
    pub(super) fn refuse<T>(&self, form: &ReturnForm, message: String) -> Result<T, Box<Diagnostic>> {
        Err(Box::new(self.blame(Diagnostic::error(form.code, message).help(form.help))))
    }
}

/// A value with its type, for messages.
pub(crate) fn described(value: &Dynamic) -> String {
    match kind_of(value) {
        "nothing" => "nothing (`()`)".to_owned(),
        kind => {
            let shown = show(value);
            if shown == kind { kind.to_owned() } else { format!("{kind} (`{shown}`)") }
        }
    }
}
