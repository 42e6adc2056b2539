//! The texts that a run goes by, one generation after the other: each is recorded with the run before any case takes it.

use super::Session;
use super::listener::{AppliedReload, RunListener};
use crate::diag::Diagnostics;
use crate::model::Hash;
use crate::project::{CurrentProject, LinkSettings, Project, ProjectManifest};
use crate::store::RunJournal;
use crate::walk::{Commit, Event, EventBody, Journal as _, JournalError, ReloadCause, Revision, RevisionSource};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The texts that a run goes by when it begins or goes on.
pub(super) struct RunTexts<'a> {
    /// Where newer projects come from.
    pub(super) current: &'a CurrentProject,
    /// The number of the one of them that was looked at last.
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
    /// Where newer projects come from.
    source: &'a CurrentProject,
    /// The number of the one of them that was looked at last.
    seen: AtomicU64,
    number: AtomicU64,
    held: Mutex<CurrentGeneration>,
}

struct CurrentGeneration {
    project: Arc<Project>,
    manifest: ProjectManifest,
    generation: Arc<Revision>,
}

impl<'a> RunRevisions<'a> {
    /// Of a run that goes by these texts until their source has another project than the one looked at last.
    pub(super) fn new(session: &'a Session, texts: RunTexts<'a>, journal: &'a RunJournal, watch: &'a dyn RunListener) -> Self {
        let RunTexts { current: source, seen, number, manifest, project } = texts;
        let generation = Arc::new(Revision { number, manifest: manifest.blob().hash, plan: Arc::clone(&project.plan) });
        let held = Mutex::new(CurrentGeneration { project, manifest, generation });
        Self { session, watch, journal, source, seen: seen.into(), number: number.into(), held }
    }

    /// The project in force.
    pub(super) fn project(&self) -> Arc<Project> {
        Arc::clone(&self.held().project)
    }

    /// Goes on by this project, graph and all.
    pub(super) fn migrate(&self, project: Arc<Project>) -> Result<(), JournalError> {
        self.adopt(&mut self.held(), project, ReloadCause::Migrate, false)
    }

    fn held(&self) -> MutexGuard<'_, CurrentGeneration> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a project with the run and goes by it, unless it is the one that is held already.
    fn adopt(
        &self,
        held: &mut CurrentGeneration,
        project: Arc<Project>,
        cause: ReloadCause,
        graph_kept: bool,
    ) -> Result<(), JournalError> {
        let (manifest, mut blobs) = project.manifest();
        let list = manifest.blob();
        if list.hash == held.generation.manifest {
            return Ok(());
        }
        let changed = held.manifest.changes(&manifest);
        let new: HashSet<Hash> = changed.iter().filter_map(|change| change.after).collect();
        blobs.retain(|blob| new.contains(&blob.hash));
        let number = held.generation.number + 1;
        let generation = Revision { number, manifest: list.hash, plan: Arc::clone(&project.plan) };
        blobs.push(list);
        let what = EventBody::Reload { generation: number, manifest: generation.manifest, cause, changed: changed.clone() };
        let event = Event { case: "".into(), path: "".into(), at: self.session.setup().clock.now(), what };
        self.journal.commit(Commit { blobs, ..Commit::of(vec![event.clone()]) })?;
        self.watch.event(&event);
        self.watch.reloaded(&AppliedReload { generation: number, cause, changed, graph_kept });
        *held = CurrentGeneration { project, manifest, generation: Arc::new(generation) };
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
                Ok(project) => self.adopt(&mut held, project, ReloadCause::Edit, !same)?,
                Err(problems) => self.watch.kept(&problems),
            }
        }
        Ok(Arc::clone(&held.generation))
    }

    fn in_force(&self, number: u64) -> bool {
        self.number.load(Ordering::Acquire) == number && self.seen.load(Ordering::Acquire) == self.source.number()
    }
}

/// The graph of one project with the scripts, templates, data and vars of another.
fn with_graph_of(kept: &Project, newer: &Project) -> Result<Project, Diagnostics> {
    let mut sources = newer.sources.clone();
    sources.pipeline = kept.sources.pipeline.clone();
    sources.parts.clone_from(&kept.sources.parts);
    sources.missing = BTreeMap::new();
    let mut vars = newer.settings.vars.clone();
    vars.extend(newer.plan.vars.clone());
    vars.retain(|name, _| kept.plan.var(name).is_some());
    Project::relink(sources, LinkSettings { vars, ..newer.settings.clone() }, Some(newer))
}
