//! The weights of a verdict in data files: those of words (`data/terms.yaml`), and those that were fitted and are used in the
//! place of declared ones (`data/learned.yaml`).

use super::forms::{LEARNED, TERMS};
use asterisk_base::model::Hash;
use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean, nearest};
use asterisk_form::yaml::{Yaml, YamlEntry};
use asterisk_form::{FormFields, Spanned};
use asterisk_walk::{DefectWeights, VerdictPlan, is_term};
use serde_json::{Map, Value, json};

/// The weights of words.
#[derive(Clone, Debug)]
pub(super) struct DeclaredTerms {
    source: Source,
    words: Vec<(Spanned<String>, Vec<LearnedNumber>)>,
}

/// Learned weights.
#[derive(Clone, Debug)]
pub(super) struct LearnedWeights {
    source: Source,
    /// The pipeline whose verdict they are of; any, if none is named.
    pipeline: Option<Spanned<String>>,
    priors: Vec<LearnedNumber>,
    /// By rule or signature.
    weights: Vec<(Spanned<String>, Vec<LearnedNumber>)>,
    terms: DeclaredTerms,
    temperature: Option<f64>,
}

/// The log-odds of a defect.
#[derive(Clone, Debug)]
struct LearnedNumber {
    defect: Spanned<String>,
    weight: f64,
}

/// The log-odds by defect.
fn numbers(entries: &[YamlEntry]) -> Vec<LearnedNumber> {
    let number = |entry: &YamlEntry| Some(LearnedNumber { defect: entry.key.clone(), weight: entry.value.to_json().as_f64()? });
    entries.iter().filter_map(number).collect()
}

/// The log-odds of each rule, signature or word.
fn by_name(entries: &[YamlEntry]) -> Vec<(Spanned<String>, Vec<LearnedNumber>)> {
    entries.iter().filter_map(|entry| Some((entry.key.clone(), numbers(entry.value.as_map()?)))).collect()
}

impl DeclaredTerms {
    /// Extracts the weights from a file that was checked against its form. A word that no evidence can have is an error.
    pub(super) fn of(source: &Source, tree: &Yaml, found: &mut Diagnostics) -> Option<Self> {
        Some(Self::among(source, FormFields::of(tree, &TERMS)?.entries("terms"), found))
    }

    fn among(source: &Source, entries: &[YamlEntry], found: &mut Diagnostics) -> Self {
        let words = by_name(entries);
        for (word, _) in words.iter().filter(|(word, _)| !is_term(word)) {
            let error = Diagnostic::error("project/no-term", format!("`{}` cannot occur as a word of evidence", **word));
            found.push(
                error
                    .label(source, word.span, "here")
                    .help("write one word of four letters or more, in lower case, without digits"),
            );
        }
        Self { source: source.clone(), words }
    }

    /// Reports weights of defects that the domain does not know: most likely typos.
    pub(super) fn check_defects(&self, known: &Map<String, Value>, found: &mut Diagnostics) {
        let numbers = self.words.iter().flat_map(|(_, numbers)| numbers);
        for LearnedNumber { defect, .. } in numbers.filter(|number| !known.contains_key(number.defect.as_str())) {
            let error = Diagnostic::error("project/unknown-defect", format!("unknown defect `{}`", **defect));
            let error = error.label(&self.source, defect.span, "here");
            found.push(error.maybe_help(did_you_mean(defect, known.keys().map(String::as_str))));
        }
    }

    /// Adds the words to a pipeline's verdict. Weights of defects that it does not decide about are ignored.
    pub(super) fn apply(&self, plan: &mut VerdictPlan) {
        for (word, numbers) in &self.words {
            let known = plan.terms.entry(word.value.clone()).or_default();
            known.at = format!("data/{}", self.source.place(word.span.start)).into();
            for LearnedNumber { defect, weight } in numbers {
                if plan.priors.iter().any(|(prior, _)| *prior == *defect.value) {
                    set(&mut known.weights, defect, *weight);
                }
            }
        }
    }
}

/// Sets the weight of a defect.
fn set(weights: &mut DefectWeights, defect: &str, weight: f64) {
    match weights.iter_mut().find(|(known, _)| *known == defect) {
        Some((_, known)) => *known = weight,
        None => weights.push((defect.into(), weight)),
    }
}

impl LearnedWeights {
    /// Extracts the weights from a file that was checked against its form.
    pub(super) fn of(source: &Source, tree: &Yaml, found: &mut Diagnostics) -> Option<Self> {
        let fields = FormFields::of(tree, &LEARNED)?;
        Some(Self {
            source: source.clone(),
            pipeline: fields.text("pipeline"),
            priors: numbers(fields.entries("priors")),
            weights: by_name(fields.entries("weights")),
            terms: DeclaredTerms::among(source, fields.entries("terms"), found),
            temperature: tree.get("temperature").and_then(|value| value.to_json().as_f64()),
        })
    }

    /// Replaces the declared weights of a pipeline's verdict, if it is the one that these are of.
    pub(super) fn apply(&self, plan: &mut VerdictPlan, pipeline: &str, found: &mut Diagnostics) {
        if let Some(named) = self.pipeline.as_ref().filter(|named| named.value != pipeline) {
            // Of another pipeline, unless it is a typo.
            if nearest(named, [pipeline]).is_some() {
                let message = format!("these weights are for the pipeline `{}`, not for `{pipeline}`", **named);
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
                Some(weights) => {
                    self.replace(weights, numbers, &defects, found);
                    let at = format!("data/{}", self.source.place(id.span.start));
                    plan.learned_at.insert(id.value.clone(), at.into());
                }
                None => {
                    let known: Vec<&str> =
                        plan.rules.iter().map(|rule| &*rule.id).chain(plan.signatures.keys().map(String::as_str)).collect();
                    let message = format!("unknown rule or signature `{}`", **id);
                    let help = did_you_mean(id, known);
                    found.push(self.unknown("project/unknown-rule", message, id, help));
                }
            }
        }
        for (_, numbers) in &self.terms.words {
            self.replace(&mut DefectWeights::new(), numbers, &defects, found);
        }
        self.terms.apply(plan);
        plan.fitted_temperature = self.temperature;
        let number = |number: &LearnedNumber| json!([*number.defect, number.weight]);
        let list = |numbers: &[LearnedNumber]| numbers.iter().map(number).collect::<Vec<_>>();
        let by_id = |written: &[(Spanned<String>, Vec<LearnedNumber>)]| {
            written.iter().map(|(id, numbers)| json!([**id, list(numbers)])).collect::<Vec<_>>()
        };
        let parts = json!([list(&self.priors), by_id(&self.weights), by_id(&self.terms.words), self.temperature]);
        plan.learned = Some(Hash::of_json(&parts));
    }

    fn replace(&self, weights: &mut DefectWeights, learned: &[LearnedNumber], defects: &[String], found: &mut Diagnostics) {
        for LearnedNumber { defect, weight } in learned {
            if !defects.contains(&defect.value) {
                let message = format!("`{}` is not a defect of the verdict", **defect);
                let help = did_you_mean(defect, defects.iter().map(String::as_str));
                let help = help.or_else(|| Some(format!("one of {}", defects.join(", "))));
                found.push(self.unknown("project/unknown-defect", message, defect, help));
                continue;
            }
            set(weights, defect, *weight);
        }
    }

    fn unknown(&self, code: &'static str, message: String, at: &Spanned<String>, help: Option<String>) -> Diagnostic {
        Diagnostic::error(code, message).label(&self.source, at.span, "here").maybe_help(help)
    }
}
