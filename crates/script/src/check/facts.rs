//! Facts about comparisons and indexing in a function: no errors by themselves, but the input of lint rules.

use asterisk_diag::{Source, Span};

/// The facts of a function, without duplicates.
#[derive(Clone, Debug, Default)]
pub struct FunctionFacts {
    /// Comparisons with an input on one side.
    pub compared: Vec<ComparisonFact>,
    /// Accesses to items of input lists by a literal index.
    pub indexed: Vec<IndexFact>,
}

/// A comparison.
#[derive(Clone, Debug)]
pub struct ComparisonFact {
    /// `==`, `<`, ...
    pub op: String,
    pub left: Operand,
    pub right: Operand,
    /// The text that contains it.
    pub source: Source,
    /// The span of the operator.
    pub span: Span,
}

/// A side of a comparison.
#[derive(Clone, Debug)]
pub struct Operand {
    /// The input, if it certainly is one: `artifact.confidence`.
    pub path: Option<String>,
    /// The value of a number literal.
    pub number: Option<f64>,
    /// Whether that number has a decimal point.
    pub float: bool,
    /// The value of a string literal.
    pub text: Option<String>,
    pub span: Span,
}

/// An access to an item of a list.
#[derive(Clone, Debug)]
pub struct IndexFact {
    /// The list: `artifact.candidate_repos`.
    pub path: String,
    pub index: i64,
    /// The text that contains it.
    pub source: Source,
    /// The span of the index.
    pub span: Span,
}
