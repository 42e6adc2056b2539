//! What the parser refuses, in the words of a script's author. (Rhai stops at the first fault of a file.)

use super::engine::FORBIDDEN;
use super::fault;
use super::unit::Text;
use crate::diag::{Diagnostic, did_you_mean};
use rhai::{LexError, ParseError, ParseErrorType as Kind};

/// An example for people who wrote prose.
pub(crate) const CONDITION_HELP: &str = "a condition is a Rhai expression over the artifact's fields, `artifact`, `state` and `vars`, such as `confidence >= vars.enough`";

/// The diagnostic for a text that does not parse.
pub(crate) fn explain(text: &Text, error: &ParseError) -> Diagnostic {
    let span = text.token(error.1).or_else(|| text.tokens().last()).unwrap_or_default();
    let (code, message, help) =
        if is_end(text, span.start) && !matches!(error.err_type(), Kind::BadInput(LexError::UnterminatedString)) {
            ("script/syntax", "the condition ends too early".to_owned(), None)
        } else {
            describe(text, error.err_type(), span.start)
        };
    let (source, place) = text.locate(span);
    let help = match help {
        None if text.is_condition() => Some(CONDITION_HELP.to_owned()),
        help => help,
    };
    let mut diagnostic = Diagnostic::error(code, message).label(&source, place, "").maybe_help(help);
    if let Kind::FnDuplicatedDefinition(name, _) = error.err_type()
        && let Some(first) = definition_of(text, name)
    {
        let (source, place) = text.locate(first);
        diagnostic = diagnostic.label(&source, place, "first defined here");
    }
    diagnostic
}

fn describe(text: &Text, kind: &Kind, at: usize) -> (&'static str, String, Option<String>) {
    const SYNTAX: &str = "script/syntax";
    match kind {
        Kind::VariableUndefined(name) => unknown_variable(text, name),
        Kind::ModuleUndefined(name) => {
            let message = format!("no module `{name}` is imported");
            ("script/unknown-module", message, Some(format!("write `import \"path/of/it\" as {name};` at the head of the file")))
        }
        Kind::Reserved(word) => reserved(word),
        Kind::BadInput(LexError::ImproperSymbol(word, _)) if FORBIDDEN.iter().any(|(name, _)| name == word) => reserved(word),
        Kind::BadInput(LexError::UnterminatedString) => (SYNTAX, "this string does not end".into(), None),
        Kind::BadInput(error) => (SYNTAX, lowercased(&error.to_string()), None),
        Kind::PropertyExpected => match text.words().find(|(_, span)| span.start == at) {
            Some((word, _)) if word.starts_with(|ch: char| ch.is_ascii_alphabetic()) => reserved(word),
            _ => (SYNTAX, "expected the name of a field".into(), None),
        },
        Kind::ExprTooDeep => {
            let help = "give parts of it names with `let`, or make functions of them";
            (fault::LIMIT, "this is nested too deep".into(), Some(help.into()))
        }
        Kind::TooManyFunctions => {
            (fault::LIMIT, "this file has too many functions and closures".into(), Some("divide it into files".into()))
        }
        Kind::LiteralTooLarge(what, most) => (fault::LIMIT, format!("{} is over the limit of {most}", what.to_lowercase()), None),
        Kind::FnDuplicatedDefinition(name, count) => {
            ("script/duplicate-function", format!("`{name}` with {} is defined twice", parameters(*count)), None)
        }
        Kind::MissingToken(token, what) => {
            let found = text.words().find(|(_, span)| span.start == at).map(|(word, _)| word);
            let instead = found.map_or(String::new(), |word| format!(", not `{word}`"));
            (SYNTAX, format!("expected `{token}` {what}{instead}"), None)
        }
        Kind::UnexpectedEOF => (SYNTAX, "the text ends too early".into(), Some("is a bracket or a string left open?".into())),
        kind => (SYNTAX, lowercased(&kind.to_string()), None),
    }
}

fn reserved(word: &str) -> (&'static str, String, Option<String>) {
    if let Some((_, why)) = FORBIDDEN.iter().find(|(name, _)| *name == word) {
        return (fault::FORBIDDEN, format!("`{word}` is not available to scripts"), Some((*why).to_owned()));
    }
    let help = match word {
        "===" => Some("use `==`".to_owned()),
        "!==" => Some("use `!=`".to_owned()),
        "->" | "<-" | ":=" | "~" | "::<" | "(*" | "*)" => None,
        word if word.chars().all(|ch| ch.is_ascii_alphabetic() || ch == '_') => {
            Some(format!("a field of that name is read as `x[\"{word}\"]`; a variable needs another name"))
        }
        _ => None,
    };
    ("script/reserved", format!("`{word}` is reserved in Rhai"), help)
}

pub(crate) fn unknown_variable(text: &Text, name: &str) -> (&'static str, String, Option<String>) {
    let words: Vec<&str> = text.words().map(|(word, _)| word).collect();
    let declares = |keyword: &str| words.windows(2).any(|pair| pair == [keyword, name]);
    let help = if declares("const") {
        Some(format!("a function reads a constant of its file as `global::{name}`"))
    } else {
        did_you_mean(name, declared(&words))
    };
    ("script/unknown-variable", format!("`{name}` is not defined here"), help)
}

/// Names that a text declares: variables and parameters.
fn declared<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let is_name = |word: &str| word.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_');
    let mut names = Vec::new();
    for (at, word) in words.iter().enumerate() {
        match *word {
            "let" | "for" => names.extend(words.get(at + 1).filter(|word| is_name(word))),
            "fn" => {
                let list = words[at..].iter().skip(2).take_while(|word| !matches!(**word, "{" | ")"));
                names.extend(list.filter(|word| is_name(word)));
            }
            _ => {}
        }
    }
    names.sort_unstable();
    names.dedup();
    names
}

fn definition_of(text: &Text, name: &str) -> Option<crate::diag::Span> {
    let words: Vec<_> = text.words().collect();
    words.windows(2).find(|pair| pair[0].0 == "fn" && pair[1].0 == name).map(|pair| pair[1].1)
}

fn is_end(text: &Text, at: usize) -> bool {
    text.is_condition() && text.tokens().last().is_some_and(|last| at >= last.start)
}

pub(crate) fn parameters(count: usize) -> String {
    match count {
        0 => "no parameters".into(),
        1 => "1 parameter".into(),
        count => format!("{count} parameters"),
    }
}

pub(crate) fn lowercased(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}
