//! A walk of seven steps and fifteen edge evaluations with canned answers, in memory: decision records are created and dropped.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/memory.rs"]
mod memory;
#[path = "harness/native.rs"]
mod native;

use asterisk_walk::NullJournal;
use bundled::{Canned, EDGES, decisions_only, launch, plan, walk};
use harness::Table;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// Consecutive walks of one thread, and the number of native walks that take about as long as a scripted one.
const BATCH: u32 = 100;
const NATIVE: u32 = 150;
const ROUNDS: u32 = 150;

/// The CPU time of this thread in nanoseconds, without the time it waited for a processor. `None` if the system does not
/// report it.
fn on_processor() -> Option<f64> {
    // The system updates the figure when the thread leaves the processor.
    thread::sleep(Duration::from_micros(1));
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Runs the same work on several threads at once. Returns the nanoseconds per call of a thread; infinite if a thread had to
/// wait for a processor, because then they did not run at the same time.
fn on_threads(threads: u32, work: &(impl Fn(usize) + Sync)) -> f64 {
    let begin = Barrier::new(threads as usize);
    let batch = |thread: u32| {
        let before = on_processor();
        begin.wait();
        let start = Instant::now();
        (0..BATCH).for_each(|_| work(thread as usize));
        let wall = start.elapsed().as_secs_f64() * 1e9;
        match (before, on_processor()) {
            (Some(before), Some(after)) if wall > 1.1 * (after - before) => f64::INFINITY,
            (Some(before), Some(after)) => after - before,
            _ => wall,
        }
    };
    let batch = &batch;
    let taken: f64 = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || batch(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    taken / f64::from(threads) / f64::from(BATCH)
}

fn main() -> ExitCode {
    let (whole, launch, canned) = (plan(), launch(2), Canned::new(2));
    let plan = decisions_only(whole.clone());
    let edges: Vec<String> =
        walk(&plan, &canned, &NullJournal, &launch, 0).history.iter().map(|visit| visit.edge.to_string()).collect();
    assert_eq!(edges, EDGES);
    let artifacts = native::artifacts();
    assert_eq!(native::walk(&artifacts).1, 15);

    let scripted = |case| drop(black_box(walk(&plan, &canned, &NullJournal, &launch, case)));
    let effects = |case| drop(black_box(walk(&whole, &canned, &NullJournal, &launch, case)));
    let natively = |_| (0..NATIVE).for_each(|_| drop(black_box(native::walk(black_box(&artifacts)))));
    let mut best = [f64::INFINITY; 5];
    for _ in 0..ROUNDS {
        let round = [
            on_threads(1, &natively),
            on_threads(2, &natively),
            on_threads(1, &scripted),
            on_threads(2, &scripted),
            on_threads(1, &effects),
        ];
        best.iter_mut().zip(round).for_each(|(best, round)| *best = best.min(round));
    }
    let [native, native_two, scripted, scripted_two, effects] = best.map(|ns| ns / 1000.0);
    let one = native / f64::from(NATIVE);
    let mut table = Table::new("walk: seven steps, fifteen edge evaluations, in memory", "us");
    table.plain("native closures", one);
    table.at_most("scripted, with decision records", scripted, 30.0);
    table.against("scripted, with decision records", scripted, one);
    table.against("as bundled, with effect scripts and their parameters", effects, one);
    let (native, scripted) = (2.0 * native / native_two, 2.0 * scripted / scripted_two);
    table.at_least("two threads: times faster than one (floor: native)", scripted, native, 0.85);
    table.finish()
}
