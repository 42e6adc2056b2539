//! Extracts values from a map that has been checked against its form. Values that do not fit the form were reported by the check
//! and are treated as absent here.

use super::spanned::Spanned;
use super::table::{Form, ValueForm};
use super::yaml::{Yaml, YamlEntry, YamlKind, expression};
use asterisk_diag::{MappedText, Source, Span};

/// A map together with its form.
#[derive(Clone, Copy, Debug)]
pub struct FormFields<'y> {
    /// The map node.
    pub yaml: &'y Yaml,
    form: &'static Form,
}

impl<'y> FormFields<'y> {
    /// Wraps `yaml`; returns `None` if it is not a map.
    pub fn of(yaml: &'y Yaml, form: &'static Form) -> Option<Self> {
        yaml.as_map().map(|_| Self { yaml, form })
    }

    /// The entry of a key.
    pub fn entry(&self, key: &str) -> Option<&'y YamlEntry> {
        debug_assert!(self.form.key(key).is_some(), "unknown key `{key}` of {}", self.form.what);
        self.yaml.as_map()?.iter().find(|entry| *entry.key == key)
    }

    /// The span of a key.
    pub fn key_span(&self, key: &str) -> Span {
        self.entry(key).map(|entry| entry.key.span).unwrap_or_default()
    }

    /// The value of a key; it may be null.
    pub fn value(&self, key: &str) -> Option<&'y Yaml> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value of a key, unless it is null.
    pub fn present(&self, key: &str) -> Option<&'y Yaml> {
        self.value(key).filter(|yaml| !yaml.is_null())
    }

    /// A string value that is not blank.
    pub fn text(&self, key: &str) -> Option<Spanned<String>> {
        self.value(key)?.text()
    }

    /// A human-readable string; empty if absent.
    pub fn label(&self, key: &str) -> String {
        self.text(key).map_or(String::new(), |text| text.value)
    }

    /// The strings of a list; a single string counts as a list of one.
    pub fn texts(&self, key: &str) -> Vec<Spanned<String>> {
        let Some(yaml) = self.value(key) else { return Vec::new() };
        yaml.texts().unwrap_or_else(|| yaml.text().into_iter().collect())
    }

    /// An expression, with the source position of each character.
    pub fn expression(&self, key: &str, source: &Source) -> Option<MappedText> {
        expression(self.value(key)?, source)
    }

    /// A boolean value; `false` if the key is absent.
    pub fn flag(&self, key: &str) -> bool {
        self.value(key).is_some_and(|yaml| yaml.kind == YamlKind::Bool(true))
    }

    /// An integer within the bounds declared by the form.
    pub fn whole(&self, key: &str) -> Option<i64> {
        let Some(ValueForm::Whole(least, most)) = self.form.key(key).map(|key| key.holds) else { return None };
        match self.value(key)?.kind {
            YamlKind::Int(number) => Some(number).filter(|number| (least..=most).contains(number)),
            _ => None,
        }
    }

    /// A non-negative count.
    pub fn count(&self, key: &str) -> Option<usize> {
        usize::try_from(self.whole(key)?).ok()
    }

    /// A number within the bounds declared by the form.
    pub fn number(&self, key: &str) -> Option<f64> {
        let Some(ValueForm::Number(least, most)) = self.form.key(key).map(|key| key.holds) else { return None };
        let number = self.value(key)?.to_json().as_f64();
        number.filter(|number| (least..=most).contains(number))
    }

    /// A nested map of the given form.
    pub fn map(&self, key: &str, form: &'static Form) -> Option<Self> {
        Self::of(self.value(key)?, form)
    }

    /// The items of a list.
    pub fn list(&self, key: &str) -> Option<&'y [Yaml]> {
        self.value(key)?.as_list()
    }

    /// The entries of a map with arbitrary keys.
    pub fn entries(&self, key: &str) -> &'y [YamlEntry] {
        self.value(key).and_then(Yaml::as_map).unwrap_or_default()
    }
}
