//! A failed CI launch and its cases, as produced by every format reader.

use super::{Attributes, LaunchText, TestIdentity, TestOutcomes};
use crate::clock::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One run of a test suite in CI.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// The id in the source system.
    pub run_id: String,
    pub name: String,
    /// The sequence number, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// The status, in the words of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Versions, lanes, clusters: anything that the source attached.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// The number of tests by outcome (`total`, `passed`, `failed`, `skipped`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub totals: BTreeMap<String, u64>,
    /// The checked out revision.
    #[serde(default)]
    pub git: LaunchCheckout,
    /// One per failure, in source order.
    pub cases: Vec<Case>,
    /// The number of further failures that were not loaded and are not investigated.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Notes about omissions and cuts while reading, for the report.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The notes that mean that failures may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<String>,
    /// The outcomes of all tests, if the source lists those that passed. No part of what is recorded of a launch: the store keeps
    /// them apart.
    #[serde(skip)]
    pub outcomes: TestOutcomes,
}

impl Launch {
    /// Adds a note that failures may be missing.
    pub fn gap(&mut self, note: String) {
        self.gaps.push(note.clone());
        self.notes.push(note);
    }

    /// The number of failures, including those not loaded.
    pub fn failures(&self) -> usize {
        self.cases.len() + self.left_out
    }

    /// The label of the tested version; empty if no attribute names it. It is the attribute `version`, or else `product_version`,
    /// `release`, `build`, or the first in order of names that ends in `version` (ignoring case).
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

    /// The tested commit; empty if it is unknown. It is the checked out one, or else that of the first attribute in order of
    /// `COMMITS`. An attribute with several values names none.
    pub fn commit(&self) -> &str {
        let checked_out = self.git.commit.as_deref().map(str::trim).filter(|commit| !commit.is_empty());
        let ranked = self.attributes.iter().filter_map(|(name, value)| {
            let (name, value) = (plain(name), value.trim());
            let rank = COMMITS.iter().position(|known| *known == name)?;
            (!value.is_empty() && !value.contains([',', ' '])).then_some((rank, value))
        });
        checked_out.or_else(|| ranked.min_by_key(|(rank, _)| *rank).map(|(_, value)| value)).unwrap_or_default()
    }
}

/// Names of attributes that hold the commit, the most specific first; dots and dashes are as good as underscores.
const COMMITS: [&str; 14] = [
    "commit",
    "git_commit",
    "commit_sha",
    "git_commit_sha",
    "commit_hash",
    "git_commit_hash",
    "commit_id",
    "git_commit_id",
    "git_sha",
    "ci_commit_sha",
    "github_sha",
    "vcs_revision",
    "git_revision",
    "revision",
];

/// A name of an attribute without differences of case and of separators.
pub(super) fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace(['-', '.'], "_")
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The revision that a launch checked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchCheckout {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// One failure of a launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique in the launch.
    pub id: String,
    /// The name of the test.
    pub name: String,
    /// The status, in the words of the source.
    pub status: String,
    /// The container of the test: suite, class, parent item; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub suite: String,
    /// The file of the test, if the source provides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// The duration in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// Labels, ticket ids, lanes: anything that the source attached.
    #[serde(default, skip_serializing_if = "Attributes::is_empty")]
    pub attributes: Attributes,
    /// The error text, cleaned; empty if there is none.
    #[serde(default)]
    pub error_message: String,
    /// The log text, cleaned and possibly truncated; empty if there is none.
    #[serde(default)]
    pub log_snippet: LaunchText,
    /// The truncation of the log, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_cut: Option<Cut>,
    /// The defect code already assigned in the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_defect: Option<String>,
    /// Hash of test name and normalised error, for recall (`docs/decisions/0012-recall-keys.md`).
    pub recall_key: String,
}

impl Case {
    /// The identity of its test, which is the same in every launch.
    pub fn identity(&self) -> TestIdentity {
        TestIdentity::new(&self.suite, &self.name)
    }
}

/// The truncation of a long text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// The original length in bytes, after cleaning.
    pub was: usize,
    /// The number of bytes kept.
    pub kept: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_comes_from_the_most_specific_attribute() {
        let of = |attributes: &[(&str, &str)]| {
            let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            Launch { attributes, ..Launch::default() }.version().to_owned()
        };
        assert_eq!(of(&[("build", "77"), ("Version", "4.2"), ("os-version", "9")]), "4.2");
        assert_eq!(of(&[("build", "77"), ("os-version", "9"), ("release", "r1")]), "r1");
        assert_eq!(of(&[("b_version", "2"), ("a-version", "1"), ("conversion", "3")]), "1");
        assert_eq!(of(&[("lane", "a")]), "");
    }

    #[test]
    fn the_commit_is_the_checked_out_one_or_an_attribute() {
        let mut launch = Launch::default();
        assert_eq!(launch.commit(), "");
        launch.attributes.insert("Revision", "r");
        launch.attributes.insert("commit", "a, b");
        assert_eq!(launch.commit(), "r");
        launch.attributes.insert("git.commit", "abc");
        assert_eq!(launch.commit(), "abc");
        launch.git.commit = Some("def".into());
        assert_eq!(launch.commit(), "def");
    }
}
