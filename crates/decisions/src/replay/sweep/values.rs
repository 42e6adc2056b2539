//! `--var NAME=VALUES`: the values of a swept var.

use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_walk::Plan;
use serde_json::{Value, json};

/// The most values of a sweep.
const MOST: usize = 1000;

/// A var and its values, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct SweptVar {
    pub name: String,
    pub values: Vec<Value>,
}

impl SweptVar {
    /// Parses `NAME=A..B:STEP`, `NAME=A,B,C`, or ranges and values mixed. Numbers are decimals: 0.5..0.7:0.1 is 0.5, 0.6, 0.7.
    pub fn parse(text: &str) -> Result<Self, Box<Diagnostic>> {
        let refuse = |message: String| {
            let help = "use a range with a step (recall_hit=0.5..0.95:0.05), values (court=true,false), or both";
            Box::new(Diagnostic::error("sweep/var", message).help(help))
        };
        let (name, given) = text.split_once('=').ok_or_else(|| refuse(format!("`{text}` lists no values")))?;
        let mut values: Vec<Value> = Vec::new();
        for part in given.split(',').map(str::trim) {
            match part.split_once("..") {
                None if part.is_empty() => return Err(refuse(format!("`{text}` lacks a value"))),
                None => values.push(serde_json::from_str(part).unwrap_or_else(|_| json!(part))),
                Some((from, rest)) => {
                    let (to, step) = rest.split_once(':').ok_or_else(|| refuse(format!("the range `{part}` has no step")))?;
                    let read =
                        |text: &str| Decimal::parse(text).ok_or_else(|| refuse(format!("`{}` is not a number", text.trim())));
                    let range = range(read(from)?, read(to)?, read(step)?);
                    let range = range.ok_or_else(|| refuse(format!("the range `{part}` is not in ascending order")))?;
                    if values.len() + range.len() > MOST {
                        return Err(refuse(format!("`{text}` has more than {MOST} values")));
                    }
                    values.extend(range);
                }
            }
        }
        let mut seen: Vec<Value> = Vec::new();
        values.retain(|value| {
            !seen.contains(value) && {
                seen.push(value.clone());
                true
            }
        });
        Ok(Self { name: name.trim().to_owned(), values })
    }

    /// Refuses a var that a plan does not have.
    pub(super) fn check(&self, plan: &Plan) -> Result<(), Box<Diagnostic>> {
        if plan.var(&self.name).is_some() {
            return Ok(());
        }
        let message = format!("no var `{}` in the pipeline `{}`", self.name, *plan.pipeline.name);
        Err(Box::new(Diagnostic::error("sweep/var", message).maybe_help(did_you_mean(&self.name, plan.var_names()))))
    }
}

/// A decimal number: `digits` over ten to the power of `places`.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    digits: i64,
    places: u32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (whole, part) = text.split_once('.').unwrap_or((text, ""));
        let places = u32::try_from(part.len()).ok().filter(|places| *places <= 9)?;
        let part_is_digits = part.bytes().all(|byte| byte.is_ascii_digit());
        let digits: i64 = format!("{whole}{part}").parse().ok().filter(|_| part_is_digits)?;
        (digits.abs() < 1_000_000_000_000).then_some(Self { digits, places })
    }

    fn at(self, places: u32) -> i64 {
        self.digits.saturating_mul(10_i64.pow(places - self.places))
    }
}

/// The values of a range, its end included. `None` if it is empty.
fn range(from: Decimal, to: Decimal, step: Decimal) -> Option<Vec<Value>> {
    let places = from.places.max(to.places).max(step.places);
    let (from, to, step) = (from.at(places), to.at(places), step.at(places));
    if step <= 0 || to < from {
        return None;
    }
    let value = |digits: i64| {
        if places == 0 {
            return json!(digits);
        }
        // Each decimal is converted to a float once, so that 0.7 is the 0.7 of a script.
        let scale = 10_i64.pow(places);
        let sign = if digits < 0 { "-" } else { "" };
        let width = places as usize;
        let text = format!("{sign}{}.{:0width$}", (digits / scale).abs(), (digits % scale).abs());
        text.parse::<f64>().map_or(Value::Null, |value| json!(value))
    };
    let count = usize::try_from((to - from) / step).ok()?.min(MOST);
    Some((0..=count).filter_map(|at| Some(value(from + step * i64::try_from(at).ok()?))).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn values(text: &str) -> Result<Value, String> {
        SweptVar::parse(text).map(|var| json!(var.values)).map_err(|refused| refused.message)
    }

    #[test]
    fn ranges_and_values_are_parsed() {
        for (text, expected) in [
            ("t=0.5..0.7:0.1", json!([0.5, 0.6, 0.7])),
            ("t=0..1:0.25", json!([0.0, 0.25, 0.5, 0.75, 1.0])),
            ("t=1..7:3", json!([1, 4, 7])),
            ("t=1..6:3", json!([1, 4])),
            ("t=-0.1..0.1:0.1", json!([-0.1, 0.0, 0.1])),
            ("t=-.1..0.:.1", json!([-0.1, 0.0])),
            ("t=true,false", json!([true, false])),
            ("t = 3 , deep, 1..2:1", json!([3, "deep", 1, 2])),
            ("t=1,1", json!([1])),
        ] {
            assert_eq!(values(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_ranges_are_refused() {
        for (text, said) in [
            ("t", "`t` lists no values"),
            ("t=", "`t=` lacks a value"),
            ("t=1..2", "the range `1..2` has no step"),
            ("t=2..1:1", "the range `2..1:1` is not in ascending order"),
            ("t=1..2:0", "the range `1..2:0` is not in ascending order"),
            ("t=a..2:1", "`a` is not a number"),
            ("t=0..2:.", "`.` is not a number"),
            ("t=0..1:0.000000000001", "`0.000000000001` is not a number"),
            ("t=0..1000000:1", "`t=0..1000000:1` has more than 1000 values"),
        ] {
            assert_eq!(values(text), Err(said.to_owned()), "{text}");
        }
    }
}
