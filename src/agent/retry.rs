//! Asking again: after a failure when some time has passed, after an answer that is no good with what is wrong with it.

use super::artifact::signed;
use super::concurrency::stopped;
use crate::clock::{Clock, chance};
use crate::net;
use crate::walk::{AfterRefusal, Answerer, NodeAnswer, Refusal, Request, TokenUsage};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Asks again, up to so many attempts.
pub(super) struct Retry<'a> {
    pub(super) inner: Box<dyn Answerer + 'a>,
    pub(super) attempts: usize,
    pub(super) wait: Duration,
    pub(super) most: Duration,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
}

impl Retry<'_> {
    /// The answer, if need be after several attempts. `patient`: nobody else is asked if this fails, so one who is left alone for a
    /// while is waited for.
    pub(super) fn answer(&self, request: &Request<'_>, patient: bool) -> Result<NodeAnswer, Refusal> {
        let name = self.inner.name();
        let mut failures = 0;
        let mut lost = TokenUsage::default();
        loop {
            let before = request.rejections(name);
            let refusal = match self.inner.answer(request) {
                Ok(reply) => match self.accept(request, reply, &mut lost)? {
                    Ok(reply) => return Ok(reply),
                    Err(complaints) => Refusal::again(request.schema_violation(name, &complaints)),
                },
                Err(refusal) => refusal,
            };
            let rounds = request.rejections(name);
            let wait = match refusal.next {
                AfterRefusal::GiveUp | AfterRefusal::Wait => return Err(refusal),
                AfterRefusal::Rest(_) if !patient => return Err(refusal),
                // It is told what is wrong, and may answer at once.
                AfterRefusal::Retry(_) if rounds > before => None,
                AfterRefusal::Rest(wait) => {
                    failures += 1;
                    Some(wait)
                }
                AfterRefusal::Retry(after) => {
                    failures += 1;
                    request.unanswered(name, &refusal.diagnostic.message)?;
                    // It wants to be left alone for longer than anybody waits: others may answer meanwhile.
                    if !patient && after.is_some_and(|after| after > self.most) {
                        return Err(Refusal { next: AfterRefusal::GiveUp, ..refusal });
                    }
                    Some(after.unwrap_or_default().max(self.pause(request, failures)))
                }
            };
            if rounds + failures >= self.attempts {
                return Err(Refusal { next: AfterRefusal::GiveUp, ..refusal });
            }
            if let Some(wait) = wait {
                self.sleep(wait)?;
            }
        }
    }

    /// The answer if it fits the node's schema, or else what is wrong with it, which is recorded.
    fn accept(
        &self,
        request: &Request<'_>,
        mut reply: NodeAnswer,
        lost: &mut TokenUsage,
    ) -> Result<Result<NodeAnswer, Vec<String>>, Refusal> {
        signed(Arc::make_mut(&mut reply.artifact), reply.by);
        let complaints = if reply.checked { request.validate(&reply.artifact) } else { Vec::new() };
        let tokens = reply.agent.as_mut().and_then(|agent| agent.tokens.as_mut());
        if complaints.is_empty() {
            if let Some(tokens) = tokens {
                tokens.add(lost);
            }
            return Ok(Ok(reply));
        }
        if let Some(tokens) = tokens {
            lost.add(tokens);
        }
        request.reject(self.inner.name(), complaints.clone())?;
        Ok(Err(complaints))
    }

    /// How long to wait after so many failures.
    fn pause(&self, request: &Request<'_>, failures: usize) -> Duration {
        // Derived, so that it is the same every time, and other for every case.
        let luck = chance(failures as u64, &request.case.id, request.path);
        net::pause((self.wait, self.most), failures, luck)
    }

    fn sleep(&self, time: Duration) -> Result<(), Refusal> {
        if net::wait(self.clock, time, self.stop) { Ok(()) } else { Err(stopped()) }
    }
}
