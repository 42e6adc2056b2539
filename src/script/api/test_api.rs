//! Functions with which tests use the engine: rules, decisions, responders, effects, and fixtures. Available in `*_test.rhai`
//! files only.

use super::HostFn;
use super::args::{HostFnResult, fail};
use crate::script::View;
use crate::script::fault::ScriptFault;
use crate::script::guard::charge;
use crate::script::json;
use crate::script::running_test::{TestQuestion, host};
use rhai::Dynamic;
use serde_json::Value;

const GROUP: &str = "asking";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "verdict",
        signature: "verdict(rule: string, inputs: map) -> map",
        group: GROUP,
        doc: "Asks a rule as a walk does: with read-only inputs, the artifact in the form that the rule's node declares. The inputs are `#{ artifact, state, vars, pipeline }`, each may be left out; vars are laid over those of the pipeline, state is as `asterisk route --state` takes it. The answer is `#{ fired, to, because, context }`.",
        example: r#"verdict("rules/known.rhai#known", #{ artifact: #{ score: 0.9 } })"#,
        result: r#"#{ fired: true, to: (), because: "seen before", context: #{} }"#,
        bind: |engine, name| {
            engine.register_fn(name, |rule: &str, inputs: Dynamic| ask(TestQuestion::Verdict, rule, &inputs));
        },
    },
    HostFn {
        name: "judge",
        signature: "judge(inputs: map) -> map",
        group: GROUP,
        doc: "The verdict of a failure, as a walk makes it by the rules under `verdict:` of the pipeline. The inputs are `#{ failure, needs, vars, pipeline }`, each may be left out. The answer is as `asterisk doc verdict` explains it.",
        example: r#"judge(#{ failure: #{ error_message: "boom" } }).decided"#,
        result: "false",
        bind: |engine, name| {
            engine.register_fn(name, |inputs: Dynamic| ask(TestQuestion::Judge, "", &inputs));
        },
    },
    HostFn {
        name: "root",
        signature: "root(inputs: map) -> map",
        group: GROUP,
        doc: "The root of a failure, as a walk finds it by the rules under `roots:` of the pipeline. The inputs are `#{ failure, needs, vars, pipeline }`, each may be left out. The answer is as `asterisk doc root` explains it.",
        example: r#"root(#{ failure: #{ error_message: "boom" } }).key"#,
        result: r#""""#,
        bind: |engine, name| {
            engine.register_fn(name, |inputs: Dynamic| ask(TestQuestion::Root, "", &inputs));
        },
    },
    HostFn {
        name: "decide",
        signature: "decide(node: string, inputs: map) -> map",
        group: GROUP,
        doc: "Makes the routing decision of a node, with the inputs that `verdict` takes. The answer is that of `asterisk route`: `#{ edge, to, because, context, advisories, loops, considered }`, or `#{ error, message, considered }` without edge and target where no way leads on.",
        example: r#"decide("recall", #{ artifact: #{ score: 0.9 } }).edge"#,
        result: r#""H1""#,
        bind: |engine, name| {
            engine.register_fn(name, |node: &str, inputs: Dynamic| ask(TestQuestion::Decide, node, &inputs));
        },
    },
    HostFn {
        name: "respond",
        signature: "respond(function: string, inputs: map) -> map",
        group: GROUP,
        doc: "Asks a responder, or any other function of parameters and vars, as a walk does. The inputs are `#{ params, vars, pipeline }`; what the params leave out is as in an empty case.",
        example: r#"respond("agents/greet.rhai#greet", #{ params: #{ failure: #{ name: "t1" } } })"#,
        result: r#"#{ text: "hello t1" }"#,
        bind: |engine, name| {
            engine.register_fn(name, |function: &str, inputs: Dynamic| ask(TestQuestion::Respond, function, &inputs));
        },
    },
    HostFn {
        name: "effects",
        signature: "effects(function: string, inputs: map) -> list",
        group: GROUP,
        doc: "Asks for the effects of an artifact as a walk does. The inputs are `#{ artifact, params, pipeline }`.",
        example: r#"effects("effects/note.rhai#note", #{ artifact: #{ text: "x" } })"#,
        result: r#"[#{ effect: "note", text: "x" }]"#,
        bind: |engine, name| {
            engine.register_fn(name, |function: &str, inputs: Dynamic| ask(TestQuestion::Effects, function, &inputs));
        },
    },
    HostFn {
        name: "fixture",
        signature: "fixture(file: string) -> any",
        group: GROUP,
        doc: "The data of a JSON file beside the test, or below the directory it is in.",
        example: r#"fixture("fixtures/known.json").score"#,
        result: "0.9",
        bind: |engine, name| {
            engine.register_fn(name, |file: &str| ask(TestQuestion::Fixture, file, &Dynamic::UNIT));
        },
    },
    HostFn {
        name: "view",
        signature: "view(data: any) -> any",
        group: GROUP,
        doc: "The data as functions get it from the host: read-only, and strict about fields that are not there.",
        example: "view(#{ a: [1, 2] }).a.len()",
        result: "2",
        bind: |engine, name| {
            engine.register_fn(name, |data: Dynamic| {
                Ok::<_, Box<rhai::EvalAltResult>>(View::plain(&plain(&data)?, "data").dynamic())
            });
        },
    },
];

fn ask(question: TestQuestion, name: &str, inputs: &Dynamic) -> HostFnResult<Dynamic> {
    let inputs = plain(inputs)?;
    if !inputs.is_object() && !inputs.is_null() {
        return fail("the inputs are a map: `#{ artifact: #{ .. }, state: #{ .. }, vars: #{ .. } }`");
    }
    let Some(host) = host() else { return fail("this is known in tests only") };
    match host.answer(question, name, &inputs) {
        Ok(answer) => {
            charge(answer.to_string().len())?;
            rhai::serde::to_dynamic(&answer)
        }
        Err(diagnostic) => ScriptFault::from(*diagnostic).fail(),
    }
}

fn plain(value: &Dynamic) -> HostFnResult<Value> {
    match json::from_dynamic(value) {
        Ok(value) => Ok(value),
        Err(failure) => fail(format!("what stands at `{}` {}", failure.path, failure.what)),
    }
}
