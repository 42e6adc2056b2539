//! The files of a project, with the names in them.

use super::analysis::names_or;
use super::names::FileNames;
use super::{script_names, template_names, yaml_names};
use asterisk_diag::Source;
use asterisk_files::{Area, FileOrigin};
use asterisk_session::ProjectText;
use std::path::{Path, PathBuf};

/// What a file is written in, and what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileLanguage {
    Script,
    Pipeline,
    /// YAML below `data/`.
    Data,
    Template,
    /// `asterisk.yaml`.
    Settings,
}

/// A file of a project.
#[derive(Debug)]
pub(super) struct ProjectFile {
    pub(super) language: FileLanguage,
    /// Its path below its area: what scripts and pipelines call it.
    pub(super) name: String,
    /// Its path in findings.
    pub(super) shown: String,
    /// Where it is on disk; of a bundled file, its path below the areas.
    path: PathBuf,
    pub(super) bundled: bool,
    source: Source,
    pub(super) names: FileNames,
}

impl ProjectFile {
    /// A file without its names.
    pub(super) fn of(text: &ProjectText, root: &Path) -> Self {
        let name = text.source.name().to_owned();
        let (path, bundled) = match &text.origin {
            FileOrigin::File(path) => (whole(&root.join(path)), false),
            FileOrigin::Embedded => (PathBuf::from(&text.shown), true),
        };
        let language = match text.area {
            Area::Pipelines => FileLanguage::Pipeline,
            Area::Templates => FileLanguage::Template,
            Area::Scripts | Area::Tests if name.ends_with(".rhai") => FileLanguage::Script,
            Area::Scripts | Area::Tests => FileLanguage::Data,
        };
        let source = Source::new(name.as_str(), text.source.own());
        Self { language, name, shown: text.shown.clone(), path, bundled, source, names: FileNames::default() }
    }

    /// The settings of the project.
    pub(super) fn settings(path: PathBuf, text: String) -> Self {
        let name = "asterisk.yaml";
        let source = Source::new(name, text);
        Self {
            language: FileLanguage::Settings,
            name: name.into(),
            shown: name.into(),
            path,
            bundled: false,
            source,
            names: FileNames { whole: true, ..FileNames::default() },
        }
    }

    /// A file that belongs to no project, by its name; `None` if it is in none of the languages.
    pub(super) fn alone(path: &Path, text: &str) -> Option<Self> {
        let name = path.file_name()?.to_str()?.to_owned();
        let language = match name.rsplit_once('.')?.1 {
            "rhai" => FileLanguage::Script,
            "yaml" | "yml" if text.lines().any(|line| line.starts_with("pipeline:")) => FileLanguage::Pipeline,
            "yaml" | "yml" => FileLanguage::Data,
            _ => return None,
        };
        let source = Source::new(name.as_str(), text);
        let new = Self {
            language,
            shown: name.clone(),
            name,
            path: path.to_owned(),
            bundled: false,
            source,
            names: FileNames::default(),
        };
        Some(new.read(None))
    }

    /// With another text, and its names.
    pub(super) fn with_text(&self, text: &str) -> Self {
        let source = Source::new(self.name.as_str(), text);
        let new = Self {
            source,
            name: self.name.clone(),
            shown: self.shown.clone(),
            path: self.path.clone(),
            names: FileNames::default(),
            ..*self
        };
        new.read(Some(&self.names))
    }

    /// With the names in it; `last` are those of its last version.
    #[must_use]
    pub(super) fn read(self, last: Option<&FileNames>) -> Self {
        let names = match self.language {
            FileLanguage::Script => script_names::of_script(&self.source),
            FileLanguage::Pipeline => yaml_names::of_pipeline(&self.source),
            FileLanguage::Data => yaml_names::of_data(&self.source),
            FileLanguage::Template => template_names::of_template(&self.source),
            FileLanguage::Settings => FileNames { whole: true, ..FileNames::default() },
        };
        Self { names: names_or(names, last), ..self }
    }

    /// What identifies it: its path on disk, or that below the bundled areas.
    pub(super) fn key(&self) -> &Path {
        &self.path
    }

    pub(super) fn text(&self) -> &str {
        self.source.text()
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Its path below the project's areas, as schemas select it.
    pub(super) fn area_path(&self) -> String {
        match self.language {
            FileLanguage::Script | FileLanguage::Data => format!("scripts/{}", self.name),
            FileLanguage::Pipeline => format!("pipelines/{}", self.name),
            FileLanguage::Template => format!("templates/{}", self.name),
            FileLanguage::Settings => self.name.clone(),
        }
    }
}

/// A path without `.` and `..`.
fn whole(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    whole
}
