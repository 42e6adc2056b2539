//! Names bound in a session: `let x = ..`, assignments to them, `_` for the last result, `params`.

use super::lex::{LexKind, lex};
use crate::ui::SyntaxClass;

/// The name of the last result in compiled code; users write `_`.
pub(super) const LAST: &str = "last_result";
/// The parameters of the step.
pub(super) const PARAMS: &str = "params";

/// The bindings of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bound {
    /// The names, in order.
    pub(super) names: Vec<String>,
    /// The end of the binding statements.
    pub(super) end: usize,
    /// Whether an expression follows them.
    pub(super) valued: bool,
}

/// Finds the names that a text binds at its top level: those of `let`, and those of `known` that it assigns to.
pub(super) fn bound(text: &str, known: impl Fn(&str) -> bool) -> Option<Bound> {
    let pieces: Vec<(asterisk_diag::Span, LexKind)> =
        lex(text).pieces.into_iter().filter(|(_, piece)| *piece != LexKind::Inked(SyntaxClass::Comment)).collect();
    let word = |at: usize| pieces.get(at).map_or("", |(span, _)| &text[span.start..span.end]);
    let (mut depth, mut begins, mut names) = (0_usize, true, Vec::<String>::new());
    // The last statement: its start, and whether it binds.
    let (mut start, mut binds) = (0, false);
    for (at, (span, piece)) in pieces.iter().enumerate() {
        if begins {
            (start, binds) = (span.start, false);
            let assigned = || {
                let operator = if matches!(word(at + 1), "+" | "-" | "*" | "/" | "%") { at + 2 } else { at + 1 };
                (word(operator) == "=" && *piece == LexKind::Name && known(word(at))).then(|| word(at))
            };
            if let Some(name) = if word(at) == "let" { Some(word(at + 1)) } else { assigned() } {
                binds = true;
                names.retain(|bound| bound != name);
                names.push(name.to_owned());
            }
        }
        match piece {
            LexKind::Opens => depth += 1,
            LexKind::Closes => depth = depth.saturating_sub(1),
            _ => {}
        }
        begins = depth == 0 && word(at) == ";";
    }
    let valued = !begins && !binds;
    (!names.is_empty()).then_some(Bound { names, end: if valued { start } else { text.len() }, valued })
}

/// The offsets of `_`.
pub(super) fn results(text: &str) -> Vec<usize> {
    lex(text)
        .pieces
        .iter()
        .filter(|(span, piece)| *piece == LexKind::Name && &text[span.start..span.end] == "_")
        .map(|(span, _)| span.start)
        .collect()
}

/// Whether a text uses a name, other than as a field.
pub(super) fn names(text: &str, name: &str) -> bool {
    let is_it = |(span, piece): &(asterisk_diag::Span, LexKind)| {
        matches!(piece, LexKind::Name | LexKind::Inked(SyntaxClass::Input)) && &text[span.start..span.end] == name
    };
    // A template string may contain it.
    lex(text).pieces.iter().any(|found| {
        is_it(found) || found.1 == LexKind::Inked(SyntaxClass::Text) && text[found.0.start..found.0.end].contains("${")
    }) && text.contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_found() {
        let found = |text: &str| {
            bound(text, |name| name == "x").map(|bound| (bound.names.join(" "), text[..bound.end].to_owned(), bound.valued))
        };
        for (text, wanted) in [
            ("let y = 1", Some(("y", "let y = 1", false))),
            ("let y = 1; // one", Some(("y", "let y = 1; // one", false))),
            ("let y = 1; let z = y;", Some(("y z", "let y = 1; let z = y;", false))),
            ("let y = 1; y + 1", Some(("y", "let y = 1; ", true))),
            ("x = 2", Some(("x", "x = 2", false))),
            ("x += 2; x", Some(("x", "x += 2; ", true))),
            ("x == 2", None),
            ("y = 2", None),
            ("if x > 1 { let y = 1; y }", None),
            ("[1].map(|v| { let y = v; y })", None),
            ("1; 2", None),
            ("", None),
        ] {
            let wanted = wanted.map(|(names, end, valued)| (names.to_owned(), end.to_owned(), valued));
            assert_eq!(found(text), wanted, "{text}");
        }
        assert_eq!(results("_ + f(_) + a._ + \"_\" + x_ + _y"), [0, 6]);
        assert!(names("params.failure", PARAMS) && !names("artifact.params", PARAMS) && !names("\"params\"", PARAMS));
    }
}
