//! Creates all engines, with every limit enabled and nothing available that a pure function must not use.

use super::limits::ScriptLimits;
use super::rhai_internals::{capture, lexicon};
use super::{array_methods, environment, equality, fault, forbidden, guard, memo, pad, sort, strict, text, view};
use rhai::packages::{Package, StandardPackage};
use rhai::{Engine, Module, OptimizationLevel, Shared};
use std::sync::LazyLock;

/// Registers additional functions that scripts may call.
pub type Extend = fn(&mut Engine);

/// The standard library, shared by all engines.
static STANDARD: LazyLock<Shared<Module>> = LazyLock::new(|| StandardPackage::new().as_shared_module());

/// Creates an engine. `fields` are the field names used by scripts and schemas: each gets a native getter.
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
    lexicon::register(&mut engine);
    forbidden::register(&mut engine);
    view::register(&mut engine);
    equality::register(&mut engine);
    engine.register_type_with_name::<fault::ScriptFault>("error");
    for name in ["to_string", "to_debug"] {
        engine.register_fn(name, |fault: &mut fault::ScriptFault| fault.message.clone());
    }
    strict::register(&mut engine);
    memo::register(&mut engine);
    environment::register(&mut engine);
    capture::register(&mut engine);
    pad::register(&mut engine);
    sort::register(&mut engine);
    array_methods::register(&mut engine);
    text::register(&mut engine);
    extend(&mut engine);
    view::register_fields(&mut engine, fields);
    engine
}

fn limit(engine: &mut Engine, limits: &ScriptLimits) {
    // The guard counts all operations of a call, and explains better when it stops one.
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
