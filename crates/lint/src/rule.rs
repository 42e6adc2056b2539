//! The definition of a rule.

use super::config::Config;
use super::context::LintContext;
use super::finding::FindingCollector;
pub(super) use super::level::LintLevel;
use super::manual;

/// The default value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OptionDefault {
    /// An integer.
    Int(i64),
    /// A list of strings.
    Texts(&'static [&'static str]),
}

/// An option of a rule, set in `asterisk.yaml` under `lint.options`.
#[derive(Clone, Copy, Debug)]
pub struct RuleOption {
    pub name: &'static str,
    /// The default value.
    pub default: OptionDefault,
    /// One sentence of documentation.
    pub doc: &'static str,
}

/// A rule: one file under `rules/`.
#[derive(Clone, Copy)]
pub struct LintRule {
    /// `category/name`.
    pub id: &'static str,
    /// The level of its findings, unless `asterisk.yaml` overrides it. Diagnostics of linking keep their own severity.
    pub level: LintLevel,
    /// A one-line summary.
    pub summary: &'static str,
    /// The source of its manual page; [`LintRule::manual`] is the page as shown.
    pub(super) manual: &'static str,
    /// Its options.
    pub options: &'static [RuleOption],
    /// Runs the rule; `None` if linking checks it (see `codes`).
    pub(super) check: Option<fn(&LintContext<'_>, &mut FindingCollector)>,
}

impl LintRule {
    /// The part of the id before the slash.
    pub fn category(&self) -> &'static str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Its manual page: prose, then examples in fences under `Bad:` and `Good:`.
    pub fn manual(&self) -> String {
        manual::expanded(self.manual)
    }

    /// The level configured for it, or for its category.
    pub(super) fn level_in(&self, config: &Config) -> Option<LintLevel> {
        config.levels.get(self.id).or_else(|| config.levels.get(self.category())).copied()
    }

    /// The value of an integer option.
    pub(super) fn number(&self, config: &Config, name: &str) -> usize {
        let default = match self.default(name) {
            Some(OptionDefault::Int(number)) => number,
            _ => 0,
        };
        let set = config.numbers.get(&(self.id.to_owned(), name.to_owned())).copied();
        usize::try_from(set.unwrap_or(default)).unwrap_or(0)
    }

    /// The value of a list option.
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
