//! Converts JSON to views, once per step.

use super::object::{Absent, ObjectEntry, ObjectView};
use super::{ListView, Path, View, ViewNode};
use crate::compare::kind_of;
use crate::fault::ScriptFault;
use crate::guard;
use asterisk_base::model::Kind;
use rhai::{Array, Dynamic, EvalAltResult, ImmutableString, Map};
use serde_json::Value;

impl View {
    /// Converts a JSON value of a declared type. `name` is used in messages. Null reads as an empty object: every declared field
    /// as its zero value, every other is an error.
    pub fn of(value: &Value, kind: &Kind, name: &str) -> Self {
        let path = || Path::root(name);
        match value {
            Value::Null if *kind == Kind::Any => Self(ViewNode::Object(ObjectView::empty(path(), Absent::Refused))),
            Value::Null => Self::zero(kind, path),
            value => build(value, kind, path),
        }
    }

    /// Converts a JSON value without a declared type: null is `()`, and only present fields can be read.
    pub fn plain(value: &Value, name: &str) -> Self {
        build(value, &Kind::Any, || Path::root(name))
    }
}

impl View {
    /// A value of a script, read-only; its parts that are read-only already are shared. Functions are refused.
    pub(crate) fn frozen(value: &Dynamic) -> Result<Self, Box<EvalAltResult>> {
        freeze(value, &mut || Path::root("value"))
    }
}

fn freeze(value: &Dynamic, path: &mut dyn FnMut() -> Path) -> Result<View, Box<EvalAltResult>> {
    guard::charge(size_of::<View>())?;
    if let Some(array) = value.read_lock::<Array>() {
        let path = path();
        let mut shared: Option<Path> = None;
        let items = array.iter().map(|item| freeze(item, &mut || shared.get_or_insert_with(|| Path::item(&path)).clone()));
        let items = items.collect::<Result<_, _>>()?;
        return Ok(ListView::new(items, path).into());
    }
    if let Some(map) = value.read_lock::<Map>() {
        let path = path();
        let entries = map.iter().map(|(key, item)| {
            let view = freeze(item, &mut || Path::field(&path, key))?;
            Ok::<_, Box<EvalAltResult>>(ObjectEntry { key: key.as_str().into(), view, known: true })
        });
        let entries = entries.collect::<Result<_, _>>()?;
        return Ok(ObjectView::new(entries, path, Absent::Refused).into());
    }
    if let Some(list) = value.read_lock::<ListView>() {
        return Ok(list.clone().into());
    }
    if let Some(object) = value.read_lock::<ObjectView>() {
        return Ok(object.clone().into());
    }
    if let Some(text) = value.read_lock::<ImmutableString>() {
        return Ok(text.clone().into());
    }
    if let Ok(number) = value.as_int() {
        return Ok(number.into());
    }
    if let Ok(number) = value.as_float() {
        return Ok(number.into());
    }
    if let Ok(truth) = value.as_bool() {
        return Ok(truth.into());
    }
    if value.is_unit() {
        return Ok(View::null());
    }
    let fault = ScriptFault::new("script/argument", format!("{} cannot be frozen", kind_of(value)));
    fault.help("freeze numbers, strings, `true`, `false`, `()`, lists and maps of them").fail()
}

fn build(value: &Value, kind: &Kind, path: impl FnOnce() -> Path) -> View {
    View(match value {
        Value::Null => ViewNode::Null,
        Value::Bool(value) => ViewNode::Bool(*value),
        Value::Number(number) => match (number.as_i64(), kind) {
            (Some(value), Kind::Number { .. }) => ViewNode::Float(as_float(value)),
            (Some(value), _) => ViewNode::Int(value),
            (None, _) => ViewNode::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Value::String(text) => ViewNode::Text(text.as_str().into()),
        Value::Array(items) => {
            let item_kind = if let Kind::List(item) = kind { item } else { &Kind::Any };
            ViewNode::List(list(items, item_kind, path()))
        }
        Value::Object(fields) => ViewNode::Object(object(fields, kind, path())),
    })
}

fn list(items: &[Value], kind: &Kind, path: Path) -> ListView {
    let mut shared: Option<Path> = None;
    let mut item_path = || shared.get_or_insert_with(|| Path::item(&path)).clone();
    let views = items.iter().map(|item| match item {
        Value::Null if *kind != Kind::Any => View::zero(kind, &mut item_path),
        item => build(item, kind, &mut item_path),
    });
    let views = views.collect();
    ListView::new(views, path)
}

fn object(fields: &serde_json::Map<String, Value>, kind: &Kind, path: Path) -> ObjectView {
    let absent = match kind {
        Kind::Object(shape) => Absent::Declared(shape.clone()),
        Kind::Map(item) => Absent::Zero((**item).clone()),
        _ => Absent::Refused,
    };
    let entries = fields.iter().map(|(name, value)| {
        let (kind, known) = match kind {
            Kind::Object(shape) => match shape.field(name) {
                Some(field) => (&field.kind, true),
                None => (&Kind::Any, false),
            },
            Kind::Map(item) => (&**item, true),
            _ => (&Kind::Any, true),
        };
        let view = build(value, kind, || Path::field(&path, name));
        ObjectEntry { key: name.as_str().into(), view, known }
    });
    let entries = entries.collect();
    ObjectView::new(entries, path, absent)
}

#[expect(clippy::cast_precision_loss, reason = "the schema says number: scripts see floats")]
fn as_float(value: i64) -> f64 {
    value as f64
}
