//! The names and texts that a statement uses: directly, through the local variables in it, and through helpers of the same file.

use super::routes::requests;
use super::source::{CodeBlock, SourceFile};
use super::tokens::{masked, texts, tokens};
use std::collections::HashSet;

/// A name that a statement uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The name.
    pub name: String,
    /// The name before its dot, arrow or colons.
    pub qualifier: Option<String>,
    /// The line of the statement that has it, from 1.
    pub line: u32,
    /// 0 in the statement itself, 1 in what gives its variables their values, and so on.
    pub distance: u8,
    /// Whether arguments follow it.
    pub called: bool,
    /// Whether it is a variable or a function of the test itself: it names no other definition.
    pub local: bool,
}

/// A string in a statement: it may name a file of the product, or what is requested of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextUse {
    /// Its content.
    pub text: String,
    /// The line of the statement that has it, from 1.
    pub line: u32,
    /// As for a name.
    pub distance: u8,
    /// Whether the line that has it sends a request.
    pub requested: bool,
}

/// What a statement uses, the nearest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeUses {
    /// Names.
    pub names: Vec<NameUse>,
    /// Strings without spaces.
    pub texts: Vec<TextUse>,
}

/// What starts a program or sends a request.
const OUTSIDE: &[&str] = &[
    "subprocess",
    "Popen",
    "check_output",
    "spawn",
    "spawnSync",
    "execFile",
    "execFileSync",
    "execSync",
    "execa",
    "system",
    "Command",
    "CliRunner",
    "ProcessBuilder",
    "Process",
    "proc_open",
    "shell_exec",
    "capture2",
    "capture3",
    "fetch",
    "requests",
    "httpx",
    "urlopen",
    "axios",
    "supertest",
    "test_client",
    "TestClient",
    "MockMvc",
    "WebTestClient",
    "HttpClient",
    "httptest",
    "NewRequest",
    "RestTemplate",
    "curl",
    "chai.request",
];

impl CodeUses {
    /// Whether it starts a program or sends a request: values may then come from what no name here defines.
    pub fn leaves_the_process(&self) -> bool {
        self.names.iter().any(|used| OUTSIDE.contains(&used.name.as_str()))
    }

    /// Adds what a definition uses that the statement uses at a distance, in another file. The lines are those of that file.
    pub fn add(&mut self, other: Self, distance: u8) {
        let further = |at: u8| at.saturating_add(distance).min(DISTANCE);
        self.names.extend(other.names.into_iter().map(|used| NameUse { distance: further(used.distance), ..used }));
        self.texts.extend(other.texts.into_iter().map(|used| TextUse { distance: further(used.distance), ..used }));
        self.keep_nearest();
    }

    fn keep_nearest(&mut self) {
        self.names.sort_by_key(|used| used.distance);
        self.names.truncate(NAMES);
        self.texts.sort_by_key(|used| used.distance);
        self.texts.truncate(TEXTS);
    }
}

/// How far values are followed.
const DISTANCE: u8 = 3;
/// Most names.
const NAMES: usize = 60;
/// Most strings.
const TEXTS: usize = 24;
/// Longest string that names something, in bytes.
const TEXT_BYTES: usize = 300;
/// Most assignments of one variable that are followed.
const ASSIGNMENTS: usize = 3;
/// What begins a statement that checks.
const CONDITIONS: &[&str] = &["if ", "if(", "} else if", "elif ", "elsif ", "unless ", "switch ", "case "];
/// Most lines of a helper.
const HELPER_LINES: u32 = 60;

impl SourceFile<'_> {
    /// What the statement at a line uses. `block` is what encloses it.
    pub fn uses(&self, block: &CodeBlock, line: u32) -> CodeUses {
        let mut found = NamesFound::new(self, block);
        if self.language.name == "robot" {
            found.cells(line, 0);
        } else {
            found.statement(line, 0);
            found.conditions(line);
            found.inside(line);
            if self.language.name == "shell" {
                found.programs(line);
            }
        }
        found.finish()
    }

    /// What a definition outside of any function uses: that of a variable, or a function's body. Nothing if a name is not defined.
    pub fn uses_of_name(&self, name: &str) -> CodeUses {
        if let Some(block) = self.block_named(name).filter(|block| !block.test) {
            return self.uses_of(&block);
        }
        let whole = CodeBlock { first: 1, last: self.len(), name: String::new(), test: false };
        let mut found = NamesFound::new(self, &whole);
        let lines: Vec<u32> = (1..=self.len()).filter(|line| found.assigns(*line, name)).take(ASSIGNMENTS).collect();
        for line in lines {
            found.statement(line, 1);
        }
        found.finish()
    }

    /// What a whole block uses.
    pub fn uses_of(&self, block: &CodeBlock) -> CodeUses {
        let mut found = NamesFound::new(self, block);
        if self.language.name == "robot" {
            found.cells(block.last, 1);
        } else {
            found.body(block, 1);
        }
        found.finish()
    }
}

struct NamesFound<'f> {
    file: &'f SourceFile<'f>,
    block: &'f CodeBlock,
    uses: Vec<NameUse>,
    texts: Vec<TextUse>,
    seen: HashSet<(u32, String)>,
    read: HashSet<u32>,
    variables: HashSet<String>,
    helpers: HashSet<String>,
}

impl<'f> NamesFound<'f> {
    fn new(file: &'f SourceFile<'f>, block: &'f CodeBlock) -> Self {
        Self {
            file,
            block,
            uses: Vec::new(),
            texts: Vec::new(),
            seen: HashSet::new(),
            read: HashSet::new(),
            variables: HashSet::new(),
            helpers: HashSet::new(),
        }
    }

    fn finish(self) -> CodeUses {
        let mut uses = CodeUses { names: self.uses, texts: self.texts };
        uses.keep_nearest();
        uses
    }

    fn statement(&mut self, line: u32, distance: u8) {
        let statement = self.file.statement_at(line);
        let mut names = Vec::new();
        for at in statement.first..=statement.last {
            let text = masked(self.file.line(at), self.file.language);
            if self.read.insert(at) && self.texts.len() < 4 * TEXTS {
                let named = |text: &String| (2..=TEXT_BYTES).contains(&text.len()) && !text.trim().contains(' ');
                let found = texts(self.file.line(at), self.file.language).into_iter().filter(named);
                let requested = requests(self.file.line(at));
                self.texts.extend(found.map(|text| TextUse { text, line: at, distance, requested }));
            }
            for token in tokens(&text) {
                if self.uses.len() >= 4 * NAMES || !self.seen.insert((at, token.name.to_owned())) {
                    continue;
                }
                self.uses.push(NameUse {
                    name: token.name.to_owned(),
                    qualifier: token.qualifier.map(str::to_owned),
                    line: at,
                    distance,
                    called: token.called,
                    local: !token.member && self.is_local(token.name, token.called),
                });
                names.push((token.name.to_owned(), token.called, token.member));
            }
        }
        if distance >= DISTANCE {
            return;
        }
        for (name, called, member) in names {
            if !called {
                self.variable(&name, statement.first, distance);
            }
            if !member || self.file.block_named(&name).is_some_and(|block| block.name == name && !block.test) {
                self.helper(&name, distance);
            }
        }
    }

    /// Whether the file itself makes a variable or a function of this name, rather than importing it.
    fn is_local(&self, name: &str, called: bool) -> bool {
        let imports = |line: u32| ["require", "import", "load"].iter().any(|word| self.file.line(line).contains(word));
        if called {
            // Functions of the product are in front of the tests at the end of its file.
            let own = self.file.block_named(name).filter(|_| self.file.tests_begin() == u32::MAX);
            return own.is_some_and(|block| !imports(block.first));
        }
        let assigned = |mut lines: std::ops::RangeInclusive<u32>| lines.any(|line| self.assigns(line, name) && !imports(line));
        assigned(self.block.first..=self.block.last)
    }

    /// The programs that a test in a shell ran before a line: what they wrote, and how they ended, is in variables that nothing assigns to.
    fn programs(&mut self, before: u32) {
        for line in (self.block.first + 1..before).rev() {
            let distance = if self.file.line(line).trim_start().starts_with("run ") { 1 } else { 2 };
            self.statement(line, distance);
        }
    }

    /// The conditions around a line: `if got != want {` says what was checked, the line in it only reports that.
    fn conditions(&mut self, line: u32) {
        let mut level = self.file.indent(line);
        for at in (self.block.first + 1..line).rev() {
            let text = self.file.line(at).trim_start();
            if text.is_empty() || self.file.indent(at) >= level {
                continue;
            }
            level = self.file.indent(at);
            if CONDITIONS.iter().any(|word| text.starts_with(word)) {
                self.statement(at, 0);
            }
        }
    }

    /// The body of a statement that has one, such as `with pytest.raises(ValueError):`.
    fn inside(&mut self, line: u32) {
        let last = self.file.statement_at(line).last;
        let level = self.file.indent(line);
        if line == self.block.first {
            return;
        }
        for at in last + 1..=self.block.last.min(last.saturating_add(HELPER_LINES)) {
            if self.file.line(at).trim().is_empty() {
                continue;
            }
            if self.file.indent(at) <= level {
                break;
            }
            self.statement(at, 1);
        }
    }

    /// The statements that give a variable its value: those before a line in the block, else those anywhere in the file.
    fn variable(&mut self, name: &str, before: u32, distance: u8) {
        if !self.variables.insert(name.to_owned()) {
            return;
        }
        let within: Vec<u32> =
            (self.block.first..before).rev().filter(|line| self.assigns(*line, name)).take(ASSIGNMENTS).collect();
        if !within.is_empty() {
            for line in within {
                self.statement(line, distance + 1);
            }
            return;
        }
        let elsewhere: Vec<u32> = (1..=self.file.len()).filter(|line| self.assigns(*line, name)).take(ASSIGNMENTS).collect();
        for line in elsewhere {
            self.statement(line, distance + 1);
            // Steps and set-ups keep what they made, or the error, in an object that they share.
            let around = self.file.block_around(line);
            if !around.name.is_empty() && !around.test && around.last - around.first < HELPER_LINES {
                self.body(&around, distance + 2);
            }
        }
    }

    /// Whether a line assigns to a name: `name = `, `name := `, `a, name = `, `{ name } = `, `self.name = `, `let(:name)`.
    fn assigns(&self, line: u32, name: &str) -> bool {
        let text = self.file.line(line);
        if !text.contains(name) {
            return false;
        }
        let text = masked(text, self.file.language);
        text.match_indices(name).any(|(at, _)| {
            let whole = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                && !text[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            let after = text[at + name.len()..].trim_start();
            let before = text[..at].trim_end();
            // Other names of the same assignment, a type, or the end of a pattern.
            let rest = after.trim_start_matches(|c: char| c.is_alphanumeric() || "_, :<>[]?*&)}.".contains(c));
            let sets = rest.starts_with('=')
                && !rest.starts_with("==")
                && !rest.starts_with("=~")
                && !rest.starts_with("=>")
                && (after.len() == rest.len() || !after.starts_with(['.', '[']))
                && !before.ends_with(['(']);
            whole && (sets || after.starts_with(":=") || before.ends_with("let(:") || before.ends_with("let!(:"))
        })
    }

    /// The body of a function of the same file.
    fn helper(&mut self, name: &str, distance: u8) {
        if self.block.name == name || !self.helpers.insert(name.to_owned()) {
            return;
        }
        let Some(block) = self.file.block_named(name).filter(|block| !block.test) else { return };
        // Functions of the product are not helpers of the tests at the end of its file.
        if block.first < self.file.tests_begin() && self.file.tests_begin() != u32::MAX {
            return;
        }
        self.body(&block, distance + 1);
    }

    fn body(&mut self, block: &CodeBlock, distance: u8) {
        for line in block.first..=block.last.min(block.first.saturating_add(HELPER_LINES)) {
            if !self.file.line(line).trim().is_empty() {
                self.statement(line, distance.min(DISTANCE));
            }
        }
    }

    /// The keyword of a step of Robot Framework, as a function of Python is called.
    fn cells(&mut self, line: u32, distance: u8) {
        for at in (self.block.first..=line).rev() {
            let distance = if at == line { distance } else { 1 };
            for cell in self.file.line(at).split("  ").map(str::trim).filter(|cell| !cell.is_empty()) {
                if !cell.starts_with(|c: char| c.is_alphabetic()) || cell.len() > 60 {
                    continue;
                }
                let name = cell.to_lowercase().replace(' ', "_");
                self.uses.push(NameUse { name, qualifier: None, line: at, distance, called: true, local: false });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(path: &str, text: &str, line: u32) -> Vec<(String, u8)> {
        let file = SourceFile::new(path, text).expect("a known language");
        let block = file.block_around(line);
        file.uses(&block, line).names.into_iter().map(|used| (used.name, used.distance)).collect()
    }

    fn has(found: &[(String, u8)], name: &str, distance: u8) -> bool {
        found.iter().any(|(known, at)| known == name && *at == distance)
    }

    #[test]
    fn values_are_followed_through_variables_fixtures_and_helpers() {
        let text = "from shop import Cart\n\ndef make(n):\n    return Cart(n)\n\ndef test_total():\n    cart = make(3)\n    total = cart.total()\n    limit = 3\n    assert total == limit\n";
        let found = used("test_cart.py", text, 10);
        assert!(
            has(&found, "total", 0) && has(&found, "cart", 1) && has(&found, "make", 2) && has(&found, "Cart", 3),
            "{found:?}"
        );

        let text = "const { total } = require('../src/cart');\nlet cart;\nbeforeEach(() => {\n  cart = new Cart();\n});\ntest('adds', () => {\n  const [sum, rest] = total(cart);\n  expect(sum).toBe(3);\n});\n";
        let found = used("cart.test.js", text, 8);
        assert!(has(&found, "expect", 0) && has(&found, "total", 1) && has(&found, "Cart", 2), "{found:?}");

        let text =
            "func TestTotal(t *testing.T) {\n\tgot, err := Total(3)\n\tif got != 4 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n";
        let found = used("cart_test.go", text, 4);
        assert!(has(&found, "Total", 1), "{found:?}");
    }

    #[test]
    fn what_a_keyword_calls_is_a_function() {
        let text = "*** Test Cases ***\nWithdraw Cannot Overdraw\n    Open Account    10\n    Run Keyword And Expect Error    *overdrawn*    Withdraw    50\n";
        let found = used("bank.robot", text, 4);
        assert!(has(&found, "withdraw", 0) && has(&found, "open_account", 1), "{found:?}");
    }

    #[test]
    fn texts_and_values_of_other_files_are_uses() {
        let file = SourceFile::new("helper.bash", "ROOT=$(pwd)\nBACKUP=\"$ROOT/bin/backup\"\n").expect("shell");
        let found = file.uses_of_name("BACKUP");
        assert!(found.texts.iter().any(|used| used.text == "$ROOT/bin/backup"), "{found:?}");
        assert_eq!(file.uses_of_name("OTHER"), CodeUses::default());
        let text = "test('x', async () => {\n  const response = await request.get('/books/99');\n  expect(response.status()).toBe(404);\n});\n";
        let file = SourceFile::new("a.spec.js", text).expect("JavaScript");
        let found = file.uses(&file.block_around(3), 3);
        assert_eq!(found.texts, [TextUse { text: "/books/99".to_owned(), line: 2, distance: 1, requested: true }]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "(?s)[a-z=(){}'\"# \\n\\t.:]{0,200}", line in 0u32..30) {
            for path in ["a.py", "a.js", "a.rs", "a.robot", "a.pl", "a.go", "a.sh"] {
                let file = SourceFile::new(path, &text).expect("a known language");
                let block = file.block_around(line);
                let _names = (file.uses(&block, line), file.uses_of(&block), file.uses_of_name("a"), file.statement_at(line));
            }
        }
    }
}
