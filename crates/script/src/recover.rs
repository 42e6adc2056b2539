//! Finds further errors of a text that does not parse: the parser stops at the first, so the function that contains it is blanked
//! out, and the rest is parsed again.

use super::file_items::item_of;
use super::unit::UnitText;
use super::{panic_guard, parse_error};
use asterisk_diag::{Diagnostic, Source, Span};
use rhai::Engine;
use std::collections::BTreeSet;

/// Errors that do not affect other functions.
pub(super) const RECOVERABLE: [&str; 5] =
    ["script/syntax", "script/reserved", "script/unknown-variable", "script/unknown-module", super::fault::FORBIDDEN];

/// Maximum number of errors reported per text.
const MOST: usize = 8;

/// The errors after the first, which is at `fault`.
pub(super) fn more(engine: &Engine, source: &Source, fault: Span, fields: &BTreeSet<String>) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let (mut text, mut fault) = (source.text().to_owned(), fault);
    while found.len() + 1 < MOST {
        let Some(item) = item_of(&text, fault) else { break };
        blank(&mut text, item);
        let rest = UnitText::file(&Source::new(source.name(), text.as_str()));
        let Ok(Err(error)) = panic_guard::catch(|| engine.compile(rest.script())) else { break };
        let mut diagnostic = parse_error::explain(&rest, &error, fields);
        let known = RECOVERABLE.contains(&&*diagnostic.code);
        let label = diagnostic.labels.first().filter(|label| known && label.span.start >= item.start);
        let Some(label) = label else { break };
        fault = label.span;
        diagnostic.labels.iter_mut().for_each(|label| label.source = source.clone());
        found.push(diagnostic);
    }
    found
}

/// Replaces everything but line endings by spaces, byte for byte.
fn blank(text: &mut String, item: Span) {
    let blanks: String = text[item.start..item.end]
        .chars()
        .flat_map(|ch| if ch == '\n' { "\n".chars().cycle().take(1) } else { " ".chars().cycle().take(ch.len_utf8()) })
        .collect();
    text.replace_range(item.start..item.end, &blanks);
}

#[cfg(test)]
mod tests {
    use crate::testing::{line, try_link};

    fn reported(text: &str) -> Vec<String> {
        try_link(&[("t.rhai", text)]).expect_err("faults").iter().map(line).collect()
    }

    #[test]
    fn every_broken_function_is_reported() {
        let message = reported(
            "import \"x\" as x;\nconst K = 1;\n/// é doc\nfn a(x) { x + }\n\nfn good(x) { x }\nfn b(x) { let = 1; }\n\
             private fn c(x) {\n  zz\n}\nfn d(x) {\n  if x {\n    1\n}\nfn e() { 1 }\n",
        );
        let places: Vec<&str> = message.iter().map(|message| message.split(": ").next().unwrap_or_default()).collect();
        assert_eq!(
            places,
            [
                "script/syntax @ t.rhai:}",
                "script/syntax @ t.rhai:=",
                "script/unknown-variable @ t.rhai:zz",
                "script/syntax @ t.rhai:fn, t.rhai:{"
            ]
        );
    }

    #[test]
    fn possible_consequential_errors_are_not_reported() {
        assert_eq!(reported("import \"x as x;\nfn f() { x::g() }").len(), 1);
        assert_eq!(reported("fn a( {").len(), 1);
        assert!(reported(&"fn a( {\n".repeat(100)).len() <= super::MOST);
    }
}
