//! Following edits: watch, link aside, exchange or tell.

use crate::files::{WatchError, WatchStopper, Watcher};
use crate::project::{CurrentProject, Project, ProjectManifest};
use crate::walk::TextChange;
use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Reads the texts and links them.
pub trait LoadProject {
    /// Why there is no project.
    type Error: Debug + From<WatchError>;

    /// The project as its texts are now; what did not change since `before` need not be compiled again.
    fn load(&self, before: Option<&Project>) -> Result<Project, Self::Error>;

    /// Whether an edit may mend that. A mistake on the command line is none of the texts.
    fn mendable(&self, error: &Self::Error) -> bool;

    /// The files and directories that it is read from now, whether they are there or not.
    fn paths(&self) -> Vec<PathBuf>;
}

/// Is told what became of edits.
pub trait ReloadListener<E> {
    /// The texts do not link. `last`: whether an older project stays in force.
    fn broken(&self, error: &E, last: bool);

    /// They link again; `changed` is what is other than in the project that was in force till now, and nothing if all is as it was.
    fn loaded(&self, project: &Project, changed: &[TextChange]);
}

/// Follows the edits of a project's texts.
pub struct ReloadFollower<L: LoadProject> {
    load: L,
    watcher: Watcher,
    paths: Vec<PathBuf>,
    /// What was wrong with the texts when they were looked at last.
    wrong: Option<String>,
}

impl<L: LoadProject> ReloadFollower<L> {
    /// Begins to watch.
    pub fn new(load: L, debounce: Duration) -> Result<Self, L::Error> {
        let paths = load.paths();
        let watcher = Watcher::new(&paths, debounce)?;
        Ok(Self { load, watcher, paths, wrong: None })
    }

    /// Ends its waiting from another thread.
    pub fn stopper(&self) -> WatchStopper {
        self.watcher.stopper()
    }

    /// The project as it is now, or, if it does not link, as it will be once somebody has mended it. None if stopped before; an
    /// error if no edit would help.
    pub fn first(&mut self, told: &impl ReloadListener<L::Error>) -> Result<Option<Arc<Project>>, L::Error> {
        loop {
            match self.load.load(None) {
                // They were written to while they were read.
                _ if !self.watcher.is_current() => {}
                Ok(project) => {
                    if self.wrong.take().is_some() {
                        told.loaded(&project, &[]);
                    }
                    return Ok(Some(Arc::new(project)));
                }
                Err(error) if self.load.mendable(&error) => self.tell(&error, false, told),
                Err(error) => return Err(error),
            }
            if !self.edited() {
                return Ok(None);
            }
        }
    }

    /// Puts every edit that links into force, until stopped.
    pub fn follow(&mut self, current: &CurrentProject, told: &impl ReloadListener<L::Error>) {
        let (_, mut before) = current.get();
        let mut manifest = before.manifest().0;
        while self.edited() {
            let loaded = self.load.load(Some(&before));
            if !self.watcher.is_current() {
                // They were written to while they were read: the watcher tells of that, and they are read again.
                continue;
            }
            match loaded {
                Err(error) => self.tell(&error, true, told),
                Ok(project) => {
                    let list: ProjectManifest = project.manifest().0;
                    let changed = manifest.changes(&list);
                    let mended = self.wrong.take().is_some();
                    if !changed.is_empty() {
                        before = Arc::new(project);
                        current.exchange(Arc::clone(&before));
                        manifest = list;
                    }
                    if mended || !changed.is_empty() {
                        told.loaded(&before, &changed);
                    }
                }
            }
        }
    }

    /// Waits for an edit. False if stopped.
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

    /// The same mistake is told once, however often the files are touched.
    fn tell(&mut self, error: &L::Error, last: bool, told: &impl ReloadListener<L::Error>) {
        let wrong = format!("{error:?}");
        if self.wrong.as_ref() != Some(&wrong) {
            told.broken(error, last);
            self.wrong = Some(wrong);
        }
    }
}
