//! Array methods that call a closure for each item. The stock ones treat a result of a predicate that is not a bool as `false`
//! (`["a"].any(|x| "yes")`), and call a closure `|x| ..` unnecessarily without an argument before they call it with the item.

use super::compare::{kind_of, show};
use super::fault::ScriptFault;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, NativeCallContext, Position};
use std::any::TypeId;

type ClosureResult<T> = Result<T, Box<EvalAltResult>>;

/// The methods, and whether they take a start index.
const METHODS: &[(&str, bool)] = &[
    ("filter", false),
    ("some", false),
    ("any", false),
    ("none", false),
    ("all", false),
    ("find", false),
    ("find", true),
    ("index_of", false),
    ("index_of", true),
    ("drain", false),
    ("retain", false),
    ("map", false),
];

/// Registers them for closures and for function names, replacing the stock ones.
pub(crate) fn register(engine: &mut Engine) {
    for &(name, with_start) in METHODS {
        for closure in [TypeId::of::<FnPtr>(), TypeId::of::<ImmutableString>()] {
            let types = [TypeId::of::<Array>(), closure, TypeId::of::<i64>()];
            let types = &types[..if with_start { 3 } else { 2 }];
            engine.register_raw_fn(name, types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
                let (array, closure, start) = match args {
                    [array, closure] => (array, closure, 0),
                    [array, closure, start] => (array, closure, start.as_int().unwrap_or(0)),
                    _ => return Ok(Dynamic::UNIT),
                };
                let call = ClosureCall { name, closure: pointer(closure)?, context: &context };
                call.run(array, start)
            });
        }
    }
}

/// The closure given as an argument, or the function that it names.
pub(crate) fn pointer(argument: &Dynamic) -> ClosureResult<FnPtr> {
    if let Some(closure) = argument.read_lock::<FnPtr>() {
        return Ok(closure.clone());
    }
    let name = argument.read_lock::<ImmutableString>().map(|name| name.clone());
    FnPtr::new(name.unwrap_or_default())
}

struct ClosureCall<'a> {
    name: &'static str,
    closure: FnPtr,
    context: &'a NativeCallContext<'a>,
}

impl ClosureCall<'_> {
    /// Runs the method. The closure works on a copy, and nothing is changed if it fails.
    fn run(&self, array: &mut Dynamic, start: i64) -> ClosureResult<Dynamic> {
        let in_place = matches!(self.name, "drain" | "retain");
        if in_place && array.is_read_only() {
            let position = self.context.call_position();
            return Err(Box::new(EvalAltResult::ErrorNonPureMethodCallOnConstant(self.name.into(), position)));
        }
        if in_place {
            let items = array.as_array_ref().map(|array| array.clone()).unwrap_or_default();
            let (yes, no) = self.divide(items)?;
            let (kept, taken) = if self.name == "retain" { (yes, no) } else { (no, yes) };
            if let Ok(mut array) = array.as_array_mut() {
                *array = kept;
            }
            return Ok(taken.into());
        }
        // The closure may read a shared array, which is then not held.
        let copy = if array.is_shared() { array.flatten_clone() } else { Dynamic::UNIT };
        let array = if array.is_shared() { &copy } else { &*array };
        let held = array.as_array_ref();
        let items: &[Dynamic] = held.as_ref().map_or(&[], |items| items.as_slice());
        Ok(match self.name {
            "map" => {
                let values: ClosureResult<Array> = items.iter().enumerate().map(|(at, item)| self.value(item, at)).collect();
                values?.into()
            }
            "filter" => {
                let mut kept = Array::new();
                for (at, item) in items.iter().enumerate() {
                    if self.answer(item, at)? {
                        kept.push(item.clone());
                    }
                }
                kept.into()
            }
            "all" => self.first(items, 0, false)?.is_none().into(),
            "none" => self.first(items, 0, true)?.is_none().into(),
            "find" => self.first(items, start, true)?.map_or(Dynamic::UNIT, |at| items[at].clone()),
            "index_of" => {
                let at = self.first(items, start, true)?;
                at.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1).into()
            }
            _ => self.first(items, 0, true)?.is_some().into(),
        })
    }

    /// Partitions the items by the predicate.
    fn divide(&self, items: Array) -> ClosureResult<(Array, Array)> {
        let (mut yes, mut no) = (Array::new(), Array::new());
        for (at, item) in items.into_iter().enumerate() {
            let side = if self.answer(&item, at)? { &mut yes } else { &mut no };
            side.push(item);
        }
        Ok((yes, no))
    }

    /// The index of the first item with the wanted result. A negative start counts from the end.
    fn first(&self, items: &[Dynamic], start: i64, wanted: bool) -> ClosureResult<Option<usize>> {
        let from_end = usize::try_from(start.unsigned_abs()).unwrap_or(usize::MAX);
        let start = if start < 0 { items.len().saturating_sub(from_end) } else { from_end };
        for (at, item) in items.iter().enumerate().skip(start) {
            if self.answer(item, at)? == wanted {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// The value of the closure for an item: of `|x| ..`, as most are, else of `|| ..` with `this`, or of `|x, index| ..`.
    fn value(&self, item: &Dynamic, at: usize) -> ClosureResult<Dynamic> {
        if self.closure.is_anonymous() {
            match self.closure.call_raw(self.context, None, [item.clone()]) {
                Ok(value) => return Ok(value),
                Err(error) if !self.is_unknown(&error) => {
                    let source = self.context.call_source().unwrap_or_default().to_owned();
                    return Err(Box::new(EvalAltResult::ErrorInFunctionCall(self.name.into(), source, error, Position::NONE)));
                }
                Err(_) => {}
            }
        }
        let index = i64::try_from(at).unwrap_or(i64::MAX).into();
        self.closure.call_raw_with_extra_args(self.name, self.context, Some(&mut item.clone()), [], [index], Some(0))
    }

    /// Whether the closure has another number of parameters.
    fn is_unknown(&self, error: &EvalAltResult) -> bool {
        matches!(error, EvalAltResult::ErrorFunctionNotFound(signature, _) if signature.starts_with(self.closure.fn_name()))
    }

    fn answer(&self, item: &Dynamic, at: usize) -> ClosureResult<bool> {
        let answer = self.value(item, at)?.flatten();
        answer.as_bool().or_else(|_| {
            let what =
                if answer.is_unit() { "nothing (`()`)".into() } else { format!("{} (`{}`)", kind_of(&answer), show(&answer)) };
            let message = format!("the closure of `{}` must return a bool, not {what}", self.name);
            ScriptFault::new("script/type", message).help("write a condition: `|x| x == ...`").fail()
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use serde_json::json;

    #[test]
    fn a_predicate_returns_a_bool() {
        for call in [
            r#"["a"].any(|x| "yes")"#,
            "[1].none(|x| 1)",
            "[1].some(|x| [])",
            "[1].filter(|x| ())",
            "[1].all(|x| 1)",
            "[1].find(|x| 1)",
            "[1].find(|x| 1, 0)",
            "[1].index_of(|x| 1)",
            "[1].index_of(|x| 1, 0)",
            "let a = [1]; a.drain(|x| 1)",
            "let a = [1]; a.retain(|x| 1)",
            "artifact.list.any(|x| 1)",
            "artifact.list.none(|x| x)",
            "artifact.list.some(|x| x)",
            "artifact.list.all(|x| x)",
            "artifact.list.filter(|x| x)",
            "artifact.list.find(|x| x)",
            "artifact.list.index_of(|x| x)",
        ] {
            let message = failure(call);
            assert!(message.starts_with("script/type @ t.rhai:"), "{call}: {message}");
            assert!(message.contains("must return a bool, not "), "{call}: {message}");
        }
        assert!(failure("[1].filter(|x| ())").contains("the closure of `filter` must return a bool, not nothing (`()`)"));
        assert!(failure("artifact.list.none(|x| 1)").contains("the closure of `none`"));
    }

    #[test]
    fn the_methods_agree_with_the_stock_ones() {
        let body = r#"
            let a = [1, 2, 3, 4];
            let even = |x| x % 2 == 0;
            let drained = [1, 2, 3, 4]; let out = drained.drain(even);
            let retained = [1, 2, 3, 4]; let rest = retained.retain(|x, i| i > 1);
            [
                a.filter(even), a.filter(|x, i| i < 1), a.filter(|| this > 3), a.any(even), a.some(|x| x > 9), a.none(|x| x > 9),
                a.all(even), a.find(even), a.find(|x| x > 9), a.find(even, 2), a.find(even, -1), a.index_of(even),
                a.index_of(even, -99), a.index_of(even, 99), a.index_of(3), [].all(even), [].any(even), drained, out, retained, rest,
                artifact.list.filter(|x| x == "y"), artifact.list.none(|x| x == "z"), artifact.list.find(|x| x == "y"),
                a.filter(|x| a.len() > x),
            ]"#;
        let expected = json!([
            [2, 4],
            [1],
            [4],
            true,
            false,
            true,
            false,
            2,
            null,
            4,
            4,
            1,
            1,
            -1,
            2,
            true,
            false,
            [1, 3],
            [2, 4],
            [3, 4],
            [1, 2],
            ["y"],
            true,
            "y",
            [1, 2, 3],
        ]);
        assert_eq!(eval(body).expect("fine"), expected);
    }

    #[test]
    fn a_function_may_be_given_by_its_name() {
        let text =
            "fn yes(x) { x > 1 } fn no(x) { x > \"1\" } fn f(a) { [1, 2].filter(\"yes\") } fn g(a) { [1, 2].filter(\"no\") }";
        let library = link(&[("t.rhai", text)]);
        assert_eq!(find(&library, "t.rhai#f", 1).call_json(&[json!({})]).expect("fine"), json!([2]));
        let problem = find(&library, "t.rhai#g", 1).call_json(&[json!({})]).expect_err("kinds");
        assert_eq!(&*problem.code, "rule/compare-types");
    }
}
