//! What cases add to a tally: numbers by name, added up, with resampled sums next to them.

use super::resample::ResampleWeights;
use asterisk_diag::Diagnostic;
use asterisk_script::ScriptFunction;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The sums of a tally.
#[derive(Clone, Debug, Default)]
pub(super) struct TallySums {
    /// Where the sums of a name are.
    places: BTreeMap<String, usize>,
    sums: Vec<NamedSum>,
}

/// A sum: over all cases, over those held out, and over each resample.
#[derive(Clone, Debug)]
struct NamedSum {
    all: f64,
    held_out: f64,
    resamples: Vec<f64>,
}

/// Which of the sums.
#[derive(Clone, Copy, Debug)]
pub(super) enum SumsOf {
    /// Over all cases.
    All,
    /// Over those that were held out.
    HeldOut,
    /// Sums over the cases that were not held out.
    Rest,
    /// Over a resample.
    Resample(usize),
}

impl TallySums {
    /// Adds what the function returned: a map of numbers, or nothing.
    pub(super) fn add(
        &mut self,
        added: &Value,
        held_out: bool,
        weights: &ResampleWeights,
        by: &ScriptFunction,
    ) -> Result<(), Box<Diagnostic>> {
        let added = match added {
            Value::Null => return Ok(()),
            Value::Object(added) => added,
            other => return Err(wrong(by, &format!("returned {other}"))),
        };
        for (name, value) in added {
            let Some(number) = value.as_f64() else { return Err(wrong(by, &format!("returned `{name}: {value}`"))) };
            let place = match self.places.get(name) {
                Some(place) => *place,
                None => {
                    self.places.insert(name.clone(), self.sums.len());
                    self.sums.push(NamedSum { all: 0.0, held_out: 0.0, resamples: vec![0.0; weights.count()] });
                    self.sums.len() - 1
                }
            };
            let sum = &mut self.sums[place];
            sum.all += number;
            if held_out {
                sum.held_out += number;
            }
            for (resample, weight) in sum.resamples.iter_mut().zip(weights.weights()) {
                *resample += number * weight;
            }
        }
        Ok(())
    }

    /// The sums that are not zero everywhere, by name.
    pub(super) fn json(&self, of: SumsOf) -> Value {
        let number = |sum: &NamedSum| match of {
            SumsOf::All => sum.all,
            SumsOf::HeldOut => sum.held_out,
            SumsOf::Rest => sum.all - sum.held_out,
            SumsOf::Resample(at) => sum.resamples[at],
        };
        // A name that nothing was added to in this selection is one that was never met.
        let entry = |(name, place): (&String, &usize)| {
            let value = number(&self.sums[*place]);
            (value != 0.0 || matches!(of, SumsOf::All)).then(|| (name.clone(), json!(value)))
        };
        Value::Object(self.places.iter().filter_map(entry).collect::<Map<_, _>>())
    }
}

#[allow(clippy::unnecessary_box_returns)] // as everywhere that a diagnostic is an error
fn wrong(by: &ScriptFunction, what: &str) -> Box<Diagnostic> {
    let message = format!("`{}` {what}, which cannot be summed", by.key());
    let diagnostic = Diagnostic::error("scorecard/tally", message);
    let diagnostic = match by.definition() {
        Some((source, span)) => diagnostic.label(&source, span, "this function"),
        None => diagnostic,
    };
    Box::new(diagnostic.help("a tally returns a map of numbers, `#{ hit: 1, of: 1 }`, or `()`"))
}
