//! The explanation of a case: its steps, and the outcome of every edge with its reason.

use super::steps::RecordedAttempt;
use asterisk_base::clock::Timestamp;
use asterisk_base::model::Hash;
use asterisk_diag::Diagnostic;
use asterisk_script::probe::{Miss, OutlineLine, OutlineOutcome};
use asterisk_walk::{Call, EdgeOutcome, WalkStatus};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// The explanation of a case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseExplanation {
    pub run: String,
    pub pipeline: String,
    /// The case's id.
    pub case: String,
    pub name: String,
    pub status: WalkStatus,
    /// Whether only some of its steps are included.
    #[serde(skip)]
    pub detailed: bool,
    /// The texts that have changed since the steps used them. The explanation is by the recorded ones.
    pub changed: Vec<String>,
    pub steps: Vec<StepExplanation>,
}

/// The explanation of a step.
#[derive(Clone, Debug, Serialize)]
pub struct StepExplanation {
    pub path: String,
    pub node: String,
    /// The node's code.
    pub code: Option<String>,
    pub at: Timestamp,
    /// The walker, in a team, with the reason of a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walker: Option<WalkerExplanation>,
    /// Its masks, outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<String>,
    /// The kind of answerer; `None` if the step failed before.
    pub by: Option<String>,
    /// The tool call that answered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// The revision of the texts it used.
    #[serde(rename = "generation")]
    pub revision: u64,
    /// The edge taken.
    pub edge: Option<String>,
    /// Its target.
    pub to: Option<String>,
    /// Its reason.
    pub because: Option<String>,
    /// Context added to the walk.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// The attempts, at a node with a policy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<RecordedAttempt>,
    /// The failure of the walk at this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<WalkFailure>,
    /// The inputs that the evaluated rules may read.
    pub read: Vec<InputValue>,
    /// Every edge of the node and every guard, in file order.
    pub edges: Vec<EdgeExplanation>,
    /// Whether the evaluation differs from the record, which indicates a defect.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
}

/// The walker of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkerExplanation {
    pub name: String,
    /// The reason, if the walker changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Formats a tool call in a line.
pub(super) fn called(call: &Call) -> String {
    let arguments: Vec<String> = call.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let with = if arguments.is_empty() { "nothing".to_owned() } else { short(&arguments.join(", ")) };
    format!("called {}/{} with {with}", call.server, call.tool)
}

/// Formats an attempt as a sentence.
pub(super) fn tried(attempt: &RecordedAttempt) -> String {
    let message = if attempt.message.is_empty() { String::new() } else { format!(": {}", attempt.message) };
    format!("attempt {} {}{message}", attempt.attempt, attempt.outcome)
}

/// Formats the walker of a step as a sentence.
pub(super) fn taken_by(walker: &WalkerExplanation) -> String {
    walker
        .because
        .as_ref()
        .map_or_else(|| format!("walker: {}", walker.name), |because| format!("walker: {}, {because}", walker.name))
}

/// The failure of a walk.
#[derive(Clone, Debug, Serialize)]
pub struct WalkFailure {
    pub kind: String,
    pub message: String,
}

/// An input with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputValue {
    /// Its path: `artifact.confidence`.
    pub path: String,
    /// Its value as a script literal; long ones are truncated.
    pub value: String,
}

/// The role of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// Leads from the node to another.
    Edge,
    /// Adds context, and never routes.
    Advisory,
    /// Overrides what the node's edges chose.
    Guard,
    /// Taken if no other edge fires.
    Fallback,
}

/// The explanation of an edge.
#[derive(Clone, Debug, Serialize)]
pub struct EdgeExplanation {
    /// Its id, or `fallback`.
    pub edge: String,
    /// Its display name; empty if not given.
    pub name: String,
    pub kind: EdgeKind,
    /// The target, unless its rule chooses one.
    pub to: Option<String>,
    pub outcome: EdgeOutcome,
    /// The reason, if it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Why it was not evaluated, or did not decide although it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The comparisons that made it not fire.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Miss>,
    /// Its rule; `None` if it always fires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleExplanation>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "diagnosed")]
    pub error: Option<Box<Diagnostic>>,
    /// The expressions evaluated, with their values.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "lines")]
    pub values: Vec<OutlineLine>,
}

/// The rule of an edge.
#[derive(Clone, Debug, Serialize)]
pub struct RuleExplanation {
    /// The function's reference, or the text of the condition.
    pub text: String,
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The first sentence of its documentation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The address of the file's recorded text.
    pub text_hash: Hash,
    /// Whether the file, or one it imports, has changed since.
    pub changed: bool,
}

#[expect(clippy::ref_option, reason = "the signature that serde requires")]
pub(super) fn diagnosed<S: Serializer>(error: &Option<Box<Diagnostic>>, serializer: S) -> Result<S::Ok, S::Error> {
    let shown = error.as_ref().map(|error| {
        let label = error.primary().map(|label| (label.source.name(), label.source.line_column(label.span.start)));
        serde_json::json!({
            "code": error.code, "message": error.message, "help": error.help,
            "file": label.map(|(file, _)| file.to_owned()), "line": label.map(|(_, place)| place.0), "column": label.map(|(_, place)| place.1),
        })
    });
    shown.serialize(serializer)
}

/// The JSON shape of an outline line.
#[derive(Serialize)]
struct LineExplanation<'a> {
    depth: usize,
    #[serde(skip_serializing_if = "str::is_empty")]
    word: &'a str,
    text: &'a str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remark: Option<&'a str>,
}

pub(super) fn lines<S: Serializer>(lines: &[OutlineLine], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lines.iter().map(|line| {
        let (outcome, value) = match &line.outcome {
            OutlineOutcome::Value(value) => ("value", Some(value.as_str())),
            OutlineOutcome::Failed => ("failed", None),
            OutlineOutcome::Skipped => ("not_evaluated", None),
        };
        LineExplanation { depth: line.depth, word: line.word, text: &line.text, outcome, value, remark: line.remark.as_deref() }
    }))
}

/// Truncates a long text.
pub(super) fn short(text: &str) -> String {
    asterisk_script::probe::clipped(text, 400)
}
