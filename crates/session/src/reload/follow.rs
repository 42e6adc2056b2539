//! Follows edits: watches the texts, links a new project aside, and swaps it in or reports the error.

use asterisk_files::{WatchError, WatchStopper, Watcher};
use asterisk_project::{CurrentProject, Project, ProjectManifest};
use asterisk_walk::TextChange;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Reads and links the texts of a project.
pub trait LoadProject {
    /// Error of loading the project.
    type Error: Debug + From<WatchError>;

    /// Loads the project from the current texts; what is unchanged since `before` need not be compiled again.
    fn load(&self, before: Option<&Project>) -> Result<Project, Self::Error>;

    /// Whether an edit of the texts may fix the error. A mistake on the command line cannot be fixed so.
    fn is_fixable(&self, error: &Self::Error) -> bool;

    /// The files and directories that the project is read from, including ones that do not exist.
    fn paths(&self) -> Vec<PathBuf>;
}

/// Receives the results of reloads.
pub trait ReloadListener<E> {
    /// The texts do not link. `last`: whether an older project stays in use.
    fn broken(&self, error: &E, last: bool);

    /// The texts link again; `changed` lists the differences from the project in use so far and is empty if there are none.
    fn loaded(&self, project: &Project, changed: &[TextChange]);
}

/// Follows the edits of a project's texts.
pub struct ReloadFollower<L: LoadProject> {
    load: L,
    watcher: Watcher,
    paths: Vec<PathBuf>,
    /// Last reported error of the texts.
    last_error: Option<String>,
}

impl<L: LoadProject> ReloadFollower<L> {
    /// Starts to watch the texts.
    pub fn new(load: L, debounce: Duration) -> Result<Self, L::Error> {
        let paths = load.paths();
        let watcher = Watcher::new(&paths, debounce)?;
        Ok(Self { load, watcher, paths, last_error: None })
    }

    /// A handle that stops the follower from another thread.
    pub fn stopper(&self) -> WatchStopper {
        self.watcher.stopper()
    }

    /// Loads the project, waiting for edits while it does not link. Returns `None` if stopped before, and an error if no edit would help.
    pub fn first(&mut self, listener: &impl ReloadListener<L::Error>) -> Result<Option<Arc<Project>>, L::Error> {
        loop {
            match self.load.load(None) {
                // The texts were written to while they were read.
                _ if !self.watcher.is_current() => {}
                Ok(project) => {
                    if self.last_error.take().is_some() {
                        listener.loaded(&project, &[]);
                    }
                    return Ok(Some(Arc::new(project)));
                }
                Err(error) if self.load.is_fixable(&error) => self.report(&error, false, listener),
                Err(error) => return Err(error),
            }
            if !self.edited() {
                return Ok(None);
            }
        }
    }

    /// Swaps in every edit that links, until stopped.
    pub fn follow(&mut self, current: &CurrentProject, listener: &impl ReloadListener<L::Error>) {
        let (_, mut before) = current.get();
        let mut manifest = before.manifest().0;
        while self.edited() {
            let loaded = self.load.load(Some(&before));
            if !self.watcher.is_current() {
                // The texts were written to while they were read: the watcher reports that, and they are read again.
                continue;
            }
            match loaded {
                // The current project stays.
                Err(error) => self.report(&error, true, listener),
                Ok(project) => {
                    let list: ProjectManifest = project.manifest().0;
                    let changed = manifest.changes(&list);
                    let mended = self.last_error.take().is_some();
                    if !changed.is_empty() {
                        before = Arc::new(project);
                        current.exchange(Arc::clone(&before));
                        manifest = list;
                    }
                    if mended || !changed.is_empty() {
                        listener.loaded(&before, &changed);
                    }
                }
            }
        }
    }

    /// Waits for an edit. Returns false if stopped.
    fn edited(&mut self) -> bool {
        if !self.watcher.changed() {
            return false;
        }
        let paths = self.load.paths();
        if paths != self.paths && self.watcher.watch(&paths).is_ok() {
            self.paths = paths;
        }
        true
    }

    /// Reports an error once, however often the files are touched.
    fn report(&mut self, error: &L::Error, last: bool, listener: &impl ReloadListener<L::Error>) {
        let last_error = format!("{error:?}");
        if self.last_error.as_ref() != Some(&last_error) {
            listener.broken(error, last);
            self.last_error = Some(last_error);
        }
    }
}
