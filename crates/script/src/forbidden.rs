//! Features of Rhai that a pure function must not use.

use super::fault::{self, ScriptFault};
use rhai::{Dynamic, Engine, EvalAltResult};

/// Symbols that scripts cannot use, with the reason.
pub(crate) const FORBIDDEN: &[(&str, &str)] = &[
    ("eval", "a script cannot evaluate strings as code: write a function or a closure"),
    ("print", "a script cannot print: return the text to show (`because`, or a `note` effect)"),
    ("debug", "a script cannot print: return the text to show (`because`, or a `note` effect)"),
    ("sleep", "a script cannot wait"),
    ("timestamp", "a script cannot read the clock: use its arguments (`state.elapsed_s`, `params.timestamps`)"),
    ("exit", "`exit` is not available: use `return` or `throw`"),
    ("get_fn_metadata_list", "a script cannot list functions: call the ones it needs"),
    ("curry", "`curry` is not available: write a closure, `|x| f(a, x)`"),
];

/// The error about a symbol, if it is forbidden.
pub(crate) fn problem(name: &str) -> Option<ScriptFault> {
    let (_, why) = FORBIDDEN.iter().find(|(word, _)| *word == name)?;
    Some(ScriptFault::new(fault::FORBIDDEN, format!("`{name}` is not available to scripts")).help(*why))
}

/// Makes the parser refuse the symbols.
pub(crate) fn disable(engine: &mut Engine) {
    for (word, _) in FORBIDDEN {
        engine.disable_symbol(*word);
    }
}

/// Makes the parser refuse the symbols; the functions are also made unreachable for `Fn("sleep").call(1)`.
pub(crate) fn register(engine: &mut Engine) {
    fn refuse(name: &str) -> Result<(), Box<EvalAltResult>> {
        problem(name).map_or(Ok(()), ScriptFault::fail)
    }
    disable(engine);
    engine.register_fn("sleep", |_: i64| refuse("sleep"));
    engine.register_fn("sleep", |_: f64| refuse("sleep"));
    engine.register_fn("timestamp", || refuse("timestamp"));
    engine.register_fn("get_fn_metadata_list", || refuse("get_fn_metadata_list"));
    engine.register_fn("get_fn_metadata_list", |_: &str| refuse("get_fn_metadata_list"));
    engine.register_fn("get_fn_metadata_list", |_: &str, _: i64| refuse("get_fn_metadata_list"));
    engine.register_fn("exit", || refuse("exit"));
    engine.register_fn("exit", |_: Dynamic| refuse("exit"));
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn functions_cannot_be_listed() {
        for call in ["get_fn_metadata_list()", "get_fn_metadata_list(\"f\")", "get_fn_metadata_list(\"f\", 1)"] {
            assert_eq!(&*problem(&[("t.rhai", &format!("fn f() {{ {call} }}"))]).code, "script/forbidden", "{call}");
        }
        assert!(failure("Fn(\"get_fn_metadata_list\").call()").starts_with("script/"));
        assert!(failure("let name = \"get_fn\" + \"_metadata_list\"; Fn(name).call()").starts_with("script/forbidden @"));
    }
}
