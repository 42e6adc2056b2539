//! Quotes words for a shell, so that suggested commands can be pasted.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Quotes a word for a POSIX shell; unchanged if it needs no quotes. Control and invisible characters are escaped with `$'...'`,
/// as supported by bash, zsh and ksh, so that the command stays one visible line.
pub fn shell(word: &str) -> Cow<'_, str> {
    let bare = |ch: char| ch.is_alphanumeric() || "_-./:@%+,".contains(ch) || ch == '=';
    if !word.is_empty() && !word.starts_with('=') && word.chars().all(bare) {
        return Cow::Borrowed(word);
    }
    let hidden = |ch: char| super::is_invisible(ch) || matches!(ch, '\t' | '\u{2028}' | '\u{2029}');
    if !word.contains(hidden) {
        return Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")));
    }
    let mut out = String::from("$'");
    for ch in word.chars() {
        // Writing to a string cannot fail.
        let _ = match ch {
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            '\'' | '\\' => write!(out, "\\{ch}"),
            ch if hidden(ch) && ch.is_ascii() => write!(out, "\\x{:02x}", u32::from(ch)),
            ch if hidden(ch) => write!(out, "\\U{:08x}", u32::from(ch)),
            ch => write!(out, "{ch}"),
        };
    }
    out.push('\'');
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_word_that_needs_no_quotes_is_unchanged() {
        for word in ["20260214-212109-ab12cd", "a/b.yaml", "tests.cart::adds", "NAME=1", "größe"] {
            assert_eq!(shell(word), word);
        }
        assert_eq!(shell("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(shell("a\nb\u{1b}'\u{202e}"), r"$'a\nb\x1b\'\U0000202e'");
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_parses_the_quoted_word_back() {
        for word in
            ["", "a b", "$(x) `y` \"z\" \\", "'", "~", "=ls", "*?[a]", "a;b&c|d>e", "a\nb\tc'\\", "#x", "!x", "{a,b}", "-x"]
        {
            let run = std::process::Command::new("bash").args(["-c", &format!("printf %s {}", shell(word))]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&run.stdout), word, "{}", shell(word));
        }
    }
}
