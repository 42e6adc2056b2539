//! Retries: with backoff after a failure, with the validation errors after an invalid answer.

use super::artifact::set_author;
use super::concurrency::stopped;
use crate::net;
use asterisk_base::clock::{Clock, chance};
use asterisk_walk::{AfterRefusal, Answerer, NodeAnswer, Refusal, Request, TokenUsage};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Retries an answerer up to a number of attempts.
pub(super) struct Retry<'a> {
    pub(super) inner: Box<dyn Answerer + 'a>,
    pub(super) attempts: usize,
    pub(super) wait: Duration,
    pub(super) most: Duration,
    pub(super) clock: &'a dyn Clock,
    pub(super) stop: &'a AtomicBool,
}

impl Retry<'_> {
    /// The answer, after several attempts if necessary. `patient`: without a fallback, wait for an open circuit breaker.
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
            if request.is_overdue() && refusal.next != AfterRefusal::Wait {
                if matches!(refusal.next, AfterRefusal::Retry(_)) && rounds == before {
                    request.unanswered(name, &refusal.diagnostic.message)?;
                }
                return Err(request.late(refusal));
            }
            let wait = match refusal.next {
                AfterRefusal::GiveUp | AfterRefusal::Wait => return Err(refusal),
                AfterRefusal::Rest(_) if !patient => return Err(refusal),
                // The agent was given the validation errors and may answer at once.
                AfterRefusal::Retry(_) if rounds > before => None,
                AfterRefusal::Rest(wait) => {
                    failures += 1;
                    Some(wait)
                }
                AfterRefusal::Retry(after) => {
                    failures += 1;
                    request.unanswered(name, &refusal.diagnostic.message)?;
                    // The requested delay exceeds the maximum: fallbacks may answer meanwhile.
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
                self.sleep(request.time(wait))?;
            }
        }
    }

    /// The answer if it matches the node's schema, else the recorded validation errors.
    fn accept(
        &self,
        request: &Request<'_>,
        mut reply: NodeAnswer,
        lost: &mut TokenUsage,
    ) -> Result<Result<NodeAnswer, Vec<String>>, Refusal> {
        set_author(Arc::make_mut(&mut reply.artifact), reply.by);
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

    /// The backoff after a number of failures.
    fn pause(&self, request: &Request<'_>, failures: usize) -> Duration {
        // Derived from the request: reproducible, and different for each case.
        let jitter = chance(failures as u64, &request.case.id, request.path);
        net::backoff((self.wait, self.most), failures, jitter)
    }

    fn sleep(&self, time: Duration) -> Result<(), Refusal> {
        if net::wait(self.clock, time, self.stop) { Ok(()) } else { Err(stopped()) }
    }
}
