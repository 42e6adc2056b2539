//! Pipeline nodes as template views.

use asterisk_prompt::{TemplateValue, ValueKind};
use asterisk_script::View;

/// A view that templates read.
#[derive(Clone)]
pub struct TemplateView(pub View);

impl TemplateValue for TemplateView {
    fn look(&self) -> ValueKind<'_> {
        if let Some(text) = self.0.as_str() {
            ValueKind::Text(text)
        } else if let Some(count) = self.0.as_list() {
            ValueKind::List(count)
        } else if let Some(count) = self.0.as_object() {
            ValueKind::Object(count)
        } else if let Some(value) = self.0.as_i64() {
            ValueKind::Int(value)
        } else if let Some(value) = self.0.as_bool() {
            ValueKind::Bool(value)
        } else {
            self.0.as_f64().map_or(ValueKind::Nothing, ValueKind::Float)
        }
    }

    fn entry(&self, key: &str) -> Option<Self> {
        self.0.present(key).cloned().map(Self)
    }

    fn item(&self, at: usize) -> Option<Self> {
        self.0.items().get(at).cloned().map(Self)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.entries().map(|(key, _)| key).collect()
    }
}
