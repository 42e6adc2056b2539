//! Variables captured by closures.
//!
//! Rhai shares every captured variable behind a lock, and holds the lock of a method's receiver while the method runs:
//! `artifact.repos.filter(|r| r.score > artifact.confidence)` fails as a data race. A variable that is never modified needs no
//! sharing: if its value is immutable too (an input, a string, a number), the closure gets a copy.

use super::node::node;
use crate::view::{ListView, ObjectView};
use rhai::{AST, ASTNode, Dynamic, Engine, Expr, FlowControl, ImmutableString, Stmt, StmtBlock};
use std::collections::BTreeSet;

/// Methods and functions that only read their receiver.
const READING: &[&str] = &[
    "all",
    "any",
    "chars",
    "contains",
    "ends_with",
    "extract",
    "filter",
    "find",
    "find_map",
    "first",
    "for_each",
    "get",
    "index_of",
    "is_empty",
    "join",
    "keys",
    "last",
    "len",
    "map",
    "none",
    "order",
    "order_by",
    "order_desc",
    "parse_float",
    "parse_int",
    "reduce",
    "reduce_rev",
    "some",
    "split",
    "starts_with",
    "sub_string",
    "to_array",
    "to_debug",
    "to_float",
    "to_int",
    "to_json",
    "to_lower",
    "to_map",
    "to_string",
    "to_upper",
    "type_of",
    "values",
    "zip",
];

const SHARES: &str = "\u{2039}shares\u{203a}";

/// The names of variables that may be modified in the file: assigned to, or passed to something that is not known to be
/// read-only.
pub(crate) fn changed(ast: &AST) -> BTreeSet<ImmutableString> {
    let mut names = BTreeSet::new();
    // Functions of scripts are given copies.
    let scripted: BTreeSet<(&str, usize)> = ast.iter_functions().map(|function| (function.name, function.params.len())).collect();
    ast.walk(&mut |path| {
        match path.last() {
            Some(ASTNode::Stmt(Stmt::Assignment(parts))) => names.extend(root(&parts.1.lhs)),
            Some(ASTNode::Expr(expr @ (Expr::Dot(parts, ..) | Expr::Index(parts, ..)))) if changes(&parts.rhs) => {
                names.extend(root(expr));
            }
            Some(ASTNode::Expr(Expr::FnCall(call, _)) | ASTNode::Stmt(Stmt::FnCall(call, _))) => {
                let reads = call.op_token.is_some()
                    || call.is_qualified()
                    || call.name == "curry"
                    || READING.contains(&call.name.as_str())
                    || scripted.contains(&(call.name.as_str(), call.args.len()));
                if !reads && let Some(first @ Expr::Variable(..)) = call.args.first() {
                    names.extend(root(first));
                }
            }
            _ => {}
        }
        true
    });
    names
}

/// Whether a chain calls a method that may modify its receiver.
fn changes(chain: &Expr) -> bool {
    match chain {
        Expr::MethodCall(call, _) => !READING.contains(&call.name.as_str()),
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => changes(&parts.lhs) || changes(&parts.rhs),
        _ => false,
    }
}

/// The variable at the root of a chain.
fn root(expr: &Expr) -> Option<ImmutableString> {
    match expr {
        Expr::Variable(variable, ..) => Some(variable.1.clone()),
        Expr::Dot(parts, ..) | Expr::Index(parts, ..) => root(&parts.lhs),
        _ => None,
    }
}

/// The replacement for a `Share` statement: unmodified variables are shared only if they hold closures.
pub(crate) fn share(statement: &Stmt, changed: &BTreeSet<ImmutableString>) -> Option<Stmt> {
    let Stmt::Share(variables) = statement else { return None };
    let position = statement.position();
    let parts = variables.iter().map(|variable| {
        let share = Stmt::Share(Box::new(std::iter::once(variable.clone()).collect()));
        if changed.contains(&variable.0.name) {
            return share;
        }
        let flow = FlowControl {
            expr: node(SHARES, [], variable.0.name.clone().into(), variable.0.pos),
            body: StmtBlock::new([share], position, position),
            branch: StmtBlock::NONE,
        };
        Stmt::If(Box::new(flow), variable.0.pos)
    });
    Some(Stmt::Block(Box::new(StmtBlock::new(parts.collect::<Vec<_>>(), position, position))))
}

/// Registers the check at run time.
pub(crate) fn register(engine: &mut Engine) {
    let registered = engine.register_custom_syntax_handler(SHARES, false, |context, _, state| {
        let name = state.as_immutable_string_ref().ok();
        let value = name.and_then(|name| context.scope().get(name.as_str()));
        Ok(value.is_none_or(|value| !is_immutable(value)).into())
    });
    debug_assert!(registered.is_ok());
}

/// Shared values are included: they are shared already. A closure is not immutable, nor is a list that holds one: variables that
/// closures capture from each other must stay shared, or they would double with each closure.
fn is_immutable(value: &Dynamic) -> bool {
    value.is_shared() || is_data(value, 0)
}

fn is_data(value: &Dynamic, depth: usize) -> bool {
    const DEEPEST: usize = 32;
    if let Ok(array) = value.as_array_ref() {
        return depth < DEEPEST && array.iter().all(|item| is_data(item, depth + 1));
    }
    if let Ok(map) = value.as_map_ref() {
        return depth < DEEPEST && map.values().all(|item| is_data(item, depth + 1));
    }
    value.is::<ObjectView>()
        || value.is::<ListView>()
        || value.is_string()
        || value.is_int()
        || value.is_float()
        || value.is_bool()
        || value.is_char()
        || value.is_unit()
}
