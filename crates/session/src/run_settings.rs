//! Settings of runs and manifests of their texts, stored next to their events.

use super::{Files, SessionError, TextSettings, Via};
use asterisk_adapters::reportportal::PortalLaunch;
use asterisk_base::model::{Hash, canonical};
use asterisk_files::bundle;
use asterisk_project::{ProjectManifest, TextBundle};
use asterisk_store::{Store, StoreError};
use asterisk_walk::{Blob, EventBody, FIRST};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The settings of a run. They are stored with it as they are, and it is resumed by them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSettings {
    /// The pipeline, by path, stem or name.
    pub pipeline: Option<String>,
    /// The answerers.
    pub via: Via,
    /// Seeds `state.chance`.
    pub seed: u64,
    /// Whether case directories are written.
    pub files: Files,
    /// The token budget.
    pub budget: Option<u64>,
    /// Whether memory is left aside: what other runs found is not seen.
    pub no_recall: bool,
    /// Whether the inputs are those of `asterisk goal`: the only ones whose cases may name a working directory for tools.
    pub goal: bool,
    /// What is set when the run begins.
    pub origin: RunSources,
}

/// What a run was begun with, next to its launch and the texts of its manifest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunSources {
    /// The settings of the session.
    pub(super) texts: TextSettings,
    /// The address of the canned answers.
    pub(super) stub: Option<Hash>,
    /// The address of the candidates' manifest, if the run has a shadow.
    pub(super) shadow: Option<Hash>,
    /// Where its launch was fetched from.
    pub(super) reportportal: Option<PortalLaunch>,
}

/// The settings of a run.
pub(super) fn settings_of(store: &Store, run: &str) -> Result<RunSettings, SessionError> {
    parse(&text(store, &store.run(run)?.settings)?)
}

/// The manifests of a run, in order, each with its revision.
pub(super) fn manifests(store: &Store, run: &str) -> Result<Vec<(u64, ProjectManifest)>, SessionError> {
    let mut found = vec![(FIRST, manifest_at(store, &store.run(run)?.manifest)?)];
    for (_, event) in store.run_events(run)? {
        if let EventBody::Reload { revision, manifest, .. } = event.what {
            found.push((revision, manifest_at(store, &manifest)?));
        }
    }
    Ok(found)
}

/// The manifest at an address.
pub(super) fn manifest_at(store: &Store, hash: &Hash) -> Result<ProjectManifest, SessionError> {
    let damaged = |error: serde_json::Error| StoreError::Damaged(error.to_string());
    let (manifest, address) = ProjectManifest::parse(&text(store, hash)?).map_err(damaged)?;
    let Some(address) = address else { return Ok(manifest) };
    let own = bundle();
    if own.stored_address() == address {
        return Ok(manifest.with_bundle(own));
    }
    // Another version of the program stored it.
    let stored = TextBundle::parse(&text(store, &address)?);
    let stored = stored.ok_or_else(|| StoreError::Damaged("the bundled texts of a run cannot be read".into()))?;
    Ok(manifest.with_bundle(Arc::new(stored)))
}

/// A text of a run, by its address.
pub(super) fn text_of(store: &Store, manifest: &ProjectManifest, hash: &Hash) -> Result<String, SessionError> {
    manifest.bundled_text(hash).map_or_else(|| text(store, hash), |source| Ok(source.text().to_owned()))
}

pub(super) fn text(store: &Store, hash: &Hash) -> Result<String, SessionError> {
    Ok(store.needed(hash)?)
}

pub(super) fn parse<T: DeserializeOwned>(text: &str) -> Result<T, SessionError> {
    Ok(serde_json::from_str(text).map_err(|error| StoreError::Damaged(error.to_string()))?)
}

pub(super) fn json_blob(value: &impl Serialize) -> Blob {
    Blob::new(canonical(&serde_json::to_value(value).unwrap_or_default()))
}
