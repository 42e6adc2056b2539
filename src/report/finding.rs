//! What a pipeline's summary script says of a case.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The outcome of a case in the words of the pipeline's `report:` script. All parts are optional; the script alone knows
/// what categories, codes and components there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaseFinding {
    /// What went wrong, in a line.
    pub title: String,
    /// What went wrong, in a few sentences.
    pub summary: String,
    /// What kind of failure it is.
    pub category: String,
    /// Whose defect it is: a code.
    pub defect_type: String,
    /// That code in words.
    pub defect_name: String,
    /// What ReportPortal calls it: the locator of a defect type; empty if it has no name there.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub issue_type: String,
    /// What is suspected to be broken.
    pub component: String,
    /// How bad it is.
    pub severity: String,
    /// How sure that is, 0 to 1; absent when nothing was concluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Cases with the same key share a cause.
    pub cause: String,
    /// The case of the same launch whose failure made this one fail; its cause is this case's too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub follows: String,
    /// Whether the test fails and passes without a change: such a cause comes and goes and is never a regression.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
    /// Whether it is known to have been resolved once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub regression: bool,
    /// Who let the conclusion pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review: Option<Review>,
    /// What the conclusion rests on.
    pub evidence: Vec<String>,
    /// What is missing to be surer.
    pub gaps: Vec<String>,
    /// What to keep in mind (clock skew, cascades, ...).
    pub advisories: Vec<String>,
    /// What to do next, most useful first.
    pub next_steps: Vec<String>,
    /// What else is told of the case, under headings of its own.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<Section>,
    /// The fields of an issue about it, as the tracker names them.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub issue: Map<String, Value>,
}

/// What a script tells under a heading of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// One thing to a line.
    pub lines: Vec<String>,
}

/// A review's outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Review {
    /// What was decided.
    pub decision: String,
    /// Who decided: `human`, `agent` or `script`.
    pub by: String,
}
