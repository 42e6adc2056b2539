//! How long to wait before somebody is asked again, and waiting so that it can be stopped.

use crate::clock::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often somebody who waits looks whether to stop.
pub const LOOK: Duration = Duration::from_millis(100);

/// How long to wait after so many failures in a row (from 1): `first`, twice as long after each further one, `most` at the most, and
/// up to half less by `luck` (0 to 1), so that many do not come back at once.
pub fn pause((first, most): (Duration, Duration), failures: usize, luck: f64) -> Duration {
    let doubled = first.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(most);
    doubled.mul_f64(1.0 - luck / 2.0)
}

/// Lets a time pass; false if `stop` came true meanwhile.
pub fn wait(clock: &dyn Clock, time: Duration, stop: &AtomicBool) -> bool {
    let mut left = time;
    while !left.is_zero() {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let now = left.min(LOOK);
        clock.sleep(now);
        left -= now;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let bounds = (Duration::from_secs(1), Duration::from_secs(10));
        let seconds: Vec<u64> = (1..7).map(|failures| pause(bounds, failures, 0.0).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10]);
        assert_eq!(pause(bounds, 1, 1.0), Duration::from_millis(500));
        assert_eq!(pause(bounds, usize::MAX, 0.0).as_secs(), 10);
    }
}
