//! Which lines of a text count: what a tool quotes (titles, source code, the context of a difference) is not evidence of the
//! cause.

use super::frames::{FrameLanguage, FrameLine, ParsedFrame, ends_traceback, read_line};
use asterisk_base::model::TextPattern;
use serde::Serialize;
use std::sync::LazyLock;

/// The text that a line is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineSource {
    /// The error's text.
    Error,
    /// The log.
    Log,
}

/// A line that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceLine {
    /// Its id in the document: `e12` is line 12 of the error, `l3` line 3 of the log.
    pub id: String,
    /// Which text.
    pub source: LineSource,
    /// Its number in the text, from 1.
    pub number: u32,
    /// What it says, without the mark of the tool (pytest's `E`).
    pub text: String,
    /// The level that it names: `debug`, `info`, `warn`, `error`, `fatal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<&'static str>,
    /// The timestamp that it begins with, as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

/// Why a line is quoted and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum QuoteKind {
    /// It is the test's own name or title.
    Title,
    /// It is source code that a tool shows.
    Source,
    /// It is an unchanged line of a difference.
    Context,
    /// It is of a program's list of its options.
    Help,
}

/// A line that is quoted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuotedLine {
    /// Which text.
    pub source: LineSource,
    /// Its number in the text, from 1.
    pub number: u32,
    /// Why it does not count.
    pub kind: QuoteKind,
    /// The line.
    pub text: String,
}

/// What a frame belongs to.
#[derive(Clone, Debug)]
pub(super) struct PlacedFrame {
    /// The frame.
    pub frame: ParsedFrame,
    /// The trace, from 0 in the text.
    pub trace: usize,
    /// Its line's number, from 1.
    pub number: u32,
}

/// A text, line by line.
#[derive(Debug, Default)]
pub(super) struct ReadText {
    /// Lines that count.
    pub lines: Vec<EvidenceLine>,
    /// Lines that are quoted.
    pub quoted: Vec<QuotedLine>,
    /// Frames in the order of the text.
    pub frames: Vec<PlacedFrame>,
    /// Traces (by index) that the one before them was caused by.
    pub causes: Vec<usize>,
}

/// The names of the test, as titles have them.
#[derive(Debug)]
pub struct Titles {
    parts: Vec<String>,
}

impl Titles {
    /// Of the test's name and its suite.
    pub fn new(name: &str, suite: &str) -> Self {
        let mut parts: Vec<String> = Vec::new();
        for whole in [name, suite] {
            let mut all = vec![whole.trim().to_owned()];
            for separator in [" \u{203a} ", " > ", " / ", "::", " - ", " \u{b7} "] {
                if whole.contains(separator) {
                    all.extend(whole.split(separator).map(|part| part.trim().to_owned()));
                }
            }
            parts.extend(all.into_iter().filter(|part| part.len() > 5));
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        parts.dedup();
        Self { parts }
    }

    /// The line with spaces for the names of the test, so that places in it stay; nothing if it has none. Names of one short
    /// word stay: they may be anything.
    pub fn without(&self, line: &str) -> Option<String> {
        let mut rest: Option<String> = None;
        for part in &self.parts {
            let text = rest.as_deref().unwrap_or(line);
            if text.contains(part.as_str()) {
                rest = Some(text.replace(part.as_str(), &" ".repeat(part.len())));
            }
        }
        rest
    }

    fn is_title(&self, line: &str) -> bool {
        let Some(rest) = self.without(line) else { return false };
        let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.all(|word| word.chars().all(|c| c.is_ascii_digit()) || MARKS.contains(&word.to_ascii_lowercase().as_str()))
    }
}

/// What stands next to a test's name in a title.
const MARKS: &[&str] = &[
    "fail", "failed", "failure", "error", "test", "not", "ok", "it", "s", "ms", "xxx", "chromium", "firefox", "webkit", "chrome",
    "run", "summary",
];

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<TextPattern> = LazyLock::new(|| TextPattern::new($text).expect("a pattern of the line reader"));
    };
}

pattern!(
    CODE_FRAME,
    r"^\s*(?:>\s*)?\d+\s?[|\u{2502}](?:\s|$)|^\s*[|\u{2502}]\s*\^|^\s*[|\u{2502}](?:\s|$)|^\s*-->\s|^\s*\d+\s+\|"
);
pattern!(CARETS, r"^\s*[~^\u{203e}-]*[~^]{1,}[~^\s]*$");
pattern!(
    PYTEST_ERROR,
    r"^(?:\[\s*\d+s\]\s)?E(?:\s{2,}|$|\s(?:[\w.]*(?:Error|Exception|Failure|Warning|Exit)\b|assert\b|\+|-|\?)\s?)"
);
pattern!(
    STAMP,
    r"^\s{0,2}(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d[\d.,]*\]?)(?: \[?(?:ERROR|INFO|WARN|DEBUG)\]?)?(\s|$)"
);
// A program's name before each line of its output, as `kubectl logs --prefix` and Compose write it.
pattern!(TAGGED, r"^[\w./-]{2,80}(?:\[\d+\])?(?::| \|) ?(?:\t|\s{2})");
pattern!(
    PYTEST_SOURCE,
    r"^(?:\[\s*\d+s\]\s)?(?:>\s+\S|\s{4,}\S|\t\S)|^_ _ _|^_{5,}|^\w+ += \S|^(?:async )?(?:def|class) \w+.*:\s*$|^@[\w.]+(?:\(|$)"
);
// The timestamp prefix that a CI runner writes before every line it copies: GitHub Actions, Jenkins, the Open Build Service.
pattern!(
    JOB_STAMP,
    r"^(?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z)(?: |$)|\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)\](?: {1,2}|$)|\[\s*\d+s\](?: |$))"
);
// A failure in pytest's summary: the test, then what failed.
pattern!(PYTEST_SUMMARY, r"^(?:FAILED|ERROR) \S+\.py(?:::\S+)+ - (?:\S)");
// The number that minitest gives a failure; the test and what failed follow.
pattern!(MINITEST_NUMBER, r"^\s*\d+\) (?:Failure|Error|Skipped):\s*$");
// The heading of a failed check of Test::More: the name of the check, with its place.
pattern!(PERL_TITLE, r"^\s*Failed test(?: \(.*?\))?(?: '.*')?\s*(?:at \S+ line \d+\.)?\s*$");
pattern!(RULER, r"^[\s=_*~#+.\u{2500}-\u{257f}\u{2014}-]*$");
pattern!(
    DATED,
    r"^\W{0,2}(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d(?:[.,]\d+)?|[A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+)"
);
pattern!(
    LEVELS,
    r#"(?:^|[^A-Za-z])(TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE|PANIC)(?:[^A-Za-z]|$)|level"?[=:]\s?"?(trace|debug|info|warn|warning|error|fatal|panic)\b"#
);

/// Reads a text.
pub(super) fn read(text: &str, source: LineSource, titles: &Titles) -> ReadText {
    let mut found = ReadText::default();
    let mut stamps: Vec<(u32, String)> = Vec::new();
    let mut lines: Vec<&str> =
        text.lines().enumerate().map(|(index, line)| strip_runner_prefix(line, index, &mut stamps)).collect();
    // Test::More writes diagnostics as TAP comments.
    if lines
        .iter()
        .any(|line| line.trim_start().strip_prefix('#').is_some_and(|said| said.trim_start().starts_with("Failed test")))
    {
        for line in &mut lines {
            *line = line.trim_start().strip_prefix("# ").unwrap_or(line);
        }
    }
    let pytest = lines.iter().any(|line| line.starts_with(">   ") || PYTEST_ERROR.is_match(line));
    let exunit =
        lines.iter().any(|line| line.trim() == "stacktrace:") && lines.iter().any(|line| line.trim_start().starts_with("code: "));
    let letter = if source == LineSource::Error { 'e' } else { 'l' };
    let mut trace = 0;
    let mut open = false; // a trace is being read
    let mut raised = false; // pytest has said the error of the open trace, whose last entry follows with `--tb=long`
    let mut python_source = false; // the next line may be the source of a Python frame
    let mut function: Option<String> = None;
    let mut diff = false; // inside a unified difference
    let mut cause_of: Vec<usize> = Vec::new();
    let mut pending_cause = false;
    let mut panic_at: Option<String> = None; // the place of a panic whose message follows
    for (index, line) in lines.into_iter().enumerate() {
        let number = line_number(index);
        let quote = |kind| QuotedLine { source, number, kind, text: shorten(line) };
        let trimmed = line.trim();
        if trimmed.is_empty() {
            diff = false;
            continue;
        }
        if std::mem::take(&mut python_source) && line.starts_with("    ") && !trimmed.starts_with("File \"") {
            found.quoted.push(quote(QuoteKind::Source));
            continue;
        }
        if trimmed.as_bytes()[0].is_ascii_punctuation() && CARETS.is_match(line) && !trimmed.starts_with("--") {
            continue;
        }
        let mut said = line;
        if pytest && let Some(mark) = PYTEST_ERROR.find(line) {
            said = &line[line.find('E').map_or(0, |at| at + 1)..mark.end().max(line.len())];
            if said.trim().is_empty() {
                continue;
            }
            push(&mut found, source, letter, number, said);
            raised = true;
            continue;
        }
        if let Some(summary) = PYTEST_SUMMARY.find(line) {
            push(&mut found, source, letter, number, &line[summary.end() - 1..]);
            open = false;
            continue;
        }
        let starts = trimmed.as_bytes()[0];
        let stamped = if starts.is_ascii_digit() || starts == b'[' { STAMP.find(line).map(|stamp| stamp.end()) } else { None };
        let body = stamped.map_or(line, |end| &line[end..]);
        let body = TAGGED.find(body).map_or(body, |tag| &body[tag.end() - 1..]);
        let read = read_line(body, function.as_deref());
        if let Some(place) = panic_at.take() {
            let message = if matches!(read, None | Some(FrameLine::Function(_))) { trimmed } else { "" };
            push(&mut found, source, letter, number, format!("panicked at {place}: {message}").trim_end());
            if !message.is_empty() {
                continue;
            }
        }
        match read {
            Some(FrameLine::Frame(frame)) => {
                let ends = ends_traceback(body, &frame);
                if !open || (raised && !ends) {
                    trace = found.frames.last().map_or(0, |last: &PlacedFrame| last.trace + 1);
                    if std::mem::take(&mut pending_cause) && trace > 0 {
                        cause_of.push(trace);
                    }
                }
                open = !ends;
                raised = false;
                let python = frame.language == FrameLanguage::Python;
                let says = says_more(body, &frame);
                python_source = python;
                function = None;
                found.frames.push(PlacedFrame { frame, trace, number });
                if python && says {
                    said = body
                        .split_once(&format!(":{}: ", found.frames[found.frames.len() - 1].frame.line))
                        .map_or(body, |(_, error)| error);
                }
                // A place before a message (`cart_test.go:9: want 3`, a panic's line) is both.
                if PERL_TITLE.is_match(line) {
                    push(&mut found, source, letter, number, "Failed test");
                } else if says {
                    push(&mut found, source, letter, number, said);
                } else if let Some((_, place)) = trimmed.split_once("panicked at ") {
                    panic_at = Some(place.trim_end_matches(':').to_owned());
                }
                continue;
            }
            Some(FrameLine::Function(name)) => {
                function = Some(name);
                continue;
            }
            Some(FrameLine::Begins) => {
                open = false;
                function = None;
                continue;
            }
            Some(FrameLine::Cause) => {
                open = false;
                pending_cause = !trimmed.starts_with("Suppressed");
                push(&mut found, source, letter, number, said);
                continue;
            }
            Some(FrameLine::Filler) => continue,
            None => {}
        }
        if pytest && source == LineSource::Error && PYTEST_SOURCE.is_match(line) {
            found.quoted.push(quote(QuoteKind::Source));
            continue;
        }
        // ExUnit quotes the statement above the stack.
        if exunit && trimmed.starts_with("code: ") {
            found.quoted.push(quote(QuoteKind::Source));
            continue;
        }
        if exunit && trimmed == "stacktrace:" {
            continue;
        }
        if CODE_FRAME.is_match(line) {
            found.quoted.push(quote(QuoteKind::Source));
            continue;
        }
        if trimmed.starts_with("@@") || trimmed == "+++ Actual" || trimmed == "+ Received" || trimmed.starts_with("+++ ") {
            diff = true;
        } else if diff && line.starts_with(' ') && !trimmed.starts_with(['-', '+']) {
            found.quoted.push(quote(QuoteKind::Context));
            continue;
        }
        // The name is the test's own and no evidence; that a check failed is.
        if PERL_TITLE.is_match(line) {
            push(&mut found, source, letter, number, "Failed test");
            continue;
        }
        if titles.is_title(line) {
            found.quoted.push(quote(QuoteKind::Title));
            continue;
        }
        if RULER.is_match(line) || MINITEST_NUMBER.is_match(line) {
            continue;
        }
        open = false;
        function = None;
        push(&mut found, source, letter, number, said);
    }
    found.causes = cause_of;
    leave_out_other_tests(&mut found);
    leave_out_help(&mut found);
    for line in found.lines.iter_mut().filter(|line| line.at.is_none()) {
        if let Ok(at) = stamps.binary_search_by_key(&line.number, |(number, _)| *number) {
            line.at = Some(stamps[at].1.clone());
        }
    }
    found
}

/// Least number of lines of options in a row that are a help text.
const HELP_LINES: usize = 4;

/// A program that was called wrongly lists its options: its words are not evidence of the failure.
fn leave_out_help(found: &mut ReadText) {
    let option = |line: &EvidenceLine| {
        let text = line.text.trim_start();
        let dashes = text.len() - text.trim_start_matches('-').len();
        (1..=2).contains(&dashes) && text[dashes..].starts_with(|c: char| c.is_ascii_alphabetic()) && text.contains(' ')
    };
    if found.lines.iter().filter(|line| option(line)).count() < HELP_LINES {
        return;
    }
    let mut from = 0;
    let mut help = vec![false; found.lines.len()];
    while from < found.lines.len() {
        let many = found.lines[from..].iter().take_while(|line| option(line)).count();
        if many >= HELP_LINES {
            help[from..from + many].fill(true);
        }
        from += many.max(1);
    }
    let mut help = help.into_iter();
    let lines = std::mem::take(&mut found.lines);
    for line in lines {
        if help.next() == Some(true) {
            found.quoted.push(QuotedLine { source: line.source, number: line.number, kind: QuoteKind::Help, text: line.text });
        } else {
            found.lines.push(line);
        }
    }
    found.quoted.sort_by_key(|line| line.number);
}

/// Removes the output of tests that passed or were skipped: googletest prints all tests of a program. Marks the test that was running when the
/// process ended.
fn leave_out_other_tests(found: &mut ReadText) {
    let begins = |line: &EvidenceLine| line.text.strip_prefix("[ RUN      ] ").map(str::to_owned);
    if !found.lines.iter().any(|line| begins(line).is_some()) {
        return;
    }
    let mut kept: Vec<EvidenceLine> = Vec::with_capacity(found.lines.len());
    let mut began: Option<usize> = None;
    for line in found.lines.drain(..) {
        let ended = line.text.starts_with("[       OK ]") || line.text.starts_with("[  SKIPPED ]");
        if let (true, Some(from)) = (ended, began) {
            kept.truncate(from);
            began = None;
            continue;
        }
        if line.text.starts_with("[  FAILED  ]") {
            began = None;
        }
        if begins(&line).is_some() {
            began = Some(kept.len());
        }
        kept.push(line);
    }
    if let Some(line) = began.and_then(|at| kept.get_mut(at)) {
        line.text.push_str(": the process ended before this test did");
    }
    found.lines = kept;
}

fn line_number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

/// Strips the CI runner's prefix from a line. Its timestamp is kept with the line's number.
fn strip_runner_prefix<'t>(line: &'t str, index: usize, stamps: &mut Vec<(u32, String)>) -> &'t str {
    // Grunt marks what a test runner says.
    let line = line.strip_prefix(">> ").unwrap_or(line);
    if !line.starts_with(['[', '2']) {
        return line;
    }
    let Some(found) = JOB_STAMP.captures(line) else { return line };
    if let Some(at) = found.get(1).or_else(|| found.get(2)) {
        stamps.push((line_number(index), at.as_str().to_owned()));
    }
    &line[found[0].len()..]
}

fn push(found: &mut ReadText, source: LineSource, letter: char, number: u32, said: &str) {
    let text = shorten(said.trim());
    let (at, level) = if source == LineSource::Log || text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        (DATED.captures(&text).map(|found| found[1].to_owned()), level(&text))
    } else {
        (None, None)
    };
    found.lines.push(EvidenceLine { id: format!("{letter}{number}"), source, number, text, level, at });
}

fn level(text: &str) -> Option<&'static str> {
    let mut head = 120.min(text.len());
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let found = LEVELS.captures(&text[..head])?;
    let word = found.get(1).or_else(|| found.get(2))?.as_str().to_ascii_lowercase();
    Some(match word.as_str() {
        "trace" | "debug" => "debug",
        "info" | "notice" => "info",
        "warn" | "warning" => "warn",
        "error" | "err" | "severe" => "error",
        _ => "fatal",
    })
}

/// Whether a line says something next to the place it names.
fn says_more(line: &str, frame: &ParsedFrame) -> bool {
    use FrameLanguage as L;
    let trimmed = line.trim_start();
    match frame.language {
        L::Go | L::Native if !trimmed.starts_with('#') => {
            let after = line.rsplit_once(&format!(":{}", frame.line)).map_or("", |(_, after)| after);
            after.chars().filter(|c| c.is_alphabetic()).count() > 2 && !after.contains(" +0x")
        }
        // A message on the panic's own line, as where a tool writes both as one.
        L::Rust => {
            let after = trimmed.split_once(".rs:").map_or("", |(_, after)| after);
            trimmed.contains("panicked at '") || after.chars().filter(|c| c.is_alphabetic()).count() > 2
        }
        // `Shop::total() called at ..` names a function alone.
        L::Perl => {
            let before = trimmed.rsplit_once(" at ").map_or("", |(before, _)| before.trim_start_matches(['#', ' ']));
            !before.is_empty() && !before.ends_with(" called")
        }
        L::Python => {
            ends_traceback(line, frame) && line.trim_end().contains(' ') && {
                let error = line.rsplit_once(&format!(":{}: ", frame.line)).map_or("", |(_, error)| error.trim());
                error.contains(' ')
            }
        }
        L::Php => trimmed.contains(" in /") || trimmed.contains(" on line "),
        L::Ruby => trimmed.contains(".rb:") && trimmed.split(".rb:").nth(1).is_some_and(|rest| rest.contains(": ")),
        _ => false,
    }
}

/// A line of bounded length.
fn shorten(line: &str) -> String {
    const MOST: usize = 600;
    if line.len() <= MOST {
        return line.to_owned();
    }
    let mut end = MOST;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\u{2026}", &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let titles = Titles::new("Cart > should handle connection refused", "shop.cart");
        read(text, LineSource::Error, &titles).lines.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn titles_do_not_count() {
        assert_eq!(
            lines("  \u{25cf} Cart \u{203a} x\n1) Cart > should handle connection refused\nboom"),
            ["\u{25cf} Cart \u{203a} x", "boom"]
        );
        assert_eq!(lines("FAIL should handle connection refused (12 ms)"), [] as [&str; 0]);
        let titles = Titles::new("should handle connection refused", "");
        assert_eq!(
            titles.without("it should handle connection refused: 3").as_deref(),
            Some("it                                 : 3")
        );
    }

    #[test]
    fn source_code_is_quoted() {
        assert_eq!(lines("boom\n  11 | let a = 1;\n> 12 | expect(a).toBe(2);\n     | ^\nafter"), ["boom", "after"]);
        let pytest = "    def test_it():\n>       assert refused() == 2\nE       assert 1 == 2\nE        +  where 1 = refused()\ntest_it.py:3: AssertionError";
        assert_eq!(lines(pytest), ["assert 1 == 2", "+  where 1 = refused()"]);
        let python = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    raise Refused\nRefused: no";
        assert_eq!(lines(python), ["Refused: no"]);
    }

    #[test]
    fn what_a_runner_adds_to_a_message_does_not_count() {
        assert_eq!(lines("FAILED tests/test_a.py::Case::test_b - OSError: no route to host"), ["OSError: no route to host"]);
        assert_eq!(lines("FAILED tests/test_a.py::test_b"), ["FAILED tests/test_a.py::test_b"]);
        assert_eq!(lines("  1) Failure:\nExpected 3 to be 4"), ["Expected 3 to be 4"]);
        let titles = Titles::new("connects", "lan");
        let read = read(">> TypeError: boom\n>> at setUp (test/unit/lan.js:13:33)", LineSource::Error, &titles);
        assert_eq!((read.lines[0].text.as_str(), read.frames[0].frame.path.as_str()), ("TypeError: boom", "test/unit/lan.js"));
    }

    #[test]
    fn diagnostics_of_perl_tests_are_read() {
        let titles = Titles::new("t/cart.t", "");
        let frame = read("#   Failed test at t/cart.t line 14.\nNo tax", LineSource::Error, &titles);
        assert_eq!(frame.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["Failed test", "No tax"]);
        let text = "#   Failed test 'total of two'\n#   at t/cart.t line 14.\n#          got: '0'\n#     expected: '22'\nNo tax at lib/Tax.pm line 9.";
        let read = read(text, LineSource::Error, &titles);
        let said: Vec<_> = read.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(said, ["Failed test", "got: '0'", "expected: '22'", "No tax at lib/Tax.pm line 9."]);
        assert_eq!(read.frames.iter().map(|placed| placed.frame.path.as_str()).collect::<Vec<_>>(), ["t/cart.t", "lib/Tax.pm"]);
    }

    #[test]
    fn a_message_on_the_line_of_a_panic_counts() {
        let panic = "thread 'main' panicked at src/server.rs:12:10:";
        let joined = "panicked at src/server.rs:12:10: address in use";
        assert_eq!(lines(&format!("{panic}\naddress in use\nmore")), [joined, "more"]);
        assert_eq!(lines(&format!("{panic}\nstack backtrace:")), ["panicked at src/server.rs:12:10:"]);
        assert_eq!(lines(&format!("{panic} address in use")), [format!("{panic} address in use")]);
        assert_eq!(lines("thread 'main' panicked at 'boom', src/a.rs:9:5"), ["thread 'main' panicked at 'boom', src/a.rs:9:5"]);
        assert_eq!(lines("   2: a::b\n             at ./src/cart.rs:9:5\nboom"), ["boom"]);
    }

    #[test]
    fn ci_runner_prefixes_are_stripped() {
        let text = "def test_it():\n>       assert refused() == 2\nE       assert 1 == 2\ntest_it.py:3: AssertionError";
        let stamped = |stamp: &str| text.lines().map(|line| format!("{stamp} {line}")).collect::<Vec<_>>().join("\n");
        for stamp in ["2026-03-03T02:00:00.1234567Z", "[2026-03-03T02:00:00.123Z]", "[  212s]"] {
            assert_eq!(lines(&stamped(stamp)), ["assert 1 == 2"], "{stamp}");
        }
        let read = read("2026-03-03T02:00:00.1234567Z boom", LineSource::Error, &Titles::new("", ""));
        assert_eq!(read.lines[0].at.as_deref(), Some("2026-03-03T02:00:00.1234567Z"));
        assert_eq!(lines("2026-03-03 is no day of work"), ["2026-03-03 is no day of work"]);
    }

    #[test]
    fn the_context_of_a_difference_is_quoted() {
        assert_eq!(lines("- Expected\n+ Received\n\u{20} same\n- old\n+ new"), ["- Expected", "+ Received", "- old", "+ new"]);
    }

    #[test]
    fn lines_of_a_log_have_a_level_and_a_time() {
        let read = read(
            "2026-03-03T02:00:00Z ERROR cart: boom\nlevel=warning msg=x\n12:00:01.5 INFO ok",
            LineSource::Log,
            &Titles::new("", ""),
        );
        let told: Vec<_> = read.lines.iter().map(|line| (line.id.as_str(), line.level, line.at.as_deref())).collect();
        assert_eq!(
            told,
            [
                ("l1", Some("error"), Some("2026-03-03T02:00:00Z")),
                ("l2", Some("warn"), None),
                ("l3", Some("info"), Some("12:00:01.5"))
            ]
        );
    }

    #[test]
    fn frames_are_of_the_trace_they_stand_in() {
        let text =
            "a.B: one\n\tat a.B.f(B.java:1)\n\tat a.B.g(B.java:2)\nCaused by: a.C: two\n\tat a.C.h(C.java:3)\n\t... 2 more";
        let read = read(text, LineSource::Error, &Titles::new("", ""));
        assert_eq!(read.frames.iter().map(|placed| placed.trace).collect::<Vec<_>>(), [0, 0, 1]);
        assert_eq!(read.causes, [1]);
        assert_eq!(read.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["a.B: one", "Caused by: a.C: two"]);
    }
}
