//! The parameters that steps were given, read from the record.

use super::recorded::Decisions;
use asterisk_base::model::{Case, Hash, Kind};
use asterisk_script::View;
use asterisk_session::SessionError;
use asterisk_store::StoreError;
use asterisk_walk::{CaseParams, Event, EventBody, EventKind, Name, Plan, assemble, assemble_part};
use serde_json::Value;
use std::collections::HashSet;
use std::ops::ControlFlow;

/// A group of parameters of a case.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum RecordedGroup {
    /// The group, of the step at that path.
    Of(Name, Value),
    /// Steps were given parameters, and none has the group.
    Lacking,
    /// No step was given parameters yet.
    NoParams,
}

/// What the rules of the verdict and of the root of a case are given.
pub(super) struct VerdictInputs {
    pub(super) case: Case,
    pub(super) params: CaseParams,
    /// The recorded results of the queries that they read, by name.
    pub(super) needs: Vec<(String, View)>,
}

impl Decisions {
    /// The input of the answerer of a step; nothing without one.
    pub fn params(&self, run: &str, case: &str, path: &str) -> Result<Option<Value>, SessionError> {
        let events = self.record().store().events(run, case)?.into_iter().rev();
        let Some((_, hash)) = events.filter_map(|(_, event)| given(&event)).find(|(at, _)| at == path) else { return Ok(None) };
        Ok(Some(assemble(&self.content(&hash)?, &mut |hash| self.content(hash))?))
    }

    /// A group of the parameters of a case: of its first step that has it.
    pub(super) fn group(&self, run: &str, case: &str, name: &str) -> Result<RecordedGroup, SessionError> {
        let mut found = RecordedGroup::NoParams;
        for (path, hash) in self.record().store().events(run, case)?.iter().filter_map(|(_, event)| given(event)) {
            match self.part(&hash, name)? {
                Some(value) => return Ok(RecordedGroup::Of(path, value)),
                None => found = RecordedGroup::Lacking,
            }
        }
        Ok(found)
    }

    /// Shows a group of parameters of every case of a run, in the order in which the cases began: that of its first step.
    pub(super) fn each_group(
        &self,
        run: &str,
        name: &str,
        mut visit: impl FnMut(&str, Value) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let (mut seen, mut first): (HashSet<Name>, Vec<(Name, Hash)>) = (HashSet::new(), Vec::new());
        self.record().store().each_event_of(EventKind::NodeExit, run, |event| {
            if let Some((_, hash)) = given(&event)
                && seen.insert(event.case.clone())
            {
                first.push((event.case, hash));
            }
            ControlFlow::Continue(())
        })?;
        for (case, hash) in first {
            if let Some(value) = self.part(&hash, name)? {
                visit(&case, value)?;
            }
        }
        Ok(())
    }

    /// What the rules of the verdict and of the root of a case were given.
    pub(super) fn verdict_inputs(&self, run: &str, id: &str) -> Result<VerdictInputs, SessionError> {
        let store = self.record().store();
        let events = store.events(run, id)?.into_iter().rev();
        let needs = events.into_iter().find_map(|(_, event)| match event.what {
            EventBody::Verdict { needs, .. } => Some(needs.map(|needs| needs.hash())),
            _ => None,
        });
        let needs = match needs.flatten() {
            None => Value::Null,
            Some(hash) => assemble(&self.content(&hash)?, &mut |hash| self.content(hash))?,
        };
        let fields = needs.as_object().into_iter().flatten();
        let needs = fields.map(|(name, value)| (name.clone(), View::of(value, &Kind::Any, "params.needs"))).collect();
        let (launch, case) = (store.launch(run, |_, _| None)?, store.case(run, id)?);
        let params = CaseParams::new(run, &launch, &case);
        Ok(VerdictInputs { case, params, needs })
    }

    /// What the rules of the verdict and of the root of a case are given by a plan besides the evidence and the vars, with the recorded
    /// results of queries.
    pub fn rule_context(&self, run: &str, id: &str, plan: &Plan) -> Result<View, SessionError> {
        let VerdictInputs { params, needs, .. } = self.verdict_inputs(run, id)?;
        Ok(params.rule_context(plan, &needs))
    }

    fn part(&self, hash: &Hash, name: &str) -> Result<Option<Value>, SessionError> {
        assemble_part(&self.content(hash)?, name, &mut |hash| self.content(hash))
    }

    fn content(&self, hash: &Hash) -> Result<String, SessionError> {
        let missing = || SessionError::Store(StoreError::Damaged(format!("the content {hash} is missing")));
        Ok(self.record().store().blob(hash)?.ok_or_else(missing)?.to_string())
    }
}

/// The address of the parameters that an event records, with the step's path.
fn given(event: &Event) -> Option<(Name, Hash)> {
    let content = match &event.what {
        EventBody::NodeExit { params, .. } => params.as_ref()?,
        EventBody::Requested { params, advisor: None, .. } => params,
        _ => return None,
    };
    Some((event.path.clone(), content.hash()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::testing::TraceFixture;
    use super::*;

    #[test]
    fn a_group_of_a_case_is_that_of_the_parameters_of_its_step() {
        let ground = TraceFixture::with(&[]);
        let run = ground.run_example().run;
        let decisions = Decisions::open(&ground.session).unwrap();
        let mut shown = Vec::new();
        decisions
            .each_group(&run, "evidence", |case, value| {
                let RecordedGroup::Of(path, same) = decisions.group(&run, case, "evidence")? else { panic!("{case}") };
                let params = decisions.params(&run, case, &path)?.unwrap();
                assert_eq!((&same, &params["evidence"], params["identity"]["case"].as_str()), (&value, &value, Some(case)));
                shown.push(case.to_owned());
                Ok(())
            })
            .unwrap();
        shown.sort();
        let mut cases: Vec<String> = decisions.record().store().case_names(&run).unwrap().into_iter().map(|(id, _)| id).collect();
        cases.sort();
        assert_eq!(shown, cases);
        assert_eq!(decisions.group(&run, &cases[0], "unheard of").unwrap(), RecordedGroup::Lacking);
        assert_eq!(decisions.params(&run, &cases[0], "99").unwrap(), None);
    }
}
