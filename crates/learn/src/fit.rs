//! The fit: multinomial logistic regression, each weight held to where it started by a Gaussian prior.
//!
//! A parameter supports one class. The score of a class is the sum of its parameters times the strengths of an observation; the
//! softmax of the scores are the probabilities. The sum of log losses and penalties is convex, so Newton's method with backtracking
//! finds the one minimum; the linear systems are solved by conjugate gradients. Sums go in the order given, and `exp` and `log` come
//! from `libm`: the same on every machine. `argmin`'s L-BFGS brings thirty crates for a problem whose second derivatives are at hand,
//! and ends where its line search ends; Newton's steps end at a slope of 1e-9.

/// The most steps of Newton's method, of conjugate gradients, and of halving a step.
const STEPS: usize = 60;
const SOLVER_STEPS: usize = 400;
const HALVINGS: usize = 40;
/// The slope at which a minimum is found.
const FLAT: f64 = 1e-9;
/// The share of the expected gain that a step must bring.
const GAIN: f64 = 1e-4;

/// A weight to fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FitParameter {
    /// The class whose score it adds to.
    pub(super) class: usize,
    /// Where it starts, and what the penalty holds it to.
    pub(super) start: f64,
    /// How much it is held there: the penalty is half of this times the squared distance.
    pub(super) hold: f64,
}

/// What one case says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FitObservation {
    /// The true class.
    pub(super) truth: usize,
    /// The weight of the observation.
    pub(super) weight: f64,
    /// The parameters that match, each once, with their strengths.
    pub(super) active: Vec<(usize, f64)>,
}

/// What is fitted.
#[derive(Clone, Debug)]
pub(super) struct FitProblem<'a> {
    /// The number of classes.
    pub(super) classes: usize,
    /// The parameters.
    pub(super) parameters: &'a [FitParameter],
    /// The observations.
    pub(super) observations: Vec<&'a FitObservation>,
}

impl FitProblem<'_> {
    /// The weights with the least loss.
    pub(super) fn fit(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.parameters.iter().map(|parameter| parameter.start).collect();
        let mut loss = self.loss(&weights);
        for _ in 0..STEPS {
            let probabilities = self.all_probabilities(&weights);
            let gradient = self.gradient(&weights, &probabilities);
            if gradient.iter().all(|slope| slope.abs() < FLAT) {
                break;
            }
            let step = self.newton_step(&gradient, &probabilities);
            let expected = dot(&gradient, &step);
            let Some((next, less)) = self.shorten(&weights, &step, loss, expected) else { break };
            (weights, loss) = (next, less);
        }
        weights
    }

    /// The penalised sum of log losses.
    pub(super) fn loss(&self, weights: &[f64]) -> f64 {
        let penalty = |(parameter, weight): (&FitParameter, &f64)| {
            let moved = weight - parameter.start;
            0.5 * parameter.hold * moved * moved
        };
        let penalties: f64 = self.parameters.iter().zip(weights).map(penalty).sum();
        let losses = self.observations.iter().map(|one| one.weight * log_loss(&self.scores(one, weights), one.truth));
        penalties + losses.sum::<f64>()
    }

    /// How certain each weight is: the curvature of the loss along it.
    pub(super) fn curvature(&self, weights: &[f64]) -> Vec<f64> {
        self.diagonal(&self.all_probabilities(weights))
    }

    /// Half the length of the step until it brings enough. Nothing if even the shortest does not.
    fn shorten(&self, weights: &[f64], step: &[f64], loss: f64, expected: f64) -> Option<(Vec<f64>, f64)> {
        let mut length = 1.0;
        for _ in 0..HALVINGS {
            let next: Vec<f64> = weights.iter().zip(step).map(|(weight, step)| weight + length * step).collect();
            let reached = self.loss(&next);
            if reached < loss && reached <= loss + GAIN * length * expected {
                return Some((next, reached));
            }
            length *= 0.5;
        }
        None
    }

    /// Solves for the step by conjugate gradients, preconditioned by the diagonal.
    fn newton_step(&self, gradient: &[f64], probabilities: &[Vec<f64>]) -> Vec<f64> {
        let diagonal = self.diagonal(probabilities);
        let scaled = |rest: &[f64]| -> Vec<f64> {
            let divide = |(rest, curve): (&f64, &f64)| if *curve > 0.0 { rest / curve } else { *rest };
            rest.iter().zip(&diagonal).map(divide).collect()
        };
        let mut step = vec![0.0; gradient.len()];
        let mut rest: Vec<f64> = gradient.iter().map(|slope| -slope).collect();
        let mut near = scaled(&rest);
        let mut direction = near.clone();
        let mut product = dot(&rest, &near);
        let enough = product * 1e-12;
        for _ in 0..SOLVER_STEPS {
            let curved = self.curved(&direction, probabilities);
            let curvature = dot(&direction, &curved);
            if product <= enough || curvature <= 0.0 {
                break;
            }
            let length = product / curvature;
            add(&mut step, length, &direction);
            add(&mut rest, -length, &curved);
            near = scaled(&rest);
            let next = dot(&rest, &near);
            let kept = next / product;
            product = next;
            direction = near.iter().zip(&direction).map(|(near, before)| near + kept * before).collect();
        }
        step
    }

    /// The pull of an observation on each of its parameters at these weights: the negative gradient of its loss.
    pub(super) fn pulls(&self, one: &FitObservation, weights: &[f64]) -> Vec<(usize, f64)> {
        let probabilities = softmax(&self.scores(one, weights));
        let pull = |(index, strength): &(usize, f64)| {
            let class = self.parameters[*index].class;
            let wanted = if class == one.truth { 1.0 } else { 0.0 };
            (*index, one.weight * strength * (wanted - probabilities[class]))
        };
        one.active.iter().map(pull).collect()
    }

    fn scores(&self, observation: &FitObservation, weights: &[f64]) -> Vec<f64> {
        let mut scores = vec![0.0; self.classes];
        for (index, strength) in &observation.active {
            scores[self.parameters[*index].class] += strength * weights[*index];
        }
        scores
    }

    fn all_probabilities(&self, weights: &[f64]) -> Vec<Vec<f64>> {
        self.observations.iter().map(|one| softmax(&self.scores(one, weights))).collect()
    }

    fn gradient(&self, weights: &[f64], probabilities: &[Vec<f64>]) -> Vec<f64> {
        let held = |(parameter, weight): (&FitParameter, &f64)| parameter.hold * (weight - parameter.start);
        let mut gradient: Vec<f64> = self.parameters.iter().zip(weights).map(held).collect();
        for (one, probabilities) in self.observations.iter().zip(probabilities) {
            for (index, strength) in &one.active {
                let class = self.parameters[*index].class;
                let wanted = if class == one.truth { 1.0 } else { 0.0 };
                gradient[*index] += one.weight * strength * (probabilities[class] - wanted);
            }
        }
        gradient
    }

    fn diagonal(&self, probabilities: &[Vec<f64>]) -> Vec<f64> {
        let mut diagonal: Vec<f64> = self.parameters.iter().map(|parameter| parameter.hold).collect();
        for (one, probabilities) in self.observations.iter().zip(probabilities) {
            for (index, strength) in &one.active {
                let probability = probabilities[self.parameters[*index].class];
                diagonal[*index] += one.weight * strength * strength * probability * (1.0 - probability);
            }
        }
        diagonal
    }

    /// The matrix of second derivatives times a direction.
    fn curved(&self, direction: &[f64], probabilities: &[Vec<f64>]) -> Vec<f64> {
        let mut curved: Vec<f64> =
            self.parameters.iter().zip(direction).map(|(parameter, along)| parameter.hold * along).collect();
        for (one, probabilities) in self.observations.iter().zip(probabilities) {
            let along = self.scores(one, direction);
            let mean = dot(&along, probabilities);
            for (index, strength) in &one.active {
                let class = self.parameters[*index].class;
                curved[*index] += one.weight * strength * probabilities[class] * (along[class] - mean);
            }
        }
        curved
    }
}

/// The probabilities of classes with these scores.
pub(super) fn softmax(scores: &[f64]) -> Vec<f64> {
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    let odds: Vec<f64> = scores.iter().map(|score| libm::exp(score - top)).collect();
    let total: f64 = odds.iter().sum();
    odds.into_iter().map(|odds| odds / total).collect()
}

/// The negative logarithm of the probability of a class.
pub(super) fn log_loss(scores: &[f64], truth: usize) -> f64 {
    let top = scores.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = scores.iter().map(|score| libm::exp(score - top)).sum();
    libm::log(total) + top - scores[truth]
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn add(sum: &mut [f64], times: f64, more: &[f64]) {
    for (sum, more) in sum.iter_mut().zip(more) {
        *sum += times * more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Three classes, each with a constant and two weights.
    fn parameters(hold: f64, starts: &[f64]) -> Vec<FitParameter> {
        starts.iter().enumerate().map(|(at, start)| FitParameter { class: at % 3, start: *start, hold }).collect()
    }

    fn observations(said: &[(usize, Vec<f64>)]) -> Vec<FitObservation> {
        let observation = |(truth, strengths): &(usize, Vec<f64>)| FitObservation {
            truth: *truth,
            weight: 1.5,
            active: strengths.iter().copied().enumerate().filter(|(_, strength)| *strength != 0.0).collect(),
        };
        said.iter().map(observation).collect()
    }

    fn problem<'a>(parameters: &'a [FitParameter], observations: &'a [FitObservation]) -> FitProblem<'a> {
        FitProblem { classes: 3, parameters, observations: observations.iter().collect() }
    }

    fn said() -> impl Strategy<Value = Vec<(usize, Vec<f64>)>> {
        proptest::collection::vec((0..3_usize, proptest::collection::vec(0.0_f64..1.0, 9)), 1..12)
    }

    proptest! {
        #[test]
        fn the_gradient_is_that_of_finite_differences(
            starts in proptest::collection::vec(-3.0_f64..3.0, 9),
            weights in proptest::collection::vec(-3.0_f64..3.0, 9),
            said in said(),
        ) {
            let (parameters, observations) = (parameters(0.7, &starts), observations(&said));
            let problem = problem(&parameters, &observations);
            let probabilities = problem.all_probabilities(&weights);
            let gradient = problem.gradient(&weights, &probabilities);
            let unit = |at: usize| (0..9).map(|one| if one == at { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
            let diagonal = problem.diagonal(&probabilities);
            for at in 0..9 {
                let moved = |by: f64| {
                    let mut moved = weights.clone();
                    moved[at] += by;
                    moved
                };
                let slope = (problem.loss(&moved(1e-5)) - problem.loss(&moved(-1e-5))) / 2e-5;
                prop_assert!((slope - gradient[at]).abs() < 1e-6, "{} {}", slope, gradient[at]);
                let curved = problem.curved(&unit(at), &probabilities);
                prop_assert!((curved[at] - diagonal[at]).abs() < 1e-12);
                let above = problem.gradient(&moved(1e-5), &problem.all_probabilities(&moved(1e-5)));
                let below = problem.gradient(&moved(-1e-5), &problem.all_probabilities(&moved(-1e-5)));
                for other in 0..9 {
                    prop_assert!(((above[other] - below[other]) / 2e-5 - curved[other]).abs() < 1e-6);
                }
            }
        }

        #[test]
        fn a_fit_ends_where_nothing_is_to_be_gained(
            starts in proptest::collection::vec(-3.0_f64..3.0, 9),
            said in said(),
        ) {
            let (parameters, observations) = (parameters(0.5, &starts), observations(&said));
            let problem = problem(&parameters, &observations);
            let fitted = problem.fit();
            let gradient = problem.gradient(&fitted, &problem.all_probabilities(&fitted));
            prop_assert!(gradient.iter().all(|slope| slope.abs() < 1e-5), "{:?}", gradient);
            prop_assert!(problem.loss(&fitted) <= problem.loss(&starts));
        }
    }

    #[test]
    fn weights_that_are_held_fast_stay() {
        let said = [(0, vec![1.0; 9]), (1, vec![0.5; 9]), (0, vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0])];
        let starts = [0.1, 0.2, -0.3, 1.0, 0.4, 0.0, -1.0, 2.0, 0.3];
        let (parameters, observations) = (parameters(1e12, &starts), observations(&said));
        let fitted = problem(&parameters, &observations).fit();
        assert!(fitted.iter().zip(starts).all(|(fitted, start)| (fitted - start).abs() < 1e-9), "{fitted:?}");
    }

    #[test]
    fn an_observation_weight_acts_like_repetition() {
        let said = [(0, vec![1.0; 9]), (1, vec![0.5; 9]), (1, vec![0.2; 9])];
        let once = observations(&said);
        let mut twice = once.clone();
        twice.extend(once.clone());
        let mut heavy = once;
        for one in &mut heavy {
            one.weight *= 2.0;
        }
        let parameters = parameters(0.7, &[0.1, 0.2, -0.3, 1.0, 0.4, 0.0, -1.0, 2.0, 0.3]);
        let (twice, heavy) = (problem(&parameters, &twice).fit(), problem(&parameters, &heavy).fit());
        assert!(twice.iter().zip(&heavy).all(|(one, other)| (one - other).abs() < 1e-6), "{twice:?} {heavy:?}");
    }

    #[test]
    fn a_rule_that_separates_classes_gains_weight() {
        // The first weight of each class supports that class alone; it starts with nothing.
        let one = |truth: usize| (truth, (0..9).map(|at| if at == truth { 1.0 } else { 0.0 }).collect::<Vec<f64>>());
        let said: Vec<(usize, Vec<f64>)> = (0..30).map(|at| one(at % 3)).collect();
        let (parameters, observations) = (parameters(1.0, &[0.0; 9]), observations(&said));
        let problem = problem(&parameters, &observations);
        let fitted = problem.fit();
        assert!(problem.loss(&fitted) < 0.6 * problem.loss(&[0.0; 9]), "{fitted:?}");
        assert!(fitted[..3].iter().all(|weight| *weight > 1.0) && fitted[3..].iter().all(|weight| *weight == 0.0), "{fitted:?}");
        assert_eq!(fitted, problem.fit(), "the same again");
    }
}
