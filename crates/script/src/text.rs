//! Replaces stock functions that produce strings before checking their size: a text of a million characters in which each is
//! replaced by a million others.

use super::compare;
use super::fault::{self, ScriptFault};
use super::guard;
use super::json;
use super::view::{ListView, ObjectView};
use rhai::{Array, Dynamic, Engine, EvalAltResult, ImmutableString, Map, NativeCallContext};
use std::fmt::{self, Write};

type TextResult<T> = Result<T, Box<EvalAltResult>>;

/// Registers `to_string`, `to_debug`, `to_json`, `join` and `replace`.
pub(crate) fn register(engine: &mut Engine) {
    macro_rules! printed {
        ($($kind:ty, $given:ident => $taken:expr;)*) => {$(
            for name in ["to_string", "to_debug"] {
                engine.register_fn(name, |context: NativeCallContext, $given: &mut $kind| {
                    let value = Dynamic::from($taken);
                    let text = bounded(&context, |out| print(&value, out));
                    // Rhai then prints the whole value by itself, which must be discarded.
                    if text.is_err() && guard::text_too_long() {
                        return Ok(String::new());
                    }
                    *$given = value.cast();
                    text
                });
            }
            engine.register_fn("to_json", |context: NativeCallContext, $given: &mut $kind| -> TextResult<String> {
                let value = Dynamic::from($taken);
                let json = json::from_dynamic(&value);
                *$given = value.cast();
                match json {
                    Ok(json) => bounded(&context, |out| write!(out, "{json}")),
                    Err(failure) => {
                        let message = format!("not representable as JSON: the value at `{}` {}", failure.path, failure.what);
                        ScriptFault::new("script/type", message).fail()
                    }
                }
            });
        )*};
    }
    // A copy of a list or map would be as large again.
    printed! {
        Array, array => std::mem::take(array);
        Map, map => std::mem::take(map);
        ListView, list => list.clone();
        ObjectView, object => object.clone();
    }
    engine.register_fn("join", |context: NativeCallContext, list: &mut ListView, separator: ImmutableString| {
        bounded(&context, |out| join(list.items().iter().map(super::View::dynamic), &separator, out))
    });
    engine.register_fn("join", |context: NativeCallContext, array: &mut Array, separator: ImmutableString| {
        bounded(&context, |out| join(array.iter().cloned(), &separator, out))
    });
    macro_rules! replace {
        ($($from:ty, $to:ty;)*) => {$(
            engine.register_fn("replace", |context: NativeCallContext, text: &mut ImmutableString, from: $from, to: $to| -> TextResult<()> {
                *text = replaced(&context, text, &from.to_string(), &to.to_string())?.into();
                Ok(())
            });
        )*};
    }
    replace! { ImmutableString, ImmutableString; ImmutableString, char; char, ImmutableString; char, char; }
}

fn replaced(context: &NativeCallContext, text: &str, from: &str, to: &str) -> TextResult<String> {
    bounded(context, |out| {
        let mut rest = 0;
        for (at, found) in text.match_indices(from) {
            out.write_str(&text[rest..at])?;
            out.write_str(to)?;
            rest = at + found.len();
        }
        out.write_str(&text[rest..])
    })
}

fn join(items: impl Iterator<Item = Dynamic>, separator: &str, out: &mut Bounded) -> fmt::Result {
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.write_str(separator)?;
        }
        if item.is_string() || item.is_char() { write!(out, "{item}")? } else { print(&item, out)? }
    }
    Ok(())
}

/// Prints like Rhai: `[1, "x"]`, `#{"a": 1}`; views of JSON are printed as JSON.
fn print(value: &Dynamic, out: &mut Bounded) -> fmt::Result {
    if let Some(list) = value.read_lock::<ListView>() {
        return write!(out, "{}", super::View::from(list.clone()).json());
    }
    if let Some(object) = value.read_lock::<ObjectView>() {
        return write!(out, "{}", super::View::from(object.clone()).json());
    }
    if let Ok(array) = value.as_array_ref() {
        out.write_str("[")?;
        for (at, item) in array.iter().enumerate() {
            out.write_str(if at > 0 { ", " } else { "" })?;
            print(item, out)?;
        }
        return out.write_str("]");
    }
    if let Ok(map) = value.as_map_ref() {
        out.write_str("#{")?;
        for (at, (key, item)) in map.iter().enumerate() {
            write!(out, "{}{key:?}: ", if at > 0 { ", " } else { "" })?;
            print(item, out)?;
        }
        return out.write_str("}");
    }
    if value.read_lock::<ScriptFault>().is_some() {
        return out.write_str(compare::kind_of(value));
    }
    write!(out, "{value:?}")
}

/// A string buffer that fails instead of growing beyond its limit.
struct Bounded {
    text: String,
    most: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, more: &str) -> fmt::Result {
        if self.most > 0 && self.text.len() + more.len() > self.most {
            return Err(fmt::Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}

fn bounded(context: &NativeCallContext, write: impl FnOnce(&mut Bounded) -> fmt::Result) -> TextResult<String> {
    let most = context.engine().max_string_size();
    let mut out = Bounded { text: String::new(), most };
    match write(&mut out) {
        Ok(()) => Ok(out.text),
        Err(_) => ScriptFault::new(fault::LIMIT, format!("this creates a string of more than {most} bytes"))
            .help("keep only what is needed")
            .fail(),
    }
}
