//! What the functions of a file see: its own functions, the imported modules, its constants.

use super::parse::Parsed;
use super::rewrite::node;
use super::strict;
use rhai::{AST, Dynamic, Engine, ImmutableString, Module, Position, Shared, Stmt};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The constants of a file.
pub(crate) type Constants = Arc<RwLock<BTreeMap<ImmutableString, Dynamic>>>;

/// What the functions of a file see.
pub(crate) struct Environment {
    pub(crate) source: ImmutableString,
    pub(crate) library: Shared<Module>,
    pub(crate) imports: Vec<(ImmutableString, Shared<Module>)>,
    pub(crate) constants: Option<Constants>,
}

/// What a file's functions see, as its last statement saw it: Rhai keeps that to itself otherwise.
#[derive(Clone, Default)]
pub(crate) struct CapturedEnvironment(Arc<Mutex<EnvironmentSnapshot>>);

#[derive(Default)]
struct EnvironmentSnapshot {
    imports: Vec<(ImmutableString, Shared<Module>)>,
    constants: Option<Constants>,
}

const PROBE: &str = "\u{2039}environment\u{203a}";

/// The script with a statement at its end that looks around.
pub(crate) fn with_probe(ast: &AST, seen: &CapturedEnvironment) -> AST {
    let probe = Stmt::Expr(Box::new(node(PROBE, [], Dynamic::from(seen.clone()), Position::NONE)));
    let statements = ast.statements().iter().cloned().chain([probe]);
    let mut probed = AST::new(statements, ast.shared_lib().clone());
    if let Some(source) = ast.source() {
        probed.set_source(source);
    }
    probed
}

/// Registers what evaluates the probe.
pub(crate) fn register(engine: &mut Engine) {
    let registered = engine.register_custom_syntax_handler(PROBE, false, |context, _, state| {
        let seen = state.read_lock::<CapturedEnvironment>().map(|seen| seen.clone());
        let seen = seen.ok_or_else(strict::misplaced)?;
        let global = context.global_runtime_state();
        let mut snapshot = seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        snapshot.imports = global.scan_imports_raw().map(|(name, module)| (name.clone(), module.clone())).collect();
        snapshot.constants.clone_from(&global.constants);
        Ok(Dynamic::UNIT)
    });
    debug_assert!(registered.is_ok());
}

impl CapturedEnvironment {
    /// What was seen; nothing, if nothing looked.
    pub(crate) fn environment(&self, parsed: &Parsed) -> Environment {
        let mut snapshot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Environment {
            source: parsed.unit.name().into(),
            library: parsed.rewritten.ast.shared_lib().clone(),
            imports: std::mem::take(&mut snapshot.imports),
            constants: snapshot.constants.take(),
        }
    }
}
