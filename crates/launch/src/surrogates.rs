//! Replaces lone surrogates in JSON (`"\ud800"`), which some writers produce when they cut a text. Each costs a character, not
//! the launch.

/// Replaces each lone surrogate with an escape of U+FFFD. Returns the text and the number of replacements; `None` if there are
/// none. Offsets in the text do not change.
pub(super) fn replace_lone(json: &str) -> Option<(String, usize)> {
    let places = lone_surrogates(json.as_bytes());
    if places.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(json.len());
    let mut from = 0;
    for place in &places {
        text.push_str(&json[from..*place]);
        text.push_str("\\ufffd");
        from = place + ESCAPE;
    }
    text.push_str(&json[from..]);
    Some((text, places.len()))
}

/// The length of an escape, in bytes.
const ESCAPE: usize = 6;

/// The offsets of escapes of lone surrogates.
fn lone_surrogates(json: &[u8]) -> Vec<usize> {
    let mut places = Vec::new();
    let mut at = 0;
    while let Some(next) = json[at..].iter().position(|byte| *byte == b'\\') {
        at += next;
        match unit(json, at) {
            Some(0xd800..=0xdbff) if matches!(unit(json, at + ESCAPE), Some(0xdc00..=0xdfff)) => at += 2 * ESCAPE,
            Some(0xd800..=0xdfff) => {
                places.push(at);
                at += ESCAPE;
            }
            // Another escape: its second character may be a `\` as well.
            _ => at = (at + 2).min(json.len()),
        }
    }
    places
}

/// The code unit of the escape at an offset.
fn unit(json: &[u8], at: usize) -> Option<u16> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_kept() {
        let table = [
            (r#""a\ud800b""#, Some((r#""a\ufffdb""#, 1))),
            (r#""\uDC00\ud83d\ude00\uD83D""#, Some((r#""\ufffd\ud83d\ude00\ufffd""#, 2))),
            (r#""\\ud800 \ud83d\ude00""#, None),
            (r#""é\ud8"#, None),
            ("\"\\", None),
        ];
        for (json, wanted) in table {
            assert_eq!(replace_lone(json).as_ref().map(|(text, count)| (text.as_str(), *count)), wanted, "{json}");
        }
    }

    proptest! {
        #[test]
        fn the_result_is_valid_json(parts in proptest::collection::vec(r"(\\\\|\\n|\\ud83d|\\ude00|\\u0041|é|x)", 0..12)) {
            let json = format!("\"{}\"", parts.concat());
            let text = replace_lone(&json).map_or(json, |(text, _)| text);
            prop_assert!(serde_json::from_str::<String>(&text).is_ok(), "{text}");
        }
    }
}
