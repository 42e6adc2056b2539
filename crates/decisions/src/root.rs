//! The root of a case as it was recorded, and why two cases are one cause or are not.

use super::params::VerdictInputs;
use super::recorded::Decisions;
use super::selection::{CaseList, StepQuery, StepSelection, find, refused};
use super::steps::{JournalStep, damaged};
use asterisk_script::probe::Probes;
use asterisk_session::{Session, SessionError};
use asterisk_walk::{EventBody, EventKind, Name, Root};
use serde::Serialize;
use serde_json::Value;
use std::ops::ControlFlow;

/// The most other cases of a cause that are listed.
const MOST: usize = 50;

/// The root of a case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseRoot {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// Its name.
    pub name: String,
    /// The path of the step that it was found for.
    pub step: String,
    /// The root.
    #[serde(flatten)]
    pub root: Root,
    /// The other cases of the run with this root, up to fifty, by id.
    pub others: Vec<String>,
    /// How many there are.
    pub other_cases: usize,
    /// The comparison with the case that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<RootComparison>,
}

/// Why two cases are one cause, or are not.
#[derive(Clone, Debug, Serialize)]
pub struct RootComparison {
    /// The other case.
    pub case: String,
    /// Its name.
    pub name: String,
    /// Its root.
    pub root: Root,
    /// Whether both are one cause.
    pub same: bool,
    /// The result of each rule for both, re-evaluated; empty if the recorded sources cannot be read.
    pub rules: Vec<RuleComparison>,
}

/// The results of a rule for two cases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleComparison {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub at: String,
    /// What it gives as the keys, nothing where it gives none.
    pub keys: [Option<Value>; 2],
    /// Whether it gives both the same key.
    pub same: bool,
    /// Which of the cases it decides: the first rule that gives a key does.
    pub decides: [bool; 2],
}

/// What there is to show.
#[derive(Clone, Debug)]
pub enum FoundRoot {
    /// Of a case.
    Case(Box<CaseRoot>),
    /// The cases, of which one must be named.
    Cases(CaseList),
}

/// The root of the requested case, and why another case of the run has the same cause or a different one. An error if the case
/// does not exist or no root of it was recorded.
pub fn root(session: &Session, asked: &StepQuery, with: Option<&str>) -> Result<FoundRoot, SessionError> {
    let decisions = Decisions::open(session)?;
    match find(&decisions, asked)? {
        StepSelection::Cases(list) => Ok(FoundRoot::Cases(list)),
        StepSelection::Case { run, case, steps } => Ok(FoundRoot::Case(Box::new(decisions.root(&run, &case, &steps, with)?))),
    }
}

impl Decisions {
    /// The last root of a case with these steps, compared with another case of the run.
    pub fn root(&self, run: &str, case: &str, steps: &[JournalStep], with: Option<&str>) -> Result<CaseRoot, SessionError> {
        let (step, root) = self.recorded_root(run, case)?;
        let comparison = with.map(|other| self.compared(run, (case, &root), other, steps, &step)).transpose()?;
        let mut others = if root.is_known() { self.cases_of_root(run, &root.key)? } else { Vec::new() };
        others.retain(|other| other != case);
        let other_cases = others.len();
        others.truncate(MOST);
        let name = self.record().store().case(run, case)?.name;
        let (run, case) = (run.to_owned(), case.to_owned());
        Ok(CaseRoot { run, case, name, step: step.to_string(), root, others, other_cases, with: comparison })
    }

    /// The last root that was recorded of a case, with the path of the step that it was found for.
    fn recorded_root(&self, run: &str, case: &str) -> Result<(Name, Root), SessionError> {
        let events = self.record().store().events(run, case)?.into_iter().rev();
        let found = events.into_iter().find_map(|(_, event)| match event.what {
            EventBody::Root { root, .. } => Some((event.path, root.hash())),
            _ => None,
        });
        let Some((path, hash)) = found else {
            let message = format!("no root of the case `{case}` was recorded");
            let help = "a root is found for the first step whose answerer reads its parameters, in a pipeline with `roots:`";
            return Err(refused("input/no-root", message, Some(help.into())));
        };
        let text = self.record().store().blob(&hash)?.ok_or_else(|| damaged(format!("the content {hash} is missing")))?;
        let root =
            serde_json::from_str(&text).map_err(|error| damaged(format!("the root of `{case}` cannot be read: {error}")))?;
        Ok((path, root))
    }

    /// The cases of a run with a root, in the order of their ids.
    fn cases_of_root(&self, run: &str, key: &str) -> Result<Vec<String>, SessionError> {
        let mut cases: Vec<String> = Vec::new();
        self.record().store().each_event_of(EventKind::Root, run, |event| {
            if let EventBody::Root { key: found, .. } = &event.what {
                cases.retain(|case| event.case != *case);
                if *found == key {
                    cases.push(event.case.to_string());
                }
            }
            ControlFlow::Continue(())
        })?;
        cases.sort();
        Ok(cases)
    }

    fn compared(
        &self,
        run: &str,
        (case, root): (&str, &Root),
        other: &str,
        steps: &[JournalStep],
        step: &str,
    ) -> Result<RootComparison, SessionError> {
        let other = &self.record().case(run, other)?;
        let name = self.record().store().case(run, other)?.name;
        let (_, of_other) = self.recorded_root(run, other)?;
        let same = root.is_known() && root.key == of_other.key;
        let plan = steps.iter().find(|known| *known.path == *step).and_then(|step| self.project(run, step, Probes::None).ok());
        let mut rules = Vec::new();
        if let Some(plan) = plan.map(|project| std::sync::Arc::clone(&project.plan)) {
            let said = [case, other].map(|case| self.every_root(run, case, &plan));
            let [one, two] = said;
            let (one, two) = (one?, two?);
            let mut decided = [false, false];
            for ((rule, one), two) in plan.roots.iter().flat_map(|roots| &roots.rules).zip(one).zip(two) {
                let keys = [one, two];
                let decides = [0, 1].map(|at| keys[at].is_some() && !decided[at]);
                for at in [0, 1] {
                    decided[at] |= keys[at].is_some();
                }
                if keys.iter().any(Option::is_some) {
                    let (id, name, at) = (rule.id.to_string(), rule.name.to_string(), rule.at.to_string());
                    let alike = keys[0].is_some() && keys[0] == keys[1];
                    rules.push(RuleComparison { id, name, at, keys, same: alike, decides });
                }
            }
        }
        Ok(RootComparison { case: other.to_owned(), name, root: of_other, same, rules })
    }

    /// The key that each rule gives a case, evaluated again with the recorded results of queries.
    fn every_root(&self, run: &str, id: &str, plan: &asterisk_walk::Plan) -> Result<Vec<Option<Value>>, SessionError> {
        let VerdictInputs { case, params, needs } = self.verdict_inputs(run, id)?;
        Ok(params.every_root(&case, plan, &needs))
    }
}
