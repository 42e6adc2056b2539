//! The finding that a pipeline's summary script returns for a case.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The outcome of a case in terms of the pipeline's `report:` script. All fields are optional; only the script knows the categories, codes
/// and components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaseFinding {
    /// One-line description of the failure.
    pub title: String,
    /// Description in a few sentences.
    pub summary: String,
    /// Category of the failure.
    pub category: String,
    /// Defect type code.
    pub defect_type: String,
    /// Name of the defect type.
    pub defect_name: String,
    /// Locator of the defect type in ReportPortal; empty if it has none there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub issue_type: String,
    /// Suspected component.
    pub component: String,
    /// Severity.
    pub severity: String,
    /// Confidence, 0 to 1; absent without a conclusion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The probability that the rules of the verdict give the defect, where they did not decide it: somebody declared it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_rules: Option<f64>,
    /// Other defects that it may be, most probable first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<AlternativeDefect>,
    /// The rules that decided the defect, weightiest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<DefectReason>,
    /// Cause key: cases with the same key share a cause.
    pub cause: String,
    /// What the failures of the cause have in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<CauseRoot>,
    /// Who owns the code that the failure is traced to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub owners: Vec<String>,
    /// The case of the same launch whose failure made this one fail: its cause is linked to that case's.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub follows: String,
    /// Whether the test fails and passes without a change; such a cause is never a regression.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// Whether the cause is known to have been resolved before.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub regression: bool,
    /// The review that approved the conclusion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// Why a person should review it; empty if none needs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub needs_review: String,
    /// Evidence for the conclusion.
    pub evidence: Vec<String>,
    /// Stack frames, the root cause's first, innermost first; those of the product begin with `> `.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<String>,
    /// The line of code that the failure points at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<CodeLocation>,
    /// The level of the CI annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<AnnotationLevel>,
    /// Missing evidence.
    pub gaps: Vec<String>,
    /// Advisories (clock skew, cascades, ...).
    pub advisories: Vec<String>,
    /// Recommended actions, most useful first.
    pub next_steps: Vec<String>,
    /// Additional sections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// Fields of an issue about the case, as the tracker names them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub issue: Map<String, Value>,
}

/// A source location, as a stack frame names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CodeLocation {
    /// The file.
    pub path: String,
    /// The line, from 1; 0 if only the file is known.
    pub line: usize,
}

/// The level of a CI annotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnnotationLevel {
    Error,
    Warning,
    Notice,
}

/// A defect that a case may be instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AlternativeDefect {
    /// Defect type code.
    pub defect_type: String,
    /// Name of the defect type.
    pub defect_name: String,
    /// Probability, 0 to 1.
    pub probability: f64,
}

/// A rule that supports the defect of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DefectReason {
    /// Its id.
    pub id: String,
    /// Where it is written: `file:line`.
    pub at: String,
    /// Why it matches.
    pub says: String,
    /// What it adds to the log-odds of the defect.
    pub weight: f64,
}

/// What the failures of a cause have in common.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CauseRoot {
    /// The rule that decided.
    pub rule: String,
    /// Where it is written: `file:line`.
    pub at: String,
    /// Why.
    pub says: String,
    /// How often failures of which the rule says the same are one cause, 0 to 1.
    pub confidence: f64,
    /// Whether such a failure only follows from another one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub consequence: bool,
    /// What a person said that replaced the rule: `merged`, `split`; empty without that.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// An additional section of a finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// One item per line.
    pub lines: Vec<String>,
    /// Curves drawn above the lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Curve>,
}

/// A curve in a section.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Curve {
    /// The label of the curve.
    pub name: String,
    /// The values in order, each from 0 to 1.
    pub values: Vec<f64>,
}

/// Outcome of a review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Review {
    /// The decision.
    pub decision: String,
    /// The reviewer: `human`, `agent` or `script`.
    pub by: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use asterisk_walk::FINDING;
    use serde_json::json;

    #[test]
    fn the_table_of_fields_is_that_of_the_reader() {
        let error = serde_json::from_value::<CaseFinding>(json!({ "?": 1 })).unwrap_err().to_string();
        let mut known: Vec<&str> = error.split('`').skip(3).step_by(2).collect();
        known.sort_unstable();
        assert_eq!(FINDING[0].fields.iter().map(|field| field.name).collect::<Vec<_>>(), known);
    }
}
