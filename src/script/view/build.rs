//! JSON to views, once a step.

use super::object::{Absent, Entry, Object};
use super::{List, Node, Path, View};
use crate::model::Kind;
use rhai::ImmutableString;
use serde_json::Value;
use std::sync::Arc;

impl View {
    /// A JSON value of a declared kind. `name` is what messages call it. A null one reads as an empty object: every declared
    /// field as its zero, every other an error.
    pub fn of(value: &Value, kind: &Kind, name: &str) -> Self {
        let path = || Path::root(name);
        match value {
            Value::Null if *kind == Kind::Any => Self(Node::Object(Object::empty(path(), Absent::Refused))),
            Value::Null => Self::zero(kind, path),
            value => build(value, kind, path, None),
        }
    }

    /// A JSON value just as it is: null is nothing, and only what is there can be read.
    pub fn plain(value: &Value, name: &str) -> Self {
        build(value, &Kind::Any, || Path::root(name), None)
    }
}

/// Items of a list mostly have the same keys: those of the item `before` are shared instead of copied.
fn build(value: &Value, kind: &Kind, path: impl FnOnce() -> Path, before: Option<&Object>) -> View {
    View(match value {
        Value::Null => Node::Null,
        Value::Bool(value) => Node::Bool(*value),
        Value::Number(number) => match (number.as_i64(), kind) {
            (Some(value), Kind::Number { .. }) => Node::Float(as_float(value)),
            (Some(value), _) => Node::Int(value),
            (None, _) => Node::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => Node::Text(text.as_str().into()),
        Value::Array(items) => {
            let path = Arc::new(path());
            let item_kind = if let Kind::List(item) = kind { item } else { &Kind::Any };
            Node::List(list(items, item_kind, path))
        }
        Value::Object(fields) => Node::Object(object(fields, kind, path(), before)),
    })
}

fn list(items: &[Value], kind: &Kind, path: Arc<Path>) -> List {
    let item_path = Arc::new(Path::item(&path));
    let mut views: Vec<View> = Vec::with_capacity(items.len());
    for item in items {
        let before = match views.last() {
            Some(View(Node::Object(object))) => Some(object.clone()),
            _ => None,
        };
        views.push(match item {
            Value::Object(fields) => View(Node::Object(shared_object(fields, kind, &item_path, before.as_ref()))),
            Value::Null if *kind != Kind::Any => View::zero(kind, || Path::item(&path)),
            item => build(item, kind, || Path::item(&path), None),
        });
    }
    List::new(views.into_boxed_slice(), path)
}

fn object(fields: &serde_json::Map<String, Value>, kind: &Kind, path: Path, before: Option<&Object>) -> Object {
    shared_object(fields, kind, &Arc::new(path), before)
}

fn shared_object(fields: &serde_json::Map<String, Value>, kind: &Kind, path: &Arc<Path>, before: Option<&Object>) -> Object {
    let absent = match kind {
        Kind::Object(shape) => Absent::Declared(shape.clone()),
        Kind::Map(item) => Absent::Zero((**item).clone()),
        _ => Absent::Refused,
    };
    let entries = fields.iter().enumerate().map(|(index, (name, value))| {
        let key: ImmutableString = match before.and_then(|before| before.key(index)) {
            Some(key) if key.as_str() == name => key.clone(),
            _ => name.as_str().into(),
        };
        let (kind, known) = match kind {
            Kind::Object(shape) => match shape.field(name) {
                Some(field) => (&field.kind, true),
                None => (&Kind::Any, false),
            },
            Kind::Map(item) => (&**item, true),
            _ => (&Kind::Any, true),
        };
        let view = build(value, kind, || Path::field(path, key.clone()), None);
        Entry { key, view, known }
    });
    Object::new(entries.collect(), path.clone(), absent)
}

#[expect(clippy::cast_precision_loss, reason = "the schema says number: scripts see floats")]
fn as_float(value: i64) -> f64 {
    value as f64
}
