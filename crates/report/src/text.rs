//! Cleans foreign text for display, so that it cannot control the output.

use std::borrow::Cow;

/// Replacement for removed characters.
const REPLACEMENT: char = '\u{fffd}';

/// Replaces characters that would change the display of other text: control characters, bidirectional marks (they make `txt.exe` read as
/// `exe.txt`), and invisible tag characters. Line breaks and tabs stay.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_hidden) {
        Cow::Owned(text.chars().map(|c| if is_hidden(c) { REPLACEMENT } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

fn is_hidden(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let splits = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{200b}' | '\u{2060}');
    let tags = matches!(c, '\u{e0000}'..='\u{e007f}');
    turns || splits || tags || (c.is_control() && c != '\n' && c != '\t')
}

/// A text on one line, truncated to a number of characters.
pub(super) fn short(text: &str, most: usize) -> String {
    let mut words = String::new();
    for word in text.split_whitespace() {
        if !words.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(most) {
        None => words,
        Some(_) => {
            let end = words.char_indices().nth(most.saturating_sub(1)).map_or(0, |(at, _)| at);
            words.truncate(end);
            words.push('…');
            words
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_or_hides_text_is_replaced() {
        assert_eq!(clean("a\u{202e}b\u{7}\n\tc\u{2066}\u{e0041}"), "a\u{fffd}b\u{fffd}\n\tc\u{fffd}\u{fffd}");
        assert!(matches!(clean("שלום, naïve 日本 👩\u{200d}🔧"), Cow::Borrowed(_)), "writing from right to left is not to blame");
    }

    #[test]
    fn short_texts_end_within_their_width() {
        assert_eq!(short("a  b\nc", 9), "a b c");
        assert_eq!(short("äöüß", 4), "äöüß");
        assert_eq!(short("äöüßx", 4), "äöü…");
    }
}
