//! Sorting by a script's comparison. The stock functions swallow what goes wrong in it (a failing comparison would leave the
//! list as it was, without a word) and rely on an order that a script need not keep to.

use super::compare::{kind_of, show};
use super::fault::Fault;
use rhai::{Array, Dynamic, Engine, EvalAltResult, FnPtr, NativeCallContext};
use std::any::TypeId;

type Outcome<T> = Result<T, Box<EvalAltResult>>;

/// Registers `sort`, `sort_by`, `order`, `order_by` and `dedup` with a closure, in the place of the stock ones.
pub(crate) fn register(engine: &mut Engine) {
    let types = [TypeId::of::<Array>(), TypeId::of::<FnPtr>()];
    for name in ["sort", "sort_by", "order", "order_by", "dedup"] {
        engine.register_raw_fn(name, types, move |context: NativeCallContext, args: &mut [&mut Dynamic]| {
            let in_place = matches!(name, "sort" | "sort_by" | "dedup");
            let [array, compare] = args else { return Ok(Dynamic::UNIT) };
            if in_place && array.is_read_only() {
                return Err(Box::new(EvalAltResult::ErrorNonPureMethodCallOnConstant(name.into(), context.call_position())));
            }
            let Some(compare) = compare.read_lock::<FnPtr>().map(|compare| compare.clone()) else { return Ok(Dynamic::UNIT) };
            let items = array.as_array_ref().map(|array| array.clone()).unwrap_or_default();
            let done = if name == "dedup" {
                dedup(items, |a, b| truth(&compare.call_raw(&context, None, [a.clone(), b.clone()])?))?
            } else {
                merge_sort(items, &mut |a, b| after(&compare.call_raw(&context, None, [a.clone(), b.clone()])?))?
            };
            if !in_place {
                return Ok(Dynamic::from_array(done));
            }
            if let Ok(mut array) = array.as_array_mut() {
                *array = done;
            }
            Ok(Dynamic::UNIT)
        });
    }
}

/// Whether a comparison's answer says that its first argument comes after its second.
fn after(answer: &Dynamic) -> Outcome<bool> {
    if let Ok(sign) = answer.as_int() {
        return Ok(sign > 0);
    }
    if let Ok(before) = answer.as_bool() {
        return Ok(!before);
    }
    refuse(answer, "a negative number, 0 or a positive number, or whether the first comes before the second")
}

fn truth(answer: &Dynamic) -> Outcome<bool> {
    answer.as_bool().or_else(|_| refuse(answer, "`true` or `false`"))
}

fn refuse(answer: &Dynamic, wanted: &str) -> Outcome<bool> {
    let message = format!("this comparison answered {} (`{}`)", kind_of(answer), show(answer));
    Fault::new("script/type", message).help(format!("it answers {wanted}")).fail()
}

/// A stable sort that ends whatever the comparison answers.
fn merge_sort(mut items: Array, after: &mut impl FnMut(&Dynamic, &Dynamic) -> Outcome<bool>) -> Outcome<Array> {
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

fn dedup(items: Array, mut same: impl FnMut(&Dynamic, &Dynamic) -> Outcome<bool>) -> Outcome<Array> {
    let mut kept = Array::new();
    for item in items {
        match kept.last() {
            Some(last) if same(last, &item)? => {}
            _ => kept.push(item),
        }
    }
    Ok(kept)
}
