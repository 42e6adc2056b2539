//! The result of a replay: flipped decisions, changed effects, and walks with unknown outcome.

use asterisk_walk::{RuleFailures, TextChange};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct ReplayReport {
    /// The runs replayed, in the order requested, or newest first.
    pub runs: Vec<String>,
    /// The number of cases.
    pub cases: usize,
    /// The number of decisions replayed.
    pub decisions: usize,
    /// The flipped decisions, in the order of runs, cases and steps.
    pub flips: Vec<Flip>,
    /// The scripted answers that are others now, in the order of runs, cases and steps.
    pub answers: Vec<ChangedAnswer>,
    /// The number of verdicts made again.
    pub verdicts: usize,
    /// The verdicts that are others now, in the order of runs and cases.
    pub changed_verdicts: Vec<ChangedVerdict>,
    /// The verdicts that name the same defect with a probability that moved by [`MOVED`] or more.
    pub moved_verdicts: Vec<ChangedVerdict>,
    /// The rules that fail in verdicts made again.
    pub failed_rules: RuleFailures,
    /// The steps with changed effects, in their order.
    pub effects: Vec<ChangedEffects>,
    /// The walks whose outcome is unknown from some step on.
    pub unknown: Vec<UnknownOutcome>,
    /// The texts that have changed since the runs used them.
    pub changed: Vec<TextChange>,
    /// Runs that were not requested by name and cannot be replayed, each with the reason.
    pub left_out: Vec<(String, String)>,
}

/// A decision that takes another edge, or leads elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Flip {
    pub run: String,
    pub case: String,
    /// The step's path in the replayed walk.
    pub path: String,
    /// The node that is left.
    pub node: String,
    /// The edge recorded; `fallback`, `end` where the walk completed at a node without edges, or the kind of the error.
    pub from: String,
    /// The edge taken now, in the same words.
    pub to: String,
    /// The recorded target.
    pub from_node: Option<String>,
    /// The target now.
    pub to_node: Option<String>,
    /// The nodes visited after it, as far as known.
    pub then: Vec<String>,
    /// The reason of the edge taken now.
    pub because: String,
    /// Why the recorded edge is not taken now, if known: `confidence 0.84 < recall_hit 0.9, short by 0.06`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub miss: Option<String>,
}

/// A scripted answer that is another now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedAnswer {
    pub run: String,
    pub case: String,
    /// The step's path in the replayed walk.
    pub path: String,
    pub node: String,
    /// The fields that differ, each with its recorded and its current value.
    pub fields: BTreeMap<String, [Value; 2]>,
}

/// How far a probability moves before a verdict that names the same defect is reported.
pub(super) const MOVED: f64 = 0.05;

/// A verdict that names another defect, or the same one with another probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedVerdict {
    pub run: String,
    pub case: String,
    /// The defect recorded.
    pub from: String,
    /// The defect now.
    pub to: String,
    /// The probability of the most probable defect, as recorded.
    pub before: f64,
    /// The same now.
    pub after: f64,
    /// The rules and signatures that match otherwise, the largest difference first: `connection-refused +2.00 -> +0.50 (en001)`.
    pub because: Vec<String>,
}

/// A walk with unknown outcome: it needs an answer, or the result of a query, that was not recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownOutcome {
    pub run: String,
    pub case: String,
    /// The step's path in the replayed walk.
    pub path: String,
    /// The node whose answer is missing.
    pub node: String,
}

/// How many decisions an edge lost and won.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RuleTotal {
    /// Decisions that took it and no longer do.
    pub lost: usize,
    /// Decisions that did not take it and now do.
    pub won: usize,
}

impl ReplayReport {
    /// The decisions lost and won, by edge.
    pub fn totals(&self) -> BTreeMap<&str, RuleTotal> {
        let mut totals: BTreeMap<&str, RuleTotal> = BTreeMap::new();
        for flip in &self.flips {
            totals.entry(&flip.from).or_default().lost += 1;
            totals.entry(&flip.to).or_default().won += 1;
        }
        totals
    }
}

/// A step whose artifact has other effects now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedEffects {
    pub run: String,
    pub case: String,
    /// The step's path.
    pub path: String,
    pub node: String,
    /// The effects returned by the recorded script, with symbolic ids.
    pub before: Vec<Value>,
    /// The effects returned by the current script.
    pub after: Vec<Value>,
    /// The error of the current script.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
