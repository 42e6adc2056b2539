//! Exponential backoff and interruptible waiting.

use asterisk_base::clock::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Interval at which a waiting thread checks whether to stop.
pub const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Backoff after a number of consecutive failures (from 1): `first`, doubled after each further failure, bounded by `most`, and shortened
/// by up to half by `jitter` (0 to 1).
pub fn backoff((first, most): (Duration, Duration), failures: usize, jitter: f64) -> Duration {
    let doubled = first.saturating_mul(1 << failures.saturating_sub(1).min(20)).min(most);
    doubled.mul_f64(1.0 - jitter / 2.0)
}

/// Waits; returns false if `stop` was set meanwhile.
pub fn wait(clock: &dyn Clock, time: Duration, stop: &AtomicBool) -> bool {
    let mut left = time;
    while !left.is_zero() {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        let now = left.min(CHECK_INTERVAL);
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
        let seconds: Vec<u64> = (1..7).map(|failures| backoff(bounds, failures, 0.0).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff(bounds, 1, 1.0), Duration::from_millis(500));
        assert_eq!(backoff(bounds, usize::MAX, 0.0).as_secs(), 10);
    }
}
