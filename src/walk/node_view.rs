//! Pipeline nodes as template views.

use crate::prompt::{TemplateValue, ValueKind};
use crate::script::View;

impl TemplateValue for View {
    fn look(&self) -> ValueKind<'_> {
        if let Some(text) = self.as_str() {
            ValueKind::Text(text)
        } else if let Some(count) = self.as_list() {
            ValueKind::List(count)
        } else if let Some(count) = self.as_object() {
            ValueKind::Object(count)
        } else if let Some(value) = self.as_i64() {
            ValueKind::Int(value)
        } else if let Some(value) = self.as_bool() {
            ValueKind::Bool(value)
        } else {
            self.as_f64().map_or(ValueKind::Nothing, ValueKind::Float)
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
