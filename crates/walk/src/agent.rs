//! External answerers: who answered a request, and the tokens it used.

use super::name::Name;
use serde::{Deserialize, Serialize};

/// The external answerer of an artifact, with its token usage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Its name in `--via`.
    pub via: Name,
    pub request: i64,
    /// Token usage; `None` where tokens do not apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// The number of answers to other requests that came first and were ignored as stale.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale: u64,
}

impl Agent {
    pub fn new(via: Name, request: i64, tokens: Option<TokenUsage>) -> Self {
        Self { via, request, tokens, stale: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Token usage and cost of answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    pub prompt: u64,
    pub answer: u64,
    /// Whether any count is estimated (four bytes a token) rather than measured.
    pub estimated: bool,
    /// In US dollars.
    pub cost: f64,
}

impl TokenUsage {
    pub fn total(&self) -> u64 {
        self.prompt.saturating_add(self.answer)
    }

    pub fn is_none(&self) -> bool {
        self.total() == 0
    }

    /// Adds the counts and cost of `other`.
    pub fn add(&mut self, other: &Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.answer = self.answer.saturating_add(other.answer);
        self.estimated |= other.estimated;
        self.cost += other.cost;
    }
}
