//! Cuts long texts: keeps the first third and the last two thirds of the limit, on line boundaries, with a marker between.
//!
//! The end of a failing test's log matters most and its beginning some; the middle is expendable.

use asterisk_base::model::Cut;
use asterisk_diag::counted;
use std::borrow::Cow;

/// Bytes reserved for the marker line: its words and two numbers of up to 20 digits, with the line breaks around it.
const MARKER: usize = 80;

/// Cuts `text` to at most `limit` bytes. Returns what was cut, if it was longer.
pub(super) fn cut(text: String, limit: usize) -> (String, Option<Cut>) {
    match shortened(&text, limit) {
        Some((text, cut)) => (text, Some(cut)),
        None => (text, None),
    }
}

/// The text cut to at most `limit` bytes, and what was cut; `None` if it is no longer than that.
pub(super) fn shortened(text: &str, limit: usize) -> Option<(String, Cut)> {
    if text.len() <= limit {
        return None;
    }
    let budget = limit.saturating_sub(MARKER);
    if budget == 0 {
        let kept = floor(text, limit);
        return Some((text[..kept].to_owned(), Cut { was: text.len(), kept }));
    }
    let head = head(text, budget / 3);
    let tail = tail(text, budget - budget / 3);
    let middle = &text[head.len()..text.len() - tail.len()];
    let kept = head.len() + tail.len();
    let line_break = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let lines = middle.trim_end_matches('\n').matches('\n').count() + 1;
    let marker = format!("[... {} bytes in {} left out ...]", middle.len(), counted(lines, "line", "lines"));
    Some((format!("{head}{line_break}{marker}\n{tail}"), Cut { was: text.len(), kept }))
}

/// The most bytes of a text that are read of an input, however long it is there: what is kept of it is far less.
pub(super) const MAX_READ: usize = 4 << 20;

/// A text as it was read, or cut to [`MAX_READ`] bytes.
pub(super) fn readable(text: &str) -> Cow<'_, str> {
    shortened(text, MAX_READ).map_or(Cow::Borrowed(text), |(text, _)| Cow::Owned(text))
}

/// At most `budget` bytes from the start; whole lines, unless that would lose more than half of them.
fn head(text: &str, budget: usize) -> &str {
    let head = &text[..floor(text, budget)];
    match head.rfind('\n') {
        Some(at) if at + 1 >= head.len() / 2 => &head[..=at],
        _ => head,
    }
}

/// At most `budget` bytes from the end; whole lines, unless that would lose more than half of them.
fn tail(text: &str, budget: usize) -> &str {
    let mut start = text.len().saturating_sub(budget);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = &text[start..];
    if text[..start].ends_with('\n') {
        return tail;
    }
    match tail.find('\n') {
        Some(at) if at < tail.len() / 2 => &tail[at + 1..],
        _ => tail,
    }
}

pub(super) use asterisk_diag::floor_boundary as floor;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fmt::Write;

    fn numbered(lines: usize) -> String {
        (0..lines).fold(String::new(), |mut text, n| {
            writeln!(text, "line {n:04}").expect("a string takes everything");
            text
        })
    }

    #[test]
    fn a_text_within_the_limit_is_unchanged() {
        assert_eq!(cut("abc".to_owned(), 3), ("abc".to_owned(), None));
        assert_eq!(cut(String::new(), 0), (String::new(), None));
    }

    #[test]
    fn a_long_log_keeps_its_beginning_and_more_of_its_end() {
        let (text, cut) = cut(numbered(100), 380);
        assert_eq!(cut, Some(Cut { was: 1000, kept: 300 }));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[..2], ["line 0000", "line 0001"]);
        assert_eq!(lines[10], "[... 700 bytes in 70 lines left out ...]");
        assert_eq!((lines[11], *lines.last().expect("lines")), ("line 0080", "line 0099"));
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let (text, cut) = cut("é".repeat(200), 183);
        assert_eq!(cut, Some(Cut { was: 400, kept: 34 + 68 }));
        assert!(text.starts_with("ééé") && text.ends_with("ééé"), "{text}");
        assert!(text.contains("\n[... 298 bytes in 1 line left out ...]\n"), "{text}");
    }

    #[test]
    fn a_limit_too_small_for_a_marker_keeps_the_beginning() {
        assert_eq!(cut("aéb".repeat(50), 2), ("a".to_owned(), Some(Cut { was: 200, kept: 1 })));
    }

    proptest! {
        #[test]
        fn a_cut_text_is_within_its_limit(text in "[a-zé€\n]{0,600}", limit in 0_usize..400) {
            let was = text.len();
            let (after, cut) = cut(text.clone(), limit);
            prop_assert!(after.len() <= limit, "{} > {limit}", after.len());
            match cut {
                None => prop_assert_eq!(after, text),
                Some(cut) => {
                    prop_assert_eq!(cut.was, was);
                    prop_assert!(cut.kept < was && cut.kept <= after.len());
                }
            }
        }
    }
}
