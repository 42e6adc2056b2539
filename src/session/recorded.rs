//! The record of past runs: which there are, and the texts that each went by, linked again.

use super::run_args::{RecordedRunArgs, args_of, manifests, text};
use super::{Session, SessionError};
use crate::files::FileIdentity;
use crate::model::Hash;
use crate::project::{AnswererNames, LinkSettings, Project, ProjectManifest};
use crate::script::probe::Probes;
use crate::store::{Durability, Store, StoreError};
use crate::walk::TextChange;
use std::path::{Path, PathBuf};

/// The record of past runs, to be read.
#[derive(Clone)]
pub struct Record {
    session: Session,
    store: Store,
}

/// The texts that a run went by for a while.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTexts {
    /// Counts the texts of the run; those it began with are 1.
    pub generation: u64,
    /// The address of the list of them.
    pub address: Hash,
    /// The list.
    pub manifest: ProjectManifest,
}

impl Session {
    /// The store to be changed. One that is not there yet is not made: what is asked for would not be in it.
    pub(super) fn store(&self, durability: Durability) -> Result<Store, SessionError> {
        let path = &self.setup.store;
        if path.try_exists().is_ok_and(|there| !there) {
            return Err(StoreError::Missing(path.clone()).into());
        }
        Ok(Store::open(path, durability)?)
    }

    /// Where the store will be, if there is none yet.
    pub fn no_store_yet(&self) -> Option<&Path> {
        let path = self.setup.store.as_path();
        path.try_exists().is_ok_and(|there| !there).then_some(path)
    }

    /// What came of walking, unless the store is another one by now than the one that was written, or gone.
    pub(super) fn unless_lost<T, E: Into<SessionError>>(
        &self,
        opened: Option<FileIdentity>,
        walked: Result<T, E>,
    ) -> Result<T, SessionError> {
        let path = &self.setup.store;
        if opened.is_some() && FileIdentity::of(path) != opened {
            return Err(StoreError::Lost(path.clone()).into());
        }
        walked.map_err(Into::into)
    }

    /// The record of past runs. An error if there is no store.
    pub fn record(&self) -> Result<Record, SessionError> {
        Ok(Record { session: self.clone(), store: Store::read_only(&self.setup.store)? })
    }
}

impl Record {
    /// Where events and contents are read from.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The runs that these names stand for (`latest` is the one that began last), all of the store if there are none, newest
    /// first. An error if there is no such run.
    pub fn runs(&self, asked: &[String]) -> Result<Vec<String>, SessionError> {
        if asked.is_empty() {
            return Ok(self.store.runs()?.into_iter().map(|row| row.run).collect());
        }
        asked.iter().map(|run| self.run(run)).collect()
    }

    /// The run that a name stands for.
    pub fn run(&self, asked: &str) -> Result<String, SessionError> {
        let run = named(&self.store, asked)?;
        self.store.run(&run)?;
        Ok(run)
    }

    /// The texts that a run went by, in order.
    pub fn texts(&self, run: &str) -> Result<Vec<RecordedTexts>, SessionError> {
        let of = |(generation, manifest): (u64, ProjectManifest)| RecordedTexts {
            generation,
            address: manifest.blob().hash,
            manifest,
        };
        Ok(manifests(&self.store, run)?.into_iter().map(of).collect())
    }

    /// Which of the texts that a run went by are other by now, where it read them from.
    pub fn changed_since(&self, run: &str, manifest: &ProjectManifest) -> Result<Vec<TextChange>, SessionError> {
        let (session, args) = self.started(run)?;
        Ok(session.changed_since(&args, manifest))
    }

    /// The file that a run read a script from, if it is not a bundled one and still there.
    pub fn script_file(&self, run: &str, name: &str) -> Result<Option<PathBuf>, SessionError> {
        let (session, _) = self.started(run)?;
        Ok(session.setup().scripts.as_ref().map(|dir| dir.join(name)).filter(|file| file.is_file()))
    }

    /// The file that a run read its pipeline from, if it is not a bundled one and still there.
    pub fn pipeline_file(&self, run: &str, name: &str) -> Result<Option<PathBuf>, SessionError> {
        let (session, args) = self.started(run)?;
        let asked = args.asked.map(PathBuf::from).filter(|file| file.is_file());
        Ok(asked.or_else(|| session.setup().pipelines.as_ref().map(|dir| dir.join(name)).filter(|file| file.is_file())))
    }

    fn started(&self, run: &str) -> Result<(Session, RecordedRunArgs), SessionError> {
        let args = args_of(&self.store, run)?;
        Ok((self.session.like(&args), args))
    }

    /// The project of recorded texts. Nodes need nobody to answer them.
    pub fn project(&self, manifest: &ProjectManifest, probes: Probes) -> Result<Project, SessionError> {
        linked(&self.session, &self.store, manifest, AnswererNames::Others, probes)
    }
}

/// What stands for the run that began last.
const LATEST: &str = "latest";

/// The run that a name stands for.
pub(super) fn named(store: &Store, run: &str) -> Result<String, SessionError> {
    if run != LATEST {
        return Ok(run.to_owned());
    }
    match store.runs()?.into_iter().next() {
        Some(latest) => Ok(latest.run),
        None => {
            let help = Some("make one with: asterisk run".to_owned());
            Err(SessionError::asked("input/no-run", "the store has no runs yet", help))
        }
    }
}

/// The project of recorded texts.
pub(super) fn linked(
    session: &Session,
    store: &Store,
    manifest: &ProjectManifest,
    answers: AnswererNames,
    probes: Probes,
) -> Result<Project, SessionError> {
    let settings = LinkSettings {
        vars: manifest.vars.clone(),
        project_vars: std::collections::BTreeMap::new(),
        set_places: std::collections::BTreeMap::new(),
        workspace: manifest.workspace.clone(),
        domain: manifest.domain.clone(),
        probes,
        masks: manifest.masks.clone(),
        team: manifest.team.clone(),
        // Whoever answered then may be gone by now.
        agents: None,
        servers: None,
        ..session.settings(answers)
    };
    Ok(Project::link(manifest.sources(|hash| text(store, hash))?, settings)?)
}
