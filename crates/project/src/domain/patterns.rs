//! Checks for useless patterns: those that match everything, and those covered by another.

use super::entries::map;
use crate::forms::{DataPattern, DataReader};
use asterisk_diag::Severity;
use asterisk_form::ListedPattern;
use asterisk_form::yaml::{Yaml, YamlEntry};
use asterisk_script::{MatchPrefixes, Pattern};
use std::cell::OnceCell;

/// Letters and digits; a pattern that matches several of them alone matches nearly every text.
const CHARACTERS: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
/// The number of matches from which a pattern is too wide.
const TOO_MANY: usize = 8;

/// Checks all patterns of a file.
pub(super) fn check(check: &mut DataReader<'_>, tree: &Yaml) {
    let patterns = std::mem::take(&mut check.patterns);
    for listed in &patterns {
        wide(check, listed);
    }
    // Few patterns are compared with a literal.
    let prefixes: Vec<OnceCell<MatchPrefixes>> = vec![OnceCell::new(); patterns.len()];
    for index in 0..patterns.len() {
        shadowed(check, &patterns, &prefixes, index);
    }
    for (key, what) in [("components", "component"), ("repositories", "repository")] {
        shared(check, tree, key, what);
    }
}

/// Reports patterns that match everything.
fn wide(check: &mut DataReader<'_>, listed: &ListedPattern<DataPattern>) {
    let (message, help) = if listed.pattern.0.matches_nothing() {
        let message = format!("a pattern in {} matches the empty string, and so every text", listed.of);
        (message, "make at least one part of it required: `+` for `*`, no empty alternative")
    } else if listed.pattern.0.shortest() == 1 && single(&listed.text) >= TOO_MANY {
        let message = format!("a pattern in {} accepts a single character, and so matches nearly every text", listed.of);
        (message, "add words that only occur in such lines")
    } else {
        return;
    };
    let error = check.reader.error("wide-pattern", message, listed.text.span, "matches everything");
    check.reader.push(error.help(help));
}

/// The number of single characters that a pattern matches.
fn single(text: &str) -> usize {
    let single: Vec<String> = CHARACTERS.chars().map(String::from).collect();
    Pattern::matched(text, single.iter().map(String::as_str)).len()
}

/// Warns about literals covered by another pattern of the same list.
fn shadowed(check: &mut DataReader<'_>, all: &[ListedPattern<DataPattern>], prefixes: &[OnceCell<MatchPrefixes>], index: usize) {
    let listed = &all[index];
    let Some(literal) = listed.pattern.0.literal() else { return };
    let lowercase = literal.to_lowercase();
    // As a word, and within a word.
    let samples =
        [literal.clone(), format!(" {literal} "), format!("x{literal}x"), format!("9{literal}9"), format!("-{literal}-")];
    let covers = |(at, other): &(usize, &ListedPattern<DataPattern>)| {
        let before = *at < index || other.text.value.to_lowercase() != listed.text.value.to_lowercase();
        let may = *at != index && before && other.of == listed.of && !other.pattern.0.is_anchored();
        let may = may && prefixes[*at].get_or_init(|| other.pattern.0.prefixes()).may_match_in(&lowercase);
        may && Pattern::matched(&other.text, samples.iter().map(String::as_str)).len() == samples.len()
    };
    if let Some((_, other)) = all.iter().enumerate().find(covers) {
        let message = format!("a pattern in {} is redundant: another one matches everything it matches", listed.of);
        let mut error = check.reader.error("shadowed-pattern", message, listed.text.span, "redundant");
        error.severity = Severity::Warning;
        let error = error.label(check.reader.source(), other.text.span, "matches all of it");
        check.reader.push(error.help("remove one of the two"));
    }
}

/// Warns about the same pattern for two components (or repositories), which does not distinguish them.
fn shared(check: &mut DataReader<'_>, tree: &Yaml, key: &str, what: &str) {
    let mut seen: Vec<(String, &YamlEntry, &Yaml)> = Vec::new();
    for entry in map(tree, key) {
        for list in ["patterns", "paths"] {
            for pattern in entry.value.get(list).and_then(Yaml::as_list).unwrap_or_default() {
                let Some(text) = pattern.as_text().map(str::to_lowercase) else { continue };
                if let Some((_, other, first)) = seen.iter().find(|(known, other, _)| *known == text && other.key != entry.key) {
                    let message = format!("the {what} `{}` has the same pattern as `{}`", *entry.key, *other.key);
                    let mut error = check.reader.error("shadowed-pattern", message, pattern.span, "again here");
                    error.severity = Severity::Warning;
                    let error = error.label(check.reader.source(), first.span, "first here");
                    check.reader.push(error.help("remove it from one of them, or add what distinguishes them"));
                } else {
                    seen.push((text, entry, pattern));
                }
            }
        }
    }
}
