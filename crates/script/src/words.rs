//! Words for messages: types of values, counts, and the source text that a message is about.

use super::compare::kind_of;
use super::unit::Unit;
use asterisk_diag::Span;
use rhai::{EvalAltResult as E, Position};

/// The text of the chain that ends at a position: for `push` in `artifact.list.push(1)`, `artifact.list`; for anything but a
/// method, the chain including the token.
pub(crate) fn receiver(unit: &Unit, position: Position) -> Option<String> {
    let at = unit.text().token(position)?;
    let words: Vec<(&str, Span)> = unit.text().words().collect();
    let here = words.iter().position(|(_, span)| *span == at)?;
    let is_call = words.get(here + 1).is_some_and(|(word, _)| word.starts_with('('));
    let mut end = here;
    if matches!(words[here].0, "." | "?." | "[" | "?[" | "=") || words[here].0.ends_with('=') {
        end = here.checked_sub(1)?;
    } else if is_call {
        if !matches!(words.get(here.checked_sub(1)?)?.0, "." | "?.") {
            return None;
        }
        end = here.checked_sub(2)?;
    }
    let mut start = end;
    loop {
        start = match words[start].0 {
            "]" | ")" => opening(&words, start)?,
            _ => start,
        };
        if matches!(words[start].0, "[" | "(") && start > 0 && is_word(words[start - 1].0) {
            start -= 1;
            continue;
        }
        if start >= 2 && matches!(words[start - 1].0, "." | "?.") {
            start -= 2;
        } else {
            break;
        }
    }
    let (source, span) = (unit.script(), Span::new(words[start].1.start, words[end].1.end));
    source.get(span.start..span.end).map(str::to_owned)
}

/// The index of the opening bracket for a closing one.
fn opening(words: &[(&str, Span)], closing: usize) -> Option<usize> {
    let mut depth = 0;
    for at in (0..=closing).rev() {
        match words[at].0 {
            "]" | ")" => depth += 1,
            "[" | "(" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

pub(crate) fn quoted(text: &str) -> String {
    if text.contains(' ') && !text.contains(['.', '[', '(']) || text == "inputs" { text.to_owned() } else { format!("`{text}`") }
}

pub(crate) fn items(count: usize, what: &str) -> String {
    match count {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        count => format!("{count} {what}s"),
    }
}

pub(crate) fn arguments(types: &[&str]) -> String {
    items(types.len(), "argument")
}

pub(crate) fn parameters(count: usize) -> String {
    match count {
        0 => "no parameters".into(),
        1 => "1 parameter".into(),
        count => format!("{count} parameters"),
    }
}

pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_')
}

/// Whether a similar name is worth suggesting: among hundreds of function names, something is always similar to a short word.
pub(crate) fn plausible(word: &str, known: &str) -> bool {
    word.len() > 4 || word.chars().next() == known.chars().next()
}

/// The name of a Rhai type in messages, with an article.
pub(crate) fn article(kind: &str) -> String {
    match kind {
        "()" => kind_of(&rhai::Dynamic::UNIT).to_owned() + " (`()`)",
        "bool" => "a bool".into(),
        "i64" | "int" => "a whole number".into(),
        "f64" | "float" | "decimal" => "a number".into(),
        "char" => "a character".into(),
        "string" | "&str | ImmutableString | String" | "ImmutableString" | "&str" => "a string".into(),
        "array" | "list" | "Array" => "a list".into(),
        "map" | "Map" => "a map".into(),
        "object" => "an object".into(),
        "Fn" | "FnPtr" => "a function".into(),
        "error" => "an error".into(),
        kind if kind.starts_with("range") || kind.contains("Range") => "a range".into(),
        kind => format!("`{kind}`"),
    }
}

/// Rhai's message without its `(line x, position y)`.
pub(crate) fn strip(error: &E) -> String {
    let text = error.to_string();
    text.rsplit_once(" (line ").map_or(text.clone(), |(message, _)| message.to_owned())
}
