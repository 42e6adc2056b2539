//! The names and hashes of artifact files.

use sha2::{Digest as _, Sha256};

/// The most characters of a safe name.
const LONGEST: usize = 120;
/// The name where nothing of a text is left.
const FALLBACK: &str = "artifact.bin";

/// A file name made of any text: letters, digits, `_`, `.`, `-` and spaces stay, each run of other characters becomes `_`; at most 120 characters. Never
/// a path, nor a name of dots alone.
pub fn safe_file_name(text: &str) -> String {
    let mut name = String::new();
    let mut replaced = false;
    for c in text.chars() {
        let plain = c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | ' ');
        match (plain, replaced) {
            (true, _) => name.push(c),
            (false, false) => name.push('_'),
            (false, true) => {}
        }
        replaced = !plain;
    }
    let name: String = name.chars().take(LONGEST).collect();
    if name.trim_matches(['.', ' ']).is_empty() { FALLBACK.to_owned() } else { name }
}

/// The SHA-256 of some bytes, as 64 hexadecimal digits: for formats that other programs check. Content addresses are [`super::Hash`].
pub fn sha256(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe() {
        for (text, name) in [
            ("a.md", "a.md"),
            ("na me-1_2.txt", "na me-1_2.txt"),
            ("é.txt", "é.txt"),
            ("a:b?*.txt", "a_b_.txt"),
            ("a_?b", "a__b"),
            ("../../etc/passwd", ".._.._etc_passwd"),
            ("..", FALLBACK),
            ("", FALLBACK),
        ] {
            assert_eq!(safe_file_name(text), name, "{text}");
        }
        assert_eq!(safe_file_name(&"x".repeat(200)).len(), LONGEST);
    }

    #[test]
    fn hashes_are_hexadecimal() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
