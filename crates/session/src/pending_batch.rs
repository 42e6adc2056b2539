//! Checking out all prompts of a run as a batch of the signal protocol, with its manifest, its briefing, and a signal next to
//! each prompt, so that agents of that protocol need no other way. Answers are submitted with `save`, as for single prompts.

use super::dispatch::Dispatches;
use super::run_dir::RunDirectory;
use super::{Session, SessionError};
use asterisk_adapters::agent::{
    AgentSignal, BRIEFING, BatchInfo, BatchManifest, EntryStatus, MANIFEST, ManifestEntry, RunDir, SIGNAL, SignalStatus,
};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// A task for an external answerer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingTask {
    pub case: String,
    pub node: String,
    /// The step's name in signals (`F0_RECALL`).
    pub step: String,
    /// The answerer.
    pub via: String,
    /// The sequence number of the request (`dispatch_id` in signals).
    pub request: i64,
    /// The file of the prompt.
    pub prompt_path: PathBuf,
    /// The file that the answer may be written to.
    pub artifact_path: PathBuf,
    pub prompt: String,
    /// The directory of both, below that of the run.
    #[serde(skip)]
    pub(super) dir: String,
}

/// The files of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PendingBatch {
    /// Its number in the run.
    pub batch_id: u64,
    pub manifest_path: PathBuf,
    pub briefing_path: PathBuf,
}

impl Session {
    /// Writes prompts as a batch of a phase.
    pub(super) fn lay_out_batch(&self, run: &str, phase: &str, tasks: &[PendingTask]) -> Result<PendingBatch, SessionError> {
        let directory = RunDirectory::new(&self.setup.out, run, self.dispatches(run));
        let written = |name: &str, result: std::io::Result<()>| {
            result.map_err(|source| SessionError::Write { path: directory.path(name), source })
        };
        let now = self.setup.clock.now();
        let known = BatchManifest::read(&directory).ok();
        let batch = known.map_or(0, |known| known.batch_id).saturating_add(1);
        let mut entries = Vec::new();
        for one in tasks {
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
            written(&at, signal.write(&directory, &at))?;
            entries.push(ManifestEntry {
                case_id: one.case.clone(),
                signal_path: directory.path(&at),
                status: EntryStatus::Pending,
            });
        }
        let cases = tasks.iter().map(|one| one.case.clone()).collect();
        let briefing = self.briefing(run, &BatchInfo { batch, phase: phase.to_owned(), cases });
        written(BRIEFING, directory.write(BRIEFING, &briefing))?;
        let manifest = BatchManifest::new(batch, phase, now, directory.path(BRIEFING), entries);
        written(MANIFEST, manifest.write(&directory))?;
        let path = |name: &str| PathBuf::from(directory.path(name));
        Ok(PendingBatch { batch_id: batch, manifest_path: path(MANIFEST), briefing_path: path(BRIEFING) })
    }

    /// Marks a request as answered in the last batch, if it is part of it. Write errors are ignored, so that no answer is lost.
    pub(super) fn mark_answered(&self, run: &str, request: i64, dispatches: &Arc<Dispatches>) {
        let directory = RunDirectory::new(&self.setup.out, run, Arc::clone(dispatches));
        let Ok(Some(number)) = dispatches.close(request) else { return };
        let Ok(mut manifest) = BatchManifest::read(&directory) else { return };
        let name = |entry: &ManifestEntry| entry.signal_path.strip_prefix(&directory.path("")).map(str::to_owned);
        for index in 0..manifest.signals.len() {
            let Some(at) = name(&manifest.signals[index]) else { continue };
            let Some(mut signal) = AgentSignal::read(&directory, &at).filter(|signal| signal.dispatch_id == number) else {
                continue;
            };
            signal.status = SignalStatus::Done;
            drop(signal.write(&directory, &at));
            manifest.note(index, EntryStatus::Done, self.setup.clock.now());
            drop(manifest.write(&directory));
        }
    }
}
