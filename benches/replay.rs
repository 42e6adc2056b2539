//! Replay of 100 000 recorded decisions, including reading them from the store, against as many bare calls of the same rules.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::clock::Timestamp;
use asterisk_decisions::replay::{ReplaySpec, replay};
use asterisk_pipeline::EdgeIx;
use asterisk_project::AnswererNames;
use asterisk_script::View;
use asterisk_session::{Session, Setup};
use asterisk_store::{Durability, NewRun, RunStatus, Store};
use asterisk_walk::{Blob, Plan, StepMoment, WalkState};
use bundled::{Canned, artifacts, decisions_only, launch, setup, walk};
use harness::{Table, measure};
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

/// The edited rules.
const RULES: &str = include_str!("../scripts/rules/rca.rhai");

/// The number of cases; each has seven decisions.
const CASES: usize = 14_286;
#[expect(clippy::cast_precision_loss, reason = "a hundred thousand")]
const DECISIONS: f64 = CASES as f64 * 7.0;

/// A store with one run over the given number of cases, with the bundled rules.
fn record(path: &Path) {
    let project = Session::new(setup()).project(None, AnswererNames::Others).expect("the bundled project links");
    let plan = decisions_only(Plan::clone(&project.plan));
    let launch = launch(CASES);
    let store = Store::open(path, Durability::Batch).expect("a store");
    let (manifest, blobs) = project.manifest();
    let new = NewRun {
        run: "run",
        pipeline: "rca-investigation",
        started_at: Timestamp::default(),
        settings: Blob::new(json!({ "via": "script", "pipeline": "rca-investigation" }).to_string()),
        manifest: manifest.blob(),
        blobs,
        launch: &launch,
        cases: launch.cases.iter().collect(),
    };
    let journal = store.begin_run(&new).expect("a new run");
    let canned = Canned::new(CASES);
    (0..CASES).for_each(|case| drop(walk(&plan, &canned, &journal, &launch, case)));
    store.finish_run("run", RunStatus::Done, Timestamp::default()).expect("it ends");
}

/// Calls the rules of the seven decisions with prepared inputs.
fn bare(plan: &Plan) -> impl FnMut() + '_ {
    let state = WalkState::default();
    let mut calls = Vec::new();
    for (name, artifact) in artifacts(1) {
        let node = plan.pipeline.node(name).expect("a node");
        let artifact = View::of(&artifact, &plan.node(node).kind, "artifact");
        let moment = StepMoment { now: Timestamp::default(), chance: 0.5 };
        let state = state.view(&plan.node(node).view, None, moment, &plan.walker.view, 0);
        let spec = plan.pipeline.at(node);
        let taken = |edge: &EdgeIx| bundled::EDGES.contains(&plan.edge_names[edge.0].as_str());
        let asked = spec.edges.iter().position(taken).expect("the edge taken");
        for edge in spec.advisories.iter().chain(&spec.edges[..=asked]) {
            calls.extend(plan.rule(*edge).map(|rule| (rule.function.clone(), artifact.clone(), state.clone())));
        }
    }
    move || {
        for _ in 0..CASES {
            for (rule, artifact, state) in &calls {
                drop(black_box(rule.decide(artifact, state, plan.vars())).expect("a verdict"));
            }
        }
    }
}

/// A whole replay with an edited threshold.
fn again(session: &Session, parallel: usize, flips: usize) -> impl FnMut() + '_ {
    move || {
        let asked = ReplaySpec { runs: Vec::new(), pipeline: None, parallel };
        let done = replay(session, &asked).expect("it is decided again");
        assert_eq!((done.cases, done.flips.len()), (CASES, flips));
    }
}

fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a directory");
    let store = dir.path().join("store.db");
    record(&store);
    let with = |name: &str, value: f64| {
        let mut setup = Setup { store: store.clone().into(), ..setup() };
        setup.texts.vars.insert(name.to_owned(), json!(value));
        Session::new(setup)
    };
    // No artifact is between the two values, so no decision flips.
    let (same, flipped) = (with("recall_hit", 0.9), with("convergence_sufficient", 0.9));
    let rules = |name: &str, edit: &dyn Fn(&str) -> String| {
        let scripts = dir.path().join(name);
        std::fs::create_dir_all(scripts.join("rules")).expect("a directory");
        std::fs::write(scripts.join("rules/rca.rhai"), edit(RULES)).expect("a script");
        Session::new(Setup { store: store.clone().into(), ..setup() }.with_scripts(&scripts))
    };
    let rule = rules("one", &|text| {
        let head = "fn recall_hit(artifact, state, vars) {";
        assert!(text.contains(head), "the rule is there");
        text.replace(head, &format!("{head}\n    let edited = 0;"))
    });
    // Any function may read what is outside functions, so every decision is re-evaluated.
    let every = rules("all", &|text| format!("{text}\nconst EDITED = 0;\n"));
    let plan = Session::new(setup()).project(None, AnswererNames::Others).expect("links").plan;
    let (mut bare, mut one, mut two) = (bare(&plan), again(&same, 1, 0), again(&same, 2, 0));
    let (mut rule, mut every, mut both) = (again(&rule, 1, 0), again(&every, 1, 0), again(&every, 2, 0));
    let best = measure(
        4,
        1,
        &mut [
            ("bare", &mut bare),
            ("one", &mut one),
            ("two", &mut two),
            ("rule", &mut rule),
            ("every", &mut every),
            ("both", &mut both),
        ],
    );
    let each = |nanos: f64| nanos / DECISIONS / 1000.0;
    let mut table = Table::new("replay: 100 000 recorded decisions, each", "us");
    table.plain("the same rules called, inputs ready", each(best[0]));
    table.within("an edited threshold, one thread", each(best[1]), each(best[0]), 3.0);
    table.within("an edited threshold, two threads", each(best[2]), each(best[0]), 3.0);
    table.within("an edited rule, one thread", each(best[3]), each(best[0]), 3.0);
    table.within("every rule edited, one thread", each(best[4]), each(best[0]), 6.0);
    table.within("every rule edited, two threads", each(best[5]), each(best[0]), 6.0);
    let mut all = again(&flipped, 2, CASES);
    let best = measure(1, 1, &mut [("all", &mut all)]);
    table.plain("an edited threshold, every case flips and is explained", each(best[0]));
    table.finish()
}
