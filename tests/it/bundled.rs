//! The repository's own scripts, templates and pipeline, for tests.

use asterisk_diag::Source;
use asterisk_project::{AnswererNames, LinkSettings, Project, Sources};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All files below a directory with that extension, in order.
pub(crate) fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn sources(below: &str, extension: &str) -> Vec<Source> {
    let dir = root().join(below);
    let name = |path: &Path| path.strip_prefix(&dir).unwrap().to_str().unwrap().replace('\\', "/");
    let tests = |path: &&PathBuf| path.to_str().unwrap().ends_with("_test.rhai");
    let files = files(&dir, extension);
    let files = files.iter().filter(|path| !tests(path));
    files.map(|path| Source::new(name(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// The RCA pipeline of the repository, linked with the repositories of a project file (null: none).
pub(crate) fn project(workspace: &Value) -> Project {
    project_with(workspace, None, None)
}

/// The same with a domain: by its name, and with an additional one of the name `own`, if its text is given.
pub(crate) fn project_with(workspace: &Value, domain: Option<&str>, own: Option<String>) -> Project {
    let sources = Sources {
        scripts: sources("scripts", "rhai"),
        templates: sources("templates", "md"),
        data: [sources("scripts/data", "yaml"), own.map(|text| Source::new("domains/own.yaml", text)).into_iter().collect()]
            .concat(),
        pipeline: Source::new("rca.yaml", std::fs::read_to_string(root().join("pipelines/rca.yaml")).unwrap()),
        subpipelines: BTreeMap::from([(
            "defect-court".to_owned(),
            Source::new("defect-court.yaml", std::fs::read_to_string(root().join("pipelines/defect-court.yaml")).unwrap()),
        )]),
        missing: BTreeMap::new(),
        bundle: None,
    };
    let mut settings =
        LinkSettings { answers: AnswererNames::Scripts, domain: domain.map(str::to_owned), ..LinkSettings::default() };
    if !workspace.is_null() {
        settings.workspace = workspace.clone();
    }
    let project = Project::link(sources, settings).unwrap_or_else(|found| panic!("{found}"));
    assert!(project.warnings.is_empty(), "{}", project.warnings);
    project
}
