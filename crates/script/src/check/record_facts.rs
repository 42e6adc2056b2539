//! Records the facts of a function during analysis.

use super::facts::{ComparisonFact, IndexFact, Operand};
use super::flow::TypeFlow;
use super::value::TypedValue;
use crate::tree::{Expr, Position};

/// Maximum number of facts of each kind per function.
const MOST: usize = 1_000;

impl<'a> TypeFlow<'a> {
    /// Records a comparison.
    pub(super) fn compared(&mut self, op: &str, left: (&TypedValue<'a>, &Expr), right: (&TypedValue<'a>, &Expr), at: Position) {
        let wanted = self.keeps_facts && self.facts.compared.len() < MOST;
        if !wanted || left.0.path().is_none() && right.0.path().is_none() {
            return;
        }
        let place = self.place(at);
        if self.facts.compared.iter().any(|known| known.span == place.span && known.source == place.source) {
            return;
        }
        let (left, right) = (self.operand(left.0, left.1), self.operand(right.0, right.1));
        self.facts.compared.push(ComparisonFact { op: op.to_owned(), left, right, source: place.source, span: place.span });
    }

    fn operand(&self, value: &TypedValue<'a>, expr: &Expr) -> Operand {
        #[expect(clippy::cast_precision_loss, reason = "thresholds are small")]
        let (number, float) = match expr {
            Expr::Int(number, _) => (Some(*number as f64), false),
            Expr::Float(number, _) => (Some(*number), true),
            _ => (None, false),
        };
        let text = if let Expr::Text(text, _) = expr { Some(text.to_string()) } else { None };
        let unit = self.script().unit;
        let span = unit.extent(expr).map_or_else(|| self.place(value.at).span, |(_, span)| span);
        Operand { path: value.path().map(str::to_owned), number, float, text, span }
    }

    /// Records an access to an item of a list.
    pub(super) fn indexed(&mut self, list: &TypedValue<'a>, index: i64, at: Position) {
        let Some(path) = list.path().filter(|path| self.keeps_facts && path.contains('.')) else { return };
        let place = self.place(at);
        let known = |known: &IndexFact| known.span == place.span && known.source == place.source;
        if self.facts.indexed.len() < MOST && !self.facts.indexed.iter().any(known) {
            self.facts.indexed.push(IndexFact { path: path.to_owned(), index, source: place.source, span: place.span });
        }
    }
}
