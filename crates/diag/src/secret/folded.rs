//! A text without the characters that take no room: they hide nothing.

/// A text without characters of no width, and where each byte of it was.
pub(super) struct Folded {
    pub(super) text: String,
    pub(super) places: Vec<usize>,
}

impl Folded {
    /// `None` if there is nothing to leave out.
    pub(super) fn of(text: &str) -> Option<Self> {
        let hidden = |ch: char| matches!(ch, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}');
        if text.is_ascii() || !text.contains(hidden) {
            return None;
        }
        let mut folded = Self { text: String::with_capacity(text.len()), places: Vec::with_capacity(text.len() + 1) };
        for (at, ch) in text.char_indices().filter(|(_, ch)| !hidden(*ch)) {
            folded.places.extend((0..ch.len_utf8()).map(|byte| at + byte));
            folded.text.push(ch);
        }
        Some(folded)
    }
}
