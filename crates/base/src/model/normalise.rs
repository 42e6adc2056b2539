//! Normalises error texts by removing what varies between runs, and derives recall keys (`docs/decisions/0012-recall-keys.md`).

use super::Hash;
use regex::{Captures, Regex};
use std::sync::LazyLock;

/// The number of leading bytes of an error that its recall key covers: the failure is described at its head, the rest is output.
const RECALLED: usize = 16 * 1024;

/// The hash that identifies the same failure of the same test in another run: 32 hex digits over the test name and the error
/// after [`normalise_error`], limited to the first 16 KiB. White space in the name is ignored.
pub fn recall_key(test_name: &str, error: &str) -> String {
    let name = test_name.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut key = Hash::of(format!("{name}\n{}", normalise_error(head_of(error))).as_bytes()).to_string();
    key.truncate(32);
    key
}

/// The prefix of an error that its recall key covers.
fn head_of(error: &str) -> &str {
    let end = (0..=RECALLED.min(error.len())).rev().find(|at| error.is_char_boundary(*at)).unwrap_or(0);
    &error[..end]
}

/// Replaces everything in an error text that varies between runs by a placeholder: times, dates and durations (`<time>`), network
/// addresses (`<addr>`), UUIDs and generated names (`<id>`), hexadecimal numbers and memory addresses (`<hex>`), all other
/// numbers including line numbers (`<n>`). Removes terminal colours and collapses white space. Linear in the length of the text:
/// no alternative looks further ahead than a few of its own parts, or than the word it is in.
pub fn normalise_error(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for captures in VARYING.regex.captures_iter(text) {
        let Some(whole) = captures.get(0) else { continue };
        push_squeezed(&mut out, &text[done..whole.start()]);
        let before = text[..whole.start()].chars().next_back();
        push_placeholder(&mut out, VARYING.of(&captures), whole.as_str(), before);
        done = whole.end();
    }
    push_squeezed(&mut out, &text[done..]);
    out.truncate(out.trim_end().len());
    out
}

/// The kind of a match.
#[derive(Clone, Copy, Debug)]
enum VaryingKind {
    Colour,
    Time,
    Id,
    Address,
    Pointer,
    Pod,
    Suffix,
    Number,
    Word,
}

/// The pattern, with one group per alternative, and the kind of each group.
struct Varying {
    regex: Regex,
    groups: Vec<VaryingKind>,
}

/// The first alternative that matches at a position wins, so more specific ones come first; the last matches every remaining
/// word, so that nothing matches inside a word.
static VARYING: LazyLock<Varying> = LazyLock::new(|| {
    let clock = r"[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?";
    let zone = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?";
    let month = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*";
    let hex = "[0-9A-Fa-f]";
    // The alphabet of generated Kubernetes names: no vowels, no digits that look like letters.
    let made_up = "[bcdfghjklmnpqrstvwxz2456789]";
    let alternatives = [
        (VaryingKind::Colour, r"\x1b\[[0-9;?]*[A-Za-z]".to_owned()),
        // 2026-02-14T21:21:09.5Z, 2026/02/14
        (VaryingKind::Time, format!(r"\b[0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}(?:[T ]{clock}{zone})?\b")),
        // Sat, 14 Feb 2026 21:21:09 GMT
        (VaryingKind::Time, format!(r"\b(?:[A-Z][a-z]{{2}}, )?[0-9]{{1,2}} {month} [0-9]{{4}}(?: {clock}{zone})?\b")),
        // Feb 14 21:21:09
        (VaryingKind::Time, format!(r"\b{month} +[0-9]{{1,2}} {clock}{zone}\b")),
        // I0214 21:21:09.123456, as klog writes it
        (VaryingKind::Time, format!(r"\b[IWEF][0-9]{{4}} {clock}\b")),
        (VaryingKind::Time, format!(r"\b{clock}{zone}\b")),
        // 1m30.5s; bounded, since an endless one would be scanned to completion from each of its parts
        (VaryingKind::Time, r"\b(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|h|m|s)){1,8}\b".to_owned()),
        (VaryingKind::Id, format!(r"\b{hex}{{8}}(?:-{hex}{{4}}){{3}}-{hex}{{12}}\b")),
        (VaryingKind::Address, format!(r"\b{hex}{{2}}(?::{hex}{{2}}){{5,7}}\b")),
        (VaryingKind::Address, r"\b[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:/[0-9]{1,2})?(?::[0-9]{1,5})?\b".to_owned()),
        (VaryingKind::Address, format!(r"\[?(?:\b{hex}{{1,4}}:){{4,7}}{hex}{{1,4}}\b(?:\]:[0-9]{{1,5}}\b)?")),
        (VaryingKind::Address, format!(r"\[?(?:\b{hex}{{1,4}}:){{1,6}}(?::{hex}{{1,4}}\b){{1,6}}(?:\]:[0-9]{{1,5}}\b)?")),
        (VaryingKind::Pointer, format!(r"\b0[xX]{hex}+\b")),
        (VaryingKind::Pod, format!(r"-{made_up}{{8,10}}-{made_up}{{5}}\b")),
        (VaryingKind::Suffix, format!(r"-{made_up}{{5}}\b")),
        (VaryingKind::Number, r"[-+]?\b[0-9]+(?:\.[0-9]+)*(?:[eE][-+]?[0-9]+)?\b".to_owned()),
        (VaryingKind::Word, r"[0-9A-Za-z_]+".to_owned()),
    ];
    let pattern = alternatives.iter().map(|(_, pattern)| format!("({pattern})")).collect::<Vec<_>>().join("|");
    #[allow(clippy::expect_used)] // a constant pattern, compiled by this module's tests
    let regex = Regex::new(&pattern.replace(r"\b", r"(?-u:\b)")).expect("the pattern is constant");
    Varying { regex, groups: alternatives.iter().map(|(found, _)| *found).collect() }
});

impl Varying {
    /// The kind of a match: that of the one group that participated.
    fn of(&self, captures: &Captures<'_>) -> VaryingKind {
        let group = captures.iter().skip(1).position(|group| group.is_some());
        group.and_then(|index| self.groups.get(index)).copied().unwrap_or(VaryingKind::Word)
    }
}

/// Writes the placeholder of a match; `before` is the preceding character.
fn push_placeholder(out: &mut String, found: VaryingKind, text: &str, before: Option<char>) {
    match found {
        VaryingKind::Colour => {}
        VaryingKind::Time => out.push_str("<time>"),
        VaryingKind::Id => out.push_str("<id>"),
        VaryingKind::Address => out.push_str("<addr>"),
        VaryingKind::Pointer => out.push_str("<hex>"),
        VaryingKind::Pod => out.push_str("-<id>"),
        VaryingKind::Suffix => push_suffix(out, text),
        VaryingKind::Number => {
            // `a-5` and `3-5` keep their dash, ` -5` is a number.
            if text.starts_with(['-', '+']) && before.is_some_and(|ch| ch.is_alphanumeric() || "_)]>-".contains(ch)) {
                out.push_str(&text[..1]);
            }
            push_number(out, text.trim_start_matches(['-', '+']));
        }
        VaryingKind::Word => push_word(out, text),
    }
}

/// Only digits are a number; with a letter (`1e9`) it may be an abbreviated hash, which gets the same placeholder.
fn push_number(out: &mut String, number: &str) {
    let hash = number.len() >= 7 && number.contains(['e', 'E']) && !number.contains(['.', '-', '+']);
    out.push_str(if hash { "<hex>" } else { "<n>" });
}

/// `-x9k2p` at the end of a name is generated; `-https` is not.
fn push_suffix(out: &mut String, suffix: &str) {
    if suffix.contains(|ch: char| ch.is_ascii_digit()) && suffix.contains(|ch: char| ch.is_ascii_alphabetic()) {
        out.push_str("-<id>");
    } else if suffix.contains(|ch: char| ch.is_ascii_digit()) {
        out.push_str("-<n>");
    } else {
        out.push_str(suffix);
    }
}

/// Writes a word: unchanged if it does not contain digits; hashes and mixtures of letters and digits are replaced as a whole; otherwise
/// (`node12`) only the digits are.
fn push_word(out: &mut String, word: &str) {
    let bytes = word.as_bytes();
    if !bytes.iter().any(u8::is_ascii_digit) {
        out.push_str(word);
    } else if bytes.len() >= 7 && bytes.iter().all(u8::is_ascii_hexdigit) {
        out.push_str("<hex>");
    } else if changes(bytes) >= 4 {
        out.push_str("<id>");
    } else {
        let mut in_digits = false;
        for ch in word.chars() {
            let digit = ch.is_ascii_digit();
            if !digit {
                out.push(ch);
            } else if !in_digits {
                out.push_str("<n>");
            }
            in_digits = digit;
        }
    }
}

/// The number of transitions between letters and digits.
fn changes(word: &[u8]) -> usize {
    word.split(|byte| *byte == b'_')
        .map(|part| part.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit()).count())
        .max()
        .unwrap_or(0)
}

/// Writes text with runs of white space collapsed to one space, and none at the start.
fn push_squeezed(out: &mut String, text: &str) {
    for ch in text.chars() {
        if !ch.is_whitespace() {
            out.push(ch);
        } else if !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varying_parts_are_replaced() {
        for (text, expected) in [
            ("Timed out after 300.001s.", "Timed out after <time>."),
            ("offset -100 is not under 100", "offset <n> is not under <n>"),
            ("at 2026-02-14T21:21:09.123Z: x", "at <time>: x"),
            ("at 2026-02-14 21:21:09,5 +0000 x", "at <time> x"),
            ("Sat, 14 Feb 2026 21:21:09 GMT", "<time>"),
            ("Feb  4 21:21:09 host", "<time> host"),
            ("E0214 21:21:09.123456 1 main.go:77] x", "<time> <n> main.go:<n>] x"),
            ("took 1m30.5s", "took <time>"),
            ("/src/tests/ptp.go:123 +0x1d4", "/src/tests/ptp.go:<n> +<hex>"),
            ("dial tcp 10.0.0.12:6443: refused", "dial tcp <addr>: refused"),
            ("dial [fd00:1:2::5]:6443", "dial <addr>"),
            ("mac 0c:42:a1:7f:00:9e up", "mac <addr> up"),
            ("id 3f2504e0-4f89-11d3-9a0c-0305e82c3301 gone", "id <id> gone"),
            ("commit 9fceb02d", "commit <hex>"),
            ("pod web-7d4b9c6f5-x2x4z died", "pod web-<id> died"),
            ("linuxptp-daemon-x9k2p", "linuxptp-daemon-<id>"),
            ("use-https and node12", "use-https and node<n>"),
            ("exit code: 1", "exit code: <n>"),
            ("a-5 3-5", "a-<n> <n>-<n>"),
            ("\u{1b}[31mred\u{1b}[0m\n\t  text ", "red text"),
            ("", ""),
            ("ünïcode 3 ☃", "ünïcode <n> ☃"),
        ] {
            assert_eq!(normalise_error(text), expected, "{text:?}");
        }
    }

    #[test]
    fn normalising_is_idempotent() {
        for text in ["a 12 b 0xff 10.1.1.1", "pod web-7d4b9c6f5-x2x4z at 12:00:01", "x  y\n\nz 9fceb02d"] {
            let once = normalise_error(text);
            assert_eq!(normalise_error(&once), once, "{text:?}");
        }
    }

    #[test]
    fn the_key_ignores_noise_and_distinguishes_errors_and_tests() {
        let key = recall_key("sync  test", "offset 12 at 10:00:01");
        assert_eq!(key, recall_key("sync test", "offset 9000 at 23:59:59"));
        assert_ne!(key, recall_key("sync test", "offset 12 gone"));
        assert_ne!(key, recall_key("other test", "offset 12 at 10:00:01"));
        assert_eq!(key.len(), 32);
    }

    #[test]
    fn near_durations_take_linear_time() {
        // Scanned to the end from each of its parts, each of these would take minutes.
        for (part, end, normal) in
            [("1.5s", "_", "<n>."), ("1h", "_", ""), ("1.", "_", "<addr>."), ("12:", "x", "<time>"), ("-bcdfg-", "_", "-bcdfg-")]
        {
            let text = part.repeat(50_000) + end;
            assert!(normalise_error(&text).starts_with(normal), "{part}");
        }
        assert_eq!(normalise_error("1h2m3s4ms5us6ns7h8m"), "<time>");
        assert_eq!(normalise_error(&"1.5s ".repeat(20_000)), "<time> ".repeat(20_000).trim_end());
    }

    #[test]
    fn the_head_of_an_error_is_its_key() {
        let head = "é".repeat(RECALLED / 2 - 1) + "x";
        assert_eq!(recall_key("t", &(head.clone() + "é and more")), recall_key("t", &(head.clone() + "é and less")));
        assert_ne!(recall_key("t", &head), recall_key("t", &head[2..]));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            let once = normalise_error(&text);
            proptest::prop_assert!(!once.ends_with(' '));
        }
    }
}
