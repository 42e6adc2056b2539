//! Counts of the rules of a section of pipelines over recorded runs, by the last result of each case.

use super::recorded::Decisions;
use asterisk_script::probe::Probes;
use asterisk_session::SessionError;
use asterisk_walk::{Event, EventKind, Name, Plan};
use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The counts so far: `H` is what is counted of a rule.
#[derive(Default)]
pub(super) struct RuleTally<H> {
    /// The cases with a result.
    pub(super) cases: u64,
    pub(super) rules: BTreeMap<Name, H>,
    /// Rules in the order of the newest run's pipeline.
    order: Vec<Name>,
}

impl<H> RuleTally<H> {
    /// The last result of each case of a run, in the order of the cases. `declared`: the rules of a plan, so that those that never
    /// had a part are listed too.
    pub(super) fn last<T>(
        &mut self,
        (decisions, run, kind): (&Decisions, &str, EventKind),
        declared: impl Fn(&Plan) -> Vec<(Name, H)>,
        result: impl Fn(&Event) -> Option<T>,
    ) -> Result<Vec<T>, SessionError> {
        let mut last = HashMap::new();
        decisions.record().store().each_event_of(kind, run, |event| {
            if let Some(found) = result(&event) {
                last.insert(event.case, (event.path, found));
            }
            ControlFlow::Continue(())
        })?;
        let mut last: Vec<_> = last.into_iter().collect();
        last.sort_by(|(one, _), (other, _)| one.cmp(other));
        if let Some((case, (path, _))) = last.first().filter(|_| self.order.is_empty()) {
            let plan = plan_of(decisions, (run, case, path));
            for (id, rule) in plan.map_or_else(Vec::new, |plan| declared(&plan)) {
                self.rules.entry(id.clone()).or_insert(rule);
                self.order.push(id);
            }
        }
        Ok(last.into_iter().map(|(_, (_, found))| found).collect())
    }

    /// The number of cases, and the rules: those of the pipeline in its order, then others by id.
    pub(super) fn finish(mut self) -> (u64, Vec<H>) {
        let mut listed: Vec<H> = self.order.iter().filter_map(|id| self.rules.remove(id)).collect();
        listed.extend(self.rules.into_values());
        (self.cases, listed)
    }
}

/// The plan that a step used. Texts that no longer link are ignored.
fn plan_of(decisions: &Decisions, (run, case, path): (&str, &str, &str)) -> Option<Arc<Plan>> {
    let steps = decisions.steps(run, case).ok()?;
    let step = steps.iter().find(|step| *step.path == *path)?;
    Some(decisions.project(run, step, Probes::None).ok()?.plan.clone())
}
