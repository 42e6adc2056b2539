//! Views as templates see them.

use crate::prompt::{Look, Shown};
use crate::script::View;

impl Shown for View {
    fn look(&self) -> Look<'_> {
        if let Some(text) = self.as_str() {
            Look::Text(text)
        } else if let Some(count) = self.as_list() {
            Look::List(count)
        } else if let Some(count) = self.as_object() {
            Look::Object(count)
        } else if let Some(value) = self.as_i64() {
            Look::Int(value)
        } else if let Some(value) = self.as_bool() {
            Look::Bool(value)
        } else {
            self.as_f64().map_or(Look::Nothing, Look::Float)
        }
    }

    fn entry(&self, key: &str) -> Option<Self> {
        self.present(key).cloned()
    }

    fn item(&self, at: usize) -> Option<Self> {
        self.items().get(at).cloned()
    }

    fn keys(&self) -> Vec<&str> {
        self.entries().map(|(key, _)| key).collect()
    }
}
