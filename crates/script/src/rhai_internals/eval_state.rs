//! The state of an evaluation, which Rhai creates anew for each call from outside.

use super::call_caches::{CallCaches, from_outside};
use super::node::{RewrittenExpr, node};
use rhai::{
    AST, Caches, Dynamic, Engine, EvalAltResult, EvalContext, GlobalRuntimeState, ImmutableString, Module, Position, Scope,
    Shared, Stmt,
};
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

/// The constants of a file.
pub(crate) type Constants = Arc<RwLock<BTreeMap<ImmutableString, Dynamic>>>;

/// The environment of the functions of a file, besides each other.
#[derive(Default)]
pub(crate) struct FileScope {
    /// The imported modules, by alias.
    pub(crate) imports: Vec<(ImmutableString, Shared<Module>)>,
    /// The constants, if there are any.
    pub(crate) constants: Option<Constants>,
}

impl FileScope {
    /// Captures the scope at which a handler is evaluated.
    pub(crate) fn of(context: &EvalContext) -> Self {
        let global = context.global_runtime_state();
        Self {
            imports: global.scan_imports_raw().map(|(name, module)| (name.clone(), module.clone())).collect(),
            constants: global.constants.clone(),
        }
    }
}

/// Appends a statement to a script: the host expression with this key.
pub(crate) fn with_last(ast: &AST, key: &str, state: Dynamic) -> AST {
    let last = Stmt::Expr(Box::new(node(key, [], state, Position::NONE)));
    let mut longer = AST::new(ast.statements().iter().cloned().chain([last]), ast.shared_lib().clone());
    if let Some(source) = ast.source() {
        longer.set_source(source);
    }
    longer
}

/// The state of evaluating functions of one file.
pub(crate) struct EvalState {
    global: GlobalRuntimeState,
    /// The resolved function calls. Valid for this engine and file only.
    caches: Caches,
    /// Those of the scripts and closures that the file's functions call.
    called: CallCaches,
    pub(crate) scope: Scope<'static>,
}

impl EvalState {
    /// A fresh state: `library` holds the file's functions, `source` is the file's name in errors.
    pub(crate) fn new(engine: &Engine, library: Shared<Module>, file: &FileScope, source: &str) -> Self {
        let mut global = engine.new_global_runtime_state();
        global.lib.push(library);
        for (name, module) in &file.imports {
            global.push_import(name.clone(), module.clone());
        }
        global.constants.clone_from(&file.constants);
        global.source = Some(source.into());
        Self { global, caches: Caches::new(), called: CallCaches::default(), scope: Scope::new() }
    }

    /// Evaluates a function's body. The value of a `return` is an [`EvalAltResult::Return`].
    pub(crate) fn evaluate(&mut self, engine: &Engine, body: &RewrittenExpr) -> Result<Dynamic, Box<EvalAltResult>> {
        let mut context = EvalContext::new(engine, &mut self.global, &mut self.caches, &mut self.scope, None);
        from_outside(&mut self.called, || body.evaluate(&mut context))
    }

    /// Restores the initial state, except for its scope and resolved calls. Returns false if that is impossible and the state has
    /// to be discarded.
    pub(crate) fn restore(&mut self, file: &FileScope, source: &str) -> bool {
        let global = &mut self.global;
        let same = global.lib.len() == 1
            && global.num_imports() == file.imports.len()
            && (global.level, global.scope_level) == (0, 0)
            && global.source.as_deref() == Some(source)
            && self.caches.fn_resolution_caches_len() <= 1;
        global.num_operations = 0;
        global.num_modules_loaded = 0;
        global.always_search_scope = false;
        same
    }
}
