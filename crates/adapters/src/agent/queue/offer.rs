//! The walk's side of a queued step.

use super::messages::{Dispatch, QueueClosed, StepEvent, SubmitOutcome};
use super::{StepLocation, StepQueue};
use asterisk_base::clock::Deadline;
use std::sync::{Arc, Condvar, PoisonError};
use std::time::Instant;

/// A step offered to the workers.
pub(in crate::agent) struct Offer<'q> {
    pub(super) queue: &'q StepQueue,
    pub(super) id: i64,
    pub(super) bell: Arc<Condvar>,
}

impl Offer<'_> {
    /// Waits for the next event of the step, at most as long as the node has.
    pub(in crate::agent) fn wait(&self, most: Option<Deadline>) -> StepEvent {
        let mut inner = self.queue.inner();
        loop {
            let Some(step) = inner.steps.get_mut(&self.id) else { return StepEvent::Closed(QueueClosed::Cancelled) };
            if let Some(event) = step.event.take() {
                return event;
            }
            let until = match &step.at {
                StepLocation::Held(worker, until) => Some((worker.clone(), *until)),
                _ => None,
            };
            if most.is_some_and(|most| most.is_over()) {
                return StepEvent::Overdue;
            }
            let most = most.map(|most| most.left());
            inner = match until {
                None => match most {
                    Some(most) => self.bell.wait_timeout(inner, most).unwrap_or_else(PoisonError::into_inner).0,
                    None => self.bell.wait(inner).unwrap_or_else(PoisonError::into_inner),
                },
                Some((worker, until)) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        inner.take_back(self.id);
                        if let Some(worker) = inner.workers.get_mut(&worker) {
                            worker.lost += 1;
                        }
                        return StepEvent::LeaseExpired(worker);
                    }
                    let left = most.map_or(left, |most| most.min(left));
                    self.bell.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Returns the step to the queue for other workers.
    pub(in crate::agent) fn requeue(&self) {
        self.queue.inner().put_back(self.id);
    }

    /// Accepts the answer; the worker is notified once it is recorded.
    pub(in crate::agent) fn accept(self) {
        let mut inner = self.queue.inner();
        let Some(step) = inner.steps.remove(&self.id) else { return };
        inner.answered.insert(self.id);
        if let StepLocation::Answered(worker, key) = step.at {
            inner.unrecorded.insert(step.task.request, (step.task.case_id, key));
            inner.touch_worker(&worker, |worker| worker.accepted += 1);
        }
    }

    /// Rejects the answer with validation errors; the worker is assigned the step again under the new request, if there is one.
    pub(in crate::agent) fn refuse(mut self, complaints: Vec<String>, retry: Option<Dispatch>) -> Option<Self> {
        let mut inner = self.queue.inner();
        let mut step = inner.steps.remove(&self.id)?;
        inner.answered.insert(self.id);
        let StepLocation::Answered(worker, key) = std::mem::replace(&mut step.at, StepLocation::Ready) else { return None };
        inner.touch_worker(&worker, |worker| worker.refused += 1);
        let Some(Dispatch { id, request, prompt }) = retry else {
            inner.resolve(key, SubmitOutcome::Refused(complaints, None));
            return None;
        };
        (step.task.dispatch_id, step.task.request, step.task.prompt) = (id, request, prompt);
        inner.answered.remove(&id);
        inner.steps.insert(id, step);
        inner.give(id, &worker);
        let task = inner.steps.get(&id).map(|step| Box::new(step.task.clone()));
        inner.resolve(key, SubmitOutcome::Refused(complaints, task));
        drop(inner);
        self.id = id;
        Some(self)
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        let mut inner = self.queue.inner();
        inner.take_back(self.id);
        let Some(step) = inner.steps.remove(&self.id) else { return };
        inner.ready.remove(&step.age);
        if let StepLocation::Answered(_, key) = step.at {
            inner.resolve(key, SubmitOutcome::Lost(QueueClosed::Cancelled));
        }
    }
}
