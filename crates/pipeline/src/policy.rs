//! What surrounds the answer of a node: its task, category, timeout, retries, cache and gate, and the policy of a pipeline.

use super::Spanned;
use asterisk_diag::Span;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The keys of a node that a policy may also set for its category.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodePolicy {
    /// The agent that answers it (`agent:`): a name of `data/policy.yaml`, or a function.
    pub agent: Option<Spanned<String>>,
    /// The text of its task, split into what is copied and what is filled in.
    pub task: Option<TaskText>,
    pub category: Option<Spanned<String>>,
    /// In seconds.
    pub timeout: Option<Spanned<f64>>,
    /// How often it is answered again.
    pub max_retries: Option<Spanned<u64>>,
    pub retry: RetryRules,
    pub cache: Option<Spanned<bool>>,
    pub gate: Option<GateRules>,
}

/// When a node is answered again.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryRules {
    /// The wait before the first repetition, in seconds; every further one waits longer.
    pub backoff: f64,
    pub on: Vec<RetryReason>,
}

impl Default for RetryRules {
    fn default() -> Self {
        Self { backoff: 0.0, on: RetryReason::ALL.to_vec() }
    }
}

/// Why an answer is requested again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryReason {
    /// It took longer than the timeout.
    Timeout,
    /// It is not an answer, or does not fit the schema.
    InvalidOutput,
    /// The gate rejected it.
    Rejection,
}

impl RetryReason {
    pub const ALL: [Self; 3] = [Self::Timeout, Self::InvalidOutput, Self::Rejection];

    /// Its word in pipelines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::InvalidOutput => "invalid_output",
            Self::Rejection => "rejection",
        }
    }
}

/// The review that an answer has to pass.
#[derive(Clone, Debug, PartialEq)]
pub struct GateRules {
    pub council: Council,
    /// The least score, whatever a policy says.
    pub min_score: Option<Spanned<f64>>,
    /// The whole gate.
    pub span: Span,
}

/// The advisors that review an answer, and how their votes become a decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Council {
    pub members: Vec<Spanned<String>>,
    pub decision: CouncilDecision,
    /// Weights by advisor; 1 for the others.
    pub weights: BTreeMap<String, f64>,
}

/// How the votes of a council become a decision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CouncilDecision {
    /// More than half of the advisors approve with a sufficient score.
    #[default]
    Majority,
    /// The weighted mean of the scores is sufficient.
    Average,
}

impl CouncilDecision {
    /// Its word in pipelines.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Average => "average",
        }
    }

    /// The decision with this word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Majority, Self::Average].into_iter().find(|decision| decision.word() == word)
    }
}

impl Council {
    /// The form that settings of a policy keep it in.
    pub fn to_json(&self) -> Value {
        let list: Vec<&str> = self.members.iter().map(|name| name.as_str()).collect();
        json!({ "list": list, "decision": self.decision.word(), "weights": self.weights })
    }

    /// Reads what [`Council::to_json`] wrote.
    pub fn of_json(value: &Value) -> Self {
        let names = value["list"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let weights = value["weights"].as_object().into_iter().flatten();
        Self {
            members: names.map(|name| Spanned { value: name.to_owned(), span: Span::default() }).collect(),
            decision: value["decision"].as_str().and_then(CouncilDecision::of).unwrap_or_default(),
            weights: weights.filter_map(|(name, weight)| Some((name.clone(), weight.as_f64()?))).collect(),
        }
    }
}

/// A policy as written: settings by path (`score_thresholds.codegen`), later files over earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyRules {
    pub settings: BTreeMap<String, PolicySetting>,
    /// The preset that it names, if any.
    pub preset: Option<Spanned<String>>,
    /// The file that has the policy instead, relative to that of the pipeline.
    pub file: Option<Spanned<String>>,
}

/// A setting of a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySetting {
    pub value: Value,
    /// Where it is written: `pipelines/shop.yaml:12`.
    pub at: String,
}

/// The text of a task. `{name}` is filled in with a value of the run's memory, `{Stage.field}` with what a finished stage left.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskText {
    pub text: Spanned<String>,
    pub parts: Vec<TaskPart>,
}

/// A part of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskPart {
    /// Copied.
    Text(String),
    /// The text between braces.
    Reference(String),
}

/// The fields of a finished stage that a task may read.
pub const STAGE_FIELDS: [&str; 7] = ["content", "artifacts", "metadata", "score", "approved", "previous_content", "review"];

impl TaskText {
    /// Splits a text. Braces that hold no name are copied.
    pub fn of(text: Spanned<String>) -> Self {
        let mut parts = Vec::new();
        let mut copied = String::new();
        let mut rest = text.value.as_str();
        while let Some(at) = rest.find('{') {
            let (before, after) = rest.split_at(at);
            copied.push_str(before);
            let name = after[1..].split_once('}').map(|(name, _)| name).filter(|name| is_name(name));
            let Some(name) = name else {
                // Doubled braces belong to a template.
                let braces = after.len() - after.trim_start_matches('{').len();
                copied.push_str(&after[..braces]);
                rest = &after[braces..];
                continue;
            };
            parts.extend((!copied.is_empty()).then(|| TaskPart::Text(std::mem::take(&mut copied))));
            parts.push(TaskPart::Reference(name.to_owned()));
            rest = &after[name.len() + 2..];
        }
        copied.push_str(rest);
        parts.extend((!copied.is_empty()).then_some(TaskPart::Text(copied)));
        Self { text, parts }
    }

    /// The names between braces.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| if let TaskPart::Reference(name) = part { Some(name.as_str()) } else { None })
    }

    /// Whether it is a template, with `{{ ... }}` or `{% ... %}`.
    pub fn is_template(&self) -> bool {
        self.text.contains("{{") || self.text.contains("{%")
    }
}

/// Whether a text between braces can be a name: one line, without marks of JSON or code.
fn is_name(text: &str) -> bool {
    let marks = |c: char| c.is_control() || matches!(c, '{' | '}' | '"' | '\'' | ':' | ';' | ',' | '=' | '%' | '#');
    text.trim() == text && text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !text.contains(marks)
}

/// Splits a reference into a stage and a path of its fields, for the longest name of a stage that it begins with.
pub fn stage_reference<'n, 'r>(reference: &'r str, names: impl Iterator<Item = &'n str>) -> Option<(&'n str, &'r str)> {
    let of = |name: &'n str| Some((name, reference.strip_prefix(name)?.strip_prefix('.')?));
    names.filter_map(of).max_by_key(|(name, _)| name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_split_at_names_between_braces() {
        let parts = |text: &str| {
            let task = TaskText::of(Spanned::new(text.to_owned(), Span::default()));
            let show = |part: &TaskPart| match part {
                TaskPart::Text(text) => text.clone(),
                TaskPart::Reference(name) => format!("<{name}>"),
            };
            task.parts.iter().map(show).collect::<Vec<_>>().join("|")
        };
        assert_eq!(parts("PRD for: {idea}!"), "PRD for: |<idea>|!");
        assert_eq!(parts("{a}{b c.content}"), "<a>|<b c.content>");
        assert_eq!(parts("{\"json\": {x}} { } {{ x }} {"), "{\"json\": |<x>|} { } {{ x }} {");
        assert_eq!(parts(""), "");
        assert_eq!(stage_reference("a b.content", ["a", "a b"].into_iter()), Some(("a b", "content")));
        assert_eq!(stage_reference("a.review.score", ["a", "a b"].into_iter()), Some(("a", "review.score")));
        assert_eq!(stage_reference("x", ["a"].into_iter()), None);
    }
}
