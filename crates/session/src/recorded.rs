//! The record of past runs: which there are, and the texts of each, linked again.

use super::run_settings::{RunSettings, manifests, settings_of, text};
use super::{Session, SessionError, case_named};
use asterisk_base::environment::Variables;
use asterisk_base::model::Hash;
use asterisk_files::OutDir;
use asterisk_project::{AnswererNames, LinkSettings, Project, ProjectManifest};
use asterisk_script::probe::Probes;
use asterisk_store::{Durability, Store, StoreError, StoreLocation};
use asterisk_walk::{EventLines, TextChange};
use serde_json::Value;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The record of past runs, for reading.
#[derive(Clone)]
pub struct Record {
    session: Session,
    store: Store,
}

/// A recorded revision of a run's texts.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedTexts {
    /// The revision; the run begins with 1.
    pub revision: u64,
    /// The address of the manifest.
    pub address: Hash,
    pub manifest: ProjectManifest,
}

impl Record {
    /// The id of the case of a run that a person means.
    pub fn case(&self, run: &str, wanted: &str) -> Result<String, SessionError> {
        let names = self.store.case_names(run)?;
        let ids: Vec<&str> = names.iter().map(|(id, _)| id.as_str()).collect();
        case_named(&format!("the run {run}"), &ids, wanted)
    }
}

impl Session {
    /// Opens the store for writing. A store that does not exist is not created.
    pub(super) fn store(&self, durability: Durability) -> Result<Store, SessionError> {
        if let Some(store) = self.no_store_yet() {
            return Err(StoreError::Missing(store.to_string()).into());
        }
        self.open_store(durability)
    }

    /// Opens the store for writing, or creates it.
    pub(super) fn open_store(&self, durability: Durability) -> Result<Store, SessionError> {
        if let Some(dir) = self.setup.store.path().and_then(Path::parent).filter(|dir| !dir.as_os_str().is_empty()) {
            // The store reports what prevents it.
            drop(OutDir::create_ignored(dir));
        }
        Ok(Store::open(&self.setup.store, durability)?.with_failpoint(self.setup.environment.variables()))
    }

    /// Whether a run was begun by `asterisk goal`.
    pub fn is_goal(&self, run: &str) -> Result<bool, SessionError> {
        let store = Store::read_only(&self.setup.store)?;
        Ok(settings_of(&store, &named(&store, run)?)?.goal)
    }

    /// The command that resumes a run: the one that began it.
    pub fn resumed_by(&self, run: &str) -> &'static str {
        // A run that cannot be read is reported by that command.
        if self.is_goal(run).unwrap_or_default() { "goal" } else { "run" }
    }

    /// Where the store will be, if there is none yet.
    pub fn no_store_yet(&self) -> Option<&StoreLocation> {
        let store = &self.setup.store;
        store.is_missing().then_some(store)
    }

    /// Opens the record of past runs. Fails without a store.
    pub fn record(&self) -> Result<Record, SessionError> {
        Ok(Record { session: self.clone(), store: Store::read_only(&self.setup.store)? })
    }
}

impl Record {
    /// The environment variables of the session.
    pub fn variables(&self) -> &Variables {
        self.session.setup.environment.variables()
    }

    /// The store of events and contents.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Resolves the names of runs (`latest` is the one that began last), or returns all runs if there are none, newest first.
    /// Fails for unknown runs.
    pub fn runs(&self, names: &[String]) -> Result<Vec<String>, SessionError> {
        if names.is_empty() {
            return Ok(self.store.runs()?.into_iter().map(|row| row.run).collect());
        }
        names.iter().map(|run| self.run(run)).collect()
    }

    /// Resolves the name of a run.
    pub fn run(&self, names: &str) -> Result<String, SessionError> {
        let run = named(&self.store, names)?;
        self.store.run(&run)?;
        Ok(run)
    }

    /// Passes the events of a run to `visit`, in order, as lines of its event log: of all cases or one, of all types or these.
    pub fn event_lines(
        &self,
        run: &str,
        case: Option<&str>,
        types: &[String],
        mut visit: impl FnMut(&Value),
    ) -> Result<(), SessionError> {
        let case = case.map(|case| self.case(run, case)).transpose()?;
        let mut lines = EventLines::new(run);
        self.store.each_event(run, |seq, event| {
            if case.as_deref().is_none_or(|case| *event.case == *case) {
                let line = lines.line(Some(seq), &event);
                if types.is_empty() || types.iter().any(|name| line["type"] == name.as_str()) {
                    visit(&line);
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// The revisions of a run's texts, in order.
    pub fn texts(&self, run: &str) -> Result<Vec<RecordedTexts>, SessionError> {
        let of =
            |(revision, manifest): (u64, ProjectManifest)| RecordedTexts { revision, address: manifest.blob().hash, manifest };
        Ok(manifests(&self.store, run)?.into_iter().map(of).collect())
    }

    /// Which of these texts of a run have changed since, where it read them from.
    pub fn changed_since(&self, run: &str, manifest: &ProjectManifest) -> Result<Vec<TextChange>, SessionError> {
        let (session, settings) = self.started(run)?;
        Ok(session.changed_since(&settings, manifest))
    }

    /// The file that a run read a script from, unless it is bundled or gone.
    pub fn script_file(&self, run: &str, name: &str) -> Result<Option<PathBuf>, SessionError> {
        let (session, _) = self.started(run)?;
        Ok(session.setup().texts.scripts.as_ref().map(|dir| dir.join(name)).filter(|file| file.is_file()))
    }

    /// The file that a run read its pipeline from, unless it is bundled or gone.
    pub fn pipeline_file(&self, run: &str, name: &str) -> Result<Option<PathBuf>, SessionError> {
        let (session, settings) = self.started(run)?;
        let names = settings.pipeline.map(PathBuf::from).filter(|file| file.is_file());
        Ok(names.or_else(|| session.setup().pipelines.as_ref().map(|dir| dir.join(name)).filter(|file| file.is_file())))
    }

    /// The settings of a run.
    pub fn settings(&self, run: &str) -> Result<RunSettings, SessionError> {
        settings_of(&self.store, run)
    }

    fn started(&self, run: &str) -> Result<(Session, RunSettings), SessionError> {
        let settings = self.settings(run)?;
        Ok((self.session.like(&settings), settings))
    }

    /// Links recorded texts. Answerers are not checked.
    pub fn project(&self, manifest: &ProjectManifest, probes: Probes) -> Result<Project, SessionError> {
        linked(&self.session, &self.store, manifest, AnswererNames::Others, probes)
    }
}

/// The name of the run that began last.
const LATEST: &str = "latest";

/// Resolves the name of a run.
pub(super) fn named(store: &Store, run: &str) -> Result<String, SessionError> {
    if run != LATEST {
        return Ok(run.to_owned());
    }
    match store.runs()?.into_iter().next() {
        Some(latest) => Ok(latest.run),
        None => {
            let help = Some("create one with: asterisk run".to_owned());
            Err(SessionError::bad_request("input/no-run", "the store has no runs yet", help))
        }
    }
}

/// Links recorded texts.
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
        // The agents of that time may not be configured any more.
        agents: None,
        servers: None,
        ..session.settings(answers)
    };
    Ok(Project::link(manifest.sources(|hash| text(store, hash))?, settings)?)
}
