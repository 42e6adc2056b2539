//! Formatting YAML.
//!
//! Conservative: lines, indentation, quotes and comments stay as their author wrote them, and so do block scalars and texts of several lines.
//! Changed are spaces: at the ends of lines, inside of `{ }` and `[ ]`, after `:` and `,`; and empty lines, of which one remains.

use crate::format::FormatError;
use asterisk_diag::Source;
use asterisk_form::yaml::{Yaml, YamlKind, parse};

/// Formats a file of YAML.
pub fn format_yaml(text: &str) -> Result<String, FormatError> {
    let before = tree(text).map_err(|(start, end, message)| FormatError::Syntax { start, end, message })?;
    // One pass is enough for all realistic texts.
    let mut formatted = Writer::run(text);
    for _ in 0..PASSES {
        let again = Writer::run(&formatted);
        if again == formatted {
            break;
        }
        formatted = again;
    }
    let after = tree(&formatted).map_err(|_| FormatError::Changed { place: 0 })?;
    if let Some(place) = difference(&before, &after) {
        return Err(FormatError::Changed { place });
    }
    Ok(formatted)
}

/// The maximum number of further passes, until nothing changes.
const PASSES: usize = 4;

fn tree(text: &str) -> Result<Yaml, (usize, usize, String)> {
    parse(&Source::new("text", text)).map_err(|found| {
        let first = found.iter().next();
        let span = first.and_then(|first| first.primary()).map_or((0, 0), |label| (label.span.start, label.span.end));
        (span.0, span.1, first.map_or_else(|| "this is not YAML".to_owned(), |first| first.message.clone()))
    })
}

/// Where two trees differ, apart from places.
fn difference(before: &Yaml, after: &Yaml) -> Option<usize> {
    let same = match (&before.kind, &after.kind) {
        (YamlKind::List(old), YamlKind::List(new)) => {
            if old.len() == new.len() {
                return old.iter().zip(new).find_map(|(old, new)| difference(old, new));
            }
            false
        }
        (YamlKind::Map(old), YamlKind::Map(new)) => {
            if old.len() == new.len() && old.iter().zip(new).all(|(old, new)| *old.key == *new.key) {
                return old.iter().zip(new).find_map(|(old, new)| difference(&old.value, &new.value));
            }
            false
        }
        (old, new) => old == new,
    };
    (!same).then_some(before.span.start)
}

/// Copies a text with the changes of spaces.
struct Writer<'t> {
    text: &'t str,
    at: usize,
    out: String,
    line_end: &'static str,
    /// The open brackets.
    flow: Vec<char>,
    /// The column of the innermost key or dash, -1 at the root: block scalars are indented more.
    parent: isize,
    /// Whether a text without quotes may go on after the last line.
    plain: bool,
    /// The output up to here stays, with its empty lines.
    kept: usize,
}

impl<'t> Writer<'t> {
    fn run(text: &'t str) -> String {
        let line_end = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
        let mut writer = Writer {
            text,
            at: 0,
            out: String::with_capacity(text.len()),
            line_end,
            flow: Vec::new(),
            parent: -1,
            plain: false,
            kept: 0,
        };
        writer.lines();
        let end = writer.out.trim_end_matches(['\n', '\r']).len();
        if end >= writer.kept {
            writer.out.truncate(end);
            if end > 0 {
                writer.out.push_str(line_end);
            }
        }
        writer.out
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn lines(&mut self) {
        let mut blank = true;
        while self.at < self.text.len() {
            let line = self.rest().split_inclusive('\n').next().unwrap_or_default();
            if line.trim().is_empty() {
                self.at += line.len();
                if !blank || !self.starts_entry() {
                    self.out.push_str(self.line_end);
                }
                blank = true;
                continue;
            }
            blank = false;
            self.line();
        }
    }

    /// Whether the next line with content starts something: it does not continue a text, in which empty lines count.
    fn starts_entry(&self) -> bool {
        let next = self.rest().trim_start();
        next.is_empty() || next.starts_with(['#', '}', ']']) || next.starts_with("- ") || next.starts_with("---") || is_key(next)
    }

    fn end_line(&mut self) {
        let end = self.out.trim_end_matches([' ', '\t']).len();
        self.out.truncate(end);
        self.out.push_str(self.line_end);
    }

    /// Copies spaces and tabs.
    fn indentation(&mut self) -> usize {
        let count = self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        self.out.push_str(&self.rest()[..count]);
        self.at += count;
        count
    }

    /// One line, or several if a quoted text or a block scalar goes on.
    fn line(&mut self) {
        let start = self.at;
        self.indentation();
        if self.flow.is_empty() {
            let column = |at: usize| isize::try_from(at - start).unwrap_or(isize::MAX);
            if column(self.at) <= self.parent {
                self.parent = -1;
            }
            // `- - key: value`: every dash is the parent of what follows it.
            while self.rest().starts_with("- ") || self.rest().starts_with("-\n") {
                self.parent = column(self.at);
                self.out.push('-');
                self.at += 1;
                self.indentation();
            }
            if is_key(self.rest()) {
                self.parent = column(self.at);
            }
        }
        // Whether a value may start here, so that a quote or a bracket is one.
        let mut starts = !self.plain
            || !self.flow.is_empty()
            || self.starts_entry()
            || self.parent > -1 && self.text[..self.at].ends_with("- ");
        self.plain = false;
        loop {
            let Some(char) = self.rest().chars().next() else { return self.end_line() };
            match char {
                '\n' => {
                    self.at += 1;
                    return self.end_line();
                }
                '\r' if self.rest().starts_with("\r\n") => self.at += 1,
                '#' if self.at == 0 || self.text[..self.at].ends_with([' ', '\t', '\n']) => {
                    let comment = self.rest().lines().next().unwrap_or_default();
                    self.out.push_str(comment);
                    self.at += comment.len();
                }
                '"' | '\'' if starts => {
                    self.quoted(char);
                    starts = false;
                    self.after_value();
                }
                '{' | '[' if starts || !self.flow.is_empty() => {
                    self.open(char);
                    starts = true;
                }
                '}' | ']' if !self.flow.is_empty() => {
                    self.close(char);
                    starts = false;
                    self.after_value();
                }
                ',' if !self.flow.is_empty() => {
                    self.trim_spaces();
                    self.out.push(',');
                    self.at += 1;
                    self.one_space();
                    starts = true;
                }
                ':' if self.is_colon() => {
                    self.plain = false;
                    self.out.push(':');
                    self.at += 1;
                    self.one_space();
                    starts = true;
                }
                '|' | '>' if starts && self.flow.is_empty() && self.block_scalar() => return,
                '&' | '!' | '*' if starts => {
                    let word = self.rest().split([' ', '\t', '\r', '\n', ',', ']', '}']).next().unwrap_or_default();
                    self.out.push_str(word);
                    self.at += word.len();
                    let spaces = self.rest().len() - self.rest().trim_start_matches(' ').len();
                    self.out.push_str(&self.rest()[..spaces]);
                    self.at += spaces;
                }
                ' ' | '\t' => {
                    self.out.push(char);
                    self.at += 1;
                }
                _ => {
                    self.out.push(char);
                    self.at += char.len_utf8();
                    starts = false;
                    self.plain = self.flow.is_empty();
                }
            }
        }
    }

    /// Whether a `:` ends a key here.
    fn is_colon(&self) -> bool {
        let after = self.rest()[1..].chars().next();
        match after {
            None | Some(' ' | '\t' | '\n' | '\r') => true,
            Some(',' | '[' | ']' | '{' | '}') => !self.flow.is_empty(),
            // `{"a":1}`
            Some(_) => !self.flow.is_empty() && self.text[..self.at].ends_with(['"', '\'']),
        }
    }

    /// Replaces the spaces here by one, unless the line ends.
    fn one_space(&mut self) {
        let rest = self.rest();
        let after = rest.trim_start_matches([' ', '\t']);
        let spaces = rest.len() - after.len();
        if after.is_empty() || after.starts_with(['\n', '\r']) {
            self.at += spaces;
        } else if after.starts_with('#') && spaces > 0 {
            // The place of a comment stays.
        } else {
            self.at += spaces;
            self.out.push(' ');
        }
    }

    /// Removes the spaces before a closing bracket or a comma, unless they indent it.
    fn trim_spaces(&mut self) {
        let end = self.out.trim_end_matches([' ', '\t']).len();
        if !self.out[..end].ends_with('\n') {
            self.out.truncate(end);
        }
    }

    fn open(&mut self, bracket: char) {
        self.flow.push(bracket);
        self.out.push(bracket);
        self.at += 1;
        let rest = self.rest();
        let after = rest.trim_start_matches([' ', '\t']);
        if after.starts_with(['\n', '\r', '#']) {
            return;
        }
        self.at += rest.len() - after.len();
        if bracket == '{' && !after.starts_with('}') {
            self.out.push(' ');
        }
    }

    fn close(&mut self, bracket: char) {
        self.flow.pop();
        self.trim_spaces();
        if bracket == '}' && !self.out.ends_with(['{', '\n', ' ']) {
            self.out.push(' ');
        }
        self.out.push(bracket);
        self.at += 1;
    }

    /// Removes the spaces before a `:` or `,` after a quoted or bracketed value in brackets.
    fn after_value(&mut self) {
        if !self.flow.is_empty() {
            let after = self.rest().trim_start_matches([' ', '\t']);
            if after.starts_with(',') || after.starts_with(": ") {
                self.at += self.rest().len() - after.len();
            }
        }
    }

    /// A quoted text, as it is.
    fn quoted(&mut self, quote: char) {
        let rest = self.rest();
        let mut chars = rest.char_indices().skip(1).peekable();
        let mut end = rest.len();
        while let Some((at, char)) = chars.next() {
            if char == '\\' && quote == '"' {
                chars.next();
            } else if char == quote {
                if quote == '\'' && chars.next_if(|(_, next)| *next == '\'').is_some() {
                    continue;
                }
                end = at + 1;
                break;
            }
        }
        self.out.push_str(&rest[..end]);
        self.at += end;
    }

    /// A block scalar with its header, as it is. Returns false if this is none.
    fn block_scalar(&mut self) -> bool {
        let header = self.rest().split('\n').next().unwrap_or_default();
        let (signs, comment) = header.split_once(" #").map_or((header, ""), |(signs, _)| (signs, &header[signs.len()..]));
        let signs = signs.trim_end();
        if !signs[1..].chars().all(|sign| matches!(sign, '+' | '-' | '1'..='9')) {
            return false;
        }
        self.out.push_str(signs);
        self.out.push_str(comment.trim_end());
        self.at += header.len();
        self.end_line();
        if self.rest().starts_with('\n') {
            self.at += 1;
        }
        let mut end = self.at;
        let mut next = self.at;
        while next < self.text.len() {
            let line = self.text[next..].split_inclusive('\n').next().unwrap_or_default();
            let indent = line.len() - line.trim_start_matches(' ').len();
            next += line.len();
            if line.trim().is_empty() {
                // A line of spaces may be a line of the text.
                if indent > 0 {
                    end = next;
                }
                continue;
            }
            if isize::try_from(indent).unwrap_or(isize::MAX) <= self.parent {
                break;
            }
            end = next;
        }
        // The empty lines at the end belong to the text if the header keeps them.
        if signs.contains('+') {
            let blank =
                self.text[end..].split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum::<usize>();
            end += blank;
        }
        let content = &self.text[self.at..end];
        self.out.push_str(content);
        if !content.is_empty() && !content.ends_with('\n') {
            self.out.push_str(self.line_end);
        }
        self.at = end;
        self.kept = self.out.len();
        true
    }
}

/// Whether a line starts with a key.
fn is_key(line: &str) -> bool {
    let line = line.lines().next().unwrap_or_default();
    line.contains(": ") || line.trim_end().ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn only_spaces_change() {
        for (before, after) in [
            ("a:   1\n\n\n\nb: {c: 1,d:  [ 1,2 ] }  \n", "a: 1\n\nb: { c: 1, d: [1, 2] }\n"),
            ("- {}\n- [ ]\n- {  }\n- { \"a\":1 }", "- {}\n- []\n- {}\n- { \"a\": 1 }\n"),
            ("a: |\n  x:   1  \n\n\n  y\nb: 'it''s   [x]'   # why\n", "a: |\n  x:   1  \n\n\n  y\nb: 'it''s   [x]'   # why\n"),
            ("- a: |\n    x:  1\n  b:  2\n", "- a: |\n    x:  1\n  b: 2\n"),
            ("- |\n  x:  1\n-  y\n", "- |\n  x:  1\n-  y\n"),
            ("# c  \na: http://x:80/a,b   \n", "# c\na: http://x:80/a,b\n"),
            ("a:    # why\n  b: 1\n", "a:    # why\n  b: 1\n"),
            ("a: [\n    1,  2,\n    3 ]\n", "a: [\n    1, 2,\n    3]\n"),
            ("a: \"x\n\n\n  y\"\n", "a: \"x\n\n\n  y\"\n"),
            ("a: >-\n  x\n\n\n\nb: 1\n\n\n", "a: >-\n  x\n\nb: 1\n"),
            ("a: x   [y],  z\n", "a: x   [y],  z\n"),
            ("a: &k  [1]\nb: *k\n", "a: &k  [1]\nb: *k\n"),
            ("a:  1\r\nb: [ 1 ]\r\n", "a: 1\r\nb: [1]\r\n"),
        ] {
            assert_eq!(format_yaml(before).as_deref(), Ok(after), "{before}");
            assert_eq!(format_yaml(after).as_deref(), Ok(after), "{before}");
        }
        assert!(matches!(format_yaml("a: [1"), Err(FormatError::Syntax { .. })));
    }

    fn files(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                files(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                found.push(fs::read_to_string(&path).expect("a text"));
            }
        }
    }

    #[test]
    fn bundled_files_keep_their_values_and_comments() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut found = Vec::new();
        for area in ["pipelines", "scripts/data", "tests/fixtures", "examples"] {
            files(&root.join(area), &mut found);
        }
        let mut formatted = 0;
        for text in found {
            match format_yaml(&text) {
                Ok(once) => {
                    assert_eq!(format_yaml(&once).as_deref(), Ok(&*once));
                    assert_eq!(comments(&text), comments(&once));
                    formatted += 1;
                }
                Err(error) => assert!(matches!(error, FormatError::Syntax { .. }), "{error:?}: {text}"),
            }
        }
        assert!(formatted > 50, "{formatted}");
    }

    fn comments(text: &str) -> Vec<&str> {
        text.lines().filter_map(|line| line.find('#').map(|at| line[at..].trim_end())).collect()
    }

    /// Pieces of YAML, in any order.
    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "a", "b", ": ", ":", "- ", "-", "{", "}", "[", "]", ",", ", ", "\n", "\n", "\n  ", "\n    ", " ", "  ", "\"x  y\"",
            "'z'", "# c", " # c", "|", ">-", "|+\n", "1", "true", "~", "&k ", "*k", "? ", "---\n", "\t", "\r\n", "\"", "'",
        ]);
        prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 5000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn values_never_change(text in pieces()) {
            // Unusual texts may be returned unchanged, like those whose value would change.
            if let Ok(once) = format_yaml(&text) {
                prop_assert_eq!(format_yaml(&once), Ok(once.clone()), "{:?}", text);
            }
        }
    }
}
