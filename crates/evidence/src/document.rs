//! The document: made of the texts of a failure by the data of a project.

use super::checks::{self, Check};
use super::frames::{FrameLanguage, ParsedFrame};
use super::lines::{self, EvidenceLine, LineSource, PlacedFrame, QuotedLine, ReadText, Titles};
use super::names::{self, Names};
use super::owners::{FrameOwner, OwnerReason, OwnerRule, Owners};
use super::signatures::{Catalogue, SignatureMatch, SignatureSpec};
use asterisk_base::model::{Case, Hash, TextPattern, TextPatternSet};
use serde::Serialize;
use std::sync::{LazyLock, OnceLock};

/// What one failure says.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Evidence {
    /// The lines that count.
    pub lines: Vec<EvidenceLine>,
    /// The lines that are quoted: titles, source code, the context of differences.
    pub quoted: Vec<QuotedLine>,
    /// The first line that says something; empty if none does.
    pub headline: String,
    /// The exceptions that are named, in the order of the text.
    pub exceptions: Vec<NamedException>,
    /// Stack frames, the root cause's first, innermost first.
    pub frames: Vec<EvidenceFrame>,
    /// Assertions that failed.
    pub checks: Vec<Check>,
    /// What the lines name, by kind.
    pub names: Names,
    /// The signatures that matched.
    pub matches: Vec<SignatureMatch>,
}

/// An exception that a line names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedException {
    /// Its type, as written.
    pub kind: String,
    /// What follows the type.
    pub message: String,
    /// The id of the line.
    pub line: String,
}

/// A stack frame with its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceFrame {
    /// The trace it is of, from 0; the root cause's is the first.
    pub trace: usize,
    /// Its language.
    pub language: FrameLanguage,
    /// Its function.
    pub function: String,
    /// Its file.
    pub path: String,
    /// The line in the file, from 1; 0 if it is not said.
    pub line: u32,
    /// Whose code it is.
    pub owner: FrameOwner,
    /// The text that contains it.
    pub source: LineSource,
    /// The number of its line there, from 1.
    pub number: u32,
}

/// The texts of a failure.
#[derive(Clone, Copy, Debug, Default)]
pub struct FailureTexts<'a> {
    /// The test's name.
    pub name: &'a str,
    /// Its suite or class.
    pub suite: &'a str,
    /// The error.
    pub error: &'a str,
    /// The log.
    pub log: &'a str,
}

impl<'a> FailureTexts<'a> {
    /// The texts of a case; `log` is its log as text.
    pub fn of(case: &'a Case, log: &'a str) -> Self {
        Self { name: &case.name, suite: &case.suite, error: &case.error_message, log }
    }
}

/// How many lines of a log are kept.
const LOG_LINES: usize = 400;
/// How many lines of an error are kept.
const ERROR_LINES: usize = 400;
/// How many frames are kept.
const FRAMES: usize = 200;

static EXCEPTION: LazyLock<TextPattern> = LazyLock::new(|| {
    let name = r"(?:[a-zA-Z_][\w$]*(?:\.|::|\\))*[A-Z][\w$]*(?:Error|Exception|Failure|Fault|Panic|Warning|NotFound|Timeout|Refused|Interrupt|Exit|Violation)";
    TextPattern::new(&format!(r"(?:^|[\s:(>'\x22])({name})\b(?::\s*(.*))?")).expect("a pattern of the document")
});

/// The data that evidence is read by.
#[derive(Clone, Debug, Default, Hash)]
pub struct EvidenceRules {
    /// Whose code frames are.
    pub owners: Vec<OwnerRule>,
    /// The beginning of a class's name that code of one maker has in common: a pattern.
    pub namespace: String,
    /// The beginning of a class's name that all code of one maker has in common: a pattern.
    pub maker: String,
    /// The signatures of known failures.
    pub signatures: Vec<SignatureSpec>,
    /// Patterns of lines that are not evidence of anything.
    pub ignored: Vec<String>,
    /// The names of tests that are set-ups of others: a pattern. Empty if none are.
    pub fixtures: String,
}

/// Reads failures by the data of a project.
#[derive(Debug)]
pub struct EvidenceReader {
    rules: EvidenceRules,
    address: Hash,
    compiled: OnceLock<CompiledRules>,
}

#[derive(Debug, Default)]
struct CompiledRules {
    owners: Owners,
    catalogue: Catalogue,
    ignored: TextPatternSet,
    fixtures: Option<TextPattern>,
}

impl EvidenceReader {
    /// Takes rules, which are compiled when the first failure is read. `address` is that of the data they are made of.
    ///
    /// Patterns that are not regular expressions match nothing; the forms of the data have refused them.
    pub const fn new(rules: EvidenceRules, address: Hash) -> Self {
        Self { rules, address, compiled: OnceLock::new() }
    }

    /// The address of the data: evidence that was read by the same is the same.
    pub const fn address(&self) -> &Hash {
        &self.address
    }

    fn compiled(&self) -> &CompiledRules {
        self.compiled.get_or_init(|| CompiledRules {
            owners: Owners::new(&self.rules.owners, &self.rules.namespace, &self.rules.maker).unwrap_or_default(),
            catalogue: Catalogue::new(self.rules.signatures.clone()),
            ignored: TextPatternSet::new(&self.rules.ignored, true).unwrap_or_default(),
            fixtures: (!self.rules.fixtures.is_empty())
                .then(|| TextPattern::new(&format!("(?i){}", self.rules.fixtures)).ok())
                .flatten(),
        })
    }

    /// The signature of that id.
    pub fn signature(&self, id: &str) -> Option<&SignatureSpec> {
        self.rules.signatures.iter().find(|signature| signature.id == id)
    }

    /// Whether a test of this name is a set-up of others.
    pub(super) fn names_fixture(&self, name: &str) -> bool {
        self.compiled().fixtures.as_ref().is_some_and(|fixtures| fixtures.is_match(name))
    }

    /// Whether the signature at this place of the domain says that a set-up failed.
    pub(super) fn is_setup_signature(&self, index: usize) -> bool {
        self.rules.signatures.get(index).is_some_and(|signature| signature.setup)
    }

    /// The signatures that a single line matches, by id, with the place in the line.
    pub fn of_line(&self, line: &str) -> Vec<(&str, [usize; 2])> {
        self.compiled().catalogue.of_line(line)
    }

    /// Whether any signature matches an error of this text.
    pub fn is_matched(&self, error: &str) -> bool {
        !self.read(FailureTexts { error, ..FailureTexts::default() }).matches.is_empty()
    }

    /// Why each of the frames of a failure has its owner. `texts` need only name test and suite.
    pub fn owner_reasons(&self, texts: FailureTexts<'_>, frames: &[ParsedFrame]) -> Vec<OwnerReason> {
        let owners = &self.compiled().owners;
        let class = class_of(texts.suite).or_else(|| class_of(texts.name)).unwrap_or_default();
        let own = owners.own(&class, texts.suite, frames);
        frames.iter().map(|frame| owners.reason(frame, &own)).collect()
    }

    /// Reads a failure.
    pub fn read(&self, texts: FailureTexts<'_>) -> Evidence {
        let CompiledRules { owners, catalogue, ignored, .. } = self.compiled();
        let titles = Titles::new(texts.name, texts.suite);
        let mut error = lines::read(texts.error, LineSource::Error, &titles);
        let mut log = lines::read(texts.log, LineSource::Log, &titles);
        for lines in [&mut error.lines, &mut log.lines] {
            lines.retain(|line| !ignored.is_match(&line.text));
        }
        keep_head_and_tail(&mut error.lines, ERROR_LINES);
        keep_head_and_tail(&mut log.lines, LOG_LINES);
        let class = class_of(texts.suite).or_else(|| class_of(texts.name)).unwrap_or_default();
        let mut frames = ordered(&error);
        let traces = frames.iter().map(|(trace, _)| trace + 1).max().unwrap_or(0);
        let sources = std::iter::repeat_n(LineSource::Error, frames.len()).chain(std::iter::repeat(LineSource::Log));
        frames.extend(ordered(&log).into_iter().map(|(trace, frame)| (trace + traces, frame)));
        frames.truncate(FRAMES);
        let parsed: Vec<ParsedFrame> = frames.iter().map(|(_, placed)| placed.frame.clone()).collect();
        let own = owners.own(&class, texts.suite, &parsed);
        let frames = frames.into_iter().zip(sources).map(|((trace, PlacedFrame { frame, number, .. }), source)| {
            let owner = owners.owner(&frame, &own);
            let ParsedFrame { language, function, path, line } = frame;
            EvidenceFrame { trace, language, function, path, line, owner, source, number }
        });
        let frames = frames.collect();
        let mut all = error.lines;
        all.append(&mut log.lines);
        let mut quoted = error.quoted;
        quoted.append(&mut log.quoted);
        Evidence {
            headline: all.iter().find(|line| says_something(&line.text)).map_or_else(String::new, |line| line.text.clone()),
            exceptions: exceptions(&all),
            frames,
            checks: checks::find(&all),
            names: names::find(all.iter()),
            matches: catalogue.matches(&all, &titles),
            lines: all,
            quoted,
        }
    }
}

/// A text that is too long keeps its beginning and its end: what failed last is there.
fn keep_head_and_tail(lines: &mut Vec<EvidenceLine>, most: usize) {
    if lines.len() > most {
        let tail = lines.len() - most / 2;
        lines.drain(most / 2..tail);
    }
}

/// Frames with the numbers of their traces: the innermost cause's trace first, innermost first.
fn ordered(text: &ReadText) -> Vec<(usize, PlacedFrame)> {
    let mut traces: Vec<Vec<PlacedFrame>> = Vec::new();
    for frame in &text.frames {
        match traces.last_mut() {
            Some(last) if last[0].trace == frame.trace => last.push(frame.clone()),
            _ => traces.push(vec![frame.clone()]),
        }
    }
    // ExUnit prints the location above the message, and again in the stack below it.
    let repeated = |traces: &[Vec<PlacedFrame>], at: usize| {
        let [only] = &traces[at][..] else { return false };
        let same = |placed: &PlacedFrame| placed.frame.path == only.frame.path && placed.frame.line == only.frame.line;
        traces.iter().any(|other| other.len() > 1 && other.iter().any(same))
    };
    let keep: Vec<bool> = (0..traces.len()).map(|at| !repeated(&traces, at)).collect();
    let mut keep = keep.into_iter();
    traces.retain(|_| keep.next() == Some(true));
    // behave prints the place of a step above the stack of what it ran.
    let is_step = |trace: &Vec<PlacedFrame>| trace.len() == 1 && trace[0].frame.path.ends_with(".feature");
    traces.sort_by_key(is_step);
    // Python writes the innermost frame last.
    for trace in &mut traces {
        if trace.iter().filter(|placed| placed.frame.language == FrameLanguage::Python).count() * 2 > trace.len() {
            trace.reverse();
        }
    }
    // Java writes the innermost cause last; each group of causes turns around.
    let mut groups: Vec<Vec<Vec<PlacedFrame>>> = Vec::new();
    for trace in traces {
        let caused = text.causes.contains(&trace[0].trace);
        match groups.last_mut() {
            Some(group) if caused => group.push(trace),
            _ => groups.push(vec![trace]),
        }
    }
    let ordered = groups.into_iter().flat_map(|group| group.into_iter().rev());
    ordered.enumerate().flat_map(|(number, trace)| trace.into_iter().map(move |placed| (number, placed))).collect()
}

/// The test's class, where the suite is one.
fn class_of(suite: &str) -> Option<String> {
    static CLASS: LazyLock<TextPattern> =
        LazyLock::new(|| TextPattern::new(r"(?:^|\s)((?:[A-Za-z_]\w*\.)+[A-Z][\w$]*)").expect("a pattern of the document"));
    CLASS.captures(suite).map(|found| found[1].to_owned())
}

fn says_something(text: &str) -> bool {
    static FRAMING: LazyLock<TextPattern> = LazyLock::new(|| {
        let framing = r"^\s*(?:\W*|Stack ?trace:?|During handling .*|The above exception .*|-+ Captured .*|-+ >> (?:begin|end) captured .*|Failed test|Failing step: .*|Location: \S+|ASSERT FAILED:|=== (?:RUN|PAUSE|CONT|NAME|FAIL).*|--- FAIL.*|running \d+ tests?|failures?:|test result: .*|\u{25cf}.*|\d+\) .*|Ran \d+ .*|Running \d+ test cases?\.\.\.|\*\*\* .* detected.*|Message:?|(?i:error|fail(?:ed|ure)?)[:.!]?|null|status: .*|run time: .*|test_id: .*|INSTRUMENTATION_(?:STATUS|CODE|STATUS_CODE): .*|Difference:?|@@.*@@|(?:line|column): \d+|file: \S+|at: .*|Looks like (?:you|your test) .*|Tests were run but no plan .*|at:|(?:---|\+\+\+) (?:expected|actual|Expected|Actual))\s*$";
        TextPattern::new(framing).expect("a pattern of the document")
    });
    !FRAMING.is_match(text)
}

fn exceptions(lines: &[EvidenceLine]) -> Vec<NamedException> {
    let mut found: Vec<NamedException> = Vec::new();
    for line in lines {
        if found.len() == 12 {
            break;
        }
        if !line.text.contains(|c: char| c.is_ascii_uppercase()) {
            continue;
        }
        let Some(groups) = EXCEPTION.captures(&line.text) else { continue };
        let kind = groups[1].to_owned();
        if found.iter().any(|have| have.kind == kind) {
            continue;
        }
        found.push(NamedException {
            kind,
            message: groups.get(2).map_or("", |text| text.as_str()).to_owned(),
            line: line.id.clone(),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reader() -> EvidenceReader {
        let owner = |owner, functions: &str| OwnerRule {
            owner: Some(owner),
            functions: vec![functions.to_owned()],
            ..OwnerRule::default()
        };
        let rules = EvidenceRules {
            maker: String::new(),
            owners: vec![owner(FrameOwner::Library, r"^org\.junit\."), owner(FrameOwner::Test, r"Test\.")],
            namespace: r"^\w+\.\w+\.".to_owned(),
            signatures: vec![SignatureSpec {
                id: "refused".into(),
                patterns: vec!["connection refused".into()],
                ..SignatureSpec::default()
            }],
            ignored: vec!["known noise".to_owned()],
            fixtures: String::new(),
        };
        EvidenceReader::new(rules, Hash::of(b""))
    }

    #[test]
    fn the_root_cause_stands_first() {
        let error = "com.shop.Broken: cart\n\tat com.shop.Cart.total(Cart.java:9)\n\tat com.shop.CartTest.adds(CartTest.java:3)\n\
                     Caused by: java.net.ConnectException: Connection refused\n\tat com.shop.Db.open(Db.java:7)\n\t... 2 more";
        let found = reader().read(FailureTexts {
            name: "adds",
            suite: "com.shop.CartTest",
            error,
            log: "known noise: Connection refused",
        });
        let frames: Vec<_> = found.frames.iter().map(|frame| (frame.trace, frame.function.as_str(), frame.owner)).collect();
        assert_eq!(
            frames,
            [
                (0, "com.shop.Db.open", FrameOwner::Product),
                (1, "com.shop.Cart.total", FrameOwner::Product),
                (1, "com.shop.CartTest.adds", FrameOwner::Test),
            ]
        );
        assert_eq!(found.headline, "com.shop.Broken: cart");
        assert_eq!(found.exceptions.iter().map(|found| found.kind.as_str()).collect::<Vec<_>>(), ["java.net.ConnectException"]);
        assert_eq!((found.matches.len(), found.matches[0].line.as_str(), found.matches[0].lines), (1, "e4", 1));
    }

    #[test]
    fn pytest_ends_a_traceback_with_its_innermost_entry() {
        let paths = |error: &str| {
            let found = reader().read(FailureTexts { error, ..FailureTexts::default() });
            found.frames.iter().map(|frame| format!("{}:{}:{}", frame.trace, frame.path, frame.line)).collect::<Vec<_>>()
        };
        let long = "customer = None\n\n    def test_country(customer):\n>       assert country(customer) == 'FI'\n               ^^^^\n\ntests/test_a.py:5: \n_ _ _ _ _ _ _ _ _ _\n\n\
                    customer = None\n\n    def country(customer):\n>       return customer.country\nE       AttributeError: 'NoneType' object has no attribute 'country'\n\n\
                    src/shop.py:25: AttributeError";
        assert_eq!(paths(long), ["0:src/shop.py:25", "0:tests/test_a.py:5"]);
        let short = "tests/test_a.py:5: in test_country\n    assert country(None)\nsrc/shop.py:25: in country\n    return customer.country\nE   AttributeError: no";
        assert_eq!(paths(short), ["0:src/shop.py:25", "0:tests/test_a.py:5"]);
        let frozen = "    def test_key():\n>       assert key()\n\ntests/test_a.py:5: \n_ _ _\nsrc/config.py:3: in key\n    return os.environ['KEY']\n_ _ _\n\n\
                      >   ???\nE   KeyError: 'KEY'\n\n<frozen os>:679: KeyError";
        assert_eq!(paths(frozen), ["0:<frozen os>:679", "0:src/config.py:3", "0:tests/test_a.py:5"]);
        let chained = "    def test_a():\n>       load()\n\ntests/test_a.py:5: \n_ _ _\n\n    def load():\n>       raise KeyError('a')\nE       KeyError: 'a'\n\nsrc/a.py:2: KeyError\n\n\
                       The above exception was the direct cause of the following exception:\n\n    def test_a():\n>       wrap()\n\ntests/test_a.py:6: \n_ _ _\n\n    def wrap():\n\
                       >       raise ValueError from error\nE       ValueError\n\nsrc/b.py:9: ValueError";
        assert_eq!(paths(chained), ["0:src/a.py:2", "0:tests/test_a.py:5", "1:src/b.py:9", "1:tests/test_a.py:6"]);
        assert_eq!(paths("/x/tests/test_a.py:5: ZeroDivisionError: division by zero"), ["0:/x/tests/test_a.py:5"]);
        let found = reader()
            .read(FailureTexts { error: "/x/tests/test_a.py:5: ZeroDivisionError: division by zero", ..FailureTexts::default() });
        assert_eq!(found.headline, "ZeroDivisionError: division by zero");
    }

    #[test]
    fn the_cause_of_an_error_of_node_stands_first() {
        let error = "Error: cannot load\n    at load (/app/src/load.js:5:9)\n    at Object.<anonymous> (/app/test/load.test.js:3:3) {\n  [cause]: TypeError: no path\n      at read (/app/src/read.js:2:7)\n      at load (/app/src/load.js:3:5)\n}";
        let found = reader().read(FailureTexts { error, ..FailureTexts::default() });
        assert_eq!((found.frames[0].path.as_str(), found.frames[0].trace), ("/app/src/read.js", 0));
    }

    #[test]
    fn a_place_above_the_message_is_that_of_the_stack() {
        let error = "  1) test zip (ShopTest)\n     test/shop_test.exs:6\n     ** (KeyError) key :zip not found in: nil\n     stacktrace:\n       (shop 0.1.0) lib/shop.ex:3: Shop.zip/1\n       test/shop_test.exs:6: (test)\n";
        let found = reader().read(FailureTexts { error, ..FailureTexts::default() });
        let frames: Vec<_> = found.frames.iter().map(|frame| (frame.path.as_str(), frame.function.as_str())).collect();
        assert_eq!(frames, [("lib/shop.ex", "Shop.zip/1"), ("test/shop_test.exs", "test")]);
    }

    #[test]
    fn output_of_passed_and_skipped_tests_is_left_out() {
        let log = "Running main() from gtest_main.cc\n[ RUN      ] Image.Saves\nno space left\n[       OK ] Image.Saves (0 ms)\n[ RUN      ] Image.OnGpu\nGPU is not set\n[  SKIPPED ] Image.OnGpu (0 ms)\n\
                   [ RUN      ] Image.Loads\nimage_test.cpp:3: Failure\nwrong\n[  FAILED  ] Image.Loads (0 ms)\n[ RUN      ] Image.Crashes\nreading";
        let found = reader().read(FailureTexts { log, ..FailureTexts::default() });
        let lines: Vec<_> = found.lines.iter().map(|line| line.text.as_str()).collect();
        assert!(!lines.iter().any(|line| line.contains("no space") || line.contains("GPU is not set")), "{lines:?}");
        assert!(lines.contains(&"wrong") && lines.contains(&"reading"), "{lines:?}");
        assert!(lines.contains(&"[ RUN      ] Image.Crashes: the process ended before this test did"), "{lines:?}");
    }

    #[test]
    fn python_writes_the_innermost_frame_last() {
        let error = "Traceback (most recent call last):\n  File \"tests/a.py\", line 1, in test\n    f()\n  File \"shop/b.py\", line 2, in f\n    raise E\nE: no";
        let found = reader().read(FailureTexts { error, ..FailureTexts::default() });
        assert_eq!(found.frames.iter().map(|frame| frame.path.as_str()).collect::<Vec<_>>(), ["shop/b.py", "tests/a.py"]);
    }

    #[test]
    fn a_long_log_keeps_its_beginning_and_its_end() {
        let log = (0..2000).map(|at| format!("line {at}")).collect::<Vec<_>>().join("\n");
        let found = reader().read(FailureTexts { log: &log, ..FailureTexts::default() });
        assert_eq!(found.lines.len(), LOG_LINES);
        assert_eq!((found.lines[0].text.as_str(), found.lines[LOG_LINES - 1].text.as_str()), ("line 0", "line 1999"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_text_is_read(name in any::<String>(), error in any::<String>(), log in "(?s).{0,400}") {
            let found = reader().read(FailureTexts { name: &name, suite: &name, error: &error, log: &log });
            let known = |id: &str| found.lines.iter().any(|line| line.id == id);
            prop_assert!(found.checks.iter().all(|check| known(&check.line)));
            prop_assert!(found.matches.iter().all(|matched| known(&matched.line)));
        }
    }
}
