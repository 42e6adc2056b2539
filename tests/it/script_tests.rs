//! `asterisk test`: the tests it runs, its reports of failures, and its coverage.

use crate::harness::{Lines, Project, Ran};
use std::fs;

const RULES: &str = r#"/// Whether the cart is full.
fn full(artifact, state, vars) {
    if artifact.items >= vars.most && !artifact.paid { return #{ because: "full" }; }
    false
}

fn kind(word) {
    switch word {
        "a" | "b" => "letter",
        "1" if word.len() == 1 => "digit",
        _ => helper(word),
    }
}

private fn helper(word) { if word == "" { "nothing" } else { "word" } }

fn never(x) { if x { 1 } else { 2 } }
"#;

const PIPELINE: &str = "pipeline: cart
vars: { most: 10 }
nodes:
  - name: cart
    family: none
    schema: { items: { type: number, min: 0 }, paid: bool, note?: string }
  - name: pay
    family: none
edges:
  - { id: E1, from: cart, to: pay, rule: \"rules/cart.rhai#full\" }
  - { id: E2, from: cart, to: _done, condition: \"items < 3 || paid\" }
  - { id: E3, from: pay, to: _done }
start: cart
done: _done
";

/// A project with a rule, a pipeline and this file of tests.
fn project(tests: &str) -> Project {
    Project::with(&[
        ("asterisk.yaml", "scripts: s\npipelines: p\n"),
        ("s/rules/cart.rhai", RULES),
        ("s/rules/cart_test.rhai", tests),
        ("p/cart.yaml", PIPELINE),
    ])
}

fn test(project: &Project, args: &[&str]) -> Ran {
    let mut all = vec!["test", "rules/cart.rhai"];
    all.extend(args);
    project.asterisk(&all)
}

#[track_caller]
fn shows(name: &str, ran: &Ran) {
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots/suite" }, {
        insta::assert_snapshot!(name, ran.text());
    });
}

const PASSING: &str = r#"import "rules/cart" as cart;

fn test_a_full_cart_is_paid() {
    let answer = verdict("rules/cart.rhai#full", #{ artifact: #{ items: 10, paid: false } });
    assert(answer.fired);
    assert_eq(answer.because, "full");
}

fn test_the_ways_on() {
    table([
        #{ items: 12, paid: false, edge: "E1" },
        #{ items: 2, paid: false, edge: "E2" },
        #{ items: 12, paid: true, edge: "E2" },
    ], |row| assert_eq(decide("cart", #{ artifact: #{ items: row.items, paid: row.paid } }).edge, row.edge));
}

fn test_words() {
    assert_eq(cart::kind("a"), "letter");
    assert_eq(cart::kind(""), "nothing");
}

fn helper_that_is_no_test() { 1 }
"#;

#[test]
fn passing_tests_print_one_line_per_file() {
    shows("passing", &test(&project(PASSING), &[]).exits(0));
}

#[test]
fn tests_can_be_listed() {
    shows("list", &test(&project(PASSING), &["--list"]).exits(0));
}

#[test]
fn failing_tests_show_the_values_and_the_evaluation_of_the_rule() {
    let tests = r#"import "rules/cart" as cart;

fn test_verdict() {
    let answer = verdict("rules/cart.rhai#full", #{ artifact: #{ items: 9, paid: false } });
    assert(answer.fired && answer.because == "full", "nine count as many");
}

fn test_decision() {
    assert_eq(decide("cart", #{ artifact: #{ items: 5, paid: false }, vars: #{ most: 6 } }).edge, "E1");
}

fn test_values() {
    let words = ["x", "1"];
    assert_eq(words.map(|word| cart::kind(word)), ["word", "letter"]);
}

fn test_near() { assert_near(0.1 + 0.2, 0.4, 0.01); }

fn test_in_a_helper() { is_small(7); }
private fn is_small(x) { assert(x * 2 < 10 || x < 0); }

fn test_what_was_called_throws() {
    cart::kind(5);
}

fn test_nothing_is_thrown() {
    assert_throws(|| cart::kind("a"));
}
"#;
    shows("failing", &test(&project(tests), &[]).exits(1));
}

#[test]
fn an_error_in_a_rule_is_shown_with_its_location() {
    let broken =
        "fn full(artifact, state, vars) {\n    artifact.note > 3\n}\nfn broken(artifact, state, vars) {\n    artifact.nope\n}\n";
    let project = project("fn test_rule() {\n    verdict(\"rules/other.rhai#broken\", #{ artifact: #{ items: 1 } });\n}\n");
    project.file("s/rules/other.rhai", broken);
    shows("rule_throws", &test(&project, &[]).exits(1));
}

#[test]
fn each_row_of_a_table_is_reported_separately() {
    let tests = r#"fn test_table() {
    table([[1, 1], [2, 5], ["x", 9], [3, 9]], |row| assert_eq(row[0] * row[0], row[1]));
}

fn test_no_rows() { table([], |row| assert(row)); }
"#;
    shows("table", &test(&project(tests), &[]).exits(1));
}

#[test]
fn fixtures_are_json_next_to_the_test() {
    let tests = r#"fn test_there() { assert_eq(fixture("data/cart.json").items, 10); }
fn test_missing() { fixture("data/none.json"); }
fn test_broken() { fixture("data/broken.json"); }
fn test_outside() { fixture("../../asterisk.yaml"); }
fn test_not_of_the_node() { verdict("rules/cart.rhai#full", #{ artifact: fixture("data/odd.json") }); }
"#;
    let project = project(tests);
    project.file("s/rules/data/cart.json", "{\"items\": 10, \"paid\": false}");
    project.file("s/rules/data/odd.json", "{\"items\": \"ten\", \"paid\": false}");
    project.file("s/rules/data/broken.json", "{\n  \"items\": 10,\n}\n");
    shows("fixtures", &test(&project, &[]).exits(1));
}

#[test]
fn invalid_inputs_are_rejected_with_help() {
    let tests = r#"fn test_key() { verdict("rules/cart.rhai#full", #{ artefact: #{} }); }
fn test_rule() { verdict("rules/cart.rhai#ful", #{}); }
fn test_edge() { verdict("E9", #{ pipeline: "cart" }); }
fn test_node() { decide("carte", #{ pipeline: "cart" }); }
fn test_var() { decide("cart", #{ vars: #{ mots: 3 } }); }
fn test_group() { respond("agents/review.rhai#review", #{ params: #{ falure: #{} } }); }
fn test_state() { decide("cart", #{ state: #{ lops: #{} } }); }
fn test_condition() { assert(!verdict("E2", #{ pipeline: "cart", artifact: #{ items: 5 } }).fired); }
"#;
    shows("inputs", &test(&project(tests), &[]).exits(1));
}

#[test]
fn a_filter_without_matches_suggests_names() {
    let project = project(PASSING);
    shows("filter_nothing", &test(&project, &["--filter", "test_word"]).exits(0));
    shows("filter_near", &test(&project, &["--filter", "test_wrds"]).exits(2));
    shows("no_file", &project.asterisk(&["test", "rules/cort.rhai"]).exits(2));
}

#[test]
fn having_no_tests_is_an_error_unless_allowed() {
    let project = project("fn helper() { 1 }\n");
    shows("nothing", &test(&project, &[]).exits(2));
    test(&project, &["--allow-empty"]).exits(0);
}

#[test]
fn tests_that_would_never_run_are_errors() {
    let project = project("private fn test_a() { }\nfn test_b(row) { }\nfn test_c() { }\n");
    shows("never_run", &test(&project, &[]).exits(3));
}

#[test]
fn tests_that_do_not_compile_are_shown() {
    shows("syntax", &test(&project("fn test_a() {\n    assert(1 == 1;\n}\n"), &[]).exits(3));
    let private = "import \"rules/cart\" as cart;\nfn test_a() { cart::helper(\"x\"); }\n";
    shows("private", &test(&project(private), &[]).exits(3));
    let project = project("fn test_a() { asert(1 == 1); }\n");
    project.file("s/rules/cart.rhai", format!("{RULES}\nfn checks(x) {{ assert(x); }}\n"));
    shows("assert_outside", &test(&project, &[]).exits(3));
}

#[test]
fn a_test_that_never_ends_is_stopped() {
    let ran =
        test(&project("fn test_loop() {\n    let n = 0;\n    loop { n += 1; }\n}\nfn test_next() { assert(true); }\n"), &[]);
    shows("loop", &ran.exits(1));
}

#[test]
fn results_are_available_as_json_and_junit() {
    let tests = "fn test_ok() { assert(true); }\nfn test_bad() {\n    let x = 3;\n    assert(x < 2 && \"<&>\" == \"\");\n}\nfn test_rows() {\n    table([1, 2], |x| assert(x < 2));\n}\n";
    let project = project(tests);
    shows("json", &test(&project, &["--format", "json"]).exits(1));
    shows("junit", &test(&project, &["--format", "junit"]).exits(1));
}

#[test]
fn coverage_shows_untested_code() {
    let project = project(PASSING);
    shows("coverage", &test(&project, &["--coverage"]).exits(0));
    shows("coverage_whole", &test(&project, &["--coverage", "-v", "--filter", "test_words"]).exits(0));
    let json = test(&project, &["--coverage", "--format", "json"]).exits(0).json();
    let files = json["coverage"]["files"].as_array().unwrap();
    let own = files.iter().find(|file| file["file"] == "rules/cart.rhai").unwrap();
    assert_eq!(own["gaps"].as_array().unwrap().len(), 5, "{own:#}");
    let lcov = test(&project, &["--format", "lcov"]).exits(0).stdout;
    let record = lcov.split("end_of_record\n").find(|record| record.contains("rules/cart.rhai")).unwrap();
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots/suite" }, {
        insta::assert_snapshot!("lcov", record.replace(project.root().to_str().unwrap(), "[DIR]"));
    });
}

#[test]
fn low_coverage_fails() {
    let project = project(PASSING);
    let ran = test(&project, &["--coverage", "--min-coverage", "99"]).exits(1);
    assert!(ran.stderr.contains("of all outcomes, less than 99 %"), "{}", ran.stderr);
    test(&project, &["--coverage", "--min-coverage", "0"]).exits(0);
    test(&project, &["--min-coverage", "10"]).exits(2);
}

#[test]
fn tests_in_other_directories_run() {
    let project = project(PASSING);
    project.file("more/x_test.rhai", "fn test_x() { assert_eq(fixture(\"x.json\"), [1]); }\n");
    project.file("more/x.json", "[1]");
    for path in ["more", "more/x_test.rhai", "./more"] {
        assert!(project.asterisk(&["test", path]).ok().stdout.contains("1 test: 1 passed"), "{path}");
    }
    assert!(project.asterisk(&["test", "s/rules/cart_test.rhai"]).ok().stdout.starts_with("rules/cart_test.rhai"));
    shows("no_test_file", &project.asterisk(&["test", "asterisk.yaml"]).exits(2));
}

/// The bundled tests pass, with and without probes, and find their way into what `init` writes.
#[test]
fn bundled_tests_pass_and_cover_the_bundled_scripts() {
    let project = Project::new();
    let plain = project.asterisk(&["test", "--format", "json"]).ok().json();
    let watched = project.asterisk(&["test", "--coverage", "--format", "json", "--min-coverage", "70"]).ok().json();
    assert_eq!(plain["tests"], watched["tests"]);
    let files = watched["coverage"]["files"].as_array().unwrap();
    let rules = files.iter().find(|file| file["file"] == "rules/rca.rhai").unwrap();
    assert_eq!(rules["covered"]["covered"], rules["covered"]["total"], "{:#}", rules["gaps"]);
    project.asterisk(&["init", "own"]).exits(0);
    assert_eq!(
        project.read("own/scripts/rules/rca_test.rhai"),
        fs::read_to_string(crate::harness::repository().join("scripts/rules/rca_test.rhai")).unwrap()
    );
    let own = project.asterisk(&["test", "--scripts", "own/scripts", "--format", "json"]).ok().json();
    assert_eq!(own["passed"], plain["passed"]);
}

/// An edit makes them run again; a slip in between is shown and waited out.
#[test]
fn watched_tests_run_again_after_an_edit() {
    let project = project(PASSING);
    let mut child = project.start(&["test", "rules/cart.rhai", "--watch"]);
    let (mut said, mut output) = (Lines::of(child.stdout.take().unwrap()), Lines::of(child.stderr.take().unwrap()));
    said.until("3 tests: 3 passed");
    output.until("waiting for edits");
    project.edit("s/rules/cart_test.rhai", format!("{PASSING}\nfn test_more( {{ }}\n"));
    output.until("fn test_more(");
    output.until("waiting for edits");
    project.edit("s/rules/cart_test.rhai", format!("{PASSING}\nfn test_more() {{ assert(1 > 2); }}\n"));
    said.until("4 tests: 3 passed, 1 FAILED");
    child.kill().unwrap();
    child.wait().unwrap();
}
