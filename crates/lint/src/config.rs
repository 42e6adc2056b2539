//! Levels and options of rules, as configured in `asterisk.yaml` under `lint:`.

use super::level::LintLevel;
use std::collections::BTreeMap;

/// The configured levels and options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// By rule id or category; a rule takes precedence over its category.
    pub(super) levels: BTreeMap<String, LintLevel>,
    /// Integer options, by rule id and option name.
    pub(super) numbers: BTreeMap<(String, String), i64>,
    /// List options, by rule id and option name.
    pub(super) texts: BTreeMap<(String, String), Vec<String>>,
}

impl Config {
    /// The settings for display: `levels.ID` and `options.ID.NAME`.
    pub fn shown(&self) -> serde_json::Value {
        let mut options: BTreeMap<String, serde_json::Value> = BTreeMap::new();
        let numbers = self.numbers.iter().map(|((rule, name), number)| (rule, name, serde_json::json!(number)));
        let texts = self.texts.iter().map(|((rule, name), texts)| (rule, name, serde_json::json!(texts)));
        for (rule, name, value) in numbers.chain(texts) {
            options.insert(format!("{rule}.{name}"), value);
        }
        let levels: BTreeMap<&str, &str> = self.levels.iter().map(|(id, level)| (id.as_str(), level.name())).collect();
        serde_json::json!({ "levels": levels, "options": options })
    }
}
