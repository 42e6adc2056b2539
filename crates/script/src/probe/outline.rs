//! Renders an evaluation as lines: the conditions, each with the values of its parts below it.

use super::Evaluation;
use super::seen::ObservedValue;
use super::table::{Logic, NodeRole, ProbeNode, ProbeTable};
use crate::compare::CompareOp;
use crate::unit::Unit;
use asterisk_diag::{Source, Span};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// One line of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineLine {
    /// The indentation depth, from 0.
    pub depth: usize,
    /// The keyword before the expression: `if`, `return`, or empty.
    pub word: &'static str,
    /// The source text of the expression, in one line.
    pub text: String,
    pub outcome: OutlineOutcome,
    /// How near it was to the opposite: `missed by 0.08`.
    pub remark: Option<String>,
}

/// The result of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutlineOutcome {
    /// It had this value.
    Value(String),
    /// It raised an error.
    Failed,
    /// It was not evaluated, since a preceding operand decided the result.
    Skipped,
}

impl OutlineLine {
    /// Formats the line, with expression and value truncated to `longest` characters.
    pub fn format(&self, longest: usize) -> String {
        let mut text = "  ".repeat(self.depth);
        if !self.word.is_empty() {
            text.push_str(self.word);
            text.push(' ');
        }
        let shown = clipped(&self.text, longest);
        match &self.outcome {
            OutlineOutcome::Value(value) if self.word == "return" && self.text.starts_with("#{") => {
                text.push_str(&clipped(value, longest.min(72)));
            }
            OutlineOutcome::Value(value) if *value == self.text => text.push_str(&clipped(value, longest)),
            OutlineOutcome::Value(value) => {
                let _ = write!(text, "{shown}  = {}", clipped(value, longest));
            }
            OutlineOutcome::Failed => {
                let _ = write!(text, "{shown}  failed");
            }
            OutlineOutcome::Skipped => {
                let _ = write!(text, "{shown}  not {}", if self.word.is_empty() { "evaluated" } else { "reached" });
            }
        }
        if let Some(remark) = &self.remark {
            let _ = write!(text, " ({remark})");
        }
        text
    }
}

/// Removes the lines that do not explain the result: the parts of a returned map.
pub fn explanatory(lines: Vec<OutlineLine>) -> Vec<OutlineLine> {
    let mut inside = false;
    let mut explains = |line: &OutlineLine| {
        if line.depth == 0 {
            inside = line.word == "return" && line.text.starts_with("#{") && line.outcome != OutlineOutcome::Failed;
        }
        line.depth == 0 || !inside
    };
    lines.into_iter().filter(|line| explains(line)).collect()
}

/// Truncates a text.
pub fn clipped(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((at, _)) => format!("{}...", text[..at].trim_end_matches('.')),
        None => text.to_owned(),
    }
}

/// Finds the text and the node of an evaluation.
pub struct Outline<'a> {
    texts: Vec<(&'a Unit, &'a ProbeTable)>,
}

impl<'a> Outline<'a> {
    /// An outline of evaluations of these texts ([`Library::probed`](crate::Library::probed)).
    pub fn new(texts: impl IntoIterator<Item = (&'a Unit, &'a ProbeTable)>) -> Self {
        Self { texts: texts.into_iter().collect() }
    }

    /// The text and the node of an evaluation.
    pub fn find(&self, evaluation: &Evaluation) -> Option<(&'a Unit, &'a ProbeNode)> {
        let (unit, table) = self.text(evaluation.table)?;
        Some((unit, table.node(evaluation.node)?))
    }

    fn text(&self, table: u32) -> Option<(&'a Unit, &'a ProbeTable)> {
        self.texts.iter().find(|(_, known)| known.id() == table).copied()
    }

    /// The lines for the evaluation of a function: its conditions in order, each with the values of its parts, and its result.
    /// Nested calls are shown only by their results.
    pub fn lines(&self, evaluation: &Evaluation) -> Vec<OutlineLine> {
        let mut lines = Vec::new();
        for part in &evaluation.inside {
            self.part(part, 0, None, &mut lines);
        }
        lines
    }

    /// The span of the expression that was returned.
    pub fn answer(&self, evaluation: &Evaluation) -> Option<(Source, Span)> {
        let is_answer = |node: &ProbeNode| matches!(node.role, NodeRole::Return | NodeRole::Result);
        let found = evaluation.inside.iter().rev().filter_map(|part| self.find(part)).find(|(_, node)| is_answer(node));
        found.and_then(|(unit, node)| node.place(unit))
    }

    /// The conditions of a function that its evaluation did not reach, in source order.
    pub fn unreached(&self, evaluation: &Evaluation) -> Vec<OutlineLine> {
        let Some((unit, table)) = self.text(evaluation.table) else { return Vec::new() };
        let mut came: BTreeSet<u32> = BTreeSet::new();
        evaluation.walk(&mut |part| {
            came.extend((part.table == evaluation.table).then_some(part.node));
        });
        let missing = |(number, node): &(u32, &ProbeNode)| {
            let asks = matches!(node.role, NodeRole::Condition | NodeRole::Case);
            asks && node.function == evaluation.node && !came.contains(number)
        };
        let line = |(_, node): (u32, &ProbeNode)| skipped(0, word(node.role), node.written(unit));
        (0..).zip(table.nodes()).filter(missing).map(line).collect()
    }

    fn part(&self, evaluation: &Evaluation, depth: usize, above: Option<Span>, lines: &mut Vec<OutlineLine>) {
        let Some((unit, node)) = self.find(evaluation) else { return };
        // A closure is shown only when it is called.
        if node.role == NodeRole::Function || matches!(&evaluation.value, Some(ObservedValue::Other("a function"))) {
            return;
        }
        let span = node.span(unit);
        // A parent and child with the same span share one line.
        let same = span.is_some() && span == above;
        if !same {
            let outcome =
                evaluation.value.as_ref().map_or(OutlineOutcome::Failed, |value| OutlineOutcome::Value(value.to_string()));
            let (word, text) = (word(node.role), node.written(unit));
            lines.push(OutlineLine { depth, word, text, outcome, remark: self.remark(evaluation, unit, node) });
        }
        let depth = if same { depth } else { depth + 1 };
        for part in &evaluation.inside {
            self.part(part, depth, span, lines);
        }
        if matches!(node.logic, Some(Logic::And | Logic::Or)) {
            self.add_skipped(evaluation, unit, depth, lines);
        }
    }

    /// Adds the operands of `&&` or `||` that were skipped by short-circuit evaluation.
    fn add_skipped(&self, evaluation: &Evaluation, unit: &Unit, depth: usize, lines: &mut Vec<OutlineLine>) {
        let Some((_, table)) = self.text(evaluation.table) else { return };
        let came = |number: u32| evaluation.inside.iter().any(|part| part.node == number);
        // The parts of a node come after it, and those of one function are contiguous.
        for (number, node) in (0..).zip(table.nodes()).skip(usize::try_from(evaluation.node).unwrap_or(0)) {
            if node.parent == Some(evaluation.node) && node.role == NodeRole::Operand && !came(number) {
                lines.push(skipped(depth, "", node.written(unit)));
            }
        }
    }

    /// The difference by which a comparison of numbers failed.
    fn remark(&self, evaluation: &Evaluation, unit: &Unit, node: &ProbeNode) -> Option<String> {
        let op = node.comparison.filter(|op| !matches!(op, CompareOp::Eq | CompareOp::Ne))?;
        if evaluation.value.as_ref()?.truth()? {
            return None;
        }
        let [left, right] = self.sides(evaluation, unit, node, op)?;
        let by = short((left.number? - right.number?).abs());
        (by != "0").then(|| format!("missed by {by}"))
    }

    /// The two sides of a comparison with their values, if its operator occurs only once.
    pub(super) fn sides(
        &self,
        evaluation: &Evaluation,
        unit: &Unit,
        node: &ProbeNode,
        op: CompareOp,
    ) -> Option<[OutlineOperand; 2]> {
        let side = |text: &str| {
            let is_it = |part: &&Evaluation| self.find(part).is_some_and(|(unit, node)| node.text(unit).trim() == text);
            let part = evaluation.inside.iter().find(is_it);
            let value = part.and_then(|part| part.value.as_ref());
            OutlineOperand {
                written: part.and_then(|part| self.find(part)).map_or_else(|| text.to_owned(), |(unit, node)| node.written(unit)),
                literal: part.is_none(),
                value: value.map_or_else(|| text.to_owned(), ToString::to_string),
                number: value.map_or_else(|| text.parse().ok(), ObservedValue::number),
            }
        };
        let (left, right) = sides(node.text(unit), op)?;
        Some([side(left), side(right)])
    }
}

/// One side of a comparison.
pub(super) struct OutlineOperand {
    /// The source text.
    pub(super) written: String,
    /// Whether it is a literal.
    pub(super) literal: bool,
    /// The value in script notation.
    pub(super) value: String,
    /// The value, if it is a number.
    pub(super) number: Option<f64>,
}

fn word(role: NodeRole) -> &'static str {
    match role {
        NodeRole::Condition => "if",
        NodeRole::Case => "case",
        NodeRole::Return | NodeRole::Result => "return",
        _ => "",
    }
}

fn skipped(depth: usize, word: &'static str, text: String) -> OutlineLine {
    OutlineLine { depth, word, text, outcome: OutlineOutcome::Skipped, remark: None }
}

/// Formats a difference with few digits.
pub(super) fn short(by: f64) -> String {
    let by = format!("{by:.6}");
    by.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The two sides of a comparison, if its operator occurs only once.
fn sides(text: &str, op: CompareOp) -> Option<(&str, &str)> {
    let spaced = format!(" {} ", op.text());
    let (left, right) = text.split_once(spaced.as_str())?;
    (!right.contains(spaced.as_str())).then(|| (left.trim(), right.trim()))
}
