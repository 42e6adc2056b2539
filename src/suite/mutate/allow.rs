//! `// mutants: allow(id) reason`: survivors that a person has looked at, and complaints of allows that allow nothing.

use super::Mutant;
use super::mutators::mutators;
use crate::diag::{Diagnostic, Source, Span, did_you_mean};
use crate::script::Unit;

/// What an allow begins with.
const MARK: &str = "// mutants: allow(";

/// A mutator in an allow.
pub(super) struct Allow {
    id: Span,
    reason: String,
    /// What it is about, as bytes: its own line or, if nothing else is on that, the next line that is no comment.
    lines: Span,
    used: bool,
}

/// All allows of a script.
pub(super) fn allows(unit: &Unit) -> Vec<Allow> {
    let text = unit.script();
    let quoted = |at: usize| {
        unit.tokens().lexemes().iter().any(|lexeme| lexeme.quoted && (lexeme.span.start..lexeme.span.end).contains(&at))
    };
    let mut found = Vec::new();
    for (at, _) in text.match_indices(MARK) {
        let start = text[..at].rfind('\n').map_or(0, |start| start + 1);
        let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let inside = at + MARK.len();
        let Some(close) = text[inside..end].find(')').map(|close| inside + close) else { continue };
        // One that a comment or a text speaks of is none.
        if text[start..at].trim_start().starts_with("//") || text[start..at].ends_with('/') || quoted(at) {
            continue;
        }
        let alone = text[start..at].trim().is_empty();
        let lines = if alone { next_line(text, end) } else { Span::new(start, end) };
        let reason = text[close + 1..end].trim();
        for id in text[inside..close].split(',') {
            let from = id.as_ptr() as usize - text.as_ptr() as usize + (id.len() - id.trim_start().len());
            let id = Span::new(from, from + id.trim().len());
            found.push(Allow { id, reason: reason.to_owned(), lines, used: false });
        }
    }
    found
}

/// The next line that says something.
fn next_line(text: &str, from: usize) -> Span {
    let mut start = (from + 1).min(text.len());
    while start < text.len() {
        let end = text[start..].find('\n').map_or(text.len(), |end| start + end);
        let line = text[start..end].trim();
        if !line.is_empty() && !line.starts_with("//") {
            return Span::new(start, end);
        }
        start = end + 1;
    }
    Span::new(text.len(), text.len())
}

/// Why a survivor is one, if an allow says so.
pub(super) fn reason(allows: &mut [Allow], source: &Source, mutant: &Mutant) -> Option<String> {
    let here = |lines: Span| lines.start <= mutant.span.start && mutant.span.start <= lines.end;
    let is_it = |allow: &&mut Allow| here(allow.lines) && !allow.reason.is_empty() && source.slice(allow.id) == mutant.mutator;
    allows.iter_mut().find(is_it).map(|allow| {
        allow.used = true;
        allow.reason.clone()
    })
}

/// What is wrong with allows: mutators that there are not, no reason, nothing that survives.
pub(super) fn complaints(allows: &[Allow], source: &Source) -> Vec<Diagnostic> {
    let complain = |allow: &Allow| {
        let id = source.slice(allow.id);
        let known = || mutators().iter().map(|mutator| mutator.id);
        let label =
            |message: String, text: &str| Diagnostic::warning("test/allow", message).label(source, allow.id, text.to_owned());
        if !known().any(|known| known == id) {
            let all: Vec<&str> = known().collect();
            let help = did_you_mean(id, known()).unwrap_or_else(|| format!("there are {}", all.join(", ")));
            return label(format!("there is no mutator `{id}`"), "allowed here").help(help);
        }
        if allow.reason.is_empty() {
            let help = format!("write it behind the id: `{MARK}{id}) why it is right here`");
            return label(format!("this allow of `{id}` says no reason, and allows nothing"), "no reason").help(help);
        }
        label(format!("no mutant of `{id}` survives here"), "allows nothing").help("take it away")
    };
    allows.iter().filter(|allow| !allow.used).map(complain).collect()
}
