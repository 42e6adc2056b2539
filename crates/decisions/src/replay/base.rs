//! The projects that runs are replayed with: the current texts, with the settings of each run.

use super::answer_inputs::AnswerInputs;
use asterisk_base::model::Hash;
use asterisk_project::{AnswererNames, LinkScope, Project};
use asterisk_script::probe::{Outline, Probes, Recorder, RecordingScope};
use asterisk_script::{RuleOutcome, View};
use asterisk_session::{Record, Session, SessionError};
use asterisk_walk::FALLBACK;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A linked project to replay with.
pub(super) struct ReplayProject {
    session: Session,
    pipeline: Option<String>,
    pub(super) project: Project,
    pub(super) same: AnswerInputs,
    /// The same with probes, linked when something is to be explained.
    watched: OnceLock<Option<Project>>,
}

/// The projects to replay with, each linked once.
pub(super) struct ReplayProjects<'a> {
    session: &'a Session,
    /// The requested pipeline, if any.
    pipeline: Option<&'a str>,
    known: Vec<(String, Arc<ReplayProject>)>,
    /// The original projects of runs, by the address of their manifests.
    then: HashMap<Hash, Arc<Project>>,
}

impl<'a> ReplayProjects<'a> {
    pub(super) fn new(session: &'a Session, pipeline: Option<&'a str>) -> Self {
        Self { session, pipeline, known: Vec::new(), then: HashMap::new() }
    }

    /// The project to replay a run with.
    pub(super) fn of(&mut self, run: &str) -> Result<Arc<ReplayProject>, SessionError> {
        let origin = self.session.origin(run)?;
        let pipeline = self.pipeline.map_or(origin.pipeline, str::to_owned);
        let setup = origin.session.setup();
        let key = format!("{:?}", (&setup.texts, &pipeline));
        if let Some((_, base)) = self.known.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(base));
        }
        let base = Arc::new(ReplayProject::link(origin.session, Some(pipeline))?);
        self.known.push((key, Arc::clone(&base)));
        Ok(base)
    }
}

impl ReplayProjects<'_> {
    /// The original project of a run. `None` if its texts were reloaded during the run, or do not link any more.
    pub(super) fn then(&mut self, record: &Record, run: &str) -> Result<Option<Arc<Project>>, SessionError> {
        let texts = record.texts(run)?;
        let [texts] = texts.as_slice() else { return Ok(None) };
        if let Some(known) = self.then.get(&texts.address) {
            return Ok(Some(Arc::clone(known)));
        }
        let linked = record.project(&texts.manifest, Probes::None).ok().map(Arc::new);
        self.then.extend(linked.clone().map(|project| (texts.address, project)));
        Ok(linked)
    }
}

impl ReplayProject {
    /// Links a pipeline with the settings of a session.
    pub(super) fn link(session: Session, pipeline: Option<String>) -> Result<Self, SessionError> {
        let project = session.project(pipeline.as_deref(), AnswererNames::Others)?;
        Ok(Self { same: AnswerInputs::of(&project), session, pipeline, project, watched: OnceLock::new() })
    }

    /// Why an edge of a node does not fire: the comparisons that failed. Empty if the node lacks this edge, the edge
    /// lacks a rule, or it fires.
    pub(super) fn misses(
        &self,
        (path, node): (&str, &str),
        edge: &str,
        (artifact, state): &(View, View),
        vars: Option<&View>,
    ) -> Option<String> {
        let watched = self
            .watched
            .get_or_init(|| self.session.project_with_probes(self.pipeline.as_deref(), LinkScope::Reached, Probes::All).ok())
            .as_ref()?;
        let plan = &watched.plan.of_path(path)?;
        let vars = vars.unwrap_or_else(|| plan.vars());
        let spec = plan.pipeline.at(plan.pipeline.node(node)?);
        let of_node =
            spec.edges.iter().chain(&plan.pipeline.guards).find(|ix| plan.edge_names[ix.0] == edge && edge != FALLBACK)?;
        let rule = plan.rule(*of_node)?;
        let mut recorder = Recorder::new(RecordingScope::Values);
        if matches!(recorder.watch(|| rule.function.decide(artifact, state, vars)).ok()?, RuleOutcome::Yes { .. }) {
            return None;
        }
        let outline = Outline::new(watched.library.probed());
        let misses = outline.misses(recorder.evaluations().first()?);
        let said: Vec<String> = misses.into_iter().map(|miss| miss.text).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}
