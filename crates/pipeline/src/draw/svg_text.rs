//! Text in SVG: estimates widths, wraps lines, escapes.

/// An upper estimate of the width of a text in pixels at a font size: that of the wider of the usual sans-serif fonts.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | ' ' => 0.34,
        'f' | 't' | 'r' | '-' | '(' | ')' | '/' | '[' | ']' => 0.45,
        'm' | 'w' | 'M' | 'W' | '@' => 0.98,
        c if c.is_ascii_uppercase() => 0.73,
        c if c.is_ascii() => 0.64,
        c if u32::from(c) >= 0x1100 => 1.05,
        _ => 0.7,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Wraps a text between words into lines of at most `room` pixels.
pub(super) fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + 0.34 * size <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Escapes a text for XML content and attributes. Characters that XML does not allow are removed.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_between_words_without_loss() {
        let text = "from a failed test to a root cause that a person has reviewed";
        let lines = wrap(text, 12.0, 120.0);
        assert!(lines.len() > 3 && lines.iter().all(|line| width(line, 12.0) <= 120.0), "{lines:?}");
        assert_eq!(lines.join(" "), text);
        assert_eq!(wrap("unbreakable", 12.0, 5.0), ["unbreakable"]);
        assert!(wrap(" ", 12.0, 5.0).is_empty());
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escape("<a b=\"c\">&\u{1}"), "&lt;a b=&quot;c&quot;&gt;&amp; ");
    }
}
