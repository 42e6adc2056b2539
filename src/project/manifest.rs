//! What a project was made of, by content: stored with a run, so that it can be resumed and explained with the very texts
//! it began with.

use super::{Settings, Sources};
use crate::diag::Source;
use crate::model::Hash;
use crate::walk::Blob;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The content addresses of a project's texts, and the vars in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Scripts by path.
    pub scripts: BTreeMap<String, Hash>,
    /// Templates by path.
    pub templates: BTreeMap<String, Hash>,
    /// Data files by path.
    pub data: BTreeMap<String, Hash>,
    /// The pipeline's name and text.
    pub pipeline: (String, Hash),
    /// The vars set from outside (configuration and `--set`), which the pipeline's own defaults yield to.
    pub vars: Map<String, Value>,
    /// The repositories of the project file.
    pub workspace: Value,
    /// The name of the vocabulary, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
}

impl Manifest {
    /// Addresses the texts of a project; the blobs are those texts.
    pub fn of(sources: &Sources, settings: &Settings, domain: Option<String>) -> (Self, Vec<Blob>) {
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
            vars: settings.vars.clone(),
            workspace: settings.workspace.clone(),
            domain,
        };
        (manifest, blobs)
    }

    /// The texts again, given a way to read content by address.
    pub fn sources<E>(&self, mut read: impl FnMut(&Hash) -> Result<String, E>) -> Result<Sources, E> {
        let mut texts = |files: &BTreeMap<String, Hash>| {
            files.iter().map(|(name, hash)| Ok(Source::new(name.as_str(), read(hash)?))).collect::<Result<Vec<_>, E>>()
        };
        let (scripts, templates, data) = (texts(&self.scripts)?, texts(&self.templates)?, texts(&self.data)?);
        let pipeline = Source::new(self.pipeline.0.as_str(), read(&self.pipeline.1)?);
        Ok(Sources { scripts, templates, data, pipeline })
    }
}
