//! 200 stages in 20 waves, answered by an agent that does nothing, against the same nodes as plain steps of the same waves.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk::diag::Source;
use asterisk::model::Launch;
use asterisk::project::{LinkSettings, Project, Sources};
use asterisk::walk::{Answerer, NodeAnswer, NullJournal, Plan, Refusal, Request, WalkStatus};
use bundled::{launch, walk};
use harness::{Table, measure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

const WAVES: usize = 20;
const EACH: usize = 10;

/// Answers everything with the same.
struct Same(Arc<Value>);

impl Answerer for Same {
    fn name(&self) -> &'static str {
        "same"
    }

    fn answer(&self, _: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        Ok(NodeAnswer::own(Arc::clone(&self.0), "stub", false))
    }
}

/// The nodes of all waves; each waits for one of the wave before.
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
    let all =
        measure(10, 3, &mut [("plain", &mut || run(&plain)), ("tasks", &mut || run(&tasks)), ("gated", &mut || run(&gated))]);
    let [plain, tasks, gated] = [all[0] / 1e6, all[1] / 1e6, all[2] / 1e6];
    let mut table = Table::new("policy: 200 nodes in 20 waves", "ms");
    table.plain("plain nodes", plain);
    table.within("stages with a task", tasks, plain, 3.0);
    table.against("stages with a task and an advisor", gated, plain);
    table.finish()
}
