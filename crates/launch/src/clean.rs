//! Removes terminal output artefacts from texts: escapes, control characters, progress lines.

use asterisk_base::model::is_invisible;
use std::iter::Peekable;
use std::str::Chars;

/// Spellings of the escape character by tools that could not write it: JSON and C escapes shown raw, pytest's, `cat -v`'s.
const SPELT_ESCAPES: [&str; 10] =
    ["[NON-XML-CHAR-0x1B]", "\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "\\e", "#x1B", "\u{241b}", "^["];

/// Sequences that end a colour. A text that has one without its escape character has lost that character.
const RESETS: [&str; 3] = ["[0m", "[39m", "[22m"];

/// How far to look for the end of a string sequence (a window title, a link), in characters.
const MAX_SEQUENCE: usize = 4096;

/// The maximum number of consecutive blank lines.
const MAX_BLANK_LINES: usize = 1;

/// Returns the text as a terminal would show it in the end: no escape sequences, no control or invisible characters except line
/// breaks and tabs, only the last state of a line overwritten by carriage returns, no trailing white space and no runs of blank
/// lines.
pub(super) fn clean(text: &str) -> String {
    let spelt = strip_spelt(text);
    let mut page = TerminalPage { returns_break: !spelt.contains('\n'), ..TerminalPage::default() };
    let mut chars = spelt.chars().peekable();
    while let Some(ch) = chars.next() {
        match ch {
            '\u{1b}' => skip_escape(&mut chars),
            '\u{9b}' => skip_control_sequence(&mut chars),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut chars),
            '\n' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => page.end_line(),
            '\r' => page.carriage_return(chars.peek() == Some(&'\n')),
            '\u{8}' => page.backspace(),
            ch if is_invisible(ch) => {}
            ch => page.push(ch),
        }
    }
    page.finish()
}

/// Removes colour sequences whose escape character is spelt out or was lost (`[31mred[0m`).
fn strip_spelt(text: &str) -> String {
    let orphans = !text.contains('\u{1b}')
        && RESETS.iter().any(|reset| text.match_indices(reset).any(|(at, _)| !text[at + reset.len()..].starts_with(']')));
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '#', '\u{241b}', '^', '[']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let spelling = SPELT_ESCAPES.iter().find_map(|spelling| rest.strip_prefix(spelling));
        let length = match spelling {
            Some(after) => colour(after).map(|length| rest.len() - after.len() + length),
            None if orphans => colour(rest).filter(|length| !rest[*length..].starts_with(']')),
            None => None,
        };
        let length = length.unwrap_or_else(|| {
            let first = rest.chars().next().map_or(0, char::len_utf8);
            out.push_str(&rest[..first]);
            first
        });
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// The length of a sequence such as `[1;31m` or `[K` at the start of `text`.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix('[')?;
    let end = parameters.find(|ch: char| !ch.is_ascii_digit() && ch != ';')?;
    let known = match parameters.as_bytes()[end] {
        b'm' => end <= 24,
        b'K' => end <= 1,
        _ => false,
    };
    known.then_some(end + 2)
}

/// Skips the rest of an escape sequence.
fn skip_escape(chars: &mut Peekable<Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_control_sequence(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_string(chars);
        }
        Some(' '..='/') => {
            while chars.next_if(|ch| (' '..='/').contains(ch)).is_some() {}
            chars.next_if(|ch| ('0'..='~').contains(ch));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

/// Skips the parameters, intermediates and final character of a control sequence; a malformed one ends at the first character
/// that does not belong.
fn skip_control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|ch| ('0'..='?').contains(ch)).is_some() {}
    while chars.next_if(|ch| (' '..='/').contains(ch)).is_some() {}
    chars.next_if(|ch| ('@'..='~').contains(ch));
}

/// Skips a string sequence up to its terminator. Without one on the line, only the opening is dropped: better some garbage than a
/// lost log.
fn skip_string(chars: &mut Peekable<Chars<'_>>) {
    let mut ahead = chars.clone();
    for _ in 0..MAX_SEQUENCE {
        let before = ahead.clone();
        match ahead.next() {
            Some('\u{7}' | '\u{9c}') => {
                *chars = ahead;
                return;
            }
            Some('\u{1b}') => {
                // An escape ends the string: it begins the terminator or the next sequence.
                *chars = if ahead.next_if_eq(&'\\').is_some() { ahead } else { before };
                return;
            }
            None | Some('\n' | '\r' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}') => return,
            Some(_) => {}
        }
    }
}

/// The text shown by a terminal, line by line.
#[derive(Default)]
struct TerminalPage {
    out: String,
    line: String,
    blank: usize,
    /// A carriage return was read: the next character overwrites the line.
    overwrite: bool,
    /// The text has no line feeds, so its carriage returns are its line breaks.
    returns_break: bool,
}

impl TerminalPage {
    fn push(&mut self, ch: char) {
        if std::mem::take(&mut self.overwrite) {
            self.line.clear();
        }
        // Undecodable bytes give runs of replacement characters: one is enough.
        if ch != '\u{fffd}' || !self.line.ends_with('\u{fffd}') {
            self.line.push(ch);
        }
    }

    fn backspace(&mut self) {
        self.line.pop();
    }

    fn carriage_return(&mut self, before_line_feed: bool) {
        if self.returns_break {
            self.end_line();
        } else if !before_line_feed {
            self.overwrite = true;
        }
    }

    fn end_line(&mut self) {
        self.overwrite = false;
        let line = self.line.trim_end();
        if line.is_empty() {
            self.blank += 1;
        } else {
            if !self.out.is_empty() {
                let breaks = 1 + self.blank.min(MAX_BLANK_LINES);
                self.out.extend(std::iter::repeat_n('\n', breaks));
            }
            self.blank = 0;
            self.out.push_str(line);
        }
        self.line.clear();
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_cleaned() {
        let table = [
            ("plain", "plain"),
            ("\u{1b}[31mred\u{1b}[0m and \u{1b}[1;38;5;208mbold\u{1b}[m", "red and bold"),
            ("\u{1b}[2K\u{1b}[1Gdone", "done"),
            ("\u{9b}32mgreen\u{9b}0m", "green"),
            ("see \u{1b}]8;;https://x.test/1\u{1b}\\ticket 1\u{1b}]8;;\u{1b}\\ now", "see ticket 1 now"),
            ("\u{1b}]0;a title\u{7}text", "text"),
            ("\u{1b}]0;no end\nnext line", "0;no end\nnext line"),
            ("\u{1b}]0;a title\u{1b}[31mred", "red"),
            ("\u{1b}Pq#0;2;0\u{1b}\\after", "after"),
            ("\u{1b}(Bcharset \u{1b}7saved\u{1b}8", "charset saved"),
            ("cut off \u{1b}[3", "cut off"),
            ("cut off \u{1b}", "cut off"),
            (r"spelt \u001b[31mred\u001b[0m \x1b[1mbold\033[0m", "spelt red bold"),
            ("pytest #x1B[33mWARN#x1B[0m", "pytest WARN"),
            ("cat -v ^[[32mok^[[0m", "cat -v ok"),
            ("lost [31mred[0m text", "lost red text"),
            ("lost [33mred[39m text", "lost red text"),
            ("rate(errors[5m]) > 0 and [0m]", "rate(errors[5m]) > 0 and [0m]"),
            ("an array[10] of #x1B and \\x1b", "an array[10] of #x1B and \\x1b"),
            ("a\r\nb\r\n", "a\nb"),
            ("  1%\r 50%\r100%\ndone", "100%\ndone"),
            ("fetching\r\u{1b}[Kfetched\n", "fetched"),
            ("old\rmac\rlines", "old\nmac\nlines"),
            ("spin |\u{8}/\u{8}-\u{8}ok", "spin ok"),
            ("nul\0 bell\u{7} del\u{7f}", "nul bell del"),
            ("tab\tstays", "tab\tstays"),
            ("a  \n\n\n\n  b\n\n", "a\n\n  b"),
            ("\n\n  indented", "  indented"),
            ("page\u{c}break", "page\nbreak"),
            ("\u{feff}mark \u{202e}reversed\u{202c} zero\u{200b}width", "mark reversed zerowidth"),
            ("bytes \u{fffd}\u{fffd}\u{fffd} here", "bytes \u{fffd} here"),
            ("👩‍💻 naïve", "👩‍💻 naïve"),
        ];
        for (text, wanted) in table {
            assert_eq!(clean(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn unterminated_sequences_take_linear_time() {
        for opening in ["\u{1b}]x", "\u{9d}x", "\u{1b}[", "[0m[", "\\x1b[1"] {
            let text = opening.repeat(200_000);
            assert!(!clean(&text).contains(['\u{1b}', '\u{9d}']), "{opening:?}");
        }
    }

    proptest! {
        #[test]
        fn clean_text_has_no_control_characters(text in any::<String>()) {
            let clean = clean(&text);
            prop_assert!(clean.chars().all(|ch| ch == '\n' || ch == '\t' || !ch.is_control()), "{clean:?}");
            prop_assert!(clean.len() <= text.len());
        }

        #[test]
        fn escapes_never_survive(parts in proptest::collection::vec("(\u{1b}|\u{1b}\\[|\u{1b}\\]|\u{9b}|\u{9d}|[0-9;]{0,3}|m|\u{7}|\r|\n|x|\\\\x1b\\[)", 0..40)) {
            let clean = clean(&parts.concat());
            prop_assert!(!clean.contains(['\u{1b}', '\u{9b}', '\u{7}', '\r']), "{clean:?}");
        }
    }
}
