//! How far each weight of a verdict is from changing the verdicts of a run: for editors.

use super::recorded::Decisions;
use asterisk_script::probe::Probes;
use asterisk_session::{Session, SessionError};
use asterisk_walk::{Name, TERMS, Verdict};
use std::collections::BTreeMap;

/// The maximum number of verdicts of a run that are examined.
const MOST: usize = 500;
/// The distances from a weight that are tried, in log-odds.
const DISTANCES: [f64; 11] = [0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.5, 6.0];
/// The precision of a tipping point: weights are written with two decimals.
const PRECISION: f64 = 0.005;

/// The weights of rules and signatures, by id and defect.
pub type WeightTips = BTreeMap<(String, String), WeightTip>;

/// A weight, and the values at which it would change verdicts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightTip {
    /// The weight as it is.
    pub weight: f64,
    /// The number of cases in which its rule or signature matched.
    pub cases: usize,
    /// Lower weights at which a verdict changes, the nearest first.
    pub lower: Vec<TippingPoint>,
    /// Higher weights at which a verdict changes, the nearest first.
    pub higher: Vec<TippingPoint>,
}

/// A weight at which the verdict of a case names another defect, if all other weights stay as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct TippingPoint {
    pub weight: f64,
    pub case: String,
    pub from: String,
    pub to: String,
}

/// The tipping points of all weights whose rules and signatures matched in a run, with the weights of the project as it is now and the
/// strengths that were recorded.
///
/// # Errors
/// If the record or the texts of the project cannot be read.
pub fn weight_tips(session: &Session, run: &str) -> Result<WeightTips, SessionError> {
    let decisions = Decisions::open(session)?;
    let project = decisions.current_project(session, run, Probes::None)?;
    let Some(rules) = &project.plan.verdict else { return Ok(WeightTips::new()) };
    let mut tips = WeightTips::new();
    for (case, recorded) in decisions.verdicts(run)?.into_iter().take(MOST) {
        add(&mut tips, &case, &rules.weigh_again(&recorded));
    }
    for tip in tips.values_mut() {
        tip.lower.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        tip.higher.sort_by(|a, b| a.weight.total_cmp(&b.weight));
    }
    Ok(tips)
}

/// The tipping points of the weights of one verdict.
pub fn weight_tips_of(case: &str, verdict: &Verdict) -> WeightTips {
    let mut tips = WeightTips::new();
    add(&mut tips, case, verdict);
    tips
}

fn add(tips: &mut WeightTips, case: &str, verdict: &Verdict) {
    for rule in verdict.spoke.iter().filter(|rule| rule.id != TERMS) {
        for (defect, weight) in &rule.weights {
            let tip = tips.entry((rule.id.to_string(), defect.to_string())).or_default();
            (tip.weight, tip.cases) = (*weight, tip.cases + 1);
            let point = |(weight, to): (f64, Name)| TippingPoint {
                weight,
                case: case.to_owned(),
                from: verdict.defect.to_string(),
                to: to.to_string(),
            };
            tip.lower.extend(tipping(verdict, &rule.id, (defect, *weight), -1.0).map(point));
            tip.higher.extend(tipping(verdict, &rule.id, (defect, *weight), 1.0).map(point));
        }
    }
}

/// The nearest weight in a direction at which the verdict names another defect.
fn tipping(verdict: &Verdict, id: &str, (defect, weight): (&str, f64), sign: f64) -> Option<(f64, Name)> {
    let changed = |weight: f64| {
        let other = verdict.with_weight(id, defect, weight);
        (other.defect != verdict.defect).then_some(other.defect)
    };
    let far = |distance: f64| weight + sign * distance;
    let at = DISTANCES.iter().position(|distance| changed(far(*distance)).is_some())?;
    let (mut same, mut other) = (if at == 0 { 0.0 } else { DISTANCES[at - 1] }, DISTANCES[at]);
    while other - same > PRECISION {
        let middle = f64::midpoint(same, other);
        if changed(far(middle)).is_some() { other = middle } else { same = middle }
    }
    // The next weight with two decimals at which it has changed.
    let hundredths = far(other) * 100.0;
    let shown = if sign > 0.0 { hundredths.ceil() } else { hundredths.floor() } / 100.0;
    changed(shown).map(|to| (shown, to))
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_walk::{Hypothesis, SpokenRule};

    fn verdict(rules: &[(&str, &[(&str, f64)])]) -> Verdict {
        let spoken = |(id, weights): &(&str, &[(&str, f64)])| SpokenRule {
            id: (*id).into(),
            name: Name::default(),
            signature: false,
            group: Name::default(),
            at: Name::default(),
            strength: 0.5,
            weights: weights.iter().map(|(defect, weight)| ((*defect).into(), *weight)).collect(),
            counted: true,
            because: String::new(),
            about: Vec::new(),
            words: Vec::new(),
        };
        let hypothesis = |defect: &str| Hypothesis { defect: defect.into(), probability: 0.0, prior: 0.0, score: 0.0 };
        let made = Verdict {
            undecided: "ti001".into(),
            floor: 0.4,
            hypotheses: ["pb001", "en001"].map(hypothesis).into(),
            spoke: rules.iter().map(spoken).collect(),
            ..Verdict::default()
        };
        // Computes the defect from the hypotheses and rules.
        made.without(|_| false)
    }

    #[test]
    fn the_nearest_weights_that_change_a_verdict_are_found() {
        let verdict = verdict(&[("V1", &[("pb001", 1.2)]), ("V2", &[("en001", 0.8)])]);
        assert_eq!(verdict.defect, "pb001");
        let tips = weight_tips_of("C1", &verdict);
        let tip = |id: &str, defect: &str| &tips[&(id.to_owned(), defect.to_owned())];
        let point = |weight: f64| TippingPoint { weight, case: "C1".into(), from: "pb001".into(), to: "en001".into() };
        let one = tip("V1", "pb001");
        assert_eq!((&one.lower[..], &one.higher[..], one.cases), (&[point(0.79)][..], &[][..], 1));
        let other = tip("V2", "en001");
        assert_eq!((&other.lower[..], &other.higher[..]), (&[][..], &[point(1.21)][..]));
        // Nothing between the weight and its tipping point changes the verdict.
        assert_eq!(verdict.with_weight("V1", "pb001", 0.8).defect, "pb001");
    }
}
