//! How far a run is: milestones, with an estimate of the time left.

use asterisk_base::clock::Timestamp;
use asterisk_session::StartedRun;
use asterisk_walk::WalkStatus;

/// The shares of finished cases that are reported, in percent.
const MILESTONES: [(usize, &str); 4] = [
    (25, "A quarter of the cases is"),
    (50, "Half of the cases are"),
    (75, "Three quarters of the cases are"),
    (100, "All cases are"),
];

/// The progress of a run.
#[derive(Default)]
pub(super) struct CaseProgress {
    began: Timestamp,
    cases: usize,
    /// The number of cases that were over when it began, and now.
    before: usize,
    over: usize,
    failed: usize,
}

impl CaseProgress {
    pub(super) fn new(begun: &StartedRun<'_>, now: Timestamp) -> Self {
        Self { began: now, cases: begun.cases, before: begun.over, over: begun.over, failed: 0 }
    }

    /// Counts a case that is over. Returns the milestone that it reaches, if any.
    pub(super) fn over(&mut self, status: WalkStatus, now: Timestamp) -> Option<String> {
        self.over += 1;
        self.failed += usize::from(status == WalkStatus::Error);
        let share = |over: usize| over * 100 / self.cases.max(1);
        let (earlier, share) = (share(self.over - 1), share(self.over));
        let (at, words) = MILESTONES.iter().rfind(|(at, _)| earlier < *at && *at <= share)?;
        // Of a few cases each is reported anyway.
        if self.cases < 4 && *at < 100 || self.cases < 2 {
            return None;
        }
        let taken = now.seconds_since(self.began);
        let failed = if self.failed > 0 { format!(", {} failed", self.failed) } else { String::new() };
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let left = taken * (self.cases - self.over) as f64 / (self.over - self.before).max(1) as f64;
        let time = match *at {
            100 if taken > 0.0 => format!(", after {}", duration(taken)),
            25..100 if left > 0.0 => format!("; about {} to go", duration(left)),
            _ => String::new(),
        };
        Some(format!("{words} done ({} of {}{failed}){time}", self.over, self.cases))
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
pub(super) fn seconds(millis: u64) -> f64 {
    millis as f64 / 1000.0
}

/// Formats a duration in seconds.
pub(super) fn duration(seconds: f64) -> String {
    if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.0} h", seconds / 3600.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_use_a_fitting_unit() {
        let shown: Vec<String> = [0.04, 9.0, 59.6, 125.0, 7300.0].map(duration).into();
        assert_eq!(shown, ["0.0 s", "9.0 s", "60 s", "2 min", "2 h"]);
    }
}
