//! A run as an OpenTelemetry trace: a span for the run, with a child for each case, which has a child for each step; steps of inner walks are
//! children of the enclosing step.
//!
//! A trace's id derives from the run's, so a resumed run continues the same trace. Times are those of the events.

mod deliver;
mod span;

use self::deliver::Delivery;
use self::span::{OpenSpan, id, run_id, trace_id};
use super::name_table::NameTable;
use super::observed::{MadeObserver, Observer};
use asterisk_base::clock::Timestamp;
use asterisk_base::environment::Variables;
use asterisk_base::model::Case;
use asterisk_session::StartedRun;
use asterisk_walk::{BRANCH, BranchKind, EdgeOutcome, Event, EventBody, Name, WalkStatus, place_of};
use opentelemetry::{SpanId, TraceId};
use std::collections::BTreeMap;
use std::io;

/// Sends a run's spans to a collector.
pub(super) struct Otlp {
    delivery: Delivery,
    names: NameTable,
    trace: TraceId,
    run: Option<OpenSpan>,
    cases: BTreeMap<Name, CaseSpan>,
}

/// The name of a step that only has branches.
const BRANCHES: &str = "branches";

/// A case in progress.
struct CaseSpan {
    span: OpenSpan,
    steps: BTreeMap<Name, StepSpan>,
}

/// A step in progress.
struct StepSpan {
    span: OpenSpan,
    /// When it was answered. Its decision still belongs to it.
    answered: Option<Timestamp>,
}

/// An observer that sends to the collector at this address, or at the one in the environment.
pub(super) fn sender(address: Option<&str>, variables: &Variables) -> MadeObserver {
    let delivery = Delivery::to(address, variables)?;
    let otlp = Otlp { delivery, names: NameTable::default(), trace: TraceId::INVALID, run: None, cases: BTreeMap::new() };
    Ok(Box::new(otlp))
}

impl Otlp {
    fn run_id(&self) -> SpanId {
        self.run.as_ref().map_or(SpanId::INVALID, |run| run.id)
    }

    /// The case of an event, opened on first use.
    fn case(&mut self, event: &Event) -> &mut CaseSpan {
        let (run, names) = (self.run_id(), &self.names);
        self.cases.entry(event.case.clone()).or_insert_with(|| {
            let case = event.case.as_str();
            let mut span = OpenSpan::new(id(run, &[case]), run, format!("case {case}"), event.at);
            span.set("asterisk.case", case.to_owned());
            if let Some(name) = names.case(case) {
                span.set("asterisk.case.name", name.to_owned());
            }
            CaseSpan { span, steps: BTreeMap::new() }
        })
    }

    /// The step of an event, with the enclosing steps. Those not open yet began in an earlier process.
    fn step(&mut self, event: &Event) -> Option<&mut StepSpan> {
        let run = self.run_id();
        let mut parent = self.case(event).span.id;
        // A step is a number, an inner walk a name: `3/court/1`.
        let around = event.path.match_indices('/').map(|(at, _)| at).step_by(2);
        for end in around.chain([event.path.len()]) {
            let (path, within) = event.path.split_at(end);
            let within = within.trim_start_matches('/').split('/').next().unwrap_or_default();
            let name = if within.starts_with(BRANCH) { BRANCHES.to_owned() } else { self.names.node(path, within) };
            let whole = self.cases.get_mut(&event.case)?;
            let step = whole.steps.entry(path.into()).or_insert_with(|| {
                let mut span = OpenSpan::new(id(run, &[&event.case, path]), parent, name, event.at);
                span.set("asterisk.case", event.case.to_string());
                span.set("asterisk.path", path.to_owned());
                StepSpan { span, answered: None }
            });
            parent = step.span.id;
        }
        self.cases.get_mut(&event.case)?.steps.get_mut(&event.path)
    }

    /// Ends the steps that the event shows to be over: answered ones next to it or within it.
    fn end_finished(&mut self, event: &Event) {
        let Some(whole) = self.cases.get_mut(&event.case) else { return };
        let place = place_of(&event.path);
        let over = |path: &Name, step: &StepSpan| {
            let beside = place_of(path) == place && *path != event.path;
            let within = path.strip_prefix(&*event.path).is_some_and(|rest| rest.starts_with('/'));
            step.answered.is_some() && (beside || within)
        };
        let over: Vec<Name> = whole.steps.iter().filter(|(path, step)| over(path, step)).map(|(path, _)| path.clone()).collect();
        for path in over {
            self.end_step(&event.case, &path, event.at);
        }
    }

    fn end_step(&mut self, case: &str, path: &str, now: Timestamp) {
        let Some(step) = self.cases.get_mut(case).and_then(|whole| whole.steps.remove(path)) else { return };
        self.delivery.take(step.span.end(self.trace, step.answered.unwrap_or(now)));
    }

    /// Handles an event within a step in progress.
    fn within(&mut self, event: &Event, now: Timestamp) {
        let names = std::mem::take(&mut self.names);
        let node = |name: &Name| names.node(&event.path, name);
        if let Some(step) = self.step(event) {
            let span = &mut step.span;
            match &event.what {
                EventBody::NodeEnter { node: name } => {
                    span.name = node(name);
                    span.began = event.at;
                    span.set("asterisk.node", name.to_string());
                }
                EventBody::Requested { node: name, .. } => span.name = node(name),
                EventBody::NodeExit { node: name, by, confidence, agent, .. } => {
                    span.name = node(name);
                    span.set("asterisk.node", name.to_string());
                    span.set("asterisk.by", by.to_string());
                    if let Some(confidence) = confidence {
                        span.set("asterisk.confidence", *confidence);
                    }
                    if let Some(agent) = agent {
                        span.set("asterisk.via", agent.via.to_string());
                        if let Some(tokens) = agent.tokens {
                            span.set("gen_ai.usage.input_tokens", number(tokens.prompt));
                            span.set("gen_ai.usage.output_tokens", number(tokens.answer));
                            span.set("asterisk.cost_usd", tokens.cost);
                        }
                    }
                    step.answered = Some(now);
                }
                EventBody::Transition { to, edge, because, counter, .. } => {
                    span.set("asterisk.edge", edge.to_string());
                    span.set("asterisk.to", to.to_string());
                    span.set("asterisk.because", because.to_string());
                    if let Some(counter) = counter {
                        span.set("asterisk.counter", counter.to_string());
                    }
                }
                EventBody::SubWalk { pipeline, .. } => span.set("asterisk.pipeline", pipeline.to_string()),
                EventBody::WalkerSwitch { to, .. } => span.set("asterisk.walker", to.to_string()),
                EventBody::Fork { branches, .. } => {
                    if span.name.is_empty() {
                        BRANCHES.clone_into(&mut span.name);
                    }
                    span.set("asterisk.branches", number(branches.len() as u64));
                }
                EventBody::WalkError { message, .. } => span.fail(message),
                _ => {}
            }
        }
        self.names = names;
    }

    /// Fails the span of a walk and the enclosing ones.
    fn fail(&mut self, event: &Event, message: &str) {
        let whole = self.case(event);
        whole.span.fail(message);
        let around = |path: &Name| event.path.strip_prefix(&**path).is_some_and(|rest| rest.starts_with('/'));
        for (_, step) in whole.steps.iter_mut().filter(|(path, _)| around(path)) {
            step.span.fail(message);
        }
    }

    fn over(&mut self, whole: CaseSpan, status: WalkStatus, now: Timestamp) {
        let CaseSpan { mut span, steps } = whole;
        for step in steps.into_values() {
            self.delivery.take(step.span.end(self.trace, step.answered.unwrap_or(now)));
        }
        let word = serde_json::to_value(status).unwrap_or_default();
        span.set("asterisk.status", word.as_str().unwrap_or_default().to_owned());
        self.delivery.take(span.end(self.trace, now));
    }

    /// Adds an event to the span that it belongs to.
    fn happened(&mut self, event: &Event) {
        let fields: Vec<(&'static str, String)> = match &event.what {
            EventBody::WalkerSwitch { from, to, because, .. } => {
                let from = from.as_deref().unwrap_or_default().to_owned();
                vec![("from", from), ("to", to.to_string()), ("because", because.to_string())]
            }
            EventBody::Masked { masks, answer, .. } => {
                vec![("masks", masks.join(" ")), ("changed", answer.is_some().to_string())]
            }
            EventBody::Verdict { defect, probability, .. } => {
                vec![("defect", defect.to_string()), ("probability", probability.to_string())]
            }
            EventBody::Root { rule, key, .. } => vec![("rule", rule.to_string()), ("key", key.to_string())],
            EventBody::Requested { id, via, .. } => vec![("request", id.to_string()), ("via", via.to_string())],
            EventBody::Rejected { id, via, errors } => {
                vec![("request", id.to_string()), ("via", via.to_string()), ("complaints", errors.join("; "))]
            }
            EventBody::Unanswered { id, via, message } => {
                vec![("request", id.to_string()), ("via", via.to_string()), ("message", message.clone())]
            }
            EventBody::Fork { branches, .. } => {
                vec![("nodes", branches.iter().map(|branch| branch.node.as_str()).collect::<Vec<_>>().join(" "))]
            }
            EventBody::Join { to } => vec![("to", to.as_deref().unwrap_or_default().to_owned())],
            EventBody::BranchError { branch, node, kind, message } => {
                let (branch, node) = (branch.to_string(), node.to_string());
                vec![("branch", branch), ("node", node), ("kind", kind.clone()), ("message", message.clone())]
            }
            EventBody::ThermalWarning { spent_ms, .. } => vec![("spent_ms", spent_ms.to_string())],
            EventBody::Shadow { edge, to, differs: true, .. } => {
                let text = |name: &Option<Name>| name.as_deref().unwrap_or_default().to_owned();
                vec![("edge", text(edge)), ("to", text(to))]
            }
            EventBody::WalkError { kind, message, .. } => vec![("kind", kind.clone()), ("message", message.clone())],
            EventBody::Reopened { by, .. } => vec![("by", by.to_string())],
            EventBody::Upgraded { revision, .. } => vec![("generation", revision.to_string())],
            EventBody::EdgeEvaluate { considered, .. } => {
                let worth = considered.iter().filter(|entry| matches!(entry.outcome, EdgeOutcome::Advisory | EdgeOutcome::Error));
                let edge = |entry: &asterisk_walk::ConsideredEdge| {
                    let why = entry.error.clone().or_else(|| entry.because.as_deref().map(str::to_owned));
                    let outcome = entry.outcome.word().into();
                    vec![("edge", entry.edge.to_string()), ("outcome", outcome), ("because", why.unwrap_or_default())]
                };
                let worded: Vec<_> = worth.map(edge).collect();
                for fields in worded {
                    self.note(event, "edge", fields);
                }
                return;
            }
            _ => return,
        };
        self.note(event, event.what.name(), fields);
    }

    fn note(&mut self, event: &Event, name: &'static str, fields: Vec<(&'static str, String)>) {
        let span = if event.path.is_empty() {
            &mut self.case(event).span
        } else {
            let Some(step) = self.step(event) else { return };
            &mut step.span
        };
        span.happened(name, event.at, fields);
    }

    /// An inner walk has ended: its status is the step's too.
    fn ended_within(&mut self, event: &Event) {
        let EventBody::Transition { from, to, edge, because, .. } = &event.what else { return };
        let around = place_of(&event.path).trim_end_matches('/').rsplit_once('/');
        let Some((around, name)) = around.filter(|_| self.names.is_done(&event.path, to)) else { return };
        if name.starts_with(BRANCH) {
            return;
        }
        let fields =
            vec![("node", from.to_string()), ("edge", self.names.edge(&event.path, edge)), ("because", because.to_string())];
        let Some(step) = self.cases.get_mut(&event.case).and_then(|whole| whole.steps.get_mut(around)) else { return };
        step.span.happened("sub_walk_end", event.at, fields);
    }
}

impl Observer for Otlp {
    fn began(&mut self, begun: &StartedRun<'_>, now: Timestamp) {
        self.names.began(begun);
        self.trace = trace_id(begun.run);
        let pipeline = begun.plan.pipeline.name.value.clone();
        let mut span = OpenSpan::new(run_id(begun.run, now), SpanId::INVALID, pipeline.clone(), now);
        span.set("asterisk.run", begun.run.to_owned());
        span.set("asterisk.pipeline", pipeline);
        span.set("asterisk.cases", number(begun.cases as u64));
        self.run = Some(span);
    }

    fn event(&mut self, event: &Event, now: Timestamp) {
        if event.case.is_empty() {
            let fields = match &event.what {
                EventBody::Barrier { wave, phase, .. } => vec![("wave", wave.to_string()), ("phase", phase.to_string())],
                EventBody::Reload { revision, .. } => vec![("generation", revision.to_string())],
                _ => return,
            };
            if let Some(run) = &mut self.run {
                run.happened(event.what.name(), event.at, fields);
            }
            return;
        }
        self.end_finished(event);
        // The end of a walk adds nothing, and its step may be over.
        if !event.path.is_empty() && !matches!(event.what, EventBody::WalkComplete { .. }) {
            self.within(event, now);
        }
        self.happened(event);
        match &event.what {
            EventBody::Transition { .. } => {
                self.ended_within(event);
                self.end_step(&event.case, &event.path, now);
            }
            EventBody::Fork { by: BranchKind::Edges, .. } | EventBody::Join { .. } | EventBody::WalkComplete { .. } => {
                self.end_step(&event.case, &event.path, now);
            }
            EventBody::WalkError { message, .. } => {
                self.fail(event, message);
                self.end_step(&event.case, &event.path, now);
            }
            _ => {}
        }
    }

    fn case_over(&mut self, case: &Case, status: WalkStatus, now: Timestamp) {
        if let Some(whole) = self.cases.remove(case.id.as_str()) {
            self.over(whole, status, now);
        }
    }

    fn end(&mut self, now: Timestamp) -> io::Result<()> {
        // The remaining steps are pending on an answer.
        for (_, whole) in std::mem::take(&mut self.cases) {
            self.over(whole, WalkStatus::Paused, now);
        }
        if let Some(run) = self.run.take() {
            self.delivery.take(run.end(self.trace, now));
        }
        self.delivery.end()
    }
}

fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
