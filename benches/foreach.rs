//! A node with 1 000 branches whose artifacts are appended to a list, against as many steps in sequence; a sub-pipeline of ten nodes against
//! the same nodes inlined. All answers are constant, so only the walk is measured.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_base::model::Launch;
use asterisk_diag::Source;
use asterisk_project::{LinkSettings, Project, Sources};
use asterisk_walk::{NullJournal, Plan, WalkStatus};
use bundled::{Same, launch, walk};
use harness::{Table, measure};
use serde_json::json;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

fn plan(text: &str, part: Option<&str>) -> Plan {
    let sources = Sources {
        scripts: Vec::new(),
        templates: Vec::new(),
        data: Vec::new(),
        pipeline: Source::new("p.yaml", text),
        subpipelines: part
            .map(|part| ("inner".to_owned(), Source::new("inner.yaml", part)))
            .into_iter()
            .collect::<BTreeMap<_, _>>(),
        missing: BTreeMap::new(),
        bundle: None,
    };
    let project = Project::link(sources, LinkSettings::default()).unwrap_or_else(|found| panic!("{found}"));
    Plan::clone(&project.plan)
}

/// Ten nodes in sequence, repeated the given number of times.
fn chain(name: &str, rounds: usize) -> String {
    let nodes = 10;
    let list: String = (0..nodes).fold(String::new(), |text, at| format!("{text}  - {{ name: n{at} }}\n"));
    let to = |at: usize| if at + 1 == nodes { "_done".to_owned() } else { format!("n{}", at + 1) };
    let again = if rounds > 1 {
        format!("  - {{ id: again, from: n9, to: n0, loop: true, condition: \"state.loops.again < {}\" }}\n", rounds - 1)
    } else {
        String::new()
    };
    let edges: String =
        (0..nodes).fold(String::new(), |text, at| format!("{text}  - {{ id: E{at}, from: n{at}, to: {} }}\n", to(at)));
    format!("pipeline: {name}\nmax_steps: 0\nnodes:\n{list}edges:\n{again}{edges}start: n0\ndone: _done\n")
}

fn main() -> ExitCode {
    let (launch, answer): (Launch, _) = (launch(1), Same(Arc::new(json!({ "n": 1 }))));
    let items: Vec<String> = (0..1_000).map(|item| item.to_string()).collect();
    let fan = |most: usize| {
        let text = format!(
            "pipeline: p\nnodes:\n  - {{ name: each, foreach: \"[{}]\", concurrency: {most} }}\nedges: [{{ id: E, from: each, to: _done }}]\nstart: each\ndone: _done\n",
            items.join(", ")
        );
        plan(&text, None)
    };
    let (one, four, plain) = (fan(1), fan(4), plan(&chain("p", 100), None));
    let whole = "pipeline: p\nnodes: [{ name: part, pipeline: inner }]\nedges: [{ id: E, from: part, to: _done }]\nstart: part\ndone: _done\n";
    let (part, inlined) = (plan(whole, Some(&chain("inner", 1))), plan(&chain("p", 1), None));
    for plan in [&one, &four, &plain, &part, &inlined] {
        assert_eq!(walk(plan, &answer, &NullJournal, &launch, 0).status, WalkStatus::Done);
    }
    let run = |plan: &Plan| drop(black_box(walk(plan, &answer, &NullJournal, &launch, 0)));
    let many = measure(3, 7, &mut [("plain", &mut || run(&plain)), ("one", &mut || run(&one)), ("four", &mut || run(&four))]);
    let few = measure(100, 20, &mut [("inlined", &mut || run(&inlined)), ("part", &mut || run(&part))]);
    let mut table = Table::new("fan: 1 000 branches; a part of ten nodes", "us");
    table.plain("1 000 steps, one after the other", many[0] / 1000.0);
    table.against("1 000 branches, one at a time", many[1] / 1000.0, many[0] / 1000.0);
    table.against("1 000 branches, four at a time", many[2] / 1000.0, many[0] / 1000.0);
    table.plain("ten nodes, inlined", few[0] / 1000.0);
    table.against("ten nodes, as a part", few[1] / 1000.0, few[0] / 1000.0);
    table.finish()
}
