//! Attempts to escape: writing to inputs, reaching what a pure function must not use, changing what other scripts see; and
//! related pitfalls of the language.

use super::View;
use super::testing::*;
use asterisk_base::model::Kind;
use serde_json::json;

#[test]
fn what_a_pure_function_must_not_have_is_out_of_reach() {
    for (body, what) in [
        ("eval(\"1\")", "eval"),
        ("print(1)", "print"),
        ("debug(1)", "debug"),
        ("sleep(1)", "sleep"),
        ("timestamp()", "timestamp"),
        ("exit(1)", "exit"),
        ("let f = |x| x; f.curry(1)", "curry"),
        ("let f = |x| x; curry(f, 1)", "curry"),
        ("let print = 1; print", "print"),
        ("artifact.list.eval()", "eval"),
    ] {
        let message = failure(body);
        assert!(
            message.starts_with(&format!("script/forbidden @ t.rhai:{what}: `{what}` is not available to scripts | ")),
            "{body}: {message}"
        );
    }
    for body in [
        "Fn(\"sleep\").call(1)",
        "Fn(\"sleep\").call(1.5)",
        "Fn(\"timestamp\").call()",
        "Fn(\"exit\").call()",
        "Fn(\"exit\").call(1)",
        "call(Fn(\"sleep\"), 1)",
    ] {
        assert!(failure(body).starts_with("script/forbidden @ t.rhai:call: `"), "{body}: {}", failure(body));
    }
    for body in [
        "Fn(\"eval\").call(\"1\")",
        "Fn(\"print\").call(1)",
        "Fn(\"curry\").call(1)",
        "call(Fn(\"eval\"), \"1\")",
        "Fn(\"call\").call(1)",
        "Fn(\"Fn\").call(\"f\")",
    ] {
        assert!(failure(body).starts_with("script/"), "{body}: {}", failure(body));
    }
    for body in
        ["open(\"/etc/passwd\")", "read(\"x\")", "http_get(\"x\")", "env(\"HOME\")", "rand()", "now()", "import_file(\"x\")"]
    {
        assert!(failure(body).starts_with("script/unknown-function @ t.rhai:"), "{body}");
    }
}

#[test]
fn internal_keywords_cannot_be_written() {
    assert!(failure("rewritten_body__").starts_with("script/syntax @ t.rhai:rewritten_body__:"));
    for word in ["\u{2039}compare\u{203a}", "\u{2039}body\u{203a}"] {
        assert!(failure(&format!("{word} 1 2")).starts_with("script/syntax @ t.rhai:"), "{word}");
    }
    // Naming the generated function of a closure does not work either.
    assert!(failure("let g = |x| x; Fn(\"anon$1234\").call(1)").starts_with("script/"));
}

#[test]
fn inputs_cannot_be_written_in_any_way() {
    for (body, label) in [
        ("artifact = 5", "artifact"),
        ("artifact += 5", "artifact"),
        ("artifact.confidence = 1.0", "confidence"),
        ("artifact.confidence += 1.0", "confidence"),
        ("artifact.nested.a.b = 1", "b"),
        ("artifact.nested.a = #{}", "a"),
        ("artifact.list[0] = 1", "list[0]"),
        ("artifact[\"zz\"] = 1", "artifact[\"zz\"]"),
        ("artifact.repos[0].name = \"x\"", "name"),
        ("artifact.list += [1]", "list"),
        ("artifact.list.push(1)", "push"),
        ("artifact.list.pop()", "pop"),
        ("artifact.list.insert(0, 1)", "insert"),
        ("artifact.list.clear()", "clear"),
        ("artifact.list.sort()", "sort"),
        ("artifact.list.reverse()", "reverse"),
        ("artifact.list.retain(|x| false)", "retain"),
        ("artifact.list.drain(|x| true)", "drain"),
        ("artifact.remove(\"n\")", "remove"),
        ("artifact.set(\"n\", 1)", "set"),
        ("artifact.nested.mixin(#{a: 1})", "mixin"),
        ("push(artifact.list, 1)", "push"),
        ("let l = artifact.list; l.push(1)", "push"),
        ("let l = artifact.list; l[0] = 1", "l[0]"),
        ("let a = artifact; a.n = 1", "n"),
        ("artifact.repos.for_each(|r| r.score = 1.0)", "score"),
        ("artifact.repos.for_each(|| this.score = 1.0)", "score"),
        ("for r in artifact.repos { r.score = 2.0; }", "score"),
    ] {
        let message = failure(body);
        assert!(message.starts_with(&format!("rule/read-only @ t.rhai:{label}")), "{body}: {message}");
    }
    assert!(eval("take(artifact); artifact.match").is_ok(), "this takes a copy");
}

#[test]
fn a_call_does_not_change_its_inputs() {
    let view = View::of(&artifact(), &Kind::Any, "artifact");
    for body in [
        "let l = artifact.list; l += [1]; l",
        "let c = artifact.to_map(); c.n = 9; c",
        "let a = artifact.list.to_array(); a.push(1); a",
        "let x = artifact.n; x += 1; x",
    ] {
        let f = function(&format!("fn f(artifact) {{ {body} }}"), 1);
        assert!(f.call(std::slice::from_ref(&view)).is_ok(), "{body}");
        assert_eq!(view.json(), artifact(), "{body}");
    }
}

#[test]
fn constants_cannot_be_written_and_do_not_panic() {
    for (body, code) in [
        ("const O = #{a: 1}; O.a = 2; O", "script/constant"),
        ("const O = #{a: #{b: 1}}; O.a.b = 2; O", "script/constant"),
        ("const O = [1]; O[0] = 2; O", "script/constant"),
        ("const O = [1]; O.push(2); O", "script/constant"),
        ("const O = [2, 1]; O.sort(|a, b| a - b); O", "script/constant"),
        ("const O = 1; O += 1; O", "script/"),
        ("const O = #{a: 1}; let f = || O.a = 2; f.call(); O", "script/"),
    ] {
        assert!(failure(body).starts_with(code), "{body}: {}", failure(body));
    }
    let file = "const O = #{a: 1}; const L = [1];\nfn f() { global::O.a = 2; global::O } fn g() { global::L.push(2); global::L } fn h() { global::O.a }";
    match try_link(&[("t.rhai", file)]) {
        Err(problems) => assert!(problems.iter().all(|problem| problem.code.starts_with("script/")), "{problems}"),
        Ok(library) => {
            for name in ["f", "g"] {
                let _outcome = find(&library, &format!("t.rhai#{name}"), 0).call(&[]);
            }
            assert_eq!(find(&library, "t.rhai#h", 0).call_json(&[]).expect("fine"), json!(1));
        }
    }
}

#[test]
fn many_threads_read_the_same_constants() {
    let library = link(&[("t.rhai", "const LIMITS = #{a: [1, 2]};\nfn f(n) { global::LIMITS.a.len() + n }")]);
    let f = find(&library, "t.rhai#f", 1);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 0..500 {
                    assert_eq!(f.call_json(&[json!(n)]).expect("fine"), json!(n + 2));
                }
            });
        }
    });
}

#[test]
fn a_script_cannot_change_what_others_see() {
    let library = link(&[
        (
            "evil.rhai",
            "fn len(x) { 99 } fn filter(x, y) { [] } fn to_string(x) { \"evil\" } fn f(artifact) { len(artifact.list) }",
        ),
        (
            "good.rhai",
            "import \"evil\" as e;\nfn f(artifact) { [artifact.list.len(), len(artifact.list), artifact.list.filter(|x| true).len(), `${artifact.n}`] }",
        ),
    ]);
    assert_eq!(find(&library, "good.rhai#f", 1).call_json(&[artifact()]).expect("fine"), json!([2, 2, 2, "3"]));
    assert_eq!(find(&library, "evil.rhai#f", 1).call_json(&[artifact()]).expect("fine"), json!(99), "in its own file it may");
}

#[test]
fn function_pointers_reach_only_functions_of_the_file() {
    let library = link(&[
        ("lib.rhai", "private fn secret() { 1 } fn open() { secret() }"),
        (
            "t.rhai",
            "import \"lib\" as l;\nfn f() { Fn(\"secret\").call() } fn h() { l::open() } fn i() { Fn(\"l::secret\").call() } fn j() { Fn(\"nope\").call() }",
        ),
    ]);
    let call = |name: &str| find(&library, &format!("t.rhai#{name}"), 0).call_json(&[]);
    assert_eq!(call("h").expect("public"), json!(1));
    for name in ["f", "i", "j"] {
        let message = line(&call(name).expect_err(name));
        assert!(
            message.starts_with("script/unknown-function @ t.rhai:") || message.starts_with("script/syntax @ t.rhai:"),
            "{name}: {message}"
        );
    }
}

#[test]
fn an_error_in_a_comparison_for_sorting_is_an_error() {
    for method in ["sort", "sort_by", "order", "order_by", "dedup"] {
        let message = failure(&format!("let a = [1, 2, 3]; a.{method}(|x, y| {{ throw \"no\" }}); a"));
        assert_eq!(message, format!("script/throw @ t.rhai:throw, t.rhai:{method}: the script threw: no"));
        let message = failure(&format!("let a = [1, 2, 3]; a.{method}(|x, y| x > \"a\"); a"));
        assert!(message.starts_with("rule/compare-types @ t.rhai:x > \"a\""), "{message}");
    }
}

#[test]
fn inconsistent_comparisons_are_harmless() {
    let body = "let n = 0; let a = []; for i in 0..500 { a.push(i); } a.sort(|x, y| { n += 1; if n % 3 == 0 { 1 } else { -1 } }); a.len()";
    assert_eq!(eval(body).expect("fine"), json!(500));
}

#[test]
fn only_data_can_be_returned() {
    for (body, what) in [
        ("|x| x", "the value is a function"),
        ("[1, |x| x]", "the value at `$[1]` is a function"),
        ("1.0 / 0.0", "the value is `inf`"),
        ("#{a: #{b: [0.0 / 0.0]}}", "the value at `$.a.b[0]` is `NaN`"),
        ("1..5", "the value is a range"),
        ("blob(3)", "the value is"),
    ] {
        assert!(failure(body).contains(what), "{body}: {}", failure(body));
    }
}

/// Rhai clones, prints and drops nested values recursively.
#[test]
fn the_nesting_of_values_is_limited() {
    for body in [
        "let a = []; loop { a = [a]; }",
        "let a = #{}; loop { a = #{a: a}; }",
        "let a = []; loop { let b = []; b.push(a); a = b; }",
        "let a = [0]; loop { a.push(a); a.shift(); }",
        "let a = [0]; loop { a[0] = a; }",
        "let a = #{}; loop { a.x = a; }",
        "let a = #{}; loop { a[\"x\"] = a; }",
        "let a = #{}; loop { a.set(\"x\", a); }",
        "let a = [0]; loop { a.insert(0, a); a.truncate(1); }",
        "let a = [0]; loop { push(a, a); a.shift(); }",
        "let m = #{x: []}; let a = #{}; loop { m.x += a; a += m; m.x = m.x.extract(0, 1); }",
        "let x = []; x.pad(9000, 0); x.reduce(|acc, x| [1].map(|| acc))",
        "let x = []; x.pad(9000, 0); x.reduce(|acc, x| { let t = [acc]; t })",
        "let a = [0]; loop { a = [1].map(|| a); }",
        "let a = [0]; loop { let b = [0]; b.for_each(|| this = a); a = b; }",
        "let a = [0]; let f = || a; loop { a = [f.call()]; }",
        "let a = []; for i in 0..100 { a = [a]; } throw a",
    ] {
        let message = failure(body);
        assert!(
            message.starts_with("script/limit @ t.rhai:") && message.contains("nested more than 64 deep"),
            "{body}: {message}"
        );
    }
    assert_eq!(eval("let a = []; for i in 0..60 { a = [#{a: 1}, 2, a]; } a.len()").expect("fine"), json!(3));
    assert!(failure("parse_json(\"[\".pad(5000, \"[\"))").starts_with("script/"));
}

#[test]
fn a_variable_that_its_own_method_is_called_on_can_be_captured() {
    for (body, want) in [
        ("artifact.repos.filter(|r| r.score > artifact.confidence).len()", json!(1)),
        ("let t = artifact.repos; t.filter(|r| r.score > t[0].score).len()", json!(1)),
        ("let xs = [1, 2, 3]; xs.filter(|x| x > xs[0])", json!([2, 3])),
        ("let s = \"a,b\"; s.split(\",\").filter(|p| p != s)", json!(["a", "b"])),
        ("for r in artifact.repos { if artifact.repos.any(|q| q.score < r.score) { return r.name; } }", json!("b")),
        ("artifact.repos.map(|r| artifact.repos.filter(|q| q.score <= r.score).len())", json!([1, 2])),
    ] {
        assert_eq!(eval(body).unwrap_or_else(|problem| panic!("{body}: {}", line(&problem))), want, "{body}");
    }
    assert!(failure("let xs = [1, 2]; xs.push(3); xs.filter(|x| x > xs[0])").starts_with("script/data-race @ "));
}

#[test]
fn captured_variables_that_change_are_shared_as_in_rhai() {
    for (body, want) in [
        ("let n = 0; [1, 2].for_each(|x| n += x); n", json!(3)),
        ("let x = 1; let f = || { x += 1; x }; f.call(); f.call(); x", json!(3)),
        ("let s = \"a\"; let f = || s; s.make_upper(); f.call()", json!("A")),
        ("let a = [1]; let f = || a.len(); a.push(2); f.call()", json!(2)),
        ("let m = #{a: 1}; let f = || m.a; m.a = 2; f.call()", json!(2)),
        ("let a = [[1]]; let f = || a[0].len(); a[0].push(2); f.call()", json!(2)),
    ] {
        assert_eq!(eval(body).unwrap_or_else(|problem| panic!("{body}: {}", line(&problem))), want, "{body}");
    }
}
