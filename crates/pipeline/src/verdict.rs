//! `verdict:`: how the defect of a case is decided from its evidence.

use super::Spanned;
use asterisk_diag::Span;

/// The rules of a verdict. Each adds to the log-odds of some defects; the softmax of the sums are the probabilities.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRules {
    /// The defects to decide between, with their log-odds before any rule matches, in file order.
    pub priors: Vec<DefectWeight>,
    /// The defect that is said where nothing is decided.
    pub undecided: Spanned<String>,
    /// The var that holds the least probability of a decided verdict.
    pub floor: Spanned<String>,
    /// The var that holds what the log-odds are divided by before they become probabilities, if there is one.
    pub temperature: Option<Spanned<String>>,
    /// The var that holds how much the words of the evidence count, if those of the data do.
    pub terms: Option<Spanned<String>>,
    /// The queries whose results the rules read as `context.needs`.
    pub needs: Vec<Spanned<String>>,
    /// The function that says how strongly a signature that matched matches.
    pub signatures: Option<Spanned<String>>,
    /// The rules, in file order.
    pub rules: Vec<VerdictRule>,
    /// The whole section.
    pub span: Span,
}

/// A rule of a verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct VerdictRule {
    /// The id, unique in the pipeline.
    pub id: Spanned<String>,
    /// The displayed name; empty if not given.
    pub name: String,
    /// The theme: of all rules and signatures of a group, only the strongest counts.
    pub group: Option<Spanned<String>>,
    /// What it adds to the log-odds of defects at full strength.
    pub weights: Vec<DefectWeight>,
    /// The function, called with `(evidence, context, vars)`.
    pub rule: Spanned<String>,
    /// The whole rule.
    pub span: Span,
}

/// The log-odds of a defect.
#[derive(Clone, Debug, PartialEq)]
pub struct DefectWeight {
    /// The defect's code.
    pub defect: Spanned<String>,
    /// The log-odds.
    pub weight: f64,
}

impl VerdictRules {
    /// The vars that it names.
    pub fn vars(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&self.floor).chain(&self.temperature).chain(&self.terms).map(|var| var.as_str())
    }

    /// The functions that it refers to.
    pub fn functions(&self) -> impl Iterator<Item = &Spanned<String>> {
        self.signatures.iter().chain(self.rules.iter().map(|rule| &rule.rule))
    }
}
