//! What the benches share: interleaved measuring, the table they print, and the gate.
//!
//! The machine is assumed to be noisy. Subjects are measured in turns, many short rounds each, and of every subject the
//! fastest round counts: noise only ever adds. A bound is on a ratio to a floor measured in the same run wherever there is a
//! floor; with `ASTERISK_BENCH_GATE=1` a broken bound fails the bench.

#![allow(
    clippy::print_stdout,
    clippy::unused_self,
    dead_code,
    reason = "a bench prints, the rows of a table are its methods, and not every bench uses everything"
)]

use std::process::ExitCode;
use std::time::Instant;

/// Work that is measured.
pub(crate) type Subject<'a> = (&'a str, &'a mut dyn FnMut());

/// Measures subjects in turns: `rounds` times, each subject `calls` times in a row. Returns the nanoseconds of one call in
/// the fastest round of each.
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

/// The table of a bench.
pub(crate) struct Table {
    unit: &'static str,
    broken: usize,
}

impl Table {
    /// Begins a table; figures are in this unit.
    pub(crate) fn new(title: &str, unit: &'static str) -> Self {
        println!("{title}\n{:<58} {:>10} {:>10} {:>7}", "", unit, "floor", "ratio");
        Self { unit, broken: 0 }
    }

    /// A floor, or a figure that nothing is asked of.
    pub(crate) fn plain(&mut self, name: &str, figure: f64) {
        println!("{name:<58} {figure:>10.2}");
    }

    /// A figure against a floor of the same run, for comparison.
    pub(crate) fn against(&mut self, name: &str, figure: f64, floor: f64) {
        println!("{name:<58} {figure:>10.2} {floor:>10.2} {:>7.2}", figure / floor);
    }

    /// A figure that must be within so many times a floor.
    pub(crate) fn within(&mut self, name: &str, figure: f64, floor: f64, times: f64) {
        let ratio = figure / floor;
        let verdict = self.judge(ratio <= times);
        println!("{name:<58} {figure:>10.2} {floor:>10.2} {ratio:>7.2}  {verdict}: at most {times}");
    }

    /// A figure that must not be above a bound.
    pub(crate) fn at_most(&mut self, name: &str, figure: f64, bound: f64) {
        let verdict = self.judge(figure <= bound);
        println!("{name:<58} {figure:>10.2} {:>18}  {verdict}: at most {bound} {}", "", self.unit);
    }

    /// A share of a floor that must be reached.
    pub(crate) fn at_least(&mut self, name: &str, figure: f64, floor: f64, share: f64) {
        let ratio = figure / floor;
        let verdict = self.judge(ratio >= share);
        println!("{name:<58} {figure:>10.2} {floor:>10.2} {ratio:>7.2}  {verdict}: at least {share}");
    }

    /// Ends the bench: a failure if a bound is broken and the gate is on.
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

/// The exit code of a bench with several tables: a failure if one of them failed.
pub(crate) fn worst(ends: impl IntoIterator<Item = ExitCode>) -> ExitCode {
    ends.into_iter().find(|end| *end != ExitCode::SUCCESS).unwrap_or(ExitCode::SUCCESS)
}
