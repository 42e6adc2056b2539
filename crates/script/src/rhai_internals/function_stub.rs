//! Replaces the bodies of functions. Rhai does not export the type of a body, so it can be neither read nor constructed directly.

use super::node::RewrittenExpr;
use super::tree::CLOSURE;
use rhai::{AST, ASTNode, Dynamic, Engine, Module, ScriptFuncDef, Shared, Stmt};
use std::cell::RefCell;
use std::sync::Arc;

/// The statements of a function. (The payload's type is not exported, but walking an AST with that one function visits them.)
pub(super) fn statements_of(definition: &Shared<ScriptFuncDef>) -> Vec<Stmt> {
    let mut module = Module::new();
    module.set_script_fn(definition.clone());
    let mut statements = Vec::new();
    AST::new([], module).walk(&mut |path| {
        if let [ASTNode::Stmt(statement)] = path {
            statements.push((*statement).clone());
        }
        true
    });
    statements
}

/// The keyword of a rewritten function's only statement. It has to be a word that the parser accepts; the engine for scripts
/// refuses it.
pub(crate) const BODY: &str = "rewritten_body__";

/// The payload of that statement.
#[derive(Clone)]
pub(crate) struct StubBlock {
    pub(crate) body: Arc<RewrittenExpr>,
    pub(crate) is_closure: bool,
}

thread_local! {
    static STUB: (Engine, RefCell<Option<StubBlock>>) = (stub_engine(), RefCell::new(None));
}

/// Replaces the body of a function. A body can only be made by the parser, so it parses one that consists of a single host node,
/// which holds the block.
pub(super) fn stub(definition: &ScriptFuncDef, block: Arc<RewrittenExpr>) -> ScriptFuncDef {
    let parsed = STUB.with(|(engine, next)| {
        *next.borrow_mut() = Some(StubBlock { body: block, is_closure: definition.name.starts_with(CLOSURE) });
        engine.compile(format!("fn stub() {{ {BODY} }}"))
    });
    let Some(mut made) = parsed.ok().and_then(|ast| ast.iter_fn_def().next().map(|stub| ScriptFuncDef::clone(stub))) else {
        return definition.clone();
    };
    made.name = definition.name.clone();
    made.access = definition.access;
    made.this_type.clone_from(&definition.this_type);
    made.params.clone_from(&definition.params);
    made.comments.clone_from(&definition.comments);
    made
}

fn stub_engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine.register_custom_syntax_with_state_raw(
        BODY,
        |_, _, state| {
            STUB.with(|(_, next)| {
                if let Some(block) = next.borrow_mut().take() {
                    *state = Dynamic::from(block);
                }
            });
            Ok(None)
        },
        false,
        |_, _, _| Ok(Dynamic::UNIT),
    );
    engine
}
