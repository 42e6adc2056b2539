//! Functions with which tests use the engine: rules, decisions, responders, effects, and fixtures. Available in `*_test.rhai`
//! files only.

use super::HostFn;
use super::args::{HostFnResult, fail};
use crate::View;
use crate::fault::ScriptFault;
use crate::guard::charge;
use crate::json;
use crate::running_test::{TestQuestion, host};
use rhai::Dynamic;
use serde_json::Value;

const GROUP: &str = "asking";

/// The functions of this group.
pub(super) const TABLE: &[HostFn] = &[
    HostFn {
        name: "verdict",
        signature: "verdict(rule: string, inputs: map) -> map",
        group: GROUP,
        doc: "Calls a rule as a walk does: with read-only inputs, the artifact in the schema of the rule's node. The inputs are `#{ artifact, state, vars, pipeline }`, all optional; vars override those of the pipeline, state is as for `asterisk eval route --state`. Returns `#{ fired, to, because, context }`.",
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
        doc: "The verdict of a failure, as a walk computes it by the rules under `verdict:` of the pipeline. The inputs are `#{ failure, needs, vars, pipeline }`, all optional. The result is documented by `asterisk doc verdict`.",
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
        doc: "The root of a failure, as a walk finds it by the rules under `roots:` of the pipeline. The inputs are `#{ failure, needs, vars, pipeline }`, all optional. The result is documented by `asterisk doc root`.",
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
        doc: "Makes the routing decision of a node, with the inputs of `verdict`. The result is that of `asterisk eval route`: `#{ edge, to, because, context, advisories, loops, considered }`, or `#{ error, message, considered }` without edge and target if no edge fires.",
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
        doc: "Calls a responder, or any other function of parameters and vars, as a walk does. The inputs are `#{ params, vars, pipeline }`; omitted params are as in an empty case.",
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
        doc: "Calls the effect function of an artifact as a walk does. The inputs are `#{ artifact, params, pipeline }`.",
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
        doc: "The data of a JSON file in the directory of the test, or below it.",
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
        doc: "The data as passed to functions by the host: read-only, and strict about missing fields.",
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
    let Some(host) = host() else { return fail("this is only available in tests") };
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
        Err(failure) => fail(format!("the value at `{}` {}", failure.path, failure.what)),
    }
}
