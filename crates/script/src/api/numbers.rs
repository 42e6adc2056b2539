//! Functions on numbers: bounds, rounding, percentages, parsing.

use super::HostFn;
use super::args::{HostFnResult, Number, charged, fail, list, number};
use rhai::Dynamic;

const GROUP: &str = "numbers";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "clamp",
        signature: "clamp(x: number, low: number, high: number) -> number",
        group: GROUP,
        doc: "The number nearest to `x` between `low` and `high`, both included.",
        example: "clamp(1.3, 0.0, 1.0)",
        result: "1.0",
        bind: |engine, name| {
            engine.register_fn(name, |x: Dynamic, low: Dynamic, high: Dynamic| clamp(&x, &low, &high));
        },
    },
    HostFn {
        name: "round_to",
        signature: "round_to(x: number, digits: int) -> number",
        group: GROUP,
        doc: "The number rounded to `digits` decimal places (0 to 15), halves away from zero; whole numbers are unchanged.",
        example: "round_to(0.8349, 2)",
        result: "0.83",
        bind: |engine, name| {
            engine.register_fn(name, |x: Dynamic, digits: i64| round_to(&x, digits));
        },
    },
    HostFn {
        name: "percent",
        signature: "percent(part: number, whole: number) -> float or ()",
        group: GROUP,
        doc: "The part as a percentage of the whole; () when the whole is 0.",
        example: "percent(3, 4)",
        result: "75.0",
        bind: |engine, name| {
            engine.register_fn(name, |part: Dynamic, whole: Dynamic| percent(&part, &whole));
        },
    },
    HostFn {
        name: "mean",
        signature: "mean(numbers: list of number) -> float or ()",
        group: GROUP,
        doc: "The arithmetic mean of the numbers; () for an empty list.",
        example: "mean([1, 2.5, 4])",
        result: "2.5",
        bind: |engine, name| {
            engine.register_fn(name, |numbers: Dynamic| mean(&numbers));
        },
    },
    HostFn {
        name: "sum",
        signature: "sum(numbers: list of number) -> number",
        group: GROUP,
        doc: "The sum of the numbers: a whole number if all are, 0 for an empty list.",
        example: "sum([1, 2, 4])",
        result: "7",
        bind: |engine, name| {
            engine.register_fn(name, |numbers: Dynamic| sum(&numbers));
        },
    },
    HostFn {
        name: "parse_number",
        signature: "parse_number(text: string) -> number or ()",
        group: GROUP,
        doc: "Parses a whole or decimal number, ignoring surrounding white space; () if the text is not a number.",
        example: r#"[parse_number(" 12 "), parse_number("-0.5"), parse_number("12 ns")]"#,
        result: "[12, -0.5, ()]",
        bind: |engine, name| {
            engine.register_fn(name, |text: &str| charged(text).map(parse_number));
        },
    },
];

fn clamp(x: &Dynamic, low: &Dynamic, high: &Dynamic) -> HostFnResult<Dynamic> {
    let (x, low, high) = (number(x)?, number(low)?, number(high)?);
    if let (Number::Int(x), Number::Int(low), Number::Int(high)) = (x, low, high)
        && low <= high
    {
        return Ok(x.clamp(low, high).into());
    }
    let (x, low, high) = (x.float(), low.float(), high.float());
    if low <= high {
        Ok(x.clamp(low, high).into())
    } else {
        fail(format!("cannot clamp between {low} and {high}: low is above high"))
    }
}

fn round_to(x: &Dynamic, digits: i64) -> HostFnResult<Dynamic> {
    Ok(match number(x)? {
        Number::Int(int) => int.into(),
        Number::Float(float) => {
            // Rounds via the decimal digits, so that the result is the float nearest to the displayed number.
            let digits = u32::try_from(digits.clamp(0, 15)).unwrap_or(0);
            let scale = 10_f64.powi(i32::try_from(digits).unwrap_or(0));
            let scaled = (float * scale).round() / scale;
            (if scaled.is_finite() { scaled } else { float }).into()
        }
    })
}

fn percent(part: &Dynamic, whole: &Dynamic) -> HostFnResult<Dynamic> {
    let (part, whole) = (number(part)?.float(), number(whole)?.float());
    Ok(if whole == 0.0 { Dynamic::UNIT } else { (100.0 * part / whole).into() })
}

#[allow(clippy::cast_precision_loss)]
fn mean(numbers: &Dynamic) -> HostFnResult<Dynamic> {
    let items = list(numbers)?;
    let total = items.iter().map(|item| number(item).map(Number::float)).sum::<HostFnResult<f64>>()?;
    Ok(if items.is_empty() { Dynamic::UNIT } else { (total / items.len() as f64).into() })
}

fn sum(numbers: &Dynamic) -> HostFnResult<Dynamic> {
    let mut total = Number::Int(0);
    for item in &list(numbers)? {
        total = match (total, number(item)?) {
            (Number::Int(a), Number::Int(b)) => match a.checked_add(b) {
                Some(sum) => Number::Int(sum),
                None => return fail("the sum is too large for a whole number"),
            },
            (a, b) => Number::Float(a.float() + b.float()),
        };
    }
    Ok(total.into())
}

fn parse_number(text: &str) -> Dynamic {
    let text = text.trim();
    if let Ok(int) = text.parse::<i64>() {
        return int.into();
    }
    // Rejects `inf`, `nan` and similar words.
    let numeric = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    match text.parse::<f64>() {
        Ok(float) if numeric && float.is_finite() => float.into(),
        _ => Dynamic::UNIT,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn of(values: &[f64]) -> Dynamic {
        Dynamic::from_array(values.iter().map(|value| Dynamic::from(*value)).collect())
    }

    #[test]
    fn clamping_refuses_crossed_bounds_and_keeps_whole_numbers() {
        assert!(clamp(&1.into(), &2.into(), &0.into()).is_err());
        assert!(clamp(&1.0.into(), &f64::NAN.into(), &0.0.into()).is_err());
        assert_eq!(clamp(&9_i64.into(), &0_i64.into(), &5_i64.into()).unwrap().as_int(), Ok(5));
    }

    #[test]
    fn rounding_survives_extremes() {
        for (x, digits, expected) in [(2.5, 0, 3.0), (-2.5, -4, -3.0), (1e300, 15, 1e300), (0.125, 99, 0.125)] {
            assert_eq!(round_to(&x.into(), digits).unwrap().as_float(), Ok(expected));
        }
    }

    #[test]
    fn means_and_percentages_of_nothing_are_unit() {
        assert!(mean(&of(&[])).unwrap().is_unit() && percent(&1_i64.into(), &0_i64.into()).unwrap().is_unit());
        assert_eq!(sum(&of(&[])).unwrap().as_int(), Ok(0));
        assert!(sum(&Dynamic::from_array(vec![i64::MAX.into(), 1_i64.into()])).is_err());
    }

    #[test]
    fn words_are_not_numbers() {
        for text in ["", "inf", "NaN", "1_000", "0x10", "1e999", "e", "."] {
            assert!(parse_number(text).is_unit(), "{text}");
        }
        assert_eq!(parse_number("1e3").as_float(), Ok(1000.0));
    }
}
