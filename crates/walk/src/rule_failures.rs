//! The rules of verdicts and roots that failed in a run.

use super::name::Name;
use super::plan::Plan;
use super::state::WalkState;
use super::verdict::FailedRule;
use asterisk_diag::counted;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;

/// A rule that failed in some cases of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleFailure {
    /// The id of the rule, or of the signature whose strength could not be evaluated.
    pub id: Name,
    /// Where it is written: `file:line`.
    pub at: Name,
    /// The error in the first case.
    pub error: String,
    /// The number of cases in which it failed.
    pub cases: usize,
    /// The first of these cases, in the order of the launch.
    pub first: Name,
    /// Whether it is known to have failed in every case in which it was evaluated.
    pub always: bool,
}

/// The rules that failed in a run, in the order of their first failures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct RuleFailures {
    rules: Vec<RuleFailure>,
    /// The ids of rules that were evaluated without an error.
    #[serde(skip)]
    worked: BTreeSet<Name>,
}

impl RuleFailures {
    /// Adds the rules that failed in a case.
    pub fn add(&mut self, case: &str, failed: impl IntoIterator<Item = FailedRule>) {
        for FailedRule { id, at, error } in failed {
            match self.rules.iter_mut().find(|known| known.id == id && known.at == at) {
                Some(known) => known.cases += 1,
                None => self.rules.push(RuleFailure { id, at, error, cases: 1, first: case.into(), always: false }),
            }
        }
    }

    /// Notes the rules that a walk evaluated without an error. Once this is done for all walks, it is known which rules always failed.
    pub fn note_worked(&mut self, state: &WalkState, plan: &Plan) {
        let text = |view: &asterisk_script::View, name: &str| -> Name {
            view.get(name).and_then(|value| value.as_str().map(Name::from)).unwrap_or_default()
        };
        let failed: BTreeSet<Name> = state.failed_rules().into_iter().map(|rule| rule.id).collect();
        let mut worked: BTreeSet<Name> = BTreeSet::new();
        if let Some(verdict) = state.verdict.as_ref().and_then(|made| made.content.view()) {
            worked.extend(plan.verdict.iter().flat_map(|verdict| verdict.rules.iter().map(|rule| rule.id.clone())));
            let spoke = verdict.get("spoke");
            worked.extend(spoke.iter().flat_map(|list| list.items().iter().map(|rule| text(rule, "id")).collect::<Vec<_>>()));
        }
        if let Some(root) = state.root.as_ref().and_then(|found| found.content.view()) {
            let decided = text(root, "rule");
            let rules = plan.roots.iter().flat_map(|roots| roots.rules.iter().map(|rule| rule.id.clone()));
            let mut reached = true;
            worked.extend(rules.take_while(|id| std::mem::replace(&mut reached, *id != decided)));
        }
        self.worked.extend(worked.into_iter().filter(|id| !failed.contains(id)));
        self.settle();
    }

    fn settle(&mut self) {
        for rule in &mut self.rules {
            rule.always = !self.worked.contains(&rule.id);
        }
    }

    /// Adds those of another run.
    pub fn extend(&mut self, other: Self) {
        for rule in other.rules {
            match self.rules.iter_mut().find(|known| known.id == rule.id && known.at == rule.at) {
                Some(known) => {
                    known.cases += rule.cases;
                    known.always &= rule.always;
                }
                None => self.rules.push(RuleFailure { always: rule.always && !self.worked.contains(&rule.id), ..rule }),
            }
        }
        self.worked.extend(other.worked);
        for rule in &mut self.rules {
            rule.always &= !self.worked.contains(&rule.id);
        }
    }

    /// The rules.
    pub fn iter(&self) -> std::slice::Iter<'_, RuleFailure> {
        self.rules.iter()
    }

    /// The number of rules.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether no rule failed.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl<'a> IntoIterator for &'a RuleFailures {
    type Item = &'a RuleFailure;
    type IntoIter = std::slice::Iter<'a, RuleFailure>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for RuleFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, at, error, cases, first, always } = self;
        let cases = match (always, cases) {
            (true, 1) => format!("in the only case in which it was evaluated ({first})"),
            (true, cases) => format!("in all {cases} cases in which it was evaluated (first {first})"),
            (false, cases) => format!("in {} (first {first})", counted(*cases, "case", "cases")),
        };
        write!(f, "rule {id} ({at}) failed {cases} and was ignored: {error}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(id: &str) -> FailedRule {
        FailedRule { id: id.into(), at: "p.yaml:1".into(), error: format!("{id} is wrong") }
    }

    #[test]
    fn failures_are_counted_by_rule_with_the_first_case_and_error() {
        let mut all = RuleFailures::default();
        all.add("1", [failed("V1"), failed("V2")]);
        all.add("2", [FailedRule { error: "another error".into(), ..failed("V1") }]);
        all.settle();
        all.worked.insert("V2".into());
        let mut more = RuleFailures::default();
        more.add("3", [failed("V2"), failed("V3")]);
        more.settle();
        all.extend(more);
        let shown: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "rule V1 (p.yaml:1) failed in all 2 cases in which it was evaluated (first 1) and was ignored: V1 is wrong",
                "rule V2 (p.yaml:1) failed in 2 cases (first 1) and was ignored: V2 is wrong",
                "rule V3 (p.yaml:1) failed in the only case in which it was evaluated (3) and was ignored: V3 is wrong",
            ]
        );
    }
}
