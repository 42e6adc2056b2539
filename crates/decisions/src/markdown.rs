//! An explanation as Markdown, for a ticket or a review.

use super::explanation::{CaseExplanation, StepExplanation};
use super::page::{is_idle, place, result_of, why};
use asterisk_base::model::markdown_line;
use std::fmt::Write as _;

/// The most characters of an expression or a value.
const LONGEST: usize = 120;

/// Renders the explanation as Markdown.
pub fn markdown(explanation: &CaseExplanation) -> String {
    let mut out = String::new();
    let name = if explanation.name.is_empty() { String::new() } else { format!(": {}", escaped(&explanation.name)) };
    let _ = writeln!(out, "# Case {}{name}\n", escaped(&explanation.case));
    let _ =
        writeln!(out, "Run {}, {}, {}.", escaped(&explanation.run), escaped(&explanation.pipeline), explanation.status.word());
    if !explanation.changed.is_empty() {
        let changed: Vec<String> = explanation.changed.iter().map(|path| escaped(path)).collect();
        let _ = writeln!(out, "\nChanged since; this page uses the recorded sources: {}.", changed.join(", "));
    }
    for step in &explanation.steps {
        write(&mut out, step, explanation.detailed);
    }
    out
}

fn write(out: &mut String, step: &StepExplanation, detailed: bool) {
    let _ = writeln!(out, "\n## {}\n", escaped(&place(step)));
    let because = step.because.as_ref().map_or(String::new(), |because| format!(": {because}"));
    let _ = writeln!(out, "{}", escaped(&format!("{}{because}", result_of(step).unwrap_or_default())));
    if let Some(walker) = &step.walker {
        let _ = writeln!(out, "\n{}", escaped(&super::explanation::taken_by(walker)));
    }
    if let Some(call) = &step.call {
        let _ = writeln!(out, "\n{}", escaped(&super::explanation::called(call)));
    }
    for attempt in &step.attempts {
        let _ = writeln!(out, "\n- {}", escaped(&super::explanation::tried(attempt)));
    }
    if let Some(error) = &step.error {
        let _ = writeln!(out, "\n{}", escaped(&error.message));
    }
    if !step.edges.is_empty() {
        let _ = writeln!(out, "\n| edge | outcome | why |\n| --- | --- | --- |");
    }
    for edge in step.edges.iter().filter(|edge| !is_idle(edge)) {
        let _ = writeln!(out, "| {} | {} | {} |", escaped(&edge.edge), escaped(edge.outcome.word()), escaped(&why(edge)));
    }
    if !detailed {
        return;
    }
    for edge in step.edges.iter().filter(|edge| !edge.values.is_empty()) {
        let rule = edge.rule.as_ref().map_or(String::new(), |rule| format!(" ({}:{})", rule.file, rule.line));
        let _ = writeln!(out, "\n### {}{}\n\n```text", escaped(&edge.edge), escaped(&rule));
        for line in &edge.values {
            // Indented lines in a fence cannot end it.
            let _ = writeln!(out, "    {}", line.format(LONGEST).replace(['\n', '\r'], " "));
        }
        let _ = writeln!(out, "```");
    }
}

/// Escapes Markdown, without control characters.
fn escaped(text: &str) -> String {
    markdown_line(&text.replace(|ch: char| ch.is_control() && !ch.is_whitespace(), ""))
}
