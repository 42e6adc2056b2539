//! `asterisk test --mutate`: changes of scripts that no test detects, and their explanations.

use crate::harness::{Project, Ran, full_size};

const RULES: &str = r#"//! Rules of a cart.

const NONE = 0;

/// Whether the cart is full.
fn full(artifact, state, vars) {
    // A comment may say a >= b and true.
    if artifact.items >= vars.most && !artifact.paid { return #{ because: `full: ${artifact.items} >= ${vars.most}` }; }
    false
}

/// How large a cart is.
fn size(artifact, state, vars) {
    // mutants: allow(boundary) a cart of five is as small as it is large
    if artifact.items > 5 { return false; }
    true
}

/// The sum of a list.
fn sum(list) {
    let at = 0;
    let sum = global::NONE;
    while at < list.len() { sum += list[at]; at += 1; }
    sum
}

/// Never called.
fn never(x) { if x > 1 { "a" } else { "b" } }
"#;

const PIPELINE: &str = "pipeline: cart
vars: { most: 10, least: 2 }
nodes:
  - name: cart
    family: none
    schema: { items: { type: number, min: 0 }, paid: bool }
  - name: pay
    family: none
edges:
  - { id: E1, from: cart, to: pay, rule: \"rules/cart.rhai#full\" }
  - { id: E2, from: cart, to: _done }
  - { id: E3, from: pay, to: _done }
start: cart
done: _done
";

const TESTS: &str = r#"import "rules/cart" as cart;

fn test_a_full_cart_is_paid() {
    table([
        #{ items: 12, paid: false, fired: true },
        #{ items: 9, paid: false, fired: false },
        #{ items: 12, paid: true, fired: false },
    ], |row| assert_eq(verdict("rules/cart.rhai#full", #{ artifact: #{ items: row.items, paid: row.paid } }).fired, row.fired));
}

fn test_a_cart_has_a_size() {
    assert(verdict("rules/cart.rhai#size", #{ artifact: #{ items: 1, paid: true } }).fired);
    assert(!verdict("rules/cart.rhai#size", #{ artifact: #{ items: 9, paid: true } }).fired);
}

fn test_sums() { assert_eq(cart::sum([1, 2, 4]), 7); }
"#;

fn project(rules: &str, tests: &str) -> Project {
    Project::with(&[
        ("asterisk.yaml", "scripts: s\npipelines: p\n"),
        ("s/rules/cart.rhai", rules),
        ("s/rules/cart_test.rhai", tests),
        ("p/cart.yaml", PIPELINE),
    ])
}

fn mutate(project: &Project, scope: &str, args: &[&str]) -> Ran {
    let mut all = vec!["test", scope];
    all.extend(args);
    project.asterisk(&all)
}

#[track_caller]
fn shows(name: &str, ran: &Ran) {
    shows_text(name, &ran.text());
}

/// Compares with a snapshot, whatever tests are bundled.
#[track_caller]
fn shows_text(name: &str, text: &str) {
    let mut text = text.to_owned();
    for (pattern, stand_in) in [
        (r"(?m)^\S+_test\.rhai +\d+ tests?(?:, \d+ rows?)?: ok\n", ""),
        (r"\d+ tests: \d+ passed", "[N] tests: [N] passed"),
        (r", \d+ tests: ", ", [N] tests: "),
        (r"\d+ files bundled", "[N] files bundled"),
    ] {
        text = regex::Regex::new(pattern).unwrap().replace_all(&text, stand_in).into_owned();
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "snapshots/mutate" }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn survivors_are_listed_with_a_patch_and_allows_explain_them() {
    shows("survivors", &mutate(&project(RULES, TESTS), "--mutate=rules/cart", &[]).exits(1));
}

#[test]
fn filtered_tests_mutate_only_the_functions_they_call() {
    shows("filter", &mutate(&project(RULES, TESTS), "--mutate=rules/cart.rhai", &["--filter", "sums", "-v"]).exits(0));
}

#[test]
fn survivors_are_data_and_failures_of_junit() {
    let project = project(RULES, TESTS);
    shows("json", &mutate(&project, "--mutate=cart.rhai#size", &["--format", "json"]).exits(1));
    let junit = mutate(&project, "--mutate=cart.rhai#full", &["--format", "junit"]).exits(1);
    let mut reader = quick_xml::Reader::from_str(&junit.stdout);
    let (mut cases, mut failures) = (0, 0);
    loop {
        use quick_xml::events::Event;
        match reader.read_event().expect("well formed") {
            Event::Eof => break,
            Event::Empty(tag) | Event::Start(tag) if tag.name().as_ref() == "testcase" => cases += 1,
            Event::Start(tag) if tag.name().as_ref() == "failure" => failures += 1,
            _ => {}
        }
    }
    assert!(junit.stdout.contains(&format!("tests=\"{cases}\" failures=\"{failures}\"")));
    shows("junit", &junit);
}

#[test]
fn invalid_requests_are_reported() {
    let project = project(RULES, TESTS);
    let nothing = mutate(&project, "--mutate=rule/cart.rhai", &[]);
    let coverage = mutate(&project, "--mutate=cart", &["--coverage"]);
    let lcov = mutate(&project, "--mutate=cart", &["--format", "lcov"]);
    project.file("s/rules/cart_test.rhai", "fn test_wrong() { assert_eq(1 + 1, 3); }\n");
    let failing = mutate(&project, "--mutate=cart", &[]);
    shows_text("refused", &[nothing.text(), coverage.text(), lcov.text(), failing.text()].join("\n----\n"));
}

#[test]
fn unused_allows_are_reported() {
    let rules = "/// A rule.\nfn full(artifact, state, vars) {\n    // mutants: allow(logik) why\n    \
                 let most = vars.most; // mutants: allow(threshold)\n    \
                 artifact.items >= most // mutants: allow(comparison) the other way round\n}\n";
    let tests = "fn test_full() {\n    table([[9, false], [10, true]], |row| {\n        \
                 assert_eq(verdict(\"rules/cart.rhai#full\", #{ artifact: #{ items: row[0] } }).fired, row[1]);\n    });\n}\n";
    shows("allows", &mutate(&project(rules, tests), "--mutate=rules/cart", &[]).exits(0));
}

#[test]
fn every_mutant_of_the_bundled_rules_and_effects_is_killed() {
    // `.ci/run` does all of them, too.
    let scope = if full_size() { "--mutate" } else { "--mutate=rules/court.rhai" };
    let ran = Project::new().asterisk(&["test", scope]);
    assert!(ran.text().contains("0 unexplained"), "{}", ran.text());
    ran.exits(0);
}
