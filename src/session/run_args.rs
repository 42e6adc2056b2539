//! What runs store beside their events: their arguments, and the manifests of their texts.

use super::{Files, SessionError, Via};
use crate::files::bundle;
use crate::model::{Hash, canonical};
use crate::project::{ProjectManifest, TextBundle};
use crate::reportportal::PortalLaunch;
use crate::store::{Store, StoreError};
use crate::walk::{Blob, EventBody, FIRST};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// The arguments of a run, beside its project and launch, stored for resuming it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedRunArgs {
    pub(super) via: Via,
    pub(super) stub: Option<Hash>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) budget: Option<u64>,
    pub(super) files: Files,
    pub(super) pipeline: String,
    /// The requested pipeline: a path, or a name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) asked: Option<String>,
    /// The directory of scripts, if one was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scripts: Option<PathBuf>,
    /// The requested domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) domain: Option<String>,
    /// The address of the candidates' manifest, if the run has a shadow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) shadow: Option<Hash>,
    /// Where its launch was fetched from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reportportal: Option<PortalLaunch>,
    /// The vars set for this run only.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) set: Map<String, Value>,
    /// The masks added by the command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) masks: Vec<String>,
    /// Whether memory is left aside: what other runs found is not seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) no_recall: bool,
    /// Whether `asterisk goal` began it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) goal: bool,
    /// The team chosen by the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) team: Option<String>,
}

/// The arguments of a run.
pub(super) fn args_of(store: &Store, run: &str) -> Result<RecordedRunArgs, SessionError> {
    parse(&text(store, &store.run(run)?.args)?)
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
