//! An evaluation in lines: what was asked, with the values of its parts under it.

use super::Evaluation;
use super::seen::Seen;
use super::table::{Node, NodeRole, Table};
use crate::diag::Span;
use crate::script::compare::Op;
use crate::script::unit::Unit;

/// One line of an outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// How deep it stands, from 0.
    pub depth: usize,
    /// The words before the expression: `if`, `return`, or nothing.
    pub word: &'static str,
    /// The expression as it is written, in one line.
    pub text: String,
    /// Its value; nothing after an error.
    pub value: Option<String>,
    /// How near it was to be otherwise: `missed by 0.08`.
    pub remark: Option<String>,
}

/// Finds the text and the node that an evaluation is of.
pub struct Outline<'a> {
    texts: Vec<(&'a Unit, &'a Table)>,
}

impl<'a> Outline<'a> {
    /// An outline of evaluations of these texts ([`Library::probed`](crate::script::Library::probed)).
    pub fn new(texts: impl IntoIterator<Item = (&'a Unit, &'a Table)>) -> Self {
        Self { texts: texts.into_iter().collect() }
    }

    /// The text and the node of an evaluation.
    pub fn find(&self, evaluation: &Evaluation) -> Option<(&'a Unit, &'a Node)> {
        let (unit, table) = self.texts.iter().find(|(_, table)| table.id() == evaluation.table)?;
        Some((unit, table.node(evaluation.node)?))
    }

    /// The lines of the evaluation of a function: what it asked, in order, each with the values of its parts, and what it
    /// returned. What other functions did inside is left out: their results stand where they were called.
    pub fn lines(&self, evaluation: &Evaluation) -> Vec<Line> {
        let mut lines = Vec::new();
        for part in &evaluation.inside {
            self.part(part, 0, None, &mut lines);
        }
        lines
    }

    fn part(&self, evaluation: &Evaluation, depth: usize, above: Option<Span>, lines: &mut Vec<Line>) {
        let Some((unit, node)) = self.find(evaluation) else { return };
        // A closure says nothing before it is called.
        if node.role == NodeRole::Function || matches!(&evaluation.value, Some(Seen::Other("a function"))) {
            return;
        }
        let span = node.span(unit);
        // Parent and child of one extent are one line.
        let same = span.is_some() && span == above;
        if !same {
            let word = match node.role {
                NodeRole::Condition => "if",
                NodeRole::Case => "case",
                NodeRole::Return | NodeRole::Result => "return",
                _ => "",
            };
            let text = node.text(unit).split_whitespace().collect::<Vec<_>>().join(" ");
            let value = evaluation.value.as_ref().map(ToString::to_string);
            lines.push(Line { depth, word, text, value, remark: self.remark(evaluation, unit, node) });
        }
        for part in &evaluation.inside {
            self.part(part, if same { depth } else { depth + 1 }, span, lines);
        }
    }

    /// By how much a comparison of numbers did not hold.
    fn remark(&self, evaluation: &Evaluation, unit: &Unit, node: &Node) -> Option<String> {
        let op = node.comparison.filter(|op| !matches!(op, Op::Eq | Op::Ne))?;
        if evaluation.value.as_ref()?.truth()? {
            return None;
        }
        let (left, right) = sides(node.text(unit), op)?;
        let number = |side: &str| {
            let evaluated =
                evaluation.inside.iter().find(|part| self.find(part).is_some_and(|(unit, node)| node.text(unit).trim() == side));
            evaluated.and_then(|part| part.value.as_ref().and_then(Seen::number)).or_else(|| side.parse().ok())
        };
        let by = (number(left)? - number(right)?).abs();
        let by = format!("{by:.6}");
        let by = by.trim_end_matches('0').trim_end_matches('.');
        (by != "0").then(|| format!("missed by {by}"))
    }
}

/// The two sides of a comparison, if its operator stands there once.
fn sides(text: &str, op: Op) -> Option<(&str, &str)> {
    let spaced = format!(" {} ", op.text());
    let (left, right) = text.split_once(spaced.as_str())?;
    (!right.contains(spaced.as_str())).then(|| (left.trim(), right.trim()))
}
