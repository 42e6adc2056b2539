//! The step function: everything that happens at a node, in a fixed order, ending in one commit.

use super::answer::{AfterRefusal, NodeAnswer};
use super::branch::BranchKind;
use super::content::Content;
use super::decision_step::DecisionStep;
use super::error::{Failure, FailureKind};
use super::event::{Event, EventBody};
use super::masks::Masks;
use super::name::Name;
use super::open_request::OpenRequest;
use super::params::{CaseParams, Params, VerdictQueries};
use super::plan::Plan;
use super::policy_params::rendered;
use super::policy_step::{AttemptFailure, CACHE, PolicyAttempts, ReviewedAnswer, millis};
use super::queries::{CODE, PEERS, Query, QuerySubject, SubjectEvidence};
use super::request::{AnswerTimeout, Request};
use super::request_log::{RequestLog, StepRemainder};
use super::scripted::SCRIPT;
use super::shadow;
use super::state::WalkState;
use super::step_context::{StepContext, StepMoment};
use super::step_log::{StepLog, StepStamp};
use super::team_plan::TeamMember;
use super::walker::Walker;
use asterisk_base::clock::{Timestamp, chance, derived_id};
use asterisk_base::model::{self, Case, Effect, Handle};
use asterisk_diag::{Diagnostic, did_you_mean};
use asterisk_pipeline::NodeIx;
use asterisk_script::probe::frame;
use asterisk_script::{ScriptFunction, View};
use serde_json::Value;
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tracing::debug_span;

/// The result of a step, successful or not.
#[derive(Default)]
pub(super) struct StepResult {
    pub(super) events: Vec<Event>,
    /// The effects of its effect script.
    pub(super) effects: Vec<Effect<i64>>,
    /// Why the walk cannot continue.
    pub(super) failure: Option<Failure>,
    /// What was recorded while it was in progress.
    pub(super) left: StepRemainder,
}

/// A step in progress.
pub(super) struct Stepper<'a> {
    pub(super) walker: Walker<'a>,
    pub(super) case: &'a Case,
    pub(super) case_name: &'a Name,
    /// Converted when the first node of the case reads its parameters.
    pub(super) case_params: &'a OnceLock<CaseParams>,
    pub(super) state: &'a WalkState,
    pub(super) node: NodeIx,
}

impl<'a> Stepper<'a> {
    /// Takes the step: walker, queries, masks, prompt, cache, answer, schema, masks, gate, effects, decision.
    pub(super) fn take(&self) -> StepResult {
        self.attempt(|_, _| Ok(StepStart::Answer))
    }

    /// Takes the step; `first` decides, once the walker is chosen, how it comes by its artifact.
    pub(super) fn attempt(&self, first: impl FnOnce(&mut StepLog, &StepContext<'_>) -> Result<StepStart, Failure>) -> StepResult {
        let now = self.walker.clock.now();
        // A step with open requests continues with its original time.
        let stamp = self.stamp(self.state.begun().unwrap_or(now));
        let mut log = StepLog::new(stamp.clone());
        let requests = self.requests(&stamp, &self.state.open_requests);
        let step = self.enter(&mut log, &stamp);
        let taken = self.end(log, |log, effects| {
            let step = step?;
            let walked = match first(log, &step)? {
                StepStart::Answer => None,
                StepStart::Known(reply) => Some(reply),
                StepStart::Merged => return Ok(()),
            };
            self.stages(log, &step, StepAnswering { requests: &requests, now, walked }, effects)
        });
        let left = requests.left();
        if left.waits { StepResult { left, ..StepResult::default() } } else { StepResult { left, ..taken } }
    }

    /// Begins a step that walks a sub-pipeline.
    pub(super) fn descend(&self, subpipeline: &Plan) -> StepResult {
        let stamp = self.stamp(self.walker.clock.now());
        let mut log = StepLog::new(stamp.clone());
        let entered = self.enter(&mut log, &stamp).map(|_| ());
        self.end(log, |log, _| {
            entered?;
            log.push(EventBody::SubWalk { node: self.name().clone(), pipeline: subpipeline.pipeline.name.as_str().into() });
            Ok(())
        })
    }

    /// Chooses the walker and enters the node.
    fn enter<'s>(&'s self, log: &mut StepLog, stamp: &'s StepStamp) -> Result<StepContext<'s>, Failure> {
        let chosen = self.choose(stamp);
        let entered = EventBody::NodeEnter { node: self.name().clone() };
        match chosen {
            Ok((member, switch)) => {
                let handed_over = matches!(switch, Some(EventBody::WalkerSwitch { from: Some(_), .. }));
                switch.into_iter().chain([entered]).for_each(|what| log.push(what));
                let step = self.context(stamp, member);
                Ok(StepContext { handoffs: step.handoffs + i64::from(handed_over), ..step })
            }
            Err(failure) => {
                log.push(entered);
                Err(failure)
            }
        }
    }

    fn choose(&self, stamp: &StepStamp) -> Result<(&'a TeamMember, Option<EventBody>), Failure> {
        let Walker { plan, inherited, .. } = self.walker;
        let Some(team) = &plan.team else { return Ok((plan.member(None, inherited), None)) };
        if self.state.is_by(BranchKind::Items) {
            // All items of a `foreach` node have the same walker.
            return Ok((plan.member(self.state.walker.as_deref(), inherited), None));
        }
        let needs = self.needs(&team.needs)?;
        team.choose(plan, self.node, self.state, self.moment(stamp), &needs)
    }

    fn moment(&self, stamp: &StepStamp) -> StepMoment {
        StepMoment { now: stamp.at, chance: chance(self.walker.seed, &self.case.id, &stamp.path) }
    }

    /// The context of a step whose walker is that of the step before.
    fn context<'s>(&'s self, stamp: &'s StepStamp, member: &'s TeamMember) -> StepContext<'s> {
        StepContext {
            plan: self.walker.plan,
            node: self.node,
            walk: self.state,
            path: &stamp.path,
            moment: self.moment(stamp),
            member,
            handoffs: self.state.handoffs,
        }
    }

    fn requests(&self, stamp: &StepStamp, open: &[OpenRequest]) -> RequestLog<'a> {
        RequestLog::new(self.walker.journal, self.walker.watch, stamp.clone(), open)
    }

    /// Finishes a step whose sub-pipeline is over.
    pub(super) fn finish(&self, subpipeline: &Plan, inner: &WalkState) -> StepResult {
        self.close(|| inner.result(subpipeline))
    }

    /// Finishes the step with a computed artifact, without a request.
    pub(super) fn close(&self, artifact: impl FnOnce() -> Result<Value, Failure>) -> StepResult {
        let stamp = self.stamp(self.walker.clock.now());
        let Walker { plan, inherited, .. } = self.walker;
        let step = self.context(&stamp, plan.member(self.state.walker.as_deref(), inherited));
        let requests = self.requests(&stamp, &[]);
        self.end(StepLog::new(stamp.clone()), |log, effects| {
            let walked = Some(NodeAnswer::walked(artifact()?));
            self.stages(log, &step, StepAnswering { requests: &requests, now: stamp.at, walked }, effects)
        })
    }

    pub(super) fn name(&self) -> &'a Name {
        &self.walker.plan.node(self.node).name
    }

    /// The data that all events of the step share.
    pub(super) fn stamp(&self, at: Timestamp) -> StepStamp {
        StepStamp { case: self.case_name.clone(), path: self.state.next_path(), at }
    }

    pub(super) fn end(
        &self,
        mut log: StepLog,
        stages: impl FnOnce(&mut StepLog, &mut Vec<Effect<i64>>) -> Result<(), Failure>,
    ) -> StepResult {
        let name = self.name();
        let mut effects = Vec::new();
        let failure = stages(&mut log, &mut effects).err();
        if let Some(failure) = &failure {
            effects.clear();
            log.push(EventBody::WalkError {
                node: name.clone(),
                kind: failure.kind.word().into(),
                message: failure.diagnostic.message.clone(),
            });
        }
        StepResult { events: log.events, effects, failure, left: StepRemainder::default() }
    }

    /// The stages between entering the node and the commit. With a policy, an answer that does not pass is followed by another
    /// attempt, from the parameters on.
    fn stages(
        &self,
        log: &mut StepLog,
        step: &StepContext<'_>,
        mut answering: StepAnswering<'_>,
        writes: &mut Vec<Effect<i64>>,
    ) -> Result<(), Failure> {
        let node = self.walker.plan.node(self.node);
        let Some(policy) = node.policy.as_deref().filter(|_| answering.walked.is_none()) else {
            return self.once(log, step, &mut answering, writes, None).map_err(|failed| failed.failure);
        };
        let mut attempts = PolicyAttempts { policy, node, attempt: 0, pending: Vec::new(), advisor_ms: 0 };
        let mut again: Option<WalkState> = None;
        loop {
            let step = StepContext { walk: again.as_ref().unwrap_or(self.state), ..*step };
            attempts.begin(step.walk.attempts.len(), step.walk.answered.is_some());
            let Err(failed) = self.once(log, &step, &mut answering, writes, Some(&mut attempts)) else { return Ok(()) };
            if answering.requests.waits() {
                return Err(failed.failure);
            }
            let tried = step.walk.attempts.len() + 1;
            if !failed.reason.is_some_and(|reason| policy.repeats(reason, tried)) {
                let error = attempts.error(&failed);
                attempts.pending.push(error);
                attempts.pending.drain(..).for_each(|what| log.push(what));
                return Err(failed.failure);
            }
            let mut next = step.walk.clone();
            let retry = attempts.retry(&failed);
            next.apply(&log.stamp.event(retry.clone()));
            attempts.pending.push(retry);
            // What was tried is recorded at once: it is not tried again after a resume.
            answering.requests.record_all(std::mem::take(&mut attempts.pending)).map_err(|refusal| {
                answering.requests.wait();
                Failure::answer(refusal.diagnostic)
            })?;
            if let Some(agent) = &failed.agent {
                self.walker.answer.recorded(self.case_name, agent);
            }
            again = Some(next);
            let wait = policy.backoff_ms.saturating_mul(1 << (tried - 1).min(10));
            if wait > 0 {
                self.walker.clock.sleep(Duration::from_millis(wait));
            }
            if self.walker.stop.load(Ordering::Relaxed) {
                answering.requests.wait();
                return Err(failed.failure);
            }
            answering.now = self.walker.clock.now();
        }
    }

    /// One attempt: parameters, answer, masks, gate; if it passes, effects and decision.
    fn once(
        &self,
        log: &mut StepLog,
        step: &StepContext<'_>,
        answering: &mut StepAnswering<'_>,
        writes: &mut Vec<Effect<i64>>,
        policy: Option<&mut PolicyAttempts<'_>>,
    ) -> Result<(), Box<AttemptFailure>> {
        let Walker { plan, run, .. } = self.walker;
        let masks = Masks::on(plan, self.node, step.member, answering.walked.is_some());
        let needs = self.needs(&masks.needs())?;
        let name = &plan.node(self.node).name;
        let query_fault = RefCell::new(None);
        let queries = |wanted: &[&'static Query]| {
            self.needs(wanted).unwrap_or_else(|failure| {
                query_fault.replace(Some(failure));
                Vec::new()
            })
        };
        let make = || self.params(step, &needs, &queries);
        let masked_params = masks.apply_pre(&make)?;
        let make = || masked_params.clone().unwrap_or_else(&make);
        if let Some(attempts) = &policy {
            // What it gives is part of the parameters, which cannot fail.
            rendered(step, attempts.policy).map_err(Failure::script)?;
        }
        let own = &plan.node(self.node).via;
        let timeout = policy.as_ref().and_then(|attempts| AnswerTimeout::begin(&attempts.policy.timeout));
        // A node that names its answerers has their time.
        let of_walker = AnswerTimeout::of_walker(step.member).filter(|_| own.is_empty());
        let request = Request {
            plan,
            node: self.node,
            run,
            case: self.case,
            path: step.path,
            visit: self.state.visits.get(name).copied().unwrap_or(0) + self.state.offset,
            via: if own.is_empty() { &step.member.via } else { own },
            review: None,
            model: step.member.model.as_deref(),
            timeout: [timeout, self.time_of_case(own), of_walker].into_iter().flatten().reduce(AnswerTimeout::first),
            attempt: step.walk.attempts.len(),
            log: answering.requests,
            make: &make,
            params: OnceCell::new(),
        };
        if masked_params.is_some() {
            request.params();
        }
        let answered = step.walk.answered.as_deref().filter(|_| policy.is_some());
        let (mut reply, took_ms) = match (answering.walked.take(), answered) {
            (Some(reply), _) => (reply, 0),
            (None, Some(answered)) => (answered.reply(), answered.took_ms),
            (None, None) => {
                let reply = self.answer(&request).map_err(AttemptFailure::of)?;
                (reply, millis(answering.now, self.walker.clock.now()))
            }
        };
        if let Some(failure) = query_fault.take() {
            return Err(failure.into());
        }
        let unmasked = Arc::clone(&reply.artifact);
        let masked = masks.finish(masked_params.as_ref(), &mut reply)?;
        if let Some(what) = masked {
            log.push(what);
        }
        let is_branch = self.state.is_by(BranchKind::Items);
        let linked = plan.node(self.node);
        let artifact = View::of(&reply.artifact, if is_branch { linked.answered() } else { &linked.kind }, "artifact");
        let mut completed = None;
        if let Some(attempts) = policy {
            let answer = ReviewedAnswer { reply: &reply, unmasked: &unmasked, took_ms, artifact: &artifact, answered };
            let passed = attempts.review(&self.walker, &request, &answer)?;
            let key = if reply.by == CACHE { None } else { request.cache_key() };
            completed = Some(attempts.complete(passed.as_ref(), key));
            attempts.pending.drain(..).for_each(|what| log.push(what));
        }
        let decision = DecisionStep { step: *step, shadow: self.walker.shadow };
        let confidence = step.confidence(&artifact);
        let mut bindings = BTreeMap::new();
        // Effects and decision follow the merge, not each branch.
        if !is_branch {
            *writes = self.effects(&artifact, &request, &mut bindings)?;
        }
        if let Some(made) = request.seen().and_then(|params| params.verdict.clone()) {
            log.push(EventBody::Verdict {
                node: name.clone(),
                rules: made.rules,
                defect: made.verdict.defect.clone(),
                probability: made.verdict.probability,
                verdict: made.content,
                needs: made.needs,
            });
            let candidate = self.walker.shadow.and_then(|plan| Some((plan, plan.verdict.as_ref()?)));
            if let Some((candidate, rules)) = candidate.filter(|(_, rules)| rules.address != made.rules) {
                let needs = if rules.needs.is_empty() { Vec::new() } else { queries(&rules.needs) };
                let beside = self.case_params().verdict_by(self.case, candidate, &needs);
                if let Some(verdict) = beside {
                    log.push(shadow::verdict(name, verdict.defect, &made.verdict.defect));
                }
            }
        }
        if let Some(made) = request.seen().and_then(|params| params.root.clone()) {
            log.push(EventBody::Root {
                node: name.clone(),
                rules: made.rules,
                rule: made.root.rule.clone(),
                key: made.root.key.as_str().into(),
                root: made.content,
            });
        }
        let content = Content::new(artifact.clone());
        log.push(EventBody::NodeExit {
            node: name.clone(),
            artifact: content.clone(),
            by: reply.by.into(),
            params: request.seen().map(|params| params.content.clone()),
            template: plan.node(self.node).template.as_ref().map(|template| template.hash()),
            took_ms,
            agent: reply.agent,
            confidence,
            effects: writes.clone(),
            bindings,
        });
        if let Some(completed) = completed {
            log.push(completed);
        }
        if is_branch {
            log.push(EventBody::WalkComplete { node: name.clone() });
            return Ok(());
        }
        let taken = decision.take(&artifact, content, confidence, |what| log.push(what));
        let taken = taken.map_err(|failure| match failure.kind {
            FailureKind::NoEdge if self.state.is_by(BranchKind::Edges) => Failure { kind: FailureKind::FanOutMerge, ..failure },
            _ => failure,
        });
        Ok(taken?)
    }

    pub(super) fn params(&self, step: &StepContext<'_>, needs: &[(String, View)], queries: &VerdictQueries<'_>) -> Params {
        self.case_params().for_step(self.case, step, &step.state(None), needs, queries)
    }

    fn case_params(&self) -> &'a CaseParams {
        let Walker { run, launch, .. } = self.walker;
        self.case_params.get_or_init(|| CaseParams::new(run, launch, self.case))
    }

    /// The time that the case has left, unless a script alone answers the node.
    fn time_of_case(&self, via: &[Name]) -> Option<AnswerTimeout<'a>> {
        let var = self.walker.plan.pipeline.deadline.as_ref().filter(|_| !via.iter().any(|via| via == SCRIPT))?;
        let most = self.walker.plan.vars.get(var.as_str())?.as_f64()? / 1000.0;
        let began = self.state.started_at.map_or(self.walker.since, |began| began.max(self.walker.since));
        AnswerTimeout::of_case(var, most, self.walker.clock.now().seconds_since(began).max(0.0))
    }

    /// Runs queries.
    pub(super) fn needs(&self, needs: &[&Query]) -> Result<Vec<(String, View)>, Failure> {
        if needs.is_empty() {
            return Ok(Vec::new());
        }
        let prior: Value = self
            .state
            .prior
            .iter()
            .filter_map(|(name, artifact)| Some((name.to_string(), artifact.view()?.json())))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let root = self.state.root.as_ref().map_or("", |root| root.key.as_str());
        let Walker { plan, launch, .. } = self.walker;
        let evidence =
            needs.iter().any(|need| matches!(need.name, PEERS | CODE)).then(|| self.case_params().evidence(self.case, plan));
        let evidence = evidence.as_ref().map(|evidence| SubjectEvidence { reader: &plan.evidence, keys: evidence.keys() });
        let about = QuerySubject { launch, case: self.case, prior: &prior, root, evidence };
        needs
            .iter()
            .map(|need| {
                match debug_span!("query", query = %need.name)
                    .in_scope(|| frame("query", need.name, || self.walker.needs.query(need.name, &about)))
                {
                    Ok(value) => Ok((need.field(), View::of(&value, &model::Kind::Any, "params.needs"))),
                    Err(message) => {
                        let detail = format!("the query `{}` failed: {message}", need.name);
                        Err(Failure::new(FailureKind::AgentError, Diagnostic::error("walk/need", detail)))
                    }
                }
            })
            .collect()
    }

    /// Requests the answer, and validates it by the node's schema.
    fn answer(&self, request: &Request<'_>) -> Result<NodeAnswer, Failure> {
        let asked = || self.walker.answer.answer(request);
        let reply = debug_span!("answer", node = %self.name()).in_scope(asked).map_err(|refusal| {
            if refusal.next == AfterRefusal::Wait {
                request.log.wait();
            }
            Failure::answer(refusal.diagnostic)
        })?;
        if !reply.checked {
            return Ok(reply);
        }
        let errors = match request.accepted(&reply.artifact) {
            Ok(None) => return Ok(reply),
            Ok(Some(artifact)) => return Ok(NodeAnswer { artifact: Arc::new(artifact), ..reply }),
            Err(errors) => errors,
        };
        let via = reply.agent.as_ref().map_or(reply.by, |agent| &agent.via);
        Err(Failure::new(FailureKind::Schema, request.schema_violation(via, &errors)))
    }

    /// Runs the effect script and resolves symbolic ids.
    fn effects(
        &self,
        artifact: &View,
        request: &Request<'_>,
        bound: &mut BTreeMap<String, i64>,
    ) -> Result<Vec<Effect<i64>>, Failure> {
        let Some(function) = &self.walker.plan.node(self.node).effect else { return Ok(Vec::new()) };
        let wanted = function.effects(artifact, request.params()).map_err(Failure::script)?;
        let mut bindings = self.state.bindings.clone();
        let branch = self.state.branch();
        let derive = |kind: &str, what: &str| match kind {
            "rca" if !branch.is_empty() => derived_id(&[kind, self.walker.run, &self.case.id, branch, what]),
            "rca" => derived_id(&[kind, self.walker.run, &self.case.id, what]),
            "memory" => derived_id(&[kind, self.walker.run, &self.case.id, &self.state.next_path(), what]),
            "rca of root" => derived_id(&[kind, self.walker.run, what]),
            _ => derived_id(&[kind, what]),
        };
        let mut effects = Vec::with_capacity(wanted.len());
        for (index, value) in wanted.into_iter().enumerate() {
            let effect: Effect<Handle> = serde_json::from_value(value.clone()).map_err(|error| {
                let detail = unknown_effect(&value).unwrap_or_else(|| error.to_string());
                self.bad_effect(index, &detail)
            })?;
            let effect = effect.resolve(&mut bindings, derive).map_err(|unresolved| {
                let detail = format!("`{}` is not defined: no effect of this case has this `as:`", unresolved.0);
                self.bad_effect(index, &detail)
            })?;
            effects.push(effect);
        }
        *bound = bindings.into_iter().filter(|(name, id)| self.state.bindings.get(name) != Some(id)).collect();
        Ok(effects)
    }

    fn bad_effect(&self, index: usize, detail: &str) -> Failure {
        let function = self.walker.plan.node(self.node).effect.as_ref();
        let name = function.map_or_else(String::new, ScriptFunction::key);
        let mut diagnostic =
            Diagnostic::error("rule/effect", format!("effect {} returned by `{name}` is not one: {detail}", index + 1))
                .help("an effect is a map such as #{ effect: \"set_case_status\", status: \"triaged\" }");
        if let Some((source, span)) = function.and_then(ScriptFunction::definition) {
            diagnostic = diagnostic.label(&source, span, "returned from here");
        }
        Failure::new(FailureKind::RuleError, diagnostic)
    }
}

/// The message for an effect with an unknown name, with the nearest known one.
fn unknown_effect(value: &Value) -> Option<String> {
    let name = value.get("effect")?.as_str()?;
    if model::EFFECTS.contains(&name) {
        return None;
    }
    let near = did_you_mean(name, model::EFFECTS.iter().copied()).map_or(String::new(), |hint| format!("; {hint}"));
    Some(format!("unknown effect `{name}`{near}"))
}

/// How a step comes by its artifact.
pub(super) enum StepStart {
    /// It is requested from an answerer.
    Answer,
    /// It is known already.
    Known(NodeAnswer),
    /// It is merged from branches.
    Merged,
}

/// The inputs of answering a step.
struct StepAnswering<'a> {
    /// Records external requests.
    requests: &'a RequestLog<'a>,
    /// The current time: a resumed step may have begun long ago.
    now: Timestamp,
    /// The artifact of a sub-pipeline or of merged branches.
    walked: Option<NodeAnswer>,
}
