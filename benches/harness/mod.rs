//! Shared by all benchmarks: interleaved measurement, the printed table, and the gate.
//!
//! The machine is assumed to be noisy. Subjects alternate in many short rounds, and the fastest round of each counts, because
//! noise only adds time. Where there is a floor, the bound is on the ratio to the floor measured in the same run. With
//! `ASTERISK_BENCH_GATE=1`, a broken bound fails the benchmark.

#![allow(
    clippy::print_stdout,
    clippy::unused_self,
    dead_code,
    reason = "a bench prints, the rows of a table are its methods, and not every bench uses everything"
)]

use std::process::ExitCode;
use std::time::Instant;

/// Measured work.
pub(crate) type Subject<'a> = (&'a str, &'a mut dyn FnMut());

/// Measures subjects alternately: `rounds` rounds of `calls` calls of each subject. Returns the nanoseconds per call in the
/// fastest round of each.
pub(crate) fn measure(rounds: u32, calls: u32, subjects: &mut [Subject<'_>]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; subjects.len()];
    for _ in 0..rounds {
        for (best, (_, work)) in best.iter_mut().zip(subjects.iter_mut()) {
            let start = Instant::now();
            for _ in 0..calls {
                work();
            }
            *best = best.min(start.elapsed().as_secs_f64() * 1e9 / f64::from(calls));
        }
    }
    best
}

/// The table of a benchmark.
pub(crate) struct Table {
    unit: &'static str,
    broken: usize,
}

impl Table {
    /// Begins a table with figures in this unit.
    pub(crate) fn new(title: &str, unit: &'static str) -> Self {
        println!("{title}\n{:<58} {:>10} {:>10} {:>7}", "", unit, "floor", "ratio");
        Self { unit, broken: 0 }
    }

    /// A floor, or a figure without a bound.
    pub(crate) fn plain(&mut self, name: &str, figure: f64) {
        println!("{name:<58} {figure:>10.2}");
    }

    /// A figure with its ratio to a floor of the same run.
    pub(crate) fn against(&mut self, name: &str, figure: f64, floor: f64) {
        println!("{name:<58} {figure:>10.2} {floor:>10.2} {:>7.2}", figure / floor);
    }

    /// A figure whose ratio to a floor must not exceed `times`.
    pub(crate) fn within(&mut self, name: &str, figure: f64, floor: f64, times: f64) {
        let ratio = figure / floor;
        let verdict = self.judge(ratio <= times);
        println!("{name:<58} {figure:>10.2} {floor:>10.2} {ratio:>7.2}  {verdict}: at most {times}");
    }

    /// A figure that must not exceed a bound.
    pub(crate) fn at_most(&mut self, name: &str, figure: f64, bound: f64) {
        let verdict = self.judge(figure <= bound);
        println!("{name:<58} {figure:>10.2} {:>18}  {verdict}: at most {bound} {}", "", self.unit);
    }

    /// A figure that must reach a share of a floor.
    pub(crate) fn at_least(&mut self, name: &str, figure: f64, floor: f64, share: f64) {
        let ratio = figure / floor;
        let verdict = self.judge(ratio >= share);
        println!("{name:<58} {figure:>10.2} {floor:>10.2} {ratio:>7.2}  {verdict}: at least {share}");
    }

    /// Ends the benchmark: a failure if a bound is broken and the gate is on.
    pub(crate) fn finish(self) -> ExitCode {
        println!();
        let gate = std::env::var_os("ASTERISK_BENCH_GATE").is_some_and(|value| value == "1");
        if gate && self.broken > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }

    fn judge(&mut self, holds: bool) -> &'static str {
        self.broken += usize::from(!holds);
        if holds { "ok" } else { "BROKEN" }
    }
}

/// The exit code of a benchmark with several tables: a failure if one of them failed.
pub(crate) fn worst(ends: impl IntoIterator<Item = ExitCode>) -> ExitCode {
    ends.into_iter().find(|end| *end != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}
