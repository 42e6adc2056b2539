//! The host API: every function provided to scripts, in one registry with its documentation and an executed example.
//!
//! All of them are pure and bounded: they access no file, clock or network, and refuse unbounded growth. A new group is one file
//! with a table of [`HostFn`]s and one line in [`GROUPS`].

mod args;
mod asserts;
mod colors;
mod encoding;
mod fingerprint;
mod html;
mod html_errors;
mod lists;
mod maps;
mod markdown;
mod numbers;
mod patterns;
mod test_api;
mod text;

pub(super) use patterns::compile;
use rhai::Engine;
use std::sync::LazyLock;

/// A function that scripts may call.
#[derive(Clone, Copy, Debug)]
pub struct HostFn {
    /// The name.
    pub name: &'static str,
    /// The parameters and the result: `regex_find(text: string, pattern: string) -> string or ()`.
    pub signature: &'static str,
    /// The group it is documented in.
    pub group: &'static str,
    /// The documentation, in full sentences.
    pub doc: &'static str,
    /// A script that calls it.
    pub example: &'static str,
    /// The result of the example, as a script.
    pub result: &'static str,
    /// Registers the implementation under the name, so that neither exists without the other.
    bind: fn(&mut Engine, &'static str),
}

impl HostFn {
    /// The number of parameters in the signature.
    pub fn parameters(&self) -> usize {
        let between = self.signature.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
        if between.trim().is_empty() { 0 } else { between.split(',').count() }
    }
}

/// The groups, in display order.
const GROUPS: &[&[HostFn]] = &[
    text::TABLE,
    patterns::TABLE,
    fingerprint::TABLE,
    numbers::TABLE,
    lists::TABLE,
    maps::TABLE,
    html::TABLE,
    markdown::TABLE,
    colors::TABLE,
    encoding::TABLE,
];

/// The groups of functions that only tests may call.
const TEST_GROUPS: &[&[HostFn]] = &[asserts::TABLE, test_api::TABLE];

static REGISTRY: LazyLock<Vec<HostFn>> = LazyLock::new(|| GROUPS.concat());
static TEST_REGISTRY: LazyLock<Vec<HostFn>> = LazyLock::new(|| TEST_GROUPS.concat());

/// Every function provided to scripts, by group.
pub fn registry() -> &'static [HostFn] {
    &REGISTRY
}

/// Every additional function provided to tests (`*_test.rhai`), by group.
pub fn test_registry() -> &'static [HostFn] {
    &TEST_REGISTRY
}

/// Registers every function of the [`registry`] with an engine.
pub fn register(engine: &mut Engine) {
    for function in registry() {
        (function.bind)(engine, function.name);
    }
}

/// Registers every function of the [`test_registry`]. Linking ensures that only tests call them.
pub(crate) fn register_for_tests(engine: &mut Engine) {
    for function in test_registry() {
        (function.bind)(engine, function.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running_test::{TestHost, TestQuestion, set_host};
    use crate::{Extend, ScriptFault, ScriptLimits, View, build_engine};
    use rhai::{Dynamic, EvalAltResult, Scope};
    use serde_json::{Value, json};
    use std::collections::BTreeSet;
    use std::rc::Rc;

    fn engine(extend: Extend) -> Engine {
        build_engine(&ScriptLimits::default(), ["name", "score", "repos"], extend)
    }

    /// Evaluates a script. Returns its value or the fault it raised.
    pub(super) fn eval(script: &str) -> Result<Dynamic, ScriptFault> {
        eval_with(&View::null(), script)
    }

    /// Evaluates a script in which `artifact` is defined.
    pub(super) fn eval_with(artifact: &View, script: &str) -> Result<Dynamic, ScriptFault> {
        let mut scope = Scope::new();
        scope.push_dynamic("artifact", artifact.dynamic());
        engine(register).eval_with_scope(&mut scope, script).map_err(|error| fault(&error))
    }

    fn register_all(engine: &mut Engine) {
        register(engine);
        register_for_tests(engine);
    }

    /// A test host for the examples.
    struct ExampleHost;

    impl TestHost for ExampleHost {
        fn answer(&self, question: TestQuestion, name: &str, inputs: &Value) -> Result<Value, Box<asterisk_diag::Diagnostic>> {
            Ok(match question {
                TestQuestion::Verdict => {
                    json!({ "fired": inputs["artifact"]["score"] == 0.9, "to": null, "because": "seen before", "context": {} })
                }
                TestQuestion::Judge => json!({ "defect": "ti001", "decided": false }),
                TestQuestion::Root => json!({ "key": "" }),
                TestQuestion::Decide => json!({ "edge": "H1" }),
                TestQuestion::Respond => {
                    json!({ "text": format!("hello {}", inputs["params"]["failure"]["name"].as_str().unwrap_or("")) })
                }
                TestQuestion::Effects => json!([{ "effect": "note", "text": inputs["artifact"]["text"] }]),
                TestQuestion::Fixture => json!({ "score": if name.ends_with("known.json") { 0.9 } else { 0.0 } }),
            })
        }
    }

    /// Evaluates a script that may call test functions.
    pub(super) fn eval_in_test(script: &str) -> Result<Dynamic, ScriptFault> {
        set_host(Some(Rc::new(ExampleHost)));
        let value = engine(register_all).eval(script).map_err(|error| fault(&error));
        set_host(None);
        value
    }

    /// The fault in an error; other errors are converted.
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
    fn names_are_unique_and_groups_are_contiguous() {
        let all = || registry().iter().chain(test_registry());
        let names: BTreeSet<_> = all().map(|function| (function.name, function.parameters())).collect();
        assert_eq!(names.len(), all().count());
        let groups: BTreeSet<_> = all().map(|function| function.group).collect();
        let mut runs: Vec<_> = all().map(|function| function.group).collect();
        runs.dedup();
        assert_eq!(runs.len(), groups.len(), "{runs:?}");
    }

    #[test]
    fn exactly_the_functions_of_the_table_are_registered() {
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
