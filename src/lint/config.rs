//! Levels and options of rules, as `asterisk.yaml` sets them under `lint:`.

use super::registry::{find, rules};
use super::rule::{LintLevel, LintRule, OptionDefault};
use crate::diag::did_you_mean;
use crate::form::yaml::{Yaml, YamlEntry, YamlReader};
use std::collections::{BTreeMap, BTreeSet};

/// The keys of `lint:`.
pub const KEYS: &[&str] = &["levels", "options"];

/// What is set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// By rule id or category; the rule goes before its category.
    levels: BTreeMap<String, LintLevel>,
    numbers: BTreeMap<(String, String), i64>,
    texts: BTreeMap<(String, String), Vec<String>>,
}

impl Config {
    /// Reads `lint:`; what is wrong with it goes to the reader.
    pub fn read(reader: &mut YamlReader<'_>, yaml: &Yaml) -> Self {
        let mut config = Self::default();
        let Some(fields) = reader.map(yaml, "`lint`") else { return config };
        reader.known_keys(fields, "`lint`", KEYS, &[]);
        let below = |key: &str| fields.entry(key).filter(|entry| !entry.value.is_null());
        if let Some(levels) = below("levels").and_then(|entry| reader.map(&entry.value, "`levels`")) {
            levels.entries().iter().for_each(|entry| config.level(reader, entry));
        }
        if let Some(options) = below("options").and_then(|entry| reader.map(&entry.value, "`options`")) {
            options.entries().iter().for_each(|entry| config.options(reader, entry));
        }
        config
    }

    fn level(&mut self, reader: &mut YamlReader<'_>, entry: &YamlEntry) {
        let categories: BTreeSet<&str> = rules().map(LintRule::category).collect();
        if find(&entry.key).is_none() && !categories.contains(entry.key.as_str()) {
            let known = rules().map(|rule| rule.id).chain(categories);
            let message = format!("there is no rule or category `{}`", *entry.key);
            let error = reader.error("unknown-rule", message, entry.key.span, "").maybe_help(did_you_mean(&entry.key, known));
            reader.push(error);
            return;
        }
        if let Some(level) = reader.one_of(&entry.value, "a level", LintLevel::NAMES) {
            self.levels.insert(entry.key.value.clone(), level);
        }
    }

    fn options(&mut self, reader: &mut YamlReader<'_>, entry: &YamlEntry) {
        let Some(rule) = find(&entry.key) else {
            let with = rules().filter(|rule| !rule.options.is_empty()).map(|rule| rule.id);
            let error = reader.error("unknown-rule", format!("there is no rule `{}`", *entry.key), entry.key.span, "");
            reader.push(error.maybe_help(did_you_mean(&entry.key, with)));
            return;
        };
        let Some(fields) = reader.map(&entry.value, &format!("the options of `{}`", rule.id)) else { return };
        for option in fields.entries() {
            let key = (rule.id.to_owned(), option.key.value.clone());
            match rule.options.iter().find(|known| known.name == option.key.as_str()).map(|known| known.default) {
                Some(OptionDefault::Int(_)) => match option.value.to_json().as_i64() {
                    Some(number) => drop(self.numbers.insert(key, number)),
                    None => wrong(reader, option, "a whole number"),
                },
                Some(OptionDefault::Texts(_)) => {
                    let items = option.value.as_list().map(|items| items.iter().map(Yaml::as_text).collect::<Option<Vec<_>>>());
                    match items.flatten() {
                        Some(items) => drop(self.texts.insert(key, items.into_iter().map(str::to_owned).collect())),
                        None => wrong(reader, option, "a list of texts"),
                    }
                }
                None => {
                    let message = format!("the rule `{}` has no option `{}`", rule.id, *option.key);
                    let known = did_you_mean(&option.key, rule.options.iter().map(|known| known.name));
                    let help = known.or_else(|| Some("it has none".to_owned()));
                    let error = reader.error("unknown-option", message, option.key.span, "").maybe_help(help);
                    reader.push(error);
                }
            }
        }
    }

    /// How bad a finding of a rule is, if that is set.
    pub fn level_of(&self, rule: &LintRule) -> Option<LintLevel> {
        self.levels.get(rule.id).or_else(|| self.levels.get(rule.category())).copied()
    }

    /// A number that a rule goes by.
    pub fn number(&self, rule: &LintRule, name: &str) -> i64 {
        let default = rule.options.iter().find(|option| option.name == name).map(|option| option.default);
        let set = self.numbers.get(&(rule.id.to_owned(), name.to_owned())).copied();
        set.unwrap_or(if let Some(OptionDefault::Int(number)) = default { number } else { 0 })
    }

    /// A list of texts that a rule goes by.
    pub fn texts(&self, rule: &LintRule, name: &str) -> Vec<String> {
        let default = rule.options.iter().find(|option| option.name == name).map(|option| option.default);
        let set = self.texts.get(&(rule.id.to_owned(), name.to_owned())).cloned();
        let own = || if let Some(OptionDefault::Texts(texts)) = default { texts } else { &[] };
        set.unwrap_or_else(|| own().iter().map(ToString::to_string).collect())
    }

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

fn wrong(reader: &mut YamlReader<'_>, option: &YamlEntry, what: &str) {
    let message = format!("`{}` is {}, not {what}", *option.key, option.value.what());
    let error = reader.error("type", message, option.value.span, "");
    reader.push(error);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Diagnostics, Source};
    use crate::form::yaml;

    fn read(text: &str) -> Result<Config, Diagnostics> {
        let source = Source::new("asterisk.yaml", text);
        let tree = yaml::parse(&source).expect("YAML");
        let mut reader = YamlReader::new(&source, "config");
        let config = Config::read(&mut reader, &tree);
        reader.finish().into_result(config)
    }

    #[test]
    fn rules_go_before_their_categories() {
        let text =
            "levels: { docs: off, docs/rule-without-doc: error }\noptions: { robustness/overlong-function: { max_lines: 9 } }\n";
        let config = read(text).expect("fine");
        let level = |id| config.level_of(find(id).expect("a rule"));
        assert_eq!(
            (level("docs/rule-without-doc"), level("docs/test-without-assertion")),
            (Some(LintLevel::Error), Some(LintLevel::Off))
        );
        assert_eq!(level("correctness/syntax"), None);
        let long = find("robustness/overlong-function").expect("a rule");
        assert_eq!((config.number(long, "max_lines"), Config::default().number(long, "max_lines") > 9), (9, true));
    }

    #[test]
    fn slips_are_told_with_what_is_meant() {
        let text = "levels: { dcs: off, docs/rule-without-docs: note, docs: of }\noptions: { docs/rule-without-doc: { x: 1 }, robustness/overlong-function: { max_line: 1, max_lines: many } }\nlevel: {}\n";
        let found = read(text).expect_err("slips");
        let help: Vec<&str> = found.iter().filter_map(|one| one.help.as_deref()).collect();
        assert_eq!(found.len(), 7, "{found}");
        for want in ["`docs`", "`docs/rule-without-doc`", "`off`", "it has none", "`max_lines`", "`levels`"] {
            assert!(help.iter().any(|help| help.contains(want)), "{want}: {help:?}");
        }
    }
}
