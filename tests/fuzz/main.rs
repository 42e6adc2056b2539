//! Hostile inputs for every reader of bytes that come from outside (`targets.rs` is the table): none may panic, hang, or work without
//! measure on them.
//!
//! Inputs are real samples, mutated (`mutate.rs`). `cargo test --test fuzz` tries a few of each target, the same ones every time. The long
//! run tries new ones for as long as it is told to, of all targets or of those whose names have a word in them:
//!
//! ```text
//! ASTERISK_FUZZ_SECONDS=3600 [ASTERISK_FUZZ=yaml] cargo test --test fuzz -- --nocapture
//! ```
//!
//! Whatever fails is written to `tests/fuzz/corpus/TARGET/`, and every run begins with what is there. Only one target works at a
//! time, so that what it allocates can be counted.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod engine;
#[allow(dead_code, reason = "the tests beside it use the rest")]
#[path = "../it/harness.rs"]
mod harness;
mod listed;
mod mutate;
mod outside;
mod samples;
#[allow(dead_code, reason = "the tests beside it use the rest")]
#[path = "../it/server.rs"]
mod server;
mod targets;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};
use std::alloc::System;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn no_input_is_too_much() {
    engine::run(&targets::all());
}
