//! Severity levels of findings.

use asterisk_diag::Severity;

/// The severity level of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintLevel {
    /// The rule is disabled.
    Off,
    /// Informational; notes alone do not fail a lint run.
    Note,
    /// Works, but is suspicious.
    Warning,
    /// Does not link, or cannot be intended.
    Error,
}

impl LintLevel {
    /// All levels with their names.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("off", Self::Off), ("note", Self::Note), ("warning", Self::Warning), ("error", Self::Error)];

    /// The name of the level.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }

    /// The corresponding diagnostic severity.
    pub fn severity(self) -> Severity {
        match self {
            Self::Off | Self::Note => Severity::Advice,
            Self::Warning => Severity::Warning,
            Self::Error => Severity::Error,
        }
    }
}

impl From<Severity> for LintLevel {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Advice => Self::Note,
            Severity::Warning => Self::Warning,
            Severity::Error => Self::Error,
        }
    }
}
