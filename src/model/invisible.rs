//! Invisible characters, which are removed from external texts.

use std::borrow::Cow;

/// Whether a character is invisible but can hide, reorder or control text: control characters except tab, direction marks,
/// zero-width spaces, tags, byte order marks.
pub fn is_invisible(ch: char) -> bool {
    let format = matches!(ch, '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    format || (ch.is_control() && ch != '\t')
}

/// Removes invisible characters; line endings stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    let goes = |ch: char| ch != '\n' && is_invisible(ch);
    if text.chars().any(goes) { Cow::Owned(text.chars().filter(|ch| !goes(*ch)).collect()) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(visible("a\u{1b}[2J\u{202e}b\r\n\tc\u{200b}\u{e0041}\u{0}"), "a[2Jb\n\tc");
        assert!(matches!(visible("plain, grün\n"), Cow::Borrowed(_)));
    }
}
