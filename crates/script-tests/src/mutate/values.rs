//! Mutators of values.

use super::words::{MutantEdit, ScriptWords};

pub(super) fn boolean(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    let to = match words.word(at) {
        "true" => "false",
        "false" => "true",
        _ => return Vec::new(),
    };
    if words.before(at) == "." { Vec::new() } else { vec![(words.span(at, at), to.to_owned())] }
}

pub(super) fn number(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    let word = words.word(at);
    if !word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) {
        return Vec::new();
    }
    let plain = word.replace('_', "");
    let to = |text: String| (words.span(at, at), text);
    if let Ok(number) = plain.parse::<i64>() {
        let more = number.checked_add(1).map(|more| to(more.to_string()));
        // Of a list's only item the last is the first; of a length, `> -1` is what `>= 0` is.
        let index = words.before(at) == "[" && number == 0;
        let length = number == 0 && words.before(at) == ">" && words.before(at - 1) == "()";
        let less = number.checked_sub(1).filter(|_| !index && !length).map(|less| to(less.to_string()));
        return more.into_iter().chain(less).collect();
    }
    let Ok(number) = plain.parse::<f64>() else { return Vec::new() };
    let by = if number == 0.0 { 0.1 } else { number * 0.1 };
    let written = |number: f64| {
        let short = format!("{number:.6}");
        let short = short.trim_end_matches('0');
        if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
    };
    vec![to(written(number + by)), to(written(number - by))]
}

pub(super) fn threshold(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    let is_var = |at: usize| {
        words.word(at) == "vars" && words.before(at) != "." && words.word(at + 1) == "." && !words.word(at + 3).starts_with('(')
    };
    if !is_var(at) {
        return Vec::new();
    }
    let name = words.word(at + 2);
    let mut edits = vec![(words.span(at, at + 2), format!("(vars.{name} + 1)"))];
    // The var that the text reads next, or the first.
    let read = |at: usize| Some(words.word(at + 2)).filter(|other| is_var(at) && *other != name);
    let other = (at + 3..words.len()).find_map(read).or_else(|| (0..at).find_map(read));
    edits.extend(other.map(|other| (words.span(at + 2, at + 2), other.to_owned())));
    edits
}

pub(super) fn string(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    let Some(literal) = words.literal(at) else { return Vec::new() };
    let closed = literal.len() >= 2 && (literal.starts_with('"') || literal.starts_with('`')) && literal.ends_with(&literal[..1]);
    // Between two interpolations anything can stand.
    let between = words.before(at) == "}" && words.span(at - 1, at - 1).end == words.span(at, at).start;
    if !closed || between || words.word(at + 1) == ":" {
        return Vec::new();
    }
    let inner = &literal[1..literal.len() - 1];
    let is_compared = |word: &str| matches!(word, "==" | "!=");
    let is_prose = inner.contains(char::is_whitespace) && !is_compared(words.before(at)) && !is_compared(words.word(at + 1));
    if is_prose {
        return Vec::new();
    }
    vec![(words.span(at, at), if inner.is_empty() { "\"x\"" } else { "\"\"" }.to_owned())]
}
