//! Cleans up texts of a checkout for records: one line, no control characters, bounded length.

/// Maximum length of a line, in characters.
const MAX_LINE_CHARS: usize = 240;

/// A text as one line: white space other than spaces becomes a space, other control characters are removed, and the rest is truncated.
pub(super) fn line(text: &str) -> String {
    let plain = text.chars().map(|ch| if ch.is_whitespace() { ' ' } else { ch }).filter(|ch| !ch.is_control());
    let mut line: String = plain.take(MAX_LINE_CHARS + 1).collect();
    if let Some((end, _)) = line.char_indices().nth(MAX_LINE_CHARS) {
        line.truncate(end);
        line.push('…');
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_plain_and_short() {
        assert_eq!(line("\tfn a()\u{1b}[31m {\r"), " fn a()[31m {");
        assert_eq!(line(&"é".repeat(300)).chars().count(), MAX_LINE_CHARS + 1);
    }
}
