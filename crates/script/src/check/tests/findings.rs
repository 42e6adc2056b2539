//! Every diagnostic at its token, and similar code without one.

use super::{analyse, analyse_with, finds, found, kinds, reads, silent, unit};
use crate::check::{CheckedParameter, Checker, no_modules};
use crate::testing::condition;
use crate::{Library, LibraryInputs};

#[test]
fn comparisons_of_different_types_are_reported() {
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
fn ordering_of_unordered_types_is_reported() {
    finds("artifact.hit > false", "compare-types", ">");
    finds("artifact.confidence >= ()", "compare-types", ">=");
    finds("artifact.refs < artifact.refs", "compare-types", "<");
}

#[test]
fn valid_or_uncertain_comparisons_are_accepted() {
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
fn comparison_errors_have_a_message_and_help() {
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
fn strings_are_compared_with_possible_values() {
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
fn unknown_fields_are_found_in_every_access() {
    assert_eq!(
        found("artifact.confidense >= 0.8"),
        [
            "rule/unknown-field [confidense] no field `confidense` on `artifact`; did you mean `artifact.confidence` instead of `artifact.confidense`?"
        ]
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
    finds("artifact.candidate_repos.first().nam", "unknown-field", "nam");
    finds("artifact.candidate_repos.order_by(|a, b| a.scor - b.score)[0].name", "unknown-field", "scor");
    finds("artifact.candidate_repos.zip(artifact.refs, |r, t| r.nam + t)", "unknown-field", "nam");
    finds("artifact.candidate_repos.to_array().get(0).nam", "unknown-field", "nam");
    finds("artifact.match && artifact.mach", "unknown-field", "mach");
    finds("state.lops.x", "unknown-field", "lops");
    finds("if artifact.hit { #{ to: \"x\", because: artifact.reasn } }", "unknown-field", "reasn");
    finds("switch state.node { \"a\" if artifact.ht => 1, _ => 2 }", "unknown-field", "ht");
    finds("try { artifact.labl } catch (e) { false }", "unknown-field", "labl");
    finds("`${artifact.labl}`", "unknown-field", "labl");
    finds("fn f(a, s, v) { a.labl }", "unknown-field", "labl");
    finds("for (r, i) in artifact.candidate_repos { while i > 0 { do { r.nam; } while true } }", "unknown-field", "nam");
}

#[test]
fn items_of_lists_have_fields_and_lists_do_not() {
    assert_eq!(
        found("artifact.candidate_repos.score > 1"),
        [
            "rule/unknown-field [score] `artifact.candidate_repos` is a list without a field `score`; its items have it: `[0].score`, or \
          `.any(|item| item.score ...)`"
        ]
    );
    silent("artifact.candidate_repos.len > 1 && !artifact.refs.is_empty");
}

#[test]
fn possible_fields_are_accepted() {
    silent("state.loops.anything_at_all + state.loops[\"other\"]");
    silent("artifact.anything.some.deep[3].thing");
    silent("let a = artifact; a = #{ other: 1 }; a.other");
    silent("let a = if artifact.hit { artifact } else { state }; a.node");
    silent("\"other\" in artifact && artifact.contains(\"more\") && get_or(artifact, \"third\", 1) == 1");
    silent("artifact.get(\"other\") == 1 && state.loops.get(\"x\") == 1");
    silent("let k = \"other\"; artifact[k]");
    silent("let m = #{ a: 1 }; m.b = 2; m.b");
}

#[test]
fn undeclared_vars_are_reported() {
    assert_eq!(
        found("artifact.confidence >= vars.recal_hit"),
        ["rule/unknown-var [recal_hit] unknown var `recal_hit`; did you mean `vars.recall_hit` instead of `vars.recal_hit`?"]
    );
}

#[test]
fn writes_to_inputs_are_reported() {
    assert_eq!(
        found("artifact.confidence = 3"),
        ["rule/writes-input [confidence] `artifact.confidence` is read-only; inputs cannot be changed: return the change, \
          or work on a copy"]
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
fn copies_and_local_values_may_be_written() {
    silent("let l = artifact.refs.filter(|r| r != \"x\"); l.push(\"y\"); l[0] = \"z\"; l");
    silent("let l = artifact.refs; l += [\"y\"]; l");
    silent("let out = []; for r in artifact.candidate_repos { out.push(r.name); } out");
    silent("let m = #{ a: artifact.best }; m.a = 1; m");
    silent("let a = artifact; a = #{}; a.x = 1; a");
    silent("let l = take(artifact.refs, 2); l.push(\"x\"); l");
    silent("let s = artifact.label; s += \"x\"; s");
}

#[test]
fn helpers_are_followed_to_the_error() {
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
fn conditions_are_checked_within_their_pipeline() {
    let library = Library::link(
        LibraryInputs { conditions: vec![condition("confidense < vars.recall_hit")], ..LibraryInputs::default() },
        None,
    );
    let library = library.unwrap();
    let unit = library.conditions().next().unwrap();
    let kinds = kinds();
    let [artifact, state, vars] = &kinds;
    let input = |name, kind| CheckedParameter { name, kind };
    let inputs = [input("artifact", artifact), input("state", state), input("vars", vars)];
    let analysis = Checker::new(unit, &no_modules).condition(&inputs);
    let shown: Vec<_> =
        analysis.diagnostics.iter().map(|diagnostic| (diagnostic.place().unwrap(), diagnostic.message.clone())).collect();
    assert_eq!(shown, [("p.yaml:1:12".to_owned(), "no field `confidense` on `artifact`".to_owned())]);
    let reads: Vec<_> = analysis.reads.iter().map(|read| (read.path.as_str(), read.source.slice(read.span))).collect();
    assert_eq!(reads, [("vars.recall_hit", "recall_hit")]);
}

#[test]
fn recursion_and_depth_are_bounded() {
    silent("fn g(a, n) { if n == 0 { return a.label; } g(a, n - 1) } fn f(artifact, state, vars) { g(artifact, 3) }");
    let deep = "fn g1(a) { g2(a) } fn g2(a) { g3(a) } fn g3(a) { g4(a) } fn g4(a) { a.labl } fn f(artifact, state, vars) { g1(artifact) }";
    silent(deep);
    assert_eq!(reads(deep), ["artifact"]);
}

#[test]
fn imported_functions_are_followed() {
    let library = unit("lib.rhai", "fn good(repo, least) { repo.scor >= least }");
    let modules = |path: &str| (path == "lib.rhai").then_some(&library);
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
fn cases_that_never_match_are_found() {
    finds("switch artifact.confidence { 1 => true, _ => false }", "compare-types", "1");
    finds("let x = switch artifact.confidence { 0.5 => 1, 1 if artifact.hit => 2, _ => 3 }; x == 1", "compare-types", "1");
    finds("switch artifact.confidence { \"high\" => true, _ => false }", "compare-types", "\"high\"");
    finds("switch state.steps { 1 | 2.0 => true, _ => false }", "compare-types", "2.0");
    finds("switch artifact.label { 'x' => true, _ => false }", "compare-types", "'x'");
    finds(
        "switch artifact.label { \"a\" => 1, 7 => { 2 } \"c\" | \"d\" if (artifact.hit) => 3, _ => 4 }; 1",
        "compare-types",
        "7",
    );
    finds("switch artifact.hit { true => 1, \"false\" => 2 }", "compare-types", "\"false\"");
    finds("switch artifact.refs { 1 => 1, _ => 2 }", "compare-types", "1");
    finds("switch artifact.decision { \"approve\" => 1, \"reasess\" => 2, _ => 3 }", "enum-value", "\"reasess\"");
    assert_eq!(
        found("switch artifact.confidence { 1 => true, _ => false }"),
        [
            "rule/compare-types [1] the case `1` never matches: `artifact.confidence` is a number; a number of an input is a float \
             and a switch compares exactly: write `1.0`, or use `if`"
        ]
    );
}

#[test]
fn cases_that_may_match_are_accepted() {
    silent("switch artifact.confidence { 0.5 | 1.0 => 1, 0..1 => 2, 1..=2 => 3, _ => 4 }");
    silent("switch state.steps { 1 | -2 | 0x10 => 1, 3 if artifact.hit => { 2 } 4 => #{ a: 1 }, 0..5 => [1], _ => 5 }");
    silent("switch artifact.label { \"a\" | \"b\" => 1, `c` => 2, \"\" => 3, _ => 4 }");
    silent("switch artifact.decision { \"approve\" | \"reassess\" => 1, \"\" => 2, _ => 3 }");
    silent("switch artifact.hit { true => 1, false => 2 }");
    silent("switch artifact.anything { 1 => 1, \"a\" => 2, 1.0 => 3, 'c' => 4, [1] => 5, () => 6 }");
    silent("switch artifact.confidence + 1 { 1 => 1, 2.0 => 2, _ => 3 }");
    silent("switch artifact.label[0] { 'a' => 1, _ => 2 }");
    silent("switch artifact.label { \"a\" => switch state.steps { 1 => 2, _ => 3 }, _ => if artifact.hit { 1 } else { 2 } }");
    silent("switch [1].map(|x| { x + 1 })[0] { 1 => 2, _ => 3 }");
}
