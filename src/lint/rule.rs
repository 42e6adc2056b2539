//! What a rule is.

use super::config::Config;
use super::context::LintContext;
use super::finding::FindingCollector;
pub(super) use super::level::LintLevel;
use super::manual;

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
    /// Its page as it is written; [`LintRule::manual`] is what is shown.
    pub(super) manual: &'static str,
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

    /// Its manual page: prose, then examples in fences under `Found:` and `Mended:`.
    pub fn manual(&self) -> String {
        manual::expanded(self.manual)
    }

    /// The level that is set for it, or for its category.
    pub(super) fn level_in(&self, config: &Config) -> Option<LintLevel> {
        config.levels.get(self.id).or_else(|| config.levels.get(self.category())).copied()
    }

    /// The value of an option that is a number.
    pub(super) fn number(&self, config: &Config, name: &str) -> usize {
        let default = match self.default(name) {
            Some(OptionDefault::Int(number)) => number,
            _ => 0,
        };
        let set = config.numbers.get(&(self.id.to_owned(), name.to_owned())).copied();
        usize::try_from(set.unwrap_or(default)).unwrap_or(0)
    }

    /// The value of an option that is a list of texts.
    pub(super) fn texts(&self, config: &Config, name: &str) -> Vec<String> {
        let default = match self.default(name) {
            Some(OptionDefault::Texts(texts)) => texts,
            _ => &[],
        };
        let set = config.texts.get(&(self.id.to_owned(), name.to_owned())).cloned();
        set.unwrap_or_else(|| default.iter().map(ToString::to_string).collect())
    }

    fn default(&self, name: &str) -> Option<OptionDefault> {
        self.options.iter().find(|option| option.name == name).map(|option| option.default)
    }
}

impl std::fmt::Debug for LintRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rule({})", self.id)
    }
}
