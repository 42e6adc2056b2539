//! What a rule is.

use super::context::LintContext;
use super::finding::FindingCollector;
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

/// What an option is if nobody sets it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionDefault {
    /// A whole number.
    Int(i64),
    /// A list of texts.
    Texts(&'static [&'static str]),
}

/// An option of a rule, set in `asterisk.yaml` under `lint.options`.
#[derive(Clone, Copy, Debug)]
pub struct RuleOption {
    /// Its name.
    pub name: &'static str,
    /// What it is if nobody sets it.
    pub default: OptionDefault,
    /// What it is for.
    pub doc: &'static str,
}

/// A rule: one file under `rules/`.
#[derive(Clone, Copy)]
pub struct LintRule {
    /// `category/name`.
    pub id: &'static str,
    /// How bad a finding is, unless `asterisk.yaml` says otherwise. What linking found keeps its own level.
    pub level: LintLevel,
    /// What it finds, in one line.
    pub summary: &'static str,
    /// Its manual page: prose, then examples in fences under `Found:` and `Mended:`.
    pub manual: &'static str,
    /// Its options.
    pub options: &'static [RuleOption],
    /// Looks for it; nothing if linking does (see `codes`).
    pub(super) check: Option<fn(&LintContext<'_>, &mut FindingCollector)>,
}

impl LintRule {
    /// What stands before the slash.
    pub fn category(&self) -> &'static str {
        self.id.split('/').next().unwrap_or_default()
    }
}

impl std::fmt::Debug for LintRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}
