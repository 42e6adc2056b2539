//! 200 stages in 20 waves with a no-op agent, against the same nodes as plain steps in the same waves; and the same stages answered from
//! the cache in the store.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_adapters::agent::{AnswerCache, StageAnswerer};
use asterisk_base::model::{Hash, Launch};
use asterisk_diag::Source;
use asterisk_project::{LinkSettings, Project, Sources};
use asterisk_store::{Durability, Store};
use asterisk_walk::{Answerer, NodeAnswer, NullJournal, Plan, Refusal, Request, WalkStatus};
use bundled::{Same, begin, launch, walk};
use harness::{Table, measure, worst};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

const WAVES: usize = 20;
const EACH: usize = 10;

/// Panics if it is called.
struct Never;

impl Answerer for Never {
    fn name(&self) -> &'static str {
        "never"
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        panic!("`{}` is not in the cache", request.node_name());
    }
}

/// The cached answers of a store.
struct Kept(Store);

impl AnswerCache for Kept {
    fn cached(&self, key: &Hash) -> Option<Value> {
        self.0.cached_answer(key).ok().flatten()
    }
}

/// A store with the cached answers of a walk of the plan.
fn kept(path: &std::path::Path, plan: &Plan, launch: &Launch) -> Store {
    let store = Store::open(path, Durability::Batch).expect("a store");
    let journal = begin(&store, "run", launch);
    let answer = Same(Arc::new(json!({ "content": "done" })));
    assert_eq!(walk(plan, &answer, &journal, launch, 0).status, WalkStatus::Done);
    assert_eq!(store.cached_answers().expect("a count"), WAVES * EACH);
    store
}

/// The nodes of all waves; each depends on one of the previous wave.
fn plan(more: &str) -> Plan {
    let mut text = String::from("pipeline: p\nmax_steps: 0\nnodes:\n");
    for wave in 0..WAVES {
        for at in 0..EACH {
            let after = if wave == 0 { "[]".to_owned() } else { format!("[n{}_{at}]", wave - 1) };
            let _ = writeln!(text, "  - {{ name: n{wave}_{at}, after: {after}{more} }}");
        }
    }
    text.push_str("done: _done\n");
    let file = |name: &str, text: &str| Source::new(name, text);
    let sources = Sources {
        scripts: vec![
            file("agents/echo.rhai", include_str!("../scripts/agents/echo.rhai")),
            file("advisors/completeness.rhai", include_str!("../scripts/advisors/completeness.rhai")),
        ],
        templates: Vec::new(),
        data: vec![file("policy.yaml", include_str!("../scripts/data/policy.yaml"))],
        pipeline: Source::new("p.yaml", text),
        subpipelines: BTreeMap::new(),
        missing: BTreeMap::new(),
        bundle: None,
    };
    let project = Project::link(sources, LinkSettings::default()).unwrap_or_else(|found| panic!("{found}"));
    Plan::clone(&project.plan)
}

fn main() -> ExitCode {
    let (launch, answer): (Launch, _) = (launch(1), Same(Arc::new(json!({ "content": "done" }))));
    let plain = plan("");
    let tasks = plan(", agent: EchoAgent, task: work");
    let gated = plan(", agent: EchoAgent, task: work, gate: CompletenessAdvisor");
    for plan in [&plain, &tasks, &gated] {
        assert_eq!(walk(plan, &answer, &NullJournal, &launch, 0).status, WalkStatus::Done);
    }
    let run = |plan: &Plan| drop(black_box(walk(plan, &answer, &NullJournal, &launch, 0)));
    let dir = tempfile::tempdir().expect("a directory");
    let store = kept(&dir.path().join("store.db"), &tasks, &launch);
    let cached = StageAnswerer { inner: Box::new(Never), files: None, cache: Some(Box::new(Kept(store))) };
    let hits = |plan: &Plan| {
        let done = walk(plan, &cached, &NullJournal, &launch, 0);
        assert_eq!(done.status, WalkStatus::Done, "every answer is a hit");
    };
    let all = measure(
        10,
        3,
        &mut [
            ("plain", &mut || run(&plain)),
            ("tasks", &mut || run(&tasks)),
            ("gated", &mut || run(&gated)),
            ("cached", &mut || hits(&tasks)),
        ],
    );
    let [plain, tasks, gated, cached] = [all[0] / 1e6, all[1] / 1e6, all[2] / 1e6, all[3] / 1e6];
    let mut table = Table::new("policy: 200 nodes in 20 waves", "ms");
    table.plain("plain nodes", plain);
    table.within("stages with a task", tasks, plain, 3.0);
    table.against("stages with a task and an advisor", gated, plain);
    let stages = table.finish();
    let mut table = Table::new("policy: an answer from the cache", "us");
    // The cost of a hit is the difference to a step whose answer is constant.
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let hit = (cached - tasks) * 1000.0 / (WAVES * EACH) as f64;
    table.within("a hit: key, read, parse", hit, 200.0, 1.0);
    worst([stages, table.finish()])
}
