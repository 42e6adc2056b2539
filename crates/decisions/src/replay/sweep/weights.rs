//! Sweeping a weight of the verdict: recorded strengths are weighed again with every value.

use super::super::run::{ReplaySpec, each_run};
use super::super::verdicts::recorded_verdicts;
use super::point::{PointCount, PointTally, SweepReport};
use super::values::SweptVar;
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_session::{Session, SessionError};
use asterisk_walk::{Name, VerdictPlan};
use serde_json::{Value, json};

/// A weight that is swept: of a rule, a signature, or the prior of a defect.
struct SweptWeight<'v> {
    /// The id of the rule or signature; `priors` for a prior.
    id: &'v str,
    defect: &'v str,
}

/// The id for which the priors are swept.
const PRIORS: &str = "priors";

/// Sweeps a weight, `RULE.DEFECT` or `priors.DEFECT`, over the recorded verdicts of runs.
pub(super) fn sweep_weights(session: &Session, spec: &ReplaySpec, var: &SweptVar) -> Result<SweepReport, SessionError> {
    let name = var.name.clone();
    let (id, defect) = name.rsplit_once('.').unwrap_or((&name, ""));
    let swept = SweptWeight { id, defect };
    let mut left_out = Vec::new();
    let mut found: Option<(SweptVar, Value, Vec<PointCount>)> = None;
    let (mut cases, mut runs) = (0, Vec::new());
    each_run(session, spec, &mut left_out, |record, run, base, _| {
        let Some(plan) = &base.project.plan.verdict else { return Ok(()) };
        let now = json!(swept.of(plan).map_err(SessionError::BadRequest)?);
        let (var, _, counts) = found.get_or_insert_with(|| {
            let var = var.clone().with(&now);
            let counts = vec![PointCount::default(); var.values.len()];
            (var, now.clone(), counts)
        });
        let plans: Vec<VerdictPlan> = var.values.iter().map(|value| swept.set(plan, value.as_f64().unwrap_or(0.0))).collect();
        for (_, verdict) in recorded_verdicts(record, run)? {
            cases += 1;
            for (plan, count) in plans.iter().zip(counts.iter_mut()) {
                let other = plan.weigh_again(&verdict);
                let flips = usize::from(other.defect != verdict.defect);
                count.add(PointTally { flips, verdict: None, unknown: false, taken: vec![(other.defect.to_string(), None)] });
            }
        }
        runs.push(run.to_owned());
        Ok(())
    })?;
    let Some((var, current, counts)) = found else {
        return Ok(SweepReport { var: name, left_out, ..SweepReport::default() });
    };
    Ok(SweepReport { runs, cases, left_out, ..SweepReport::new(&var, current, counts) })
}

impl SweptWeight<'_> {
    /// The weight in use; an error if the rule, signature or defect does not exist.
    fn of(&self, plan: &VerdictPlan) -> Result<f64, Box<Diagnostic>> {
        let known = || plan.priors.iter().map(|(defect, _)| defect.as_str());
        if !known().any(|defect| defect == self.defect) {
            let message = format!("`{}` is not a defect of the verdict", self.defect);
            return Err(Box::new(Diagnostic::error("sweep/weight", message).maybe_help(did_you_mean(self.defect, known()))));
        }
        let weight = |weights: &[(Name, f64)]| weights.iter().find(|(defect, _)| defect == self.defect).map_or(0.0, |one| one.1);
        if self.id == PRIORS {
            return Ok(weight(&plan.priors));
        }
        let rule = plan.rules.iter().find(|rule| rule.id == self.id).map(|rule| weight(&rule.weights));
        let signature = || plan.signatures.get(self.id).map(|known| weight(&known.weights));
        rule.or_else(signature).ok_or_else(|| {
            let known = plan.rules.iter().map(|rule| rule.id.as_str()).chain(plan.signatures.keys().map(String::as_str));
            let message = format!("unknown rule or signature `{}`", self.id);
            Box::new(Diagnostic::error("sweep/weight", message).maybe_help(did_you_mean(self.id, known)))
        })
    }

    /// The plan with another weight.
    fn set(&self, plan: &VerdictPlan, value: f64) -> VerdictPlan {
        let mut plan = plan.clone();
        let change = |weights: &mut Vec<(Name, f64)>| match weights.iter_mut().find(|(defect, _)| defect == self.defect) {
            Some((_, weight)) => *weight = value,
            None => weights.push((self.defect.into(), value)),
        };
        if self.id == PRIORS {
            change(&mut plan.priors);
        }
        plan.rules.iter_mut().filter(|rule| rule.id == self.id).for_each(|rule| change(&mut rule.weights));
        plan.signatures.get_mut(self.id).into_iter().for_each(|known| change(&mut known.weights));
        plan
    }
}
