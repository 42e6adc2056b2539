//! `asterisk show flaky`: tests that pass and fail without a change, and lists that take them out of a run.

use super::nothing_yet;
use crate::ui::{OutputFormat, Ui};
use asterisk_diag::counted;
use asterisk_script::escape;
use asterisk_session::{Session, SessionError};
use asterisk_store::TestStability;
use serde_json::json;
use std::collections::BTreeSet;

/// A test runner that can leave out the tests of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListedRunner {
    Pytest,
    Junit,
    Go,
    Playwright,
}

/// Prints the flaky tests, as a table or as JSON.
pub(super) fn flaky(ui: &Ui, session: &Session) -> Result<(), SessionError> {
    let tests = session.knowledge()?.flaky_tests()?;
    if ui.format() == OutputFormat::Json {
        ui.json(&json!({ "schema_version": 1, "flaky": tests }));
        return Ok(());
    }
    if tests.is_empty() {
        let none =
            "no flaky tests are known; the store learns from launches that also list passed tests: asterisk run --input FILE";
        nothing_yet(ui, session, none);
        return Ok(());
    }
    let mut table = ui.table(&["test", "suite", "launch", "launches", "failed", "retried", "flips", "why"]);
    for test in tests {
        let why = reasons(&test).join("; ");
        let TestStability { launch, suite, test, launches, failed, retried, flips, .. } = test;
        table.row([test, suite, launch, launches.to_string(), failed.to_string(), retried.to_string(), flips.to_string(), why]);
    }
    ui.out(&table.text());
    Ok(())
}

/// Prints a list for a runner: an argument a line for pytest, an exclusion a line for `JUnit` (Surefire), one pattern for Go and Playwright.
pub(super) fn quarantine(ui: &Ui, session: &Session, runner: ListedRunner) -> Result<(), SessionError> {
    let tests = session.knowledge()?.flaky_tests()?;
    if tests.is_empty() {
        ui.note("no flaky tests are known: the list is empty");
        return Ok(());
    }
    ui.out(&list(runner, &tests));
    Ok(())
}

fn list(runner: ListedRunner, tests: &[TestStability]) -> String {
    let of = |name: &dyn Fn(&TestStability) -> String| {
        tests.iter().map(name).collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>()
    };
    match runner {
        ListedRunner::Pytest => of(&|test| format!("--deselect={}", pytest_id(&test.suite, &test.test))).join("\n"),
        ListedRunner::Junit => of(&|test| format!("{}#{}", test.suite, junit_method(&test.test))).join("\n"),
        ListedRunner::Go => of(&|test| go_pattern(&test.test)).join("|"),
        ListedRunner::Playwright => of(&|test| format!("(?:^| ){}(?:$| @)", escape(last(&test.test, " > ")))).join("|"),
    }
}

/// The node id of a test by the class of its report: what begins with a capital letter is a class, the rest is the path of the file.
fn pytest_id(suite: &str, test: &str) -> String {
    if suite.contains(".py") {
        return format!("{suite}::{test}");
    }
    let parts: Vec<&str> = suite.split('.').collect();
    let classes = parts.iter().rev().take_while(|part| part.starts_with(|c: char| c.is_ascii_uppercase())).count();
    let (path, classes) = parts.split_at(parts.len() - classes);
    let names: Vec<&str> = classes.iter().copied().chain([test]).collect();
    format!("{}.py::{}", path.join("/"), names.join("::"))
}

/// The method of a test without the parameters of one of its executions.
fn junit_method(test: &str) -> &str {
    test.split(['(', '[', '{']).next().map_or(test, str::trim)
}

/// The pattern of a test and its subtests, each level anchored.
fn go_pattern(test: &str) -> String {
    test.split('/').map(|level| format!("^{}$", escape(level))).collect::<Vec<_>>().join("/")
}

fn last<'t>(text: &'t str, separator: &str) -> &'t str {
    text.rsplit(separator).next().unwrap_or(text)
}

/// What makes a test flaky.
fn reasons(test: &TestStability) -> Vec<String> {
    let mut reasons = Vec::new();
    if test.retried > 0 {
        reasons.push(format!("passed when retried in {} of {}", test.retried, counted(test.launches, "launch", "launches")));
    }
    if test.contradicted_commits > 0 {
        reasons.push(format!("passed and failed on {}", counted(test.contradicted_commits, "commit", "commits")));
    }
    if test.flips > 1 {
        reasons.push(format!("changed {} times", test.flips));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(suite: &str, test: &str) -> TestStability {
        TestStability {
            launch: "nightly".into(),
            suite: suite.into(),
            test: test.into(),
            launches: 4,
            passed: 1,
            failed: 2,
            retried: 1,
            flips: 3,
            flip_rate: 1.0,
            retry_rate: 0.25,
            contradicted_commits: 1,
            last_failed: None,
        }
    }

    #[test]
    fn each_runner_gets_its_own_names() {
        for (runner, suite, name, expected) in [
            (
                ListedRunner::Pytest,
                "tests.shop.test_cart.TestCart",
                "test_adds[1]",
                "--deselect=tests/shop/test_cart.py::TestCart::test_adds[1]",
            ),
            (ListedRunner::Pytest, "tests.test_cart", "test_adds", "--deselect=tests/test_cart.py::test_adds"),
            (ListedRunner::Pytest, "tests/test_cart.py", "test_adds", "--deselect=tests/test_cart.py::test_adds"),
            (ListedRunner::Junit, "com.example.CartTest", "adds(int)[2]", "com.example.CartTest#adds"),
            (ListedRunner::Go, "example.com/shop", "TestCart/adds+up", r"^TestCart$/^adds\+up$"),
            (ListedRunner::Playwright, "cart.spec.ts", "cart > adds (twice)", r"(?:^| )adds \(twice\)(?:$| @)"),
        ] {
            assert_eq!(list(runner, &[test(suite, name)]), expected);
        }
        assert_eq!(list(ListedRunner::Go, &[test("a", "TestB"), test("a", "TestA"), test("b", "TestA")]), "^TestA$|^TestB$");
    }

    #[test]
    fn why_a_test_is_flaky_is_said() {
        let said = ["passed when retried in 1 of 4 launches", "passed and failed on 1 commit", "changed 3 times"];
        assert_eq!(reasons(&test("s", "t")), said);
    }
}
