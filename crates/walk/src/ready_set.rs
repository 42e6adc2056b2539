//! The steps of a walk that can be taken now, and taking them: one, or those of several branches concurrently.
//!
//! Branches advance in batches: those that are behind take their next step, and steps are recorded in the order of the branches,
//! whatever the concurrency. So a run is the same at any concurrency, and after any interruption.

use super::branch::BranchKind;
use super::error::Failure;
use super::foreach_plan::ForeachPlan;
use super::journal::JournalError;
use super::name::Name;
use super::plan::Plan;
use super::state::{WalkState, WalkStatus};
use super::step::{StepResult, Stepper};
use super::step_spans::{StepSpans, in_spans};
use super::walker::{WalkOwner, Walker};
use asterisk_pipeline::CONCURRENCY;
use asterisk_script::probe::{ThreadContext, frame};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};
use tracing::Span;

/// The steps that can be taken now.
#[derive(Default)]
pub(super) struct ReadySet<'a> {
    /// The first in the order of recording. Nearly always the only one, and then no list is allocated; a `SmallVec` would keep
    /// its items' borrows until it is dropped.
    first: Option<ReadyStep<'a>>,
    rest: Vec<ReadyStep<'a>>,
    /// The concurrency; 0 means 1.
    at_once: usize,
}

/// The walks that the failure of a step is attributed to, instead of the case.
#[derive(Clone, Copy, Default)]
pub(super) struct FailureCollectors<'a> {
    /// The branch that collects any failure.
    any: Option<&'a Name>,
    /// The subpipeline that collects the failure to answer a node.
    unanswered: Option<&'a Name>,
}

impl<'a> FailureCollectors<'a> {
    /// The path prefix of the walk that collects a failure; `None` if it is one of the case.
    pub(super) fn of(&self, failure: &Failure) -> Option<&'a Name> {
        self.unanswered.filter(|_| failure.is_unanswered()).or(self.any)
    }
}

/// A step to be taken.
pub(super) struct ReadyStep<'a> {
    act: StepAction<'a>,
    pub(super) collects: FailureCollectors<'a>,
    /// Its span and those around it, outermost first; none without a subscriber.
    spans: Vec<Span>,
}

enum StepAction<'a> {
    /// Records that the walk cannot continue.
    Fail(Mutex<Option<StepResult>>),
    Take(Stepper<'a>),
    Descend(Stepper<'a>, &'a Plan),
    Finish(Stepper<'a>, &'a Plan, &'a WalkState),
    Split(Stepper<'a>, &'a ForeachPlan),
    Merge(Stepper<'a>, &'a ForeachPlan),
    Wave(Stepper<'a>),
    Join(Stepper<'a>),
}

impl<'a> Walker<'a> {
    /// Collects the steps that can be taken now, of the walk itself or of its inner walks. `None` if the case has to wait for its
    /// next phase.
    pub(super) fn ready<'b>(
        self,
        who: &WalkOwner<'b>,
        state: &'b WalkState,
        collects: FailureCollectors<'b>,
        ready_set: &mut ReadySet<'b>,
    ) where
        'a: 'b,
    {
        let plan: &'b Plan = self.plan;
        let node = match plan.next(state) {
            Ok(node) => node,
            Err(failure) => {
                let job = ReadyStep::failed(self.stopped(who.name, state, failure));
                return ready_set.push(ReadyStep { collects, ..job });
            }
        };
        let step = Stepper { walker: self, case: who.case, case_name: who.name, case_params: who.params, state, node };
        let linked = plan.node(node);
        let foreach = linked.foreach.as_ref().filter(|_| !state.is_by(BranchKind::Items));
        let act = match (state.inner.as_slice(), linked.subpipeline.as_deref()) {
            ([], _) if plan.pipeline.waves() && state.origin.is_none() => StepAction::Wave(step),
            ([], _) if plan.pipeline.at(node).phase > self.until => return,
            ([], subpipeline) => match (foreach, subpipeline) {
                (Some(foreach), _) => StepAction::Split(step, foreach),
                (None, Some(subpipeline)) => StepAction::Descend(step, subpipeline),
                (None, None) => StepAction::Take(step),
            },
            ([inner], Some(subpipeline)) if inner.origin.is_none() => {
                let over = match inner.status {
                    WalkStatus::Done => true,
                    WalkStatus::Error => subpipeline.result.is_some(),
                    _ => false,
                };
                if over {
                    StepAction::Finish(step, subpipeline, inner)
                } else {
                    let unanswered = subpipeline.result.as_ref().map(|_| &inner.place);
                    let collects = FailureCollectors { unanswered: unanswered.or(collects.unanswered), ..collects };
                    let shadow =
                        self.shadow.and_then(|shadow| shadow.node(shadow.pipeline.node(&linked.name)?).subpipeline.as_deref());
                    // Phases apply to the cases' own walks.
                    let inherited = Some(plan.member(state.walker.as_deref(), self.inherited));
                    let within = Walker { plan: subpipeline, shadow, inherited, until: usize::MAX, ..self };
                    return within.ready(who, inner, collects, ready_set);
                }
            }
            (branches, _) => {
                let of = |branch: &WalkState| branch.origin.as_ref().map_or(0, |origin| origin.sequence);
                let open = || branches.iter().filter(|branch| !branch.is_over());
                let Some(group) = open().map(of).min() else {
                    let act = match foreach {
                        Some(foreach) if branches.iter().all(|branch| branch.is_by(BranchKind::Items)) => {
                            StepAction::Merge(step, foreach)
                        }
                        _ => StepAction::Join(step),
                    };
                    return ready_set.push(ReadyStep { act, collects, spans: Vec::new() });
                };
                let open: Vec<&WalkState> = open().filter(|branch| of(branch) == group).collect();
                return self.branches(who, &open, (foreach, collects), ready_set);
            }
        };
        ready_set.push(ReadyStep { act, collects, spans: Vec::new() });
    }

    /// Whether the walk continues without the node of a branch if that fails.
    fn goes_on(&self, branch: &WalkState) -> bool {
        let node = branch.node.as_deref().and_then(|name| self.plan.pipeline.node(name));
        branch.is_by(BranchKind::Waves)
            && node.is_some_and(|node| self.plan.node(node).policy.is_some())
            && self.plan.policy.as_ref().is_none_or(|policy| !policy.fail_fast)
    }

    /// Collects the next steps of the branches that are behind.
    fn branches<'b>(
        self,
        who: &WalkOwner<'b>,
        open: &[&'b WalkState],
        (foreach, collects): (Option<&'b ForeachPlan>, FailureCollectors<'b>),
        ready_set: &mut ReadySet<'b>,
    ) where
        'a: 'b,
    {
        // Branches with a pending request are retried last, and block no other.
        let free = || open.iter().filter(|branch| branch.waits().is_none());
        let behind = free().map(|branch| branch.ticks).min();
        for branch in open.iter().filter(|branch| Some(branch.ticks) == behind || branch.waits().is_some()) {
            let kept = foreach.is_some_and(|foreach| foreach.collect) || self.goes_on(branch);
            let collects = if kept { FailureCollectors { any: Some(&branch.place), unanswered: None } } else { collects };
            let before = ready_set.len();
            self.ready(who, branch, collects, ready_set);
            // Nested branches alternate with their siblings.
            if open.len() > 1 {
                ready_set.truncate(before + 1);
            }
        }
        if open.len() > 1 || ready_set.at_once == 0 {
            let own = if open.iter().all(|branch| branch.is_by(BranchKind::Waves)) { self.parallel } else { CONCURRENCY };
            ready_set.at_once = foreach.map_or(own, |foreach| foreach.concurrency);
        }
    }
}

impl ReadyStep<'_> {
    /// A step that records a failure.
    pub(super) fn failed(taken: StepResult) -> Self {
        Self { act: StepAction::Fail(Mutex::new(Some(taken))), collects: FailureCollectors::default(), spans: Vec::new() }
    }

    fn stepper(&self) -> Option<&Stepper<'_>> {
        match &self.act {
            StepAction::Fail(_) => None,
            StepAction::Take(step)
            | StepAction::Descend(step, _)
            | StepAction::Finish(step, ..)
            | StepAction::Split(step, _)
            | StepAction::Merge(step, _)
            | StepAction::Wave(step)
            | StepAction::Join(step) => Some(step),
        }
    }

    fn run(&self) -> StepResult {
        let name = self.stepper().map_or("", |step| step.name().as_str());
        frame("step", name, || self.act())
    }

    fn act(&self) -> StepResult {
        match &self.act {
            StepAction::Fail(taken) => {
                let taken = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
                taken.unwrap_or_default()
            }
            StepAction::Take(step) => step.take(),
            StepAction::Descend(step, subpipeline) => step.descend(subpipeline),
            StepAction::Finish(step, subpipeline, inner) => step.finish(subpipeline, inner),
            StepAction::Split(step, foreach) => step.split(foreach),
            StepAction::Merge(step, foreach) => step.merge(foreach),
            StepAction::Wave(step) => step.wave(),
            StepAction::Join(step) => step.join(),
        }
    }
}

impl<'a> ReadySet<'a> {
    pub(super) fn push(&mut self, job: ReadyStep<'a>) {
        if self.first.is_none() { self.first = Some(job) } else { self.rest.push(job) }
    }

    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Keeps the first `most` steps, at least one.
    fn truncate(&mut self, most: usize) {
        self.rest.truncate(most - 1);
    }

    fn get(&self, index: usize) -> Option<&ReadyStep<'a>> {
        if index == 0 { self.first.as_ref() } else { self.rest.get(index - 1) }
    }

    fn jobs(&self) -> impl Iterator<Item = &ReadyStep<'a>> {
        self.first.iter().chain(&self.rest)
    }

    /// Opens the spans of the steps.
    pub(super) fn trace(&mut self, spans: &mut StepSpans) {
        for job in self.first.iter_mut().chain(&mut self.rest) {
            job.spans = job.stepper().map(|step| spans.around(step)).unwrap_or_default();
        }
    }

    /// Takes the steps and records each in order. Ends with the first that fails, and when the recorder stops; later steps that
    /// were taken are discarded.
    pub(super) fn each(
        &self,
        stop: &AtomicBool,
        mut record: impl FnMut(&ReadyStep<'a>, StepResult) -> Result<Option<Failure>, JournalError>,
    ) -> Result<Option<Failure>, JournalError> {
        let at_once = self.at_once.min(self.len());
        if at_once <= 1 {
            for (index, job) in self.jobs().enumerate() {
                if index > 0 && stop.load(Ordering::Relaxed) {
                    break;
                }
                if let Some(failure) = in_spans(&job.spans, || record(job, job.run()))? {
                    return Ok(Some(failure));
                }
            }
            return Ok(None);
        }
        let next = AtomicUsize::new(0);
        let window = CommitWindow { recorded: Mutex::new(Some(0)), moved: Condvar::new(), width: at_once };
        let context = ThreadContext::here();
        std::thread::scope(|scope| {
            let (answers, answered) = mpsc::channel::<(usize, StepResult)>();
            for _ in 0..at_once {
                let (answers, next, window) = (answers.clone(), &next, &window);
                let work = move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = self.get(index) else { return };
                        if !window.reaches(index) || answers.send((index, in_spans(&job.spans, || job.run()))).is_err() {
                            return;
                        }
                    }
                };
                scope.spawn(|| context.within(work));
            }
            drop(answers);
            let mut waiting: Vec<Option<StepResult>> = self.jobs().map(|_| None).collect();
            let mut result = Ok(None);
            let mut next = 0;
            'all: while let Ok((index, taken)) = answered.recv() {
                waiting[index] = Some(taken);
                while let Some(taken) = waiting.get_mut(next).and_then(Option::take) {
                    let Some(job) = self.get(next) else { break 'all };
                    result = in_spans(&job.spans, || record(job, taken));
                    next += 1;
                    if !matches!(result, Ok(None)) || stop.load(Ordering::Relaxed) {
                        break 'all;
                    }
                    window.recorded(next);
                }
            }
            window.close();
            result
        })
    }
}

/// Limits how far steps run ahead of the record: by the concurrency, so that no more can be lost.
struct CommitWindow {
    /// The number of recorded steps; `None` once no more are wanted.
    recorded: Mutex<Option<usize>>,
    moved: Condvar,
    width: usize,
}

impl CommitWindow {
    /// Blocks until a step is within the window; false if it never will be.
    fn reaches(&self, index: usize) -> bool {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *recorded {
                None => return false,
                Some(next) if index < next + self.width => return true,
                Some(_) => recorded = self.moved.wait(recorded).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn recorded(&self, next: usize) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        self.moved.notify_all();
    }

    fn close(&self) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.moved.notify_all();
    }
}
