//! Removes the time at the start of a line, and what a terminal does not show.

use super::super::{clean, times};
use asterisk_base::clock::Timestamp;
use std::borrow::Cow;

/// A line as a terminal shows it.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let text = text.trim_end_matches(['\r', '\n']);
    let is_control = |byte: u8| byte < b' ' && byte != b'\t';
    // Blocks are compared with vector instructions.
    let may_be_coloured = text
        .as_bytes()
        .chunks(32)
        .any(|block| block.iter().fold(0, |all, byte| all | u8::from(is_control(*byte) || *byte == b'[')) > 0);
    if may_be_coloured && (text.bytes().any(is_control) || text.contains("[0m")) {
        if let Some(text) = without_colours(text) {
            return Cow::Owned(text);
        }
        let mut text = clean::clean(&format!("{text}\n"));
        text.truncate(text.trim_end().len());
        return Cow::Owned(text);
    }
    Cow::Borrowed(text.trim_end())
}

/// Removes sequences such as `ESC[32m`. `None` if the text has anything else that a terminal does not show.
fn without_colours(text: &str) -> Option<String> {
    let is_simple = |byte: u8| matches!(byte, b' '..=b'~' | b'\t') && !matches!(byte, b'\\' | b'#' | b'^');
    let mut parts = text.split('\u{1b}');
    let mut plain = String::with_capacity(text.len());
    plain.push_str(parts.next().filter(|first| first.len() < text.len())?);
    for part in parts {
        let rest = part.strip_prefix('[')?.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
        plain.push_str(rest.strip_prefix(['m', 'K'])?);
    }
    plain.truncate(plain.trim_end().len());
    plain.bytes().all(is_simple).then_some(plain)
}

/// The time at the start of a line, without brackets, and the length of what the system wrote.
fn time_at_start(line: &str) -> Option<(&str, usize)> {
    let bytes = line.as_bytes();
    let start = usize::from(bytes.first() == Some(&b'['));
    let digits = |from: usize| bytes.get(from..).map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'T' => matches!(byte, b'T' | b' '),
        _ => byte == shape,
    };
    let shape = b"0000-00-00T00:00:00";
    if !bytes.get(start..start + shape.len())?.iter().zip(shape).all(fits) {
        return None;
    }
    let mut end = start + shape.len();
    if matches!(bytes.get(end), Some(b'.' | b',')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    match bytes.get(end) {
        Some(b'Z') => end += 1,
        Some(b'+' | b'-') if digits(end + 1) == 4 => end += 5,
        Some(b'+' | b'-') if digits(end + 1) == 2 && bytes.get(end + 3) == Some(&b':') && digits(end + 4) >= 2 => end += 6,
        _ => {}
    }
    let after = end + usize::from(bytes.get(end) == Some(&b']'));
    match bytes.get(after) {
        Some(b' ') => Some((&line[start..end], after + 1)),
        None => Some((&line[start..end], after)),
        _ => None,
    }
}

/// Splits off the time at the start of a line.
pub(super) fn strip_time(line: &str) -> (Option<Timestamp>, &str) {
    let line = line.trim_start_matches('\u{feff}');
    if !line.trim_start_matches('[').starts_with(|c: char| c.is_ascii_digit()) {
        return (None, line);
    }
    let Some((time, length)) = time_at_start(line) else { return (None, line) };
    // Only systems write fractions or brackets; what a program logs itself stays.
    let is_ours = line.starts_with('[') || line[..length].trim_end().ends_with('Z') && time.contains('T');
    if !is_ours {
        return (None, line);
    }
    let parsed = if time.contains(',') { times::parse(&time.replace(',', ".")) } else { times::parse(time) };
    match parsed {
        Some(time) => (Some(time), &line[length..]),
        None => (None, line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_systems_are_split_off() {
        for (line, rest) in [
            ("2026-05-04T10:11:12.1234567Z a", "a"),
            ("2026-05-04T10:11:12Z", ""),
            ("[2026-05-04T10:11:12,123Z] a", "a"),
            ("[2026-05-04 10:11:12] a", "a"),
            ("[2026-05-04T10:11:12+01:00]  a", " a"),
            ("2026-05-04 10:11:12,123 INFO a", "2026-05-04 10:11:12,123 INFO a"),
            ("2026-05-04T10:11:12.123Za", "2026-05-04T10:11:12.123Za"),
            ("2026-05-04T10:11:12.Z a", "2026-05-04T10:11:12.Z a"),
            ("2026-99-99T10:11:12Z a", "2026-99-99T10:11:12Z a"),
            ("2026-05-0é", "2026-05-0é"),
            ("12 passed", "12 passed"),
        ] {
            assert_eq!(strip_time(line), (strip_time(line).0, rest));
            assert_eq!(strip_time(line).0.is_some(), line != rest, "{line}");
        }
    }

    /// The quick way gives what `clean` gives.
    #[test]
    fn escapes_are_removed() {
        for line in [
            "\u{1b}[32mgreen\u{1b}[0m",
            "\u{1b}[0K\u{1b}[1;31mERROR\u{1b}[0;m  ",
            "  \u{1b}[Kindented [INFO]",
            "\u{1b}[2J\u{1b}[1Gdone",
            "\u{1b}]0;title\u{7}text",
            "\u{1b}[3",
            "\u{1b}[32mnaïve \u{202e}\u{1b}[0m",
            "\u{1b}[1m\\x1b[2m",
            "lost [31mred[0m",
            " 10%\r 20%",
            "plain [0] text",
        ] {
            assert_eq!(plain(line), clean::clean(&format!("{line}\n")), "{line:?}");
        }
    }
}
