//! Mutators of operators.

use super::words::{MutantEdit, ScriptWords};

/// The token there exchanged by a table.
fn exchange(words: &ScriptWords<'_>, at: usize, table: &[(&str, &str)]) -> Vec<MutantEdit> {
    let found = table.iter().find(|(from, _)| *from == words.word(at));
    found.map(|(_, to)| (words.span(at, at), (*to).to_owned())).into_iter().collect()
}

/// The same for a token that stands between two values.
fn between(words: &ScriptWords<'_>, at: usize, table: &[(&str, &str)]) -> Vec<MutantEdit> {
    if words.ends_value(at.checked_sub(1)) { exchange(words, at, table) } else { Vec::new() }
}

pub(super) fn boundary(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    between(words, at, &[(">=", ">"), (">", ">="), ("<=", "<"), ("<", "<=")])
}

pub(super) fn comparison(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    // `for x in` and `for (x, at) in` compare nothing.
    if words.word(at) == "in" && [2, 6].iter().any(|back| at.checked_sub(*back).is_some_and(|at| words.word(at) == "for")) {
        return Vec::new();
    }
    between(
        words,
        at,
        &[("==", "!="), ("!=", "=="), (">=", "<"), ("<", ">="), ("<=", ">"), (">", "<="), ("in", "!in"), ("!in", "in")],
    )
}

pub(super) fn logic(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    between(words, at, &[("&&", "||"), ("||", "&&")])
}

pub(super) fn not(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    exchange(words, at, &[("!", "")])
}

pub(super) fn arithmetic(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    // What is done with nothing, or once, is the same done back.
    let same = match words.word(at) {
        "+" | "-" | "+=" | "-=" => ["0", "0.0"],
        _ => ["1", "1.0"],
    };
    if same.contains(&words.word(at + 1)) {
        return Vec::new();
    }
    let table =
        [("+", "-"), ("-", "+"), ("*", "/"), ("/", "*"), ("%", "*"), ("+=", "-="), ("-=", "+="), ("*=", "/="), ("/=", "*=")];
    between(words, at, &table)
}

pub(super) fn call(words: &ScriptWords<'_>, at: usize) -> Vec<MutantEdit> {
    if words.word(at + 1) != "(" {
        return Vec::new();
    }
    let pairs = [("any", "all"), ("min", "max"), ("starts_with", "ends_with")];
    let table: Vec<(&str, &str)> = pairs.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).collect();
    exchange(words, at, &table)
}
