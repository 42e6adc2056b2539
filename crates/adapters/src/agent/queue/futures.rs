//! Runtime-independent futures for pulling a step and for the result of a submission.

use super::StepQueue;
use super::messages::{PullResult, QueueClosed, SubmitOutcome};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Resolves to a step, or the reason why there are no more.
#[derive(Debug)]
pub struct PullFuture {
    pub(super) queue: Arc<StepQueue>,
    pub(super) key: Option<u64>,
}

impl Future for PullFuture {
    type Output = PullResult;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<PullResult> {
        let queue = Arc::clone(&self.queue);
        let mut inner = queue.inner();
        let closed = inner.closed.clone();
        let Some(puller) = self.key.and_then(|key| inner.pullers.get_mut(&key)) else {
            return Poll::Ready(PullResult::Over(QueueClosed::Cancelled));
        };
        let got = puller.got.take();
        if got.is_none() && closed.is_none() {
            puller.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        let worker = puller.worker.clone();
        let task = got.and_then(|(id, warning)| Some((inner.steps.get(&id)?.task.clone(), warning)));
        if let Some(key) = self.key.take() {
            inner.pullers.remove(&key);
        }
        inner.gate.wait_over();
        inner.touch_worker(&worker, |worker| worker.waiting = worker.waiting.saturating_sub(1));
        Poll::Ready(match task {
            Some((task, warning)) => PullResult::Task(Box::new(task), warning),
            None => {
                inner.gate.note_empty();
                PullResult::Over(closed.unwrap_or(QueueClosed::Cancelled))
            }
        })
    }
}

impl Drop for PullFuture {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let mut inner = self.queue.inner();
        let Some(puller) = inner.pullers.remove(&key) else { return };
        inner.gate.wait_over();
        inner.touch_worker(&puller.worker, |worker| worker.waiting = worker.waiting.saturating_sub(1));
        match puller.got {
            Some((id, _)) => {
                inner.take_back(id);
                inner.put_back(id);
            }
            None => inner.gate.note_empty(),
        }
    }
}

/// Resolves to the result of a submitted answer.
#[derive(Debug)]
pub struct SubmitFuture {
    pub(super) queue: Arc<StepQueue>,
    pub(super) key: u64,
}

impl Future for SubmitFuture {
    type Output = SubmitOutcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<SubmitOutcome> {
        let mut inner = self.queue.inner();
        let Some(ack) = inner.acks.get_mut(&self.key) else { return Poll::Ready(SubmitOutcome::Lost(QueueClosed::Cancelled)) };
        match ack.verdict.take() {
            Some(verdict) => Poll::Ready(verdict),
            None => {
                ack.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for SubmitFuture {
    fn drop(&mut self) {
        self.queue.inner().acks.remove(&self.key);
    }
}
