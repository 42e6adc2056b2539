//! Formats values and steps.

use super::scope::EvalScope;
use asterisk_decisions::{JournalStep, StepEnd};
use asterisk_walk::{ConsideredEdge, Decision, EdgeChoice, Failure, Plan};
use serde_json::Value;

/// The maximum lines of a value, unless the whole is requested.
const LINES: usize = 40;
/// The maximum characters of a line of a value.
const WIDTH: usize = 200;
/// The maximum characters of a value within a line.
const SHORT: usize = 60;

/// A value as indented JSON; a long one is cut, with a note.
pub(super) fn value(value: &Value, full: bool) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    if full {
        return text;
    }
    let count = text.lines().count();
    let mut cut = count > LINES;
    let lines: Vec<String> = text
        .lines()
        .take(LINES)
        .map(|line| match line.char_indices().nth(WIDTH) {
            Some((end, _)) => {
                cut = true;
                format!("{}…", &line[..end])
            }
            None => line.to_owned(),
        })
        .collect();
    let mut out = lines.join("\n");
    if cut {
        let more = count.saturating_sub(LINES);
        let more = if more > 0 { format!("{more} more lines") } else { "cut".to_owned() };
        out += "\n… ";
        out += &more;
        out += "; show all: :full EXPRESSION";
    }
    out
}

/// A value within a line.
pub(super) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHORT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The outcome of a recorded step, as a line.
pub(super) fn outcome_line(step: &JournalStep) -> String {
    match &step.end {
        StepEnd::To { to, edge, because, .. } => format!("{} -> {to} by {edge}: {because}", step.node),
        StepEnd::Over => format!("{}: the walk completes", step.node),
        StepEnd::Failed { kind, message } => format!("{}: {kind}: {message}", step.node),
        StepEnd::Open => format!("{}: no decision yet", step.node),
    }
}

/// The decision at a node.
fn choice(plan: &Plan, node: &str, choice: Option<&EdgeChoice>) -> String {
    match choice {
        Some(choice) => format!("{node} -> {} by {}: {}", plan.pipeline.target_name(choice.to), choice.name, choice.because),
        None => format!("{node}: the walk completes"),
    }
}

/// The decision at a node, or the failure.
pub(super) fn decided(here: &EvalScope, decided: &Result<Decision, (Vec<ConsideredEdge>, Failure)>) -> String {
    match decided {
        Ok(decision) => choice(&here.plan, here.node_name(), decision.choice.as_ref()),
        Err((_, failure)) => format!("{}: {}: {}", here.node_name(), failure.kind.word(), failure.diagnostic.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn long_values_are_cut_with_a_note() {
        let long: Vec<usize> = (0..100).collect();
        let cut = value(&json!(long), false);
        assert_eq!(cut.lines().count(), LINES + 1);
        assert!(cut.ends_with("… 62 more lines; show all: :full EXPRESSION"), "{cut}");
        assert_eq!(value(&json!(long), true).lines().count(), 102);
        let wide = value(&json!("é".repeat(1000)), false);
        assert!(wide.ends_with("… cut; show all: :full EXPRESSION") && wide.chars().count() < 300, "{wide}");
        assert_eq!(value(&json!({"a": 1}), false), "{\n  \"a\": 1\n}");
        assert_eq!(short(&json!("é".repeat(100))).chars().count(), SHORT + 1);
    }
}
