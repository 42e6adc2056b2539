//! A source file: its lines, the statement at a line, and the block around it.

use super::languages::{CodeLanguage, language};
use super::tokens::masked;
use asterisk_base::model::TextPattern;
use std::sync::LazyLock;

/// Most lines of a statement.
const STATEMENT_LINES: usize = 12;
/// Most lines of a block before and behind a line, if nothing encloses it.
const LOOSE_LINES: usize = 40;

static TEST_HEAD: LazyLock<TextPattern> = LazyLock::new(|| {
    TextPattern::new(
        r"^\s*(?:(?:it|test|describe|context|specify|scenario|suite|subtest|feature|Scenario|Feature)(?:\.\w+)*\b\s*[(\x22'`{]|(?:it|test|describe|specify)\.each\b|(?:TEST|SECTION|SCENARIO|BOOST_AUTO_TEST|TYPED_TEST)\w*\s*\(|@test\b|(?:async )?def test_?\w|func (?:Test|Benchmark|Fuzz)\w|(?:public )?(?:async )?(?:function|void|fun|Task) test\w)",
    )
    .expect("a pattern of the source reader")
});
static TEST_MARK: LazyLock<TextPattern> = LazyLock::new(|| {
    TextPattern::new(r"^\s*(?:#\[(?:[\w:]+::)?(?:test|rstest|should_panic|test_case)\b|@(?:\w+\.)*(?:Parameterized)?Test\b|\[(?:Test|Fact|Theory|TestMethod)\b)")
        .expect("a pattern of the source reader")
});

/// The text of a file.
#[derive(Debug)]
pub struct SourceFile<'t> {
    /// Its language.
    pub language: &'static CodeLanguage,
    pub(crate) lines: Vec<&'t str>,
}

/// A statement, which may span several lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceStatement {
    /// Its first line, from 1.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Its lines, trimmed and joined by spaces.
    pub text: String,
}

/// A definition or a test with its body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBlock {
    /// The line of its head, from 1; that of its first line if nothing encloses it.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The name that the head defines; empty for a test with a title, and without a head.
    pub name: String,
    /// Whether it is a test: by its name, the function that it is passed to, or an attribute above it.
    pub test: bool,
}

fn index(line: u32) -> usize {
    usize::try_from(line).unwrap_or(usize::MAX).saturating_sub(1)
}

fn number(index: usize) -> u32 {
    u32::try_from(index + 1).unwrap_or(u32::MAX)
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|letter| letter.is_whitespace()).map(|letter| if letter == '\t' { 4 } else { 1 }).sum()
}

impl<'t> SourceFile<'t> {
    /// The text of the file at this path; `None` if its language is unknown.
    pub fn new(path: &str, text: &'t str) -> Option<Self> {
        Some(Self { language: language(path)?, lines: text.lines().collect() })
    }

    /// A line, without its end; empty beyond the file.
    pub fn line(&self, line: u32) -> &'t str {
        self.lines.get(index(line)).copied().unwrap_or_default()
    }

    /// How far a line is indented, in columns; a tab counts as four.
    pub(crate) fn indent(&self, line: u32) -> usize {
        indent(self.line(line))
    }

    /// The number of lines.
    pub fn len(&self) -> u32 {
        number(self.lines.len().saturating_sub(1))
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The statement at a line: with the lines before it that leave a bracket open, and those up to where its brackets are closed.
    pub fn statement_at(&self, line: u32) -> SourceStatement {
        let at = index(line).min(self.lines.len().saturating_sub(1));
        let mut first = at;
        // A line that begins with `.` or an operator, or closes more than it opens, continues the one before it.
        while first > 0 && at - first < STATEMENT_LINES {
            let here = self.lines[first].trim_start();
            let before = self.lines[first - 1].trim_end();
            let continues = here.starts_with(['.', ')', ']', '}', '?', '|', '&', '+'])
                || before.ends_with(['(', ',', '[', '\\', '=', '+'])
                || self.balance(first, at) < 0;
            if !continues || before.is_empty() {
                break;
            }
            first -= 1;
        }
        let mut last = at;
        while last + 1 < self.lines.len() && last - first < STATEMENT_LINES {
            let next = self.lines[last + 1].trim_start();
            let open = self.balance(first, last) > 0 && !self.opens_block(last);
            if !open && !next.starts_with(['.', '?']) {
                break;
            }
            last += 1;
        }
        let text = self.lines.get(first..=last).unwrap_or_default().iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        SourceStatement { first: number(first), last: number(last), text }
    }

    /// How many more brackets lines open than they close.
    fn balance(&self, first: usize, last: usize) -> i32 {
        let mut open = 0;
        for line in &self.lines[first..=last] {
            for byte in masked(line, self.language).bytes() {
                match byte {
                    b'(' | b'[' | b'{' => open += 1,
                    b')' | b']' | b'}' => open -= 1,
                    _ => {}
                }
            }
        }
        open
    }

    /// Whether a line ends with the beginning of a block, whose body is not part of the statement.
    fn opens_block(&self, at: usize) -> bool {
        let line = self.lines[at].trim_end();
        line.ends_with('{') && !line.ends_with("({") && !line.ends_with("= {") && !line.ends_with(": {")
    }

    fn is_head(&self, at: usize) -> bool {
        let line = self.lines[at];
        TEST_HEAD.is_match(line) || self.language.defined(line).is_some()
    }

    /// The innermost definition or test around a line; the lines near it if nothing encloses it.
    pub fn block_around(&self, line: u32) -> CodeBlock {
        let at = index(line).min(self.lines.len().saturating_sub(1));
        let mut level = self.lines.get(at).map_or(0, |line| indent(line));
        // A blank line has the level of the next one that is not.
        if self.lines.get(at).is_some_and(|line| line.trim().is_empty()) {
            level = self.lines[at..].iter().find(|line| !line.trim().is_empty()).map_or(0, |line| indent(line));
        }
        if self.lines.get(at).is_some_and(|_| TEST_HEAD.is_match(self.lines[at]) || (level == 0 && self.is_head(at))) {
            return self.block_from(at);
        }
        // A decorator or an annotation is part of what it stands above.
        if self.lines.get(at).is_some_and(|line| line.trim_start().starts_with(['@', '['])) {
            let below =
                (at + 1..self.lines.len()).take(STATEMENT_LINES).take_while(|below| !self.lines[*below].trim().is_empty());
            if let Some(head) = below.into_iter().find(|below| indent(self.lines[*below]) == level && self.is_head(*below)) {
                return self.block_from(head);
            }
        }
        for before in (0..at).rev() {
            let line = self.lines[before];
            if line.trim().is_empty() || indent(line) >= level {
                continue;
            }
            level = indent(line);
            // A local variable does not enclose anything.
            let local = self.language.name == "js"
                && level > 0
                && !line.contains("=>")
                && !line.contains("function")
                && !line.trim_end().ends_with('{');
            if self.is_head(before) && !local {
                return self.block_from(before);
            }
            if level == 0 {
                break;
            }
        }
        let first = at.saturating_sub(LOOSE_LINES);
        let last = (at + LOOSE_LINES).min(self.lines.len().saturating_sub(1));
        CodeBlock { first: number(first), last: number(last), name: String::new(), test: false }
    }

    /// The block whose head is at an index.
    fn block_from(&self, head: usize) -> CodeBlock {
        let level = indent(self.lines[head]);
        let mut last = head;
        for (at, line) in self.lines.iter().enumerate().skip(head + 1) {
            let text = line.trim();
            if text.is_empty() {
                continue;
            }
            if indent(line) <= level {
                // The bracket that closes the block, or the parameters, is part of it.
                if text.starts_with(['}', ')', ']']) || text == "end" || text == "{" {
                    last = at;
                    if text.ends_with(['{', ':', '(']) {
                        continue;
                    }
                }
                break;
            }
            last = at;
        }
        let line = self.lines[head];
        let name = if TEST_HEAD.is_match(line) {
            self.language.defined(line).filter(|_| !line.contains(['\'', '"', '`']))
        } else {
            self.language.defined(line)
        };
        let marked = self.lines[head.saturating_sub(4)..head]
            .iter()
            .rev()
            .take_while(|line| line.trim().starts_with(['#', '@', '[']))
            .any(|line| TEST_MARK.is_match(line));
        CodeBlock {
            first: number(head),
            last: number(last),
            name: name.unwrap_or_default().to_owned(),
            test: marked || TEST_HEAD.is_match(line),
        }
    }

    /// The block of the definition at a line.
    pub fn definition_at(&self, line: u32) -> CodeBlock {
        self.block_from(index(line).min(self.lines.len().saturating_sub(1)))
    }

    /// The block that defines a name.
    pub fn block_named(&self, name: &str) -> Option<CodeBlock> {
        let at = self.lines.iter().position(|line| self.language.defined(line) == Some(name))?;
        Some(self.block_from(at))
    }

    /// The test with this name, with this title in quotes, or with this name as an argument of a macro.
    pub fn test_named(&self, name: &str) -> Option<CodeBlock> {
        let quoted = |line: &str| {
            line.match_indices(name).any(|(at, _)| {
                let (before, after) = (line[..at].chars().next_back(), line[at + name.len()..].chars().next());
                before.is_some_and(|mark| "'\"`".contains(mark)) && after.is_some_and(|mark| "'\"`".contains(mark))
            })
        };
        let of_macro = |line: &str| {
            let arguments = line.split_once('(').filter(|_| TEST_HEAD.is_match(line)).map_or("", |(_, arguments)| arguments);
            arguments.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name)
        };
        let at = || self.lines.iter().position(|line| quoted(line)).or_else(|| self.lines.iter().position(|line| of_macro(line)));
        self.block_named(name).or_else(|| at().map(|at| self.block_from(at)))
    }

    /// From which line on a file of the product has its tests, as Rust's do: beyond its end if it has none.
    pub fn tests_begin(&self) -> u32 {
        self.lines.iter().position(|line| line.trim_start().starts_with("#[cfg(test)]")).map_or(u32::MAX, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "import os\n\ndef helper():\n    return 1\n\nclass TestCart:\n    def test_total(self):\n        cart = Cart(\n            1,\n        )\n        if cart:\n            assert cart.total() == 3\n\n    def test_other(self):\n        pass\n";
    const JS: &str = "describe('cart', () => {\n  it('adds up', async () => {\n    const sum = await total([\n      1,\n    ]);\n    expect(sum)\n      .toBe(3);\n  });\n});\n";

    #[test]
    fn a_statement_goes_to_where_its_brackets_close() {
        let file = SourceFile::new("a.py", PYTHON).expect("Python");
        assert_eq!(file.statement_at(8).text, "cart = Cart( 1, )");
        assert_eq!(file.statement_at(9).first, 8);
        assert_eq!(file.statement_at(12).text, "assert cart.total() == 3");
        let file = SourceFile::new("a.js", JS).expect("JavaScript");
        assert_eq!(file.statement_at(3).text, "const sum = await total([ 1, ]);");
        assert_eq!(file.statement_at(7).text, "expect(sum) .toBe(3);");
        assert_eq!(file.statement_at(2).text, "it('adds up', async () => {");
    }

    #[test]
    fn a_block_is_the_definition_or_test_around_a_line() {
        let file = SourceFile::new("a.py", PYTHON).expect("Python");
        let block = file.block_around(12);
        assert_eq!((block.first, block.last, block.name.as_str(), block.test), (7, 12, "test_total", true));
        let file = SourceFile::new("a.js", JS).expect("JavaScript");
        let block = file.block_around(6);
        assert_eq!((block.first, block.last, block.test), (2, 8, true));
        assert_eq!(file.test_named("adds up").map(|block| block.first), Some(2));
        let boost = SourceFile::new("a.cpp", "BOOST_AUTO_TEST_CASE(median_of_four)\n{\n  BOOST_TEST(median(x) == 2.5);\n}\n");
        assert_eq!(boost.and_then(|file| file.test_named("median_of_four")).map(|block| block.last), Some(4));
        let steps = SourceFile::new(
            "steps.py",
            "@then(\"the desk is empty\")\ndef step_empty(context):\n    assert context.desk.loans == {}\n",
        );
        assert_eq!(steps.map(|file| file.block_around(1).first), Some(2));
        let rust = SourceFile::new("a.rs", "fn total() -> u32 {\n    3\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn totals() {\n        assert_eq!(total(), 4);\n    }\n}\n").expect("Rust");
        assert_eq!(
            (rust.block_around(8).name, rust.block_around(8).test, rust.block_around(2).test, rust.tests_begin()),
            ("totals".to_owned(), true, false, 4)
        );
    }

    #[test]
    fn lines_beyond_the_file_are_accepted() {
        for text in ["", "x", "\n\n"] {
            let file = SourceFile::new("a.py", text).expect("Python");
            let _block = file.block_around(99);
            let _statement = file.statement_at(99);
            assert_eq!(file.line(99), "");
        }
    }
}
