//! Results taken in one at a time, and the values of the metrics.

use super::resample::{ResampleWeights, interval};
use super::scorecard::{MetricOver, Scorecard, ScorecardMetric, ScorecardTable};
use super::sums::{SumsOf, TallySums};
use asterisk_diag::Diagnostic;
use asterisk_script::{ScriptFunction, View};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// With fewer clusters of cases than this, intervals are omitted.
const FEWEST: usize = 10;

/// The sums of a run over a scenario. Its size does not depend on the number of cases.
#[derive(Debug)]
pub(super) struct Scoreboard<'a> {
    card: &'a Scorecard,
    sums: Vec<TallySums>,
    resamples: usize,
    /// Hashes of clusters, no more of them than matter.
    clusters: BTreeSet<u64>,
    /// The number of cases, and of those held out.
    pub(super) cases: usize,
    pub(super) held_out: usize,
}

/// A case with its result.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoredCase<'a> {
    pub(super) truth: &'a Value,
    pub(super) result: &'a Value,
    pub(super) held_out: bool,
    /// What it is resampled with.
    pub(super) cluster: &'a str,
}

/// The values of the metrics in one run, in the order of the scorecard.
#[derive(Debug)]
pub(super) struct BoardValues {
    all: Vec<Option<MetricValue>>,
    held_out: Option<Vec<Option<MetricValue>>>,
    /// Sums over the cases that were not held out.
    rest: Option<Vec<Option<MetricValue>>>,
    resampled: Vec<Vec<Option<MetricValue>>>,
}

impl BoardValues {
    /// The value of the metric at this index: over the cases that were not held out, and over those that were.
    pub(super) fn apart(&self, place: usize) -> (Option<f64>, Option<f64>) {
        let value = |values: &[Option<MetricValue>]| values.get(place).copied().flatten().map(|value| value.value);
        (value(self.rest.as_deref().unwrap_or(&self.all)), self.held_out.as_deref().and_then(value))
    }
}

/// The value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MetricValue {
    pub(super) value: f64,
    /// Whether its threshold applies.
    pub(super) enforced: bool,
}

/// A metric with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MetricResult {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// The group that it is shown in.
    pub tier: String,
    /// Its value, the mean over all runs; null if it does not apply.
    pub value: Option<f64>,
    /// The 90 % interval of resampled cases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// Its value over the cases that were held out, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_out: Option<f64>,
    /// Which values are good.
    pub direction: String,
    /// The value that it is judged by; null if it is shown only.
    pub bar: Option<f64>,
    /// Whether it passes; null if it does not apply.
    pub pass: Option<bool>,
    /// Its weight in metrics of metrics.
    pub weight: f64,
}

/// A table next to the metrics.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TableResult {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its columns: keys of the rows.
    pub columns: Vec<String>,
    /// Its rows.
    pub rows: Vec<Value>,
    /// The columns that make a matrix of it: of its rows, its columns and its values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub matrix: Vec<String>,
    /// The columns that make a curve of it: of the horizontal and the vertical axis, and of the number of cases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<String>,
}

impl TableResult {
    /// The header and the rows as displayed: as a matrix, if it is one.
    pub fn shown(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let [of_row, of_column, of_value] = self.matrix.as_slice() else {
            let header = self.columns.iter().map(|column| column.replace('_', " ")).collect();
            let row = |row: &Value| self.columns.iter().map(|column| plain(&row[column])).collect();
            return (header, self.rows.iter().map(row).collect());
        };
        let names = |key: &str| self.rows.iter().map(|row| plain(&row[key])).collect::<BTreeSet<String>>();
        let (down, across) = (names(of_row), names(of_column));
        let cell = |down: &str, across: &str| {
            let there = |row: &&Value| plain(&row[of_row]) == down && plain(&row[of_column]) == across;
            self.rows.iter().find(there).map_or_else(String::new, |row| plain(&row[of_value]))
        };
        let row = |down: &String| {
            std::iter::once(down.clone()).chain(across.iter().map(|across| cell(down, across))).collect::<Vec<String>>()
        };
        let corner = format!("{} \\ {}", of_row.replace('_', " "), of_column.replace('_', " "));
        (std::iter::once(corner).chain(across.iter().cloned()).collect(), down.iter().map(row).collect())
    }

    /// The points of its curve: horizontal, vertical and number of cases.
    pub fn points(&self) -> Vec<[f64; 3]> {
        let [x, y, cases] = self.curve.as_slice() else { return Vec::new() };
        let number = |row: &Value, key: &str| row[key].as_f64();
        self.rows.iter().filter_map(|row| Some([number(row, x)?, number(row, y)?, number(row, cases)?])).collect()
    }
}

/// A value as text: lists in one line.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        Value::Number(number) => {
            let float = number.as_f64().filter(|float| float.fract() != 0.0);
            float.map_or_else(|| number.to_string(), |float| format!("{float:.2}"))
        }
        other => other.to_string(),
    }
}

impl<'a> Scoreboard<'a> {
    /// An empty one, with that many resamples.
    pub(super) fn new(card: &'a Scorecard, resamples: usize) -> Self {
        let sums = card.tallies.iter().map(|_| TallySums::default()).collect();
        Self { card, sums, resamples, clusters: BTreeSet::new(), cases: 0, held_out: 0 }
    }

    /// Takes in a case. Returns whether it is right, as the primary metric says; `None` if that does not say anything of it.
    pub(super) fn case(&mut self, scored: ScoredCase<'_>) -> Result<Option<bool>, Box<Diagnostic>> {
        let ScoredCase { truth, result, held_out, cluster } = scored;
        self.cases += 1;
        self.held_out += usize::from(held_out);
        let weights = ResampleWeights::of(cluster, self.resamples);
        if self.clusters.len() < FEWEST {
            self.clusters.insert(weights.seed());
        }
        let (truth, result) = (View::plain(truth, "truth"), View::plain(result, "result"));
        let mut right = None;
        for (place, tally) in self.card.tallies.iter().enumerate() {
            if !matches!(tally.over, MetricOver::Cases | MetricOver::Results) {
                continue;
            }
            let added = tally.function.value(&[&truth, &result])?;
            if self.card.metrics[self.card.primary].tally == Some(place) {
                right = added["hit"].as_f64().map(|hit| hit > 0.0);
            }
            self.sums[place].add(&added, held_out, &weights, &tally.function)?;
        }
        Ok(right)
    }

    /// Takes in the result of a case that the scenario does not have.
    pub(super) fn unknown(&mut self, truth: &Value, result: &Value, cluster: &str) -> Result<(), Box<Diagnostic>> {
        let weights = ResampleWeights::of(cluster, self.resamples);
        self.each_over(MetricOver::Results, &View::plain(truth, "truth"), &View::plain(result, "result"), &weights)
    }

    /// Takes in a launch with the cases of it, each of which was taken in before.
    pub(super) fn launch(&mut self, truths: &Value, results: &Value, cluster: &str) -> Result<(), Box<Diagnostic>> {
        let weights = ResampleWeights::of(cluster, self.resamples);
        let (truths, results) = (View::plain(truths, "truths"), View::plain(results, "results"));
        self.each_over(MetricOver::Launches, &truths, &results, &weights)
    }

    fn each_over(
        &mut self,
        over: MetricOver,
        truth: &View,
        result: &View,
        weights: &ResampleWeights,
    ) -> Result<(), Box<Diagnostic>> {
        for (sums, tally) in self.sums.iter_mut().zip(&self.card.tallies).filter(|(_, tally)| tally.over == over) {
            let added = tally.function.value(&[truth, result])?;
            sums.add(&added, false, weights, &tally.function)?;
        }
        Ok(())
    }

    /// The values of the metrics.
    pub(super) fn values(&self) -> Result<BoardValues, Box<Diagnostic>> {
        // With few clusters, resampling is not informative.
        let resamples = if self.clusters.len() < FEWEST { 0 } else { self.resamples };
        let resampled = (0..resamples).map(|at| self.values_of(SumsOf::Resample(at))).collect::<Result<_, _>>()?;
        let of_part = |of| if self.held_out > 0 { self.values_of(of).map(Some) } else { Ok(None) };
        let (held_out, rest) = (of_part(SumsOf::HeldOut)?, of_part(SumsOf::Rest)?);
        Ok(BoardValues { all: self.values_of(SumsOf::All)?, held_out, rest, resampled })
    }

    fn values_of(&self, of: SumsOf) -> Result<Vec<Option<MetricValue>>, Box<Diagnostic>> {
        let sums: Vec<View> = self.sums.iter().map(|sums| View::plain(&sums.json(of), "sums")).collect();
        let mut values: Vec<Option<MetricValue>> = Vec::with_capacity(self.card.metrics.len());
        for metric in &self.card.metrics {
            values.push(match metric.tally {
                Some(tally) => metric_value(&metric.formula, &sums[tally])?,
                None => None,
            });
        }
        let over: Vec<Value> = (self.card.metrics.iter().zip(&values))
            .filter(|(metric, _)| metric.tally.is_some())
            .map(|(metric, value)| json!({ "id": metric.id, "value": value.map(|value| value.value), "weight": metric.weight }))
            .collect();
        let over = View::plain(&Value::Array(over), "metrics");
        for (place, metric) in self.card.metrics.iter().enumerate().filter(|(_, metric)| metric.over == MetricOver::Metrics) {
            values[place] = metric_value(&metric.formula, &over)?;
        }
        Ok(values)
    }

    /// The tables.
    pub(super) fn tables(&self) -> Result<Vec<TableResult>, Box<Diagnostic>> {
        let table = |table: &ScorecardTable| {
            let sums = View::plain(&self.sums[table.tally].json(SumsOf::All), "sums");
            let rows = match table.rows.value(&[&sums])? {
                Value::Array(rows) => rows,
                other => return Err(wrong(&table.rows, &other, "a list of maps")),
            };
            let ScorecardTable { id, title, columns, matrix, curve, .. } = table.clone();
            Ok(TableResult { id, title, columns, rows, matrix, curve })
        };
        self.card.tables.iter().map(table).collect()
    }
}

/// The metrics over all runs: the mean of each, judged. Those in `capped` are not judged.
pub(super) fn conclude(
    card: &Scorecard,
    runs: &[BoardValues],
    capped: &BTreeSet<String>,
) -> Result<Vec<MetricResult>, Box<Diagnostic>> {
    let by_id = |run: &BoardValues| {
        let entry =
            |(metric, value): (&ScorecardMetric, &Option<MetricValue>)| Some((metric.id.clone(), json!(value.as_ref()?.value)));
        Value::Object(card.metrics.iter().zip(&run.all).filter_map(entry).collect::<Map<_, _>>())
    };
    let of_runs = View::plain(&Value::Array(runs.iter().map(by_id).collect()), "runs");
    let mut results = Vec::with_capacity(card.metrics.len());
    for (place, metric) in card.metrics.iter().enumerate() {
        let value = match metric.over {
            MetricOver::Runs => metric_value(&metric.formula, &of_runs)?,
            _ => mean(runs.iter().map(|run| run.all[place])),
        };
        let held_out = mean(runs.iter().map(|run| run.held_out.as_ref().and_then(|values| values[place])));
        let resamples = runs.first().map_or(0, |run| run.resampled.len());
        let resampled = (0..resamples).filter_map(|at| mean(runs.iter().map(|run| run.resampled[at][place])));
        let interval = value.and_then(|_| interval(resampled.map(|value| value.value)));
        let pass = match value.filter(|_| !capped.contains(&metric.id)) {
            Some(value) => Some(!value.enforced || passes(card, metric, value.value)?),
            None => None,
        };
        results.push(MetricResult {
            id: metric.id.clone(),
            name: metric.name.clone(),
            tier: metric.tier.clone(),
            value: value.map(|value| value.value),
            interval,
            held_out: held_out.map(|value| value.value),
            direction: metric.direction.clone(),
            bar: metric.threshold,
            pass,
            weight: metric.weight,
        });
    }
    Ok(results)
}

/// The differences of the metrics between two runs, resample by resample.
pub(super) fn differences(place: usize, before: &BoardValues, after: &BoardValues) -> Option<[f64; 2]> {
    let both = before.resampled.iter().zip(&after.resampled);
    interval(both.filter_map(|(before, after)| Some(after[place]?.value - before[place]?.value)))
}

fn passes(card: &Scorecard, metric: &ScorecardMetric, value: f64) -> Result<bool, Box<Diagnostic>> {
    let args = [json!(metric.direction), json!(value), json!(metric.threshold.unwrap_or_default())];
    let [direction, value, threshold] = args.map(|arg| View::plain(&arg, "argument"));
    match card.pass.value(&[&direction, &value, &threshold])? {
        Value::Bool(pass) => Ok(pass),
        other => Err(wrong(&card.pass, &other, "`true` or `false`")),
    }
}

fn metric_value(formula: &ScriptFunction, input: &View) -> Result<Option<MetricValue>, Box<Diagnostic>> {
    let value = formula.value(&[input])?;
    match &value {
        Value::Null => Ok(None),
        Value::Object(map) => match map.get("value").and_then(Value::as_f64) {
            Some(number) => Ok(Some(MetricValue { value: number, enforced: map.get("enforced") != Some(&json!(false)) })),
            None => Err(wrong(formula, &value, "a number, `{ value, enforced }` or `()`")),
        },
        other => match other.as_f64() {
            Some(value) => Ok(Some(MetricValue { value, enforced: true })),
            None => Err(wrong(formula, other, "a number, `{ value, enforced }` or `()`")),
        },
    }
}

/// The mean of the values that there are.
fn mean(values: impl Iterator<Item = Option<MetricValue>>) -> Option<MetricValue> {
    let values: Vec<MetricValue> = values.flatten().collect();
    #[expect(clippy::cast_precision_loss, reason = "2^52 runs are never made")]
    let count = values.len() as f64;
    let sum: f64 = values.iter().map(|value| value.value).sum();
    (count > 0.0).then(|| MetricValue { value: sum / count, enforced: values.iter().any(|value| value.enforced) })
}

#[allow(clippy::unnecessary_box_returns)] // as everywhere that a diagnostic is an error
fn wrong(by: &ScriptFunction, returned: &Value, wanted: &str) -> Box<Diagnostic> {
    let message = format!("`{}` returned {returned}, not {wanted}", by.key());
    let diagnostic = Diagnostic::error("scorecard/return", message);
    Box::new(match by.definition() {
        Some((source, span)) => diagnostic.label(&source, span, "this function"),
        None => diagnostic,
    })
}
