//! Attacks on the host, and pitfalls found while building it. Each test runs one; each must end in a diagnostic.

use super::ScriptLimits;
use super::testing::*;
use asterisk_base::memory;
use serde_json::json;
use std::time::{Duration, Instant};

/// Limits that end a test quickly.
fn tight() -> ScriptLimits {
    ScriptLimits { operations: 50_000, time: Duration::from_secs(60), ..ScriptLimits::default() }
}

/// The failure of a body under tight limits, in one line.
#[track_caller]
fn stopped(body: &str) -> String {
    let text = format!("fn f(artifact) {{ {body} }}");
    let library = try_link_with(&[("t.rhai", &text)], tight()).unwrap_or_else(|problems| panic!("{problems}"));
    match find(&library, "t.rhai#f", 1).call_json(&[artifact()]) {
        Err(problem) => line(&problem),
        Ok(value) => panic!("`{body}` returned {value}"),
    }
}

#[test]
fn endless_loops_end() {
    for body in [
        "loop {}",
        "while true {}",
        "do {} while true",
        "for i in 0..9223372036854775807 {}",
        "artifact.list.filter(|x| { loop {} })",
        "artifact.list.to_array().sort(|x, y| { loop {} })",
        "let a = [3, 1, 2]; a.sort(|x, y| { loop {} }); a",
        "let a = [3, 1, 2]; a.dedup(|x, y| { loop {} }); a",
        "artifact.list.reduce(|a, b| { loop {} })",
        "try { loop {} } catch { 1 }",
        "try { artifact.list.for_each(|x| { loop {} }) } catch { 1 }",
        "loop { try { artifact.list.for_each(|x| { loop {} }) } catch { } }",
        "let f = || { loop {} }; f.call()",
        "Fn(\"f\").call(artifact)",
        "loop { artifact.list.map(|x| x) }",
    ] {
        let message = stopped(body);
        assert!(message.starts_with("script/limit @ ") || message.starts_with("script/deadline @ "), "{body}: {message}");
    }
}

#[test]
fn operations_of_closures_are_charged_to_the_call() {
    let body = "let n = 0; loop { [1, 2, 3].for_each(|x| { for i in 0..1000 {} }); n += 1; if n > 100 { return n; } }";
    let message = stopped(body);
    assert!(
        message.starts_with("script/limit @ t.rhai:")
            && message.contains("for_each: the script used more than 50000 operations | "),
        "{message}"
    );
}

#[test]
fn a_slow_call_is_stopped_by_the_clock() {
    let limits = ScriptLimits { operations: u64::MAX, time: Duration::from_millis(50), ..ScriptLimits::default() };
    let library = try_link_with(&[("t.rhai", "fn f() {\n  loop { let a = 1; }\n}")], limits).expect("links");
    let start = Instant::now();
    let problem = find(&library, "t.rhai#f", 0).call(&[]).expect_err("endless");
    assert!(start.elapsed() < Duration::from_secs(60));
    assert_eq!((&*problem.code, problem.message.as_str()), ("script/deadline", "the script took longer than 0.05 s"));
    assert_eq!(problem.primary().map(|label| label.source.line_column(label.span.start).0), Some(2));
}

#[test]
fn what_grows_without_end_is_stopped() {
    for body in [
        "let s = \"x\"; loop { s += s; }",
        "let s = \"x\"; loop { s = `${s}${s}`; }",
        "let a = [\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"]; loop { a += a; }",
        "let a = []; loop { a.push(1); }",
        "let a = [0]; loop { a = [a, a]; }",
        "let m = #{}; let i = 0; loop { m[`k${i}`] = i; i += 1; }",
        "let m = #{a: 1}; loop { m = #{a: m, b: m}; }",
        "\"x\".pad(1000000000, \"y\")",
        "let a = [1]; a.pad(1000000000, 0); a",
        "blob(1000000000000)",
        "let b = blob(10); b.pad(1000000000000, 0); b",
        "\"x\" * 1000000000",
        "let f = |x| x; loop { let g = f; f = |x| g.call(x); }",
        "let f = |x| x; loop { let g = f; let h = f; f = |x| g.call(x) + h.call(x); }",
        "let f = |x| x; loop { let g = [f, f]; f = |x| g[0].call(x); }",
        "let f = |x| x; loop { let g = #{a: f, b: f}; f = |x| g.a.call(x); }",
        "let f = [|x| x]; loop { let g = [|| f]; let h = f; f = [|| g, || h]; }",
    ] {
        let message = stopped(body);
        let known = ["script/limit @", "script/deadline @", "script/unknown-function @"];
        assert!(known.iter().any(|code| message.starts_with(code)), "{body}: {message}");
    }
    assert!(
        failure("let a = []; loop { a.push(1); }").starts_with("script/limit @ t.rhai:push: a list of more than 10000 items")
    );
    assert!(stopped("let s = \"x\"; loop { s += s; }").contains("more than 1048576 bytes"));
}

#[test]
fn the_number_of_variables_is_limited() {
    let body = (0..300).map(|at| format!("let v{at} = {at};")).collect::<Vec<_>>().concat();
    let message = failure(&body);
    assert!(message.starts_with("script/limit @ t.rhai:") && message.contains("more than 128 variables"), "{message}");
}

#[test]
fn chains_of_closures_are_dropped_without_recursion() {
    assert_eq!(eval("let f = |x| x; for i in 0..9000 { let g = f; f = |x| g.call(x); } 1").expect("fine"), json!(1));
    assert_eq!(
        eval("let s = [0]; for i in 0..5000 { let g = [0]; let h = || g; g.push(s.pop()); s.push(h); } 1").expect("fine"),
        json!(1)
    );
}

#[test]
fn a_self_referential_closure_is_not_leaked() {
    assert_eq!(eval("let f = (); f = || f; let m = #{}; m.f = || m; 7").expect("fine"), json!(7));
}

#[test]
fn a_captured_variable_can_be_returned() {
    assert_eq!(eval("let n = 0; artifact.list.for_each(|x| n += 1); n").expect("fine"), json!(2));
    assert_eq!(eval("let a = []; artifact.list.for_each(|x| a.push(x)); a").expect("fine"), json!(["x", "y"]));
    assert_eq!(
        eval("let a = []; artifact.list.for_each(|x| a.push(x)); #{ a: a, b: [a] }").expect("fine"),
        json!({"a": ["x", "y"], "b": [["x", "y"]]})
    );
}

/// Recursion of maximum depth, with an expression of maximum depth around each call.
#[test]
fn recursion_through_deep_expressions_does_not_overflow_the_stack() {
    for (open, close) in [
        ("(1 + ", ")"),
        ("[", "]"),
        ("#{a: ", "}"),
        ("{ ", " }"),
        ("if true { ", " }"),
        ("if n == n { ", " } else { 0 }"),
        ("`${", "}`"),
        ("[1].map(|x| ", ")[0]"),
        ("(n == n && ", " == 1)"),
        ("switch n { _ => ", " }"),
        ("g(", ")"),
        ("!", ""),
        ("[0][", "]"),
        ("(() ?? ", ")"),
        ("{ let a = ", "; a }"),
        ("{ for i in [1] { return ", "; } 0 }"),
        ("n.max(", ")"),
        ("try { ", " } catch { }"),
    ] {
        for count in [1, 2, 3, 5, 8, 13, 20, 30, 40, 60] {
            let text = format!("fn f(n) {{ {}f(n + 1){} }} fn g(x) {{ x }}", open.repeat(count), close.repeat(count));
            let Ok(library) = try_link(&[("t.rhai", &text)]) else { break };
            match find(&library, "t.rhai#f", 1).call_json(&[json!(0)]) {
                Err(problem) => assert!(problem.code.starts_with("script/"), "{open}: {}", line(&problem)),
                Ok(value) => assert!(open.starts_with("try"), "{open}: {value}"),
            }
        }
    }
    let message = line(&function("fn f(n) { f(n + 1) }", 1).call_json(&[json!(0)]).expect_err("endless"));
    assert_eq!(
        message,
        "script/limit @ t.rhai:f: functions call one another more than 64 deep | does a recursion never end? Use a loop"
    );
}

#[test]
fn deeply_nested_sources_are_refused() {
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("if true {", "}"),
        ("!", ""),
        ("#{a:", "}"),
        ("`${", "}`"),
        ("|x| ", ""),
        ("-(", ")"),
    ] {
        let text = format!("fn f() {{ {}1{} }}", open.repeat(5000), close.repeat(5000));
        let message = line(&problem(&[("t.rhai", &text)]));
        assert!(message.starts_with("script/limit @ t.rhai:") && message.contains("nested too deep"), "{open}: {message}");
    }
    for (first, more) in [
        ("1", " + 1"),
        ("true", " && true"),
        ("a", ".b"),
        ("a", "[0]"),
        ("if true {}", " else if true {}"),
        ("a", ".b()"),
        ("1", " == 1"),
        ("()", " ?? ()"),
    ] {
        let text = format!("fn f(a) {{ {first}{} }}", more.repeat(5000));
        if let Err(problems) = try_link(&[("t.rhai", &text)]) {
            assert!(problems.iter().all(|problem| problem.code.starts_with("script/")), "{problems}");
        }
    }
}

#[test]
fn huge_sources_work_or_are_refused() {
    let text = format!("fn f() {{ 1 }}\n{}", " ".repeat(2 << 20));
    assert!(line(&problem(&[("t.rhai", &text)])).starts_with("script/limit @ t.rhai:: this script has"));
    let text = format!("{}fn f() {{ 1 == \"a\" }}", "\n".repeat(70_000)); // more lines than a position can hold
    let message = line(&function(&text, 0).call(&[]).expect_err("kinds"));
    assert!(message.starts_with("rule/compare-types @ t.rhai:"), "{message}");
    let many = (0..2000).map(|at| format!("fn f{at}() {{ {at} }}\n")).collect::<Vec<_>>().concat();
    assert!(line(&problem(&[("t.rhai", &many)])).contains("too many functions"));
}

#[test]
fn texts_that_would_be_huge_are_not_made() {
    let long = "let s = \"a\"; for i in 0..19 { s += s; }";
    for body in [
        "s.replace(\"a\", s); s",
        "s.replace('a', s); s",
        "let a = []; a.pad(1000, s.sub_string(0, 2)); a.join(s)",
        "let a = []; a.pad(9000, artifact); let t = `${s}`; `${a}${a}${a}`.len()",
        "let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = s; } `${a}`",
        "let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = s; } \"\" + a",
        "let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = s; } try { `${a}` } catch { 1 }",
        "let a = []; a.pad(9000, artifact); a.to_json().len()",
        "let a = []; a.pad(9000, artifact); #{ a: a }.to_string().len()",
    ] {
        let message = failure(&format!("{long} {body}"));
        assert!(message.starts_with("script/limit @ t.rhai:"), "{body}: {message}");
    }
    let big = json!({"text": "x".repeat(100_000)});
    let copies = function("fn f(a) { let l = []; l.pad(9000, a); l }", 1);
    let message = line(&copies.call_json(std::slice::from_ref(&big)).expect_err("too large"));
    assert!(message.contains("is too large: more than 16 MiB"), "{message}");
}

#[test]
fn comparing_large_values_is_charged() {
    let limits = ScriptLimits { operations: 100_000, ..ScriptLimits::default() };
    let text = "fn f(a) { let x = []; x.pad(5000, a); let y = x + []; x == y }";
    let library = try_link_with(&[("t.rhai", text)], limits).expect("links");
    let many = json!({"list": (0..1000).map(|at| json!([at])).collect::<Vec<_>>()});
    let problem = find(&library, "t.rhai#f", 1).call_json(&[many]).expect_err("too much");
    assert_eq!(&*problem.code, "script/limit");
}

const MK: &str = "fn mk(c, n) { let s = c; while s.len() * 2 <= n { s += s; } s }";

/// The error code of a body under these limits; `mk("a", 1000)` makes a long string.
#[track_caller]
fn code_under(limits: ScriptLimits, body: &str) -> String {
    let library = try_link_with(&[("t.rhai", &format!("{MK}\nfn f() {{ {body} }}"))], limits).expect("links");
    match find(&library, "t.rhai#f", 0).call(&[]) {
        Err(problem) => problem.code.into_owned(),
        Ok(value) => format!("`{body}` returned {value:?}"),
    }
}

#[test]
fn host_functions_read_the_clock_while_they_work() {
    for body in [
        r#"regex_count(mk("A", 1000000), ".*[^A-Z]|[A-Z]")"#,
        r#"regex_find_all(mk("A", 1000000), ".*[^A-Z]|[A-Z]")"#,
        r#"regex_replace_all(mk("A", 1000000), ".*[^A-Z]|[A-Z]", "b")"#,
        r#"let s = mk("a", 1000000); let p = []; for i in 0..9000 { p.push(`b${i}`); } contains_any(s, p)"#,
        r#"let s = mk("a", 1000000); let p = []; for i in 0..9000 { p.push(`b${i}`); } contains_all(s, p)"#,
        r#"let s = mk("a b ", 1000000); loop { similarity(s, s); }"#,
    ] {
        let limits = ScriptLimits { operations: u64::MAX / 4, time: Duration::from_millis(50), ..ScriptLimits::default() };
        assert_eq!(code_under(limits, body), "script/deadline", "{body}");
    }
}

#[test]
fn the_work_of_host_functions_counts() {
    for call in [
        "similarity(s, s)",
        "regex_is_match(s, \"b\")",
        "contains_any(s, [\"b\"])",
        "contains_all(s, [\"b\"])",
        "count_of(s, \"b\")",
        "normalise_error(s)",
        "stable_hash(s)",
        "fingerprint([s])",
        "lines(s)",
        "trim_lines(s)",
        "quote(s)",
        "title_case(s)",
        "strip_ansi(s)",
        "indent(s, 1)",
        "shorten(s, 10)",
        "join_nonempty([s], \"\")",
        "common_prefix([s, s])",
        "parse_number(s)",
        "unique([s, s])",
        "count_by([s])",
        "unique(l)",
        "sum(l)",
        "take(l, 1)",
    ] {
        let body = format!("let s = mk(\"a \", 30000); let l = []; l.pad(2000, 1); for i in 0..200 {{ {call}; }}");
        let limits = ScriptLimits { operations: 20_000, time: Duration::from_secs(60), ..ScriptLimits::default() };
        assert_eq!(code_under(limits, &body), "script/limit", "{call}");
    }
    let honest = r#"let s = mk("a b ", 1000000); regex_count(s, "a") + words(s.sub_string(0, 9000)).len() + count_of(s, "b")"#;
    let limits = ScriptLimits { time: Duration::from_secs(60), ..ScriptLimits::default() };
    assert!(code_under(limits, honest).contains("returned"));
}

/// The message with which the `f` of a script fails, and the growth in bytes of the memory held by this thread.
#[track_caller]
fn memory_under(limits: ScriptLimits, script: &str) -> (String, isize) {
    let library = match try_link_with(&[("t.rhai", script)], limits) {
        Ok(library) => library,
        Err(problems) => return (problems.to_string(), 0),
    };
    let function = find(&library, "t.rhai#f", 0);
    let before = memory::held();
    let message = match function.call(&[]) {
        Err(problem) => line(&problem),
        Ok(value) => format!("returned a {}", value.type_name()),
    };
    (message, memory::held() - before)
}

/// Functions that make values: a list of 9 000 numbers, a long string, and calls that hold a copy each.
const MAKERS: &str = r"
    fn list() { let a = []; a.pad(9000, 1); a }
    fn mk(c, n) { let s = c; while s.len() * 2 <= n { s += s; } s }
    fn nest(x, n) { let mine = list(); mine[0] = n; let other = mine; nest(other, n + 1); mine }
    fn nest_texts(s, n) { let all = []; all.pad(100, 0); for i in 0..100 { all[i] = s + `${n}.${i}`; } nest_texts(s, n + 1); all }
";

/// Ways to hold memory, all unbounded or far beyond the limit.
const HOLDERS: &[&str] = &[
    // Assignments, whose size Rhai does not check.
    "let m = #{}; let a = list(); for i in 0..9000 { m[`k${i}`] = a; }",
    "let a = list(); let b = list(); for i in 0..9000 { a[i] = b; }",
    "let m = #{a: #{b: 0}}; let a = list(); for i in 0..9000 { m.a[`b${i}`] = a; }",
    "let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = mk(`${i % 10}`, 500000); }",
    // Strings in many variables, lists and maps.
    "let s = mk(\"a\", 1000000); let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = s + `${i}`; }",
    "let m = #{}; let s = mk(\"a\", 900000); for i in 0..9000 { m[s + `${i}`] = i; }",
    // Copies on the stacks of nested calls.
    "nest(list(), 0)",
    "nest_texts(mk(\"a\", 500000), 0)",
    "let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = switch i % 2 { 0 => list(), _ => #{ a: list() } }; }",
    "let a = []; a.pad(9000, 0); for (x, i) in a { a[i] = list().extract(0); }",
    "let a = []; a.pad(9000, 0); for i in 0..9000 { a[i] = mk(\"a \", 15000).split(' '); }",
    "let m = #{}; [1].for_each(|x| { for i in 0..9000 { m[`k${i}`] = list(); } });",
    // Closures: captured, curried, nested.
    "let s0 = mk(\"a\", 50000); let a = []; for i in 0..9990 { let s = s0 + `${i}`; a.push(|| s); }",
    "let s0 = mk(\"a\", 50000); let a = []; for i in 0..9990 { let s = [s0 + `${i}`]; a.push(|| s); }",
    "let s0 = mk(\"a\", 50000); let a = []; for i in 0..9990 { let s = #{ t: s0 + `${i}` }; a.push(|| s); }",
    "let s0 = mk(\"a\", 50000); let a = []; for i in 0..9990 { let s = s0 + `${i}`; a.push(|| { s += \"x\"; s }); }",
    "let l = []; l.pad(5000, 0); let a = []; for i in 0..9990 { let s = l; a.push(|| s); }",
    "let f = || 1; for i in 0..9990 { let s = mk(\"a\", 50000) + `${i}`; let g = f; f = || s + g.call(); }",
    "let b = list(); let f = || b; let a = []; a.pad(9000, f); a",
    "let f = |x| x; loop { let g = f; f = |x| g.call(x); }",
    "let n = 0; loop { [1].for_each(|x| n += x); }",
    // One step that would make ten thousand copies.
    "let m = #{}; m[mk(\"k\", 900000)] = 1; let a = []; a.pad(9000, m); a",
    "let a = [0]; for i in 0..20 { a[0] = a; } let b = []; b.pad(9000, a); b",
    // Results of functions.
    "let a = list().map(|x| list()); a",
    "let a = []; a.pad(9000, 0); a.for_each(|| this = list()); a",
    "let a = list(); let b = []; b.pad(9000, 0); for i in 0..9000 { try { throw a } catch (e) { b[i] = e; } }",
    "let b = []; b.pad(9000, 0); for i in 0..9000 { b[i] = blob(9000); }",
];

#[test]
fn the_memory_of_a_call_is_limited() {
    let mut held = Vec::new();
    for body in HOLDERS {
        let limits = || ScriptLimits { memory: 4 << 20, time: Duration::from_secs(60), ..ScriptLimits::default() };
        let script = format!("{MAKERS}fn f() {{ {body} }}");
        let (message, left) = memory_under(limits(), &script);
        let stopped =
            message.starts_with("script/limit @ t.rhai:") && message.contains("the script holds more than 4 MiB of memory | ");
        if !stopped || left > 1 << 20 {
            held.push(format!("{body}: {message}, {left} bytes left"));
        }
    }
    assert!(held.is_empty(), "{}", held.join("\n"));
}
