//! `asterisk.yaml`, and the user's own file of the same keys.

use crate::agent::{ServerSettings, Settings};
use crate::diag::{Diagnostics, Source};
use crate::lint;
use crate::observe;
use crate::pipeline::Spanned;
use crate::pipeline::yaml::{self, Reader, Yaml};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The keys of the project file whose machinery comes later.
pub(super) const LATER: &[&str] = &["report"];
/// Those that can be set.
pub(super) const KNOWN: &[&str] = &[
    "scripts",
    "pipelines",
    "templates",
    "store",
    "domain",
    "vars",
    "workspace",
    "lint",
    "observers",
    "agents",
    "mcp_servers",
    "reportportal",
];

/// The keys of `workspace`, and of each of its repositories.
pub(super) const WORKSPACE: &[&str] = &["repositories"];
pub(super) const REPOSITORY: &[&str] = &["name", "path", "purpose", "branch"];

/// What a project file says; paths are as written, relative to its directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProjectFile {
    pub(super) scripts: Option<Spanned<String>>,
    pub(super) pipelines: Option<Spanned<String>>,
    pub(super) templates: Option<Spanned<String>>,
    pub(super) store: Option<Spanned<String>>,
    pub(super) domain: Option<Spanned<String>>,
    pub(super) vars: BTreeMap<String, Spanned<Value>>,
    /// None if it does not say anything of them.
    pub(super) repositories: Option<Spanned<Vec<Value>>>,
    /// None if it does not say anything of them.
    pub(super) observers: Option<Spanned<Vec<String>>>,
    /// Who may be asked outside of the process, by name.
    pub(super) agents: BTreeMap<String, Spanned<Settings>>,
    /// Where launches are fetched from.
    pub(super) reportportal: super::reportportal::Said,
    /// The servers whose tools nodes may call, by name.
    pub(super) servers: BTreeMap<String, Spanned<ServerSettings>>,
    /// None if it does not say anything of linting.
    pub(super) lint: Option<Spanned<lint::Config>>,
}

/// Reads a project file, or says everything that is wrong with it.
pub(super) fn read(source: &Source) -> Result<ProjectFile, Diagnostics> {
    if source.text().trim().is_empty() {
        return Ok(ProjectFile::default());
    }
    let tree = yaml::parse(source)?;
    let mut reader = Reader::new(source, "config");
    let mut file = ProjectFile::default();
    if let Some(fields) = reader.map(&tree, "the project file") {
        reader.known_keys(fields, "the project file", KNOWN, LATER);
        let mut text = |key: &str| {
            let entry = fields.entry(key)?;
            reader.text(&entry.value, &format!("`{key}`"))
        };
        file.scripts = text("scripts");
        file.pipelines = text("pipelines");
        file.templates = text("templates");
        file.store = text("store");
        file.domain = text("domain");
        // A key with everything below it commented out says nothing.
        if let Some(entry) = fields.entry("vars").filter(|entry| !entry.value.is_null())
            && let Some(vars) = reader.map(&entry.value, "`vars`")
        {
            file.vars = reader.vars(vars);
        }
        if let Some(entry) = fields.entry("workspace").filter(|entry| !entry.value.is_null()) {
            file.repositories = Some(Spanned::new(repositories(&mut reader, &entry.value), entry.key.span));
        }
        if let Some(entry) = fields.entry("observers").filter(|entry| !entry.value.is_null()) {
            let texts = reader.texts(&entry.value, "`observers`").unwrap_or_default();
            for text in &texts {
                if let Err((message, help)) = observe::parse(&text.value) {
                    let error = reader.error("observer", message, text.span, "asked for here");
                    reader.push(error.help(help));
                }
            }
            let texts = texts.into_iter().map(|text| text.value).collect();
            file.observers = Some(Spanned::new(texts, entry.key.span));
        }
        if let Some(entry) = fields.entry("agents").filter(|entry| !entry.value.is_null()) {
            file.agents = super::agents::read(&mut reader, &entry.value);
        }
        if let Some(entry) = fields.entry("reportportal").filter(|entry| !entry.value.is_null()) {
            file.reportportal = super::reportportal::read(&mut reader, entry);
        }
        if let Some(entry) = fields.entry("mcp_servers").filter(|entry| !entry.value.is_null()) {
            file.servers = super::servers::read(&mut reader, &entry.value);
        }
        if let Some(entry) = fields.entry("lint").filter(|entry| !entry.value.is_null()) {
            file.lint = Some(Spanned::new(lint::Config::read(&mut reader, &entry.value), entry.key.span));
        }
    }
    reader.finish().into_result(file)
}

/// The repositories of `workspace:`, each with all of its parts.
fn repositories(reader: &mut Reader<'_>, yaml: &Yaml) -> Vec<Value> {
    let Some(fields) = reader.map(yaml, "`workspace`") else { return Vec::new() };
    reader.known_keys(fields, "`workspace`", WORKSPACE, &[]);
    let Some(entry) = fields.entry("repositories") else { return Vec::new() };
    let Some(list) = reader.list(&entry.value, "`repositories`") else { return Vec::new() };
    let mut out = Vec::new();
    for item in list {
        let Some(fields) = reader.map(item, "a repository") else { continue };
        reader.known_keys(fields, "a repository", REPOSITORY, &[]);
        let mut text = |key: &str| {
            let entry = fields.entry(key)?;
            reader.text(&entry.value, &format!("`{key}`")).map(|text| text.value)
        };
        let (name, path, purpose, branch) = (text("name"), text("path"), text("purpose"), text("branch"));
        match name {
            Some(name) => out.push(json!({
                "name": name, "path": path.unwrap_or_default(), "purpose": purpose.unwrap_or_default(),
                "branch": branch.unwrap_or_default(),
            })),
            None => {
                let error = reader.error("missing-name", "a repository needs a `name`", item.span, "this one has none");
                reader.push(error);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ProjectFile, Diagnostics> {
        read(&Source::new("asterisk.yaml", text))
    }

    #[test]
    fn all_parts_are_read() {
        let text =
            "scripts: heuristics\nvars: { recall_hit: 0.9 }\nworkspace:\n  repositories:\n    - { name: api, path: ../api }\n";
        let file = parse(text).expect("a project file");
        assert_eq!(file.scripts.map(|scripts| scripts.value).as_deref(), Some("heuristics"));
        assert_eq!(file.vars["recall_hit"].value, json!(0.9));
        assert_eq!(
            file.repositories.unwrap_or_default().value,
            [json!({"name": "api", "path": "../api", "purpose": "", "branch": ""})]
        );
        assert_eq!(parse("# nothing yet\n").unwrap_or_default(), ProjectFile::default());
    }

    #[test]
    fn unknown_and_later_keys_are_refused() {
        let errors = parse("script: x\nreport: {}\nworkspace:\n  repositories: [{ path: y }]\n").expect_err("refused");
        assert_eq!(errors.len(), 3, "{errors}");
        assert!(errors.iter().all(|error| error.primary().is_some()));
    }
}
