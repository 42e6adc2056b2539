//! `data/learned.yaml`: weights of a verdict that were fitted, in the place of those that are declared.

use super::forms::LEARNED;
use crate::diag::{Diagnostic, Diagnostics, Source, did_you_mean, nearest};
use crate::form::yaml::{Yaml, YamlEntry};
use crate::form::{FormFields, Spanned};
use crate::model::Hash;
use crate::walk::{DefectWeights, TermWeights, VerdictPlan};
use serde_json::json;

/// The weights of the file.
#[derive(Clone, Debug)]
pub(super) struct LearnedWeights {
    source: Source,
    /// The pipeline whose verdict they are of; any, if none is named.
    pipeline: Option<Spanned<String>>,
    priors: Vec<LearnedNumber>,
    /// By rule or signature.
    weights: Vec<(Spanned<String>, Vec<LearnedNumber>)>,
    /// By word.
    terms: Vec<(Spanned<String>, Vec<LearnedNumber>)>,
    temperature: Option<f64>,
}

/// The log-odds of a defect.
#[derive(Clone, Debug)]
struct LearnedNumber {
    defect: Spanned<String>,
    weight: f64,
}

impl LearnedWeights {
    /// Extracts the weights from a file that was checked against its form.
    pub(super) fn of(source: &Source, tree: &Yaml) -> Option<Self> {
        let fields = FormFields::of(tree, &LEARNED)?;
        let numbers = |entries: &[YamlEntry]| {
            let number =
                |entry: &YamlEntry| Some(LearnedNumber { defect: entry.key.clone(), weight: entry.value.to_json().as_f64()? });
            entries.iter().filter_map(number).collect::<Vec<_>>()
        };
        let rule = |entry: &YamlEntry| Some((entry.key.clone(), numbers(entry.value.as_map()?)));
        Some(Self {
            source: source.clone(),
            pipeline: fields.text("pipeline"),
            priors: numbers(fields.entries("priors")),
            weights: fields.entries("weights").iter().filter_map(rule).collect(),
            terms: fields.entries("terms").iter().filter_map(rule).collect(),
            temperature: tree.get("temperature").and_then(|value| value.to_json().as_f64()),
        })
    }

    /// Replaces the declared weights of a pipeline's verdict, if it is the one that these are of.
    pub(super) fn apply(&self, plan: &mut VerdictPlan, pipeline: &str, found: &mut Diagnostics) {
        if let Some(named) = self.pipeline.as_ref().filter(|named| named.value != pipeline) {
            // Of another pipeline, unless it is a typo.
            if nearest(named, [pipeline]).is_some() {
                let message = format!("these weights are of the pipeline `{}`, not of `{pipeline}`", **named);
                let warning = Diagnostic::warning("project/learned-pipeline", message).label(&self.source, named.span, "here");
                found.push(warning.maybe_help(did_you_mean(named, [pipeline])));
            }
            return;
        }
        let defects: Vec<String> = plan.priors.iter().map(|(defect, _)| defect.to_string()).collect();
        self.replace(&mut plan.priors, &self.priors, &defects, found);
        for (id, numbers) in &self.weights {
            let rule = plan.rules.iter_mut().find(|rule| rule.id == id.as_str()).map(|rule| &mut rule.weights);
            let weights = rule.or_else(|| Some(&mut plan.signatures.get_mut(id.as_str())?.weights));
            match weights {
                Some(weights) => self.replace(weights, numbers, &defects, found),
                None => {
                    let known: Vec<&str> =
                        plan.rules.iter().map(|rule| &*rule.id).chain(plan.signatures.keys().map(String::as_str)).collect();
                    let message = format!("there is neither a rule nor a signature `{}`", **id);
                    let help = did_you_mean(id, known);
                    found.push(self.unknown("project/unknown-rule", message, id, help));
                }
            }
        }
        for (word, numbers) in &self.terms {
            let (line, _) = self.source.line_column(word.span.start);
            let mut weights = DefectWeights::new();
            self.replace(&mut weights, numbers, &defects, found);
            let at = format!("data/{}:{line}", self.source.name()).into();
            plan.terms.insert(word.value.clone(), TermWeights { weights, at });
        }
        plan.fitted_temperature = self.temperature;
        let number = |number: &LearnedNumber| json!([*number.defect, number.weight]);
        let list = |numbers: &[LearnedNumber]| numbers.iter().map(number).collect::<Vec<_>>();
        let by_id = |written: &[(Spanned<String>, Vec<LearnedNumber>)]| {
            written.iter().map(|(id, numbers)| json!([**id, list(numbers)])).collect::<Vec<_>>()
        };
        let parts = json!([list(&self.priors), by_id(&self.weights), by_id(&self.terms), self.temperature]);
        plan.learned = Some(Hash::of_json(&parts));
    }

    fn replace(&self, weights: &mut DefectWeights, learned: &[LearnedNumber], defects: &[String], found: &mut Diagnostics) {
        for LearnedNumber { defect, weight } in learned {
            if !defects.contains(&defect.value) {
                let message = format!("the verdict does not decide about `{}`", **defect);
                let help = did_you_mean(defect, defects.iter().map(String::as_str));
                let help = help.or_else(|| Some(format!("one of {}", defects.join(", "))));
                found.push(self.unknown("project/unknown-defect", message, defect, help));
                continue;
            }
            match weights.iter_mut().find(|(known, _)| *known == defect.as_str()) {
                Some((_, known)) => *known = *weight,
                None => weights.push((defect.as_str().into(), *weight)),
            }
        }
    }

    fn unknown(&self, code: &'static str, message: String, at: &Spanned<String>, help: Option<String>) -> Diagnostic {
        Diagnostic::error(code, message).label(&self.source, at.span, "here").maybe_help(help)
    }
}
