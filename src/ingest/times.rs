//! Times as test tools write them.

use crate::clock::Timestamp;

/// The last millisecond of the year 9999, and as much before 1970: beyond it there are no RFC 3339 times, and differences
/// of times could overflow.
const MAX_MILLIS: i64 = 253_402_300_799_999;

/// Milliseconds since 1970, unless no calendar has them.
pub(super) fn from_millis(millis: i64) -> Option<Timestamp> {
    (-MAX_MILLIS..=MAX_MILLIS).contains(&millis).then(|| Timestamp::from_millis(millis))
}

/// A time in RFC 3339, or near it: a space for the `T`, no offset (taken as UTC), or milliseconds since 1970 as digits.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Ok(millis) = text.parse() {
        return from_millis(millis);
    }
    [text.to_owned(), format!("{text}Z")].iter().find_map(|text| text.parse().ok())
}

/// Seconds as JUnit writes them, thousands separators of some locales included; negative and endless ones are none.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let seconds: f64 = text.trim().replace(',', "").parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// `seconds` later.
pub(super) fn later(from: Timestamp, seconds: f64) -> Timestamp {
    // A float to integer cast saturates: a launch of a million years ends at the end of the calendar.
    #[allow(clippy::cast_possible_truncation)]
    let millis = (seconds * 1000.0).round() as i64;
    Timestamp::from_millis(from.millis().saturating_add(millis).min(MAX_MILLIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_spellings_of_the_tools() {
        let at = Some(Timestamp::from_millis(1_771_104_069_000));
        for text in
            ["2026-02-14T21:21:09Z", "2026-02-14T22:21:09+01:00", "2026-02-14T21:21:09", "2026-02-14 21:21:09", "1771104069000"]
        {
            assert_eq!(parse(text), at, "{text}");
        }
        assert_eq!(parse("2026-02-14T21:21:09.812863").map(Timestamp::millis), Some(1_771_104_069_812));
        for text in ["yesterday", "", "9223372036854775807", "-9223372036854775808", "99999999999999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        for (text, wanted) in
            [("1.5", Some(1.5)), ("1,234.5", Some(1234.5)), ("", None), ("-1", None), ("inf", None), ("NaN", None)]
        {
            assert_eq!(seconds(text), wanted, "{text}");
        }
        assert_eq!(later(Timestamp::from_millis(5), 1e300).millis(), MAX_MILLIS);
    }
}
