//! What makes scripted answers again: the record of a case, the plan, and what has changed between the texts.

use super::answer_check::{AnswerChange, AnswerCheck};
use super::case_record::{CaseRecord, VerdictAgain};
use asterisk_base::model::{Hash, Kind};
use asterisk_pipeline::NodeIx;
use asterisk_script::View;
use asterisk_session::SessionError;
use asterisk_walk::{Content, Failure, Plan, StepMoment, TeamMember, WalkState, has_part};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// What makes the scripted answers of a case again, with one plan.
pub(super) struct ScriptedAnswers<'a> {
    pub(super) record: &'a CaseRecord<'a>,
    root: &'a Plan,
    /// The address of recorded rules of the verdict that differ from those of the plan in weights alone.
    only_weights: Option<Hash>,
    verdict: OnceCell<VerdictAgain>,
}

/// Makes the answers of the nodes of one plan again.
#[derive(Clone, Copy)]
pub(super) struct AnswerMaker<'a> {
    pub(super) answers: &'a ScriptedAnswers<'a>,
    /// What has changed of their inputs.
    pub(super) check: &'a AnswerCheck,
}

/// An answer by the current texts.
pub(super) enum AnswerAgain {
    /// The recorded one.
    Recorded,
    /// Another one.
    Other(Content),
    /// The script fails.
    Failed(Failure),
    /// It depends on what was not recorded.
    Unknown,
}

/// The fields in which two answers differ, each with its recorded and its current value.
pub(super) type ChangedFields = BTreeMap<String, [Value; 2]>;

/// A step that is replayed: where, and in what state.
#[derive(Clone, Copy)]
pub(super) struct ReplayedStep<'a> {
    pub(super) node: NodeIx,
    pub(super) state: &'a WalkState,
    pub(super) path: &'a str,
    pub(super) moment: StepMoment,
    pub(super) member: &'a TeamMember,
    /// Whether the answerer has the recorded state and artifacts before it.
    pub(super) same_inputs: bool,
}

impl AnswerMaker<'_> {
    /// The same within a node's sub-pipeline.
    pub(super) fn subpipeline(&self, node: NodeIx) -> Option<Self> {
        Some(Self { answers: self.answers, check: self.check.subpipeline(node)? })
    }
}

impl<'a> ScriptedAnswers<'a> {
    pub(super) fn new(record: &'a CaseRecord<'a>, root: &'a Plan, only_weights: Option<Hash>) -> Self {
        Self { record, root, only_weights, verdict: OnceCell::new() }
    }

    /// The verdict of the case by a plan: the root, or that of a sub-pipeline.
    pub(super) fn verdict(&self, plan: &Plan) -> Result<VerdictAgain, SessionError> {
        let rules = |plan: &Plan| plan.verdict.as_ref().map(|rules| rules.address);
        if rules(plan) != rules(self.root) {
            return self.record.verdict(plan, None);
        }
        if let Some(made) = self.verdict.get() {
            return Ok(made.clone());
        }
        let made = self.record.verdict(self.root, self.only_weights)?;
        Ok(self.verdict.get_or_init(|| made).clone())
    }

    /// Whether an answer given these recorded parameters may be another.
    pub(super) fn may_differ(&self, plan: &Plan, change: AnswerChange, params: Option<&Hash>) -> Result<bool, SessionError> {
        let Some(params) = params.filter(|_| !change.texts) else { return Ok(change.any()) };
        if !change.any() {
            return Ok(false);
        }
        let text = self.record.text(params)?;
        if change.verdict {
            let VerdictAgain::Made(_, content) = self.verdict(plan)? else { return Ok(true) };
            if !has_part(&text, "verdict", &content) {
                return Ok(true);
            }
        }
        if !change.evidence {
            return Ok(false);
        }
        let (case, params) = self.record.inputs()?;
        Ok(!has_part(&text, "evidence", &params.evidence_by(case, plan)))
    }

    /// The walk with the values of its artifacts, and what the record holds of the parameters next to them.
    pub(super) fn state(&self, walk: &WalkState, path: &str, params: &str) -> Result<WalkState, SessionError> {
        let mut state = walk.clone();
        for (name, artifact) in &mut state.prior {
            if artifact.view().is_none() {
                let kind = self.root.kind_at(path, name).unwrap_or(Kind::Any);
                *artifact = Content::new(View::of(&self.record.value(&artifact.hash())?, &kind, "artifact"));
            }
        }
        let bindings = self.record.part(params, "bindings")?;
        let bindings = bindings.as_object().into_iter().flatten();
        state.bindings = bindings.filter_map(|(name, id)| Some((name.clone(), id.as_i64()?))).collect();
        Ok(state)
    }
}
