//! Pending tasks: checking out the prompts of pending cases, submitting answers, and a person's review of a finished case.

use super::answer_file::{MEND, not_accepted};
use super::answers::{ReopenedCase, SubmittedWork};
use super::dispatch::DISPATCHES;
use super::pending_batch::{PendingBatch, PendingTask};
use super::projection::{StepFileNames, case_dir, place_dir};
use super::prompt::KeptTemplates;
use super::recorded::{linked, named};
use super::run_settings::text;
use super::{RunListener, RunResult, Session, SessionError, case_named};
use asterisk_adapters::agent::{self, SubmittedAnswer};
use asterisk_base::model::{Kind, Shape, shell};
use asterisk_diag::{Code, Diagnostic, Diagnostics, Source, Span, counted, did_you_mean};
use asterisk_files::OutDir;
use asterisk_pipeline::{Edge, EdgeOrigin, EdgeTarget};
use asterisk_project::AnswererNames;
use asterisk_script::probe::Probes;
use asterisk_store::{Durability, Store, StoreError};
use asterisk_walk::{
    Event, EventBody, OpenRequest, Plan, WalkState, WalkStatus, assemble, called, of_review, review_violation, schema_violation,
    untemplated, validate, validate_review,
};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Tasks checked out of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckedOutTasks {
    /// The run.
    pub run: String,
    pub prompts: Vec<PendingTask>,
    /// The batch they are written as, if any.
    pub batch: Option<PendingBatch>,
}

/// A submitted answer.
#[derive(Clone, Debug)]
pub struct Submission<'a> {
    /// The run; `latest` is the one that began last.
    pub run: &'a str,
    /// The case; without one, the only case that waits.
    pub case: Option<&'a str>,
    /// The answer: an artifact, or `{dispatch_id, data}`.
    pub answer: &'a Source,
    /// The request it answers, if given.
    pub request: Option<i64>,
    /// The kind of answerer: `human` or `agent`.
    pub by: &'static str,
}

/// A review of a case, given outside of its walk.
#[derive(Clone, Copy, Debug)]
pub struct ReviewRequest<'a> {
    /// The run; `latest` is the one that began last.
    pub run: &'a str,
    pub case: &'a str,
    pub verdict: &'a ReviewWord,
    /// The reason; of an overturn, the right cause.
    pub message: Option<&'a str>,
    /// The reviewer: [`HUMAN`] or `agent`.
    pub by: &'static str,
}

/// A reviewer's verdict on a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewWord {
    /// It is right.
    Approve,
    /// Investigate again, from that node on.
    Reassess(String),
    /// It is wrong; with the right defect code, if known.
    Overturn(Option<String>),
}

impl ReviewWord {
    /// Its word on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Reassess(_) => "reassess",
            Self::Overturn(_) => "overturn",
        }
    }
}

/// A case of a run, read for checkout or submission.
struct HeldCase {
    store: Store,
    run: String,
    plan: Arc<Plan>,
    state: WalkState,
    /// The id of the case.
    case: String,
}

impl Session {
    /// Checks out the prompts of pending cases (of one case if named), the first one only unless `all`. Each is written to a
    /// file, and all of them as a batch.
    pub fn check_out(&self, run: &str, case: Option<&str>, all: bool) -> Result<CheckedOutTasks, SessionError> {
        let store = self.handed_out()?;
        let run = named(&store, run)?;
        let manual = agent::manual_names(&self.setup.agents);
        let ids: Vec<String> = store.case_names(&run)?.into_iter().map(|(id, _)| id).collect();
        let case = case.map(|case| check_case(&run, &ids, case)).transpose()?;
        let case = case.as_deref();
        let dir = self.run_dir(&run)?;
        let kept = KeptTemplates::of(&store, &run)?;
        let plan = self.plan_of(&store, &run)?;
        let dispatches = self.dispatches(&run);
        let (mut tasks, mut phase) = (Vec::new(), None);
        for id in ids.iter().filter(|id| case.is_none_or(|case| *id == case)) {
            let events: Vec<Event> = store.events(&run, id)?.into_iter().map(|(_, event)| event).collect();
            let state = WalkState::fold(&events);
            let Some(open) = state.waits().filter(|open| manual.iter().any(|name| open.via == *name)) else { continue };
            let own = plan.of_path(&open.path);
            let node = own.as_ref().and_then(|own| Some(own.pipeline.phase_name(own.pipeline.node(&open.node)?).to_owned()));
            phase = phase.or(node);
            let mut task = write_task(&store, &kept, &plan, (&dir, id), &events, (&state, open))?;
            let failed = |source| SessionError::Write { path: dir.path().join(DISPATCHES).display().to_string(), source };
            task.request = dispatches.number(open.id).map_err(failed)?;
            tasks.push(task);
            if !all {
                break;
            }
        }
        if tasks.is_empty() {
            return Err(nothing_waits(&run, case));
        }
        let batch = if all { Some(self.lay_out_batch(&run, &phase.unwrap_or_default(), &tasks)?) } else { None };
        Ok(CheckedOutTasks { run, prompts: tasks, batch })
    }

    /// Submits an answer and resumes the run; returns the case with the result. A rejected answer changes nothing.
    pub fn submit(
        &self,
        brought: &Submission<'_>,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<(String, RunResult), SessionError> {
        let only = if brought.case.is_none() { Some(self.only_waiting(brought.run)?) } else { None };
        let held = self.read_case(brought.run, brought.case.or(only.as_deref()).unwrap_or_default())?;
        let case = held.case.as_str();
        let open = self.open(&held, case)?.clone();
        let mut artifact = read(brought.answer)?;
        let (wrapped, inner) = agent::unwrapped(artifact);
        artifact = inner;
        let dispatches = self.dispatches(&held.run);
        for id in [brought.request, wrapped].into_iter().flatten() {
            let number =
                dispatches.number(open.id).map_err(|source| SessionError::Write { path: DISPATCHES.to_owned(), source })?;
            // `run --format json` shows the id of the journal.
            if id != number && id != open.id {
                let message = format!("this answers the request {id}, and case `{case}` waits for the answer to {number}");
                let help = format!(
                    "get the prompt of `{}` with: asterisk cursor --case-id {} --suite-id {}",
                    open.node,
                    shell(case),
                    held.run
                );
                return Err(SessionError::bad_request("answer/stale", message, Some(help)));
            }
        }
        agent::set_author(&mut artifact, brought.by);
        accept(&held.plan, &open, &artifact, MEND)?;
        let given = submitted_answer(case, &open, artifact, brought.by);
        let run = held.run.clone();
        let result = self.go_on(&run, SubmittedWork { given: Some(given), reopened: None }, watch, stop)?;
        self.mark_answered(&run, open.id, &dispatches);
        Ok((held.case, result))
    }

    /// The case of a run that waits for an answer by hand, if it is the only one.
    fn only_waiting(&self, run: &str) -> Result<String, SessionError> {
        let store = self.handed_out()?;
        let run = named(&store, run)?;
        let manual = agent::manual_names(&self.setup.agents);
        let mut waiting = Vec::new();
        for (id, _) in store.case_names(&run)? {
            let events: Vec<Event> = store.events(&run, &id)?.into_iter().map(|(_, event)| event).collect();
            let waits = WalkState::fold(&events).waits().is_some_and(|open| manual.iter().any(|name| open.via == *name));
            waiting.extend(waits.then_some(id));
        }
        match waiting.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(nothing_waits(&run, None)),
            several => {
                let message = format!("{} of the run {run} wait for an answer", counted(several.len(), "case", "cases"));
                let help = format!("name the case that it answers with --case-id: one of {}", several.join(", "));
                Err(SessionError::bad_request("input/which-case", message, Some(help)))
            }
        }
    }

    /// The store of runs whose steps wait for answers.
    fn handed_out(&self) -> Result<Store, SessionError> {
        Store::read_only(&self.setup.store).map_err(|error| match error {
            StoreError::Missing(store) => {
                let message = format!("no step waits for an answer: there is no store at {store} yet");
                let help = "start a run whose steps are answered by hand: asterisk run --via manual".to_owned();
                SessionError::bad_request("store/missing", message, Some(help))
            }
            error => error.into(),
        })
    }

    /// Submits a review of a case: as its pending answer, or, for a case that is over, by reopening it at its review node.
    pub fn review(
        &self,
        request: ReviewRequest<'_>,
        watch: &dyn RunListener,
        stop: &AtomicBool,
    ) -> Result<RunResult, SessionError> {
        let ReviewRequest { run, case, verdict, .. } = request;
        let held = self.read_case(run, case)?;
        let case = held.case.as_str();
        let nodes = held.plan.pipeline.nodes.iter().filter(|node| takes(node.schema.as_deref(), verdict));
        let names: Vec<&str> = nodes.map(|node| node.name.as_str()).collect();
        let Some(node) = names.first().copied() else {
            let message =
                format!("no node of the pipeline `{}` accepts the decision `{}`", *held.plan.pipeline.name, verdict.word());
            let help =
                format!("a review is a node whose schema has `decision: {{ type: string, enum: [{}, ...] }}`", verdict.word());
            return Err(SessionError::bad_request("input/no-review", message, Some(help)));
        };
        let answered = |open: &OpenRequest| {
            let artifact = decision(&held.plan, &open.node, request)?;
            accept(&held.plan, open, &artifact, MEND_REVIEW)?;
            Ok::<_, SessionError>(artifact)
        };
        let over = matches!(held.state.status, WalkStatus::Done | WalkStatus::Error);
        if over {
            let open = OpenRequest { node: node.into(), path: "1".into(), ..no_request() };
            let given = SubmittedAnswer { request: None, ..submitted_answer(case, &open, answered(&open)?, request.by) };
            let reopened = ReopenedCase { case: case.to_owned(), node: node.to_owned(), by: request.by };
            return self.go_on(&held.run, SubmittedWork { given: Some(given), reopened: Some(reopened) }, watch, stop);
        }
        let open = self.open(&held, case)?.clone();
        if !names.contains(&open.node.as_str()) || open.path.contains('/') {
            let message = format!("case `{case}` is at `{}`, not at its review", open.node);
            let help = format!("answer that first: asterisk cursor --case-id {} --suite-id {}", shell(case), held.run);
            return Err(SessionError::bad_request("input/no-review", message, Some(help)));
        }
        let given = submitted_answer(case, &open, answered(&open)?, request.by);
        self.go_on(&held.run, SubmittedWork { given: Some(given), reopened: None }, watch, stop)
    }

    fn read_case(&self, run: &str, case: &str) -> Result<HeldCase, SessionError> {
        let store = self.store(Durability::Step)?;
        let run = named(&store, run)?;
        let ids: Vec<String> = store.case_names(&run)?.into_iter().map(|(id, _)| id).collect();
        let case = check_case(&run, &ids, case)?;
        let events: Vec<Event> = store.events(&run, &case)?.into_iter().map(|(_, event)| event).collect();
        let plan = self.plan_of(&store, &run)?;
        Ok(HeldCase { plan, state: WalkState::fold(&events), store, run, case })
    }

    /// The plan that a run uses.
    fn plan_of(&self, store: &Store, run: &str) -> Result<Arc<Plan>, SessionError> {
        let manifests = super::run_settings::manifests(store, run)?;
        let (_, manifest) = manifests.last().ok_or_else(|| asterisk_store::StoreError::UnknownRun(run.to_owned()))?;
        Ok(linked(self, store, manifest, AnswererNames::Others, Probes::None)?.plan)
    }

    /// The open request of a case.
    fn open<'h>(&self, held: &'h HeldCase, case: &str) -> Result<&'h OpenRequest, SessionError> {
        let manual = agent::manual_names(&self.setup.agents);
        let run = &held.run;
        if held.store.run(run)?.status == asterisk_store::RunStatus::Running {
            let help = format!("wait until it pauses or ends: asterisk status {run}");
            return Err(SessionError::Store(asterisk_store::StoreError::Busy(format!(
                "the run {run} is being executed; {help}"
            ))));
        }
        match held.state.waits() {
            Some(open) if manual.iter().any(|name| open.via == *name) => Ok(open),
            _ => {
                let how = match held.state.status {
                    WalkStatus::Done => "is over".to_owned(),
                    WalkStatus::Error => "has failed".to_owned(),
                    _ => {
                        format!("no longer waits for an answer; continue with: asterisk {} --resume {run}", self.resumed_by(run))
                    }
                };
                let help = format!("asterisk status {run} shows which cases wait, and for what");
                Err(SessionError::bad_request("input/not-waiting", format!("case `{case}` of the run {run} {how}"), Some(help)))
            }
        }
    }
}

/// The reviewer of `asterisk review`.
pub const HUMAN: &str = "human";

/// The hint for a review that is rejected.
const MEND_REVIEW: &str = "nothing was changed; fix this and submit the review again";

fn no_request() -> OpenRequest {
    OpenRequest {
        id: 0,
        node: "".into(),
        path: "".into(),
        advisor: None,
        via: agent::MANUAL.into(),
        prompt: asterisk_base::model::Hash::of(b""),
        at: asterisk_base::clock::Timestamp::default(),
        errors: Vec::new(),
    }
}

fn submitted_answer(case: &str, open: &OpenRequest, artifact: Value, by: &'static str) -> SubmittedAnswer {
    let (node, via) = (open.name(), open.via.clone());
    SubmittedAnswer { case: case.to_owned(), node, via, request: Some(open.id), artifact: Arc::new(artifact), by }
}

fn check_case(run: &str, ids: &[String], case: &str) -> Result<String, SessionError> {
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    case_named(&format!("the run {run}"), &ids, case)
}

/// Renders the prompt of a request from its record, and writes it.
fn write_task(
    store: &Store,
    kept: &KeptTemplates<'_>,
    plan: &Arc<Plan>,
    (dir, case): (&OutDir, &str),
    events: &[Event],
    (state, open): (&WalkState, &OpenRequest),
) -> Result<PendingTask, SessionError> {
    let asked = events.iter().rev().find_map(|event| match &event.what {
        EventBody::Requested { id, params, template, call, .. } if *id == open.id => Some((params, template, call)),
        _ => None,
    });
    let damaged = |what: &str| asterisk_store::StoreError::Damaged(format!("{what} of the request {} is missing", open.id));
    let (params, template, call) = asked.ok_or_else(|| damaged("the record"))?;
    let own = plan.of_path(&open.path).ok_or_else(|| damaged("the pipeline"))?;
    let node = own.pipeline.node(&open.node).ok_or_else(|| damaged("the node"))?;
    let spec = own.pipeline.at(node);
    let prompt = match (template, call) {
        (_, Some(call)) => {
            let call = serde_json::from_str(&text(store, &call.hash())?).map_err(|_| damaged("the call"))?;
            called(&own, node, &call)
        }
        (Some(hash), None) => kept.render(&*kept.latest_template(*hash)?, params)?,
        (None, None) => {
            let params = assemble(&text(store, &params.hash())?, &mut |hash| text(store, hash))?;
            if open.advisor.is_some() { of_review(&own, node, &params) } else { untemplated(&own, node, &params) }
        }
    };
    let below = place_dir(&case_dir(case), &open.path);
    let visit = state.ongoing().visits.get(&open.node).copied().unwrap_or(0);
    let laid = StepFileNames::of(spec, open.advisor.as_ref(), visit);
    let failed = |source| SessionError::Write { path: dir.path().join(&below).display().to_string(), source };
    let prompt_path = dir.write(&format!("{below}/{}", laid.prompt), &prompt).map_err(failed)?;
    Ok(PendingTask {
        case: case.to_owned(),
        node: open.name().to_string(),
        step: open.advisor.as_ref().map_or_else(|| spec.step_name(), |advisor| format!("{}/{advisor}", spec.step_name())),
        via: open.via.to_string(),
        request: open.id,
        artifact_path: prompt_path.with_file_name(laid.artifact),
        prompt_path,
        prompt,
        dir: below,
    })
}

fn nothing_waits(run: &str, case: Option<&str>) -> SessionError {
    let message = case.map_or_else(
        || format!("no case of the run {run} waits for an answer"),
        |case| format!("case `{case}` of the run {run} does not wait for an answer"),
    );
    let help =
        format!("asterisk status {run} shows its progress; to answer steps by hand, start with: asterisk run --via manual");
    SessionError::bad_request("input/not-waiting", message, Some(help))
}

/// Parses the JSON of an answer.
fn read(source: &Source) -> Result<Value, SessionError> {
    if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(source.text())
        && !agent::is_too_deep(&error)
    {
        let at = source.offset(error.line(), error.column()).min(source.text().len().saturating_sub(1));
        let diagnostic = Diagnostic::error("answer/json", format!("the answer is not valid JSON: {error}"))
            .label(source, Span::new(at, at + 1), "here")
            .help(MEND);
        return Err(SessionError::Texts(diagnostic.into()));
    }
    agent::parse(source.text()).map_err(|why| not_accepted(&why))
}

/// Validates an answer by the schema of its node.
fn accept(plan: &Arc<Plan>, open: &OpenRequest, artifact: &Value, mend: &str) -> Result<(), SessionError> {
    let Some(own) = plan.of_path(&open.path) else { return Ok(()) };
    let Some(node) = own.pipeline.node(&open.node) else { return Ok(()) };
    let errors = if open.advisor.is_some() { validate_review(artifact) } else { validate(&own, node, artifact) };
    if errors.is_empty() {
        return Ok(());
    }
    let mut diagnostic = match &open.advisor {
        Some(advisor) => review_violation(&own, node, (advisor, &open.via), &errors),
        None => schema_violation(&own, node, &open.via, &errors),
    };
    let help = diagnostic.help.take().unwrap_or_default();
    Err(SessionError::Texts(Diagnostics::from(diagnostic.help(format!("{help}\n{mend}")))))
}

/// Whether a schema allows that decision.
fn takes(schema: Option<&Shape>, verdict: &ReviewWord) -> bool {
    let field = schema.and_then(|schema| schema.field("decision"));
    field.is_some_and(|field| matches!(&field.kind, Kind::Text { one_of } if one_of.iter().any(|word| word == verdict.word())))
}

/// The artifact of a review.
fn decision(plan: &Plan, node: &str, request: ReviewRequest<'_>) -> Result<Value, SessionError> {
    let ReviewRequest { verdict, message, by, .. } = request;
    let schema = plan.pipeline.node(node).and_then(|node| plan.pipeline.at(node).schema.clone());
    let has = |name: &str| schema.as_ref().is_some_and(|schema| schema.field(name).is_some());
    let mut artifact = Map::new();
    artifact.insert("decision".into(), verdict.word().into());
    if has("by") {
        artifact.insert("by".into(), by.into());
    }
    match verdict {
        ReviewWord::Approve => {}
        ReviewWord::Reassess(to) => {
            artifact.insert("loop_target".into(), sent_back_to(plan, node, to)?.into());
        }
        ReviewWord::Overturn(defect) => {
            let mut right = Map::new();
            right.extend(defect.iter().map(|code| ("defect_type".to_owned(), json!(code))));
            right.extend(message.iter().map(|message| ("rca_message".to_owned(), json!(message))));
            if !right.is_empty() {
                artifact.insert("human_override".into(), Value::Object(right));
            }
        }
    }
    if let Some(message) = message.filter(|_| has("reasoning")) {
        artifact.insert("reasoning".into(), message.into());
    }
    Ok(Value::Object(artifact))
}

/// The name of the node that a review sends a case back to: a target of an edge that loops from the review's node.
fn sent_back_to<'p>(plan: &'p Plan, node: &str, to: &str) -> Result<&'p str, SessionError> {
    let pipeline = &plan.pipeline;
    let from = pipeline.node(node);
    let of_node = |edge: &&Edge| matches!(&edge.from, EdgeOrigin::Node(origin) if Some(*origin) == from);
    let choices = pipeline.edges.iter().filter(of_node).filter(|edge| edge.looped).flat_map(Edge::choices);
    let mut allowed: Vec<&str> = Vec::new();
    for choice in choices {
        if let EdgeTarget::Node(target) = choice
            && !allowed.contains(&plan.node(target).name.as_str())
        {
            allowed.push(plan.node(target).name.as_str());
        }
    }
    let known: Vec<&str> = pipeline.nodes.iter().map(|node| node.name.as_str()).collect();
    let may = format!("it can go back to: {}", allowed.join(", "));
    let Some(EdgeTarget::Node(target)) = pipeline.resolve_target(to) else {
        let message = format!("the pipeline `{}` does not have a node `{to}`", *pipeline.name);
        let hint = did_you_mean(to, known).map_or_else(|| may.clone(), |hint| format!("{hint}\n{may}"));
        return Err(SessionError::bad_request(Code::InputNoNode, message, Some(hint)));
    };
    let target = plan.node(target).name.as_str();
    if !allowed.contains(&target) {
        let message = format!("no edge leads from `{node}` back to `{target}`");
        return Err(SessionError::bad_request(Code::InputNoNode, message, Some(may)));
    }
    Ok(target)
}
