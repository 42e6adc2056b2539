//! Mutators of conditions and statements.

use super::words::{MutantEdit, ScriptWords};

pub(super) fn condition(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    let word = words.word(at);
    if !matches!(word, "if" | "while") || words.before(at) == "." {
        return Vec::new();
    }
    let Some(end) = words.find(at + 1, &["{", "=>"]).filter(|end| *end > at + 1) else { return Vec::new() };
    let span = words.span(at + 1, end - 1);
    let values = ["true", "false"].iter().filter(|value| words.written(span) != **value);
    values.map(|value| (span, (*value).to_owned())).collect()
}

pub(super) fn give_back(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    if words.word(at) != "return" {
        return Vec::new();
    }
    let Some(end) = words.find(at + 1, &[";"]).filter(|end| *end > at + 1) else { return Vec::new() };
    let span = words.span(at + 1, end - 1);
    // A truth value has a mutator of its own.
    if ["true", "false", "()"].contains(&words.written(span)) { Vec::new() } else { vec![(span, "()".to_owned())] }
}

/// Statements that end in a `;` and give nothing a name.
pub(super) fn statement(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    let begins = matches!(words.before(at), "{" | ";" | "}");
    let named = words.word(at).starts_with(|c: char| c.is_alphabetic() || c == '_');
    let other =
        ["if", "else", "while", "for", "loop", "switch", "do", "try", "let", "const", "fn", "private", "import", "export"];
    if !begins || !named || other.contains(&words.word(at)) {
        return Vec::new();
    }
    let Some(end) = words.find(at, &[";"]) else { return Vec::new() };
    vec![(words.span(at, end), String::new())]
}
