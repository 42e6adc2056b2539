//! The verdict of a case as it was recorded: what spoke, and what would have changed it.

use super::recorded::Decisions;
use super::selection::{CaseList, StepQuery, StepSelection, find, refused};
use super::steps::{JournalStep, damaged};
use crate::diag::did_you_mean;
use crate::script::View;
use crate::script::probe::Probes;
use crate::session::{Session, SessionError};
use crate::walk::Name;
use crate::walk::{EventBody, SpokenRule, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;

/// The verdict of a case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseVerdict {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// Its name.
    pub name: String,
    /// The path of the step that it was made for.
    pub step: String,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What else it would have been, had one rule not spoken.
    pub flips: Vec<VerdictFlip>,
    /// Why it is not the defect that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<WhyNot>,
    /// The names of the defects, by code.
    #[serde(skip)]
    pub defects: BTreeMap<String, String>,
}

/// A rule or signature without which the verdict would be another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictFlip {
    /// Its id.
    pub without: String,
    /// The defect that it would be.
    pub defect: String,
    /// The probability of the most probable defect then.
    pub probability: f64,
}

/// Why a verdict is not a defect.
#[derive(Clone, Debug, Serialize)]
pub struct WhyNot {
    /// The defect.
    pub defect: String,
    /// Its probability.
    pub probability: f64,
    /// How much log-odds it lacks to the most probable one; 0 if it is that one.
    pub lacks: f64,
    /// Whether it is the most probable, and only too improbable to be said.
    pub undecided: bool,
    /// The rules that speak for it in general and said nothing here; empty if the recorded texts cannot be read.
    pub silent: Vec<SilentRule>,
}

/// A rule that said nothing.
#[derive(Clone, Debug, Serialize)]
pub struct SilentRule {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub at: String,
    /// What it would add at full strength.
    pub weight: f64,
}

/// What there is to show.
#[derive(Clone, Debug)]
pub enum FoundVerdict {
    /// Of a case.
    Case(Box<CaseVerdict>),
    /// The cases, of which one must be named.
    Cases(CaseList),
}

/// The verdict of the case that is asked about, and why it is not `why_not`. An error if there is no such case, or if no verdict of
/// it was recorded.
pub fn verdict(session: &Session, asked: &StepQuery, why_not: Option<&str>) -> Result<FoundVerdict, SessionError> {
    let decisions = Decisions::open(session)?;
    match find(&decisions, asked)? {
        StepSelection::Cases(list) => Ok(FoundVerdict::Cases(list)),
        StepSelection::Case { run, case, steps } => {
            Ok(FoundVerdict::Case(Box::new(decisions.verdict(&run, &case, &steps, why_not)?)))
        }
    }
}

impl Decisions {
    /// The last verdict of a case with these steps, and why it is not `why_not`.
    pub fn verdict(
        &self,
        run: &str,
        case: &str,
        steps: &[JournalStep],
        why_not: Option<&str>,
    ) -> Result<CaseVerdict, SessionError> {
        let Some((path, verdict)) = self.recorded_verdict(run, case)? else {
            let message = format!("no verdict of the case `{case}` was recorded");
            let help = "a verdict is made for the first step whose answerer reads its parameters, in a pipeline with `verdict:`";
            return Err(refused("input/no-verdict", message, Some(help.into())));
        };
        let taxonomy = self.of_step(run, steps, &path).and_then(|project| project.plan.taxonomy.view().map(View::json));
        let names = taxonomy.as_ref().and_then(|taxonomy| taxonomy["defects"].as_object()).into_iter().flatten();
        let defects = names.filter_map(|(code, defect)| Some((code.clone(), defect["name"].as_str()?.to_owned()))).collect();
        let name = self.record().store().case(run, case)?.name;
        let flips = flips(&verdict);
        let step = path.to_string();
        let (run, case) = (run.to_owned(), case.to_owned());
        let mut found = CaseVerdict { run, case, name, step, verdict, flips, why_not: None, defects };
        found.why_not = why_not.map(|defect| self.why_not(&found, steps, defect)).transpose()?;
        Ok(found)
    }

    /// The last verdict that was recorded of a case, with the path of the step that it was made for.
    pub(super) fn recorded_verdict(&self, run: &str, case: &str) -> Result<Option<(Name, Verdict)>, SessionError> {
        let events = self.record().store().events(run, case)?.into_iter().rev();
        let made = events.into_iter().find_map(|(_, event)| match event.what {
            EventBody::Verdict { verdict, .. } => Some((event.path, verdict.hash())),
            _ => None,
        });
        let Some((path, hash)) = made else { return Ok(None) };
        let text = self.record().store().blob(&hash)?.ok_or_else(|| damaged(format!("the content {hash} is missing")))?;
        let verdict =
            serde_json::from_str(&text).map_err(|error| damaged(format!("the verdict of `{case}` cannot be read: {error}")))?;
        Ok(Some((path, verdict)))
    }

    /// The project that a step went by; nothing if its texts cannot be linked any more.
    fn of_step(&self, run: &str, steps: &[JournalStep], path: &str) -> Option<std::sync::Arc<crate::project::Project>> {
        let step = steps.iter().find(|step| *step.path == *path)?;
        self.project(run, step, Probes::None).ok()
    }

    fn why_not(&self, found: &CaseVerdict, steps: &[JournalStep], defect: &str) -> Result<WhyNot, SessionError> {
        let verdict = &found.verdict;
        let Some(asked) = verdict.hypotheses.iter().find(|one| one.defect == defect) else {
            let known = || verdict.hypotheses.iter().map(|one| one.defect.as_str());
            let message = format!("the verdict does not decide about `{defect}`");
            let help =
                did_you_mean(defect, known()).unwrap_or_else(|| format!("one of {}", known().collect::<Vec<_>>().join(", ")));
            return Err(refused("input/unknown-defect", message, Some(help)));
        };
        let best = verdict.hypotheses.first().map_or(0.0, |best| best.score);
        let mut silent: Vec<SilentRule> = Vec::new();
        if let Some(plan) = self.of_step(&found.run, steps, &found.step).and_then(|project| project.plan.verdict.clone()) {
            let spoke = |id: &str| verdict.spoke.iter().any(|rule| rule.id == id);
            for rule in plan.rules.iter().filter(|rule| !spoke(&rule.id)) {
                let weight = rule.weights.iter().find(|(code, weight)| *code == defect && *weight > 0.0);
                let (id, name, at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
                silent.extend(weight.map(|(_, weight)| SilentRule { id, name, at, weight: *weight }));
            }
            silent.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        }
        let lacks = ((best - asked.score) * 1e6).round() / 1e6;
        Ok(WhyNot {
            defect: defect.to_owned(),
            probability: asked.probability,
            lacks,
            undecided: lacks == 0.0 && !verdict.decided,
            silent,
        })
    }
}

/// Each rule without which the verdict would be another, the closest to certainty first.
fn flips(verdict: &Verdict) -> Vec<VerdictFlip> {
    let counted = verdict.spoke.iter().filter(|rule| rule.counted);
    let flip = |rule: &SpokenRule| {
        let other = verdict.without(|one| one.id == rule.id);
        let (defect, probability) = (other.defect.to_string(), other.probability);
        (other.defect != verdict.defect).then(|| VerdictFlip { without: rule.id.to_string(), defect, probability })
    };
    counted.filter_map(flip).collect()
}
