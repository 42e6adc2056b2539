//! The texts of a project by content: stored with a run, so that it can be resumed and explained with the exact texts it started
//! with.

use super::Sources;
use super::settings::LinkSettings;
use crate::diag::Source;
use crate::model::{Hash, canonical};
use crate::walk::{Blob, TextChange};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The content addresses of a project's texts, and its vars.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectManifest {
    /// Scripts by path.
    pub scripts: BTreeMap<String, Hash>,
    /// Templates by path.
    pub templates: BTreeMap<String, Hash>,
    /// Data files by path.
    pub data: BTreeMap<String, Hash>,
    /// The pipeline's name and text.
    pub pipeline: (String, Hash),
    /// The sub-pipelines by reference: their names and texts.
    #[serde(default, rename = "parts", skip_serializing_if = "BTreeMap::is_empty")]
    pub subpipelines: BTreeMap<String, (String, Hash)>,
    /// The vars set by configuration and `--set`, which override the pipeline's defaults.
    pub vars: Map<String, Value>,
    /// The repositories of the project file.
    pub workspace: Value,
    /// The additional masks (`--mask`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masks: Vec<String>,
    /// The name of the team (`--team`), if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The name of the domain, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

impl ProjectManifest {
    /// Hashes the texts of a project; the blobs are those texts.
    pub fn of(sources: &Sources, settings: &LinkSettings, domain: Option<String>) -> (Self, Vec<Blob>) {
        let mut blobs = Vec::new();
        let mut address = |source: &Source| {
            let blob = Blob::new(source.text());
            let hash = blob.hash;
            blobs.push(blob);
            (source.name().to_owned(), hash)
        };
        let manifest = Self {
            scripts: sources.scripts.iter().map(&mut address).collect(),
            templates: sources.templates.iter().map(&mut address).collect(),
            data: sources.data.iter().map(&mut address).collect(),
            pipeline: address(&sources.pipeline),
            subpipelines: sources.subpipelines.iter().map(|(reference, source)| (reference.clone(), address(source))).collect(),
            vars: settings.vars.clone(),
            workspace: settings.workspace.clone(),
            masks: settings.masks.clone(),
            team: settings.team.clone(),
            domain,
        };
        (manifest, blobs)
    }

    /// Whether both have the same scripts and graphs.
    pub fn same_scripts(&self, other: &Self) -> bool {
        let graphs = |manifest: &Self| {
            let parts = manifest.subpipelines.iter().map(|(reference, (_, hash))| (reference.clone(), *hash));
            (manifest.pipeline.1, parts.collect::<BTreeMap<_, _>>())
        };
        self.scripts == other.scripts && graphs(self) == graphs(other)
    }

    /// The differences of `after`, sorted by name.
    pub fn changes(&self, after: &Self) -> Vec<TextChange> {
        let setting = |value: &Value| Hash::of(canonical(value).as_bytes());
        let parts = |manifest: &Self| -> BTreeMap<String, Hash> {
            let texts = [("data", &manifest.data), ("scripts", &manifest.scripts), ("templates", &manifest.templates)];
            let texts = texts
                .into_iter()
                .flat_map(|(area, files)| files.iter().map(move |(name, hash)| (format!("{area}/{name}"), *hash)));
            let vars = manifest.vars.iter().map(|(name, value)| (format!("vars.{name}"), setting(value)));
            let domain = manifest.domain.iter().map(|name| ("domain".to_owned(), Hash::of(name.as_bytes())));
            let masks = manifest.masks.iter().map(|mask| (format!("masks.{mask}"), Hash::of(mask.as_bytes())));
            let team = manifest.team.iter().map(|team| (format!("team.{team}"), Hash::of(team.as_bytes())));
            let workspace = ("workspace".to_owned(), setting(&manifest.workspace));
            // The pipeline is one text, whatever its name.
            let name = &after.pipeline.0;
            let name = if name.contains(['/', '\\']) { name.clone() } else { format!("pipelines/{name}") };
            let pipeline = (name, manifest.pipeline.1);
            let parts = manifest.subpipelines.values().map(|(name, hash)| (format!("pipelines/{name}"), *hash));
            texts.chain(vars).chain(domain).chain(masks).chain(team).chain(parts).chain([workspace, pipeline]).collect()
        };
        let (before, after) = (parts(self), parts(after));
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let change =
            |name: &String| TextChange { what: name.clone(), before: before.get(name).copied(), after: after.get(name).copied() };
        names.into_iter().map(change).filter(|change| change.before != change.after).collect()
    }

    /// The manifest as a blob.
    pub fn blob(&self) -> Blob {
        Blob::new(canonical(&serde_json::to_value(self).unwrap_or_default()))
    }

    /// Restores the texts; `read` loads content by address.
    pub fn sources<E>(&self, mut read: impl FnMut(&Hash) -> Result<String, E>) -> Result<Sources, E> {
        let mut texts = |files: &BTreeMap<String, Hash>| {
            files.iter().map(|(name, hash)| Ok(Source::new(name.as_str(), read(hash)?))).collect::<Result<Vec<_>, E>>()
        };
        let (scripts, templates, data) = (texts(&self.scripts)?, texts(&self.templates)?, texts(&self.data)?);
        let mut pipeline = |(name, hash): &(String, Hash)| Ok(Source::new(name.as_str(), read(hash)?));
        let subpipelines = self
            .subpipelines
            .iter()
            .map(|(reference, part)| Ok((reference.clone(), pipeline(part)?)))
            .collect::<Result<_, E>>()?;
        let missing = BTreeMap::new();
        Ok(Sources { scripts, templates, data, pipeline: pipeline(&self.pipeline)?, subpipelines, missing })
    }
}
