//! Explains parse errors in terms that script authors use. (Rhai stops at the first error of a file.)

use super::common_mistakes::{self, CONDITION_HELP};
use super::fault;
use super::file_items::item_of;
use super::forbidden::FORBIDDEN;
use super::unit::UnitText;
use super::words::{is_word, parameters};
use asterisk_diag::{Diagnostic, Span, did_you_mean, nearest};
use rhai::{LexError, ParseError, ParseErrorType as Kind};
use std::collections::BTreeSet;

/// The field of `state` that counts loops. Its singular is a keyword.
const COUNTERS: &str = "loops";

/// The diagnostic for a text that does not parse. `fields` are the names of fields declared by schemas.
pub(crate) fn explain(text: &UnitText, error: &ParseError, fields: &BTreeSet<String>) -> Diagnostic {
    let span = text.token(error.1).or_else(|| text.tokens().last()).unwrap_or_default();
    let (code, message, help) =
        if is_end(text, span.start) && !matches!(error.err_type(), Kind::BadInput(LexError::UnterminatedString)) {
            ("script/syntax", "unexpected end of the condition".to_owned(), None)
        } else {
            describe(text, error.err_type(), span.start)
        };
    let braces = open_brace(text, error.err_type(), span);
    let at_end = text.tokens().last().is_some_and(|last| text.tokens_offset(error.1) > last.start);
    let slipped = if code == "script/reserved" && field_near(text, span, fields).is_some() {
        None
    } else {
        common_mistakes::recognise(text, error.err_type(), span, braces, at_end && !text.is_condition())
    };
    if let Some(slip) = slipped.filter(|_| message != "unexpected end of the condition") {
        let (source, place) = text.locate(slip.span.unwrap_or(span));
        return Diagnostic::error(code, slip.message).label(&source, place, "").help(slip.help);
    }
    let named = match error.err_type() {
        Kind::FnDuplicatedDefinition(..) => text.words().find(|(word, at)| at.start > span.start && is_word(word)),
        _ => None,
    };
    let span = named.map_or(span, |(_, span)| span);
    let (source, place) = text.locate(span);
    let meant = if code == "script/reserved" { field_near(text, span, fields) } else { None };
    let help = match help {
        Some(_) if meant.is_some() => meant,
        None if text.is_condition() => Some(CONDITION_HELP.to_owned()),
        help => help,
    };
    let open = braces.map(|open| text.locate(open));
    let missing = open.as_ref().map(|(source, open)| {
        let (line, _) = source.line_column(open.start);
        format!("a `}}` is missing somewhere: the brace of line {line} is still open here")
    });
    let mut diagnostic = Diagnostic::error(code, message).label(&source, place, "").maybe_help(help).maybe_help(missing);
    if let Some((source, open)) = open {
        diagnostic = diagnostic.label(&source, open, "still open");
    }
    if let Kind::FnDuplicatedDefinition(name, _) = error.err_type()
        && let Some(first) = definition_of(text, name)
    {
        let (source, place) = text.locate(first);
        diagnostic = diagnostic.label(&source, place, "first defined here").help("give one of them another name");
    }
    diagnostic
}

/// The field that a reserved word after a dot may be a typo of: one declared by schemas, or one that the text reads elsewhere.
fn field_near(text: &UnitText, fault: Span, fields: &BTreeSet<String>) -> Option<String> {
    let words: Vec<(&str, Span)> = text.words().collect();
    let at = words.iter().position(|(_, span)| *span == fault)?;
    let after_dot = |at: usize| at > 0 && matches!(words[at - 1].0, "." | "?.");
    if !after_dot(at) {
        return None;
    }
    let written =
        (0..words.len()).filter(|other| after_dot(*other) && words[*other].0 != words[at].0).map(|other| words[other].0);
    let known = fields.iter().map(String::as_str).chain([COUNTERS]).chain(written);
    nearest(words[at].0, known.filter(|name| is_word(name))).map(|name| format!("did you mean `{name}`?"))
}

/// In a file with more `{` than `}`: the innermost one that is open at the error.
fn open_brace(text: &UnitText, kind: &Kind, fault: Span) -> Option<Span> {
    // A lexer error hides what follows.
    if text.is_condition() || matches!(kind, Kind::BadInput(_)) {
        return None;
    }
    let mut open = Vec::new();
    let mut at_fault = None;
    let item = item_of(text.script(), fault).unwrap_or(text.whole());
    let inside = |span: &Span| span.start >= item.start && span.start < item.end.max(fault.end);
    for (word, span) in text.words().filter(|(_, span)| inside(span)) {
        if span.start >= fault.start && at_fault.is_none() {
            at_fault = Some(open.last().copied());
        }
        match word {
            "{" | "#{" => open.push(span),
            "}" => drop(open.pop()),
            _ => {}
        }
    }
    let last = *open.last()?;
    let shown = if matches!(kind, Kind::UnexpectedEOF) { last } else { at_fault.flatten().unwrap_or(last) };
    (shown != fault).then_some(shown)
}

fn describe(text: &UnitText, kind: &Kind, at: usize) -> (&'static str, String, Option<String>) {
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
            let help = "name parts of it with `let`, or move them into functions";
            (fault::LIMIT, "this is nested too deep".into(), Some(help.into()))
        }
        Kind::TooManyFunctions => {
            (fault::LIMIT, "this file has too many functions and closures".into(), Some("split it into files".into()))
        }
        Kind::LiteralTooLarge(what, most) => (fault::LIMIT, format!("{} is over the limit of {most}", what.to_lowercase()), None),
        Kind::FnDuplicatedDefinition(name, count) => {
            ("script/duplicate-function", format!("`{name}` with {} is defined twice", parameters(*count)), None)
        }
        Kind::MissingToken(token, what) => {
            let found = text.words().find(|(_, span)| span.start == at).map(|(word, _)| word);
            let found = found.filter(|word| word != token); // at the end of the text its last token is shown
            let instead = found.map_or(String::new(), |word| format!(", not `{word}`"));
            (SYNTAX, format!("expected `{token}` {what}{instead}"), None)
        }
        Kind::UnexpectedEOF => {
            (SYNTAX, "unexpected end of the script".into(), Some("is a bracket or a string left open?".into()))
        }
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
    ("script/reserved", format!("`{word}` is a reserved word"), help)
}

pub(crate) fn unknown_variable(text: &UnitText, name: &str) -> (&'static str, String, Option<String>) {
    let words: Vec<&str> = text.words().map(|(word, _)| word).collect();
    let declares = |keyword: &str| words.windows(2).any(|pair| pair == [keyword, name]);
    let help = if declares("const") {
        Some(format!("a function reads a constant of its file as `global::{name}`"))
    } else {
        did_you_mean(name, declared(&words))
    };
    ("script/unknown-variable", format!("`{name}` is not defined here"), help)
}

/// Names declared in a text: variables and parameters.
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

fn definition_of(text: &UnitText, name: &str) -> Option<Span> {
    let words: Vec<_> = text.words().collect();
    words.windows(2).find(|pair| pair[0].0 == "fn" && pair[1].0 == name).map(|pair| pair[1].1)
}

fn is_end(text: &UnitText, at: usize) -> bool {
    text.is_condition() && text.tokens().last().is_some_and(|last| at >= last.start)
}

pub(crate) fn lowercased(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::{decide, failure, line, problem, try_link};

    #[test]
    fn a_missing_brace_is_attributed_to_the_innermost_open_one() {
        for (text, want) in [
            (
                "fn f(x) {\n  if x > 1 {\n    5\n  6\n}\nfn g() { 1 }",
                "script/syntax @ t.rhai:6, t.rhai:{: expected `;` to terminate this statement, not `6` | a `}` is missing somewhere: the brace of \
                 line 2 is still open here",
            ),
            (
                "fn f(x) {\n  let a = #{ b: `${x}{`\n  a\n}",
                "script/syntax @ t.rhai:a, t.rhai:#{: expected `,` to separate the items of this object map literal, not `a` | a `}` is missing \
                 somewhere: the brace of line 2 is still open here",
            ),
        ] {
            assert_eq!(line(&problem(&[("t.rhai", text)])), want, "{text}");
        }
        let at_the_end = line(&problem(&[("t.rhai", "fn f(x) {\n  if x {\n    1\n}\n")]));
        assert_eq!(at_the_end, "script/syntax @ t.rhai:{: this `{` is never closed | write the `}` that closes it");
        let balanced = line(&problem(&[("t.rhai", "fn f() { let a = 1 2 }")]));
        assert!(!balanced.contains("is missing somewhere"), "{balanced}");
        for text in ["fn f() {", "fn f() { if x {", "fn f() { \"{", "fn f() { `${", "}", "fn f() { 1 ", "fn f() {\nfn g() { 1 }"]
        {
            drop(try_link(&[("t.rhai", text)]).expect_err(text));
        }
    }

    #[test]
    fn a_reserved_word_near_a_field_may_be_a_typo() {
        assert_eq!(
            failure("artifact.loop.H9 > 1"),
            "script/reserved @ t.rhai:loop: `loop` is a reserved word | did you mean `loops`?"
        );
        assert_eq!(
            decide("state.loop.H9 > 1").expect_err("a slip"),
            "script/reserved @ p.yaml:loop: `loop` is a reserved word | did you mean `loops`?"
        );
        assert_eq!(
            failure("artifact.statics + artifact.static"),
            "script/reserved @ t.rhai:static: `static` is a reserved word | did you mean `statics`?"
        );
        assert!(
            failure("artifact.spawn").ends_with("a field of that name is read as `x[\"spawn\"]`; a variable needs another name")
        );
        assert!(failure("let static = artifact.statics;").ends_with("a variable needs another name"));
    }
}
