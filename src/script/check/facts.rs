//! What a function compares and indexes: nothing wrong by itself, but what the linter goes by.

use super::flow::TypeFlow;
use super::types::TypedValue;
use crate::diag::{Source, Span};
use rhai::{Expr, Position};

/// The most facts of each kind that are kept of a function.
const MOST: usize = 1_000;

/// The facts of a function, each place once.
#[derive(Clone, Debug, Default)]
pub struct FunctionFacts {
    /// Its comparisons, as far as an input is on one side.
    pub compared: Vec<ComparisonFact>,
    /// Its lists of the inputs of which an item is taken by a number that is written out.
    pub indexed: Vec<IndexFact>,
}

/// A comparison.
#[derive(Clone, Debug)]
pub struct ComparisonFact {
    /// `==`, `<`, ...
    pub op: String,
    /// What stands on the left.
    pub left: Operand,
    /// What stands on the right.
    pub right: Operand,
    /// The text it stands in.
    pub source: Source,
    /// The operator.
    pub span: Span,
}

/// A side of a comparison.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The input it certainly is: `artifact.confidence`.
    pub path: Option<String>,
    /// The number that is written out.
    pub number: Option<f64>,
    /// Whether that number is written with a point.
    pub float: bool,
    /// The text that is written out.
    pub text: Option<String>,
    /// Its place.
    pub span: Span,
}

/// An item taken out of a list.
#[derive(Clone, Debug)]
pub struct IndexFact {
    /// The list: `artifact.candidate_repos`.
    pub path: String,
    /// The number.
    pub index: i64,
    /// The text it stands in.
    pub source: Source,
    /// The number's place.
    pub span: Span,
}

impl<'a> TypeFlow<'a> {
    /// A comparison was looked at.
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
            Expr::IntegerConstant(number, _) => (Some(*number as f64), false),
            Expr::FloatConstant(number, _) => (Some(**number), true),
            _ => (None, false),
        };
        let text = if let Expr::StringConstant(text, _) = expr { Some(text.to_string()) } else { None };
        let unit = self.script().unit;
        let span = unit.extent(expr).map_or_else(|| self.place(value.at).span, |(_, span)| span);
        Operand { path: value.path().map(str::to_owned), number, float, text, span }
    }

    /// An item of a list was taken.
    pub(super) fn indexed(&mut self, list: &TypedValue<'a>, index: i64, at: Position) {
        let Some(path) = list.path().filter(|path| self.keeps_facts && path.contains('.')) else { return };
        let place = self.place(at);
        let known = |known: &IndexFact| known.span == place.span && known.source == place.source;
        if self.facts.indexed.len() < MOST && !self.facts.indexed.iter().any(known) {
            self.facts.indexed.push(IndexFact { path: path.to_owned(), index, source: place.source, span: place.span });
        }
    }
}
