//! What a function compares and indexes: nothing wrong by itself, but what the linter goes by.

use crate::diag::{Source, Span};

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
