//! Unusual, deep and missing scripts.

use super::{kinds, tokens, try_unit, unit};
use crate::check::{CheckedParameter, Checker, no_modules};
use std::collections::BTreeMap;

#[test]
fn a_missing_function_is_not_reported() {
    let script = unit("r.rhai", "fn g() { 1 }");
    let analysis = crate::check::function(&script, "f", &[], &no_modules);
    assert!(analysis.diagnostics.is_empty() && analysis.reads.is_empty());
}

#[test]
fn work_is_bounded() {
    let mut body = String::from("artifact.labl");
    for depth in 0..12 {
        body = format!("for v{depth} in artifact.refs {{ {body}; {body} }}");
        if body.len() > 20_000 {
            break;
        }
    }
    let started = std::time::Instant::now();
    assert!(!tokens(&body).is_empty());
    assert!(started.elapsed().as_secs() < 180);
}

/// Fragments that random scripts are composed of: every kind of statement and expression.
const PIECES: &[&str] = &[
    "artifact",
    "artifact.label",
    "artifact.nope.deep[0]?.x",
    "vars.recall_hit",
    "state.loops[\"x\"]",
    "this.x",
    "x",
    "()",
    "[1, \"a\", artifact]",
    "#{ a: artifact.hit, b: x }",
    "|y| y.score > x",
    "|| this.name",
    "f(artifact, state, vars)",
    "g(x)",
    "m::g(x)",
    "global::K",
    "x.g()",
    "x.filter(|r| r.scor > 1).map(|r, i| r.name)",
    "x in artifact.refs",
    "\"k\" !in artifact",
    "`a${x}b${artifact.label}`",
    "'c'",
    "1..=3",
    "-x ** 2 % 3",
    "x ?? artifact.best",
    "{ let x = artifact; x }",
    "if x { artifact } else { 1 }",
    "switch x { 1 | 2 => artifact.hit, 3..5 if x => 2, _ => x }",
    "loop { break x; }",
    "Fn(\"g\").call(artifact)",
    "call(x, 1)",
    "type_of(x)",
    "max_by(artifact.candidate_repos, x)",
    "pluck(x)",
    "unique()",
];

const STATEMENTS: &[&str] = &[
    "let x = E; S",
    "const x = E; S",
    "x = E; S",
    "x += E; S",
    "x.y.z = E; S",
    "x[E] = E; S",
    "artifact.label = E; S",
    "this = E; S",
    "if E { S } else if E { S }",
    "while E { S break; }",
    "do { S continue; } until E;",
    "for x in E { S }",
    "for (x, i) in E { S }",
    "try { S throw E; } catch (x) { S }",
    "switch E { 1 => { S } _ => E }",
    "{ S } S",
    "return E;",
    "import \"m\" as m; S",
    "E; S",
    "E == E; S",
    "E < E && E || !E; S",
    ";",
];

proptest::proptest! {
    #[test]
    fn no_script_panics(choices in proptest::collection::vec(0_usize..1000, 1..60)) {
        let mut choices = choices.into_iter();
        let mut text = String::from("let x = 1; S");
        while let Some(choice) = choices.next() {
            text = text.replacen('S', STATEMENTS[choice % STATEMENTS.len()], 1);
            while text.contains('E') {
                text = text.replacen('E', PIECES[choices.next().unwrap_or(5) % PIECES.len()], 1);
            }
        }
        let text = format!(
            "import \"m\" as m; const K = 1; fn g(x) {{ f(x, x, x) }} fn g() {{ this.x }}\nfn f(artifact, state, vars) {{ {} }}",
            text.replace('S', "")
        );
        if let Some(script) = try_unit("r.rhai", &text) {
            let modules = |_: &str| Some(&script);
            let kinds = kinds();
            let inputs: Vec<_> = ["artifact", "state", "vars"].iter().zip(&kinds).map(|(name, kind)| CheckedParameter { name, kind }).collect();
            let analysis = Checker::new(&script, &modules).function("f", &inputs);
            for diagnostic in &analysis.diagnostics {
                let label = diagnostic.primary().unwrap();
                proptest::prop_assert!(!label.span.is_empty());
            }
        }
    }
}

#[test]
fn random_scripts_mostly_compile() {
    let mut compiled = BTreeMap::new();
    for statement in STATEMENTS {
        for piece in PIECES {
            let text = format!("fn f(artifact, state, vars) {{ let x = 1; {} }}", statement.replace('E', piece).replace('S', ""));
            *compiled.entry(try_unit("r.rhai", &text).is_some()).or_insert(0) += 1;
        }
    }
    assert!(compiled[&true] > 9 * compiled.get(&false).unwrap_or(&0), "{compiled:?}");
}
