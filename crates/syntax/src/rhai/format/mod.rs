//! Formatting Rhai.
//!
//! | module | what it does |
//! |---|---|
//! | `doc` | documents, and the printer that breaks their lines |
//! | `layout` | the document of every construct |
//! | `check` | whether two texts have the same tokens and comments |

mod check;
mod doc;
mod layout;
#[cfg(test)]
mod tests;

use super::{SyntaxKind, TextRange, TextSize, parse, tokens};
use crate::format::FormatError;
use std::ops::Range;

/// The longest line, where it can be broken.
pub const WIDTH: usize = 120;

/// Formats a file.
///
/// Changes white space, and the commas after the last items of lists, nothing else. A text with a syntax error is not formatted.
pub fn format_rhai(text: &str) -> Result<String, FormatError> {
    let lexemes = tokens(text);
    let parsed = super::tree::of_tokens(text, &lexemes);
    if let Some(error) = parsed.errors().first() {
        return Err(FormatError::Syntax {
            start: error.range.start().into(),
            end: error.range.end().into(),
            message: error.message.clone(),
        });
    }
    let line_end = if text.find('\n').is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
    let formatted = doc::print(&layout::document(text, &lexemes, &parsed.syntax()), WIDTH, line_end);
    check::same(text, &lexemes, &formatted).map_err(|place| FormatError::Changed { place })?;
    Ok(formatted)
}

/// The bytes of the smallest statements or functions around a range, with the white space before them.
pub(crate) fn enclosing(text: &str, range: Range<usize>) -> Range<usize> {
    let size = |at: usize| TextSize::new(u32::try_from(at.min(text.len())).unwrap_or(u32::MAX));
    let wanted = TextRange::new(size(range.start.min(range.end)), size(range.end));
    let mut list = parse(text);
    loop {
        let holder = list.descendants().find(|node| {
            *node != list && matches!(node.kind(), SyntaxKind::BLOCK | SyntaxKind::INTERPOLATION) && {
                let own = node.text_range();
                own.start() < wanted.start() && wanted.end() < own.end()
            }
        });
        match holder {
            Some(inner) => list = inner,
            None => break,
        }
    }
    let touched: Vec<TextRange> =
        list.children().map(|node| node.text_range()).filter(|own| own.intersect(wanted).is_some()).collect();
    let start = touched.first().map_or(wanted.start(), |first| first.start().min(wanted.start()));
    let end = touched.last().map_or(wanted.end(), |last| last.end().max(wanted.end()));
    // The indentation before a statement belongs to its line.
    let line = text[..usize::from(start)].rfind('\n').map_or(0, |at| at + 1);
    line..usize::from(end)
}
