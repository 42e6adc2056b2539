//! Host expressions inside Rhai's syntax tree: created while a script is rewritten, evaluated by handlers of the engine.

use rhai::{CustomExpr, Dynamic, EvalAltResult, EvalContext, Expr, Expression, ImmutableString, Position};

/// An expression of a rewritten script.
#[derive(Clone, Debug, Default)]
pub(crate) struct RewrittenExpr(pub(super) Expr);

impl RewrittenExpr {
    /// A host expression: `key` names its handler, which receives `state`.
    pub(crate) fn host(key: &str, inputs: impl IntoIterator<Item = Self>, state: Dynamic, position: Position) -> Self {
        Self(node(key, inputs.into_iter().map(|input| input.0), state, position))
    }

    /// The position of its operator or, for a name or literal, of its token.
    pub(crate) fn position(&self) -> Position {
        self.0.position()
    }

    /// The position of its first token.
    pub(crate) fn start_position(&self) -> Position {
        self.0.start_position()
    }

    /// The state, if it is the host expression with this key in front of a block.
    pub(crate) fn state_before_block(&mut self, key: &str) -> Option<&mut Dynamic> {
        match &mut self.0 {
            Expr::Custom(custom, _)
                if custom.tokens.first().is_some_and(|own| own == key)
                    && matches!(custom.inputs.first(), Some(Expr::Stmt(..))) =>
            {
                Some(&mut custom.state)
            }
            _ => None,
        }
    }

    /// Evaluates it within an evaluation.
    pub(crate) fn evaluate(&self, context: &mut EvalContext) -> Result<Dynamic, Box<EvalAltResult>> {
        context.eval_expression_tree(&Expression::from(&self.0))
    }
}

/// Whether an input of a handler is a block, for which Rhai counts no operation of its own there.
pub(crate) fn is_block(input: &Expression) -> bool {
    matches!(**input, Expr::Stmt(..))
}

/// The value of a constant of the file under evaluation.
pub(crate) fn constant_of(context: &EvalContext, name: &str) -> Option<Dynamic> {
    let constants = context.global_runtime_state().constants.as_ref()?.read().ok()?;
    constants.get(name).cloned()
}

pub(super) fn node(key: &str, inputs: impl IntoIterator<Item = Expr>, state: Dynamic, position: Position) -> Expr {
    let custom = CustomExpr {
        inputs: inputs.into_iter().collect(),
        tokens: std::iter::once(ImmutableString::from(key)).collect(),
        state,
        scope_may_be_changed: false,
        self_terminated: false,
    };
    Expr::Custom(Box::new(custom), position)
}
