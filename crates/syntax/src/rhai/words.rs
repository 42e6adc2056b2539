//! The words of Rhai.

use super::SyntaxKind;

/// The keywords, with their kinds.
pub const KEYWORDS: &[(&str, SyntaxKind)] = &[
    ("true", SyntaxKind::TRUE_KW),
    ("false", SyntaxKind::FALSE_KW),
    ("let", SyntaxKind::LET_KW),
    ("const", SyntaxKind::CONST_KW),
    ("if", SyntaxKind::IF_KW),
    ("else", SyntaxKind::ELSE_KW),
    ("switch", SyntaxKind::SWITCH_KW),
    ("do", SyntaxKind::DO_KW),
    ("while", SyntaxKind::WHILE_KW),
    ("until", SyntaxKind::UNTIL_KW),
    ("loop", SyntaxKind::LOOP_KW),
    ("for", SyntaxKind::FOR_KW),
    ("in", SyntaxKind::IN_KW),
    ("continue", SyntaxKind::CONTINUE_KW),
    ("break", SyntaxKind::BREAK_KW),
    ("return", SyntaxKind::RETURN_KW),
    ("throw", SyntaxKind::THROW_KW),
    ("try", SyntaxKind::TRY_KW),
    ("catch", SyntaxKind::CATCH_KW),
    ("fn", SyntaxKind::FN_KW),
    ("private", SyntaxKind::PRIVATE_KW),
    ("import", SyntaxKind::IMPORT_KW),
    ("export", SyntaxKind::EXPORT_KW),
    ("as", SyntaxKind::AS_KW),
    ("this", SyntaxKind::THIS_KW),
];

/// Words that Rhai reserves and no script can use. `match` is not among them: it is a name in scripts of this program.
const RESERVED: &[&str] = &[
    "async",
    "await",
    "case",
    "default",
    "go",
    "goto",
    "is",
    "module",
    "new",
    "nil",
    "null",
    "package",
    "protected",
    "public",
    "shared",
    "spawn",
    "static",
    "super",
    "sync",
    "thread",
    "use",
    "var",
    "void",
    "with",
    "yield",
];

/// Reserved words that can be called as functions.
const CALLABLE: &[&str] = &["call", "curry", "debug", "eval", "Fn", "is_def_fn", "is_def_var", "is_shared", "print", "type_of"];

/// Reserved words that can be called as methods.
const METHODS: &[&str] = &["call", "curry", "is_shared", "type_of"];

/// Whether Rhai reserves the word, so that it cannot be the name of a variable, a field or a function.
pub fn is_reserved(word: &str) -> bool {
    let is = |other: &&str| other.as_bytes().first() == word.as_bytes().first() && *other == word;
    RESERVED.iter().chain(CALLABLE).any(is)
}

/// Whether a reserved word can be called: `type_of(x)`.
pub(super) fn is_callable(word: &str) -> bool {
    CALLABLE.contains(&word)
}

/// Whether a reserved word can be called as a method: `x.type_of()`.
pub(super) fn is_method(word: &str) -> bool {
    METHODS.contains(&word)
}

/// The kind of a word.
pub(super) fn kind(word: &str) -> SyntaxKind {
    // Most words are names: comparing the first letters usually suffices.
    let is = |other: &str| other.as_bytes().first() == word.as_bytes().first() && other == word;
    if let Some((_, kind)) = KEYWORDS.iter().find(|(keyword, _)| is(keyword)) {
        *kind
    } else if word == "_" {
        SyntaxKind::UNDERSCORE
    } else if is_reserved(word) {
        SyntaxKind::RESERVED
    } else {
        SyntaxKind::IDENT
    }
}
