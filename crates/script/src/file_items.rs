//! Finds the functions of a text that does not parse.

use asterisk_diag::Span;

/// The function that contains an error; `None` outside of functions, where later errors may be consequences of the first.
pub(super) fn item_of(text: &str, fault: Span) -> Option<Span> {
    let starts = starts(text);
    let own = starts.iter().rposition(|start| *start <= fault.start)?;
    let item = |at: usize| Span::new(starts[at], starts.get(at + 1).copied().unwrap_or(text.len()));
    // A function inside a function: the previous one is not closed.
    let inside = starts[own] == fault.start && own > 0 && unclosed(&text[item(own - 1).start..item(own - 1).end]);
    let item = item(if inside { own - 1 } else { own });
    let is_function = ["fn ", "private "].iter().any(|word| text[item.start..].starts_with(word));
    is_function.then_some(item)
}

/// Whether more braces are opened than closed. Strings and comments are not recognised: this is only a heuristic.
fn unclosed(text: &str) -> bool {
    text.matches('{').count() > text.matches('}').count()
}

/// The starts of top-level items: their keywords at the left margin.
fn starts(text: &str) -> Vec<usize> {
    const WORDS: [&str; 6] = ["fn ", "private ", "const ", "import ", "export ", "let "];
    let mut at = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    lines.filter(|(_, line)| WORDS.iter().any(|word| line.starts_with(word))).map(|(start, _)| start).collect()
}
