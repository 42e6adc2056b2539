//! The labels that weights are fitted to, from files, reviews in the store and ReportPortal, with the weight of each.

use super::spec::{LabelOrigin, LearnSpec};
use asterisk_base::clock::Timestamp;
use asterisk_diag::Diagnostic;
use asterisk_project::Project;
use asterisk_session::{LabelSource, LabelledCase, LabelledCases, Session, SessionError};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

/// The data file with the settings of `learn`.
const SETTINGS: &str = "learn";
/// Milliseconds per day.
const DAY: f64 = 86_400_000.0;

/// The labels contributed by an origin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OriginCount {
    /// The origin.
    pub from: String,
    /// The number of its labels.
    pub written: usize,
    /// The number of labels used for training.
    pub cases: usize,
    /// The sum of their weights after ageing.
    pub weight: f64,
}

/// The settings of `learn`, from the data file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LearnSettings {
    pub(super) half_life_days: f64,
    pub(super) hold: f64,
    pub(super) hold_priors: f64,
    /// How words are fitted with the rules, and alone.
    pub(super) terms: TermSettings,
    pub(super) terms_alone: TermSettings,
    /// The minimum number of labels of a defect where words are fitted alone.
    pub(super) term_labels: usize,
    /// Words that never become terms.
    pub(super) no_terms: BTreeSet<String>,
    /// The accuracy that verdicts without review must reach, and the minimum number of verdicts to measure it on.
    pub(super) review_right: f64,
    pub(super) review_cases: usize,
    /// Label weights by source.
    pub(super) sources: BTreeMap<String, f64>,
}

/// Which words get weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TermSettings {
    /// How firmly their weights are held to 0.
    pub(super) hold: f64,
    /// The minimum number of projects or launches that a word occurs in.
    pub(super) groups: usize,
    pub(super) most: usize,
}

impl LearnSettings {
    pub(super) fn of(project: &Project) -> Result<Self, SessionError> {
        let missing = || {
            let message = format!("the data file `{SETTINGS}.yaml` is missing or incomplete");
            let help = "the bundled one is used unless a directory of scripts replaces it: asterisk show data learn";
            SessionError::BadRequest(Box::new(Diagnostic::error("learn/settings", message).help(help)))
        };
        let data = project.data.files.get(SETTINGS).ok_or_else(missing)?;
        let number = |value: &Value| value.as_f64().ok_or_else(missing);
        let whole = |value: &Value| value.as_u64().and_then(|value| usize::try_from(value).ok()).ok_or_else(missing);
        let terms = |terms: &Value| {
            Ok::<_, SessionError>(TermSettings {
                hold: number(&terms["hold"])?,
                groups: whole(&terms["groups"])?,
                most: whole(&terms["most"])?,
            })
        };
        let sources = data["labels"].as_object().into_iter().flatten();
        Ok(Self {
            half_life_days: number(&data["half_life_days"])?,
            hold: number(&data["hold"])?,
            hold_priors: number(&data["hold_priors"])?,
            terms: terms(&data["terms"])?,
            terms_alone: terms(&data["terms"]["alone"])?,
            term_labels: whole(&data["terms"]["alone"]["labels"])?,
            no_terms: (data["terms"]["skip"].as_array().into_iter().flatten())
                .filter_map(|word| Some(word.as_str()?.to_owned()))
                .collect(),
            review_right: number(&data["review_bar"]["right"])?,
            review_cases: whole(&data["review_bar"]["cases"])?,
            sources: sources.filter_map(|(source, weight)| Some((source.clone(), weight.as_f64()?))).collect(),
        })
    }

    /// The weight of a label. Ages are relative to the latest label, which keeps its full weight.
    pub(super) fn weight(&self, case: &LabelledCase, latest: Option<Timestamp>) -> f64 {
        let source = self.sources.get(case.source.key()).copied().unwrap_or(1.0);
        let age = match (case.at, latest) {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of any date fit")]
            (Some(at), Some(latest)) => (latest.millis().saturating_sub(at.millis()) as f64 / DAY).max(0.0),
            _ => 0.0,
        };
        case.weight * source * libm::exp2(-age / self.half_life_days)
    }
}

/// Reads the labels of all origins.
pub(super) fn gather(
    session: &Session,
    project: &Project,
    spec: &LearnSpec,
) -> Result<Vec<(String, LabelledCases<LabelledCase>)>, SessionError> {
    let mut all = Vec::with_capacity(spec.from.len());
    for origin in &spec.from {
        let labels = match origin {
            LabelOrigin::File(path) => session.labelled(project, path, spec.launches.as_deref())?,
            LabelOrigin::Store => session.reviewed()?,
            LabelOrigin::Portal => session.portal_labels(project, &spec.portal, &|_, _| {}, &AtomicBool::new(false))?,
        };
        all.push((origin.name(), labels));
    }
    Ok(all)
}

/// Removes duplicates: for a failure that is both in the store and in ReportPortal, the review in the store wins.
pub(super) fn deduplicate(all: &mut [(String, LabelledCases<LabelledCase>)]) {
    let key = |case: &LabelledCase| (case.launch_key.clone(), case.case.id.clone());
    let of_source = |source: fn(LabelSource) -> bool| move |case: &&LabelledCase| source(case.source);
    let reviewed: std::collections::BTreeSet<_> = (all.iter())
        .flat_map(|(_, labels)| &labels.cases)
        .filter(of_source(|source| matches!(source, LabelSource::Approve | LabelSource::Overturn)))
        .map(key)
        .collect();
    for (_, labels) in all.iter_mut() {
        let (twice, once) = std::mem::take(&mut labels.cases)
            .into_iter()
            .partition::<Vec<_>, _>(|case| case.source == LabelSource::Portal && reviewed.contains(&key(case)));
        labels.cases = once;
        labels.left_out.extend(twice.into_iter().map(|case| (case.id, "a review in the store has it".to_owned())));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_base::model::Case;
    use asterisk_session::alone;
    use std::sync::Arc;

    fn settings() -> LearnSettings {
        LearnSettings {
            half_life_days: 10.0,
            hold: 4.0,
            hold_priors: 0.3,
            terms: TermSettings { hold: 2.0, groups: 3, most: 10 },
            terms_alone: TermSettings { hold: 16.0, groups: 5, most: 10 },
            term_labels: 20,
            no_terms: BTreeSet::new(),
            review_right: 0.95,
            review_cases: 20,
            sources: BTreeMap::from([("approve".to_owned(), 0.5)]),
        }
    }

    fn case(source: LabelSource, day: i64) -> LabelledCase {
        LabelledCase {
            id: format!("{source:?}"),
            label: "d".into(),
            source,
            weight: 2.0,
            at: Some(Timestamp::from_millis(day * 86_400_000)),
            project: "p".into(),
            launch_key: "nightly 1".into(),
            decidable: None,
            launch: Arc::new(alone()),
            case: Case { id: "c".into(), ..Case::default() },
            finding: None,
        }
    }

    #[test]
    fn label_age_is_relative_to_the_latest() {
        let latest = Some(Timestamp::from_millis(20 * 86_400_000));
        let weight = |source, day| settings().weight(&case(source, day), latest);
        assert!((weight(LabelSource::File, 20) - 2.0).abs() < 1e-12);
        assert!((weight(LabelSource::File, 10) - 1.0).abs() < 1e-12);
        assert!((weight(LabelSource::Approve, 0) - 0.25).abs() < 1e-12);
        let undated = LabelledCase { at: None, ..case(LabelSource::File, 0) };
        assert!((settings().weight(&undated, latest) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_review_replaces_the_label_from_reportportal() {
        let labels = |source| LabelledCases { written: 1, cases: vec![case(source, 0)], left_out: Vec::new() };
        let mut all = [("store".to_owned(), labels(LabelSource::Approve)), ("rp".to_owned(), labels(LabelSource::Portal))];
        deduplicate(&mut all);
        assert_eq!((all[0].1.cases.len(), all[1].1.cases.len(), all[1].1.left_out.len()), (1, 0, 1));
        let mut file = [("store".to_owned(), labels(LabelSource::Approve)), ("f".to_owned(), labels(LabelSource::File))];
        deduplicate(&mut file);
        assert_eq!(file[1].1.cases.len(), 1, "the failure of a file cannot be attributed");
    }
}
