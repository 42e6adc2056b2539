//! The index of symptoms by their words: which words of a failure's text stand for it, and the lists of symptoms under each.
//!
//! What stands for a text is chosen by the text alone, in one fixed order of all words: so two texts that share most of their
//! words share most of their terms, and no other fact of the store has a say. The rows of a run's symptom are the terms of all
//! texts that its cases gave it, whichever of them came first.

use super::error::StoreError;
use super::words::{NUMBER, hash, hash_of, spelt};
use rusqlite::{Connection, params};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How many symptoms a term may stand for, among those of earlier runs and among those of a run: what occurs in more tells
/// nothing, and is passed over.
pub(super) const TELLING: usize = 32;
/// How many words of an error stand for it, the longest: long words are the rare ones, names of types and of parts.
const WORDS: usize = 8;
/// How many pairs of neighbouring words of an error stand for it: common words in a rare company.
const PAIRS: usize = 4;
/// How many words of a test's name stand for it.
const NAME_WORDS: usize = 2;
/// Shorter words than this, in characters, stand for nothing by themselves.
const SHORTEST: usize = 3;
/// Tells the words of names from those of errors.
const OF_NAME: u64 = 1;
/// The symptom under which it is noted that a run's list is full: it stands before all others.
pub(super) const FULL: i64 = 0;

/// The terms that stand for a failure, in ascending order: at most 14.
pub(super) fn terms(test: &str, error: &str) -> BTreeSet<i64> {
    let of = |text| spelt(text).map(|word| (word.chars().count(), hash_of(word))).collect::<Vec<(usize, u64)>>();
    let telling = |words: &[(usize, u64)]| {
        words.iter().copied().filter(|(length, word)| *length >= SHORTEST && *word != NUMBER).collect::<Vec<_>>()
    };
    let (name, words) = (telling(&of(test)), of(error));
    let pair = |two: &[(usize, u64)]| match two {
        [(_, NUMBER), (_, NUMBER)] => None,
        [(one, first), (other, second)] => Some((one + other, hash([*first, *second].into_iter()))),
        _ => None,
    };
    let pairs = words.windows(2).filter_map(pair).collect();
    let name = longest(name, NAME_WORDS).into_iter().map(|word| hash([OF_NAME, word].into_iter()));
    let error = longest(telling(&words), WORDS).into_iter().chain(longest(pairs, PAIRS));
    name.chain(error).map(u64::cast_signed).collect()
}

/// The longest of some words; of equally long ones those of the lowest hash.
fn longest(mut words: Vec<(usize, u64)>, most: usize) -> Vec<u64> {
    words.sort_unstable_by_key(|(length, word)| (Reverse(*length), *word));
    words.dedup();
    words.into_iter().take(most).map(|(_, word)| word).collect()
}

/// Lists a symptom of a run under the terms of one of its texts. A run's list is closed once it has more than [`TELLING`]
/// symptoms: whoever sees all of it passes over it, and whoever sees its beginning has what was there then.
pub(super) fn list(
    conn: &Connection,
    run: i64,
    symptom: i64,
    stamp: i64,
    terms: impl IntoIterator<Item = i64>,
) -> Result<(), StoreError> {
    let mut add = conn.prepare_cached(
        "INSERT INTO symptom_terms (term, run, symptom, stamp) SELECT ?1, ?2, ?3, ?4 \
         WHERE NOT EXISTS (SELECT 1 FROM symptom_terms WHERE term = ?1 AND run = ?2 AND symptom = ?5) ON CONFLICT DO NOTHING",
    )?;
    let mut close = conn.prepare_cached(
        "INSERT INTO symptom_terms (term, run, symptom, stamp) SELECT ?1, ?2, ?3, ?4 \
         WHERE (SELECT count(*) FROM (SELECT 1 FROM symptom_terms WHERE term = ?1 AND run = ?2 LIMIT ?5)) = ?5",
    )?;
    let closed_at = i64::try_from(TELLING + 1).unwrap_or(i64::MAX);
    for term in terms {
        if add.execute(params![term, run, symptom, stamp, FULL])? > 0 {
            close.execute(params![term, run, FULL, stamp, closed_at])?;
        }
    }
    Ok(())
}

/// Lists all symptoms of a store that had no such lists.
pub(super) fn fill(conn: &Connection) -> Result<(), StoreError> {
    let mut all = conn.prepare("SELECT run, symptom, stamp, test, error FROM symptom_revisions ORDER BY stamp, id")?;
    let mut rows = all.query([])?;
    while let Some(row) = rows.next()? {
        let terms = terms(row.get_ref("test")?.as_str().unwrap_or_default(), row.get_ref("error")?.as_str().unwrap_or_default());
        list(conn, row.get("run")?, row.get("symptom")?, row.get("stamp")?, terms)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn few_telling_words_stand_for_a_text_whatever_its_numbers() {
        let long = (0..5000).map(|n: u32| format!("word{}", char::from_u32(0x4e00 + n).unwrap())).collect::<Vec<_>>().join(" ");
        assert_eq!(terms(&long, &long).len(), WORDS + PAIRS + NAME_WORDS);
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
