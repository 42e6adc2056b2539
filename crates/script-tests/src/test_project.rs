//! What tests run on: a library of all scripts and tests, and the projects of the pipelines that tests ask about.

use asterisk_diag::{Diagnostic, Diagnostics, Source, did_you_mean};
use asterisk_project::{LinkScope, Project, ProjectVars};
use asterisk_script::probe::{ProbeTable, Probes};
use asterisk_script::{Library, LibraryInputs, ScriptLimits, Unit, apart};
use asterisk_session::{Session, SessionError, Setup, TestFile, TestTexts, TextSettings};
use asterisk_walk::Plan;
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Texts that are linked once and asked by all tests.
pub(super) struct TestProject {
    pub(super) session: Session,
    pub(super) library: Library,
    /// Every text of the library.
    scripts: Vec<Source>,
    /// The texts these were before one of them was edited, and that one.
    edited: Option<(Arc<Self>, Source)>,
    limits: ScriptLimits,
    probes: Probes,
    /// The project of the default pipeline.
    default: Arc<Project>,
    /// Those of others, linked when a test first asks for them.
    others: Mutex<BTreeMap<String, Arc<Project>>>,
    /// The same with the bundled pipelines, and without the domain, the vars and the repositories of the project file: what bundled tests
    /// run on. `None` if that makes no difference.
    plain: Option<Arc<Self>>,
}

/// How much more time a test may take than a call of a run: what bounds it is the number of its operations, which is the
/// same on every machine.
const PATIENCE: u32 = 10;

/// How much of the stack a test may use, in bytes: it calls what calls scripts.
const STACK: usize = 4 << 20;

impl TestProject {
    /// Links the scripts with the tests.
    pub(super) fn link(session: &Session, texts: &TestTexts, probes: Probes) -> Result<Self, SessionError> {
        let time = session.setup().script_time.unwrap_or(Duration::from_secs(1)).saturating_mul(PATIENCE);
        let limits = ScriptLimits { time, stack: STACK, ..ScriptLimits::default() };
        let scripts = texts.scripts.iter().map(|(source, _)| source);
        let scripts: Vec<Source> =
            scripts.chain(texts.tests.iter().map(|test| &test.source)).chain(&texts.others).cloned().collect();
        let trusted = true;
        let inputs =
            LibraryInputs { scripts: scripts.clone(), limits: limits.clone(), probes, trusted, ..LibraryInputs::default() };
        let library = Library::link(inputs, None)?;
        let with = |session: &Session, plain: Option<Arc<Self>>| -> Result<Self, SessionError> {
            let (session, library, scripts) = (session.clone(), library.clone(), scripts.clone());
            let default = Arc::new(session.project_with_probes(None, LinkScope::Project, probes)?);
            let (limits, others) = (limits.clone(), Mutex::default());
            Ok(Self { session, library, scripts, edited: None, limits, probes, default, others, plain })
        };
        // Scripts of the project that need its own pipelines or data do not link without them.
        let plain = plain_setup(session).and_then(|setup| with(&Session::new(setup), None).ok());
        with(session, plain.map(Arc::new))
    }

    /// What the tests of a file run on.
    pub(super) fn of<'a>(self: &'a Arc<Self>, file: &TestFile) -> &'a Arc<Self> {
        self.plain.as_ref().filter(|_| file.source.is_bundled()).unwrap_or(self)
    }

    /// The same with another text for one of the scripts. Only that is compiled.
    pub(super) fn edit(self: &Arc<Self>, script: &Source) -> Result<Self, Diagnostics> {
        let scripts = script.instead_in(&self.scripts);
        let inputs = LibraryInputs {
            scripts: scripts.clone(),
            limits: self.limits.clone(),
            probes: self.probes,
            trusted: true,
            ..LibraryInputs::default()
        };
        Ok(Self {
            session: self.session.clone(),
            library: Library::link(inputs, Some(&self.library))?,
            scripts,
            edited: Some((self.clone(), script.clone())),
            limits: self.limits.clone(),
            probes: self.probes,
            default: Arc::new(self.default.edit(script)?),
            others: Mutex::default(),
            plain: self.plain.as_ref().map(|plain| plain.edit(script).map(Arc::new)).transpose()?,
        })
    }

    /// The project of a pipeline; if none is named, the first one that satisfies a condition, the default one before all
    /// others, or else the default one.
    pub(super) fn project(&self, pipeline: Option<&str>, uses: impl Fn(&Plan) -> bool) -> Result<Arc<Project>, Box<Diagnostic>> {
        if let Some((before, _)) = &self.edited {
            // An edit of a script does not change which pipeline uses what.
            let project = before.project(pipeline, uses)?;
            return self.named(&project.plan.pipeline.name);
        }
        if let Some(name) = pipeline {
            return self.named(name);
        }
        if uses(&self.default.plan) {
            return Ok(self.default.clone());
        }
        let listed = self.session.pipelines().map_err(|error| diagnostic(&error))?;
        for listed in listed {
            // One that does not link uses nothing.
            if let Ok(project) = self.named(&listed.stem)
                && uses(&project.plan)
            {
                return Ok(project);
            }
        }
        Ok(self.default.clone())
    }

    fn named(&self, name: &str) -> Result<Arc<Project>, Box<Diagnostic>> {
        if name == *self.default.plan.pipeline.name {
            return Ok(self.default.clone());
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(project) = others.get(name) {
            return Ok(project.clone());
        }
        let link = || match &self.edited {
            Some((before, script)) => {
                before.named(name)?.edit(script).map_err(SessionError::from).map_err(|error| diagnostic(&error))
            }
            None => {
                self.session.project_with_probes(Some(name), LinkScope::Project, self.probes).map_err(|error| diagnostic(&error))
            }
        };
        // Kept for all tests, so it does not count against the memory of the first test that uses it.
        let project = Arc::new(apart(link)?);
        others.insert(name.to_owned(), project.clone());
        Ok(project)
    }

    /// Visits every text that has probes, with the meaning of those.
    pub(super) fn with_probed<T>(&self, take: impl FnOnce(&[(&Unit, &ProbeTable)]) -> T) -> T {
        self.library.prepare();
        let grounds: Vec<&Self> = std::iter::once(self).chain(self.plain.as_deref()).collect();
        let projects: Vec<Arc<Project>> = grounds
            .into_iter()
            .flat_map(|ground| {
                let others = ground.others.lock().unwrap_or_else(PoisonError::into_inner);
                std::iter::once(&ground.default).chain(others.values()).cloned().collect::<Vec<_>>()
            })
            .collect();
        // Libraries share the scripts that are bundled.
        let mut seen: HashSet<*const ProbeTable> = HashSet::new();
        let probed = self.library.probed().chain(projects.iter().flat_map(|project| project.library.probed()));
        let texts: Vec<(&Unit, &ProbeTable)> = probed.filter(|(_, table)| seen.insert(std::ptr::from_ref(*table))).collect();
        take(&texts)
    }
}

/// The setup with the bundled pipelines, and without the settings of a project file that change what bundled rules decide; `None` if it
/// is that already.
fn plain_setup(session: &Session) -> Option<Setup> {
    let setup = session.setup();
    let bundled = session.pipelines().is_ok_and(|listed| listed.iter().all(|one| one.source.is_bundled()));
    let none = json!({ "repositories": [] });
    let is_plain = setup.texts.domain.is_none()
        && setup.project_vars.is_empty()
        && bundled
        && setup.workspace["repositories"].as_array().is_none_or(Vec::is_empty);
    let texts = TextSettings { domain: None, ..setup.texts.clone() };
    let plain = || Setup { texts, project_vars: ProjectVars::new(), workspace: none, pipelines: None, ..setup.clone() };
    (!is_plain).then(plain)
}

/// What an error of the session comes to in a test.
#[expect(clippy::unnecessary_box_returns, reason = "it goes into the error of a result")]
fn diagnostic(error: &SessionError) -> Box<Diagnostic> {
    match error {
        SessionError::Texts(found) => {
            let first = found.iter().next().cloned();
            Box::new(first.unwrap_or_else(|| Diagnostic::error("test/project", error.to_string())))
        }
        SessionError::BadRequest(diagnostic) => diagnostic.clone(),
        error => Box::new(Diagnostic::error("test/project", error.to_string())),
    }
}

/// Refuses keys that a map must not have.
pub(super) fn known_keys<'k>(
    what: &str,
    given: &serde_json::Value,
    known: impl IntoIterator<Item = &'k str> + Clone,
) -> Result<(), Box<Diagnostic>> {
    for key in given.as_object().into_iter().flat_map(serde_json::Map::keys) {
        if !known.clone().into_iter().any(|known| known == key) {
            let all: Vec<String> = known.clone().into_iter().map(|known| format!("`{known}`")).collect();
            let help = did_you_mean(key, known).unwrap_or_else(|| format!("there are {}", all.join(", ")));
            return Err(Box::new(Diagnostic::error("test/inputs", format!("{what} have no `{key}`")).help(help)));
        }
    }
    Ok(())
}
