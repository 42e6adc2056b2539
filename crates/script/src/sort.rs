//! Sorting with a script's comparison. The stock functions swallow its errors (a failing comparison would silently leave the list
//! unsorted) and rely on a total order, which a script need not provide.

use super::array_methods::pointer;
use super::compare::{kind_of, show};
use super::fault::ScriptFault;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, ImmutableString, NativeCallContext};
use std::any::TypeId;

type SortResult<T> = Result<T, Box<EvalAltResult>>;

/// Registers `sort`, `sort_by`, `order`, `order_by` and `dedup` with a closure or a function's name, replacing the stock ones.
pub(crate) fn register(engine: &mut Engine) {
    for name in ["sort", "sort_by", "order", "order_by", "dedup"] {
        for compare in [TypeId::of::<FnPtr>(), TypeId::of::<ImmutableString>()] {
            let types = [TypeId::of::<Array>(), compare];
            engine.register_raw_fn(name, types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
                let [array, compare] = args else { return Ok(Dynamic::UNIT) };
                sort(name, &context, array, &pointer(compare)?)
            });
        }
    }
}

fn sort(name: &str, context: &NativeCallContext, array: &mut Dynamic, compare: &FnPtr) -> SortResult<Dynamic> {
    let in_place = matches!(name, "sort" | "sort_by" | "dedup");
    if in_place && array.is_read_only() {
        return Err(Box::new(EvalAltResult::ErrorNonPureMethodCallOnConstant(name.into(), context.call_position())));
    }
    let items = array.as_array_ref().map(|array| array.clone()).unwrap_or_default();
    let done = if name == "dedup" {
        dedup(items, |a, b| truth(&compare.call_raw(context, None, [a.clone(), b.clone()])?))?
    } else {
        merge_sort(items, &mut |a, b| after(&compare.call_raw(context, None, [a.clone(), b.clone()])?))?
    };
    if !in_place {
        return Ok(Dynamic::from_array(done));
    }
    if let Ok(mut array) = array.as_array_mut() {
        *array = done;
    }
    Ok(Dynamic::UNIT)
}

/// Whether the result of a comparison orders its first argument after its second.
fn after(answer: &Dynamic) -> SortResult<bool> {
    if let Ok(sign) = answer.as_int() {
        return Ok(sign > 0);
    }
    if let Ok(before) = answer.as_bool() {
        return Ok(!before);
    }
    refuse(answer, "a negative number, 0 or a positive number, or whether the first comes before the second")
}

fn truth(answer: &Dynamic) -> SortResult<bool> {
    answer.as_bool().or_else(|_| refuse(answer, "`true` or `false`"))
}

fn refuse(answer: &Dynamic, wanted: &str) -> SortResult<bool> {
    let message = format!("this comparison returned {} (`{}`)", kind_of(answer), show(answer));
    ScriptFault::new("script/type", message).help(format!("it must return {wanted}")).fail()
}

/// A stable sort that terminates for any comparison.
fn merge_sort(mut items: Array, after: &mut impl FnMut(&Dynamic, &Dynamic) -> SortResult<bool>) -> SortResult<Array> {
    if items.len() < 2 {
        return Ok(items);
    }
    let right = items.split_off(items.len() / 2);
    let mut left = merge_sort(items, after)?.into_iter().peekable();
    let mut right = merge_sort(right, after)?.into_iter().peekable();
    let mut sorted = Array::new();
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if after(a, b)? { right.next() } else { left.next() };
        sorted.extend(next);
    }
    sorted.extend(left);
    sorted.extend(right);
    Ok(sorted)
}

fn dedup(items: Array, mut same: impl FnMut(&Dynamic, &Dynamic) -> SortResult<bool>) -> SortResult<Array> {
    let mut kept = Array::new();
    for item in items {
        match kept.last() {
            Some(last) if same(last, &item)? => {}
            _ => kept.push(item),
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use serde_json::json;

    #[test]
    fn a_comparison_given_by_name_fails_like_a_closure() {
        let functions = "fn c(a, b) { throw \"no\" } fn lt(a, b) { a < b } fn odd(a, b) { \"yes\" }";
        let outcome = |body: &str| {
            let library = link(&[("t.rhai", &format!("{functions} fn f() {{ {body} }}"))]);
            find(&library, "t.rhai#f", 0).call_json(&[]).map_err(|problem| problem.code.into_owned())
        };
        for (body, code) in [
            ("let b = [3, 1, 2]; b.sort(\"c\"); b", "script/throw"),
            ("let b = [3, 1, 2]; b.dedup(\"c\"); b", "script/throw"),
            ("let b = [3, \"1\", 2]; b.sort(\"lt\"); b", "rule/compare-types"),
            ("let b = [3, \"1\", 2]; b.dedup(\"lt\"); b", "rule/compare-types"),
            ("let b = [3, 1]; b.sort(\"odd\"); b", "script/type"),
            ("let b = [3, 1]; b.dedup(\"odd\"); b", "script/type"),
        ] {
            assert_eq!(outcome(body), Err(code.to_owned()), "{body}");
        }
        assert_eq!(outcome("let b = [3, 1, 2]; b.sort(\"lt\"); b"), Ok(json!([1, 2, 3])));
    }
}
