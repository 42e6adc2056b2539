//! Baselines: known findings that are not reported again.

use super::finding::LintFinding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A list of known findings, as stored in a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    schema_version: u32,
    findings: Vec<BaselineEntry>,
}

/// A known finding. Only its fingerprint is compared; the rest is for readers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct BaselineEntry {
    fingerprint: String,
    rule: String,
    file: String,
    message: String,
}

impl Baseline {
    /// A baseline of these findings.
    pub fn of(findings: &[LintFinding]) -> Self {
        let known = |finding: &LintFinding| BaselineEntry {
            fingerprint: finding.fingerprint.to_string(),
            rule: finding.rule.to_owned(),
            file: finding.file().to_owned(),
            message: finding.diagnostic.message.clone(),
        };
        Self { schema_version: 1, findings: findings.iter().map(known).collect() }
    }

    /// The number of findings.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// Removes the known findings. Returns the number removed, and the number of entries that no longer occur.
    pub fn apply(&self, findings: &mut Vec<LintFinding>) -> (usize, usize) {
        let known: BTreeSet<&str> = self.findings.iter().map(|known| known.fingerprint.as_str()).collect();
        let before = findings.len();
        findings.retain(|finding| !known.contains(finding.fingerprint.to_string().as_str()));
        let gone = before - findings.len();
        (gone, self.findings.len().saturating_sub(gone))
    }
}
