//! Walking scripts.

use crate::diag::{Source, Span};
use crate::pipeline::yaml::{Yaml, YamlKind};
use crate::script::Unit;
use crate::script::rewrite::statements_of;
use rhai::{ASTNode, Expr, FnAccess, FnCallExpr, Position, ScriptFuncDef, Stmt};

/// The functions that are written out (closures are parts of them), in the order of the text.
pub(super) fn functions(unit: &Unit) -> Vec<&ScriptFuncDef> {
    let named = unit.ast().iter_fn_def().filter(|function| !function.name.starts_with("anon$"));
    let mut functions: Vec<&ScriptFuncDef> = named.map(|function| &**function).collect();
    functions.sort_by_key(|function| function.body.start_position());
    functions
}

/// The body of a function.
pub(super) fn body(unit: &Unit, function: &ScriptFuncDef) -> Vec<Stmt> {
    let shared = unit.ast().iter_fn_def().find(|known| std::ptr::eq::<ScriptFuncDef>(known.as_ref(), function));
    shared.map(statements_of).unwrap_or_default()
}

/// Whether only its own file may call it.
pub(super) fn is_private(function: &ScriptFuncDef) -> bool {
    function.access == FnAccess::Private
}

/// Where a function is defined.
pub(super) fn name_of(unit: &Unit, function: &ScriptFuncDef) -> (Source, Span) {
    unit.definition(function).unwrap_or_else(|| unit.locate(Span::default()))
}

/// Every node of the script, functions and closures included.
pub(super) fn walk(unit: &Unit, mut visit: impl FnMut(&ASTNode<'_>)) {
    unit.ast().walk(&mut |path| {
        path.last().into_iter().for_each(&mut visit);
        true
    });
}

/// The calls of a list of statements by name, with the places of the names; operators are none.
pub(super) fn calls(statements: &[Stmt], mut visit: impl FnMut(&FnCallExpr, Position)) {
    for statement in statements {
        statement.walk(&mut Vec::new(), &mut |path| {
            match path.last() {
                Some(
                    ASTNode::Stmt(Stmt::FnCall(call, at)) | ASTNode::Expr(Expr::FnCall(call, at) | Expr::MethodCall(call, at)),
                ) if call.op_token.is_none() => visit(call, *at),
                _ => {}
            }
            true
        });
    }
}

/// The string literals of a script with their places; interpolated ones by their parts.
pub(super) fn strings(unit: &Unit) -> Vec<(String, Source, Span)> {
    let mut found = Vec::new();
    walk(unit, |node| {
        if let ASTNode::Expr(Expr::StringConstant(text, at)) = node
            && let Some((source, span)) = unit.token(*at)
        {
            found.push((text.to_string(), source, span));
        }
    });
    found.sort_by_key(|(_, _, span)| span.start);
    found.dedup_by_key(|(_, _, span)| span.start);
    found
}

/// The text of a function from its keyword to its closing brace, and the number of its lines.
pub(super) fn text_of<'u>(unit: &'u Unit, function: &ScriptFuncDef) -> &'u str {
    let script = unit.script();
    let start = unit.tokens().offset(script, function.body.start_position());
    let lexemes = unit.tokens().lexemes();
    let from = lexemes.partition_point(|lexeme| lexeme.span.start < start);
    let mut depth = 0_i32;
    for lexeme in &lexemes[from..] {
        match &script[lexeme.span.start..lexeme.span.end] {
            "{" | "#{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &script[start..lexeme.span.end];
        }
    }
    &script[start.min(script.len())..]
}

/// The texts in a data file, each with its place.
pub(super) fn texts(source: &Source, yaml: &Yaml) -> Vec<(String, Source, Span)> {
    match &yaml.kind {
        YamlKind::Text(text) => vec![(text.value.clone(), source.clone(), yaml.span)],
        YamlKind::List(items) => items.iter().flat_map(|item| texts(source, item)).collect(),
        // What a signature accepts and rejects are examples.
        YamlKind::Map(entries) => {
            let rules = entries.iter().filter(|entry| !matches!(entry.key.as_str(), "accepts" | "rejects"));
            rules.flat_map(|entry| texts(source, &entry.value)).collect()
        }
        _ => Vec::new(),
    }
}
