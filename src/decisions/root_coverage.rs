//! How often each rule of roots gave a case its root over the recorded runs.

use super::recorded::Decisions;
use crate::script::probe::Probes;
use crate::session::SessionError;
use crate::walk::{EventBody, EventKind, Name};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::ControlFlow;

/// How often a rule gave a root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RootRuleHistory {
    /// Its id.
    pub id: String,
    /// Its name; empty if the pipeline of the newest run has no such rule.
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

/// The counts so far.
#[derive(Default)]
pub(super) struct RootTally {
    cases: u64,
    rules: BTreeMap<Name, RootRuleHistory>,
    /// Rules in the order of the newest run's pipeline.
    order: Vec<Name>,
}

impl RootTally {
    /// Adds the roots of a run: the last of each case.
    pub(super) fn add(&mut self, decisions: &Decisions, run: &str) -> Result<(), SessionError> {
        let mut last: HashMap<Name, (Name, Name, Name)> = HashMap::new();
        decisions.record().store().each_event_of(EventKind::Root, run, |event| {
            if let EventBody::Root { rule, key, .. } = event.what {
                last.insert(event.case, (event.path, rule, key));
            }
            ControlFlow::Continue(())
        })?;
        let mut last: Vec<_> = last.into_iter().collect();
        last.sort();
        if let Some((case, (path, ..))) = last.first().filter(|_| self.order.is_empty()) {
            self.declare(decisions, run, case, path);
        }
        let mut keys: BTreeSet<(Name, Name)> = BTreeSet::new();
        for (_, (_, rule, key)) in last {
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

    /// Lists the rules of the plan that a case went by, so that those that never decided are listed too.
    fn declare(&mut self, decisions: &Decisions, run: &str, case: &str, path: &str) {
        let Ok(steps) = decisions.steps(run, case) else { return };
        let Some(step) = steps.iter().find(|step| *step.path == *path) else { return };
        // Texts that do not link any more tell nothing.
        let Ok(project) = decisions.project(run, step, Probes::None) else { return };
        for rule in project.plan.roots.iter().flat_map(|plan| &plan.rules) {
            let (id, name, at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
            self.rules.entry(rule.id.clone()).or_insert(RootRuleHistory { id, name, at, ..RootRuleHistory::default() });
            self.order.push(rule.id.clone());
        }
    }

    /// The number of cases whose root was looked for, and the rules: those of the pipeline in its order, then others.
    pub(super) fn finish(mut self) -> (u64, Vec<RootRuleHistory>) {
        let mut listed: Vec<RootRuleHistory> = self.order.iter().filter_map(|id| self.rules.remove(id)).collect();
        listed.extend(self.rules.into_values());
        (self.cases, listed)
    }
}
