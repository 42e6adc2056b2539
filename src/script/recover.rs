//! Further faults of a text that does not parse: the parser stops at the first, so the function it is in is blanked out, and the rest
//! parsed again.

use super::file_items::item_of;
use super::unit::UnitText;
use super::{panic_guard, parse_error};
use crate::diag::{Diagnostic, Source, Span};
use rhai::Engine;
use std::collections::BTreeSet;

/// Faults that say nothing of the functions beside.
pub(super) const RECOVERABLE: [&str; 5] =
    ["script/syntax", "script/reserved", "script/unknown-variable", "script/unknown-module", super::fault::FORBIDDEN];

/// The most faults told of one text.
const MOST: usize = 8;

/// The faults behind the first, which is `first`, at `fault`.
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

/// Turns all but the ends of lines to spaces, byte for byte.
fn blank(text: &mut String, item: Span) {
    let blanks: String = text[item.start..item.end]
        .chars()
        .flat_map(|ch| if ch == '\n' { "\n".chars().cycle().take(1) } else { " ".chars().cycle().take(ch.len_utf8()) })
        .collect();
    text.replace_range(item.start..item.end, &blanks);
}

#[cfg(test)]
mod tests {
    use crate::script::testing::{line, try_link};

    fn told(text: &str) -> Vec<String> {
        try_link(&[("t.rhai", text)]).expect_err("faults").iter().map(line).collect()
    }

    #[test]
    fn each_function_that_is_broken_is_told() {
        let said = told(
            "import \"x\" as x;\nconst K = 1;\n/// é doc\nfn a(x) { x + }\n\nfn good(x) { x }\nfn b(x) { let = 1; }\n\
             private fn c(x) {\n  zz\n}\nfn d(x) {\n  if x {\n    1\n}\nfn e() { 1 }\n",
        );
        let places: Vec<&str> = said.iter().map(|said| said.split(": ").next().unwrap_or_default()).collect();
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
    fn what_may_only_follow_from_the_first_fault_is_not_told() {
        assert_eq!(told("import \"x as x;\nfn f() { x::g() }").len(), 1);
        assert_eq!(told("fn a( {").len(), 1);
        assert!(told(&"fn a( {\n".repeat(100)).len() <= super::MOST);
    }
}
