//! Levels and options of rules, as `asterisk.yaml` sets them under `lint:`.

use super::level::LintLevel;
use std::collections::BTreeMap;

/// What is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// By rule id or category; the rule goes before its category.
    pub(super) levels: BTreeMap<String, LintLevel>,
    /// By rule id and option.
    pub(super) numbers: BTreeMap<(String, String), i64>,
    /// By rule id and option.
    pub(super) texts: BTreeMap<(String, String), Vec<String>>,
}

impl Config {
    /// What is set, for people: `levels.ID` and `options.ID.NAME`.
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
