//! A clock that can be fixed, and UTC timestamps in RFC 3339.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The beginnings of the years 0 and 9999: what lies beyond is taken as these. The calendar has little more, and the library leaves its
/// last hours to offsets.
const FIRST: i64 = -62_167_219_200_000;
const LAST: i64 = 253_370_764_800_000;

/// An instant in UTC, to the millisecond. Prints and serialises as RFC 3339 (`docs/decisions/0011-derived-ids-and-chance.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970-01-01T00:00:00Z.
    /// Before and after all calendars it stands still.
    pub fn from_millis(millis: i64) -> Self {
        Self(millis.clamp(FIRST, LAST))
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
        match text.parse::<jiff::Timestamp>() {
            Ok(at) => Ok(Self::from_millis(at.as_millisecond())),
            // "For ever" is often written as the last second of the calendar, which the library leaves to offsets.
            Err(error) => match text.strip_suffix(['Z', 'z']).map(str::parse::<jiff::civil::DateTime>) {
                Some(Ok(at)) if at.year() == 9999 => Ok(Self(LAST)),
                _ => Err(error),
            },
        }
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
        Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
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

    /// Moves on; the time before. At the end of all calendars it stands still.
    fn pass(&self, millis: i64) -> i64 {
        let on = |now: i64| Some(now.saturating_add(millis).min(LAST));
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, on).unwrap_or(LAST)
    }
}

impl Clock for FixedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.pass(self.step))
    }

    /// Moves on by that much at once.
    fn sleep(&self, time: Duration) {
        self.pass(i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
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
    fn every_instant_has_a_text_that_is_read_back() {
        for millis in [i64::MIN, -1, 0, 253_402_300_799_999, i64::MAX] {
            let at = Timestamp::from_millis(millis);
            assert_eq!(at.to_string().parse::<Timestamp>().ok(), Some(at), "{millis}");
        }
        for text in ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z"] {
            assert_eq!(text.parse::<Timestamp>().ok(), Some(Timestamp::from_millis(i64::MAX)), "{text}");
        }
        assert!("10000-01-01T00:00:00Z".parse::<Timestamp>().is_err());
        let last = FixedClock::new(Timestamp::from_millis(i64::MAX), 1000);
        last.sleep(Duration::MAX);
        assert_eq!((last.now(), last.now()), (Timestamp::from_millis(i64::MAX), Timestamp::from_millis(i64::MAX)));
    }

    #[test]
    fn a_fixed_clock_steps() {
        let clock = FixedClock::new(Timestamp::from_millis(5), 2);
        assert_eq!((clock.now().millis(), clock.now().millis()), (5, 7));
    }
}
