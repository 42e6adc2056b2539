//! Tokenization of failure texts for comparison.

/// Number of leading bytes of a text that count: what follows is mostly stack frames.
const READ_BYTES: usize = 4096;
/// The value of every word that contains a digit: a number, an address, an id, a time.
pub const NUMBER: u64 = 0;

/// The words of a text: runs of letters and digits.
pub fn split_words(text: &str) -> impl Iterator<Item = &str> {
    cut(text).split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The hash of a word in lower case, or [`NUMBER`].
pub fn hash_of(word: &str) -> u64 {
    if word.is_ascii() {
        // Fast path for ASCII, nearly every word, with the same result.
        let digit = word.bytes().any(|byte| byte.is_ascii_digit());
        if digit { NUMBER } else { hash(word.bytes().map(|byte| u64::from(byte.to_ascii_lowercase()))) }
    } else if word.contains(char::is_numeric) {
        NUMBER
    } else {
        hash(word.chars().flat_map(char::to_lowercase).map(u64::from))
    }
}

/// FNV-1a over integers instead of bytes. The hashes are stored: another function needs a new format version.
pub fn hash(items: impl Iterator<Item = u64>) -> u64 {
    items.fold(0xcbf2_9ce4_8422_2325, |hash, item| (hash ^ item).wrapping_mul(0x0100_0000_01b3))
}

/// The hashes of the words of a text.
pub fn word_hashes(text: &str) -> impl Iterator<Item = u64> {
    split_words(text).map(hash_of)
}

/// A hash that errors differing only in numbers, ids and punctuation share; `None` for an empty error.
pub fn error_shape(error: &str) -> Option<u64> {
    let mut words = word_hashes(error).peekable();
    words.peek().is_some().then(|| hash(words))
}

/// The leading part of a text that counts.
pub fn cut(text: &str) -> &str {
    let mut end = text.len().min(READ_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn error_shapes_ignore_numbers_only() {
        assert_eq!(error_shape("timeout after 30s (id 1f)"), error_shape("Timeout after 7s: id [2e]"));
        assert_ne!(error_shape("timeout after 30s"), error_shape("after 30s timeout"));
        assert_eq!(error_shape(" \n"), None);
    }

    proptest! {
        #[test]
        fn words_of_ascii_hash_as_all_words_do(word in "[A-Za-z0-9]{1,12}") {
            let plain = if word.contains(char::is_numeric) {
                NUMBER
            } else {
                hash(word.chars().flat_map(char::to_lowercase).map(u64::from))
            };
            prop_assert_eq!(hash_of(&word), plain);
        }
    }
}
