//! Waiting for a step, and for what becomes of an answer: futures of no runtime in particular.

use super::Queue;
use super::told::{Closed, Pulled, Verdict};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Waiting for a step.
#[derive(Debug)]
pub struct Pull {
    pub(super) queue: Arc<Queue>,
    pub(super) key: Option<u64>,
}

impl Future for Pull {
    type Output = Pulled;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Pulled> {
        let queue = Arc::clone(&self.queue);
        let mut inner = queue.inner();
        let closed = inner.closed.clone();
        let Some(puller) = self.key.and_then(|key| inner.pullers.get_mut(&key)) else {
            return Poll::Ready(Pulled::Over(Closed::Cancelled));
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
        inner.heard(&worker, |worker| worker.waiting = worker.waiting.saturating_sub(1));
        Poll::Ready(match task {
            Some((task, warning)) => Pulled::Task(Box::new(task), warning),
            None => {
                inner.gate.none_left();
                Pulled::Over(closed.unwrap_or(Closed::Cancelled))
            }
        })
    }
}

impl Drop for Pull {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        let mut inner = self.queue.inner();
        let Some(puller) = inner.pullers.remove(&key) else { return };
        inner.gate.wait_over();
        inner.heard(&puller.worker, |worker| worker.waiting = worker.waiting.saturating_sub(1));
        match puller.got {
            Some((id, _)) => {
                inner.take_back(id);
                inner.put_back(id);
            }
            None => inner.gate.none_left(),
        }
    }
}

/// Waiting for what becomes of an answer.
#[derive(Debug)]
pub struct Submission {
    pub(super) queue: Arc<Queue>,
    pub(super) key: u64,
}

impl Future for Submission {
    type Output = Verdict;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Verdict> {
        let mut inner = self.queue.inner();
        let Some(ack) = inner.acks.get_mut(&self.key) else { return Poll::Ready(Verdict::Lost(Closed::Cancelled)) };
        match ack.verdict.take() {
            Some(verdict) => Poll::Ready(verdict),
            None => {
                ack.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        self.queue.inner().acks.remove(&self.key);
    }
}
