//! Assigns labelled cases to cross-validation folds: by whole projects, whole launches or time, so that related cases stay together.

use super::figures::fold_of;
use asterisk_base::model::recall_key;
use asterisk_session::LabelledCase;
use serde::Serialize;
use std::collections::BTreeMap;

/// How cases are assigned to folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoldsBy {
    /// By project; with a single one, by launch.
    Auto,
    /// Holds out whole projects.
    Project,
    /// Holds out whole launches. Failures of the same test with the same error belong to the launch that had them first.
    Launch,
    /// Tests on later cases after training on earlier ones.
    Time,
}

/// The assignment of labelled cases to folds.
pub(super) struct Folds {
    pub(super) by: FoldsBy,
    /// The fold of each case. By time, fold 0 has the earliest cases and is never held out.
    pub(super) fold: Vec<usize>,
    /// The group of each case. Only whole groups are independent.
    pub(super) group: Vec<usize>,
    /// The number of groups.
    pub(super) groups: usize,
}

impl Folds {
    pub(super) fn of<'a>(cases: impl Iterator<Item = &'a LabelledCase> + Clone, by: FoldsBy, folds: usize) -> Self {
        let projects = || cases.clone().map(|case| case.project.as_str());
        let by = match by {
            FoldsBy::Auto if projects().all(|project| Some(project) == projects().next()) => FoldsBy::Launch,
            FoldsBy::Auto => FoldsBy::Project,
            by => by,
        };
        let keys: Vec<&str> = match by {
            FoldsBy::Project | FoldsBy::Auto => projects().collect(),
            FoldsBy::Launch | FoldsBy::Time => {
                let mut first: BTreeMap<String, &str> = BTreeMap::new();
                let key = |case: &'a LabelledCase| *first.entry(failure_key(case)).or_insert(&case.launch_key);
                cases.clone().map(key).collect()
            }
        };
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        let mut group = Vec::with_capacity(keys.len());
        for key in &keys {
            let next = numbers.len();
            group.push(*numbers.entry(key).or_insert(next));
        }
        let fold = match by {
            FoldsBy::Time => {
                let at: Vec<_> = cases.map(|case| case.at.map(asterisk_base::clock::Timestamp::millis)).collect();
                by_time(&at, folds)
            }
            _ => keys.iter().map(|key| fold_of(key, folds)).collect(),
        };
        Self { by, fold, group, groups: numbers.len() }
    }

    /// The folds to hold out: those that leave cases to train on.
    pub(super) fn held_out(&self) -> Vec<usize> {
        let mut used = self.fold.clone();
        used.sort_unstable();
        used.dedup();
        match self.by {
            FoldsBy::Time => used.split_off(used.len().min(1)),
            _ if used.len() < 2 => Vec::new(),
            _ => used,
        }
    }

    /// Whether a case is part of the training set while a fold is held out.
    pub(super) fn is_trained_on(&self, case: usize, held_out: usize) -> bool {
        match self.by {
            FoldsBy::Time => self.fold[case] < held_out,
            _ => self.fold[case] != held_out,
        }
    }
}

/// Identifies the same test with the same error.
fn failure_key(case: &LabelledCase) -> String {
    if case.case.recall_key.is_empty() {
        recall_key(&case.case.name, &case.case.error_message)
    } else {
        case.case.recall_key.clone()
    }
}

/// Splits cases into consecutive periods of equal size, one more than there are folds. A case without a date counts as the earliest.
fn by_time(at: &[Option<i64>], folds: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..at.len()).collect();
    order.sort_by_key(|case| at[*case]);
    let stretches = folds + 1;
    let mut fold = vec![0; at.len()];
    let mut last = (None, 0);
    for (place, case) in order.iter().enumerate() {
        let own = place * stretches / at.len().max(1);
        // Cases at the same time stay together.
        let stretch = if place > 0 && last.0 == at[*case] { last.1 } else { own };
        fold[*case] = stretch;
        last = (at[*case], stretch);
    }
    fold
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::Case;
    use asterisk_session::{LabelSource, alone};
    use std::sync::Arc;

    fn case(project: &str, launch: &str, error: &str, day: i64) -> LabelledCase {
        LabelledCase {
            id: String::new(),
            label: String::new(),
            source: LabelSource::File,
            weight: 1.0,
            at: Some(asterisk_base::clock::Timestamp::from_millis(day * 86_400_000)),
            project: project.into(),
            launch_key: launch.into(),
            decidable: None,
            launch: Arc::new(alone()),
            case: Case { name: "t".into(), error_message: error.into(), ..Case::default() },
            finding: None,
        }
    }

    #[test]
    fn identical_failures_are_held_out_together() {
        let cases: Vec<LabelledCase> = (0..40)
            .map(|at| case("p", &format!("launch {at}"), &format!("failure {}", ["a", "b", "c", "d"][at % 4]), 0))
            .collect();
        let folds = Folds::of(cases.iter(), FoldsBy::Auto, 10);
        assert_eq!((folds.by, folds.groups), (FoldsBy::Launch, 4));
        assert!((4..40).all(|at| folds.fold[at] == folds.fold[at % 4]), "{:?}", folds.fold);
        let several: Vec<LabelledCase> = ["p", "q"].map(|project| case(project, "l", "e", 0)).into();
        assert_eq!(Folds::of(several.iter(), FoldsBy::Auto, 10).by, FoldsBy::Project);
    }

    #[test]
    fn later_cases_are_held_out_from_earlier_ones() {
        let cases: Vec<LabelledCase> = (0..12).rev().map(|day| case("p", "l", &format!("e{day}"), day)).collect();
        let folds = Folds::of(cases.iter(), FoldsBy::Time, 3);
        assert_eq!(folds.fold, [3, 3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0]);
        assert_eq!(folds.held_out(), [1, 2, 3]);
        assert!(folds.is_trained_on(11, 1) && !folds.is_trained_on(0, 1) && !folds.is_trained_on(3, 2));
    }
}
