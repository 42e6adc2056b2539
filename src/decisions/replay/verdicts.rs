//! Verdicts made again by the current rules: from the recorded texts of the case, and the recorded results of the queries.
//!
//! Where only weights, groups or priors differ, the recorded strengths are weighed again, without any script.

use super::base::ReplayProject;
use super::replay_report::ChangedVerdict;
use crate::decisions::steps::damaged;
use crate::model::{Hash, Kind, Launch};
use crate::project::Project;
use crate::script::View;
use crate::session::{Record, SessionError};
use crate::walk::{CaseParams, Content, EventBody, EventKind, Name, SpokenRule, Verdict, VerdictPlan, assemble};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use serde_json::Value;
use std::collections::HashMap;
use std::ops::ControlFlow;

/// How many differences are told of a verdict.
const TOLD: usize = 3;

/// The recorded verdict of a case.
struct RecordedCaseVerdict {
    case: Name,
    rules: Hash,
    verdict: Hash,
    needs: Option<Hash>,
}

/// Makes the verdicts of a run again whose rules have changed. Returns how many there were, and those that name another defect now.
pub(super) fn verdicts(
    record: &Record,
    run: &str,
    base: &ReplayProject,
    then: Option<&Project>,
) -> Result<(usize, Vec<ChangedVerdict>), SessionError> {
    let Some(plan) = &base.project.plan.verdict else { return Ok((0, Vec::new())) };
    let last = last_verdicts(record, run)?;
    let again: Vec<RecordedCaseVerdict> = last.into_values().filter(|made| made.rules != plan.address).collect();
    if again.is_empty() {
        return Ok((0, Vec::new()));
    }
    let only_weights =
        then.and_then(|then| then.plan.verdict.as_ref()).filter(|then| then.functions == plan.functions).map(|then| then.address);
    let launch = record.store().launch(run, |_, _| None)?;
    let maker = VerdictMaker { record, run, base, plan, launch: &launch, only_weights };
    let changed: Result<Vec<_>, SessionError> = again.par_iter().map(|made| maker.again(made)).collect();
    let mut changed: Vec<ChangedVerdict> = changed?.into_iter().flatten().collect();
    let places: HashMap<String, usize> =
        record.store().case_names(run)?.into_iter().enumerate().map(|(at, (case, _))| (case, at)).collect();
    changed.sort_by_key(|verdict| places.get(&verdict.case).copied());
    Ok((again.len(), changed))
}

/// The last verdict of each case of a run, by case.
fn last_verdicts(record: &Record, run: &str) -> Result<HashMap<Name, RecordedCaseVerdict>, SessionError> {
    let mut last: HashMap<Name, RecordedCaseVerdict> = HashMap::new();
    record.store().each_event_of(EventKind::Verdict, run, |event| {
        if let EventBody::Verdict { rules, verdict, needs, .. } = &event.what {
            let (verdict, needs) = (verdict.hash(), needs.as_ref().map(Content::hash));
            let made = RecordedCaseVerdict { case: event.case.clone(), rules: *rules, verdict, needs };
            last.insert(event.case, made);
        }
        ControlFlow::Continue(())
    })?;
    Ok(last)
}

/// The last verdict of each case of a run, as recorded, in the order of the cases' ids.
pub(super) fn recorded_verdicts(record: &Record, run: &str) -> Result<Vec<(Name, Verdict)>, SessionError> {
    let mut last: Vec<RecordedCaseVerdict> = last_verdicts(record, run)?.into_values().collect();
    last.sort_by(|one, other| one.case.cmp(&other.case));
    last.into_iter().map(|made| Ok((made.case.clone(), read(record, &made)?))).collect()
}

fn read(record: &Record, made: &RecordedCaseVerdict) -> Result<Verdict, SessionError> {
    let missing = || damaged(format!("the content {} is missing", made.verdict));
    let text = record.store().blob(&made.verdict)?.ok_or_else(missing)?;
    serde_json::from_str(&text).map_err(|error| damaged(format!("the verdict of `{}` cannot be read: {error}", made.case)))
}

struct VerdictMaker<'a> {
    record: &'a Record,
    run: &'a str,
    base: &'a ReplayProject,
    plan: &'a VerdictPlan,
    launch: &'a Launch,
    /// The address of recorded rules that differ in weights alone.
    only_weights: Option<Hash>,
}

impl VerdictMaker<'_> {
    fn again(&self, made: &RecordedCaseVerdict) -> Result<Option<ChangedVerdict>, SessionError> {
        let before = read(self.record, made)?;
        let now = if self.only_weights == Some(made.rules) {
            self.plan.weigh_again(&before)
        } else {
            let case = self.record.store().case(self.run, &made.case)?;
            let needs = made.needs.as_ref().map(|needs| self.needs(needs)).transpose()?.unwrap_or_default();
            let plan = &self.base.project.plan;
            CaseParams::new(self.run, self.launch, &case).verdict_by(&case, plan, &needs).unwrap_or_default()
        };
        Ok((before.defect != now.defect).then(|| ChangedVerdict {
            run: self.run.to_owned(),
            case: made.case.to_string(),
            from: before.defect.to_string(),
            to: now.defect.to_string(),
            before: before.probability,
            after: now.probability,
            because: differences(&before, &now),
        }))
    }

    fn needs(&self, hash: &Hash) -> Result<Vec<(String, View)>, SessionError> {
        let needs = assemble(&self.content(hash)?, &mut |hash| self.content(hash))?;
        let fields = needs.as_object().into_iter().flatten();
        let view = |value: &Value| View::of(value, &Kind::Any, "params.needs");
        Ok(fields.map(|(name, value)| (name.clone(), view(value))).collect())
    }

    fn content(&self, hash: &Hash) -> Result<String, SessionError> {
        let missing = || damaged(format!("the content {hash} is missing"));
        Ok(self.record.store().blob(hash)?.ok_or_else(missing)?.to_string())
    }
}

/// What speaks otherwise for the defects that were and are the most probable, the largest difference first.
fn differences(before: &Verdict, now: &Verdict) -> Vec<String> {
    let best = |verdict: &Verdict| verdict.hypotheses.first().map(|one| one.defect.clone());
    let mut defects: Vec<Name> = best(now).into_iter().chain(best(before)).collect();
    defects.dedup();
    let said = |verdict: &Verdict, id: &Name, defect: &str| {
        let rule = verdict.spoke.iter().find(|rule| rule.id == *id && rule.counted);
        rule.map_or(0.0, |rule: &SpokenRule| rule.contribution(defect))
    };
    let mut ids: Vec<&Name> = before.spoke.iter().chain(&now.spoke).map(|rule| &rule.id).collect();
    ids.sort();
    ids.dedup();
    let mut found: Vec<(f64, String)> = Vec::new();
    for id in ids {
        for defect in &defects {
            let (was, is) = (said(before, id, defect), said(now, id, defect));
            if (was - is).abs() > 1e-9 {
                found.push(((was - is).abs(), format!("{id} {was:+.2} -> {is:+.2} ({defect})")));
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut told: Vec<String> = found.into_iter().take(TOLD).map(|(_, said)| said).collect();
    if told.is_empty() {
        told.push(if before.floor.total_cmp(&now.floor).is_eq() {
            "the priors".to_owned()
        } else {
            format!("the floor {} -> {}", before.floor, now.floor)
        });
    }
    told
}
