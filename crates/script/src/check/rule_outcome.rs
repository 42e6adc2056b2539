//! Checks that a rule can return an outcome: a return value that is certainly not an outcome is an error, whatever the inputs.

use super::CheckedParameter;
use super::findings::ScriptPlace;
use super::flow::TypeFlow;
use super::types::{Class, Type};
use super::value::TypedValue;
use crate::rule;
use crate::tree::{Function, Stmt};
use asterisk_diag::Diagnostic;

/// The inputs of rules and conditions.
const INPUTS: [&str; 3] = ["artifact", "state", "vars"];

/// Maximum number of labelled return values.
const MAX_LABELS: usize = 4;

/// Whether a function with these inputs is a rule.
pub(super) fn is_rule(inputs: &[CheckedParameter<'_>]) -> bool {
    inputs.iter().map(|input| input.name).eq(INPUTS)
}

impl<'a> TypeFlow<'a> {
    /// Reports a rule that returns a value that is not an outcome, and a condition that never returns one; `last` is the value of
    /// its last expression.
    pub(super) fn rule_outcome(&mut self, function: &Function, last: &TypedValue<'a>, returns: &[TypedValue<'a>]) {
        let at_end = (!leaves(&function.body)).then_some(last);
        let unit = self.script().unit;
        let all: Vec<&TypedValue<'a>> = returns.iter().chain(at_end).collect();
        let ways: Vec<&TypedValue<'a>> = all.iter().copied().filter(|way| is_not_an_outcome(way, unit.is_condition())).collect();
        let Some(first) = ways.first().filter(|_| !unit.is_condition() || ways.len() == all.len()) else { return };
        let finding = if unit.is_condition() {
            let what = name(first);
            let (source, span) = unit.locate(unit.text().whole());
            Diagnostic::error(rule::FORM.code, format!("this condition is {what}, not `true` or `false`"))
                .label(&source, span, "")
                .help("compare it with something")
        } else {
            let message = format!("`{}` is used as a rule, but returns {}", function.name(), name(first));
            let mut finding = Diagnostic::warning(rule::FORM.code, message).help(rule::FORM.help);
            for way in ways.iter().take(MAX_LABELS) {
                let ScriptPlace { source, span } = self.place(way.at);
                finding = finding.label(&source, span, format!("{} is not an outcome", name(way)));
            }
            finding
        };
        self.report(finding);
    }
}

/// Whether a value is certainly not `true`, `false`, `()` or, from a rule, a map.
fn is_not_an_outcome(value: &TypedValue<'_>, condition: bool) -> bool {
    match value.ty.class() {
        Some(Class::Number | Class::Text | Class::List) => true,
        Some(Class::Map) => condition,
        Some(Class::Bool | Class::Unit) => false,
        None => value.function.is_some() || value.ty == Type::NoOutcome,
    }
}

fn name(value: &TypedValue<'_>) -> &'static str {
    match value.ty.class() {
        Some(class) => class.name(),
        None if value.function.is_some() => "a function",
        None => "a number, a string or a list",
    }
}

/// Whether control certainly does not reach the end of some statements.
pub(super) fn leaves(statements: &[Stmt]) -> bool {
    statements.iter().any(|statement| match statement {
        Stmt::Return { .. } => true,
        Stmt::Block(statements, _) => leaves(statements),
        Stmt::If { then, otherwise, .. } => leaves(then) && leaves(otherwise),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::check::CheckedParameter;
    use crate::testing::{find, line, link, try_condition};
    use crate::{ScriptFunction, View};
    use asterisk_base::model::{Field, Kind, Shape};
    use std::sync::Arc;

    fn schema() -> Kind {
        let field = |name: &str, kind| Field { name: name.into(), kind, required: true };
        let text = Kind::Text { one_of: Vec::new() };
        let fields = vec![field("n", Kind::Number { min: None, max: None }), field("ok", Kind::Bool), field("label", text)];
        Kind::Object(Arc::new(Shape { name: "artifact".into(), fields, sparse: false }))
    }

    /// The diagnostics of the check, and whether a call agrees.
    fn check_and_call(library: &crate::Library, function: &ScriptFunction) -> (Vec<String>, bool) {
        let (artifact, any) = (schema(), Kind::Any);
        let inputs =
            [("artifact", &artifact), ("state", &any), ("vars", &any)].map(|(name, kind)| CheckedParameter { name, kind });
        let found = library.check(function, &inputs).diagnostics.iter().map(line).collect();
        let value = serde_json::json!({"n": 3.0, "ok": true, "label": "x"});
        let view = View::of(&value, &artifact, "artifact");
        let outcome = function.decide(&view, &View::null(), &View::null());
        (found, outcome.is_err_and(|problem| problem.code == "rule/return"))
    }

    fn rule(body: &str) -> (Vec<String>, bool) {
        let text =
            format!("fn level(a) {{ if a.n > 1 {{ \"high\" }} else {{ \"low\" }} }}\nfn f(artifact, state, vars) {{ {body} }}");
        let library = link(&[("t.rhai", &text)]);
        check_and_call(&library, &find(&library, "t.rhai#f", 3))
    }

    #[test]
    fn a_return_value_that_is_not_an_outcome_is_reported() {
        for (body, labels, what) in [
            ("\"yes\"", "t.rhai:\"yes\"", "a string"),
            ("artifact.n", "t.rhai:n", "a number"),
            ("artifact.n + 1", "t.rhai:+", "a number"),
            ("[true]", "t.rhai:[", "a list"),
            ("return \"yes\";", "t.rhai:\"yes\"", "a string"),
            ("if artifact.ok { return 1; } \"no\"", "t.rhai:1, t.rhai:\"no\"", "a number"),
            ("if !artifact.ok { return true; } \"no\"", "t.rhai:\"no\"", "a string"),
            ("if artifact.ok { return \"go\"; } true", "t.rhai:\"go\"", "a string"),
            ("if artifact.ok { \"yes\" } else { 1 }", "t.rhai:\"yes\"", "a number, a string or a list"),
            ("if artifact.ok { return 1; } else { return 2; }", "t.rhai:1, t.rhai:2", "a number"),
            ("level(artifact)", "t.rhai:level", "a string"),
            ("`${artifact.n}`", "t.rhai:`", "a string"),
            ("|x| x", "t.rhai:|", "a function"),
            ("throw \"x\"; 1", "", ""),
        ] {
            let (found, fails) = rule(body);
            if what.is_empty() {
                assert_eq!(found, Vec::<String>::new(), "{body}");
                continue;
            }
            assert!(fails, "{body}: a call agrees");
            assert_eq!(found.len(), 1, "{body}: {found:?}");
            let want = format!("rule/return @ {labels}");
            assert!(found[0].starts_with(&want), "{body}: {found:?}");
            assert!(
                found[0].contains(&format!(": `f` is used as a rule, but returns {what} | a rule returns `()`")),
                "{body}: {found:?}"
            );
        }
    }

    #[test]
    fn possible_outcomes_are_accepted() {
        for body in [
            "",
            "true",
            "()",
            "#{ to: \"x\" }",
            "artifact.ok",
            "artifact.n > 1",
            "if artifact.ok { \"yes\" }",
            "state",
            "vars.x",
            "let x = 1;",
            "throw \"x\"",
            "for x in [1] { return true; }",
            "let x = 1; x = true; x",
            "switch artifact.n { 1.0 => \"a\" }",
            "\"yes\";",
            "try { 1 } catch { true }",
        ] {
            let (found, fails) = rule(body);
            assert!(found.is_empty() || fails, "{body}: {found:?}");
            assert!(found.is_empty() || body == "\"yes\";", "{body}: {found:?}");
        }
    }

    #[test]
    fn a_condition_that_is_certainly_not_boolean_is_refused() {
        let check = |text: &str| {
            let conditions = vec![crate::testing::condition(text)];
            let library = crate::Library::link(crate::LibraryInputs { conditions, ..Default::default() }, None).expect("links");
            check_and_call(&library, &library.condition("H1").expect("there"))
        };
        for (text, what) in [
            ("\"yes\"", "a string"),
            ("1", "a number"),
            ("n + 1", "a number"),
            ("n", "a number"),
            ("label", "a string"),
            ("[ok]", "a list"),
            ("#{ to: label }", "an object"),
        ] {
            let want = format!(
                "rule/return @ p.yaml:{text}: this condition is {what}, not `true` or `false` | compare it with something"
            );
            assert_eq!(check(text), (vec![want], true), "{text}");
        }
        for text in ["ok", "n > 1", "ok && n > 1", "state", "if ok { \"x\" }"] {
            assert_eq!(check(text).0, Vec::<String>::new(), "{text}");
        }
        assert!(try_condition("1").is_ok(), "without its inputs nothing is checked");
    }
}
