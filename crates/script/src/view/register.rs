//! Registers the operations of scripts on objects and lists. All are read-only: no setter, no indexer setter and no mutating
//! method is registered, so that a script cannot write to its inputs. (Setters that fail would not work: after a method call Rhai
//! writes the receiver back through the setter, and `artifact.list.len()` itself would fail.)

use super::{ListView, ObjectView, View};
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, Map, NativeCallContext};
use std::any::TypeId;

type DynamicResult = Result<Dynamic, Box<EvalAltResult>>;

/// The kinds of the last parameters of a borrowed array method.
#[derive(Clone, Copy)]
enum ArgumentKind {
    Closure,
    Index,
    Range,
    RangeInclusive,
    Value,
}

use ArgumentKind::{Closure, Index, Range, RangeInclusive, Value};

/// Methods of lists that are implemented by those of arrays, on a shallow copy: (name, the array's method, its parameters).
const BORROWED: &[(&str, &str, &[ArgumentKind])] = &[
    ("filter", "filter", &[Closure]),
    ("map", "map", &[Closure]),
    ("any", "any", &[Closure]),
    ("some", "some", &[Closure]),
    ("all", "all", &[Closure]),
    ("none", "none", &[Closure]),
    ("find", "find", &[Closure]),
    ("find", "find", &[Closure, Index]),
    ("find_map", "find_map", &[Closure]),
    ("find_map", "find_map", &[Closure, Index]),
    ("index_of", "index_of", &[Closure]),
    ("index_of", "index_of", &[Closure, Index]),
    ("reduce", "reduce", &[Closure]),
    ("reduce", "reduce", &[Closure, Value]),
    ("reduce_rev", "reduce_rev", &[Closure]),
    ("reduce_rev", "reduce_rev", &[Closure, Value]),
    ("for_each", "map", &[Closure]),
    ("order", "order", &[]),
    ("order_desc", "order_desc", &[]),
    ("order_by", "order_by", &[Closure]),
    ("extract", "extract", &[Index]),
    ("extract", "extract", &[Index, Index]),
    ("extract", "extract", &[Range]),
    ("extract", "extract", &[RangeInclusive]),
    ("zip", "zip", &[Value, Closure]),
];

/// Registers the types and their methods. (Comparison is in `equality`, printing in `text`.)
pub(crate) fn register(engine: &mut Engine) {
    engine.register_type_with_name::<ObjectView>("object");
    engine.register_type_with_name::<ListView>("list");
    objects(engine);
    lists(engine);
    for_each(engine);
    for &(name, array, takes) in BORROWED {
        borrow(engine, name, array, takes);
    }
}

/// Registers a native getter for each field name used by a script or a schema. Without one, each read would first fail and then
/// find the indexer: slower, and with errors positioned at the dot.
pub(crate) fn register_fields<'a>(engine: &mut Engine, names: impl IntoIterator<Item = &'a str>) {
    for name in names {
        let key: ImmutableString = name.into();
        engine.register_get(name, move |object: &mut ObjectView| object.read(&key));
    }
}

fn objects(engine: &mut Engine) {
    engine.register_indexer_get(|object: &mut ObjectView, key: ImmutableString| object.read(&key));
    engine.register_fn("len", |object: &mut ObjectView| count(object.len()));
    engine.register_fn("is_empty", |object: &mut ObjectView| object.len() == 0);
    engine.register_fn("contains", |object: &mut ObjectView, key: ImmutableString| object.has(&key));
    engine.register_fn("get", |object: &mut ObjectView, key: ImmutableString| {
        object.field(&key).map_or(Dynamic::UNIT, |view| view.dynamic())
    });
    engine.register_fn("keys", |object: &mut ObjectView| -> Array { object.entries().map(|(key, _)| key.into()).collect() });
    engine
        .register_fn("values", |object: &mut ObjectView| -> Array { object.entries().map(|(_, view)| view.dynamic()).collect() });
    engine.register_fn("to_map", |object: &mut ObjectView| -> Map {
        object.entries().map(|(key, view)| (key.into(), view.dynamic())).collect()
    });
}

fn lists(engine: &mut Engine) {
    engine.register_iterator::<ListView>();
    engine.register_indexer_get(|list: &mut ListView, index: i64| list.read(index));
    engine.register_fn("len", |list: &mut ListView| count(list.items().len()));
    engine.register_get("len", |list: &mut ListView| count(list.items().len()));
    engine.register_fn("is_empty", |list: &mut ListView| list.items().is_empty());
    engine.register_get("is_empty", |list: &mut ListView| list.items().is_empty());
    engine.register_fn("to_array", |list: &mut ListView| list.array());
    let or_nothing = |view: Option<&View>| view.map_or(Dynamic::UNIT, View::dynamic);
    engine.register_fn("get", move |list: &mut ListView, index: i64| or_nothing(list.at(index)));
    engine.register_fn("first", move |list: &mut ListView| or_nothing(list.at(0)));
    engine.register_fn("last", move |list: &mut ListView| or_nothing(list.at(-1)));
    engine.register_fn("+", |list: &mut ListView, more: ListView| [list.array(), more.array()].concat());
    engine.register_fn("+", |list: &mut ListView, more: Array| [list.array(), more].concat());
    engine.register_fn("+", |array: &mut Array, more: ListView| [array.as_slice(), &more.array()].concat());
    engine.register_fn("+=", |array: &mut Array, more: ListView| array.extend(more.array()));
    engine.register_fn("append", |array: &mut Array, more: ListView| array.extend(more.array()));
    // The same for the arrays of scripts, so that both types have the same methods.
    engine.register_fn("first", |array: &mut Array| array.first().cloned().unwrap_or_default());
    engine.register_fn("last", |array: &mut Array| array.last().cloned().unwrap_or_default());
    engine.register_fn("to_array", |array: &mut Array| array.clone());
    engine.register_fn("to_map", |map: &mut Map| map.clone());
}

/// In the stock `for_each`, the parameter of `|x| ..` is the index. Here it is the item, as in `map` and `filter`; a closure
/// without parameters may modify the item, which is `this`.
fn for_each(engine: &mut Engine) {
    let types = [TypeId::of::<Array>(), TypeId::of::<FnPtr>()];
    engine.register_raw_fn("for_each", types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| -> DynamicResult {
        let [array, closure] = args else { return Ok(Dynamic::UNIT) };
        let Some(closure) = closure.read_lock::<FnPtr>().map(|closure| closure.clone()) else { return Ok(Dynamic::UNIT) };
        let definition =
            context.iter_namespaces().flat_map(rhai::Module::iter_script_fn_info).find(|info| info.2 == closure.fn_name());
        if definition.is_some_and(|info| info.3 > closure.curry().len()) {
            let mut copy = array.flatten_clone();
            let _results = context.call_native_fn_raw("map", false, &mut [&mut copy, &mut Dynamic::from(closure)])?;
            return Ok(Dynamic::UNIT);
        }
        if array.is_read_only() {
            return Err(Box::new(EvalAltResult::ErrorNonPureMethodCallOnConstant("for_each".into(), context.call_position())));
        }
        let Ok(mut items) = array.as_array_mut() else { return Ok(Dynamic::UNIT) };
        for item in items.iter_mut() {
            drop(closure.call_raw(&context, Some(item), [])?);
        }
        Ok(Dynamic::UNIT)
    });
}

/// Registers the array method `array` as `name` for lists.
fn borrow(engine: &mut Engine, name: &'static str, array: &'static str, takes: &[ArgumentKind]) {
    let types = takes.iter().map(|takes| match takes {
        Closure => TypeId::of::<FnPtr>(),
        Index => TypeId::of::<i64>(),
        Range => TypeId::of::<std::ops::Range<i64>>(),
        RangeInclusive => TypeId::of::<std::ops::RangeInclusive<i64>>(),
        Value => TypeId::of::<Dynamic>(),
    });
    let types: Vec<TypeId> = std::iter::once(TypeId::of::<ListView>()).chain(types).collect();
    engine.register_raw_fn(name, types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
        let Some((list, rest)) = args.split_first_mut() else { return Ok(Dynamic::UNIT) };
        let Some(list) = list.read_lock::<ListView>().map(|list| list.clone()) else { return Ok(Dynamic::UNIT) };
        let mut copy = Dynamic::from_array(list.array());
        let mut rest: Vec<Dynamic> = rest.iter_mut().map(|arg| arrays(arg.take())).collect();
        let mut all: Vec<&mut Dynamic> = std::iter::once(&mut copy).chain(rest.iter_mut()).collect();
        // By value: a list may be longer than the limit for arrays of scripts.
        let value = context.call_native_fn_raw(array, false, &mut all)?;
        Ok(if name == "for_each" { Dynamic::UNIT } else { value })
    });
}

fn arrays(value: Dynamic) -> Dynamic {
    match value.read_lock::<ListView>().map(|list| list.array()) {
        Some(array) => Dynamic::from_array(array),
        None => value,
    }
}

fn count(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl From<ObjectView> for View {
    fn from(object: ObjectView) -> Self {
        Self(super::ViewNode::Object(object))
    }
}

impl From<ListView> for View {
    fn from(list: ListView) -> Self {
        Self(super::ViewNode::List(list))
    }
}
