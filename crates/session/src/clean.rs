//! Retention: removing old runs from the store, with their directories.

use super::projection::{run_dir, stage_events_path};
use super::{Session, SessionError};
use asterisk_files::remove_entry;
use asterisk_store::{Cleaned, Durability, Retention};
use serde::Serialize;

/// What was removed, or would be.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CleanResult {
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// What was removed from the store.
    #[serde(flatten)]
    pub store: Cleaned,
    /// The removed directories of runs, below the output root.
    pub directories: Vec<String>,
    /// The size of the files in them, in bytes.
    pub directory_bytes: u64,
    /// Whether the store's file was compacted; it is not while a run is executed.
    pub shrunk: bool,
}

impl Session {
    /// Removes the cached answers of agents and returns their number.
    pub fn clean_cache(&self, dry_run: bool) -> Result<usize, SessionError> {
        if self.reader()?.is_none() {
            return Ok(0);
        }
        let store = self.open_store(Durability::Step)?;
        Ok(if dry_run { store.cached_answers()? } else { store.clear_answers()? })
    }

    /// Removes the events, contents and directories of runs, and the outcomes of tests of all but the latest 200 launches of each
    /// name. Symptoms and root causes are kept.
    pub fn clean(&self, retention: &Retention) -> Result<CleanResult, SessionError> {
        let mut result = CleanResult { dry_run: retention.dry_run, ..CleanResult::default() };
        if self.reader()?.is_none() {
            return Ok(result);
        }
        let store = self.open_store(Durability::Step)?;
        result.store = store.clean(retention, self.setup.clock.now())?;
        // Includes runs cleaned earlier whose directories could not be removed then.
        let mut runs = store.cleaned_runs()?;
        runs.extend(result.store.runs.iter().filter(|run| !runs.contains(run)).cloned().collect::<Vec<_>>());
        let roots = self.roots();
        let of_run = |run| roots.iter().flat_map(move |root| [run_dir(root, run), stage_events_path(root, run)]);
        for entry in runs.iter().flat_map(|run| of_run(run.as_str())) {
            let removed = remove_entry(&entry, retention.dry_run);
            let path = entry.display().to_string();
            if let Some(bytes) = removed.map_err(|source| SessionError::Write { path: path.clone(), source })? {
                result.directories.push(path);
                result.directory_bytes += bytes;
            }
        }
        if !retention.dry_run && (!result.store.runs.is_empty() || result.store.test_outcomes > 0) {
            result.shrunk = store.shrink()?;
        }
        Ok(result)
    }
}
