//! What is found where, what is not, and what is read.
#![allow(clippy::unwrap_used)]

use super::{Analysis, Checker, Code, Input, Modules, no_modules};
use crate::diag::{Source, Span};
use crate::model::{Field, Kind, Shape};
use rhai::{AST, Engine, OptimizationLevel, Position};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A script with a tokeniser that is just good enough for what stands in these tests.
struct Script {
    ast: AST,
    source: Source,
}

impl Script {
    fn new(name: &str, text: &str) -> Self {
        let mut engine = Engine::new();
        engine.set_optimization_level(OptimizationLevel::None).set_max_expr_depths(0, 0);
        let ast = engine.compile(text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
        Self { ast, source: Source::new(name, text) }
    }
}

impl Code for Script {
    fn ast(&self) -> &AST {
        &self.ast
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn span(&self, at: Position) -> Span {
        let start = self.source.offset(at.line().unwrap_or(1), at.position().unwrap_or(1));
        let rest = &self.source.text()[start..];
        let length = match rest.chars().next() {
            Some('"') => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            Some(ch) if ch.is_alphanumeric() || ch == '_' => {
                let number = ch.is_ascii_digit();
                rest.find(|ch: char| !(ch.is_alphanumeric() || ch == '_' || number && ch == '.')).unwrap_or(rest.len())
            }
            _ => rest.find(|ch: char| !"<>=!+-*/&|?".contains(ch)).unwrap_or(rest.len()).max(1),
        };
        Span::new(start, (start + length).min(self.source.text().len()))
    }
}

fn shape(name: &str, fields: &[(&str, Kind)]) -> Kind {
    let field = |(name, kind): &(&str, Kind)| Field { name: (*name).to_owned(), kind: kind.clone(), required: false };
    Kind::Object(Arc::new(Shape { name: name.to_owned(), fields: fields.iter().map(field).collect() }))
}

fn text() -> Kind {
    Kind::Text { one_of: vec![] }
}

fn number() -> Kind {
    Kind::Number { min: None, max: None }
}

fn list(item: Kind) -> Kind {
    Kind::List(Box::new(item))
}

fn kinds() -> [Kind; 3] {
    let repo = shape("repo", &[("name", text()), ("score", number()), ("tags", list(text()))]);
    let decision = Kind::Text { one_of: vec!["approve".into(), "reassess".into(), "overturn".into()] };
    let artifact = shape(
        "recall artifact",
        &[
            ("match", Kind::Bool),
            ("hit", Kind::Bool),
            ("confidence", number()),
            ("label", text()),
            ("decision", decision.clone()),
            ("decisions", list(decision)),
            ("refs", list(text())),
            ("candidate_repos", list(repo.clone())),
            ("best", repo),
            ("anything", Kind::Any),
        ],
    );
    let loops = Kind::Map(Box::new(Kind::Int { min: None, max: None }));
    let state = shape("state", &[("node", text()), ("loops", loops), ("steps", Kind::Int { min: None, max: None })]);
    let vars = shape("vars", &[("recall_hit", number()), ("max_loops", Kind::Int { min: None, max: None }), ("mode", text())]);
    [artifact, state, vars]
}

fn analyse_with(text: &str, kinds: &[Kind; 3], modules: &Modules<'_>) -> Analysis {
    let script = Script::new("r.rhai", text);
    let inputs: Vec<_> = ["artifact", "state", "vars"].iter().zip(kinds).map(|(name, kind)| Input { name, kind }).collect();
    // The modules outlive the script only in the type's eyes; within a call, both live.
    let lookup = |path: &str| modules(path);
    Checker::new(&script, &lookup).function("f", &inputs)
}

/// The analysis of `fn f(artifact, state, vars) { body }`, or of the `f` of a whole script.
fn analyse(body: &str) -> Analysis {
    let whole = if body.contains("fn f(") { body.to_owned() } else { format!("fn f(artifact, state, vars) {{ {body} }}") };
    analyse_with(&whole, &kinds(), &no_modules)
}

/// Every finding as `code [token] message; help`.
fn found(body: &str) -> Vec<String> {
    let show = |diagnostic: &crate::diag::Diagnostic| {
        let label = diagnostic.primary().unwrap();
        let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!("; {help}"));
        format!("{} [{}] {}{help}", diagnostic.code, label.source.slice(label.span), diagnostic.message)
    };
    analyse(body).diagnostics.iter().map(show).collect()
}

/// The code and the token of every finding.
fn tokens(body: &str) -> Vec<(String, String)> {
    let show = |diagnostic: &crate::diag::Diagnostic| {
        let label = diagnostic.primary().unwrap();
        (diagnostic.code.to_string(), label.source.slice(label.span).to_owned())
    };
    analyse(body).diagnostics.iter().map(show).collect()
}

fn reads(body: &str) -> Vec<String> {
    analyse(body).reads.into_iter().map(|read| read.path).collect()
}

#[track_caller]
fn finds(body: &str, code: &str, token: &str) {
    assert_eq!(tokens(body), [(format!("rule/{code}"), token.to_owned())], "{body}\n{:#?}", found(body));
}

#[track_caller]
fn silent(body: &str) {
    assert_eq!(found(body), Vec::<String>::new(), "{body}");
}

#[test]
fn different_types_are_not_compared() {
    finds(r#"artifact.confidence >= "0.8""#, "compare-types", ">=");
    finds("artifact.label == 1", "compare-types", "==");
    finds("artifact.hit == 1", "compare-types", "==");
    finds("artifact.hit == \"true\"", "compare-types", "==");
    finds("artifact.refs != \"x\"", "compare-types", "!=");
    finds("artifact.refs > 2", "compare-types", ">");
    finds("artifact.best == \"x\"", "compare-types", "==");
    finds("\"a\" < vars.recall_hit", "compare-types", "<");
    finds("1 == \"a\"", "compare-types", "==");
    finds("state.loops.investigate >= vars.mode", "compare-types", ">=");
    finds("artifact.refs.len() == \"2\"", "compare-types", "==");
    finds("artifact.label.contains(\"x\") > 1", "compare-types", ">");
    finds("words(artifact.label)[0] == 1", "compare-types", "==");
    finds("regex_is_match(artifact.label, \"x\") == \"yes\"", "compare-types", "==");
    finds("artifact.confidence + 1 == \"2\"", "compare-types", "==");
    finds("`${artifact.confidence}` > 1", "compare-types", ">");
    finds("(artifact.hit || false) > 1", "compare-types", ">");
    finds("1 in artifact.refs", "compare-types", "in");
    finds("artifact.label in [\"a\", 2]", "compare-types", "in");
    finds("let x = if state.steps > 1 { artifact.confidence } else { 2 }; x == \"a\"", "compare-types", "==");
    finds("(artifact.confidence ?? 0.5) == \"a\"", "compare-types", "==");
}

#[test]
fn what_has_no_order_is_not_ordered() {
    finds("artifact.hit > false", "compare-types", ">");
    finds("artifact.confidence >= ()", "compare-types", ">=");
    finds("artifact.refs < artifact.refs", "compare-types", "<");
}

#[test]
fn comparisons_that_are_right_or_not_certain_are_silent() {
    silent("artifact.confidence >= 1 && artifact.confidence >= 0.8 && state.steps < vars.recall_hit");
    silent("artifact.confidence == () || () != artifact.best || artifact.anything == 1");
    silent("artifact.label == 'x' || artifact.label < \"b\" || artifact.hit == true");
    silent("artifact.anything > \"x\" && artifact.anything.deep[0] > 1");
    silent("let x = artifact.confidence; x = \"a\"; x == \"a\"");
    silent("let x = 1; if artifact.hit { x = \"a\"; } x == \"a\"");
    silent("let x = if artifact.hit { 1 } else { \"a\" }; x == \"a\"");
    silent("let x = if artifact.hit { 1 }; x == \"a\"");
    silent("let x = switch state.steps { 1 => 2, _ => \"b\" }; x == 1");
    silent("let x = 1; let set = || x = \"b\"; set.call(); x == \"b\"");
    silent("let x = 1; take(x); x == \"b\"");
    silent("let g = |y| { if y { return \"a\"; } 1 }; g.call(true) == \"a\"");
    silent("regex_find(artifact.label, \"x\") == 1 || mean([1]) == \"x\"");
    silent("mystery(artifact.label) == 1");
    silent("artifact.refs.find(|r| r == \"x\") == ()");
    silent("fn f(artifact, state, vars) { g(artifact.hit) == 1 } fn g(x) { if x { return 1; } \"a\" }");
    silent("fn len(x) { \"long\" } fn f(artifact, state, vars) { len(artifact.refs) == \"long\" }");
    silent("const T = 0.5; fn f(artifact, state, vars) { artifact.confidence > global::T }");
    silent("let artifact = #{ confidence: \"high\" }; artifact.confidence == \"high\" && artifact.other == 1");
    silent("artifact.label + 1 == \"a1\"");
}

#[test]
fn a_constant_of_the_file_has_a_type() {
    finds("const T = \"x\"; fn f(artifact, state, vars) { artifact.confidence > global::T }", "compare-types", ">");
}

#[test]
fn comparisons_are_explained() {
    assert_eq!(
        found("artifact.confidence >= \"0.8\""),
        [
            "rule/compare-types [>=] `artifact.confidence` is a number and cannot be compared with a string; write the number without \
          quotes: `0.8`"
        ]
    );
    assert_eq!(
        found("1 == artifact.hit"),
        [
            "rule/compare-types [==] `artifact.hit` is a bool and cannot be compared with a number; a bool is a condition by itself: \
          `artifact.hit` or `!artifact.hit`"
        ]
    );
    let analysis = analyse("artifact.best.score == \"high\"");
    let labels = &analysis.diagnostics.iter().next().unwrap().labels;
    let shown: Vec<_> = labels.iter().map(|label| (label.source.slice(label.span), label.text.as_str())).collect();
    assert_eq!(shown[1..], [("score", "a number"), ("\"high\"", "a string")]);
}

#[test]
fn texts_are_compared_with_what_they_can_be() {
    assert_eq!(
        found("artifact.decision == \"aprove\""),
        ["rule/enum-value [\"aprove\"] `artifact.decision` is never \"aprove\"; did you mean `approve`?"]
    );
    finds("\"zz\" != artifact.decision", "enum-value", "\"zz\"");
    finds("artifact.decision in [\"approve\", \"overtun\"]", "enum-value", "\"overtun\"");
    finds("let d = artifact.decision; d == \"no\"", "enum-value", "\"no\"");
    finds("artifact.decisions.contains(\"no\")", "enum-value", "\"no\"");
    finds("\"no\" in artifact.decisions", "enum-value", "\"no\"");
    finds("artifact.decisions[0] == \"no\"", "enum-value", "\"no\"");
    silent(
        "artifact.decision == \"approve\" || artifact.decision == \"\" || artifact.decision < \"b\" || artifact.label == \"no\"",
    );
}

#[test]
fn fields_that_there_are_not_are_found_wherever_they_are_read() {
    assert_eq!(
        found("artifact.confidense >= 0.8"),
        ["rule/unknown-field [confidense] `artifact` has no field `confidense`; did you mean `confidence`?"]
    );
    finds("let a = artifact; a.confidense", "unknown-field", "confidense");
    finds("artifact[\"labl\"] == \"x\"", "unknown-field", "\"labl\"");
    finds("artifact.best.scor", "unknown-field", "scor");
    finds("artifact?.labl", "unknown-field", "labl");
    finds("for r in artifact.candidate_repos { if r.scor > 1 { return true; } }", "unknown-field", "scor");
    finds("artifact.candidate_repos[0].nam", "unknown-field", "nam");
    finds("artifact.candidate_repos.any(|r| r.scor > 1)", "unknown-field", "scor");
    finds("let t = 1; artifact.candidate_repos.any(|r| r.score > t && artifact.labl == \"\")", "unknown-field", "labl");
    finds("artifact.candidate_repos.filter(|r| r.score > 1).any(|r| r.scor > 1)", "unknown-field", "scor");
    finds("artifact.candidate_repos.filter(|r| r.score > 1)[0].nam", "unknown-field", "nam");
    finds("artifact.candidate_repos.find(|r| r.score > 1).nam", "unknown-field", "nam");
    finds("artifact.candidate_repos.filter(|| this.scor > 1)", "unknown-field", "scor");
    finds("artifact.candidate_repos.reduce(|sum, r| sum + r.scor)", "unknown-field", "scor");
    finds("let good = |r| r.scor > 1; artifact.candidate_repos.any(good)", "unknown-field", "scor");
    finds("max_by(artifact.candidate_repos, \"scor\")", "unknown-field", "\"scor\"");
    finds("max_by(artifact.candidate_repos, \"score\").nam", "unknown-field", "nam");
    finds("artifact.candidate_repos.unique()[0].nam", "unknown-field", "nam");
    finds("state.lops.x", "unknown-field", "lops");
    finds("if artifact.hit { #{ to: \"x\", because: artifact.reasn } }", "unknown-field", "reasn");
    finds("switch state.node { \"a\" if artifact.ht => 1, _ => 2 }", "unknown-field", "ht");
    finds("try { artifact.labl } catch (e) { false }", "unknown-field", "labl");
    finds("`${artifact.labl}`", "unknown-field", "labl");
    finds("fn f(a, s, v) { a.labl }", "unknown-field", "labl");
    finds("for (r, i) in artifact.candidate_repos { while i > 0 { do { r.nam; } while true } }", "unknown-field", "nam");
}

#[test]
fn lists_have_no_fields_but_their_items_do() {
    assert_eq!(
        found("artifact.candidate_repos.score > 1"),
        [
            "rule/unknown-field [score] `artifact.candidate_repos` is a list and has no field `score`; its items have it: `[0].score`, or \
          `.any(|item| item.score ...)`"
        ]
    );
    silent("artifact.candidate_repos.len > 1 && !artifact.refs.is_empty");
}

#[test]
fn fields_that_may_be_there_are_silent() {
    silent("state.loops.anything_at_all + state.loops[\"other\"]");
    silent("artifact.anything.some.deep[3].thing");
    silent("let a = artifact; a = #{ other: 1 }; a.other");
    silent("let a = if artifact.hit { artifact } else { state }; a.node");
    silent("\"other\" in artifact && artifact.contains(\"more\") && get_or(artifact, \"third\", 1) == 1");
    silent("let k = \"other\"; artifact[k]");
    silent("let m = #{ a: 1 }; m.b = 2; m.b");
}

#[test]
fn vars_are_declared() {
    assert_eq!(
        found("artifact.confidence >= vars.recal_hit"),
        ["rule/unknown-var [recal_hit] there is no var `recal_hit`; did you mean `recall_hit`?"]
    );
}

#[test]
fn inputs_are_not_written() {
    assert_eq!(
        found("artifact.confidence = 3"),
        ["rule/writes-input [confidence] `artifact.confidence` is read-only; inputs are never changed: return what should be \
          different, or work on a value of your own"]
    );
    finds("state.loops.x += 1", "writes-input", "x");
    finds("let a = artifact; a.best.name = \"x\"", "writes-input", "name");
    finds("artifact[\"label\"] = \"x\"", "writes-input", "\"label\"");
    finds("artifact.refs[0] = \"x\"", "writes-input", "0");
    finds("artifact.refs.push(\"x\")", "writes-input", "push");
    finds("let l = artifact.refs; l.sort()", "writes-input", "sort");
    finds("push(artifact.refs, \"x\")", "writes-input", "push");
    finds("for r in artifact.candidate_repos { r.score = 1; }", "writes-input", "score");
    finds("artifact.candidate_repos.for_each(|r| r.score = 1)", "writes-input", "score");
    finds("artifact.candidate_repos.for_each(|| this.score = 1)", "writes-input", "score");
    finds("state.loops.remove(\"x\")", "writes-input", "remove");
}

#[test]
fn copies_and_own_values_may_be_written() {
    silent("let l = artifact.refs.filter(|r| r != \"x\"); l.push(\"y\"); l[0] = \"z\"; l");
    silent("let l = artifact.refs; l += [\"y\"]; l");
    silent("let out = []; for r in artifact.candidate_repos { out.push(r.name); } out");
    silent("let m = #{ a: artifact.best }; m.a = 1; m");
    silent("let a = artifact; a = #{}; a.x = 1; a");
    silent("let l = take(artifact.refs, 2); l.push(\"x\"); l");
    silent("let s = artifact.label; s += \"x\"; s");
}

#[test]
fn helpers_are_followed_to_where_they_go_wrong() {
    let analysis = analyse("fn g(a, t) { a.scor > t }\nfn f(artifact, state, vars) { g(artifact.best, vars.recall_hit) }");
    let diagnostic = analysis.diagnostics.iter().next().unwrap();
    let labels: Vec<_> = diagnostic.labels.iter().map(|label| (label.source.slice(label.span), label.text.as_str())).collect();
    assert_eq!(labels, [("scor", "not a field of the repo"), ("g", "`g` is called here")]);
    finds(
        "fn g(t) { artifact_of(t).labl } fn artifact_of(t) { t } fn f(artifact, state, vars) { g(artifact) }",
        "unknown-field",
        "labl",
    );
    finds("fn worse() { this.scor > 1 } fn f(artifact, state, vars) { artifact.best.worse() }", "unknown-field", "scor");
    finds("fn bad(r) { r.scor > 1 } fn f(artifact, state, vars) { artifact.candidate_repos.any(bad) }", "unknown-field", "scor");
    finds(
        "fn bad(r) { r.scor > 1 } fn f(artifact, state, vars) { artifact.candidate_repos.any(Fn(\"bad\")) }",
        "unknown-field",
        "scor",
    );
    finds("fn bad(r) { r.scor > 1 } fn f(artifact, state, vars) { call(Fn(\"bad\"), artifact.best) }", "unknown-field", "scor");
    finds("fn g(x) { x } fn f(artifact, state, vars) { g(artifact.hit) > 1 }", "compare-types", ">");
}

#[test]
fn recursion_ends_and_depth_is_bounded() {
    silent("fn g(a, n) { if n == 0 { return a.label; } g(a, n - 1) } fn f(artifact, state, vars) { g(artifact, 3) }");
    let deep = "fn g1(a) { g2(a) } fn g2(a) { g3(a) } fn g3(a) { g4(a) } fn g4(a) { a.labl } fn f(artifact, state, vars) { g1(artifact) }";
    silent(deep);
    assert_eq!(reads(deep), ["artifact"]);
}

#[test]
fn imported_functions_are_followed() {
    let library = Script::new("lib.rhai", "fn good(repo, least) { repo.scor >= least }");
    let modules = |path: &str| (path == "lib").then_some(&library as &dyn Code);
    let text =
        "import \"lib\" as lib;\nfn f(artifact, state, vars) { lib::good(artifact.best, vars.recall_hit) && other::x(artifact) }";
    let analysis = analyse_with(text, &kinds(), &modules);
    let diagnostic = analysis.diagnostics.iter().next().unwrap();
    let labels: Vec<_> = diagnostic.labels.iter().map(|label| (label.source.name(), label.source.slice(label.span))).collect();
    assert_eq!(labels, [("lib.rhai", "scor"), ("r.rhai", "good")]);
    let reads: Vec<_> = analysis.reads.iter().map(|read| (read.source.name(), read.path.as_str())).collect();
    assert_eq!(reads, [("r.rhai", "artifact.best"), ("r.rhai", "vars.recall_hit"), ("r.rhai", "artifact")]);
    assert!(analyse_with(text, &kinds(), &no_modules).diagnostics.is_empty());
}

#[test]
fn reads_are_listed_once_in_order_with_their_first_place() {
    let body = "artifact.confidence >= vars.recall_hit && artifact.confidence < 1 && state.loops.investigate < vars.max_loops";
    assert_eq!(reads(body), ["artifact.confidence", "vars.recall_hit", "state.loops.investigate", "vars.max_loops"]);
    let analysis = analyse(body);
    let first = &analysis.reads[0];
    assert_eq!(first.source.slice(first.span), "confidence");
    assert_eq!(first.source.line_column(first.span.start), (1, 40));
}

#[test]
fn reads_go_through_names_loops_closures_and_helpers() {
    for (body, expected) in [
        ("let a = artifact; a[\"label\"]", "artifact.label"),
        ("artifact.candidate_repos.any(|r| r.score > vars.recall_hit)", {
            "artifact.candidate_repos artifact.candidate_repos[].score vars.recall_hit"
        }),
        ("for r in artifact.candidate_repos { r.name }", "artifact.candidate_repos artifact.candidate_repos[].name"),
        ("artifact.candidate_repos[0].name", "artifact.candidate_repos[].name"),
        ("artifact.best.tags.len() > 0", "artifact.best.tags"),
        ("artifact.refs.len > 0", "artifact.refs"),
        ("let r = (); for c in artifact.candidate_repos { if r != () { r.name } r = c; }", {
            "artifact.candidate_repos artifact.candidate_repos[].name"
        }),
        (
            "let x = if artifact.hit { artifact.best } else { state }; x.name",
            "artifact.hit artifact.best artifact.best.name state.name",
        ),
        ("\"x\" in artifact && artifact.anything.contains(\"y\")", "artifact.x artifact.anything"),
        ("get_or(artifact, \"label\", 1)", "artifact.label"),
        ("max_by(artifact.candidate_repos, \"score\").name", {
            "artifact.candidate_repos artifact.candidate_repos[].score artifact.candidate_repos[].name"
        }),
        ("mystery(artifact, state.node)", "artifact state.node"),
        ("#{ to: \"x\", seen: artifact }", "artifact"),
        ("artifact", "artifact"),
        ("return artifact;", "artifact"),
        ("artifact == ()", "artifact"),
        ("let f = || artifact.label; mystery(f)", "artifact.label"),
        ("let f = |a| a.label; f.call(artifact)", "artifact.label"),
        ("[|a| artifact.label]", "artifact.label"),
        ("throw artifact.label", "artifact.label"),
        ("let i = state.steps; artifact[`x${i}`]", "state.steps artifact[]"),
        ("artifact.labl; artifact.label", "artifact.label"),
        ("true", ""),
    ] {
        assert_eq!(reads(body).join(" "), expected, "{body}");
    }
}

#[test]
fn without_a_shape_everything_is_read_and_nothing_is_wrong() {
    let kinds = [Kind::Any, Kind::Any, Kind::Any];
    let text =
        "fn f(artifact, state, vars) { artifact.repos.any(|r| r.score > vars.t) && artifact.x.y == \"a\" && artifact[0] == 1 }";
    let analysis = analyse_with(text, &kinds, &no_modules);
    assert!(analysis.diagnostics.is_empty(), "{}", analysis.diagnostics);
    let reads: Vec<_> = analysis.reads.iter().map(|read| read.path.as_str()).collect();
    assert_eq!(reads, ["artifact.repos", "artifact.repos[].score", "vars.t", "artifact.x.y", "artifact[]"]);
}

#[test]
fn a_function_that_there_is_not_has_no_findings() {
    let script = Script::new("r.rhai", "fn g() { 1 }");
    let analysis = super::function(&script, "f", &[], &no_modules);
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
    assert!(started.elapsed().as_secs() < 20);
}

/// Pieces that scripts are put together from: every kind of statement and expression.
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
    "Fn(\"g\").curry(x).call(artifact)",
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
        let mut engine = Engine::new();
        engine.set_optimization_level(OptimizationLevel::None);
        if let Ok(ast) = engine.compile(&text) {
            let script = Script { ast, source: Source::new("r.rhai", text) };
            let modules = |_: &str| Some(&script as &dyn Code);
            let kinds = kinds();
            let inputs: Vec<_> = ["artifact", "state", "vars"].iter().zip(&kinds).map(|(name, kind)| Input { name, kind }).collect();
            let analysis = Checker::new(&script, &modules).function("f", &inputs);
            for diagnostic in &analysis.diagnostics {
                let label = diagnostic.primary().unwrap();
                proptest::prop_assert!(!label.span.is_empty());
            }
        }
    }
}

#[test]
fn the_odd_scripts_mostly_compile() {
    let mut compiled = BTreeMap::new();
    for statement in STATEMENTS {
        for piece in PIECES {
            let text = format!("fn f(artifact, state, vars) {{ let x = 1; {} }}", statement.replace('E', piece).replace('S', ""));
            *compiled.entry(Engine::new().compile(&text).is_ok()).or_insert(0) += 1;
        }
    }
    assert!(compiled[&true] > 9 * compiled.get(&false).unwrap_or(&0), "{compiled:?}");
}
