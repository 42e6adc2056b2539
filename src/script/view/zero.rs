//! How a declared field reads that is absent or null: the zero value of its type (`decisions.md` 41).

use super::object::{Absent, Object};
use super::{List, Node, Path, View};
use crate::model::Kind;

impl View {
    /// The zero value of a kind; `path` is what messages call it.
    pub(super) fn zero(kind: &Kind, path: impl FnOnce() -> Path) -> Self {
        Self(match kind {
            Kind::Any => Node::Null,
            Kind::Bool => Node::Bool(false),
            Kind::Int { .. } => Node::Int(0),
            Kind::Number { .. } => Node::Float(0.0),
            Kind::Text { .. } => Node::Text(rhai::ImmutableString::new()),
            Kind::List(_) => Node::List(List::new(Box::default(), path())),
            Kind::Object(shape) => Node::Object(Object::empty(path(), Absent::Declared(shape.clone()))),
            Kind::Map(item) => Node::Object(Object::empty(path(), Absent::Zero((**item).clone()))),
        })
    }
}
