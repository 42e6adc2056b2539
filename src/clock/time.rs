//! A clock that can be fixed, and UTC timestamps in RFC 3339.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// An instant in UTC, to the millisecond. Prints and serialises as RFC 3339 (`decisions.md` 38).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970-01-01T00:00:00Z.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn millis(self) -> i64 {
        self.0
    }

    /// Seconds from `earlier` to `self`; negative if `earlier` is later.
    #[allow(clippy::cast_precision_loss)]
    pub fn seconds_since(self, earlier: Self) -> f64 {
        (self.0 - earlier.0) as f64 / 1000.0
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at}"),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = jiff::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<jiff::Timestamp>().map(|at| Self(at.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Lets time pass.
    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }
}

/// A clock for tests: starts at a given instant and moves on by a fixed step with each reading (a step of 0 stands still,
/// which is what parallel walks need to be reproducible).
#[derive(Debug)]
pub struct FixedClock {
    next: AtomicI64,
    step: i64,
}

impl FixedClock {
    /// A clock that starts at `at` and moves on by `step_millis` with each reading.
    pub fn new(at: Timestamp, step_millis: i64) -> Self {
        Self { next: AtomicI64::new(at.0), step: step_millis }
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.next.fetch_add(self.step, Ordering::Relaxed))
    }

    /// Moves on by that much at once.
    fn sleep(&self, time: Duration) {
        self.next.fetch_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_print_and_parse_as_rfc_3339() {
        let at = Timestamp::from_millis(1_771_104_069_000);
        assert_eq!(at.to_string(), "2026-02-14T21:21:09Z");
        assert_eq!("2026-02-14T21:21:09Z".parse::<Timestamp>().ok(), Some(at));
        assert_eq!("2026-02-14T22:21:09+01:00".parse::<Timestamp>().ok(), Some(at));
    }

    #[test]
    fn a_fixed_clock_steps() {
        let clock = FixedClock::new(Timestamp::from_millis(5), 2);
        assert_eq!((clock.now().millis(), clock.now().millis()), (5, 7));
    }
}
