//! A script's text with marks at what no test covers.

use super::FileCoverage;
use asterisk_diag::Span;

/// A line of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListingLine {
    /// A line of the text: its number, how often it was evaluated (nothing, if there is nothing to evaluate in it), its text.
    Line(usize, Option<u32>, String),
    /// A mark under the line before: the column from 0, its width, and its text.
    Mark(usize, usize, String),
    /// Lines that are left out.
    Skip,
}

/// The lines of a file that have gaps, or all of them, with marks.
pub fn listing(file: &FileCoverage, all: bool) -> Vec<ListingLine> {
    let gaps = file.gaps();
    let text = file.source.text();
    let mut out = Vec::new();
    let (mut start, mut skipped) = (0, false);
    for (index, line) in text.lines().enumerate() {
        let end = start + line.len();
        let here: Vec<_> = gaps.iter().filter(|gap| (start..=end).contains(&gap.span.start)).collect();
        if all || !here.is_empty() {
            if skipped && !out.is_empty() {
                out.push(ListingLine::Skip);
            }
            skipped = false;
            out.push(ListingLine::Line(index + 1, file.lines.get(&(index + 1)).copied(), line.to_owned()));
            for gap in here {
                let column = text[start..gap.span.start].chars().count();
                let span = Span::new(gap.span.start, gap.span.end.min(end));
                out.push(ListingLine::Mark(column, text[span.start..span.end].chars().count().max(1), gap.what.clone()));
            }
        } else {
            skipped = true;
        }
        start = end
            + text[end..]
                .chars()
                .take_while(|ch| matches!(ch, '\r' | '\n'))
                .take(if text[end..].starts_with("\r\n") { 2 } else { 1 })
                .count();
    }
    out
}
