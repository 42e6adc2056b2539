//! Similarity of two failures by their words.

use asterisk_base::model::words::{cut, hash, split_words, word_hashes};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Weight of the test's name; the rest is the error's. Errors say more about the cause, names recur.
const NAME_WEIGHT: f64 = 0.4;
/// Maximum number of common words returned.
const MAX_COMMON_WORDS: usize = 8;
/// Upper bound of the similarity of failures with different recall keys.
const MAX_LIKENESS: f64 = 0.99;

/// Features of a failure, as sorted sets of hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Features {
    /// Trigrams of the test's name in lower case.
    name: Vec<u64>,
    /// Words of the error.
    words: Vec<u64>,
}

impl Features {
    /// Features of a test's name and an error's text.
    pub(super) fn new(name: &str, error: &str) -> Self {
        let chars: Vec<char> = cut(name).to_lowercase().chars().collect();
        let name = chars.windows(3.min(chars.len()).max(1)).map(|three| hash(three.iter().map(|ch| u64::from(*ch))));
        Self { name: set(name), words: set(word_hashes(error)) }
    }

    /// Explains the similarity: overlap and weight of names and errors, and the words that the errors have in common, in the order of the
    /// first.
    pub(super) fn why(&self, error: &str, other: &Self, other_error: &str) -> Value {
        let round = |alike: f64| (alike * 100.0).round() / 100.0;
        let theirs: BTreeSet<String> = significant_words(other_error).collect();
        let mut common: Vec<String> = Vec::new();
        for word in significant_words(error).filter(|word| theirs.contains(word)) {
            if common.len() < MAX_COMMON_WORDS && !common.contains(&word) {
                common.push(word);
            }
        }
        json!({
            "name": { "alike": round(overlap(&self.name, &other.name)), "weight": NAME_WEIGHT },
            "error": { "alike": round(overlap(&self.words, &other.words)), "weight": 1.0 - NAME_WEIGHT, "common": common },
        })
    }

    /// Similarity from 0 (nothing in common) to 0.99 (the same words): the weighted Dice coefficient of names and errors, rounded to four
    /// digits.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        let score = NAME_WEIGHT * overlap(&self.name, &other.name) + (1.0 - NAME_WEIGHT) * overlap(&self.words, &other.words);
        (score.min(MAX_LIKENESS) * 10_000.0).round() / 10_000.0
    }
}

/// The significant words of a text: without digits and of three letters or more.
fn significant_words(text: &str) -> impl Iterator<Item = String> {
    split_words(text).filter(|word| word.len() > 2 && !word.contains(|ch: char| ch.is_numeric())).map(str::to_lowercase)
}

fn set(items: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut set: Vec<u64> = items.collect();
    set.sort_unstable();
    set.dedup();
    set
}

#[allow(clippy::cast_precision_loss)]
fn overlap(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (mut i, mut j, mut common) = (0, 0, 0_usize);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        common += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    2.0 * common as f64 / (a.len() + b.len()) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_grows_with_what_is_common() {
        let of = Features::new;
        let ours = of("ptp sync recovers", "clock 0x7f3a lost lock after 350 ms");
        let same = ours.likeness(&of("ptp sync recovers", "Clock 0x01 lost lock after 7 ms"));
        let near = ours.likeness(&of("ptp sync starts", "clock lost its lock"));
        let far = ours.likeness(&of("node reboots", "image pull failed: unauthorized"));
        assert!((same - 0.99).abs() < f64::EPSILON, "{same}");
        assert!(same > near && near > 0.5 && far < 0.1, "{same} {near} {far}");
        assert!((near - of("ptp sync starts", "clock lost its lock").likeness(&ours)).abs() < f64::EPSILON);
    }

    #[test]
    fn odd_texts_have_features() {
        for text in ["", "a", "é", "…", "\u{0}\n", &"é".repeat(5000)] {
            let features = Features::new(text, text);
            assert!((0.0..=0.99).contains(&features.likeness(&Features::new("x y z", "x y z"))));
        }
        assert!(Features::new("a", "").likeness(&Features::new("a", "")) > 0.3);
    }
}
