//! Stack frames of the languages whose tools write the logs of tests: how a line of each is written, and how lines make traces.
//!
//! A frame is recognised by the form of its line alone; its owner is decided by rules in data ([`super::owners`]).

use asterisk_base::model::TextPattern;
use serde::Serialize;
use std::sync::LazyLock;

/// The language of a stack frame, or rather its notation: Kotlin, Scala and Groovy write as Java does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameLanguage {
    /// Java, Kotlin, Scala, Groovy.
    Jvm,
    /// Python.
    Python,
    /// Go.
    Go,
    /// JavaScript and TypeScript.
    Js,
    /// Rust.
    Rust,
    /// C and C++.
    Native,
    /// C#, F#, Visual Basic.
    Dotnet,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Perl.
    Perl,
    /// A place written as `file:line` outside any stack: Robot Framework, Swift, shell and others.
    Other,
}

impl FrameLanguage {
    /// All of them, with the names that owner rules use.
    pub const ALL: &[(&str, Self)] = &[
        ("jvm", Self::Jvm),
        ("python", Self::Python),
        ("go", Self::Go),
        ("js", Self::Js),
        ("rust", Self::Rust),
        ("native", Self::Native),
        ("dotnet", Self::Dotnet),
        ("ruby", Self::Ruby),
        ("php", Self::Php),
        ("perl", Self::Perl),
        ("other", Self::Other),
    ];

    /// The language of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, language)| *language)
    }
}

/// A frame as parsed from a line: its owner is still unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedFrame {
    /// Its language.
    pub language: FrameLanguage,
    /// The function, with the class or package where the tool writes them; empty if it writes none.
    pub function: String,
    /// The file, with forward slashes, without the prefixes of bundlers; empty if only the function is known.
    pub path: String,
    /// The line, from 1; 0 if it is not said.
    pub line: u32,
}

/// What a line of a text is to the traces in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FrameLine {
    /// A frame.
    Frame(ParsedFrame),
    /// The function of the frame whose place is on the next line (Go).
    Function(String),
    /// A trace begins with the next frame (`Traceback`, `goroutine 7 [running]:`).
    Begins,
    /// What caused the exception before begins (`Caused by:`). The line is worth reading as well.
    Cause,
    /// What a trace says in addition to its frames (`... 12 more`, `--- End of stack trace`).
    Filler,
}

macro_rules! pattern {
    ($name:ident, $text:expr) => {
        static $name: LazyLock<TextPattern> = LazyLock::new(|| TextPattern::new($text).expect("a pattern of the frame reader"));
    };
}

pattern!(
    JVM,
    r"^\s*at (?:[\w.$-]+/{1,2})?(?:[\w.-]*@[\w.-]*/)?([\w$\u{3c}\u{3e}.✽-]+)\(([^():]*)(?::(\d+))?\)(?:\s*~?\[.*\])?\s*$"
);
pattern!(PYTHON, r#"^\s*(?:\[\s*\d+s\]\s*)?File "([^"]+)", line (\d+)(?:, in (.+?))?\s*$"#);
pattern!(
    PYTEST,
    r"^\s*(?:\[\s*\d+s\]\s*)?((?:[A-Za-z]:)?[\w./\\<>+@~-]+\.pyx?):(\d+):(?: in (.+)| [\w.]*| (?:from|import) .+)?\s*$"
);
// Code without a file, as pytest writes it: `<frozen os>:679: KeyError`, `<string>:3: in f`.
pattern!(PYTEST_FROZEN, r"^\s*(<[\w. /-]+>):(\d+):(?: in (.+)| [\w.]*)?\s*$");
// An entry of `--tb=line`: the place, then the whole error.
pattern!(
    PYTEST_LINE,
    r"^\s*((?:[A-Za-z]:)?[\w./\\+@~-]+\.pyx?):(\d+): (?:(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Failure|Warning|Exit|Interrupt|Failed|Timeout|Expired|NotFound): \S|assert \S|Failed: \S)"
);
pattern!(GO_PLACE, r"^\s+((?:[A-Za-z]:)?\S+\.(?:go|s)):(\d+)(?: \+0x[0-9a-f]+)?(?: fp=\S+ sp=\S+ pc=\S+)?\s*$");
pattern!(
    GO_FUNCTION,
    r"^\s*(?:created by |panic\()?([\w.~/%…@-]+(?:\([*\w.\[\]…]+\))?[\w.{}·\[\]*…-]*)(?:\(.*\)|(?: in goroutine \d+))\s*$"
);
pattern!(GO_LOG, r"^\s*(?:Error Trace:\s*|In \[\w+\] at: )?((?:[A-Za-z]:)?[\w./\\@+~-]+\.go):(\d+)(?::|\s*$| @ \d\d/\d\d/\d\d)");
pattern!(
    JS_CALL,
    r"^\s*(?:at|❯|@)\s+(?:async )?(?:(.*?) \(|(\S+) )?((?:file://|webpack(?:-internal)?:/*|https?://|[A-Za-z]:[\\/]|node:|\./|\../|/|@)?[^\s()]*?\.(?:[cm]?[jt]sx?|vue|svelte)|node:[\w/]+|native|internal/[\w/]+\.js)(?:\?[^:)\s]*)?(?::(\d+))?(?::\d+)?\)?\s*$"
);
pattern!(JS_FIREFOX, r"^\s*([\w$./<>\[\]*]*)@((?:file|https?|webpack|resource|moz-extension)://?\S+?):(\d+):\d+\s*$");
pattern!(RUST_PANIC, r"(?:panicked|panic as expected) at (?:'.*', ?)?([\w/.@\\:+-]+\.rs):(\d+)(?::\d+)?:?");
pattern!(RUST_PANIC_OLD, r"', ((?:/|[A-Za-z]:)?[\w/.@\\+-]+\.rs):(\d+)");
pattern!(RUST_AT, r"^\s+at ((?:[A-Za-z]:)?[\w/.@<>\\+-]+\.rs):(\d+)(?::\d+)?\s*$");
pattern!(RUST_FUNCTION, r"^\s*\d+:\s+(?:0x[0-9a-f]+ - )?([\w<>:&\[\]*, {}$#.'-]+?)(?:::h[0-9a-f]{16})?\s*$");
pattern!(
    NATIVE,
    r"^\s*#\d+\s+(?:0x[0-9a-f]+ )?(?:in )?(.+?)(?: \(.*\))?(?: at)? ((?:[A-Za-z]:)?[\w./\\+@~-]+\.(?:cc|cpp|cxx|c|h|hpp|hxx|m|mm|inl|S)):(\d+)(?::\d+)?(?: \(\S+\+0x[0-9a-f]+\)(?: \(BuildId: [0-9a-f]+\))?)?\s*$"
);
pattern!(NATIVE_BARE, r"^\s*#\d+\s+(?:0x[0-9a-f]+ )?in (.+?) \((\S+?)\+0x[0-9a-f]+\)");
pattern!(
    NATIVE_PLACE,
    r"^\s*((?:[A-Za-z]:)?[\w./\\+@~-]+\.(?:cc|cpp|cxx|c|h|hpp|hxx|m|mm|swift))[:(](\d+)\)?(?::\d+)?:? (?:Failure|FAILED|FAIL|error|fatal error|warning|note|Assertion|last checkpoint)\b"
);
pattern!(
    DOTNET,
    r"^\s*(?:at|bei|в|à|en|w|在|場所) (.+?\)?)(?: in (.+?):(?:line|Zeile|строка|ligne|línea|行) ?(\d+)| \[0x[0-9a-f]+\] in (.+?):(\d+)|\s*<0x.*)?\s*$"
);
pattern!(DOTNET_CALL, r"^[\w.<>`+,\[\]|$ ]+\.[\w.<>`|\[\], ]+ ?\(.*\)$");
pattern!(
    RUBY,
    r"^\s*(?:# ?|\[\d+\] |\d+: from |from )?((?:[A-Za-z]:)?[\w./\\@+~-]*\.(?:rb|rake|erb|gemspec)):(\d+)(?::in [`'\u{2018}](.+?)['\u{2019}])?:?"
);
pattern!(RUBY_BRACKET, r"\[((?:[A-Za-z]:)?[\w./\\@+~-]+\.rb):(\d+)\]:?\s*$");
pattern!(PHP, r"^\s*(?:#\d+ )?((?:[A-Za-z]:[\\/]|/|phar://|\./)?[\w./\\@+~-]+\.php)(?:\((\d+)\)|:(\d+))(?::? (.+?)\(.*)?\s*$");
pattern!(PHP_IN, r"\bin ((?:[A-Za-z]:[\\/]|/)[\w./\\@+~-]+\.php)(?: on line |:)(\d+)");
// `Shop::total(...) called at lib/Shop.pm line 9`, and the end of a message: `... at t/cart.t line 4, <STDIN> line 1.`
pattern!(
    PERL,
    r"(?:^|\s)at ((?:[A-Za-z]:)?[\w./\\+@~<>-]+\.(?:t|pm|pl|PL|psgi)) line (\d+)(?:, <.*?> (?:line|chunk) \d+)?\.?\s*$"
);
pattern!(PERL_FUNCTION, r"^\s*(?:# +)?([\w:]+)\(.*\) called at ");
pattern!(
    OTHER,
    r"^\s*(?:at )?((?:[A-Za-z]:)?[\w./\\@+~-]+\.(?:swift|dart|exs?|lua|feature|robot|kt|java|scala|cs|fs|sh|bats|[cm]?[jt]sx?|vue))[:(](\d+)\)?(?::\d+)?:?\s*$"
);

// `(shop 0.1.0) lib/shop.ex:3: Shop.zip/1`, `test/shop_test.exs:6: (test)`
pattern!(ELIXIR, r"^\s*(?:\(([\w.-]+)(?: [\w.+-]+)?\) )?([\w./@~-]+\.exs?):(\d+): (?:\((.+)\)|(\S+/\d+)|(.+))\s*$");
// A place alone, as Catch2 ends a failure in JUnit XML.
pattern!(PLACE_AT, r"^\s*at ((?:[A-Za-z]:)?[\w./\\+@~-]+\.(?:cc|cpp|cxx|c|h|hpp|hxx|m|mm|rb|py|php|go)):(\d+)(?::\d+)?\s*$");
// A frame of node's TAP reporter, which leaves out `at`.
pattern!(
    JS_BARE,
    r"^\s*(?:async )?([A-Za-z_$][\w$.<> \[\]]{0,80}) \(((?:file://|node:|/|[A-Za-z]:[\\/])[^\s()]*?\.(?:[cm]?[jt]sx?)|node:[\w/]+):(\d+):\d+\)\s*$"
);
// The place of a step or of its definition: `Location: features/loans.feature:6`.
pattern!(LOCATION, r"^\s*Location: (\S+\.(?:feature|py|rb|js|ts|java|kt|cs)):(\d+)\s*$");
pattern!(BATS, r"^\s*(?:# ?)?\(?(?:from function [`'](.+?)' )?in (?:test )?file (\S+), line (\d+)[,)]\s*$");

/// Reads one line. `previous` is what the line before was, since some tools write a frame in two.
pub(super) fn read_line(line: &str, function_above: Option<&str>) -> Option<FrameLine> {
    let text = line.trim_start();
    let first = text.bytes().next()?;
    if first == b'a' && text.starts_with("at ") {
        if let Some(found) = jvm(line)
            .or_else(|| rust_at(line, function_above))
            .or_else(|| js(line))
            .or_else(|| dotnet(line))
            .or_else(|| perl(line))
            .or_else(|| place_at(line))
            .or_else(|| other(line))
        {
            return Some(FrameLine::Frame(found));
        }
        return None;
    }
    if text.starts_with("Caused by:")
        || text.starts_with("Suppressed:")
        || text.starts_with("Wrapped by:")
        || text.starts_with("[cause]: ")
    {
        return Some(FrameLine::Cause);
    }
    if text.starts_with("Traceback (most recent") || text.starts_with("stack backtrace:") || text.starts_with("[stacktrace]") {
        return Some(FrameLine::Begins);
    }
    if text.starts_with("goroutine ") && text.contains('[') {
        return Some(FrameLine::Begins);
    }
    if is_filler(text) {
        return Some(FrameLine::Filler);
    }
    let bytes = line.as_bytes();
    if memchr_colon_digit(bytes) || text.contains(" line ") || text.contains(".php") || first == b'#' {
        let found = python(line)
            .or_else(|| go_place(line, function_above))
            .or_else(|| js(line))
            .or_else(|| firefox(line))
            .or_else(|| rust(line))
            .or_else(|| native(line))
            .or_else(|| ruby(line))
            .or_else(|| php(line))
            .or_else(|| perl(line))
            .or_else(|| foreign_dotnet(line))
            .or_else(|| other(line));
        if let Some(found) = found {
            return Some(FrameLine::Frame(found));
        }
    }
    function(line, text).map(FrameLine::Function)
}

fn is_filler(text: &str) -> bool {
    (text.starts_with("... ") && (text.ends_with(" more") || text.ends_with("common frames omitted")))
        || text.starts_with("--- End of ")
        || text.starts_with("at [")
        || text.starts_with("at async Promise.") && text.contains(" (index ")
        || text.starts_with("note: run with `RUST_BACKTRACE")
        || text.starts_with("note: Some details are omitted")
        || text.starts_with("[Previous line repeated")
        || text.starts_with("exit status ") && text.len() < 16
}

/// Whether a colon or parenthesis stands before a digit: without that no frame but Python's names a place.
fn memchr_colon_digit(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| matches!(pair[0], b':' | b'(') && pair[1].is_ascii_digit())
}

fn frame(language: FrameLanguage, function: &str, path: &str, line: &str) -> ParsedFrame {
    ParsedFrame { language, function: function.trim().to_owned(), path: clean_path(path), line: line.parse().unwrap_or(0) }
}

/// Whether the line of a Python frame ends a traceback of pytest: it names the exception behind the place (`a.py:3: KeyError`).
pub(super) fn ends_traceback(line: &str, frame: &ParsedFrame) -> bool {
    frame.language == FrameLanguage::Python
        && frame.function.is_empty()
        && line.trim_end().rsplit_once(&format!(":{}: ", frame.line)).is_some_and(|(_, exception)| !exception.is_empty())
}

/// A path with forward slashes and without what bundlers and browsers put before it.
pub(super) fn clean_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut path = path.as_str();
    for scheme in ["webpack-internal://", "webpack://", "file://"] {
        if let Some(rest) = path.strip_prefix(scheme) {
            path = rest;
            if scheme != "file://" {
                // `webpack:///./src/a.ts`, `webpack://name/./src/a.ts`.
                path = rest.strip_prefix('/').or_else(|| rest.split_once('/').map(|(_, rest)| rest)).unwrap_or(rest);
                while let Some(rest) = path.strip_prefix("(").and_then(|rest| rest.split_once(")/")).map(|(_, rest)| rest) {
                    path = rest;
                }
            } else if path.as_bytes().get(2) == Some(&b':') {
                path = path.trim_start_matches('/');
            }
        }
    }
    let path = path.split('?').next().unwrap_or(path);
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest;
    }
    if !path.contains("/../") && !path.contains("/./") {
        return path.to_owned();
    }
    // `features/../src/loans.py`
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            ("..", Some(last)) if !matches!(*last, "" | "..") => drop(parts.pop()),
            (".", Some(_)) => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn jvm(line: &str) -> Option<ParsedFrame> {
    let found = JVM.captures(line)?;
    let (name, file, number) = (&found[1], &found[2], found.get(3).map_or("", |number| number.as_str()));
    let ends = |ending: &str| file.ends_with(ending);
    if !(file == "Native Method"
        || file == "Unknown Source"
        || [".java", ".kt", ".scala", ".groovy", ".clj"].iter().any(|ending| ends(ending)))
    {
        return None;
    }
    let package = name.rsplit_once('.').and_then(|(class, _)| class.rsplit_once('.')).map_or("", |(package, _)| package);
    let path = match (file, package) {
        ("Native Method" | "Unknown Source", _) => String::new(),
        (file, "") => file.to_owned(),
        (file, package) => format!("{}/{file}", package.replace('.', "/")),
    };
    Some(frame(FrameLanguage::Jvm, name, &path, number))
}

fn python(line: &str) -> Option<ParsedFrame> {
    if line.contains("File \"") {
        let found = PYTHON.captures(line)?;
        return Some(frame(FrameLanguage::Python, found.get(3).map_or("", |name| name.as_str()), &found[1], &found[2]));
    }
    if line.trim_start().starts_with('<') {
        let found = PYTEST_FROZEN.captures(line)?;
        return Some(frame(FrameLanguage::Python, found.get(3).map_or("", |name| name.as_str()), &found[1], &found[2]));
    }
    if !line.contains(".py") {
        return None;
    }
    if let Some(found) = PYTEST_LINE.captures(line) {
        return Some(frame(FrameLanguage::Python, "", &found[1], &found[2]));
    }
    let found = PYTEST.captures(line)?;
    Some(frame(FrameLanguage::Python, found.get(3).map_or("", |name| name.as_str()), &found[1], &found[2]))
}

fn go_place(line: &str, function_above: Option<&str>) -> Option<ParsedFrame> {
    if !(line.contains(".go:") || function_above.is_some() && line.contains(".s:")) {
        return None;
    }
    if let Some(found) = GO_PLACE.captures(line)
        && (function_above.is_some() || line.contains(" +0x"))
    {
        return Some(frame(FrameLanguage::Go, function_above.unwrap_or(""), &found[1], &found[2]));
    }
    let found = GO_LOG.captures(line)?;
    Some(frame(FrameLanguage::Go, "", &found[1], &found[2]))
}

fn js(line: &str) -> Option<ParsedFrame> {
    if (line.contains("js:") || line.contains("ts:") || line.contains("(node:"))
        && let Some(found) = JS_BARE.captures(line).filter(|found| !found[1].starts_with("at "))
    {
        return Some(frame(FrameLanguage::Js, &found[1], &found[2], &found[3]));
    }
    if !(line.contains("at ") || line.contains('❯') || line.contains("@ ")) {
        return None;
    }
    let found = JS_CALL.captures(line)?;
    let path = &found[3];
    if found.get(4).is_none() && !path.starts_with("node:") && path != "native" {
        return None;
    }
    let function = found.get(1).or_else(|| found.get(2)).map_or("", |name| name.as_str());
    Some(frame(FrameLanguage::Js, function, path, found.get(4).map_or("", |number| number.as_str())))
}

fn firefox(line: &str) -> Option<ParsedFrame> {
    if !line.contains('@') || !line.contains("://") {
        return None;
    }
    let found = JS_FIREFOX.captures(line)?;
    Some(frame(FrameLanguage::Js, &found[1], &found[2], &found[3]))
}

fn rust(line: &str) -> Option<ParsedFrame> {
    if !line.contains(".rs:") {
        return None;
    }
    let found = RUST_PANIC.captures(line).or_else(|| RUST_PANIC_OLD.captures(line))?;
    Some(frame(FrameLanguage::Rust, "", &found[1], &found[2]))
}

fn rust_at(line: &str, function_above: Option<&str>) -> Option<ParsedFrame> {
    if !line.contains(".rs:") {
        return None;
    }
    let found = RUST_AT.captures(line)?;
    Some(frame(FrameLanguage::Rust, function_above.unwrap_or(""), &found[1], &found[2]))
}

fn native(line: &str) -> Option<ParsedFrame> {
    if let Some(found) = line.trim_start().starts_with('#').then(|| NATIVE.captures(line)).flatten() {
        return Some(frame(FrameLanguage::Native, &found[1], &found[2], &found[3]));
    }
    if let Some(found) = line.contains("+0x").then(|| NATIVE_BARE.captures(line)).flatten() {
        return Some(frame(FrameLanguage::Native, &found[1], &found[2], ""));
    }
    let found = NATIVE_PLACE.captures(line)?;
    Some(frame(FrameLanguage::Native, "", &found[1], &found[2]))
}

fn dotnet(line: &str) -> Option<ParsedFrame> {
    let found = DOTNET.captures(line)?;
    if !DOTNET_CALL.is_match(&found[1]) {
        return None;
    }
    let place = found.get(2).or_else(|| found.get(4)).map_or("", |path| path.as_str());
    let number = found.get(3).or_else(|| found.get(5)).map_or("", |number| number.as_str());
    let name = found[1].split(" (").next().unwrap_or(&found[1]);
    let name = name.split('(').next().unwrap_or(name);
    Some(frame(FrameLanguage::Dotnet, name, place, number))
}

/// A frame of .NET in another language than English does not begin with `at`.
fn foreign_dotnet(line: &str) -> Option<ParsedFrame> {
    if !(line.contains(".cs:") || line.contains(".fs:") || line.contains(".vb:")) {
        return None;
    }
    dotnet(line)
}

fn ruby(line: &str) -> Option<ParsedFrame> {
    if !line.contains(".rb:") && !line.contains(".rake:") && !line.contains(".erb:") {
        return None;
    }
    if let Some(found) = RUBY_BRACKET.captures(line) {
        return Some(frame(FrameLanguage::Ruby, "", &found[1], &found[2]));
    }
    let found = RUBY.captures(line)?;
    Some(frame(FrameLanguage::Ruby, found.get(3).map_or("", |name| name.as_str()), &found[1], &found[2]))
}

fn php(line: &str) -> Option<ParsedFrame> {
    if !line.contains(".php") {
        return None;
    }
    if let Some(found) = PHP.captures(line) {
        let number = found.get(2).or_else(|| found.get(3)).map_or("", |number| number.as_str());
        return Some(frame(FrameLanguage::Php, found.get(4).map_or("", |name| name.as_str()), &found[1], number));
    }
    let found = PHP_IN.captures(line)?;
    Some(frame(FrameLanguage::Php, "", &found[1], &found[2]))
}

fn perl(line: &str) -> Option<ParsedFrame> {
    if !line.contains(" line ") {
        return None;
    }
    let found = PERL.captures(line)?;
    let function = PERL_FUNCTION.captures(line);
    Some(frame(FrameLanguage::Perl, function.as_ref().map_or("", |function| &function[1]), &found[1], &found[2]))
}

fn place_at(line: &str) -> Option<ParsedFrame> {
    let found = PLACE_AT.captures(line)?;
    let language = match found[1].rsplit('.').next().unwrap_or_default() {
        "rb" => FrameLanguage::Ruby,
        "py" => FrameLanguage::Python,
        "php" => FrameLanguage::Php,
        "go" => FrameLanguage::Go,
        _ => FrameLanguage::Native,
    };
    Some(frame(language, "", &found[1], &found[2]))
}

fn other(line: &str) -> Option<ParsedFrame> {
    if line.contains("Location: ")
        && let Some(found) = LOCATION.captures(line)
    {
        return Some(frame(FrameLanguage::Other, "", &found[1], &found[2]));
    }
    if line.contains("file ")
        && let Some(found) = BATS.captures(line)
    {
        return Some(frame(FrameLanguage::Other, found.get(1).map_or("", |name| name.as_str()), &found[2], &found[3]));
    }
    if line.contains(".ex")
        && let Some(found) = ELIXIR.captures(line)
    {
        let function = found.get(4).or_else(|| found.get(5)).or_else(|| found.get(6)).map_or("", |name| name.as_str());
        // The parts of the runtime are named; a path alone could be the project's.
        let path = match found.get(1).map(|app| app.as_str()) {
            Some(app @ ("elixir" | "stdlib" | "kernel" | "ex_unit" | "mix" | "logger" | "eex" | "iex")) => {
                format!("({app})/{}", &found[2])
            }
            _ => found[2].to_owned(),
        };
        return Some(frame(FrameLanguage::Other, function, &path, &found[3]));
    }
    let found = OTHER.captures(line)?;
    let path = &found[1];
    let language = match path.rsplit('.').next().unwrap_or_default() {
        "java" | "kt" | "scala" => FrameLanguage::Jvm,
        "cs" | "fs" => FrameLanguage::Dotnet,
        "swift" | "dart" | "ex" | "exs" | "lua" | "feature" | "robot" | "sh" | "bats" => FrameLanguage::Other,
        _ => FrameLanguage::Js,
    };
    Some(frame(language, "", path, &found[2]))
}

/// The function of a frame whose place is on the line below: Go's and Rust's backtraces.
fn function(line: &str, text: &str) -> Option<String> {
    if text.as_bytes()[0].is_ascii_digit() && text.contains(": ") {
        return RUST_FUNCTION.captures(line).map(|found| found[1].to_owned());
    }
    if (text.ends_with(')') || text.contains(" in goroutine ")) && text.contains('.') && !text.contains(": ") {
        return GO_FUNCTION.captures(line).map(|found| found[1].to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn reads(line: &str, above: Option<&str>, expected: (FrameLanguage, &str, &str, u32)) {
        match read_line(line, above) {
            Some(FrameLine::Frame(found)) => assert_eq!((found.language, &*found.function, &*found.path, found.line), expected),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn places_that_tools_write_in_their_own_way() {
        let of = |line: &str| match read_line(line, None) {
            Some(FrameLine::Frame(frame)) => (frame.path, frame.line, frame.function),
            _ => (String::new(), 0, String::new()),
        };
        assert_eq!(of("at tests/matrix_test.cpp:21"), ("tests/matrix_test.cpp".into(), 21, String::new()));
        assert_eq!(of("Location: features/loans.feature:6"), ("features/loans.feature".into(), 6, String::new()));
        assert_eq!(of("SlugStore.owner (file:///w/src/slug.js:15:33)"), ("/w/src/slug.js".into(), 15, "SlugStore.owner".into()));
        assert_eq!(of("  File \"/w/features/../src/loans.py\", line 22, in count").0, "/w/src/loans.py");
        assert_eq!(of("see the notes (in docs.js)").1, 0);
    }

    #[test]
    fn each_language_writes_frames_in_its_own_way() {
        use FrameLanguage::*;
        reads("\tat com.shop.Cart.total(Cart.java:42)", None, (Jvm, "com.shop.Cart.total", "com/shop/Cart.java", 42));
        reads(
            "    at java.base/java.lang.Thread.run(Thread.java:829) ~[?:?]",
            None,
            (Jvm, "java.lang.Thread.run", "java/lang/Thread.java", 829),
        );
        reads(
            "    at app//com.shop.CartTest$1.run(CartTest.kt:7)",
            None,
            (Jvm, "com.shop.CartTest$1.run", "com/shop/CartTest.kt", 7),
        );
        reads(
            "\tat sun.reflect.NativeMethodAccessorImpl.invoke0(Native Method)",
            None,
            (Jvm, "sun.reflect.NativeMethodAccessorImpl.invoke0", "", 0),
        );
        reads("#   at t/cart.t line 31.", None, (Perl, "", "t/cart.t", 31));
        reads("\tShop::total(GLOB(0x2a)) called at lib/Shop.pm line 9", None, (Perl, "Shop::total", "lib/Shop.pm", 9));
        reads("No tax at lib/Shop.pm line 9, <STDIN> line 1.", None, (Perl, "", "lib/Shop.pm", 9));
        reads("# (in test file test/cart.bats, line 33)", None, (Other, "", "test/cart.bats", 33));
        reads("(from function `fail' in file test/helpers.bash, line 12,", None, (Other, "fail", "test/helpers.bash", 12));
        reads("  File \"shop/cart.py\", line 3, in total", None, (Python, "total", "shop/cart.py", 3));
        reads("tests/test_cart.py:52: in test_total", None, (Python, "test_total", "tests/test_cart.py", 52));
        reads("tests/test_cart.py:52: AssertionError", None, (Python, "", "tests/test_cart.py", 52));
        reads("\t/src/shop/cart.go:12 +0x1d", Some("shop.(*Cart).Total"), (Go, "shop.(*Cart).Total", "/src/shop/cart.go", 12));
        reads("    cart_test.go:9: want 3", None, (Go, "", "cart_test.go", 9));
        reads("        Error Trace:\t/src/shop/cart_test.go:31", None, (Go, "", "/src/shop/cart_test.go", 31));
        reads("    at Cart.total (src/cart.ts:12:9)", None, (Js, "Cart.total", "src/cart.ts", 12));
        reads("    at async /app/tests/cart.spec.ts:12:9", None, (Js, "", "/app/tests/cart.spec.ts", 12));
        reads("    at Object.<anonymous> (webpack:///./src/cart.ts:12:9)", None, (Js, "Object.<anonymous>", "src/cart.ts", 12));
        reads("    at listOnTimeout (node:internal/timers:569:17)", None, (Js, "listOnTimeout", "node:internal/timers", 569));
        reads(" \u{276f} src/cart.test.ts:12:9", None, (Js, "", "src/cart.test.ts", 12));
        reads("total@http://localhost:9876/base/cart.js:3:4", None, (Js, "total", "http://localhost:9876/base/cart.js", 3));
        reads("thread 'cart::total' panicked at src/cart.rs:9:5:", None, (Rust, "", "src/cart.rs", 9));
        reads("thread 'main' panicked at 'called `unwrap()`', src/cart.rs:9:5", None, (Rust, "", "src/cart.rs", 9));
        reads("             at ./src/cart.rs:9:5", Some("shop::cart::total"), (Rust, "shop::cart::total", "src/cart.rs", 9));
        reads("    #3 0x55d in Cart::total(int) /src/cart.cc:12:3", None, (Native, "Cart::total(int)", "/src/cart.cc", 12));
        reads("cart_test.cc:12: Failure", None, (Native, "", "cart_test.cc", 12));
        reads("   at Shop.Cart.Total(Int32 n) in /src/Cart.cs:line 12", None, (Dotnet, "Shop.Cart.Total", "/src/Cart.cs", 12));
        reads("   at Shop.Cart.Total() in D:\\a\\Cart.cs:line 12", None, (Dotnet, "Shop.Cart.Total", "D:/a/Cart.cs", 12));
        reads(
            "     # ./spec/cart_spec.rb:7:in `block (2 levels) in <top (required)>'",
            None,
            (Ruby, "block (2 levels) in <top (required)>", "spec/cart_spec.rb", 7),
        );
        reads("#0 /srv/vendor/a.php(3): Cart->total()", None, (Php, "Cart->total", "/srv/vendor/a.php", 3));
        reads("/srv/tests/CartTest.php:31", None, (Php, "", "/srv/tests/CartTest.php", 31));
    }

    #[test]
    fn prose_is_not_a_frame() {
        for line in [
            "at least 3 items (of 5)",
            "expected: 3",
            "see https://example.com/a.html:80",
            "12:30:01 started",
            "    let total = cart.total();",
        ] {
            assert_eq!(read_line(line, None).filter(|found| matches!(found, FrameLine::Frame(_))), None, "{line}");
        }
    }

    #[test]
    fn bundlers_and_browsers_put_things_before_a_path() {
        for (written, path) in [
            ("webpack:///./src/a.ts", "src/a.ts"),
            ("webpack:///src/a.ts", "src/a.ts"),
            ("webpack://shop/./src/a.ts?1f2e", "src/a.ts"),
            ("webpack-internal:///(rsc)/./app/page.tsx", "app/page.tsx"),
            ("file:///home/u/a.js", "/home/u/a.js"),
            ("file:///C:/u/a.js", "C:/u/a.js"),
            ("..\\a.cs", "../a.cs"),
        ] {
            assert_eq!(clean_path(written), path, "{written}");
        }
    }
}
