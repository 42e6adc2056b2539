//! How often each rule of roots gave a case its root over the recorded runs.

use super::recorded::Decisions;
use super::rule_tally::RuleTally;
use asterisk_session::SessionError;
use asterisk_walk::{Event, EventBody, EventKind, Name, Plan, RootFunction};
use serde::Serialize;
use std::collections::BTreeSet;

/// How often a rule gave a root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RootRuleHistory {
    /// Its id.
    pub id: String,
    /// Its name; empty if the pipeline of the newest run lacks this rule.
    pub name: String,
    /// Where it is written.
    pub at: String,
    /// The cases that it decided: it was the first to give a key.
    pub decided: u64,
    /// The different keys that it gave, each run for itself.
    pub keys: u64,
}

impl RootRuleHistory {
    /// A remark on suspicious counts, if any.
    pub fn remark(&self) -> Option<String> {
        (self.decided == 0).then(|| "never decided".into())
    }
}

impl RuleTally<RootRuleHistory> {
    /// Adds the roots of a run.
    pub(super) fn add(&mut self, decisions: &Decisions, run: &str) -> Result<(), SessionError> {
        let history = |rule: &RootFunction| {
            let (id, name, at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
            (rule.id.clone(), RootRuleHistory { id, name, at, ..RootRuleHistory::default() })
        };
        let declared = |plan: &Plan| plan.roots.iter().flat_map(|plan| &plan.rules).map(history).collect();
        let root = |event: &Event| match &event.what {
            EventBody::Root { rule, key, .. } => Some((rule.clone(), key.clone())),
            _ => None,
        };
        let mut keys: BTreeSet<(Name, Name)> = BTreeSet::new();
        for (rule, key) in self.last((decisions, run, EventKind::Root), declared, root)? {
            self.cases += 1;
            if !rule.is_empty() {
                let known = self.rules.entry(rule.clone()).or_default();
                known.id = rule.to_string();
                known.decided += 1;
                known.keys += u64::from(keys.insert((rule, key)));
            }
        }
        Ok(())
    }
}
