//! What a run may spend: once it is spent, nobody outside is asked any more, and the run stops where it can be resumed.

use crate::diag::Diagnostic;
use crate::walk::{Answerer, NodeAnswer, Refusal, Request};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The tokens that a run may spend, and has spent.
pub struct TokenBudget {
    total: Option<u64>,
    used: AtomicU64,
    refused: AtomicBool,
}

/// How much of a budget is left (`budget-status.json`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BudgetStatus {
    /// What may be spent.
    pub total_budget: u64,
    /// What is spent.
    pub used: u64,
    /// What is left; negative if more was spent.
    pub remaining: i64,
    /// The share that is spent, in percent; 0 without a budget.
    pub percent_used: f64,
}

impl TokenBudget {
    /// A budget of which some is spent already; nothing for no bound.
    pub fn new(total: Option<u64>, used: u64) -> Self {
        Self { total, used: AtomicU64::new(used), refused: AtomicBool::new(false) }
    }

    /// How much is left, if there is a bound.
    pub fn status(&self) -> Option<BudgetStatus> {
        let total_budget = self.total?;
        let used = self.used.load(Ordering::Relaxed);
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let percent_used = if total_budget == 0 { 0.0 } else { used as f64 * 100.0 / total_budget as f64 };
        Some(BudgetStatus { total_budget, used, remaining: signed(total_budget) - signed(used), percent_used })
    }

    /// Whether somebody was not asked because it was spent.
    pub fn refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

/// Asks as long as there is something left.
pub(super) struct BudgetedAnswerer<'a> {
    pub(super) inner: Box<dyn Answerer + 'a>,
    pub(super) budget: &'a TokenBudget,
    /// Is told when something was spent.
    pub(super) spent: Arc<dyn Fn(&BudgetStatus) + Send + Sync + 'a>,
}

impl Answerer for BudgetedAnswerer<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Refusal> {
        if let Some(status) = self.budget.status().filter(|status| status.remaining <= 0) {
            self.budget.refused.store(true, Ordering::Relaxed);
            let message = format!("the budget of {} tokens is used up ({} used)", status.total_budget, status.used);
            return Err(Refusal::wait(Diagnostic::error("agent/budget", message)));
        }
        let reply = self.inner.answer(request)?;
        if let Some(tokens) = reply.agent.as_ref().and_then(|agent| agent.tokens) {
            self.budget.used.fetch_add(tokens.total(), Ordering::Relaxed);
            if let Some(status) = self.budget.status() {
                (self.spent)(&status);
            }
        }
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_may_be_negative() {
        let status = |total, used| TokenBudget::new(total, used).status();
        assert_eq!(status(None, 5), None);
        let of = |total_budget, used, remaining, percent_used| Some(BudgetStatus { total_budget, used, remaining, percent_used });
        assert_eq!(status(Some(100_000), 45_000), of(100_000, 45_000, 55_000, 45.0));
        assert_eq!(status(Some(10), 15), of(10, 15, -5, 150.0));
        assert_eq!(status(Some(0), 1), of(0, 1, -1, 0.0));
    }
}
