//! The index of symptoms by terms: the significant words of a failure's text, and the list of symptoms under each.
//!
//! The terms of a text depend on the text alone, by one fixed order of all words: texts that share most of their words share most of their
//! terms, whatever else is stored. A symptom is indexed under the terms of all texts that a run's cases gave it, independent of their order
//! of arrival.

use super::error::StoreError;
use crate::sql::Connection;
use asterisk_base::model::words::{NUMBER, hash, hash_of, split_words};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Maximum number of symptoms under a term, among those of earlier runs and among those of a run: a more frequent term does not
/// discriminate and is skipped.
pub(super) const MAX_SYMPTOMS: usize = 32;
/// Number of words taken from an error, the longest first: long words are the rare ones, names of types and components.
const MAX_WORDS: usize = 8;
/// Number of pairs of adjacent words taken from an error: common words in a rare combination.
const MAX_PAIRS: usize = 4;
/// Number of words taken from a test's name.
const MAX_NAME_WORDS: usize = 2;
/// Minimum length of a word in characters.
const MIN_WORD_CHARS: usize = 3;
/// Separates the hashes of words in names from those in errors.
const OF_NAME: u64 = 1;
/// Pseudo-symptom that marks a run's list as full; it sorts before all others.
pub(super) const FULL: i64 = 0;

/// The terms of a failure, in ascending order: at most 14.
pub(super) fn terms(test: &str, error: &str) -> BTreeSet<i64> {
    let of = |text| split_words(text).map(|word| (word.chars().count(), hash_of(word))).collect::<Vec<(usize, u64)>>();
    let significant = |words: &[(usize, u64)]| {
        words.iter().copied().filter(|(length, word)| *length >= MIN_WORD_CHARS && *word != NUMBER).collect::<Vec<_>>()
    };
    let (name, words) = (significant(&of(test)), of(error));
    let pair = |two: &[(usize, u64)]| match two {
        [(_, NUMBER), (_, NUMBER)] => None,
        [(one, first), (other, second)] => Some((one + other, hash([*first, *second].into_iter()))),
        _ => None,
    };
    let pairs = words.windows(2).filter_map(pair).collect();
    let name = longest(name, MAX_NAME_WORDS).into_iter().map(|word| hash([OF_NAME, word].into_iter()));
    let error = longest(significant(&words), MAX_WORDS).into_iter().chain(longest(pairs, MAX_PAIRS));
    name.chain(error).map(u64::cast_signed).collect()
}

/// The longest words; ties go to the lowest hash.
fn longest(mut words: Vec<(usize, u64)>, limit: usize) -> Vec<u64> {
    words.sort_unstable_by_key(|(length, word)| (Reverse(*length), *word));
    words.dedup();
    words.into_iter().take(limit).map(|(_, word)| word).collect()
}

/// Indexes a symptom of a run under the terms of one of its texts. A run's list is closed beyond the maximum: readers that see all of it
/// skip it, and readers of its beginning see what was there at that time.
pub(super) fn index_symptom(
    conn: &Connection,
    run: i64,
    symptom: i64,
    stamp: i64,
    terms: impl IntoIterator<Item = i64>,
) -> Result<(), StoreError> {
    let mut add = conn.prepare_cached(
        "INSERT INTO symptom_terms (term, run, symptom, stamp) SELECT ?1, ?2, ?3, ?4 \
         WHERE NOT EXISTS (SELECT 1 FROM symptom_terms WHERE term = ?1 AND run = ?2 AND symptom = ?5) ON CONFLICT DO NOTHING RETURNING term",
    )?;
    let mut close = conn.prepare_cached(
        "INSERT INTO symptom_terms (term, run, symptom, stamp) SELECT ?1, ?2, ?3, ?4 \
         WHERE (SELECT count(*) FROM (SELECT 1 FROM symptom_terms WHERE term = ?1 AND run = ?2 LIMIT ?5) listed) = ?5",
    )?;
    let closed_at = i64::try_from(MAX_SYMPTOMS + 1).unwrap_or(i64::MAX);
    let lists = terms.into_iter().map(|term| [term, run, symptom, stamp, FULL]).collect();
    for term in add.query_each(lists, |row| row.get::<_, i64>(0))?.into_iter().flatten() {
        close.send([term, run, FULL, stamp, closed_at])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn terms_are_few_and_ignore_numbers() {
        let long = (0..5000).map(|n: u32| format!("word{}", char::from_u32(0x4e00 + n).unwrap())).collect::<Vec<_>>().join(" ");
        assert_eq!(terms(&long, &long).len(), MAX_WORDS + MAX_PAIRS + MAX_NAME_WORDS);
        assert_eq!(terms("a b", "on 1 2 3"), terms("", "On 77 2 9"), "one pair: a word before a number");
        assert_eq!(terms("", "on 1 2 3").len(), 1);
        assert_eq!(terms("ptp sync", "Lock 0x1f lost"), terms("PTP: sync", "lock 7 lost!"));
        assert_ne!(terms("lock", ""), terms("", "lock"), "a name is not an error");
        for text in ["", " ", "\u{0}", "…", "é", "1 2"] {
            assert!(terms(text, text).len() <= 1, "{text:?}");
        }
    }

    #[test]
    fn texts_with_most_words_in_common_have_most_terms_in_common() {
        let of = |error: &str| terms("", error);
        let one = of("java.lang.IllegalStateException: tariff of an unknown season pass while the basket of 7 guests is priced");
        let other = of("java.lang.IllegalStateException: tariff of an unknown day pass while the basket of 12 guests was priced");
        assert!(one.intersection(&other).count() >= 7, "{}", one.intersection(&other).count());
        assert!(one.is_disjoint(&of("image pull failed: unauthorized")));
    }
}
