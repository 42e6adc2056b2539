//! How bad a finding is.

use crate::diag::Severity;

/// How bad a finding is taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LintLevel {
    /// Not looked for.
    Off,
    /// Worth knowing; alone, it does not fail the linting.
    Note,
    /// Runs, but smells.
    Warning,
    /// Does not link, or cannot be meant.
    Error,
}

impl LintLevel {
    /// All of them, by name.
    pub const NAMES: &'static [(&'static str, Self)] =
        &[("off", Self::Off), ("note", Self::Note), ("warning", Self::Warning), ("error", Self::Error)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }

    /// The same of a diagnostic.
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
