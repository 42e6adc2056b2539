//! The directory of a run for answerers that work through files, with its signals: watched while an answer is pending.

use super::dispatch::Dispatches;
use super::projection::{StepFileNames, case_dir, place_dir, run_dir};
use super::{RunResult, Session, SessionError};
use asterisk_adapters::agent::{AgentSignal, CLAIM, RunDir, SIGNAL, SignalStatus, StepFiles};
use asterisk_files::{OutDir, WatchStopper, Watcher};
use asterisk_walk::{Request, WalkStatus};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// How long the directory must be unchanged before a change is reported.
const QUIET: Duration = Duration::from_millis(5);

/// The directory of a run below some root.
pub(super) struct RunDirectory {
    root: PathBuf,
    opened: OnceLock<OutDir>,
    watch: OnceLock<Option<WatchStopper>>,
    counter: Arc<ChangeCounter>,
    /// Shared by all directories of the run.
    dispatches: Arc<Dispatches>,
}

/// Counts changes.
#[derive(Default)]
struct ChangeCounter {
    changes: Mutex<u64>,
    more: Condvar,
}

impl RunDirectory {
    pub(super) fn new(root: &Path, run: &str, dispatches: Arc<Dispatches>) -> Self {
        let root = run_dir(root, run);
        let root = std::path::absolute(&root).unwrap_or(root);
        Self { root, opened: OnceLock::new(), watch: OnceLock::new(), counter: Arc::default(), dispatches }
    }

    fn dir(&self) -> io::Result<&OutDir> {
        if let Some(dir) = self.opened.get() {
            return Ok(dir);
        }
        let dir = OutDir::private(&self.root)?;
        Ok(self.opened.get_or_init(|| dir))
    }

    /// Starts watching, if the system supports it; without, waiting polls.
    fn watch(&self) {
        self.watch.get_or_init(|| {
            let mut watcher = Watcher::new(std::slice::from_ref(&self.root), QUIET).ok()?;
            let (stopper, counter) = (watcher.stopper(), Arc::clone(&self.counter));
            let notify = move || {
                while watcher.changed() {
                    *counter.changes.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    counter.more.notify_all();
                }
            };
            thread::Builder::new().name("signals".into()).spawn(notify).ok().map(|_| stopper)
        });
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if let Some(Some(stopper)) = self.watch.get() {
            stopper.stop();
        }
    }
}

impl RunDir for RunDirectory {
    fn places(&self, request: &Request<'_>) -> StepFiles {
        let dir = place_dir(&case_dir(&request.case.id), request.path);
        let StepFileNames { prompt, artifact } =
            StepFileNames::of(request.plan.pipeline.at(request.node), request.advisor(), request.visit);
        StepFiles { prompt: format!("{dir}/{prompt}"), artifact: format!("{dir}/{artifact}"), dir }
    }

    fn path(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        self.dir()?.write(name, text).map(drop)
    }

    fn read(&self, name: &str, most: usize) -> io::Result<Option<Vec<u8>>> {
        self.dir()?.read(name, most)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.dir()?.remove(name)
    }

    fn dispatch_id(&self, request: i64) -> io::Result<i64> {
        self.dispatches.number(request)
    }

    fn mark_answered(&self, request: i64) {
        self.dispatches.settle(request);
    }

    fn mark_pending(&self, request: &Request<'_>) -> io::Result<()> {
        self.dispatches.waits(request)
    }

    fn change_count(&self) -> u64 {
        self.watch();
        *self.counter.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, seen: u64, most: Duration) {
        let changes = self.counter.changes.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.counter.more.wait_timeout_while(changes, most, |changes| *changes == seen));
    }
}

impl Session {
    /// The dispatch numbers of a run's requests, stored in its output directory.
    pub(super) fn dispatches(&self, run: &str) -> Arc<Dispatches> {
        Arc::new(Dispatches::new(run_dir(&self.setup.out, run)))
    }

    /// The roots of run directories: the output root, and those of answerers that work through files.
    pub(super) fn roots(&self) -> Vec<PathBuf> {
        let mut roots = vec![self.setup.out.clone()];
        for dir in self.setup.agents.values().filter_map(|one| one.dir.as_ref()) {
            let dir = self.setup.root.join(dir);
            if !roots.contains(&dir) {
                roots.push(dir);
            }
        }
        roots
    }

    /// Marks the signals of a finished run as complete, except those that ended in error.
    pub(super) fn finalise(&self, result: &RunResult) -> Result<(), SessionError> {
        if !matches!(result.status, WalkStatus::Done | WalkStatus::Error) {
            return Ok(());
        }
        for root in self.roots() {
            let directory = RunDirectory::new(&root, &result.run, self.dispatches(&result.run));
            if !directory.root.is_dir() {
                continue;
            }
            let failed = |source| SessionError::Write { path: directory.root.display().to_string(), source };
            let left = |name: &str| name == SIGNAL || name.starts_with(CLAIM);
            for name in directory.dir().and_then(|dir| dir.find(left)).map_err(failed)? {
                if !name.ends_with(SIGNAL) {
                    // A directory with more than the claim in it is kept.
                    drop(directory.remove(&name));
                    continue;
                }
                let Some(mut signal) = AgentSignal::read(&directory, &name) else { continue };
                if !matches!(signal.status, SignalStatus::Complete | SignalStatus::Error) {
                    signal.status = SignalStatus::Complete;
                    signal.write(&directory, &name).map_err(failed)?;
                }
            }
        }
        Ok(())
    }
}
