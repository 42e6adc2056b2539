//! Tests that observing a script does not change its meaning: the same results, the same errors at the same places, the same
//! limits.

use super::{Outline, Probes, Recorder, RecordingScope};
use crate::equivalence::{artifact, body};
use crate::testing::{find, line};
use crate::{FunctionRef, Library, LibraryInputs, ScriptLimits, View};
use asterisk_diag::Source;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use serde_json::{Value, json};
use std::path::Path;

/// The same scripts without probes, with some and with all.
fn three(scripts: &[Source], limits: &ScriptLimits) -> Option<[Library; 3]> {
    let link = |probes| {
        let scripts = scripts.to_vec();
        Library::link(LibraryInputs { scripts, limits: limits.clone(), probes, ..LibraryInputs::default() }, None)
    };
    let plain = link(Probes::None).ok()?;
    Some([plain, link(Probes::Decisions).expect("links"), link(Probes::All).expect("links")])
}

fn call(library: &Library, reference: &FunctionRef, args: &[Value]) -> Result<Value, String> {
    let function = library.function(reference, args.len()).expect("a function");
    function.call_json(args).map_err(|problem| {
        // A limit is noticed at an operation; its token differs between a statement and its expression.
        if problem.code == "script/limit" { format!("{}: {}", problem.code, problem.message) } else { line(&problem) }
    })
}

/// Calls a function of all three libraries, observed and not, and compares the results.
#[track_caller]
fn compare(libraries: &[Library; 3], reference: &FunctionRef, args: &[Value]) {
    let wanted = call(&libraries[0], reference, args);
    for library in &libraries[1..] {
        assert_eq!(call(library, reference, args), wanted, "{reference} unwatched");
        for keep in [RecordingScope::Counts, RecordingScope::Values] {
            let got = Recorder::new(keep).watch(|| call(library, reference, args));
            assert_eq!(got, wanted, "{reference} watched");
        }
    }
}

const TRICKY: &[&str] = &[
    "let l = [3, 1, 2]; push(l, 4); l.sort(); l.pop(); l",
    "let m = #{ a: [1, 2], b: #{ c: 1 } }; m.a[1] += 5; m.b.c *= 7; m.d = m.a.len(); m",
    "let x = 1; let add = |y| { x += y; x }; add.call(2); add.call(3); x",
    "let s = \"ab\"; s += 'c'; s.replace(\"b\", \"xx\"); s.len()",
    "let t = 0; for (v, i) in [5, 6, 7] { if v == 6 { continue; } t += v * i; } t",
    "let t = 0; let r = loop { t += 1; if t > 4 { break t * 10; } }; r",
    "let t = 0; do { t += 1; } while t < 3; t",
    "switch a.n { 1 => \"one\", 2..=3 if a.flag => \"some\", 3 => \"three\", _ => \"many\" }",
    "switch a.label { \"é\" => { let q = 2; if q > 1 { return 7; } 8 }, _ => 9 }",
    "let v = switch a.n { 3 => true, _ => false }; v && a.flag",
    "if a.nothing == () || a.nope { 1 } else { 2 }",
    "a.nothing?.foo ?? a.n",
    "try { a.nope } catch (e) { `${e}` }",
    "try { throw #{ code: 5 } } catch (e) { e.code + 1 }",
    "let f = |x| if x > 1 { return 5 } else { 6 }; [f.call(1), f.call(2)]",
    "fact(7)",
    "a.list.filter(|x| x > 1).map(|x| x * a.n).reduce(|s, x| s + x, 0)",
    "[3, 1, 2].map(|x| [x]).len() + a.list.index_of(2)",
    "a.n > 1 && a.x < 2 && !a.flag",
    "a.n && true",
    "\"x\" > 1",
    "let q = a.n; q.foo()",
    "[1][a.n]",
    "a.list = 5",
    "a.list.push(1)",
    "1 / (a.n - 3)",
    "let x = #{}; x[a.label] = 1; x",
    "`${a.n} ${if a.flag { \"yes\" } else { \"no\" }} ${a.list}`",
    "let g = twice; 1",
    "Fn(\"twice\").call(a.n)",
    "let z = { let y = 2; y * 2 }; z",
    "{ }",
    "let l = []; for i in 0..5 { l += i; } l",
    "let n = 0; while true { n += 1; if n >= 10 { break; } } n",
    "let b = a.x; b = b + 1.0; -b",
    "(a.n in a.list) && !(9 in a.list)",
    "let k = global::K; k + global::K",
    "let o = [[1, [2]], #{ z: [3] }]; o[0][1][0] + o[1].z[0]",
    "let x = 5; x.twice2()",
    "empty(); 1",
];

fn text(body: &str) -> String {
    format!(
        "const K = 2;\nfn twice(x) {{ x * 2 }}\nfn twice2() {{ this * 2 }}\nfn empty() {{ }}\nfn fact(n) {{ if n < 2 {{ return 1; }} n * fact(n - 1) }}\n\
         fn f(a) {{\n  let v = 1; let w = 0.5;\n  {body}\n}}"
    )
}

#[test]
fn tricky_scripts_are_unaffected() {
    let f = FunctionRef::parse("t.rhai#f").expect("a reference");
    let mut linked = 0;
    for body in TRICKY {
        let source = [Source::new("t.rhai", text(body))];
        let Some(libraries) = three(&source, &ScriptLimits::default()) else { continue };
        compare(&libraries, &f, &[artifact()]);
        linked += 1;
    }
    assert!(linked > 30, "{linked}");
}

#[test]
fn observing_does_not_spend_the_budget() {
    let f = FunctionRef::parse("t.rhai#f").expect("a reference");
    for body in [TRICKY[0], TRICKY[4], TRICKY[8], TRICKY[15], TRICKY[16], TRICKY[27]] {
        for operations in 0..180 {
            let limits = ScriptLimits { operations, ..ScriptLimits::default() };
            let Some(libraries) = three(&[Source::new("t.rhai", text(body))], &limits) else { continue };
            compare(&libraries, &f, &[artifact()]);
        }
    }
}

/// The recorder's memory is not charged to the script: it keeps far more here than the script may hold.
#[test]
fn watching_takes_none_of_the_memory() {
    let f = FunctionRef::parse("t.rhai#f").expect("a reference");
    let body = "let m = #{}; for i in 0..400 { if i % 7 > 5 || m.len() > 3 { v += [i, [i, i]].len() } m[`${i % 50}`] = `${i}`; let t = `a text of ${i}`; } v";
    for (memory, fits) in [(1 << 10, false), (32 << 10, true)] {
        let limits = ScriptLimits { memory, ..ScriptLimits::default() };
        let libraries = three(&[Source::new("t.rhai", text(body))], &limits).expect("links");
        compare(&libraries, &f, &[artifact()]);
        assert_eq!(call(&libraries[0], &f, &[artifact()]).is_ok(), fits, "{memory}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_scripts_mean_the_same(body in body(), operations in prop_oneof![Just(5_000_000_u64), 0..400_u64]) {
        let limits = ScriptLimits { operations, ..ScriptLimits::default() };
        if let Some(libraries) = three(&[Source::new("t.rhai", text(&body))], &limits) {
            compare(&libraries, &FunctionRef::parse("t.rhai#f").expect("a reference"), &[artifact()]);
        }
    }
}

/// A possible argument, with the fields that the bundled scripts read.
fn argument() -> BoxedStrategy<Value> {
    let fields = ["match", "confidence", "decision", "failure", "prior", "needs", "name", "symptom_category", "loops", "history"];
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-1_i64..4).prop_map(Value::from),
        (0_u8..20).prop_map(|n| json!(f64::from(n) / 20.0)),
        prop_oneof![Just(""), Just("approve"), Just("infra"), Just("a b c\nError: x")].prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 30, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(fields.to_vec()), inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
    .boxed()
}

/// The bundled scripts.
fn bundled(dir: &Path, below: &str, out: &mut Vec<Source>) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = format!("{below}{}", path.file_name().expect("a name").to_string_lossy());
        if path.is_dir() {
            bundled(&path, &format!("{name}/"), out);
        } else if name.ends_with(".rhai") && !name.ends_with("_test.rhai") {
            out.push(Source::new(name, std::fs::read_to_string(&path).expect("a text")));
        }
    }
}

#[test]
fn bundled_scripts_mean_the_same() {
    let mut sources = Vec::new();
    bundled(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts"), "", &mut sources);
    let libraries = three(&sources, &ScriptLimits::default()).expect("they link");
    let functions: Vec<(FunctionRef, usize)> = libraries[0]
        .files()
        .flat_map(|file| {
            file.functions().map(|function| {
                (FunctionRef { file: file.path().into(), function: function.name.clone() }, function.params.len())
            })
        })
        .collect();
    assert!(functions.len() > 50);
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let arguments = prop::collection::vec(argument(), 8);
    for (reference, arity) in &functions {
        for _ in 0..12 {
            let values = arguments.new_tree(&mut runner).expect("a value").current();
            compare(&libraries, reference, &values[..*arity]);
        }
    }
}

#[test]
fn evaluations_are_counted_and_recorded() {
    let source = Source::new(
        "t.rhai",
        "fn f(a, t) {\n  if a.score < t || !a.known { return #{ no: 1 }; }\n  let best = a.list.filter(|x| x > t);\n  best.len() > 2\n}",
    );
    let library = Library::link(LibraryInputs { scripts: vec![source], probes: Probes::All, ..LibraryInputs::default() }, None)
        .expect("links");
    let mut recorder = Recorder::new(RecordingScope::Values);
    let f = find(&library, "t.rhai#f", 2);
    let a = View::plain(&json!({"score": 0.6, "known": true, "list": [0.2, 0.9]}), "a");
    drop(recorder.watch(|| f.call(&[a, View::from(0.5)])).expect("fine"));
    let [evaluation] = recorder.evaluations() else { panic!("one call") };
    let outline = Outline::new(library.probed());
    let lines: Vec<String> = outline.lines(evaluation).into_iter().map(|line| line.format(80)).collect();
    assert_eq!(
        lines,
        [
            "if a.score < t || !a.known  = false",
            "  a.score < t  = false (missed by 0.1)",
            "    a.score  = 0.6",
            "    t  = 0.5",
            "  !a.known  = false",
            "    a.known  = true",
            "a.list.filter(|x| x > t)  = [0.9]",
            "return best.len() > 2  = false (missed by 1)",
            "  best.len()  = 1",
        ]
        .map(str::to_owned)
    );
    let (_, table) = library.probed().next().expect("one");
    let hits: Vec<_> = (0..).zip(table.nodes()).map(|(at, node)| (node.role, recorder.hits(table, at).total())).collect();
    assert!(hits.len() > 8, "{hits:?}");
}
