//! The names in a statement.

use super::languages::CodeLanguage;

/// A name in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NameToken<'t> {
    /// The name.
    pub name: &'t str,
    /// The name before the dot, arrow or colons in front of it.
    pub qualifier: Option<&'t str>,
    /// Whether it is accessed with a dot, arrow or colons, even on an expression without a name (`f().total`).
    pub member: bool,
    /// Whether arguments follow.
    pub called: bool,
}

/// Words of the languages: none is the name of something.
const KEYWORDS: &[&str] = &[
    "and",
    "as",
    "assert",
    "async",
    "await",
    "begin",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "def",
    "default",
    "defer",
    "do",
    "else",
    "elif",
    "end",
    "enum",
    "except",
    "export",
    "extends",
    "False",
    "false",
    "final",
    "finally",
    "fn",
    "for",
    "foreach",
    "from",
    "func",
    "function",
    "go",
    "if",
    "import",
    "in",
    "instanceof",
    "interface",
    "is",
    "lambda",
    "let",
    "local",
    "match",
    "mod",
    "mut",
    "my",
    "new",
    "nil",
    "None",
    "not",
    "null",
    "nullptr",
    "of",
    "or",
    "package",
    "pass",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "require",
    "return",
    "self",
    "Self",
    "static",
    "struct",
    "sub",
    "super",
    "switch",
    "then",
    "this",
    "throw",
    "throws",
    "True",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unless",
    "until",
    "use",
    "using",
    "val",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "int",
    "long",
    "double",
    "float",
    "char",
    "bool",
    "boolean",
    "string",
    "String",
    "auto",
    "size_t",
    "unsigned",
];

/// A line with spaces for the content of its strings and for its comment.
pub(crate) fn masked(line: &str, language: &CodeLanguage) -> String {
    scan(line, language).0
}

/// The texts in the strings of a line; in a shell script, where few words are quoted, its words.
pub(crate) fn texts(line: &str, language: &CodeLanguage) -> Vec<String> {
    if language.name == "shell" {
        let masked = masked(line, language);
        let code: String = line.chars().take(masked.chars().count()).filter(|letter| !"\"'".contains(*letter)).collect();
        return code.split(|letter: char| letter.is_whitespace() || "=;()|&<>`".contains(letter)).map(str::to_owned).collect();
    }
    scan(line, language).1
}

/// The masked line, and the content of its strings.
fn scan(line: &str, language: &CodeLanguage) -> (String, Vec<String>) {
    let mut said = String::with_capacity(line.len());
    let mut texts = Vec::new();
    let mut begin = 0;
    let mut quote: Option<char> = None;
    // A variable in a string of a shell script is used like any other.
    let mut variable = false;
    let mut rest = line.char_indices();
    while let Some((at, letter)) = rest.next() {
        if let Some(open) = quote {
            let shell = language.name == "shell" && open == '"';
            variable = shell && (letter == '$' || variable && (is_inside(letter) || letter == '{'));
            if letter == '\\' {
                said.push(' ');
                if rest.next().is_some() {
                    said.push(' ');
                }
            } else if letter == open {
                quote = None;
                texts.push(line[begin..at].to_owned());
                said.push(letter);
            } else {
                said.push(if variable { letter } else { ' ' });
            }
            continue;
        }
        let comment = |mark: &&str| *mark != "*" && *mark != "'" && line[at..].starts_with(mark);
        if language.comments.iter().any(comment) && !(language.name == "native" && line.trim_start().starts_with('#')) {
            // `$#`, `#{` and CSS selectors stand within words.
            if letter != '#' || line[..at].chars().next_back().is_none_or(char::is_whitespace) {
                break;
            }
        }
        let quotes = match letter {
            '"' | '`' => true,
            // A lifetime, and the mark in a number.
            '\'' => {
                let mut next = line[at + 1..].chars();
                let lifetime = language.name == "rust" && next.next().is_some() && next.next() != Some('\'');
                let number = language.name == "perl" && line[..at].ends_with(char::is_alphanumeric);
                !lifetime && !number
            }
            _ => false,
        };
        if quotes {
            quote = Some(letter);
            begin = at + 1;
        }
        said.push(letter);
    }
    (said, texts)
}

fn is_start(letter: char) -> bool {
    letter.is_alphabetic() || letter == '_'
}

fn is_inside(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The names in a masked text, in its order.
pub(crate) fn tokens(text: &str) -> Vec<NameToken<'_>> {
    let mut found: Vec<(usize, NameToken<'_>)> = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        if !is_start(letter) {
            // Skip numbers that contain letters (`1e3`, `0xff`).
            at += if letter.is_ascii_digit() {
                text[at..].find(|c: char| !is_inside(c)).unwrap_or(text.len() - at)
            } else {
                letter.len_utf8()
            };
            continue;
        }
        let mut end = at + text[at..].find(|c: char| !is_inside(c)).unwrap_or(text.len() - at);
        // Ruby's and Elixir's predicates.
        if text[end..].starts_with(['?', '!']) && !text[end + 1..].starts_with(['.', '=', ':', ' ', '?']) {
            end += 1;
        }
        let name = &text[at..end];
        let before = text[..at].trim_end();
        let head = ["?.", "!!.", "->", "::", ".", "\\"].iter().find_map(|mark| before.strip_suffix(mark));
        let qualifier = head.and_then(|head| {
            let last = found.last()?;
            (head.trim_end().len() == last.0).then_some(last.1.name)
        });
        let called = text[end..].trim_start_matches(['!', '?']).starts_with('(');
        at = end;
        let known = KEYWORDS.contains(&name);
        if known && qualifier.is_none() {
            // In `self.total()`, the keyword is skipped, and the member is kept.
            continue;
        }
        found.push((end, NameToken { name, qualifier, member: head.is_some(), called }));
    }
    found.into_iter().map(|(_, token)| token).filter(|token| !KEYWORDS.contains(&token.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::language;
    use super::*;

    #[track_caller]
    fn names(path: &str, line: &str, expected: &[(&str, Option<&str>, bool)]) {
        let text = masked(line, language(path).expect("a language"));
        let found: Vec<_> = tokens(&text).iter().map(|token| (token.name, token.qualifier, token.called)).collect();
        assert_eq!(found, expected, "{line}");
    }

    #[test]
    fn names_stand_outside_of_strings_and_comments() {
        names(
            "a.py",
            "assert invoice.total(discount=0.1) == 85.5  # not other()",
            &[("invoice", None, false), ("total", Some("invoice"), true), ("discount", None, false)],
        );
        names(
            "a.js",
            "expect(price('a b', 1e3)).toBe(`x ${y}`)",
            &[("expect", None, true), ("price", None, true), ("toBe", None, true)],
        );
        names(
            "a.rs",
            "assert_eq!(sample().take::<'a>(\"bolt\", 'x'), 3);",
            &[("assert_eq!", None, true), ("sample", None, true), ("take", None, false), ("a", None, false)],
        );
        names(
            "a.php",
            "$this->assertSame(6, $basket->total());",
            &[("assertSame", None, true), ("basket", None, false), ("total", Some("basket"), true)],
        );
        names(
            "a.ex",
            "assert Shop.total?(items) == 3",
            &[("Shop", None, false), ("total?", Some("Shop"), true), ("items", None, false)],
        );
        names(
            "a.cpp",
            "EXPECT_EQ(imaging::Image(2).width(), 3); // f()",
            &[("EXPECT_EQ", None, true), ("imaging", None, false), ("Image", Some("imaging"), true), ("width", None, true)],
        );
        names(
            "a.bats",
            "  run \"$BACKUP\" size # other",
            &[("run", None, false), ("BACKUP", None, false), ("size", None, false)],
        );
    }

    #[test]
    fn texts_are_the_content_of_strings_or_the_words_of_a_shell() {
        let of = |path: &str, line: &str| texts(line, language(path).expect("a language"));
        assert_eq!(of("a.js", "await request.get('/books/99'); // '/other'"), ["/books/99"]);
        assert!(of("a.sh", "BACKUP=\"$ROOT/bin/backup\" # x").contains(&"$ROOT/bin/backup".to_owned()));
        assert!(of("a.sh", "run ./bin/backup 'a b'").contains(&"./bin/backup".to_owned()));
    }
}
