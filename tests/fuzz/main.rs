//! Hostile inputs for every reader of external bytes (`targets.rs` is the table): none may panic, hang, or use unbounded
//! resources.
//!
//! Inputs are real samples, mutated (`mutate.rs`). `cargo test --test fuzz` tries a few of each target, the same ones every time. The long
//! run tries new ones for the given time, for all targets or those whose names contain a word:
//!
//! ```text
//! ASTERISK_FUZZ_SECONDS=3600 [ASTERISK_FUZZ=yaml] cargo test --test fuzz -- --nocapture
//! ```
//!
//! Failing inputs are written to `tests/fuzz/corpus/TARGET/`, and every run begins with them. Only one target works at a
//! time, so that its allocations can be counted.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod engine;
#[allow(dead_code, reason = "the tests next to it use the rest")]
#[path = "../it/harness.rs"]
mod harness;
mod listed;
mod mutate;
mod outside;
mod samples;
#[allow(dead_code, reason = "the tests next to it use the rest")]
#[path = "../it/server.rs"]
mod server;
mod targets;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn every_input_stays_within_its_limits() {
    engine::run(&targets::all());
}
