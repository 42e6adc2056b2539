//! Recognises common mistakes, such as syntax of other languages, and explains parser errors by the likely intention.

use super::unit::UnitText;
use asterisk_base::model::looks_latin;
use asterisk_diag::Span;
use rhai::{LexError, ParseErrorType as Kind};

/// Help text with an example, for conditions written as prose.
pub(crate) const CONDITION_HELP: &str = "a condition is a Rhai expression over the artifact's fields, `artifact`, `state` and `vars`, such as `confidence >= vars.enough`";

/// A recognised mistake.
pub(super) struct CommonMistake {
    pub(super) message: String,
    pub(super) help: String,
    /// Its span, if it is not where the parser stopped.
    pub(super) span: Option<Span>,
}

#[allow(clippy::unnecessary_wraps, reason = "each is what `recognise` answers")]
impl CommonMistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Option<Self> {
        Some(Self { message: message.into(), help: help.into(), span: None })
    }

    fn at(span: Span, message: impl Into<String>, help: impl Into<String>) -> Option<Self> {
        Some(Self { message: message.into(), help: help.into(), span: Some(span) })
    }
}

/// The inputs of all roles of functions.
const INPUTS: [&str; 4] = ["artifact", "state", "vars", "params"];

/// The common mistake that causes a parser error, if there is one. `open`: a brace that is open at that point.
pub(super) fn recognise(text: &UnitText, kind: &Kind, fault: Span, open: Option<Span>, at_end: bool) -> Option<CommonMistake> {
    let words: Vec<(&str, Span)> = text.words().collect();
    let at = words.iter().position(|(_, span)| span.start >= fault.start).unwrap_or(words.len());
    let word = words.get(at).map_or("", |(word, _)| *word);
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let next = words.get(at + 1).map_or("", |(word, _)| *word);
    let rest = text.script().get(fault.start..).unwrap_or_default();
    if let Some(operator) = ["===", "!=="].into_iter().find(|operator| rest.starts_with(operator)) {
        let whole = Span::new(fault.start, fault.start + operator.len());
        let help = format!("write `{}`: it never treats a number as a string", &operator[..2]);
        return CommonMistake::at(whole, format!("unknown operator `{operator}`"), help);
    }
    if let Some(recognise) = foreign(kind, word, words.get(at).map(|(_, span)| *span)) {
        return Some(recognise);
    }
    match kind {
        Kind::VariableUndefined(name) if next == ":" && before.is_some_and(|(word, _)| *word == "{") => {
            CommonMistake::new("this `{` opens a block, not a map", format!("a map is written `#{{ {name}: .. }}`"))
        }
        Kind::VariableUndefined(name) if INPUTS.contains(&name.as_str()) && !text.is_condition() => CommonMistake::new(
            format!("`{name}` is not a parameter of this function"),
            "a rule is `fn name(artifact, state, vars)`, a responder `fn name(params, vars)`; pass other values as arguments",
        ),
        Kind::BadInput(LexError::MalformedChar(_)) => {
            let inner = text.script().get(fault.start..fault.end).unwrap_or("").trim_matches('\'');
            CommonMistake::new("strings need double quotes", format!("write `\"{inner}\"`"))
        }
        Kind::BadInput(LexError::UnterminatedString) if !text.is_condition() => {
            CommonMistake::new("this string does not end", "close it with its opening quote; multi-line strings need backticks")
        }
        Kind::BadInput(LexError::UnexpectedInput(_)) if matches!(word, "}" | ")" | "]") => {
            CommonMistake::new(format!("something is missing before `{word}`"), "the code before it is incomplete")
        }
        Kind::BadInput(LexError::UnexpectedInput(_)) if rest.starts_with(looks_latin) => CommonMistake::new(
            format!("unexpected `{word}`: a letter of another alphabet that looks like a Latin one"),
            "type the Latin letter",
        ),
        Kind::VariableExpected => {
            CommonMistake::new(format!("expected the name of a variable, not `{word}`"), "write for example `let n = 1;`")
        }
        Kind::MissingToken(token, what) => missing(token, what, word, at_end, before, text, open),
        kind if kind.to_string().contains("typo of '=='") => {
            CommonMistake::new("this `=` compares nothing", "to compare, write `==`")
        }
        _ => None,
    }
}

/// A token expected by the parser is missing.
fn missing(
    token: &str,
    what: &str,
    word: &str,
    at_end: bool,
    before: Option<&(&str, Span)>,
    text: &UnitText,
    open: Option<Span>,
) -> Option<CommonMistake> {
    if at_end && let Some(open) = open {
        return CommonMistake::at(open, "this `{` is never closed", "write the `}` that closes it");
    }
    match token {
        "{" if !at_end => CommonMistake::new(
            format!("expected `{{`, not `{word}`"),
            "what follows `if`, `for`, `while` or the head of a function needs braces: `if x { .. }`",
        ),
        "," if word == "{" && what.contains("parameters") => {
            CommonMistake::new("the list of parameters is not closed", "write `)` before this `{`")
        }
        ";" if text.is_condition() && !at_end => CommonMistake::new(format!("unexpected `{word}`"), CONDITION_HELP),
        ";" if open.is_none() && !at_end => {
            let (_, end) = before?;
            let between = text.script().get(end.end..)?;
            let lines = between.find(|ch: char| !ch.is_whitespace()).map_or("", |at| &between[..at]);
            let apart = lines.contains('\n');
            apart.then_some(()).and_then(|()| {
                CommonMistake::at(*end, "a `;` is missing after this", "all statements except the last end in `;`")
            })
        }
        _ => None,
    }
}

/// Keywords and operators of other languages.
fn foreign(kind: &Kind, word: &str, span: Option<Span>) -> Option<CommonMistake> {
    let undefined = match kind {
        Kind::VariableUndefined(name) => Some(name.as_str()),
        _ => None,
    };
    let stopped = undefined == Some(word) || matches!(kind, Kind::MissingToken(..) | Kind::Reserved(_));
    let at = |message: String, help: String| span.and_then(|span| CommonMistake::at(span, message, help));
    let documents = kind.to_string().starts_with("Doc-comment");
    if matches!(word, "def" | "func" | "function") && (stopped || documents) {
        return at(format!("`{word}` does not begin a function"), "write `fn`".into());
    }
    if documents {
        return CommonMistake::new(
            "a `///` comment belongs to a function, and none follows",
            "functions begin with `fn`; use `//` for other comments",
        );
    }
    match word {
        "and" | "or" if stopped => {
            let ours = if word == "and" { "&&" } else { "||" };
            at(format!("unknown operator `{word}`"), format!("write `{ours}`"))
        }
        "not" if stopped => at("unknown operator `not`".into(), "write `!` before it: `!(a > b)`".into()),
        "elif" | "elsif" | "elseif" if stopped => at(format!("`{word}` does not exist"), "write `else if`".into()),
        "null" | "nil" | "None" | "undefined" if stopped && !matches!(kind, Kind::MissingToken(..)) => {
            at(format!("`{word}` does not exist"), "use `()`: `x == ()`".into())
        }
        "True" | "False" if stopped => at(format!("`{word}` does not exist"), format!("write `{}`", word.to_lowercase())),
        _ => None,
    }
}

/// The local equivalent of a function of another language.
pub(super) fn function(name: &str) -> Option<&'static str> {
    Some(match name {
        "length" | "lenght" | "size" | "count" => "len",
        "includes" | "has" | "include" | "has_key" | "hasOwnProperty" => "contains",
        "lower" | "toLowerCase" | "lowercase" | "downcase" => "to_lower",
        "upper" | "toUpperCase" | "uppercase" | "upcase" => "to_upper",
        "startswith" | "startsWith" => "starts_with",
        "endswith" | "endsWith" => "ends_with",
        "strip" => "trim",
        "indexOf" => "index_of",
        "forEach" => "for_each",
        "isEmpty" => "is_empty",
        "str" | "toString" => "to_string",
        "int" | "parseInt" => "parse_int",
        "float" | "parseFloat" => "parse_float",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use crate::engine;
    use crate::testing::{line, problem};
    use std::collections::BTreeSet;

    #[test]
    fn equivalents_of_foreign_functions_exist() {
        let signatures = engine::build(&crate::ScriptLimits::default(), [], crate::api::register).gen_fn_signatures(true);
        let known: BTreeSet<&str> = signatures.iter().filter_map(|signature| signature.split('(').next()).collect();
        for foreign in [
            "length",
            "includes",
            "lower",
            "upper",
            "startswith",
            "endswith",
            "strip",
            "indexOf",
            "forEach",
            "isEmpty",
            "str",
            "int",
            "float",
        ] {
            let ours = super::function(foreign).expect("known");
            assert!(known.contains(ours), "{foreign}: `{ours}` does not exist");
        }
    }

    #[test]
    fn mistakes_are_explained_by_the_likely_intention() {
        for (text, want) in [
            ("fn f(a) { a and a }", "script/syntax @ t.rhai:and: unknown operator `and` | write `&&`"),
            ("fn f(a) { a == null }", "script/reserved @ t.rhai:null: `null` does not exist | use `()`: `x == ()`"),
            (
                "fn f(a) {\n  let b = a\n  b\n}",
                "script/syntax @ t.rhai:a: a `;` is missing after this | all statements except the last end in `;`",
            ),
            ("def f(a) { a }", "script/unknown-variable @ t.rhai:def: `def` does not begin a function | write `fn`"),
        ] {
            assert_eq!(line(&problem(&[("t.rhai", text)])), want, "{text}");
        }
    }
}
