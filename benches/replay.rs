//! 100 000 recorded decisions made again, read from the store and all, against as many bare calls of the same rules.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;

use asterisk::clock::Timestamp;
use asterisk::pipeline::EdgeIx;
use asterisk::project::Answers;
use asterisk::script::View;
use asterisk::session::{Session, Setup};
use asterisk::store::{Durability, NewRun, Status, Store};
use asterisk::trace::replay::{Asked, replay};
use asterisk::walk::{Blob, Plan, WalkState};
use bundled::{Canned, artifacts, decisions_only, launch, setup, walk};
use harness::{Table, measure};
use serde_json::{Map, json};
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

/// Cases; each makes seven decisions.
const CASES: usize = 14_286;
#[expect(clippy::cast_precision_loss, reason = "a hundred thousand")]
const DECISIONS: f64 = CASES as f64 * 7.0;

/// A store with one run over so many cases, walked by the bundled rules.
fn record(path: &Path) {
    let project = Session::new(setup()).project(None, Answers::Others).expect("the bundled project links");
    let plan = decisions_only(Plan::clone(&project.plan));
    let launch = launch(CASES);
    let store = Store::open(path, Durability::Batch).expect("a store");
    let (manifest, blobs) = project.manifest();
    let new = NewRun {
        run: "run",
        pipeline: "rca-investigation",
        started_at: Timestamp::default(),
        seed: 0,
        args: Blob::new(json!({ "via": "script", "stub": null, "files": "never", "pipeline": "rca-investigation" }).to_string()),
        manifest: manifest.blob(),
        blobs,
        launch: &launch,
        cases: launch.cases.iter().collect(),
    };
    let journal = store.begin_run(&new).expect("a new run");
    let canned = Canned::new(CASES);
    (0..CASES).for_each(|case| drop(walk(&plan, &canned, &journal, &launch, case)));
    store.finish_run("run", Status::Done, Timestamp::default()).expect("it ends");
}

/// The rules that the seven decisions ask, called with inputs that are ready.
fn bare(plan: &Plan) -> impl FnMut() + '_ {
    let state = WalkState::default();
    let mut calls = Vec::new();
    for (name, artifact) in artifacts(1) {
        let node = plan.pipeline.node(name).expect("a node");
        let artifact = View::of(&artifact, &plan.node(node).kind, "artifact");
        let state = state.view(&plan.node(node).name, None, Timestamp::default(), 0.5, &plan.walker.view);
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

/// The whole of a replay with an edited threshold.
fn again(session: &Session, parallel: usize, flips: usize) -> impl FnMut() + '_ {
    move || {
        let asked = Asked { runs: Vec::new(), pipeline: None, parallel };
        let done = replay(session, &asked).expect("it is decided again");
        assert_eq!((done.cases, done.flips.len()), (CASES, flips));
    }
}

fn main() -> ExitCode {
    let dir = tempfile::tempdir().expect("a directory");
    let store = dir.path().join("store.db");
    record(&store);
    let with = |name: &str, value: f64| {
        let vars = Map::from_iter([(name.to_owned(), json!(value))]);
        Session::new(Setup { store: store.clone(), vars, ..setup() })
    };
    // No artifact is between the two values: every decision is made again, and none flips.
    let (same, flipped) = (with("recall_hit", 0.9), with("convergence_sufficient", 0.9));
    let plan = Session::new(setup()).project(None, Answers::Others).expect("links").plan;
    let (mut bare, mut one, mut two) = (bare(&plan), again(&same, 1, 0), again(&same, 2, 0));
    let best = measure(4, 1, &mut [("bare", &mut bare), ("one", &mut one), ("two", &mut two)]);
    let each = |nanos: f64| nanos / DECISIONS / 1000.0;
    let mut table = Table::new("replay: 100 000 recorded decisions, each", "us");
    table.plain("the same rules called, inputs ready", each(best[0]));
    table.within("decided again, one thread", each(best[1]), each(best[0]), 3.0);
    table.within("decided again, two threads", each(best[2]), each(best[0]), 3.0);
    let mut all = again(&flipped, 2, CASES);
    let best = measure(1, 1, &mut [("all", &mut all)]);
    table.plain("decided again, every case flips and is explained", each(best[0]));
    table.finish()
}
