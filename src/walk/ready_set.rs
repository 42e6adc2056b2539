//! Which steps of a walk can be taken now, and taking them: one, or those of several branches at once.
//!
//! Branches go on side by side: those that are behind take their next step, in their order, and are recorded in that order however
//! many are taken at once. So a run is the same at any concurrency, and after any interruption.

use super::branch::BranchKind;
use super::error::Failure;
use super::foreach_plan::ForeachPlan;
use super::journal::JournalError;
use super::name::Name;
use super::plan::Plan;
use super::state::{WalkState, WalkStatus};
use super::step::{StepResult, Stepper};
use super::walker::{WalkOwner, Walker};
use crate::pipeline::CONCURRENCY;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, mpsc};

/// The steps that can be taken now.
#[derive(Default)]
pub(super) struct ReadySet<'a> {
    /// In the order in which they are recorded. Nearly always there is but one, which needs no list; a `SmallVec` would keep what its
    /// items borrow until it is dropped.
    first: Option<RoundStep<'a>>,
    rest: Vec<RoundStep<'a>>,
    /// How many are taken at once; 0 stands for 1.
    at_once: usize,
}

/// A step to be taken.
pub(super) struct RoundStep<'a> {
    act: StepAction<'a>,
    /// The branch that it fails, if it fails, instead of the case.
    pub(super) collects: Option<&'a Name>,
}

/// What there is to do.
enum StepAction<'a> {
    /// To record that the walk cannot go on.
    Fail(Mutex<Option<StepResult>>),
    Take(Stepper<'a>),
    Descend(Stepper<'a>, &'a Plan),
    Finish(Stepper<'a>, &'a WalkState),
    Split(Stepper<'a>, &'a ForeachPlan),
    Merge(Stepper<'a>, &'a ForeachPlan),
    Wave(Stepper<'a>),
    Join(Stepper<'a>),
}

impl<'a> Walker<'a> {
    /// Finds the steps that can be taken now: of the walk itself, or of what goes on in the place of the node it is at. None
    /// if the case has to wait for its next phase. `collects`: the branch that a failure fails instead of the case.
    pub(super) fn ready<'b>(self, who: &WalkOwner<'b>, state: &'b WalkState, collects: Option<&'b Name>, round: &mut ReadySet<'b>)
    where
        'a: 'b,
    {
        let plan: &'b Plan = self.plan;
        let node = match plan.next(state) {
            Ok(node) => node,
            Err(failure) => {
                let job = RoundStep::failed(self.stopped(who.name, state, failure));
                return round.push(RoundStep { collects, ..job });
            }
        };
        let step = Stepper { walker: self, case: who.case, case_name: who.name, case_params: who.params, state, node };
        let linked = plan.node(node);
        let fan = linked.fan.as_ref().filter(|_| !state.is_by(BranchKind::Items));
        let act = match (state.inner.as_slice(), linked.part.as_deref()) {
            ([], _) if plan.pipeline.waves() && state.lone.is_none() => StepAction::Wave(step),
            ([], _) if plan.pipeline.at(node).phase > self.until => return,
            ([], part) => match (fan, part) {
                (Some(fan), _) => StepAction::Split(step, fan),
                (None, Some(part)) => StepAction::Descend(step, part),
                (None, None) => StepAction::Take(step),
            },
            ([inner], Some(part)) if inner.lone.is_none() => {
                if inner.status == WalkStatus::Done {
                    StepAction::Finish(step, inner)
                } else {
                    let shadow = self.shadow.and_then(|shadow| shadow.node(shadow.pipeline.node(&linked.name)?).part.as_deref());
                    // Phases are of the cases' own walks.
                    let inherited = Some(plan.member(state.walker.as_deref(), self.inherited));
                    let within = Walker { plan: part, shadow, inherited, until: usize::MAX, ..self };
                    return within.ready(who, inner, collects, round);
                }
            }
            (branches, _) => {
                let of = |branch: &WalkState| branch.lone.as_ref().map_or(0, |lone| lone.sequence);
                let open = || branches.iter().filter(|branch| !branch.is_over());
                let Some(group) = open().map(of).min() else {
                    let act = match fan {
                        Some(fan) if branches.iter().all(|branch| branch.is_by(BranchKind::Items)) => {
                            StepAction::Merge(step, fan)
                        }
                        _ => StepAction::Join(step),
                    };
                    return round.push(RoundStep { act, collects });
                };
                let open: Vec<&WalkState> = open().filter(|branch| of(branch) == group).collect();
                return self.branches(who, &open, (fan, collects), round);
            }
        };
        round.push(RoundStep { act, collects });
    }

    /// The same of branches: of those that are behind the others, the next step.
    fn branches<'b>(
        self,
        who: &WalkOwner<'b>,
        open: &[&'b WalkState],
        (fan, collects): (Option<&'b ForeachPlan>, Option<&'b Name>),
        round: &mut ReadySet<'b>,
    ) where
        'a: 'b,
    {
        // Those that wait for an answer are asked for it again, and hold up no other.
        let free = || open.iter().filter(|branch| branch.waits().is_none());
        let behind = free().map(|branch| branch.ticks).min();
        for branch in open.iter().filter(|branch| Some(branch.ticks) == behind || branch.waits().is_some()) {
            let collects = if fan.is_some_and(|fan| fan.collect) { Some(&branch.place) } else { collects };
            let before = round.len();
            self.ready(who, branch, collects, round);
            // Branches within a branch take turns while there are others beside it.
            if open.len() > 1 {
                round.truncate(before + 1);
            }
        }
        if open.len() > 1 || round.at_once == 0 {
            round.at_once = fan.map_or(CONCURRENCY, |fan| fan.concurrency);
        }
    }
}

impl RoundStep<'_> {
    /// That the walk cannot go on.
    pub(super) fn failed(taken: StepResult) -> Self {
        Self { act: StepAction::Fail(Mutex::new(Some(taken))), collects: None }
    }

    fn run(&self) -> StepResult {
        match &self.act {
            StepAction::Fail(taken) => {
                let taken = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
                taken.unwrap_or_default()
            }
            StepAction::Take(step) => step.take(),
            StepAction::Descend(step, part) => step.descend(part),
            StepAction::Finish(step, inner) => step.finish(inner),
            StepAction::Split(step, fan) => step.split(fan),
            StepAction::Merge(step, fan) => step.merge(fan),
            StepAction::Wave(step) => step.wave(),
            StepAction::Join(step) => step.join(),
        }
    }
}

impl<'a> ReadySet<'a> {
    pub(super) fn push(&mut self, job: RoundStep<'a>) {
        if self.first.is_none() { self.first = Some(job) } else { self.rest.push(job) }
    }

    /// How many steps there are.
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Leaves out all but the first so many, at least one.
    fn truncate(&mut self, most: usize) {
        self.rest.truncate(most - 1);
    }

    fn get(&self, index: usize) -> Option<&RoundStep<'a>> {
        if index == 0 { self.first.as_ref() } else { self.rest.get(index - 1) }
    }

    fn jobs(&self) -> impl Iterator<Item = &RoundStep<'a>> {
        self.first.iter().chain(&self.rest)
    }

    /// Takes the steps, and lets each be recorded in its turn. Ends with the first that fails, and when it is told to stop; what was
    /// taken behind is as if it had never been.
    pub(super) fn each(
        &self,
        stop: &AtomicBool,
        mut record: impl FnMut(&RoundStep<'a>, StepResult) -> Result<Option<Failure>, JournalError>,
    ) -> Result<Option<Failure>, JournalError> {
        let at_once = self.at_once.min(self.len());
        if at_once <= 1 {
            for (index, job) in self.jobs().enumerate() {
                if index > 0 && stop.load(Ordering::Relaxed) {
                    break;
                }
                if let Some(failure) = record(job, job.run())? {
                    return Ok(Some(failure));
                }
            }
            return Ok(None);
        }
        let next = AtomicUsize::new(0);
        let window = CommitWindow { recorded: Mutex::new(Some(0)), moved: Condvar::new(), width: at_once };
        std::thread::scope(|scope| {
            let (answers, answered) = mpsc::channel::<(usize, StepResult)>();
            for _ in 0..at_once {
                let (answers, next, window) = (answers.clone(), &next, &window);
                scope.spawn(move || {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(job) = self.get(index) else { return };
                        if !window.reaches(index) || answers.send((index, job.run())).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(answers);
            let mut waiting: Vec<Option<StepResult>> = self.jobs().map(|_| None).collect();
            let mut result = Ok(None);
            let mut turn = 0;
            'all: while let Ok((index, taken)) = answered.recv() {
                waiting[index] = Some(taken);
                while let Some(taken) = waiting.get_mut(turn).and_then(Option::take) {
                    let Some(job) = self.get(turn) else { break 'all };
                    result = record(job, taken);
                    turn += 1;
                    if !matches!(result, Ok(None)) || stop.load(Ordering::Relaxed) {
                        break 'all;
                    }
                    window.recorded(turn);
                }
            }
            window.close();
            result
        })
    }
}

/// How far ahead of what is recorded steps are taken: never more than are taken at once, so that no more can be lost.
struct CommitWindow {
    /// How many are recorded; nothing once no more are wanted.
    recorded: Mutex<Option<usize>>,
    moved: Condvar,
    width: usize,
}

impl CommitWindow {
    /// Waits until it reaches a step; false if it never will.
    fn reaches(&self, index: usize) -> bool {
        let mut recorded = self.recorded.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *recorded {
                None => return false,
                Some(turn) if index < turn + self.width => return true,
                Some(_) => recorded = self.moved.wait(recorded).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn recorded(&self, turn: usize) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(turn);
        self.moved.notify_all();
    }

    fn close(&self) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.moved.notify_all();
    }
}
