//! Equality of views, in scripts and in Rust.

use super::compare;
use super::view::{ListView, ObjectView, View, ViewNode};
use rhai::{Array, Dynamic, Engine, EvalAltResult, Map};

/// Registers the comparison of views.
pub(crate) fn register(engine: &mut Engine) {
    macro_rules! equality {
        ($($a:ty, $b:ty;)*) => {$(
            engine.register_fn("==", |a: &mut $a, b: $b| compare::equal(&Dynamic::from(a.clone()), &Dynamic::from(b)));
            engine.register_fn("!=", |a: &mut $a, b: $b| {
                compare::equal(&Dynamic::from(a.clone()), &Dynamic::from(b)).map(|equal| !equal)
            });
        )*};
    }
    equality! { ObjectView, ObjectView; ObjectView, Map; Map, ObjectView; ListView, ListView; ListView, Array; Array, ListView; }
    engine.register_fn("contains", |list: &mut ListView, value: Dynamic| {
        Ok::<_, Box<EvalAltResult>>(position(list, &value)?.is_some())
    });
    engine.register_fn("index_of", |list: &mut ListView, value: Dynamic| {
        Ok::<_, Box<EvalAltResult>>(position(list, &value)?.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX)))
    });
}

fn position(list: &ListView, value: &Dynamic) -> Result<Option<usize>, Box<EvalAltResult>> {
    for (at, item) in list.items().iter().enumerate() {
        if compare::equal(&item.dynamic(), value)? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// By value: numbers as numbers, objects by their entries, ignoring the names used in messages.
impl PartialEq for View {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (ViewNode::List(a), ViewNode::List(b)) => a.items() == b.items(),
            (ViewNode::Object(a), ViewNode::Object(b)) => a.entries().eq(b.entries()),
            (ViewNode::List(_) | ViewNode::Object(_), _) | (_, ViewNode::List(_) | ViewNode::Object(_)) => false,
            _ => compare::equal(&self.dynamic(), &other.dynamic()).unwrap_or(false),
        }
    }
}
