//! Functions with other bodies. The type of a body is not exported by Rhai, so it can neither be read nor made directly.

use super::node::RewrittenExpr;
use rhai::{AST, ASTNode, Dynamic, Engine, Module, ScriptFuncDef, Shared, Stmt};
use std::cell::RefCell;
use std::sync::Arc;

/// The statements of a function. (The payload's type is not exported, but walking an AST of that one function shows them.)
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

/// The keyword of a rewritten function's only statement. It has to be a word, because the parser has to read it; the engine for
/// scripts refuses the word.
pub(crate) const BODY: &str = "rewritten_body__";

/// What that statement holds.
#[derive(Clone)]
pub(crate) struct StubBlock(pub(crate) Arc<RewrittenExpr>);

thread_local! {
    static SHELL: (Engine, RefCell<Option<StubBlock>>) = (shell_engine(), RefCell::new(None));
}

/// A function with another body. A body can only be made by the parser, so it parses one that consists of a single node of
/// ours, which holds the block.
pub(super) fn shell(definition: &ScriptFuncDef, block: Arc<RewrittenExpr>) -> ScriptFuncDef {
    let parsed = SHELL.with(|(engine, next)| {
        *next.borrow_mut() = Some(StubBlock(block));
        engine.compile(format!("fn shell() {{ {BODY} }}"))
    });
    let Some(mut made) = parsed.ok().and_then(|ast| ast.iter_fn_def().next().map(|shell| ScriptFuncDef::clone(shell))) else {
        return definition.clone();
    };
    made.name = definition.name.clone();
    made.access = definition.access;
    made.this_type.clone_from(&definition.this_type);
    made.params.clone_from(&definition.params);
    made.comments.clone_from(&definition.comments);
    made
}

fn shell_engine() -> Engine {
    let mut engine = Engine::new_raw();
    engine.register_custom_syntax_with_state_raw(
        BODY,
        |_, _, state| {
            SHELL.with(|(_, next)| {
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
