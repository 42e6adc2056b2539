//! The state of an evaluation, which Rhai makes afresh for each call from outside.

use super::node::{RewrittenExpr, node};
use rhai::{
    AST, Caches, Dynamic, Engine, EvalAltResult, EvalContext, GlobalRuntimeState, ImmutableString, Module, Position, Scope,
    Shared, Stmt,
};
use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

/// The constants of a file.
pub(crate) type Constants = Arc<RwLock<BTreeMap<ImmutableString, Dynamic>>>;

/// What the functions of a file see of what stands outside of them, beside each other.
#[derive(Default)]
pub(crate) struct FileScope {
    /// The imported modules by their names there.
    pub(crate) imports: Vec<(ImmutableString, Shared<Module>)>,
    /// The constants, if there are any.
    pub(crate) constants: Option<Constants>,
}

impl FileScope {
    /// What is in sight where a handler is evaluated.
    pub(crate) fn of(context: &EvalContext) -> Self {
        let global = context.global_runtime_state();
        Self {
            imports: global.scan_imports_raw().map(|(name, module)| (name.clone(), module.clone())).collect(),
            constants: global.constants.clone(),
        }
    }
}

/// A script with one more statement at its end, the host's expression of that key.
pub(crate) fn with_last(ast: &AST, key: &str, state: Dynamic) -> AST {
    let last = Stmt::Expr(Box::new(node(key, [], state, Position::NONE)));
    let mut longer = AST::new(ast.statements().iter().cloned().chain([last]), ast.shared_lib().clone());
    if let Some(source) = ast.source() {
        longer.set_source(source);
    }
    longer
}

/// The state of an evaluation of functions of one file.
pub(crate) struct EvalState {
    global: GlobalRuntimeState,
    /// What function calls were found to mean. True of this engine and file only.
    caches: Caches,
    pub(crate) scope: Scope<'static>,
}

impl EvalState {
    /// A fresh state: `library` holds the file's functions, `source` is what errors call the file.
    pub(crate) fn new(engine: &Engine, library: Shared<Module>, file: &FileScope, source: &str) -> Self {
        let mut global = engine.new_global_runtime_state();
        global.lib.push(library);
        for (name, module) in &file.imports {
            global.push_import(name.clone(), module.clone());
        }
        global.constants.clone_from(&file.constants);
        global.source = Some(source.into());
        Self { global, caches: Caches::new(), scope: Scope::new() }
    }

    /// Evaluates a function's body. What `return` gives is an [`EvalAltResult::Return`].
    pub(crate) fn evaluate(&mut self, engine: &Engine, body: &RewrittenExpr) -> Result<Dynamic, Box<EvalAltResult>> {
        let mut context = EvalContext::new(engine, &mut self.global, &mut self.caches, &mut self.scope, None);
        body.evaluate(&mut context)
    }

    /// Makes it as it was, its scope and what calls were found to mean aside; false if it cannot be, and is to be thrown away.
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
