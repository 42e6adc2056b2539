//! `asterisk.yaml`.

use crate::diag::{Diagnostics, Source};
use crate::pipeline::yaml::{self, Reader, Yaml};
use serde_json::{Map, Value, json};

/// The keys of the project file whose machinery comes later.
const LATER: &[&str] = &["agents", "lint", "report"];
const KNOWN: &[&str] = &["scripts", "pipelines", "templates", "store", "domain", "vars", "workspace"];

/// What a project file says; paths are as written, relative to its directory.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ProjectFile {
    pub(super) scripts: Option<String>,
    pub(super) pipelines: Option<String>,
    pub(super) templates: Option<String>,
    pub(super) store: Option<String>,
    pub(super) domain: Option<String>,
    pub(super) vars: Map<String, Value>,
    pub(super) repositories: Vec<Value>,
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
            reader.text(&entry.value, &format!("`{key}`")).map(|text| text.value)
        };
        file.scripts = text("scripts");
        file.pipelines = text("pipelines");
        file.templates = text("templates");
        file.store = text("store");
        file.domain = text("domain");
        if let Some(entry) = fields.entry("vars")
            && reader.map(&entry.value, "`vars`").is_some()
        {
            file.vars = entry.value.to_json().as_object().cloned().unwrap_or_default();
        }
        if let Some(entry) = fields.entry("workspace") {
            file.repositories = repositories(&mut reader, &entry.value);
        }
    }
    reader.finish().into_result(file)
}

/// The repositories of `workspace:`, each with all of its parts.
fn repositories(reader: &mut Reader<'_>, yaml: &Yaml) -> Vec<Value> {
    let Some(fields) = reader.map(yaml, "`workspace`") else { return Vec::new() };
    reader.known_keys(fields, "`workspace`", &["repositories"], &[]);
    let Some(entry) = fields.entry("repositories") else { return Vec::new() };
    let Some(list) = reader.list(&entry.value, "`repositories`") else { return Vec::new() };
    let mut out = Vec::new();
    for item in list {
        let Some(fields) = reader.map(item, "a repository") else { continue };
        reader.known_keys(fields, "a repository", &["name", "path", "purpose", "branch"], &[]);
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
        assert_eq!(file.scripts.as_deref(), Some("heuristics"));
        assert_eq!(file.vars["recall_hit"], json!(0.9));
        assert_eq!(file.repositories, [json!({"name": "api", "path": "../api", "purpose": "", "branch": ""})]);
        assert_eq!(parse("# nothing yet\n").unwrap_or_default(), ProjectFile::default());
    }

    #[test]
    fn unknown_and_later_keys_are_refused() {
        let errors = parse("script: x\nlint: {}\nworkspace:\n  repositories: [{ path: y }]\n").expect_err("refused");
        assert_eq!(errors.len(), 3, "{errors}");
        assert!(errors.iter().all(|error| error.primary().is_some()));
    }
}
