//! What the answers and the verdict of a case are made again from: its recorded texts, parameters and query results.

use super::recorded_walk::RecordedVerdictEvent;
use crate::steps::damaged;
use asterisk_base::model::{Case, Hash, Kind, Launch};
use asterisk_script::View;
use asterisk_session::SessionError;
use asterisk_store::StoreReading;
use asterisk_walk::{CaseParams, Content, Plan, Verdict, VerdictPlan, assemble, assemble_part};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

/// The record of a case, read on demand.
pub(super) struct CaseRecord<'a> {
    reading: &'a StoreReading<'a>,
    run: &'a str,
    /// The launch without its cases.
    launch: &'a Launch,
    case: &'a str,
    /// The last verdict.
    verdict: Option<&'a RecordedVerdictEvent>,
    inputs: OnceCell<(Case, CaseParams)>,
    values: RefCell<HashMap<Hash, Value>>,
}

/// The verdict of a case by the current rules.
#[derive(Clone, Debug)]
pub(super) enum VerdictAgain {
    /// The plan makes none.
    None,
    /// The rules read queries whose results were not recorded.
    Unknown,
    /// The verdict, as displayed and as scripts read it.
    Made(Box<Verdict>, Content),
}

impl<'a> CaseRecord<'a> {
    pub(super) fn new(
        reading: &'a StoreReading<'a>,
        (run, launch): (&'a str, &'a Launch),
        case: &'a str,
        verdict: Option<&'a RecordedVerdictEvent>,
    ) -> Self {
        Self { reading, run, launch, case, verdict, inputs: OnceCell::new(), values: RefCell::default() }
    }

    /// The case, and the parameters that all of its steps share.
    pub(super) fn inputs(&self) -> Result<&(Case, CaseParams), SessionError> {
        if let Some(inputs) = self.inputs.get() {
            return Ok(inputs);
        }
        let case = self.reading.case(self.case)?;
        let params = CaseParams::new(self.run, self.launch, &case);
        Ok(self.inputs.get_or_init(|| (case, params)))
    }

    /// The text at an address.
    pub(super) fn text(&self, hash: &Hash) -> Result<String, SessionError> {
        let missing = || damaged(format!("the content {hash} of the case `{}` is missing", self.case));
        self.reading.content(hash, str::to_owned)?.ok_or_else(missing)
    }

    /// The value at an address.
    pub(super) fn value(&self, hash: &Hash) -> Result<Value, SessionError> {
        if let Some(value) = self.values.borrow().get(hash) {
            return Ok(value.clone());
        }
        let value = assemble(&self.text(hash)?, &mut |hash| self.text(hash))?;
        self.values.borrow_mut().insert(*hash, value.clone());
        Ok(value)
    }

    /// The part of that name of recorded parameters.
    pub(super) fn part(&self, params: &str, name: &str) -> Result<Value, SessionError> {
        Ok(assemble_part(params, name, &mut |hash| self.text(hash))?.unwrap_or_default())
    }

    /// The last recorded verdict.
    pub(super) fn recorded_verdict(&self) -> Result<Option<Verdict>, SessionError> {
        let Some(made) = self.verdict else { return Ok(None) };
        let unreadable = |error| damaged(format!("the verdict of `{}` cannot be read: {error}", self.case));
        Ok(Some(serde_json::from_value(self.value(&made.verdict)?).map_err(unreadable)?))
    }

    /// The verdict by a plan. `only_weights` is the address of recorded rules that differ from those of the plan in weights alone.
    pub(super) fn verdict(&self, plan: &Plan, only_weights: Option<Hash>) -> Result<VerdictAgain, SessionError> {
        let Some(rules) = &plan.verdict else { return Ok(VerdictAgain::None) };
        if let Some(made) = self.verdict.filter(|made| made.rules == rules.address) {
            let view = View::of(&self.value(&made.verdict)?, &Kind::Any, "params.verdict");
            return Ok(VerdictAgain::Made(Box::new(self.recorded_verdict()?.unwrap_or_default()), Content::new(view)));
        }
        let again = match (self.verdict, self.recorded_verdict()?) {
            (Some(made), Some(before)) if only_weights == Some(made.rules) => Some(rules.weigh_again(&before)),
            _ => self.judged(plan, rules)?,
        };
        Ok(again.map_or(VerdictAgain::Unknown, |verdict| {
            let content = Content::new(verdict.view());
            VerdictAgain::Made(Box::new(verdict), content)
        }))
    }

    /// The verdict by the rules of a plan. `None` if they read queries whose results were not recorded.
    fn judged(&self, plan: &Plan, rules: &VerdictPlan) -> Result<Option<Verdict>, SessionError> {
        let recorded = self.verdict.and_then(|made| made.needs.as_ref());
        let needs = recorded.map(|needs| self.value(needs)).transpose()?.unwrap_or_default();
        let needs = views(&needs);
        let known = |query: &&'static asterisk_walk::Query| needs.iter().any(|(name, _)| *name == query.field());
        if !rules.needs.iter().all(known) {
            return Ok(None);
        }
        let (case, params) = self.inputs()?;
        Ok(params.verdict_by(case, plan, &needs))
    }
}

/// The recorded results of queries, as scripts read them.
pub(super) fn views(needs: &Value) -> Vec<(String, View)> {
    let fields = needs.as_object().into_iter().flatten();
    fields.map(|(name, value)| (name.clone(), View::of(value, &Kind::Any, "params.needs"))).collect()
}
