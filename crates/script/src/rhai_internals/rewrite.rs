//! Rewrites a parsed script: finds the expressions of an AST that are values, and replaces them by other nodes.
//!
//! The walk knows Rhai's tree and what must stay unchanged: the root variable of a chain, properties and methods inside one, a
//! bare variable as first argument (it is passed by reference), assignment targets, the arguments of `Fn`, `call` and the like.
//! The replacement of a value is up to a [`Nodes`]: only comparisons in production, more for explanations.

use super::capture;
use super::function_stub::{statements_of, stub};
use super::lower::head;
use super::node::RewrittenExpr;
use super::tree::FunctionHead;
use crate::compare::CompareOp;
use rhai::{AST, ASTFlags, ASTNode, Expr, FnCallExpr, ImmutableString, Module, Position, ScriptFuncDef, Shared, Stmt, StmtBlock};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The role of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueRole {
    /// An operand, an argument, an initialiser.
    Value,
    /// The condition of an `if` or a loop.
    Condition,
    /// The guard of a `switch` case.
    Case,
    /// The value of a `switch` case that is not the function's result.
    Arm,
    /// The value of a `return`.
    Return,
    /// The value of a function's last expression.
    Result,
}

/// Creates the nodes that replace values.
pub(crate) trait Nodes {
    /// Called before a function's body is rewritten (`None`: the statements of the file).
    fn enter(&mut self, _function: Option<FunctionHead>) {}

    /// The node for the rewritten body of a function with that many parameters.
    fn body(&mut self, block: RewrittenExpr, _params: usize) -> RewrittenExpr {
        block
    }

    /// Called before a statement is rewritten: the next value opened is the first of it, and all of it if it `is_call`.
    fn statement(&mut self, _is_call: bool) {}

    /// Whether a literal is opened too. It is otherwise only opened in a role that is not that of a plain value.
    fn opens_literals(&self) -> bool {
        false
    }

    /// Called before a value is rewritten, outermost first. A returned id is passed to [`Nodes::close`] (or, for a comparison, to
    /// [`Nodes::compare`]) after its inside.
    fn open(&mut self, _value: OpenedValue<'_>, _role: ValueRole) -> Option<u32> {
        None
    }

    /// The node for a value that was opened.
    fn close(&mut self, value: RewrittenExpr, _id: u32) -> RewrittenExpr {
        value
    }

    /// The node for a comparison, with rewritten operands.
    fn compare(&mut self, op: CompareOp, operands: Vec<RewrittenExpr>, position: Position, id: Option<u32>) -> RewrittenExpr;

    /// The node for a constant of the file (`global::NAME`).
    fn constant(&mut self, name: &ImmutableString, position: Position) -> RewrittenExpr;

    /// The node for a closure that captures variables.
    fn closure(&mut self, made: RewrittenExpr, position: Position) -> RewrittenExpr;

    /// The node for a value, possibly a list or a map, that is stored in a variable or in another list or map.
    fn shallow(&mut self, value: RewrittenExpr, position: Position) -> RewrittenExpr;
}

/// A value that is about to be rewritten.
#[derive(Clone, Copy)]
pub(crate) struct OpenedValue<'e>(&'e Expr);

/// A logical connective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `!`
    Not,
}

impl OpenedValue<'_> {
    /// Whether it is opened a second time, as a plain value, if it is first opened in another role.
    pub(crate) fn opens_twice(self) -> bool {
        !matches!(self.0, Expr::Variable(..) | Expr::Stmt(..)) && !is_literal(self.0)
    }

    /// Whether it is a block of statements.
    pub(crate) fn is_block(self) -> bool {
        matches!(self.0, Expr::Stmt(..))
    }

    /// The operator, if it is a comparison.
    pub(crate) fn comparison(self) -> Option<CompareOp> {
        comparison(self.0)
    }

    /// The connective, if it is one.
    pub(crate) fn logic(self) -> Option<Logic> {
        match self.0 {
            Expr::And(..) => Some(Logic::And),
            Expr::Or(..) => Some(Logic::Or),
            Expr::FnCall(call, _) if call.op_token.is_some() && call.name == "!" && call.args.len() == 1 => Some(Logic::Not),
            _ => None,
        }
    }

    /// The position to show its value at: its operator, or the last name of a path.
    pub(crate) fn token(self) -> Position {
        match self.0 {
            Expr::Dot(parts, ..) => OpenedValue(&parts.rhs).token(),
            Expr::Index(parts, ..) => parts.lhs.start_position(),
            value => value.position(),
        }
    }

    /// The first and the last position inside it.
    pub(crate) fn reach(self) -> (Position, Position) {
        let mut reach = (self.0.start_position(), self.0.position());
        let key = |position: Position| (position.line(), position.position());
        let mut take = |position: Position| {
            if position.is_none() {
                return;
            }
            if reach.0.is_none() || key(position) < key(reach.0) {
                reach.0 = position;
            }
            if reach.1.is_none() || key(position) > key(reach.1) {
                reach.1 = position;
            }
        };
        self.0.walk(&mut Vec::new(), &mut |path| {
            match path.last() {
                Some(ASTNode::Expr(expr)) => [expr.position(), expr.start_position()].into_iter().for_each(&mut take),
                Some(ASTNode::Stmt(statement)) => take(statement.position()),
                _ => {}
            }
            true
        });
        reach
    }
}

/// A rewritten script: the AST to link, and the functions' bodies for direct calls.
pub(crate) struct RewrittenScript {
    pub(crate) ast: AST,
    /// The statements of each function as one expression, in the order of
    /// [`SyntaxTree::functions`](super::tree::SyntaxTree::functions).
    pub(crate) bodies: Vec<Arc<RewrittenExpr>>,
}

/// Rewrites a script.
pub(crate) fn rewrite(ast: &AST, nodes: &mut impl Nodes) -> RewrittenScript {
    let mut module = Module::new();
    if let Some(source) = ast.source() {
        module.set_id(source);
    }
    let changed = capture::changed(ast);
    let mut bodies = Vec::new();
    // In source order: a module has its own order of functions.
    let mut definitions: Vec<&Shared<ScriptFuncDef>> = ast.iter_fn_def().collect();
    definitions.sort_by_key(|definition| {
        let start = definition.body.start_position();
        (start.line(), start.position())
    });
    for definition in definitions {
        nodes.enter(Some(head(definition)));
        let mut statements = statements_of(definition);
        let mut walk = AstWalk { nodes, changed: &changed };
        walk.block(&mut statements, true);
        let (start, end) = (definition.body.start_position(), definition.body.end_position());
        let block = RewrittenExpr(Expr::Stmt(Box::new(StmtBlock::new(statements, start, end))));
        let block = Arc::new(nodes.body(block, definition.params.len()));
        module.set_script_fn(stub(definition, block.clone()));
        bodies.push(block);
    }
    nodes.enter(None);
    let mut statements = ast.statements().to_vec();
    AstWalk { nodes, changed: &changed }.block(&mut statements, false);
    let mut rewritten = AST::new(statements, module);
    if let Some(source) = ast.source() {
        rewritten.set_source(source);
    }
    RewrittenScript { ast: rewritten, bodies }
}

struct AstWalk<'n, N: Nodes> {
    nodes: &'n mut N,
    /// The variables that may be modified in the file.
    changed: &'n BTreeSet<ImmutableString>,
}

impl<N: Nodes> AstWalk<'_, N> {
    /// Rewrites an expression whose value is used.
    fn value(&mut self, expr: &mut Expr, role: ValueRole) {
        if is_literal(expr) && role == ValueRole::Value && !self.nodes.opens_literals() {
            return;
        }
        let id = self.nodes.open(OpenedValue(expr), role);
        if role == ValueRole::Value && comparison(expr).is_some() {
            self.comparison(expr, id);
            return;
        }
        if role == ValueRole::Value || is_literal(expr) || matches!(expr, Expr::Variable(..) | Expr::Stmt(..)) {
            self.inside(expr);
        } else {
            self.value(expr, ValueRole::Value);
        }
        if let Some(id) = id {
            *expr = self.nodes.close(RewrittenExpr(std::mem::take(expr)), id).0;
        }
    }

    fn comparison(&mut self, expr: &mut Expr, id: Option<u32>) {
        let Some(op) = comparison(expr) else { return };
        let Expr::FnCall(call, position) = std::mem::take(expr) else { return };
        let mut operands: Vec<Expr> = call.args.into_iter().collect();
        for operand in &mut operands {
            self.value(operand, ValueRole::Value);
        }
        *expr = self.nodes.compare(op, operands.into_iter().map(RewrittenExpr).collect(), position, id).0;
    }

    /// Rewrites the inside of an expression that is not replaced itself.
    fn inside(&mut self, expr: &mut Expr) {
        match expr {
            Expr::InterpolatedString(parts, _) => parts.iter_mut().for_each(|part| self.value(part, ValueRole::Value)),
            Expr::Array(parts, _) => parts.iter_mut().for_each(|part| self.stored(part)),
            Expr::Map(parts, _) => parts.0.iter_mut().for_each(|(_, part)| self.stored(part)),
            Expr::And(parts, _) | Expr::Or(parts, _) | Expr::Coalesce(parts, _) => {
                parts.iter_mut().for_each(|part| self.value(part, ValueRole::Value));
            }
            Expr::FnCall(call, position) if is_capture(call) => {
                let position = *position;
                *expr = self.nodes.closure(RewrittenExpr(std::mem::take(expr)), position).0;
            }
            Expr::FnCall(call, _) => self.call(call),
            Expr::Dot(parts, flags, _) => {
                let flags = *flags;
                self.root(&mut parts.lhs);
                self.chain(false, flags, &mut parts.rhs);
            }
            Expr::Index(parts, flags, _) => {
                let flags = *flags;
                self.root(&mut parts.lhs);
                self.chain(true, flags, &mut parts.rhs);
            }
            Expr::Stmt(block) => self.block(block.statements_mut(), false),
            Expr::Variable(..) => self.constant(expr),
            _ => {}
        }
    }

    /// Rewrites a value that is stored in a variable, a list or a map.
    fn stored(&mut self, expr: &mut Expr) {
        let scalar = is_literal(expr)
            || match expr {
                Expr::FnCall(call, _) => call.op_token.is_some() || is_capture(call),
                Expr::InterpolatedString(..) | Expr::And(..) | Expr::Or(..) => true,
                _ => false,
            };
        self.value(expr, ValueRole::Value);
        if !scalar {
            let position = expr.start_position();
            *expr = self.nodes.shallow(RewrittenExpr(std::mem::take(expr)), position).0;
        }
    }

    /// `global::NAME`.
    fn constant(&mut self, expr: &mut Expr) {
        if let Expr::Variable(variable, _, position) = expr
            && let [root] = variable.2.path.as_slice()
            && root.as_str() == "global"
        {
            *expr = self.nodes.constant(&variable.1, *position).0;
        }
    }

    /// Rewrites the root of a chain: a bare variable is unchanged, because methods may modify it.
    fn root(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Variable(..) => self.constant(expr),
            Expr::ThisPtr(..) => {}
            expr => self.value(expr, ValueRole::Value),
        }
    }

    fn call(&mut self, call: &mut FnCallExpr) {
        let special = matches!(call.name.as_str(), "Fn" | "call" | "is_shared" | "is_def_var" | "is_def_fn");
        let stores = stores(call);
        for (at, arg) in call.args.iter_mut().enumerate() {
            if call.op_token.is_none() && (at == 0 || special) {
                self.root(arg);
            } else if stores {
                self.stored(arg);
            } else {
                self.value(arg, ValueRole::Value);
            }
        }
    }

    /// Rewrites the right side of a chain: only the arguments of methods and the indexes are separate expressions.
    fn chain(&mut self, index: bool, flags: ASTFlags, right: &mut Expr) {
        let ends = flags.intersects(ASTFlags::BREAK);
        match right {
            Expr::Dot(parts, inner, _) if !(index && ends) => {
                let inner = *inner;
                self.link(index, &mut parts.lhs);
                self.chain(false, inner, &mut parts.rhs);
            }
            Expr::Index(parts, inner, _) if !(index && ends) => {
                let inner = *inner;
                self.link(index, &mut parts.lhs);
                self.chain(true, inner, &mut parts.rhs);
            }
            right => self.link(index, right),
        }
    }

    /// Rewrites one link of a chain: an index, a property or a method.
    fn link(&mut self, index: bool, link: &mut Expr) {
        match link {
            link if index => self.value(link, ValueRole::Value),
            Expr::MethodCall(call, _) if stores(call) => call.args.iter_mut().for_each(|arg| self.stored(arg)),
            Expr::MethodCall(call, _) => call.args.iter_mut().for_each(|arg| self.value(arg, ValueRole::Value)),
            _ => {}
        }
    }

    fn block(&mut self, statements: &mut [Stmt], tail: bool) {
        let count = statements.len();
        for (at, statement) in statements.iter_mut().enumerate() {
            self.statement(statement, tail && at + 1 == count);
        }
    }

    fn statement(&mut self, statement: &mut Stmt, tail: bool) {
        let last = if tail { ValueRole::Result } else { ValueRole::Value };
        self.nodes.statement(matches!(statement, Stmt::FnCall(..)));
        match statement {
            Stmt::If(flow, _) => {
                self.value(&mut flow.expr, ValueRole::Condition);
                self.block(flow.body.statements_mut(), tail);
                self.block(flow.branch.statements_mut(), tail);
            }
            Stmt::Switch(parts, _) => {
                self.value(&mut parts.0, ValueRole::Value);
                for case in &mut parts.1.expressions {
                    if !matches!(case.lhs, Expr::BoolConstant(..)) {
                        self.value(&mut case.lhs, ValueRole::Case);
                    }
                    self.value(&mut case.rhs, if tail { ValueRole::Result } else { ValueRole::Arm });
                }
            }
            Stmt::While(flow, _) | Stmt::Do(flow, ..) => {
                if !matches!(flow.expr, Expr::Unit(..) | Expr::BoolConstant(..)) {
                    self.value(&mut flow.expr, ValueRole::Condition);
                }
                self.block(flow.body.statements_mut(), false);
            }
            Stmt::For(parts, _) => {
                self.value(&mut parts.2.expr, ValueRole::Value);
                self.block(parts.2.body.statements_mut(), false);
            }
            Stmt::Var(parts, ..) => self.value(&mut parts.1, ValueRole::Value),
            Stmt::Assignment(parts) => {
                self.stored(&mut parts.1.rhs);
                match &mut parts.1.lhs {
                    Expr::Dot(target, flags, _) => self.chain(false, *flags, &mut target.rhs),
                    Expr::Index(target, flags, _) => self.chain(true, *flags, &mut target.rhs),
                    _ => {}
                }
            }
            Stmt::FnCall(..) => {
                let Stmt::FnCall(call, position) = std::mem::take(statement) else { return };
                let mut expr = Expr::FnCall(call, position);
                self.value(&mut expr, last);
                *statement = match expr {
                    Expr::FnCall(call, position) => Stmt::FnCall(call, position),
                    expr => Stmt::Expr(Box::new(expr)),
                };
            }
            Stmt::Block(block) => self.block(block.statements_mut(), tail),
            Stmt::TryCatch(flow, _) => {
                self.block(flow.body.statements_mut(), tail);
                self.block(flow.branch.statements_mut(), tail);
            }
            Stmt::Expr(expr) => self.value(expr, last),
            Stmt::Share(..) => {
                if let Some(share) = capture::share(statement, self.changed) {
                    *statement = share;
                }
            }
            Stmt::BreakLoop(Some(expr), ..) => self.value(expr, ValueRole::Value),
            Stmt::Return(Some(expr), flags, _) => {
                let throws = flags.intersects(ASTFlags::BREAK);
                self.value(expr, if throws { ValueRole::Value } else { ValueRole::Return });
            }
            _ => {}
        }
    }
}

/// The operator, if an expression is a comparison.
fn comparison(expr: &Expr) -> Option<CompareOp> {
    match expr {
        Expr::FnCall(call, _) if call.op_token.is_some() && call.args.len() == 2 => CompareOp::of(&call.name),
        _ => None,
    }
}

/// Whether a function stores an argument in its first one.
fn stores(call: &FnCallExpr) -> bool {
    matches!(call.name.as_str(), "push" | "insert" | "set" | "pad" | "append" | "splice" | "mixin" | "fill_with")
}

fn is_literal(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::BoolConstant(..)
            | Expr::IntegerConstant(..)
            | Expr::FloatConstant(..)
            | Expr::StringConstant(..)
            | Expr::CharConstant(..)
            | Expr::Unit(..)
            | Expr::DynamicConstant(..)
    )
}

/// Whether a call is the parser's form of a closure that captures variables. (Scripts cannot write `curry` themselves.)
fn is_capture(call: &FnCallExpr) -> bool {
    call.name == "curry" && call.namespace.is_empty()
}
