//! What a scan has found so far.

use super::{SecretForm, SecretScope};
use std::ops::Range;

/// The bytes of a value that are examined. A secret extends to the end of its word.
pub(super) const MAX_VALUE: usize = 256;

/// A text under examination, with its findings.
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) scope: SecretScope,
    pub(super) found: Vec<(Range<usize>, SecretForm)>,
}

impl Scan<'_> {
    /// Adds a finding. If only a part of a long value was examined, the finding extends to the end of its word.
    pub(super) fn add(&mut self, range: Range<usize>, form: SecretForm) {
        if range.start < range.end {
            let more = if range.len() >= MAX_VALUE - 4 {
                self.text[range.end..]
                    .find(|ch: char| ch.is_whitespace() || matches!(ch, '"' | '\'' | '`' | '<'))
                    .unwrap_or(self.text.len() - range.end)
            } else {
                0
            };
            self.found.push((range.start..range.end + more, form));
        }
    }

    /// Whether a place is in something that was found just before.
    pub(super) fn is_known(&self, at: usize) -> bool {
        self.found.iter().rev().take(8).any(|(range, _)| range.contains(&at))
    }
}
