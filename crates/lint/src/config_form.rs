//! Reads `lint:` of `asterisk.yaml`.

use super::config::Config;
use super::level::LintLevel;
use super::registry::{find, rules};
use super::rule::{LintRule, OptionDefault};
use asterisk_diag::did_you_mean;
use asterisk_form::yaml::{Yaml, YamlEntry, YamlReader};
use std::collections::BTreeSet;

/// The keys of `lint:`.
pub const KEYS: &[&str] = &["levels", "options"];

impl Config {
    /// Reads `lint:`; errors go to the reader.
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
            let message = format!("unknown rule or category `{}`", *entry.key);
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
            let error = reader.error("unknown-rule", format!("unknown rule `{}`", *entry.key), entry.key.span, "");
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
                        None => wrong(reader, option, "a list of strings"),
                    }
                }
                None => {
                    let message = format!("no option `{}` in the rule `{}`", *option.key, rule.id);
                    let known = did_you_mean(&option.key, rule.options.iter().map(|known| known.name));
                    let help = known.or_else(|| Some("the rule does not take options".to_owned()));
                    let error = reader.error("unknown-option", message, option.key.span, "").maybe_help(help);
                    reader.push(error);
                }
            }
        }
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
    use asterisk_diag::{Diagnostics, Source};
    use asterisk_form::yaml;

    fn read(text: &str) -> Result<Config, Diagnostics> {
        let source = Source::new("asterisk.yaml", text);
        let tree = yaml::parse(&source).expect("YAML");
        let mut reader = YamlReader::new(&source, "config");
        let config = Config::read(&mut reader, &tree);
        reader.finish().into_result(config)
    }

    #[test]
    fn rules_take_precedence_over_categories() {
        let text =
            "levels: { docs: off, docs/rule-without-doc: error }\noptions: { robustness/overlong-function: { max_lines: 9 } }\n";
        let config = read(text).expect("fine");
        let level = |id| find(id).expect("a rule").level_in(&config);
        assert_eq!(
            (level("docs/rule-without-doc"), level("docs/test-without-assertion")),
            (Some(LintLevel::Error), Some(LintLevel::Off))
        );
        assert_eq!(level("correctness/syntax"), None);
        let long = find("robustness/overlong-function").expect("a rule");
        assert_eq!((long.number(&config, "max_lines"), long.number(&Config::default(), "max_lines") > 9), (9, true));
    }

    #[test]
    fn typos_get_suggestions() {
        let text = "levels: { dcs: off, docs/rule-without-docs: note, docs: of }\noptions: { docs/rule-without-doc: { x: 1 }, robustness/overlong-function: { max_line: 1, max_lines: many } }\nlevel: {}\n";
        let found = read(text).expect_err("slips");
        let help: Vec<&str> = found.iter().filter_map(|one| one.help.as_deref()).collect();
        assert_eq!(found.len(), 7, "{found}");
        for want in ["`docs`", "`docs/rule-without-doc`", "`off`", "the rule does not take options", "`max_lines`", "`levels`"] {
            assert!(help.iter().any(|help| help.contains(want)), "{want}: {help:?}");
        }
    }
}
