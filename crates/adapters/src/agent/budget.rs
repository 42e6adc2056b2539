//! Token budget of a run: once it is spent, no external agent is called, and the run stops so that it can be resumed.

use asterisk_diag::Diagnostic;
use asterisk_walk::{Answerer, NodeAnswer, Refusal, Request};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The token budget of a run and its consumption.
pub struct TokenBudget {
    total: Option<u64>,
    used: AtomicU64,
    refused: AtomicBool,
    /// Held while consumption is added and reported, so that reports are in order.
    reporting: Mutex<()>,
}

/// Status of a budget (`budget-status.json`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetStatus {
    /// The budget in tokens.
    pub total_budget: u64,
    /// Tokens spent.
    pub used: u64,
    /// Tokens left; negative if more was spent.
    pub remaining: i64,
    /// Share spent, in percent; 0 without a budget.
    pub percent_used: f64,
}

impl TokenBudget {
    /// A budget of which `used` tokens are spent already; `None` is unlimited.
    pub fn new(total: Option<u64>, used: u64) -> Self {
        Self { total, used: AtomicU64::new(used), refused: AtomicBool::new(false), reporting: Mutex::default() }
    }

    /// The status, unless the budget is unlimited.
    pub fn status(&self) -> Option<BudgetStatus> {
        let total_budget = self.total?;
        let used = self.used.load(Ordering::Relaxed);
        let set_author = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let percent_used = if total_budget == 0 { 0.0 } else { used as f64 * 100.0 / total_budget as f64 };
        Some(BudgetStatus { total_budget, used, remaining: set_author(total_budget) - set_author(used), percent_used })
    }

    /// The refusal of a request once the budget is spent: the run stops, and can be resumed with a larger one.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let Some(status) = self.status().filter(|status| status.remaining <= 0) else { return Ok(()) };
        self.refused.store(true, Ordering::Relaxed);
        let message = format!("the budget of {} tokens is used up ({} used)", status.total_budget, status.used);
        Err(Refusal::wait(Diagnostic::error("agent/budget", message)))
    }

    /// Adds the tokens of an answer to the consumption, and reports it.
    pub(super) fn add(&self, reply: &NodeAnswer, report: &SpentListener<'_>) {
        let Some(tokens) = reply.agent.as_ref().and_then(|agent| agent.tokens) else { return };
        let _in_order = self.reporting.lock().unwrap_or_else(PoisonError::into_inner);
        self.used.fetch_add(tokens.total(), Ordering::Relaxed);
        if let Some(status) = self.status() {
            report(&status);
        }
    }

    /// Whether a request was refused because the budget was spent.
    pub fn refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Called when tokens were spent.
pub(super) type SpentListener<'a> = dyn Fn(&BudgetStatus) + Send + Sync + 'a;

/// Calls the inner answerer while the budget lasts.
pub(super) struct BudgetedAnswerer<'a> {
    pub(super) inner: Box<dyn Answerer + 'a>,
    pub(super) budget: &'a TokenBudget,
    /// Called when tokens were spent; `None` if the inner answerer counts what it spends.
    pub(super) spent: Option<Arc<SpentListener<'a>>>,
}

impl Answerer for BudgetedAnswerer<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        self.budget.check()?;
        let reply = self.inner.answer(request)?;
        if let Some(spent) = &self.spent {
            self.budget.add(&reply, &**spent);
        }
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remainder_may_be_negative() {
        let status = |total, used| TokenBudget::new(total, used).status();
        assert_eq!(status(None, 5), None);
        let of = |total_budget, used, remaining, percent_used| Some(BudgetStatus { total_budget, used, remaining, percent_used });
        assert_eq!(status(Some(100_000), 45_000), of(100_000, 45_000, 55_000, 45.0));
        assert_eq!(status(Some(10), 15), of(10, 15, -5, 150.0));
        assert_eq!(status(Some(0), 1), of(0, 1, -1, 0.0));
    }
}
