//! How often each rule of a verdict matched over the recorded verdicts.

use super::recorded::Decisions;
use super::rule_tally::RuleTally;
use super::steps::damaged;
use asterisk_session::SessionError;
use asterisk_walk::{Content, Event, EventBody, EventKind, Name, Plan, Verdict, VerdictFunction};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How often a rule or a signature matched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VerdictRuleHistory {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub at: String,
    /// Whether it is a signature.
    pub signature: bool,
    /// The verdicts that it matched in.
    pub spoke: u64,
    /// The verdicts that it counted in: of its group it was the strongest.
    pub counted: u64,
    /// The verdicts that would be others without it.
    pub decisive: u64,
    /// The verdicts that it failed in.
    pub failed: u64,
    /// Another rule that matched in just the same verdicts, of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<String>,
}

/// In how many verdicts two rules must have matched to be remarked on as always speaking together.
const OFTEN: usize = 5;

impl VerdictRuleHistory {
    /// A remark on suspicious counts, if any.
    pub fn remark(&self) -> Option<String> {
        match self {
            Self { failed: 1.., .. } => Some("fails".into()),
            Self { spoke: 0, .. } => Some("never fired".into()),
            Self { together: Some(other), .. } => Some(format!("always with {other}")),
            Self { counted: 0, .. } => Some("never counted".into()),
            _ => None,
        }
    }
}

/// The counts so far.
#[derive(Default)]
pub(super) struct VerdictTally {
    counts: RuleTally<VerdictRuleHistory>,
    /// The verdicts that each rule matched in, by their numbers.
    where_spoken: BTreeMap<Name, BTreeSet<u64>>,
}

impl VerdictTally {
    /// Adds the verdicts of a run.
    pub(super) fn add(&mut self, decisions: &Decisions, run: &str) -> Result<(), SessionError> {
        let history = |rule: &VerdictFunction| {
            let (id, name, at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
            (rule.id.clone(), VerdictRuleHistory { id, name, at, ..VerdictRuleHistory::default() })
        };
        let declared = |plan: &Plan| plan.verdict.iter().flat_map(|plan| &plan.rules).map(history).collect();
        let address = |event: &Event| match &event.what {
            EventBody::Verdict { verdict, .. } => Some((event.case.clone(), Content::hash(verdict))),
            _ => None,
        };
        for (case, hash) in self.counts.last((decisions, run, EventKind::Verdict), declared, address)? {
            let text =
                decisions.record().store().blob(&hash)?.ok_or_else(|| damaged(format!("the content {hash} is missing")))?;
            let verdict: Verdict = serde_json::from_str(&text)
                .map_err(|error| damaged(format!("the verdict of `{case}` cannot be read: {error}")))?;
            self.take(&verdict);
        }
        Ok(())
    }

    fn take(&mut self, verdict: &Verdict) {
        self.counts.cases += 1;
        for rule in &verdict.spoke {
            let known = self.counts.rules.entry(rule.id.clone()).or_default();
            if known.id.is_empty() {
                (known.id, known.name, known.at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
                known.signature = rule.signature;
            }
            known.spoke += 1;
            known.counted += u64::from(rule.counted);
            let decisive = rule.counted && verdict.without(|one| one.id == rule.id).defect != verdict.defect;
            known.decisive += u64::from(decisive);
            self.where_spoken.entry(rule.id.clone()).or_default().insert(self.counts.cases);
        }
        for failed in &verdict.failed {
            let known = self.counts.rules.entry(failed.id.clone()).or_default();
            (known.id, known.at) = (failed.id.to_string(), failed.at.to_string());
            known.failed += 1;
        }
    }

    /// The number of verdicts, and the rules; signatures are among those that the pipeline lacks.
    pub(super) fn finish(mut self) -> (u64, Vec<VerdictRuleHistory>) {
        let mut first: BTreeMap<&BTreeSet<u64>, &Name> = BTreeMap::new();
        let mut together: Vec<(Name, String)> = Vec::new();
        for (id, spoken) in self.where_spoken.iter().filter(|(_, spoken)| spoken.len() >= OFTEN) {
            match first.get(spoken) {
                Some(other) => together.push((id.clone(), other.to_string())),
                None => drop(first.insert(spoken, id)),
            }
        }
        for (id, other) in together {
            if let Some(rule) = self.counts.rules.get_mut(&id) {
                rule.together = Some(other);
            }
        }
        self.counts.finish()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use asterisk_walk::{Hypothesis, SpokenRule};

    fn verdict(spoke: &[(&str, f64)]) -> Verdict {
        let rule = |(id, weight): &(&str, f64)| SpokenRule {
            id: (*id).into(),
            name: "n".into(),
            signature: false,
            group: Name::default(),
            at: "p.yaml:1".into(),
            strength: 1.0,
            weights: [("a".into(), *weight)].into(),
            counted: true,
            because: String::new(),
            about: Vec::new(),
            words: Vec::new(),
        };
        let one = |defect: &str| Hypothesis { defect: defect.into(), probability: 0.5, prior: 0.0, score: 0.0 };
        let made = Verdict {
            undecided: "none".into(),
            floor: 0.6,
            hypotheses: vec![one("a"), one("b")],
            spoke: spoke.iter().map(rule).collect(),
            ..Verdict::default()
        };
        made.without(|_| false)
    }

    #[test]
    fn rules_are_counted_and_remarked_on() {
        let mut tally = VerdictTally::default();
        tally.counts.rules.insert("never".into(), VerdictRuleHistory { id: "never".into(), ..VerdictRuleHistory::default() });
        for _ in 0..OFTEN {
            tally.take(&verdict(&[("one", 2.0), ("two", 0.1)]));
        }
        let (verdicts, rules) = tally.finish();
        assert_eq!(verdicts, OFTEN as u64);
        let told: Vec<(&str, u64, u64, Option<String>)> =
            rules.iter().map(|rule| (rule.id.as_str(), rule.spoke, rule.decisive, rule.remark())).collect();
        let often = OFTEN as u64;
        assert_eq!(
            told,
            [
                ("never", 0, 0, Some("never fired".into())),
                ("one", often, often, None),
                ("two", often, 0, Some("always with one".into())),
            ]
        );
    }
}
