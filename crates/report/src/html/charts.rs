//! Bar charts: shares of a whole, and the distribution of confidences.

use serde::Serialize;
use std::collections::BTreeMap;

/// Number of columns in the histogram of confidences: tenths from 0 to 1.
const TENTHS: usize = 10;

/// A bar: one of several counted categories.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Bar {
    /// Name of the category.
    pub(super) name: String,
    /// Explanation of the name, if it is a code.
    pub(super) means: String,
    /// Count.
    pub(super) count: u64,
    /// Share of all, in percent.
    pub(super) percent: f64,
    /// Length in percent of the longest bar.
    pub(super) length: f64,
}

/// Bars of counts, the longest first.
pub(super) fn bars(counts: &BTreeMap<String, usize>, means: impl Fn(&str) -> String) -> Vec<Bar> {
    let all: usize = counts.values().sum();
    let most = counts.values().copied().max().unwrap_or(0);
    let mut counts: Vec<(&String, usize)> = counts.iter().map(|(name, count)| (name, *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let bar = |(name, count): (&String, usize)| Bar {
        name: name.clone(),
        means: means(name),
        count: count as u64,
        percent: percent(count as u64, all as u64),
        length: percent(count as u64, most as u64),
    };
    counts.into_iter().map(bar).collect()
}

/// The parts of a whole: all entries of the source but the sum (`total`).
pub(super) fn parts(totals: &BTreeMap<String, u64>) -> Vec<Bar> {
    let parts: Vec<(&String, u64)> =
        totals.iter().filter(|(name, count)| *name != "total" && **count > 0).map(|(name, count)| (name, *count)).collect();
    let all: u64 = parts.iter().map(|(_, count)| *count).sum();
    let bar = |(name, count): (&String, u64)| Bar {
        name: name.clone(),
        means: String::new(),
        count,
        percent: percent(count, all),
        length: percent(count, all),
    };
    parts.into_iter().map(bar).collect()
}

/// Distribution of confidences.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Histogram {
    /// The columns, lowest confidence first.
    pub(super) columns: Vec<Column>,
    /// Number of findings without a confidence.
    pub(super) without: usize,
    /// Median; absent without values.
    pub(super) median: Option<f64>,
    /// Description in words.
    pub(super) words: String,
}

/// A column of a histogram.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Column {
    /// Lower bound of the confidence.
    pub(super) from: String,
    /// Count.
    pub(super) count: usize,
    /// Height in percent of the highest column.
    pub(super) height: f64,
}

/// The histogram of confidences.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn histogram(confidences: impl Iterator<Item = Option<f64>>) -> Histogram {
    let (mut counts, mut without, mut sure) = ([0_usize; TENTHS], 0, Vec::new());
    for confidence in confidences {
        match confidence {
            Some(value) => {
                counts[((value.clamp(0.0, 1.0) * 10.0 + 1e-9) as usize).min(TENTHS - 1)] += 1;
                sure.push(value);
            }
            None => without += 1,
        }
    }
    sure.sort_by(f64::total_cmp);
    let most = counts.iter().copied().max().unwrap_or(0) as u64;
    let tenth = |index: usize| format!("0.{index}");
    let column = |(index, count): (usize, usize)| Column { from: tenth(index), count, height: percent(count as u64, most) };
    let words: Vec<String> = counts
        .iter()
        .enumerate()
        .filter(|(_, count)| **count > 0)
        .map(|(index, count)| format!("{count} from {} on", tenth(index)))
        .collect();
    Histogram {
        columns: counts.into_iter().enumerate().map(column).collect(),
        without,
        median: sure.get(sure.len() / 2).copied(),
        words: words.join(", "),
    }
}

/// A share in percent, rounded to two digits.
#[allow(clippy::cast_precision_loss)]
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { (part as f64 / whole as f64 * 10_000.0).round() / 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_bar_is_first_and_full() {
        let counts = BTreeMap::from([("a".to_owned(), 1), ("b".to_owned(), 3)]);
        let bars = bars(&counts, str::to_uppercase);
        let seen: Vec<_> = bars.iter().map(|bar| (bar.means.as_str(), bar.percent, bar.length)).collect();
        assert_eq!(seen, [("B", 75.0, 100.0), ("A", 25.0, 33.33)]);
    }

    #[test]
    fn a_whole_is_not_part_of_itself() {
        let totals = BTreeMap::from([("failed".to_owned(), 1), ("passed".to_owned(), 3), ("total".to_owned(), 4)]);
        let parts = parts(&totals);
        assert_eq!(
            parts.iter().map(|part| (part.name.as_str(), part.percent)).collect::<Vec<_>>(),
            [("failed", 25.0), ("passed", 75.0)]
        );
    }

    #[test]
    fn confidences_fall_into_tenths() {
        let histogram = histogram([Some(0.0), Some(0.3), Some(1.0), Some(0.95), None, Some(f64::NAN)].into_iter());
        let counts: Vec<usize> = histogram.columns.iter().map(|column| column.count).collect();
        assert_eq!(counts, [2, 0, 0, 1, 0, 0, 0, 0, 0, 2]);
        assert_eq!((histogram.without, histogram.median), (1, Some(0.95)));
        assert_eq!(histogram.words, "2 from 0.0 on, 1 from 0.3 on, 2 from 0.9 on");
    }
}
