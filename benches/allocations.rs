//! Allocations of a walk, which do not depend on the machine. Separate from the timing benchmarks, because counting takes time.

#[path = "harness/bundled.rs"]
mod bundled;
mod harness;
#[path = "harness/native.rs"]
mod native;

use alloc_metrics::MetricAlloc;
use asterisk_walk::NullJournal;
use bundled::{Canned, decisions_only, launch, plan, walk};
use harness::Table;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::hint::black_box;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: MetricAlloc<&StatsAlloc<System>> = MetricAlloc::new(&INSTRUMENTED_SYSTEM);

/// The allocations and bytes of one call after warm-up.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn count(mut work: impl FnMut()) -> (f64, f64) {
    const CALLS: usize = 50;
    work();
    let region = Region::new(&INSTRUMENTED_SYSTEM);
    (0..CALLS).for_each(|_| work());
    let change = region.change();
    let calls = CALLS as f64;
    ((change.allocations + change.reallocations) as f64 / calls, change.bytes_allocated as f64 / calls)
}

fn main() -> ExitCode {
    let (whole, launch, canned) = (plan(), launch(1), Canned::new(1));
    let plan = decisions_only(whole.clone());
    let artifacts = native::artifacts();
    let native = count(|| drop(black_box(native::walk(&artifacts))));
    let scripted = count(|| drop(black_box(walk(&plan, &canned, &NullJournal, &launch, 0))));
    let effects = count(|| drop(black_box(walk(&whole, &canned, &NullJournal, &launch, 0))));
    let mut table = Table::new("allocations: seven steps, fifteen edge evaluations, in memory", "count");
    table.plain("native closures", native.0);
    table.at_most("scripted, with decision records", scripted.0, BOUND);
    table.plain("as bundled, with effect scripts and their parameters", effects.0);
    table.plain("bytes: scripted", scripted.1);
    table.plain("bytes: as bundled", effects.1);
    table.finish()
}

/// The bound on the allocations of a walk: the current number plus a margin.
const BOUND: f64 = 400.0;
