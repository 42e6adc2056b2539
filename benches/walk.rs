//! A stubbed walk of seven steps and fifteen edge evaluations in memory: decision records are made, and stored nowhere.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/native.rs"]
mod native;

use asterisk::walk::Nowhere;
use bundled::{Canned, EDGES, decisions_only, launch, plan, walk};
use harness::{Table, measure};
use std::hint::black_box;
use std::process::ExitCode;
use std::thread;

/// Walks in a row of one thread.
const BATCH: u32 = 250;

/// The same work on so many threads at once.
fn on_threads(threads: usize, work: &(impl Fn() + Sync)) {
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| (0..BATCH).for_each(|_| work()));
        }
    });
}

fn main() -> ExitCode {
    let (whole, launch, canned) = (plan(), launch(1), Canned::new(1));
    let plan = decisions_only(whole.clone());
    let edges: Vec<String> =
        walk(&plan, &canned, &Nowhere, &launch, 0).history.iter().map(|visit| visit.edge.to_string()).collect();
    assert_eq!(edges, EDGES);
    let artifacts = native::artifacts();
    assert_eq!(native::walk(&artifacts).1, 15);

    let scripted = || drop(black_box(walk(&plan, &canned, &Nowhere, &launch, 0)));
    let effects = || drop(black_box(walk(&whole, &canned, &Nowhere, &launch, 0)));
    // As many native walks as take about as long as a scripted one, so that starting threads weighs the same.
    let natively = || (0..20).for_each(|_| drop(black_box(native::walk(black_box(&artifacts)))));
    let best = measure(
        60,
        1,
        &mut [
            ("native", &mut || on_threads(1, &natively)),
            ("native, 2 threads", &mut || on_threads(2, &natively)),
            ("scripted", &mut || on_threads(1, &scripted)),
            ("scripted, 2 threads", &mut || on_threads(2, &scripted)),
            ("with effects", &mut || on_threads(1, &effects)),
        ],
    );
    let micros = |ns: f64| ns / 1000.0 / f64::from(BATCH);
    let native = micros(best[0]) / 20.0;
    let mut table = Table::new("walk: seven steps, fifteen edge evaluations, in memory", "us");
    table.plain("native closures", native);
    table.at_most("scripted, with decision records", micros(best[2]), 30.0);
    table.against("scripted, with decision records", micros(best[2]), native);
    table.against("as bundled, with effect scripts and their parameters", micros(best[4]), native);
    let (native, scripted) = (2.0 * best[0] / best[1], 2.0 * best[2] / best[3]);
    table.at_least("two threads: times faster than one (floor: native)", scripted, native, 0.85);
    table.finish()
}
