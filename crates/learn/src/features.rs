//! What is fitted: the declared weights and priors of a verdict, and what matched in each labelled case.

use super::fit::{FitObservation, FitParameter};
use asterisk_pipeline::Pipeline;
use asterisk_walk::{DefectWeights, Name, Verdict, VerdictPlan};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How strongly weights are regularised towards their initial values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Holds {
    /// The weights of rules and signatures.
    pub(super) weights: f64,
    pub(super) priors: f64,
    pub(super) terms: f64,
}

/// What a weight is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightOf {
    /// The log-odds of a defect before any rule matches.
    Prior,
    /// A rule of the verdict.
    Rule,
    /// A signature of the domain.
    Signature,
    /// A word of the evidence.
    Term,
}

/// A weight that is declared.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct DeclaredWeight {
    pub(super) of: WeightOf,
    /// The id of the rule or signature, or the word; empty for a prior.
    pub(super) id: Name,
    /// The name of the rule, or the title of the signature; empty for a word.
    pub(super) name: Name,
    /// The class it supports.
    pub(super) class: usize,
    /// The log-odds as declared.
    pub(super) weight: f64,
    /// Where it is written, if known: `file:line`.
    pub(super) at: Name,
}

/// The weights of a verdict, in the order of declaration.
pub(super) struct VerdictWeights<'a> {
    plan: &'a VerdictPlan,
    pub(super) classes: Vec<Name>,
    pub(super) declared: Vec<DeclaredWeight>,
    /// The place of a weight, by what it is of, id and class.
    places: BTreeMap<(WeightOf, Name, usize), usize>,
    /// The classes that words alone are fitted to, in order, or nothing if all weights are fitted together, to all classes.
    alone: Option<Vec<usize>>,
}

impl<'a> VerdictWeights<'a> {
    pub(super) fn of(plan: &'a VerdictPlan) -> Self {
        let classes = plan.priors.iter().map(|(defect, _)| defect.clone()).collect();
        let mut weights = Self { plan, classes, declared: Vec::new(), places: BTreeMap::new(), alone: None };
        for (defect, weight) in &plan.priors {
            weights.add((WeightOf::Prior, &Name::default(), defect), &vec![(defect.clone(), *weight)], &Name::default());
        }
        for rule in &plan.rules {
            weights.add((WeightOf::Rule, &rule.id, &rule.name), &rule.weights, &rule.at);
        }
        for (id, signature) in &plan.signatures {
            weights.add((WeightOf::Signature, &id.as_str().into(), &signature.title), &signature.weights, &Name::default());
        }
        for (word, known) in &plan.terms {
            weights.add((WeightOf::Term, &word.as_str().into(), &Name::default()), &known.weights, &known.at);
        }
        weights
    }

    fn add(&mut self, (of, id, name): (WeightOf, &Name, &Name), weights: &DefectWeights, at: &Name) {
        for (defect, weight) in weights {
            // A weight for something that is not decided about changes nothing.
            let Some(class) = self.class(defect) else { continue };
            self.places.insert((of, id.clone(), class), self.declared.len());
            let (id, name, at) = (id.clone(), name.clone(), at.clone());
            self.declared.push(DeclaredWeight { of, id, name, class, weight: *weight, at });
        }
    }

    /// Adds words without weights, with weight 0.
    pub(super) fn add_terms(&mut self, words: &[String]) {
        let nothing: DefectWeights = self.classes.iter().map(|class| (class.clone(), 0.0)).collect();
        for word in words.iter().filter(|word| !self.plan.terms.contains_key(*word)) {
            self.add((WeightOf::Term, &word.as_str().into(), &Name::default()), &nothing, &Name::default());
        }
    }

    /// From now on words are fitted alone, to labels of these classes.
    pub(super) fn fit_terms_alone(&mut self, classes: Vec<usize>) {
        self.alone = Some(classes);
    }

    /// Whether words are fitted alone.
    pub(super) const fn is_alone(&self) -> bool {
        self.alone.is_some()
    }

    /// Whether a weight is fitted.
    pub(super) fn is_fitted(&self, place: usize) -> bool {
        !self.is_alone() || self.declared[place].of == WeightOf::Term
    }

    /// The number of classes of the fit.
    pub(super) fn fitted_classes(&self) -> usize {
        self.alone.as_ref().map_or(self.classes.len(), Vec::len)
    }

    /// The class of the fit, if it has this one.
    fn fitted_class(&self, class: usize) -> Option<usize> {
        self.alone.as_ref().map_or(Some(class), |classes| classes.iter().position(|known| *known == class))
    }

    /// The strength at which a word matches.
    const fn term_strength(&self) -> f64 {
        if self.is_alone() { 1.0 } else { self.plan.term_strength }
    }

    /// Notes where priors are written.
    pub(super) fn place_priors(&mut self, pipeline: &Pipeline) {
        for prior in pipeline.verdict.iter().flat_map(|written| &written.priors) {
            let class = self.class(&prior.defect);
            let of_prior = |declared: &&mut DeclaredWeight| declared.of == WeightOf::Prior && Some(declared.class) == class;
            for declared in self.declared.iter_mut().filter(of_prior) {
                declared.at = format!("pipelines/{}", pipeline.source.place(prior.defect.span.start)).into();
            }
        }
    }

    /// The class of a defect.
    pub(super) fn class(&self, defect: &str) -> Option<usize> {
        self.classes.iter().position(|class| class == defect)
    }

    /// The weights as parameters of a fit, held to where they are declared; priors are held less. Where words are fitted alone, priors are
    /// those of the labels, and begin at 0.
    pub(super) fn parameters(&self, holds: Holds) -> Vec<FitParameter> {
        let parameter = |declared: &DeclaredWeight| FitParameter {
            // A weight for a class that the fit does not have is active nowhere.
            class: self.fitted_class(declared.class).unwrap_or_default(),
            start: if self.is_alone() { 0.0 } else { declared.weight },
            hold: match declared.of {
                WeightOf::Prior => holds.priors,
                WeightOf::Term => holds.terms,
                WeightOf::Rule | WeightOf::Signature => holds.weights,
            },
        };
        self.declared.iter().map(parameter).collect()
    }

    /// Converts a verdict to an observation. Records where signatures are defined.
    pub(super) fn observation(&mut self, verdict: &Verdict, truth: usize, weight: f64) -> FitObservation {
        let classes: Vec<usize> = (0..self.classes.len()).filter(|class| self.fitted_class(*class).is_some()).collect();
        let mut active: BTreeMap<usize, f64> = BTreeMap::new();
        for class in &classes {
            active.extend(self.places.get(&(WeightOf::Prior, Name::default(), *class)).map(|at| (*at, 1.0)));
        }
        let rules = if self.is_alone() { &[][..] } else { &verdict.spoke };
        for spoken in rules.iter().filter(|spoken| spoken.counted) {
            let of = if spoken.signature { WeightOf::Signature } else { WeightOf::Rule };
            for class in &classes {
                let Some(place) = self.places.get(&(of, spoken.id.clone(), *class)) else { continue };
                *active.entry(*place).or_default() += spoken.strength;
                if self.declared[*place].at.is_empty() {
                    self.declared[*place].at.clone_from(&spoken.at);
                }
            }
        }
        for word in verdict.spoke.iter().flat_map(|spoken| &spoken.words) {
            for class in &classes {
                let place = self.places.get(&(WeightOf::Term, word.clone(), *class));
                active.extend(place.map(|at| (*at, self.term_strength())));
            }
        }
        FitObservation { truth: self.fitted_class(truth).unwrap_or_default(), weight, active: active.into_iter().collect() }
    }

    /// Puts weights that are not fitted back to where they are declared.
    pub(super) fn restore(&self, weights: &mut [f64]) {
        for (place, declared) in self.declared.iter().enumerate().filter(|(place, _)| !self.is_fitted(*place)) {
            weights[place] = declared.weight;
        }
    }

    /// Leaves all words at their declared weights but the `most` that moved furthest.
    pub(super) fn prune_terms(&self, weights: &mut [f64], most: usize) {
        let mut size: BTreeMap<&str, f64> = BTreeMap::new();
        for (declared, weight) in self.terms().map(|at| (&self.declared[at], weights[at])) {
            let size = size.entry(&declared.id).or_default();
            *size = size.max((weight - declared.weight).abs());
        }
        let mut by_size: Vec<(&str, f64)> = size.into_iter().collect();
        // A stable sort: ties stay in alphabetical order.
        by_size.sort_by(|a, b| b.1.total_cmp(&a.1));
        let kept: BTreeSet<&str> = by_size.into_iter().take(most).map(|(word, _)| word).collect();
        let gone: Vec<usize> = self.terms().filter(|at| !kept.contains(self.declared[*at].id.as_str())).collect();
        for at in gone {
            weights[at] = self.declared[at].weight;
        }
    }

    fn terms(&self) -> impl Iterator<Item = usize> {
        (0..self.declared.len()).filter(|at| self.declared[*at].of == WeightOf::Term)
    }

    /// The plan with other weights.
    pub(super) fn plan_with(&self, weights: &[f64]) -> VerdictPlan {
        let mut plan = self.plan.clone();
        for (declared, weight) in self.declared.iter().zip(weights) {
            let defect = &self.classes[declared.class];
            let weights = match declared.of {
                WeightOf::Prior => Some(&mut plan.priors),
                WeightOf::Rule => plan.rules.iter_mut().find(|rule| rule.id == declared.id).map(|rule| &mut rule.weights),
                WeightOf::Term => {
                    let known = &mut plan.terms.entry(declared.id.to_string()).or_default().weights;
                    if !known.iter().any(|(known, _)| known == defect) {
                        known.push((defect.clone(), 0.0));
                    }
                    Some(known)
                }
                WeightOf::Signature => plan.signatures.get_mut(declared.id.as_str()).map(|signature| &mut signature.weights),
            };
            for (_, known) in weights.into_iter().flatten().filter(|(known, _)| known == defect) {
                *known = *weight;
            }
        }
        plan
    }

    /// The class scores of a verdict by a plan.
    pub(super) fn scores(&self, plan: &VerdictPlan, verdict: &Verdict) -> Vec<f64> {
        let again = plan.weigh_again(verdict);
        let score = |class: &Name| again.hypotheses.iter().find(|one| one.defect == *class).map_or(0.0, |one| one.score);
        self.classes.iter().map(score).collect()
    }

    /// The declared weights.
    pub(super) fn hand_set(&self) -> Vec<f64> {
        self.declared.iter().map(|declared| declared.weight).collect()
    }
}
