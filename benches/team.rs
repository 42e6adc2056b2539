//! A team of four with a scripted scheduler and the four bundled masks, against the plain walk of the same seven steps.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;

use asterisk_diag::Source;
use asterisk_project::{LinkSettings, Project};
use asterisk_session::Session;
use asterisk_walk::{NullJournal, Plan};
use bundled::{Canned, EDGES, decisions_only, launch, walk};
use harness::{Table, measure};
use std::hint::black_box;
use std::process::ExitCode;

/// The bundled project with a team.
fn with_team() -> Plan {
    let project = Session::new(bundled::setup()).project(None, asterisk_project::AnswererNames::Others).expect("it links");
    let mut sources = project.sources.clone();
    let team = "team: { walkers: [Herald, Seeker, Sentinel, Weaver], scheduler: schedulers/affinity.rhai }\n";
    sources.pipeline = Source::new(sources.pipeline.name(), format!("{}\n{team}", sources.pipeline.text()));
    let linked = Project::link(sources, LinkSettings::default()).unwrap_or_else(|found| panic!("{found}"));
    Plan::clone(&linked.plan)
}

/// A plan without effects and queries, but with its masks.
fn masked(plan: &Plan) -> Plan {
    let masks: Vec<_> = plan.nodes.iter().map(|node| node.masks.clone()).collect();
    let mut plan = decisions_only(plan.clone());
    plan.nodes.iter_mut().zip(masks).for_each(|(node, masks)| node.masks = masks);
    plan
}

fn main() -> ExitCode {
    let (whole, launch, canned) = (with_team(), launch(1), Canned::new(1));
    let team = decisions_only(whole.clone());
    let plain = Plan { team: None, ..team.clone() };
    let both = masked(&whole);
    let masks = Plan { team: None, ..both.clone() };
    for plan in [&plain, &team, &masks, &both] {
        let state = walk(plan, &canned, &NullJournal, &launch, 0);
        assert_eq!(state.history.iter().map(|visit| visit.edge.as_str()).collect::<Vec<_>>(), EDGES);
        assert_eq!(state.handoffs, if plan.team.is_some() { 3 } else { 0 });
    }
    let one = |plan: &Plan| drop(black_box(walk(plan, &canned, &NullJournal, &launch, 0)));
    let taken = measure(
        200,
        50,
        &mut [
            ("plain", &mut || one(&plain)),
            ("team", &mut || one(&team)),
            ("masks", &mut || one(&masks)),
            ("both", &mut || one(&both)),
        ],
    );
    let [plain, team, masks, both] = [0, 1, 2, 3].map(|at| taken[at] / 1000.0);
    let mut table = Table::new("team: seven steps, four walkers, a scripted scheduler, four masks", "us");
    table.plain("the plain walk", plain);
    table.against("with a team", team, plain);
    table.against("with masks", masks, plain);
    table.against("with both", both, plain);
    table.finish()
}
