//! One routing decision with prepared inputs, against a bare Rhai evaluation of the same expression over scope constants.

mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::model::Kind;
use asterisk_diag::Source;
use asterisk_project::{LinkSettings, Project, Sources};
use asterisk_script::{FunctionRef, ScriptFunction, View};
use asterisk_walk::{Plan, StepMoment, WalkState, decide};
use harness::{Table, measure};
use rhai::{Dynamic, Engine, Scope};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;

const EXPRESSION: &str = "artifact.known && artifact.confidence >= vars.recall_hit";

fn artifact(keys: usize) -> Value {
    let mut value = json!({ "known": true, "confidence": 0.93, "reasoning": "the servo was restarted" });
    for at in 3..keys {
        value[format!("field_{at:05}")] = at.into();
    }
    value
}

fn project() -> Project {
    let rules = format!("fn hit(artifact, state, vars) {{ {EXPRESSION} }}");
    let pipeline = format!(
        "pipeline: one\nvars: {{ recall_hit: 0.80 }}\nnodes:\n  - name: script\n    family: any\n  - name: inline\n    family: any\n\
         edges:\n  - {{ id: R, from: script, to: _done, rule: \"r.rhai#hit\" }}\n\
         \x20 - {{ id: C, from: inline, to: _done, condition: \"{EXPRESSION}\" }}\nstart: script\ndone: _done\n"
    );
    let sources = Sources {
        scripts: vec![Source::new("r.rhai", rules)],
        templates: Vec::new(),
        data: Vec::new(),
        pipeline: Source::new("one.yaml", pipeline),
        subpipelines: BTreeMap::new(),
        missing: BTreeMap::new(),
        bundle: None,
    };
    Project::link(sources, LinkSettings::default()).unwrap_or_else(|found| panic!("{found:?}"))
}

/// The decision of the named node.
fn route<'a>(plan: &'a Plan, node: &str, artifact: &'a View, state: &'a View) -> impl FnMut() + 'a {
    let node = plan.pipeline.node(node).expect("a node");
    move || assert!(black_box(decide(plan, node, artifact, state)).is_ok_and(|decision| decision.choice.is_some()))
}

fn call<'a>(function: &'a ScriptFunction, plan: &'a Plan, artifact: &'a View, state: &'a View) -> impl FnMut() + 'a {
    move || drop(black_box(function.decide(artifact, state, plan.vars())).expect("a verdict"))
}

/// A bare evaluation of the compiled expression, with maps as scope constants.
fn bare(engine: &Engine, artifact: &Value) -> impl FnMut() {
    let ast = engine.compile_expression(EXPRESSION).expect("compiles");
    let mut scope = Scope::new();
    let map = |value: &Value| rhai::serde::to_dynamic(value).expect("a map");
    scope.push_constant_dynamic("artifact", map(artifact));
    scope.push_constant_dynamic("state", Dynamic::from_map(rhai::Map::new()));
    scope.push_constant_dynamic("vars", map(&json!({ "recall_hit": 0.80 })));
    move || assert!(black_box(engine.eval_ast_with_scope::<bool>(&mut scope, &ast)).is_ok_and(|hit| hit))
}

fn main() -> ExitCode {
    let project = project();
    let plan = &*project.plan;
    let rule = project.library.function(&FunctionRef { file: "r.rhai".into(), function: "hit".into() }, 3).expect("the rule");
    let condition = project.library.condition("C").expect("the condition");
    let moment = StepMoment { now: asterisk_base::clock::Timestamp::default(), chance: 0.5 };
    let state = WalkState::default().view(&plan.nodes[0].view, None, moment, &plan.walker.view, 0);
    let mut table = Table::new("routing: one decision, inputs ready", "ns");
    for keys in [15, 15_000] {
        let json = artifact(keys);
        let view = View::of(&json, &Kind::Any, "artifact");
        let engine = Engine::new();
        let mut bare = bare(&engine, &json);
        let (mut by_rule, mut by_condition) = (call(&rule, plan, &view, &state), call(&condition, plan, &view, &state));
        let (mut script, mut inline) = (route(plan, "script", &view, &state), route(plan, "inline", &view, &state));
        let best = measure(
            60,
            2_000,
            &mut [
                ("bare", &mut bare),
                ("rule", &mut by_rule),
                ("condition", &mut by_condition),
                ("script", &mut script),
                ("inline", &mut inline),
            ],
        );
        table.plain(&format!("bare Rhai over scope constants, {keys} keys"), best[0]);
        table.within(&format!("a rule in a script, {keys} keys"), best[1], best[0], 3.0);
        table.within(&format!("an inline condition, {keys} keys"), best[2], best[0], 3.0);
        table.against(&format!("a node's decision with its record, rule, {keys} keys"), best[3], best[0]);
        table.against(&format!("a node's decision with its record, condition, {keys} keys"), best[4], best[0]);
    }
    table.finish()
}
