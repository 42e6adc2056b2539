//! Tests of undocumented behaviour of Rhai that this crate relies on: the first tests to check after an upgrade.

use super::rewrite::rewrite;
use super::tree::{ConstantExpr, Expr, Function, Node, Position, Stmt, SyntaxTree};
use crate::strict::Strict;
use crate::{ScriptLimits, Unit, build_engine};
use asterisk_diag::Source;

fn unit(text: &str) -> Unit {
    Unit::read(&Source::new("t.rhai", text)).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

/// The body of `fn f(a, b, c)`.
fn body(text: &str) -> Unit {
    unit(&format!("fn f(a, b, c) {{ {text} }}"))
}

fn function(unit: &Unit) -> &Function {
    unit.tree().function("f", 3).expect("a function")
}

/// The last expression of the function, or the expression of its last statement.
fn expr(unit: &Unit) -> &Expr {
    match function(unit).body.last() {
        Some(Stmt::Expr(expr) | Stmt::Var { value: expr, .. } | Stmt::Return { value: Some(expr), .. }) => expr,
        other => panic!("{other:?}"),
    }
}

/// The token at a position.
fn token(unit: &Unit, at: Position) -> &str {
    unit.text().token(at).map_or("", |span| &unit.script()[span.start..span.end])
}

/// The tokens at the position and at the start of an expression.
fn tokens(text: &str) -> (String, String) {
    let unit = body(text);
    let expr = expr(&unit);
    (token(&unit, expr.position()).to_owned(), token(&unit, expr.start_position()).to_owned())
}

#[test]
fn expressions_are_positioned_at_operators_and_start_at_their_first_token() {
    for (text, at, begins) in [
        ("a", "a", "a"),
        ("1.5", "1.5", "1.5"),
        ("f(a, b, c)", "f", "f"),
        ("a && b", "&&", "a"),
        ("a || b && c", "||", "a"),
        ("a ?? b", "??", "a"),
        // An operator that is a call starts at the operator.
        ("a + b", "+", "+"),
        ("a in b", "in", "in"),
        ("!a", "!", "!"),
        ("a.b", ".", "a"),
        ("a?.b", "?.", "a"),
        ("a[b]", "[", "a"),
        ("a.b.c(1)", ".", "a"),
        ("[a, b]", "[", "["),
        ("#{ x: a }", "#{", "#{"),
        ("`${a}`", "`", "`"),
        ("if a { b } else { c }", "", ""),
    ] {
        let (found, first) = if at.is_empty() { continue } else { tokens(text) };
        assert_eq!((&*found, &*first), (at, begins), "{text}");
    }
}

#[test]
fn statements_are_positioned_at_keywords_and_assignments_at_operators() {
    let unit = body("let x = a; x += b; for i in c { break; } while a { continue; } try { x } catch (e) { throw e; } return x;");
    let found: Vec<&str> = function(&unit).body.iter().map(|statement| token(&unit, statement.position())).collect();
    assert_eq!(found, ["let", "+=", "for", "while", "try", "return"]);
}

#[test]
fn function_bodies_have_the_positions_of_their_braces() {
    let unit = unit("/// About f.\nprivate fn f(a, b, c) { a }\nfn g() { |x| x }");
    let found = function(&unit);
    assert_eq!((token(&unit, found.head.start), token(&unit, found.head.end)), ("{", "}"));
    assert_eq!((found.private, found.typed, found.comments.as_slice()), (true, false, &["/// About f.".to_owned()][..]));
    assert_eq!(found.params, ["a", "b", "c"]);
    let names: Vec<&str> = unit.tree().named().map(Function::name).collect();
    assert_eq!((names, unit.tree().functions.len()), (vec!["f", "g"], 3));
}

#[test]
fn operators_are_calls_and_connectives_are_lists() {
    let unit = body("a + b");
    assert!(matches!(expr(&unit), Expr::Call(call, _) if call.operator && call.name == "+" && call.args.len() == 2));
    let unit = body("a in b");
    let Expr::Call(call, _) = expr(&unit) else { panic!("a call") };
    assert_eq!(
        (call.name.as_str(), call.args[0].plain_variable(), call.args[1].plain_variable()),
        ("contains", Some("b"), Some("a"))
    );
    let unit = body("f(a, b, c)");
    assert!(matches!(expr(&unit), Expr::Call(call, _) if !call.operator && call.name == "f"));
    for (text, sides) in [("a && b && c", 3), ("a || b || c", 3), ("a ?? b ?? c", 3), ("a && (b && c)", 3)] {
        let unit = body(text);
        let (Expr::And(found, _) | Expr::Or(found, _) | Expr::Coalesce(found, _)) = expr(&unit) else { panic!("{text}") };
        assert_eq!(found.len(), sides, "{text}");
    }
}

#[test]
fn nothing_is_optimised_away() {
    let unit = body("if false { a } let x = 1 + 2; [1, 2]");
    let [Stmt::If { .. }, Stmt::Var { value: Expr::Call(sum, _), .. }, Stmt::Expr(Expr::List(items, _))] =
        function(&unit).body.as_slice()
    else {
        panic!("{:?}", function(&unit).body)
    };
    assert_eq!((sum.name.as_str(), items.len()), ("+", 2));
}

#[test]
fn an_interpolated_string_has_its_parts() {
    let unit = body("`x ${a} y ${b}`");
    let Expr::Interpolated(parts, _) = expr(&unit) else { panic!("an interpolation") };
    let texts: Vec<&str> =
        parts.iter().filter_map(|part| if let Expr::Text(text, _) = part { Some(&**text) } else { None }).collect();
    assert_eq!(&texts[..2], ["x ", " y "]);
    let mut variables = 0;
    expr(&unit).each(&mut |node| variables += usize::from(matches!(node, Node::Expr(Expr::Variable(..)))));
    assert_eq!(variables, 2);
}

#[test]
fn a_closure_is_a_function_named_by_a_constant_or_a_curry() {
    let unit = body("|x| x");
    assert!(matches!(expr(&unit), Expr::Constant(ConstantExpr::Function(name), _) if name.starts_with("anon$")));
    let unit = body("|x| x + a");
    let Expr::Block(statements, _) = expr(&unit) else { panic!("{:?}", expr(&unit)) };
    let [Stmt::Share(_), Stmt::Expr(Expr::Call(curry, _))] = statements.as_slice() else { panic!("{statements:?}") };
    assert!(
        curry.name == "curry" && matches!(&curry.args[..], [Expr::Constant(ConstantExpr::Function(_), _), Expr::Variable(..)])
    );
    let closure = unit.tree().functions.iter().find(|function| function.head.is_closure()).expect("a closure");
    assert_eq!(closure.params, ["a", "x"], "what it captures comes first");
}

#[test]
fn switch_arms_are_in_source_order() {
    let unit = body("switch a { 1 | 2 => \"x\", 3 if b => \"y\", 4..6 => \"z\", _ => \"rest\" }");
    let Some(Stmt::Switch { arms, has_default: true, .. }) = function(&unit).body.last() else { panic!("a switch") };
    let text = |value: &Expr| match value {
        Expr::Block(statements, _) => match statements.as_slice() {
            [Stmt::Expr(Expr::Text(text, _))] => text.to_string(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    let values: Vec<String> = arms.iter().map(|arm| text(&arm.value)).collect();
    assert_eq!(values, ["x", "y", "z", "rest"]);
    let guarded: Vec<bool> = arms.iter().map(|arm| !matches!(arm.guard, Expr::Bool(true, at) if at.is_none())).collect();
    assert_eq!(guarded, [false, true, false, false]);
}

#[test]
fn a_loop_without_a_condition_is_a_while() {
    let unit = body("loop { break; }");
    assert!(matches!(function(&unit).body.last(), Some(Stmt::While { condition: Expr::Unit(_), .. })));
}

#[test]
fn a_module_is_the_namespace_of_its_names() {
    let unit = unit("const K = 1; fn f(a, b, c) { global::K }");
    let Expr::Variable(variable, _) = expr(&unit) else { panic!("a variable") };
    assert_eq!(
        (variable.name.as_str(), &variable.namespace[..], token(&unit, variable.start)),
        ("K", &["global".into()][..], "global")
    );
    assert!(matches!(&unit.tree().statements[..], [Stmt::Var { constant: true, .. }]));
}

/// Linking matches the bodies with the functions of the tree by index.
#[test]
fn rewritten_bodies_are_in_tree_order() {
    let unit = unit("fn b(x) { [x].map(|y| [y].map(|z| z + x)) }\nfn a() { |x| |y| x + y }\nfn b() { 1 }");
    let rewritten = rewrite(unit.ast(), &mut Strict::new("t.rhai", 0));
    let starts: Vec<Position> = unit.tree().functions.iter().map(|function| function.head.start).collect();
    let bodies: Vec<Position> = rewritten.bodies.iter().map(|body| body.position()).collect();
    assert_eq!(starts, bodies);
    let names = |tree: &SyntaxTree| tree.named().map(|function| function.name().to_owned()).collect::<Vec<_>>();
    assert_eq!(names(unit.tree()), ["b", "a", "b"]);
}

/// Replacing an expression preserves what is evaluated, and in which order.
#[test]
fn connectives_short_circuit() {
    use crate::testing::eval;
    for (text, want) in [
        ("false && [1][5] == 1", false),
        ("true || [1][5] == 1", true),
        ("(() ?? 1) == 1", true),
        ("(1 ?? [1][5]) == 1", true),
        ("if false { [1][5] == 1 } else { true }", true),
    ] {
        assert_eq!(eval(text).expect(text), serde_json::json!(want), "{text}");
    }
}

#[test]
fn match_is_an_identifier_and_the_body_keyword_is_not() {
    let engine = build_engine(&ScriptLimits::default(), [], |_| {});
    assert!(engine.compile("fn f(a) { a.match && a?.match }").is_ok());
    assert!(engine.compile(super::function_stub::BODY).is_err());
}
