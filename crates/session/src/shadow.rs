//! `run --shadow`: candidate rules, linked next to those of a run and recorded with it, and the summary of their decisions.

use super::recorded::linked;
use super::run_settings::manifest_at;
use super::{Session, SessionError};
use asterisk_base::model::Hash;
use asterisk_diag::Diagnostic;
use asterisk_project::{AnswererNames, Project};
use asterisk_script::probe::Probes;
use asterisk_store::Store;
use asterisk_walk::{Blob, EventBody, EventKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

/// The shadow decisions of a run so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShadowSummary {
    /// The number of shadow decisions.
    pub decisions: usize,
    /// How many differ from the live ones.
    pub differ: usize,
    /// The number of shadow verdicts: of rules of verdicts that are others than those of the run.
    #[serde(skip_serializing_if = "is_zero")]
    pub verdicts: usize,
    /// The verdicts that name another defect than the run, by that defect.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts_by: BTreeMap<String, usize>,
    /// The differing ones by the edge that the candidates take; `error` where they fail, empty where the walk would complete.
    pub by: BTreeMap<String, usize>,
}

impl Session {
    /// Links the project with another directory of scripts overlaid on its own.
    pub(super) fn candidate(&self, scripts: &Path, pipeline: Option<&str>) -> Result<Project, SessionError> {
        let linked = |sources| Project::link(sources, self.settings(AnswererNames::Others));
        let candidate = self.sources_below(pipeline, Some(scripts)).and_then(|sources| Ok(linked(sources)?));
        candidate.map_err(|error| match error {
            SessionError::Texts(mut found) => {
                let message =
                    format!("the scripts in `{}` cannot be evaluated in addition to those of the run", scripts.display());
                found.push(Diagnostic::error("run/shadow", message).help("fix them, or omit --shadow"));
                SessionError::Texts(found)
            }
            other => other,
        })
    }
}

/// The address of a candidate's manifest, and everything to be stored with it.
pub(super) fn recorded(candidate: &Project) -> (Hash, Vec<Blob>) {
    let (manifest, mut blobs) = candidate.manifest();
    let list = manifest.blob();
    let hash = list.hash;
    blobs.extend(manifest.bundle_blob());
    blobs.push(list);
    (hash, blobs)
}

/// The candidate that a run was started with, linked again.
pub(super) fn again(session: &Session, store: &Store, manifest: Option<&Hash>) -> Result<Option<Project>, SessionError> {
    manifest.map(|hash| linked(session, store, &manifest_at(store, hash)?, AnswererNames::Others, Probes::None)).transpose()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Summarises the shadow decisions of a run.
pub(super) fn sum(store: &Store, run: &str) -> Result<ShadowSummary, SessionError> {
    let mut sum = ShadowSummary::default();
    store.each_event_of(EventKind::Shadow, run, |event| {
        if let EventBody::Shadow { edge, error, differs, verdict, .. } = event.what {
            if let Some(defect) = verdict {
                sum.verdicts += 1;
                if differs {
                    *sum.verdicts_by.entry(defect.into()).or_default() += 1;
                }
                return ControlFlow::Continue(());
            }
            sum.decisions += 1;
            if differs {
                sum.differ += 1;
                let by = if error.is_some() { "error".to_owned() } else { edge.unwrap_or_default().into() };
                *sum.by.entry(by).or_default() += 1;
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(sum)
}
