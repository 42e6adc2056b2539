//! Parses times and durations as test tools write them.

use asterisk_base::clock::Timestamp;

/// The last millisecond of the year 9999, also used as the limit before 1970: RFC 3339 ends there, and differences of times could
/// overflow.
const MAX_MILLIS: i64 = 253_402_300_799_999;

/// A time in milliseconds since 1970, if within [`MAX_MILLIS`].
pub(super) fn from_millis(millis: i64) -> Option<Timestamp> {
    (-MAX_MILLIS..=MAX_MILLIS).contains(&millis).then(|| Timestamp::from_millis(millis))
}

/// Numbers above this are milliseconds: in seconds, it would be the year 5138.
const MAX_SECONDS: i64 = 100_000_000_000;

/// Parses a time in RFC 3339 or similar: with a space for the `T`, an offset without a colon or no offset (taken as UTC), or in
/// seconds or milliseconds since 1970.
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(time) = utc(text) {
        return Some(time);
    }
    if let Ok(number) = text.parse::<i64>() {
        return from_millis(if number.unsigned_abs() < MAX_SECONDS.unsigned_abs() { number * 1000 } else { number });
    }
    let colon = offset_hours(text).map(|at| format!("{}:{}", &text[..at], &text[at..]));
    [Some(text.to_owned()), Some(format!("{text}Z")), colon].into_iter().flatten().find_map(|text| text.parse().ok())
}

/// Parses a time in UTC since 1970, such as `2026-05-04T10:11:12.1234567Z`, as it is at the start of each line of a log. `None` for all others,
/// which need not be wrong.
fn utc(text: &str) -> Option<Timestamp> {
    let bytes = text.as_bytes();
    let fraction = match bytes.get(19..)? {
        [b'Z'] => &[][..],
        [b'.', fraction @ .., b'Z'] if !fraction.is_empty() && fraction.len() < 10 => fraction,
        _ => return None,
    };
    let number = |digits: &[u8]| {
        digits.iter().try_fold(0_i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let field = |from: usize, to: usize| number(&bytes[from..to]);
    if (bytes[4], bytes[7], bytes[10], bytes[13], bytes[16]) != (b'-', b'-', b'T', b':', b':') {
        return None;
    }
    let (year, month, day) = (field(0, 4)?, field(5, 7)?, field(8, 10)?);
    let (hour, minute, second) = (field(11, 13)?, field(14, 16)?, field(17, 19)?);
    let is_usual = (1..=12).contains(&month) && (1..=28).contains(&day) || day <= 30 && day > 28 && (3..=12).contains(&month);
    if year < 1970 || !is_usual || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    number(fraction)?;
    let millis = number(&fraction[..fraction.len().min(3)])? * [1, 100, 10, 1][fraction.len().min(3)];
    // Days since 1970, of a year that begins in March.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days =
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + (153 * month + 2) / 5 + day - 719_469;
    from_millis((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + millis)
}

/// The end of the hours in an offset like `+0100` at the end of a text.
fn offset_hours(text: &str) -> Option<usize> {
    let at = text.len().checked_sub(5)?;
    let offset = text.get(at..)?;
    let digits = offset.strip_prefix(['+', '-'])?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(at + 3)
}

/// Parses a duration in seconds as JUnit's writers put it: with thousands separators, a decimal comma or a unit. Negative and
/// infinite ones are `None`.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => (number, 0.001),
        (_, Some(number)) => (number, 1.0),
        _ => (text, 1.0),
    };
    let number = match number.trim().split_once(',') {
        // A comma followed by three digits separates thousands, unless only a zero precedes it.
        Some((whole, rest)) if !rest.contains([',', '.']) && (rest.len() != 3 || whole == "0") => format!("{whole}.{rest}"),
        Some(_) => number.replace(',', ""),
        None => number.to_owned(),
    };
    let seconds = number.trim().parse::<f64>().ok()? * factor;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Parses a duration as .NET writes it, `[days.]hours:minutes:seconds[.fraction]`, to seconds.
pub(super) fn clock(text: &str) -> Option<f64> {
    let mut parts = text.trim().rsplitn(3, ':');
    let (own, minutes, hours) = (seconds(parts.next()?)?, seconds(parts.next()?)?, parts.next()?);
    let (days, hours) = hours.split_once('.').unwrap_or(("0", hours));
    Some(own + 60.0 * minutes + 3600.0 * seconds(hours)? + 86_400.0 * seconds(days)?)
}

/// The time `seconds` after `from`.
pub(super) fn later(from: Timestamp, seconds: f64) -> Timestamp {
    // A float to integer cast saturates: a launch of a million years ends at the end of the calendar.
    #[allow(clippy::cast_possible_truncation)]
    let millis = (seconds * 1000.0).round() as i64;
    Timestamp::from_millis(from.millis().saturating_add(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_the_spellings_of_the_tools() {
        let at = Some(Timestamp::from_millis(1_771_104_069_000));
        for text in [
            "2026-02-14T21:21:09Z",
            "2026-02-14T22:21:09+01:00",
            "2026-02-14T21:21:09",
            "2026-02-14 21:21:09",
            "2026-02-14T22:21:09+0100",
            "1771104069000",
            "1771104069",
        ] {
            assert_eq!(parse(text), at, "{text}");
        }
        assert_eq!(parse("2026-02-14T21:21:09.812863").map(Timestamp::millis), Some(1_771_104_069_812));
        for text in ["yesterday", "", "9223372036854775807", "-9223372036854775808", "99999999999999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    /// The quick way is taken, and agrees with the other one.
    #[test]
    fn times_in_utc_are_those_of_the_calendar() {
        for day in [
            "1970-01-01",
            "1999-12-30",
            "2000-02-28",
            "2000-03-01",
            "2023-12-28",
            "2024-02-28",
            "2024-03-01",
            "2026-11-30",
            "2100-02-28",
            "2100-03-01",
            "9999-12-30",
        ] {
            for time in ["00:00:00Z", "23:59:59.9Z", "10:11:12.1234567Z", "10:11:12.05Z"] {
                let text = format!("{day}T{time}");
                assert!(utc(&text).is_some() && utc(&text) == text.parse().ok(), "{text}");
            }
        }
        for text in [
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00.1xZ",
        ] {
            assert_eq!(utc(text), None, "{text}");
        }
        assert_eq!(parse("2024-02-29T00:00:00Z").map(Timestamp::millis), Some(1_709_164_800_000));
    }

    #[test]
    fn seconds_are_finite_and_not_negative() {
        for (text, wanted) in [
            ("1.5", Some(1.5)),
            ("1,234.5", Some(1234.5)),
            ("1,234,567", Some(1_234_567.0)),
            ("0,012", Some(0.012)),
            ("3,5", Some(3.5)),
            ("1.5s", Some(1.5)),
            ("250 ms", Some(0.25)),
            ("s", None),
            ("", None),
            ("-1", None),
            ("inf", None),
            ("NaN", None),
        ] {
            assert_eq!(seconds(text), wanted, "{text}");
        }
        for (text, wanted) in [("00:01:02.5", Some(62.5)), ("1.00:00:01", Some(86_401.0)), ("5", None), ("a:b:c", None)] {
            assert_eq!(clock(text), wanted, "{text}");
        }
        assert_eq!(later(Timestamp::from_millis(5), 1e300), Timestamp::from_millis(i64::MAX));
    }
}
