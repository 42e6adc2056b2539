//! Checks between the parts of a domain: references exist, and names are unambiguous.

use super::entries::{list, map};
use super::merge::entries;
use super::patterns;
use crate::forms::DataReader;
use asterisk_diag::{Diagnostic, Severity, did_you_mean};
use asterisk_form::yaml::Yaml;
use asterisk_pipeline::Spanned;
use serde_json::Value;

/// Checks a file, given the domain merged from it and those it extends.
pub(super) fn check(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    references(check, whole);
    severities(check, tree, whole);
    ambiguous_names(check, tree, whole);
    signatures(check, tree, whole);
    markers(check, tree, whole);
    red_herrings(check, tree);
    roles(check, tree, whole);
    priors(check, tree, whole);
    patterns::check(check, tree);
}

fn references(check: &mut DataReader<'_>, whole: &Value) {
    for reference in std::mem::take(&mut check.references) {
        let (to, name) = (reference.to, &reference.name);
        let known = entries(whole, to);
        if known.is_some_and(|known| known.contains_key(name.as_str())) {
            continue;
        }
        let names = || known.into_iter().flat_map(|known| known.keys()).map(String::as_str);
        let aliased = known.into_iter().flatten().find(|(_, entry)| has_alias(entry, name));
        let help = match aliased {
            Some((canonical, _)) => Some(format!("it is an alias of `{canonical}`: write that")),
            None => did_you_mean(name, names()).or_else(|| Some(format!("add it under `{to}`, or use a listed name"))),
        };
        let message = format!("{} names `{name}`, which is not under `{to}`", reference.by);
        push(check, "unknown-name", message, name, help);
    }
}

fn has_alias(entry: &Value, name: &str) -> bool {
    entry["aliases"].as_array().into_iter().flatten().any(|alias| alias == name)
}

/// Severities are a list, because their order matters, so references to them are checked here.
fn severities(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    let known: Vec<&str> =
        whole["severities"].as_array().into_iter().flatten().filter_map(|item| item["name"].as_str()).collect();
    for signature in list(tree, "signatures") {
        let Some(name) = text(signature, "severity") else { continue };
        if !known.contains(&name.as_str()) {
            let message = format!("unknown severity `{name}`");
            push(check, "unknown-name", message, &name, did_you_mean(&name, known.iter().copied()));
        }
    }
}

/// Reports names that differ from another only in letter case, and aliases of more than one name.
fn ambiguous_names(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    for key in ["defects", "components", "repositories", "categories"] {
        let Some(all) = entries(whole, key) else { continue };
        let own = map(tree, key);
        for (index, entry) in own.iter().enumerate() {
            let later = |name: &str| own[index..].iter().any(|entry| *entry.key == name);
            let alike = |name: &&String| !later(name) && name.to_lowercase() == entry.key.to_lowercase();
            if let Some(other) = all.keys().find(alike) {
                let message = format!("`{}` and `{other}` under `{key}` differ in letter case only", *entry.key);
                push(check, "duplicate", message, &entry.key, Some("use one of the two everywhere".into()));
            }
            let Some(aliases) = entry.value.get("aliases").and_then(Yaml::as_list) else { continue };
            for (index, alias) in aliases.iter().enumerate() {
                let Some(name) = alias.as_text() else { continue };
                let again = aliases[..index].iter().any(|before| before.as_text() == Some(name));
                let other = all.iter().find(|(owner, other)| **owner != *entry.key && (*owner == name || has_alias(other, name)));
                let message = match other {
                    Some((other, _)) => format!("the alias `{name}` of `{}` already means `{other}`", *entry.key),
                    None if again => format!("the alias `{name}` of `{}` is listed twice", *entry.key),
                    None if name == *entry.key => format!("`{name}` is an alias of itself"),
                    None => continue,
                };
                push(
                    check,
                    "duplicate",
                    message,
                    &Spanned::new(name.to_owned(), alias.span),
                    Some("remove it from one of them".into()),
                );
            }
        }
    }
}

/// Reports signatures without patterns.
fn signatures(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    for signature in list(tree, "signatures") {
        let Some(id) = text(signature, "id") else { continue };
        let merged = whole["signatures"].as_array().into_iter().flatten().find(|known| known["id"] == *id.value);
        // Unreadable values have been reported already.
        let is_given = |key: &str| signature.get(key).is_some_and(|yaml| yaml.as_list().is_none_or(|items| !items.is_empty()));
        let none =
            |key: &str| !is_given(key) && merged.is_none_or(|signature| signature[key].as_array().is_none_or(Vec::is_empty));
        if none("patterns") && none("markers") {
            let help = "give it `patterns`, or name lists of patterns by `markers`";
            push(check, "no-pattern", format!("the signature `{id}` has no patterns"), &id, Some(help.into()));
        }
        weights(check, signature, whole);
        title(check, signature);
    }
}

/// Reports weights for unknown defects.
fn weights(check: &mut DataReader<'_>, signature: &Yaml, whole: &Value) {
    let Some(known) = entries(whole, "defects") else { return };
    for entry in map(signature, "weights").iter().filter(|entry| !known.contains_key(&*entry.key)) {
        let message = format!("`weights` has `{}`, which is not under `defects`", *entry.key);
        push(check, "unknown-name", message, &entry.key, did_you_mean(&entry.key, known.keys().map(String::as_str)));
    }
}

/// Reports placeholders of a title other than `{subject}`.
fn title(check: &mut DataReader<'_>, signature: &Yaml) {
    let Some(title) = text(signature, "title_of") else { return };
    for part in title.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name) {
        if part != "subject" {
            let message = format!("the title has the unknown placeholder `{{{part}}}`");
            push(check, "unknown-name", message, &title, Some("the only placeholder is `{subject}`".into()));
        }
    }
}

/// Warns about lists of patterns that no signature uses. It is not an error, because a script of the project may read them.
fn markers(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    // Included files of signatures are read after it.
    if tree.get("include").is_some() {
        return;
    }
    let signatures = || whole["signatures"].as_array().into_iter().flatten();
    let named = || signatures().filter_map(|signature| signature["markers"].as_array()).flatten().filter_map(Value::as_str);
    for entry in map(tree, "markers") {
        let name = &entry.key;
        if named().any(|known| known == name.as_str()) {
            continue;
        }
        let message = format!("no signature names the list `{}` of `markers`, so it has no effect", **name);
        let mut warning = check.reader.error("unused", message, name.span, "not used");
        warning.severity = Severity::Warning;
        let known = did_you_mean(name, named());
        let help = known.unwrap_or_else(|| "name it under `markers` of a signature".into());
        check.reader.push(warning.help(help));
    }
}

/// Reports red herrings that are not either a repository or a message.
fn red_herrings(check: &mut DataReader<'_>, tree: &Yaml) {
    for item in list(tree, "red_herrings").iter().filter(|item| item.as_map().is_some()) {
        let help = match (item.get("repository").is_some(), item.get("message").is_some()) {
            (true, true) => "split it into two, each with its reason",
            (false, false) => "give it a `repository`, or a `message` that is a pattern of lines",
            _ => continue,
        };
        let place = item.head(check.reader.source());
        let error =
            check.reader.error("red-herring", "a red herring is either a repository or a message, not both", place, "this one");
        check.reader.push(error.help(help));
    }
}

/// Reports roles of unknown categories.
fn roles(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    let Some(known) = entries(whole, "categories") else { return };
    for entry in map(tree, "roles").iter().filter(|entry| !known.contains_key(&*entry.key)) {
        let message = format!("`roles` has `{}`, which is not under `categories`", *entry.key);
        push(check, "unknown-name", message, &entry.key, did_you_mean(&entry.key, known.keys().map(String::as_str)));
    }
}

/// Reports priors of unknown defects.
fn priors(check: &mut DataReader<'_>, tree: &Yaml, whole: &Value) {
    let Some(known) = entries(whole, "defects") else { return };
    for entry in map(tree, "priors").iter().filter(|entry| !known.contains_key(&*entry.key)) {
        let message = format!("`priors` has `{}`, which is not under `defects`", *entry.key);
        push(check, "unknown-name", message, &entry.key, did_you_mean(&entry.key, known.keys().map(String::as_str)));
    }
}

fn push(check: &mut DataReader<'_>, code: &str, message: String, at: &Spanned<String>, help: Option<String>) {
    let error: Diagnostic = check.reader.error(code, message, at.span, "here");
    check.reader.push(error.maybe_help(help));
}

fn text(yaml: &Yaml, key: &str) -> Option<Spanned<String>> {
    let value = yaml.get(key)?;
    Some(Spanned::new(value.as_text()?.to_owned(), value.span))
}
