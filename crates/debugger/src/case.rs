//! A case of a run, whose steps are evaluated again when they are first looked at.

use crate::fault::{DebugFault, fault};
use crate::text_book::{TextArea, TextBook, TextPlace};
use crate::unit::{self, RuleCall, RuleRole, UnitEnd, UnitKind, WalkUnit};
use asterisk_base::model::Kind;
use asterisk_decisions::{Decisions, JournalStep, StepEnd};
use asterisk_diag::{Source, Span};
use asterisk_pipeline::{EdgeTarget, NodeIx, Pipeline};
use asterisk_project::Project;
use asterisk_script::View;
use asterisk_script::probe::{EvaluationTrace, InspectedValue, ProbeNode, Probes, text_of_view};
use asterisk_session::{Session, SessionError};
use asterisk_walk::{ConsideredEdge, EdgeOutcome, EventBody, FALLBACK, Name, Plan, ReadEvidence, RuleInputs, recorded_params};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

/// The number of traced statements above which other steps than the current one are evaluated again when needed.
const MOST_STATEMENTS: usize = 4_000_000;

/// The most inputs that explain why an edge did not fire.
const MOST_READS: usize = 6;

/// A case.
pub(crate) struct DebuggedCase {
    decisions: Decisions,
    pub(crate) run: String,
    pub(crate) case: String,
    pub(crate) name: String,
    /// The project as it is now, if decisions are evaluated with its texts.
    current: Option<Arc<Project>>,
    pub(crate) steps: Vec<JournalStep>,
    /// The steps for which the verdict was made and the root was found.
    judged: [Option<Name>; 2],
    /// The steps with recorded parameters.
    given: BTreeSet<Name>,
    pub(crate) book: TextBook,
    walked: RefCell<BTreeMap<usize, Rc<WalkStep>>>,
}

/// A step, evaluated again.
pub(crate) struct WalkStep {
    pub(crate) project: Arc<Project>,
    pub(crate) plan: Arc<Plan>,
    /// What the rules of edges read.
    pub(crate) inputs: Vec<(&'static str, View)>,
    /// The edges, with their outcomes.
    pub(crate) considered: Vec<ConsideredEdge>,
    pub(crate) units: Vec<WalkUnit>,
    /// What was decided, where that is not what was recorded.
    pub(crate) differs: Option<String>,
    /// The recorded parameters.
    params: OnceCell<Option<View>>,
    /// The places of observed nodes, by table and number.
    places: RefCell<BTreeMap<(u32, u32), Option<TextPlace>>>,
}

impl DebuggedCase {
    /// Opens a case of a run, by default the first of the latest. `is_current` evaluates with the texts of the project.
    pub(crate) fn open(session: &Session, run: Option<&str>, case: Option<&str>, is_current: bool) -> Result<Self, DebugFault> {
        let decisions = Decisions::open(session)?;
        let run = decisions.record().run(run.unwrap_or("latest"))?;
        let store = decisions.record().store();
        let case = match case {
            Some(case) => find_case(&decisions, &run, case)?,
            None => {
                let first = store.case_names(&run).map_err(SessionError::from)?.into_iter().next();
                first.map(|(id, _)| id).ok_or_else(|| fault(format!("the run {run} has no case")))?
            }
        };
        let name = store.case(&run, &case).map_err(SessionError::from)?.name;
        let steps = decisions.steps(&run, &case)?;
        let (mut judged, mut given) = ([None, None], BTreeSet::new());
        for (_, event) in store.events(&run, &case).map_err(SessionError::from)? {
            match &event.what {
                EventBody::Verdict { .. } => judged[0] = Some(event.path),
                EventBody::Root { .. } => judged[1] = Some(event.path),
                EventBody::NodeExit { params: Some(_), .. } | EventBody::Requested { advisor: None, .. } => {
                    given.insert(event.path);
                }
                _ => {}
            }
        }
        let current = is_current.then(|| decisions.current_project(session, &run, Probes::Steps)).transpose()?;
        let (record, of_run, root) = (decisions.record().clone(), run.clone(), session.setup().root.clone());
        let find = move |area: TextArea, name: &str| {
            let found = match area {
                TextArea::Script => record.script_file(&of_run, name),
                TextArea::Data => record.script_file(&of_run, &format!("data/{name}")),
                TextArea::Pipeline => record.pipeline_file(&of_run, name),
            };
            let in_project = || Some(root.join(name)).filter(|file| area == TextArea::Pipeline && file.is_file());
            let file = found.ok().flatten().or_else(in_project)?;
            Some(root.join(file))
        };
        let book = TextBook::new(Box::new(find));
        let walked = RefCell::default();
        Ok(Self { decisions, run, case, name, current, steps, judged, given, book, walked })
    }

    /// Whether decisions are evaluated with the texts of the project as it is now.
    pub(crate) fn is_current(&self) -> bool {
        self.current.is_some()
    }

    /// The number of steps, the end of the case included.
    pub(crate) fn step_count(&self) -> usize {
        self.steps.len() + 1
    }

    /// A step, evaluated if it was not yet.
    pub(crate) fn step(&self, at: usize) -> Result<Rc<WalkStep>, DebugFault> {
        if let Some(known) = self.walked.borrow().get(&at) {
            return Ok(Rc::clone(known));
        }
        let step = Rc::new(self.evaluate(at)?);
        let mut walked = self.walked.borrow_mut();
        let traced = |step: &Rc<WalkStep>| step.units.iter().map(|unit| unit.trace.statements().len()).sum::<usize>();
        if walked.values().map(traced).sum::<usize>() > MOST_STATEMENTS {
            walked.clear();
        }
        walked.insert(at, Rc::clone(&step));
        Ok(step)
    }

    /// The recorded parameters of a step.
    pub(crate) fn params(&self, at: usize) -> Option<View> {
        let (step, walked) = (self.steps.get(at)?, self.step(at).ok()?);
        walked.params.get_or_init(|| self.read_params(step, &walked.project)).clone()
    }

    /// Whether a step has recorded parameters.
    pub(crate) fn has_params(&self, at: usize) -> bool {
        self.steps.get(at).is_some_and(|step| self.given.contains(&step.path))
    }

    fn read_params(&self, step: &JournalStep, project: &Project) -> Option<View> {
        if !self.given.contains(&step.path) {
            return None;
        }
        let params = self.decisions.params(&self.run, &self.case, &step.path).ok()??;
        Some(recorded_params(&params, &project.plan, &step.path))
    }

    fn project(&self, step: &JournalStep) -> Result<Arc<Project>, DebugFault> {
        match &self.current {
            Some(project) => Ok(Arc::clone(project)),
            None => Ok(self.decisions.project(&self.run, step, Probes::Steps)?),
        }
    }

    /// The project of the last step, for the places of breakpoints; of the first one, `at` 0.
    pub(crate) fn project_of(&self, at: usize) -> Result<Arc<Project>, DebugFault> {
        match self.steps.get(at).or(self.steps.last()) {
            Some(step) => self.project(step),
            None => self.current.clone().ok_or_else(|| fault(format!("the case `{}` has no steps yet", self.case))),
        }
    }

    fn evaluate(&self, at: usize) -> Result<WalkStep, DebugFault> {
        let Some(step) = self.steps.get(at) else { return self.end() };
        let project = self.project(step)?;
        let made = self.decisions.decisions(&self.run, vec![step.clone()])?.pop();
        let gone = || {
            let pipeline = &*project.plan.pipeline.name;
            fault(format!("the pipeline `{pipeline}` no longer has the node `{}` of step {}", step.node, step.path))
        };
        let inputs = match (&made, &self.current) {
            (None, _) => None,
            (Some(made), None) => Some(made.rule_inputs(&project)?),
            (Some(made), Some(_)) => Some(self.decisions.current_inputs(&self.run, made, &project)?.ok_or_else(gone)?),
        };
        let plan = match &inputs {
            Some(inputs) => Arc::clone(&inputs.plan),
            None => project.plan.of_path(&step.path).ok_or_else(gone)?,
        };
        let node = plan.pipeline.node(&step.node).ok_or_else(gone)?;
        let mut walked = WalkStep {
            project: Arc::clone(&project),
            plan: Arc::clone(&plan),
            inputs: Vec::new(),
            considered: Vec::new(),
            units: Vec::new(),
            differs: None,
            params: OnceCell::new(),
            places: RefCell::default(),
        };
        walked.inputs = match &inputs {
            Some(RuleInputs { artifact, state, .. }) => {
                vec![("artifact", artifact.clone()), ("state", state.clone()), ("vars", plan.vars().clone())]
            }
            None => vec![("vars", plan.vars().clone())],
        };
        walked.units.push(self.node_unit(&plan.pipeline, node));
        let judged = self.judged.each_ref().map(|path| path.as_ref() == Some(&step.path));
        if judged.contains(&true) {
            let evidence = self.evidence(step, &walked)?;
            let context = self.decisions.rule_context(&self.run, &self.case, &plan)?;
            if judged[0] {
                walked.units.extend(self.verdict_units(&walked, &evidence, &context));
            }
            if judged[1] {
                walked.units.extend(self.root_units(&project, &plan, &evidence, &context));
            }
        }
        walked.units.extend(self.answer_unit(step, &project, &plan, node, &walked.params));
        if let Some(inputs) = &inputs {
            self.edge_units(inputs, &mut walked);
            walked.differs = differs(step, &walked.considered);
        }
        Ok(walked)
    }

    /// The end of the case.
    fn end(&self) -> Result<WalkStep, DebugFault> {
        let last = self.steps.len().saturating_sub(1);
        let project = self.project_of(last)?;
        let plan = Arc::clone(&project.plan);
        let done = &plan.pipeline.done;
        let place = self.book.place(TextArea::Pipeline, &plan.pipeline.source, done.span);
        let mut unit = WalkUnit::plain(UnitKind::End, done.value.clone(), "", place);
        unit.end = match self.steps.last().map(|step| &step.end) {
            Some(StepEnd::Failed { kind, message }) => {
                UnitEnd { word: format!("failed ({kind})"), because: message.clone(), ..UnitEnd::default() }
            }
            Some(StepEnd::Open) | None => UnitEnd { word: "not over yet".into(), ..UnitEnd::default() },
            _ => UnitEnd { holds: true, word: "done".into(), ..UnitEnd::default() },
        };
        Ok(WalkStep {
            project,
            inputs: vec![("vars", plan.vars().clone())],
            plan,
            considered: Vec::new(),
            units: vec![unit],
            differs: None,
            params: OnceCell::new(),
            places: RefCell::default(),
        })
    }

    fn node_unit(&self, pipeline: &Pipeline, node: NodeIx) -> WalkUnit {
        let node = pipeline.at(node);
        let place = self.book.place(TextArea::Pipeline, &pipeline.source, node.name.span);
        let code = node.code.as_ref().map_or_else(String::new, |code| code.value.clone());
        WalkUnit::plain(UnitKind::Node, node.name.value.clone(), code, place)
    }

    fn answer_unit(
        &self,
        step: &JournalStep,
        project: &Project,
        plan: &Plan,
        node: NodeIx,
        params: &OnceCell<Option<View>>,
    ) -> Option<WalkUnit> {
        let function = plan.node(node).responder.clone().filter(|_| step.by.as_deref() == Some("script"))?;
        let given = params.get_or_init(|| self.read_params(step, project)).clone()?;
        let (id, alias) = (step.node.to_string(), function.key());
        let place = function.definition().and_then(|(source, span)| self.book.place(TextArea::Script, &source, span));
        let call = RuleCall { role: RuleRole::Responder, function, args: vec![given, plan.vars().clone()] };
        Some(WalkUnit::plain(UnitKind::Answer, id, alias, place).evaluated(call))
    }

    /// The evidence of the case at a step: as recorded, or as the current texts read it.
    fn evidence(&self, step: &JournalStep, walked: &WalkStep) -> Result<View, DebugFault> {
        let params = walked.params.get_or_init(|| self.read_params(step, &walked.project));
        let recorded = params.as_ref().and_then(|params| params.present("evidence")).filter(|_| self.current.is_none());
        if let Some(evidence) = recorded {
            return Ok(evidence.clone());
        }
        let case = self.decisions.record().store().case(&self.run, &self.case).map_err(SessionError::from)?;
        Ok(View::of(&ReadEvidence::read(&case, &walked.plan).document(), &Kind::Any, "params.evidence"))
    }

    /// The rules of the verdict, the signatures that matched, and the verdict.
    fn verdict_units(&self, walked: &WalkStep, evidence: &View, context: &View) -> Vec<WalkUnit> {
        let (project, plan) = (&walked.project, &walked.plan);
        let Some(verdict) = &plan.verdict else { return Vec::new() };
        let vars = verdict.vars.view().cloned().unwrap_or_else(View::null);
        let written = |pipeline: &&Arc<Pipeline>| pipeline.verdict.is_some();
        let pipeline = pipelines(&project.plan, plan).into_iter().find(|pipeline| written(pipeline)).cloned();
        let place = |span: Option<Span>| {
            let pipeline = pipeline.as_ref()?;
            self.book.place(TextArea::Pipeline, &pipeline.source, span?)
        };
        let mut units = Vec::new();
        for rule in &verdict.rules {
            let declared = pipeline.iter().filter_map(|pipeline| pipeline.verdict.as_ref());
            let span =
                declared.flat_map(|verdict| &verdict.rules).find(|known| *known.id.value == *rule.id).map(|known| known.span);
            let args = vec![evidence.clone(), context.clone(), vars.clone()];
            let call = RuleCall { role: RuleRole::Verdict, function: rule.function.clone(), args };
            units.push(WalkUnit::plain(UnitKind::VerdictRule, rule.id.as_str(), rule.name.as_str(), place(span)).evaluated(call));
        }
        for found in evidence.get("matches").as_ref().map_or(&[][..], View::items) {
            let text = |key: &str| found.get(key).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default();
            let place = self.place_named(project, &text("at"));
            let title = verdict.signatures.get(&text("id")).map_or_else(String::new, |known| known.title.to_string());
            let mut unit = WalkUnit::plain(UnitKind::Signature, text("id"), title, place);
            let fields = vec![("match".to_owned(), InspectedValue::of_view(found))];
            unit.end = UnitEnd { holds: true, word: "matches".into(), because: text("text"), fields, error: None };
            units.push(unit);
        }
        let recorded = walked.params.get().and_then(|params| params.as_ref()?.present("verdict").cloned());
        let said = recorded.filter(|_| self.current.is_none()).unwrap_or_else(|| verdict.judge(evidence, context).view());
        let span = pipeline.as_ref().and_then(|pipeline| pipeline.verdict.as_ref()).map(|verdict| verdict.span);
        let head = span.map(|span| Span::new(span.start, span.start));
        let mut unit = WalkUnit::plain(UnitKind::Verdict, "verdict", "", place(head));
        let probability = said.get("probability").and_then(|probability| probability.as_f64()).unwrap_or_default();
        let defect = said.get("defect").and_then(|defect| defect.as_str().map(str::to_owned)).unwrap_or_default();
        unit.end = UnitEnd {
            holds: said.get("decided").and_then(|decided| decided.as_bool()).unwrap_or_default(),
            word: defect,
            because: format!("probability {probability:.2}"),
            fields: vec![("verdict".to_owned(), InspectedValue::of_view(&said))],
            error: None,
        };
        units.push(unit);
        units
    }

    /// The rules of roots, up to the one that decides.
    fn root_units(&self, project: &Project, plan: &Plan, evidence: &View, context: &View) -> Vec<WalkUnit> {
        let Some(roots) = &plan.roots else { return Vec::new() };
        let vars = roots.vars.view().cloned().unwrap_or_else(View::null);
        let mut units = Vec::new();
        for rule in &roots.rules {
            let written = pipelines(&project.plan, plan).into_iter().find_map(|pipeline| {
                let known = pipeline.roots.iter().find(|known| *known.id.value == *rule.id)?;
                self.book.place(TextArea::Pipeline, &pipeline.source, known.span)
            });
            let place = written.or_else(|| self.place_named(project, &rule.at));
            let args = vec![evidence.clone(), context.clone(), vars.clone()];
            let call = RuleCall { role: RuleRole::Root, function: rule.function.clone(), args };
            let unit = WalkUnit::plain(UnitKind::RootRule, rule.id.as_str(), rule.name.as_str(), place).evaluated(call);
            let decides = unit.end.holds;
            units.push(unit);
            if decides {
                break;
            }
        }
        units
    }

    /// The edges that are considered, evaluated in one decision.
    fn edge_units(&self, inputs: &RuleInputs, walked: &mut WalkStep) {
        let RuleInputs { plan, artifact, state, .. } = inputs;
        let mut traced = BTreeMap::new();
        let decided = inputs.decide_with(&mut |edge, rule| {
            let (trace, outcome) = EvaluationTrace::watch(|| rule.function.decide(artifact, state, plan.vars()));
            traced.insert(edge, (trace, UnitEnd::of_edge(outcome.clone())));
            outcome
        });
        let (considered, chosen) = match decided {
            Ok(decision) => (decision.considered, decision.choice),
            Err((considered, _)) => (considered, None),
        };
        for entry in &considered {
            if entry.outcome == EdgeOutcome::NotReached {
                continue;
            }
            let found = plan.pipeline.edges.iter().position(|edge| *edge.id.value == *entry.edge).map(asterisk_pipeline::EdgeIx);
            let edge = found.map(|ix| plan.pipeline.edge_at(ix));
            let place = edge.and_then(|edge| self.book.place(TextArea::Pipeline, &plan.pipeline.source, edge.spans.whole));
            let place = place.or_else(|| walked.units.first().and_then(|unit| unit.place));
            let name = edge.map_or(String::new(), |edge| edge.name.clone());
            let mut unit = WalkUnit::plain(UnitKind::Edge, entry.edge.as_str(), name, place);
            let traced = found.and_then(|ix| Some((traced.remove(&ix)?, plan.rule(ix)?)));
            if let Some(((trace, end), rule)) = traced {
                let args = vec![artifact.clone(), state.clone(), plan.vars().clone()];
                let call = RuleCall { role: RuleRole::Edge, function: rule.function.clone(), args };
                unit = unit.traced(call, trace, end);
                if entry.outcome == EdgeOutcome::False {
                    unit.end.because = reads(inputs, &rule.reads);
                }
            }
            entry.outcome.word().clone_into(&mut unit.end.word);
            unit.end.holds = matches!(entry.outcome, EdgeOutcome::Fired | EdgeOutcome::Advisory);
            if let Some(because) = &entry.because {
                unit.end.because = because.to_string();
            }
            let taken = chosen.as_ref().filter(|choice| choice.name == entry.edge).map(|choice| choice.to);
            let to = taken.or_else(|| edge.and_then(|edge| edge.to));
            if entry.edge == FALLBACK || unit.end.holds {
                unit.end.fields.retain(|(name, _)| name != "to");
                unit.end.fields.extend(to.map(|to| ("to".to_owned(), unit::text(target(&plan.pipeline, to)))));
            }
            if plan.pipeline.at(inputs.node).confidence.is_some() {
                let confidence = state.get("confidence").and_then(|confidence| confidence.as_f64());
                unit.end.fields.extend(confidence.map(|confidence| ("confidence".to_owned(), unit::number(confidence))));
            }
            walked.units.push(unit);
        }
        walked.considered = considered;
    }

    /// The place that `FILE:LINE` names, in a pipeline or a data file of a project.
    fn place_named(&self, project: &Project, at: &str) -> Option<TextPlace> {
        let (name, line) = at.rsplit_once(':')?;
        let line: usize = line.parse().ok()?;
        let name = name.strip_suffix(" (bundled)").unwrap_or(name);
        let pipelines = std::iter::once(&project.sources.pipeline).chain(project.sources.subpipelines.values());
        let pipelines = pipelines.map(|source| (TextArea::Pipeline, source));
        let data = project.sources.data.iter().map(|source| (TextArea::Data, source));
        let is_named = |source: &Source| source.name() == name || name.strip_prefix("data/") == Some(source.name());
        let (area, source) = data.chain(pipelines).find(|(_, source)| is_named(source))?;
        let start = source.offset(line, 1);
        self.book.place(area, source, Span::new(start, source.offset(line, usize::MAX)))
    }
}

impl WalkStep {
    /// The observed node with this number, and the place of its expression; for a function, that of its name.
    pub(crate) fn place(&self, book: &TextBook, table: u32, node: u32) -> Option<TextPlace> {
        if let Some(known) = self.places.borrow().get(&(table, node)) {
            return *known;
        }
        let found = self.node(table, node, |unit, node| {
            let (source, span) = node.place(unit)?;
            let area = if unit.is_condition() { TextArea::Pipeline } else { TextArea::Script };
            book.place(area, &source, span)
        });
        self.places.borrow_mut().insert((table, node), found);
        found
    }

    /// The name of a function.
    pub(crate) fn function(&self, table: u32, node: u32) -> String {
        let name = self.node(table, node, |unit, node| {
            Some(match (node.is_closure(), unit.is_condition()) {
                (true, _) => "closure".to_owned(),
                (_, true) => "condition".to_owned(),
                _ => node.name()?.to_owned(),
            })
        });
        name.unwrap_or_default()
    }

    /// The reference of a function: `rules/rca.rhai#triage`.
    pub(crate) fn reference(&self, table: u32, node: u32) -> String {
        let name = self.node(table, node, |unit, node| Some(format!("{}#{}", unit.name(), node.name()?)));
        name.unwrap_or_default()
    }

    fn node<T>(&self, table: u32, node: u32, read: impl FnOnce(&asterisk_script::Unit, &ProbeNode) -> Option<T>) -> Option<T> {
        let (unit, table) = self.project.library.probed().find(|(_, known)| known.id() == table)?;
        read(unit, table.node(node)?)
    }
}

/// The pipelines of a plan and of the project around it, the innermost first.
fn pipelines<'p>(project: &'p Plan, plan: &'p Plan) -> Vec<&'p Arc<Pipeline>> {
    vec![&plan.pipeline, &project.pipeline]
}

/// The id of the case that is meant: by id, number, a part of its id, or its name.
fn find_case(decisions: &Decisions, run: &str, wanted: &str) -> Result<String, DebugFault> {
    match decisions.record().case(run, wanted) {
        Ok(case) => Ok(case),
        Err(error) => {
            let names = decisions.record().store().case_names(run).map_err(SessionError::from)?;
            for (id, _) in names {
                let name = decisions.record().store().case(run, &id).map_err(SessionError::from)?.name;
                if name == wanted {
                    return Ok(id);
                }
            }
            Err(error.into())
        }
    }
}

/// What an edge's rule read, as the reason that it did not fire.
fn reads(inputs: &RuleInputs, reads: &[Box<str>]) -> String {
    let mut said: Vec<String> = Vec::new();
    for (path, value) in reads.iter().filter_map(|read| inputs.input(read)) {
        let said_now = format!("{path} {}", text_of_view(&value));
        if !said.contains(&said_now) {
            said.push(said_now);
        }
    }
    let more = said.len().saturating_sub(MOST_READS);
    said.truncate(MOST_READS);
    if more > 0 {
        said.push(format!("and {more} more"));
    }
    said.join(", ")
}

/// What was decided, if it is not what was recorded.
fn differs(step: &JournalStep, considered: &[ConsideredEdge]) -> Option<String> {
    let fired = |entries: &[ConsideredEdge]| {
        let fired = entries.iter().filter(|entry| entry.outcome == EdgeOutcome::Fired).map(|entry| entry.edge.to_string());
        fired.collect::<Vec<_>>().join(", ")
    };
    let (now, before) = (fired(considered), fired(&step.considered));
    let none = |text: String| if text.is_empty() { "no edge".to_owned() } else { text };
    (now != before).then(|| format!("{} fires now; recorded: {}", none(now), none(before)))
}

fn target(pipeline: &Pipeline, to: EdgeTarget) -> &str {
    pipeline.target_name(to)
}
