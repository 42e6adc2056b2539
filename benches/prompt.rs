//! A prompt of about 4 KB: the bundled recall template over the parameters of a step, against bare minijinja with the same
//! template and data.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::model::{Case, Launch};
use asterisk_files::{Area, Overlay};
use asterisk_prompt::Values;
use asterisk_walk::{CaseParams, Plan, StepContext, StepMoment, TemplateView, WalkState};
use harness::{Table, measure};
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use std::hint::black_box;
use std::process::ExitCode;

/// minijinja with the bundled templates and only what they need: without limits, checks and source locations.
fn bare() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.expect("a syntax"));
    environment.add_filter("fence", |text: &str| {
        let marks = "`".repeat(4.max(run(text) + 1));
        format!("{marks}text\n{}\n{marks}", text.trim_end_matches('\n'))
    });
    environment.add_filter("code", |text: &str| {
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let marks = "`".repeat(run(&plain) + 1);
        format!("{marks}{plain}{marks}")
    });
    for source in Overlay::load(Area::Templates, None).expect("bundled").sources() {
        environment.add_template_owned(source.name().to_owned(), source.text().to_owned()).expect("parses");
    }
    environment
}

/// The longest run of backticks.
fn run(text: &str) -> usize {
    text.split(|ch| ch != '`').map(str::len).max().unwrap_or(0)
}

/// A launch with one failure of typical size.
fn launch() -> (Launch, Case) {
    let error = "Timed out after 60.001s.\nExpected\n    <string>: FREERUN\nto equal\n    <string>: LOCKED\n\tsuite/clock_test.go:88 +0x1d\n";
    let line = "2026-02-14T12:00:01Z daemon[7]: port 1 offset 512 s0 freq -20000 path delay 0\n";
    let case = Case {
        id: "case-1".into(),
        name: "the clock keeps its offset after a restart".into(),
        suite: "clock suite".into(),
        status: "FAILED".into(),
        error_message: error.repeat(2),
        log_snippet: line.repeat(8).into(),
        ..Case::default()
    };
    (Launch { run_id: "1".into(), name: "nightly".into(), cases: vec![case.clone()], ..Launch::default() }, case)
}

fn main() -> ExitCode {
    let plan: Plan = bundled::plan();
    let (launch, case) = launch();
    let node = plan.pipeline.node("recall").expect("a node");
    let state = WalkState::default();
    let moment = StepMoment { now: asterisk_base::clock::Timestamp::from_millis(1_771_104_069_000), chance: 0.5 };
    let step = StepContext { path: "1", moment, ..StepContext::between(&plan, node, &state) };
    let groups = CaseParams::new("run", &launch, &case);
    let needs: Vec<(String, asterisk_script::View)> = ["symptoms_similar", "rcas_of_symptom"]
        .map(|name| (name.to_owned(), asterisk_script::View::list("params.needs", [])))
        .into();
    let make = || groups.for_step(&case, &step, &step.state(None), &needs, &|_| Vec::new());
    let params = make();
    let template = plan.node(node).template.clone().expect("a template");
    let json = params.view.json();
    let ours = template.render(Values::of(&TemplateView(params.view.clone()))).expect("renders");
    let environment = bare();
    let floor = environment.get_template("recall.md").expect("there");
    let data = minijinja::Value::from(minijinja::value::Serde(&json));
    assert_eq!(floor.render(&data).expect("renders"), ours, "the same prompt");

    let (mut bare, mut lazy, mut whole, mut from_json) = (
        || drop(black_box(floor.render(&data))),
        || drop(black_box(template.render(Values::of(&TemplateView(params.view.clone()))))),
        || drop(black_box(template.render(Values::of(&TemplateView(make().view))))),
        || drop(black_box(template.render(&json))),
    );
    let figures =
        measure(60, 200, &mut [("bare", &mut bare), ("lazy", &mut lazy), ("whole", &mut whole), ("json", &mut from_json)]);
    let us: Vec<f64> = figures.iter().map(|figure| figure / 1e3).collect();
    let mut table = Table::new(&format!("prompt: {} bytes", ours.len()), "us");
    table.plain("bare minijinja, its data converted beforehand", us[0]);
    table.within("a prompt", us[1], us[0], 1.5);
    table.against("a prompt, its parameters put together first", us[2], us[0]);
    table.against("a prompt from a record's JSON", us[3], us[0]);
    table.finish()
}
