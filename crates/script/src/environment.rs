//! The environment of a file's functions: its own functions, the imported modules, its constants.

use super::rhai_internals::eval_state::{FileScope, with_last};
use super::strict;
use rhai::{AST, Dynamic, Engine, ImmutableString, Module, Shared};
use std::sync::{Arc, Mutex, PoisonError};

/// The environment of a file's functions.
pub(crate) struct FunctionEnvironment {
    pub(crate) source: ImmutableString,
    pub(crate) library: Shared<Module>,
    pub(crate) scope: FileScope,
}

/// The environment captured by the last statement of a file: Rhai does not expose it otherwise.
#[derive(Clone, Default)]
pub(crate) struct CapturedEnvironment(Arc<Mutex<FileScope>>);

const PROBE: &str = "\u{2039}environment\u{203a}";

/// Appends a statement to the script that captures the environment.
pub(crate) fn with_probe(ast: &AST, seen: &CapturedEnvironment) -> AST {
    with_last(ast, PROBE, Dynamic::from(seen.clone()))
}

/// Registers the evaluation of the probe.
pub(crate) fn register(engine: &mut Engine) {
    let registered = engine.register_custom_syntax_handler(PROBE, false, |context, _, state| {
        let seen = state.read_lock::<CapturedEnvironment>().map(|seen| seen.clone());
        let seen = seen.ok_or_else(strict::misplaced)?;
        *seen.0.lock().unwrap_or_else(PoisonError::into_inner) = FileScope::of(context);
        Ok(Dynamic::UNIT)
    });
    debug_assert!(registered.is_ok());
}

impl CapturedEnvironment {
    /// The environment captured for the file with that name and those functions; empty if it was not captured.
    pub(crate) fn environment(&self, name: &str, functions: &AST) -> FunctionEnvironment {
        let scope = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        FunctionEnvironment { source: name.into(), library: functions.shared_lib().clone(), scope }
    }
}
