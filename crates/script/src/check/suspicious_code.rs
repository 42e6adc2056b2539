//! Code that runs without an error but is hardly intended: discarded values, string literals without interpolation.

use super::findings::ScriptPlace;
use super::flow::TypeFlow;
use crate::tree::{Expr, Position, Stmt};
use asterisk_diag::Diagnostic;

/// The code of a discarded value.
const DROPPED: &str = "rule/dropped-value";
/// The code of a string literal that should be in backticks.
const PLAIN: &str = "rule/plain-interpolation";

/// Operators that only compare.
const COMPARISONS: &[&str] = &["==", "!=", "<", "<=", ">", ">=", "!"];

impl TypeFlow<'_> {
    /// Reports values at the end of the branches of a statement that is not the last, so that they are discarded.
    pub(super) fn drops(&mut self, statement: &Stmt) {
        let mut found = Vec::new();
        in_branches(statement, &mut found);
        for at in found {
            let ScriptPlace { source, span } = self.place(at);
            let written = source.slice(span);
            let simple = written.chars().all(|c| c.is_alphanumeric() || c == '_');
            let help = match written {
                written if simple => format!("to end the function with it, write `return {written};`"),
                _ => "to end the function with it, write `return` before it".to_owned(),
            };
            let found = Diagnostic::warning(DROPPED, "this value is discarded: the function continues after the block");
            self.report(found.label(&source, span, "discarded").help(help));
        }
    }

    /// Reports a string literal in plain quotes that looks like a template.
    pub(super) fn plain_text(&mut self, text: &str, at: Position) {
        if !text.contains("${") {
            return;
        }
        let ScriptPlace { source, span } = self.place(at);
        let written = source.slice(span);
        // `${NAME}` may be literal if no variable has this name.
        let script = self.script();
        let names = |rest: &str| {
            let name = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or_default();
            let is_name = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && rest.contains('}');
            is_name
                && (!name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
                    || script.unit.script().contains(&format!("const {name}")))
        };
        if written.starts_with('"') && written.split("${").skip(1).any(names) {
            let found = Diagnostic::warning(PLAIN, "`${..}` is not interpolated in these quotes");
            let help = format!("write it in backticks: `{}`", written.trim_matches('"'));
            self.report(found.label(&source, span, "literal text").help(help));
        }
    }
}

fn in_branches(statement: &Stmt, found: &mut Vec<Position>) {
    match statement {
        Stmt::If { then, otherwise, .. } => {
            at_end(then, found);
            at_end(otherwise, found);
        }
        Stmt::Block(statements, _) => at_end(statements, found),
        _ => {}
    }
}

fn at_end(statements: &[Stmt], found: &mut Vec<Position>) {
    match statements.last() {
        Some(Stmt::Expr(Expr::Block(statements, _))) => at_end(statements, found),
        Some(Stmt::Expr(value)) if is_value(value) => found.push(value.start_position()),
        Some(statement) => in_branches(statement, found),
        None => {}
    }
}

/// Whether an expression only has a value and no side effect. A call may have one.
fn is_value(expr: &Expr) -> bool {
    match expr {
        Expr::Bool(..)
        | Expr::Int(..)
        | Expr::Float(..)
        | Expr::Text(..)
        | Expr::Interpolated(..)
        | Expr::Constant(..)
        | Expr::List(..)
        | Expr::Map(..)
        | Expr::Variable(..)
        | Expr::And(..)
        | Expr::Or(..) => true,
        Expr::Call(call, _) => COMPARISONS.contains(&call.name.as_str()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::check::CheckedParameter;
    use crate::testing::{find, line, link};
    use asterisk_base::model::Kind;

    fn messages(body: &str) -> Vec<String> {
        let library = link(&[("t.rhai", &format!("fn f(artifact, state, vars) {{ {body} }}"))]);
        let inputs = ["artifact", "state", "vars"].map(|name| CheckedParameter { name, kind: &Kind::Any });
        library.check(&find(&library, "t.rhai#f", 3), &inputs).diagnostics.iter().map(line).collect()
    }

    #[test]
    fn discarded_values_are_reported() {
        for (body, at) in [
            ("if artifact.x { false } true", "false"),
            ("if artifact.x { return true; } else { false } true", "false"),
            ("if artifact.x { if artifact.y { 1 } } true", "1"),
            ("if artifact.x { #{ to: \"a\" } } ()", "#{"),
            ("if artifact.x { artifact.y == 1 } true", "=="),
            ("for x in artifact.list { if x { true } } false", "true"),
        ] {
            let found = messages(body);
            assert!(found.len() == 1 && found[0].starts_with(&format!("rule/dropped-value @ t.rhai:{at}:")), "{body}: {found:?}");
        }
        for body in [
            "if artifact.x { false } else { true }",
            "if artifact.x { return false; } true",
            "let l = []; if artifact.x { l.push(1); } l.len() > 0",
            "let n = if artifact.x { 1 } else { 2 }; n == 1",
            "if artifact.x { throw \"no\" } true",
        ] {
            assert_eq!(messages(body), Vec::<String>::new(), "{body}");
        }
    }

    #[test]
    fn interpolation_in_plain_quotes_is_reported() {
        let found = messages("#{ because: \"it is ${artifact.x}\" }");
        let help = "write it in backticks: `it is ${artifact.x}`";
        assert!(
            found.len() == 1 && found[0].starts_with("rule/plain-interpolation @ t.rhai:\"it is") && found[0].ends_with(help),
            "{found:?}"
        );
        for body in ["#{ because: `it is ${artifact.x}` }", "artifact.x == \"${\"", "artifact.x == \"[$]{2}x}\""] {
            assert_eq!(messages(body), Vec::<String>::new(), "{body}");
        }
    }
}
