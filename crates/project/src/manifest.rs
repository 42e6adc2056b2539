//! The texts of a project by content: stored with a run, so that it can be resumed and explained with the exact texts it started
//! with.

use super::settings::LinkSettings;
use super::{Sources, TextBundle};
use asterisk_base::model::{Hash, canonical};
use asterisk_diag::Source;
use asterisk_walk::{Blob, TextChange};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

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
    /// The bundled texts that some of them are. What the lists of the stored form leave out is as there.
    #[serde(skip)]
    pub bundle: Option<Arc<TextBundle>>,
}

/// The key of the bundle's address in the stored form.
const BUNDLE: &str = "bundle";

/// The lists of a manifest, by the area of the bundle that they extend.
fn lists(manifest: &mut ProjectManifest) -> [(&'static str, &mut BTreeMap<String, Hash>); 3] {
    let ProjectManifest { scripts, templates, data, .. } = manifest;
    [("scripts", scripts), ("templates", templates), ("data", data)]
}

impl ProjectManifest {
    /// Hashes the texts of a project; the blobs are those texts, or the bundle that they are of.
    pub fn of(sources: &Sources, settings: &LinkSettings, domain: Option<String>) -> (Self, Vec<Blob>) {
        let mut blobs = Vec::new();
        let bundle = sources.bundle.as_deref();
        let mut address = |area: &str, source: &Source| {
            let known = bundle.and_then(|bundle| bundle.address(area, source));
            let hash = known.unwrap_or_else(|| {
                let blob = Blob::new(source.text());
                let hash = blob.hash;
                blobs.push(blob);
                hash
            });
            (source.name().to_owned(), hash)
        };
        let mut list = |area: &str, texts: &[Source]| texts.iter().map(|source| address(area, source)).collect();
        let (scripts, templates) = (list("scripts", &sources.scripts), list("templates", &sources.templates));
        let data = list("data", &sources.data);
        let mut pipeline = |source: &Source| address("pipelines", source);
        let mut manifest = Self {
            scripts,
            templates,
            data,
            pipeline: pipeline(&sources.pipeline),
            subpipelines: sources.subpipelines.iter().map(|(reference, source)| (reference.clone(), pipeline(source))).collect(),
            vars: settings.vars.clone(),
            workspace: settings.workspace.clone(),
            masks: settings.masks.clone(),
            team: settings.team.clone(),
            domain,
            bundle: None,
        };
        if let Some(bundle) = &sources.bundle {
            manifest.bundle = Some(bundle.clone());
            if !lists(&mut manifest).iter().all(|(area, list)| bundle.area(area).all(|(name, _)| list.contains_key(name))) {
                // It is not what an overlay makes of the bundle.
                return Self::of(&Sources { bundle: None, ..sources.clone() }, settings, manifest.domain);
            }
        }
        (manifest, blobs)
    }

    /// Reads the stored form, which may need the bundle at an address to be complete: [`Self::with_bundle`].
    pub fn parse(text: &str) -> Result<(Self, Option<Hash>), serde_json::Error> {
        let mut stored: Value = serde_json::from_str(text)?;
        let address = stored.as_object_mut().and_then(|stored| stored.remove(BUNDLE));
        Ok((serde_json::from_value(stored)?, address.map(serde_json::from_value).transpose()?))
    }

    /// Adds the texts of the bundle that the stored form leaves out.
    #[must_use]
    pub fn with_bundle(mut self, bundle: Arc<TextBundle>) -> Self {
        for (area, list) in lists(&mut self) {
            for (name, hash) in bundle.area(area) {
                list.entry(name.to_owned()).or_insert(hash);
            }
        }
        Self { bundle: Some(bundle), ..self }
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

    /// The stored form.
    pub fn blob(&self) -> Blob {
        let mut own = self.clone();
        if let Some(bundle) = &self.bundle {
            for (area, list) in lists(&mut own) {
                for (name, hash) in bundle.area(area) {
                    if list.get(name) == Some(&hash) {
                        list.remove(name);
                    }
                }
            }
        }
        let mut stored = serde_json::to_value(own).unwrap_or_default();
        if let (Some(bundle), Some(stored)) = (&self.bundle, stored.as_object_mut()) {
            stored.insert(BUNDLE.to_owned(), bundle.stored_address().to_string().into());
        }
        Blob::new(canonical(&stored))
    }

    /// The content of the bundle that it refers to, to be stored with it.
    pub fn bundle_blob(&self) -> Option<Blob> {
        self.bundle.as_ref().map(|bundle| bundle.blob())
    }

    /// The bundled text at an address.
    pub fn bundled_text(&self, hash: &Hash) -> Option<&Source> {
        self.bundle.as_ref()?.text(hash)
    }

    /// Restores the texts; `read` loads the content at an address that is not one of the bundle.
    pub fn sources<E>(&self, mut read: impl FnMut(&Hash) -> Result<String, E>) -> Result<Sources, E> {
        let mut source = |name: &String, hash: &Hash| match self.bundled_text(hash) {
            Some(source) => Ok(source.renamed(name.as_str())),
            None => Ok(Source::new(name.as_str(), read(hash)?)),
        };
        let mut texts =
            |files: &BTreeMap<String, Hash>| files.iter().map(|(name, hash)| source(name, hash)).collect::<Result<Vec<_>, E>>();
        let (scripts, templates, data) = (texts(&self.scripts)?, texts(&self.templates)?, texts(&self.data)?);
        let mut pipeline = |(name, hash): &(String, Hash)| source(name, hash);
        let subpipelines = self
            .subpipelines
            .iter()
            .map(|(reference, part)| Ok((reference.clone(), pipeline(part)?)))
            .collect::<Result<_, E>>()?;
        let (missing, bundle) = (BTreeMap::new(), self.bundle.clone());
        Ok(Sources { scripts, templates, data, pipeline: pipeline(&self.pipeline)?, subpipelines, missing, bundle })
    }
}
