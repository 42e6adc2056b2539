//! The host API: every function the host gives to scripts, in one registry with its documentation and an executed example.
//!
//! All of them are pure and bounded: they read no file, clock or network, and refuse what would grow without end. A new
//! group is one file with a table of [`HostFn`]s and one line in [`GROUPS`].

mod args;
mod asserts;
mod fingerprint;
mod lists;
mod maps;
mod numbers;
mod patterns;
mod test_api;
mod text;

pub(crate) use asserts::ROWS;
pub(super) use patterns::compile;
use rhai::Engine;
use std::sync::LazyLock;

/// A function that scripts may call.
#[derive(Clone, Copy, Debug)]
pub struct HostFn {
    /// What scripts call it by.
    pub name: &'static str,
    /// Its parameters and result: `regex_find(text: string, pattern: string) -> string or ()`.
    pub signature: &'static str,
    /// The group it is documented in.
    pub group: &'static str,
    /// What it does, in full sentences.
    pub doc: &'static str,
    /// A script that calls it.
    pub example: &'static str,
    /// What the example evaluates to, as a script too.
    pub result: &'static str,
    /// Binds the implementation to the name, so that neither exists without the other.
    bind: fn(&mut Engine, &'static str),
}

impl HostFn {
    /// The number of parameters that the signature shows.
    pub fn parameters(&self) -> usize {
        let between = self.signature.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
        if between.trim().is_empty() { 0 } else { between.split(',').count() }
    }
}

/// The groups, in the order they are shown in.
const GROUPS: &[&[HostFn]] = &[text::TABLE, patterns::TABLE, fingerprint::TABLE, numbers::TABLE, lists::TABLE, maps::TABLE];

/// The groups of functions that only tests may call.
const TEST_GROUPS: &[&[HostFn]] = &[asserts::TABLE, test_api::TABLE];

static REGISTRY: LazyLock<Vec<HostFn>> = LazyLock::new(|| GROUPS.concat());
static TEST_REGISTRY: LazyLock<Vec<HostFn>> = LazyLock::new(|| TEST_GROUPS.concat());

/// Every function that the host gives to scripts, group by group.
pub fn registry() -> &'static [HostFn] {
    &REGISTRY
}

/// Every function that the host gives to tests (`*_test.rhai`) beside those, group by group.
pub fn test_registry() -> &'static [HostFn] {
    &TEST_REGISTRY
}

/// Makes every function of the [`registry`] callable by the scripts of an engine.
pub fn register(engine: &mut Engine) {
    for function in registry() {
        (function.bind)(engine, function.name);
    }
}

/// Makes every function of the [`test_registry`] callable. That only tests call them is seen to when scripts are linked.
pub(crate) fn register_for_tests(engine: &mut Engine) {
    for function in test_registry() {
        (function.bind)(engine, function.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::running_test::{TestHost, TestQuestion, set_stage};
    use crate::script::{Extend, ScriptFault, ScriptLimits, View, build_engine};
    use rhai::{Dynamic, EvalAltResult, Scope};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::rc::Rc;

    fn engine(extend: Extend) -> Engine {
        build_engine(&ScriptLimits::default(), ["name", "score", "repos"], extend)
    }

    /// The value of a script, or the fault it raised.
    pub(super) fn eval(script: &str) -> Result<Dynamic, ScriptFault> {
        eval_with(&View::null(), script)
    }

    /// The value of a script that sees an `artifact`.
    pub(super) fn eval_with(artifact: &View, script: &str) -> Result<Dynamic, ScriptFault> {
        let mut scope = Scope::new();
        scope.push_dynamic("artifact", artifact.dynamic());
        engine(register).eval_with_scope(&mut scope, script).map_err(|error| fault(&error))
    }

    fn register_all(engine: &mut Engine) {
        register(engine);
        register_for_tests(engine);
    }

    /// Answers the questions of the examples.
    struct ExampleStage;

    impl TestHost for ExampleStage {
        fn answer(&self, question: TestQuestion, name: &str, inputs: &Value) -> Result<Value, Box<crate::diag::Diagnostic>> {
            Ok(match question {
                TestQuestion::Verdict => {
                    json!({ "fired": inputs["artifact"]["score"] == 0.9, "to": null, "because": "seen before", "context": {} })
                }
                TestQuestion::Decide => json!({ "edge": "H1" }),
                TestQuestion::Respond => {
                    json!({ "text": format!("hello {}", inputs["params"]["failure"]["name"].as_str().unwrap_or("")) })
                }
                TestQuestion::Effects => json!([{ "effect": "note", "text": inputs["artifact"]["text"] }]),
                TestQuestion::Fixture => json!({ "score": if name.ends_with("known.json") { 0.9 } else { 0.0 } }),
            })
        }
    }

    /// The value of a script that may call what tests may, or the fault it raised.
    pub(super) fn eval_in_test(script: &str) -> Result<Dynamic, ScriptFault> {
        set_stage(Some(Rc::new(ExampleStage)));
        let value = engine(register_all).eval(script).map_err(|error| fault(&error));
        set_stage(None);
        value
    }

    /// The fault that an error carries; any other error as one.
    pub(super) fn fault(error: &EvalAltResult) -> ScriptFault {
        match error {
            EvalAltResult::ErrorRuntime(payload, _) if payload.is::<ScriptFault>() => payload.clone_cast(),
            EvalAltResult::ErrorInFunctionCall(_, _, inner, _) => fault(inner),
            other => ScriptFault::new("other", other.to_string()),
        }
    }

    /// `name/parameters` of every native function of an engine.
    fn natives(engine: &Engine) -> BTreeSet<String> {
        engine
            .gen_fn_signatures(true)
            .iter()
            .filter_map(|signature| {
                let signature = signature.split(" -> ").next()?;
                let (name, parameters) = signature.split_once('(')?;
                let count = if parameters.starts_with(')') { 0 } else { parameters.split(", ").count() };
                Some(format!("{name}/{count}"))
            })
            .collect()
    }

    #[test]
    fn every_function_is_documented_by_convention() {
        for function in registry().iter().chain(test_registry()) {
            let name = function.name;
            assert!(name.starts_with(|ch: char| ch.is_ascii_lowercase()), "{name}: snake_case");
            assert!(
                name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
                "{name}: snake_case"
            );
            assert!(function.doc.ends_with('.') && function.doc.starts_with(char::is_uppercase), "{name}: full sentences");
            assert!(function.signature.starts_with(&format!("{name}(")), "{name}: the signature begins with the name");
            assert!(function.signature.contains(") -> "), "{name}: the signature says what comes back");
            assert!(function.example.contains(name), "{name}: the example calls it");
            assert!(!function.group.is_empty(), "{name}: a group");
        }
    }

    #[test]
    fn names_are_unique_and_groups_stand_together() {
        let all = || registry().iter().chain(test_registry());
        let names: BTreeSet<_> = all().map(|function| (function.name, function.parameters())).collect();
        assert_eq!(names.len(), all().count());
        let groups: BTreeSet<_> = all().map(|function| function.group).collect();
        let mut runs: Vec<_> = all().map(|function| function.group).collect();
        runs.dedup();
        assert_eq!(runs.len(), groups.len(), "{runs:?}");
    }

    #[test]
    fn what_is_registered_is_what_the_table_says() {
        let stock = natives(&engine(|_| {}));
        let documented: BTreeSet<_> =
            registry().iter().chain(test_registry()).map(|f| format!("{}/{}", f.name, f.parameters())).collect();
        let added: BTreeSet<_> = natives(&engine(register_all)).difference(&stock).cloned().collect();
        assert_eq!(added, documented);
        let shadowed: Vec<_> = documented.intersection(&stock).collect();
        assert!(shadowed.is_empty(), "stock functions of the same name and number of parameters: {shadowed:?}");
    }

    #[test]
    fn every_example_evaluates_to_its_result() {
        let evaluate = |script: &str, name: &str| match eval_in_test(script) {
            Ok(value) => format!("{value:?}"),
            Err(fault) => panic!("{name}: `{script}`: {}", fault.message),
        };
        for function in registry().iter().chain(test_registry()) {
            let (got, expected) = (evaluate(function.example, function.name), evaluate(function.result, function.name));
            assert_eq!(got, expected, "{}: {}", function.name, function.example);
        }
    }

    #[test]
    fn wrong_arguments_are_errors_and_never_panics() {
        let engine = engine(register_all);
        let odd =
            ["()", "true", "1", "-1", "9223372036854775807", "-0.0", "1e308 * 10.0", "\"\"", "\"é(\"", "'x'", "[]", "[1, \"a\"]"];
        let odd = odd.iter().chain(&["#{}", "#{a: []}", "|x| x", "1..3", "blob(2)"]).copied().collect::<Vec<_>>();
        for function in registry().iter().chain(test_registry()) {
            for first in &odd {
                for second in &odd {
                    let mut arguments = vec![*first, *second];
                    arguments.resize(function.parameters(), *second);
                    let script = format!("{}({})", function.name, arguments.join(", "));
                    drop(engine.eval::<rhai::Dynamic>(&script));
                }
            }
        }
    }
}
