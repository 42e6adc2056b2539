//! The origin of each file of a project, and whether it is used.

use super::{Session, SessionError};
use asterisk_diag::nearest;
use asterisk_files::{Area, FileOrigin, passed_over};
use asterisk_pipeline::{self as pipeline, Pipeline};
use std::collections::BTreeSet;
use std::path::Path;

/// A file of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlaidFile {
    pub area: Area,
    /// Its path below the area's directory.
    pub path: String,
    pub origin: FileOrigin,
    /// Whether it replaces a bundled file.
    pub replaces: bool,
    /// Whether a pipeline, script or template refers to it. Bundled files count as used.
    pub used: bool,
    /// The bundled file with the most similar name, if it is unused.
    pub meant: Option<String>,
}

impl Session {
    /// Lists all files of the project, area by area. Texts that do not parse refer to nothing.
    pub fn files_used(&self) -> Result<Vec<OverlaidFile>, SessionError> {
        let mut all = Vec::new();
        let mut texts: Vec<(String, String)> = Vec::new();
        for area in Area::ALL {
            let dir = self.overlaid(area);
            let overlay = self.overlay(area, dir)?;
            texts.extend(overlay.files().map(|(path, source, _)| (format!("{}/{path}", area.name()), source.text().to_owned())));
            let bundled: Vec<String> = area.embedded().iter().map(|file| file.name().to_owned()).collect();
            for (path, _, origin) in overlay.files() {
                let replaces = *origin != FileOrigin::Embedded && bundled.iter().any(|name| name == path);
                all.push((area, path.to_owned(), origin.clone(), replaces, bundled.clone()));
            }
            for path in dir.map_or(Ok(Vec::new()), |dir| passed_over(area, dir))? {
                let origin = FileOrigin::File(dir.unwrap_or(Path::new("")).join(&path));
                all.push((area, path, origin, false, bundled.clone()));
            }
        }
        let pipelines: Vec<Pipeline> =
            self.pipelines()?.iter().filter_map(|listed| pipeline::parse(&listed.source).ok()).collect();
        let named: BTreeSet<String> = pipelines.iter().flat_map(named).collect();
        let file = |(area, path, origin, replaces, bundled): (Area, String, FileOrigin, bool, Vec<String>)| {
            let own = format!("{}/{path}", area.name());
            let used = origin == FileOrigin::Embedded
                || replaces
                || area == Area::Pipelines && area.takes(&path)
                || area == Area::Scripts && Area::Tests.takes(&path)
                // A domain is selected by name, per run.
                || area == Area::Scripts && path.starts_with("data/domains/")
                || named.contains(&own)
                || area.takes(&path) && texts.iter().any(|(other, text)| *other != own && mentions(text, area, &path));
            // A misspelt name is about this near; an unrelated one is not.
            let near = if used { None } else { nearest(&path, bundled.iter().map(String::as_str)) };
            let meant = near.filter(|name| strsim::damerau_levenshtein(name, &path) <= 3).map(str::to_owned);
            OverlaidFile { area, path, origin, replaces, used, meant }
        };
        Ok(all.into_iter().map(file).collect())
    }

    pub(super) fn overlaid(&self, area: Area) -> Option<&Path> {
        match area {
            Area::Scripts | Area::Tests => self.setup.texts.scripts.as_deref(),
            Area::Pipelines => self.setup.pipelines.as_deref(),
            Area::Templates => self.setup.templates.as_deref(),
        }
    }
}

/// The files that a pipeline refers to.
fn named(pipeline: &Pipeline) -> Vec<String> {
    let script = |reference: &str| format!("scripts/{}", reference.split('#').next().unwrap_or_default());
    let whole = pipeline.team.iter().map(|team| &team.scheduler).chain(pipeline.nodes.iter().flat_map(|node| &node.masks));
    let mut found: Vec<String> = pipeline.functions().chain(whole).map(|reference| script(reference)).collect();
    for node in &pipeline.nodes {
        found.push(format!("scripts/agents/{}.rhai", *node.family));
        let prompt = node.prompt.as_ref().map_or(format!("{}.md", *node.family), |prompt| prompt.value.clone());
        found.push(format!("templates/{prompt}"));
    }
    found
}

/// Whether a text mentions a file: a script or template by its path in quotes, data by its stem.
fn mentions(text: &str, area: Area, path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    if area == Area::Scripts && !path.ends_with(".rhai") {
        let word = stem.rsplit('/').next().unwrap_or(stem);
        return text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|other| other == word);
    }
    [path, stem].iter().any(|name| ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{name}{quote}"))))
}
