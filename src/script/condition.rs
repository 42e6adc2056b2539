//! Inline conditions: the artifact's fields stand for themselves, `artifact`, `state` and `vars` are there too.
//!
//! The text is parsed twice: once without strict variables to find which identifiers are free, then, with `artifact.` put in front
//! of each of them, as the function that is called.

use super::rewrite::statements_of;
use super::syntax;
use super::unit::{Text, Unit};
use crate::diag::{Diagnostic, Mapped, Span};
use rhai::{AST, ASTNode, Engine, Expr, FnPtr, Position, ScriptFuncDef, Shared, Stmt};
use std::collections::BTreeSet;

/// An expression written in a pipeline.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What it is asked for by; unique.
    pub key: String,
    /// The expression, mapped to the YAML it stands in.
    pub text: Mapped,
}

/// The function that a condition becomes.
pub(crate) const NAME: &str = "condition";
const BEFORE: &str = "fn condition(artifact, state, vars) {\n";
const AFTER: &str = "\n}";
const KNOWN: [&str; 3] = ["artifact", "state", "vars"];

/// Parses a condition. `loose` is an engine without strict variables.
pub(crate) fn parse(engine: &Engine, loose: &Engine, condition: &Condition) -> Result<Unit, Diagnostic> {
    let text = Text::condition(condition.text.clone(), BEFORE, AFTER);
    let ast = loose.compile(text.script()).map_err(|error| syntax::explain(&text, &error))?;
    refuse_more(&text, &ast)?;
    if ast.iter_fn_def().any(|function| function.name == NAME && statements_of(function).is_empty()) {
        let (source, span) = (condition.text.file(), condition.text.whole());
        return Err(Diagnostic::error("script/syntax", "this condition is empty")
            .label(source, span, "")
            .help(syntax::CONDITION_HELP));
    }
    let mut places: Vec<usize> = free(&ast)
        .into_iter()
        .filter_map(|position| text.token(position))
        .filter_map(|span| span.start.checked_sub(BEFORE.len()))
        .collect();
    places.sort_unstable();
    places.dedup();
    let text = Text::condition(condition.text.with_inserted(&places, "artifact."), BEFORE, AFTER);
    let ast = engine.compile(text.script()).map_err(|error| syntax::explain(&text, &error))?;
    Ok(Unit::new(condition.key.clone(), text, ast))
}

/// A condition is one block: no functions, no imports, nothing behind the end.
fn refuse_more(text: &Text, ast: &AST) -> Result<(), Diagnostic> {
    let error = |span: Span, message: &str| {
        let (source, span) = text.locate(span);
        let help = "put functions and imports into a script, and name it: `rule: path/of/script.rhai#function`";
        Err(Diagnostic::error("script/condition", message).label(&source, span, "").help(help))
    };
    let word = |wanted: &str| text.words().skip(1).find(|(word, _)| *word == wanted).map(|(_, span)| span);
    if ast.iter_functions().filter(|function| !function.name.starts_with("anon$")).count() > 1 {
        return error(word("fn").unwrap_or_default(), "a condition cannot define functions");
    }
    let mut import = None;
    ast.walk(&mut |path| {
        if let Some(ASTNode::Stmt(Stmt::Import(_, position) | Stmt::Export(_, position))) = path.last() {
            import = Some(*position);
        }
        import.is_none()
    });
    if let Some(position) = import {
        return error(text.token(position).unwrap_or_default(), "a condition cannot import scripts");
    }
    if !ast.statements().is_empty() {
        let closing = word("}").unwrap_or_default();
        return error(closing, "this closes a bracket that the condition did not open");
    }
    Ok(())
}

/// The positions of identifiers that nothing in the condition defines.
fn free(ast: &AST) -> BTreeSet<Position> {
    let Some(condition) = ast.iter_fn_def().find(|function| function.name == NAME) else { return BTreeSet::new() };
    let mut scope = Scope { ast, names: KNOWN.map(str::to_owned).to_vec(), free: BTreeSet::new() };
    scope.statements(&statements_of(condition));
    scope.free
}

/// The names in sight while going over the statements in order.
struct Scope<'a> {
    ast: &'a AST,
    names: Vec<String>,
    free: BTreeSet<Position>,
}

impl Scope<'_> {
    fn statements(&mut self, statements: &[Stmt]) {
        let outer = self.names.len();
        for statement in statements {
            self.statement(statement);
        }
        self.names.truncate(outer);
    }

    fn statement(&mut self, statement: &Stmt) {
        match statement {
            Stmt::If(flow, _) => {
                self.expr(&flow.expr);
                self.statements(flow.body.statements());
                self.statements(flow.branch.statements());
            }
            Stmt::While(flow, _) | Stmt::Do(flow, ..) => {
                self.expr(&flow.expr);
                self.statements(flow.body.statements());
            }
            Stmt::For(parts, _) => {
                self.expr(&parts.2.expr);
                let outer = self.names.len();
                self.names.push(parts.0.name.to_string());
                self.names.extend(parts.1.as_ref().map(|counter| counter.name.to_string()));
                self.statements(parts.2.body.statements());
                self.names.truncate(outer);
            }
            Stmt::Switch(parts, _) => {
                self.expr(&parts.0);
                for case in &parts.1.expressions {
                    self.expr(&case.lhs);
                    self.expr(&case.rhs);
                }
            }
            Stmt::Var(parts, ..) => {
                self.expr(&parts.1);
                self.names.push(parts.0.name.to_string());
            }
            Stmt::Assignment(parts) => {
                self.expr(&parts.1.lhs);
                self.expr(&parts.1.rhs);
            }
            Stmt::FnCall(call, _) => self.call(&call.name, &call.args),
            Stmt::Block(block) => self.statements(block.statements()),
            Stmt::TryCatch(flow, _) => {
                self.statements(flow.body.statements());
                let outer = self.names.len();
                if let Expr::Variable(name, ..) = &flow.expr {
                    self.names.push(name.1.to_string());
                }
                self.statements(flow.branch.statements());
                self.names.truncate(outer);
            }
            Stmt::Expr(expr) | Stmt::Return(Some(expr), ..) | Stmt::BreakLoop(Some(expr), ..) => self.expr(expr),
            _ => {}
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Variable(variable, _, position) => {
                if variable.2.is_empty() && !self.names.iter().any(|name| *name == variable.1.as_str()) {
                    self.free.insert(*position);
                }
            }
            Expr::FnCall(call, _) | Expr::MethodCall(call, _) => self.call(&call.name, &call.args),
            Expr::Dot(parts, ..) | Expr::Index(parts, ..) => {
                self.expr(&parts.lhs);
                self.expr(&parts.rhs);
            }
            Expr::InterpolatedString(parts, _) | Expr::Array(parts, _) => parts.iter().for_each(|part| self.expr(part)),
            Expr::Map(parts, _) => parts.0.iter().for_each(|(_, part)| self.expr(part)),
            Expr::And(parts, _) | Expr::Or(parts, _) | Expr::Coalesce(parts, _) => parts.iter().for_each(|part| self.expr(part)),
            Expr::Stmt(block) => self.statements(block.statements()),
            Expr::DynamicConstant(value, _) => self.closure(value, 0),
            _ => {}
        }
    }

    /// A closure that captures variables is `curry(closure, variable, ..)`: the captured ones are its first parameters, and
    /// are not defined by it.
    fn call(&mut self, name: &str, args: &[Expr]) {
        if let ("curry", [Expr::DynamicConstant(value, _), captured @ ..]) = (name, args) {
            self.closure(value, captured.len());
        } else {
            args.iter().for_each(|arg| self.expr(arg));
        }
    }

    fn closure(&mut self, value: &rhai::Dynamic, captured: usize) {
        let Some(name) = value.read_lock::<FnPtr>().map(|pointer| pointer.fn_name().to_owned()) else { return };
        let found: Option<Shared<ScriptFuncDef>> =
            self.ast.iter_fn_def().find(|function| function.name == name.as_str()).cloned();
        let Some(function) = found else { return };
        let outer = self.names.len();
        self.names.extend(function.params.iter().skip(captured).map(ToString::to_string));
        self.statements(&statements_of(&function));
        self.names.truncate(outer);
    }
}
