//! The directory of a run as those see it who answer through files, with the signals in it: watched as long as somebody waits.

use super::dispatch::Dispatches;
use super::projection::{StepFileNames, case_dir, place_dir, run_dir};
use super::{RunResult, Session, SessionError};
use crate::agent::{AgentSignal, CLAIM, RunDir, SIGNAL, SignalStatus, StepFiles};
use crate::files::{OutDir, WatchStopper, Watcher};
use crate::walk::{Request, WalkStatus};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

/// How long nothing must be written before what was written is told of.
const QUIET: Duration = Duration::from_millis(5);

/// The directory of a run below some root.
pub(super) struct RunDirectory {
    root: PathBuf,
    opened: OnceLock<OutDir>,
    watch: OnceLock<Option<WatchStopper>>,
    told: Arc<ChangeCounter>,
    /// What all directories of the run share.
    dispatches: Arc<Dispatches>,
}

/// How many changes there were.
#[derive(Default)]
struct ChangeCounter {
    changes: Mutex<u64>,
    more: Condvar,
}

impl RunDirectory {
    pub(super) fn new(root: &Path, run: &str, dispatches: Arc<Dispatches>) -> Self {
        let root = run_dir(root, run);
        let root = std::path::absolute(&root).unwrap_or(root);
        Self { root, opened: OnceLock::new(), watch: OnceLock::new(), told: Arc::default(), dispatches }
    }

    fn dir(&self) -> io::Result<&OutDir> {
        if let Some(dir) = self.opened.get() {
            return Ok(dir);
        }
        let dir = OutDir::private(&self.root)?;
        Ok(self.opened.get_or_init(|| dir))
    }

    /// Begins to watch, if that can be: without, whoever waits looks from time to time.
    fn watch(&self) {
        self.watch.get_or_init(|| {
            let mut watcher = Watcher::new(std::slice::from_ref(&self.root), QUIET).ok()?;
            let (stopper, told) = (watcher.stopper(), Arc::clone(&self.told));
            let tell = move || {
                while watcher.changed() {
                    *told.changes.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                    told.more.notify_all();
                }
            };
            thread::Builder::new().name("signals".into()).spawn(tell).ok().map(|_| stopper)
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
        let StepFileNames { prompt, artifact } = StepFileNames::of(request.plan.pipeline.at(request.node), request.visit);
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
        *self.told.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, seen: u64, most: Duration) {
        let changes = self.told.changes.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.told.more.wait_timeout_while(changes, most, |changes| *changes == seen));
    }
}

impl Session {
    /// The numbers of a run's requests, which are kept where runs write.
    pub(super) fn dispatches(&self, run: &str) -> Arc<Dispatches> {
        Arc::new(Dispatches::new(run_dir(&self.setup.out, run)))
    }

    /// The directories below which runs have theirs: where they write, and where those are who answer through files.
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

    /// Marks the signals of a run that is over as complete, but for those that ended as errors.
    pub(super) fn finalise(&self, result: &RunResult) -> Result<(), SessionError> {
        if !matches!(result.status, WalkStatus::Done | WalkStatus::Error) {
            return Ok(());
        }
        for root in self.roots() {
            let tray = RunDirectory::new(&root, &result.run, self.dispatches(&result.run));
            if !tray.root.is_dir() {
                continue;
            }
            let failed = |source| SessionError::Write { path: tray.root.display().to_string(), source };
            let left = |name: &str| name == SIGNAL || name.starts_with(CLAIM);
            for name in tray.dir().and_then(|dir| dir.find(left)).map_err(failed)? {
                if !name.ends_with(SIGNAL) {
                    // Whoever put more into it than a claim takes may keep it.
                    drop(tray.remove(&name));
                    continue;
                }
                let Some(mut signal) = AgentSignal::read(&tray, &name) else { continue };
                if !matches!(signal.status, SignalStatus::Complete | SignalStatus::Error) {
                    signal.status = SignalStatus::Complete;
                    signal.write(&tray, &name).map_err(failed)?;
                }
            }
        }
        Ok(())
    }
}
