//! Assertions and row tables for tests. Available in `*_test.rhai` files only.

use super::HostFn;
use super::args::{HostFnResult, Number, list, number, text};
use crate::View;
use crate::array_methods::pointer;
use crate::compare::{self, kind_of};
use crate::fault::ScriptFault;
use crate::guard;
use crate::json;
use crate::probe::ObservedValue;
use crate::running_test::{begin_table, note_row};
use asterisk_diag::Code;
use asterisk_diag::counted;
use rhai::{Dynamic, EvalAltResult, NativeCallContext};
use serde_json::Value;

const GROUP: &str = "tests";

/// The error code of a failed assertion.
const ASSERT: &str = Code::TestAssert.text();
/// The error code of a table with failed rows.
const ROWS: &str = Code::TestRows.text();

/// The assertions.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "assert",
        signature: "assert(condition: bool) -> ()",
        group: GROUP,
        doc: "Fails the test unless the condition is true, and shows the values of its parts.",
        example: "assert(1 + 1 == 2)",
        result: "()",
        bind: |engine, name| {
            engine.register_fn(name, |condition: Dynamic| assert(&condition, None));
        },
    },
    HostFn {
        name: "assert",
        signature: "assert(condition: bool, message: string) -> ()",
        group: GROUP,
        doc: "The same, with a reason for the failure message.",
        example: r#"assert([1, 2].len() == 2, "both are there")"#,
        result: "()",
        bind: |engine, name| {
            engine.register_fn(name, |condition: Dynamic, message: Dynamic| assert(&condition, Some(&message)));
        },
    },
    HostFn {
        name: "assert_eq",
        signature: "assert_eq(got: any, want: any) -> ()",
        group: GROUP,
        doc: "Fails the test unless both are deeply equal, and shows the first difference; 1 equals 1.0.",
        example: r#"assert_eq(#{ a: [1, "x"] }, #{ a: [1.0, "x"] })"#,
        result: "()",
        bind: |engine, name| {
            engine.register_fn(name, |got: Dynamic, want: Dynamic| assert_eq(&got, &want));
        },
    },
    HostFn {
        name: "assert_ne",
        signature: "assert_ne(got: any, other: any) -> ()",
        group: GROUP,
        doc: "Fails the test if both are equal.",
        example: r#"assert_ne("a", "b")"#,
        result: "()",
        bind: |engine, name| {
            engine.register_fn(name, |got: Dynamic, other: Dynamic| assert_ne(&got, &other));
        },
    },
    HostFn {
        name: "assert_near",
        signature: "assert_near(got: number, want: number, tolerance: number) -> ()",
        group: GROUP,
        doc: "Fails the test unless the numbers differ by no more than the tolerance.",
        example: "assert_near(0.1 + 0.2, 0.3, 1e-9)",
        result: "()",
        bind: |engine, name| {
            engine.register_fn(name, |got: Dynamic, want: Dynamic, tolerance: Dynamic| assert_near(&got, &want, &tolerance));
        },
    },
    HostFn {
        name: "assert_throws",
        signature: "assert_throws(action: function) -> string",
        group: GROUP,
        doc: "Fails the test unless the action, a closure without parameters, throws; returns the thrown value as a string.",
        example: r#"assert_throws(|| throw "no such thing")"#,
        result: r#""no such thing""#,
        bind: |engine, name| {
            engine.register_fn(name, |context: NativeCallContext, action: Dynamic| assert_throws(&context, &action));
        },
    },
    HostFn {
        name: "table",
        signature: "table(rows: list, check: function) -> ()",
        group: GROUP,
        doc: "Calls the check, a closure of one parameter, for every row of a table. Each row is reported separately; a failed row does not stop the others.",
        example: "table([[1, 1], [2, 4]], |row| assert_eq(row[0] * row[0], row[1]))",
        result: "()",
        bind: |engine, name| {
            engine.register_fn(name, |context: NativeCallContext, rows: Dynamic, check: Dynamic| table(&context, &rows, &check));
        },
    },
];

#[cold]
fn failed<T>(message: impl Into<String>) -> HostFnResult<T> {
    ScriptFault::new(ASSERT, message).fail()
}

fn assert(condition: &Dynamic, message: Option<&Dynamic>) -> HostFnResult<()> {
    let reason = message.map(text).transpose()?;
    match condition.as_bool() {
        Ok(true) => Ok(()),
        Ok(false) => failed(reason.map_or_else(|| "this is not true".to_owned(), |reason| format!("this is not true: {reason}"))),
        Err(_) => ScriptFault::new(ASSERT, format!("expected `true`, got {}", shown(condition)))
            .help("an assertion needs a bool: compare with something")
            .fail(),
    }
}

/// A value for a message, with its type where that is not obvious.
fn shown(value: &Dynamic) -> String {
    let text = ObservedValue::of(value).to_string();
    if text == kind_of(value) { text } else { format!("`{text}`") }
}

fn assert_eq(got: &Dynamic, want: &Dynamic) -> HostFnResult<()> {
    if compare::equal(got, want)? {
        return Ok(());
    }
    let whole = |message: String| {
        if kind_of(got) == kind_of(want) { message } else { format!("{message} ({} and {})", kind_of(got), kind_of(want)) }
    };
    let (Ok(a), Ok(b)) = (json::from_dynamic(got), json::from_dynamic(want)) else {
        return failed(whole(format!("got {}, wanted {}", shown(got), shown(want))));
    };
    match difference(&a, &b, "") {
        Some(difference) if !difference.starts_with(": ") => failed(difference),
        _ => failed(whole(format!("got {}, wanted {}", shown(got), shown(want)))),
    }
}

/// Describes the first difference between two values.
fn difference(got: &Value, want: &Value, path: &str) -> Option<String> {
    let part = |value: &Value| crate::probe::text_of(&View::plain(value, "").dynamic());
    match (got, want) {
        (Value::Array(a), Value::Array(b)) => {
            let items = a.iter().zip(b).enumerate();
            let inside = items.map(|(at, (a, b))| difference(a, b, &format!("{path}[{at}]"))).find_map(|found| found);
            inside.or_else(|| {
                (a.len() != b.len()).then(|| {
                    let more = if a.len() > b.len() {
                        format!("; the first more is `{}`", part(&a[b.len()]))
                    } else {
                        format!("; the first missing is `{}`", part(&b[a.len()]))
                    };
                    format!("{path}: got {}, wanted {}{more}", count(a.len()), count(b.len()))
                })
            })
        }
        (Value::Object(a), Value::Object(b)) => {
            let inside = a.iter().find_map(|(key, a)| difference(a, b.get(key)?, &format!("{path}.{key}")));
            let missing = || {
                b.iter()
                    .find(|(key, _)| !a.contains_key(*key))
                    .map(|(key, want)| format!("{path}.{key}: missing, wanted `{}`", part(want)))
            };
            let more = || {
                a.iter()
                    .find(|(key, _)| !b.contains_key(*key))
                    .map(|(key, got)| format!("{path}.{key}: got `{}`, wanted no such key", part(got)))
            };
            inside.or_else(missing).or_else(more)
        }
        (Value::Number(a), Value::Number(b)) if a.as_f64() == b.as_f64() => None,
        (a, b) if a == b => None,
        (a, b) => Some(format!("{path}: got `{}`, wanted `{}`", part(a), part(b))),
    }
}

fn count(items: usize) -> String {
    counted(items, "item", "items")
}

fn assert_ne(got: &Dynamic, other: &Dynamic) -> HostFnResult<()> {
    if compare::equal(got, other)? { failed(format!("both are {}", shown(got))) } else { Ok(()) }
}

fn assert_near(got: &Dynamic, want: &Dynamic, tolerance: &Dynamic) -> HostFnResult<()> {
    let [a, b, most] = [number(got)?, number(want)?, number(tolerance)?].map(Number::float);
    let by = (a - b).abs();
    if by <= most { Ok(()) } else { failed(format!("got {a}, wanted {b} within {most}: they differ by {by}")) }
}

fn assert_throws(context: &NativeCallContext, action: &Dynamic) -> HostFnResult<String> {
    let outcome: Result<Dynamic, _> = pointer(action)?.call_within_context(context, ());
    match outcome {
        Ok(value) => failed(format!("this does not throw: it is {}", shown(&value))),
        Err(error) if guard::is_over() => Err(error),
        Err(error) => Ok(thrown(*error)),
    }
}

/// Describes an error that was thrown.
fn thrown(error: EvalAltResult) -> String {
    match error {
        EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => thrown(*inner),
        EvalAltResult::ErrorRuntime(value, _) => {
            if let Some(fault) = value.read_lock::<ScriptFault>() {
                return fault.message.clone();
            }
            if value.is_string() { value.to_string() } else { ObservedValue::of(&value).to_string() }
        }
        other => crate::words::strip(&other),
    }
}

fn table(context: &NativeCallContext, rows: &Dynamic, check: &Dynamic) -> HostFnResult<()> {
    let (rows, check) = (list(rows)?, pointer(check)?);
    if rows.is_empty() {
        return ScriptFault::new(ASSERT, "this table is empty").help("a table without rows checks nothing: add rows").fail();
    }
    let table = begin_table();
    let (all, mut bad) = (rows.len(), 0);
    for (index, row) in rows.into_iter().enumerate() {
        let outcome: Result<Dynamic, _> = check.call_within_context(context, (row.clone(),));
        match outcome {
            Ok(_) => guard::apart(|| note_row(table, index, &row, None)),
            Err(error) if guard::is_over() => return Err(error),
            Err(error) => {
                bad += 1;
                guard::apart(|| note_row(table, index, &row, Some(error)));
            }
        }
    }
    if bad == 0 { Ok(()) } else { ScriptFault::new(ROWS, format!("{bad} of {all} rows failed")).fail() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::eval_in_test as eval;

    fn failure(script: &str) -> String {
        eval(script).expect_err(script).message
    }

    #[test]
    fn failed_assertions_show_the_actual_value() {
        for (script, message) in [
            ("assert(1 > 2)", "this is not true"),
            ("assert(false, \"why\")", "this is not true: why"),
            ("assert(1)", "expected `true`, got `1`"),
            ("assert_eq(1, 2)", "got `1`, wanted `2`"),
            ("assert_eq(\"0.9\", 0.9)", "got `\"0.9\"`, wanted `0.9` (a string and a number)"),
            ("assert_eq((), [])", "got `()`, wanted `[]` (nothing and a list)"),
            ("assert_eq(#{ a: [1, 2] }, #{ a: [1, 3] })", ".a[1]: got `2`, wanted `3`"),
            ("assert_eq([1], [1, 2])", "got `[1]`, wanted `[1, 2]`"),
            ("assert_eq(#{ a: [1] }, #{ a: [1, 2] })", ".a: got 1 item, wanted 2 items; the first missing is `2`"),
            ("assert_eq(#{ a: 1 }, #{ b: 1 })", ".b: missing, wanted `1`"),
            ("assert_eq(#{ a: 1, b: 2 }, #{ b: 2 })", ".a: got `1`, wanted no such key"),
            ("assert_ne([1], [1])", "both are `[1]`"),
            ("assert_near(0.5, 0.7, 0.1)", "got 0.5, wanted 0.7 within 0.1: they differ by 0.19999999999999996"),
            ("assert_throws(|| 5)", "this does not throw: it is `5`"),
            ("table([], |row| row)", "this table is empty"),
            ("table([1, 2, 3], |row| assert(row < 2))", "2 of 3 rows failed"),
        ] {
            assert_eq!(failure(script), message, "{script}");
        }
    }

    #[test]
    fn assertions_that_hold_pass() {
        for script in [
            "assert_eq((), ())",
            "assert_eq(|x| x, 1) == () || true",
            "assert_near(1, 1, 0)",
            "assert_throws(|| 1 / 0).contains(\"zero\")",
        ] {
            drop(eval(script));
        }
        assert!(eval("assert_throws(|| throw #{ a: 1 })").is_ok_and(|text| text.to_string() == "#{a: 1}"));
    }
}
