//! Tests of the lexer and the parser.

use super::corpus::scripts;
use super::{SyntaxKind as K, SyntaxNode, parse, parse_expression, parse_file, tokens};
use proptest::prelude::*;
use std::time::Instant;

/// The tree without white space, as an S-expression.
fn shape(node: &SyntaxNode) -> String {
    let parts: Vec<String> = node
        .children_with_tokens()
        .filter(|part| !part.kind().is_trivia())
        .map(|part| match part {
            rowan::NodeOrToken::Node(node) => shape(&node),
            rowan::NodeOrToken::Token(token) => token.text().to_owned(),
        })
        .collect();
    format!("({:?}{}{})", node.kind(), if parts.is_empty() { "" } else { " " }, parts.join(" "))
}

/// The shape of an expression.
fn expression(text: &str) -> String {
    let parsed = parse_expression(text);
    assert_eq!(parsed.errors(), [], "{text}");
    let node = parsed.syntax();
    check(text, &node);
    let shape = shape(&node);
    let inner = shape.strip_prefix("(EXPRESSION ").and_then(|shape| shape.strip_suffix(')')).unwrap_or(&shape).to_owned();
    inner.strip_prefix("(EXPR_STMT ").and_then(|shape| shape.strip_suffix(')')).unwrap_or(&inner).to_owned()
}

fn check(text: &str, node: &SyntaxNode) {
    assert_eq!(node.text().to_string(), text);
}

/// Asserts what holds for every text.
fn holds_for_any(text: &str) {
    let parsed = parse_file(text);
    let node = parsed.syntax();
    assert_eq!(node.text().to_string(), text);
    let wrong = node.descendants().any(|node| node.kind() == K::ERROR);
    assert_eq!(wrong, !parsed.errors().is_empty(), "{text:?}: {:?}", parsed.errors());
    check(text, &parse_expression(text).syntax());
}

fn functions(text: &str) -> Vec<String> {
    let names = parse(text).children().filter(|node| node.kind() == K::FN).collect::<Vec<_>>();
    names
        .iter()
        .map(|function| {
            function.children().find(|child| child.kind() == K::NAME).map_or_else(String::new, |name| name.text().to_string())
        })
        .collect()
}

#[test]
fn all_scripts_parse_without_errors() {
    for (path, text) in scripts() {
        let parsed = parse_file(&text);
        assert_eq!(parsed.errors(), [], "{}", path.display());
        holds_for_any(&text);
    }
}

#[test]
fn every_prefix_of_a_script_is_kept() {
    for (_, text) in scripts() {
        // All prefixes of all scripts would take minutes: each script contributes some, at different places.
        for at in (text.len() % 89..text.len()).step_by(997).filter(|at| text.is_char_boundary(*at)) {
            holds_for_any(&text[..at]);
        }
    }
}

#[test]
fn operators_bind_as_in_rhai() {
    for (text, expected) in [
        ("a || b && c == d", "(BINARY (NAME_REF a) || (BINARY (NAME_REF b) && (BINARY (NAME_REF c) == (NAME_REF d))))"),
        ("1 - 2 - 3", "(BINARY (BINARY (LITERAL 1) - (LITERAL 2)) - (LITERAL 3))"),
        ("2 ** 3 ** 2", "(BINARY (LITERAL 2) ** (BINARY (LITERAL 3) ** (LITERAL 2)))"),
        ("-1.abs()", "(METHOD_CALL (LITERAL -1) . (NAME_REF abs) (ARG_LIST ( )))"),
        ("- 1.abs()", "(UNARY - (METHOD_CALL (LITERAL 1) . (NAME_REF abs) (ARG_LIST ( ))))"),
        ("a -1", "(BINARY (NAME_REF a) - (LITERAL 1))"),
        ("!a.b", "(UNARY ! (FIELD (NAME_REF a) . (NAME_REF b)))"),
        ("a !in b", "(BINARY (NAME_REF a) !in (NAME_REF b))"),
        ("!index", "(UNARY ! (NAME_REF index))"),
        ("0..n + 1", "(RANGE (LITERAL 0) .. (BINARY (NAME_REF n) + (LITERAL 1)))"),
        ("x[1..]", "(INDEX (NAME_REF x) [ (RANGE (LITERAL 1) ..) ])"),
        ("x[..=3]", "(INDEX (NAME_REF x) [ (RANGE ..= (LITERAL 3)) ])"),
        ("1.max(2)", "(METHOD_CALL (LITERAL 1) . (NAME_REF max) (ARG_LIST ( (LITERAL 2) )))"),
        ("1..2", "(RANGE (LITERAL 1) .. (LITERAL 2))"),
        ("a?.b ?? c?[0]", "(BINARY (FIELD (NAME_REF a) ?. (NAME_REF b)) ?? (INDEX (NAME_REF c) ?[ (LITERAL 0) ]))"),
        ("a ?? return", "(BINARY (NAME_REF a) ?? (RETURN return))"),
        ("lib::f(1)", "(CALL (PATH (NAME_REF lib) :: (NAME_REF f)) (ARG_LIST ( (LITERAL 1) )))"),
        ("a.type_of() == ()", "(BINARY (METHOD_CALL (NAME_REF a) . (NAME_REF type_of) (ARG_LIST ( ))) == (LITERAL ( )))"),
        (
            "|x, y| x.match",
            "(CLOSURE (PARAM_LIST | (PARAM (NAME x)) , (PARAM (NAME y)) |) (EXPR_STMT (FIELD (NAME_REF x) . (NAME_REF match))))",
        ),
        ("|| { }", "(CLOSURE (PARAM_LIST ||) (BLOCK { }))"),
        ("f!(1,)", "(CALL (NAME_REF f) ! (ARG_LIST ( (LITERAL 1) , )))"),
        (
            "#{ a: 1, \"b c\": [], }",
            "(MAP #{ (MAP_ENTRY (NAME a) : (LITERAL 1)) , (MAP_ENTRY (LITERAL \"b c\") : (ARRAY [ ])) , })",
        ),
        (
            "`a ${b + `c ${d}`} \\${e} `` f`",
            "(TEMPLATE ` a  (INTERPOLATION ${ (EXPR_STMT (BINARY (NAME_REF b) + (TEMPLATE ` c  (INTERPOLATION ${ (EXPR_STMT (NAME_REF d)) }) `))) })  \\${e} `` f `)",
        ),
        (
            "switch x { 1 | 2 if y => 3, _ => { } }",
            "(SWITCH switch (NAME_REF x) (SWITCH_ARM_LIST { (SWITCH_ARM (LITERAL 1) | (LITERAL 2) if (NAME_REF y) => (EXPR_STMT (LITERAL 3))) , (SWITCH_ARM _ => (BLOCK { })) }))",
        ),
        (
            "let x = if a { 1 } else { 2 };",
            "(LET let (NAME x) = (IF if (NAME_REF a) (BLOCK { (EXPR_STMT (LITERAL 1)) }) else (BLOCK { (EXPR_STMT (LITERAL 2)) })) ;)",
        ),
        ("x.y[0] += 1", "(ASSIGN (INDEX (FIELD (NAME_REF x) . (NAME_REF y)) [ (LITERAL 0) ]) += (LITERAL 1))"),
        ("for (x, i) in y { }", "(FOR for ( (NAME x) , (NAME i) ) in (NAME_REF y) (BLOCK { }))"),
        ("do { } until x", "(DO do (BLOCK { }) until (NAME_REF x))"),
        ("try { } catch (e) { throw e; }", "(TRY try (BLOCK { }) catch ( (NAME e) ) (BLOCK { (THROW throw (NAME_REF e) ;) }))"),
    ] {
        assert_eq!(expression(text), expected, "{text}");
    }
}

#[test]
fn doc_comments_belong_to_their_function() {
    let node = parse("//! File.\n\n// Note.\n\n/// Doc.\nprivate fn f() {}\n\n/// Other.\n// why\nfn g() {}\n");
    let functions: Vec<String> = node.children().map(|function| function.text().to_string()).collect();
    assert_eq!(functions, ["/// Doc.\nprivate fn f() {}", "/// Other.\n// why\nfn g() {}"]);
    assert_eq!(parse_file("/// Nothing.\nlet x = 1;").errors().len(), 1);
    assert_eq!(parse_file("fn f() {\n    /// Nothing.\n    1\n}").errors().len(), 1);
}

#[test]
fn tokens_are_those_of_rhai() {
    for (text, kinds) in [
        ("1_000 0xff 1.0e5 1e5 1.", vec![K::INT, K::INT, K::FLOAT, K::FLOAT, K::INT, K::DOT]),
        ("1.;", vec![K::FLOAT, K::SEMICOLON]),
        ("#\"a\"b\"# ##\"a\"#\"##", vec![K::STRING, K::STRING]),
        ("'\\'' '\\x41' \"a\"\"b\" \"\\u0041\"", vec![K::CHAR, K::CHAR, K::STRING, K::STRING]),
        ("\"a\\\n   b\"", vec![K::STRING]),
        (
            "/* a /* b */ c */ /** d */ /*** e */ //// f",
            vec![K::BLOCK_COMMENT, K::DOC_COMMENT, K::BLOCK_COMMENT, K::LINE_COMMENT],
        ),
        ("a<-1", vec![K::IDENT, K::UNKNOWN, K::INT]),
    ] {
        let found: Vec<_> = tokens(text).into_iter().map(|token| token.kind).filter(|kind| *kind != K::WHITESPACE).collect();
        assert_eq!(found, kinds, "{text}");
    }
    for text in ["\"a", "'ab'", "''", "\"\\q\"", "0x", "__", "1e+", "#\"a", "`a", "`a ${b", "$", "é"] {
        assert!(!parse_file(text).errors().is_empty(), "{text}");
        holds_for_any(text);
    }
}

#[test]
fn recovery_is_local() {
    for broken in [
        "params.",
        "params.x.",
        "foo(",
        "foo(1, ",
        "foo(a, #{ b: ",
        "let x = ",
        "let x =",
        "let",
        "if x {",
        "if x",
        "if",
        "for x in y {",
        "for x",
        "while",
        "switch x {",
        "switch x { 1 =>",
        "switch x { 1 => foo(, _ =>",
        "return #{",
        "let x = [1, ",
        "let s = \"abc",
        "let s = `abc",
        "let s = `abc ${",
        "let s = `abc ${foo(",
        "lib::",
        "x.map(|y| ",
        "x.map(|y, ",
        "x.map(|y| { let z = ",
        "x[",
        "x +",
        "!",
        "try {",
        "export",
        "}",
        ")",
        "let let let",
        "#",
        "$$$",
        "x = ",
        "x.if",
        "import",
        "import \"a\" as",
    ] {
        let text = format!(
            "fn a() {{\n    1\n}}\n\n/// Doc.\nfn b(params) {{\n    let y = 1;\n    {broken}\n}}\n\n/// Doc.\nfn c(x) {{ x }}\n\nprivate fn d() {{ }}\n"
        );
        holds_for_any(&text);
        assert_eq!(functions(&text), ["a", "b", "c", "d"], "{broken}: {:#?}", parse(&text));
        assert!(!parse_file(&text).errors().is_empty(), "{broken}");
        assert!(parse_file(&text).errors().len() < 6, "{broken}: {:#?}", parse_file(&text).errors());
    }
    let open = "fn a() {\n    if x {\n        foo();\n}\n\n/// Doc.\nfn b() { bar(); }\nfn c() {}\n";
    assert_eq!(functions(open), ["a", "b", "c"]);
    let signature = "fn a(\n\nfn b(x {\n    1\n}\n\nfn\n\nfn c() {}\n";
    assert_eq!(functions(signature), ["a", "b", "", "c"]);
}

#[test]
fn nesting_is_bounded() {
    holds_for_any(&"(".repeat(100_000));
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("#{a:", "}"),
        ("f(", ")"),
        ("!", ""),
        ("-", ""),
        ("- ", ""),
        ("|x|", ""),
        ("if a {", "}"),
        ("if a {} else ", ""),
        ("`${", "}`"),
        ("a[", "]"),
        ("a.", ""),
        ("a::", ""),
        ("a[0]", ""),
        ("a[0][1].b()", ""),
        ("a + ", ""),
        ("a ** ", ""),
        ("a || b && c == ", ""),
        ("a ?? return ", ""),
        ("..", ""),
        ("a..", ""),
        ("switch a { 1 => ", "}"),
        ("x = ", ""),
        ("return ", ""),
        ("let x = ", ""),
        ("try {", "} catch {}"),
        ("fn f(", ")"),
        ("for a in ", ""),
        ("while ", ""),
        ("do ", ""),
        ("`", ""),
        ("/*", "*/"),
        ("\"", ""),
        ("#\"", ""),
    ] {
        let (count, started) = (10_000, Instant::now());
        holds_for_any(&open.repeat(count));
        holds_for_any(&format!("{}1{}", open.repeat(count), close.repeat(count)));
        holds_for_any(&format!("fn a() {{ {} }}\nfn b() {{}}", open.repeat(count)));
        let took = started.elapsed().as_secs_f64();
        assert!(took < 30.0, "{open}: {took} s");
    }
}

/// Pieces of code, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "fn ", "f", "(", ")", "{", "}", "[", "]", "#{", "a", "b.c", ":", "::", ",", ";", "=", "=>", "==", "|", "||", "&&", "!",
        "-", "1", "1.5", "..", "..=", "\"s\"", "`", "${", "'c'", "let ", "const ", "if ", "else ", "switch ", "_", "for ", "in ",
        "while ", "loop ", "do ", "until ", "try ", "catch ", "return ", "throw ", "break", "continue", "import ", "export ",
        "as ", "private ", "this", "?.", "?[", "??", "**", "+=", " ", "\n", "// c\n", "/* c */", "/// d\n", "//! d\n", "#\"r\"#",
        "\"", "'", "#", "$", "\\", "é", "type_of", "call", "new", "true", "()", "!in ", "/*", "\r\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_kept(text in ".{0,80}") {
        holds_for_any(&text);
    }

    #[test]
    fn any_tokens_are_kept(text in pieces()) {
        holds_for_any(&text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_edit_of_a_script_is_kept(file in 0_usize..1000, from in 0.0..1.0, length in 0_usize..40, put in pieces()) {
        thread_local! { static SCRIPTS: Vec<String> = scripts().into_iter().map(|(_, text)| text).collect(); }
        SCRIPTS.with(|scripts| {
            let mut text = scripts[file % scripts.len()].clone();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "a place in a short text")]
            let mut start = (from * text.len() as f64) as usize;
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, &put);
            holds_for_any(&text);
        });
    }
}
