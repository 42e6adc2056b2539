//! The revisions of a run's texts: each is recorded with the run before any case takes it.

use super::Session;
use super::listener::{AppliedReload, RunListener};
use asterisk_base::model::Hash;
use asterisk_diag::Diagnostics;
use asterisk_project::{CurrentProject, LinkSettings, Project, ProjectManifest};
use asterisk_store::RunJournal;
use asterisk_walk::{Commit, Event, EventBody, Journal as _, JournalError, ReloadCause, Revision, RevisionSource};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The texts that a run starts or resumes with.
pub(super) struct RunTexts<'a> {
    /// The source of newer projects.
    pub(super) current: &'a CurrentProject,
    /// The number of the last project seen.
    pub(super) seen: u64,
    /// The number of the run's revision.
    pub(super) number: u64,
    pub(super) manifest: ProjectManifest,
    pub(super) project: Arc<Project>,
}

/// The revisions of one run.
pub(super) struct RunRevisions<'a> {
    session: &'a Session,
    watch: &'a dyn RunListener,
    journal: &'a RunJournal,
    /// The source of newer projects.
    source: &'a CurrentProject,
    /// The number of the last project seen.
    seen: AtomicU64,
    number: AtomicU64,
    held: Mutex<CurrentRevision>,
}

struct CurrentRevision {
    project: Arc<Project>,
    manifest: ProjectManifest,
    revision: Arc<Revision>,
}

impl<'a> RunRevisions<'a> {
    /// The run uses these texts until the source has a newer project than the last one seen.
    pub(super) fn new(session: &'a Session, texts: RunTexts<'a>, journal: &'a RunJournal, watch: &'a dyn RunListener) -> Self {
        let RunTexts { current: source, seen, number, manifest, project } = texts;
        let revision = Arc::new(Revision { number, manifest: manifest.blob().hash, plan: Arc::clone(&project.plan) });
        let held = Mutex::new(CurrentRevision { project, manifest, revision });
        Self { session, watch, journal, source, seen: seen.into(), number: number.into(), held }
    }

    /// The current project.
    pub(super) fn project(&self) -> Arc<Project> {
        Arc::clone(&self.held().project)
    }

    /// The current project, and the number of its revision.
    pub(super) fn in_use(&self) -> (Arc<Project>, u64) {
        let held = self.held();
        (Arc::clone(&held.project), held.revision.number)
    }

    /// Migrates to this project, graph included.
    pub(super) fn migrate(&self, project: Arc<Project>) -> Result<(), JournalError> {
        self.upgrade(&mut self.held(), project, ReloadCause::Migrate, false)
    }

    fn held(&self) -> MutexGuard<'_, CurrentRevision> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a project with the run and upgrades to it, unless it is in use already.
    fn upgrade(
        &self,
        held: &mut CurrentRevision,
        project: Arc<Project>,
        cause: ReloadCause,
        graph_kept: bool,
    ) -> Result<(), JournalError> {
        let (manifest, mut blobs) = project.manifest();
        let list = manifest.blob();
        if list.hash == held.revision.manifest {
            return Ok(());
        }
        let changed = held.manifest.changes(&manifest);
        let new: HashSet<Hash> = changed.iter().filter_map(|change| change.after).collect();
        blobs.retain(|blob| new.contains(&blob.hash));
        let number = held.revision.number + 1;
        let revision = Revision { number, manifest: list.hash, plan: Arc::clone(&project.plan) };
        blobs.extend(manifest.bundle_blob());
        blobs.push(list);
        let what = EventBody::Reload { revision: number, manifest: revision.manifest, cause, changed: changed.clone() };
        let event = Event { case: "".into(), path: "".into(), at: self.session.setup().clock.now(), what };
        self.journal.commit(Commit { blobs, ..Commit::of(vec![event.clone()]) })?;
        self.watch.event(&event);
        self.watch.reloaded(&AppliedReload { revision: number, cause, changed, graph_kept });
        *held = CurrentRevision { project, manifest, revision: Arc::new(revision) };
        self.number.store(number, Ordering::Release);
        Ok(())
    }
}

impl RevisionSource for RunRevisions<'_> {
    fn current(&self) -> Result<Arc<Revision>, JournalError> {
        let mut held = self.held();
        let (number, newer) = self.source.get();
        if self.seen.swap(number, Ordering::AcqRel) != number {
            let same = held.project.plan.same_graph(&newer.plan);
            match if same { Ok(newer) } else { with_graph_of(&held.project, &newer).map(Arc::new) } {
                Ok(project) => self.upgrade(&mut held, project, ReloadCause::Edit, !same)?,
                Err(problems) => self.watch.kept(&problems),
            }
        }
        Ok(Arc::clone(&held.revision))
    }

    fn is_current(&self, number: u64) -> bool {
        self.number.load(Ordering::Acquire) == number && self.seen.load(Ordering::Acquire) == self.source.number()
    }
}

/// Combines the graph of one project with the scripts, templates, data and vars of another.
fn with_graph_of(kept: &Project, newer: &Project) -> Result<Project, Diagnostics> {
    let mut sources = newer.sources.clone();
    sources.pipeline = kept.sources.pipeline.clone();
    sources.subpipelines.clone_from(&kept.sources.subpipelines);
    sources.missing = BTreeMap::new();
    let mut vars = newer.settings.vars.clone();
    vars.extend(newer.plan.vars.clone());
    vars.retain(|name, _| asterisk_project::is_policy(name) || kept.plan.var(name).is_some());
    Project::relink(sources, LinkSettings { vars, ..newer.settings.clone() }, Some(newer))
}
