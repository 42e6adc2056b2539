//! Findings that are known and not to be told again.

use super::finding::LintFinding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A list of known findings, as it is written to a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    schema_version: u32,
    findings: Vec<BaselineEntry>,
}

/// A known finding. Only its fingerprint counts; the rest is for people.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct BaselineEntry {
    fingerprint: String,
    rule: String,
    file: String,
    message: String,
}

impl Baseline {
    /// A list of these findings.
    pub fn of(findings: &[LintFinding]) -> Self {
        let known = |finding: &LintFinding| BaselineEntry {
            fingerprint: finding.fingerprint.to_string(),
            rule: finding.rule.to_owned(),
            file: finding.file().to_owned(),
            message: finding.diagnostic.message.clone(),
        };
        Self { schema_version: 1, findings: findings.iter().map(known).collect() }
    }

    /// How many findings it lists.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether it lists none.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Takes the known findings away; returns how many those were, and how many of the list are found no more.
    pub fn apply(&self, findings: &mut Vec<LintFinding>) -> (usize, usize) {
        let known: BTreeSet<&str> = self.findings.iter().map(|known| known.fingerprint.as_str()).collect();
        let before = findings.len();
        findings.retain(|finding| !known.contains(finding.fingerprint.to_string().as_str()));
        let gone = before - findings.len();
        (gone, self.findings.len().saturating_sub(gone))
    }
}
