//! Invisible characters, which are removed from external texts.

use std::borrow::Cow;

/// Whether a character is invisible but can hide, reorder or control text: control characters except tab, direction marks,
/// zero-width spaces, tags, byte order marks.
pub fn is_invisible(ch: char) -> bool {
    let format = matches!(ch, '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    format || (ch.is_control() && ch != '\t')
}

/// Whether a letter of another alphabet looks like a Latin one: Cyrillic and Greek letters that most fonts draw alike.
pub fn looks_latin(ch: char) -> bool {
    const CYRILLIC: &str = "\u{410}\u{412}\u{415}\u{41a}\u{41c}\u{41d}\u{41e}\u{420}\u{421}\u{422}\u{425}\u{430}\u{435}\u{43e}\u{440}\u{441}\u{443}\u{445}\u{455}\u{456}\u{458}";
    const GREEK: &str =
        "\u{391}\u{392}\u{395}\u{396}\u{397}\u{399}\u{39a}\u{39c}\u{39d}\u{39f}\u{3a1}\u{3a4}\u{3a5}\u{3a7}\u{3bf}";
    CYRILLIC.contains(ch) || GREEK.contains(ch)
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
