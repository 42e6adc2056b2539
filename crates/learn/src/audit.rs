//! Audits each rule and signature on labelled cases: which verdicts change if it is left out, and whether it serves only one project.

use super::features::WeightOf;
use asterisk_walk::{Verdict, VerdictPlan};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The audit of a rule or signature.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RuleAudit {
    /// The id of the rule or signature.
    pub id: String,
    /// The name of the rule, or the title of the signature.
    pub name: String,
    /// Whether it is a signature.
    pub signature: bool,
    /// Where it is defined.
    pub at: String,
    /// The number of cases in which it matched and counted.
    pub counted: usize,
    /// The number of these in which it matched most strongly for the labelled defect.
    pub agrees: usize,
    /// The number of cases that are right only with it.
    pub helps: usize,
    /// The number of cases that are wrong only with it.
    pub harms: usize,
    /// The number of projects, launches or causes that these cases belong to.
    pub groups: usize,
    /// Evidence that it matches in all of these cases, if they belong to one group: words specific to that group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub serves_one: String,
}

/// A verdict with its label.
#[derive(Clone, Copy)]
pub(super) struct AuditedVerdict<'a> {
    pub(super) verdict: &'a Verdict,
    /// The labelled defect.
    pub(super) truth: &'a str,
    /// The group of related cases.
    pub(super) group: usize,
}

/// Audits every rule and signature that matched: harmful ones first, then those that serve one group, then by id.
pub(super) fn audit<'a>(verdicts: impl Iterator<Item = AuditedVerdict<'a>>) -> Vec<RuleAudit> {
    let mut rules: BTreeMap<(WeightOf, &str), (RuleAudit, BTreeSet<usize>)> = BTreeMap::new();
    for AuditedVerdict { verdict, truth, group } in verdicts {
        let best = |verdict: &Verdict| verdict.hypotheses.first().is_some_and(|best| best.defect == truth);
        let right = best(verdict);
        for rule in verdict.spoke.iter().filter(|rule| rule.counted) {
            let of = if rule.signature { WeightOf::Signature } else { WeightOf::Rule };
            let (audit, groups) = rules.entry((of, &rule.id)).or_default();
            if audit.id.is_empty() {
                (audit.id, audit.name, audit.at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
                (audit.signature, audit.serves_one) = (rule.signature, rule.because.clone());
            }
            audit.counted += 1;
            groups.insert(group);
            let most = rule.weights.iter().max_by(|one, other| one.1.total_cmp(other.1));
            audit.agrees += usize::from(most.is_some_and(|(defect, _)| *defect == truth));
            let without = best(&verdict.without(|one| one.id == rule.id && one.signature == rule.signature));
            audit.helps += usize::from(right && !without);
            audit.harms += usize::from(!right && without);
        }
    }
    let done = |(mut audit, groups): (RuleAudit, BTreeSet<usize>)| {
        audit.groups = groups.len();
        if audit.groups > 1 {
            audit.serves_one.clear();
        }
        audit
    };
    let mut audits: Vec<RuleAudit> = rules.into_values().map(done).collect();
    let harm = |audit: &RuleAudit| audit.harms.saturating_sub(audit.helps);
    audits.sort_by(|a, b| harm(b).cmp(&harm(a)).then(a.groups.cmp(&b.groups)));
    audits
}

/// The ids of the rules and signatures that matched in no case.
pub(super) fn silent(plan: &VerdictPlan, audits: &[RuleAudit]) -> Vec<String> {
    let spoke: BTreeSet<&str> = audits.iter().map(|audit| audit.id.as_str()).collect();
    let ids = plan.rules.iter().map(|rule| rule.id.as_str()).chain(plan.signatures.keys().map(String::as_str));
    ids.filter(|id| !spoke.contains(id)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use asterisk_walk::{Hypothesis, SpokenRule};

    fn verdict(spoke: &[(&str, &str, f64)]) -> Verdict {
        let rule = |(id, defect, weight): &(&str, &str, f64)| SpokenRule {
            id: (*id).into(),
            name: (*id).into(),
            signature: true,
            group: "".into(),
            at: "f.yaml:1".into(),
            strength: 1.0,
            weights: [((*defect).into(), *weight)].into(),
            counted: true,
            because: format!("{id} says"),
            about: Vec::new(),
            words: Vec::new(),
        };
        let hypothesis = |defect: &str| Hypothesis { defect: defect.into(), probability: 0.5, prior: 0.0, score: 0.0 };
        let verdict = Verdict {
            spoke: spoke.iter().map(rule).collect(),
            hypotheses: ["a", "b"].map(hypothesis).into(),
            ..Verdict::default()
        };
        // Decided by the priors of the hypotheses.
        verdict.without(|_| false)
    }

    #[test]
    fn a_rule_helps_where_the_case_is_wrong_without_it() {
        let both = [verdict(&[("good", "b", 2.0), ("mild", "a", 1.0)]), verdict(&[("bad", "b", 3.0), ("mild", "a", 1.0)])];
        let cases = [("b", 0), ("a", 1)];
        let audited = both.iter().zip(cases).map(|(verdict, (truth, group))| AuditedVerdict { verdict, truth, group });
        let audits = audit(audited);
        let of = |id: &str| audits.iter().find(|audit| audit.id == id).cloned().unwrap_or_default();
        assert_eq!((of("good").helps, of("good").harms, of("good").agrees), (1, 0, 1));
        assert_eq!((of("bad").helps, of("bad").harms, of("bad").agrees), (0, 1, 0));
        assert_eq!((of("mild").counted, of("mild").groups, of("mild").serves_one.as_str()), (2, 2, ""));
        assert_eq!((audits[0].id.as_str(), of("good").serves_one.as_str()), ("bad", "good says"));
    }
}
