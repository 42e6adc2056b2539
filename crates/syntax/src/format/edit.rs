//! What a formatter changes, as edits and as a diff.

use similar::{DiffOp, TextDiff};
use std::ops::Range;

/// Replaces the bytes from `start` to `end` by a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatEdit {
    pub start: usize,
    pub end: usize,
    pub text: String,
}

/// The lines that differ, as few as possible. The edits are in order and do not overlap.
pub fn edits(before: &str, after: &str) -> Vec<FormatEdit> {
    let diff = TextDiff::from_lines(before, after);
    let (old, new) = (starts(before), starts(after));
    let equal = diff.ops().iter().filter(|op| matches!(op, DiffOp::Equal { .. })).map(|op| (op.old_range(), op.new_range()));
    let end = (old.len() - 1..old.len() - 1, new.len() - 1..new.len() - 1);
    let (mut found, mut from, mut to) = (Vec::new(), 0, 0);
    for (old_range, new_range) in equal.chain([end]) {
        let (removed, added) = (old_range.start - from, new_range.start - to);
        if removed == added {
            // Line by line, so that a range of them can be chosen.
            for at in 0..removed {
                let (line, text) = (old[from + at]..old[from + at + 1], &after[new[to + at]..new[to + at + 1]]);
                if before[line.clone()] != *text {
                    found.push(FormatEdit { start: line.start, end: line.end, text: text.to_owned() });
                }
            }
        } else {
            let text = after[new[to]..new[new_range.start]].to_owned();
            found.push(FormatEdit { start: old[from], end: old[old_range.start], text });
        }
        (from, to) = (old_range.end, new_range.end);
    }
    found
}

/// The text after the edits, which are in order.
pub fn apply(text: &str, edits: &[FormatEdit]) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out.push_str(&text[at..edit.start]);
        out.push_str(&edit.text);
        at = edit.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The edits that touch the bytes of a range.
pub(crate) fn within(edits: Vec<FormatEdit>, range: &Range<usize>) -> Vec<FormatEdit> {
    let touches = |edit: &FormatEdit| edit.start < range.end.max(range.start + 1) && edit.end.max(edit.start + 1) > range.start;
    edits.into_iter().filter(touches).collect()
}

/// A unified diff with three lines of context.
pub fn diff(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    diff.unified_diff().context_radius(3).header(&format!("a/{name}"), &format!("b/{name}")).to_string()
}

/// The byte at which every line starts, and the end.
fn starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    // As `similar` splits lines: after `\n`, `\r\n`, or a `\r` alone.
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        if *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n') {
            starts.push(at + 1);
        }
    }
    if starts.last() != Some(&text.len()) {
        starts.push(text.len());
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edits_lead_from_one_text_to_the_other(before in "[ab\n\r]{0,20}", after in "[ab\n\r]{0,20}") {
            prop_assert_eq!(apply(&before, &edits(&before, &after)), after);
        }
    }

    #[test]
    fn edits_are_minimal() {
        let found = edits("a\nb\nc\n", "a\nx\nc\n");
        assert_eq!(found, [FormatEdit { start: 2, end: 4, text: "x\n".into() }]);
        assert_eq!(diff("f", "a\nb\n", "a\nc\n"), "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
    }
}
