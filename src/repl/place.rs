//! The position in a run, case and step; and the inputs tried out there.

use super::bind;
use super::scope::EvalScope;
use asterisk_base::model::Kind;
use asterisk_decisions::{CaseEvidence, CaseRoot, CaseVerdict, Decisions, JournalStep};
use asterisk_diag::{Diagnostic, Source, Span, did_you_mean};
use asterisk_pipeline::NodeIx;
use asterisk_project::{AnswererNames, LinkSettings, Project};
use asterisk_script::View;
use asterisk_script::probe::Probes;
use asterisk_session::{RouteState, Session, SessionError, case_named};
use asterisk_walk::{EventBody, RuleInputs, recorded_params, recorded_state};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The position of a session.
pub(super) struct ReplPosition {
    pub(super) session: Session,
    /// The pipeline in the current sources.
    pub(super) pipeline: Option<String>,
    /// The open case, if there is a run.
    pub(super) walked: Option<OpenedCase>,
    /// Overridden vars.
    pub(super) set: Map<String, Value>,
    /// The project of the current sources, if these are in use.
    pub(super) now: Option<Arc<Project>>,
    /// The overridden artifact.
    pub(super) artifact: Option<Value>,
    /// The overridden state.
    pub(super) state: Option<RouteState>,
    /// Without a run: the node.
    node: Option<String>,
    /// Bound names (`let x = ..`) and their values.
    pub(super) bound: BTreeMap<String, Value>,
    /// The result of the last expression.
    pub(super) last: Option<Value>,
}

/// A case of a run, and the current step.
pub(super) struct OpenedCase {
    pub(super) decisions: Decisions,
    pub(super) run: String,
    pub(super) case: String,
    pub(super) steps: Vec<JournalStep>,
    pub(super) at: usize,
}

impl ReplPosition {
    /// Opens a position without a run.
    pub(super) fn scratch(session: Session, pipeline: Option<String>) -> Result<Self, SessionError> {
        let now = Arc::new(session.whole_project(pipeline.as_deref(), AnswererNames::Others)?);
        let (set, artifact, state) = (Map::new(), None, None);
        let (walked, node, bound, last) = (None, None, BTreeMap::new(), None);
        Ok(Self { session, pipeline, walked, set, now: Some(now), artifact, state, node, bound, last })
    }

    /// Opens a position at the first step of a case of a run, by default the first case.
    pub(super) fn of_run(session: Session, run: &str, case: Option<&str>) -> Result<Self, SessionError> {
        let decisions = Decisions::open(&session)?;
        let run = decisions.record().run(run)?;
        let pipeline = Some(decisions.record().store().run(&run)?.pipeline);
        let walked = OpenedCase { decisions, run, case: String::new(), steps: Vec::new(), at: 0 };
        let (set, now, artifact, state) = (Map::new(), None, None, None);
        let (node, bound, last) = (None, BTreeMap::new(), None);
        let mut place = Self { session, pipeline, walked: Some(walked), set, now, artifact, state, node, bound, last };
        let names = place.cases()?;
        if let Some(case) = case.or(names.first().map(String::as_str)) {
            let ids: Vec<&str> = names.iter().map(String::as_str).collect();
            place.go_to_case(&case_named("the run", &ids, case)?)?;
        }
        Ok(place)
    }

    /// The ids of the cases, in order.
    pub(super) fn cases(&self) -> Result<Vec<String>, SessionError> {
        let Some(walked) = &self.walked else { return Ok(Vec::new()) };
        let names = walked.decisions.record().store().case_names(&walked.run)?;
        Ok(names.into_iter().map(|(case, _)| case).collect())
    }

    /// Goes to a case, at its first step.
    pub(super) fn go_to_case(&mut self, case: &str) -> Result<(), SessionError> {
        let walked = self.walked.as_mut().ok_or_else(no_run)?;
        walked.steps = walked.decisions.steps(&walked.run, case)?;
        case.clone_into(&mut walked.case);
        walked.at = 0;
        self.leave();
        Ok(())
    }

    /// Goes to a case by its typed id, or otherwise its number in the list of cases.
    pub(super) fn case(&mut self, text: &Source, case: &str, at: usize) -> Result<(), SessionError> {
        self.walked.as_ref().ok_or_else(no_run)?;
        let names = self.cases()?;
        let ids: Vec<&str> = names.iter().map(String::as_str).collect();
        match case_named("the run", &ids, case) {
            Ok(name) => self.go_to_case(&name),
            Err(SessionError::BadRequest(error)) => {
                Err(SessionError::BadRequest(Box::new(error.label(text, Span::new(at, at + case.len()), ""))))
            }
            Err(error) => Err(error),
        }
    }

    /// The evidence of the case, read again if the current sources are not those that were recorded.
    pub(super) fn evidence(&self) -> Result<CaseEvidence, SessionError> {
        let walked = self.walked.as_ref().ok_or_else(no_run)?;
        let here = self.now.is_some().then(|| self.here()).transpose()?;
        let other = here.as_ref().map(|here| (&here.project, &here.project.plan));
        walked.decisions.evidence(&walked.run, &walked.case, &walked.steps, other)
    }

    /// The verdict of the case, by the sources and current vars, and why it is not `why_not`.
    pub(super) fn verdict(&self, why_not: Option<&str>) -> Result<CaseVerdict, SessionError> {
        let walked = self.walked.as_ref().ok_or_else(no_run)?;
        let here = (self.now.is_some() || !self.set.is_empty()).then(|| self.here()).transpose()?;
        let other = here.as_ref().map(|here| {
            // A sub-pipeline uses the verdict of the pipeline around it.
            let plan = if here.plan.verdict.is_some() { &here.plan } else { &here.project.plan };
            (&here.project, plan)
        });
        walked.decisions.verdict(&walked.run, &walked.case, &walked.steps, other, why_not)
    }

    /// The root of the case, compared with that of another case.
    pub(super) fn root(&self, with: Option<&str>) -> Result<CaseRoot, SessionError> {
        let walked = self.walked.as_ref().ok_or_else(no_run)?;
        walked.decisions.root(&walked.run, &walked.case, &walked.steps, with)
    }

    /// Reads the steps of the case again, as another process may have added some.
    pub(super) fn refresh(&mut self) -> Result<(), SessionError> {
        if let Some(walked) = &mut self.walked {
            walked.steps = walked.decisions.steps(&walked.run, &walked.case)?;
        }
        Ok(())
    }

    /// Goes to a typed step: a number, an offset, or the name, code or path of a node.
    pub(super) fn go(&mut self, text: &Source, to: &str, at: usize) -> Result<(), SessionError> {
        if self.walked.is_none() {
            return self.go_to_node(text, to, at);
        }
        self.refresh()?;
        let found = self.find(text, to, at)?;
        if let Some(walked) = &mut self.walked {
            walked.at = found;
        }
        self.leave();
        Ok(())
    }

    /// Finds a step; returns its index.
    pub(super) fn find(&self, text: &Source, to: &str, at: usize) -> Result<usize, SessionError> {
        let walked = self.walked.as_ref().ok_or_else(no_run)?;
        let wrong = |message: String, help: String| {
            let diagnostic = Diagnostic::error("repl/step", message).label(text, Span::new(at, at + to.len()), "");
            SessionError::BadRequest(Box::new(diagnostic.help(help)))
        };
        let count = walked.steps.len();
        let by = |by: &str| by.parse::<usize>().ok();
        let number = match (to.strip_prefix('+'), to.strip_prefix('-')) {
            (Some(on), _) => by(on).map(|on| walked.at.checked_add(on)),
            (_, Some(back)) => by(back).map(|back| walked.at.checked_sub(back)),
            _ => by(to).map(|number| number.checked_sub(1)),
        };
        if let Some(number) = number {
            return number.filter(|number| *number < count).ok_or_else(|| match count {
                0 => wrong("no steps of the case are recorded yet".into(), ":follow waits for them".into()),
                1 => wrong("the case has one step".into(), ":cases lists the others".into()),
                _ => wrong(format!("the case has only {count} steps"), ":steps lists them".into()),
            });
        }
        let pipeline = self.here().ok().map(|here| Arc::clone(&here.plan.pipeline));
        let coded = |step: &JournalStep| {
            let node = pipeline.as_ref().and_then(|pipeline| Some(pipeline.at(pipeline.node(&step.node)?)));
            node.and_then(|node| node.code.as_ref()).is_some_and(|code| *code.value == *to)
        };
        // Search from here on, then from the beginning.
        let on = (1..=count).map(|by| (walked.at + by) % count);
        let is = |number: &usize| {
            let step = &walked.steps[*number];
            *step.node == *to || *step.path == *to || coded(step)
        };
        on.into_iter().find(is).ok_or_else(|| {
            let nodes: Vec<&str> = walked.steps.iter().map(|step| &*step.node).collect();
            let help = did_you_mean(to, nodes.iter().copied()).unwrap_or_else(|| ":steps lists the steps of the case".into());
            wrong(format!("the case never reached `{to}`"), help)
        })
    }

    fn go_to_node(&mut self, text: &Source, to: &str, at: usize) -> Result<(), SessionError> {
        let here = self.here()?;
        let pipeline = &here.plan.pipeline;
        let Some(asterisk_pipeline::EdgeTarget::Node(node)) = pipeline.resolve_target(to) else {
            let known = pipeline.nodes.iter().map(|node| node.name.as_str());
            let help = did_you_mean(to, known).unwrap_or_else(|| ":graph lists the nodes".into());
            let message = format!("the pipeline `{}` does not have a node `{to}`", *pipeline.name);
            let diagnostic = Diagnostic::error("repl/step", message).label(text, Span::new(at, at + to.len()), "");
            return Err(SessionError::BadRequest(Box::new(diagnostic.help(help))));
        };
        self.node = Some(pipeline.at(node).name.value.clone());
        Ok(())
    }

    /// Drops the overrides of the step being left.
    fn leave(&mut self) {
        self.artifact = None;
        self.state = None;
    }

    /// The current node without a run.
    pub(super) fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    /// The recorded step.
    pub(super) fn step(&self) -> Option<&JournalStep> {
        self.walked.as_ref().and_then(|walked| walked.steps.get(walked.at))
    }

    /// The scope at the current position.
    pub(super) fn here(&self) -> Result<EvalScope, SessionError> {
        match &self.walked {
            Some(walked) => self.at(walked, walked.at, true),
            None => self.in_scratch(),
        }
    }

    /// The scope at a step of the case.
    pub(super) fn here_at(&self, number: usize) -> Result<EvalScope, SessionError> {
        let walked = self.walked.as_ref().ok_or_else(no_run)?;
        self.at(walked, number, number == walked.at)
    }

    /// The decision at the current position and its inputs, linked with probes for explanation.
    pub(super) fn with_probes(&self, here: &EvalScope, node: NodeIx) -> Result<(Arc<Project>, RuleInputs), SessionError> {
        let project = match (&self.walked, &self.now, self.step()) {
            (Some(walked), None, Some(step)) => walked.decisions.project(&walked.run, step, Probes::All)?,
            _ => {
                let settings = LinkSettings { probes: Probes::All, ..here.project.settings.clone() };
                Arc::new(Project::link(here.project.sources.clone(), settings)?)
            }
        };
        let path = here.step.as_ref().map_or("", |step| &*step.path);
        let plan = project.plan_of(path, &here.plan.vars)?.unwrap_or_else(|| Arc::clone(&here.plan));
        Ok((project, RuleInputs { plan, node, artifact: here.artifact.clone(), state: here.state.clone() }))
    }

    fn at(&self, walked: &OpenedCase, number: usize, with_overrides: bool) -> Result<EvalScope, SessionError> {
        let Some(step) = walked.steps.get(number) else {
            return Err(SessionError::bad_request(
                "repl/step",
                "no steps of the case are recorded yet",
                Some(":follow waits for them".into()),
            ));
        };
        let recorded = walked.decisions.project(&walked.run, step, Probes::None)?;
        let project = self.now.clone().unwrap_or_else(|| Arc::clone(&recorded));
        let mut made = walked.decisions.decisions(&walked.run, vec![step.clone()])?;
        let made = made.pop();
        let own: Option<Map<String, Value>> = made.as_ref().map(|made| read(&made.vars)).transpose()?;
        let no_walk = || {
            let message = format!("the pipeline `{}` no longer has the walk `{}`", *project.plan.pipeline.name, step.path);
            SessionError::bad_request("repl/step", message, Some(":reload recorded uses the recorded sources".into()))
        };
        let plan = project.plan.of_path(&step.path).ok_or_else(no_walk)?;
        // Vars that the current texts no longer have cannot be set.
        let own = own.unwrap_or_default().into_iter().filter(|(name, _)| plan.pipeline.vars.contains_key(name));
        let mut vars: Map<String, Value> = match &self.now {
            // Changed defaults take effect; vars set for the run stay set.
            Some(_) => {
                let defaults = recorded.plan.of_path(&step.path).map(|plan| plan.pipeline.vars_json()).unwrap_or_default();
                own.filter(|(name, value)| defaults.get(name) != Some(value)).collect()
            }
            None => own.collect(),
        };
        vars.extend(self.set.clone());
        let plan = project.plan_of(&step.path, &vars)?.ok_or_else(no_walk)?;
        let Some(node) = plan.pipeline.node(&step.node) else {
            let message = format!("the pipeline `{}` no longer has the node `{}`", *plan.pipeline.name, step.node);
            return Err(SessionError::bad_request(
                "repl/step",
                message,
                Some(":reload recorded uses the recorded sources".into()),
            ));
        };
        let artifact = match (&self.artifact, &made) {
            (Some(artifact), _) if with_overrides => artifact.clone(),
            (_, Some(made)) => read(&made.artifact)?,
            (_, None) => Self::answer(walked, step)?,
        };
        let artifact = plan.artifact(node, &artifact);
        let state = match (&self.state, &made) {
            (Some(state), _) if with_overrides => state.clone().at(&plan, Some(node), &artifact, step.at).1,
            (_, Some(made)) => recorded_state(&read(&made.state)?),
            (_, None) => RouteState::default().at(&plan, Some(node), &artifact, step.at).1,
        };
        let with_overrides = with_overrides && (self.artifact.is_some() || self.state.is_some());
        let changed = with_overrides || self.now.is_some() || !self.set.is_empty();
        Ok(EvalScope { project, plan, node: Some(node), artifact, state, step: Some(step.clone()), changed, locals: Vec::new() })
    }

    /// The scope at the current position with the names an expression may use: bound names, the last result, and the step's
    /// parameters if it uses them.
    pub(super) fn here_for(&self, expression: &str) -> Result<EvalScope, SessionError> {
        let mut here = self.here()?;
        let view = |value: &Value, name: &str| View::of(value, &Kind::Any, name);
        here.locals = self.bound.iter().map(|(name, value)| (name.clone(), view(value, name))).collect();
        if !bind::results(expression).is_empty() {
            let Some(last) = &self.last else {
                return Err(SessionError::bad_request("repl/no-result", "no previous result", None));
            };
            here.locals.push((bind::LAST.to_owned(), view(last, "_")));
        }
        if bind::names(expression, bind::PARAMS) {
            here.locals.push((bind::PARAMS.to_owned(), self.params(&here)?));
        }
        Ok(here)
    }

    /// The parameters of the step's answerer and effect.
    fn params(&self, here: &EvalScope) -> Result<View, SessionError> {
        let (Some(walked), Some(step)) = (&self.walked, &here.step) else {
            let help = "`asterisk repl --run` opens the steps of a run; `asterisk doc params` documents the fields".to_owned();
            return Err(SessionError::bad_request("repl/no-params", "`params` needs a recorded step", Some(help)));
        };
        let Some(params) = walked.decisions.params(&walked.run, &step.case, &step.path)? else {
            let message = format!("the answer of `{}` was made without parameters", step.node);
            return Err(SessionError::bad_request("repl/no-params", message, Some(":steps lists the other steps".into())));
        };
        Ok(recorded_params(&params, &here.project.plan, &step.path))
    }

    /// The artifact of a step without a decision: the answer, if there was one.
    fn answer(walked: &OpenedCase, step: &JournalStep) -> Result<Value, SessionError> {
        let store = walked.decisions.record().store();
        let answered = store.events(&walked.run, &step.case)?.into_iter().rev().find_map(|(_, event)| match event.what {
            EventBody::NodeExit { artifact, .. } if event.path == step.path => Some(artifact.hash()),
            _ => None,
        });
        match answered.map(|hash| store.blob(&hash)).transpose()?.flatten() {
            Some(text) => read(&text),
            None => Ok(Value::Null),
        }
    }

    fn in_scratch(&self) -> Result<EvalScope, SessionError> {
        let project = match &self.now {
            Some(now) => Arc::clone(now),
            None => Arc::new(self.session.whole_project(self.pipeline.as_deref(), AnswererNames::Others)?),
        };
        let plan = project.plan_with(&self.set)?;
        let node = self.node.as_deref().and_then(|node| plan.pipeline.node(node));
        let kind = node.map_or(&Kind::Any, |node| &plan.node(node).kind);
        let artifact = View::of(self.artifact.as_ref().unwrap_or(&Value::Null), kind, "artifact");
        let state = self.state.clone().unwrap_or_default().at(&plan, node, &artifact, self.session.setup().clock.now()).1;
        Ok(EvalScope { project, plan, node, artifact, state, step: None, changed: true, locals: Vec::new() })
    }
}

/// The error of commands that need a run.
pub(super) fn no_run() -> SessionError {
    let help = "asterisk repl --run latest opens the latest run".to_owned();
    SessionError::bad_request("repl/no-run", "no run is open", Some(help))
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, SessionError> {
    let damaged = |error| asterisk_store::StoreError::Damaged(format!("recorded content is not valid JSON: {error}"));
    serde_json::from_str(text).map_err(|error| SessionError::Store(damaged(error)))
}
