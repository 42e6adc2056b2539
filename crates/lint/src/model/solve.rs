//! Decides whether a formula can hold, and where.

use super::formula::{Formula, InputTest};
use super::region::{InputDomain, Region};
use asterisk_base::model::{Kind, Shape};
use asterisk_project::ExaminedFunction;
use std::collections::BTreeMap;

/// Maximum number of terms of a disjunctive normal form.
const MOST: usize = 512;

/// A conjunction: one way in which a formula holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Term(BTreeMap<String, Region>);

/// The possible inputs.
pub(crate) struct Solver<'a> {
    inputs: &'a [(&'static str, Kind)],
    /// Whether absent fields, which read as the zero value of their type, are included.
    absent: bool,
}

impl<'a> Solver<'a> {
    /// A solver over all possible inputs, including absent artifacts: for proofs that something never holds.
    pub(crate) fn proof(of: &'a ExaminedFunction<'_>) -> Self {
        Self { inputs: &of.inputs, absent: true }
    }

    /// A solver over artifacts with all required fields: for examples.
    pub(crate) fn example(of: &'a ExaminedFunction<'_>) -> Self {
        Self { inputs: &of.inputs, absent: false }
    }

    /// All terms of a formula; `None` if there are too many.
    pub(crate) fn terms(&self, formula: &Formula) -> Option<Vec<Term>> {
        self.extend(vec![Term::default()], formula, true)
    }

    /// Whether it certainly never holds.
    pub(crate) fn never(&self, formula: &Formula) -> bool {
        self.terms(formula).is_some_and(|terms| terms.is_empty())
    }

    fn extend(&self, terms: Vec<Term>, formula: &Formula, wanted: bool) -> Option<Vec<Term>> {
        Some(match (formula, wanted) {
            (Formula::True, true) | (Formula::False, false) => terms,
            (Formula::True, false) | (Formula::False, true) => Vec::new(),
            (Formula::Not(inner), _) => return self.extend(terms, inner, !wanted),
            (Formula::Atom(subject, test), _) => {
                let domain = self.domain(subject, test);
                let with = |mut term: Term| {
                    let region = term.0.remove(subject).unwrap_or_default().with(test, wanted, &domain)?;
                    term.0.insert(subject.clone(), region);
                    Some(term)
                };
                terms.into_iter().filter_map(with).collect()
            }
            (Formula::All(parts), true) | (Formula::Any(parts), false) => {
                let mut terms = terms;
                for part in parts {
                    terms = self.extend(terms, part, wanted)?;
                }
                terms
            }
            (Formula::All(parts), false) | (Formula::Any(parts), true) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.extend(terms.clone(), part, wanted)?);
                    if all.len() > MOST {
                        return None;
                    }
                }
                all
            }
        })
    }

    fn domain(&self, subject: &str, test: &InputTest) -> InputDomain {
        let counted = InputDomain { least: Some(0.0), whole: true, ..InputDomain::default() };
        if subject.ends_with(".len()") || subject.starts_with("state.loops.") {
            return counted;
        }
        let Some((kind, required)) = kind_at(self.inputs, subject) else { return InputDomain::default() };
        let absent = self.absent || !required;
        #[expect(clippy::cast_precision_loss, reason = "bounds are small")]
        let bounds = match kind {
            Kind::Int { min, max } => (min.map(|min| min as f64), max.map(|max| max as f64), true),
            Kind::Number { min, max } => (*min, *max, false),
            _ => (None, None, false),
        };
        let widened =
            |bound: Option<f64>, to: fn(f64, f64) -> f64| bound.map(|bound| if absent { to(bound, 0.0) } else { bound });
        let one_of = match (kind, test) {
            (Kind::Text { one_of }, InputTest::Text(_)) if !one_of.is_empty() => {
                one_of.iter().cloned().chain(absent.then(String::new)).collect()
            }
            _ => Vec::new(),
        };
        InputDomain { least: widened(bounds.0, f64::min), most: widened(bounds.1, f64::max), whole: bounds.2, one_of }
    }

    /// Describes a term: `` `confidence` is 0.5 and `label` is "x" ``.
    pub(crate) fn words(&self, term: &Term) -> Option<String> {
        let mut words = Vec::new();
        for (subject, region) in &term.0 {
            let domain = self.domain(subject, &InputTest::Text(String::new()));
            let shown = subject.strip_prefix("artifact.").unwrap_or(subject);
            words.push(format!("`{shown}` is {}", region.example(&domain)?));
        }
        Some(words.join(" and "))
    }
}

impl Term {
    /// Whether all of its inputs are known.
    pub(crate) fn is_exact(&self) -> bool {
        self.0.keys().all(|subject| !subject.starts_with('?'))
    }
}

/// The type at a path of the inputs (`artifact.places[].path`), and whether everything along it is required.
pub(crate) fn kind_at<'k>(inputs: &'k [(&'static str, Kind)], path: &str) -> Option<(&'k Kind, bool)> {
    let (root, rest) = path.split_once('.').unwrap_or((path, ""));
    let mut kind = &inputs.iter().find(|(name, _)| *name == root)?.1;
    let mut required = true;
    for step in rest.split('.').filter(|step| !step.is_empty()) {
        let name = step.trim_end_matches("[]");
        if let Kind::Object(shape) = kind {
            let field = Shape::field(shape, name)?;
            required &= field.required;
            kind = &field.kind;
        } else if let Kind::Map(item) = kind {
            kind = item;
        } else {
            return None;
        }
        for _ in 0..step.matches("[]").count() {
            let Kind::List(item) = kind else { return None };
            kind = item;
        }
    }
    Some((kind, required))
}
