//! What a replay finds: decisions that go another way, steps that would write something else, walks that cannot be told.

use crate::walk::TextChange;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// History, decided again.
#[derive(Clone, Debug, Default)]
pub struct ReplayReport {
    /// The runs that were replayed, in the order asked for, or newest first.
    pub runs: Vec<String>,
    /// Their cases.
    pub cases: usize,
    /// The decisions that were made again.
    pub decisions: usize,
    /// Those that go another way, in the order of runs, cases and steps.
    pub flips: Vec<Flip>,
    /// Steps that would write something else, in the order they were taken.
    pub effects: Vec<ChangedEffects>,
    /// The walks of which no more can be said from some step on.
    pub unknown: Vec<UnknownOutcome>,
    /// What is other than what the runs went by.
    pub changed: Vec<TextChange>,
    /// Runs that were not asked for by name and cannot be replayed, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// A decision that goes another way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flip {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// The step's path in the new walk.
    pub path: String,
    /// The node that is left.
    pub node: String,
    /// The edge that was taken; `fallback`, `end` where the walk was over for want of any edge, or the kind of the error.
    pub from: String,
    /// The edge that would be taken, in the same words.
    pub to: String,
    /// Where the walk went.
    pub from_node: Option<String>,
    /// Where it would go.
    pub to_node: Option<String>,
    /// The nodes that the walk would come to beyond, as far as can be told.
    pub then: Vec<String>,
    /// Why it would go there.
    pub because: String,
    /// Why it would not go where it went, if that can be told: `confidence 0.84 < recall_hit 0.9, short by 0.06`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub miss: Option<String>,
}

/// A walk of which no more can be said: its new way needs an answer that nobody recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownOutcome {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// The step's path in the new walk.
    pub path: String,
    /// The node that would have to be answered.
    pub node: String,
}

/// How often a rule lost decisions, and how often it won some.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleTotal {
    /// Decisions that took it and would not.
    pub lost: usize,
    /// Decisions that did not take it and would.
    pub won: usize,
}

impl ReplayReport {
    /// By edge, how many decisions it would lose and win.
    pub fn totals(&self) -> BTreeMap<&str, RuleTotal> {
        let mut totals: BTreeMap<&str, RuleTotal> = BTreeMap::new();
        for flip in &self.flips {
            totals.entry(&flip.from).or_default().lost += 1;
            totals.entry(&flip.to).or_default().won += 1;
        }
        totals
    }
}

/// A step whose artifact would make the store do something else.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedEffects {
    /// The run.
    pub run: String,
    /// The case.
    pub case: String,
    /// The step's path.
    pub path: String,
    /// The node.
    pub node: String,
    /// The effects that the script of then gives, as it returns them: symbolic ids are not resolved.
    pub before: Vec<Value>,
    /// Those that the script of now gives.
    pub after: Vec<Value>,
    /// Why the script of now gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
