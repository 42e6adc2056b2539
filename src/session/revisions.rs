//! The texts that a run goes by, one generation after the other: each is recorded with the run before any case takes it.

use super::{RunListener, Session, SessionError};
use crate::diag::Diagnostics;
use crate::model::Hash;
use crate::project::{CurrentProject, LinkSettings, Project, ProjectManifest};
use crate::store::{RunJournal, Store};
use crate::walk::{
    Commit, Event, EventBody, FIRST, Journal as _, JournalError, ReloadCause, Revision, RevisionSource, TextChange,
};
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// New texts that a run goes by.
#[derive(Clone, Debug)]
pub struct AppliedReload {
    /// Counts the texts of the run; those it began with are 1.
    pub generation: u64,
    /// Why.
    pub cause: ReloadCause,
    /// What is other than before.
    pub changed: Vec<TextChange>,
    /// Whether the graph of the pipeline changed too, which the run does not take: its cases keep theirs.
    pub graph_kept: bool,
}

/// The generations of one run.
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
    /// Of a run that goes by `project`, its generation of that number and list of texts, until `source` has another project
    /// than the one of the number `seen`.
    pub(super) fn new(
        session: &'a Session,
        (source, seen): (&'a CurrentProject, u64),
        (number, manifest, project): (u64, ProjectManifest, Arc<Project>),
        journal: &'a RunJournal,
        watch: &'a dyn RunListener,
    ) -> Self {
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

/// The lists of texts that a run went by, in order, each with the number of its generation.
pub(super) fn manifests(store: &Store, run: &str) -> Result<Vec<(u64, ProjectManifest)>, SessionError> {
    let mut found = vec![(FIRST, manifest_at(store, &store.run(run)?.manifest)?)];
    for (_, event) in store.run_events(run)? {
        if let EventBody::Reload { generation, manifest, .. } = event.what {
            found.push((generation, manifest_at(store, &manifest)?));
        }
    }
    Ok(found)
}

/// The list of texts at an address.
pub(super) fn manifest_at(store: &Store, hash: &Hash) -> Result<ProjectManifest, SessionError> {
    super::resume::parse(&super::resume::text(store, hash)?)
}
