//! Figures of verdicts against labels, the temperature that fits their probabilities best, and the assignment to folds.

use super::fit::{log_loss, softmax};
use asterisk_base::model::Hash;
use serde::Serialize;
use std::collections::BTreeMap;

/// The bounds of a temperature.
const COLDEST: f64 = 0.05;
const HOTTEST: f64 = 20.0;
/// How often the interval that holds the best temperature is cut.
const CUTS: usize = 80;
/// With fewer projects than this nothing is clear.
const FEWEST: usize = 10;
/// Standard errors on either side of a 90 % interval.
pub(super) const NINETY: f64 = 1.64;

/// A case with the scores of a verdict that was made without its label.
#[derive(Clone, Debug)]
pub(super) struct HeldOutVerdict {
    /// The true class.
    pub(super) truth: usize,
    /// Whether the case's text decides.
    pub(super) decidable: bool,
    /// The fold that it was held out with.
    pub(super) fold: usize,
    /// Which cases belong together.
    pub(super) project: usize,
    /// The log-odds of each class.
    pub(super) scores: Vec<f64>,
    /// The temperature that its scores are divided by.
    pub(super) temperature: f64,
}

/// How good verdicts are.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictFigures {
    /// The number of cases.
    pub cases: usize,
    /// Of these, how many the text decides.
    pub decidable: usize,
    /// How often the most probable defect is the labelled one, of the decidable.
    pub right: f64,
    /// The mean of the shares of each labelled defect that are found, of the decidable.
    pub mean_recall: f64,
    /// These shares, by defect.
    pub recall: BTreeMap<String, f64>,
    /// The mean negative logarithm of the labelled defect's probability.
    pub log_loss: f64,
    /// The mean squared distance of the confidence from 1 where right, from 0 where wrong.
    pub brier: f64,
    /// How often a right verdict is more confident than a wrong one; nothing if all are right, or none.
    pub auc: Option<f64>,
    /// The mean confidence minus the share of right ones.
    pub overconfidence: f64,
    /// The share of verdicts probable enough to be decided.
    pub committed: f64,
    /// How often the decided ones are right.
    pub committed_right: Option<f64>,
}

/// Which verdicts are better, and by how much.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictComparison {
    /// Which weights have the smaller log loss beyond chance.
    pub better: BetterWeights,
    /// The difference of log loss, fitted minus hand-set.
    pub log_loss: f64,
    /// Its 90 % interval, over projects.
    pub interval: [f64; 2],
    /// How many decidable cases only the fitted weights get right.
    pub won: usize,
    /// How many only the hand-set ones get right.
    pub lost: usize,
    /// The estimated number of further labels needed to show a difference, or nothing if the difference is already clear or the weights
    /// seem no better.
    pub more_labels: Option<usize>,
}

/// The confidence above which verdicts need no review.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewBar {
    /// The confidence.
    pub confidence: f64,
    /// The number of held-out verdicts with at least this confidence.
    pub verdicts: usize,
    /// The share of those that are right.
    pub right: f64,
}

/// Which weights are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BetterWeights {
    /// The fitted ones.
    Fitted,
    /// The hand-set ones.
    HandSet,
    /// The difference may be chance.
    Unclear,
}

impl HeldOutVerdict {
    fn tempered(&self) -> Vec<f64> {
        self.scores.iter().map(|score| score / self.temperature).collect()
    }

    fn loss(&self) -> f64 {
        log_loss(&self.tempered(), self.truth)
    }

    /// The most probable class, of equals the first.
    fn best(&self) -> usize {
        let mut best = 0;
        for (class, score) in self.scores.iter().enumerate() {
            if *score > self.scores[best] {
                best = class;
            }
        }
        best
    }

    fn is_right(&self) -> bool {
        self.best() == self.truth
    }

    /// The probability of each class.
    pub(super) fn probabilities(&self) -> Vec<f64> {
        softmax(&self.tempered())
    }

    fn confidence(&self) -> f64 {
        self.probabilities().into_iter().fold(0.0, f64::max)
    }
}

/// The figures of verdicts that decide between `classes`; below `floor` they are undecided.
pub(super) fn figures(verdicts: &[HeldOutVerdict], classes: &[String], floor: f64) -> VerdictFigures {
    let decidable: Vec<&HeldOutVerdict> = verdicts.iter().filter(|verdict| verdict.decidable).collect();
    let mut recall = BTreeMap::new();
    for (class, name) in classes.iter().enumerate() {
        let of = decidable.iter().filter(|verdict| verdict.truth == class);
        recall.extend(share(of.map(|verdict| verdict.is_right())).map(|found| (name.clone(), found)));
    }
    let sure: Vec<(f64, bool)> = verdicts.iter().map(|verdict| (verdict.confidence(), verdict.is_right())).collect();
    let squared = |(confidence, right): &(f64, bool)| {
        let away = confidence - if *right { 1.0 } else { 0.0 };
        away * away
    };
    let committed = |(confidence, _): &&(f64, bool)| *confidence >= floor;
    let right = share(sure.iter().map(|(_, right)| *right)).unwrap_or_default();
    VerdictFigures {
        cases: verdicts.len(),
        decidable: decidable.len(),
        right: share(decidable.iter().map(|verdict| verdict.is_right())).unwrap_or_default(),
        mean_recall: mean(recall.values().copied()).unwrap_or_default(),
        recall,
        log_loss: mean(verdicts.iter().map(HeldOutVerdict::loss)).unwrap_or_default(),
        brier: mean(sure.iter().map(squared)).unwrap_or_default(),
        auc: auc(&sure),
        overconfidence: mean(sure.iter().map(|(confidence, _)| *confidence)).unwrap_or_default() - right,
        committed: share(sure.iter().map(|one| committed(&one))).unwrap_or_default(),
        committed_right: share(sure.iter().filter(committed).map(|(_, right)| *right)),
    }
}

/// Compares the verdicts of the same cases by hand-set and by fitted weights.
pub(super) fn compare(hand_set: &[HeldOutVerdict], fitted: &[HeldOutVerdict]) -> VerdictComparison {
    let pairs = || hand_set.iter().zip(fitted);
    let difference = mean(pairs().map(|(before, now)| now.loss() - before.loss())).unwrap_or_default();
    // Failures of one project are alike: only whole projects are independent.
    let mut projects: BTreeMap<usize, f64> = BTreeMap::new();
    for (before, now) in pairs() {
        *projects.entry(now.project).or_default() += now.loss() - before.loss() - difference;
    }
    let correction = count(projects.len()) / count(projects.len().saturating_sub(1).max(1));
    let spread = (projects.values().map(|sum| sum * sum).sum::<f64>() * correction).sqrt() / count(fitted.len().max(1));
    let interval = [difference - NINETY * spread, difference + NINETY * spread];
    let better = match interval {
        _ if projects.len() < FEWEST => BetterWeights::Unclear,
        [_, most] if most < 0.0 => BetterWeights::Fitted,
        [least, _] if least > 0.0 => BetterWeights::HandSet,
        _ => BetterWeights::Unclear,
    };
    let only = |one: fn(&HeldOutVerdict, &HeldOutVerdict) -> bool| {
        pairs().filter(|(before, now)| now.decidable && one(before, now)).count()
    };
    VerdictComparison {
        better,
        log_loss: difference,
        interval,
        won: only(|before, now| now.is_right() && !before.is_right()),
        lost: only(|before, now| before.is_right() && !now.is_right()),
        more_labels: (better == BetterWeights::Unclear && difference < 0.0)
            .then(|| additional_cases(fitted.len(), spread, difference).max(FEWEST.saturating_sub(projects.len()))),
    }
}

/// Estimates how many more cases would make a difference significant, if it and its spread stay the same: the interval shrinks with the
/// square root of the number of cases.
fn additional_cases(cases: usize, spread: f64, difference: f64) -> usize {
    let times = (NINETY * spread / difference).powi(2);
    let wanted = (count(cases) * times).ceil().min(1e9);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 1e9")]
    let wanted = wanted as usize;
    wanted.saturating_sub(cases).max(1)
}

/// Returns the lowest confidence from which verdicts reach the wanted accuracy, or `None` if no threshold with at least `fewest` verdicts
/// does.
pub(super) fn review_bar(verdicts: &[HeldOutVerdict], wanted: f64, fewest: usize) -> Option<ReviewBar> {
    let mut sure: Vec<(f64, bool)> = verdicts.iter().map(|one| (one.confidence(), one.is_right())).collect();
    sure.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut right, mut bar) = (0_usize, None);
    for (at, (confidence, is_right)) in sure.iter().enumerate() {
        right += usize::from(*is_right);
        let share = count(right) / count(at + 1);
        // Verdicts of equal confidence stay together.
        let last = sure.get(at + 1).is_none_or(|(next, _)| next < confidence);
        if last && at + 1 >= fewest && share >= wanted {
            bar = Some(ReviewBar { confidence: (confidence * 100.0).ceil() / 100.0, verdicts: at + 1, right: share });
        }
    }
    bar
}

/// The temperature at which the log loss is least; 1 without any verdict.
pub(super) fn temperature(verdicts: &[&HeldOutVerdict]) -> f64 {
    if verdicts.is_empty() {
        return 1.0;
    }
    // The loss is convex in the inverse.
    let slope = |inverse: f64| -> f64 {
        let of_one = |verdict: &&HeldOutVerdict| {
            let scores: Vec<f64> = verdict.scores.iter().map(|score| score * inverse).collect();
            let expected: f64 = softmax(&scores).iter().zip(&verdict.scores).map(|(share, score)| share * score).sum();
            expected - verdict.scores[verdict.truth]
        };
        verdicts.iter().map(of_one).sum()
    };
    let (mut low, mut high) = (1.0 / HOTTEST, 1.0 / COLDEST);
    for _ in 0..CUTS {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    2.0 / (low + high)
}

/// Shrinks a temperature towards the hand-set one (1 if there is none) if it was measured on few groups of cases. Returns `None` for
/// fewer than ten.
pub(super) fn trusted_temperature(temperature: f64, hand_set: Option<f64>, groups: usize) -> Option<f64> {
    let hand_set = hand_set.unwrap_or(1.0);
    let share = count(groups) / count(groups + 2 * FEWEST);
    (groups >= FEWEST).then(|| hand_set * libm::exp(share * libm::log(temperature / hand_set)))
}

/// The verdicts with a temperature each, fitted on all folds but their own.
pub(super) fn tempered(verdicts: &[HeldOutVerdict]) -> Vec<HeldOutVerdict> {
    let mut by_fold: BTreeMap<usize, f64> = BTreeMap::new();
    let mut tempered = verdicts.to_vec();
    for verdict in &mut tempered {
        let fold = verdict.fold;
        let others = || verdicts.iter().filter(|other| other.fold != fold).collect::<Vec<_>>();
        verdict.temperature = *by_fold.entry(fold).or_insert_with(|| temperature(&others()));
    }
    tempered
}

/// The fold of a project: by its name alone, so that it stays when cases are added.
pub(super) fn fold_of(project: &str, folds: usize) -> usize {
    let hash = Hash::of(project.as_bytes());
    let first = hash.bytes().iter().take(8).fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte));
    usize::try_from(first % folds.max(1) as u64).unwrap_or_default()
}

fn auc(sure: &[(f64, bool)]) -> Option<f64> {
    let wrong = || sure.iter().filter(|(_, right)| !right);
    let against = |(right, _): &(f64, bool)| {
        let beats = |(wrong, _): &(f64, bool)| match right.total_cmp(wrong) {
            std::cmp::Ordering::Greater => 1.0,
            std::cmp::Ordering::Equal => 0.5,
            std::cmp::Ordering::Less => 0.0,
        };
        mean(wrong().map(beats))
    };
    mean(sure.iter().filter(|(_, right)| *right).filter_map(against))
}

fn share(of: impl Iterator<Item = bool>) -> Option<f64> {
    mean(of.map(|one| if one { 1.0 } else { 0.0 }))
}

fn mean(of: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, number) = of.fold((0.0, 0_usize), |(sum, number), one| (sum + one, number + 1));
    (number > 0).then(|| sum / count(number))
}

#[expect(clippy::cast_precision_loss, reason = "there are never 2^52 cases")]
fn count(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(truth: usize, scores: [f64; 2]) -> HeldOutVerdict {
        HeldOutVerdict { truth, decidable: true, fold: 0, project: truth, scores: scores.to_vec(), temperature: 1.0 }
    }

    fn of(verdicts: &[HeldOutVerdict]) -> VerdictFigures {
        figures(verdicts, &["a".into(), "b".into()], 0.6)
    }

    #[test]
    fn figures_say_how_often_and_how_surely() {
        let odds = libm::log(4.0);
        let undecidable = HeldOutVerdict { decidable: false, ..verdict(1, [odds, 0.0]) };
        let found = of(&[verdict(0, [odds, 0.0]), verdict(0, [odds, 0.0]), verdict(1, [0.0, 0.0]), undecidable]);
        assert_eq!((found.cases, found.decidable), (4, 3));
        assert!((found.right - 2.0 / 3.0).abs() < 1e-12 && (found.mean_recall - 0.5).abs() < 1e-12, "{found:?}");
        // Right at 0.8 twice, wrong at 0.5 and at 0.8.
        assert!((found.brier - (0.04 + 0.04 + 0.25 + 0.64) / 4.0).abs() < 1e-12, "{found:?}");
        assert!((found.overconfidence - (2.9 / 4.0 - 0.5)).abs() < 1e-12, "{found:?}");
        assert_eq!((found.committed, found.auc), (0.75, Some(0.75)));
        let loss = -(2.0 * libm::log(0.8) + libm::log(0.5) + libm::log(0.2)) / 4.0;
        assert!((found.log_loss - loss).abs() < 1e-12);
        assert_eq!(of(&[]).auc, None);
    }

    #[test]
    fn the_temperature_takes_boasting_down() {
        // Says 0.99 and is right three times of four: the best is odds of three to one.
        let boasts = libm::log(99.0);
        let verdicts = [0, 0, 0, 1].map(|truth| verdict(truth, [boasts, 0.0]));
        let found = temperature(&verdicts.iter().collect::<Vec<_>>());
        assert!((boasts / found - libm::log(3.0)).abs() < 1e-9, "{found}");
        assert!((temperature(&[]) - 1.0).abs() < 1e-12);
        assert_eq!(trusted_temperature(0.05, None, 9), None, "four lucky cases make nothing sure");
        assert!(trusted_temperature(4.0, None, 20).is_some_and(|found| (found - 2.0).abs() < 1e-9));
        assert!(trusted_temperature(4.0, Some(1.0 / 4.0), 20).is_some_and(|found| (found - 1.0).abs() < 1e-9));
        let held = [0, 1].map(|fold| HeldOutVerdict { fold, ..verdict(0, [1.0, 0.0]) });
        assert!(tempered(&held).iter().all(|verdict| (verdict.temperature - COLDEST).abs() < 1e-9));
    }

    #[test]
    fn a_difference_counts_if_projects_agree() {
        let before: Vec<_> = (0..10).map(|project| HeldOutVerdict { project, ..verdict(0, [-0.1, 0.0]) }).collect();
        let now: Vec<_> = (0..10).map(|project| HeldOutVerdict { project, ..verdict(0, [1.0, 0.0]) }).collect();
        let found = compare(&before, &now);
        assert_eq!((found.better, found.won, found.lost), (BetterWeights::Fitted, 10, 0));
        assert_eq!(compare(&now, &before).better, BetterWeights::HandSet);
        assert_eq!(compare(&now, &now).better, BetterWeights::Unclear);
        // All of one project is one observation.
        let one: Vec<_> = now.iter().map(|verdict| HeldOutVerdict { project: 0, ..verdict.clone() }).collect();
        assert_eq!((compare(&before, &one).won, compare(&before, &one).better), (10, BetterWeights::Unclear));
    }

    #[test]
    fn an_unclear_gain_estimates_the_labels_needed() {
        let before: Vec<_> = (0..20).map(|project| HeldOutVerdict { project, ..verdict(project % 2, [0.0, 0.0]) }).collect();
        // Better for two thirds, worse for the rest.
        let now: Vec<_> = before
            .iter()
            .map(|one| {
                let towards = if one.project % 3 == 0 { 1 - one.truth } else { one.truth };
                HeldOutVerdict { scores: if towards == 0 { vec![0.4, 0.0] } else { vec![0.0, 0.4] }, ..one.clone() }
            })
            .collect();
        let found = compare(&before, &now);
        assert_eq!(found.better, BetterWeights::Unclear);
        assert!(found.more_labels.is_some_and(|more| (10..400).contains(&more)), "{found:?}");
        assert_eq!(compare(&now, &before).more_labels, None);
    }

    #[test]
    fn the_review_bar_is_where_accuracy_suffices() {
        let sure = |score: f64, right: bool| verdict(usize::from(!right), [score, 0.0]);
        let verdicts: Vec<_> =
            [(4.0, true), (3.0, true), (2.0, true), (1.0, false)].map(|(score, right)| sure(score, right)).into();
        let bar = review_bar(&verdicts, 0.9, 2);
        assert!(bar.is_some_and(|bar| bar.verdicts == 3 && (0.88..0.9).contains(&bar.confidence)));
        assert_eq!(review_bar(&verdicts, 0.9, 4), None);
    }

    #[test]
    fn folds_depend_on_the_name() {
        assert_eq!(fold_of("a/b", 10), fold_of("a/b", 10));
        assert!((0..50).map(|at| fold_of(&at.to_string(), 10)).collect::<std::collections::BTreeSet<_>>().len() > 5);
    }
}
