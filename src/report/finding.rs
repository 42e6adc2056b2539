//! What a pipeline's summary script says of a case.

use serde::{Deserialize, Serialize};

/// The outcome of a case in the words of the pipeline's `report:` script. All parts are optional; the script alone knows
/// what categories, codes and components there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Finding {
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
    /// What is suspected to be broken.
    pub component: String,
    /// How sure that is, 0 to 1; absent when nothing was concluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Cases with the same key share a cause.
    pub cause: String,
    /// What the conclusion rests on.
    pub evidence: Vec<String>,
    /// What is missing to be surer.
    pub gaps: Vec<String>,
    /// What to keep in mind (clock skew, cascades, ...).
    pub advisories: Vec<String>,
    /// What to do next, most useful first.
    pub next_steps: Vec<String>,
}
