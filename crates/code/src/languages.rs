//! The table of languages.

use asterisk_base::model::TextPattern;
use std::sync::LazyLock;

/// How code of a language is read.
#[derive(Debug)]
pub struct CodeLanguage {
    /// Its name; that of the notation of its stack frames, if it has one of its own.
    pub name: &'static str,
    /// The extensions of its files, without the dot.
    pub extensions: &'static [&'static str],
    /// What begins a comment that ends with the line.
    pub(crate) comments: &'static [&'static str],
    /// Lines that define a name: group 1.
    definitions: LazyLock<Vec<TextPattern>>,
}

/// Words that stand where a type or a function's name does, but define nothing.
const NO_NAMES: &[&str] = &[
    "if", "for", "foreach", "while", "switch", "catch", "function", "return", "new", "throw", "else", "await", "yield", "do",
    "with", "describe", "it", "test", "in", "not", "and", "or", "match", "when", "until", "unless", "sizeof", "using", "lock",
    "assert",
];

macro_rules! language {
    ($name:literal, [$($extension:literal),+], [$($comment:literal),*], [$($pattern:literal),+ $(,)?]) => {
        CodeLanguage {
            name: $name,
            extensions: &[$($extension),+],
            comments: &[$($comment),*],
            definitions: LazyLock::new(|| {
                [$($pattern),+].map(|pattern| TextPattern::new(pattern).expect("a pattern of the table of languages")).into()
            }),
        }
    };
}

static LANGUAGES: [CodeLanguage; 14] = [
    language!(
        "python",
        ["py", "pyi"],
        ["#"],
        [r"^\s*(?:async\s+)?def\s+(\w+)", r"^\s*class\s+(\w+)", r"^([A-Za-z_]\w*)\s*(?::[^=]+)?=[^=]"]
    ),
    language!(
        "js",
        ["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        ["//"],
        [
            r"\bfunction\s*\*?\s*([\w$]+)",
            r"\b(?:class|interface|enum)\s+([\w$]+)",
            r"^\s*(?:export\s+)?type\s+([\w$]+)",
            r"^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]+)?=",
            r"\bexports\.([\w$]+)\s*=",
            r"^\s*(?:(?:public|private|protected|static|async|get|set|readonly|override|abstract)\s+)*\*?#?([\w$]+)\s*(?:<[^>]*>)?\([^;]*\)\s*(?::[^{;=]+)?\{",
            r"^\s*(?:exports\.|this\.)?([\w$]+)\s*[:=]\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>|[\w$]+\s*=>)",
        ]
    ),
    language!(
        "jvm",
        ["java", "kt", "kts", "scala", "groovy"],
        ["//", "*"],
        [
            r"\b(?:class|interface|enum|record|object|trait)\s+(\w+)",
            r"\b(?:fun|def)\s+(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)",
            r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|protected|private|static|final|abstract|synchronized|native|default)\s+)*(?:<[^>]*>\s+)?[\w<>\[\],.?]+\s+(\w+)\s*\([^;=]*(?:\{|$)",
            r"^\s*(?:(?:public|protected|private)\s+)(\w+)\s*\([^;=]*(?:\{|$)",
        ]
    ),
    language!(
        "dotnet",
        ["cs", "fs", "vb"],
        ["//", "'"],
        [
            r"\b(?:class|interface|enum|record|struct)\s+(\w+)",
            r"^\s*let\s+(?:rec\s+|inline\s+)?(\w+)",
            r"^\s*member\s+\w+\.(\w+)",
            r"^\s*(?:(?:public|protected|private|internal|static|virtual|override|async|sealed|partial|abstract|extern|unsafe|readonly|new)\s+)+[\w<>\[\],.?]+\s+(\w+)\s*(?:\([^;]*(?:\{|$|=>)|\{|=>)",
            r"^\s*(?:(?:public|protected|private|internal)\s+)(\w+)\s*\([^;=]*(?:\{|$)",
        ]
    ),
    language!("go", ["go"], ["//"], [r"^func\s+(?:\([^)]*\)\s*)?(\w+)", r"^\s*type\s+(\w+)", r"^(?:var|const)\s+(\w+)"]),
    language!(
        "rust",
        ["rs"],
        ["//"],
        [
            r"\b(?:fn|struct|enum|trait|union|type|mod)\s+(\w+)",
            r"\b(?:const|static)\s+(?:mut\s+)?(\w+)\s*:",
            r"macro_rules!\s*(\w+)"
        ]
    ),
    language!(
        "ruby",
        ["rb", "rake", "gemspec"],
        ["#"],
        [r"^\s*def\s+(?:self\.)?(\w+[?!=]?)", r"^\s*(?:class|module)\s+(?:\w+::)*(\w+)", r"^\s*([A-Z]\w*)\s*=[^=]"]
    ),
    language!(
        "php",
        ["php"],
        ["//", "#", "*"],
        [r"\bfunction\s+&?(\w+)", r"^\s*(?:(?:abstract|final|readonly)\s+)*(?:class|interface|trait|enum)\s+(\w+)"]
    ),
    language!(
        "elixir",
        ["ex", "exs"],
        ["#"],
        [r"^\s*(?:def|defp|defmacro|defguard|defdelegate)\s+(\w+[?!]?)", r"^\s*defmodule\s+(?:\w+\.)*(\w+)"]
    ),
    language!("perl", ["pm", "pl", "t", "psgi"], ["#"], [r"^\s*sub\s+(\w+)", r"^\s*package\s+(?:\w+::)*(\w+)"]),
    language!(
        "native",
        ["c", "cc", "cpp", "cxx", "h", "hh", "hpp", "hxx", "m", "mm", "inl"],
        ["//", "*"],
        [
            r"\b(?:class|struct|enum(?:\s+class)?|union|namespace)\s+(\w+)\s*[^;]*$",
            r"^\s*#\s*define\s+(\w+)",
            r"^[A-Za-z_][\w:<>,*&\s~\[\]]*?[\s*&:~](\w+)\s*\([^;]*$",
            r"^\s+[\w:<>,*&\s]+?\s[*&]?(\w+)\s*\([^;]*\)\s*(?:const\s*|noexcept\s*|override\s*)*\{",
        ]
    ),
    language!(
        "swift",
        ["swift", "dart"],
        ["//"],
        [r"\b(?:func|class|struct|enum|protocol|extension|mixin)\s+(\w+)", r"^\s*[\w<>?]+\s+(\w+)\s*\([^;]*\)\s*(?:async\s*)?\{"]
    ),
    language!("shell", ["sh", "bash", "bats"], ["#"], [r"^\s*(?:function\s+)?([\w-]+)\s*\(\)"]),
    language!("robot", ["robot", "resource"], ["#"], [r"^([A-Z][\w ]+)$"]),
];

/// The language of a file, by its extension.
pub fn language(path: &str) -> Option<&'static CodeLanguage> {
    let name = path.rsplit('/').next()?;
    let (_, extension) = name.rsplit_once('.')?;
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
}

impl CodeLanguage {
    /// The name that a line defines.
    pub fn defined<'l>(&self, line: &'l str) -> Option<&'l str> {
        let first = line.split_whitespace().next()?;
        if first != "function" && NO_NAMES.contains(&first.trim_end_matches('('))
            || self.comments.iter().any(|comment| first.starts_with(comment))
        {
            return None;
        }
        let names = self.definitions.iter().filter_map(|pattern| Some(pattern.captures(line)?.get(1)?.as_str()));
        names.into_iter().find(|name| !NO_NAMES.contains(name))
    }

    /// Whether code of the two is often in one project and calls each other.
    pub fn calls(&self, other: &Self) -> bool {
        self.name == other.name || self.name == "robot" && other.name == "python"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_lines_that_define() {
        let defines = |path: &str, line: &str| language(path).and_then(|language| language.defined(line)).map(str::to_owned);
        for (path, line, name) in [
            ("a.py", "    async def total(self, discount=0):", "total"),
            ("a.py", "class Invoice(Base):", "Invoice"),
            ("a.py", "RATES: dict = {}", "RATES"),
            ("a.js", "function discount(price) {", "discount"),
            ("a.js", "exports.discount = (price, percent) => price", "discount"),
            ("a.ts", "export async function load<T>(id: string): Promise<T> {", "load"),
            ("a.ts", "  private static total(items: Item[]): number {", "total"),
            ("a.js", "const format = (n) => {", "format"),
            ("a.js", "  total: function () {", "total"),
            ("Order.java", "    public static <T> List<T> all(Class<T> type) throws IOException {", "all"),
            ("Order.java", "  int total() {", "total"),
            ("Order.kt", "    suspend fun total(): Int = 3", "total"),
            ("Order.cs", "    public decimal Total => lines.Sum();", "Total"),
            ("a.go", "func (a *Account) Withdraw(n int) error {", "Withdraw"),
            ("a.rs", "    pub fn total(&self) -> u32 {", "total"),
            ("a.rb", "  def self.total?(x)", "total?"),
            ("a.php", "    public function total(): int", "total"),
            ("a.ex", "  def total(items), do: length(items)", "total"),
            ("a.pm", "sub wrap {", "wrap"),
            ("a.cpp", "int Image::width() const {", "width"),
            ("a.h", "    int width() const { return w; }", "width"),
            ("a.sh", "greet() {", "greet"),
        ] {
            assert_eq!(defines(path, line).as_deref(), Some(name), "{line}");
        }
        for (path, line) in [
            ("a.js", "  if (total(x)) {"),
            ("Order.java", "    return total(x) {"),
            ("a.js", "  describe('cart', function () {"),
            ("a.py", "    x = total()"),
            ("a.go", "\ttotal := sum(1)"),
            ("a.php", " * function of a comment"),
            ("a.txt", "def total():"),
        ] {
            assert_eq!(defines(path, line), None, "{line}");
        }
    }
}
