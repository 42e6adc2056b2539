//! A step as the walk sees it that waits for its answer.

use super::messages::{QueueClosed, StepNews, SubmitOutcome};
use super::{StepLocation, StepQueue};
use std::sync::{Arc, Condvar, PoisonError};
use std::time::Instant;

/// A step that the walk waits for.
pub(in crate::agent) struct Offer<'q> {
    pub(super) queue: &'q StepQueue,
    pub(super) id: i64,
    pub(super) bell: Arc<Condvar>,
}

impl Offer<'_> {
    /// Waits until something happens to it.
    pub(in crate::agent) fn wait(&self) -> StepNews {
        let mut inner = self.queue.inner();
        loop {
            let Some(step) = inner.steps.get_mut(&self.id) else { return StepNews::Closed(QueueClosed::Cancelled) };
            if let Some(news) = step.news.take() {
                return news;
            }
            let until = match &step.at {
                StepLocation::Held(worker, until) => Some((worker.clone(), *until)),
                _ => None,
            };
            inner = match until {
                None => self.bell.wait(inner).unwrap_or_else(PoisonError::into_inner),
                Some((worker, until)) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        inner.take_back(self.id);
                        if let Some(worker) = inner.workers.get_mut(&worker) {
                            worker.lost += 1;
                        }
                        return StepNews::Late(worker);
                    }
                    self.bell.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// Nobody has it any more: others may.
    pub(in crate::agent) fn again(&self) {
        self.queue.inner().put_back(self.id);
    }

    /// The answer is good: whoever brought it is told so as soon as it is recorded.
    pub(in crate::agent) fn accept(self) {
        let mut inner = self.queue.inner();
        let Some(step) = inner.steps.remove(&self.id) else { return };
        inner.answered.insert(self.id);
        if let StepLocation::Answered(worker, key) = step.at {
            inner.unrecorded.insert(self.id, (step.task.case_id, key));
            inner.heard(&worker, |worker| worker.accepted += 1);
        }
    }

    /// The answer is no good: whoever brought it is told why, and has the step again under the new request, if there is one.
    pub(in crate::agent) fn refuse(mut self, complaints: Vec<String>, again: Option<(i64, String)>) -> Option<Self> {
        let mut inner = self.queue.inner();
        let mut step = inner.steps.remove(&self.id)?;
        inner.answered.insert(self.id);
        let StepLocation::Answered(worker, key) = std::mem::replace(&mut step.at, StepLocation::Ready) else { return None };
        inner.heard(&worker, |worker| worker.refused += 1);
        let Some((id, prompt)) = again else {
            inner.tell(key, SubmitOutcome::Refused(complaints, None));
            return None;
        };
        (step.task.dispatch_id, step.task.prompt) = (id, prompt);
        inner.answered.remove(&id);
        inner.steps.insert(id, step);
        inner.give(id, &worker);
        let task = inner.steps.get(&id).map(|step| Box::new(step.task.clone()));
        inner.tell(key, SubmitOutcome::Refused(complaints, task));
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
            inner.tell(key, SubmitOutcome::Lost(QueueClosed::Cancelled));
        }
    }
}
