//! Handing out all prompts of a run at once: as a batch of the signal protocol, with its manifest, its briefing, and a signal beside each
//! prompt, so that agents who know how to answer those need no other way. Answers are brought with `save`, here as there.

use super::run_dir::RunDirectory;
use super::{Session, SessionError};
use crate::agent::{
    AgentSignal, BRIEFING, BatchInfo, BatchManifest, EntryStatus, MANIFEST, ManifestEntry, RunDir, SIGNAL, SignalStatus,
};
use serde::Serialize;
use std::path::PathBuf;

/// A prompt that somebody is to answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingTask {
    /// The case.
    pub case: String,
    /// The node.
    pub node: String,
    /// What signals call the step (`F0_RECALL`).
    pub step: String,
    /// Who is asked.
    pub via: String,
    /// The request's id.
    pub request: i64,
    /// Where the prompt is written.
    pub prompt_path: PathBuf,
    /// Where the answer may be written.
    pub artifact_path: PathBuf,
    /// The prompt.
    pub prompt: String,
    /// The directory of both, below that of the run.
    #[serde(skip)]
    pub(super) dir: String,
}

/// Where a batch is laid out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingBatch {
    /// Its number in the run.
    pub batch_id: u64,
    /// Its manifest.
    pub manifest_path: PathBuf,
    /// What all of it may want to know.
    pub briefing_path: PathBuf,
}

impl Session {
    /// Lays prompts out as a batch of a phase.
    pub(super) fn lay_out_batch(&self, run: &str, phase: &str, handed: &[PendingTask]) -> Result<PendingBatch, SessionError> {
        let tray = RunDirectory::new(&self.setup.out, run, self.dispatches(run));
        let written = |name: &str, result: std::io::Result<()>| {
            result.map_err(|source| SessionError::Write { path: tray.path(name), source })
        };
        let now = self.setup.clock.now();
        let known = BatchManifest::read(&tray).ok();
        let batch = known.map_or(0, |known| known.batch_id).saturating_add(1);
        let mut entries = Vec::new();
        for one in handed {
            let signal = AgentSignal {
                status: SignalStatus::Waiting,
                dispatch_id: one.request,
                case_id: one.case.clone(),
                step: one.step.clone(),
                prompt_path: one.prompt_path.display().to_string(),
                artifact_path: one.artifact_path.display().to_string(),
                timestamp: now,
                error: String::new(),
            };
            let at = format!("{}/{SIGNAL}", one.dir);
            written(&at, signal.write(&tray, &at))?;
            entries.push(ManifestEntry { case_id: one.case.clone(), signal_path: tray.path(&at), status: EntryStatus::Pending });
        }
        let cases = handed.iter().map(|one| one.case.clone()).collect();
        let briefing = self.briefing(run, &BatchInfo { batch, phase: phase.to_owned(), cases });
        written(BRIEFING, tray.write(BRIEFING, &briefing))?;
        let manifest = BatchManifest::new(batch, phase, now, tray.path(BRIEFING), entries);
        written(MANIFEST, manifest.write(&tray))?;
        let path = |name: &str| PathBuf::from(tray.path(name));
        Ok(PendingBatch { batch_id: batch, manifest_path: path(MANIFEST), briefing_path: path(BRIEFING) })
    }

    /// Notes in the batch that was laid out last, if the request is one of it, that it is answered. What cannot be written is nothing to
    /// lose an answer for.
    pub(super) fn note_brought(&self, run: &str, request: i64) {
        let tray = RunDirectory::new(&self.setup.out, run, self.dispatches(run));
        let Ok(mut manifest) = BatchManifest::read(&tray) else { return };
        let name = |entry: &ManifestEntry| entry.signal_path.strip_prefix(&tray.path("")).map(str::to_owned);
        for index in 0..manifest.signals.len() {
            let Some(at) = name(&manifest.signals[index]) else { continue };
            let Some(mut signal) = AgentSignal::read(&tray, &at).filter(|signal| signal.dispatch_id == request) else { continue };
            signal.status = SignalStatus::Done;
            drop(signal.write(&tray, &at));
            manifest.note(index, EntryStatus::Done, self.setup.clock.now());
            drop(manifest.write(&tray));
        }
    }
}
