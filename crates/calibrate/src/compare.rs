//! Two packs of scripts on the same cases: the difference of each metric, with an interval over resampled cases that are the same for both.

use super::scoreboard::{BoardValues, MetricResult, differences};
use serde::Serialize;

/// Two packs of scripts, compared case by case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PackComparison {
    /// The scripts that are compared with those of the project.
    pub candidate: String,
    /// The metrics of both, in the order of the scorecard.
    pub metrics: Vec<MetricComparison>,
    /// The cases that only the candidate gets right.
    pub won: Vec<String>,
    /// The cases that only the project's scripts get right.
    pub lost: Vec<String>,
}

/// A metric by two packs of scripts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricComparison {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its value by the project's scripts.
    pub baseline: Option<f64>,
    /// Its value by the candidate's.
    pub candidate: Option<f64>,
    /// Candidate minus baseline.
    pub difference: Option<f64>,
    /// The 90 % interval of the difference.
    pub interval: Option<[f64; 2]>,
    /// Whether the interval leaves zero out: more than chance.
    pub beyond_noise: bool,
}

/// Compares the metrics of two runs over the same cases.
pub(super) fn metrics(
    (before, before_values): (&[MetricResult], &BoardValues),
    (after, after_values): (&[MetricResult], &BoardValues),
) -> Vec<MetricComparison> {
    let compared = |(place, (before, after)): (usize, (&MetricResult, &MetricResult))| {
        let difference = before.value.zip(after.value).map(|(before, after)| after - before);
        let interval = difference.and_then(|_| differences(place, before_values, after_values));
        MetricComparison {
            id: before.id.clone(),
            name: before.name.clone(),
            baseline: before.value,
            candidate: after.value,
            difference,
            interval,
            beyond_noise: interval.is_some_and(|[least, most]| least > 0.0 || most < 0.0),
        }
    };
    before.iter().zip(after).enumerate().map(compared).collect()
}
