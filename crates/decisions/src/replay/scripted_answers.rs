//! Making scripted answers again, where something that they depend on has changed.

use super::answer_maker::{AnswerAgain, AnswerMaker, ChangedFields, ReplayedStep};
use super::case_record::{VerdictAgain, views};
use super::recorded_walk::{RecordedAnswer, RecordedStep, RecordedWalk, enter, event};
use super::replay_walk::ReplayWalk;
use asterisk_base::model::{Hash, Kind};
use asterisk_diag::Code;
use asterisk_script::View;
use asterisk_session::SessionError;
use asterisk_walk::{
    BranchKind, Content, EventBody, Name, Params, Query, RecordedVerdict, ScriptedStep, StepContext, VerdictQueries, WalkState,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// What is needed to make an answer again.
struct AnswerInputsAgain {
    state: WalkState,
    needs: Vec<(String, View)>,
}

impl ReplayWalk<'_> {
    /// The answer of a step by the current texts.
    pub(super) fn answer_again(
        &self,
        recorded_walk: &RecordedWalk,
        (step, answer): (&RecordedStep, &RecordedAnswer),
        at: ReplayedStep<'_>,
    ) -> Result<AnswerAgain, SessionError> {
        let Some(maker) = self.answers else {
            return Ok(if at.same_inputs { AnswerAgain::Recorded } else { AnswerAgain::Unknown });
        };
        match &step.fork {
            Some(fork @ EventBody::Fork { by: BranchKind::Items, .. }) if self.plan.node(at.node).subpipeline.is_none() => {
                self.items_again(maker, recorded_walk, (step, fork), at)
            }
            _ if answer.by == "script" => self.scripted(maker, answer, at, &self.plan.node(at.node).kind),
            _ if at.same_inputs => Ok(AnswerAgain::Recorded),
            _ => Ok(AnswerAgain::Unknown),
        }
    }

    /// The answer of a responder. `kind` is the shape of the artifact.
    fn scripted(
        &self,
        maker: AnswerMaker<'_>,
        answer: &RecordedAnswer,
        at: ReplayedStep<'_>,
        kind: &Kind,
    ) -> Result<AnswerAgain, SessionError> {
        let change = maker.check.change(at.node);
        if at.same_inputs && !maker.answers.may_differ(self.plan, change, answer.params.as_ref())? {
            return Ok(AnswerAgain::Recorded);
        }
        let Some(inputs) = self.inputs(maker, answer, at)? else { return Ok(AnswerAgain::Unknown) };
        let context = self.context(at, &inputs.state);
        let made = Self::with_params(maker, &context, &inputs.needs, |make| ScriptedStep { step: context, make }.artifact())?;
        Ok(match made {
            Ok(artifact) => {
                let content = Content::new(View::of(&artifact, kind, "artifact"));
                if content.hash() == answer.artifact { AnswerAgain::Recorded } else { AnswerAgain::Other(content) }
            }
            // How long a script takes depends on the machine.
            Err(failure) if failure.diagnostic.is(Code::ScriptDeadline) => AnswerAgain::Unknown,
            Err(failure) => AnswerAgain::Failed(failure),
        })
    }

    /// The merged artifact of a `foreach` node whose branches scripts answered.
    fn items_again(
        &self,
        maker: AnswerMaker<'_>,
        recorded_walk: &RecordedWalk,
        (step, fork): (&RecordedStep, &EventBody),
        at: ReplayedStep<'_>,
    ) -> Result<AnswerAgain, SessionError> {
        let Some(foreach) = &self.plan.node(at.node).foreach else { return Ok(AnswerAgain::Unknown) };
        let change = maker.check.change(at.node);
        if at.same_inputs && !change.any() {
            return Ok(AnswerAgain::Recorded);
        }
        let mut forked = at.state.clone();
        forked.apply(&event(step.at, fork.clone()));
        let (mut other, mut same_items) = (change.texts, None);
        for number in 0..forked.inner.len() {
            let branch = forked.inner[number].clone();
            let within = recorded_walk.of_place(&branch.place);
            let answer = within.as_ref().and_then(|within| within.steps.last()?.answer.clone());
            // A failed branch, without an answer.
            let Some(answer) = answer.filter(|answer| answer.by == "script") else { return Ok(AnswerAgain::Unknown) };
            let path = branch.next_path();
            let inner = ReplayedStep { state: &branch, path: &path, ..at };
            if same_items.is_none() {
                same_items = Some(self.same_items(maker, &answer, at, fork)?);
            }
            let again = self.scripted(maker, &answer, inner, &foreach.kind)?;
            let content = match again {
                AnswerAgain::Recorded => {
                    let value = maker.answers.record.value(&answer.artifact)?;
                    Content::new(View::of(&value, &foreach.kind, "artifact"))
                }
                AnswerAgain::Other(content) => {
                    other = true;
                    content
                }
                AnswerAgain::Failed(_) | AnswerAgain::Unknown => return Ok(again),
            };
            let name: &Name = &self.plan.node(at.node).name;
            enter(&mut forked.inner[number], name, step.at, (content, answer.confidence), &answer.by, None);
            forked.inner[number].apply(&event(step.at, EventBody::WalkComplete { node: name.clone() }));
        }
        if same_items == Some(false) {
            return Ok(AnswerAgain::Unknown);
        }
        if !other {
            return Ok(AnswerAgain::Recorded);
        }
        Ok(match foreach.merged(self.plan, at.node, &forked.inner) {
            Ok(merged) => {
                let content = Content::new(View::of(&merged, &self.plan.node(at.node).kind, "artifact"));
                let recorded = step.answer.as_ref().map(|answer| answer.artifact);
                if recorded == Some(content.hash()) { AnswerAgain::Recorded } else { AnswerAgain::Other(content) }
            }
            Err(failure) => AnswerAgain::Failed(failure),
        })
    }

    /// Whether the items of a `foreach` node are the recorded ones. `answer` is that of a branch.
    fn same_items(
        &self,
        maker: AnswerMaker<'_>,
        answer: &RecordedAnswer,
        at: ReplayedStep<'_>,
        fork: &EventBody,
    ) -> Result<bool, SessionError> {
        let Some(inputs) = self.inputs(maker, answer, at)? else { return Ok(false) };
        let context = self.context(at, &inputs.state);
        // The list of items reads no queries.
        let listed = Self::with_params(maker, &context, &[], |make| ScriptedStep { step: context, make }.branches())?;
        let EventBody::Fork { branches, .. } = fork else { return Ok(false) };
        Ok(matches!(listed, Ok(Some(listed)) if listed == *branches))
    }

    /// The inputs of a step. `None` if its script reads what was not recorded.
    fn inputs(
        &self,
        maker: AnswerMaker<'_>,
        answer: &RecordedAnswer,
        at: ReplayedStep<'_>,
    ) -> Result<Option<AnswerInputsAgain>, SessionError> {
        let Some(params) = &answer.params else { return Ok(None) };
        let text = maker.answers.record.text(params)?;
        let needs = views(&maker.answers.record.part(&text, "needs")?);
        let mut state = maker.answers.state(at.state, at.path, &text)?;
        let reads = |group: &str, field: Option<&str>| {
            self.same.reads(at.node).any(|path| {
                let mut parts = path.split(['.', '[']);
                if parts.next() != Some("params") {
                    return false;
                }
                let (read, part) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                read.is_empty() || read == group && (part.is_empty() || field.is_none_or(|field| field == part))
            })
        };
        let known: BTreeSet<&str> = needs.iter().map(|(name, _)| name.as_str()).collect();
        let unrecorded = |query: &&'static Query| {
            let field = query.field();
            !known.contains(field.as_str()) && (reads("needs", Some(&field)) || field == "siblings" && reads("siblings", None))
        };
        if ScriptedStep::queries(&self.context(at, &state)).iter().any(unrecorded) {
            return Ok(None);
        }
        let content = match &self.plan.verdict {
            Some(_) if reads("verdict", None) => match maker.answers.verdict(self.plan)? {
                VerdictAgain::Unknown => return Ok(None),
                VerdictAgain::Made(_, content) => content,
                VerdictAgain::None => Content::new(View::null()),
            },
            // It is not made for a script that does not read it.
            _ => Content::new(View::null()),
        };
        let code = maker.answers.record.part(&text, "code")?;
        state.verdict = self.plan.verdict.as_ref().map(|rules| RecordedVerdict::again(rules.address, content, &code));
        Ok(Some(AnswerInputsAgain { state, needs }))
    }

    fn context<'s>(&'s self, at: ReplayedStep<'s>, state: &'s WalkState) -> StepContext<'s> {
        let ReplayedStep { node, path, moment, member, .. } = at;
        StepContext { plan: self.plan, node, walk: state, path, moment, member, handoffs: state.handoffs }
    }

    /// Passes on what makes the parameters of a step.
    fn with_params<T>(
        maker: AnswerMaker<'_>,
        context: &StepContext<'_>,
        needs: &[(String, View)],
        run: impl FnOnce(&dyn Fn() -> Params) -> T,
    ) -> Result<T, SessionError> {
        let (case, params) = maker.answers.record.inputs()?;
        let no_queries: &VerdictQueries<'_> = &|_| Vec::new();
        Ok(run(&|| params.for_step(case, context, &context.state(None), needs, no_queries)))
    }

    /// The fields in which an answer differs from the recorded one.
    pub(super) fn changed_fields(&self, before: &Hash, after: &Content) -> Result<ChangedFields, SessionError> {
        let Some(maker) = self.answers else { return Ok(BTreeMap::new()) };
        let before = maker.answers.record.value(before)?;
        let after = after.view().map(View::json).unwrap_or_default();
        let names: BTreeSet<&String> =
            [&before, &after].into_iter().filter_map(Value::as_object).flat_map(|map| map.keys()).collect();
        let field = |name: &String| {
            let pair = [&before, &after].map(|value| value.get(name).cloned().unwrap_or(json!(null)));
            (pair[0] != pair[1]).then(|| (name.clone(), pair))
        };
        Ok(names.into_iter().filter_map(field).collect())
    }
}
