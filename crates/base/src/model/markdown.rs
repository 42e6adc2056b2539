//! Escapes Markdown in foreign text.

/// Joins a text into one line and escapes its Markdown. Characters without a special meaning in their position are not escaped:
/// `expires_on` and `0.80` are unchanged.
pub fn markdown_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if has_meaning(c, &out, before, rest.peek().copied()) {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// Whether a character is Markdown where it stands: after `out`, the last of which is `before`, and ahead of `next`
/// (`CommonMark` 0.31 with the extensions of GitHub).
fn has_meaning(c: char, out: &str, before: Option<char>, next: Option<char>) -> bool {
    let begins = before.is_none();
    let ends_word = next.is_none_or(char::is_whitespace);
    match c {
        '`' | '|' | '~' => true,
        '\\' => next.is_none_or(|next| next.is_ascii_punctuation()),
        '_' => !(before.is_some_and(char::is_alphanumeric) && next.is_some_and(char::is_alphanumeric)),
        '*' => begins || !(before.is_some_and(char::is_whitespace) && ends_word),
        // Tags, comments, and links in angle brackets.
        '<' => next.is_none_or(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
        '&' => next.is_none_or(|next| next.is_ascii_alphanumeric() || next == '#'),
        // Check boxes and footnotes; a link is undone at its closing bracket.
        '[' => begins || matches!(next, None | Some('^')),
        ']' => matches!(next, None | Some('(' | '[' | ':')),
        // Headings, and references to other issues.
        '#' => begins || next.is_some_and(|next| next.is_ascii_digit()),
        '-' | '+' | '=' | '>' => begins,
        '.' | ')' => !begins && ends_word && out.bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::markdown_line;

    #[test]
    fn what_comes_from_outside_cannot_become_markup() {
        assert_eq!(markdown_line("a | b\n# <b> `x` [l](u) _e_"), "a \\| b # \\<b> \\`x\\` [l\\](u) \\_e\\_");
        assert_eq!(
            ["- x", "+ x", "12. x", "1) x", "1.", "&lt;b&gt;", "[x]: u", "[a][b]", "[^1]", "see #12", "~~x~~", "a \\* b", "> x"]
                .map(markdown_line),
            [
                "\\- x",
                "\\+ x",
                "12\\. x",
                "1\\) x",
                "1\\.",
                "\\&lt;b\\&gt;",
                "\\[x\\]: u",
                "\\[a\\][b\\]",
                "\\[^1\\]",
                "see \\#12",
                "\\~\\~x\\~\\~",
                "a \\\\\\* b",
                "\\> x"
            ]
        );
    }

    #[test]
    fn characters_without_special_meaning_are_unchanged() {
        let plain = [
            "0.80",
            "1.5 - 2",
            "expires_on of a.b_c",
            "a * b",
            "x < 3 > y",
            "the [BeforeAll] hook",
            "fish & chips",
            "C# and a-b",
            r"C:\dir",
        ];
        assert_eq!(plain.map(markdown_line), plain);
    }

    #[test]
    fn a_markdown_reader_sees_the_text() {
        // No value opens or closes what another began: each is escaped by itself.
        let shown = ["a]", "(b)"].map(markdown_line).concat();
        assert_eq!(shown, "a\\](b)");
    }
}
