//! Converts Rhai's syntax tree to ours.

use super::tree::{
    Arm, CallExpr, ConstantExpr, DeclaredName, Expr, Function, FunctionHead, Link, Stmt, SyntaxTree, VariableExpr,
};
use compact_str::CompactString;
use rhai::{AST, ASTFlags, ASTNode, Expr as E, FnAccess, FnCallExpr, FnPtr, Ident, Module, ScriptFuncDef, Shared, Stmt as S};

/// The tree of a parsed text.
pub(crate) fn tree_of(ast: &AST) -> SyntaxTree {
    let mut functions: Vec<Function> = ast.iter_fn_def().map(function).collect();
    functions.sort_by_key(|function| (function.head.start.line(), function.head.start.position()));
    SyntaxTree { statements: block(ast.statements()), functions }
}

/// The name and positions of a function.
pub(super) fn head(definition: &ScriptFuncDef) -> FunctionHead {
    FunctionHead { name: name(&definition.name), start: definition.body.start_position(), end: definition.body.end_position() }
}

fn function(definition: &Shared<ScriptFuncDef>) -> Function {
    // Walking a tree with that one function visits its statements; nested ones have longer paths.
    let mut module = Module::new();
    module.set_script_fn(definition.clone());
    let mut body = Vec::new();
    AST::new([], module).walk(&mut |path| {
        if let [ASTNode::Stmt(one)] = path {
            body.push(statement(one));
        }
        true
    });
    Function {
        head: head(definition),
        params: definition.params.iter().map(|param| name(param)).collect(),
        private: definition.access == FnAccess::Private,
        typed: definition.this_type.is_some(),
        comments: definition.comments.iter().map(ToString::to_string).collect(),
        body,
    }
}

fn block(statements: &[S]) -> Vec<Stmt> {
    statements.iter().map(statement).collect()
}

fn statement(of: &S) -> Stmt {
    match of {
        S::Expr(value) => Stmt::Expr(expr(value)),
        S::FnCall(of, at) => Stmt::Expr(Expr::Call(call(of), *at)),
        S::Var(parts, flags, at) => {
            Stmt::Var { name: declared(&parts.0), value: expr(&parts.1), constant: flags.intersects(ASTFlags::CONSTANT), at: *at }
        }
        S::Assignment(parts) => Stmt::Assign {
            target: expr(&parts.1.lhs),
            value: expr(&parts.1.rhs),
            compound: parts.0.is_op_assignment(),
            at: of.position(),
        },
        S::If(parts, at) => Stmt::If {
            condition: expr(&parts.expr),
            then: block(parts.body.statements()),
            otherwise: block(parts.branch.statements()),
            at: *at,
        },
        S::Switch(parts, at) => Stmt::Switch {
            on: expr(&parts.0),
            arms: parts.1.expressions.iter().map(|arm| Arm { guard: expr(&arm.lhs), value: expr(&arm.rhs) }).collect(),
            has_default: parts.1.def_case.is_some(),
            at: *at,
        },
        S::While(parts, at) => Stmt::While { condition: expr(&parts.expr), body: block(parts.body.statements()), at: *at },
        S::Do(parts, _, at) => Stmt::Do { condition: expr(&parts.expr), body: block(parts.body.statements()), at: *at },
        S::For(parts, at) => Stmt::For {
            item: declared(&parts.0),
            counter: parts.1.as_ref().map(declared),
            over: expr(&parts.2.expr),
            body: block(parts.2.body.statements()),
            at: *at,
        },
        S::Block(of) => Stmt::Block(block(of.statements()), of.position()),
        S::TryCatch(parts, at) => Stmt::Try {
            body: block(parts.body.statements()),
            caught: match &parts.expr {
                E::Variable(variable, _, at) => Some(DeclaredName { text: name(&variable.1), at: *at }),
                _ => None,
            },
            handler: block(parts.branch.statements()),
            at: *at,
        },
        S::BreakLoop(value, _, at) => Stmt::Break { value: value.as_deref().map(expr), at: *at },
        S::Return(value, flags, at) => {
            Stmt::Return { value: value.as_deref().map(expr), throws: flags.intersects(ASTFlags::BREAK), at: *at }
        }
        S::Import(parts, at) => Stmt::Import { path: expr(&parts.0), alias: declared(&parts.1), at: *at },
        S::Export(_, at) => Stmt::Export(*at),
        S::Share(_) => Stmt::Share(of.position()),
        _ => Stmt::Nothing(of.position()),
    }
}

fn expr(of: &E) -> Expr {
    let at = of.position();
    match of {
        E::Unit(_) => Expr::Unit(at),
        E::BoolConstant(value, _) => Expr::Bool(*value, at),
        E::IntegerConstant(value, _) => Expr::Int(*value, at),
        E::FloatConstant(value, _) => Expr::Float(**value, at),
        E::CharConstant(value, _) => Expr::Char(*value, at),
        E::StringConstant(text, _) => Expr::Text(name(text), at),
        E::InterpolatedString(parts, _) => Expr::Interpolated(parts.iter().map(expr).collect(), at),
        E::Array(parts, _) => Expr::List(parts.iter().map(expr).collect(), at),
        E::Map(parts, _) => Expr::Map(parts.0.iter().map(|(key, value)| (declared(key), expr(value))).collect(), at),
        E::Variable(parts, ..) => {
            let namespace = parts.2.path.iter().map(|module| name(&module.name)).collect();
            Expr::Variable(VariableExpr { name: name(&parts.1), namespace, start: of.start_position() }, at)
        }
        E::ThisPtr(_) => Expr::This(at),
        E::Property(parts, _) => Expr::Property(name(&parts.2), at),
        E::MethodCall(of, _) => Expr::Method(call(of), at),
        E::FnCall(of, _) => Expr::Call(call(of), at),
        E::And(sides, _) => Expr::And(sides.iter().map(expr).collect(), at),
        E::Or(sides, _) => Expr::Or(sides.iter().map(expr).collect(), at),
        E::Coalesce(sides, _) => Expr::Coalesce(sides.iter().map(expr).collect(), at),
        E::Dot(parts, flags, _) => Expr::Dot(link(&parts.lhs, &parts.rhs, *flags), at),
        E::Index(parts, flags, _) => Expr::Index(link(&parts.lhs, &parts.rhs, *flags), at),
        E::Stmt(of) => Expr::Block(block(of.statements()), at),
        E::DynamicConstant(value, _) => {
            let constant = match value.read_lock::<FnPtr>() {
                Some(pointer) => ConstantExpr::Function(pointer.fn_name().into()),
                None if value.is_array() => ConstantExpr::List,
                None if value.is_map() => ConstantExpr::Map,
                None => ConstantExpr::Other,
            };
            Expr::Constant(constant, at)
        }
        _ => Expr::Constant(ConstantExpr::Other, at),
    }
}

fn link(left: &E, right: &E, flags: ASTFlags) -> Box<Link> {
    Box::new(Link { left: expr(left), right: expr(right), ends: flags.intersects(ASTFlags::BREAK) })
}

fn call(of: &FnCallExpr) -> CallExpr {
    CallExpr {
        name: name(&of.name),
        args: of.args.iter().map(expr).collect(),
        operator: of.op_token.is_some(),
        namespace: of.namespace.path.iter().map(|module| name(&module.name)).collect(),
    }
}

fn declared(ident: &Ident) -> DeclaredName {
    DeclaredName { text: name(&ident.name), at: ident.pos }
}

fn name(text: &str) -> CompactString {
    text.into()
}
