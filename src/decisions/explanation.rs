//! An explanation: a case's path, and what came of every edge of its steps, why.

use crate::clock::Timestamp;
use crate::diag::Diagnostic;
use crate::model::Hash;
use crate::script::probe::{Miss, OutlineLine, OutlineOutcome};
use crate::walk::{Call, EdgeOutcome, WalkStatus};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// A case of a run, explained.
#[derive(Clone, Debug, Serialize)]
pub struct CaseExplanation {
    /// The run.
    pub run: String,
    /// The pipeline.
    pub pipeline: String,
    /// The case.
    pub case: String,
    /// Its name.
    pub name: String,
    /// How far its walk is.
    pub status: WalkStatus,
    /// Whether this is about some of its steps only.
    #[serde(skip)]
    pub detailed: bool,
    /// The texts that are other by now than those that the steps went by. The explanation is by the latter.
    pub changed: Vec<String>,
    /// The steps.
    pub steps: Vec<StepExplanation>,
}

/// A step, explained.
#[derive(Clone, Debug, Serialize)]
pub struct StepExplanation {
    /// Its path.
    pub path: String,
    /// The node.
    pub node: String,
    /// The node's code.
    pub code: Option<String>,
    /// When.
    pub at: Timestamp,
    /// Who took the step, of a team, and why if another took the one before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walker: Option<WalkerExplanation>,
    /// The masks that were on it, the outermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<String>,
    /// Who answered the node; nothing if the step failed before.
    pub by: Option<String>,
    /// The tool that was called for it, with the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Which texts of the run it went by.
    pub generation: u64,
    /// The edge taken.
    pub edge: Option<String>,
    /// Where it led.
    pub to: Option<String>,
    /// Why.
    pub because: Option<String>,
    /// What was added to the walk's context.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// Why the walk failed here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<WalkFailure>,
    /// What the rules that were asked may read, with the values.
    pub read: Vec<InputValue>,
    /// Every edge of the node and every guard, in file order.
    pub edges: Vec<EdgeExplanation>,
    /// Whether the evaluation came out other than recorded, which it must not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub differs: bool,
}

/// Who took a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkerExplanation {
    /// The walker.
    pub name: String,
    /// Why, if another took the step before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// What was called, in a line.
pub(super) fn called(call: &Call) -> String {
    let arguments: Vec<String> = call.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let with = if arguments.is_empty() { "nothing".to_owned() } else { short(&arguments.join(", ")) };
    format!("called {}/{} with {with}", call.server, call.tool)
}

/// Who took a step, in a sentence.
pub(super) fn taken_by(walker: &WalkerExplanation) -> String {
    walker
        .because
        .as_ref()
        .map_or_else(|| format!("walker: {}", walker.name), |because| format!("walker: {}, {because}", walker.name))
}

/// Why a walk failed.
#[derive(Clone, Debug, Serialize)]
pub struct WalkFailure {
    /// The error's kind.
    pub kind: String,
    /// What is wrong.
    pub message: String,
}

/// An input with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InputValue {
    /// Its path: `artifact.confidence`.
    pub path: String,
    /// Its value, as a script would write it; long ones are cut.
    pub value: String,
}

/// What an edge is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EdgeKind {
    /// A way from the node.
    Edge,
    /// It adds context, and never routes.
    Advisory,
    /// It overrides what the node's edges chose.
    Guard,
    /// Where the walk goes if none fires.
    Fallback,
}

/// An edge, explained.
#[derive(Clone, Debug, Serialize)]
pub struct EdgeExplanation {
    /// Its id, or `fallback`.
    pub edge: String,
    /// What people call it; empty if not given.
    pub name: String,
    /// What it is for.
    pub kind: EdgeKind,
    /// Where it leads unless its rule chooses.
    pub to: Option<String>,
    /// What came of it.
    pub outcome: EdgeOutcome,
    /// Why, where it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
    /// Why it was not asked, or did not decide though it fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// What settled that it did not fire.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<Miss>,
    /// What decides it; nothing if it always fires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleExplanation>,
    /// What went wrong.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "diagnosed")]
    pub error: Option<Box<Diagnostic>>,
    /// What was evaluated, with the values.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "lines")]
    pub values: Vec<OutlineLine>,
}

/// What decides an edge.
#[derive(Clone, Debug, Serialize)]
pub struct RuleExplanation {
    /// The function's reference, or the text of the condition.
    pub text: String,
    /// The file it stands in.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The first sentence of its documentation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// The address of the file's text as it was.
    pub text_hash: Hash,
    /// Whether the file, or one it imports, is other by now.
    pub changed: bool,
}

#[expect(clippy::ref_option, reason = "serde hands it over so")]
fn diagnosed<S: Serializer>(error: &Option<Box<Diagnostic>>, serializer: S) -> Result<S::Ok, S::Error> {
    let told = error.as_ref().map(|error| {
        let label = error.primary().map(|label| (label.source.name(), label.source.line_column(label.span.start)));
        serde_json::json!({
            "code": error.code, "message": error.message, "help": error.help,
            "file": label.map(|(file, _)| file.to_owned()), "line": label.map(|(_, place)| place.0), "column": label.map(|(_, place)| place.1),
        })
    });
    told.serialize(serializer)
}

/// A line as programs read it.
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

fn lines<S: Serializer>(lines: &[OutlineLine], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lines.iter().map(|line| {
        let (outcome, value) = match &line.outcome {
            OutlineOutcome::Value(value) => ("value", Some(value.as_str())),
            OutlineOutcome::Failed => ("failed", None),
            OutlineOutcome::Skipped => ("not_evaluated", None),
        };
        LineExplanation { depth: line.depth, word: line.word, text: &line.text, outcome, value, remark: line.remark.as_deref() }
    }))
}

/// The beginning of a long text.
pub(super) fn short(text: &str) -> String {
    crate::script::probe::clipped(text, 400)
}
