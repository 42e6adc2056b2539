//! All texts of a project with their origins, for linting and testing it as a whole.

use super::{Session, SessionError};
use asterisk_diag::Source;
use asterisk_files::{Area, FileError, FileOrigin, find_texts};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One text of a project.
#[derive(Clone, Debug)]
pub struct ProjectText {
    pub area: Area,
    /// Named by its path below the area's root.
    pub source: Source,
    /// The displayed path: as it can be opened, or below the area's name if it is bundled.
    pub shown: String,
    pub origin: FileOrigin,
    /// Whether it was requested.
    pub requested: bool,
}

impl ProjectText {
    /// A project text that is not on disk.
    pub fn embedded(area: Area, source: Source) -> Self {
        let shown = format!("{}/{}", area.name(), source.name());
        Self { area, source, shown, origin: FileOrigin::Embedded, requested: true }
    }
}

impl Session {
    /// The texts of the project, overlaid by those of `paths`. The files and directories named are the requested ones; without
    /// any, all are. A directory that holds `scripts`, `pipelines` or `templates`, or has such a name, is read like a project; in
    /// any other, the area of each file is detected by its extension and content.
    pub fn texts(&self, paths: &[PathBuf]) -> Result<Vec<ProjectText>, SessionError> {
        let mut texts: BTreeMap<(&'static str, String), ProjectText> = BTreeMap::new();
        // Tests are scripts too; their data files are not.
        for (area, own) in Area::ALL.into_iter().map(|area| (area, area)).chain([(Area::Scripts, Area::Tests)]) {
            let overlay = self.overlay(own, self.overlaid(area))?;
            for (path, source, origin) in overlay.files().filter(|(path, ..)| area.holds(path)) {
                let shown = self.shown(area, path, origin);
                let text =
                    ProjectText { area, source: source.clone(), shown, origin: origin.clone(), requested: paths.is_empty() };
                texts.insert((area.name(), path.to_owned()), text);
            }
        }
        for path in paths {
            if !path.exists() {
                let name = path.to_string_lossy();
                let mut hits = texts.values_mut().filter(|text| text.shown == name || text.source.name() == name).peekable();
                if hits.peek().is_none() {
                    let source = std::io::Error::from(std::io::ErrorKind::NotFound);
                    return Err(FileError::Io { path: path.clone(), source }.into());
                }
                hits.for_each(|text| text.requested = true);
                continue;
            }
            let known: BTreeMap<PathBuf, (&'static str, String)> = texts
                .iter()
                .filter_map(|(key, text)| match &text.origin {
                    FileOrigin::File(file) => Some((file.canonicalize().ok()?, key.clone())),
                    FileOrigin::Embedded => None,
                })
                .collect();
            for found in find_texts(path)? {
                let key = found.path.canonicalize().ok().and_then(|path| known.get(&path).cloned());
                if let Some(text) = key.and_then(|key| texts.get_mut(&key)) {
                    text.requested = true;
                    continue;
                }
                let name = found.source.name().to_owned();
                let text = ProjectText {
                    area: found.area,
                    source: found.source,
                    shown: self.below_root(&found.path),
                    origin: FileOrigin::File(found.path),
                    requested: true,
                };
                texts.insert((found.area.name(), name), text);
            }
        }
        Ok(texts.into_values().collect())
    }

    fn shown(&self, area: Area, path: &str, origin: &FileOrigin) -> String {
        match origin {
            FileOrigin::Embedded => format!("{}/{path}", area.name()),
            FileOrigin::File(file) => self.below_root(file),
        }
    }

    fn below_root(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.setup.root).unwrap_or(path);
        let plain = below.strip_prefix(".").unwrap_or(below);
        plain.display().to_string()
    }
}
