//! Inline conditions, in which the artifact's fields are variables; `artifact`, `state` and `vars` are available too.
//!
//! The text is parsed twice: first without strict variables, to find the free identifiers; then, with `artifact.` inserted before
//! each of them, as the function that is called.

use super::common_mistakes::CONDITION_HELP;
use super::rhai_internals::tree::{ConstantExpr, Expr, Node, Position, Stmt, SyntaxTree};
use super::rhai_internals::tree_of;
use super::unit::{Unit, UnitText};
use super::{fault, parse_error};
use asterisk_diag::{Diagnostic, MappedText, Span};
use compact_str::CompactString;
use rhai::Engine;
use std::collections::BTreeSet;

/// An expression in a pipeline.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Its unique key.
    pub key: String,
    /// The expression, mapped to its position in the YAML.
    pub text: MappedText,
    /// Additional variables besides the inputs of a rule: further parameters, in this order.
    pub locals: Vec<String>,
}

/// The name of the function generated for a condition.
pub(crate) const NAME: &str = "condition";
const AFTER: &str = "\n}";
const KNOWN: [&str; 3] = ["artifact", "state", "vars"];

/// Maximum length of a condition in bytes.
const LONGEST: usize = 16 * 1024;

/// Parses a condition. `loose` is an engine without strict variables.
pub(crate) fn parse(
    engine: &Engine,
    loose: &Engine,
    condition: &Condition,
    fields: &BTreeSet<String>,
) -> Result<Unit, Diagnostic> {
    let written = condition.text.text().len();
    if written > LONGEST {
        let message = format!("this condition has {written} bytes, more than {LONGEST}");
        let help = "make it a function of a script, and name it: `rule: path/of/script.rhai#function`";
        return Err(Diagnostic::error(fault::LIMIT, message)
            .label(condition.text.file(), condition.text.locate(Span::new(0, 1)), "begins here")
            .help(help));
    }
    let params: Vec<&str> = KNOWN.into_iter().chain(condition.locals.iter().map(String::as_str)).collect();
    let before = format!("fn {NAME}({}) {{\n", params.join(", "));
    let text = UnitText::condition(condition.text.clone(), &before, AFTER);
    let parsed = loose.compile(text.script()).map_err(|error| parse_error::explain(&text, &error, fields))?;
    let tree = tree_of(&parsed);
    refuse_more(&text, &tree)?;
    if tree.named().any(|function| function.name() == NAME && function.body.is_empty()) {
        let (source, span) = (condition.text.file(), condition.text.whole());
        return Err(Diagnostic::error("script/syntax", "this condition is empty").label(source, span, "").help(CONDITION_HELP));
    }
    let mut places: Vec<usize> = free(&tree, &params)
        .into_iter()
        .filter_map(|position| text.token(position))
        .filter_map(|span| span.start.checked_sub(before.len()))
        .collect();
    places.sort_unstable();
    places.dedup();
    let text = UnitText::condition(condition.text.with_inserted(&places, "artifact."), &before, AFTER);
    let ast = engine.compile(text.script()).map_err(|error| parse_error::explain(&text, &error, fields))?;
    Ok(Unit::new(condition.key.clone(), text, ast))
}

/// Refuses anything but one block: functions, imports, text after the end.
fn refuse_more(text: &UnitText, tree: &SyntaxTree) -> Result<(), Diagnostic> {
    let error = |span: Span, message: &str| {
        let (source, span) = text.locate(span);
        let help = "put functions and imports into a script, and name it: `rule: path/of/script.rhai#function`";
        Err(Diagnostic::error("script/condition", message).label(&source, span, "").help(help))
    };
    let word = |wanted: &str| text.words().skip(1).find(|(word, _)| *word == wanted).map(|(_, span)| span);
    if tree.named().count() > 1 {
        return error(word("fn").unwrap_or_default(), "a condition cannot define functions");
    }
    let mut import = None;
    tree.each(|node| {
        if let Node::Stmt(Stmt::Import { at, .. } | Stmt::Export(at)) = node {
            import = import.or(Some(*at));
        }
    });
    if let Some(position) = import {
        return error(text.token(position).unwrap_or_default(), "a condition cannot import scripts");
    }
    if !tree.statements.is_empty() {
        let closing = word("}").unwrap_or_default();
        return error(closing, "this closes a bracket that the condition did not open");
    }
    Ok(())
}

/// The positions of identifiers that are neither parameters nor defined in the condition.
fn free<'t>(tree: &'t SyntaxTree, params: &[&'t str]) -> BTreeSet<Position> {
    let Some(condition) = tree.named().find(|function| function.name() == NAME) else { return BTreeSet::new() };
    let mut scope = NameScope { tree, names: params.to_vec(), free: BTreeSet::new() };
    scope.statements(&condition.body);
    scope.free
}

/// The names in scope while visiting the statements in order.
struct NameScope<'t> {
    tree: &'t SyntaxTree,
    names: Vec<&'t str>,
    free: BTreeSet<Position>,
}

impl<'t> NameScope<'t> {
    fn statements(&mut self, statements: &'t [Stmt]) {
        self.within([], statements);
    }

    /// Visits statements with additional names in scope.
    fn within(&mut self, names: impl IntoIterator<Item = &'t str>, statements: &'t [Stmt]) {
        let outer = self.names.len();
        self.names.extend(names);
        for statement in statements {
            self.statement(statement);
        }
        self.names.truncate(outer);
    }

    fn statement(&mut self, statement: &'t Stmt) {
        match statement {
            Stmt::If { condition, then, otherwise, .. } => {
                self.expr(condition);
                self.statements(then);
                self.statements(otherwise);
            }
            Stmt::While { condition, body, .. } | Stmt::Do { condition, body, .. } => {
                self.expr(condition);
                self.statements(body);
            }
            Stmt::For { item, counter, over, body, .. } => {
                self.expr(over);
                self.within([item].into_iter().chain(counter).map(|name| name.text.as_str()), body);
            }
            Stmt::Switch { on, arms, .. } => {
                self.expr(on);
                for arm in arms {
                    self.expr(&arm.guard);
                    self.expr(&arm.value);
                }
            }
            Stmt::Var { name, value, .. } => {
                self.expr(value);
                self.names.push(&name.text);
            }
            Stmt::Assign { target, value, .. } => {
                self.expr(target);
                self.expr(value);
            }
            Stmt::Block(statements, _) => self.statements(statements),
            Stmt::Try { body, caught, handler, .. } => {
                self.statements(body);
                self.within(caught.iter().map(|name| name.text.as_str()), handler);
            }
            Stmt::Expr(expr) | Stmt::Return { value: Some(expr), .. } | Stmt::Break { value: Some(expr), .. } => self.expr(expr),
            _ => {}
        }
    }

    fn expr(&mut self, expr: &'t Expr) {
        match expr {
            Expr::Variable(variable, position) => {
                let known = !variable.namespace.is_empty() || self.names.contains(&variable.name.as_str());
                self.free.extend((!known).then_some(*position));
            }
            Expr::Call(call, _) | Expr::Method(call, _) => self.call(&call.name, &call.args),
            Expr::Dot(link, _) | Expr::Index(link, _) => {
                self.expr(&link.left);
                self.expr(&link.right);
            }
            Expr::Interpolated(parts, _)
            | Expr::List(parts, _)
            | Expr::And(parts, _)
            | Expr::Or(parts, _)
            | Expr::Coalesce(parts, _) => parts.iter().for_each(|part| self.expr(part)),
            Expr::Map(fields, _) => fields.iter().for_each(|(_, value)| self.expr(value)),
            Expr::Block(statements, _) => self.statements(statements),
            Expr::Constant(ConstantExpr::Function(name), _) => self.closure(name, 0),
            _ => {}
        }
    }

    /// A closure that captures variables is `curry(closure, variable, ..)`: the captured ones are its first parameters, and are
    /// not defined by it.
    fn call(&mut self, name: &str, args: &'t [Expr]) {
        if let ("curry", [Expr::Constant(ConstantExpr::Function(closure), _), captured @ ..]) = (name, args) {
            self.closure(closure, captured.len());
        } else {
            for arg in args {
                self.expr(arg);
            }
        }
    }

    fn closure(&mut self, name: &str, captured: usize) {
        let Some(function) = self.tree.functions.iter().find(|function| function.name() == name) else { return };
        self.within(function.params.iter().skip(captured).map(CompactString::as_str), &function.body);
    }
}

#[cfg(test)]
mod tests {
    use super::LONGEST;
    use crate::testing::{decide, line, try_condition};
    use crate::{Condition, Library, LibraryInputs, RuleOutcome, View};
    use asterisk_base::model::Kind;
    use asterisk_diag::{MappedText, Source, Span};
    use serde_json::json;

    #[test]
    fn fields_are_variables() {
        for yes in [
            "confidence >= 0.8",
            "match && confidence >= vars.t",
            "artifact.confidence >= vars.t",
            "state.loops.H9 > 1 && state.loops.nope == 0",
            "repos.any(|r| r.score > confidence)",
            "repos.filter(|r| r.score > 0.5).len() == 1",
            "let x = confidence; x > 0.5",
            "let confidence = 0.1; confidence < 0.5",
            "`${label}-${repos.map(|r| r.name)}`.contains(label)",
            "confidence > 0.5 // comment",
            "#{ confidence: confidence }.confidence > 0.5",
            "for r in repos { if r.score > 0.5 { return true; } } false",
            "for (r, i) in list { if i == 1 { return r == \"y\"; } }",
            "if match { n == 3 } else { false }",
            "n in [1, 2, 3]",
            "len(list) == 2",
            "nested.a.b == 7",
            "list[0] == \"x\" && list[n - 2] == \"y\"",
            "[1, 2].map(|x| { let n = x; n })[0] == 1",
            "repos.all(|r| repos.any(|q| q.name == r.name && n == 3))",
            "switch n { 3 => match, _ => false }",
            "try { zzz } catch (err) { return err.to_string().contains(\"zzz\"); }",
            "let f = |x| x > confidence; f.call(1)",
        ] {
            assert_eq!(decide(yes), Ok(RuleOutcome::yes()), "{yes}");
        }
        for no in ["confidence > 0.9", "nothing", "!match", "confidence > 0.9;"] {
            assert_eq!(decide(no), Ok(RuleOutcome::No), "{no}");
        }
    }

    #[test]
    fn errors_are_labelled_in_the_yaml() {
        for (text, message) in [
            (
                "label == \"é\" && confidense > 1",
                "rule/unknown-field @ p.yaml:confidense: no field `confidense` on `artifact` | did you mean `confidence`?",
            ),
            (
                "artifact.confidense > 1",
                "rule/unknown-field @ p.yaml:confidense: no field `confidense` on `artifact` | did you mean `confidence`?",
            ),
            (
                "repos.any(|r| r.scor > 1)",
                "rule/unknown-field @ p.yaml:scor, p.yaml:any: no field `scor` on `artifact.repos[]` | did you mean `score`?",
            ),
            (
                "match && confidence >= \"x\"",
                "rule/compare-types @ p.yaml:confidence >= \"x\": cannot compare a number (`0.85`) with a string (`\"x\"`) by `>=` | convert the string to a number first: `parse_float(x)`, or compare with a string",
            ),
            (
                "confidence",
                "rule/return @ p.yaml:confidence: this condition is a number (`0.85`), not `true` or `false` | compare it with something",
            ),
            (
                "#{ to: \"x\" }",
                "rule/return @ p.yaml:#{ to: \"x\" }: this condition is an object (`{\"to\":\"x\"}`), not `true` or `false` | compare it with something",
            ),
            (
                "list.push(1)",
                "rule/read-only @ p.yaml:push: `push` would change `artifact.list`, which is read-only | change a copy: `let copy = artifact.list.to_array()`",
            ),
        ] {
            assert_eq!(decide(text), Err(message.to_owned()), "{text}");
        }
        assert!(
            decide("confidence = 5")
                .expect_err("read-only")
                .starts_with("rule/read-only @ p.yaml:confidence: `artifact` is read-only")
        );
    }

    #[test]
    fn prose_and_other_mistakes_are_explained() {
        for (text, label) in [
            ("when the user is happy", "the"),
            ("confidence >=", ">="),
            ("confidence <> 0.9", ">"),
            ("(confidence > 1", "1"),
            ("\"abc", "\"abc"),
            ("", ""),
            ("// nothing", "// nothing"),
        ] {
            let message = decide(text).expect_err(text);
            assert!(message.starts_with(&format!("script/syntax @ p.yaml:{label}: ")), "{text}: {message}");
            assert!(message.contains("a condition is a Rhai expression"), "{text}: {message}");
        }
    }

    #[test]
    fn a_condition_is_not_a_script() {
        for text in [
            "true } fn evil() { 1",
            "true }; import \"x\" as y; fn z() {",
            "import \"x\" as y; true",
            "fn f() { 1 } true",
            "true } true; {",
            "export let x = 1; true",
        ] {
            let message = decide(text).expect_err(text);
            assert!(
                message.starts_with("script/condition @ p.yaml:") || message.starts_with("script/syntax @ p.yaml:"),
                "{text}: {message}"
            );
        }
        assert!(decide("eval(\"1\")").expect_err("no").starts_with("script/forbidden @ p.yaml:eval: "));
    }

    #[test]
    fn a_block_scalar_maps_back_to_its_lines() {
        // condition: |          the text starts at byte 15, each line is indented by two
        let yaml = "condition: |\n  label == \"é\" &&\n    confidense < 1\n";
        let file = Source::new("p.yaml", yaml);
        let (mut text, mut offsets) = (String::new(), Vec::new());
        for line in ["label == \"é\" &&\n", "  confidense < 1\n"] {
            let start = yaml.find(line).expect("there");
            for (at, ch) in line.char_indices() {
                text.push(ch);
                offsets.extend(std::iter::repeat_n(start + at, ch.len_utf8()));
            }
        }
        let mapped = MappedText::new(text, offsets, file, Span::new(11, yaml.len()));
        let conditions = vec![Condition { key: "H1".into(), text: mapped, locals: Vec::new() }];
        let library = Library::link(LibraryInputs { conditions, ..LibraryInputs::default() }, None).expect("links");
        let artifact = View::of(&json!({"label": "é", "confidence": 1}), &Kind::Any, "artifact");
        let problem =
            library.condition("H1").expect("there").decide(&artifact, &View::null(), &View::null()).expect_err("a slip");
        assert_eq!(problem.place().as_deref(), Some("p.yaml:3:5"));
        assert!(line(&problem).starts_with("rule/unknown-field @ p.yaml:confidense: "), "{}", line(&problem));
    }

    #[test]
    fn a_text_without_a_map_is_labelled_as_a_whole() {
        let file = Source::new("p.yaml", "condition: \"a\\tb\"");
        let text = MappedText::opaque("zz > 1", file, Span::new(11, 17));
        let conditions = vec![Condition { key: "H1".into(), text, locals: Vec::new() }];
        let library = Library::link(LibraryInputs { conditions, ..LibraryInputs::default() }, None).expect("links");
        let nothing = View::of(&json!(null), &Kind::Any, "artifact");
        let problem =
            library.condition("H1").expect("there").decide(&nothing, &View::null(), &View::null()).expect_err("no field");
        assert_eq!(line(&problem), "rule/unknown-field @ p.yaml:\"a\\tb\": no field `zz` on `artifact` | `artifact` is empty");
    }

    #[test]
    fn a_condition_is_identified_by_its_key() {
        let condition = try_condition("confidence > 1").expect("links");
        assert_eq!((condition.name(), condition.file(), condition.key().as_str()), ("condition", None, "H1"));
        let (source, span) = condition.definition().expect("a place");
        assert_eq!(source.slice(span), "confidence > 1");
    }

    #[test]
    fn the_length_of_a_condition_is_limited() {
        let fine = format!("label != \"{}\"", "x".repeat(LONGEST - 20));
        assert!(decide(&fine).is_ok());
        let problems = try_condition(&"n > 1 && ".repeat(LONGEST / 9 + 1)).expect_err("too long");
        let message: Vec<String> = problems.iter().map(line).collect();
        assert_eq!(message.len(), 1);
        assert!(
            message[0].starts_with("script/limit @ p.yaml:n: this condition has 16389 bytes, more than 16384"),
            "{message:?}"
        );
    }
}
