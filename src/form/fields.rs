//! Taking values from a map whose form has been checked. What is not as the form says has been reported and is taken for absent.

use super::spanned::Spanned;
use super::table::{Form, ValueForm};
use super::yaml::{Yaml, YamlEntry, YamlKind, expression};
use crate::diag::{MappedText, Source, Span};

/// A map with its form.
#[derive(Clone, Copy, Debug)]
pub struct FormFields<'y> {
    /// The whole map.
    pub yaml: &'y Yaml,
    form: &'static Form,
}

impl<'y> FormFields<'y> {
    /// A map of that form; nothing of what is no map.
    pub fn of(yaml: &'y Yaml, form: &'static Form) -> Option<Self> {
        yaml.as_map().map(|_| Self { yaml, form })
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&'y YamlEntry> {
        debug_assert!(self.form.key(key).is_some(), "{} has no key `{key}`", self.form.what);
        self.yaml.as_map()?.iter().find(|entry| *entry.key == key)
    }

    /// The place of a key.
    pub fn key_span(&self, key: &str) -> Span {
        self.entry(key).map(|entry| entry.key.span).unwrap_or_default()
    }

    /// The value of a key, be it nothing.
    pub fn value(&self, key: &str) -> Option<&'y Yaml> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value of a key, unless it is nothing.
    pub fn present(&self, key: &str) -> Option<&'y Yaml> {
        self.value(key).filter(|yaml| !yaml.is_null())
    }

    /// A text that is not blank.
    pub fn text(&self, key: &str) -> Option<Spanned<String>> {
        self.value(key)?.text()
    }

    /// A text for people; empty if there is none.
    pub fn label(&self, key: &str) -> String {
        self.text(key).map_or(String::new(), |text| text.value)
    }

    /// The texts of a list; of a text alone, that text.
    pub fn texts(&self, key: &str) -> Vec<Spanned<String>> {
        let Some(yaml) = self.value(key) else { return Vec::new() };
        yaml.texts().unwrap_or_else(|| yaml.text().into_iter().collect())
    }

    /// An expression, with the place of each of its characters.
    pub fn expression(&self, key: &str, source: &Source) -> Option<MappedText> {
        expression(self.value(key)?, source)
    }

    /// `true` or `false`; `false` without the key.
    pub fn flag(&self, key: &str) -> bool {
        self.value(key).is_some_and(|yaml| yaml.kind == YamlKind::Bool(true))
    }

    /// A whole number within the bounds of its form.
    pub fn whole(&self, key: &str) -> Option<i64> {
        let Some(ValueForm::Whole(least, most)) = self.form.key(key).map(|key| key.holds) else { return None };
        match self.value(key)?.kind {
            YamlKind::Int(number) => Some(number).filter(|number| (least..=most).contains(number)),
            _ => None,
        }
    }

    /// A number of things.
    pub fn count(&self, key: &str) -> Option<usize> {
        usize::try_from(self.whole(key)?).ok()
    }

    /// The map of a key.
    pub fn map(&self, key: &str, form: &'static Form) -> Option<Self> {
        Self::of(self.value(key)?, form)
    }

    /// The items of a list.
    pub fn list(&self, key: &str) -> Option<&'y [Yaml]> {
        self.value(key)?.as_list()
    }

    /// The entries of a map from names to values.
    pub fn entries(&self, key: &str) -> &'y [YamlEntry] {
        self.value(key).and_then(Yaml::as_map).unwrap_or_default()
    }
}
