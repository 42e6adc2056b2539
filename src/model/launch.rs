//! A failed CI launch and its cases, as every reader of a format delivers them.

use super::{Attributes, LaunchText};
use crate::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of a test suite in CI.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// Its id where it came from.
    pub run_id: String,
    /// Its name.
    pub name: String,
    /// Its number, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Its status, as its source words it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Versions, lanes, clusters: whatever its source attached.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// How many tests ran, by outcome (`total`, `passed`, `failed`, `skipped`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub totals: BTreeMap<String, u64>,
    /// What was checked out.
    #[serde(default)]
    pub git: LaunchCheckout,
    /// One per failure, in the order of the source.
    pub cases: Vec<Case>,
    /// How many more failures it has, which are not in memory: nobody is told of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// What reading it left out or cut, for the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Those of the notes that say that failures may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
}

impl Launch {
    /// Notes that failures may be missing.
    pub fn gap(&mut self, note: String) {
        self.gaps.push(note.clone());
        self.notes.push(note);
    }

    /// How many failures it has.
    pub fn failures(&self) -> usize {
        self.cases.len() + self.left_out
    }

    /// The label of the version it tested; empty if its attributes tell none. That is the attribute `version`, or else
    /// `product_version`, `release`, `build`, or the first in the order of names that ends in `version` (case does not count).
    pub fn version(&self) -> &str {
        let rank = |name: &str| match name.to_ascii_lowercase().replace('-', "_").as_str() {
            "version" => Some(0),
            "product_version" => Some(1),
            "release" => Some(2),
            "build" => Some(3),
            other => other.ends_with("_version").then_some(4),
        };
        let ranked = self.attributes.iter().filter_map(|(name, value)| Some((rank(name)?, value)));
        ranked.min_by_key(|(rank, _)| *rank).map_or("", |(_, value)| value)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What a launch checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchCheckout {
    /// The branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The remote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// One failure of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique in the launch.
    pub id: String,
    /// The test's name.
    pub name: String,
    /// Its status, as its source words it.
    pub status: String,
    /// What the test stands in: suite, class, parent item; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suite: String,
    /// The file of the test, where the source says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// When the test began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// How long it took, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Labels, ticket ids, lanes: whatever its source attached.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// The error's text, cleaned; empty if there is none.
    #[serde(default)]
    pub error_message: String,
    /// The log's text, cleaned and perhaps cut; empty if there is none.
    #[serde(default)]
    pub log_snippet: LaunchText,
    /// What was cut out of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_cut: Option<Cut>,
    /// The defect code that the source already carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_defect: Option<String>,
    /// Hash of test name and normalised error, for recall (`decisions.md` 45).
    pub recall_key: String,
}

/// A cut made in a long text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// How long it was, in bytes, after cleaning.
    pub was: usize,
    /// How many bytes were kept.
    pub kept: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_plainest_attribute_that_names_one() {
        let of = |attributes: &[(&str, &str)]| {
            let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Launch { attributes, ..Launch::default() }.version().to_owned()
        };
        assert_eq!(of(&[("build", "77"), ("Version", "4.2"), ("os-version", "9")]), "4.2");
        assert_eq!(of(&[("build", "77"), ("os-version", "9"), ("release", "r1")]), "r1");
        assert_eq!(of(&[("b_version", "2"), ("a-version", "1"), ("conversion", "3")]), "1");
        assert_eq!(of(&[("lane", "a")]), "");
    }
}
