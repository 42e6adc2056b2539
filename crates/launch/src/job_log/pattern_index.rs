//! Finds the patterns that match a line, of some three hundred: most lines have none of the texts that a pattern requires.

use super::tool::CompiledPattern;
use super::tools::TOOLS;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex_syntax::hir::{Hir, HirKind};

/// The least bytes of a text by which a pattern is found.
const MIN_TEXT: usize = 3;

/// All patterns of all tools.
pub(super) struct PatternIndex {
    all: Vec<CompiledPattern>,
    texts: Option<AhoCorasick>,
    /// The patterns that require a text, by its number.
    by_text: Vec<Vec<usize>>,
    /// The patterns that require none.
    others: RegexSet,
    other_indexes: Vec<usize>,
}

impl PatternIndex {
    pub(super) fn new() -> Self {
        let tools = TOOLS.iter().enumerate();
        let all: Vec<CompiledPattern> = tools
            .flat_map(|(index, tool)| tool.patterns.iter().map(move |pattern| CompiledPattern::new(index, pattern)))
            .collect();
        let (mut texts, mut by_text, mut other_indexes): (Vec<Vec<u8>>, Vec<Vec<usize>>, Vec<usize>) = Default::default();
        for (index, one) in all.iter().enumerate() {
            let text = regex_syntax::parse(one.pattern.regex).ok().and_then(|regex| required(&regex));
            match text.filter(|text| text.len() >= MIN_TEXT) {
                None => other_indexes.push(index),
                Some(text) => match texts.iter().position(|known| *known == text) {
                    Some(known) => by_text[known].push(index),
                    None => {
                        texts.push(text);
                        by_text.push(vec![index]);
                    }
                },
            }
        }
        // Only whether a pattern may match: without Unicode's classes, the set is built in a tenth of the time.
        let others = other_indexes.iter().map(|index| all[*index].pattern.regex);
        let others = RegexSetBuilder::new(others).unicode(false).build().unwrap_or_default();
        let texts = AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(texts).ok();
        Self { all, texts, by_text, others, other_indexes }
    }

    /// The patterns that match a line, in the order of the table.
    pub(super) fn matching(&self, line: &str) -> impl Iterator<Item = &CompiledPattern> {
        self.candidates(line).filter(move |one| one.is_match(line))
    }

    /// The patterns that may match a line, in the order of the table.
    pub(super) fn candidates(&self, line: &str) -> impl Iterator<Item = &CompiledPattern> + use<'_> {
        let mut found: Vec<usize> = Vec::new();
        if let Some(texts) = &self.texts {
            found.extend(texts.find_overlapping_iter(line).flat_map(|text| &self.by_text[text.pattern().as_usize()]));
        }
        // Which of them match is found at a greater cost.
        if self.others.is_match(line.as_bytes()) {
            found.extend(self.others.matches(line.as_bytes()).iter().map(|index| self.other_indexes[index]));
        }
        if found.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found.into_iter().map(|index| &self.all[index])
    }
}

/// The longest text that every match of a pattern has.
fn required(regex: &Hir) -> Option<Vec<u8>> {
    match regex.kind() {
        HirKind::Literal(text) => Some(text.0.to_vec()),
        HirKind::Capture(capture) => required(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required(&repetition.sub),
        HirKind::Concat(parts) => parts.iter().filter_map(required).max_by_key(Vec::len),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_in_the_index() {
        let index = PatternIndex::new();
        assert_eq!(index.others.len(), index.other_indexes.len());
        assert_eq!(index.by_text.iter().map(Vec::len).sum::<usize>() + index.other_indexes.len(), index.all.len());
        assert!(index.texts.is_some() && index.other_indexes.len() * 3 < index.all.len(), "{}", index.other_indexes.len());
    }

    /// A pattern that requires a text is found as by itself.
    #[test]
    fn lines_are_matched_as_by_each_pattern() {
        let index = PatternIndex::new();
        for line in ["  ● cart › adds", "── Failure (test-cart.R:5:3): totals ─────", "src/a.c:1:2: error: no", "hello", ""]
        {
            let alone: Vec<&str> = index.all.iter().filter(|one| one.is_match(line)).map(|one| one.pattern.regex).collect();
            let found: Vec<&str> = index.matching(line).map(|one| one.pattern.regex).collect();
            assert_eq!(found, alone, "{line}");
        }
    }
}
