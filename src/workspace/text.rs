//! Texts of a checkout, made fit for a record: one line, no control characters, not too long.

/// The most characters of a line.
const LONGEST: usize = 240;

/// A text as one line: white space that is not a space becomes one, other control characters go, what is too long is cut.
pub(super) fn line(text: &str) -> String {
    let plain = text.chars().map(|ch| if ch.is_whitespace() { ' ' } else { ch }).filter(|ch| !ch.is_control());
    let mut line: String = plain.take(LONGEST + 1).collect();
    if let Some((end, _)) = line.char_indices().nth(LONGEST) {
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
        assert_eq!(line(&"é".repeat(300)).chars().count(), LONGEST + 1);
    }
}
