//! Where the functions of a text begin and end, if it does not parse.

use crate::diag::Span;

/// The function that a fault is in. None where it is in none: then what follows may be wrong only because of it.
pub(super) fn item_of(text: &str, fault: Span) -> Option<Span> {
    let starts = starts(text);
    let own = starts.iter().rposition(|start| *start <= fault.start)?;
    let item = |at: usize| Span::new(starts[at], starts.get(at + 1).copied().unwrap_or(text.len()));
    // A function inside a function: the one before does not end.
    let inside = starts[own] == fault.start && own > 0 && unclosed(&text[item(own - 1).start..item(own - 1).end]);
    let item = item(if inside { own - 1 } else { own });
    let is_function = ["fn ", "private "].iter().any(|word| text[item.start..].starts_with(word));
    is_function.then_some(item)
}

/// Whether more braces are opened than closed. Strings and comments are not told apart: this only says where to look.
fn unclosed(text: &str) -> bool {
    text.matches('{').count() > text.matches('}').count()
}

/// Where the parts of a file start: words that begin one, at the left margin.
fn starts(text: &str) -> Vec<usize> {
    const WORDS: [&str; 6] = ["fn ", "private ", "const ", "import ", "export ", "let "];
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    lines.filter(|(_, line)| WORDS.iter().any(|word| line.starts_with(word))).map(|(start, _)| start).collect()
}
