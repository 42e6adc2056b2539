//! The one place where engines are made, with every limit on and nothing in reach that a pure function must not have.

use super::limits::ScriptLimits;
use super::{capture, environment, fault, function_stub, guard, pad, predicate, sort, strict, text, view};
use rhai::packages::{Package, StandardPackage};
use rhai::{Dynamic, Engine, EvalAltResult, LexError, Module, OptimizationLevel, Shared, Token};
use std::sync::LazyLock;

/// Registers the functions that scripts may call beside the language's own.
pub type Extend = fn(&mut Engine);

/// Symbols that scripts cannot write, and why.
pub(crate) const FORBIDDEN: &[(&str, &str)] = &[
    ("eval", "a script cannot run text as code: write a function, or a closure"),
    ("print", "a script cannot print: return what you want to be seen (`because`, or a `note` effect)"),
    ("debug", "a script cannot print: return what you want to be seen (`because`, or a `note` effect)"),
    ("sleep", "a script cannot wait"),
    ("timestamp", "a script cannot read the clock: use what its arguments say (`state.elapsed_s`, `params.timestamps`)"),
    ("exit", "`exit` is not available: use `return` or `throw`"),
    ("get_fn_metadata_list", "a script cannot list functions: call the ones it needs"),
    ("curry", "`curry` is not available: write a closure, `|x| f(a, x)`"),
];

/// The standard library, made once.
static STANDARD: LazyLock<Shared<Module>> = LazyLock::new(|| StandardPackage::new().as_shared_module());

/// Makes an engine. `fields` are the names that scripts and schemas use for fields: each gets a native getter.
pub fn build<'a>(limits: &ScriptLimits, fields: impl IntoIterator<Item = &'a str>, extend: Extend) -> Engine {
    let mut engine = Engine::new_raw();
    engine.register_global_module(STANDARD.clone());
    limit(&mut engine, limits);
    engine.set_optimization_level(OptimizationLevel::None); // at other levels, writing to a constant map panics
    engine.set_strict_variables(true);
    engine.set_fail_on_invalid_map_property(true); // else a misspelt key of a map reads as ()
    engine.set_max_strings_interned(0); // the interner is one lock for all threads
    engine.on_progress(|_| guard::tick());
    engine.on_print(|_| {});
    engine.on_debug(|_, _, _| {});
    allow_match(&mut engine);
    forbid(&mut engine);
    view::register(&mut engine);
    engine.register_type_with_name::<fault::ScriptFault>("error");
    for name in ["to_string", "to_debug"] {
        engine.register_fn(name, |fault: &mut fault::ScriptFault| fault.message.clone());
    }
    strict::register(&mut engine);
    environment::register(&mut engine);
    capture::register(&mut engine);
    pad::register(&mut engine);
    sort::register(&mut engine);
    predicate::register(&mut engine);
    text::register(&mut engine);
    extend(&mut engine);
    view::register_fields(&mut engine, fields);
    engine
}

fn limit(engine: &mut Engine, limits: &ScriptLimits) {
    // The guard counts all operations of a call, and says more when it stops one.
    engine.set_max_operations(limits.operations.saturating_mul(2));
    engine.set_max_call_levels(limits.call_depth);
    engine.set_max_expr_depths(limits.expr_depth, limits.expr_depth);
    engine.set_max_string_size(limits.string);
    engine.set_max_array_size(limits.array);
    engine.set_max_map_size(limits.map);
    engine.set_max_modules(limits.modules);
    engine.set_max_functions(limits.functions);
    engine.set_max_variables(limits.variables);
}

/// `match` is a reserved word of Rhai and the name of a field here: it is read as a name. The word that stands for a rewritten
/// body is nobody's.
fn allow_match(engine: &mut Engine) {
    #[expect(deprecated, reason = "not deprecated but volatile, as its documentation says; the version of rhai is pinned")]
    engine.on_parse_token(|token, _, _| match token {
        Token::Reserved(word) if word.as_str() == "match" => Token::Identifier(word),
        Token::Identifier(word) if word.as_str() == function_stub::BODY => {
            let why = format!("'{word}' is reserved");
            Token::LexError(Box::new(LexError::ImproperSymbol(word.to_string(), why)))
        }
        token => token,
    });
}

/// What is said of a symbol that scripts cannot use, if it is one.
pub(crate) fn forbidden(name: &str) -> Option<fault::ScriptFault> {
    let (_, why) = FORBIDDEN.iter().find(|(word, _)| *word == name)?;
    Some(fault::ScriptFault::new(fault::FORBIDDEN, format!("`{name}` is not available to scripts")).help(*why))
}

/// The parser refuses the words; the functions behind them are put out of reach of `Fn("sleep").call(1)` too.
fn forbid(engine: &mut Engine) {
    fn refuse(name: &str) -> Result<(), Box<EvalAltResult>> {
        forbidden(name).map_or(Ok(()), fault::ScriptFault::fail)
    }
    for (word, _) in FORBIDDEN {
        engine.disable_symbol(*word);
    }
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
    use crate::script::testing::*;

    #[test]
    fn functions_cannot_be_listed() {
        for call in ["get_fn_metadata_list()", "get_fn_metadata_list(\"f\")", "get_fn_metadata_list(\"f\", 1)"] {
            assert_eq!(&*problem(&[("t.rhai", &format!("fn f() {{ {call} }}"))]).code, "script/forbidden", "{call}");
        }
        assert!(failure("Fn(\"get_fn_metadata_list\").call()").starts_with("script/"));
        assert!(failure("let name = \"get_fn\" + \"_metadata_list\"; Fn(name).call()").starts_with("script/forbidden @"));
    }
}
