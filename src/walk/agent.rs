//! Who answered from outside of the process, and what it took.

use super::name::Name;
use serde::{Deserialize, Serialize};

/// Who was asked outside of the process for an artifact, and what it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Who, as `--via` has it.
    pub via: Name,
    /// The request that was answered.
    pub request: i64,
    /// What it took; nothing where tokens are none of the matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenUsage>,
    /// How many answers to other requests came before this one, and were left alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stale: u64,
}

impl Agent {
    /// Who answered, and which request.
    pub fn new(via: Name, request: i64, tokens: Option<TokenUsage>) -> Self {
        Self { via, request, tokens, stale: 0 }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What answers took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of prompts.
    pub prompt: u64,
    /// Tokens of answers.
    pub answer: u64,
    /// Whether any of it is estimated (a token for every four bytes) and not measured.
    pub estimated: bool,
    /// What it cost, in US dollars.
    pub cost: f64,
}

impl TokenUsage {
    /// All of them.
    pub fn total(&self) -> u64 {
        self.prompt.saturating_add(self.answer)
    }

    /// Whether there are none.
    pub fn is_none(&self) -> bool {
        self.total() == 0
    }

    /// Takes others in.
    pub fn add(&mut self, other: &Self) {
        self.prompt = self.prompt.saturating_add(other.prompt);
        self.answer = self.answer.saturating_add(other.answer);
        self.estimated |= other.estimated;
        self.cost += other.cost;
    }
}
