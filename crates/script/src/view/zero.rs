//! The value of a declared field that is absent or null: the zero value of its type (`docs/decisions/0009-absent-fields-are-zero.md`).

use super::object::{Absent, ObjectView};
use super::{ListView, Path, View, ViewNode};
use asterisk_base::model::Kind;

impl View {
    /// The zero value of a type; `path` is its name in messages.
    pub(super) fn zero(kind: &Kind, path: impl FnOnce() -> Path) -> Self {
        Self(match kind {
            Kind::Any => ViewNode::Null,
            Kind::Bool => ViewNode::Bool(false),
            Kind::Int { .. } => ViewNode::Int(0),
            Kind::Number { .. } => ViewNode::Float(0.0),
            Kind::Text { .. } => ViewNode::Text(rhai::ImmutableString::new()),
            Kind::List(_) => ViewNode::List(ListView::new(Box::default(), path())),
            Kind::Object(shape) => ViewNode::Object(ObjectView::empty(path(), Absent::Declared(shape.clone()))),
            Kind::Map(item) => ViewNode::Object(ObjectView::empty(path(), Absent::Zero((**item).clone()))),
        })
    }
}
